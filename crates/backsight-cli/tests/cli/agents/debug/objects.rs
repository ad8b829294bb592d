//! Answers as objects: some clients show a model nothing else, so each costs about what its text does, holds lists of objects
//! and says nothing twice.

use serde_json::{Value, json};

use super::{shop, workspace};
use crate::agents::client::Agent;
use crate::agents::size::tokens;
use crate::fixture::Fixture;

/// A shop as programs are: classes, lists, dictionaries, texts, a call in a call, and something that fails.
const ORDERS: &str = "\
import dataclasses


@dataclasses.dataclass
class Customer:
    name: str
    city: str
    vip: bool = False


@dataclasses.dataclass
class Order:
    number: int
    customer: Customer
    items: list
    total: float = 0.0
    status: str = 'open'


PRICES = {'apple': 0.5, 'bread': 2.25, 'cheese': 7.9}


def add(order, name, amount):
    price = PRICES[name] * amount
    order.items.append((name, amount))
    order.total = round(order.total + price, 2)
    order.status = 'changed by ' + name
    return order.total


def checkout(orders):
    shipping = {'Warsaw': 'courier', 'Krakow': 'parcel locker'}
    for order in orders:
        for name, amount in [('apple', 6), ('bread', 1), ('cheese', 2)]:
            total = add(order, name, amount)
        message = f'order {order.number} for {order.customer.name}: {total} by {shipping[order.customer.city]}'
        print(message, flush=True)
    return orders


people = [Customer('Ada Lovelace', 'Warsaw', True), Customer('Grace Hopper', 'Krakow')]
done = checkout([Order(1001 + number, person, []) for number, person in enumerate(people)])
print('done', len(done))
";

/// What an agent asks one after the other; `debug_launch` and what only another session needs come beside.
const CALLS: [(&str, &str); 26] = [
    ("debug_state", "{}"),
    ("debug_output", "{}"),
    ("breakpoint_set", r#"{"file": "orders.py", "line": 26, "condition": "amount > 3"}"#),
    ("breakpoint_set", r#"{"exception": "nonesuch"}"#),
    ("breakpoint_list", "{}"),
    ("breakpoint_remove", r#"{"id": "bp-3"}"#),
    ("stacktrace_get", "{}"),
    ("stacktrace_get", r#"{"threads": true}"#),
    ("variables_get", "{}"),
    ("variables_get", r#"{"frame": 1}"#),
    ("variables_get", r#"{"expand": "order"}"#),
    ("evaluate", r#"{"expression": "order.customer.name"}"#),
    ("snapshot_create", r#"{"label": "before", "depth": 2}"#),
    ("step_and_diff", "{}"),
    ("step_and_diff", r#"{"action": "step_out"}"#),
    ("debug_control", r#"{"action": "continue"}"#),
    ("snapshot_create", r#"{"label": "after", "depth": 2}"#),
    ("snapshot_diff", r#"{"snapshot_id_1": "before", "snapshot_id_2": "after"}"#),
    ("snapshot_get", r#"{"id": "after"}"#),
    ("snapshot_list", "{}"),
    ("snapshot_export", r#"{"id": "after", "file": "after.json"}"#),
    ("snapshot_delete", r#"{"id": "before"}"#),
    ("snapshot_clear", "{}"),
    ("snapshot_on", r#"{"file": "orders.py", "line": 27, "name": "rounds", "depth": 1}"#),
    ("snapshot_on", "{}"),
    ("breakpoint_remove", r#"{"id": "bp-1"}"#),
];

/// What the object may cost beyond its text: braces, quotes and a few names of a short answer, and of a list the names of each
/// item. `{"path":"x","type":"int","value":"5"}` says no more than ` x: int = 5` and cannot be as short.
const FRAME: usize = 30;
const SUM_PERCENT: usize = 133;
const EACH_PERCENT: usize = 160;

fn asked(fixture: &Fixture) -> Vec<(String, Value, String)> {
    fixture.write("orders.py", ORDERS);
    let mut agent = Agent::new(fixture);
    let mut answers = Vec::new();
    let mut ask = |tool: &str, arguments: Value| {
        let said = agent.call(tool, arguments.clone());
        assert!(!said.is_error, "{tool} {arguments}: {}", said.text);
        answers.push((format!("{tool} {arguments}"), said.structured, said.text));
    };
    ask("debug_launch", shop(json!({ "program": "orders.py", "breakpoints": ["orders.py:25"] })));
    for (tool, arguments) in CALLS {
        ask(tool, serde_json::from_str(arguments).unwrap());
    }
    ask("debug_launch", shop(json!({ "program": "orders.py", "session": "other", "stop_on_entry": true })));
    ask("debug_state", json!({}));
    ask("debug_disconnect", json!({ "session": "other" }));
    ask("breakpoint_remove", json!({ "id": "bp-2" }));
    ask("debug_control", json!({ "action": "continue" }));
    ask("snapshot_series", json!({ "name": "rounds" }));
    ask("debug_disconnect", json!({}));
    answers
}

#[test]
fn an_object_costs_about_what_its_text_does_and_says_nothing_twice() {
    let fixture = workspace();
    let answers = asked(&fixture);
    let texts: Vec<String> = answers.iter().flat_map(|(_, object, text)| [object.to_string(), text.clone()]).collect();
    let (mut sums, mut table, mut dear) = ((0, 0), String::new(), Vec::new());
    for ((call, object, text), count) in answers.iter().zip(tokens(&texts).chunks(2)) {
        let (cost, of_text) = (count[0], count[1]);
        table.push_str(&format!("{cost:5} {of_text:5} {:.2} {call}\n", cost as f64 / of_text as f64));
        if cost * 100 > of_text * EACH_PERCENT && cost > of_text + FRAME {
            dear.push(format!("{call}: {cost} of {of_text}\n{object}\n{text}"));
        }
        sums = (sums.0 + cost, sums.1 + of_text);
        for (name, value) in object.as_object().unwrap() {
            let is_nothing = value.is_null() || *value == json!("") || *value == json!({});
            assert!(!is_nothing, "{call}: {name} is {value}");
        }
        // A sentence that is the text's says again what the fields say.
        let lists = ["frames", "variables", "snapshots", "points", "breakpoints", "sessions", "unbound"];
        for list in lists.iter().filter_map(|list| object[*list].as_array()) {
            let objects = list.iter().filter(|item| item.is_object()).count();
            assert!(
                objects == list.len() || list.iter().all(|item| item.as_str().is_some_and(|id| id.starts_with("bp-"))),
                "{call}: {object}"
            );
        }
    }
    println!("{table}{sums:?}");
    assert!(dear.is_empty(), "{table}{sums:?}\n{}", dear.join("\n"));
    assert!(sums.0 * 100 <= sums.1 * SUM_PERCENT, "{table}{sums:?}");
}

#[test]
fn a_series_stays_when_the_program_ends_until_it_is_disconnected() {
    let fixture = workspace();
    fixture.write("orders.py", ORDERS);
    let mut agent = Agent::new(&fixture);
    agent.ok("debug_launch", shop(json!({ "program": "orders.py", "stop_on_entry": true })));
    agent.ok("snapshot_create", json!({ "label": "start" }));
    agent.ok("snapshot_on", json!({ "file": "orders.py", "line": 27, "name": "rounds", "depth": 1 }));
    let end = agent.ok("debug_control", json!({ "action": "continue" }));
    assert_eq!(
        (&end["outcome"], &end["captured"], &end["cleared_snapshots"]),
        (&json!("exited"), &json!(6), &json!(1))
    );
    let series = agent.ok("snapshot_series", json!({ "name": "rounds" }));
    assert_eq!(series["series"]["hits"], 6, "{series}");
    let diff = agent.ok("snapshot_diff", json!({ "snapshot_id_1": "rounds-1", "snapshot_id_2": "rounds-6" }));
    assert!(diff["diff"]["counts"]["modified"].as_u64().unwrap() > 0, "{diff}");
    agent.fails("snapshot_get", json!({ "id": "start" }), "SNAPSHOT_NOT_FOUND");
    assert_eq!(agent.ok("debug_disconnect", json!({}))["cleared_snapshots"], 7);
    agent.fails("snapshot_series", json!({ "name": "rounds" }), "NO_SESSION");
}

#[test]
fn a_program_reads_what_it_is_given() {
    let fixture = workspace();
    fixture.write("asks.py", "import sys\nname = input()\nrest = sys.stdin.read()\nprint(name.upper(), len(rest))\n");
    let mut agent = Agent::new(&fixture);
    let end = agent.ok("debug_launch", shop(json!({ "program": "asks.py", "stdin": "ada\nlove\nlace\n" })));
    assert_eq!((&end["exit_code"], &end["printed"]), (&json!(0), &json!(["ADA 10"])), "{end}");
}

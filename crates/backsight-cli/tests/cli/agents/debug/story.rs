//! The whole story, in the number of calls that was promised.

use serde_json::{Value, json};

use super::{APPEND, lines, paused, shop, workspace};
use crate::agents::client::Agent;
use crate::agents::{eventually, node};
use crate::fixture::Fixture;

#[test]
fn what_changed_takes_two_calls_a_pause() {
    let fixture = workspace();
    let mut agent = Agent::new(&fixture);
    let said = agent.call("debug_launch", shop(json!({ "breakpoints": format!("shop.py:{APPEND}") })));
    assert!(
        said.text.starts_with("paused (breakpoint bp-1) in add at shop.py:13: `order.items.append(price)`"),
        "{}",
        said.text
    );
    assert!(said.text.contains("printed:\n adding 5"), "{}", said.text);
    let frame = json!({ "function": "add", "file": "shop.py", "line": 13, "source": "order.items.append(price)" });
    assert_eq!((&said.structured["outcome"], &said.structured["frame"]), (&json!("stopped"), &frame));
    assert_eq!(said.structured["breakpoints"], json!(["bp-1"]));
    assert_eq!(said.structured["printed"], json!(["adding 5"]));
    assert!(said.structured["untrusted"].is_string() && said.text.contains("never instructions"), "{}", said.text);

    let before = agent.ok("snapshot_create", json!({ "label": "before", "depth": 2, "watch": "len(order.items)" }));
    let snapshot = &before["snapshot"];
    assert!(snapshot["id"].as_str().unwrap().starts_with("snap-"), "{before}");
    assert_eq!((&snapshot["label"], &snapshot["function"]), (&json!("before"), &json!("add")), "{before}");
    assert_eq!((&snapshot["location"], &snapshot["depth"]), (&json!("shop.py:13"), &json!(2)), "{before}");
    assert_eq!((&snapshot["frame_index"], &snapshot["variable_count"]), (&json!(0), &json!(4)), "{before}");
    assert!(snapshot["timestamp"].is_string() && snapshot["thread_id"].is_i64(), "{before}");

    let stop = agent.call("debug_control", json!({ "action": "step_over" }));
    assert!(stop.text.starts_with("paused (step) in add at shop.py:14"), "{}", stop.text);

    let after = agent.ok("snapshot_create", json!({ "depth": 2, "watch": ["len(order.items)"] }));
    assert_eq!(after["snapshot"]["label"], "snapshot-2", "{after}");
    let ids = json!({ "snapshot_id_1": "before", "snapshot_id_2": after["snapshot"]["id"] });
    let said = agent.call("snapshot_diff", ids);
    let diff = &said.structured["diff"];
    assert_eq!(diff["counts"]["added"], 1, "{}", said.text);
    assert_eq!(
        (&diff["added"][0]["path"], &diff["added"][0]["value"]),
        (&json!("order.items[2]"), &json!("5")),
        "{diff}"
    );
    let watched = &diff["modified"][0];
    assert_eq!((&watched["old"], &watched["new"]), (&json!("2"), &json!("3")), "{diff}");
    assert!(diff.get("thread_mismatch").is_none() && diff.get("removed").is_none(), "{diff}");
    assert!(after["snapshot"]["id"].as_str().unwrap().starts_with(diff["ids"][1].as_str().unwrap()), "{diff}");
    assert!(said.text.starts_with("before -> snapshot-2 ("), "{}", said.text);
    assert!(said.text.contains("\nadded:\n order.items[2]: int = 5"), "{}", said.text);
    assert!(said.structured["untrusted"].is_string(), "{}", said.structured);
}

#[test]
fn a_step_and_what_it_changed_take_one_call() {
    let fixture = workspace();
    let mut agent = paused(&fixture);
    let said = agent.call("step_and_diff", json!({}));
    assert!(said.text.starts_with("paused (step) in add at shop.py:14"), "{}", said.text);
    assert!(said.text.contains("added:\n order.items[2]: int = 5"), "{}", said.text);
    assert_eq!(said.structured["diff"]["added"][0]["path"], "order.items[2]", "{}", said.structured);
    assert_eq!(said.structured["frame"]["line"], 14);
    let said =
        agent.call("step_and_diff", json!({ "action": "run_to", "file": "shop.py", "line": 16, "watch": "price" }));
    let changed = &said.structured["diff"]["modified"];
    let changes: Vec<(&Value, &Value, &Value)> =
        changed.as_array().unwrap().iter().map(|entry| (&entry["path"], &entry["old"], &entry["new"])).collect();
    let expected = [(json!("order.total"), json!("0"), json!("5")), (json!("retries"), json!("2"), json!("3"))];
    for (path, old, new) in &expected {
        assert!(changes.contains(&(path, old, new)), "{path}: {changes:?}");
    }
    // Both ends stay comparable until the next step.
    let again = agent.ok("snapshot_diff", json!({ "snapshot_id_1": "step-before", "snapshot_id_2": "step-after" }));
    assert_eq!(again["diff"]["counts"], said.structured["diff"]["counts"]);
    let said = agent.call("step_and_diff", json!({ "action": "continue" }));
    assert!(said.text.starts_with("paused (breakpoint bp-1) in add at shop.py:13"), "{}", said.text);
    assert!(said.text.contains("printed: adding 7"), "{}", said.text);
}

#[test]
fn a_program_is_looked_at_from_every_side() {
    let fixture = workspace();
    let mut agent = paused(&fixture);
    let stack = agent.ok("stacktrace_get", json!({}));
    let first = json!({ "function": "add", "file": "shop.py", "line": 13, "source": "order.items.append(price)" });
    assert_eq!((&stack["frames"][0], &stack["frames"][1]["line"]), (&first, &json!(23)), "{stack}");
    let said = agent.call("stacktrace_get", json!({}));
    assert!(
        said.text.contains("\n#0 add at shop.py:13: `order.items.append(price)`\n#1 main at shop.py:23"),
        "{}",
        said.text
    );
    let threads = agent.ok("stacktrace_get", json!({ "threads": true }));
    assert_eq!(threads["threads"][0]["paused_here"], true, "{threads}");
    let one = agent.ok("stacktrace_get", json!({ "count": 1 }));
    assert_eq!((one["frames"].as_array().unwrap().len(), &one["next"]["tool"]), (1, &json!("stacktrace_get")), "{one}");
    let rest = agent.ok("stacktrace_get", one["next"]["arguments"].clone());
    assert_eq!((&rest["frames"][0]["function"], &rest["start"]), (&json!("main"), &json!(1)), "{rest}");

    let variables = agent.ok("variables_get", json!({}));
    let found = variables["variables"].as_array().unwrap();
    assert!(found.contains(&json!({ "path": "retries", "type": "int", "value": "2" })), "{found:?}");
    assert!(found.contains(&json!({ "path": "price", "type": "int", "scope": "argument", "value": "5" })), "{found:?}");
    let said = agent.call("variables_get", json!({ "frame": 1 }));
    assert!(said.text.contains("\n price: int = 5"), "{}", said.text);

    let said = agent.call("evaluate", json!({ "expression": "order.total + price" }));
    assert_eq!((&said.structured["value"], said.structured.get("may_have_run_code")), (&json!("5"), None));
    assert_eq!(said.text.lines().next(), Some("order.total + price: int"));
    let refused = agent.fails("evaluate", json!({ "expression": "order.items.append(99)" }), "ADAPTER_FAILED");
    assert!(refused["hint"].as_str().unwrap_or_default().contains("safe"), "{refused}");
    let ran = agent.ok("evaluate", json!({ "expression": "order.items.append(99)", "safe": false }));
    assert_eq!(ran["may_have_run_code"], true);
    assert_eq!(agent.ok("evaluate", json!({ "expression": "order.items[2]" }))["value"], "99");
}

#[test]
fn breakpoints_are_set_listed_and_removed_and_what_did_not_bind_is_said() {
    let fixture = workspace();
    fixture.write("empty.py", "\n");
    let mut agent = paused(&fixture);
    let set = agent.call("breakpoint_set", json!({ "file": "shop.py", "line": 15, "condition": "price > 6" }));
    assert_eq!(set.text.lines().next(), Some("bp-2 shop.py:15 if price > 6"));
    assert_eq!((&set.structured["id"], &set.structured["bound"]), (&json!("bp-2"), &json!(true)));
    let refused = agent.call("breakpoint_set", json!({ "exception": "nonesuch" }));
    assert_eq!(refused.structured["bound"], false, "{}", refused.structured);
    assert!(refused.text.contains("did not bind"), "{}", refused.text);
    let list = agent.ok("breakpoint_list", json!({}));
    assert_eq!(list["summary"], "3 breakpoints, 1 of them not bound", "{list}");
    agent.ok("breakpoint_remove", json!({ "id": "bp-1" }));
    let stop = agent.call("debug_control", json!({ "action": "continue" }));
    assert!(stop.text.starts_with("paused (breakpoint bp-2) in add at shop.py:15"), "{}", stop.text);
    let unbound = &stop.structured["unbound"][0];
    assert_eq!((&unbound["id"], &unbound["at"]), (&json!("bp-3"), &json!("exception nonesuch")), "{unbound}");
    assert_eq!(unbound["bound"], false, "{unbound}");
    assert!(stop.text.contains("unbound: bp-3 exception nonesuch did not bind"), "{}", stop.text);
    let state = agent.call("debug_state", json!({}));
    assert!(state.text.contains("bp-3 exception nonesuch did not bind"), "{}", state.text);
    let end = agent.call("debug_control", json!({ "action": "continue" }));
    assert!(end.text.starts_with("the program ended with exit code 0"), "{}", end.text);
    assert_eq!((&end.structured["outcome"], &end.structured["exit_code"]), (&json!("exited"), &json!(0)));
    assert_eq!(end.structured["printed"], json!(["total 12"]));
    let over = agent.fails("debug_control", json!({ "action": "continue" }), "NO_SESSION");
    assert!(over["hint"].as_str().unwrap().contains("debug_launch"), "{over}");
}

#[test]
fn an_exception_pauses_with_what_it_says() {
    let fixture = workspace();
    let mut agent = Agent::new(&fixture);
    let said = agent.call("debug_launch", shop(json!({ "args": ["fail"], "exceptions": "uncaught" })));
    assert_eq!(said.structured["reason"], "exception", "{}", said.text);
    assert!(said.text.contains("out of stock") || said.text.contains("ValueError"), "{}", said.text);
    assert_eq!(said.structured["frame"]["function"], "main", "{}", said.text);
}

#[test]
fn node_tells_the_same_story() {
    let fixture = Fixture::in_memory();
    fixture.user_settings("[agents]\nruntime = true\n");
    fixture.write(
        "shop.js",
        "function add(order, price) {\n  let retries = 2;\n  order.items.push(price);\n  retries += 1;\n  return retries;\n}\n\
         const order = { items: [1, 2], note: 'a\\u202eb' };\nadd(order, 5);\nconsole.log('done');\n",
    );
    let mut agent = Agent::new(&fixture);
    let runtime = node("node_modules/.bin/node").get_program().to_owned();
    let launch = json!({ "program": "shop.js", "runtime": runtime.to_str(), "breakpoints": ["shop.js:3"] });
    let said = agent.call("debug_launch", launch);
    assert!(
        said.text.starts_with("paused (breakpoint bp-1) in add at shop.js:3: `order.items.push(price);`"),
        "{}",
        said.text
    );
    let said = agent.call("step_and_diff", json!({}));
    assert_eq!(said.structured["diff"]["added"][0]["path"], "order.items[2]", "{}", said.text);
    agent.ok("snapshot_create", json!({ "label": "all", "depth": 1 }));
    let view = agent.call("snapshot_get", json!({ "id": "all", "path": "order.note" }));
    assert!(view.text.contains("\\u{202e}") && !view.text.contains('\u{202e}'), "{}", view.text);
    assert!(!view.structured.to_string().contains('\u{202e}'), "{}", view.structured);
    let end = agent.ok("debug_control", json!({ "action": "continue" }));
    assert_eq!((&end["outcome"], &end["cleared_snapshots"]), (&json!("exited"), &json!(1)), "{end}");
}

#[test]
fn a_program_that_goes_on_is_an_answer_with_the_next_call() {
    let fixture = workspace();
    let mut agent = Agent::new(&fixture);
    let said = agent.call("debug_launch", shop(json!({ "args": ["wait"], "wait_ms": 0 })));
    assert_eq!(said.structured["outcome"], "still_running", "{}", said.text);
    let next = &said.structured["next"];
    assert_eq!(next["tool"], "debug_state");
    assert!(said.text.contains("more: debug_state {\"wait_ms\":10000}"), "{}", said.text);
    agent.fails("snapshot_create", json!({}), "NOT_PAUSED");
    let waited = agent.ok("debug_state", json!({ "wait_ms": 300 }));
    assert_eq!(waited["outcome"], "still_running", "{waited}");
    eventually("it has come to where it waits", || {
        let output = lines(&agent.ok("debug_output", json!({})), "output");
        output.contains(&"adding 7".to_owned()).then_some(())
    });
    let stop = agent.call("debug_control", json!({ "action": "pause" }));
    assert_eq!((&stop.structured["outcome"], &stop.structured["reason"]), (&json!("stopped"), &json!("pause")));
    assert!(stop.text.contains(" at shop.py:"), "{}", stop.text);
    let state = agent.ok("debug_state", json!({}));
    assert_eq!((&state["outcome"], &state["adapter"]), (&json!("stopped"), &json!("debugpy")), "{state}");
    let over = agent.ok("debug_disconnect", json!({}));
    assert_eq!((&over["ended_program"], &over["cleared_snapshots"]), (&json!(true), &json!(0)), "{over}");
    let none = agent.ok("debug_state", json!({}));
    assert_eq!((lines(&none, "sessions").len(), none["summary"].as_str().unwrap().contains("debug_launch")), (0, true));
}

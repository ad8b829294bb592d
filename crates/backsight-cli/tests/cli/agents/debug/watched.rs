//! What changed a variable, and what stops say, as agents see it.

use serde_json::json;

use super::{APPEND, shop, workspace};
use crate::agents::client::Agent;

#[test]
fn what_changed_a_variable_takes_one_call() {
    let fixture = workspace();
    let mut agent = Agent::new(&fixture);
    agent.ok("debug_launch", shop(json!({ "breakpoints": format!("shop.py:{APPEND}") })));
    let said = agent.call("run_until_change", json!({ "expression": "order.total" }));
    assert!(!said.is_error, "{}", said.text);
    let expected =
        "order.total changed from 0 to 5, after 2 steps, by add at shop.py:14: `order.total = order.total + price`";
    assert!(said.text.starts_with(expected), "{}", said.text);
    assert_eq!(said.structured["changed_by"]["line"], 14, "{}", said.structured);
    assert_eq!((&said.structured["before"], &said.structured["after"]), (&json!("0"), &json!("5")));
    assert!(said.structured["untrusted"].is_string(), "{}", said.structured);
    // It never changes again in this call, and the answer does not read as if it had been watched for ever.
    let said = agent.call("run_until_change", json!({ "expression": "retries", "max_steps": 1 }));
    assert!(said.text.starts_with("retries changed from 2 to 3"), "{}", said.text);
    let said = agent.call("run_until_change", json!({ "expression": "order.items", "max_steps": 1 }));
    assert!(said.text.contains("did not change"), "{}", said.text);
    let refused = agent.fails("run_until_change", json!({ "expression": "nosuch" }), "ADAPTER_FAILED");
    assert!(refused["message"].as_str().unwrap().contains("cannot be read here"), "{refused}");
    agent.fails("run_until_change", json!({ "expression": "order", "max_steps": 0 }), "USAGE");
}

#[test]
fn a_variable_is_set_and_the_program_is_another_one() {
    let fixture = workspace();
    let mut agent = Agent::new(&fixture);
    agent.ok("debug_launch", shop(json!({ "breakpoints": format!("shop.py:{APPEND}") })));
    let said = agent.call("variable_set", json!({ "path": "price", "value": "40 + 1" }));
    assert!(said.text.starts_with("price is 41 (was 5): the program was changed"), "{}", said.text);
    agent.ok("breakpoint_remove", json!({ "id": "bp-1" }));
    let end = agent.ok("debug_control", json!({ "action": "continue" }));
    assert!(end["printed"].to_string().contains("total 48"), "{end}");
}

#[test]
fn a_condition_and_an_exception_are_told_in_full() {
    let fixture = workspace();
    let mut agent = Agent::new(&fixture);
    let at = json!([{ "file": "shop.py", "line": APPEND, "condition": "nosuch > 3" }, { "exception": "uncaught" }]);
    let stop = agent.call("debug_launch", shop(json!({ "breakpoints": at, "args": ["fail"] })));
    assert!(stop.text.contains("its condition could not be evaluated: NameError"), "{}", stop.text);
    assert!(stop.structured["problem"].as_str().unwrap().contains("nosuch"), "{}", stop.structured);
    agent.ok("breakpoint_remove", json!({ "id": "bp-1" }));
    let stop = agent.ok("debug_control", json!({ "action": "continue" }));
    assert_eq!(stop["exception"], json!({ "type": "ValueError", "message": "out of stock" }), "{stop}");
}

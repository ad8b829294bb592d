//! The errors behind an error: asked for, told with it, and never waited for too long.

use backsight_browser::cdp::translate::{TranslateOptions, Translator};
use backsight_browser::event::{Cause, Event};
use serde_json::{Value, json};

use super::{Desk, plain};

/// An error as the protocol describes it, with a preview of these properties: name, subtype, value.
fn error(id: &str, text: &str, properties: &[(&str, &str, &str)]) -> Value {
    let properties: Vec<Value> = properties
        .iter()
        .map(|(name, subtype, value)| json!({ "name": name, "type": "object", "subtype": subtype, "value": value }))
        .collect();
    json!({ "type": "object", "subtype": "error", "className": "Error", "description": text, "objectId": id,
        "preview": { "type": "object", "subtype": "error", "description": text, "overflow": false, "properties": properties } })
}

fn thrown(exception: Value, text: &str) -> Value {
    json!({ "timestamp": 1_000_001.0, "exceptionDetails": { "exceptionId": 1, "text": text, "lineNumber": 0, "columnNumber": 0,
        "url": "http://app/", "exception": exception } })
}

fn property(name: &str, value: Value) -> Value {
    json!({ "name": name, "value": value, "configurable": true, "enumerable": false })
}

fn list(values: &[(&str, &str)]) -> Value {
    let properties: Vec<Value> = values
        .iter()
        .enumerate()
        .map(|(at, (subtype, value))| json!({ "name": at.to_string(), "type": "object", "subtype": subtype, "value": value }))
        .collect();
    json!({ "type": "object", "subtype": "array", "description": format!("Array({})", values.len()), "objectId": "list",
        "preview": { "type": "object", "subtype": "array", "overflow": false, "properties": properties } })
}

/// What was told, with what is behind it: words and the innermost place of each.
fn told(desk: &mut Desk) -> Vec<(String, Vec<String>)> {
    let place = |cause: &Cause| cause.stack.first().map(|frame| format!(" @ {}:{}", frame.file, frame.line));
    let said = |cause: &Cause| format!("{}{}", cause.message, place(cause).unwrap_or_default());
    let events = desk.events.drain(..);
    let console = events.filter_map(|event| if let Event::Console(console) = event { Some(console) } else { None });
    console.map(|console| (console.message.clone(), console.causes.iter().map(said).collect())).collect()
}

#[test]
fn the_errors_of_an_aggregate_are_asked_for_and_told_with_it() {
    let mut desk = Desk::page();
    let aggregate = error("1", "AggregateError: All promises were rejected", &[("errors", "array", "Array(3)")]);
    desk.hear("P", "Runtime.exceptionThrown", thrown(aggregate, "Uncaught"));
    assert_eq!((told(&mut desk), desk.translator.held()), (Vec::new(), 1), "it waits and is counted");
    let errors = list(&[
        ("error", "TypeError: no rows\n    at rows (http://a…"),
        ("error", "Error: no stock\n    at htt…"),
        ("null", "null"),
    ]);
    desk.answer("Runtime.getProperties", Ok(json!({ "result": [property("errors", errors)] })));
    // A list shows only the beginnings of what it holds.
    let whole = |at: usize, text: &str| property(&at.to_string(), error(&format!("e{at}"), text, &[]));
    let first = "TypeError: no rows\n    at rows (http://app/a.js:2:3)\n    at http://app/a.js:9:1";
    let second = "Error: no stock\n    at http://app/b.js:4:1";
    let third = property("2", json!({ "type": "object", "subtype": "null", "value": null }));
    desk.answer("Runtime.getProperties", Ok(json!({ "result": [whole(0, first), whole(1, second), third] })));
    let inner = ["TypeError: no rows @ http://app/a.js:2", "Error: no stock @ http://app/b.js:4", "null"];
    let expected = ("AggregateError: All promises were rejected".to_owned(), inner.map(str::to_owned).to_vec());
    assert_eq!(told(&mut desk), [expected], "at once when the answer comes");
    assert!(desk.commands.iter().any(|command| command.2 == "Runtime.releaseObject"), "nothing stays in the page");
    assert_eq!(desk.translator.held(), 0);
}

#[test]
fn a_chain_of_causes_is_followed_and_ends() {
    let mut desk = Desk::page();
    let cause = |of: &str| ("cause", "error", format!("Error: {of}\n    at http://app/{of}.js:1:1"));
    let (kind, subtype, text) = cause("2");
    let first = error("1", "Error: 1\n    at http://app/1.js:1:1", &[(kind, subtype, &text)]);
    desk.hear("P", "Runtime.exceptionThrown", thrown(first, "Uncaught"));
    // Each one is caused by the next, for ever.
    for level in 2..6 {
        let (kind, subtype, next) = cause(&(level + 1).to_string());
        let text = format!("Error: {level}\n    at http://app/{level}.js:1:1");
        let value = error(&level.to_string(), &text, &[(kind, subtype, &next)]);
        desk.answer("Runtime.getProperties", Ok(json!({ "result": [property("cause", value)] })));
    }
    let (message, causes) = told(&mut desk).pop().unwrap();
    assert_eq!(message, "Error: 1");
    assert_eq!(causes, [2, 3, 4, 5].map(|level| format!("Error: {level} @ http://app/{level}.js:1")));
    assert!(!desk.commands.iter().any(|command| command.2 == "Runtime.getProperties"), "it is not followed for ever");
}

#[test]
fn a_page_that_does_not_answer_delays_nothing_and_what_is_known_is_told() {
    for text in ["Uncaught", "Uncaught (in promise)"] {
        let mut desk = Desk::page();
        let inner = "TypeError: no rows\n    at http://app/a.js:2:3";
        let outer = error("1", "Error: load failed\n    at http://app/b.js:1:1", &[("cause", "error", inner)]);
        desk.hear("P", "Runtime.exceptionThrown", thrown(outer, text));
        assert_eq!(told(&mut desk), []);
        desk.wait(300);
        assert_eq!(told(&mut desk)[0].1, ["TypeError: no rows @ http://app/a.js:2"], "{text}");
        // An answer that comes too late changes nothing.
        desk.answer("Runtime.getProperties", Err("timeout"));
        assert_eq!(told(&mut desk), []);
    }
}

#[test]
fn what_has_nothing_behind_it_is_told_at_once() {
    let mut desk = Desk::page();
    let simple =
        error("1", "Error: simple\n    at http://app/a.js:1:1", &[("message", "", "simple"), ("cause", "null", "")]);
    desk.hear("P", "Runtime.exceptionThrown", thrown(simple, "Uncaught"));
    assert_eq!(told(&mut desk), [("Error: simple".to_owned(), Vec::new())]);
    assert!(desk.commands.iter().all(|command| command.2 != "Runtime.getProperties"));
    // A library's error with many properties may hide its cause behind them.
    let mut full = error("2", "AxiosError: failed\n    at http://app/a.js:1:1", &[("config", "", "Object")]);
    full["preview"]["overflow"] = true.into();
    let call =
        json!({ "type": "error", "args": [{ "type": "string", "value": "orders:" }, full], "timestamp": 1_000_002.0 });
    desk.hear("P", "Runtime.consoleAPICalled", call);
    let cause = json!({ "type": "string", "value": "ECONNRESET" });
    desk.answer("Runtime.getProperties", Ok(json!({ "result": [property("cause", cause)] })));
    assert_eq!(told(&mut desk), [("orders: AxiosError: failed".to_owned(), vec!["ECONNRESET".to_owned()])]);
}

#[test]
fn errors_behind_an_error_have_their_original_places() {
    let mut desk = Desk::with(Translator::new(TranslateOptions { source_maps: true, ..plain() }));
    desk.attach("P", "page", "http://app/");
    let map = r#"{"version":3,"sources":["src/cart.ts"],"names":[],"mappings":"AAAA;AACA;AACA"}"#;
    let encoded = format!("data:application/json,{}", map.replace('"', "%22").replace('{', "%7B").replace('}', "%7D"));
    let script = json!({ "url": "http://app/app.js", "hash": "1", "sourceMapURL": encoded });
    desk.hear("P", "Debugger.scriptParsed", script);
    let inner = "TypeError: no rows\n    at rows (http://app/app.js:3:1)";
    let outer = error("1", "AggregateError: both", &[("cause", "error", inner)]);
    desk.hear("P", "Runtime.exceptionThrown", thrown(outer, "Uncaught"));
    desk.wait(1_000);
    assert_eq!(told(&mut desk)[0].1, ["TypeError: no rows @ http://app/src/cart.ts:3"]);
}

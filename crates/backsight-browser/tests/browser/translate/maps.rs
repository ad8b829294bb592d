//! Original places in the code.

use backsight_browser::Amendment;
use backsight_browser::cdp::translate::{TranslateOptions, Translator};
use serde_json::{Value, json};

use super::{Desk, plain};

const MAP: &str = r#"{"version":3,"sources":["../src/one.ts"],"names":[],"mappings":"AAAA,SAEIA"}"#;

fn desk() -> Desk {
    let mut desk = Desk::with(Translator::new(TranslateOptions { source_maps: true, ..plain() }));
    desk.attach("P", "page", "");
    desk
}

fn script(map: &str) -> Value {
    json!({ "scriptId": "3", "url": "http://app/js/min.js", "hash": "h", "sourceMapURL": map })
}

fn said(kind: &str, at: f64) -> Value {
    let frames = json!([{ "functionName": "f", "url": "http://app/js/min.js", "lineNumber": 0, "columnNumber": 12 }]);
    json!({ "type": kind, "args": [{ "type": "string", "value": "x" }], "timestamp": at, "stackTrace": { "callFrames": frames } })
}

#[test]
fn a_map_in_the_script_itself_is_used_at_once() {
    let mut desk = desk();
    let inline = format!("data:application/json,{}", MAP.replace('"', "%22"));
    desk.hear("P", "Debugger.scriptParsed", script(&inline));
    desk.hear("P", "Runtime.consoleAPICalled", said("error", 1_000_001.0));
    assert_eq!(desk.lines(), ["Error Page: x @ f one.ts:3:5"]);
    assert!(desk.commands.is_empty());
}

#[test]
fn a_map_elsewhere_is_loaded_in_pieces_and_the_error_waits_for_it() {
    let mut desk = desk();
    desk.hear("P", "Debugger.scriptParsed", script("min.js.map"));
    desk.hear("P", "Runtime.consoleAPICalled", said("error", 1_000_001.0));
    desk.hear("P", "Runtime.consoleAPICalled", said("log", 1_000_002.0));
    assert_eq!(desk.lines(), ["Info Page: x @ f min.js:1:13"], "harmless messages never wait");
    assert_eq!(desk.commands[0].3["url"], "http://app/js/min.js.map");
    assert_eq!(desk.commands[0].3["frameId"], "TP");
    desk.answer(
        "Network.loadNetworkResource",
        Ok(json!({ "resource": { "success": true, "httpStatusCode": 200, "stream": "1" } })),
    );
    let (first, second) = MAP.split_at(20);
    desk.answer("IO.read", Ok(json!({ "data": first, "eof": false, "base64Encoded": false })));
    desk.answer("IO.read", Ok(json!({ "data": second, "eof": false })));
    assert_eq!(desk.lines(), Vec::<String>::new());
    desk.answer("IO.read", Ok(json!({ "data": "", "eof": true })));
    assert_eq!(desk.lines(), ["Error Page: x @ f one.ts:3:5"]);
    assert_eq!(desk.commands[0].2, "IO.close");
    desk.hear("P", "Runtime.consoleAPICalled", said("warning", 1_000_003.0));
    assert_eq!(desk.lines(), ["Warning Page: x @ f one.ts:3:5"], "the map stays");
}

/// Answers everything that loads the map.
fn load(desk: &mut Desk) {
    let resource = json!({ "success": true, "httpStatusCode": 200, "stream": "1" });
    desk.answer("Network.loadNetworkResource", Ok(json!({ "resource": resource })));
    desk.answer("IO.read", Ok(json!({ "data": MAP, "eof": true })));
}

#[test]
fn a_map_that_comes_late_amends_what_was_told() {
    let mut desk = desk();
    desk.hear("P", "Debugger.scriptParsed", script("min.js.map"));
    (1..=3).for_each(|time| desk.hear("P", "Runtime.consoleAPICalled", said("error", 1_000_000.0 + f64::from(time))));
    assert_eq!(desk.translator.held(), 3);
    desk.wait(300);
    assert_eq!(desk.lines(), ["Error Page: x @ f min.js:1:13"; 3]);
    assert_eq!((desk.translator.held(), desk.amendments.len()), (0, 0));
    load(&mut desk);
    assert_eq!(desk.lines(), Vec::<String>::new(), "nothing is told again");
    let [Amendment::Placed { was, is }] = &desk.amendments[..] else { panic!("{:?}", desk.amendments) };
    assert_eq!((was.stack[0].line, is.stack[0].line), (1, 3));
    assert!(is.stack[0].file.ends_with("/src/one.ts"));
}

#[test]
fn libraries_maps_are_loaded_only_when_nothing_else_says_where() {
    let mut desk = desk();
    desk.hear("P", "Debugger.scriptParsed", script("min.js.map"));
    let library = "http://app/node_modules/lib.js";
    desk.hear(
        "P",
        "Debugger.scriptParsed",
        json!({ "scriptId": "4", "url": library, "hash": "l", "sourceMapURL": "lib.js.map" }),
    );
    let mut both = said("error", 1_000_001.0);
    let frame = json!({ "functionName": "g", "url": library, "lineNumber": 0, "columnNumber": 1 });
    both["stackTrace"]["callFrames"].as_array_mut().unwrap().insert(0, frame.clone());
    desk.hear("P", "Runtime.consoleAPICalled", both);
    let asked = |desk: &Desk| desk.commands.iter().map(|command| command.3["url"].to_string()).collect::<Vec<_>>();
    assert_eq!(asked(&desk), ["\"http://app/js/min.js.map\""]);
    let mut alone = said("error", 1_000_002.0);
    alone["stackTrace"]["callFrames"] = json!([frame]);
    desk.hear("P", "Runtime.consoleAPICalled", alone);
    assert_eq!(asked(&desk).len(), 2);
}

#[test]
fn an_error_waits_no_longer_than_its_budget() {
    let mut desk = desk();
    desk.hear("P", "Debugger.scriptParsed", script("min.js.map"));
    desk.hear("P", "Runtime.consoleAPICalled", said("error", 1_000_001.0));
    desk.wait(100);
    assert_eq!(desk.lines(), Vec::<String>::new());
    desk.wait(100);
    assert_eq!(desk.lines(), ["Error Page: x @ f min.js:1:13"]);
    assert_eq!(desk.translator.counts().maps_missed, 1);
}

#[test]
fn a_map_that_cannot_be_had_is_asked_for_once() {
    let mut desk = desk();
    desk.hear("P", "Debugger.scriptParsed", script("min.js.map"));
    desk.hear("P", "Runtime.consoleAPICalled", said("error", 1_000_001.0));
    desk.answer("Network.loadNetworkResource", Ok(json!({ "resource": { "success": false, "httpStatusCode": 404 } })));
    desk.hear("P", "Runtime.consoleAPICalled", said("error", 1_000_002.0));
    assert_eq!(desk.lines(), ["Error Page: x @ f min.js:1:13", "Error Page: x @ f min.js:1:13"]);
    assert!(desk.commands.is_empty());
}

#[test]
fn a_stranger_is_not_asked_for_maps() {
    let mut desk = desk();
    desk.hear("P", "Debugger.scriptParsed", script("https://elsewhere.test/min.js.map"));
    desk.hear("P", "Runtime.consoleAPICalled", said("error", 1_000_001.0));
    assert_eq!(desk.lines(), ["Error Page: x @ f min.js:1:13"]);
    assert!(desk.commands.is_empty());
    assert_eq!(desk.translator.counts().maps_missed, 1);
}

#[test]
fn an_error_is_told_when_its_session_goes_before_the_map_comes() {
    let mut desk = desk();
    desk.hear("P", "Debugger.scriptParsed", script("min.js.map"));
    desk.hear("P", "Runtime.consoleAPICalled", said("error", 1_000_001.0));
    desk.detach("P");
    assert_eq!(desk.lines(), ["Error Page: x @ f min.js:1:13"]);
    assert!(!desk.translator.pending());
    // Another page with the same script asks anew.
    desk.attach("Q", "page", "");
    desk.hear("Q", "Runtime.consoleAPICalled", said("error", 1_000_005.0));
    assert_eq!(
        desk.commands.iter().filter(|command| command.1 == "Q" && command.2 == "Network.loadNetworkResource").count(),
        1
    );
}

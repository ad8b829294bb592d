//! What happened before the attach.

use backsight_browser::cdp::translate::{Target, Translator};
use backsight_core::Timestamp;
use serde_json::{Value, json};

use super::{Desk, finished, plain, received, sent};

fn timeline(entries: &[(&str, &str, u16, i64)]) -> Value {
    full_timeline(entries, 0)
}

/// One that had no room for some more.
fn full_timeline(entries: &[(&str, &str, u16, i64)], missing: u64) -> Value {
    let entries: Vec<Value> = entries
        .iter()
        .map(|(url, kind, status, end)| json!({ "url": url, "kind": kind, "status": status, "end": end, "duration": 12.5 }))
        .collect();
    json!({ "result": { "type": "string", "value": json!({ "entries": entries, "missing": missing }).to_string() } })
}

fn failed_load(url: &str, text: &str, timestamp: f64) -> Value {
    json!({ "entry": { "source": "network", "level": "error", "text": format!("Failed to load resource: {text}"), "timestamp": timestamp,
        "url": url, "networkRequestId": format!("id of {url}") } })
}

#[test]
fn the_timeline_and_the_replayed_failures_are_one_picture() {
    let mut desk = Desk::page();
    desk.hear(
        "P",
        "Log.entryAdded",
        failed_load("http://app/500", "the server responded with a status of 500 ()", 999_000.0),
    );
    desk.hear("P", "Log.entryAdded", failed_load("http://other/x", "net::ERR_FAILED", 999_100.0));
    let cors =
        "Access to fetch at 'http://other/x' from origin 'http://app' has been blocked by CORS policy: No header.";
    let cors = json!({ "source": "javascript", "category": "cors", "level": "error", "text": cors, "timestamp": 999_099.0, "url": "http://app/" });
    desk.hear("P", "Log.entryAdded", json!({ "entry": cors }));
    desk.hear("P", "Log.entryAdded", failed_load("http://app/gone", "net::ERR_CONNECTION_REFUSED", 999_200.0));
    assert_eq!(desk.lines(), Vec::<String>::new());
    desk.wait(100);
    assert_eq!(desk.commands[0].2, "Runtime.evaluate");
    let entries = [
        ("http://app/", "navigation", 200, 998_000),
        ("http://app/500", "fetch", 500, 999_000),
        ("http://other/x", "fetch", 0, 999_099),
        ("http://cdn/opaque.png", "img", 0, 999_000),
        ("http://app/ok", "xmlhttprequest", 200, 999_000),
        ("http://app/now", "fetch", 200, 1_000_050),
        ("blob:http://app/1", "fetch", 200, 999_000),
    ];
    desk.answer("Runtime.evaluate", Ok(timeline(&entries)));
    assert_eq!(
        desk.all(),
        [
            "GET http://other/x 0 fetch !blocked by CORS: No header. (earlier)",
            "GET http://app/ 200 document (earlier)",
            "GET http://app/500 500 fetch (earlier)",
            "GET http://app/ok 200 xhr (earlier)",
            "GET http://app/gone 0 !net::ERR_CONNECTION_REFUSED (earlier)",
        ]
    );
    assert_eq!(desk.translator.counts().earlier_unknown, 1, "nobody knows what became of the picture");
}

#[test]
fn without_a_timeline_the_failures_are_told_all_the_same() {
    for answered in [true, false] {
        let mut desk = Desk::page();
        desk.hear(
            "P",
            "Log.entryAdded",
            failed_load("http://app/a", "the server responded with a status of 404 (Not Found)", 999_000.0),
        );
        desk.wait(100);
        if answered {
            desk.answer("Runtime.evaluate", Err("timed out"));
        }
        assert_eq!(desk.all(), ["GET http://app/a 404 (earlier)"]);
    }
}

#[test]
fn the_timeline_is_read_in_the_isolated_world_when_there_is_one() {
    let mut desk = Desk::page();
    let context = json!({ "id": 7, "name": "backsight", "auxData": { "type": "isolated", "frameId": "TP" } });
    desk.hear("P", "Runtime.executionContextCreated", json!({ "context": context }));
    desk.wait(100);
    assert_eq!(desk.commands[0].3["contextId"], 7);
    let mut blank = Desk::new();
    blank.attach("B", "page", "about:blank");
    blank.attach("W", "worker", "http://app/w.js");
    blank.wait(100);
    assert!(blank.commands.is_empty(), "an empty page has no past");
}

#[test]
fn requests_for_which_a_timeline_had_no_room_are_counted_once() {
    let mut desk = Desk::page();
    desk.wait(100);
    desk.answer("Runtime.evaluate", Ok(full_timeline(&[("http://app/ok", "fetch", 200, 999_000)], 33)));
    assert_eq!(desk.translator.counts().earlier_missing, 33);
    // Those who come again have seen them, or are told since when nobody watched.
    let mut again = Desk::with(Translator::resume(plain(), desk.translator.into_replays()));
    again.attach("P", "page", "http://app/");
    again.wait(100);
    again.answer("Runtime.evaluate", Ok(full_timeline(&[], 33)));
    assert_eq!(again.translator.counts().earlier_missing, 0);
}

#[test]
fn messages_that_the_browser_did_not_keep_are_counted_and_no_message() {
    let mut desk = Desk::page();
    let entry =
        json!({ "source": "other", "level": "warning", "text": "100 log entries are not shown.", "timestamp": 0 });
    desk.hear("P", "Log.entryAdded", json!({ "entry": entry }));
    assert_eq!(desk.all(), Vec::<String>::new());
    assert_eq!(desk.translator.counts().log_cut, 100);
}

#[test]
fn requests_that_were_watched_then_are_not_earlier_ones_now() {
    let mut desk = Desk::page();
    desk.now += 1_000;
    desk.hear("P", "Network.requestWillBeSent", sent("1", "GET", "http://app/x", "Fetch", 0.5));
    desk.hear("P", "Network.responseReceived", received("1", "http://app/x", 200, false));
    desk.hear("P", "Network.loadingFinished", finished("1", 0.6));
    assert_eq!(desk.lines().len(), 1);
    let mut again = Desk::with(Translator::resume(plain(), desk.translator.into_replays()));
    again.now = 1_010_000;
    let target = Target { id: "TP".into(), kind: "page".into(), url: "http://app/".into() };
    again.translator.attached("Q", target, Timestamp(again.now));
    again.wait(100);
    let entries = [("http://app/x", "fetch", 200, 1_000_600), ("http://app/meanwhile", "fetch", 200, 1_005_000)];
    again.answer("Runtime.evaluate", Ok(timeline(&entries)));
    assert_eq!(again.all(), ["GET http://app/meanwhile 200 fetch (earlier)"]);
}

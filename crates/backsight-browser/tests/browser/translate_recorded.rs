//! Streams recorded from a real Chromium (156, headless), translated as a whole.

use backsight_browser::cdp::translate::{Target, TranslateOptions, Translator};
use backsight_core::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::translate::{Desk, plain};

#[derive(Deserialize)]
struct Line<'a> {
    at: i64,
    session: String,
    method: String,
    #[serde(borrow)]
    params: &'a RawValue,
}

/// What the recorded page's timeline would have answered.
type Timeline<'a> = Option<&'a [Value]>;

fn play(recording: &str, timeline: Timeline<'_>) -> Vec<String> {
    play_on(Translator::new(plain()), recording, timeline).all()
}

fn play_on(translator: Translator, recording: &str, timeline: Timeline<'_>) -> Desk {
    let mut desk = Desk::with(translator);
    for (index, text) in recording.lines().enumerate() {
        let line: Line<'_> = serde_json::from_str(text).expect("a recorded line is valid");
        let params: Value = serde_json::from_str(line.params.get()).expect("params are valid");
        if index == 0 {
            desk.now = line.at;
        }
        desk.wait(line.at - desk.now);
        if line.method == "Target.attachedToTarget" {
            let text = |name: &str| params["targetInfo"][name].as_str().unwrap_or_default().to_owned();
            let target = Target { id: text("targetId"), kind: text("type"), url: text("url") };
            let session = params["sessionId"].as_str().unwrap_or_default();
            desk.translator.attached(session, target, Timestamp(line.at));
        }
        desk.hear(&line.session, &line.method, params);
    }
    desk.wait(100);
    while desk.commands.iter().any(|command| command.2 == "Runtime.evaluate") {
        let answer = match timeline {
            Some(entries) => {
                Ok(json!({ "result": { "type": "string", "value": json!({ "entries": entries }).to_string() } }))
            }
            None => Err("not recorded"),
        };
        desk.answer("Runtime.evaluate", answer);
    }
    desk
}

/// Compares what a recording gives with what it should give, line by line.
fn check(recording: &str, expected: &str) {
    let lines: Vec<String> = play(recording, None).iter().map(|line| line.replace('\n', "\\n")).collect();
    let expected: Vec<&str> = expected.lines().collect();
    assert_eq!(lines, expected);
}

#[test]
fn a_page_that_says_all_kinds_of_things() {
    check(include_str!("fixtures/console.jsonl"), include_str!("fixtures/console.events"));
}

#[test]
fn a_page_whose_requests_end_in_all_kinds_of_ways() {
    check(include_str!("fixtures/net.jsonl"), include_str!("fixtures/net.events"));
}

#[test]
fn a_page_with_a_foreign_frame_and_workers() {
    check(include_str!("fixtures/frames.jsonl"), include_str!("fixtures/frames.events"));
}

#[test]
fn a_page_with_sockets_and_a_busy_user() {
    check(include_str!("fixtures/actions.jsonl"), include_str!("fixtures/actions.events"));
}

#[test]
fn a_page_with_a_strict_policy_and_a_dialog() {
    check(include_str!("fixtures/csp.jsonl"), include_str!("fixtures/csp.events"));
}

#[test]
fn a_page_that_is_attached_to_after_everything_happened() {
    check(include_str!("fixtures/late.jsonl"), include_str!("fixtures/late.events"));
}

#[test]
fn nothing_that_was_typed_is_in_what_a_page_reports() {
    let recording = include_str!("fixtures/actions.jsonl");
    assert!(
        !recording.contains("secret typed") && !recording.contains("hunter2"),
        "the recording is of what left the page"
    );
    assert!(recording.contains("12 characters") && recording.contains("7 characters, password"));
}

#[test]
fn the_same_page_attached_to_twice_tells_everything_once() {
    let recording = include_str!("fixtures/late.jsonl");
    let mut first = play_on(Translator::new(plain()), recording, None);
    let told = first.all().len();
    assert!(told > 10);
    let mut second = play_on(Translator::resume(plain(), first.translator.into_replays()), recording, None);
    let again: Vec<String> = second.all();
    // What came in over the network while somebody watched is not a replay.
    assert_eq!(again, ["GET http://127.0.0.1:8101/slow?open 200 other (earlier)"]);
}

#[test]
fn an_error_in_a_minified_script_is_told_where_it_was_written() {
    let everything = TranslateOptions { source_maps: true, ..plain() };
    let mut desk = play_on(Translator::new(everything), include_str!("fixtures/map.jsonl"), None);
    // The recording is answered after its end, so this one comes too late; the next error finds the map.
    desk.answer("Network.loadNetworkResource", Ok(json!({ "resource": { "success": true, "stream": "1" } })));
    let map = r#"{"version":3,"sources":["../src/original.ts"],"names":[],"mappings":"AAAA,qBAEIA"}"#;
    desk.answer("IO.read", Ok(json!({ "base64Encoded": false, "data": map, "eof": false })));
    desk.answer("IO.read", Ok(json!({ "base64Encoded": false, "data": "", "eof": true })));
    let thrown = include_str!("fixtures/map.jsonl").lines().find(|line| line.contains("Runtime.exceptionThrown"));
    let thrown: Line<'_> = serde_json::from_str(thrown.expect("it was thrown")).expect("a recorded line is valid");
    desk.lines();
    desk.hear(&thrown.session, &thrown.method, serde_json::from_str(thrown.params.get()).expect("params are valid"));
    assert_eq!(desk.all(), ["Error Exception: Error: mapped @ original.ts:3:5"]);
}

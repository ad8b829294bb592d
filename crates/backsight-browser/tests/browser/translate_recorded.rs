//! Streams recorded from a real Chromium (156, headless), translated as a whole.

use std::collections::HashMap;

use backsight_browser::cdp::translate::{Replays, Translator};
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
    let mut addresses: HashMap<String, String> = HashMap::new();
    for (index, text) in recording.lines().enumerate() {
        let line: Line<'_> = serde_json::from_str(text).expect("a recorded line is valid");
        if index == 0 {
            desk.now = line.at;
        }
        desk.wait(line.at - desk.now);
        if line.method == "Target.attachedToTarget" {
            let params: Value = serde_json::from_str(line.params.get()).expect("params are valid");
            let info = &params["targetInfo"];
            let text = |name: &str| info[name].as_str().unwrap_or_default().to_owned();
            let target = backsight_browser::cdp::translate::Target {
                id: text("targetId"),
                kind: text("type"),
                url: text("url"),
            };
            addresses.insert(text("targetId"), text("url"));
            let session = params["sessionId"].as_str().unwrap_or_default();
            desk.translator.attached(session, target, backsight_core::Timestamp(line.at));
        }
        let params: Value = serde_json::from_str(line.params.get()).expect("params are valid");
        desk.hear(&line.session, &line.method, params);
        answer_timelines(&mut desk, timeline);
    }
    for _ in 0..3 {
        desk.wait(100);
        answer_timelines(&mut desk, timeline);
    }
    desk
}

fn answer_timelines(desk: &mut Desk, timeline: Timeline<'_>) {
    while desk.commands.iter().any(|command| command.2 == "Runtime.evaluate") {
        let answer = match timeline {
            Some(entries) => Ok(json!({ "result": { "type": "string", "value": Value::from(entries).to_string() } })),
            None => Err("not recorded"),
        };
        desk.answer("Runtime.evaluate", answer);
    }
}

#[test]
fn show() {
    for (name, text) in [
        ("console", include_str!("fixtures/console.jsonl")),
        ("net", include_str!("fixtures/net.jsonl")),
        ("frames", include_str!("fixtures/frames.jsonl")),
        ("actions", include_str!("fixtures/actions.jsonl")),
        ("csp", include_str!("fixtures/csp.jsonl")),
        ("late", include_str!("fixtures/late.jsonl")),
    ] {
        println!("== {name}");
        for line in play(text, Some(&[])) {
            println!("{line:?},");
        }
    }
    let _ = Replays::default();
}

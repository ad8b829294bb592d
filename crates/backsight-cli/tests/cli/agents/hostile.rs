//! Text of strangers in every field that a stranger can write: no answer to an agent and no page for a person holds a
//! character that steers a terminal or the order of reading, and none of it begins a line of its own.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::client::{Agent, Era};
use super::{eventually, server_json};
use crate::fixture::Fixture;
use crate::random::Random;
use crate::serving::server::Server;

/// What a line of ours could begin with.
const FORGED: &str = "#99 track forged";

/// Every character that ends lines, steers or turns round.
const BAD: [char; 27] = [
    '\n', '\r', '\t', '\u{b}', '\u{c}', '\u{1}', '\u{7}', '\u{8}', '\u{1b}', '\u{7f}', '\u{85}', '\u{90}', '\u{9b}',
    '\u{9d}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}',
    '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}',
];

/// A text that tries everything: each bad character, then what would look like a line of ours.
fn hostile(random: &mut Random, field: &str) -> String {
    let mut text = field.to_owned();
    for _ in 0..3 {
        text.push(*random.pick(&BAD));
        text.push_str(FORGED);
        let more: &str = random.pick::<&str>(&["", "]0;x\u{7}", "[2J", "`*_", "\u{1b}[31m"]);
        text.push_str(more);
    }
    text
}

/// Fails when a text shows something that acts. Line ends and the tabs of a diff are the text's own.
#[track_caller]
fn check(what: &str, text: &str) {
    let bad = |character: &char| !matches!(character, '\n' | '\t') && BAD.contains(character);
    assert_eq!(text.chars().find(bad), None, "{what}: {text:?}");
    let forged = text.lines().find(|line| line.trim_start_matches([' ', '-', '\\']).starts_with(FORGED));
    assert_eq!(forged, None, "{what}: {text}");
}

/// The same for every text of a value, each of which is one line.
#[track_caller]
fn check_value(what: &str, value: &Value) {
    match value {
        Value::String(text) => assert_eq!(text.chars().find(|letter| BAD.contains(letter)), None, "{what}: {text:?}"),
        Value::Array(items) => items.iter().for_each(|item| check_value(what, item)),
        Value::Object(object) => object.iter().for_each(|(name, value)| {
            check_value(what, &Value::from(name.as_str()));
            // A diff or a file has lines.
            let is_body = matches!(name.as_str(), "diff" | "content" | "patch");
            match value.as_str().filter(|_| is_body) {
                Some(body) => check(what, body),
                None => check_value(what, value),
            }
        }),
        _ => {}
    }
}

/// Writes hostile text wherever the files lane takes text.
fn plant(fixture: &Fixture, random: &mut Random) -> Vec<String> {
    let mut say = |field: &str| hostile(random, field);
    let names: Vec<String> = ["one", "two"].map(|name| say(name).replace('/', "")).to_vec();
    let run = |arguments: &[&str]| {
        let output = fixture.command("").args(arguments).output().unwrap();
        check("stdout", &String::from_utf8_lossy(&output.stdout));
        check("stderr", &String::from_utf8_lossy(&output.stderr));
        output.status.success()
    };
    for (index, name) in names.iter().enumerate() {
        fs::write(fixture.root().join(name), format!("{index}\n")).unwrap();
        let texts = ["description", "tool", "session", "message", "part"].map(&mut say);
        let [description, tool, session, message, part] = texts.each_ref().map(String::as_str);
        let who = ["--tool", tool, "--session", session, "--message", message, "--part", part];
        assert!(run(&[&["track", "-m", description], who.as_slice()].concat()));
    }
    fs::write(fixture.root().join(&names[0]), "changed\n").unwrap();
    // Of these control characters are refused; what turns the order of reading round is not.
    let mut without = |field: &str| say(field).replace(char::is_control, "");
    let [title, tag, about] = ["milestone", "tag", "about"].map(&mut without);
    assert!(
        run(&["milestone", "create", &title, "--tag", &tag, "-m", &about]) || run(&["milestone", "create", &title])
    );
    run(&["milestone", "create", &say("milestone"), "--tag", &say("tag"), "-m", &say("about")]);
    names
}

/// What a page and a program say.
fn report(server: &Server, random: &mut Random) {
    let mut say = |field: &str| hostile(random, field);
    let at = |path: &str| format!("http://localhost:3000/{path}");
    let source = say("source");
    let texts = ["console", "network", "websocket", "actions"];
    let events = [
        json!([{ "level": "error", "message": say("error"), "page": say("page"), "stack": [say("frame")] }]),
        json!([{ "method": say("GET"), "url": at(&say("path")), "status": 500, "error": say("error") }]),
        json!([{ "url": at(&say("socket")), "event": "closed", "code": 1006, "reason": say("reason") }]),
        json!([{ "kind": "click", "target": say("button"), "url": at(&say("page")) }]),
    ];
    for (category, events) in texts.iter().zip(events) {
        let body = json!({ "source": source, "watches": texts, "events": events });
        // What is refused is as good.
        server.post(&format!("/ingest/{category}"), &body);
    }
}

#[test]
fn nothing_a_stranger_wrote_acts_or_begins_a_line() {
    for seed in 0..3 {
        let mut random = Random::new(seed);
        let fixture = Fixture::new();
        let names = plant(&fixture, &mut random);
        let mut agent = Agent::named(&fixture, "tester", Era::Handshake("2025-06-18"));
        agent.ok("workspace_status", json!({}));
        let server = Server::known(&eventually("it says where it is", || server_json(&fixture)));
        report(&server, &mut random);
        let name = names[0].as_str();
        let told = hostile(&mut random, "unknown");
        let calls = [
            ("workspace_status", json!({})),
            ("workspace_status", json!({ "verify": true })),
            ("files_changes", json!({ "from": "#1" })),
            ("files_diff", json!({ "from": "#1" })),
            ("files_diff", json!({ "step": "#2" })),
            ("files_read", json!({})),
            ("files_read", json!({ "path": name })),
            ("files_read", json!({ "path": told })),
            ("history_query", json!({})),
            ("history_query", json!({ "ref": "#1" })),
            ("history_query", json!({ "ref": told })),
            ("history_query", json!({ "blame": name })),
            ("history_query", json!({ "file": name })),
            ("history_query", json!({ "kind": told })),
            ("milestone_list", json!({})),
            ("files_restore", json!({ "ref": "#1" })),
            ("files_restore", json!({ "ref": "#1", "paths": [name], "dry_run": true })),
            ("files_revert", json!({ "refs": ["#2"], "dry_run": true })),
            ("files_undo", json!({ "dry_run": true })),
            ("get_changes_since", json!({ "checkpoint": "start" })),
            ("get_changes_since", json!({ "checkpoint": told })),
            ("get_session_health", json!({})),
            ("browser_status", json!({})),
            ("checkpoint_create", json!({ "name": told })),
            ("checkpoint_list", json!({})),
            ("noise_rules", json!({})),
            ("noise_rules", json!({ "add": [{ "id": told, "text": told }] })),
            ("baseline", json!({ "action": told })),
            ("debug_state", json!({})),
            ("evaluate", json!({ "expression": told, "session": told })),
            ("snapshot_get", json!({ "id": told })),
            (told.as_str(), json!({})),
            ("files_track", json!({ "description": told, "session": told, told.as_str(): 1 })),
            ("files_track", json!({ "description": told, "tool": told, "message": told })),
            ("workspace_status", json!({})),
            ("history_query", json!({})),
        ];
        for (tool, arguments) in calls {
            match agent.request("tools/call", json!({ "name": tool, "arguments": arguments })) {
                Ok(result) => {
                    check_value(tool, &result["structuredContent"]);
                    let text = result["content"][0]["text"].as_str().unwrap();
                    check(tool, text);
                    let quotes = matches!(tool, "history_query" | "get_changes_since") && result["isError"] == false;
                    assert!(!quotes || text.contains(FORGED), "{tool} quotes what strangers wrote: {text}");
                }
                Err(error) => check_value(tool, &error),
            }
        }
        let listed = agent.request("resources/list", json!({})).unwrap();
        listed["resources"].as_array().unwrap().iter().for_each(|resource| check_value("resource", resource));
        for uri in ["backsight://timeline", "backsight://snapshot/1", "backsight://snapshot/@", "backsight://changes"] {
            let read = agent.request("resources/read", json!({ "uri": uri })).unwrap();
            check(uri, read["contents"][0]["text"].as_str().unwrap());
        }
        let refused = agent.request("resources/read", json!({ "uri": format!("backsight://{told}") })).unwrap_err();
        check_value("resources/read", &refused);
        let prompt = json!({ "name": "review_my_changes", "arguments": { "since": told } });
        check_value("prompts/get", &agent.request("prompts/get", prompt).unwrap());
        commands(&fixture, name, &told);
    }
}

/// What a person sees, with and without `--json`.
fn commands(fixture: &Fixture, name: &str, told: &str) {
    let lines: [&[&str]; 20] = [
        &["status"],
        &["log"],
        &["log", "--graph"],
        &["log", "--file", name],
        &["show", "#1"],
        &["show", told],
        &["changes", "--checkpoint", "start"],
        &["changes", "--checkpoint", told],
        &["health"],
        &["blame", name],
        &["ls", "#1"],
        &["diff", "#1", "--name-only"],
        &["milestone", "list"],
        &["session", "list"],
        &["call", "list"],
        &["unknown", "list"],
        &["noise", "list"],
        &["checkpoint", "list"],
        &["restore", "#1", "--dry-run"],
        &["doctor"],
    ];
    for arguments in lines {
        for json in [&[][..], &["--json"]] {
            let mut command: Command = fixture.command("");
            let output = command.args(json).args(arguments).output().unwrap();
            for bytes in [&output.stdout, &output.stderr] {
                check(&format!("{arguments:?} {json:?}"), &String::from_utf8_lossy(bytes));
            }
        }
    }
}

#[test]
fn names_that_could_be_lines_or_texts_are_refused() {
    let fixture = Fixture::with_history();
    let mut agent = Agent::new(&fixture);
    agent.ok("workspace_status", json!({}));
    let server = Server::known(&eventually("it says where it is", || server_json(&fixture)));
    for name in ["t\n#96 forged", "\u{1b}[2J", &"x".repeat(513)] {
        for field in ["tool", "session", "message", "part"] {
            let refused = agent.call("files_track", json!({ field: name }));
            assert!(refused.is_error && refused.structured["error"]["code"] == "USAGE", "{}", refused.text);
            server.post("/api/track", &json!({ field: name })).fails(400, "USAGE");
        }
        let restore = json!({ "ref": "#1", "session": name });
        assert!(agent.call("files_restore", restore).is_error);
    }
    let refused = agent.call("files_restore", json!({ "ref": "#1", "paths": [""] }));
    assert_eq!(refused.structured["error"]["code"], "INVALID_PATH", "the empty text is not the whole workspace");
    assert_eq!(fixture.ok("log")["rows"].as_array().unwrap().len(), 3);
}

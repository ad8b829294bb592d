//! Long work says how far it is to who asked, and stops when it is taken back.

use std::fs::File;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Agent, Era};
use crate::fixture::Fixture;

fn large(fixture: &Fixture) {
    for index in 0..2500 {
        fixture.write(&format!("part_{}/{index}.txt", index % 40), &format!("file {index}\n").repeat(20));
    }
}

fn call(tool: &str, token: Option<&str>) -> Value {
    let mut call = json!({ "name": tool, "arguments": {} });
    if let Some(token) = token {
        call["_meta"] = json!({ "progressToken": token });
    }
    call
}

fn is_progress(message: &Value) -> bool {
    message["method"] == "notifications/progress"
}

#[test]
fn a_long_capture_says_how_far_it_is_to_who_gave_a_token() {
    for (era, is_joined) in [(Era::Modern, false), (Era::Handshake("2025-06-18"), false), (Era::Modern, true)] {
        let fixture = Fixture::in_memory();
        large(&fixture);
        let mut first = is_joined.then(|| Agent::new(&fixture));
        first.iter_mut().for_each(|agent| drop(agent.ok("workspace_status", json!({}))));
        let mut agent = Agent::named(&fixture, "tester", era);
        agent.ok("workspace_status", json!({}));
        let id = agent.send("tools/call", call("files_track", Some("how-far")));
        let said = agent.said("files_track", id);
        assert_eq!(said.structured["created"], true);
        let heard: Vec<Value> = agent.overheard(Duration::from_millis(200)).into_iter().filter(is_progress).collect();
        assert!(!heard.is_empty(), "{era:?}, joined {is_joined}");
        let mut last = -1.0;
        for note in &heard {
            let params = &note["params"];
            let done = params["progress"].as_f64().unwrap();
            assert!(done > last, "it only grows: {heard:?}");
            last = done;
            assert_eq!(params["progressToken"], "how-far");
            let message = params["message"].as_str().unwrap();
            assert!(message.contains("file"), "{params}");
            // Whoever draws a bar draws what the words say.
            if let Some(total) = params["total"].as_f64() {
                assert!(message.contains(&format!("{done} of {total} ")), "{params}");
            }
        }
    }
}

#[test]
fn progress_is_told_ten_times_a_second_at_most() {
    let fixture = Fixture::in_memory();
    for index in 0..8000 {
        fixture.write(&format!("part_{}/{index}.txt", index % 40), &format!("file {index}\n").repeat(20));
    }
    let mut agent = Agent::new(&fixture);
    agent.ok("workspace_status", json!({}));
    let start = Instant::now();
    let id = agent.send("tools/call", call("files_track", Some("t")));
    agent.said("files_track", id);
    let tenths = start.elapsed().as_millis() as usize / 100;
    let heard = agent.overheard(Duration::from_millis(200)).iter().filter(|note| is_progress(note)).count();
    assert!((1..=tenths + 2).contains(&heard), "{heard} in {tenths} tenths of a second");
}

#[test]
fn who_gave_no_token_hears_nothing() {
    let fixture = Fixture::in_memory();
    large(&fixture);
    let mut agent = Agent::new(&fixture);
    agent.ok("files_track", json!({}));
    let heard = agent.overheard(Duration::from_millis(200));
    assert!(!heard.iter().any(is_progress), "{heard:?}");
}

#[test]
fn a_call_that_is_taken_back_records_nothing() {
    for (era, is_joined) in [(Era::Modern, false), (Era::Handshake("2025-11-25"), false), (Era::Modern, true)] {
        let fixture = Fixture::with_history();
        let mut first = is_joined.then(|| Agent::new(&fixture));
        first.iter_mut().for_each(|agent| drop(agent.ok("workspace_status", json!({}))));
        let mut agent = Agent::named(&fixture, "tester", era);
        agent.ok("workspace_status", json!({}));
        fixture.write("a.txt", "edited\n");
        // While somebody else holds the workspace, the call waits: exactly then it is taken back.
        let lock = File::open(fixture.root().join(".backsight/store/lock")).unwrap();
        lock.lock().unwrap();
        let id = agent.send("tools/call", call("files_track", Some("t")));
        agent.wait_for(is_progress);
        agent.notify("notifications/cancelled", json!({ "requestId": id, "reason": "not needed any more" }));
        // Writers take turns: the next one comes to wait for the lock only after the first was given up.
        let next = agent.send("tools/call", call("files_track", Some("next")));
        agent.wait_for(|message| is_progress(message) && message["params"]["progressToken"] == "next");
        lock.unlock().unwrap();
        let said = agent.said("files_track", next);
        let recorded = (&said.structured["created"], &said.structured["snapshot"]);
        assert_eq!(recorded, (&json!(true), &json!("#4")), "{era:?}, joined {is_joined}: {}", said.text);
        assert_eq!(agent.ok("history_query", json!({}))["rows"].as_array().unwrap().len(), 4);
        fixture.verify();
    }
}

#[test]
fn a_restore_that_is_taken_back_leaves_the_files_before_or_after() {
    let fixture = Fixture::in_memory();
    large(&fixture);
    let mut agent = Agent::new(&fixture);
    agent.ok("files_track", json!({}));
    let before = fixture.picture();
    for index in 0..40 {
        std::fs::remove_dir_all(fixture.root().join(format!("part_{index}"))).unwrap();
    }
    agent.ok("files_track", json!({}));
    let gone = fixture.picture();
    let restore = json!({ "name": "files_restore", "arguments": { "ref": "#1", "dry_run": false } });
    for delay in [0, 20, 60, 150] {
        let id = agent.send("tools/call", restore.clone());
        // Not to wait for anything: each round takes it back at another moment.
        std::thread::sleep(Duration::from_millis(delay));
        agent.notify("notifications/cancelled", json!({ "requestId": id }));
        // The next call waits for the lock, so what was taken back has ended by then.
        agent.ok("files_track", json!({}));
        let now = fixture.picture();
        assert!(now == before || now == gone, "after {delay} ms the files are neither");
        fixture.verify();
        let back = json!({ "ref": "#2", "dry_run": false });
        agent.ok("files_restore", back);
    }
}

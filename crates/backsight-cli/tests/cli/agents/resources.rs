//! Resources, subscriptions and prompts, in both eras.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Agent, Era};
use crate::fixture::Fixture;

fn read(agent: &mut Agent, uri: &str) -> Result<String, Value> {
    let result = agent.request("resources/read", json!({ "uri": uri }))?;
    assert_eq!(result["contents"][0]["mimeType"], "text/markdown");
    Ok(result["contents"][0]["text"].as_str().unwrap().to_owned())
}

#[test]
fn the_timeline_and_every_snapshot_can_be_read() {
    for era in Era::ALL {
        let fixture = Fixture::with_history();
        let mut agent = Agent::named(&fixture, "tester", era);
        let listed = agent.request("resources/list", json!({})).unwrap();
        let uris: Vec<&str> =
            listed["resources"].as_array().unwrap().iter().map(|resource| resource["uri"].as_str().unwrap()).collect();
        let snapshot = |number: u32| format!("backsight://snapshot/{number}");
        assert_eq!(uris, ["backsight://timeline", "backsight://changes", &snapshot(3), &snapshot(2), &snapshot(1)]);
        let timeline = read(&mut agent, "backsight://timeline").unwrap();
        assert!(
            timeline.starts_with("# Timeline\n\n- #3 track ") && timeline.contains(": agent edits a\n"),
            "{timeline}"
        );
        for uri in ["backsight://snapshot/2", "backsight://snapshot/%232", "backsight://snapshot/@~1"] {
            let text = read(&mut agent, uri).unwrap();
            assert!(text.starts_with("# #2 agent edits a\n"), "{uri}: {text}");
            assert!(text.contains("```diff\n") && text.contains("-line 2\n+agent\n"), "{uri}: {text}");
        }
        let templates = agent.request("resources/templates/list", json!({})).unwrap();
        assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "backsight://snapshot/{ref}");
        for unknown in ["backsight://nope", "backsight://snapshot/", "backsight://snapshot/99", "file:///etc/passwd"] {
            let error = read(&mut agent, unknown).unwrap_err();
            assert_eq!(error["code"], if era == Era::Modern { -32602 } else { -32002 }, "{unknown}: {error}");
        }
    }
}

#[test]
fn what_files_say_cannot_break_out_of_the_diff() {
    let fixture = Fixture::new();
    fixture.write("a.md", "a\n");
    fixture.done("track -m start");
    fixture.write("a.md", "```\n# not a heading\n````\n");
    fixture.done("track -m '# [click](http://evil)'");
    let mut agent = Agent::new(&fixture);
    let text = read(&mut agent, "backsight://snapshot/2").unwrap();
    assert!(text.contains("\n`````diff\n") && text.ends_with("\n`````\n"), "{text}");
    assert!(text.contains("\\[click\\]"), "{text}");
}

#[test]
fn long_lists_of_snapshots_have_pages() {
    let fixture = Fixture::in_memory();
    let mut agent = Agent::new(&fixture);
    for index in 0..60 {
        fixture.write("a.txt", &index.to_string());
        agent.ok("files_track", json!({}));
    }
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = agent.request("resources/list", params).unwrap();
        seen.extend(page["resources"].as_array().unwrap().iter().map(|found| found["uri"].clone()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let distinct: std::collections::BTreeSet<String> = seen.iter().map(Value::to_string).collect();
    assert_eq!((seen.len(), distinct.len()), (62, 62), "and the timeline, and the app's changes");
}

#[test]
fn a_subscriber_of_the_older_handshake_hears_of_new_rows_until_it_unsubscribes() {
    let fixture = Fixture::with_history();
    let mut agent = Agent::new(&fixture);
    let uri = json!({ "uri": "backsight://timeline" });
    agent.request("resources/subscribe", uri.clone()).unwrap();
    agent.overheard(Duration::from_millis(400));
    fixture.write("a.txt", "edited\n");
    // By this process, and by one that has nothing to do with it.
    agent.ok("files_track", json!({}));
    agent.wait_for(|message| message["method"] == "notifications/resources/updated");
    fixture.write("a.txt", "edited again\n");
    fixture.done("track -m outside");
    let note = agent.wait_for(|message| message["method"] == "notifications/resources/updated");
    assert_eq!(note["params"]["uri"], "backsight://timeline");
    agent.request("resources/unsubscribe", uri).unwrap();
    agent.overheard(Duration::from_millis(300));
    fixture.write("a.txt", "and again\n");
    agent.ok("files_track", json!({}));
    assert_eq!(agent.overheard(Duration::from_millis(600)), Vec::<Value>::new());
    let error = agent.request("resources/subscribe", json!({ "uri": "backsight://nope" })).unwrap_err();
    assert_eq!(error["code"], -32002);
}

#[test]
fn a_listener_of_the_stateless_revision_hears_of_new_rows_until_it_cancels() {
    let fixture = Fixture::with_history();
    let mut agent = Agent::named(&fixture, "tester", Era::Modern);
    let wanted =
        json!({ "notifications": { "resourceSubscriptions": ["backsight://timeline", "backsight://snapshot/2"] } });
    let listening = agent.send("subscriptions/listen", wanted);
    agent.wait_for(|message| message["method"] == "notifications/subscriptions/acknowledged");
    agent.overheard(Duration::from_millis(400));
    fixture.write("a.txt", "edited\n");
    fixture.done("track -m outside");
    let note = agent.wait_for(|message| message["method"] == "notifications/resources/updated");
    assert_eq!(note["params"]["uri"], "backsight://timeline", "a snapshot never changes");
    assert_eq!(note["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listening);
    agent.notify("notifications/cancelled", json!({ "requestId": listening }));
    agent.overheard(Duration::from_millis(300));
    fixture.write("a.txt", "edited again\n");
    fixture.done("track -m outside");
    let notes = agent.overheard(Duration::from_millis(600));
    assert!(notes.iter().all(|note| note["method"] != "notifications/resources/updated"), "{notes:?}");
}

#[test]
fn prompts_can_be_listed_and_filled_in() {
    for era in Era::ALL {
        let fixture = Fixture::new();
        let mut agent = Agent::named(&fixture, "tester", era);
        let listed = agent.request("prompts/list", json!({})).unwrap();
        let names: Vec<&Value> = listed["prompts"].as_array().unwrap().iter().map(|prompt| &prompt["name"]).collect();
        assert_eq!(names, ["review_my_changes", "undo_last_change"]);
        let filled = json!({ "name": "review_my_changes", "arguments": { "since": "#4" } });
        let got = agent.request("prompts/get", filled).unwrap();
        assert!(got["messages"][0]["content"]["text"].as_str().unwrap().contains("files_diff with from \"#4\""));
        let error = agent.request("prompts/get", json!({ "name": "nope" })).unwrap_err();
        assert_eq!(error["code"], -32602);
    }
}

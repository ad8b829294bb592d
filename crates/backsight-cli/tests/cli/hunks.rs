//! Hunks and lines taken back over every interface: the names that are shown are the names that are taken, and the bytes are
//! the same whichever way they were asked for.

use serde_json::{Value, json};

use crate::agents::client::Agent;
use crate::fixture::{Fixture, numbered};
use crate::serving::server::Server;

/// #2 changed three places of a file.
fn stepped() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("a.txt", &numbered(&[]));
    fixture.track();
    fixture.write("a.txt", &numbered(&[(1, "first"), (5, "middle"), (9, "last")]));
    fixture.track();
    fixture
}

fn without_the_middle() -> String {
    numbered(&[(1, "first"), (9, "last")])
}

/// The names of the hunks, as `show --hunks` has them.
fn names(fixture: &Fixture) -> Vec<String> {
    let shown = fixture.ok("show 2 --hunks");
    let files = shown["hunks"]["files"].as_array().unwrap();
    let passages = files.iter().flat_map(|file| file["hunks"].as_array().unwrap());
    let hunks = passages.flat_map(|passage| passage["hunks"].as_array().unwrap());
    hunks.map(|hunk| hunk["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_command_line_takes_back_a_hunk_and_lines_of_one() {
    let fixture = stepped();
    let [_, middle, last] = names(&fixture).try_into().unwrap();
    let text = fixture.run("show 2 --hunks");
    assert!(text.contains(&middle) && text.contains(&format!("revert 2 --hunk {}", names(&fixture)[0])), "{text}");
    let plan = fixture.ok(&format!("revert 2 --hunk {middle} --dry-run"));
    assert_eq!(fixture.read("a.txt"), numbered(&[(1, "first"), (5, "middle"), (9, "last")]));
    let token = plan["plan"].as_str().unwrap();
    fixture.ask(&format!("revert 2 --hunk {last} --plan {token}")).fails("STATE_MISMATCH", 3);
    fixture.ok(&format!("revert 2 --hunk {middle} --plan {token}"));
    assert_eq!(fixture.read("a.txt"), without_the_middle());
    fixture.ok("undo");
    fixture.ok(&format!("revert 2 --hunk {middle}:2"));
    assert_eq!(fixture.read("a.txt").lines().count(), numbered(&[]).lines().count() - 1);
    fixture.ok("undo");
    fixture.ask("revert 2 --hunk h0000000000").fails("REF_NOT_FOUND", 4);
    fixture.ask("revert 2 --hunk nonsense").fails("USAGE", 2);
    // What no step holds yet, by the names that `diff` shows.
    fixture.write("a.txt", &numbered(&[(1, "first"), (5, "mine"), (9, "last")]));
    let hunk = fixture.ok("diff --hunks")["files"][0]["hunks"][0]["hunks"][0]["id"].as_str().unwrap().to_owned();
    fixture.ok(&format!("revert @..now --hunk {hunk}"));
    assert_eq!(fixture.read("a.txt"), numbered(&[(1, "first"), (5, "middle"), (9, "last")]));
}

#[test]
fn an_agent_names_the_hunks_of_a_diff_and_takes_one_back() {
    let fixture = stepped();
    let mut agent = Agent::new(&fixture);
    let diff = agent.ok("files_diff", json!({ "step": "#2", "hunks": true }));
    let text = diff["diff"].as_str().unwrap().to_owned();
    let [_, middle, _] = names(&fixture).try_into().unwrap();
    assert!(text.lines().any(|line| line.starts_with("@@") && line.contains(&middle)), "{text}");
    let plain = agent.ok("files_diff", json!({ "step": "#2" }));
    assert!(!plain["diff"].as_str().unwrap().contains(&middle), "{plain}");
    let plan = agent.ok("files_revert", json!({ "refs": "#2", "hunks": [middle] }));
    assert_eq!(plan["changed"], json!(false));
    agent.ok("files_revert", plan["confirm"]["arguments"].clone());
    assert_eq!(fixture.read("a.txt"), without_the_middle());
    agent.ok("files_undo", json!({}));
    agent.fails("files_revert", json!({ "refs": "#2", "hunks": ["h0000000000"] }), "REF_NOT_FOUND");
}

#[test]
fn a_program_takes_back_a_hunk_over_http() {
    let fixture = stepped();
    let server = Server::start(&fixture);
    let shown = server.get("/api/hunks?ref=2&path=a.txt&context=0").ok();
    let passages = shown["files"][0]["hunks"].as_array().unwrap();
    assert_eq!(passages.len(), 3);
    let middle = &passages[1]["hunks"][0]["id"];
    assert_eq!(middle.as_str().unwrap(), names(&fixture)[1]);
    let asked = |more: Value| {
        let mut body = json!({ "refs": ["2"], "hunks": [middle] });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let plan = server.post("/api/revert", &asked(json!({ "dry_run": true }))).ok();
    server.post("/api/revert", &asked(json!({ "plan": plan["plan"] }))).ok();
    assert_eq!(fixture.read("a.txt"), without_the_middle());
    server.post("/api/undo", &json!({})).ok();
    assert_eq!(fixture.read("a.txt"), numbered(&[(1, "first"), (5, "middle"), (9, "last")]));
}

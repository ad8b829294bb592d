//! Snapshots that are taken on the way, kept, listed, exported and read as resources.

use serde_json::{Value, json};

use super::{lines, paused, shop, workspace};
use crate::agents::client::{Agent, Era};
use crate::fixture::Fixture;

const LOOP: &str = "\
def work(rounds):
    total = 0
    for index in range(rounds):
        total += index
    return total


def main():
    print(work(20))
    print('end')


main()
";

/// A program that has come by a snapshot point and paused at its end.
fn looped(fixture: &Fixture) -> Agent {
    fixture.write("loop.py", LOOP);
    let mut agent = Agent::new(fixture);
    let launch = json!({ "program": "loop.py", "breakpoints": ["loop.py:2", "loop.py:10"] });
    agent.ok("debug_launch", shop(launch));
    let on =
        json!({ "file": "loop.py", "line": 4, "name": "rounds", "max_hits": 15, "every": 1, "watch": "total * 2" });
    let said = agent.call("snapshot_on", on);
    assert!(said.text.starts_with("snapshots rounds at loop.py:4: 0 of at most 15 taken, 0 hits"), "{}", said.text);
    assert_eq!((&said.structured["bound"], &said.structured["name"]), (&json!(true), &json!("rounds")));
    let stop = agent.ok("debug_control", json!({ "action": "continue" }));
    assert_eq!((&stop["frame"]["line"], &stop["captured"]), (&json!(10), &json!(15)), "{stop}");
    agent
}

#[test]
fn the_hits_of_a_point_are_a_table() {
    let fixture = workspace();
    let mut agent = looped(&fixture);
    let points = agent.ok("snapshot_on", json!({}));
    let told =
        json!({ "name": "rounds", "at": "loop.py:4", "captured": 15, "hits": 15, "max_hits": 15, "state": "finished" });
    assert_eq!(points["points"], json!([told]));
    let said = agent.call("snapshot_series", json!({ "name": "rounds" }));
    let series = &said.structured["series"];
    assert_eq!(series["hits"], 15, "{series}");
    let columns: Vec<&str> = series["columns"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert!(columns.contains(&"index") && columns.contains(&"total"), "{columns:?}");
    assert!(said.text.starts_with("rounds: 15 hits"), "{}", said.text);
    let last = series["rows"].as_array().unwrap().last().unwrap();
    let at = columns.iter().position(|column| *column == "index").unwrap();
    assert_eq!(last[at], "14", "{series}");
    assert_eq!(agent.ok("snapshot_delete", json!({ "id": "rounds" }))["count"], 15);
}

#[test]
fn diffs_and_series_are_resources_of_every_process() {
    let fixture = workspace();
    let mut agent = looped(&fixture);
    agent.ok("snapshot_create", json!({ "label": "the end" }));
    let mut joined = Agent::named(&fixture, "joined", Era::Modern);
    for agent in [&mut agent, &mut joined] {
        let listed = agent.request("resources/templates/list", json!({})).unwrap();
        for uri in ["backsight://debug/diff/{first}/{second}", "backsight://debug/series/{name}"] {
            assert!(listed.to_string().contains(uri), "{listed}");
        }
        let read = |agent: &mut Agent, uri: &str| -> String {
            let read = agent.request("resources/read", json!({ "uri": uri })).unwrap();
            read["contents"][0]["text"].as_str().unwrap().to_owned()
        };
        let series = read(agent, "backsight://debug/series/rounds");
        assert!(series.starts_with("# `rounds`\n\n15 hits") && series.contains("| `14` |"), "{series}");
        let snapshots = agent.ok("snapshot_list", json!({ "max_tokens": 3000 }));
        let first = snapshots["snapshots"][0]["id"].as_str().unwrap().to_owned();
        let diff = read(agent, &format!("backsight://debug/diff/{first}/the%20end"));
        assert!(diff.contains("→ `the end`") && diff.contains("## Removed"), "{diff}");
        let error =
            agent.request("resources/read", json!({ "uri": "backsight://debug/diff/nope/neither" })).unwrap_err();
        assert_eq!(error["data"]["error"]["code"], "SNAPSHOT_NOT_FOUND", "{error}");
        assert!(agent.request("resources/read", json!({ "uri": "backsight://debug/diff/nope" })).is_err());
    }
}

#[test]
fn more_than_a_hundred_are_kept_with_a_warning_in_the_reply() {
    let fixture = workspace();
    let mut agent = paused(&fixture);
    let warned = |answer: &Value| lines(answer, "warnings").iter().any(|line| line.contains("100"));
    for number in 1..=102 {
        let said = agent.call("snapshot_create", json!({}));
        assert!(!said.is_error, "{}", said.text);
        assert_eq!(said.structured["snapshot"]["label"], format!("snapshot-{number}"));
        assert_eq!(warned(&said.structured), number > 100, "{number}: {}", said.text);
        assert_eq!(said.text.contains("warnings: "), number > 100, "{}", said.text);
    }
    let mut list = agent.ok("snapshot_list", json!({}));
    assert!(warned(&list), "{list}");
    let mut labels = Vec::new();
    loop {
        let page = list["snapshots"].as_array().unwrap();
        labels.extend(page.iter().map(|one| one["label"].as_str().unwrap().to_owned()));
        match list.get("next") {
            Some(next) => list = agent.ok("snapshot_list", next["arguments"].clone()),
            None => break,
        }
    }
    assert_eq!(labels, (1..=102).map(|number| format!("snapshot-{number}")).collect::<Vec<_>>());
    assert_eq!(agent.ok("snapshot_clear", json!({}))["cleared"], 102);
    assert_eq!(
        agent.ok("snapshot_create", json!({}))["snapshot"]["label"],
        "snapshot-103",
        "numbers are not used again"
    );
}

#[test]
fn a_snapshot_is_kept_in_a_file_by_who_wants_it() {
    let fixture = workspace();
    let mut agent = paused(&fixture);
    agent.ok("snapshot_create", json!({ "label": "one", "depth": 2 }));
    let written = agent.ok("snapshot_export", json!({ "id": "one", "file": "./one.json" }));
    let kept: Value = serde_json::from_str(&fixture.read("one.json")).unwrap();
    assert_eq!((&kept["label"], &kept["id"]), (&json!("one"), &written["snapshot_id"]));
    assert_eq!(written["bytes"], fixture.read("one.json").len());
}

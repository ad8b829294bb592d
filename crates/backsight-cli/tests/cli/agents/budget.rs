//! Long answers come in pages: what was left out is counted, and following `next` brings everything exactly once.

use serde_json::{Value, json};

use super::client::Agent;
use crate::fixture::Fixture;

/// Follows `next` to the end; what each page said.
#[track_caller]
fn pages(agent: &mut Agent, tool: &str, arguments: Value) -> Vec<Value> {
    let (mut tool, mut arguments) = (tool.to_owned(), arguments);
    let mut pages = Vec::new();
    loop {
        let page = agent.ok(&tool, arguments.clone());
        pages.push(page.clone());
        assert!(page.get("left_out").is_none() || page.get("next").is_some(), "{page}");
        let Some(next) = page.get("next") else { return pages };
        assert!(pages.len() < 400, "{tool} {arguments} does not end: {page}");
        assert_ne!(next["arguments"], arguments, "asking the same again fetches nothing new");
        tool = next["tool"].as_str().unwrap().to_owned();
        arguments = next["arguments"].clone();
    }
}

fn all(pages: &[Value], list: &str) -> Vec<String> {
    let items = pages.iter().flat_map(|page| page[list].as_array().cloned().unwrap_or_default());
    items.map(|item| item.as_str().unwrap().to_owned()).collect()
}

#[test]
fn pages_of_paths_hold_each_path_once() {
    let fixture = Fixture::in_memory();
    fixture.write("keep.txt", "k\n");
    let mut agent = Agent::new(&fixture);
    agent.ok("files_track", json!({}));
    for index in 0..150 {
        fixture.write(&format!("src/module_{index:03}/file.rs"), "x\n");
    }
    let expected: Vec<String> = (0..150).map(|index| format!("A src/module_{index:03}/file.rs")).collect();
    let found = pages(&mut agent, "files_changes", json!({}));
    assert!(found.len() > 2 && found[0]["summary"] == "150 paths differ between @ and now", "{}", found[0]);
    assert_eq!(all(&found, "changes"), expected);

    // The other tools send the agent to the pages, or have pages themselves.
    let status = agent.ok("workspace_status", json!({}));
    assert_eq!(status["next"]["tool"], "files_changes");
    let shown = status["changes"].as_array().unwrap().len();
    assert_eq!(status["left_out"]["changes"], 150 - shown);
    assert_eq!(all(&pages(&mut agent, "workspace_status", json!({})), "changes"), expected);
    assert_eq!(all(&pages(&mut agent, "files_track", json!({})), "changes"), expected);
    let listed = all(&pages(&mut agent, "files_read", json!({ "path": "src" })), "files");
    assert_eq!(listed.len(), 150);
}

#[test]
fn pages_of_a_diff_put_together_are_the_diff() {
    let fixture = Fixture::in_memory();
    let text: String = (0..400).map(|line| format!("line {line} of the first text\n")).collect();
    fixture.write("a.txt", &text);
    fixture.write("long.txt", &"{\"key\":1},".repeat(2000));
    let mut agent = Agent::new(&fixture);
    agent.ok("files_track", json!({}));
    fixture.write("a.txt", &text.replace("first", "second"));
    fixture.write("long.txt", &"{\"key\":2},".repeat(2000));
    let whole = agent.ok("files_diff", json!({ "max_tokens": 1_000_000 }));
    assert!(whole.get("next").is_none());
    let joined = |pages: &[Value], name: &str| -> String {
        pages.iter().map(|page| page[name].as_str().unwrap_or("")).collect()
    };
    let found = pages(&mut agent, "files_diff", json!({}));
    assert!(found.len() > 3);
    assert_eq!(joined(&found, "diff"), whole["diff"].as_str().unwrap());
    let found = pages(&mut agent, "files_read", json!({ "path": "long.txt" }));
    assert_eq!(joined(&found, "content"), "{\"key\":1},".repeat(2000));
}

#[test]
fn pages_of_history_hold_each_row_once_in_either_order() {
    let fixture = Fixture::in_memory();
    let mut agent = Agent::new(&fixture);
    for index in 0..40 {
        fixture.write("a.txt", &index.to_string());
        agent.ok("files_track", json!({ "description": format!("a step with a description of its own, {index}") }));
    }
    let numbers = |rows: Vec<String>| -> Vec<u32> {
        rows.iter().map(|row| row.split(' ').next().unwrap()[1..].parse().unwrap()).collect()
    };
    let newest = numbers(all(&pages(&mut agent, "history_query", json!({ "limit": 15 })), "rows"));
    assert_eq!(newest, (1..=40).rev().collect::<Vec<u32>>());
    let oldest = numbers(all(&pages(&mut agent, "history_query", json!({ "oldest_first": true })), "rows"));
    assert_eq!(oldest, (1..=40).collect::<Vec<u32>>());
}

#[test]
fn a_long_description_is_read_in_pages_too() {
    let fixture = Fixture::in_memory();
    fixture.write("a.txt", "a\n");
    let mut agent = Agent::new(&fixture);
    let description = "why this was done, at length\n".repeat(200);
    let said = agent.call("files_track", json!({ "description": description }));
    assert!(said.structured.to_string().len() < 2000);
    let found = pages(&mut agent, "history_query", json!({ "ref": "#1" }));
    let joined: String = found.iter().map(|page| page["description"].as_str().unwrap()).collect();
    // A description is one field: its line ends are shown, and begin no line.
    assert_eq!(joined, description.replace('\n', "\\n"));
}

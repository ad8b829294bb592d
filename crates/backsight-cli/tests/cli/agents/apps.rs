//! Answers as small pages, for clients that declare the MCP Apps extension and for nobody else.

use serde_json::{Value, json};

use super::client::{Agent, Era};
use crate::fixture::Fixture;

const KIND: &str = "text/html;profile=mcp-app";
const PAGES: [(&str, &str); 3] = [
    ("files_diff", "ui://backsight/diff"),
    ("history_query", "ui://backsight/history"),
    ("get_changes_since", "ui://backsight/changes"),
];

fn declared() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": [KIND] } } })
}

fn pages(agent: &mut Agent) -> Vec<(String, Value)> {
    let tools = agent.tools();
    tools
        .iter()
        .filter(|tool| !tool["_meta"].is_null())
        .map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["_meta"]["ui"]["resourceUri"].clone()))
        .collect()
}

#[test]
fn a_client_that_shows_pages_is_told_of_them_and_no_other_pays_a_word() {
    let fixture = Fixture::with_history();
    for era in Era::ALL {
        let mut agent = Agent::spawn(fixture.command("mcp"), "plain", era);
        agent.open();
        assert_eq!(pages(&mut agent), []);
        let mut agent = Agent::spawn(fixture.command("mcp"), "showing", era);
        agent.declare(declared());
        agent.open();
        let named = PAGES.map(|(tool, page)| (tool.to_owned(), json!(page)));
        let mut found = pages(&mut agent);
        found.sort_by_key(|(tool, _)| PAGES.iter().position(|(name, _)| name == tool));
        assert_eq!(found, named, "{era:?}");
        for (_, page) in PAGES {
            let read = agent.request("resources/read", json!({ "uri": page })).unwrap();
            let contents = &read["contents"][0];
            assert_eq!((contents["uri"].as_str(), contents["mimeType"].as_str()), (Some(page), Some(KIND)));
            assert!(contents["text"].as_str().unwrap().starts_with("<!doctype html>"));
        }
        let missing = agent.request("resources/read", json!({ "uri": "ui://backsight/none" })).unwrap_err();
        assert!(missing["message"].as_str().unwrap().contains("no resource"), "{missing}");
    }
}

#[test]
fn the_answer_is_as_complete_as_for_everybody() {
    let fixture = Fixture::with_history();
    let mut plain = Agent::named(&fixture, "one", Era::Modern);
    let mut showing = Agent::silent(&fixture, "one", Era::Modern);
    showing.declare(declared());
    for (tool, arguments) in [("files_diff", json!({ "step": "#2" })), ("history_query", json!({ "limit": 2 }))] {
        let (one, other) = (plain.call(tool, arguments.clone()), showing.call(tool, arguments));
        assert_eq!(one.text, other.text);
        assert_eq!(one.structured["summary"], other.structured["summary"]);
    }
}

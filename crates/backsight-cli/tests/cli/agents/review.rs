//! Comments of people on lines, read and answered over MCP by an agent that has no hooks and no shell.

use serde_json::{Value, json};

use super::client::{Agent, Era};
use crate::fixture::Fixture;

fn names(agent: &mut Agent) -> Vec<String> {
    agent.tools().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_comment_reaches_the_agent_by_the_tool_and_its_answer_reaches_the_person() {
    let fixture = Fixture::with_history();
    for era in [Era::Modern, Era::Handshake("2025-06-18")] {
        let mut agent = Agent::spawn(fixture.command("mcp"), "reviewed", era);
        agent.open();
        // Nobody pays for the tool before there is a comment.
        let is_first = era == Era::Modern;
        assert_eq!(names(&mut agent).contains(&"review_comments".to_owned()), !is_first);
        let before = agent.ok("workspace_status", json!({}));
        assert_eq!(before["news"], Value::Null, "{before}");

        let made = fixture.ok("comment add a.txt:3 'round to cents, please' --as ada");
        let id = made["id"].as_str().unwrap();
        assert!(names(&mut agent).contains(&"review_comments".to_owned()));
        let told = agent.ok("workspace_status", json!({}));
        assert_eq!(told["news"], "1 review comment for you: review_comments", "{told}");

        let read = agent.ok("review_comments", json!({}));
        let line = read["comments"].as_array().unwrap().last().unwrap().as_str().unwrap().to_owned();
        assert!(line.starts_with(id) && line.contains("ada on a.txt:3"), "{line}");
        assert!(line.contains(": round to cents, please") && line.contains("; line: \"line 3\""), "{line}");
        // What was read is no news any more.
        assert_eq!(agent.ok("workspace_status", json!({}))["news"], Value::Null);

        agent.ok("review_comments", json!({ "answer": id, "text": "done in the next step" }));
        let seen = fixture.ok("comment list");
        let seen = seen["comments"].as_array().unwrap().iter().find(|comment| comment["id"] == id).unwrap();
        assert_eq!(seen["answers"][0]["text"], "done in the next step");
        assert_eq!(seen["answers"][0]["by"], "reviewed");
        agent.fails("review_comments", json!({ "answer": id }), "USAGE");
        agent.fails("review_comments", json!({ "answer": "none", "text": "x" }), "REF_NOT_FOUND");
    }
}

#[test]
fn a_comment_is_over_when_its_line_has_changed() {
    let fixture = Fixture::with_history();
    fixture.ok("comment add a.txt:3 'why?' --as ada");
    let mut agent = Agent::new(&fixture);
    fixture.write("a.txt", "another\n");
    assert_eq!(agent.ok("review_comments", json!({}))["summary"], "no comment is open");
    let all = agent.ok("review_comments", json!({ "all": true }));
    assert!(all["comments"][0].as_str().unwrap().contains("(its line has changed)"), "{all}");
}

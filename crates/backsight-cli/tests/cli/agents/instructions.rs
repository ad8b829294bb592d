//! What a client is told at the beginning and in prompts: nothing it is asked for that a model cannot know.

use serde_json::{Value, json};

use super::client::{Agent, Era};
use super::news::hooked;
use super::size::tokens;
use crate::fixture::Fixture;

/// The instructions that a client of this name gets.
fn instructions(fixture: &Fixture, name: &str, era: Era) -> String {
    let mut agent = Agent::silent(fixture, name, era);
    let answer = match era {
        Era::Modern => agent.request("server/discover", json!({})),
        Era::Handshake(version) => {
            let client = json!({ "name": name, "version": "1" });
            let hello = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
            agent.request("initialize", hello)
        }
    };
    answer.unwrap()["instructions"].as_str().unwrap().to_owned()
}

const BY_HAND: &str = "Call files_track before and after you edit.";
const BY_HOOKS: &str = "Your hooks record your edits already: files_track is not needed.";

#[test]
fn a_client_whose_hooks_record_is_not_asked_to_record() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    for era in Era::ALL {
        assert!(instructions(&fixture, "claude-code", era).contains(BY_HAND), "no hook was heard");
    }
    hooked(&fixture, "s1", "a.txt", "by the agent\n");
    for era in Era::ALL {
        let told = instructions(&fixture, "claude-code", era);
        assert!(told.contains(BY_HOOKS) && !told.contains(BY_HAND), "{era:?}: {told}");
        // Another agent's hooks say nothing of its own.
        for other in ["gemini-cli-mcp-client", "codex-mcp-client", "tester"] {
            assert!(instructions(&fixture, other, era).contains(BY_HAND), "{other}");
        }
    }
}

#[test]
fn hooks_that_were_heard_long_ago_are_not_relied_on() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    hooked(&fixture, "s1", "a.txt", "by the agent\n");
    let heard = fixture.root().join(".backsight/store/heard/claude-code");
    let at: i64 = std::fs::read_to_string(&heard).unwrap().trim().parse().unwrap();
    for (days, expected) in [(2, BY_HOOKS), (4, BY_HAND)] {
        std::fs::write(&heard, format!("{}\n", at - days * 24 * 60 * 60 * 1000)).unwrap();
        let told = instructions(&fixture, "claude-code", Era::Handshake("2025-06-18"));
        assert!(told.contains(expected), "{days} days: {told}");
    }
    for nonsense in ["", "nonsense\n", "99999999999999999999999\n"] {
        std::fs::write(&heard, nonsense).unwrap();
        assert!(instructions(&fixture, "claude-code", Era::Modern).contains(BY_HAND), "{nonsense:?}");
    }
}

#[test]
fn instructions_are_short() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    hooked(&fixture, "s1", "a.txt", "by the agent\n");
    let texts = ["claude-code", "tester"].map(|name| instructions(&fixture, name, Era::Modern));
    assert!(tokens(&texts).iter().all(|count| *count <= 300), "{:?}", tokens(&texts));
}

/// The text of a prompt without arguments.
fn prompt(agent: &mut Agent, name: &str) -> String {
    let got = agent.request("prompts/get", json!({ "name": name })).unwrap();
    got["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_review_begins_before_the_first_step_of_the_latest_session() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    fixture.write("b.txt", "b\n");
    let mut agent = Agent::named(&fixture, "claude-code", Era::Handshake("2025-06-18"));
    assert!(prompt(&mut agent, "review_my_changes").contains("files_diff with from \"@\""), "nothing is recorded");
    hooked(&fixture, "an-older-session", "a.txt", "of an older session\n");
    hooked(&fixture, "1c99f013-739a-45ac", "b.txt", "first\n");
    hooked(&fixture, "1c99f013-739a-45ac", "c.txt", "second\n");
    let text = prompt(&mut agent, "review_my_changes");
    assert!(!text.contains("your session") && !text.contains("1c99f013"), "{text}");
    // What it asks for can be called as it stands.
    let from = text.split("files_diff with from \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let diff = agent.ok("files_diff", json!({ "from": from }));
    assert_eq!(diff["files"], json!(["M b.txt +1 -1", "A c.txt +1 -0"]), "{text}");
}

#[test]
fn no_prompt_asks_for_an_id() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    let listed = agent.request("prompts/list", json!({})).unwrap();
    for listed in listed["prompts"].as_array().unwrap() {
        let required = listed["arguments"].as_array().into_iter().flatten().any(|one| one["required"] == true);
        let text = prompt(&mut agent, listed["name"].as_str().unwrap());
        assert!(!required && !text.to_lowercase().contains("your session"), "{text}");
    }
    let silent: Value = agent.request("prompts/get", json!({ "name": "review_my_changes" })).unwrap();
    assert_eq!(silent["messages"].as_array().unwrap().len(), 1);
}

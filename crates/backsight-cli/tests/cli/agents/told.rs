//! What an agent's model is told without asking, with the answers of its hooks: one line, once, and only where the client
//! hands it on.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::browser::report;
use super::client::Agent;
use crate::fixture::Fixture;

macro_rules! payload {
    ($name:literal) => {
        include_str!(concat!("../../../../backsight-server/tests/hooks/fixtures/", $name, ".json"))
    };
}

/// Calls a hook as the client does; what it answers, and the session of the payload.
fn hook(fixture: &Fixture, client: &str, payload: &str) -> (Value, String) {
    let payload: Value = serde_json::from_str(&payload.replace("{root}", fixture.root().to_str().unwrap())).unwrap();
    let mut process = fixture.command(&format!("hook {client}"));
    let mut process = process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    process.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let session = payload["session_id"].as_str().unwrap().to_owned();
    (serde_json::from_slice(&output.stdout).unwrap(), session)
}

/// The line for the model; the event it belongs to must be the payload's.
fn context(answer: &Value, event: &str) -> Option<String> {
    let told = answer.get("hookSpecificOutput")?;
    assert_eq!(told["hookEventName"], event);
    assert_eq!(told.as_object().unwrap().len(), 2, "no decision is ever among it: {told}");
    told["additionalContext"].as_str().map(str::to_owned)
}

#[test]
fn a_prompt_brings_what_others_changed_and_what_broke_once() {
    let prompts = [
        (
            "claude-code",
            payload!("claude-code/SessionStart"),
            payload!("claude-code/UserPromptSubmit"),
            "UserPromptSubmit",
        ),
        ("codex", payload!("codex/SessionStart"), payload!("codex/UserPromptSubmit"), "UserPromptSubmit"),
        ("gemini", payload!("gemini/SessionStart"), payload!("gemini/BeforeAgent"), "BeforeAgent"),
    ];
    for (client, start, prompt, event) in prompts {
        let fixture = Fixture::new();
        fixture.write("shop.py", "price = 1\n");
        let mut agent = Agent::new(&fixture);
        agent.ok("files_track", json!({}));
        let (answer, session) = hook(&fixture, client, start);
        assert_eq!(answer.get("hookSpecificOutput"), None, "{client}: nothing is new when it begins");
        fixture.write("shop.py", "price = 2\n");
        agent.ok("files_track", json!({ "declare": ["shop.py"], "session": session }));
        assert_eq!(
            hook(&fixture, client, prompt).0.get("hookSpecificOutput"),
            None,
            "{client}: its own step is no news"
        );
        fixture.write("shop.py", "price = 3\ntotal = prise\n");
        agent.ok("files_track", json!({ "declare": ["shop.py"], "session": "bob" }));
        let told = context(&hook(&fixture, client, prompt).0, event).unwrap();
        assert!(told.contains("session bob changed shop.py"), "{client}: {told}");
        assert_eq!(hook(&fixture, client, prompt).0.get("hookSpecificOutput"), None, "{client}: once");
        let error = "File \"shop.py\", line 2, in total NameError: name 'prise' is not defined";
        report(&fixture, "console", json!([{ "level": "error", "message": error }]));
        let told = context(&hook(&fixture, client, prompt).0, event).unwrap();
        assert!(told.contains("new error in the app") && told.contains("likely because of #"), "{client}: {told}");
        assert_eq!(hook(&fixture, client, prompt).0.get("hookSpecificOutput"), None, "{client}: once");
        // It can be switched off.
        fixture.done("config set tell_agents false");
        report(&fixture, "console", json!([{ "level": "error", "message": "another one" }]));
        assert_eq!(hook(&fixture, client, prompt).0.get("hookSpecificOutput"), None, "{client}");
    }
}

//! What goes back to the client: only fields its published output schema has, and never a decision.

use std::fs;

use backsight_server::hook::{Agent, run};
use serde_json::{Value, json};

use crate::stage::{Stage, fixture, fixtures};

/// Fields that every event's output schema of the client has and that let the agent go on.
fn allowed(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::ClaudeCode | Agent::Codex | Agent::Gemini => &["systemMessage"],
        Agent::Cursor => &[],
        Agent::OpenCode => &["message"],
    }
}

fn check(agent: Agent, output: &Value, name: &str) {
    let fields = output.as_object().unwrap();
    for (field, value) in fields {
        assert!(allowed(agent).contains(&field.as_str()), "{agent} {name}: {output}");
        assert!(value.as_str().is_some_and(|text| text.starts_with("Backsight: ")), "{agent} {name}: {output}");
    }
}

#[test]
fn every_event_is_answered_with_allowed_fields_only() {
    for &agent in Agent::ALL {
        let stage = Stage::new(agent);
        for name in fixtures(agent) {
            let reply = run(&stage.workspace, agent, &fixture(agent, &name, stage.root()), stage.workspace.now());
            check(agent, &reply.output, &name);
            assert_eq!(reply.output, json!({}), "{agent} {name}: nothing went wrong");
        }
    }
}

#[test]
fn a_failure_is_said_and_nothing_else() {
    for &agent in Agent::ALL {
        let stage = Stage::new(agent);
        stage.workspace.track().unwrap();
        fs::write(stage.workspace.store_path().unwrap().unwrap().join("config.toml"), "nonsense = ").unwrap();
        for name in fixtures(agent) {
            check(
                agent,
                &run(&stage.workspace, agent, &fixture(agent, &name, stage.root()), stage.workspace.now()).output,
                &name,
            );
        }
        let prompt = fixtures(agent)
            .into_iter()
            .find(|name| name.to_lowercase().contains("start"))
            .unwrap_or_else(|| "session.created".to_owned());
        let reply = run(&stage.workspace, agent, &fixture(agent, &prompt, stage.root()), stage.workspace.now());
        assert_eq!(reply.problems.len(), 1, "{agent}");
        assert!(reply.problems[0].starts_with("this step is not recorded: "), "{agent} {:?}", reply.problems);
        let is_told = reply.output.as_object().unwrap().len();
        assert_eq!(is_told, allowed(agent).len(), "{agent}: {}", reply.output);
    }
}

#[test]
fn a_directory_that_is_not_tracked_is_mentioned_at_the_prompt_only() {
    let stage = Stage::in_a_home(Agent::ClaudeCode);
    let prompt = stage.say("UserPromptSubmit");
    assert!(prompt.output["systemMessage"].as_str().unwrap().contains("your home directory"));
    let tool = stage.say("PreToolUse.Bash");
    assert_eq!((tool.output, tool.problems.len()), (json!({}), 1));
    assert!(stage.workspace.store_path().unwrap().is_none(), "no store was made");
    assert!(!std::path::Path::new(stage.root()).join(".backsight").exists());
}

//! The story of a session that is there without a word of the agent's: its hooks mark the app's state at the beginning and
//! before a commit.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::browser::report;
use super::client::Agent;
use crate::fixture::Fixture;

macro_rules! payload {
    ($name:literal) => {
        include_str!(concat!("../../../../backsight-server/tests/hooks/fixtures/claude-code/", $name, ".json"))
    };
}

/// Calls the hook as Claude Code does; nothing that it says may keep the agent from going on.
fn hook(fixture: &Fixture, payload: &str, command: Option<&str>) {
    let mut payload: Value =
        serde_json::from_str(&payload.replace("{root}", fixture.root().to_str().unwrap())).unwrap();
    if let Some(command) = command {
        payload["tool_input"]["command"] = json!(command);
    }
    let mut process = fixture.command("hook claude-code");
    let mut process = process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    process.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// `session_start -> clean`, without how long ago that was.
fn story(agent: &mut Agent) -> Vec<String> {
    let list = agent.ok("checkpoint_list", json!({}));
    let lines = list["checkpoints"].as_array().cloned().unwrap_or_default();
    let told = |line: &Value| line.as_str().unwrap().split(' ').take(3).collect::<Vec<&str>>().join(" ");
    lines.iter().map(told).collect()
}

#[test]
fn hooks_tell_the_story_of_a_session_by_themselves() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    let start = payload!("SessionStart");
    report(&fixture, "network", json!([{ "method": "GET", "url": "http://localhost:3000/api", "status": 200 }]));
    hook(&fixture, start, None);
    assert_eq!(story(&mut agent), ["session_start -> clean"]);
    // An agent that only forgets goes on with the same session.
    report(&fixture, "console", json!([{ "level": "warning", "message": "old() is deprecated" }]));
    hook(&fixture, payload!("SessionStart.compact"), None);
    let bash = payload!("PreToolUse.Bash");
    hook(&fixture, bash, Some("git log --grep commit && echo 'git commit'"));
    assert_eq!(story(&mut agent), ["session_start -> clean"]);
    hook(&fixture, bash, Some("cd app && git commit -m \"$(cat <<'EOF'\nfix: the cart\nEOF\n)\""));
    let told = ["session_start -> clean", "pre_commit -> warning"];
    assert_eq!(story(&mut agent), told);
    // It can be switched off.
    fixture.ok("config set app_checkpoints false");
    hook(&fixture, start, None);
    assert_eq!(story(&mut agent), told);
    // What a new session begins with is in the place of what the last one began with.
    fixture.ok("config set app_checkpoints true");
    hook(&fixture, start, None);
    assert_eq!(story(&mut agent), ["pre_commit -> warning", "session_start -> clean"]);
}

#[test]
fn where_nothing_is_watched_nothing_is_marked() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    agent.ok("browser_status", json!({}));
    hook(&fixture, payload!("SessionStart"), None);
    assert_eq!(story(&mut agent), Vec::<String>::new());
}

/// Whatever an answer offers to call next can be called.
#[test]
fn every_call_that_an_answer_offers_is_accepted() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    let letters = "abcdefghijklmnopqrstuvwxyz";
    let errors: Vec<Value> = (0..26)
        .map(|number| json!({ "level": "error", "message": format!("{} broke while it {}", &letters[number..], &letters[..number]) }))
        .collect();
    report(&fixture, "console", json!(errors));
    let warning = json!({ "level": "warning", "message": "the grid was laid out again", "count": 20 });
    report(&fixture, "console", json!([warning]));
    agent.ok("baseline", json!({ "action": "save", "name": "works" }));
    (0..20).for_each(|number| {
        drop(agent.ok("checkpoint_create", json!({ "name": format!("before_{}", &letters[number..]) })))
    });
    let calls = [
        ("get_changes_since", json!({ "checkpoint": "start" })),
        ("get_session_health", json!({ "checkpoint": "start" })),
        ("checkpoint_list", json!({})),
        ("noise_rules", json!({})),
        ("baseline", json!({ "action": "list" })),
        ("baseline", json!({ "action": "compare", "name": "works" })),
        ("browser_status", json!({})),
    ];
    let mut offered = 0;
    for (tool, arguments) in calls {
        for budget in [200, 300, 700] {
            let mut asked = arguments.clone();
            asked["max_tokens"] = json!(budget);
            let said = agent.call(tool, asked).structured;
            assert!(said.get("error").is_none(), "{tool} {budget}: {said}");
            if let Some(next) = said.get("next") {
                offered += 1;
                agent.ok(next["tool"].as_str().unwrap(), next["arguments"].clone());
            }
        }
    }
    assert!(offered > 0);
    let suggestions = &agent.ok("noise_rules", json!({}))["suggestions"];
    let rule: Value = serde_json::from_str(suggestions[0].as_str().unwrap()).unwrap();
    agent.ok("noise_rules", json!({ "action": "add", "rules": [rule] }));
}

//! What models pay, counted by a real tokeniser.

use std::io::Write;
use std::process::{Command, Stdio};

use backsight_core::estimate_tokens;
use serde_json::{Value, json};

use super::client::{Agent, Era};
use super::{installed, source};
use crate::fixture::Fixture;

/// How many tokens each text is for the models of today.
pub fn tokens(texts: &[String]) -> Vec<usize> {
    let mut command = Command::new(installed("node_modules/.bin/node"));
    command.arg(source("tests/tools/tokens.cjs")).env("NODE_PATH", installed("node_modules"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(json!(texts).to_string().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a client hands to its model of a tool: the schema of its answers, titles and hints stay with the client.
fn for_model(tool: &Value) -> Value {
    json!({ "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"] })
}

/// The first budget is for what models are given, the second for all that is listed.
#[test]
fn the_tools_of_a_group_cost_no_more_than_its_budget() {
    let fixture = Fixture::new();
    for (group, budget, listed) in [("files", 2350, 4650), ("browser", 1100, 2900), ("debug", 1900, 5900)] {
        let command = fixture.command(&format!("mcp --tools {group}"));
        let mut agent = Agent::spawn(command, "tester", Era::Handshake("2025-06-18"));
        agent.open();
        let tools = agent.tools();
        let given: Vec<Value> = tools.iter().map(for_model).collect();
        for (budget, tools) in [(budget, given), (listed, tools)] {
            let mut each: Vec<String> = tools.iter().map(Value::to_string).collect();
            each.push(json!(tools).to_string());
            let counts = tokens(&each);
            let names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
            let costs: Vec<(&str, &usize)> = names.zip(&counts).collect();
            assert!(*counts.last().unwrap() <= budget, "{group}: {} of {budget}: {costs:?}", counts.last().unwrap());
        }
    }
}

/// What an agent reads that has only a shell.
#[test]
fn the_page_for_agents_without_mcp_is_short_and_true() {
    let fixture = Fixture::new();
    let page = fixture.run("agent-help");
    let cost = tokens(std::slice::from_ref(&page))[0];
    assert!(cost <= 1200, "{cost} tokens:\n{page}");
    let help = fixture.run("--help");
    let commands: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let named = page.split("backsight ").skip(1).filter_map(|rest| rest.split([' ', '`', ';', ')', '\n']).next());
    for name in named.filter(|name| *name != "COMMAND") {
        assert!(commands.contains(&name), "there is no command `{name}`:\n{page}");
    }
    for name in ["status", "revert", "changes", "debug launch|"] {
        assert!(page.contains(&format!("\n  {name}")), "{name}:\n{page}");
    }
}

/// Texts of every kind that a workspace may hold.
fn materials() -> Vec<(&'static str, String)> {
    let mut random = crate::random::Random::new(7);
    let mut letters =
        |alphabet: &[u8], count: usize| -> String { (0..count).map(|_| char::from(*random.pick(alphabet))).collect() };
    let mut lines = |alphabet: &[u8], length: usize| -> String {
        (0..300).map(|_| format!("{}\n", letters(alphabet, length))).collect()
    };
    let suite = installed("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let minified = std::fs::read_to_string(suite).unwrap();
    const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    vec![
        ("code.rs", std::fs::read_to_string(source("crates/backsight-core/src/error.rs")).unwrap()),
        ("prose.md", std::fs::read_to_string(source("docs/ARCHITECTURE.md")).unwrap()),
        ("lock.json", std::fs::read_to_string(source("tests/tools/package-lock.json")).unwrap()[..40_000].to_owned()),
        ("base64.txt", lines(BASE64, 76)),
        ("hex.txt", lines(b"0123456789abcdef", 64)),
        ("numbers.csv", lines(b"0123456789.,", 80)),
        ("marks.txt", lines(b"{}[]()<>!@#$%^&*-+=/\\|;:'\",.?~`", 60)),
        ("blanks.txt", lines(b"        \t\tx", 40)),
        ("minified.js", minified[..minified.floor_char_boundary(40_000)].replace('\n', "")),
        ("chinese.txt", "把文件恢复到以前的状态，并保留其他人的修改。\n".repeat(200)),
        ("russian.txt", "Съешь ещё этих мягких французских булок, да выпей чаю.\n".repeat(200)),
        ("pictures.txt", "🎉🚀 done ✅ 👩‍👩‍👧‍👦 and on\n".repeat(200)),
    ]
}

/// Many replies of many sizes, with the budget each was asked for.
pub fn corpus() -> Vec<(String, usize, String)> {
    let fixture = Fixture::in_memory();
    let materials = materials();
    for (name, text) in &materials {
        fixture.write(&format!("texts/{name}"), text);
    }
    for index in 0..300 {
        fixture.write(&format!("packages/part_{}/src/someModule{index}/index.tsx", index % 7), "x\n");
    }
    let mut agent = Agent::new(&fixture);
    let mut replies = Vec::new();
    let mut ask = |agent: &mut Agent, tool: &str, arguments: Value| {
        for budget in [200, 500, 2000] {
            let mut arguments = arguments.clone();
            arguments["max_tokens"] = json!(budget);
            let said = agent.call(tool, arguments.clone());
            replies.push((format!("{tool} {arguments} text"), budget, said.text));
            replies.push((format!("{tool} {arguments} object"), budget, said.structured.to_string()));
        }
    };
    agent.ok("files_track", json!({ "description": "start" }));
    for (name, text) in &materials {
        ask(&mut agent, "files_read", json!({ "path": format!("texts/{name}") }));
        let edited: String = text.lines().map(|line| format!("{line}!\n")).collect();
        fixture.write(&format!("texts/{name}"), &edited);
        ask(&mut agent, "files_diff", json!({ "paths": format!("texts/{name}") }));
    }
    ask(&mut agent, "files_read", json!({}));
    std::fs::remove_dir_all(fixture.root().join("packages")).unwrap();
    for tool in ["workspace_status", "files_changes", "files_diff"] {
        ask(&mut agent, tool, json!({}));
    }
    ask(&mut agent, "files_restore", json!({ "ref": "#1" }));
    agent.ok("files_track", json!({ "description": "word ".repeat(500) }));
    for index in 0..30 {
        fixture.write("n.txt", &index.to_string());
        let step = json!({ "description": format!("step number {index}"), "session": "s1", "message": "msg_01AbC" });
        agent.ok("files_track", step);
    }
    ask(&mut agent, "history_query", json!({}));
    ask(&mut agent, "history_query", json!({ "ref": "#2" }));
    ask(&mut agent, "history_query", json!({ "ref": "#5" }));
    ask(&mut agent, "history_query", json!({ "blame": "texts/prose.md" }));
    ask(&mut agent, "files_revert", json!({ "refs": ["#2", "#3", "#4"] }));
    ask(&mut agent, "files_revert", json!({ "refs": "#99" }));
    ask(&mut agent, "files_track", json!({ "unknown": "strict", "declare": ["n.txt"] }));
    replies
}

#[test]
fn every_reply_keeps_its_budget_in_real_tokens_and_the_estimate_is_never_far_too_low() {
    let corpus = corpus();
    let texts: Vec<String> = corpus.iter().map(|(_, _, text)| text.clone()).collect();
    let mut wrong = Vec::new();
    for ((what, budget, text), real) in corpus.iter().zip(tokens(&texts)) {
        let estimate = estimate_tokens(text);
        if real > *budget {
            wrong.push(format!("{real} tokens of {budget}: {what}"));
        }
        if estimate * 11 + 20 < real * 10 {
            wrong.push(format!("{real} tokens taken for {estimate}: {what}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), corpus.len(), wrong.join("\n"));
}

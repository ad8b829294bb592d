//! Tools that say they only read are called for real, and nothing is written, recorded or started.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::client::{Agent, Era};
use super::{debug, eventually, post, source};
use crate::fixture::Fixture;
use crate::picture::Picture;
use crate::serving::server::Server;
use crate::serving::site::Site;

/// Ways to call each tool that says it only reads; one that is not here has not been tried.
fn calls() -> Vec<(&'static str, Value)> {
    let code = "__import__('os').system('id > RAN')";
    vec![
        ("workspace_status", json!({})),
        ("workspace_status", json!({ "verify": true })),
        ("files_changes", json!({})),
        ("files_diff", json!({})),
        ("files_diff", json!({ "from": "#1" })),
        ("files_read", json!({})),
        ("files_read", json!({ "path": "shop.py", "ref": "#1" })),
        ("history_query", json!({})),
        ("history_query", json!({ "blame": "shop.py" })),
        ("milestone_list", json!({})),
        ("browser_log", json!({})),
        ("get_changes_since", json!({ "wait_ms": 50 })),
        ("get_session_health", json!({})),
        ("checkpoint_list", json!({})),
        ("browser_status", json!({})),
        ("debug_state", json!({})),
        ("debug_state", json!({ "wait_ms": 50 })),
        ("debug_output", json!({})),
        ("breakpoint_list", json!({})),
        ("stacktrace_get", json!({})),
        ("stacktrace_get", json!({ "threads": true })),
        ("variables_get", json!({})),
        ("variables_get", json!({ "expand": "order" })),
        ("variables_get", json!({ "expand": code })),
        ("variables_get", json!({ "expand": code, "safety": "full" })),
        ("variables_get", json!({ "expand": code, "safety": "adapter" })),
        ("snapshot_list", json!({})),
        ("snapshot_get", json!({ "id": "one" })),
        ("snapshot_diff", json!({ "snapshot_id_1": "one", "snapshot_id_2": "two" })),
        ("snapshot_series", json!({ "name": "loop" })),
    ]
}

/// What of a workspace must not change when it is looked at: the files, what is kept, and the timeline.
fn content(fixture: &Fixture) -> (Picture, BTreeSet<String>, Value) {
    let mut kept = BTreeSet::new();
    for below in ["snapshots", "journal", "tmp", "turns", "config.toml"] {
        list(&fixture.root().join(".backsight/store").join(below), &mut kept);
    }
    let (log, _) = fixture.json("log --limit 0");
    (fixture.picture(), kept, log)
}

fn list(path: &Path, into: &mut BTreeSet<String>) {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().for_each(|entry| list(&entry.path(), into)),
        Err(_) => {
            let bytes = std::fs::read(path).map_or(0, |bytes| bytes.len());
            into.insert(format!("{} {bytes}", path.display()));
        }
    }
}

/// A process and everything it started, each with the page faults of children that ended: those count up with every
/// child that ran, however short.
fn processes(of: u32) -> BTreeMap<u32, String> {
    let mut found = BTreeMap::new();
    let mut parents = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) else { continue };
        let Some((_, fields)) = stat.rsplit_once(')') else { continue };
        let fields: Vec<&str> = fields.split_whitespace().collect();
        parents.insert(process, (fields[1].parse::<u32>().unwrap(), fields[8].to_owned()));
    }
    let mut open = vec![of];
    while let Some(process) = open.pop() {
        if let Some((_, faults)) = parents.get(&process) {
            found.insert(process, faults.clone());
        }
        open.extend(parents.iter().filter(|(_, (parent, _))| *parent == process).map(|(child, _)| *child));
    }
    found
}

#[test]
fn tools_that_say_they_read_write_nothing_and_start_nothing() {
    let fixture = debug::workspace();
    fixture.done("track -m start");
    let mut agent = debug::paused(&fixture);
    agent.ok("snapshot_create", json!({ "label": "one" }));
    agent.ok("snapshot_create", json!({ "label": "two" }));
    agent.ok("snapshot_on", json!({ "function": "main", "name": "loop" }));
    fixture.write("notes.txt", "by hand\n");
    // What was done before is noted in the timeline in its own time.
    eventually("the captures are noted", || {
        let (log, _) = fixture.json("log --limit 0");
        let rows = log["rows"].as_array().unwrap().iter().filter(|row| row["kind"] == "capture").count();
        (rows == 2).then_some(())
    });
    let tools = agent.tools();
    let readers: BTreeSet<&str> = tools
        .iter()
        .filter(|tool| tool["annotations"]["readOnlyHint"] == true)
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let tried: BTreeSet<&str> = calls().iter().map(|(tool, _)| *tool).collect();
    assert_eq!(readers, tried, "every tool that says it reads is tried");
    let (before, running) = (content(&fixture), processes(agent.process()));
    for (tool, arguments) in calls() {
        let said = agent.call(tool, arguments.clone());
        let wants_more = arguments.get("safety").is_some();
        assert!(!wants_more || said.structured["error"]["code"] == "USAGE", "{tool} {arguments}: {}", said.text);
        assert_eq!(processes(agent.process()), running, "{tool} {arguments} started something");
    }
    let after = content(&fixture);
    assert_eq!(before.0, after.0);
    assert_eq!(before.1, after.1);
    assert_eq!(before.2, after.2);
    assert!(!fixture.root().join("RAN").exists());
}

#[test]
fn tools_that_read_the_app_start_nothing_beside_a_real_browser() {
    let site = Site::start("<title>A page</title><script>console.error('it broke')</script>".to_owned());
    let fixture = Fixture::new();
    let mut command = fixture.command("mcp");
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let mut agent = Agent::spawn(command, "tester", Era::Handshake("2025-06-18"));
    agent.open();
    agent.ok("files_track", json!({}));
    let launch = json!({ "launch": true, "headless": true, "open": format!("{}/", site.origin) });
    let said = agent.call("browser_attach", launch);
    let line = said.structured["command"][0].as_str().unwrap_or_else(|| panic!("{}", said.text)).to_owned();
    assert!(line.contains("--headless=new") && said.text.contains("--user-data-dir="), "{}", said.text);
    eventually("the first error is noted", || {
        let (log, _) = fixture.json("log --limit 0");
        log["rows"].as_array().unwrap().iter().any(|row| row["kind"] == "first_error").then_some(())
    });
    // What a browser starts by itself is the browser's; what the server starts is its own child.
    let own = |agent: &Agent| {
        let all = processes(agent.process());
        let faults = all[&agent.process()].clone();
        (faults, children(agent.process()))
    };
    let (before, running) = (content(&fixture), own(&agent));
    for (tool, arguments) in calls() {
        if ["get_changes_since", "get_session_health", "checkpoint_list", "browser_status"].contains(&tool) {
            agent.ok(tool, arguments);
            assert_eq!(own(&agent), running, "{tool} started something");
        }
    }
    let after = content(&fixture);
    assert_eq!((before.0, before.1), (after.0, after.1));
}

/// The processes that one started and that are there.
fn children(of: u32) -> BTreeSet<String> {
    let tasks = std::fs::read_dir(format!("/proc/{of}/task")).unwrap().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn variables_are_read_purely_over_http_and_by_the_cli_too() {
    let fixture = debug::workspace();
    let server = Server::start(&fixture);
    let python = debug::python();
    let places = json!([{ "file": "shop.py", "line": debug::APPEND }]);
    let launch = json!({ "program": "shop.py", "runtime": python, "breakpoints": places, "wait_ms": 60_000 });
    let stopped: Value = serde_json::from_str(&post(&server, "/api/debug/launch", &launch)).unwrap();
    assert_eq!(stopped["outcome"], "stopped", "{stopped}");
    let command = stopped["command"].as_array().unwrap();
    assert!(command[0].as_str().unwrap().ends_with("python") && command.len() > 3, "{stopped}");
    for safety in ["full", "adapter", "pure"] {
        let body = json!({ "expand": "__import__('os').system('id > RAN')", "safety": safety });
        let answer = post(&server, "/api/debug/variables", &body);
        assert!(answer.contains("USAGE"), "{answer}");
    }
    let answer = post(&server, "/api/debug/variables", &json!({ "expand": "__import__('os').system('id > RAN')" }));
    assert!(answer.contains("\"ok\":false"), "{answer}");
    assert!(fixture.run("debug vars --safety full").contains("exit 2"));
    let (_, status) = fixture.json("debug vars order");
    assert_eq!(status, 0);
    assert!(!fixture.root().join("RAN").exists());
    // A look at what is documented: no interface offers it.
    let reference = std::fs::read_to_string(source("docs/HTTP.md")).unwrap();
    let section = reference.split("/api/debug/variables").nth(1).unwrap_or_default();
    assert!(!section.split("/api/").next().unwrap_or_default().contains("safety"), "docs/HTTP.md");
}

#[test]
fn a_launch_shows_the_command_line_that_was_run() {
    let fixture = debug::workspace();
    let mut agent = Agent::new(&fixture);
    let odd = "a b'c\u{1b}[2J\nnext";
    let places = [format!("shop.py:{}", debug::APPEND)];
    let said = agent.call("debug_launch", debug::shop(json!({ "breakpoints": places, "args": [odd, "--x=1"] })));
    assert!(!said.is_error, "{}", said.text);
    let line = said.structured["command"][0].as_str().unwrap();
    assert!(line.contains("-m debugpy") && line.contains("shop.py 'a b") && line.ends_with("--x=1"), "{line}");
    for text in [line, &said.text] {
        assert!(!text.contains('\u{1b}') && !text.contains("c\u{1b}"), "{text:?}");
    }
    assert!(said.text.contains("-m debugpy") && !line.contains('\n'), "{}", said.text);
}

/// Neither a small answer, nor a long argument before the telling one, nor a failure hides what was run.
#[test]
fn what_was_run_is_told_in_small_answers_in_failures_and_later() {
    let fixture = debug::workspace();
    let mut agent = Agent::new(&fixture);
    let places = [format!("shop.py:{}", debug::APPEND)];
    let (long, few) = ("A".repeat(900), 200);
    let launch =
        json!({ "breakpoints": places, "args": [long, "--evil"], "env": { "LC_ALL": "C" }, "max_tokens": few });
    let said = agent.call("debug_launch", debug::shop(launch));
    assert!(!said.is_error, "{}", said.text);
    for text in [&said.text, &said.structured.to_string()] {
        assert!(text.contains("shop.py") && text.contains(" --evil") && text.contains("with LC_ALL set"), "{text}");
    }
    let later = agent.ok("debug_state", json!({}));
    assert!(later["command"][0].as_str().unwrap().ends_with(" --evil"), "{later}");
    agent.ok("debug_disconnect", json!({}));
    // A program of the workspace that takes the place of the interpreter.
    let python = fixture.root().join("sub/.venv/bin/python3");
    fixture.write("sub/b.py", "print(1)\n");
    std::fs::create_dir_all(python.parent().unwrap()).unwrap();
    std::fs::write(&python, "#!/bin/sh\nexit 3\n").unwrap();
    std::fs::set_permissions(&python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let said = agent.call("debug_launch", json!({ "program": "sub/b.py", "cwd": "sub", "max_tokens": few }));
    assert_eq!(said.structured["error"]["code"], "ADAPTER_FAILED", "{}", said.text);
    let told = said.structured["error"]["details"]["command"][0].as_str().unwrap();
    for text in [told, &said.text] {
        assert!(text.contains("python3") && text.contains("debugpy") && text.contains("b.py"), "{text}");
    }
    assert!(said.text.contains("\nin ") && said.text.contains("/sub"), "{}", said.text);
}

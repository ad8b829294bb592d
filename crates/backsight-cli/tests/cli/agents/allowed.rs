//! What agents may run and reach: programs of the workspace and this machine, unless the user's own settings say more.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::client::{Agent, Era};
use super::post;
use crate::fixture::Fixture;
use crate::serving::server::Server;

/// Launches that would run something else than a program of the workspace, each with the setting that would allow it.
fn launches(fixture: &Fixture) -> Vec<(Value, &'static str)> {
    let outside = fixture.base().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("evil.py"), "open('RAN', 'w')\n").unwrap();
    symlink("/bin/sh", fixture.root().join("tool")).unwrap();
    symlink(&outside, fixture.root().join("linked")).unwrap();
    let mark = fixture.base().join("RAN");
    let shell = format!("id >{}", mark.display());
    let with = |name: &str, value: &str| json!({ "program": "a.py", "env": { name: value } });
    let mut launches = vec![
        (json!({ "program": "/bin/sh", "args": ["-c", shell] }), "programs"),
        (json!({ "program": "tool", "args": ["-c", shell] }), "programs"),
        (json!({ "program": "../outside/evil.py" }), "programs"),
        (json!({ "program": "linked/evil.py" }), "programs"),
        (json!({ "program": outside.join("evil.py") }), "programs"),
        (json!({ "program": "/proc/self/root/bin/sh" }), "programs"),
        (json!({ "program": "..", "adapter": "delve" }), "programs"),
        (json!({ "program": "a.py", "cwd": "/tmp" }), "programs"),
        (json!({ "program": "a.py", "cwd": ".." }), "programs"),
        (json!({ "program": "a.py", "cwd": "linked" }), "programs"),
        (json!({ "program": "a.py", "runtime": "/bin/sh" }), "runtime"),
        (json!({ "program": "a.py", "runtime": "python3" }), "runtime"),
        (json!({ "program": "a.py", "runtime": "./a.py" }), "runtime"),
        (json!({ "program": "a.py", "options": { "initCommands": [format!("platform shell {shell}")] } }), "options"),
        (json!({ "program": "a.py", "adapter": "lldb-dap", "options": { "x": 1 } }), "options"),
    ];
    let variables = [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "PYTHONHOME",
        "PYTHONINSPECT",
        "PYTHONBREAKPOINT",
        "PYTHONWARNINGS",
        "PYTHONUSERBASE",
        "NODE_OPTIONS",
        "NODE_PATH",
        "BASH_ENV",
        "ENV",
        "PATH",
        "HOME",
        "PERL5OPT",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "GOFLAGS",
        "GOROOT",
        "CC",
        "RUSTC_WRAPPER",
        "GCONV_PATH",
        "OPENSSL_CONF",
        "GIT_SSH_COMMAND",
        "EDITOR",
        "XDG_CONFIG_HOME",
        "LLDB_DEBUGSERVER_PATH",
        "ld_preload",
        "",
        "A=B",
    ];
    launches.extend(variables.map(|name| (with(name, "x"), "environment")));
    launches
}

#[test]
fn an_agent_starts_programs_of_the_workspace_only_and_is_told_what_would_allow_more() {
    let fixture = Fixture::new();
    fixture.write("a.py", "print(1)\n");
    let mut agent = Agent::new(&fixture);
    for (launch, setting) in launches(&fixture) {
        let error = agent.fails("debug_launch", launch.clone(), "NOT_ALLOWED");
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains(&format!("`{setting} = ")) && hint.contains("[agents]"), "{launch}: {hint}");
        assert!(hint.contains("config/backsight/config.toml"), "{launch}: {hint}");
    }
    assert!(!fixture.base().join("RAN").exists() && !fixture.root().join("RAN").exists());
    let sessions = agent.ok("debug_state", json!({}));
    assert_eq!(sessions["sessions"], json!([]), "nothing was started");
    // What it may: the answer is about the debugger, which the search path of the tests does not have.
    let harmless =
        json!({ "program": "a.py", "cwd": ".", "env": { "DEBUG": "1", "LC_ALL": "C" }, "args": ["-c", "id"] });
    agent.fails("debug_launch", harmless, "ADAPTER_NOT_FOUND");
    agent.fails("debug_launch", json!({ "program": "missing.py" }), "PROGRAM_NOT_FOUND");
}

#[test]
fn the_same_holds_for_tools_over_http_and_not_for_the_person_who_holds_the_token() {
    let fixture = Fixture::new();
    fixture.write("a.py", "print(1)\n");
    let server = Server::start(&fixture);
    for (launch, _) in launches(&fixture).into_iter().take(16) {
        let body = json!({ "arguments": launch });
        let answer = post(&server, "/api/tools/debug_launch", &body);
        let reply = answer.lines().last().unwrap_or_default();
        assert!(reply.contains("NOT_ALLOWED"), "{launch}: {answer}");
    }
    // The typed API is the person's: what it says is about the program, not about being allowed.
    let answer = post(&server, "/api/debug/launch", &json!({ "program": "/bin/sh", "arguments": ["-c", "id"] }));
    assert!(answer.contains("ADAPTER_NOT_FOUND"), "{answer}");
}

#[test]
fn an_agent_attaches_to_this_machine_and_this_user_only() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    for host in
        ["192.0.2.1", "0.0.0.0", "::", "example.com", "10.0.0.1", "localhost.example.com", "127.1", "2130706433"]
    {
        let attach = json!({ "adapter": "node", "port": 9, "host": host });
        let error = agent.fails("debug_attach", attach, "NOT_ALLOWED");
        assert!(error["hint"].as_str().unwrap().contains("addresses = \"any\""), "{error}");
    }
    for (more, setting) in [(json!({ "runtime": "/bin/sh" }), "runtime"), (json!({ "options": { "a": 1 } }), "options")]
    {
        let mut attach = json!({ "adapter": "debugpy", "pid": std::process::id() });
        attach.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let error = agent.fails("debug_attach", attach, "NOT_ALLOWED");
        assert!(error["hint"].as_str().unwrap().contains(setting), "{error}");
    }
    for host in ["127.0.0.1", "localhost", "::1"] {
        let said = agent.call("debug_attach", json!({ "adapter": "node", "port": 9, "host": host }));
        assert!(said.is_error && said.structured["error"]["code"] != "NOT_ALLOWED", "{}", said.text);
    }
    let own = agent.process();
    agent.fails("debug_attach", json!({ "adapter": "lldb-dap", "pid": own }), "USAGE");
    // Only root can have a process of somebody else.
    if let Ok(mut other) = Command::new("sleep").arg("60").uid(65534).spawn() {
        let error = agent.fails("debug_attach", json!({ "adapter": "lldb-dap", "pid": other.id() }), "NOT_ALLOWED");
        let _ = other.kill();
        let _ = other.wait();
        assert!(error["message"].as_str().unwrap().contains("belongs to user 65534"), "{error}");
    }
}

/// A browser that leaves a mark instead of speaking.
fn plant_browser(directory: &Path, mark: &Path) {
    std::fs::create_dir_all(directory).unwrap();
    let program = directory.join("chromium");
    std::fs::write(&program, format!("#!/bin/sh\necho \"$0 $*\" >>{}\n", mark.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_browser_of_the_workspace_is_not_taken_for_the_machines() {
    let fixture = Fixture::new();
    let (mark, tools) = (fixture.base().join("RAN"), fixture.base().join("tools"));
    plant_browser(&fixture.root().join("node_modules/.bin"), &mark);
    plant_browser(fixture.root(), &mark);
    std::fs::create_dir(&tools).unwrap();
    symlink(fixture.root().join("node_modules/.bin"), tools.join("link")).unwrap();
    let root = fixture.root().display();
    let search = format!(".:{root}:{root}/node_modules/.bin:node_modules/.bin:{}/link", tools.display());
    let mut command = fixture.command("mcp");
    command.env("PATH", &search);
    let mut agent = Agent::spawn(command, "tester", Era::Handshake("2025-06-18"));
    agent.open();
    agent.fails("browser_attach", json!({ "launch": true, "headless": true }), "PROGRAM_NOT_FOUND");
    let mut doctor = fixture.command("doctor --json");
    let told = doctor.env("PATH", &search).output().unwrap();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("no Chromium or Chrome was found"), "{told}");
    assert!(!mark.exists(), "{}", std::fs::read_to_string(&mark).unwrap_or_default());
}

#[test]
fn an_agent_opens_pages_of_this_machine_in_profiles_of_the_workspace() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    for (more, setting) in [
        (json!({ "open": "https://example.com/?stolen" }), "addresses"),
        (json!({ "open": "file:///etc/passwd" }), "addresses"),
        (json!({ "open": "javascript:alert(1)" }), "addresses"),
        (json!({ "profile": fixture.home() }), "programs"),
        (json!({ "profile": "../home" }), "programs"),
    ] {
        let mut launch = json!({ "launch": true, "headless": true });
        launch.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let error = agent.fails("browser_attach", launch, "NOT_ALLOWED");
        assert!(error["hint"].as_str().unwrap().contains(setting), "{error}");
    }
    for url in ["http://192.0.2.1:9222", "http://example.com:9222", "ws://example.com/devtools/browser/x"] {
        let said = agent.call("browser_attach", json!({ "url": url }));
        assert!(said.is_error, "{url}: {}", said.text);
    }
}

#[test]
fn what_the_user_allows_is_allowed_from_then_on() {
    let fixture = Fixture::new();
    fixture.write("a.py", "print(1)\n");
    let mut agent = Agent::new(&fixture);
    let cases = [
        ("programs = \"any\"", "debug_launch", json!({ "program": "/bin/sh" })),
        ("programs = \"any\"", "debug_launch", json!({ "program": "a.py", "cwd": "/tmp" })),
        ("runtime = true", "debug_launch", json!({ "program": "a.py", "runtime": "no-such-python" })),
        ("options = true", "debug_launch", json!({ "program": "a.py", "options": { "a": 1 } })),
        ("environment = [\"MY_TOKEN\"]", "debug_launch", json!({ "program": "a.py", "env": { "MY_TOKEN": "1" } })),
        ("addresses = \"any\"", "debug_attach", json!({ "adapter": "node", "port": 9, "host": "0.0.0.0" })),
    ];
    for (setting, tool, arguments) in cases {
        fixture.user_settings("");
        agent.fails(tool, arguments.clone(), "NOT_ALLOWED");
        fixture.user_settings(&format!("[agents]\n{setting}\n"));
        let said = agent.call(tool, arguments.clone());
        assert!(said.is_error, "{}", said.text);
        assert_ne!(said.structured["error"]["code"], "NOT_ALLOWED", "{setting}: {}", said.text);
    }
    // Settings that cannot be trusted allow nothing, and say why.
    fixture.user_settings("[agents]\nprogramms = \"any\"\n");
    let error = agent.fails("debug_launch", json!({ "program": "a.py" }), "INVALID_CONFIG");
    assert!(error["message"].as_str().unwrap().contains("programms"), "{error}");
}

//! What agents may run and reach: programs of the workspace and this machine, unless the user's own settings say more.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

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
    assert_eq!(sessions["summary"], "no program is being debugged: start one with debug_launch", "nothing was started");
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
    let error = agent.fails("debug_attach", json!({ "adapter": "delve", "pid": 1, "port": 9 }), "USAGE");
    assert!(error["hint"].as_str().unwrap().contains("with `pid`"), "{error}");
    // Only root can have a process of somebody else.
    if let Ok(mut other) = Command::new("sleep").arg("60").uid(65534).spawn() {
        let error = agent.fails("debug_attach", json!({ "adapter": "lldb-dap", "pid": other.id() }), "NOT_ALLOWED");
        let _ = other.kill();
        let _ = other.wait();
        assert!(error["message"].as_str().unwrap().contains("belongs to user 65534"), "{error}");
    }
}

/// Every number that means a process: its own, and those of its threads.
fn numbers(process: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
    tasks.map(|task| task.file_name().to_str().unwrap().parse().unwrap()).collect()
}

/// A debugger that holds its own server, or whoever waits for its answers, answers nobody any more.
#[test]
fn nobody_attaches_to_backsight_itself_nor_to_what_waits_for_it() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    agent.ok("workspace_status", json!({}));
    let own = numbers(agent.process());
    assert!(own.len() > 1, "{own:?}");
    // A thread that had nothing to do may be gone when it is asked for.
    let is_there = |number: u32| Path::new(&format!("/proc/{number}")).exists();
    for number in own.into_iter().chain([std::process::id()]) {
        let said = agent.call("debug_attach", json!({ "adapter": "lldb-dap", "pid": number }));
        assert!(said.text.contains("Backsight") || !is_there(number), "{}", said.text);
    }
    let own = agent.process();
    agent.fails("debug_attach", json!({ "adapter": "debugpy", "pid": own }), "USAGE");
    agent.ok("workspace_status", json!({}));
    drop(agent);
    // Behind a server neither it nor the one that passes calls on to it, and people are spared it too.
    let server = Server::start(&fixture);
    let mut agent = Agent::new(&fixture);
    agent.ok("workspace_status", json!({}));
    for number in numbers(server.pid()).into_iter().chain(numbers(agent.process())) {
        let attach = json!({ "adapter": "lldb-dap", "pid": number });
        let said = agent.call("debug_attach", attach.clone()).text;
        let answer = post(&server, "/api/debug/attach", &attach);
        let is_refused = said.contains("USAGE") && answer.contains("USAGE");
        assert!(is_refused || !is_there(number), "{said} {answer}");
    }
}

/// The other end of a port is somebody: a neighbour's listener hears nothing, whether it plays a debugger or a browser.
#[test]
fn an_agent_speaks_only_with_listeners_of_this_user() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    // Only root can be somebody else.
    let script = "import os,socket,sys\nos.setuid(65534)\ns=socket.socket()\ns.bind(('127.0.0.1',0))\ns.listen()\n\
        print(s.getsockname()[1],flush=True)\nwhile 1:\n c=s.accept()[0]\n print('heard',len(c.recv(99)),flush=True)\n";
    let mut python = Command::new("python3");
    let mut other = python.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
    let Some(port) = lines.next().and_then(|line| line.ok()?.parse::<u16>().ok()) else {
        let _ = other.wait();
        return;
    };
    std::fs::create_dir(fixture.root().join("profile")).unwrap();
    fixture.write("profile/DevToolsActivePort", &format!("{port}\n/devtools/browser/x\n"));
    let calls = [
        ("debug_attach", json!({ "adapter": "node", "port": port })),
        ("debug_attach", json!({ "adapter": "debugpy", "port": port })),
        ("browser_attach", json!({ "port": port })),
        ("browser_attach", json!({ "url": format!("http://127.0.0.1:{port}") })),
        ("browser_attach", json!({ "url": format!("ws://127.0.0.1:{port}/devtools/browser/x") })),
        ("browser_attach", json!({ "profile": "profile" })),
    ];
    for (tool, arguments) in calls {
        let error = agent.fails(tool, arguments.clone(), "NOT_ALLOWED");
        assert!(error["message"].as_str().unwrap().contains("belongs to user 65534"), "{arguments}: {error}");
        assert!(error["hint"].as_str().unwrap().contains("addresses = \"any\""), "{error}");
    }
    fixture.user_settings("[agents]\naddresses = \"any\"\n");
    agent.fails("browser_attach", json!({ "port": port }), "BROWSER_UNREACHABLE");
    let _ = other.kill();
    let _ = other.wait();
    let heard: Vec<String> = lines.map_while(Result::ok).collect();
    let first = heard.iter().position(|line| line != "heard 0").unwrap_or(heard.len());
    assert!(first >= 6, "nothing is sent to a stranger: {heard:?}");
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

/// The browser of this test says how it was called: a profile is the workspace's wherever the server runs.
#[test]
fn a_profile_is_looked_for_and_used_in_the_workspace() {
    let fixture = Fixture::new();
    let (mark, tools) = (fixture.base().join("RAN"), fixture.base().join("tools"));
    plant_browser(&tools, &mark);
    let mut command = fixture.command("mcp");
    command.args(["-C".as_ref(), fixture.root().as_os_str()]).current_dir(fixture.base()).env("PATH", &tools);
    std::fs::create_dir(fixture.base().join("real")).unwrap();
    let mut agent = Agent::spawn(command, "tester", Era::Handshake("2025-06-18"));
    agent.open();
    let launch = |profile: &str| json!({ "launch": true, "headless": true, "profile": profile });
    agent.fails("browser_attach", launch("real"), "BROWSER_UNREACHABLE");
    let called = std::fs::read_to_string(&mark).unwrap();
    let own = format!("--user-data-dir={}/real ", fixture.root().canonicalize().unwrap().display());
    for flag in [&own, "--no-proxy-server", "--disable-extensions"] {
        assert!(called.contains(flag), "{flag}: {called}");
    }
    // What a browser keeps is in no snapshot.
    fixture.write("real/Default/Cookies", "secret");
    fixture.write("source", "mine");
    fixture.done("track");
    let recorded = fixture.run("ls @");
    assert!(recorded.contains("source") && !recorded.contains("Cookies"), "{recorded}");
    // It is there now, and a profile that is there may be anybody's.
    let error = agent.fails("browser_attach", launch("real"), "NOT_ALLOWED");
    assert!(error["message"].as_str().unwrap().contains("is there already"), "{error}");
    fixture.user_settings("[agents]\nprograms = \"any\"\n");
    agent.fails("browser_attach", launch("real"), "BROWSER_UNREACHABLE");
}

#[test]
fn an_agent_opens_pages_of_this_machine_in_profiles_of_the_workspace() {
    let fixture = Fixture::new();
    let mut agent = Agent::new(&fixture);
    for (more, setting) in [
        (json!({ "open": "https://example.com/?stolen" }), "addresses"),
        (json!({ "open": "file:///etc/passwd" }), "addresses"),
        (json!({ "open": "javascript:alert(1)" }), "addresses"),
        (json!({ "open": format!("file://{}/.\n./.\n./.\n./etc/passwd", fixture.root().display()) }), "addresses"),
        (json!({ "open": format!("file://{}/.\t./.\t./etc/passwd", fixture.root().display()) }), "addresses"),
        (json!({ "open": format!("file://{}/missing.html", fixture.root().display()) }), "addresses"),
        (json!({ "open": "http://localhost:1/a b" }), "addresses"),
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

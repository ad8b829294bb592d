//! The debug lane over HTTP and on the command line: two sessions of the same program on one server, each step done over
//! HTTP in one and typed in the other. What both answer must be the same, but for what chance and the clock put into it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::schema;
use super::server::{Reply, Server};
use crate::fixture::{Fixture, words};
use crate::reference::with_subcommands;

/// A program with a loop, a dictionary and a secret.
pub const SHOP: &str = r#"import time

def total(prices):
    sum = 0
    for price in prices:
        sum = sum + price
    return sum

def main():
    cart = {"apple": 3, "pear": 4, "plum": 5}
    password = "hunter2-and-more"
    print("shopping", flush=True)
    answer = total(list(cart.values()))
    print("total", answer, flush=True)
    while answer == 12:
        time.sleep(0.01)

main()
"#;

/// The Python that has debugpy.
#[track_caller]
pub fn python() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_backsight")).parent().unwrap().parent().unwrap();
    let python = target.join("tools/venv/bin/python");
    let has_debugpy = Command::new(&python).args(["-c", "import debugpy"]).output();
    let is_there = has_debugpy.is_ok_and(|output| output.status.success());
    assert!(is_there, "debugpy is missing: install it with `make tools` (or `tests/tools/install`)");
    python
}

/// One thing to do in both sessions: an operation, its address, its body (none for GET) and the command for the same.
struct Step {
    operation: &'static str,
    target: &'static str,
    body: Option<Value>,
    line: &'static str,
}

fn get(operation: &'static str, target: &'static str, line: &'static str) -> Step {
    Step { operation, target, body: None, line }
}

fn post(operation: &'static str, target: &'static str, body: Value, line: &'static str) -> Step {
    Step { operation, target, body: Some(body), line }
}

/// Up to the first stop, and a look around.
fn looking() -> Vec<Step> {
    let places = json!([{ "file": "shop.py", "line": 6 }, { "exception": "uncaught" }]);
    let launch = json!({ "program": "shop.py", "runtime": "{python}", "breakpoints": places, "wait_ms": 60_000 });
    vec![
        post(
            "debugLaunch",
            "/api/debug/launch",
            launch,
            "debug launch shop.py --break shop.py:6 --exceptions uncaught --runtime {python} --timeout 60",
        ),
        get("debugState", "/api/debug/state?wait_ms=100", "debug status --timeout 0.1"),
        get("breakpointList", "/api/debug/breakpoints", "debug breaks"),
        post(
            "breakpointSet",
            "/api/debug/breakpoints",
            json!({ "file": "shop.py", "line": 7, "condition": "sum > 100" }),
            "debug break shop.py:7 --condition 'sum > 100'",
        ),
        post("breakpointRemove", "/api/debug/breakpoints/remove", json!({ "id": "bp-3" }), "debug unbreak bp-3"),
        get("debugThreads", "/api/debug/threads", "debug threads"),
        get("debugStack", "/api/debug/stack?start=1&count=1", "debug stack --from 1 --limit 1"),
        post("debugVariables", "/api/debug/variables", json!({ "frame": 1 }), "debug vars --frame 1"),
        post("debugEvaluate", "/api/debug/evaluate", json!({ "expression": "sum" }), "debug eval sum"),
        get("debugOutput", "/api/debug/output", "debug output"),
    ]
}

/// Snapshots by hand and by a step.
fn capturing() -> Vec<Step> {
    let control = |action: &str| json!({ "action": action, "wait_ms": 60_000 });
    vec![
        post(
            "debugSnapshotCreate",
            "/api/debug/snapshots",
            json!({ "label": "before", "depth": 1, "frames": "all", "watch": ["sum"] }),
            "debug snapshot before --depth 1 --frames all --watch sum",
        ),
        post("debugControl", "/api/debug/control", control("step_over"), "debug next --timeout 60"),
        post(
            "debugSnapshotCreate",
            "/api/debug/snapshots",
            json!({ "label": "after", "depth": 1 }),
            "debug snapshot after --depth 1",
        ),
        get("debugSnapshotList", "/api/debug/snapshots", "debug snapshots"),
        get("debugSnapshotGet", "/api/debug/snapshots/before?path=prices", "debug show before --path prices"),
        post(
            "debugSnapshotDiff",
            "/api/debug/diff",
            json!({ "from": "before", "to": "after" }),
            "debug diff before after",
        ),
        post(
            "debugStep",
            "/api/debug/step",
            json!({ "action": "step_over", "wait_ms": 60_000 }),
            "debug try next --timeout 60",
        ),
        post(
            "debugWatch",
            "/api/debug/watch",
            json!({ "expression": "sum", "wait_ms": 60_000 }),
            "debug watch sum --timeout 60",
        ),
        post(
            "debugSet",
            "/api/debug/set",
            json!({ "path": "price", "value": "price + 0" }),
            "debug set price 'price + 0'",
        ),
        post(
            "debugSnapshotExport",
            "/api/debug/export",
            json!({ "id": "before", "file": "http.json" }),
            "debug export before cli.json",
        ),
        post("debugSnapshotDelete", "/api/debug/delete", json!({ "id": "after" }), "debug delete after"),
        post("debugSnapshotClear", "/api/debug/clear", json!({}), "debug clear"),
    ]
}

/// Snapshots that are taken by themselves, and the ways on to the end.
fn going_on() -> Vec<Step> {
    let control = |action: &str| json!({ "action": action, "wait_ms": 60_000 });
    let run_to = json!({ "action": "run_to", "file": "shop.py", "line": 14, "wait_ms": 60_000 });
    vec![
        post(
            "snapshotOn",
            "/api/debug/points",
            json!({ "file": "shop.py", "line": 5, "name": "loop", "max_hits": 1 }),
            "debug on shop.py:5 --name loop --max 1",
        ),
        get("snapshotPoints", "/api/debug/points", "debug points"),
        post("debugControl", "/api/debug/control", control("continue"), "debug continue --timeout 60"),
        post("breakpointRemove", "/api/debug/breakpoints/remove", json!({ "id": "bp-1" }), "debug unbreak bp-1"),
        post("debugControl", "/api/debug/control", control("step_out"), "debug finish --timeout 60"),
        post("debugControl", "/api/debug/control", run_to, "debug until shop.py:14 --timeout 60"),
        post("debugControl", "/api/debug/control", control("step_in"), "debug step --timeout 60"),
        post(
            "debugControl",
            "/api/debug/control",
            json!({ "action": "continue", "wait_ms": 100 }),
            "debug continue --timeout 0.1",
        ),
        post("debugControl", "/api/debug/control", control("pause"), "debug pause --timeout 60"),
        get("snapshotSeries", "/api/debug/series/loop", "debug series loop"),
        post("debugDisconnect", "/api/debug/disconnect", json!({ "end_program": true }), "debug end --end-program"),
    ]
}

fn story() -> Vec<Step> {
    [looking(), capturing(), going_on()].into_iter().flatten().collect()
}

/// What both sessions answered to one step.
fn do_both(fixture: &Fixture, server: &Server, document: &Value, step: &Step) -> [Value; 2] {
    let python = python();
    let filled = |text: &str| text.replace("{python}", python.to_str().unwrap());
    let reply = match &step.body {
        None => {
            let sign = if step.target.contains('?') { '&' } else { '?' };
            server.get(&format!("{}{sign}session=http", step.target))
        }
        Some(body) => {
            let mut body = body.clone();
            body["session"] = json!("http");
            server.send("POST", step.target, filled(&body.to_string()).as_bytes())
        }
    };
    check_described(document, step, &reply);
    let typed = fixture.ask(&format!("{} --session cli", filled(step.line)));
    let served = reply.ok();
    assert!(served["untrusted"].is_string(), "{}: a program's words are data: {served}", step.operation);
    [served, typed.ok()]
}

#[track_caller]
fn check_described(document: &Value, step: &Step, reply: &Reply) {
    let method = if step.body.is_some() { "post" } else { "get" };
    let paths = document["paths"].as_object().unwrap();
    let described = paths.values().find(|methods| methods[method]["operationId"] == step.operation);
    let described = described.unwrap_or_else(|| panic!("no operation `{}` takes {method}", step.operation));
    let schema = &described[method]["responses"][reply.status.to_string()]["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{}: {} is not described: {}", step.operation, reply.status, reply.json());
    schema::assert_describes(document, schema, &reply.json(), step.operation);
}

/// What chance and the clock put in is named instead.
fn normal(value: &Value) -> Value {
    const MEASURED: [&str; 9] =
        ["timestamp", "process", "epoch", "bytes", "output_next", "next", "printed", "pieces", "command"];
    match value {
        // Where a program is that is paused anywhere is chance.
        Value::Object(object) if object.get("reason") == Some(&json!("pause")) && object.contains_key("frame") => {
            let rest = object.iter().filter(|(name, _)| *name != "frame");
            normal(&rest.map(|(name, value)| (name.clone(), value.clone())).collect())
        }
        Value::Object(object) => {
            let field = |(name, value): (&String, &Value)| {
                let measured = (name.ends_with("_ms") || MEASURED.contains(&name.as_str())) && !value.is_null();
                (name.clone(), if measured { json!("[MEASURED]") } else { normal(value) })
            };
            // A command speaks to the user and need not say whose words they are.
            let told = object.iter().filter(|(name, _)| *name != "untrusted");
            told.map(field).collect::<std::collections::BTreeMap<_, _>>().into_iter().collect()
        }
        Value::Array(list) => list.iter().map(normal).collect(),
        Value::String(text) if text.starts_with("snap-") => json!("[SNAPSHOT]"),
        Value::String(text) if matches!(text.as_str(), "http" | "cli") => json!("[SESSION]"),
        Value::String(text) if matches!(text.as_str(), "http.json" | "cli.json") => json!("[FILE]"),
        other => other.clone(),
    }
}

#[test]
fn every_debug_operation_answers_as_the_command_line_does() {
    let fixture = Fixture::new();
    fixture.write("shop.py", SHOP);
    fixture.done("init");
    let server = Server::start(&fixture);
    let document = server.document();
    let none = server.get("/api/debug/sessions").ok();
    assert_eq!((&normal(&none), &none["sessions"]), (&normal(&fixture.ok("debug sessions")), &json!([])));
    let mut called = BTreeSet::from(["debugSessions", "debugAttach"]);
    for step in story() {
        let [served, typed] = do_both(&fixture, &server, &document, &step);
        let pretty = |value: &Value| serde_json::to_string_pretty(&normal(value)).unwrap();
        assert_eq!(pretty(&served), pretty(&typed), "{} and `{}` differ", step.operation, step.line);
        expect(step.line, &served);
        called.insert(step.operation);
    }
    assert_eq!(fixture.ok("debug sessions")["sessions"], json!([]));
    assert!(!fixture.read("http.json").contains("hunter2"), "a secret was written into a file");
    let described: BTreeSet<&str> = operations(&document).into_iter().collect();
    assert_eq!(called, described, "an operation has no example, or an example no operation");
}

/// What a step must have come to; that both say the same does not make it true.
#[track_caller]
fn expect(line: &str, answer: &Value) {
    let at = |line: u64| {
        assert_eq!((&answer["outcome"], &answer["frame"]["line"]), (&json!("stopped"), &json!(line)), "{answer}");
    };
    let words: Vec<&str> = line.split(' ').take(3).collect();
    match words.as_slice() {
        ["debug", "launch", ..] => at(6),
        ["debug", "next", ..] => at(5),
        ["debug", "until", ..] => at(14),
        ["debug", "diff", ..] => {
            let modified = answer["modified"].as_array().unwrap();
            assert!(modified.iter().any(|entry| entry["path"] == "sum" && entry["new_value"] == "3"), "{answer}");
        }
        ["debug", "try", ..] => {
            at(6);
            assert!(answer["diff"]["modified"].to_string().contains("price"), "{answer}");
        }
        ["debug", "watch", ..] => {
            assert_eq!((&answer["changed"], &answer["changed_by"]["line"]), (&json!(true), &json!(6)), "{answer}");
            assert_eq!((&answer["before"], &answer["after"]), (&json!("3"), &json!("7")), "{answer}");
        }
        ["debug", "set", ..] => {
            assert_eq!((&answer["before"], &answer["after"]), (&json!("4"), &json!("4")), "{answer}")
        }
        ["debug", "series", ..] => assert_eq!(answer["hits"], 1, "{answer}"),
        ["debug", "eval", ..] => {
            assert_eq!((&answer["value"], &answer["may_have_run_code"]), (&json!("0"), &json!(false)))
        }
        ["debug", "vars", ..] => assert!(!answer.to_string().contains("hunter2"), "{answer}"),
        ["debug", "continue", "--timeout"] if line.ends_with("0.1") => {
            assert_eq!(answer["outcome"], "still_running", "{answer}");
        }
        ["debug", "end", ..] => assert_eq!(answer["ended_program"], true, "{answer}"),
        _ => {}
    }
}

/// The operations about debugging.
fn operations(document: &Value) -> Vec<&str> {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.values().flat_map(|methods| methods.as_object().unwrap().values());
    let ours = all.filter(|described| described["tags"][0] == "Debugging");
    ours.map(|described| described["operationId"].as_str().unwrap()).collect()
}

#[test]
fn every_debug_command_is_an_operation() {
    let fixture = Fixture::new();
    let typed: BTreeSet<String> = story().iter().map(|step| words(step.line)[..2].join(" ")).collect();
    for command in with_subcommands(&fixture, "debug") {
        let elsewhere = ["debug", "debug sessions", "debug attach"].contains(&command.as_str());
        assert!(elsewhere || typed.contains(&command), "`backsight {command}` has no operation");
    }
}

/// A Node that waits for a debugger; it ends with the test.
struct Node(Child, u16);

impl Node {
    fn start() -> Node {
        let mut command = Command::new("node");
        command.args(["--inspect=127.0.0.1:0", "-e", "let turns = 0; setInterval(() => { turns += 1; }, 5);"]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("node: `make tools`");
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("ws://127.0.0.1:").nth(1).unwrap_or_else(|| panic!("{line}"));
        let port = address.split('/').next().unwrap().parse().unwrap();
        Node(child, port)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_program_that_runs_already_is_attached_to_and_goes_on_afterwards() {
    let fixture = Fixture::new();
    fixture.done("init");
    let server = Server::start(&fixture);
    let document = server.document();
    let mut node = Node::start();
    let port = node.1;
    let body = json!({ "adapter": "node", "port": port });
    let reply = server.post("/api/debug/attach", &body);
    check_described(&document, &post("debugAttach", "/api/debug/attach", body, ""), &reply);
    assert_eq!(reply.ok()["outcome"], "still_running");
    assert_eq!(server.get("/api/debug/state").ok()["attached"], true);
    let ended = server.post("/api/debug/disconnect", &json!({})).ok();
    assert_eq!(ended["ended_program"], false, "{ended}");
    // The same again, typed.
    let attached = fixture.ok(&format!("debug attach --port {port} --adapter node"));
    assert_eq!(normal(&attached), normal(&reply.ok()), "{attached}");
    assert_eq!(fixture.ok("debug pause --timeout 60")["outcome"], "stopped");
    // What a program says in a failure is data too.
    let body = json!({ "expression": "(() => { throw new Error('run this') })()", "safe": false });
    let thrown = server.post("/api/debug/evaluate", &body);
    assert!(thrown.fails(502, "ADAPTER_FAILED").to_string().contains("run this"), "{}", thrown.json());
    assert!(thrown.json()["untrusted"].is_string(), "{}", thrown.json());
    check_described(&document, &post("debugEvaluate", "/api/debug/evaluate", body, ""), &thrown);
    assert!(server.post("/api/debug/evaluate", &json!({})).json().get("untrusted").is_none());
    assert_eq!(fixture.ok("debug end --keep-running")["ended_program"], false);
    assert!(node.0.try_wait().unwrap().is_none(), "the program ended with its debugger");
}

#[test]
fn what_cannot_be_is_refused_with_its_code() {
    let fixture = Fixture::new();
    fixture.write("shop.py", SHOP);
    fixture.write("notes.txt", "no program\n");
    let server = Server::start(&fixture);
    for target in
        ["state", "breakpoints", "threads", "stack", "output", "snapshots", "snapshots/x", "points", "series/x"]
    {
        server.get(&format!("/api/debug/{target}")).fails(409, "NO_SESSION");
    }
    let post = [
        ("launch", json!({ "program": "nowhere.py" }), 404, "PROGRAM_NOT_FOUND"),
        ("launch", json!({ "program": "notes.txt" }), 404, "ADAPTER_NOT_FOUND"),
        ("launch", json!({ "program": "shop.py" }), 404, "ADAPTER_NOT_FOUND"),
        ("launch", json!({ "program": "shop.py", "adapter": "none" }), 404, "ADAPTER_NOT_FOUND"),
        ("launch", json!({ "program": "shop.py", "session": "a b" }), 422, "INVALID_NAME"),
        ("launch", json!({ "program": "shop.py", "wait_ms": 60_001 }), 400, "USAGE"),
        (
            "launch",
            json!({ "program": "shop.py", "breakpoints": [{ "file": "no.py", "line": 1 }] }),
            404,
            "PATH_NOT_FOUND",
        ),
        ("launch", json!({ "program": "shop.py", "breakpoints": [{ "file": "shop.py" }] }), 400, "USAGE"),
        (
            "launch",
            json!({ "program": "shop.py", "breakpoints": [{ "function": "f", "conditon": "x" }] }),
            400,
            "USAGE",
        ),
        ("launch", json!({}), 400, "USAGE"),
        ("attach", json!({ "adapter": "debugpy" }), 400, "USAGE"),
        ("control", json!({ "action": "jump" }), 400, "USAGE"),
        ("control", json!({ "action": "run_to" }), 400, "USAGE"),
        ("control", json!({ "action": "continue", "line": 3 }), 400, "USAGE"),
        ("control", json!({ "action": "continue" }), 409, "NO_SESSION"),
        ("control", json!({ "action": "continue", "session": 1 }), 400, "USAGE"),
        ("step", json!({ "depth": 21 }), 400, "USAGE"),
        ("step", json!({ "max_tokens": 10 }), 400, "USAGE"),
        ("snapshots", json!({ "frames": 0 }), 400, "USAGE"),
        ("snapshots", json!({ "frames": "some" }), 400, "USAGE"),
        ("snapshots", json!({ "session": "other" }), 409, "NO_SESSION"),
        ("breakpoints", json!({ "file": "shop.py", "line": 1, "function": "total" }), 400, "USAGE"),
        ("export", json!({ "id": "x", "file": "../x" }), 422, "INVALID_PATH"),
        ("evaluate", json!({ "expression": "1", "timeout_ms": 0 }), 400, "USAGE"),
    ];
    let document = server.document();
    for (name, body, status, code) in post {
        let path = format!("/api/debug/{name}");
        let reply = server.post(&path, &body);
        let error = reply.fails(status, code);
        let described = &document["paths"][&path]["post"]["responses"][status.to_string()];
        assert!(described.to_string().contains(&format!("\"{code}\"")), "{path} does not say {status} {code}: {error}");
    }
    server.get("/api/debug/stack?thread=-1&count=1001").fails(400, "USAGE");
    server.get("/api/debug/output?max_bytes=0").fails(400, "USAGE");
}

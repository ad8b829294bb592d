//! Because of what, end to end: an agent's edit breaks an endpoint of a real page, the answer names the step, `bisect`
//! confirms it, the revert mends it, and the next answer says that it is well again; over MCP, HTTP and the command line.
//! The same for a process under `backsight run`, and for a test that fails.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::agents::client::{Agent, Era};
use crate::agents::eventually;
use crate::fixture::Fixture;

const SERVER: &str = r#"import http.server, json, runpy, sys, traceback

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *words):
        pass

    def do_GET(self):
        try:
            if self.path == "/api/stock":
                body, kind, status = json.dumps(runpy.run_path("stock.py")["stock"]()), "application/json", 200
            else:
                body, kind, status = open("index.html").read(), "text/html", 200
        except Exception:
            body, kind, status = traceback.format_exc(), "text/plain", 500
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body.encode())

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"#;

const PAGE: &str = "<!doctype html><link rel=icon href=data:,><title>shop</title><p id=stock></p><script>\n\
    const load = () => fetch('/api/stock').then((answer) => answer.text()).then((text) => { stock.textContent = text; });\n\
    load();\nsetInterval(load, 200);\n</script>\n";

const STOCK: &str = "PRICES = {'tea': 3, 'mug': 8}\n\n\ndef stock():\n    return [{'name': name, 'price': PRICES[name]} for name in ('tea', 'mug')]\n";

/// A child that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).ok();
    }
}

fn serve(fixture: &Fixture) -> (Running, String) {
    let mut command = Command::new("python3");
    command.arg("server.py").current_dir(fixture.root()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut port = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
    (Running(child), format!("http://127.0.0.1:{}/", port.trim()))
}

/// An agent whose server finds the programs of this machine.
fn with_programs(fixture: &Fixture) -> Agent {
    let mut command = fixture.command("mcp");
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let mut agent = Agent::spawn(command, "tester", Era::Handshake("2025-06-18"));
    agent.open();
    agent
}

/// An edit as an agent's tool makes it.
fn edit(agent: &mut Agent, fixture: &Fixture, file: &str, text: &str) -> String {
    fixture.write(file, text);
    let tracked = agent.ok("files_track", json!({ "declare": [file], "tool": "Edit", "session": "ada" }));
    tracked["snapshot"].as_str().or(tracked["step"].as_str()).map_or_else(|| newest(fixture), str::to_owned)
}

fn newest(fixture: &Fixture) -> String {
    let rows = fixture.ok("log -n 1");
    format!("#{}", rows["rows"][0]["sequence_number"])
}

/// Asks until the answer is as bad as expected: pages are loaded when they are.
fn ask(agent: &mut Agent, severity: &str) -> Value {
    eventually(severity, || {
        let answer = agent.ok("get_changes_since", json!({ "wait_ms": 3000 }));
        (answer["severity"] == severity).then_some(answer)
    })
}

#[test]
fn an_edit_that_breaks_an_endpoint_is_named_confirmed_and_reverted() {
    let fixture = Fixture::new();
    fixture.write("server.py", SERVER);
    fixture.write("index.html", PAGE);
    fixture.write("stock.py", STOCK);
    fixture.write("check", "#!/bin/sh\npython3 -c 'import runpy; runpy.run_path(\"stock.py\")[\"stock\"]()'\n");
    fixture.write("README.md", "shop\n");
    Command::new("chmod").arg("+x").arg(fixture.root().join("check")).status().unwrap();
    let (_server, address) = serve(&fixture);
    let mut agent = with_programs(&fixture);
    agent.ok("files_track", json!({}));
    agent.ok("browser_attach", json!({ "launch": true, "headless": true, "open": address }));
    ask(&mut agent, "clean");

    edit(&mut agent, &fixture, "README.md", "shop, with prices\n");
    let culprit = edit(&mut agent, &fixture, "stock.py", &STOCK.replace("PRICES[name]", "PRICES[names]"));
    edit(&mut agent, &fixture, "README.md", "shop, with prices and stock\n");
    let answer = ask(&mut agent, "error");
    let because = &answer["because"][0];
    assert_eq!(because["step"], json!(culprit), "{answer:#}");
    assert_eq!(because["session"], "ada");
    assert_ne!(because["certainty"], "proven", "an inference is no proof");
    let steps: Vec<&str> =
        answer["files"]["steps"].as_array().unwrap().iter().filter_map(|step| step["id"].as_str()).collect();
    assert_eq!(steps.len(), 3, "{answer:#}");
    // The other interfaces say the same.
    let last = fixture.ok("changes --since start --client cli");
    assert_eq!(last["because"][0]["step"], json!(culprit), "{last:#}");
    let shown = fixture.run("changes --since start --client person");
    assert!(shown.contains(&format!("because of {culprit} (Edit, session ada)")), "{shown}");

    let found = agent.ok("bisect", json!({ "command": ["./check"] }));
    assert_eq!(found["step"], json!(culprit), "{found:#}");
    let plan = agent.ok("files_revert", json!({ "refs": [culprit] }));
    let confirm = &plan["confirm"]["arguments"];
    agent.ok("files_revert", confirm.clone());
    assert_eq!(fixture.read("stock.py"), STOCK);
    let answer = eventually("recovered", || {
        let answer = agent.ok("get_changes_since", json!({ "wait_ms": 3000 }));
        (!answer["network"]["recovered"].is_null()).then_some(answer)
    });
    assert_eq!(answer["network"]["recovered"][0]["path"], "/api/stock");
    assert_eq!(answer["severity"], "clean", "{answer:#}");
}

#[test]
fn a_process_and_a_test_that_fail_are_explained_too() {
    let fixture = Fixture::new();
    fixture.write("stock.py", STOCK);
    fixture.write("test_stock.py", "import unittest\nfrom stock import stock\n\n\nclass Stock(unittest.TestCase):\n    def test_prices(self):\n        self.assertEqual(stock()[0]['price'], 3)\n\n\nunittest.main()\n");
    let mut agent = Agent::new(&fixture);
    agent.ok("files_track", json!({}));
    agent.ok("get_changes_since", json!({}));
    let culprit = edit(&mut agent, &fixture, "stock.py", &STOCK.replace("'price': PRICES", "'cost': PRICES"));
    edit(&mut agent, &fixture, "notes.txt", "more\n");
    let mut run = fixture.command("run python3 test_stock.py");
    run.stdin(Stdio::null()).output().unwrap();
    let answer = ask(&mut agent, "error");
    assert_eq!(answer["because"][0]["step"], json!(culprit), "{answer:#}");
    let command: Vec<&str> = vec!["python3", "test_stock.py"];
    let refused = agent.fails("bisect", json!({ "command": command }), "NOT_ALLOWED");
    assert!(refused["hint"].as_str().unwrap().contains("programs"), "{refused:#}");
    let (found, status) = fixture.json("bisect -- python3 test_stock.py");
    assert_eq!((format!("#{}", found["found"]["sequence_number"]), status), (culprit, 0), "{found:#}");
}

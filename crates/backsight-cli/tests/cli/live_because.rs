//! Because of what, end to end: an agent's edit breaks an endpoint of a real page, the answer names the step, `bisect`
//! confirms it, the revert mends it, and the next answer says that it is well again; over MCP, HTTP and the command line.
//! The same for a process under `backsight run`, and for a test that fails.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::agents::client::{Agent, Era};
use crate::agents::eventually;
use crate::fixture::Fixture;
use crate::serving::server::Server;

const SERVER: &str = r#"import http.server, json, os, runpy, sys, traceback

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

server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 0))), Handler)
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
    fixture.write("serve", "#!/bin/sh\nexec python3 server.py\n");
    fixture.write("README.md", "shop\n");
    Command::new("chmod").args(["+x", "check", "serve"]).current_dir(fixture.root()).status().unwrap();
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
    // The page itself says the same: what must be absent is the request that fails.
    let failure = answer["network"]["failures"][0]["id"].as_str().unwrap();
    let by_page = json!({ "page": address, "absent": failure, "command": ["./serve"], "wait_ms": 1500 });
    let found = agent.ok("bisect", by_page);
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

const PARTS: &str = "<!doctype html><link rel=icon href=data:,><title>shop</title>\
    <script type=module src=/src/main.js></script>\n";
const MAIN: &str = "import { total } from './cart.js';\ndocument.title = total({ items: [] });\n";
const CART: &str = "export function total(cart) {\n  return cart.items.length;\n}\n";

/// The command line with the programs of this machine; its answer and its exit status.
fn bisect(fixture: &Fixture, line: &str) -> (Value, Option<i32>) {
    let mut command = fixture.command(&format!("--json bisect {line}"));
    let output = command.env("PATH", std::env::var_os("PATH").unwrap()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{line}: {error} {text} {output:?}")),
        output.status.code(),
    )
}

fn verdicts(found: &Value) -> Vec<String> {
    let runs = found["runs"].as_array().unwrap_or_else(|| panic!("{found:#}")).iter();
    let verdict = |run: &Value| format!("{} {}", run["step"], run["verdict"].as_str().unwrap());
    let mut all: Vec<String> = runs.map(verdict).collect();
    all.sort();
    all
}

#[test]
fn a_page_tells_which_step_broke_it_over_every_interface() {
    let fixture = Fixture::new();
    fixture.write("index.html", PARTS);
    fixture.write("src/main.js", MAIN);
    fixture.write("src/cart.js", CART);
    let mut agent = with_programs(&fixture);
    agent.ok("files_track", json!({}));
    // Another error is there before, and at one step the page cannot be had at all.
    edit(&mut agent, &fixture, "src/main.js", &format!("console.error('the shop is closed today');\n{MAIN}"));
    fixture.write("index.html", "");
    std::fs::remove_file(fixture.root().join("index.html")).unwrap();
    agent.ok("files_track", json!({ "tool": "Bash", "session": "bob" }));
    edit(&mut agent, &fixture, "index.html", &PARTS.replace("shop", "the shop"));
    let culprit = edit(&mut agent, &fixture, "src/cart.js", &CART.replace("cart.items", "cart.entries"));
    edit(&mut agent, &fixture, "src/cart.js", &format!("// Prices are net.\n\n{}", CART.replace("items", "entries")));
    assert_eq!(culprit, "#5");

    let site = Site::of(&fixture);
    agent.ok("browser_attach", json!({ "launch": true, "headless": true, "open": site.address }));
    let answer = ask(&mut agent, "error");
    let errors = answer["console"]["errors"].as_array().unwrap();
    let is_it = |entry: &&Value| entry["message"].as_str().unwrap().contains("reading 'length'");
    let id = errors.iter().find(is_it).unwrap_or_else(|| panic!("{answer:#}"))["id"].as_str().unwrap().to_owned();

    // Files as they are, for an agent: no program of its own runs.
    let found = agent.ok("bisect", json!({ "good": "#4", "page": "/", "absent": id, "wait_ms": 1500 }));
    assert_eq!(found["step"], json!(culprit), "{found:#}");
    assert!(found["output"].as_str().unwrap().contains("reading 'length'"), "{found:#}");
    let refused = agent.fails(
        "bisect",
        json!({ "page": "/", "absent": id, "command": ["python3", "-m", "http.server", "{port}"] }),
        "NOT_ALLOWED",
    );
    assert!(refused["hint"].as_str().unwrap().contains("programs"), "{refused:#}");
    agent.fails("bisect", json!({ "page": "/" }), "USAGE");
    agent.fails("bisect", json!({ "page": "/", "absent": "c999" }), "REF_NOT_FOUND");

    // A command that serves, for a user; what cannot be loaded is skipped.
    let serves = "-- python3 -m http.server {port} --bind 127.0.0.1";
    let (found, status) = bisect(&fixture, &format!("--good 2 --page /index.html --absent {id} --wait 2 {serves}"));
    assert_eq!((format!("#{}", found["found"]["sequence_number"]), status), (culprit.clone(), Some(0)), "{found:#}");
    assert_eq!(verdicts(&found), ["2 good", "4 good", "5 bad", "6 bad"], "{found:#}");
    let (refused, status) = bisect(&fixture, &format!("--good 3 --page /index.html --absent {id} --wait 2 {serves}"));
    assert_eq!(status, Some(3), "{refused:#}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("#3, the good end, cannot be judged (the page cannot be loaded: 404 GET)"), "{message}");
    let (refused, _) = bisect(&fixture, &format!("--page / --absent {id} -- sh -c 'exit 3'"));
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("the server ended before it listened: exit status: 3"), "{message}");

    // By its symptom, which needs no server, over HTTP.
    let entry = fixture.ok(&format!("browser entry {id}"));
    let symptom = entry["symptom"].as_str().unwrap();
    let file = std::fs::read(fixture.root().join(".backsight/store/server.json")).unwrap();
    let server = Server::known(&serde_json::from_slice(&file).unwrap());
    let asked = json!({ "good": "#4", "page": "/index.html", "absent": symptom, "wait_ms": 1500 });
    let found = server.post("/api/bisect", &asked).ok();
    assert_eq!(format!("#{}", found["found"]["sequence_number"]), culprit, "{found:#}");
}

/// The workspace's files at an address.
struct Site {
    address: String,
    _server: Running,
}

impl Site {
    fn of(fixture: &Fixture) -> Site {
        let mut command = Command::new("python3");
        command.args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]).current_dir(fixture.root());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.split_whitespace().skip_while(|word| *word != "port").nth(1).unwrap();
        Site { address: format!("http://127.0.0.1:{port}/"), _server: Running(child) }
    }
}

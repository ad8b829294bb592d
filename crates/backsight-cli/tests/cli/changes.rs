//! What happened in the app, on the command line: through the server and without one, for people and as JSON.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::serving::server::Server;
use crate::serving::site::Site;

/// A workspace with a server.
struct App {
    fixture: Fixture,
    server: Server,
}

impl App {
    fn new() -> App {
        let fixture = Fixture::new();
        fixture.done("init");
        let server = Server::start(&fixture);
        App { fixture, server }
    }

    /// A page reports something.
    fn page(&self, category: &str, events: Value) {
        let report = json!({ "source": "page http://localhost:3000", "events": events,
            "watches": ["console", "network", "websocket", "actions"] });
        let answer = self.server.post(&format!("/ingest/{category}"), &report).ok();
        assert_eq!(answer["rejected"], 0, "{answer}");
    }

    fn console(&self, level: &str, message: &str) {
        let stack = json!([{ "file": "http://localhost:3000/src/cart.js", "line": 12, "column": 3 }]);
        self.page("console", json!([{ "level": level, "message": message, "stack": stack }]));
    }

    fn request(&self, status: u16) {
        let request = json!({ "method": "GET", "url": "http://localhost:3000/api/cart", "status": status,
            "duration_ms": 12.0, "page": "http://localhost:3000/" });
        self.page("network", json!([request]));
    }

    /// What a person sees, without what the clock says.
    fn run(&self, line: &str) -> String {
        timeless(&self.fixture.run(line))
    }
}

/// `[CLOCK]` for a time of day, `[SPAN]` for how long something took.
fn timeless(text: &str) -> String {
    let word = |word: &str| {
        let digits = word.trim_matches(|character: char| !character.is_ascii_alphanumeric());
        let is_clock = digits.len() == 8 && digits.bytes().filter(|&byte| byte == b':').count() == 2;
        if is_clock { word.replace(digits, "[CLOCK]") } else { word.to_owned() }
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn without_a_server_nothing_is_known_and_the_next_step_is_said() {
    let fixture = Fixture::new();
    let changes = fixture.ok("changes");
    assert_eq!((&changes["severity"], &changes["coverage"]["attached"]), (&json!("unknown"), &json!(false)));
    let seen = fixture.run("changes --exit-code");
    assert!(seen.contains("hint: start `backsight serve`, then") && seen.ends_with("---- exit 1"), "{seen}");
    assert_eq!(fixture.ok("health")["verdict"], "unknown");
    assert_snapshot!(fixture.run("browser launch http://localhost:3000"), @r"
    ---- stderr
    error: no server runs in this workspace, and starting a browser needs one
    hint: start one with `backsight serve` in another terminal, then do this again
    ---- exit 7
    ");
    assert_snapshot!(fixture.run("browser status"), @r"
    Nobody watches the app.
    0 checkpoints and 0 baselines
    ---- stderr
    hint: start `backsight serve`, then `backsight browser launch URL` or `backsight run COMMAND`
    ---- exit 0
    ");
    assert!(!fixture.root().join(".backsight").exists(), "looking sets nothing up");
}

#[test]
fn each_client_is_told_once_and_a_peek_takes_nothing() {
    let app = App::new();
    app.console("error", "TypeError: total is undefined");
    assert_eq!(app.fixture.ok("changes --peek")["severity"], "error");
    let told = app.fixture.ok("changes");
    assert_eq!(told["console"]["errors"][0]["message"], "TypeError: total is undefined", "{told}");
    assert_eq!(app.fixture.ok("changes")["severity"], "clean");
    assert_eq!(app.fixture.ok("changes --client other")["severity"], "error");
    assert_eq!(app.fixture.ok("changes --since last")["severity"], "clean");
    assert_eq!(app.fixture.ok("changes --since start")["severity"], "error");
    assert_eq!(app.fixture.ok("changes --since 1h")["severity"], "error");
}

#[test]
fn a_person_sees_what_is_wrong_first() {
    let app = App::new();
    app.request(200);
    app.fixture.done("changes");
    app.console("error", "TypeError: total is undefined");
    app.console("error", "TypeError: total is undefined");
    app.request(500);
    let seen = app.run("changes");
    for part in ["error", "1 new console error(s), 1 network failure(s)", "TypeError: total is undefined", "/api/cart"]
    {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    assert!(seen.ends_with("---- exit 0") && !seen.contains('\x1b'), "{seen}");
    let coloured = app.fixture.run("--color always changes --since start");
    assert!(coloured.contains("\x1b["), "{coloured}");
}

#[test]
fn categories_and_severities_can_be_chosen() {
    let app = App::new();
    app.console("warning", "slow");
    app.request(404);
    let some = app.fixture.ok("changes --peek --include console");
    assert!(some["console"].is_object() && some["network"].is_null(), "{some}");
    let errors = app.fixture.ok("changes --peek --severity errors-only");
    assert!(errors["console"]["warnings"].is_null() && errors["network"]["failures"].is_array(), "{errors}");
    assert_snapshot!(app.fixture.run("changes --include consoles"), @r"
    ---- stderr
    error: invalid value 'consoles' for '--include <WHAT>': it is one of console, network, websocket, actions, files and debug

    For more information, try '--help'.
    ---- exit 2
    ");
}

#[test]
fn the_exit_status_answers_whether_it_is_clean() {
    let app = App::new();
    app.request(200);
    let status = |line: &str| app.fixture.ask(line).status;
    assert_eq!(status("changes --peek --exit-code"), 0);
    assert_eq!(status("health --exit-code"), 0);
    app.console("warning", "slow");
    assert_eq!(status("changes --peek --exit-code"), 1);
    assert_eq!(status("changes --peek --exit-code --severity errors-only"), 0);
    assert_eq!(status("health --exit-code"), 1);
    app.console("error", "boom");
    assert_eq!(status("changes --peek --exit-code --severity errors-only"), 1);
    assert_eq!(status("changes --peek"), 0);
}

#[test]
fn waiting_ends_with_the_first_error() {
    let app = App::new();
    app.request(200);
    app.fixture.done("changes");
    let waiting =
        app.fixture.command("--json changes --wait 60 --quiet 60000").stdout(std::process::Stdio::piped()).spawn();
    let waiting = waiting.unwrap();
    app.console("error", "boom");
    let output = waiting.wait_with_output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["console"]["errors"][0]["message"], "boom", "{told}");
    assert_snapshot!(app.fixture.run("changes --wait 61"), @r"
    ---- stderr
    error: invalid value '61' for '--wait <SECONDS>': 61 is not in 0..=60

    For more information, try '--help'.
    ---- exit 2
    ");
}

#[test]
fn an_unknown_checkpoint_names_those_there_are() {
    let app = App::new();
    app.fixture.done("checkpoint create session_start");
    let expected = "no checkpoint is called `sesion_start`";
    for line in ["changes --since sesion_start", "health --since sesion_start"] {
        let error = app.fixture.ask(line).fails("CHECKPOINT_NOT_FOUND", 4);
        assert_eq!(error["message"], expected);
        assert_eq!(error["details"]["checkpoints"], json!(["session_start"]));
    }
    let seen = app.run("changes --since sesion_start");
    assert!(seen.contains("hint: there are session_start;"), "{seen}");
}

#[test]
fn health_is_one_word_with_reasons() {
    let app = App::new();
    app.request(200);
    assert_eq!(app.fixture.ok("health")["verdict"], "healthy");
    app.console("error", "TypeError: total is undefined");
    let health = app.fixture.ok("health");
    assert_eq!(health["verdict"], "broken");
    let seen = app.run("health");
    assert!(seen.starts_with("✗ broken: 1 new console error(s)\n  - "), "{seen}");
    assert!(seen.contains("TypeError: total is undefined") && seen.contains("since start"), "{seen}");
}

#[test]
fn checkpoints_tell_the_story_of_a_session() {
    let app = App::new();
    app.request(200);
    assert_snapshot!(app.run("checkpoint create session_start"), @r"
    session_start → clean (No significant changes.)
    ---- exit 0
    ");
    app.console("warning", "deprecated: use total()");
    app.fixture.done("checkpoint create after_refactor");
    let seen = app.run("checkpoint list");
    let lines: Vec<&str> = seen.lines().collect();
    assert!(lines[0].contains("session_start") && lines[0].contains("clean"), "{seen}");
    assert!(lines[1].contains("after_refactor") && lines[1].contains("1 new console warning(s)"), "{seen}");
    assert_eq!(app.fixture.ok("checkpoint list")["checkpoints"].as_array().unwrap().len(), 2);
    assert_eq!(app.fixture.ok("changes --since session_start")["severity"], "warning");
    assert_snapshot!(app.run("checkpoint delete after_refactor"), @r"
    Forgot checkpoint after_refactor
    ---- exit 0
    ");
    app.fixture.ask("checkpoint delete after_refactor").fails("CHECKPOINT_NOT_FOUND", 4);
    app.fixture.ask("checkpoint create 'Before Refactor'").fails("INVALID_NAME", 2);
}

#[test]
fn what_is_kept_is_there_with_and_without_a_server() {
    let App { fixture, server } = App::new();
    fixture.done("checkpoint create session_start");
    fixture.done("noise add --id ours --text ResizeObserver --level error");
    drop(server);
    assert_eq!(fixture.ok("checkpoint list")["checkpoints"][0]["name"], "session_start");
    fixture.done("checkpoint create pre_commit");
    fixture.done("noise disable ours");
    let _server = Server::start(&fixture);
    let names = fixture.ok("checkpoint list");
    let names: Vec<&str> =
        names["checkpoints"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["session_start", "pre_commit"]);
    let rule = &fixture.ok("noise list")["rules"][0];
    assert_eq!((&rule["id"], &rule["enabled"]), (&json!("ours"), &json!(false)), "{rule}");
}

#[test]
fn noise_is_kept_out_and_counted() {
    let app = App::new();
    assert_snapshot!(app.run("noise add --text 'Grid: layout shifted' --level error --reason 'harmless in our grid'"), @r"
    Added user_1: error or less, text /Grid: layout shifted/
    ---- exit 0
    ");
    app.console("error", "Grid: layout shifted by 3 rows");
    let told = app.fixture.ok("changes");
    assert_eq!((&told["severity"], &told["suppressed"]["console"]), (&json!("clean"), &json!(1)), "{told}");
    let seen = app.run("noise list");
    assert!(seen.starts_with("Added\n  on  user_1  error or less, text /Grid: layout shifted/ harmless in our grid [1 kept out]\nBuilt in ("), "{seen}");
    assert_snapshot!(app.run("noise disable user_1"), @r"
    Switched off user_1: error or less, text /Grid: layout shifted/
    ---- exit 0
    ");
    assert_eq!(app.fixture.ok("noise enable user_1")["rule"]["enabled"], true);
    assert_snapshot!(app.run("noise remove user_1"), @r"
    Removed user_1
    ---- exit 0
    ");
    app.fixture.ask("noise remove user_1").fails("RULE_NOT_FOUND", 4);
    app.fixture.ask("noise add --text '('").fails("INVALID_RULE", 2);
    app.fixture.ask("noise add").fails("INVALID_RULE", 2);
    app.fixture.ask("noise add --status many").fails("USAGE", 2);
}

#[test]
fn a_baseline_says_what_differs() {
    let app = App::new();
    app.fixture.ask("baseline save works").fails("NOT_COVERED", 3);
    app.request(200);
    let seen = app.run("baseline save works");
    assert!(seen.starts_with("Saved works 1 endpoint, 0 known messages and 0 sockets (just now)"), "{seen}");
    assert_eq!(app.fixture.ok("baseline list")["baselines"][0]["name"], "works");
    assert_eq!(app.fixture.ask("baseline compare works --exit-code").status, 0);
    app.request(500);
    app.request(500);
    let compared = app.fixture.ask("baseline compare works --exit-code");
    assert_eq!((compared.status, &compared.json["severity"]), (1, &json!("error")), "{}", compared.json);
    let seen = app.run("baseline compare works");
    assert!(seen.starts_with("error: ") && seen.contains("  failing        GET ") && seen.contains("500"), "{seen}");
    app.fixture.done("checkpoint create after_release --baseline works");
    assert_snapshot!(app.run("baseline delete works"), @r"
    Forgot baseline works
    ---- exit 0
    ");
    app.fixture.ask("baseline compare works").fails("BASELINE_NOT_FOUND", 4);
}

#[test]
fn the_browser_is_asked_about_through_the_server() {
    let app = App::new();
    app.request(200);
    assert_snapshot!(app.run("browser status"), @r"
    Watching: page http://localhost:3000
    0 checkpoints and 0 baselines
    ---- exit 0
    ");
    let snippet = app.fixture.ok("browser snippet")["snippet"].as_str().unwrap().to_owned();
    assert!(
        snippet.starts_with(&format!("<script src=\"http://{}/backsight.js?key=", app.server.authority)),
        "{snippet}"
    );
    let seen = app.run("browser snippet");
    // The fixture takes the key for another secret and hides it.
    assert!(seen.starts_with(snippet.split("key=").next().unwrap()), "{seen}");
    assert_snapshot!(app.run("browser attach --port 1 --url http://127.0.0.1:1"), @r"
    ---- stderr
    error: the argument '--port <N>' cannot be used with '--url <URL>'

    Usage: backsight browser attach --port <N>

    For more information, try '--help'.
    ---- exit 2
    ");
}

/// The Chromium on this machine's search path.
fn chromium() -> std::path::PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|directory| directory.join("chromium")).find(|file| file.is_file());
    found.expect("chromium is missing: apt-get install --no-install-recommends chromium")
}

#[test]
fn a_browser_is_launched_watched_and_let_go() {
    let app = App::new();
    let script = "<script>console.error('boom'); fetch('/api/broken')</script>";
    let site = Site::start(format!("<title>Shop</title><link rel=icon href='data:,'>{script}"));
    let launch = format!("browser launch {}/ --program {}", site.origin, chromium().display());
    let launched = app.fixture.ok(&launch);
    assert_eq!((&launched["browser"]["launched"], &launched["coverage"]["attached"]), (&json!(true), &json!(true)));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let told = loop {
        let told = app.fixture.ok("changes --since start --wait 5");
        let failures = told["network"]["failures"].as_array().map_or(0, Vec::len);
        if failures > 0 && told["console"]["errors"].is_array() {
            break told;
        }
        assert!(std::time::Instant::now() < deadline, "{told}");
    };
    assert_eq!(told["console"]["errors"][0]["message"], "boom", "{told}");
    assert_eq!(told["network"]["failures"][0]["path"], "/api/broken", "{told}");
    let status = app.run("browser status");
    assert!(status.contains(&format!("  {}/  ", site.origin)) && status.contains("launched here"), "{status}");
    assert_snapshot!(app.run("browser detach"), @r"
    Nobody watches the app.
    0 checkpoints and 0 baselines
    ---- exit 0
    ");
    assert_eq!(app.fixture.ok("changes")["coverage"]["attached"], false);
}

#[test]
fn what_a_page_says_cannot_steer_the_terminal() {
    let app = App::new();
    app.console("error", "\u{1b}[2Jgone\u{202e}\r\nerror: fake");
    for line in ["changes --peek", "health"] {
        let seen = app.fixture.run(line);
        assert!(!seen.contains('\u{1b}') && !seen.contains('\u{202e}') && !seen.contains("\nerror: fake"), "{seen}");
    }
}

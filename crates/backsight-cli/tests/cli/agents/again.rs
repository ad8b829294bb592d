//! The browser that was watched when its server ended: the next server watches it again, and says so.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Agent, Era};
use super::eventually;
use crate::fixture::Fixture;
use crate::serving::site::Site;

/// A Chromium of the user's own, with a debugging port; ended with its helpers.
struct Chromium {
    child: Child,
    port: u16,
    _profile: tempfile::TempDir,
}

impl Chromium {
    fn showing(url: &str) -> Chromium {
        let profile = tempfile::Builder::new().prefix("backsight-test-").tempdir().unwrap();
        let mut command = Command::new("chromium");
        command.args(["--headless=new", "--no-first-run", "--disable-gpu", "--disable-background-networking"]);
        command.args(["--no-sandbox", "--remote-debugging-port=0"]).arg(url);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let child = command.spawn().unwrap();
        let port = eventually("the browser listens", || {
            let text = std::fs::read_to_string(profile.path().join("DevToolsActivePort")).ok()?;
            text.lines().next()?.parse().ok()
        });
        Chromium { child, port, _profile: profile }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.child.wait();
    }
}

fn agent(fixture: &Fixture, name: &str) -> Agent {
    let mut agent = Agent::named(fixture, name, Era::Handshake("2025-06-18"));
    agent.ok("workspace_status", json!({}));
    agent
}

/// That the very first answer of a new server is about the browser.
fn is_watched_again(answer: &Value) {
    assert_eq!(answer["coverage"]["attached"], true, "{answer}");
    assert!(answer["gap"].to_string().contains("this one watches it again"), "{answer}");
}

#[test]
fn the_next_server_watches_the_browser_of_the_one_before() {
    let site = Site::start("<script>setInterval(() => console.error('it broke'), 100)</script>".to_owned());
    let browser = Chromium::showing(&site.origin);
    let fixture = Fixture::new();
    let mut first = agent(&fixture, "first");
    let mut second = agent(&fixture, "second");
    assert_eq!(first.ok("browser_attach", json!({ "port": browser.port }))["attached"], true);
    first.signal("-KILL");
    first.wait(Duration::from_secs(5)).unwrap();
    let answer = second.ok("get_changes_since", json!({ "max_tokens": 2000 }));
    is_watched_again(&answer);
    eventually("what happens now is told", || {
        let answer = second.ok("get_changes_since", json!({}));
        answer["console"]["errors"].to_string().contains("it broke").then_some(())
    });
    drop(second);
    // One that starts when nobody is there finds it too.
    let mut third = agent(&fixture, "third");
    is_watched_again(&third.ok("get_changes_since", json!({ "max_tokens": 2000 })));
    third.ok("browser_attach", json!({ "action": "detach" }));
    drop(third);
    let mut fourth = agent(&fixture, "fourth");
    let answer = fourth.ok("get_changes_since", json!({}));
    assert_eq!(answer["coverage"]["attached"], false, "it was let go: {answer}");
}

#[test]
fn a_browser_that_is_gone_is_not_replaced_by_another() {
    let site = Site::start("<h1>page</h1>".to_owned());
    let browser = Chromium::showing(&site.origin);
    let fixture = Fixture::new();
    let mut first = agent(&fixture, "first");
    assert_eq!(first.ok("browser_attach", json!({ "port": browser.port }))["attached"], true);
    drop(first);
    drop(browser);
    let mut second = agent(&fixture, "second");
    let answer = second.ok("get_changes_since", json!({ "max_tokens": 2000 }));
    assert_eq!(answer["severity"], "unknown", "{answer}");
    assert!(answer["gap"].to_string().contains("is not watched any more"), "{answer}");
}

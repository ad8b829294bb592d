//! Tests in JavaScript whose promises are rejected: what is handled later fails nothing, and what fails the test is found, with
//! the real runners.

use serde_json::{Value, json};

use super::tested::{launch, node_of_tests, project};
use crate::agents::client::Agent;

/// The same tests for each runner. `EQUALS found, wanted` and `REJECTS promise` are written in its own words.
const TESTS: &str = "\
const sleep = () => new Promise((ok) => setTimeout(ok, 5));
const handed = [];
async function early(amount) {
  throw new RangeError(`early ${amount}`);
}
async function late(amount) {
  await sleep();
  throw new RangeError(`late ${amount}`);
}
function charge(order) {
  return order.price.amount;
}
test('handles all of them', async () => {
  early(1).catch((error) => handed.push(error));
  const kept = late(2);
  await null;
  try {
    await kept;
  } catch (error) {
    handed.push(error);
  }
  await Promise.allSettled([early(3), late(4)]);
  REJECTS late(5)
  REJECTS early(6)
  const refused = Promise.reject(new RangeError('refused'));
  await Promise.resolve().then(() => refused).catch((error) => handed.push(error));
  await new Promise((_, no) => setTimeout(() => no(new RangeError('no')), 1)).catch(() => {});
  await new Promise(() => {
    charge({});
  }).catch(() => {});
  for (let tries = 0; tries < 2; tries++) {
    await Promise.resolve().then(() => {
      EQUALS tries, 1
    }).catch(() => {});
  }
  EQUALS handed.length, 3
});
test('waits for one that fails', async () => {
  await late(1).catch(() => {});
  const paid = late(2);
  await null;
  await paid;
});
test('expects a rejection', async () => {
  const order = { amount: 7 };
  REJECTS Promise.resolve(order)
});
test('fails after a wait', async () => {
  const amount = 3;
  await sleep();
  await sleep();
  EQUALS amount, 4
});
test('fails in what it calls', () => {
  const order = { id: 12 };
  charge(order);
});
";

/// A file of tests for one runner.
struct Written {
    file: &'static str,
    text: String,
    /// How many lines stand before the tests.
    before: usize,
}

impl Written {
    fn new(file: &'static str, head: &str, equals: fn(&str, &str) -> String, rejects: fn(&str) -> String) -> Written {
        let lines = TESTS.lines().map(|line| {
            let (blank, words) = line.split_at(line.len() - line.trim_start().len());
            let equal = words.strip_prefix("EQUALS ").and_then(|both| both.split_once(", "));
            match (equal, words.strip_prefix("REJECTS ")) {
                (Some((found, wanted)), _) => format!("{blank}{}\n", equals(found, wanted)),
                (_, Some(promise)) => format!("{blank}{}\n", rejects(promise)),
                _ => format!("{line}\n"),
            }
        });
        let text = std::iter::once(head.to_owned()).chain(lines).collect();
        Written { file, text, before: head.lines().count() }
    }

    /// Where a line of the tests is.
    fn line(&self, words: &str) -> usize {
        self.before + 1 + TESTS.lines().position(|line| line.contains(words)).unwrap()
    }
}

/// Where a test that fails is paused.
fn paused(agent: &mut Agent, of: &Written, test: &str, at: &str, variable: (&str, &str)) -> (Value, String) {
    let (stop, said) = launch(agent, Some(&node_of_tests()), &format!("{}::{test}", of.file));
    assert_eq!((&stop["test"]["result"], &stop["reason"]), (&json!("fails_here"), &json!("failure")), "{said}");
    assert_eq!(stop["frame"]["line"], of.line(at), "{said}");
    let page = agent.ok("variables_get", json!({ "expand": variable.0, "frame": stop["frame"].get("index") }));
    assert!(page.to_string().contains(variable.1), "{page}: {said}");
    agent.ok("debug_disconnect", json!({}));
    (stop, said)
}

fn judge(agent: &mut Agent, of: &Written, fine: &[&str]) {
    let handles = format!("{}::handles all of them", of.file);
    for fine in fine.iter().chain(&[handles.as_str()]) {
        let (end, said) = launch(agent, Some(&node_of_tests()), fine);
        assert_eq!((&end["outcome"], &end["test"]["result"]), (&json!("exited"), &json!("passed")), "{fine}: {said}");
    }
    let (stop, said) = paused(agent, of, "waits for one that fails", "throw new RangeError(`late", ("amount", "2"));
    assert!(stop["description"].as_str().unwrap().contains("late 2"), "{said}");
    assert!(stop["test"]["note"].as_str().unwrap().contains("ran twice"), "{said}");
    let (stop, said) = paused(agent, of, "expects a rejection", "REJECTS Promise.resolve(order)", ("order", "7"));
    assert!(stop["test"]["note"].as_str().unwrap().contains("in front of the line"), "{said}");
    let (stop, said) = paused(agent, of, "fails after a wait", "EQUALS amount, 4", ("amount", "3"));
    assert!(stop["test"].get("note").is_none(), "one run is enough: {said}");
    let (stop, said) = paused(agent, of, "fails in what it calls", "return order.price.amount", ("order", "12"));
    assert!(stop["test"].get("note").is_none(), "one run is enough: {said}");
    // A breakpoint comes first; then the program runs to its end, and what failed is told.
    let at = format!("{}:{}", of.file, of.line("const paid = late(2)"));
    let test = format!("{}::waits for one that fails", of.file);
    let asked = json!({ "test": test, "runtime": node_of_tests(), "breakpoints": [at] });
    assert_eq!(agent.ok("debug_launch", asked)["test"]["result"], "running");
    let end = agent.ok("debug_control", json!({ "action": "continue", "wait_ms": 20000 }));
    assert_eq!((&end["outcome"], &end["test"]["result"]), (&json!("exited"), &json!("failed")), "{end}");
    assert!(end["test"]["message"].as_str().unwrap().starts_with("RangeError: late 2 ("), "{end}");
}

#[test]
fn node_is_asked_what_failed() {
    let head = "import assert from 'node:assert';\nimport { test } from 'node:test';\n";
    let equals = |found: &str, wanted: &str| format!("assert.strictEqual({found}, {wanted});");
    let rejects = |promise: &str| format!("await assert.rejects({promise});");
    let known = "test('is known to fail', { todo: true }, () => {\n  assert.strictEqual(1, 2);\n});\n";
    let of = Written::new("pay.test.mjs", head, equals, rejects);
    let known = format!("{head}{known}");
    let (_fixture, mut agent) = project(&[(of.file, &of.text), ("known.test.mjs", &known), ("package.json", "{}")]);
    judge(&mut agent, &of, &["known.test.mjs::is known to fail"]);
}

fn expect_equal(found: &str, wanted: &str) -> String {
    format!("expect({found}).toBe({wanted});")
}

fn expect_rejected(promise: &str) -> String {
    format!("await expect({promise}).rejects.toThrow();")
}

#[test]
fn vitest_is_asked_what_failed() {
    let head = "import { expect, test, vi } from 'vitest';\n";
    let known = "\
test.fails('is known to fail', () => {
  expect(1).toBe(2);
});
test('polls', async () => {
  let seen = 0;
  await vi.waitFor(() => {
    seen++;
    expect(seen).toBe(3);
  });
  await expect.poll(() => seen++).toBe(5);
});
";
    let of = Written::new("pay.test.ts", head, expect_equal, expect_rejected);
    let known = format!("{head}{known}");
    let package = r#"{ "devDependencies": { "vitest": "4" } }"#;
    let (_fixture, mut agent) = project(&[(of.file, &of.text), ("known.test.ts", &known), ("package.json", package)]);
    judge(&mut agent, &of, &["known.test.ts::is known to fail", "known.test.ts::polls"]);
}

#[test]
fn jest_is_asked_what_failed() {
    let known = "test.failing('is known to fail', () => {\n  expect(1).toBe(2);\n});\n";
    let of = Written::new("pay.test.js", "", expect_equal, expect_rejected);
    let package = r#"{ "devDependencies": { "jest": "30" } }"#;
    let (_fixture, mut agent) = project(&[(of.file, &of.text), ("known.test.js", known), ("package.json", package)]);
    judge(&mut agent, &of, &["known.test.js::is known to fail"]);
}

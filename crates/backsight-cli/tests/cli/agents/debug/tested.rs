//! Tests under the debugger, as an agent asks for them: one argument, each with the runner that its project has. Those of npm
//! are listed in `tests/runners`.

use serde_json::{Value, json};

use super::python;
use crate::agents::client::{Agent, Era};
use crate::agents::{installed, node};
use crate::fixture::Fixture;

/// A workspace in which an agent may name the interpreter, and whose packages are those of the tests.
pub(super) fn project(files: &[(&str, &str)]) -> (Fixture, Agent) {
    let fixture = Fixture::in_memory();
    fixture.user_settings(
        "[agents]\nruntime = true\nprograms = \"any\"\nenvironment = [\"PYTEST_DISABLE_PLUGIN_AUTOLOAD\"]\n",
    );
    files.iter().for_each(|(name, text)| fixture.write(name, text));
    std::os::unix::fs::symlink(installed("runners/node_modules"), fixture.root().join("node_modules")).unwrap();
    // Compilers are found as the person who runs the tests has them, and what they keep between two builds too.
    let mut command = fixture.command("mcp --tools all");
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", std::env::var_os("HOME").unwrap());
    let mut agent = Agent::spawn(command, "tester", Era::Handshake("2025-06-18"));
    agent.open();
    (fixture, agent)
}

/// What a failing test and one that passes are, and what is expected where the first one fails.
struct Case {
    framework: &'static str,
    fails: &'static str,
    /// File, line and function.
    at: (&'static str, u64, &'static str),
    message: &'static str,
    /// A variable and its value there.
    variable: (&'static str, &'static str),
    passes: &'static str,
    missing: Option<&'static str>,
}

pub(super) fn launch(agent: &mut Agent, runtime: Option<&str>, test: &str) -> (Value, String) {
    let mut arguments = json!({ "test": test, "max_tokens": 3000 });
    if test.contains(".py") {
        // Plugins that happen to be there take seconds to load under a debugger.
        arguments["env"] = json!({ "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1" });
    }
    runtime.iter().for_each(|runtime| arguments["runtime"] = json!(runtime));
    let said = agent.call("debug_launch", arguments);
    assert!(!said.is_error, "{test}: {}", said.text);
    (said.structured, said.text)
}

fn judge(agent: &mut Agent, runtime: Option<&str>, case: &Case) {
    let (stop, text) = launch(agent, runtime, case.fails);
    let test = json!({ "framework": case.framework, "result": "fails_here" });
    assert_eq!((&stop["test"], &stop["reason"]), (&test, &json!("failure")), "{text}");
    let (file, line, function) = case.at;
    assert_eq!((&stop["frame"]["file"], &stop["frame"]["line"]), (&json!(file), &json!(line)), "{text}");
    assert!(stop["frame"]["function"].as_str().unwrap().contains(function), "{text}");
    assert!(stop["description"].as_str().unwrap_or_default().contains(case.message), "{text}");
    assert!(text.starts_with("the test fails here: ") && !stop["command"][0].is_null(), "{text}");
    let (name, value) = case.variable;
    let variables = stop["variables"].as_array().unwrap();
    let found = variables.iter().find(|one| one["path"] == name).unwrap_or_else(|| panic!("{name}: {text}"));
    assert_eq!(found["value"], value, "{text}");
    // The frame that is told can be looked into.
    let frame = stop["frame"].get("index").cloned().unwrap_or(json!(0));
    let seen = agent.ok("variables_get", json!({ "frame": frame, "max_tokens": 3000 }));
    assert!(seen["variables"].to_string().contains(name), "{seen}");
    agent.ok("debug_disconnect", json!({}));
    let (end, text) = launch(agent, runtime, case.passes);
    assert_eq!((&end["outcome"], &end["test"]["result"]), (&json!("exited"), &json!("passed")), "{text}");
    assert!(text.starts_with("the test passed and did not stop"), "{text}");
    if let Some(missing) = case.missing {
        let (end, text) = launch(agent, runtime, missing);
        assert_eq!(end["test"]["result"], "nothing_ran", "{text}");
    }
}

const CART_PY: &str = "\
def total(items):
    if not items:
        raise ValueError('empty')
    return sum(price for _, price in items)
";

#[test]
fn pytest_and_unittest_stop_at_what_fails_and_not_at_what_is_expected() {
    let with_pytest = "\
import pytest
from cart import total


@pytest.fixture
def items():
    return [('a', 2), ('b', 3)]


class TestCart:
    def test_total(self, items):
        found = total(items)
        assert found == 6, 'wrong total'


def test_expected():
    with pytest.raises(ValueError):
        total([])


@pytest.mark.xfail
def test_known():
    assert total([('a', 1)]) == 2
";
    let plain = "\
import unittest
from cart import total


class CartTest(unittest.TestCase):
    def test_total(self):
        found = total([('a', 2), ('b', 3)])
        self.assertEqual(found, 6)

    def test_expected(self):
        with self.assertRaises(ValueError):
            total([])

    def test_several(self):
        for number in (1, 2, 3):
            with self.subTest(number=number):
                self.assertLess(number, 3)
";
    let files =
        [("cart.py", CART_PY), ("test_cart.py", with_pytest), ("pyproject.toml", ""), ("plain/cart.py", CART_PY)];
    let (fixture, mut agent) = project(&files);
    let python = python();
    let case = Case {
        framework: "pytest",
        fails: "test_cart.py::TestCart::test_total",
        at: ("test_cart.py", 13, "test_total"),
        message: "wrong total assert 5 == 6",
        variable: ("found", "5"),
        passes: "test_cart.py::test_expected",
        missing: Some("test_cart.py::test_nothing"),
    };
    judge(&mut agent, python.to_str(), &case);
    let (end, text) = launch(&mut agent, python.to_str(), "test_cart.py::test_known");
    assert_eq!(end["test"]["result"], "passed", "what is known to fail does not stop: {text}");
    // A Python without pytest has unittest.
    let bare = fixture.root().join("bare");
    std::process::Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&bare).status().unwrap();
    let packages = std::fs::read_dir(bare.join("lib")).unwrap().flatten().next().unwrap().path().join("site-packages");
    let debugpy = std::fs::read_dir(installed("venv/lib")).unwrap().flatten().next().unwrap().path();
    std::os::unix::fs::symlink(debugpy.join("site-packages/debugpy"), packages.join("debugpy")).unwrap();
    fixture.write("plain/test_plain.py", plain);
    fixture.write("plain/requirements.txt", "");
    let case = Case {
        framework: "unittest",
        fails: "plain/test_plain.py::CartTest::test_total",
        at: ("plain/test_plain.py", 8, "test_total"),
        message: "5 != 6",
        variable: ("found", "5"),
        passes: "plain/test_plain.py::test_expected",
        missing: Some("plain/test_plain.py::test_nothing"),
    };
    judge(&mut agent, bare.join("bin/python3").to_str(), &case);
    // The test went on after its part failed: the line is that of the part.
    for runtime in [bare.join("bin/python3"), python] {
        let (stop, text) = launch(&mut agent, runtime.to_str(), "plain/test_plain.py::CartTest::test_several");
        assert_eq!((&stop["test"]["result"], &stop["frame"]["line"]), (&json!("fails_here"), &json!(17)), "{text}");
        agent.ok("debug_disconnect", json!({}));
    }
}

#[test]
fn a_module_of_python_is_run_by_its_name() {
    let (_fixture, mut agent) =
        project(&[("shop/__init__.py", ""), ("shop/__main__.py", "import sys\nprint('sold', sys.argv[1])\n")]);
    let launch =
        json!({ "program": "-m", "args": ["shop", "2"], "runtime": python(), "breakpoints": ["shop/__main__.py:2"] });
    let stop = agent.ok("debug_launch", launch);
    assert_eq!((&stop["frame"]["file"], &stop["frame"]["line"]), (&json!("shop/__main__.py"), &json!(2)), "{stop}");
    let end = agent.ok("debug_control", json!({ "action": "continue" }));
    assert_eq!(end["printed"], json!(["sold 2"]), "{end}");
    let error = agent.fails("debug_launch", json!({ "program": "-m", "runtime": python() }), "USAGE");
    assert!(error["message"].as_str().unwrap().contains("module"), "{error}");
}

#[test]
fn go_test_stops_where_the_test_says_that_it_failed() {
    let test = "\
package shop

import \"testing\"

func total(prices []int) int {
	sum := 0
	for _, price := range prices {
		sum += price
	}
	return sum
}

func TestTotal(t *testing.T) {
	prices := []int{2, 3}
	found := total(prices)
	if found != 6 {
		t.Errorf(\"total is %d, want %d\", found, 6)
	}
}

func TestFine(t *testing.T) {
	t.Run(\"one item\", func(t *testing.T) {
		if total([]int{4}) != 4 {
			t.Fatal(\"no\")
		}
	})
}
";
    let (_fixture, mut agent) = project(&[("cart/go.mod", "module shop\n\ngo 1.19\n"), ("cart/cart_test.go", test)]);
    let case = Case {
        framework: "go",
        fails: "cart/cart_test.go::TestTotal",
        at: ("cart/cart_test.go", 17, "TestTotal"),
        message: "total is 5, want 6",
        variable: ("found", "5"),
        passes: "cart/cart_test.go::TestFine/one item",
        missing: Some("cart::TestNothing"),
    };
    judge(&mut agent, None, &case);
}

#[test]
fn cargo_test_builds_the_test_and_stops_at_its_panic() {
    let cart = "\
pub fn total(prices: &[u32]) -> u32 {
    prices.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        let prices = vec![2, 3];
        let found = total(&prices);
        assert_eq!(found, 6, \"wrong total\");
    }

    #[test]
    fn fine() {
        assert_eq!(total(&[1]), 1);
    }
}
";
    let caught = "\
use std::panic::catch_unwind;
use std::thread;

fn check(amount: i32) -> i32 {
    assert!(amount > 0, \"no amount {amount}\");
    amount
}

#[test]
#[should_panic(expected = \"no amount\")]
fn refuses() {
    check(0);
}

#[test]
fn catches() {
    assert!(catch_unwind(|| check(-1)).is_err());
    assert_eq!(check(5), 5);
}

#[test]
fn catches_and_fails() {
    let first = catch_unwind(|| check(-1)).is_ok();
    assert_eq!(check(7) == 7, first);
}

#[test]
fn is_told_by_a_thread() {
    let amount = -2;
    let ended = thread::spawn(move || check(amount)).join();
    assert!(ended.is_err());
}
";
    let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
    let files = [
        ("shop/Cargo.toml", manifest),
        ("shop/src/lib.rs", "pub mod cart;\n"),
        ("shop/src/cart.rs", cart),
        ("shop/tests/caught.rs", caught),
    ];
    let (fixture, mut agent) = project(&files);
    let case = Case {
        framework: "cargo",
        fails: "shop/src/cart.rs::adds",
        at: ("shop/src/cart.rs", 13, "cart::tests::adds"),
        message: "wrong total, left: 5, right: 6",
        variable: ("found", "5"),
        passes: "shop/src/cart.rs::tests::fine",
        missing: None,
    };
    judge(&mut agent, None, &case);
    for fine in ["refuses", "catches"] {
        let (end, text) = launch(&mut agent, None, &format!("shop/tests/caught.rs::{fine}"));
        assert_eq!((&end["outcome"], &end["test"]["result"]), (&json!("exited"), &json!("passed")), "{fine}: {text}");
    }
    let (stop, text) = launch(&mut agent, None, "shop/tests/caught.rs::catches_and_fails");
    assert_eq!((&stop["test"]["result"], &stop["frame"]["line"]), (&json!("fails_here"), &json!(24)), "{text}");
    agent.ok("debug_disconnect", json!({}));
    let (stop, text) = launch(&mut agent, None, "shop/tests/caught.rs::is_told_by_a_thread");
    assert_eq!((&stop["outcome"], &stop["test"]["result"]), (&json!("stopped"), &json!("running")), "{text}");
    let end = agent.ok("debug_control", json!({ "action": "continue", "wait_ms": 20000 }));
    assert_eq!(end["test"]["result"], "passed", "a panic of a thread may be expected: {end}");
    let error = agent.fails("debug_launch", json!({ "test": "shop/src/cart.rs::nothing" }), "REF_NOT_FOUND");
    assert!(error["message"].as_str().unwrap().contains("cart::tests::adds"), "{error}");
    fixture.write("shop/src/cart.rs", "pub fn total() -> u32 { \"no\" }\n");
    let error = agent.fails("debug_launch", json!({ "test": "shop/src/cart.rs::adds" }), "ADAPTER_FAILED");
    assert!(error["message"].as_str().unwrap().contains("mismatched types"), "{error}");
}

const CART_TS: &str = "\
interface Item {
  name: string;
  price: number;
}

export function total(items: Item[]): number {
  let sum: number = 0;
  for (const item of items) {
    sum += item.price;
  }
  return sum;
}
";

/// The same test for each of them, with what is expected to throw before what fails.
fn in_javascript(import: &str) -> String {
    format!(
        "{import}
describe('cart', () => {{
  test('adds prices', () => {{
    const items = [{{ name: 'a', price: 2 }}, {{ name: 'b', price: 3 }}];
    try {{
      JSON.parse('{{');
    }} catch (error) {{
      expect(error).toBeInstanceOf(SyntaxError);
    }}
    expect(() => total(null as any)).toThrow();
    const sum = total(items);
    expect(sum).toBe(6);
  }});
  test('is fine', async () => {{
    await null;
    expect(total([])).toBe(0);
  }});
}});
"
    )
}

pub(super) fn node_of_tests() -> String {
    node("node_modules/.bin/node").get_program().to_str().unwrap().to_owned()
}

#[test]
fn vitest_stops_in_the_source_that_was_written() {
    let test = in_javascript("import { describe, expect, test } from 'vitest';\nimport { total } from './cart';\n");
    let package = r#"{ "devDependencies": { "vitest": "4" } }"#;
    let one = "import { expect, test } from 'vitest';\ntest('one', () => expect(1).toBe(1));\n";
    let files = [
        ("cart.ts", CART_TS),
        ("cart.test.ts", &test),
        ("package.json", package),
        ("fine/one.test.ts", one),
        ("fine/two.test.ts", one),
    ];
    let (_fixture, mut agent) = project(&files);
    for several in ["fine", "fine/one.test.ts"] {
        let (end, text) = launch(&mut agent, Some(&node_of_tests()), several);
        assert_eq!(end["test"]["result"], "passed", "{several}: {text}");
    }
    let case = Case {
        framework: "vitest",
        fails: "cart.test.ts::cart::adds prices",
        at: ("cart.test.ts", 14, ""),
        message: "expected 5 to be 6",
        variable: ("sum", "5"),
        passes: "cart.test.ts::is fine",
        missing: Some("cart.test.ts::nothing"),
    };
    judge(&mut agent, Some(&node_of_tests()), &case);
    let more = json!({ "test": "cart.test.ts::is fine", "runtime": node_of_tests(), "breakpoints": ["cart.ts:11"] });
    let stop = agent.ok("debug_launch", more);
    assert_eq!((&stop["frame"]["line"], &stop["test"]["result"]), (&json!(11), &json!("running")), "{stop}");
}

#[test]
fn jest_and_node_stop_at_the_assertion() {
    let jest = in_javascript("const { total } = require('./cart');\n").replace(" as any", "");
    let cart = "exports.total = (items) => {\n  let sum = 0;\n  for (const item of items) sum += item.price;\n  return sum;\n};\n";
    let own = "\
import assert from 'node:assert';
import { test } from 'node:test';
import { total } from './cart.ts';

test('adds prices', () => {
  const sum = total([{ name: 'a', price: 2 }, { name: 'b', price: 3 }]);
  assert.throws(() => total(null as any));
  assert.strictEqual(sum, 6);
});

test('is fine', () => {
  assert.strictEqual(total([]), 0);
});
";
    let package = r#"{ "devDependencies": { "jest": "30" } }"#;
    let one = "test('one', () => expect(1).toBe(1));\n";
    let files = [
        ("jest/package.json", package),
        ("jest/cart.js", cart),
        ("jest/cart.test.js", &jest),
        ("jest/fine/one.test.js", one),
        ("jest/fine/two.test.js", one),
        ("jest/none/notes.txt", ""),
        ("own/package.json", r#"{ "type": "module" }"#),
        ("own/cart.ts", CART_TS),
        ("own/cart.test.ts", own),
    ];
    let (_fixture, mut agent) = project(&files);
    for (several, result) in
        [("jest/fine", "passed"), ("jest/fine/two.test.js", "passed"), ("jest/none", "nothing_ran")]
    {
        let (end, text) = launch(&mut agent, Some(&node_of_tests()), several);
        assert_eq!(end["test"]["result"], result, "{several}: {text}");
    }
    let (stop, text) = launch(&mut agent, Some(&node_of_tests()), "jest");
    assert_eq!((&stop["test"]["result"], &stop["frame"]["line"]), (&json!("fails_here"), &json!(13)), "{text}");
    agent.ok("debug_disconnect", json!({}));
    let refused = agent.fails("debug_launch", json!({ "test": "own" }), "USAGE");
    assert!(refused["hint"].as_str().unwrap().contains("one file"), "{refused}");
    let case = Case {
        framework: "jest",
        fails: "jest/cart.test.js::cart::adds prices",
        at: ("jest/cart.test.js", 13, ""),
        message: "Expected: 6 Received: 5",
        variable: ("sum", "5"),
        passes: "jest/cart.test.js::is fine",
        missing: Some("jest/cart.test.js::nothing"),
    };
    judge(&mut agent, Some(&node_of_tests()), &case);
    let case = Case {
        framework: "node:test",
        fails: "own/cart.test.ts::adds prices",
        at: ("own/cart.test.ts", 8, ""),
        message: "5 !== 6",
        variable: ("sum", "5"),
        passes: "own/cart.test.ts::is fine",
        missing: Some("own/cart.test.ts::nothing"),
    };
    judge(&mut agent, Some(&node_of_tests()), &case);
}

#[test]
fn what_cannot_be_run_is_said_with_what_to_do() {
    let (fixture, mut agent) = project(&[("notes.txt", ""), ("cart.test.js", ""), ("package.json", "{}")]);
    fixture.user_settings("");
    let error = agent.fails("debug_launch", json!({ "test": "tests/none.py::test_a" }), "PATH_NOT_FOUND");
    assert!(error["hint"].as_str().unwrap().contains("path::name"), "{error}");
    let error = agent.fails("debug_launch", json!({ "test": "notes.txt::a" }), "USAGE");
    assert!(error["hint"].as_str().unwrap().contains("pytest"), "{error}");
    agent.fails("debug_launch", json!({ "test": "cart.test.js", "program": "cart.test.js" }), "USAGE");
    agent.fails("debug_launch", json!({}), "USAGE");
    agent.fails("debug_launch", json!({ "test": "../outside/test_a.py::test_a" }), "PATH_NOT_FOUND");
    agent.fails("debug_launch", json!({ "program": "-m", "args": ["http.server"] }), "NOT_ALLOWED");
}

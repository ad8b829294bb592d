//! What came of a test, by how its runner ended and what it said last. A runner that ran nothing often says that all is well.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Framework;

/// What came of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestResult {
    /// It runs, or is paused before anything failed.
    Running,
    /// It is paused where it fails.
    FailsHere,
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// There is no such test: nothing ran.
    NothingRan,
}

/// What came of a run that ended with this code and these last words.
pub(crate) fn verdict(framework: Framework, code: Option<i64>, said: &str) -> TestResult {
    match (code, passed(framework, said)) {
        (Some(5), _) if matches!(framework, Framework::Pytest | Framework::Unittest) => TestResult::NothingRan,
        // How pytest ends when it is asked for what is not there.
        (Some(4), _) if framework == Framework::Pytest && said.contains("not found: ") => TestResult::NothingRan,
        (Some(0), Some(0)) => TestResult::NothingRan,
        (Some(0), _) => TestResult::Passed,
        (_, None | Some(0)) if says_none(framework, said) => TestResult::NothingRan,
        _ => TestResult::Failed,
    }
}

/// How many tests passed, or failed as they are known to, by the words of the runner.
fn passed(framework: Framework, said: &str) -> Option<u64> {
    let plain = without_colours(said);
    let lines = || plain.lines().map(str::trim);
    match framework {
        Framework::Pytest => {
            let count = |line: &str| {
                let [passed, expected, skipped] = [" passed", " xfailed", " skipped"].map(|words| before(line, words));
                passed.or(expected).or(skipped.map(|_| 0))
            };
            lines().rev().find_map(count)
        }
        Framework::Unittest => lines().find_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse().ok()),
        Framework::Go => Some(lines().filter(|line| line.starts_with("--- PASS: ")).count() as u64),
        Framework::Cargo => {
            lines().find(|line| line.starts_with("test result: ")).and_then(|line| before(line, " passed"))
        }
        Framework::Node => {
            let count = |name: &str| -> Option<u64> {
                let of = |line: &str| line.trim_start_matches(['#', 'ℹ', ' ']).strip_prefix(name)?.trim().parse().ok();
                lines().filter(|line| line.starts_with(['#', 'ℹ'])).find_map(of)
            };
            count("pass ").map(|passed| passed + count("todo ").unwrap_or(0))
        }
        Framework::Vitest | Framework::Jest => {
            let summary = lines().find(|line| line.starts_with("Tests: ") || line.starts_with("Tests  "));
            let count =
                |line: &str| [" passed", " expected fail"].map(|words| before(line, words).unwrap_or(0)).iter().sum();
            summary.map(count)
        }
    }
}

fn says_none(framework: Framework, said: &str) -> bool {
    let words = match framework {
        Framework::Vitest => "No test files found",
        Framework::Jest => "No tests found",
        _ => return false,
    };
    said.contains(words)
}

/// The number before some words.
fn before(line: &str, words: &str) -> Option<u64> {
    line.split_once(words)?.0.rsplit([' ', '=']).next()?.parse().ok()
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_that_ran_nothing_did_not_pass() {
        let cases = [
            (Framework::Pytest, 0, "=== 1 passed in 0.01s ===", TestResult::Passed),
            (Framework::Pytest, 0, "=== 1 skipped in 0.01s ===", TestResult::NothingRan),
            (Framework::Pytest, 0, "=== 1 xfailed in 0.01s ===", TestResult::Passed),
            (Framework::Pytest, 5, "no tests ran in 0.00s", TestResult::NothingRan),
            (Framework::Pytest, 4, "ERROR: not found: /w/test_a.py::test_x", TestResult::NothingRan),
            (Framework::Pytest, 1, "1 failed, 2 passed in 0.02s", TestResult::Failed),
            (Framework::Unittest, 0, "Ran 2 tests in 0.000s\n\nOK", TestResult::Passed),
            (Framework::Unittest, 0, "Ran 0 tests in 0.000s\n\nOK", TestResult::NothingRan),
            (Framework::Go, 0, "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS", TestResult::Passed),
            (Framework::Go, 0, "testing: warning: no tests to run\nPASS", TestResult::NothingRan),
            (Framework::Cargo, 0, "test result: ok. 1 passed; 0 failed; 0 ignored", TestResult::Passed),
            (Framework::Cargo, 0, "test result: ok. 0 passed; 0 failed; 3 filtered out", TestResult::NothingRan),
            (Framework::Node, 0, "# tests 1\n# pass 1\n# fail 0", TestResult::Passed),
            (Framework::Node, 0, "ℹ tests 0\nℹ pass 0", TestResult::NothingRan),
            (
                Framework::Vitest,
                0,
                "\u{1b}[2m      Tests \u{1b}[22m \u{1b}[1m1 passed\u{1b}[22m (2)",
                TestResult::Passed,
            ),
            (Framework::Vitest, 0, " Tests  3 skipped (3)", TestResult::NothingRan),
            (Framework::Jest, 0, "Tests:       2 skipped, 1 passed, 3 total", TestResult::Passed),
            (Framework::Jest, 0, "Tests:       3 skipped, 3 total", TestResult::NothingRan),
            (Framework::Jest, 1, "No tests found, exiting with code 1\nTests: 0 total", TestResult::NothingRan),
            (Framework::Jest, 1, "No tests found, exiting with code 1", TestResult::NothingRan),
            (Framework::Vitest, 0, " Tests  1 expected fail | 6 skipped (7)", TestResult::Passed),
            (Framework::Node, 0, "# tests 1\n# pass 0\n# fail 0\n# todo 1", TestResult::Passed),
        ];
        for (framework, code, said, expected) in cases {
            assert_eq!(verdict(framework, Some(code), said), expected, "{framework:?}: {said}");
        }
        assert_eq!(verdict(Framework::Go, None, ""), TestResult::Failed);
    }
}

//! Tests that are debugged: where one fails, with the frame of the project's own code, its variables and what the assertion
//! says; and at the end whether it passed.

use std::borrow::Cow;
use std::path::{Component, Path};
use std::time::{Duration, Instant};

use backsight_core::Result;

use super::answer::Moved;
use super::held::Held;
use crate::capture::Safety;
use crate::session::{FrameView, Outcome, StopReport, VariableView, VariablesPage, VariablesRequest};
use crate::testing::{Framework, TestResult, TestView, ThrownError, blamed, verdict};

/// How many frames are looked through for one of the project's own.
const FRAMES: u32 = 80;
/// The same where the runner of the test is looked for.
const DEEP: u32 = 400;
/// What Rust's runner says before it runs a test that is to end so.
const SHALL_PANIC: &str = " - should panic ... ";
/// How many variables are told with a failure.
const VARIABLES: u64 = 40;
/// What a program printed comes by another way than its stops, a moment later.
const LATER: Duration = Duration::from_millis(500);
/// Directories of a project whose code is not its own.
const FOREIGN: [&str; 6] = ["node_modules", "site-packages", "dist-packages", ".venv", "venv", "target"];

impl Held {
    /// Variables of a frame, or what is inside one of them, without secrets.
    pub(super) fn variables(&self, request: VariablesRequest) -> Result<VariablesPage> {
        let around = request.expand.clone().unwrap_or_default();
        let mut page = self.session.variables(request)?;
        for variable in page.variables.iter_mut().chain(&mut page.value) {
            let redactor = self.shelf.redactor();
            if variable.expandable && page.safety == Safety::Pure {
                // Only its type and length.
                variable.value = redactor.text(&variable.value).into_owned();
                continue;
            }
            // What is inside something secret is secret too.
            for name in [&variable.name, &around] {
                if let Cow::Owned(hidden) = redactor.named(name, &variable.value) {
                    // How long a secret is helps to guess it.
                    (variable.value, variable.length) = (hidden, None);
                }
            }
        }
        Ok(page)
    }

    /// What came of the test, if it is one; a stop where it fails is told by the frame of the project's own code.
    pub(super) fn tested(&self, outcome: &mut Outcome) -> (Option<TestView>, Vec<VariableView>) {
        let Some(framework) = self.subject.framework else { return (None, Vec::new()) };
        let view = |result, message| Some(TestView { framework, result, message, note: self.note(result) });
        let awaited = |stop: &StopReport| self.subject.fails_by.as_ref().filter(|thrown| thrown.is_at(stop)).cloned();
        match outcome {
            Outcome::Stopped(stop) if self.fails_at(framework, stop) || awaited(stop).is_some() => {
                let thrown = awaited(stop).map(|thrown| thrown.text);
                let message = thrown.or_else(|| self.message(framework, stop));
                let message = message.map(|message| message.split_whitespace().collect::<Vec<&str>>().join(" "));
                stop.stop.reason = "failure".to_owned();
                stop.stop.description = message.clone().or(stop.stop.description.take());
                let variables = self.focus(stop);
                (view(TestResult::FailsHere, message), variables)
            }
            Outcome::Exited { code } => {
                let code = *code;
                let result = self.once_said(|said| {
                    let result = verdict(framework, code, said);
                    (result != TestResult::NothingRan).then_some(result)
                });
                let result = result.unwrap_or(TestResult::NothingRan);
                let message = self.blamed().filter(|_| result == TestResult::Failed).map(|thrown| thrown.words());
                (view(result, message), Vec::new())
            }
            Outcome::Disconnected { .. } => (view(TestResult::Failed, None), Vec::new()),
            Outcome::Stopped(_) | Outcome::StillRunning { .. } => (view(TestResult::Running, None), Vec::new()),
        }
    }

    /// Whether a stop is a panic that fails no test, so that the program goes on: the project's own code catches it, or the
    /// test is to end so.
    pub(super) fn is_expected(&self, outcome: &Outcome) -> bool {
        let Outcome::Stopped(stop) = outcome else { return false };
        if self.subject.framework != Some(Framework::Cargo) || !is_panic(stop) {
            return false;
        }
        let shall_panic = |said: &str| said.rsplit("\ntest ").next().is_some_and(|last| last.contains(SHALL_PANIC));
        catches(&self.owners())
            || self.once_said(|said| said.contains("\ntest ").then(|| shall_panic(said))) == Some(true)
    }

    /// Whether a stop is where a test fails: an exception, or what runners and panics come to. A panic of a thread that the
    /// test started ends that thread alone.
    fn fails_at(&self, framework: Framework, stop: &StopReport) -> bool {
        let function = stop.frame.as_ref().map_or("", |frame| frame.function.as_str());
        let by_go = stop.stop.reason.contains("breakpoint") && function.contains("(*common).Fail");
        let by_rust = || framework == Framework::Cargo && is_panic(stop) && is_of_test(&self.owners());
        stop.stop.reason == "exception" || stop.stop.reason == "panic" || by_go || by_rust()
    }

    /// What the frames of the paused thread are to a test of Rust, innermost first.
    fn owners(&self) -> Vec<FrameRole> {
        let stack = self.session.stack(None, 0, DEEP).map(|stack| stack.frames).unwrap_or_default();
        let is_own = |file: &String| is_own(file, &self.subject.root);
        let of = |frame: &FrameView| FrameRole::of(&frame.function, frame.file.as_ref().is_some_and(is_own));
        let mut owners: Vec<FrameRole> = stack.iter().map(of).collect();
        if stack.len() >= DEEP as usize {
            // The runner is further out.
            owners.push(FrameRole::Runner);
        }
        owners
    }

    /// What failed the test of a program that has ended, where that is worth another run: it went on without pausing there.
    pub(super) fn failed_by(&self, moved: &Moved) -> Option<ThrownError> {
        let has_failed = moved.test.as_ref().is_some_and(|test| test.result == TestResult::Failed);
        let has_ended = matches!(moved.outcome, Outcome::Exited { .. });
        if has_failed && has_ended { self.blamed() } else { None }
    }

    /// The exception by which the test failed, as its runner says.
    fn blamed(&self) -> Option<ThrownError> {
        let thrown = self.session.thrown();
        if thrown.is_empty() {
            return None;
        }
        self.once_said(|said| blamed(&thrown, said).cloned())
    }

    /// What is to be known about a run that was not the first.
    fn note(&self, result: TestResult) -> Option<String> {
        let thrown = self.subject.fails_by.as_ref()?;
        let words = thrown.words();
        Some(match result {
            TestResult::FailsHere if thrown.awaited => {
                "it ran twice, and this time pauses in front of the line that failed it".to_owned()
            }
            TestResult::FailsHere => "it ran twice: the first run showed that this fails it".to_owned(),
            TestResult::Running => format!("a run before this one failed with {words}"),
            TestResult::Passed | TestResult::Failed | TestResult::NothingRan => {
                format!("a run before this one failed with {words}, which this one did not come to")
            }
        })
    }

    /// Tells the stop by the innermost frame of the project's own code, and gives the variables there.
    fn focus(&self, stop: &mut StopReport) -> Vec<VariableView> {
        let stack = self.session.stack(None, 0, FRAMES);
        let own = stack.ok().and_then(|stack| {
            stack
                .frames
                .into_iter()
                .find(|frame| frame.file.as_deref().is_some_and(|file| is_own(file, &self.subject.root)))
        });
        let Some(own) = own else { return Vec::new() };
        let request = VariablesRequest { frame: own.index, count: VARIABLES, ..VariablesRequest::default() };
        stop.frame = Some(own);
        // That it fails here is worth telling without them, too.
        let mut found = self.variables(request).map(|page| page.variables).unwrap_or_default();
        // pytest keeps the parts of an assertion in variables of its own.
        found.retain(|variable| !variable.name.starts_with("@py_"));
        found
    }

    /// What the failing assertion says: the exception itself, or what the runner printed.
    fn message(&self, framework: Framework, stop: &StopReport) -> Option<String> {
        let find = match framework {
            Framework::Go if stop.stop.reason != "exception" => in_go,
            Framework::Cargo => in_rust,
            _ => return stop.stop.description.clone(),
        };
        self.once_said(find).or_else(|| stop.stop.description.clone())
    }

    /// What is found in all that was printed, once it is there.
    fn once_said<T>(&self, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let started = Instant::now();
        loop {
            let page = self.session.output(0, usize::MAX);
            let said: String = page.pieces.iter().map(|piece| piece.text.as_str()).collect();
            match find(&said) {
                None if started.elapsed() < LATER => std::thread::sleep(Duration::from_millis(10)),
                found => return found,
            }
        }
    }
}

fn is_panic(stop: &StopReport) -> bool {
    let function = stop.frame.as_ref().map_or("", |frame| frame.function.as_str());
    stop.stop.reason.contains("breakpoint") && function.contains("rust_panic")
}

/// What a frame is to a test of Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameRole {
    /// The project's code.
    Own,
    /// Where a panic ends.
    Catch,
    /// Of what runs tests.
    Runner,
    Other,
}

impl FrameRole {
    fn of(function: &str, is_own: bool) -> FrameRole {
        match () {
            () if is_own => FrameRole::Own,
            () if function.contains("panicking::catch_unwind") || function.contains("panicking::try") => {
                FrameRole::Catch
            }
            () if function.starts_with("test::") => FrameRole::Runner,
            () => FrameRole::Other,
        }
    }
}

/// Whether a panic ends within the project's code.
fn catches(stack: &[FrameRole]) -> bool {
    let first = stack.iter().position(|frame| *frame == FrameRole::Catch).unwrap_or(stack.len());
    stack.iter().skip(first).any(|frame| *frame == FrameRole::Own)
}

/// Whether a stack is of a thread that the runner started.
fn is_of_test(stack: &[FrameRole]) -> bool {
    stack.contains(&FrameRole::Runner)
}

/// Whether a file is the project's own, and not that of something it uses.
pub(super) fn is_own(file: &str, root: &Path) -> bool {
    let file = Path::new(file);
    let Ok(inside) = file.strip_prefix(root) else { return false };
    let is_foreign = |part: Component<'_>| part.as_os_str().to_str().is_some_and(|name| FOREIGN.contains(&name));
    file.is_file() && !inside.components().any(is_foreign)
}

/// `    cart_test.go:12: total is 5, want 6`, and the lines that belong to it.
fn in_go(said: &str) -> Option<String> {
    let lines: Vec<&str> = said.lines().collect();
    let is_first = |line: &&str| {
        let place = line.trim_start().split_once(": ").map(|(place, _)| place);
        let number = place.and_then(|place| place.split_once(".go:")).map(|(_, number)| number);
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let at = lines.iter().rposition(is_first)?;
    let (_, first) = lines.get(at)?.trim_start().split_once(": ")?;
    let rest = lines.iter().skip(at + 1).take_while(|line| line.starts_with("        "));
    Some(std::iter::once(first).chain(rest.map(|line| line.trim())).collect::<Vec<&str>>().join(" "))
}

/// What stands between `panicked at src/cart.rs:5:9:` and the note about backtraces.
fn in_rust(said: &str) -> Option<String> {
    let (_, after) = said.rsplit_once(" panicked at ")?;
    let mut lines = after.lines();
    lines.next()?;
    let ends = |line: &&str| line.starts_with("note: ") || line.starts_with("stack backtrace");
    let told: Vec<&str> = lines.take_while(|line| !ends(line)).map(str::trim).filter(|line| !line.is_empty()).collect();
    // The last line may be on its way.
    after.contains("note: ").then(|| told.join(", ")).filter(|told| !told.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_that_the_project_catches_fails_no_test() {
        // o the project's, c where panics end, r of the runner, s of the standard library.
        let stack = |letters: &str| -> Vec<FrameRole> {
            let frame = |letter| match letter {
                'o' => FrameRole::of("shop::total", true),
                'c' => FrameRole::of("std::panicking::catch_unwind<()>", false),
                'r' => FrameRole::of("test::run_test_in_process", false),
                _ => FrameRole::of("core::ops::function::FnOnce::call_once", false),
            };
            letters.chars().map(frame).collect()
        };
        assert!(!catches(&stack("sooscsr")) && is_of_test(&stack("sooscsr")));
        assert!(catches(&stack("soscsosr")));
        assert!(!catches(&stack("soscs")) && !is_of_test(&stack("soscs")), "a thread of its own");
    }

    #[test]
    fn what_an_assertion_says_is_found_in_what_was_printed() {
        let go = "=== RUN   TestTotal\n    cart_test.go:12: total is 5,\n        want 6\n--- FAIL";
        assert_eq!(in_go(go).as_deref(), Some("total is 5, want 6"));
        assert_eq!(in_go("=== RUN   TestTotal\nhttp: 12: x"), None);
        let rust = "running 1 test\n\nthread 'total' (7) panicked at src/lib.rs:9:5:\nassertion `left == right` failed: sum\n  left: 5\n right: 6\nnote: run with `RUST_BACKTRACE=1`";
        assert_eq!(in_rust(rust).as_deref(), Some("assertion `left == right` failed: sum, left: 5, right: 6"));
        assert_eq!(in_rust("thread 'x' panicked at a:1:1:\nhalf"), None);
    }
}

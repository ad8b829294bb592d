//! Exceptions that may have failed a test: they rejected a promise, or met other code on their way. Which of them did is
//! known when the runner has said why the test failed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::session::{BreakpointRequest, FrameView, Launch, Place, StopReport};

/// An exception with its place in the project's code. Two that are equal are the same one, also of two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ThrownError {
    /// What it says.
    pub text: String,
    pub file: String,
    pub line: u32,
    pub function: String,
    /// The place is what waits for it: it was thrown by other code.
    pub awaited: bool,
    /// Which it is of those that are alike, from 1.
    pub nth: u32,
}

impl ThrownError {
    /// The event by which a debugger tells of one.
    pub(crate) const EVENT: &'static str = "backsight/thrown";
    /// The option of a launch that names the one to pause at.
    pub(crate) const OPTION: &'static str = "backsight/thrown";

    /// `Error: late (cart.js:12)`
    pub(crate) fn words(&self) -> String {
        format!("{} ({}:{})", self.text, self.name(), self.line)
    }

    /// Makes a launch pause at it: where it is thrown, or in front of the line that waits for it.
    pub(crate) fn ask_for(&self, launch: &mut Launch) {
        launch.options.insert(Self::OPTION.to_owned(), json!(self));
        if self.awaited {
            let at = Place::Line { file: PathBuf::from(&self.file), line: self.line };
            launch.breakpoints.push(BreakpointRequest { at, condition: None, hit_count: None, log_message: None });
        }
    }

    /// Whether a pause is the one in front of the line that waits for it.
    pub(crate) fn is_at(&self, stop: &StopReport) -> bool {
        let is_line = |frame: &FrameView| frame.file.as_deref() == Some(&self.file) && frame.line == Some(self.line);
        self.awaited && !stop.breakpoints.is_empty() && stop.frame.as_ref().is_some_and(is_line)
    }

    fn name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or(&self.file)
    }

    /// What it says without the name of its class, which not every runner prints.
    fn message(&self) -> &str {
        let (class, message) = self.text.split_once(": ").unwrap_or(("", &self.text));
        let is_class = class.split_whitespace().next().is_some_and(|first| first.ends_with("Error"));
        if is_class { message } else { &self.text }
    }

    fn is_in(&self, said: &str) -> bool {
        let place = format!("{}:{}", self.name(), self.line);
        let ends = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_digit());
        said.match_indices(&place).any(|(at, _)| said.get(at + place.len()..).is_some_and(ends))
    }
}

/// The exception that failed the test, by what the runner said at the end: it prints its words and its place.
pub(crate) fn blamed<'a>(thrown: &'a [ThrownError], said: &str) -> Option<&'a ThrownError> {
    let plain: String = said.split_whitespace().collect::<Vec<&str>>().join(" ");
    let prints = |one: &&ThrownError| {
        // Runners show the end of a long message in their own form.
        let start: Vec<&str> = one.message().split_whitespace().take(12).collect();
        plain.contains(&start.join(" ")) && one.is_in(&plain)
    };
    thrown.iter().rev().find(prints)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thrown(text: &str, line: u32) -> ThrownError {
        let (file, function) = ("/w/cart.test.js".to_owned(), "f".to_owned());
        ThrownError { text: text.to_owned(), file, line, function, awaited: false, nth: 1 }
    }

    #[test]
    fn the_runner_says_which_one_it_was() {
        let all = [thrown("Error: handled", 3), thrown("Error: late", 12), thrown("TypeError: other", 120)];
        let said = "  x adds\n    late\n      at total (cart.test.js:12:7)\n";
        assert_eq!(blamed(&all, said), Some(&all[1]));
        assert_eq!(blamed(&all, "Test timed out in 5000ms."), None);
        assert_eq!(blamed(&all, "other at cart.test.js:12:1"), None, "the place is another one");
        assert_eq!(all[0].words(), "Error: handled (cart.test.js:3)");
    }

    #[test]
    fn the_last_of_those_that_are_alike_is_meant() {
        let first = thrown("AssertionError [ERR_ASSERTION]: 5 !== 6", 7);
        let all = [first.clone(), ThrownError { nth: 2, ..first }];
        assert_eq!(blamed(&all, "error: |- 5 !== 6 at file:///w/cart.test.js:7:10").map(|one| one.nth), Some(2));
    }
}

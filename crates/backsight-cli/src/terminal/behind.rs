//! The errors behind an error, as programs print them in one piece: `[cause]` and `[errors]` of Node, exceptions of Python
//! that led to another one, and the parts of an exception group. What is left is the error itself.

use std::sync::LazyLock;

use backsight::browser::event::{Cause, Frame};
use regex::Regex;

use super::frames;

/// Errors behind an error that are told.
const MOST: usize = 16;

/// `  [cause]: TypeError: no rows`, `  [errors]: [`
static LABEL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s+\[(?:cause|errors|error|suppressed)\]: (?P<rest>.*)$").ok());
/// `TypeError: no rows`, `[AggregateError: both failed] {`, `AssertionError [ERR_ASSERTION]: 1 == 2`
static HEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*\[?(?:[A-Za-z_$][\w$]*(?:\.|::))*[A-Z]\w*(?:Error|Exception)(?:\s\[\w+\])?(?::|\]|$)").ok()
});
/// What stands before the lines of an exception group, and between its parts.
static GROUP: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\s*[|+] ?").ok());
static BETWEEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\s*\+-[+-]*").ok());

/// The lines of the error itself, and the errors behind it, the nearest first.
pub fn split(lines: &[String]) -> (Vec<String>, Vec<Cause>) {
    let matches =
        |pattern: &LazyLock<Option<Regex>>, line: &str| pattern.as_ref().is_some_and(|regex| regex.is_match(line));
    let is_group = lines.iter().any(|line| line.contains(GROUP_HEAD));
    let (own, mut causes) = if let Some(at) = lines.iter().position(|line| matches(&LABEL, line)) {
        (lines[..at].iter().map(|line| unfinished(line).to_owned()).collect(), of_node(&lines[at..]))
    } else if is_group {
        of_group(lines)
    } else {
        chained(lines)
    };
    causes.truncate(MOST);
    (own, causes)
}

/// How the trace of an exception group begins.
const GROUP_HEAD: &str = "+ Exception Group Traceback (most recent call last)";

/// Whether a line is one of an exception group.
pub fn is_grouped(line: &str) -> bool {
    GROUP.as_ref().is_some_and(|regex| regex.is_match(line))
}

/// A line of Node's without what announces more.
fn unfinished(line: &str) -> &str {
    line.trim_end().strip_suffix(" {").unwrap_or(line)
}

/// What Node prints within the braces of an error.
fn of_node(lines: &[String]) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    for line in lines {
        let line = unfinished(line.trim_end().trim_end_matches(','));
        if let Some(frame) = frames::traced_place(line) {
            causes.extend(causes.is_empty().then(Cause::default));
            causes.iter_mut().last().into_iter().for_each(|cause| cause.stack.push(frame.clone()));
            continue;
        }
        let labelled = LABEL.as_ref().and_then(|regex| regex.captures(line)).map(|found| found["rest"].to_owned());
        let is_head = HEAD.as_ref().is_some_and(|regex| regex.is_match(line));
        let said = labelled.or_else(|| is_head.then(|| line.to_owned()));
        let said = said.map(|said| said.trim().trim_start_matches('[').trim_end_matches(']').trim().to_owned());
        causes.extend(said.filter(|said| !said.is_empty()).map(|message| Cause { message, stack: Vec::new() }));
    }
    causes
}

/// The last of several traces of Python is the error; those before it led to it.
fn chained(lines: &[String]) -> (Vec<String>, Vec<Cause>) {
    let starts: Vec<usize> = (0..lines.len()).filter(|at| is_trace(&lines[*at])).collect();
    let Some(last) = starts.last().copied().filter(|_| starts.len() > 1) else { return (lines.to_vec(), Vec::new()) };
    let ends = starts.iter().skip(1);
    let causes = starts.iter().zip(ends).rev().map(|(from, to)| of_trace(&lines[*from..*to])).collect();
    let own = lines[..starts[0]].iter().chain(&lines[last..]).cloned().collect();
    (own, causes)
}

/// A group is told first, then its parts.
fn of_group(lines: &[String]) -> (Vec<String>, Vec<Cause>) {
    let is_between = |line: &String| BETWEEN.as_ref().is_some_and(|regex| regex.is_match(line));
    let bare = |line: &String| match GROUP.as_ref().and_then(|regex| regex.find(line)) {
        Some(mark) => line[mark.end()..].to_owned(),
        None => line.clone(),
    };
    let mut parts = lines.split(|line| is_between(line)).map(|part| part.iter().map(bare).collect::<Vec<String>>());
    let own = parts.next().unwrap_or_default();
    let has_words = |part: &Vec<String>| part.iter().any(|line| !line.trim().is_empty());
    (own, parts.filter(has_words).map(|part| of_trace(&part)).collect())
}

fn is_trace(line: &str) -> bool {
    line.contains("Traceback (most recent call last)")
}

/// One trace of Python: what it says in the end, and where.
fn of_trace(lines: &[String]) -> Cause {
    let mut stack: Vec<Frame> = lines.iter().filter_map(|line| frames::traced_place(line)).collect();
    stack.reverse();
    let joins = |line: &str| line.starts_with("The above exception") || line.starts_with("During handling of");
    let is_said =
        |line: &&String| !line.trim().is_empty() && !line.starts_with([' ', '\t']) && !is_trace(line) && !joins(line);
    Cause { message: lines.iter().rfind(is_said).cloned().unwrap_or_default(), stack }
}

//! A debugged program, for a person: where it is, and where it will pause. What comes from the program is made safe to
//! print.

pub mod looking;
pub mod snapshots;
pub mod watching;

use std::path::Path;

use backsight::debug::debugger::{Disconnected, Moved, SessionView};
use backsight::debug::render::safe;
use backsight::debug::session::{
    Breakpoint, BreakpointRequest, Executed, FrameView, Outcome, Place, Purpose, Relation, StopReport,
};

use backsight::debug::testing::{TestResult, TestView};

use crate::page::{CYAN, GREEN, Page, RED, Sheet, YELLOW};
use crate::words::{count, duration, enumerate, join, thousands};
use backsight_core::shell_word;

/// How many lines of source are shown on each side.
const AROUND: u64 = 2;
/// A larger file is no source that anybody reads.
const LARGEST_SOURCE: u64 = 16 << 20;

/// What came of letting a program go on.
pub fn moved(page: &mut Page, moved: &Moved, start: &Path) {
    if let Some(test) = &moved.test {
        tested(&mut page.data, test);
    }
    place_of(page, &moved.outcome, &moved.executed, start);
    looking::rows(&mut page.data, &moved.variables);
    printed(&mut page.data, moved);
    if moved.captured > 0 {
        page.data.line(format_args!("Captured {} meanwhile", count(moved.captured, "snapshot")));
    }
    for breakpoint in &moved.unbound {
        unbound(page, breakpoint, start);
    }
}

/// What came of a test.
fn tested(sheet: &mut Sheet, test: &TestView) {
    let said = match test.result {
        TestResult::Running => return,
        TestResult::FailsHere => sheet.paint(RED.bold(), "The test fails here"),
        TestResult::Passed => format!("{} and did not pause", sheet.paint(GREEN.bold(), "The test passed")),
        TestResult::Failed => {
            let why = test.message.as_deref().map(|why| format!(": {}", safe(why))).unwrap_or_default();
            format!("{}{why}", sheet.paint(RED.bold(), "The test failed"))
        }
        TestResult::NothingRan => {
            format!("{}: there is no such test, or it is skipped", sheet.paint(RED.bold(), "No test ran"))
        }
    };
    sheet.line(said);
    if let Some(note) = &test.note {
        sheet.line(format_args!("  {}", safe(note)));
    }
}

/// Where a program is, and what was executed for it.
pub fn place_of(page: &mut Page, outcome: &Outcome, executed: &Executed, start: &Path) {
    headline(&mut page.data, outcome, start);
    if let Outcome::Stopped(stop) = outcome {
        more_about(&mut page.data, stop);
    }
    if let Outcome::Stopped(stop) = outcome
        && let Some(frame) = &stop.frame
    {
        source(&mut page.data, frame);
    }
    for command in [&executed.build, &executed.command, &executed.debuggee] {
        started(&mut page.data, command);
    }
}

/// What led to an exception, a condition that could not be evaluated, and who else is there.
fn more_about(sheet: &mut Sheet, stop: &StopReport) {
    let exception = stop.stop.exception.as_deref();
    for earlier in exception.map(|exception| exception.chain.as_slice()).unwrap_or_default() {
        let relation = match earlier.relation {
            Relation::Cause => "caused by",
            Relation::Context => "while handling",
            Relation::Inner => "with",
        };
        let message = earlier.message.as_deref().map(|text| format!(": {}", safe(text))).unwrap_or_default();
        sheet.line(format_args!("  {} {}{message}", sheet.dim(relation), sheet.paint(RED, safe(&earlier.kind))));
    }
    if let Some(more) = exception.map(|exception| exception.chain_omitted).filter(|more| *more > 0) {
        sheet.line(sheet.dim(format_args!("  and {}", count(more, "more exception"))));
    }
    if let Some(problem) = &stop.stop.problem {
        let said = sheet.paint(YELLOW.bold(), "Its condition could not be evaluated");
        sheet.line(format_args!("{said}: {}", safe(problem)));
    }
    for also in &stop.also {
        sheet.line(format_args!("Thread {} is at {} too", also.thread_id, enumerate(&also.breakpoints)));
    }
}

/// The command line that was executed, where something was started.
pub fn started(sheet: &mut Sheet, command: &[String]) {
    let words: Vec<String> = command.iter().map(|word| shell_word(word.as_bytes())).collect();
    if !words.is_empty() {
        sheet.line(sheet.dim(format_args!("$ {}", words.join(" "))));
    }
}

/// Where the program is, in a line.
fn headline(sheet: &mut Sheet, outcome: &Outcome, start: &Path) {
    let said = match outcome {
        Outcome::Stopped(stop) => {
            let place = stop.frame.as_ref().map(|frame| {
                let at = location(frame, start).map(|place| format!(" at {}", sheet.paint(CYAN, place)));
                format!(" in {}{}", sheet.bold(safe(&frame.function)), at.unwrap_or_default())
            });
            let about = match stop.stop.description.as_deref() {
                None | Some("") => String::new(),
                Some(about) => format!(": {}", safe(about)),
            };
            let place = place.unwrap_or_default();
            format!("{}{place} {}{about}", sheet.paint(YELLOW.bold(), "Paused"), sheet.dim(reason(stop)))
        }
        Outcome::StillRunning { waited_ms: 0 } => sheet.paint(GREEN.bold(), "Running"),
        Outcome::StillRunning { waited_ms } => {
            format!("{} after {}", sheet.paint(GREEN.bold(), "Still running"), duration(*waited_ms))
        }
        Outcome::Exited { code: None } => sheet.bold("Ended"),
        Outcome::Exited { code: Some(0) } => format!("{} with exit code 0", sheet.paint(GREEN.bold(), "Ended")),
        Outcome::Exited { code: Some(code) } => format!("{} with exit code {code}", sheet.paint(RED.bold(), "Ended")),
        Outcome::Disconnected { reason } => {
            format!("{}: {}", sheet.paint(RED.bold(), "No longer debugged"), safe(reason))
        }
    };
    sheet.line(said);
}

/// `(breakpoint bp-1)`
fn reason(stop: &StopReport) -> String {
    let breakpoints: Vec<String> = stop.breakpoints.iter().map(|id| safe(id)).collect();
    let point = stop.point.as_ref().map(|point| format!("snapshot point {}", safe(point)));
    format!("({})", join(&[&safe(&stop.stop.reason), &enumerate(&breakpoints), &point.unwrap_or_default()]))
}

/// The line a program is at, with those around it.
fn source(sheet: &mut Sheet, frame: &FrameView) {
    let Some(line) = frame.line.map(u64::from) else { return };
    let lines = around(Path::new(frame.file.as_deref().unwrap_or_default()), line);
    if lines.is_empty() {
        if let Some(source) = &frame.source {
            sheet.line(format_args!("  {} {}", sheet.paint(YELLOW.bold(), format!("→ {line}")), shown(source)));
        }
        return;
    }
    let width = lines.last().map_or(0, |(number, _)| number.to_string().len());
    for (number, source) in lines {
        match number == line {
            true => {
                let mark = sheet.paint(YELLOW.bold(), format!("→ {number:>width$}"));
                sheet.line(format_args!("  {mark}  {}", sheet.bold(source)));
            }
            false => {
                let said = sheet.dim(format_args!("  {number:>width$}  {source}"));
                sheet.line(format_args!("  {said}"));
            }
        }
    }
}

/// Numbered lines around one; none when the file cannot be read or is shorter.
fn around(file: &Path, line: u64) -> Vec<(u64, String)> {
    let bytes = backsight_core::bounded::read(file, LARGEST_SOURCE).unwrap_or_default();
    let contents = String::from_utf8_lossy(&bytes);
    let numbered = (1u64..).zip(contents.lines());
    let near =
        numbered.skip_while(|(number, _)| number + AROUND < line).take_while(|(number, _)| *number <= line + AROUND);
    let lines: Vec<(u64, String)> = near.map(|(number, source)| (number, shown(source))).collect();
    if lines.iter().any(|(number, _)| *number == line) { lines } else { Vec::new() }
}

/// A line of source as it can be printed; it keeps its indentation.
fn shown(source: &str) -> String {
    let spaced = source.replace('\t', "    ");
    let body = spaced.trim_start_matches(' ');
    format!("{}{}", " ".repeat(spaced.len() - body.len()), safe(body))
}

fn printed(sheet: &mut Sheet, moved: &Moved) {
    let Some(printed) = &moved.printed else { return };
    let before = moved.printed_before;
    let more = if before > 0 { format!(", after {} more bytes", thousands(before)) } else { String::new() };
    sheet.line(format_args!("Printed{more}:"));
    for line in printed.lines() {
        let bar = sheet.dim("│");
        sheet.line(format_args!("  {bar} {}", safe(line)));
    }
}

/// What to do next.
pub fn advise(page: &mut Page, outcome: &Outcome, command: impl Fn(&str) -> String) {
    match outcome {
        Outcome::Stopped(_) => {
            page.hint(format_args!("{}, {} or {}", command("vars"), command("next"), command("snapshot LABEL")))
        }
        Outcome::StillRunning { .. } => {
            page.hint(format_args!("wait for it with {}, or {}", command("status --timeout 60"), command("pause")))
        }
        Outcome::Exited { .. } | Outcome::Disconnected { .. } => {}
    }
}

/// What else is known about a session.
pub fn session(page: &mut Page, session: &SessionView, start: &Path) {
    let SessionView { breakpoint_count, bound_count, snapshots, .. } = session;
    let mut facts = vec![count(*breakpoint_count as u64, "breakpoint"), count(*snapshots as u64, "snapshot")];
    if bound_count != breakpoint_count {
        facts.insert(1, format!("{bound_count} of them bound"));
    }
    facts.extend(session.cleared_snapshots.map(|cleared| format!("{cleared} cleared at its end")));
    let program = relative(Path::new(&session.program), start);
    let said = format!("{program} under {}, session {}", safe(&session.adapter), safe(&session.session));
    let said = page.data.dim(format_args!("{said}: {}", facts.join(", ")));
    page.data.line(said);
    if session.misread != (0, 0) {
        let (messages, bytes) = session.misread;
        page.warning(format_args!("{messages} messages and {bytes} bytes of the debugger were not understood"));
    }
}

/// The sessions, each with where its program is.
pub fn sessions(page: &mut Page, all: &[SessionView], start: &Path) {
    if all.is_empty() {
        page.data.line("Nothing is being debugged.");
    }
    for one in all {
        headline(&mut page.data, &one.outcome, start);
        session(page, one, start);
    }
}

/// A session that was ended.
pub fn ended(page: &mut Page, ended: &Disconnected) {
    let program = if ended.ended_program { "the program was ended" } else { "the program goes on" };
    let cleared = match ended.cleared_snapshots {
        0 => String::new(),
        1 => "; 1 snapshot was cleared".to_owned(),
        cleared => format!("; {} were cleared", count(cleared as u64, "snapshot")),
    };
    let name = page.data.bold(safe(&ended.session));
    page.data.line(format_args!("Session {name} is over: {program}{cleared}"));
}

/// A breakpoint that was set.
pub fn breakpoint_set(page: &mut Page, breakpoint: &Breakpoint, start: &Path) {
    breakpoint_row(&mut page.data, breakpoint, start);
    if !breakpoint.bound {
        unbound(page, breakpoint, start);
    }
}

/// A breakpoint that was removed.
pub fn breakpoint_removed(page: &mut Page, breakpoint: &Breakpoint, start: &Path) {
    let id = page.data.bold(safe(&breakpoint.id));
    page.data.line(format_args!("Removed {id} at {}", place(&breakpoint.request.at, start)));
}

/// All breakpoints.
pub fn breakpoints(page: &mut Page, breakpoints: &[Breakpoint], start: &Path) {
    breakpoints.iter().for_each(|breakpoint| breakpoint_row(&mut page.data, breakpoint, start));
}

fn breakpoint_row(sheet: &mut Sheet, breakpoint: &Breakpoint, start: &Path) {
    let id = sheet.bold(safe(&breakpoint.id));
    let state = match breakpoint.bound {
        true => sheet.paint(GREEN, "bound"),
        false => sheet.paint(YELLOW, "not bound"),
    };
    let moved = breakpoint.line.map(|line| format!("(really at line {line})"));
    let purpose = match &breakpoint.purpose {
        Purpose::Snapshots(name) => Some(format!("snapshot point {}", safe(name))),
        Purpose::RunTo => Some("run to".to_owned()),
        Purpose::Pause => None,
    };
    let when = conditions(&breakpoint.request);
    let place = sheet.paint(CYAN, place(&breakpoint.request.at, start));
    let words = [&*id, &place, &state, &*moved.unwrap_or_default(), &when, &*purpose.unwrap_or_default()];
    let said: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    sheet.line(said.join("  "));
}

fn conditions(request: &BreakpointRequest) -> String {
    let said = |text: &Option<String>, words: &str| text.as_ref().map(|text| format!("{words} {}", safe(text)));
    let BreakpointRequest { condition, hit_count, log_message, .. } = request;
    let all = [said(condition, "if"), said(hit_count, "from hit"), said(log_message, "prints")];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn unbound(page: &mut Page, breakpoint: &Breakpoint, start: &Path) {
    let why = breakpoint.message.as_ref().map(|why| format!(": {}", safe(why))).unwrap_or_default();
    let at = place(&breakpoint.request.at, start);
    page.warning(format_args!(
        "{} at {at} is not bound, so the program will not pause there{why}",
        safe(&breakpoint.id)
    ));
}

/// `shop.py:12`, `total`, `exception:all`
fn place(at: &Place, start: &Path) -> String {
    match at {
        Place::Line { file, line } => format!("{}:{line}", relative(file, start)),
        Place::Function(function) => safe(function),
        Place::Exception(exception) => format!("exception:{}", safe(exception)),
    }
}

/// A file and a line, from where the person stands.
fn location(frame: &FrameView, start: &Path) -> Option<String> {
    let file = relative(Path::new(frame.file.as_deref()?), start);
    Some(frame.line.map_or(file.clone(), |line| format!("{file}:{line}")))
}

fn relative(path: &Path, start: &Path) -> String {
    safe(&path.strip_prefix(start).unwrap_or(path).to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_keeps_its_indentation_and_does_nothing_else() {
        assert_eq!(shown("\tif x:"), "    if x:");
        assert!(!shown("  x = '\u{1b}[2J'").contains('\u{1b}'));
    }

    #[test]
    fn lines_around_are_those_that_exist() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.py");
        std::fs::write(&file, "1\n2\n3\n4\n5\n").unwrap();
        let numbers = |line| around(&file, line).iter().map(|(number, _)| *number).collect::<Vec<_>>();
        assert_eq!((numbers(1), numbers(3), numbers(5)), (vec![1, 2, 3], vec![1, 2, 3, 4, 5], vec![3, 4, 5]));
        assert!(numbers(6).is_empty() && numbers(0).is_empty() && around(directory.path(), 1).is_empty());
    }
}

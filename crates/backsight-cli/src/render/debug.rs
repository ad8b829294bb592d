//! A debugged program, for a person: where it is, and where it will pause. What comes from the program is made safe to
//! print.

pub mod looking;
pub mod snapshots;

use std::path::Path;

use backsight::debug::render::safe;
use serde_json::Value;

use crate::page::{CYAN, GREEN, Page, RED, Sheet, YELLOW};
use crate::words::{count, duration, enumerate, join, thousands};
use backsight_core::shell_word;

/// How many lines of source are shown on each side.
const AROUND: u64 = 2;
/// A larger file is no source that anybody reads.
const LARGEST_SOURCE: u64 = 16 << 20;

/// What came of letting a program go on.
pub fn moved(page: &mut Page, moved: &Value, start: &Path) {
    headline(&mut page.data, moved, start);
    if moved["outcome"] == "stopped" {
        source(&mut page.data, &moved["frame"]);
    }
    for command in ["command", "debuggee"] {
        started(&mut page.data, &moved[command]);
    }
    printed(&mut page.data, moved);
    if let Some(captured) = moved["captured"].as_u64() {
        page.data.line(format_args!("Captured {} meanwhile", count(captured, "snapshot")));
    }
    for breakpoint in list(&moved["unbound"]) {
        unbound(page, breakpoint, start);
    }
}

/// The command line that was executed, where something was started.
pub fn started(sheet: &mut Sheet, command: &Value) {
    let words: Vec<String> =
        list(command).iter().filter_map(Value::as_str).map(|word| shell_word(word.as_bytes())).collect();
    if !words.is_empty() {
        sheet.line(sheet.dim(format_args!("$ {}", words.join(" "))));
    }
}

/// Where the program is, in a line.
fn headline(sheet: &mut Sheet, moved: &Value, start: &Path) {
    let said = match text(moved, "outcome") {
        "stopped" => {
            let frame = &moved["frame"];
            let function = sheet.bold(safe(text(frame, "function")));
            let place = location(frame, start).map(|place| format!(" at {}", sheet.paint(CYAN, place)));
            let place =
                if frame.is_object() { format!(" in {function}{}", place.unwrap_or_default()) } else { String::new() };
            let about = match text(moved, "description") {
                "" => String::new(),
                about => format!(": {}", safe(about)),
            };
            format!("{}{place} {}{about}", sheet.paint(YELLOW.bold(), "Paused"), sheet.dim(reason(moved)))
        }
        "still_running" => match moved["waited_ms"].as_u64() {
            Some(waited @ 1..) => format!("{} after {}", sheet.paint(GREEN.bold(), "Still running"), duration(waited)),
            _ => sheet.paint(GREEN.bold(), "Running"),
        },
        "exited" => match moved["code"].as_i64() {
            None => sheet.bold("Ended"),
            Some(0) => format!("{} with exit code 0", sheet.paint(GREEN.bold(), "Ended")),
            Some(code) => format!("{} with exit code {code}", sheet.paint(RED.bold(), "Ended")),
        },
        _ => format!("{}: {}", sheet.paint(RED.bold(), "No longer debugged"), safe(text(moved, "reason"))),
    };
    sheet.line(said);
}

/// `(breakpoint bp-1)`
fn reason(stop: &Value) -> String {
    let breakpoints: Vec<String> = list(&stop["breakpoints"]).iter().filter_map(Value::as_str).map(safe).collect();
    let point = stop["point"].as_str().map(|point| format!("snapshot point {}", safe(point)));
    format!("({})", join(&[&safe(text(stop, "reason")), &enumerate(&breakpoints), &point.unwrap_or_default()]))
}

/// The line a program is at, with those around it.
fn source(sheet: &mut Sheet, frame: &Value) {
    let Some(line) = frame["line"].as_u64() else { return };
    let lines = around(Path::new(text(frame, "file")), line);
    if lines.is_empty() {
        if let Some(source) = frame["source"].as_str() {
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

fn printed(sheet: &mut Sheet, moved: &Value) {
    let Some(printed) = moved["printed"].as_str() else { return };
    let before = moved["printed_before"].as_u64().unwrap_or_default();
    let more = if before > 0 { format!(", after {} more bytes", thousands(before)) } else { String::new() };
    sheet.line(format_args!("Printed{more}:"));
    for line in printed.lines() {
        let bar = sheet.dim("│");
        sheet.line(format_args!("  {bar} {}", safe(line)));
    }
}

/// What to do next.
pub fn advise(page: &mut Page, moved: &Value, command: impl Fn(&str) -> String) {
    match text(moved, "outcome") {
        "stopped" => {
            page.hint(format_args!("{}, {} or {}", command("vars"), command("next"), command("snapshot LABEL")))
        }
        "still_running" => {
            page.hint(format_args!("wait for it with {}, or {}", command("status --timeout 60"), command("pause")))
        }
        _ => {}
    }
}

/// What else is known about a session.
pub fn session(page: &mut Page, session: &Value, start: &Path) {
    let number = |name: &str| session[name].as_u64().unwrap_or_default();
    let bound = number("bound_count");
    let mut facts = vec![count(number("breakpoint_count"), "breakpoint"), count(number("snapshots"), "snapshot")];
    if bound != number("breakpoint_count") {
        facts.insert(1, format!("{bound} of them bound"));
    }
    facts.extend(session["cleared_snapshots"].as_u64().map(|cleared| format!("{cleared} cleared at its end")));
    let program = relative(Path::new(text(session, "program")), start);
    let said =
        format!("{program} under {}, session {}", safe(text(session, "adapter")), safe(text(session, "session")));
    let said = page.data.dim(format_args!("{said}: {}", facts.join(", ")));
    page.data.line(said);
    if let [messages, bytes] = list(&session["misread"]) {
        page.warning(format_args!("{messages} messages and {bytes} bytes of the debugger were not understood"));
    }
}

/// The sessions, each with where its program is.
pub fn sessions(page: &mut Page, sessions: &Value, start: &Path) {
    let all = list(&sessions["sessions"]);
    if all.is_empty() {
        page.data.line("Nothing is being debugged.");
    }
    for one in all {
        headline(&mut page.data, one, start);
        session(page, one, start);
    }
}

/// A session that was ended.
pub fn ended(page: &mut Page, ended: &Value) {
    let program = if ended["ended_program"] == true { "the program was ended" } else { "the program goes on" };
    let cleared = match ended["cleared_snapshots"].as_u64().unwrap_or_default() {
        0 => String::new(),
        1 => "; 1 snapshot was cleared".to_owned(),
        cleared => format!("; {} were cleared", count(cleared, "snapshot")),
    };
    let name = page.data.bold(safe(text(ended, "session")));
    page.data.line(format_args!("Session {name} is over: {program}{cleared}"));
}

/// A breakpoint that was set.
pub fn breakpoint_set(page: &mut Page, breakpoint: &Value, start: &Path) {
    breakpoint_row(&mut page.data, breakpoint, start);
    if breakpoint["bound"] != true {
        unbound(page, breakpoint, start);
    }
}

/// A breakpoint that was removed.
pub fn breakpoint_removed(page: &mut Page, breakpoint: &Value, start: &Path) {
    let id = page.data.bold(safe(text(breakpoint, "id")));
    page.data.line(format_args!("Removed {id} at {}", place(&breakpoint["at"], start)));
}

/// All breakpoints.
pub fn breakpoints(page: &mut Page, breakpoints: &Value, start: &Path) {
    list(breakpoints).iter().for_each(|breakpoint| breakpoint_row(&mut page.data, breakpoint, start));
}

fn breakpoint_row(sheet: &mut Sheet, breakpoint: &Value, start: &Path) {
    let id = sheet.bold(safe(text(breakpoint, "id")));
    let state = match breakpoint["bound"] == true {
        true => sheet.paint(GREEN, "bound"),
        false => sheet.paint(YELLOW, "not bound"),
    };
    let moved = breakpoint["line"].as_u64().map(|line| format!("(really at line {line})"));
    let purpose = match &breakpoint["purpose"] {
        Value::Object(purpose) => {
            purpose.get("snapshots").and_then(Value::as_str).map(|name| format!("snapshot point {}", safe(name)))
        }
        Value::String(_) => Some("run to".to_owned()),
        _ => None,
    };
    let when = conditions(breakpoint);
    let place = sheet.paint(CYAN, place(&breakpoint["at"], start));
    let words = [&*id, &place, &state, &*moved.unwrap_or_default(), &when, &*purpose.unwrap_or_default()];
    let said: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    sheet.line(said.join("  "));
}

fn conditions(breakpoint: &Value) -> String {
    let said = |name: &str, words: &str| breakpoint[name].as_str().map(|value| format!("{words} {}", safe(value)));
    let all = [said("condition", "if"), said("hit_count", "from hit"), said("log_message", "prints")];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn unbound(page: &mut Page, breakpoint: &Value, start: &Path) {
    let why = breakpoint["message"].as_str().map(|why| format!(": {}", safe(why))).unwrap_or_default();
    let at = place(&breakpoint["at"], start);
    page.warning(format_args!(
        "{} at {at} is not bound, so the program will not pause there{why}",
        safe(text(breakpoint, "id"))
    ));
}

/// `shop.py:12`, `total`, `exception:all`
fn place(at: &Value, start: &Path) -> String {
    if let Some(line) = at.get("line") {
        return location(line, start).unwrap_or_default();
    }
    match (at["function"].as_str(), at["exception"].as_str()) {
        (Some(function), _) => safe(function),
        (None, Some(exception)) => format!("exception:{}", safe(exception)),
        (None, None) => String::new(),
    }
}

/// A file and a line, from where the person stands.
fn location(place: &Value, start: &Path) -> Option<String> {
    let file = relative(Path::new(place["file"].as_str()?), start);
    Some(place["line"].as_u64().map_or(file.clone(), |line| format!("{file}:{line}")))
}

fn relative(path: &Path, start: &Path) -> String {
    safe(&path.strip_prefix(start).unwrap_or(path).to_string_lossy())
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
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

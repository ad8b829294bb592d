//! What is shown of one row or of the disk: lines with a meaning, ready to be drawn. All that came from files, agents and
//! pages is made harmless here, once.

use backsight::report::{Event, FileHunks, Hunks, Row, Snapshot, Status};
use backsight_core::Timestamp;

use crate::render::{changes, snapshot, unified};
use crate::words::{age, count, enumerate, local, safe};

/// One line, with what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub tone: Tone,
    pub text: String,
}

/// What a line is, which decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Who, when, why.
    Fact,
    /// Begins a file.
    File,
    /// Begins a hunk.
    Hunk,
    Added,
    Removed,
    Same,
    /// What was cut, and why.
    Note,
}

/// Columns between the stops of a tab.
const TAB: usize = 4;

fn line(tone: Tone, text: impl Into<String>) -> Line {
    Line { tone, text: text.into() }
}

/// A row with what it changed, if it is a step.
pub fn of_row(row: &Row, hunks: Option<&Hunks>, now: Timestamp) -> Vec<Line> {
    let mut lines = match row {
        Row::Snapshot(step) => step_facts(step, now),
        Row::Event(event) => event_facts(event, now),
    };
    lines.extend(hunks.into_iter().flat_map(of_hunks));
    lines
}

fn step_facts(step: &Snapshot, now: Timestamp) -> Vec<Line> {
    let mut lines: Vec<Line> = step.description.lines().map(|text| line(Tone::Fact, safe(text))).collect();
    let mut who = snapshot::origin(&step.origin);
    who.insert(0, step.kind.as_str().to_owned());
    if !step.targets.is_empty() {
        who[0] = format!("{} of {}", step.kind.as_str(), enumerate(&step.targets));
    }
    lines.push(line(Tone::Fact, format!("{} ({})", local(step.timestamp), age(step.timestamp, now))));
    lines.push(line(Tone::Fact, who.join(", ")));
    if !step.unknown_changes.is_empty() {
        let others = count(step.unknown_changes.len() as u64, "path");
        lines.push(line(Tone::Note, format!("also {others} changed by somebody else, found with it")));
    }
    for held in &step.may_hold {
        let paths = count(held.paths.len() as u64 + held.more, "path");
        lines.push(line(Tone::Note, format!("{paths} may hold the work of {}", safe(&held.of))));
    }
    if let Some(time) = step.expired_at {
        lines.push(line(Tone::Note, format!("expired {}: its contents were removed", age(time, now))));
    }
    lines
}

fn event_facts(event: &Event, now: Timestamp) -> Vec<Line> {
    let mut lines: Vec<Line> = event.description.lines().map(|text| line(Tone::Fact, safe(text))).collect();
    lines.push(line(Tone::Fact, format!("{} ({})", local(event.timestamp), age(event.timestamp, now))));
    let who = snapshot::origin(&event.origin);
    if !who.is_empty() {
        lines.push(line(Tone::Fact, who.join(", ")));
    }
    if let Ok(details) = serde_json::to_string_pretty(&event.details) {
        lines.push(line(Tone::Same, ""));
        lines.extend(details.lines().map(|text| line(Tone::Same, shown(text))));
    }
    lines
}

/// All hunks of all files in one scroll, with what was left out.
pub fn of_hunks(hunks: &Hunks) -> Vec<Line> {
    let mut lines = vec![line(Tone::Same, "")];
    if hunks.files.is_empty() {
        lines.push(line(Tone::Note, "no file differs"));
    }
    for file in &hunks.files {
        of_file(file, &mut lines);
    }
    for unseen in &hunks.unseen {
        lines.push(line(Tone::Note, format!("{} was not seen on one side; nothing is said of it", unseen.path)));
    }
    if hunks.lines_left_out > 0 {
        let left = count(hunks.lines_left_out, "line");
        lines.push(line(Tone::Note, format!("{left} left out: too many to show; `backsight diff` has all")));
    }
    lines
}

fn of_file(file: &FileHunks, lines: &mut Vec<Line>) {
    let (letter, _) = changes::letter(file.status);
    let from = file.from_file.as_ref().map(|from| format!("{from} -> ")).unwrap_or_default();
    let amounts = match (file.additions, file.deletions) {
        (0, 0) => String::new(),
        (added, removed) => format!("  +{added} -{removed}"),
    };
    lines.push(line(Tone::File, format!("{letter} {from}{}{amounts}", file.file)));
    if file.binary {
        lines.push(line(Tone::Note, "binary: its bytes are not shown"));
    }
    if let Some(why) = &file.cut {
        lines.push(line(Tone::Note, format!("not compared: {}", safe(why))));
    }
    if file.hunks.is_empty() && !file.binary && file.cut.is_none() && file.status == Status::Modified {
        lines.push(line(Tone::Note, "no line differs"));
    }
    for hunk in &file.hunks {
        let section = shown(&hunk.section);
        lines.push(line(Tone::Hunk, format!("@@ -{} +{} @@ {section}", hunk.old_start, hunk.new_start)));
        for text in &hunk.lines {
            let (tone, sign) = match text.side {
                '+' => (Tone::Added, '+'),
                '-' => (Tone::Removed, '-'),
                _ => (Tone::Same, ' '),
            };
            let cut = if text.cut > 0 { format!(" [{} more]", count(text.cut, "character")) } else { String::new() };
            let end = if text.no_newline { "  (no newline at the end)" } else { "" };
            lines.push(line(tone, format!("{sign}{}{cut}{end}", shown(&text.text))));
        }
    }
    if file.lines_left_out > 0 {
        lines.push(line(Tone::Note, format!("{} of this file left out", count(file.lines_left_out, "line"))));
    }
}

/// Contents as they can be shown: nothing that drives a terminal, tabs as blanks.
fn shown(text: &str) -> String {
    let visible = unified::visible(text.as_bytes());
    let mut shown = String::with_capacity(visible.len());
    let mut column = 0;
    for character in visible.chars() {
        match character {
            '\t' => {
                let blanks = TAB - column % TAB;
                shown.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            }
            other => {
                shown.push(other);
                column += 1;
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_cannot_drive_the_terminal_and_tabs_keep_their_stops() {
        assert_eq!(shown("a\tb\x1b[2J\u{202e}"), "a   b^[[2J<U+202E>");
    }
}

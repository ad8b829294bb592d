//! Changes and rows in the fewest words a model reads well.

use backsight::report::{Attributes, Conflict, Origin, PathChange, Row, Snapshot, Status, UnknownChange};
use backsight::{Timestamp, Uncovered};
use backsight_core::one_line;

/// A change as one line: `M src/a.rs`, `R old -> new`.
pub fn change(change: &PathChange) -> String {
    let PathChange { path, status, from_path, before, after } = change;
    match (status, from_path) {
        (Status::Renamed, Some(from)) => format!("R {from} -> {path}"),
        (Status::ModeChanged, _) => format!("X {path} {} -> {}", mode(before), mode(after)),
        _ => format!("{} {path}", letter(*status)),
    }
}

/// The letter that stands for a status.
pub fn letter(status: Status) -> char {
    match status {
        Status::Added => 'A',
        Status::Modified => 'M',
        Status::Deleted => 'D',
        Status::Renamed => 'R',
        Status::ModeChanged => 'X',
        Status::TypeChanged => 'T',
    }
}

fn mode(attributes: &Option<Attributes>) -> String {
    attributes.map(|attributes| format!("{:04o}", attributes.mode)).unwrap_or_default()
}

/// A change nobody recorded as one line.
pub fn unknown(change: &UnknownChange) -> String {
    use backsight::report::ChangeType::{Created, Deleted, Modified};
    let letter = match change.change_type {
        Modified => 'M',
        Created => 'A',
        Deleted => 'D',
    };
    format!("{letter} {}", change.file_path)
}

/// A path that could not be looked at.
pub fn unseen(uncovered: &Uncovered) -> String {
    format!("{} ({})", uncovered.path, uncovered.reason)
}

/// A conflict as one line.
pub fn conflict(conflict: &Conflict) -> String {
    format!("{}: {}", conflict.path, conflict.reason)
}

/// A row of the timeline as one line.
pub fn row(row: &Row, now: Timestamp) -> String {
    match row {
        Row::Snapshot(step) => snapshot(step, now),
        Row::Event(event) => {
            let (seq, kind) = (event.sequence_number, event.kind.as_str());
            format!("{seq} {kind} {}{}: {}", age(event.timestamp, now), who(&event.origin), clip(&event.description))
        }
    }
}

/// A snapshot as one line: `#12 track 3m Edit@s1/m2 2 files +5 -1: fix the parser`.
pub fn snapshot(step: &Snapshot, now: Timestamp) -> String {
    let lines = match (step.lines_added, step.lines_removed) {
        (Some(added), Some(removed)) => format!(" +{added} -{removed}"),
        _ => String::new(),
    };
    let expired = if step.expired_at.is_some() { " (contents expired)" } else { "" };
    let text = if step.description.is_empty() { String::new() } else { format!(": {}", clip(&step.description)) };
    format!(
        "{} {} {}{} {}{lines}{expired}{text}",
        step.sequence_number,
        step.kind.as_str(),
        age(step.timestamp, now),
        who(&step.origin),
        count(step.files_changed as usize, "file"),
    )
}

/// ` tool@session/message/part`, as much of it as there is.
fn who(origin: &Origin) -> String {
    let place = [&origin.session, &origin.message, &origin.part];
    let place: Vec<&str> = place.into_iter().flatten().map(String::as_str).collect();
    match (&origin.tool, place.is_empty()) {
        (None, true) => String::new(),
        (Some(tool), true) => format!(" {tool}"),
        // A client that names no session is its own.
        (Some(tool), false) if place == [tool] => format!(" {tool}"),
        (tool, false) => format!(" {}@{}", tool.as_deref().unwrap_or_default(), place.join("/")),
    }
}

/// A text of people or programs as part of a line: one line, and not all of a long one.
pub fn clip(text: &str) -> String {
    const MOST: usize = 160;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = one_line(&line);
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into_owned(),
    }
}

/// How long ago: `12s`, `3m`, `5h`, `2d`.
pub fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = (now.0.saturating_sub(then.0) / 1000).max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// `1 file`, `2 files`.
pub fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

//! Answers in the fewest words that say all of them, for a model. Lines of ours begin at the margin; what comes from the
//! program stands on lines that begin with a blank, so it cannot pass for ours.

use super::escape::{both_safe, safe};
use super::{counts, more, not_compared, omitted};
use crate::capture::Scope;
use crate::report::{DiffEntry, Series, SnapshotDiff, SnapshotEntry, SnapshotView, ViewEntry, WarningKind};

/// See [`super::compact`].
pub(super) fn diff(diff: &SnapshotDiff) -> String {
    let mut page = String::new();
    let SnapshotDiff { label_a, label_b, at_a, at_b, time_delta_ms, .. } = diff;
    line(&mut page, &format!("{} -> {} ({time_delta_ms} ms): {}", safe(label_a), safe(label_b), counts(diff)));
    let place = if at_a == at_b { safe(at_a) } else { format!("{} -> {}", safe(at_a), safe(at_b)) };
    line(&mut page, &format!("at {place}"));
    // The places say what a warning about lines would say again.
    for warning in diff.warnings.iter().filter(|warning| warning.kind != WarningKind::Line) {
        line(&mut page, &format!("warning: {}", safe(&warning.message)));
    }
    if let (Some(path), Some(matched)) = (&diff.path, diff.matched) {
        line(&mut page, &format!("under {}: {matched} changes", safe(path)));
    }
    section(&mut page, "modified", &diff.modified, |change| Some(entry(change)));
    section(&mut page, "type changed", &diff.added, |new| Some(retyped(twin(new, &diff.removed)?, new)));
    section(&mut page, "added", &diff.added, |new| twin(new, &diff.removed).is_none().then(|| entry(new)));
    section(&mut page, "removed", &diff.removed, |old| twin(old, &diff.added).is_none().then(|| entry(old)));
    if !diff.rebound.is_empty() {
        let paths: Vec<String> = diff.rebound.iter().map(|path| safe(path)).collect();
        let rest = if diff.rebound_omitted > 0 { format!(", +{} more", diff.rebound_omitted) } else { String::new() };
        line(&mut page, &format!("another object at: {}{rest}", paths.join(", ")));
    }
    if let Some(names) = not_compared(diff, safe) {
        line(&mut page, &format!("not compared, may have changed inside: {names}"));
    }
    if let Some(omitted) = omitted(diff) {
        line(&mut page, &omitted);
    }
    page
}

fn line(page: &mut String, text: &str) {
    page.push_str(text);
    page.push('\n');
}

/// Entries under their name; nothing when there are none.
fn section(page: &mut String, name: &str, entries: &[DiffEntry], say: impl Fn(&DiffEntry) -> Option<String>) {
    let mut named = false;
    for said in entries.iter().filter_map(say) {
        if !named {
            line(page, &format!("{name}:"));
            named = true;
        }
        line(page, &format!(" {said}"));
    }
}

/// The other half of a type change.
pub(super) fn twin<'a>(entry: &DiffEntry, others: &'a [DiffEntry]) -> Option<&'a DiffEntry> {
    entry.type_changed.as_ref()?;
    others.iter().find(|other| other.type_changed.is_some() && other.path == entry.path && other.frame == entry.frame)
}

fn retyped(old: &DiffEntry, new: &DiffEntry) -> String {
    let value =
        |entry: &DiffEntry| format!("{} {}", safe(&entry.kind), safe(entry.value.as_deref().unwrap_or_default()));
    // Both types are said already.
    let remarks = remarks(&DiffEntry { type_changed: None, ..new.clone() });
    format!("{}: {} -> {}{remarks}", safe(&new.path), value(old), value(new))
}

/// One change.
pub(super) fn entry(entry: &DiffEntry) -> String {
    let path = safe(&entry.path);
    let value = |value: &Option<String>| safe(value.as_deref().unwrap_or_default());
    let said = match (&entry.old_value, &entry.new_value) {
        (Some(old), Some(new)) if old == new => {
            let remarks = remarks(&DiffEntry { note: None, ..entry.clone() });
            return format!("{path}: {} {}{remarks}", safe(old), value(&entry.note));
        }
        (Some(old), Some(new)) => {
            let (old, new) = both_safe(old, new);
            format!("{old} -> {new}")
        }
        // The text of an object whose inside is elsewhere is its type.
        _ if entry.kind.is_empty() || entry.value.as_ref() == Some(&entry.kind) => value(&entry.value),
        _ => format!("{} = {}", safe(&entry.kind), value(&entry.value)),
    };
    format!("{path}: {said}{}", remarks(entry))
}

/// What an entry says besides its values.
fn remarks(entry: &DiffEntry) -> String {
    let mut remarks: Vec<String> = entry.note.iter().map(|note| safe(note)).collect();
    if let (Some(kind), None) = (&entry.type_changed, &entry.old_value) {
        remarks.push(format!("other type {}", safe(kind)));
    }
    match entry.scope {
        Scope::Argument => remarks.push("argument".to_owned()),
        Scope::Closure => remarks.push("closure".to_owned()),
        // Locals are what one expects; the others are seen in the path.
        Scope::Local | Scope::This | Scope::Watch | Scope::Result => {}
    }
    remarks.extend(entry.frame.iter().map(|frame| format!("in {}", safe(frame))));
    if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join(", ")) }
}

/// See [`super::compact_list`].
pub(super) fn list(entries: &[SnapshotEntry]) -> String {
    if entries.is_empty() {
        return "no snapshots\n".to_owned();
    }
    let mut page = format!("{} snapshots, oldest first\n", entries.len());
    entries.iter().for_each(|entry| line(&mut page, &format!(" {}", listed(entry))));
    page
}

fn listed(entry: &SnapshotEntry) -> String {
    let SnapshotEntry { id, label, timestamp, thread_id, frame_index, function, depth, .. } = entry;
    let (variables, values) = (entry.variable_count, entry.value_count);
    let inner = if values > variables { format!(" ({values} values)") } else { String::new() };
    let location = entry.location.as_ref().map(|location| format!(" ({})", safe(location))).unwrap_or_default();
    let frame = if *frame_index > 0 { format!(" frame {frame_index}") } else { String::new() };
    let incomplete = if entry.incomplete.is_empty() { "" } else { ", incomplete" };
    let (label, function) = (safe(label), safe(function));
    format!(
        "{label} {id} {timestamp} thread {thread_id}{frame} {function}{location}: {variables} variables{inner}, depth {depth}{incomplete}"
    )
}

/// See [`super::compact_view`].
pub(super) fn view(view: &SnapshotView) -> String {
    let mut page = listed(&view.snapshot);
    page.push('\n');
    for incomplete in &view.snapshot.incomplete {
        line(&mut page, &format!("incomplete: {} {}", safe(&incomplete.path), safe(&incomplete.reason)));
    }
    view.values.iter().for_each(|value| line(&mut page, &format!(" {}", view_entry(value))));
    if let Some(next) = view.next_offset {
        let folded: Vec<String> = view.folded.iter().map(|folded| more(folded.count, &folded.under)).collect();
        line(&mut page, &format!("{} ({} omitted; offset={next} goes on)", folded.join(", "), view.omitted));
    }
    page
}

pub(super) fn view_entry(entry: &ViewEntry) -> String {
    let frame = entry.frame.as_ref().map(|frame| format!(" (in {})", safe(frame))).unwrap_or_default();
    let argument = if entry.scope == Scope::Argument && !entry.path.contains(['.', '[']) { " (argument)" } else { "" };
    match entry.kind.is_empty() || entry.value.starts_with(&entry.kind) {
        true => format!("{}: {}{argument}{frame}", safe(&entry.path), safe(&entry.value)),
        false => format!("{}: {} = {}{argument}{frame}", safe(&entry.path), safe(&entry.kind), safe(&entry.value)),
    }
}

/// See [`super::compact_series`].
pub(super) fn series(series: &Series) -> String {
    let mut page = format!("{}: {} hits, {} values never changed\n", safe(&series.name), series.hits, series.constant);
    for warning in &series.warnings {
        line(&mut page, &format!("warning: {}", safe(&warning.message)));
    }
    if series.columns.is_empty() {
        let unknown = series.warnings.iter().any(|warning| warning.kind == WarningKind::NotCompared);
        return page
            + if unknown { "nothing that was compared changed\n" } else { "nothing changed from hit to hit\n" };
    }
    let columns: Vec<String> = series.columns.iter().map(|column| cell(column)).collect();
    line(&mut page, &format!(" hit | ms | {}", columns.join(" | ")));
    let mut before: Option<&crate::report::SeriesRow> = None;
    for row in &series.rows {
        if let Some(last) = before.filter(|last| last.hit + 1 != row.hit) {
            line(&mut page, &format!(" ... {} hits omitted", row.hit - last.hit - 1));
        }
        let said = |(index, value): (usize, &Option<String>)| match before {
            Some(last) if last.hit + 1 == row.hit && last.cells.get(index) == Some(value) => "\"".to_owned(),
            _ => value.as_ref().map_or("-".to_owned(), |value| cell(value)),
        };
        let cells: Vec<String> = row.cells.iter().enumerate().map(said).collect();
        line(&mut page, &format!(" {} | {} | {}", row.hit, row.after_ms, cells.join(" | ")));
        before = Some(row);
    }
    let marked = series.rows.iter().flat_map(|row| row.cells.iter().flatten()).any(|cell| is_marked(cell));
    let mark = if marked { ", ~2 the same text and changed inside" } else { "" };
    line(&mut page, &format!("(\" as above, - no such value{mark})"));
    if series.omitted_columns > 0 {
        line(&mut page, &format!("{} more paths changed", series.omitted_columns));
    }
    page
}

/// Whether a cell says that its value changed although its text did not.
fn is_marked(cell: &str) -> bool {
    cell.rsplit_once(" ~").is_some_and(|(_, version)| version.parse::<u64>().is_ok())
}

/// A text that cannot be taken for the end of its cell.
fn cell(text: &str) -> String {
    safe(text).replace('|', "\\|")
}

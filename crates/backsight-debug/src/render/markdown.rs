//! Answers as Markdown. Everything of the program is in code spans, in which nothing means anything, and every entry is one
//! line.

use super::escape::{code, prose};
use super::{counts, not_compared, omitted};
use crate::report::{DiffEntry, Series, SeriesRow, SnapshotDiff};

/// See [`super::markdown`].
pub(super) fn diff(diff: &SnapshotDiff) -> String {
    let mut page = format!("# {} → {}\n\n{}.\n\n", code(&diff.label_a), code(&diff.label_b), counts(diff));
    page += &format!("From {} to {}, {} ms.\n", code(&diff.at_a), code(&diff.at_b), diff.time_delta_ms);
    for warning in &diff.warnings {
        page += &format!("\n> {}\n", prose(&warning.message));
    }
    section(&mut page, "Modified", &diff.modified);
    section(&mut page, "Added", &diff.added);
    section(&mut page, "Removed", &diff.removed);
    if !diff.rebound.is_empty() {
        let paths: Vec<String> = diff.rebound.iter().map(|path| code(path)).collect();
        let rest =
            if diff.rebound_omitted > 0 { format!(", and {} more", diff.rebound_omitted) } else { String::new() };
        page += &format!("\nAnother object at {}{rest}.\n", paths.join(", "));
    }
    if let Some(names) = not_compared(diff, code) {
        page += &format!("\nNot compared, may have changed inside: {names}.\n");
    }
    if let Some(omitted) = omitted(diff) {
        page += &format!("\n{}\n", prose(&omitted));
    }
    page
}

fn section(page: &mut String, name: &str, entries: &[DiffEntry]) {
    if !entries.is_empty() {
        *page += &format!("\n## {name}\n\n");
    }
    for entry in entries {
        *page += &format!("- {}\n", said(entry));
    }
}

fn said(entry: &DiffEntry) -> String {
    let value = |value: &Option<String>| code(value.as_deref().unwrap_or_default());
    let values = match entry.old_value.is_some() {
        true => format!("{} → {}", value(&entry.old_value), value(&entry.new_value)),
        false => value(&entry.value),
    };
    let kind = if entry.kind.is_empty() { String::new() } else { format!(" {}", code(&entry.kind)) };
    let mut said = format!("{}{kind}: {values}", code(&entry.path));
    if let Some(other) = &entry.type_changed {
        said += &format!(", type changed, other type {}", code(other));
    }
    if let Some(note) = &entry.note {
        said += &format!(", {}", prose(note));
    }
    if let Some(frame) = &entry.frame {
        said += &format!(", in {}", code(frame));
    }
    said
}

/// See [`super::markdown_series`].
pub(super) fn series(series: &Series) -> String {
    let mut page =
        format!("# {}\n\n{} hits, {} values never changed.\n", code(&series.name), series.hits, series.constant);
    for warning in &series.warnings {
        page += &format!("\n> {}\n", prose(&warning.message));
    }
    let columns: Vec<String> = series.columns.iter().map(|column| cell(Some(column))).collect();
    page += &format!("\n| hit | ms |{}\n|---|---|{}\n", columns.concat(), "---|".repeat(columns.len()));
    for SeriesRow { hit, after_ms, cells, .. } in &series.rows {
        let cells: String = cells.iter().map(|value| cell(value.as_ref())).collect();
        page += &format!("| {hit} | {after_ms} |{cells}\n");
    }
    if series.omitted_rows + series.omitted_columns > 0 {
        page += &format!("\n{} hits and {} columns omitted.\n", series.omitted_rows, series.omitted_columns);
    }
    page
}

fn cell(value: Option<&String>) -> String {
    // A table ends its cell at a bar, also at one in a code span.
    value.map_or(" |".to_owned(), |value| format!(" {} |", code(value).replace('|', "\\|")))
}

//! Snapshots of a program's variables and what changed between them. What the debug lane renders is only painted here.

use std::path::Path;

use backsight::debug::debugger::{Cleared, Deleted, PointState, PointView, SnapshotCreated};
use backsight::debug::render::{self, Line, Role, safe};
use backsight::debug::report::{Series, SnapshotDiff, SnapshotEntry, SnapshotView};
use backsight::report::Exported;
use backsight_core::Timestamp;

use super::{place, relative};
use crate::page::{CYAN, GREEN, Page, RED, Sheet, YELLOW};
use crate::words::{age, bytes, count, enumerate, thousands};

/// Paths are aligned up to this many characters.
const WIDEST_PATH: usize = 40;

/// A snapshot that was taken.
pub fn created(page: &mut Page, made: &SnapshotCreated, start: &Path) {
    let entry = &made.snapshot;
    let label = page.data.bold(safe(&entry.label));
    let values = match entry.value_count > entry.variable_count {
        true => format!(" ({} at depth {})", count(entry.value_count as u64, "value"), entry.depth),
        false => String::new(),
    };
    let id = page.data.dim(safe(&entry.id));
    let variables = count(entry.variable_count as u64, "variable");
    page.data.line(format_args!("Captured {label} in {}: {variables}{values}  {id}", at(entry, start)));
    if made.redacted > 0 {
        let values = count(made.redacted, "value");
        page.note(format_args!("{values} with a secret in it: only whether it changes is kept"));
    }
    for missing in &entry.incomplete {
        page.warning(format_args!("not seen: {}: {}", safe(&missing.path), safe(&missing.reason)));
    }
    for warning in &made.warnings {
        page.warning(safe(warning));
    }
}

/// `total (shop.py:12)`
fn at(entry: &SnapshotEntry, start: &Path) -> String {
    let place = entry.location.as_ref().map(|place| format!(" ({})", relative(Path::new(place), start)));
    format!("{}{}", safe(&entry.function), place.unwrap_or_default())
}

/// The snapshots.
pub fn list(page: &mut Page, entries: &[SnapshotEntry], now: Timestamp, start: &Path) {
    let widest = |of: &dyn Fn(&SnapshotEntry) -> String| {
        entries.iter().map(|entry| of(entry).chars().count()).max().unwrap_or(0).min(WIDEST_PATH)
    };
    let (label_width, place_width) = (widest(&|entry| safe(&entry.label)), widest(&|entry| at(entry, start)));
    for entry in entries {
        let label = page.data.bold(format!("{:<label_width$}", safe(&entry.label)));
        let place = page.data.paint(CYAN, format!("{:<place_width$}", at(entry, start)));
        let variables = count(entry.variable_count as u64, "variable");
        let rest = page.data.dim(format_args!("{}  {}", age(entry.timestamp, now), safe(&entry.id)));
        page.data.line(format_args!("{label}  {place}  {variables}, depth {}  {rest}", entry.depth));
    }
}

/// The values of a snapshot.
pub fn values(page: &mut Page, view: &SnapshotView, start: &Path) {
    let entry = &view.snapshot;
    let head = format!("{}  {}", page.data.bold(safe(&entry.label)), page.data.paint(CYAN, at(entry, start)));
    page.data.line(head);
    let width = view.values.iter().map(|value| safe(&value.path).chars().count()).max().unwrap_or(0).min(WIDEST_PATH);
    let mut frame: Option<&str> = None;
    for value in &view.values {
        if value.frame.as_deref() != frame {
            frame = value.frame.as_deref();
            let heading = page.data.dim(safe(frame.unwrap_or_default()));
            page.data.line(heading);
        }
        let kind = page.data.dim(safe(&value.kind));
        page.data.line(format_args!("  {:<width$}  {}  {kind}", safe(&value.path), safe(&value.value)));
    }
    if view.values.is_empty() {
        page.data.line("  no variables");
    }
    for missing in &entry.incomplete {
        page.warning(format_args!("not seen: {}: {}", safe(&missing.path), safe(&missing.reason)));
    }
    if view.omitted > 0 {
        let next = view.next_offset.map(|next| format!("; --offset {next} goes on")).unwrap_or_default();
        page.note(format_args!("{} not shown{next}, --path narrows", count(view.omitted, "value")));
    }
}

/// What changed.
pub fn diff(page: &mut Page, diff: &SnapshotDiff) {
    lines(&mut page.data, &render::text(diff));
}

/// Snapshots that are gone.
pub fn deleted(page: &mut Page, deleted: &Deleted) {
    let ids: Vec<String> = deleted.deleted.iter().map(|id| safe(id)).collect();
    page.data.line(format_args!("Deleted {}", enumerate(&ids)));
}

/// All are gone.
pub fn cleared(page: &mut Page, cleared: &Cleared) {
    page.data.line(format_args!("Deleted {}", count(cleared.cleared as u64, "snapshot")));
}

/// A snapshot that was written into a file.
pub fn exported(page: &mut Page, exported: &Exported) {
    let (file, size) = (page.data.bold(safe(&exported.file)), bytes(exported.bytes));
    page.data.line(format_args!("Wrote {} into {file} ({size})", safe(&exported.snapshot_id)));
}

/// A snapshot point.
pub fn point(page: &mut Page, point: &PointView, start: &Path) {
    let state = match (point.state, point.bound) {
        (PointState::Active, true) => page.data.paint(GREEN, "active"),
        (PointState::Active, false) => page.data.paint(YELLOW, "not bound"),
        (PointState::Failed, _) => page.data.paint(RED, "failed"),
        (PointState::Finished, _) => page.data.dim("finished"),
    };
    let name = page.data.bold(safe(&point.name));
    let place = page.data.paint(CYAN, place(&point.request.at, start));
    let condition = point.request.condition.as_ref().map(|when| format!("  if {}", safe(when))).unwrap_or_default();
    let taken = format!("{} of at most {}", thousands(point.captured), count(point.max_hits, "snapshot"));
    let hits = page.data.dim(format_args!("({})", count(point.hits, "hit")));
    page.data.line(format_args!("{name}  {place}  {state}{condition}  {taken} {hits}"));
    if !point.bound && point.state == PointState::Active {
        let why = point.message.as_ref().map(|why| format!(": {}", safe(why))).unwrap_or_default();
        page.warning(format_args!("the program will not come by there{why}"));
    }
    if let Some(problem) = &point.problem {
        page.warning(format_args!("a capture failed, and the program was left paused: {}", safe(problem)));
    }
}

/// A table: a row for each hit, a column for each value that changed.
pub fn series(page: &mut Page, series: &Series) {
    let constant = page.data.dim(format_args!("{} never changed", count(series.constant, "value")));
    let name = page.data.bold(safe(&series.name));
    page.data.line(format_args!("{name}  {}, {constant}", count(series.hits, "hit")));
    let cell = |cell: &Option<String>| cell.as_ref().map_or("-".to_owned(), |text| safe(text));
    let head = ["hit", "ms"].map(str::to_owned).into_iter().chain(series.columns.iter().map(|path| safe(path)));
    let body = series.rows.iter().map(|row| {
        let numbers = [row.hit.to_string(), row.after_ms.to_string()];
        numbers.into_iter().chain(row.cells.iter().map(cell)).collect::<Vec<_>>()
    });
    let table: Vec<Vec<String>> = std::iter::once(head.collect()).chain(body).collect();
    table_of(&mut page.data, &table);
    for warning in &series.warnings {
        page.warning(safe(&warning.message));
    }
    if series.omitted_rows > 0 {
        page.note(format_args!("{} left out between the rows", count(series.omitted_rows, "hit")));
    }
    if series.omitted_columns > 0 {
        page.note(format_args!(
            "{} more changed and have no column; --path narrows",
            count(series.omitted_columns, "path")
        ));
    }
}

/// Aligned columns: what is as in the row above is dim, so that changes stand out.
fn table_of(sheet: &mut Sheet, table: &[Vec<String>]) {
    let columns = table.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = table.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for (index, row) in table.iter().enumerate() {
        let above = index.checked_sub(1).and_then(|above| table.get(above)).filter(|_| index > 1);
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let padded = format!("{cell:>width$}");
            match above.and_then(|above| above.get(column)) {
                _ if index == 0 => sheet.bold(padded),
                Some(same) if same == cell => sheet.dim(padded),
                _ => padded,
            }
        });
        let said = cells.collect::<Vec<_>>().join("  ");
        sheet.line(format_args!("  {said}"));
    }
}

fn lines(sheet: &mut Sheet, lines: &[Line]) {
    for line in lines {
        let painted: String = line.spans.iter().map(|span| paint(sheet, span.role, &span.text)).collect();
        sheet.line(painted);
    }
}

fn paint(sheet: &Sheet, role: Role, text: &str) -> String {
    match role {
        Role::Added => sheet.paint(GREEN, text),
        Role::Removed => sheet.paint(RED, text),
        Role::Modified | Role::Warning => sheet.paint(YELLOW, text),
        Role::Heading => sheet.bold(text),
        Role::Dim => sheet.dim(text),
        Role::Plain => text.to_owned(),
    }
}

//! Snapshots: as a line of the log, and as a whole.

use backsight::report::{Kind, Origin, Snapshot};
use backsight_core::Timestamp;

use crate::page::{Sheet, YELLOW};
use crate::render::coverage;
use crate::words::{age, count, enumerate, local, safe};

/// `#12 1a2b3c4d`: how a snapshot is named everywhere.
pub fn name(sheet: &Sheet, snapshot: &Snapshot) -> String {
    let number = sheet.paint(YELLOW, snapshot.sequence_number);
    format!("{number} {}", sheet.dim(short_id(snapshot)))
}

/// Eight digits are enough for a person; any unique prefix is a REF.
pub fn short_id(snapshot: &Snapshot) -> &str {
    snapshot.id.as_str().get(..8).unwrap_or(snapshot.id.as_str())
}

/// The first line of the description.
pub fn title(snapshot: &Snapshot) -> String {
    safe(snapshot.description.lines().next().unwrap_or_default())
}

/// The lines of the log, in columns.
pub fn table(sheet: &mut Sheet, snapshots: &[Snapshot], now: Timestamp) {
    let widest = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let column = |cell: fn(&Snapshot, Timestamp) -> String| -> Vec<String> {
        snapshots.iter().map(|snapshot| cell(snapshot, now)).collect()
    };
    let numbers = column(|snapshot, _| snapshot.sequence_number.to_string());
    let ages = column(|snapshot, now| age(snapshot.timestamp, now));
    let files = column(|snapshot, _| count(snapshot.files_changed, "file"));
    let (number_width, age_width, files_width) = (widest(&numbers), widest(&ages), widest(&files));
    for (row, snapshot) in snapshots.iter().enumerate() {
        let number = sheet.paint(YELLOW, format_args!("{:<number_width$}", numbers[row]));
        let id = sheet.dim(short_id(snapshot));
        let age = format!("{:<age_width$}", ages[row]);
        let files = sheet.dim(format_args!("{:>files_width$}", files[row]));
        sheet.line(format_args!("{number}  {id}  {age}  {files}  {}", story(sheet, snapshot)));
    }
}

/// Kind, description, who, and what became of it.
fn story(sheet: &Sheet, snapshot: &Snapshot) -> String {
    let mut parts = Vec::new();
    let title = title(snapshot);
    // "revert #2" says its kind already.
    if snapshot.kind != Kind::Track && !title.starts_with(snapshot.kind.as_str()) {
        parts.push(sheet.bold(format_args!("[{}]", snapshot.kind.as_str())));
    }
    if !title.is_empty() {
        parts.push(title);
    }
    let who = origin(&snapshot.origin);
    if !who.is_empty() {
        parts.push(sheet.dim(format_args!("({})", who.join(", "))));
    }
    if snapshot.pinned {
        parts.push("[pinned]".into());
    }
    if snapshot.expired_at.is_some() {
        parts.push("[expired]".into());
    }
    parts.join(" ")
}

/// `edit, session demo, message m1`
pub fn origin(origin: &Origin) -> Vec<String> {
    let labelled =
        [("", &origin.tool), ("session ", &origin.session), ("message ", &origin.message), ("part ", &origin.part)];
    labelled.iter().filter_map(|(label, value)| Some(format!("{label}{}", safe(value.as_ref()?)))).collect()
}

/// Everything about one snapshot except what it changed.
pub fn card(sheet: &mut Sheet, snapshot: &Snapshot, now: Timestamp) {
    let heading = format!("{} {}", sheet.paint(YELLOW, snapshot.sequence_number), snapshot.id);
    let heading = sheet.bold(heading);
    sheet.line(heading);
    let mut row = |label: &str, value: String| {
        if !value.is_empty() {
            let label = sheet.dim(format_args!("{label:<9}"));
            sheet.line(format_args!("{label} {value}"));
        }
    };
    for (index, line) in snapshot.description.lines().enumerate() {
        row(if index == 0 { "what" } else { "" }, safe(line));
    }
    row("when", format!("{} ({})", local(snapshot.timestamp), age(snapshot.timestamp, now)));
    row("kind", kind(snapshot));
    row("who", origin(&snapshot.origin).join(", "));
    row("declared", enumerate(&snapshot.origin.declared));
    row("tree", snapshot.tree.to_string());
    row("base", snapshot.base_tree.map(|tree| tree.to_string()).unwrap_or_default());
    row("coverage", coverage::summary(&snapshot.coverage));
    row("pinned", if snapshot.pinned { "yes, kept by every retention rule".into() } else { String::new() });
    if let Some(time) = snapshot.expired_at {
        row("expired", format!("{} ({}): its contents were removed", local(time), age(time, now)));
    }
}

fn kind(snapshot: &Snapshot) -> String {
    match snapshot.targets.as_slice() {
        [] => snapshot.kind.as_str().to_owned(),
        targets => {
            let joint = if snapshot.kind == Kind::Restore { "to" } else { "of" };
            format!("{} {joint} {}", snapshot.kind.as_str(), enumerate(targets))
        }
    }
}

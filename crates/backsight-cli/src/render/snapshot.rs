//! Snapshots: how they are named, and one as a whole.

use backsight::report::{Kind, Origin, Row, Snapshot};
use backsight_core::{SnapshotId, Timestamp};

use crate::page::{Sheet, YELLOW};
use crate::render::{coverage, timeline};
use crate::words::{age, duration, enumerate, local, safe};

/// `#12 1a2b3c4d`: how a snapshot is named everywhere.
pub fn name(sheet: &Sheet, snapshot: &Snapshot) -> String {
    let number = sheet.paint(YELLOW, snapshot.sequence_number);
    format!("{number} {}", sheet.dim(short(&snapshot.id)))
}

/// Eight digits are enough for a person; any unique prefix is a REF.
pub fn short(id: &SnapshotId) -> &str {
    id.as_str().get(..8).unwrap_or(id.as_str())
}

/// The first line of the description.
pub fn title(snapshot: &Snapshot) -> String {
    first_line(&snapshot.description)
}

/// The first line of a text from outside.
pub fn first_line(text: &str) -> String {
    safe(text.lines().next().unwrap_or_default())
}

/// Snapshots in the columns of the log.
pub fn table(sheet: &mut Sheet, snapshots: &[Snapshot], now: Timestamp) {
    let rows: Vec<Row> = snapshots.iter().cloned().map(|snapshot| Row::Snapshot(Box::new(snapshot))).collect();
    timeline::table(sheet, &rows, now);
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
    row("took", snapshot.execution_time_ms.map(duration).unwrap_or_default());
    let lines = snapshot.lines_added.zip(snapshot.lines_removed);
    row("lines", lines.map(|(added, removed)| format!("+{added} -{removed}")).unwrap_or_default());
    row("declared", enumerate(&snapshot.origin.declared));
    row("tree", snapshot.tree.to_string());
    row("base", snapshot.base_tree.map(|tree| tree.to_string()).unwrap_or_default());
    row("start", snapshot.start_tree.map(|tree| format!("{tree} (before the step's own changes)")).unwrap_or_default());
    row("coverage", coverage::summary(&snapshot.coverage));
    row("chain", safe(&snapshot.chain_hash));
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

//! Checkpoints as the story of a session, oldest first as they come.

use super::escape::{code, prose, safe, width};
use super::terminal::mark;
use super::words::date_and_clock;
use super::wrap::wrap;
use super::{Line, Role, Span, Style, WIDEST};
use crate::report::{CheckpointEntry, Severity};

/// See [`super::checkpoints`].
pub fn checkpoints(entries: &[CheckpointEntry], style: Style) -> Vec<Line> {
    let columns = style.width.clamp(20, WIDEST);
    let names: Vec<String> = entries.iter().map(|entry| safe(&entry.name)).collect();
    let name_width = names.iter().map(|name| width(name)).max().unwrap_or(0).min(columns / 2);
    let rows = entries.iter().zip(names).flat_map(|(entry, name)| {
        let pad = " ".repeat((name_width + 2).saturating_sub(width(&name)).max(2));
        let (role, _) = mark(entry.severity);
        let spans = vec![
            Span::new(Role::Plain, format!("{name}{pad}→ ")),
            Span::new(role, safe(&verdict(entry))),
            Span::new(Role::Dim, format!("  {}", remarks(entry, safe).join(" · "))),
        ];
        wrap(spans, columns, name_width + 4)
    });
    rows.collect()
}

/// See [`super::checkpoints_markdown`].
pub fn markdown(entries: &[CheckpointEntry]) -> String {
    let row = |entry: &CheckpointEntry| {
        let remarks = remarks(entry, code).join(", ");
        format!("- {} → {} ({remarks})\n", code(&entry.name), prose(&verdict(entry)))
    };
    entries.iter().map(row).collect()
}

/// `clean`, or what was wrong.
fn verdict(entry: &CheckpointEntry) -> String {
    match entry.severity {
        Severity::Clean => "clean".to_owned(),
        Severity::Unknown if entry.summary.is_empty() => "unknown".to_owned(),
        Severity::Unknown => format!("unknown: {}", entry.summary),
        other if entry.summary.is_empty() => other.as_str().to_owned(),
        _ => entry.summary.clone(),
    }
}

fn remarks(entry: &CheckpointEntry, show: fn(&str) -> String) -> Vec<String> {
    let mut remarks = vec![date_and_clock(entry.created)];
    remarks.extend(entry.page.as_deref().map(show));
    remarks.extend(entry.baseline.as_deref().map(|baseline| format!("baseline {}", show(baseline))));
    remarks.extend(entry.earlier_run.then(|| "an earlier run".to_owned()));
    remarks
}

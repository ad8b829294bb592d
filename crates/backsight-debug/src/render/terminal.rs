//! A diff for a person at a terminal: what is compared, what to know before trusting it, then one line for each change.

use super::escape::safe;
use super::{Line, Role, Span, compact, counts, not_compared, omitted};
use crate::report::{DiffEntry, SnapshotDiff, WarningKind};

/// Paths are aligned up to this many characters.
const WIDEST_PATH: usize = 32;

/// See [`super::text`].
pub(super) fn diff(diff: &SnapshotDiff) -> Vec<Line> {
    let mut lines = vec![
        row([
            (Role::Heading, format!("{} → {}", safe(&diff.label_a), safe(&diff.label_b))),
            (Role::Plain, format!("  {}", counts(diff))),
        ]),
        row([(Role::Dim, format!("{} → {}, {} ms", safe(&diff.at_a), safe(&diff.at_b), diff.time_delta_ms))]),
    ];
    for warning in diff.warnings.iter().filter(|warning| warning.kind != WarningKind::Line) {
        lines.push(row([(Role::Warning, "! ".to_owned()), (Role::Plain, safe(&warning.message))]));
    }
    let paths = [&diff.modified, &diff.added, &diff.removed]
        .into_iter()
        .flatten()
        .map(|entry| safe(&entry.path).chars().count());
    let width = paths.max().unwrap_or(0).min(WIDEST_PATH);
    lines.extend(diff.modified.iter().map(|entry| change(Role::Modified, "~", entry, width)));
    lines.extend(diff.added.iter().map(|entry| change(Role::Added, "+", entry, width)));
    lines.extend(diff.removed.iter().map(|entry| change(Role::Removed, "-", entry, width)));
    if !diff.rebound.is_empty() {
        let rest = if diff.rebound_omitted > 0 { format!(", +{} more", diff.rebound_omitted) } else { String::new() };
        let paths: Vec<String> = diff.rebound.iter().map(|path| safe(path)).collect();
        lines.push(row([(Role::Dim, format!("another object at {}{rest}", paths.join(", ")))]));
    }
    let unknown = not_compared(diff, safe);
    lines
        .extend(unknown.map(|names| row([(Role::Warning, format!("not compared, may have changed inside: {names}"))])));
    lines.extend(omitted(diff).map(|omitted| row([(Role::Warning, omitted)])));
    lines
}

fn row(spans: impl IntoIterator<Item = (Role, String)>) -> Line {
    Line { spans: spans.into_iter().map(|(role, text)| Span { role, text }).collect() }
}

fn change(role: Role, mark: &str, entry: &DiffEntry, width: usize) -> Line {
    let path = safe(&entry.path);
    // What the compact line says after its path, which it begins with.
    let said = compact::entry(entry);
    let rest = said.get(path.len() + 2..).unwrap_or_default();
    row([(role, format!("{mark} ")), (Role::Plain, format!("{path:<width$}  ")), (Role::Plain, rest.to_owned())])
}

//! Puts changes into words.

use super::Comparison;
use super::change::{Change, Name, What, Why};
use super::preview::preview;
use super::runs;
use super::scalar::{self, Delta, clipped};
use crate::capture::{Capture, Inside, Node};
use crate::report::{DiffEntry, SnapshotDiff};
use crate::store::place;

/// The longest a value in an answer is, in bytes.
const LONGEST: usize = 120;

/// The answer without any changes in it yet.
pub(super) fn head(old: &Capture, new: &Capture, comparison: &Comparison<'_>) -> SnapshotDiff {
    SnapshotDiff {
        snapshot_id_a: old.id.clone(),
        snapshot_id_b: new.id.clone(),
        label_a: old.label.clone(),
        label_b: new.label.clone(),
        at_a: place(old),
        at_b: place(new),
        thread_mismatch: old.thread_id != new.thread_id,
        time_delta_ms: new.timestamp.0.saturating_sub(old.timestamp.0),
        summary: comparison.summary(),
        warnings: comparison.warnings.clone(),
        added: Vec::new(),
        removed: Vec::new(),
        modified: Vec::new(),
        rebound: Vec::new(),
        rebound_omitted: 0,
        not_compared: Vec::new(),
        not_compared_omitted: 0,
        path: None,
        matched: None,
        omitted: 0,
        folded: Vec::new(),
        next_offset: None,
    }
}

/// A change as an entry of an answer.
pub(super) fn entry(change: &Change<'_>) -> DiffEntry {
    let node = match change.what {
        What::Added(node, _) | What::Removed(node, _) | What::Modified(_, node, _) => node,
    };
    let mut entry = DiffEntry {
        name: match change.name {
            Name::Text(name) => name.to_owned(),
            Name::Index(index) => format!("[{index}]"),
        },
        path: change.path.clone(),
        kind: node.kind.clone(),
        scope: change.place.scope,
        frame: change.place.frame.map(str::to_owned),
        value: None,
        old_value: None,
        new_value: None,
        type_changed: None,
        note: None,
    };
    match change.what {
        What::Added(node, other) | What::Removed(node, other) => {
            entry.value = Some(preview(node, LONGEST));
            entry.type_changed = other.map(|other| other.kind.clone());
        }
        What::Modified(old, new, why) => {
            let mut delta = modified(old, new, why);
            if why == Why::Unseen && !change.spans.is_empty() {
                let length =
                    delta.note.as_deref().and_then(|note| note.split_once(", length")).map(|(_, length)| length);
                let length = length.map(|length| format!(", length{length}")).unwrap_or_default();
                delta.note = Some(format!("changed at {}, not captured{length}", runs::words(&change.spans)));
            }
            (entry.old_value, entry.new_value, entry.note) = (Some(delta.old), Some(delta.new), delta.note);
        }
    }
    entry
}

fn modified(old: &Node, new: &Node, why: Why) -> Delta {
    let values = |note: String| Delta { old: preview(old, LONGEST), new: preview(new, LONGEST), note: Some(note) };
    let length = match (old.length, new.length) {
        (Some(old), Some(new)) if old != new => format!(", length {old} -> {new}"),
        _ => String::new(),
    };
    match why {
        Why::Text if is_plain(old) && is_plain(new) => scalar::delta(&old.text, &new.text),
        Why::Text => Delta { note: None, ..values(String::new()) },
        Why::Reference => Delta { note: None, ..values(String::new()) },
        Why::Cut if is_secret(old) => values("changed".to_owned()),
        // Neither text was cut: what it stands for is another one.
        Why::Cut if new.length.is_none() => own_text(old, new, "changed inside".to_owned()),
        Why::Cut => own_text(old, new, format!("changed behind the captured part{length}")),
        Why::Deeper => own_text(old, new, format!("changed inside (deeper than captured){length}")),
        Why::Unseen => own_text(old, new, format!("changed among elements that were not captured{length}")),
    }
}

/// The values by their own texts: what was captured inside them says nothing about the change.
fn own_text(old: &Node, new: &Node, note: String) -> Delta {
    let text =
        |node: &Node| clipped(if node.text.is_empty() { &node.kind } else { &node.text }, LONGEST / 2).into_owned();
    Delta { old: text(old), new: text(new), note: Some(note) }
}

fn is_plain(node: &Node) -> bool {
    matches!(node.inside, Inside::Leaf | Inside::NotExpanded)
}

fn is_secret(node: &Node) -> bool {
    node.text.starts_with("[REDACTED:")
}

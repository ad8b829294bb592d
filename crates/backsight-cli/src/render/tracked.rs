//! The answer to `track`, `finish` and `call`: the step, what of it is not its own, and what was left to others.

use backsight::report::{Kind, Tracked};
use backsight_core::Timestamp;

use crate::page::Page;
use crate::render::{changes, coverage, snapshot};
use crate::words::{age, count, count_of, join, safe};

/// Puts the report on the page. `description` is what the caller wanted the step to be called.
pub fn show(page: &mut Page, tracked: &Tracked, description: &str, now: Timestamp) {
    let name = snapshot::name(&page.data, &tracked.snapshot);
    if tracked.created {
        let title = snapshot::title(&tracked.snapshot);
        page.data.line(join(&[&name, &title, &page.data.dim(extent(tracked))]));
        changes::list_some(&mut page.data, &tracked.changes, "`backsight show @`");
    } else {
        let age = age(tracked.snapshot.timestamp, now);
        let what = if tracked.left_to_open_calls.is_empty() {
            "nothing changed"
        } else {
            "nothing of this step's own changed"
        };
        page.data.line(format_args!("{name} {what} since this snapshot, recorded {age}"));
        if !description.is_empty() {
            page.note("no new snapshot was made, so the description was not recorded");
        }
    }
    others(page, tracked);
    coverage::warn_of(page, &tracked.snapshot.coverage);
    for warning in &tracked.warnings {
        page.warning(safe(warning));
    }
}

fn extent(tracked: &Tracked) -> String {
    let files = tracked.snapshot.files_changed;
    match tracked.snapshot.base_tree {
        Some(_) => format!("({} changed)", count(files, "path")),
        None => format!("(first snapshot, {})", count(files, "file")),
    }
}

/// What somebody else did, and where it went.
fn others(page: &mut Page, tracked: &Tracked) {
    let unknown = &tracked.unknown_changes;
    let paths = count_of(unknown, "path");
    let were = if unknown.len() == 1 { "was" } else { "were" };
    if unknown.is_empty() {
        // All of it is the step's own.
    } else if let Some(first) = tracked.integrated {
        page.note(format_args!("{paths} {were} changed by somebody else and recorded first, as {first} by external:"));
    } else if tracked.snapshot.kind == Kind::External && tracked.created {
        page.note(format_args!("{paths} {were} changed by somebody else, and nothing by this step:"));
    } else if tracked.created {
        page.warning(format_args!("{paths} in this snapshot {were} changed by somebody else, not by this step:"));
    } else {
        page.warning(format_args!("{paths} {were} changed by somebody else:"));
    }
    changes::list_unknown(&mut page.talk, unknown);
    if !tracked.left_to_open_calls.is_empty() {
        const SHOWN: usize = 10;
        let left = &tracked.left_to_open_calls;
        let are = if left.len() == 1 { "is" } else { "are" };
        page.note(format_args!(
            "{} {are} not recorded yet, but left to open tool calls:",
            count_of(left, "changed path")
        ));
        for path in left.iter().take(SHOWN) {
            page.talk.line(format_args!("  {path}"));
        }
        if left.len() > SHOWN {
            page.talk.line(format_args!("  ... and {} more: `backsight status`", left.len() - SHOWN));
        }
    }
}

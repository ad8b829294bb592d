//! Changes that nobody recorded, one a line, with what was expected and what was found.

use anstyle::Style;
use backsight::report::{ChangeType, Status, UnknownChange, UnknownChangeResult};

use crate::page::{Page, Sheet};
use crate::render::{changes, coverage};
use crate::words::{count, count_of};

/// Every change, indented: `M src/a.rs  1a2b3c4d -> 5e6f7a8b`
pub fn list(sheet: &mut Sheet, found: &[UnknownChange]) {
    let name = |change: &UnknownChange| change.file_path.to_string();
    // One very long path must not push the hashes of all others out of sight.
    let width = found.iter().map(|change| name(change).chars().count()).filter(|width| *width <= 60).max().unwrap_or(0);
    for change in found {
        let (letter, style) = letter(change.change_type);
        let letter = sheet.paint(style, letter);
        let hashes = sheet.dim(hashes(change));
        sheet.line(format_args!("  {letter} {:<width$}  {hashes}", name(change)));
    }
}

fn letter(change: ChangeType) -> (char, Style) {
    changes::letter(match change {
        ChangeType::Created => Status::Added,
        ChangeType::Modified => Status::Modified,
        ChangeType::Deleted => Status::Deleted,
    })
}

/// Expected and actual, as far as there is content to name.
fn hashes(change: &UnknownChange) -> String {
    match (&change.expected_hash, &change.actual_hash) {
        (Some(expected), Some(actual)) if expected == actual => {
            format!("{}, other permissions or another kind", expected.short())
        }
        (Some(expected), Some(actual)) => format!("{} -> {}", expected.short(), actual.short()),
        (Some(expected), None) => format!("{} -> nothing", expected.short()),
        (None, Some(actual)) => format!("nothing -> {}", actual.short()),
        (None, None) => "a directory".to_owned(),
    }
}

/// What was left out of the list, and what nobody can say anything about.
pub fn left_out(page: &mut Page, found: &UnknownChangeResult) {
    if found.excluded > 0 {
        let paths = count(found.excluded, "changed path");
        page.note(format_args!("{paths} left out by the setting `exclude_from_checking`"));
    }
    if !found.pending.is_empty() {
        let paths = count_of(&found.pending, "changed path");
        page.note(format_args!("{paths} left to tool calls that have not finished: they are pending, not unknown"));
    }
    coverage::unseen(page, &found.unseen);
}

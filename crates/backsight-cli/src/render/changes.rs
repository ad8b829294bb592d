//! Changed paths, one a line: a letter and the path.

use anstyle::Style;
use backsight::report::{ChangeType, FileKind, PathChange, Status, UnknownChange};

use crate::page::{CYAN, GREEN, MAGENTA, RED, Sheet, YELLOW};
use crate::words::thousands;

/// The letter and its colour.
pub fn letter(status: Status) -> (char, Style) {
    match status {
        Status::Added => ('A', GREEN),
        Status::Modified => ('M', YELLOW),
        Status::Deleted => ('D', RED),
        Status::Renamed => ('R', CYAN),
        Status::ModeChanged => ('m', MAGENTA),
        Status::TypeChanged => ('T', MAGENTA),
    }
}

/// `M src/a.rs`, `R old -> new`, `m run.sh (0644 -> 0755)`
pub fn line(sheet: &Sheet, change: &PathChange) -> String {
    let (letter, style) = letter(change.status);
    let letter = sheet.paint(style, letter);
    let slash = if is_directory(change) { "/" } else { "" };
    let path = match &change.from_path {
        Some(from) => format!("{from} -> {}{slash}", change.path),
        None => format!("{}{slash}", change.path),
    };
    match details(change) {
        Some(details) => format!("{letter} {path} {}", sheet.dim(format_args!("({details})"))),
        None => format!("{letter} {path}"),
    }
}

/// Whether the path is a directory now, or was one when it was deleted.
fn is_directory(change: &PathChange) -> bool {
    change.after.or(change.before).is_some_and(|attributes| attributes.kind == FileKind::Directory)
}

/// What the letter does not say: the permission bits or the kinds.
fn details(change: &PathChange) -> Option<String> {
    let (before, after) = (change.before?, change.after?);
    if before.kind != after.kind {
        return Some(format!("{} -> {}", kind(before.kind), kind(after.kind)));
    }
    (before.mode != after.mode).then(|| format!("{:04o} -> {:04o}", before.mode, after.mode))
}

fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Symlink => "symlink",
        FileKind::Directory => "directory",
    }
}

/// Every change, indented.
pub fn list(sheet: &mut Sheet, changes: &[PathChange]) {
    for change in changes {
        let line = line(sheet, change);
        sheet.line(format_args!("  {line}"));
    }
}

/// The first changes that are not the caller's own, indented, and how many more there are.
pub fn list_unknown(sheet: &mut Sheet, changes: &[UnknownChange]) {
    let shown = shown(changes);
    for UnknownChange { file_path, change_type, .. } in &changes[..shown] {
        let (letter, style) = letter(match change_type {
            ChangeType::Created => Status::Added,
            ChangeType::Modified => Status::Modified,
            ChangeType::Deleted => Status::Deleted,
        });
        let letter = sheet.paint(style, letter);
        sheet.line(format_args!("  {letter} {file_path}"));
    }
    more(sheet, changes.len() - shown, "add `--json` to see all");
}

/// The first changes, indented, and how many more there are and where to see them.
pub fn list_some(sheet: &mut Sheet, changes: &[PathChange], rest: &str) {
    let shown = shown(changes);
    list(sheet, &changes[..shown]);
    more(sheet, changes.len() - shown, rest);
}

/// How many of a long list are shown.
fn shown<T>(list: &[T]) -> usize {
    const SHOWN: usize = 20;
    // One line that says "1 more" would take the room of the path itself.
    if list.len() == SHOWN + 1 { list.len() } else { list.len().min(SHOWN) }
}

fn more(sheet: &mut Sheet, number: usize, rest: &str) {
    if number > 0 {
        sheet.line(format_args!("  ... and {} more: {rest}", thousands(number as u64)));
    }
}

//! What a capture did not see, and why.

use backsight_core::{Coverage, Reason, Uncovered};

use crate::page::{Page, Sheet};
use crate::words::{count, count_of, thousands};

/// `120 files, 4 ignored, 1 not covered`
pub fn summary(coverage: &Coverage) -> String {
    let mut parts = vec![count(coverage.files, "file")];
    if coverage.ignored > 0 {
        parts.push(format!("{} ignored", thousands(coverage.ignored)));
    }
    if !coverage.uncovered.is_empty() {
        parts.push(format!("{} not covered", thousands(coverage.uncovered.len() as u64)));
    }
    parts.join(", ")
}

/// Every path, indented, with its reason.
pub fn list(sheet: &mut Sheet, uncovered: &[Uncovered]) {
    for entry in uncovered {
        let reason = sheet.dim(format_args!("({entry})"));
        sheet.line(format_args!("  ? {} {reason}", entry.path));
    }
}

/// Warns about what a capture left out other than what the ignore rules asked for, and about rules it did not read.
pub fn warn_of(page: &mut Page, coverage: &Coverage) {
    warn_of_rules(page, coverage);
    warn(page, &coverage.uncovered);
}

/// Warns about ignore rules that were not read: more is captured than the user asked for.
pub fn warn_of_rules(page: &mut Page, coverage: &Coverage) {
    for unread in &coverage.unread_rules {
        page.warning(format_args!("{unread}"));
    }
}

fn warn(page: &mut Page, uncovered: &[Uncovered]) {
    const SHOWN: usize = 10;
    let notable: Vec<&Uncovered> = uncovered.iter().filter(|entry| entry.reason.is_notable()).collect();
    if notable.is_empty() {
        return;
    }
    page.warning(format_args!("{}:", not_covered(notable.len())));
    for entry in notable.iter().take(SHOWN) {
        page.talk.line(format_args!("  ? {} ({entry})", entry.path));
    }
    if notable.len() > SHOWN {
        page.talk.line(format_args!("  ... and {} more: `backsight status`", notable.len() - SHOWN));
    }
    if let Some(hint) = notable.iter().find_map(|entry| advice(entry.reason)) {
        page.hint(hint);
    }
}

/// Says which paths a comparison makes no claim about.
pub fn unseen(page: &mut Page, unseen: &[Uncovered]) {
    if unseen.is_empty() {
        return;
    }
    page.warning(format_args!("{} could not be compared:", count_of(unseen, "path")));
    for entry in unseen {
        page.talk.line(format_args!("  ? {} ({entry})", entry.path));
    }
}

/// Says that files were not searched for moves.
pub fn uncompared(page: &mut Page, files: u64) {
    if files > 0 {
        let files = count(files, "added file");
        page.note(format_args!(
            "{files} not compared with those deleted (too many or too large): moves with edits may show as both"
        ));
    }
}

/// What a person can do about a reason.
pub fn advice(reason: Reason) -> Option<&'static str> {
    match reason {
        Reason::TooLarge => Some("raise the limit with `backsight config set max_file_size SIZE`, or ignore the file"),
        Reason::Unreadable => Some("make it readable, or add it to `.gitignore`"),
        Reason::Raced => Some("run the command again when the file is quiet"),
        Reason::Ignored | Reason::Special | Reason::GitAlias | Reason::OwnAlias | Reason::TooDeep => None,
    }
}

/// `2 paths are not covered, so a restore that would displace them is refused`
pub fn not_covered(number: usize) -> String {
    let (verb, them) = if number == 1 { ("is", "it") } else { ("are", "them") };
    let paths = count(number as u64, "path");
    format!("{paths} {verb} not covered, so a restore that would displace {them} is refused")
}

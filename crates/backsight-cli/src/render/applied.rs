//! The answer to `restore`, `revert`, `undo` and `redo`: what was put back, merged, kept, skipped, and the way back.

use backsight::report::{Applied, Conflict, Kept, Status};

use crate::commands::Verdict;
use crate::page::{MAGENTA, Page, RED};
use crate::render::changes;
use crate::words::{count_of, enumerate, safe};

/// How a command speaks of itself.
pub struct Verb {
    /// `revert`
    pub present: &'static str,
    /// `reverted`
    pub past: &'static str,
    /// `reverting`
    pub progressive: &'static str,
    /// What it is done to: `restored to #3`, `reverted #3`.
    pub joint: &'static str,
    /// The command that takes it back.
    pub back: &'static str,
}

/// Puts the report on the page.
pub fn show(page: &mut Page, applied: &Applied, verb: &Verb) {
    let headline = headline(applied, verb);
    let headline = page.data.bold(headline);
    page.data.line(headline);
    body(page, applied, verb.back);
}

/// Files with conflict markers in them are not what was asked for yet: a script has to see that.
pub fn verdict(applied: &Applied) -> Verdict {
    Verdict::no_if(!applied.conflicts.is_empty())
}

/// Everything below the headline; `back` is the command that takes it back.
pub fn body(page: &mut Page, applied: &Applied, back: &str) {
    changes::list(&mut page.data, &applied.reverted);
    for change in &applied.merged {
        let line = changes::line(&page.data, change);
        page.data.line(format_args!("  {line} - merged, later edits kept"));
    }
    conflicts(page, &applied.conflicts, "written with conflict markers");
    conflicts(page, &applied.skipped, "left as it is");
    kept(page, &applied.kept);
    for warning in &applied.warnings {
        page.warning(safe(warning));
    }
    way_back(page, applied, back);
}

/// `Reverted #2: 1 file put back, 1 merged`
fn headline(applied: &Applied, verb: &Verb) -> String {
    let target = match applied.targets.as_slice() {
        [] => String::new(),
        targets => format!(" {}{}", verb.joint, enumerate(targets)),
    };
    let action = if applied.dry_run { format!("Would {}", verb.present) } else { capitalised(verb.past) };
    let idle = format!("{}{target} changes nothing", capitalised(verb.progressive));
    match (totals(applied), applied.changed) {
        (totals, true) if totals.is_empty() => format!("{action}{target}"),
        (totals, true) => format!("{action}{target}: {totals}"),
        (totals, false) if totals.is_empty() => format!("{idle}: the files are already as wanted"),
        (totals, false) => format!("{idle}: {totals}"),
    }
}

/// `1 path put back, 1 path removed, 1 path merged`
pub fn totals(applied: &Applied) -> String {
    let mut parts = Vec::new();
    let mut part = |count: String, what: &str| parts.push(format!("{count} {what}"));
    let (removed, back): (Vec<_>, Vec<_>) = applied.reverted.iter().partition(|path| path.status == Status::Deleted);
    if !back.is_empty() {
        part(count_of(&back, "path"), "put back");
    }
    if !removed.is_empty() {
        part(count_of(&removed, "path"), "removed");
    }
    if !applied.merged.is_empty() {
        part(count_of(&applied.merged, "path"), "merged");
    }
    if !applied.conflicts.is_empty() {
        part(count_of(&applied.conflicts, "path"), "in conflict");
    }
    if !applied.skipped.is_empty() {
        part(count_of(&applied.skipped, "path"), "skipped");
    }
    if !applied.kept.is_empty() {
        part(count_of(&applied.kept, "path"), "kept");
    }
    parts.join(", ")
}

fn conflicts(page: &mut Page, conflicts: &[Conflict], outcome: &str) {
    for Conflict { path, reason, .. } in conflicts {
        let letter = page.data.paint(RED, '!');
        page.data.line(format_args!("  {letter} {path} - {outcome}: {}", safe(reason)));
    }
}

fn kept(page: &mut Page, kept: &[Kept]) {
    const SHOWN: usize = 20;
    for Kept { path, reason } in kept.iter().take(SHOWN) {
        let letter = page.data.paint(MAGENTA, '=');
        page.data.line(format_args!("  {letter} {path} - kept: {}", safe(reason)));
    }
    if kept.len() > SHOWN {
        page.data.line(format_args!("  ... and {} more kept: add `--json` to see all", kept.len() - SHOWN));
    }
}

fn way_back(page: &mut Page, applied: &Applied, back: &str) {
    if applied.dry_run {
        page.note("this was a dry run, nothing changed");
        if let (true, Some(plan)) = (applied.changed, &applied.plan) {
            page.hint(format_args!("do exactly this with `--plan {plan}` instead of `--dry-run`"));
        }
        return;
    }
    let Some(snapshot) = &applied.snapshot else { return };
    let displaced = match applied.safety {
        Some(safety) if safety != snapshot.sequence_number => format!("; what was displaced is in {safety}"),
        _ => String::new(),
    };
    page.data.line(format_args!("Recorded as {}{displaced}", snapshot.sequence_number));
    if !applied.conflicts.is_empty() {
        page.hint("search the files above for `<<<<<<<` and settle each conflict");
    }
    page.hint(format_args!("take it back with `{back}`"));
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

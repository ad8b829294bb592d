//! What changed a value, for a person.

use std::path::Path;

use backsight::debug::debugger::{Until, UntilChange, VariableSet, WatchedBy};
use backsight::debug::render::{both_safe, safe};

use super::location;
use crate::page::{CYAN, GREEN, Page, RED, YELLOW};
use crate::words::count;

/// What became of a value that was watched.
pub fn found(page: &mut Page, found: &UntilChange, start: &Path) {
    let sheet = &mut page.data;
    let name = sheet.bold(safe(&found.expression));
    let (before, after) = both_safe(&found.before, found.after.as_deref().unwrap_or_default());
    let what = if found.watched_by == WatchedBy::DataBreakpoint { "write" } else { "step" };
    let steps = sheet.dim(format_args!("({})", count(found.steps, what)));
    if found.until == Until::Changed {
        let changed = sheet.paint(GREEN.bold(), "changed");
        let (old, new) = (sheet.paint(RED, before), sheet.paint(GREEN, after));
        sheet.line(format_args!("{name} {changed}: {old} → {new} {steps}"));
        if let Some(by) = &found.changed_by {
            let at = location(by, start).map(|place| format!(" at {}", sheet.paint(CYAN, place))).unwrap_or_default();
            let source = by.source.as_deref().map(|source| format!(": {}", safe(source))).unwrap_or_default();
            sheet.line(format_args!("  by {}{at}{source}", sheet.bold(safe(&by.function))));
        }
    } else {
        let why = match found.until {
            Until::OutOfScope => "its call returned, or it is out of scope",
            Until::PausedElsewhere => "something else paused the program",
            Until::StepLimit => "as many steps were made as are allowed",
            Until::TimeLimit => "the time is up",
            Until::Changed | Until::NotPaused => "the program is not paused",
        };
        let unchanged = sheet.paint(YELLOW.bold(), "did not change");
        sheet.line(format_args!("{name} {unchanged} from {before} {steps}: {why}"));
    }
    if found.other_threads > 0 {
        page.note(format_args!("{} ran too and may have done it", count(found.other_threads, "other thread")));
    }
    for path in &found.not_compared {
        page.note(format_args!("{} cannot be compared whole: a change there is not seen", safe(path)));
    }
}

/// A variable that was set.
pub fn set(page: &mut Page, set: &VariableSet) {
    let (before, after) = both_safe(set.before.as_deref().unwrap_or_default(), &set.after);
    let sheet = &mut page.data;
    let was = set.before.as_ref().map(|_| format!(" {}", sheet.dim(format_args!("(was {before})"))));
    let kind = sheet.dim(safe(set.kind.as_deref().unwrap_or_default()));
    sheet.line(format_args!("{} = {}{}  {kind}", sheet.bold(safe(&set.path)), after, was.unwrap_or_default()));
    page.note("the program was changed");
}

//! Two tool calls at work on one file: what each wrote cannot be told apart, so both are told, and who takes one of them
//! back hears of the other.

use backsight_core::{RelPath, Result, Seq, quote};
use backsight_files::Change;

use super::Opened;
use crate::timeline::{OpenCall, Shared};
use crate::unknown::is_within_any;

/// So many paths are kept by name.
const NAMED: usize = 20;

/// Open calls of others that may have written some of a step's own changes: those that declared the same path, and for a
/// step that declares nothing every call that declares nothing either.
pub(super) fn with_calls(others: &[OpenCall], declared: &[RelPath], own: &[Change]) -> Vec<Shared> {
    let is_file = |change: &&Change| !change.after.or(change.before).is_some_and(|node| node.is_directory());
    let with = |other: &OpenCall| {
        let theirs = &other.call.origin.declared;
        let may_be_theirs = |change: &&Change| match theirs.is_empty() {
            true => declared.is_empty(),
            false => is_within_any(&change.path, theirs),
        };
        let paths: Vec<&RelPath> =
            own.iter().filter(is_file).filter(may_be_theirs).map(|change| &change.path).collect();
        let origin = &other.call.origin;
        (!paths.is_empty()).then(|| Shared {
            call: other.call.id.clone(),
            session: origin.session.clone(),
            tool: origin.tool.clone(),
            more: paths.len().saturating_sub(NAMED) as u64,
            paths: paths.into_iter().take(NAMED).cloned().collect(),
        })
    };
    others.iter().filter_map(with).collect()
}

/// What the caller of the step that comes first hears.
pub(super) fn warnings(shared: &[Shared], declared: &[RelPath]) -> Vec<String> {
    match shared {
        [] => Vec::new(),
        _ if declared.is_empty() => {
            let calls = if shared.len() == 1 { "another tool call is" } else { "other tool calls are" };
            vec![format!(
                "{calls} running: what it wrote meanwhile counts as this step's; declare the paths to keep them apart"
            )]
        }
        _ => shared.iter().map(declared_too).collect(),
    }
}

fn declared_too(shared: &Shared) -> String {
    let (who, paths) = (shared.who(), named(shared));
    format!("{who} has not finished and declares {paths} too: what it wrote there so far counts as this step's")
}

/// What the caller of the step that comes second hears: steps that may hold what its call wrote.
pub(super) fn recorded_by_others(opened: &Opened, call: &OpenCall) -> Result<Vec<String>> {
    let latest = opened.timeline.latest_seq()?;
    let since = opened.timeline.between(Seq(call.call.based_on.0 + 1), latest)?;
    let mut told = Vec::new();
    for step in &since {
        for shared in step.shared().iter().filter(|shared| shared.call == call.call.id) {
            let seq = step.snapshot.sequence_number;
            let who = step
                .snapshot
                .origin
                .session
                .as_deref()
                .map_or_else(String::new, |session| format!(" of session `{}`", quote(session.as_bytes())));
            let paths = named(shared);
            told.push(format!(
                "{seq}{who} was recorded while this call ran and holds what it had written to {paths} by then"
            ));
        }
    }
    Ok(told)
}

/// What goes of another's work when a step is taken back: nothing where the plan leaves those paths alone.
pub(super) fn taken_along(seq: Seq, shared: &Shared, changes: &[Change]) -> Option<String> {
    let touches = |path: &RelPath| changes.iter().any(|change| change.path == *path);
    if shared.more == 0 && !shared.paths.iter().any(touches) {
        return None;
    }
    let (who, paths) = (shared.who(), named(shared));
    Some(format!(
        "{who} was at work on {paths} too when {seq} was recorded: what it had written there is taken back with it"
    ))
}

/// `` `a`, `b` and 3 more ``
fn named(shared: &Shared) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = shared.paths.iter().take(SHOWN).map(|path| format!("`{path}`")).collect();
    match shared.paths.len().saturating_sub(SHOWN) as u64 + shared.more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

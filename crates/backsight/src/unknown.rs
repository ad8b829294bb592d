//! Pure decisions about changes that nobody recorded: whose they are, and what is done about those that are nobody's.

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::{Code, Error, NextStep, RelPath, Uncovered};
use backsight_files::{Change, Node, Patterns};

use crate::report::{ChangeType, Strategy, UnknownChange};

/// What follows from a strategy when there are unknown changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Refuse.
    Refuse,
    /// Go on and say what they are.
    List,
    /// Record them first.
    Integrate,
}

pub(crate) fn decide(strategy: Strategy, force: bool) -> Decision {
    match strategy {
        Strategy::Strict if !force => Decision::Refuse,
        Strategy::AutoIntegrate => Decision::Integrate,
        Strategy::Strict | Strategy::Warn => Decision::List,
    }
}

/// What a caller can call its own.
#[derive(Default)]
pub(crate) struct Claim<'a> {
    /// Only these paths and what lies below them; empty means whatever else is the caller's.
    pub(crate) declared: &'a [RelPath],
    /// What others have declared: not the caller's, unless it declared the same.
    pub(crate) theirs: &'a [RelPath],
    /// For a tool call, what happened since it began.
    pub(crate) since: Option<Since>,
    /// What was written when the tool did not run.
    pub(crate) outside: Option<&'a BTreeSet<RelPath>>,
}

/// What happened since a tool call began.
pub(crate) struct Since {
    /// Everything that is not as it was then.
    pub(crate) changes: Vec<Change>,
    /// Paths that others recorded meanwhile: of these only what came after is the call's.
    pub(crate) recorded: BTreeSet<RelPath>,
}

/// The caller's own changes among `changes` (latest snapshot -> now): each from what stood there before the caller
/// came to what stands there now.
pub(crate) fn own(changes: &[Change], claim: &Claim<'_>) -> Vec<Change> {
    let mut own: BTreeMap<&RelPath, Change> = BTreeMap::new();
    match &claim.since {
        None => own.extend(changes.iter().map(|change| (&change.path, change.clone()))),
        Some(since) => {
            let is_recorded = |change: &&Change| since.recorded.contains(&change.path);
            let fresh = since.changes.iter().filter(|change| !is_recorded(change));
            let after_recording = changes.iter().filter(is_recorded);
            own.extend(fresh.chain(after_recording).map(|change| (&change.path, change.clone())));
        }
    }
    own.retain(|path, _| claim.outside.is_none_or(|outside| !outside.contains(*path)));
    if claim.declared.is_empty() && !claim.theirs.is_empty() {
        let is_theirs = |path: &RelPath| is_within_any(path, claim.theirs);
        own.retain(|path, change| !is_theirs(path) && !comes_or_goes_with(change, changes, &is_theirs));
    }
    if !claim.declared.is_empty() {
        let is_declared = |path: &RelPath| is_within_any(path, claim.declared);
        // A directory that comes or goes with declared files alone goes with them.
        own.retain(|path, change| is_declared(path) || comes_or_goes_with(change, changes, &is_declared));
    }
    // A directory must stay when something in it is somebody else's, also what others have recorded already.
    let found = changes.iter().map(|change| &change.path).filter(|path| !own.contains_key(path));
    let recorded = claim.since.iter().flat_map(|since| &since.recorded);
    let foreign: BTreeSet<Vec<u8>> = found.chain(recorded).map(|path| path.as_bytes().to_vec()).collect();
    let holds_foreign = |directory: &RelPath| {
        let inside = [directory.as_bytes(), b"/"].concat();
        foreign.range(inside.clone()..).next().is_some_and(|path| path.starts_with(&inside))
    };
    own.retain(|path, change| !is_directory(change) || !holds_foreign(path));
    own.into_values().filter(|change| change.before != change.after).collect()
}

pub(crate) fn is_within_any(path: &RelPath, places: &[RelPath]) -> bool {
    places.iter().any(|place| path.is_within(place))
}

/// Directories that come or go, are not the caller's alone, and are needed where the caller's own changes are put or
/// taken back.
pub(crate) fn shared_directories(changes: &[Change], own: &[Change]) -> Vec<Change> {
    let paths: BTreeSet<&[u8]> = own.iter().map(|change| change.path.as_bytes()).collect();
    let holds_own = |directory: &RelPath| {
        let inside = [directory.as_bytes(), b"/"].concat();
        paths.range(&inside[..]..).next().is_some_and(|path| path.starts_with(&inside))
    };
    let comes_or_goes = |change: &&Change| change.before.is_none() || change.after.is_none();
    let shared = changes.iter().filter(|change| is_directory(change)).filter(comes_or_goes);
    shared.filter(|change| !paths.contains(change.path.as_bytes()) && holds_own(&change.path)).cloned().collect()
}

/// Changes that are left to open tool calls: those that are not the caller's own and that such a call may have made.
/// A directory is left only together with everything in it.
pub(crate) fn left(changes: &[Change], own: &[Change], theirs: &BTreeSet<RelPath>) -> Vec<Change> {
    let own: BTreeSet<&RelPath> = own.iter().map(|change| &change.path).collect();
    let is_left = |change: &Change| !own.contains(&change.path) && theirs.contains(&change.path);
    let staying: BTreeSet<&[u8]> =
        changes.iter().filter(|change| !is_left(change)).map(|change| change.path.as_bytes()).collect();
    let holds_staying = |directory: &RelPath| {
        let inside = [directory.as_bytes(), b"/"].concat();
        staying.range(&inside[..]..).next().is_some_and(|path| path.starts_with(&inside))
    };
    let whole = |change: &&Change| !is_directory(change) || !holds_staying(&change.path);
    changes.iter().filter(|change| is_left(change)).filter(whole).cloned().collect()
}

fn is_directory(change: &Change) -> bool {
    change.before.or(change.after).is_some_and(|node| node.is_directory())
}

fn comes_or_goes_with(directory: &Change, changes: &[Change], is_declared: &dyn Fn(&RelPath) -> bool) -> bool {
    let comes_or_goes = directory.before.is_none() || directory.after.is_none();
    let mut inside =
        changes.iter().filter(|change| change.path != directory.path && change.path.is_within(&directory.path));
    comes_or_goes
        && is_directory(directory)
        && inside.clone().any(|change| is_declared(&change.path))
        && inside.all(|change| is_declared(&change.path) || is_directory(change))
}

/// Each change the other way round.
pub(crate) fn reversed(changes: &[Change]) -> Vec<Change> {
    let swap = |change: &Change| Change { path: change.path.clone(), before: change.after, after: change.before };
    changes.iter().map(swap).collect()
}

/// Changes of others as a person hears of them, and how many were left out because a pattern says so.
pub(crate) fn unknown(changes: &[Change], excluded: &Patterns) -> (Vec<UnknownChange>, u64) {
    let mut left_out = 0;
    let mut found = Vec::new();
    for (index, change) in changes.iter().enumerate() {
        let is_implied = crate::convert::is_implied(change, changes.get(index + 1));
        if is_implied {
            continue;
        }
        if excluded.matches(&change.path, is_directory(change)) {
            left_out += 1;
            continue;
        }
        found.push(unknown_change(change));
    }
    (found, left_out)
}

/// A change as a person hears of it.
pub(crate) fn unknown_change(change: &Change) -> UnknownChange {
    let blob = |node: Option<Node>| node.and_then(|node| node.blob());
    UnknownChange {
        file_path: change.path.clone(),
        change_type: match (change.before, change.after) {
            (None, _) => ChangeType::Created,
            (_, None) => ChangeType::Deleted,
            _ => ChangeType::Modified,
        },
        expected_hash: blob(change.before),
        actual_hash: blob(change.after),
        diff: None,
    }
}

/// The refusal of the strict strategy: which files, what was expected, what was found.
pub(crate) fn mismatch(unknown: &[UnknownChange], doing: &str) -> Error {
    const NAMED: usize = 5;
    let mut names: Vec<String> = unknown
        .iter()
        .take(NAMED)
        .map(|change| format!("{} ({})", change.file_path, words(change.change_type)))
        .collect();
    if unknown.len() > NAMED {
        names.push(format!("and {} more", unknown.len() - NAMED));
    }
    let what = if unknown.len() == 1 { "1 file was" } else { &format!("{} files were", unknown.len()) };
    Error::new(
        Code::StateMismatch,
        format!(
            "{what} changed outside Backsight, so {doing} is refused and nothing was changed: {}",
            names.join(", ")
        ),
    )
    .then("look", NextStep::SeeUnknown)
    .or("record them", NextStep::RecordUnknown)
    .or("go on once", NextStep::WithForce)
    .with_details(serde_json::json!({ "unknown_changes": unknown }))
}

/// The refusal of the strict strategy when something could not be looked at.
pub(crate) fn blind(unseen: &[Uncovered], doing: &str) -> Error {
    const NAMED: usize = 5;
    let mut names: Vec<String> =
        unseen.iter().take(NAMED).map(|unseen| format!("{} ({})", unseen.path, unseen.reason)).collect();
    if unseen.len() > NAMED {
        names.push(format!("and {} more", unseen.len() - NAMED));
    }
    let what = if unseen.len() == 1 { "1 path" } else { &format!("{} paths", unseen.len()) };
    Error::new(
        Code::StateMismatch,
        format!("{what} cannot be looked at, so nothing is known of it before {doing}: {}", names.join(", ")),
    )
    .then("see what is the matter", NextStep::SeeStatus)
    .or("go on once", NextStep::WithForce)
    .with_details(serde_json::json!({ "unseen": unseen }))
}

pub(crate) fn words(change: ChangeType) -> &'static str {
    match change {
        ChangeType::Modified => "modified",
        ChangeType::Created => "created",
        ChangeType::Deleted => "deleted",
    }
}

#[cfg(test)]
mod tests {
    use backsight_core::ObjectId;
    use backsight_files::Access;

    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    fn file(byte: u8) -> Option<Node> {
        (byte > 0).then(|| Node::File { mode: 0o644, id: ObjectId::from_bytes([byte; 20]), access: Access::default() })
    }

    fn change(name: &str, before: u8, after: u8) -> Change {
        Change { path: path(name), before: file(before), after: file(after) }
    }

    fn directory(name: &str, before: bool, after: bool) -> Change {
        let node = |there: bool| there.then_some(Node::Directory { mode: 0o755, access: Access::default() });
        Change { path: path(name), before: node(before), after: node(after) }
    }

    fn names(changes: &[Change]) -> Vec<String> {
        changes.iter().map(|change| change.path.to_string()).collect()
    }

    #[test]
    fn strategies_decide_differently_and_force_never_refuses() {
        assert_eq!(decide(Strategy::Strict, false), Decision::Refuse);
        assert_eq!(decide(Strategy::Warn, false), Decision::List);
        assert_eq!(decide(Strategy::AutoIntegrate, false), Decision::Integrate);
        assert!(Strategy::ALL.iter().all(|strategy| decide(*strategy, true) != Decision::Refuse));
    }

    #[test]
    fn without_a_claim_everything_is_the_callers() {
        let changes = [change("a", 1, 2), change("b", 0, 3)];
        assert_eq!(own(&changes, &Claim::default()), changes);
    }

    #[test]
    fn declared_paths_are_the_callers_and_the_rest_is_not() {
        let changes = [change("a", 1, 2), directory("d", false, true), change("d/x", 0, 3), change("e/y", 1, 0)];
        let declared = [path("a"), path("d/x")];
        assert_eq!(names(&own(&changes, &Claim { declared: &declared, ..Claim::default() })), ["a", "d", "d/x"]);
        // Somebody else's file keeps the directory from being the caller's.
        let shared = [directory("d", false, true), change("d/x", 0, 3), change("d/y", 0, 4)];
        assert_eq!(names(&own(&shared, &Claim { declared: &declared, ..Claim::default() })), ["d/x"]);
    }

    #[test]
    fn what_others_declared_is_theirs_unless_the_caller_declared_it_too() {
        let changes = [change("a", 1, 2), directory("d", false, true), change("d/x", 0, 3)];
        let theirs = [path("d/x")];
        assert_eq!(names(&own(&changes, &Claim { theirs: &theirs, ..Claim::default() })), ["a"]);
        let claim = Claim { declared: &theirs, theirs: &theirs, ..Claim::default() };
        assert_eq!(names(&own(&changes, &claim)), ["d", "d/x"]);
    }

    #[test]
    fn a_directory_that_is_shared_is_known_to_be_needed() {
        let changes = [directory("d", true, false), change("d/x", 1, 0), change("d/y", 1, 0)];
        assert_eq!(names(&shared_directories(&changes, &changes[1..2])), ["d"]);
        assert_eq!(names(&shared_directories(&changes, &changes)), Vec::<String>::new());
    }

    #[test]
    fn a_call_owns_what_changed_since_it_began() {
        // `a` was edited before the call, `b` by the call, `c` by both, `d` was put back to its recorded state by the call.
        let changes = [change("a", 1, 2), change("b", 1, 2), change("c", 1, 3)];
        let since_begin = vec![change("b", 1, 2), change("c", 2, 3), change("d", 9, 1)];
        let since = Since { changes: since_begin.clone(), recorded: BTreeSet::new() };
        assert_eq!(own(&changes, &Claim { since: Some(since), ..Claim::default() }), since_begin);
    }

    #[test]
    fn what_others_recorded_meanwhile_is_not_the_calls() {
        // `a` was recorded by another while the call ran; `b` was recorded and then changed again.
        let changes = [change("b", 2, 1)];
        let since = Since { changes: vec![change("a", 1, 2)], recorded: [path("a"), path("b")].into() };
        assert_eq!(own(&changes, &Claim { since: Some(since), ..Claim::default() }), [change("b", 2, 1)]);
    }

    #[test]
    fn excluded_paths_are_counted_and_not_listed() {
        let changes = [change("a.log", 1, 2), change("b", 1, 0), change("c", 0, 1), change("d", 1, 2)];
        let (found, excluded) = unknown(&changes, &Patterns::new(&["*.log".to_owned()]));
        let types: Vec<ChangeType> = found.iter().map(|change| change.change_type).collect();
        assert_eq!((types, excluded), (vec![ChangeType::Deleted, ChangeType::Created, ChangeType::Modified], 1));
    }
}

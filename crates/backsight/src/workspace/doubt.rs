//! What of a tool call's changes may be the user's. A user who is asked whether a tool may run can edit files before
//! answering, and a command that goes on in the background works beside the user. When the tool ran is compared with when
//! the files were written; what that leaves open stays the step's, and who takes the step back is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use backsight_core::{RelPath, Timestamp};
use backsight_files::{Change, is_on_local_file_system};

use crate::report::Call;
use crate::request::Ran;
use crate::timeline::{Doubt, Step};

/// The kernel stamps files with the time of its last tick, and ticks at least a hundred times a second.
const TICK: Duration = Duration::from_millis(20);
/// So many paths are kept by name.
const NAMED: usize = 20;

/// When a tool may have run of whose end nothing is known: all the time, unless the user was asked or its command went on
/// by itself.
pub(super) fn unless_ended(call: &Call) -> Option<Ran> {
    let from = if call.run.background.is_some() { Some(call.since) } else { call.run.asked };
    from.map(|from| Ran { from, surely: None, until: None })
}

/// When a tool may have run that has not ended and is not waited for: a client that tells its tools' ends may have died long
/// ago, and the user has worked since.
pub(super) fn unfinished(call: &Call) -> Option<Ran> {
    let from = call.run.asked.unwrap_or(call.since);
    let is_told = call.run.title.is_some();
    is_told.then_some(Ran { from, surely: None, until: None }).or_else(|| unless_ended(call))
}

/// What a step calls its own and may be another's: the first paths, how many more, and whose.
pub(super) fn of(step: &Step) -> Vec<(&[RelPath], u64, String)> {
    let (seq, session) = (step.snapshot.sequence_number, &step.snapshot.origin.session);
    let users =
        step.doubt().map(|doubt| (&doubt.paths[..], doubt.more, format!("{seq} may hold the user's edit of it")));
    // Calls of one session side by side are one agent's work.
    let others = step.shared().iter().filter(|shared| shared.session.is_none() || shared.session != *session);
    let others = others.map(|shared| {
        let why = format!("{} was at work on it too when {seq} was recorded", shared.who());
        (&shared.paths[..], shared.more, why)
    });
    others.chain(users).collect()
}

/// What was written when the tool did not run, and what may have been.
#[derive(Default)]
pub(super) struct Written {
    pub(super) outside: BTreeSet<RelPath>,
    perhaps: BTreeSet<RelPath>,
}

impl Written {
    /// What of a step's own changes may be the user's.
    pub(super) fn doubt(&self, own: &[Change]) -> Option<Doubt> {
        let paths: Vec<&RelPath> =
            own.iter().map(|change| &change.path).filter(|path| self.perhaps.contains(*path)).collect();
        let more = paths.len().saturating_sub(NAMED) as u64;
        (!paths.is_empty()).then(|| Doubt { paths: paths.into_iter().take(NAMED).cloned().collect(), more })
    }
}

/// Sorts changes by when they were written.
pub(super) fn written(root: &Path, changes: &[Change], ran: &Ran) -> Written {
    let mut comings_and_goings: BTreeMap<&[u8], usize> = BTreeMap::new();
    for change in changes.iter().filter(|change| change.before.is_none() || change.after.is_none()) {
        *comings_and_goings.entry(change.path.parent()).or_default() += 1;
    }
    let mut written = Written::default();
    let mut local: BTreeMap<&[u8], bool> = BTreeMap::new();
    for change in changes.iter().filter(|change| !is_directory(change)) {
        let parent = change.path.parent();
        let is_local = || is_on_local_file_system(&root.join(OsStr::from_bytes(parent)));
        let when = match change.after {
            // Another machine's clock stamped it, or a program's: its times say nothing about ours.
            _ if !*local.entry(parent).or_insert_with(is_local) => When::Perhaps,
            Some(_) => when(changed_at(&root.join(change.path.as_path()), Moment::Content), ran),
            // Of a file that is gone only its directory tells, and that tells only of the last one.
            None => {
                let directory = root.join(OsStr::from_bytes(change.path.parent()));
                let is_only = comings_and_goings.get(change.path.parent()) == Some(&1);
                match when(changed_at(&directory, Moment::Entries), ran) {
                    When::Surely | When::Later if !is_only => When::Perhaps,
                    when => when,
                }
            }
        };
        match when {
            When::Earlier | When::Later => drop(written.outside.insert(change.path.clone())),
            When::Perhaps => drop(written.perhaps.insert(change.path.clone())),
            When::Surely => {}
        }
    }
    written
}

/// When something was written, by when the tool ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Earlier,
    Perhaps,
    Surely,
    Later,
}

fn when(at: Option<Timestamp>, ran: &Ran) -> When {
    match at {
        Some(at) if at.after(TICK) < ran.from => When::Earlier,
        Some(at) if ran.until.is_some_and(|until| at > until) => When::Later,
        Some(at) if ran.surely.is_some_and(|surely| at.after(TICK) >= surely) => When::Surely,
        _ => When::Perhaps,
    }
}

/// Which of a file's times is asked for.
#[derive(Clone, Copy)]
enum Moment {
    /// When its content or its permissions changed; no program can set that.
    Content,
    /// When something came into a directory or left it.
    Entries,
}

fn changed_at(path: &Path, moment: Moment) -> Option<Timestamp> {
    let found = path.symlink_metadata().ok()?;
    let (seconds, nanoseconds) = match moment {
        Moment::Content => (found.ctime(), found.ctime_nsec()),
        Moment::Entries => (found.mtime(), found.mtime_nsec()),
    };
    Some(Timestamp(seconds.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000)))
}

fn is_directory(change: &Change) -> bool {
    change.after.or(change.before).is_some_and(|node| node.is_directory())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of the kernel's own stand for those of another machine: here, too, no local file system keeps the times.
    #[test]
    fn times_of_another_clock_prove_nothing() {
        use backsight_core::ObjectId;
        use backsight_files::{Access, Node};
        let node = Some(Node::File { mode: 0o444, id: ObjectId::from_bytes([1; 20]), access: Access::default() });
        let change = |path: &str, before, after| Change { path: RelPath::parse(path).unwrap(), before, after };
        let never = Ran { from: Timestamp(i64::MAX - 1000), surely: None, until: None };
        let changes = [change("version", None, node), change("gone", node, None)];
        let far = written(Path::new("/proc"), &changes, &never);
        assert_eq!((far.outside.len(), far.perhaps.len()), (0, 2), "they may be the tool's");
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("version"), "x").unwrap();
        let near = written(directory.path(), &changes[..1], &never);
        assert_eq!((near.outside.len(), near.perhaps.len()), (1, 0), "it was written before the tool ran");
    }

    #[test]
    fn what_was_written_before_the_tool_ran_is_told_from_what_may_have_been() {
        use When::{Earlier, Later, Perhaps, Surely};
        let ran = Ran { from: Timestamp(100), surely: Some(Timestamp(200)), until: Some(Timestamp(300)) };
        let of = |at: i64| when(Some(Timestamp(at)), &ran);
        assert_eq!([79, 80, 179, 180, 300, 301].map(of), [Earlier, Perhaps, Perhaps, Surely, Surely, Later]);
        assert_eq!(when(None, &ran), When::Perhaps);
        let open = Ran { surely: None, until: None, ..ran };
        assert_eq!(when(Some(Timestamp(i64::MAX)), &open), When::Perhaps);
    }
}

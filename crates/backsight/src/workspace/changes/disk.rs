//! What a look at the disk adds to an answer: what differs and no step holds, what an open tool call may be writing, what is
//! as recorded again, and what could not be looked at. An answer without any of it means that the whole disk was looked at
//! and nothing differs that the client was not told of.

use std::collections::{BTreeSet, HashMap};

use backsight_core::{RelPath, Result, Seq, Uncovered};
use backsight_files::{Change, Node};

use super::{Opened, Workspace};
use crate::report::{FilesChanges, UnknownChange};
use crate::unknown::unknown_change;

/// Paths of each list that are named.
const NAMED: usize = 8;
/// Of what was not looked at, fewer: it is told with every answer.
const UNSEEN: usize = 4;

/// What stands at the paths that differ from the latest step.
pub(super) type OnDisk = HashMap<RelPath, Standing>;

/// What stands at a path, and whose it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    node: Option<Node>,
    may_be_a_calls: bool,
}

/// What a look saw.
#[derive(Default)]
pub(super) struct DiskLook {
    /// What differs from the latest step.
    pub(super) on_disk: OnDisk,
    /// The same as changes, which can have broken something.
    pub(super) changes: Vec<UnknownChange>,
    /// Paths that were not looked at.
    unseen: Vec<Uncovered>,
    /// Changed paths that the user's settings leave out.
    excluded: u64,
}

/// What a look adds for a client.
#[derive(Default)]
pub(super) struct DiskNews {
    unrecorded: Vec<RelPath>,
    pending: Vec<RelPath>,
    as_recorded: Vec<RelPath>,
}

impl Workspace {
    /// Looks at the disk; nothing when no step is recorded that it could be compared with.
    pub(super) fn look_at_disk(&self, opened: &Opened) -> Result<Option<DiskLook>> {
        let Some((_, now, detected)) = self.detected(opened, &[])? else { return Ok(None) };
        let unknown: BTreeSet<&RelPath> = detected.unknown.iter().map(|change| &change.file_path).collect();
        let standing = |change: &Change, may_be_a_calls: bool| {
            (change.path.clone(), Standing { node: change.after, may_be_a_calls })
        };
        let differing = detected.changes.iter().filter(|change| unknown.contains(&change.path));
        let on_disk = differing.map(|change| standing(change, false));
        let on_disk = on_disk.chain(detected.pending.iter().map(|change| standing(change, true))).collect();
        let notable = now.coverage.uncovered.into_iter().filter(|uncovered| uncovered.reason.is_notable());
        let mut unseen: Vec<Uncovered> = notable.collect();
        let known: BTreeSet<RelPath> = unseen.iter().map(|unseen| unseen.path.clone()).collect();
        unseen.extend(detected.unseen.into_iter().filter(|unseen| !known.contains(&unseen.path)));
        unseen.sort();
        let changes = detected.unknown.into_iter().chain(detected.pending.iter().map(unknown_change)).collect();
        Ok(Some(DiskLook { on_disk, changes, unseen, excluded: detected.excluded }))
    }

    /// What of a look a client was not told of that was told `told`, and whose window begins after `since`.
    pub(super) fn disk_news(&self, opened: &Opened, look: &DiskLook, told: &OnDisk, since: Seq) -> Result<DiskNews> {
        let fresh = |(path, standing): &(&RelPath, &Standing)| told.get(*path) != Some(standing);
        let (mut unrecorded, mut pending) = (Vec::new(), Vec::new());
        for (path, standing) in look.on_disk.iter().filter(fresh) {
            let list = if standing.may_be_a_calls { &mut pending } else { &mut unrecorded };
            list.push(path.clone());
        }
        let mut as_recorded: Vec<RelPath> =
            told.keys().filter(|path| !look.on_disk.contains_key(path)).cloned().collect();
        if !as_recorded.is_empty() {
            // A step that holds them tells of them itself.
            let (own, others) = opened.timeline.own_between(Seq(since.0 + 1), opened.timeline.latest_seq()?, true)?;
            as_recorded.retain(|path| !own.contains(path) && !others.contains(path));
        }
        [&mut unrecorded, &mut pending, &mut as_recorded].into_iter().for_each(|list| list.sort());
        Ok(DiskNews { unrecorded, pending, as_recorded })
    }
}

impl FilesChanges {
    /// Adds what a look at the disk saw.
    pub(super) fn with_disk(mut self, look: &DiskLook, news: &DiskNews) -> FilesChanges {
        (self.unrecorded, self.more_unrecorded) = first(&news.unrecorded, NAMED);
        (self.pending, self.more_pending) = first(&news.pending, NAMED);
        (self.as_recorded, self.more_as_recorded) = first(&news.as_recorded, NAMED);
        (self.unseen, self.more_unseen) = first(&look.unseen, UNSEEN);
        self.excluded = look.excluded;
        self
    }
}

/// The first of a list, and how many more there are.
fn first<T: Clone>(list: &[T], most: usize) -> (Vec<T>, u64) {
    let named: Vec<T> = list.iter().take(most).cloned().collect();
    let more = (list.len() - named.len()) as u64;
    (named, more)
}

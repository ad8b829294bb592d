//! Moved files among changes, and how many lines changes amount to: a move that changes nothing amounts to none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use backsight_core::{ObjectId, RelPath};
use backsight_files::{Capture, Change, MAX_COMPARED, Node, Renames, Texts, renames, start_threads};
use rayon::prelude::*;

use super::Opened;
use crate::timeline::Lines;

/// Lines are counted as long as the contents to be read for it are no larger than this together: a checkout of another
/// branch must not make `track` slow.
const COUNTED_BYTES: u64 = 32 << 20;

impl Opened {
    /// The moves among changes between stored files, or between those and the disk as `now` saw it.
    pub(super) fn renames(&self, changes: &[Change], now: Option<&Capture>) -> Renames {
        let read = |path: &RelPath, id: &ObjectId| self.files.content_up_to(MAX_COMPARED, now, path, id);
        renames(changes, &Texts { before: &read, after: &read })
    }

    /// Lines added and removed, unless too much would have to be read for it.
    pub(super) fn count_lines(&self, changes: &[Change], renames: &Renames) -> Option<Lines> {
        let read = AtomicU64::new(0);
        let content = |node: Option<Node>| -> Option<Vec<u8>> {
            let Some(id) = node.and_then(|node| node.blob()) else { return Some(Vec::new()) };
            if read.load(Ordering::Relaxed) > COUNTED_BYTES {
                return None;
            }
            let bytes = self.files.objects().read_blob(&id).ok()?;
            read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            Some(bytes)
        };
        start_threads().ok()?;
        let counts: Option<Vec<Lines>> = sides(changes, renames)
            .into_par_iter()
            .filter(|(before, after)| before.and_then(|node| node.blob()) != after.and_then(|node| node.blob()))
            .map(|(before, after)| {
                let counts = backsight_diff::count(&content(before)?, &content(after)?);
                Some(Lines { added: counts.additions as u64, removed: counts.deletions as u64 })
            })
            .collect();
        let counts = counts?;
        Some(Lines {
            added: counts.iter().map(|lines| lines.added).sum(),
            removed: counts.iter().map(|lines| lines.removed).sum(),
        })
    }
}

/// What each changed file was and is; a moved file is one.
fn sides(changes: &[Change], renames: &Renames) -> Vec<(Option<Node>, Option<Node>)> {
    let sources: BTreeSet<&RelPath> = renames.sources.values().collect();
    let before: BTreeMap<&RelPath, Option<Node>> = changes
        .iter()
        .filter(|change| sources.contains(&change.path))
        .map(|change| (&change.path, change.before))
        .collect();
    let sides = |change: &Change| match renames.sources.get(&change.path) {
        Some(source) => (before.get(source).copied().flatten(), change.after),
        None => (change.before, change.after),
    };
    changes.iter().filter(|change| !sources.contains(&change.path)).map(sides).collect()
}

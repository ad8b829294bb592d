//! What a closed directory kept from others. A file that comes back below a directory which has been opened since its snapshot
//! gets no permissions for those whom its directories kept out then: the bits of the file itself never said so.

use std::collections::BTreeMap;

use backsight_core::{RelPath, Result};

use crate::access::Access;
use crate::plan::Plan;
use crate::tree::{Node, Source, Tree};

/// What others than a file's owner may do with it.
const OTHERS: u16 = 0o077;

/// Takes from the files that `plan` brings back, and that were in one of the trees `then`, what is said above.
pub(crate) fn sheltered(mut plan: Plan, source: &Source<'_>, now: &Tree, then: &[&Tree]) -> Result<Plan> {
    let planned = plan.changes.iter().filter_map(|change| match change.after {
        Some(Node::Directory { mode, access }) => Some((change.path.as_bytes().to_vec(), Passage { mode, access })),
        _ => None,
    });
    let above = Above { source, now, then, planned: planned.collect() };
    let mut known: BTreeMap<Vec<u8>, bool> = BTreeMap::new();
    for change in &mut plan.changes {
        let (None | Some(Node::Directory { .. } | Node::Symlink { .. }), Some(Node::File { mode, .. })) =
            (change.before, &mut change.after)
        else {
            continue;
        };
        if *mode & OTHERS == 0 {
            continue;
        }
        let is_opened = match known.get(change.path.parent()) {
            Some(is_opened) => *is_opened,
            None => {
                let is_opened = above.is_opened(&change.path)?;
                known.insert(change.path.parent().to_vec(), is_opened);
                is_opened
            }
        };
        if is_opened {
            *mode &= !OTHERS;
            plan.narrowed.push(change.path.clone());
        }
    }
    Ok(plan)
}

/// Who gets through a directory beside its owner.
#[derive(Clone, Copy)]
struct Passage {
    mode: u16,
    access: Access,
}

impl Passage {
    fn is_closed(self) -> bool {
        self.mode & 0o011 == 0
    }

    /// Whether some get through now who did not then. Which of the file's own bits are meant for them is not known.
    fn lets_more_in_than(self, then: Passage) -> bool {
        let (everybody, group) = (0o001, 0o010);
        if then.mode & everybody != 0 || self.is_closed() {
            return false;
        }
        // Histories from before groups were recorded say nothing of them; the directory is likely to have the one it had.
        let is_for_others = !then.access.is_unknown() && !self.access.is_for_the_same(&then.access);
        self.mode & everybody != 0 || then.mode & group == 0 || is_for_others
    }
}

/// The directories above what comes back.
struct Above<'a> {
    source: &'a Source<'a>,
    now: &'a Tree,
    then: &'a [&'a Tree],
    /// Directories once the plan is carried out, where it changes them.
    planned: BTreeMap<Vec<u8>, Passage>,
}

impl Above<'_> {
    /// Whether some will get to the path who did not then.
    fn is_opened(&self, path: &RelPath) -> Result<bool> {
        let mut is_opened = false;
        for above in path.ancestors() {
            let directory = RelPath::new(above)?;
            let Some(after) = self.after(&directory)? else { continue };
            if after.is_closed() {
                return Ok(false);
            }
            for tree in self.then {
                is_opened |= self.passage(tree, &directory)?.is_some_and(|then| after.lets_more_in_than(then));
            }
        }
        Ok(is_opened)
    }

    /// A directory that stands keeps its group and its list, whatever becomes of its bits.
    fn after(&self, directory: &RelPath) -> Result<Option<Passage>> {
        let standing = self.passage(self.now, directory)?;
        Ok(match (self.planned.get(directory.as_bytes()), standing) {
            (Some(planned), Some(standing)) => Some(Passage { mode: planned.mode, ..standing }),
            (planned, standing) => planned.copied().or(standing),
        })
    }

    fn passage(&self, tree: &Tree, directory: &RelPath) -> Result<Option<Passage>> {
        Ok(self.source.find(tree, directory)?.and_then(|entry| match entry.node {
            Node::Directory { mode, access } => Some(Passage { mode, access }),
            _ => None,
        }))
    }
}

//! What a walk may leave out, and what it keeps for the next one that does.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use backsight_core::Uncovered;

use crate::ignore::{Holds, Rules};
use crate::linked::Linked;
use crate::scan::Scan;

/// What a directory holds beside what is captured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    /// Paths an ignore rule hides; a directory stands for what is below it.
    pub(crate) ignored: Vec<Vec<u8>>,
    pub(crate) uncovered: Vec<Uncovered>,
    /// What is Git's or Backsight's own, below the root.
    pub(crate) reserved: Vec<Vec<u8>>,
}

impl Notes {
    pub(crate) fn is_empty(&self) -> bool {
        self.ignored.is_empty() && self.uncovered.is_empty() && self.reserved.is_empty()
    }

    pub(crate) fn extend(&mut self, other: Notes) {
        self.ignored.extend(other.ignored);
        self.uncovered.extend(other.uncovered);
        self.reserved.extend(other.reserved);
    }
}

/// Rules that begin in a directory, and why.
#[derive(Clone, Debug)]
pub(crate) struct Entered {
    pub(crate) rules: Arc<Rules>,
    pub(crate) holds: Holds,
}

/// The part of a tree that has to be looked at; the cache speaks for the rest.
#[derive(Debug)]
pub(crate) struct Part {
    /// Directories to look at; `true` stands for everything below them too.
    pub(crate) dirty: BTreeMap<Vec<u8>, bool>,
    /// The rules of the walk that everything rests on.
    pub(crate) rules: Arc<Rules>,
    pub(crate) entered: Arc<BTreeMap<Vec<u8>, Entered>>,
    /// Files with several names.
    pub(crate) linked: Arc<Linked>,
}

impl Part {
    pub(crate) fn is_dirty(&self, path: &[u8]) -> bool {
        self.dirty.contains_key(path)
    }

    pub(crate) fn is_deep(&self, path: &[u8]) -> bool {
        self.dirty.get(path).copied().unwrap_or(false)
    }

    /// The dirty directories below one.
    pub(crate) fn below<'s>(&'s self, path: &[u8]) -> impl Iterator<Item = &'s Vec<u8>> + use<'s> {
        let prefix = if path.is_empty() { Vec::new() } else { [path, b"/"].concat() };
        let start = self.dirty.range(prefix.clone()..).map(|(path, _)| path);
        start.take_while(move |path| path.starts_with(&prefix)).filter(|path| !path.is_empty())
    }

    pub(crate) fn concerns(&self, path: &[u8]) -> bool {
        self.is_dirty(path) || self.below(path).next().is_some()
    }
}

/// Which directories there still are, as far as a walk can tell.
pub(crate) struct Standing<'a> {
    looked: HashSet<&'a [u8]>,
    visited: HashSet<&'a [u8]>,
}

impl<'a> Standing<'a> {
    pub(crate) fn after(scan: &'a Scan) -> Self {
        let looked = scan.directories.iter().filter(|visited| visited.looked);
        Standing {
            looked: looked.map(|visited| visited.path.as_slice()).collect(),
            visited: scan.directories.iter().map(|visited| visited.path.as_slice()).collect(),
        }
    }

    pub(crate) fn was_looked_at(&self, path: &[u8]) -> bool {
        self.looked.contains(path)
    }

    /// Whether no directory above was looked at that does not hold it any more.
    pub(crate) fn holds(&self, path: &[u8]) -> bool {
        let ends = (0..path.len()).filter(|&at| path[at] == b'/').chain([path.len()]);
        let mut parent = &path[..0];
        for end in ends.filter(|&end| end > 0) {
            if self.looked.contains(parent) && !self.visited.contains(&path[..end]) {
                return false;
            }
            parent = &path[..end];
        }
        true
    }
}

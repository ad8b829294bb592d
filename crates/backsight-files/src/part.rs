//! What a walk may leave out, and what it keeps for the next one that does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use backsight_core::Uncovered;

use crate::ignore::{Holds, Rules};

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
    /// Inodes of files with several names.
    pub(crate) linked: Arc<BTreeSet<u64>>,
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

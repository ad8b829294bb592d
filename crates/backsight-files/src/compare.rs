//! What differs between two trees. Equal subtrees are skipped by their ids, so the cost is that of the difference.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::vec::IntoIter;

use backsight_core::{ObjectId, RelPath, Result};
use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::ignore::join;
use crate::object::ObjectKind;
use crate::tree::{Contents, Entry, Node, Size, Source, Tree, check_depth, encode_directory};

/// One path that differs. Directories are listed too, before what is in them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where.
    pub path: RelPath,
    /// What was there.
    pub before: Option<Node>,
    /// What is there.
    pub after: Option<Node>,
}

/// Every path that differs between `before` and `after`, parents first, sorted.
pub(crate) fn compare(source: &Source<'_>, before: &Tree, after: &Tree) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    let mut size = Size::of(source.store);
    let mut open = Vec::new();
    if before.contents() != after.contents() {
        open.push(Pair::open(source, Vec::new(), &before.contents(), &after.contents(), &mut size)?);
    }
    while let Some(pair) = open.last_mut() {
        let Some((old, new)) = pair.next() else {
            open.pop();
            continue;
        };
        let Some(name) = old.as_ref().or(new.as_ref()).map(|entry| entry.name.as_slice()) else { continue };
        let path = join(&pair.at, name);
        let (before, after) = (old.as_ref().map(|entry| entry.node), new.as_ref().map(|entry| entry.node));
        if before != after {
            changes.push(Change { path: RelPath::new(path.as_slice())?, before, after });
        }
        let inside = |entry: Option<Entry>| entry.map(|entry| entry.contents).unwrap_or_default();
        let (before, after) = (inside(old), inside(new));
        if before != after {
            check_depth(open.len(), if after == Contents::default() { &before } else { &after })?;
            open.push(Pair::open(source, path, &before, &after, &mut size)?);
        }
    }
    Ok(changes)
}

/// Two directories at one path, of which some entries are compared already.
struct Pair {
    at: Vec<u8>,
    old: Peekable<IntoIter<Entry>>,
    new: Peekable<IntoIter<Entry>>,
}

impl Pair {
    fn open(source: &Source<'_>, at: Vec<u8>, before: &Contents, after: &Contents, size: &mut Size) -> Result<Pair> {
        let (old, new) = (source.entries(before)?, source.entries(after)?);
        size.add(old.len().max(new.len()))?;
        Ok(Pair { at, old: old.into_iter().peekable(), new: new.into_iter().peekable() })
    }

    /// The entries of the next name; nothing when both are through.
    fn next(&mut self) -> Option<(Option<Entry>, Option<Entry>)> {
        let order = match (self.old.peek(), self.new.peek()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.name.cmp(&new.name),
        };
        let old = if order.is_le() { self.old.next() } else { None };
        let new = if order.is_ge() { self.new.next() } else { None };
        Some((old, new))
    }
}

/// Applies `changes` to `tree` and stores the directories that differ. Parts that are not named stay as they are.
pub(crate) fn edit_tree(
    source: &Source<'_>,
    tree: &Tree,
    changes: &[Change],
    put: &mut dyn FnMut(ObjectKind, &[u8]) -> Result<ObjectId>,
) -> Result<Tree> {
    let edited = if changes.is_empty() { tree.contents() } else { edited(source, tree, changes, put)? };
    if edited.tree.is_none() {
        put(ObjectKind::Tree, b"")?;
    }
    Ok(edited.into_tree())
}

/// The contents of the root after `changes`, directory by directory: down to apply them, up again to store the result.
fn edited(
    source: &Source<'_>,
    tree: &Tree,
    changes: &[Change],
    put: &mut dyn FnMut(ObjectKind, &[u8]) -> Result<ObjectId>,
) -> Result<Contents> {
    let edits = Edits::of(changes);
    // Sorted by path: parents before what is in them.
    let mut open: BTreeMap<&[u8], BTreeMap<Vec<u8>, Entry>> = BTreeMap::new();
    for &directory in &edits.directories {
        let contents = match split(directory) {
            None => tree.contents(),
            Some((parent, name)) => match open.get(parent).and_then(|entries| entries.get(name)) {
                Some(entry) if entry.node.is_directory() => entry.contents,
                _ => continue,
            },
        };
        let entries = source.entries(&contents)?.into_iter().map(|entry| (entry.name.clone(), entry));
        let mut entries: BTreeMap<Vec<u8>, Entry> = entries.collect();
        edits.apply(directory, &mut entries);
        open.insert(directory, entries);
    }
    while let Some((directory, entries)) = open.pop_last() {
        let entries: Vec<Entry> = entries.into_values().collect();
        let contents = encode_directory(&entries, put)?;
        let Some((parent, name)) = split(directory) else { return Ok(contents) };
        if let Some(entry) = open.get_mut(parent).and_then(|entries| entries.get_mut(name)) {
            entry.contents = contents;
        }
    }
    Ok(tree.contents())
}

/// Changes by the directories they are in.
struct Edits<'a> {
    /// Everything above a change, the root included.
    directories: BTreeSet<&'a [u8]>,
    /// The changes in each directory itself.
    named: BTreeMap<&'a [u8], Vec<&'a Change>>,
    /// In each directory, the names of those below which something comes to be.
    needed: BTreeMap<&'a [u8], BTreeSet<&'a [u8]>>,
}

impl<'a> Edits<'a> {
    fn of(changes: &'a [Change]) -> Self {
        let mut edits =
            Edits { directories: BTreeSet::from([&b""[..]]), named: BTreeMap::new(), needed: BTreeMap::new() };
        for change in changes {
            edits.named.entry(change.path.parent()).or_default().push(change);
            for directory in change.path.ancestors() {
                edits.directories.insert(directory);
                if let (Some(_), Some((parent, name))) = (change.after, split(directory)) {
                    edits.needed.entry(parent).or_default().insert(name);
                }
            }
        }
        edits
    }

    fn apply(&self, directory: &[u8], entries: &mut BTreeMap<Vec<u8>, Entry>) {
        for change in self.named.get(directory).into_iter().flatten() {
            let name = change.path.name();
            let Some(node) = change.after else {
                entries.remove(name);
                continue;
            };
            let kept = entries.get(name).filter(|entry| entry.node.is_directory() && node.is_directory());
            let contents = kept.map(|entry| entry.contents).unwrap_or_default();
            entries.insert(name.to_vec(), Entry { name: name.to_vec(), node, contents });
        }
        // A path below a directory nobody named: it has ordinary permissions.
        for name in self.needed.get(directory).into_iter().flatten() {
            if !entries.get(*name).is_some_and(|entry| entry.node.is_directory()) {
                let node = Node::Directory { mode: 0o755, access: Access::default() };
                entries.insert(name.to_vec(), Entry { name: name.to_vec(), node, contents: Contents::default() });
            }
        }
    }
}

/// The directory a path is in and its name there; nothing for the root.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => Some((&path[..slash], &path[slash + 1..])),
        None if path.is_empty() => None,
        None => Some((b"", path)),
    }
}

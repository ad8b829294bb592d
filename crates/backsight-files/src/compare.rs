//! What differs between two trees. Equal subtrees are skipped by their ids, so the cost is that of the difference.

use std::collections::BTreeMap;

use backsight_core::{ObjectId, RelPath, Result};
use serde::{Deserialize, Serialize};

use crate::ignore::join;
use crate::tree::{Contents, Entry, Node, Source, Tree};

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
    compare_directories(source, &before.contents(), &after.contents(), b"", &mut changes)?;
    Ok(changes)
}

fn compare_directories(
    source: &Source<'_>,
    before: &Contents,
    after: &Contents,
    at: &[u8],
    changes: &mut Vec<Change>,
) -> Result<()> {
    if before == after {
        return Ok(());
    }
    let (mut old, mut new) =
        (source.entries(before)?.into_iter().peekable(), source.entries(after)?.into_iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return Ok(()),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(old), Some(new)) => old.name.cmp(&new.name),
        };
        let old = if order.is_le() { old.next() } else { None };
        let new = if order.is_ge() { new.next() } else { None };
        compare_entries(source, old, new, at, changes)?;
    }
}

fn compare_entries(
    source: &Source<'_>,
    old: Option<Entry>,
    new: Option<Entry>,
    at: &[u8],
    changes: &mut Vec<Change>,
) -> Result<()> {
    let Some(name) = old.as_ref().or(new.as_ref()).map(|entry| entry.name.clone()) else { return Ok(()) };
    let path = join(at, &name);
    let (before, after) = (old.as_ref().map(|entry| entry.node), new.as_ref().map(|entry| entry.node));
    if before != after {
        changes.push(Change { path: RelPath::new(path.as_slice())?, before, after });
    }
    let inside = |entry: Option<Entry>| entry.map(|entry| entry.contents).unwrap_or_default();
    compare_directories(source, &inside(old), &inside(new), &path, changes)
}

/// Pairs of a deleted and an added path with the same content, where neither has another candidate.
pub fn renames(changes: &[Change]) -> Vec<(RelPath, RelPath)> {
    let mut candidates: BTreeMap<ObjectId, (Vec<&RelPath>, Vec<&RelPath>)> = BTreeMap::new();
    for change in changes {
        match (change.before, change.after) {
            (Some(node @ Node::File { id, .. }), None) if node.blob() != Some(EMPTY_BLOB) => {
                candidates.entry(id).or_default().0.push(&change.path);
            }
            (None, Some(Node::File { id, .. })) => candidates.entry(id).or_default().1.push(&change.path),
            _ => {}
        }
    }
    let unambiguous = candidates.into_values().filter_map(|(gone, new)| match (&gone[..], &new[..]) {
        ([from], [to]) => Some(((*from).clone(), (*to).clone())),
        _ => None,
    });
    unambiguous.collect()
}

/// Every empty file has the same content, which says nothing about where it came from.
const EMPTY_BLOB: ObjectId = ObjectId::from_bytes([
    0xe6, 0x9d, 0xe2, 0x9b, 0xb2, 0xd1, 0xd6, 0x43, 0x4b, 0x8b, 0x29, 0xae, 0x77, 0x5a, 0xd8, 0xc2, 0xe4, 0x8c, 0x53,
    0x91,
]);

/// Applies `changes` to `tree` and stores the directories that differ. Parts that are not named stay as they are.
pub(crate) fn edit_tree(
    source: &Source<'_>,
    tree: &Tree,
    changes: &[Change],
    put: &mut dyn FnMut(crate::object::ObjectKind, &[u8]) -> Result<ObjectId>,
) -> Result<Tree> {
    let changes: BTreeMap<&[u8], Option<Node>> =
        changes.iter().map(|change| (change.path.as_bytes(), change.after)).collect();
    let edited = edit_directory(source, &tree.contents(), b"", &changes, put)?;
    if edited.tree.is_none() {
        put(crate::object::ObjectKind::Tree, b"")?;
    }
    Ok(edited.into_tree())
}

fn edit_directory(
    source: &Source<'_>,
    contents: &Contents,
    at: &[u8],
    changes: &BTreeMap<&[u8], Option<Node>>,
    put: &mut dyn FnMut(crate::object::ObjectKind, &[u8]) -> Result<ObjectId>,
) -> Result<Contents> {
    let prefix = if at.is_empty() { Vec::new() } else { [at, b"/"].concat() };
    let below = |prefix: &[u8]| {
        let prefix = prefix.to_vec();
        changes
            .range::<[u8], _>((std::ops::Bound::Included(prefix.as_slice()), std::ops::Bound::Unbounded))
            .next()
            .is_some_and(|(path, _)| path.starts_with(&prefix))
    };
    if !below(&prefix) {
        return Ok(*contents);
    }
    let mut entries: BTreeMap<Vec<u8>, Entry> =
        source.entries(contents)?.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
    let start = (std::ops::Bound::Included(prefix.as_slice()), std::ops::Bound::Unbounded);
    for (path, after) in changes.range::<[u8], _>(start).take_while(|(path, _)| path.starts_with(&prefix)) {
        let rest = &path[prefix.len()..];
        let (name, deeper) = match rest.iter().position(|&byte| byte == b'/') {
            Some(slash) => (&rest[..slash], true),
            None => (rest, false),
        };
        match (deeper, after) {
            (false, None) => drop(entries.remove(name)),
            (false, Some(node)) => {
                let kept = entries.get(name).filter(|entry| entry.node.is_directory() && node.is_directory());
                let contents = kept.map(|entry| entry.contents).unwrap_or_default();
                entries.insert(name.to_vec(), Entry { name: name.to_vec(), node: *node, contents });
            }
            // A path below a directory nobody named: it has ordinary permissions.
            (true, Some(_)) if !entries.get(name).is_some_and(|entry| entry.node.is_directory()) => {
                let node = Node::Directory { mode: 0o755 };
                entries.insert(name.to_vec(), Entry { name: name.to_vec(), node, contents: Contents::default() });
            }
            (true, _) => {}
        }
    }
    let mut edited: Vec<Entry> = Vec::with_capacity(entries.len());
    for mut entry in entries.into_values() {
        if entry.node.is_directory() {
            entry.contents = edit_directory(source, &entry.contents, &join(at, &entry.name), changes, put)?;
        }
        edited.push(entry);
    }
    crate::tree::encode_directory(&edited, put)
}

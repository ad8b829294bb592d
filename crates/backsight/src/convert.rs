//! From the files lane's changes to what people read: statuses, renames, and no noise about directories.

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::RelPath;
use backsight_files::{Change, Node, Renames};

use crate::report::{Attributes, Conflict, FileKind, PathChange, Status};

pub(crate) fn attributes(node: &Node) -> Attributes {
    match *node {
        Node::File { mode, .. } => Attributes { kind: FileKind::File, mode },
        Node::Symlink { .. } => Attributes { kind: FileKind::Symlink, mode: 0o777 },
        Node::Directory { mode, .. } => Attributes { kind: FileKind::Directory, mode },
    }
}

/// What a person would call these changes, sorted by path.
pub(crate) fn path_changes(changes: &[Change], renames: &Renames) -> Vec<PathChange> {
    let nodes: BTreeMap<&RelPath, &Change> = changes.iter().map(|change| (&change.path, change)).collect();
    let sources: BTreeSet<&RelPath> = renames.sources.values().collect();
    let mut described = Vec::with_capacity(changes.len());
    for (index, change) in changes.iter().enumerate() {
        if sources.contains(&change.path) || is_implied(change, changes.get(index + 1)) {
            continue;
        }
        let from_path = renames.sources.get(&change.path).cloned();
        let source = from_path.as_ref().and_then(|from| nodes.get(from));
        let before = source.map_or(change.before, |source| source.before);
        described.push(PathChange {
            path: change.path.clone(),
            status: if from_path.is_some() { Status::Renamed } else { status(change) },
            from_path,
            before: before.as_ref().map(attributes),
            after: change.after.as_ref().map(attributes),
        });
    }
    described.sort_by(|a, b| a.path.cmp(&b.path));
    described
}

/// What to say when files were not searched for moves.
pub(crate) fn uncompared(renames: &Renames) -> Option<String> {
    let files = match renames.uncompared {
        0 => return None,
        1 => "1 added file was".to_owned(),
        many => format!("{many} added files were"),
    };
    Some(format!(
        "{files} not compared with those deleted, being too many or too large: one that was moved and edited is shown \
         as a deletion and an addition"
    ))
}

/// A directory that comes or goes with the files in it needs no line of its own.
pub(crate) fn is_implied(change: &Change, next: Option<&Change>) -> bool {
    let one_sided =
        |node: Option<Node>, other: Option<Node>| node.is_some_and(|node| node.is_directory()) && other.is_none();
    let comes_or_goes = one_sided(change.before, change.after) || one_sided(change.after, change.before);
    comes_or_goes && next.is_some_and(|next| next.path.is_within(&change.path))
}

pub(crate) fn status(change: &Change) -> Status {
    match (change.before, change.after) {
        (None, _) => Status::Added,
        (_, None) => Status::Deleted,
        (Some(Node::File { id: before, .. }), Some(Node::File { id: after, .. })) if before == after => {
            Status::ModeChanged
        }
        (Some(Node::Directory { .. }), Some(Node::Directory { .. })) => Status::ModeChanged,
        (Some(Node::File { .. }), Some(Node::File { .. }))
        | (Some(Node::Symlink { .. }), Some(Node::Symlink { .. })) => Status::Modified,
        _ => Status::TypeChanged,
    }
}

pub(crate) fn conflict(conflict: &backsight_files::Conflict) -> Conflict {
    let blob = |node: &Option<Node>| node.and_then(|node| node.blob());
    Conflict {
        path: conflict.path.clone(),
        reason: conflict.reason.clone(),
        step: blob(&conflict.step),
        current: blob(&conflict.current),
        wanted: blob(&conflict.wanted),
    }
}

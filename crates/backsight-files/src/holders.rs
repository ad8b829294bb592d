//! Whom the files of a directory are for, for the directory's tree. A file that was read was asked then; one that the stat
//! cache vouches for is as the tree before has it; directories have no stamp that would tell, and are asked every time.

use std::os::fd::{AsFd, OwnedFd};

use crate::access::needs_holder;
use crate::former::access_at;
use crate::scan::open_below;
use crate::tree::{Attributes, Contents, Entry, Node, Source};

/// An entry of a tree that is being built, and whether it is known whom it is for.
pub(crate) type Asked = (Entry, bool);

/// Completes the entries of the directory at `path`, which had the contents `before` when it was recorded.
pub(crate) fn complete(
    entries: &mut [Asked],
    source: &Source<'_>,
    before: Option<Contents>,
    (root, path): (&OwnedFd, &[u8]),
) {
    let before = before.and_then(|contents| source.attributes_of(&contents).ok());
    let mut opened = None;
    for (entry, _) in entries.iter_mut().filter(|(_, is_asked)| !is_asked) {
        let Entry { name, node, .. } = entry;
        let known = before.as_ref().and_then(|before| known(before, name, node));
        let (Node::File { mode, access, .. } | Node::Directory { mode, access }) = node else { continue };
        *access = known.unwrap_or_else(|| {
            let directory = opened.get_or_insert_with(|| open_below(root, path).ok());
            directory.as_ref().map(|directory| access_at(directory.as_fd(), name, *mode)).unwrap_or_default()
        });
    }
}

fn known(before: &Attributes, name: &[u8], node: &Node) -> Option<crate::access::Access> {
    let Node::File { mode, .. } = node else { return None };
    let access = before.access(name, *mode);
    // A tree from before this was recorded does not say.
    (!access.is_unknown() || !needs_holder(*mode)).then_some(access)
}

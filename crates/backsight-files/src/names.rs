//! The names of one directory, with as little copying as a walk over many thousand of them calls for.

use backsight_core::{Reason, is_alias};
use rustix::fs::FileType;

use crate::scan::OWN_DIRECTORY;

/// The names of a directory, sorted, with what the directory itself says about each. One buffer holds them all: most
/// directories are as the cache says, and then no name is ever copied.
#[derive(Default)]
pub(crate) struct Names {
    bytes: Vec<u8>,
    pub(crate) list: Vec<(Span, FileType)>,
}

/// Where a name is in its buffer, and which it was in the directory's own order.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    start: u32,
    length: u16,
    pub(crate) order: u32,
}

impl Names {
    pub(crate) fn push(&mut self, name: &[u8], kind: FileType) {
        let span = Span { start: self.bytes.len() as u32, length: name.len() as u16, order: self.list.len() as u32 };
        self.bytes.extend_from_slice(name);
        self.list.push((span, kind));
    }

    /// Whether another name would not fit: no directory that is not made to be one has as many.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() > (u32::MAX - (1 << 16)) as usize
    }

    pub(crate) fn get(&self, span: Span) -> &[u8] {
        let start = span.start as usize;
        &self.bytes[start..start + usize::from(span.length)]
    }

    pub(crate) fn sort(&mut self) {
        let mut list = std::mem::take(&mut self.list);
        list.sort_unstable_by(|a, b| self.get(a.0).cmp(self.get(b.0)));
        self.list = list;
    }

    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.list.binary_search_by(|(span, _)| self.get(*span).cmp(name)).is_ok()
    }
}

/// The next parts of `wanted` paths, which are sorted, below `directory`, sorted, as if a listing had named them.
pub(crate) fn names_towards<'w>(wanted: &'w [Vec<u8>], directory: &[u8]) -> Vec<&'w [u8]> {
    let skip = if directory.is_empty() { 0 } else { directory.len() + 1 };
    let prefix = [directory, b"/"].concat();
    let below = match directory {
        b"" => wanted,
        _ => {
            let start = wanted.partition_point(|path| path.as_slice() < prefix.as_slice());
            let length = wanted[start..].partition_point(|path| path.starts_with(&prefix));
            &wanted[start..start + length]
        }
    };
    let below = below.iter();
    let mut names: Vec<&[u8]> = below.filter_map(|path| path[skip..].split(|&byte| byte == b'/').next()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Why a name cannot be captured: some file system takes it for Git's directory or for ours. Of Git's only the letter case
/// counts: a `.git.`, or one with an invisible letter, is an ordinary file here. For ours every way to spell it does.
pub(crate) fn alias_reason(name: &[u8]) -> Option<Reason> {
    if name.eq_ignore_ascii_case(b".git") {
        return Some(Reason::GitAlias);
    }
    is_alias(without_end(name), OWN_DIRECTORY).then_some(Reason::OwnAlias)
}

/// A name without the dots and spaces at its end.
pub(crate) fn without_end(name: &[u8]) -> &[u8] {
    let length = name.iter().rposition(|byte| !b". ".contains(byte)).map_or(0, |at| at + 1);
    &name[..length]
}

//! Reads which paths the user's Git tracks. Read only, tolerant, and never the reason a capture fails.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::git_config::not_read;
use backsight_core::bounded;

/// The largest index that is read: some millions of files.
pub(crate) const MAX_BYTES: u64 = 256 << 20;
/// The longest path an index may hold, and the most bytes of all of them: a path may be spelled by how it differs from
/// the one before, so that a small file can stand for very much.
const MAX_PATH: usize = 1 << 16;
const MAX_PATHS: usize = 256 << 20;

/// So much of an index is read at once by those who need its beginning.
const PIECE: u64 = 1 << 18;

/// Sorted paths, relative to the repository's root.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TrackedPaths {
    paths: Vec<Vec<u8>>,
    /// Why some of them, or all, are not known.
    pub(crate) unread: Option<String>,
}

impl TrackedPaths {
    /// The paths in `git_dir`'s index; none when there is no index or it cannot be understood.
    /// `id_length` is that of the repository's object ids.
    pub(crate) fn load(git_dir: &Path, id_length: usize) -> Self {
        let mut tracked = TrackedPaths::default();
        // A split index names the shared file it builds on, which builds on no other. The union of both may hold a path
        // that was removed since: capturing a file too many is the harmless side to err on.
        if let Some(shared) = tracked.add(git_dir.join("index"), id_length) {
            tracked.add(git_dir.join(format!("sharedindex.{shared}")), id_length);
        }
        tracked.paths.sort_unstable();
        tracked.paths.dedup();
        tracked
    }

    /// Adds the paths in one file and says which it builds on.
    fn add(&mut self, file: PathBuf, id_length: usize) -> Option<String> {
        match bounded::read(&file, MAX_BYTES) {
            Ok(bytes) => match parse(&bytes, id_length) {
                Some(parsed) => {
                    self.paths.extend(parsed.paths);
                    return parsed.shared;
                }
                None => self.unread = Some(not_read(&file, &"it is not an index we know")),
            },
            Err(error) if bounded::is_absence(&error) => {}
            Err(error) => self.unread = Some(not_read(&file, &error)),
        }
        None
    }

    pub(crate) fn contains(&self, path: &[u8]) -> bool {
        self.paths.binary_search_by(|tracked| tracked.as_slice().cmp(path)).is_ok()
    }

    /// Every tracked path below `directory`.
    pub(crate) fn below(&self, directory: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut prefix = directory.to_vec();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        let start = self.paths.partition_point(|path| path.as_slice() < prefix.as_slice());
        self.paths[start..].iter().map(Vec::as_slice).take_while(move |path| path.starts_with(&prefix))
    }
}

pub(crate) struct Parsed {
    pub(crate) paths: Vec<Vec<u8>>,
    shared: Option<String>,
}

/// Versions 2 to 4 of the format in Git's `index-format` document.
pub(crate) fn parse(bytes: &[u8], id_length: usize) -> Option<Parsed> {
    let mut paths: Vec<Vec<u8>> = Vec::new();
    let end = walk(bytes, id_length, |listed| {
        // Entries of a split index that only replace a shared one have no name.
        if !listed.path.is_empty() {
            paths.push(listed.path.to_vec());
        }
        true
    })?;
    Some(Parsed { paths, shared: shared_index(bytes, end, id_length) })
}

/// Paths that the index lists and a sparse checkout leaves out of the work tree (Git's skip-worktree bit). A directory
/// that is left out as a whole may be listed as one, with a slash at its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    paths: BTreeSet<Vec<u8>>,
}

impl LeftOut {
    /// Adds what `git_dir`'s index leaves out below `directory`, by the path from there. The problem, when there is an
    /// index that cannot be understood.
    pub(crate) fn add(&mut self, git_dir: &Path, id_length: usize, directory: &[u8]) -> Result<(), String> {
        let prefix = if directory.is_empty() { Vec::new() } else { [directory, b"/"].concat() };
        let Some(index) = left_out_in(&git_dir.join("index"), id_length)? else { return Ok(()) };
        let mut paths = index.left_out;
        if let Some(shared) = index.shared {
            let shared = left_out_in(&git_dir.join(format!("sharedindex.{shared}")), id_length)?.unwrap_or_default();
            // Which of the shared entries one without a name replaces is in a bitmap that we do not read: any may be.
            paths.extend(if index.has_unnamed { shared.all } else { shared.left_out });
        }
        let below = paths.into_iter().filter_map(|path| match path.strip_prefix(prefix.as_slice()) {
            Some(below) => Some(below.to_vec()),
            // A directory above is left out, and so is everything in it.
            None => (path.ends_with(b"/") && prefix.starts_with(&path)).then(|| b"/".to_vec()),
        });
        self.paths.extend(below);
        Ok(())
    }

    pub(crate) fn contains(&self, path: &[u8]) -> bool {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &path[..=at]);
        let whole = [path, b"/"].concat();
        self.paths.contains(path)
            || ends.chain([whole.as_slice(), b"/"]).any(|directory| self.paths.contains(directory))
    }
}

#[derive(Default)]
struct Sparse {
    all: Vec<Vec<u8>>,
    left_out: Vec<Vec<u8>>,
    /// Whether an entry that replaces a shared one is left out.
    has_unnamed: bool,
    shared: Option<String>,
}

fn left_out_in(file: &Path, id_length: usize) -> Result<Option<Sparse>, String> {
    let bytes = match bounded::read(file, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if bounded::is_absence(&error) => return Ok(None),
        Err(error) => return Err(not_read(file, &error)),
    };
    let mut sparse = Sparse::default();
    let end = walk(&bytes, id_length, |listed| {
        match (listed.is_left_out, listed.path.is_empty()) {
            (true, true) => sparse.has_unnamed = true,
            (true, false) => sparse.left_out.push(listed.path.to_vec()),
            (false, _) => {}
        }
        sparse.all.push(listed.path.to_vec());
        true
    });
    let end = end.ok_or_else(|| not_read(file, &"it is not an index we know"))?;
    Ok(Some(Sparse { shared: shared_index(&bytes, end, id_length), ..sparse }))
}

/// An entry of an index.
pub(crate) struct Listed<'a> {
    pub(crate) path: &'a [u8],
    /// The file as it was when it was added.
    pub(crate) stat: &'a [u8],
    pub(crate) id: &'a [u8],
    is_left_out: bool,
}

/// Hands over each entry in turn, in their order, until it is told to stop. Says where it stopped; nothing when the bytes
/// end before, or are no index.
pub(crate) fn walk(bytes: &[u8], id_length: usize, mut hand: impl FnMut(Listed<'_>) -> bool) -> Option<usize> {
    let word = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let (version, count) = (word(4)?, word(8)?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    let mut previous: Vec<u8> = Vec::new();
    let mut total = 0;
    for _ in 0..count {
        let flags_at = at + 40 + id_length;
        let (stat, id) = bytes.get(at..flags_at)?.split_at(40);
        let flags = u16::from_be_bytes(bytes.get(flags_at..flags_at + 2)?.try_into().ok()?);
        let is_extended = version >= 3 && flags & 0x4000 != 0;
        let name_at = flags_at + if is_extended { 4 } else { 2 };
        let is_left_out = is_extended && *bytes.get(flags_at + 2)? & 0x40 != 0;
        if version == 4 {
            let (strip, used) = variable_width(bytes.get(name_at..)?)?;
            let suffix = until_nul(bytes.get(name_at + used..)?)?;
            previous.truncate(previous.len().checked_sub(strip)?);
            previous.extend_from_slice(suffix);
            at = name_at + used + suffix.len() + 1;
        } else {
            let name = until_nul(bytes.get(name_at..)?)?;
            previous.clear();
            previous.extend_from_slice(name);
            at += (name_at - at + name.len() + 8) & !7;
        }
        total += previous.len();
        if previous.len() > MAX_PATH || total > MAX_PATHS {
            return None;
        }
        if !hand(Listed { path: &previous, stat, id, is_left_out }) {
            break;
        }
    }
    Some(at)
}

/// The first path below `directory` in the index, or `directory` itself, and whether the index is split.
pub(crate) fn first_below(git_dir: &Path, id_length: usize, directory: &[u8]) -> Option<(Vec<u8>, bool)> {
    if let Some(found) = first_in(&git_dir.join("index"), id_length, directory) {
        return Some((found, false));
    }
    let entries = std::fs::read_dir(git_dir).ok()?.flatten();
    if !entries.into_iter().any(|entry| entry.file_name().as_encoded_bytes().starts_with(b"sharedindex.")) {
        return None;
    }
    let paths = TrackedPaths::load(git_dir, id_length).paths;
    paths.into_iter().find(|path| is_at_or_below(path, directory)).map(|path| (path, true))
}

fn is_at_or_below(path: &[u8], directory: &[u8]) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Paths are sorted, so that of a large index only the beginning is read.
fn first_in(index: &Path, id_length: usize, directory: &[u8]) -> Option<Vec<u8>> {
    let end = [directory, b"/"].concat();
    let mut file = bounded::open(index).ok()?.take(MAX_BYTES);
    let mut bytes = Vec::new();
    loop {
        let known = bytes.len();
        file.by_ref().take(PIECE).read_to_end(&mut bytes).ok()?;
        let mut found = None;
        let is_decided = walk(&bytes, id_length, |listed| {
            found = is_at_or_below(listed.path, directory).then(|| listed.path.to_vec());
            found.is_none() && listed.path < end.as_slice()
        });
        if is_decided.is_some() || bytes.len() == known {
            return found;
        }
    }
}

fn until_nul(bytes: &[u8]) -> Option<&[u8]> {
    bytes.iter().position(|&byte| byte == 0).map(|end| &bytes[..end])
}

/// The number Git writes with continuation bits, as in pack offsets; and how many bytes it took.
fn variable_width(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0usize;
    for (index, &byte) in bytes.iter().enumerate().take(9) {
        value = (value << 7) | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, index + 1));
        }
        value += 1;
    }
    None
}

/// The id in a `link` extension, unless it is the null id.
pub(crate) fn shared_index(bytes: &[u8], mut at: usize, id_length: usize) -> Option<String> {
    let end = bytes.len().checked_sub(id_length)?;
    while at.saturating_add(8) <= end {
        let size = u32::from_be_bytes(bytes.get(at + 4..at + 8)?.try_into().ok()?) as usize;
        if bytes.get(at..at + 4)? == b"link" {
            let id = bytes.get(at + 8..at + 8 + id_length)?;
            return id.iter().any(|&byte| byte != 0).then(|| id.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        at = at.saturating_add(8 + size);
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn of_a_large_index_the_beginning_says_what_is_below_a_directory() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("index");
        let mut bytes = index(2, 20_000);
        for number in 0..20_000 {
            let name = if number == 7 { "a/.backsight/x".to_owned() } else { format!("a/{:05}", number) };
            let name = if number < 7 { format!("a/-{number:05}") } else { name };
            let start = bytes.len();
            bytes.extend([0; 62]);
            bytes.extend(name.as_bytes());
            bytes.resize(start + ((62 + name.len() + 8) & !7), 0);
        }
        fs::write(&file, &bytes).unwrap();
        assert_eq!(first_in(&file, 20, b"a/.backsight").as_deref(), Some(&b"a/.backsight/x"[..]));
        assert_eq!(first_in(&file, 20, b".backsight"), None);
        assert_eq!(first_in(&file, 20, b"z"), None);
        fs::write(&file, &bytes[..1000]).unwrap();
        assert_eq!(first_in(&file, 20, b"a/.backsight").as_deref(), Some(&b"a/.backsight/x"[..]));
        assert_eq!(first_in(&file, 20, b"z"), None);
    }

    fn index(version: u8, count: u32) -> Vec<u8> {
        [&b"DIRC\0\0\0"[..], &[version], &count.to_be_bytes()].concat()
    }

    /// An entry of version 3; `left_out` is the skip-worktree bit.
    fn entry(name: &str, left_out: bool) -> Vec<u8> {
        let flags = if left_out { [0x40, 0, 0x40, 0] } else { [0x40, 0, 0, 0] };
        let mut bytes = [&[0; 60][..], &flags, name.as_bytes()].concat();
        bytes.resize((bytes.len() + 8) & !7, 0);
        bytes
    }

    #[test]
    fn what_a_sparse_checkout_leaves_out_is_known_below_a_directory() {
        let directory = tempfile::tempdir().unwrap();
        let of = |entries: &[(&str, bool)], below: &str| {
            let entries_bytes: Vec<u8> = entries.iter().flat_map(|(name, left_out)| entry(name, *left_out)).collect();
            let bytes = [index(3, entries.len() as u32), entries_bytes, vec![0; 20]].concat();
            fs::write(directory.path().join("index"), bytes).unwrap();
            let mut left_out = LeftOut::default();
            left_out.add(directory.path(), 20, below.as_bytes()).unwrap();
            left_out
        };
        let entries = [("app/in", false), ("app/out", true), ("app/whole/", true), ("top", true)];
        let left_out = of(&entries, "app");
        for (path, expected) in [("in", false), ("out", true), ("whole/a/b", true), ("whole", true), ("top", false)] {
            assert_eq!(left_out.contains(path.as_bytes()), expected, "{path}");
        }
        assert!(of(&entries, "").contains(b"top") && !of(&entries, "").contains(b"app/in"));
        assert!(of(&[("app/", true)], "app/below").contains(b"anything"));
        fs::write(directory.path().join("index"), "nonsense").unwrap();
        assert!(LeftOut::default().add(directory.path(), 20, b"").is_err());
    }

    #[test]
    fn an_entry_of_a_split_index_without_a_name_may_leave_out_any_shared_one() {
        let directory = tempfile::tempdir().unwrap();
        let link = [&b"link"[..], &20u32.to_be_bytes(), &[7; 20]].concat();
        let shared = [index(3, 2), entry("a", false), entry("b", false), vec![0; 20]].concat();
        fs::write(directory.path().join(format!("sharedindex.{}", "07".repeat(20))), shared).unwrap();
        for (unnamed, expected) in [(true, true), (false, false)] {
            let own = [index(3, 1), entry("", unnamed), link.clone(), vec![0; 20]].concat();
            fs::write(directory.path().join("index"), own).unwrap();
            let mut left_out = LeftOut::default();
            left_out.add(directory.path(), 20, b"").unwrap();
            assert_eq!(left_out.contains(b"a"), expected);
        }
    }

    #[test]
    fn an_index_that_lies_is_not_believed() {
        assert!(parse(&index(2, u32::MAX), 20).is_none());
        assert!(parse(&index(2, 0), 20).is_some_and(|parsed| parsed.paths.is_empty()));
        // Every path is the one before and a few letters more.
        let entry = [&[0; 62][..], &[0], &[b'a'; 100], &[0]].concat();
        assert!(parse(&[index(4, 100_000), entry.repeat(100_000)].concat(), 20).is_none());
        let extension = [&index(2, 0)[..], b"xxxx", &[0xff; 4], &[0; 20]].concat();
        assert!(parse(&extension, 20).is_some_and(|parsed| parsed.shared.is_none()));
    }

    #[test]
    fn a_shared_index_that_builds_on_itself_is_read_once() {
        let directory = tempfile::tempdir().unwrap();
        let bytes = [&index(2, 0)[..], b"link", &20u32.to_be_bytes(), &[7; 20], &[0; 20]].concat();
        fs::write(directory.path().join("index"), &bytes).unwrap();
        fs::write(directory.path().join(format!("sharedindex.{}", "07".repeat(20))), &bytes).unwrap();
        assert_eq!(TrackedPaths::load(directory.path(), 20), TrackedPaths::default());
    }
}

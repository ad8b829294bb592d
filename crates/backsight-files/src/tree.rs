//! A whole-workspace file state as Git objects: a Git tree, and beside it what Git trees cannot hold.
//!
//! Git keeps one permission bit and no empty directories. The rest is in a second tree of the same shape, the
//! *attributes*: for every directory that needs it, a blob `m` with the exceptions, and below `d<name>` the
//! attributes of a subdirectory. Directories with ordinary permissions have none, and unchanged ones share theirs.
//!
//! Whom permissions are for (`access.rs`) is in the same blob, in records that readers from before take for permissions of
//! names that cannot be: they begin with a slash.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use backsight_core::{Code, Error, NextStep, ObjectId, RelPath, Result};
use serde::{Deserialize, Serialize};

use crate::access::{Access, Holder, needs_holder};
use crate::ignore::join;
use crate::names::alias_reason;
use crate::object::ObjectKind;
use crate::objects::{ObjectStore, damaged};
use crate::observe::read_exactly;

/// How many directories may be above a directory. No real tree is as deep, and what walks one may take a step a level.
pub(crate) const MAX_DEPTH: usize = 1000;

/// A file state: the Git tree id and the id of its attributes, if it needs any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tree {
    /// The id Git would give this tree.
    pub id: ObjectId,
    /// Permission bits and empty directories that the Git tree cannot hold.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attributes: Option<ObjectId>,
}

/// The tree with nothing in it.
pub(crate) const EMPTY_TREE: ObjectId = ObjectId::from_bytes([
    0x4b, 0x82, 0x5d, 0xc6, 0x42, 0xcb, 0x6e, 0xb9, 0xa0, 0x60, 0xe5, 0x4b, 0xf8, 0xd6, 0x92, 0x88, 0xfb, 0xee, 0x49,
    0x04,
]);

/// The contents of a directory as two object ids; both absent for one that is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Contents {
    pub(crate) tree: Option<ObjectId>,
    pub(crate) attributes: Option<ObjectId>,
}

impl Tree {
    pub(crate) fn contents(&self) -> Contents {
        Contents { tree: (self.id != EMPTY_TREE).then_some(self.id), attributes: self.attributes }
    }
}

impl Contents {
    pub(crate) fn into_tree(self) -> Tree {
        Tree { id: self.tree.unwrap_or(EMPTY_TREE), attributes: self.attributes }
    }
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Node {
    /// A regular file.
    File {
        /// All twelve permission bits.
        mode: u16,
        /// The blob with its bytes.
        id: ObjectId,
        /// Whom they are for.
        #[serde(skip_serializing_if = "Access::is_unknown", default)]
        access: Access,
    },
    /// A symbolic link.
    Symlink {
        /// The blob with its text.
        id: ObjectId,
    },
    /// A directory.
    Directory {
        /// All twelve permission bits.
        mode: u16,
        /// Whom they are for.
        #[serde(skip_serializing_if = "Access::is_unknown", default)]
        access: Access,
    },
}

impl Node {
    /// The blob, for files and symlinks.
    pub fn blob(&self) -> Option<ObjectId> {
        match self {
            Node::File { id, .. } | Node::Symlink { id } => Some(*id),
            Node::Directory { .. } => None,
        }
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        matches!(self, Node::Directory { .. })
    }
}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) node: Node,
    /// For directories, what is in them.
    pub(crate) contents: Contents,
}

/// Where objects are read from: the store, and for a mere look at the disk also memory and the disk itself.
pub(crate) struct Source<'a> {
    pub(crate) store: &'a ObjectStore,
    memory: Option<&'a BTreeMap<ObjectId, Vec<u8>>>,
    workspace: Option<&'a OwnedFd>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(store: &'a ObjectStore) -> Self {
        Source { store, memory: None, workspace: None }
    }

    /// A source that also knows what a capture saw without storing it.
    pub(crate) fn with_look(
        store: &'a ObjectStore,
        memory: &'a BTreeMap<ObjectId, Vec<u8>>,
        workspace: &'a OwnedFd,
    ) -> Self {
        Source { store, memory: Some(memory), workspace: Some(workspace) }
    }

    fn remembered(&self, id: &ObjectId) -> Option<Vec<u8>> {
        self.memory?.get(id).cloned()
    }

    fn tree(&self, id: &ObjectId) -> Result<Vec<u8>> {
        self.remembered(id).map_or_else(|| self.store.read_tree(id), Ok)
    }

    fn blob(&self, id: &ObjectId) -> Result<Vec<u8>> {
        self.remembered(id).map_or_else(|| self.store.read_blob(id), Ok)
    }

    /// The content of a file or symlink: stored, or still on disk at `path` just as the look saw it.
    pub(crate) fn content(&self, path: &RelPath, id: &ObjectId) -> Result<Vec<u8>> {
        match self.workspace {
            Some(workspace) if !self.store.contains(id)? => read_exactly(workspace, path, id),
            _ => self.store.read_blob(id),
        }
    }

    /// The entries of a directory, sorted by name.
    pub(crate) fn entries(&self, contents: &Contents) -> Result<Vec<Entry>> {
        let attributes = self.attributes_of(contents)?;
        let mut entries = Vec::new();
        if let Some(id) = &contents.tree {
            for raw in parse_tree(&self.tree(id)?).ok_or_else(|| malformed(id))? {
                entries.push(attributes.entry(raw).ok_or_else(|| malformed(id))?);
            }
        }
        for (name, mode) in &attributes.empty {
            if !is_safe_name(name) {
                return Err(malformed(&contents.attributes.unwrap_or(EMPTY_TREE)));
            }
            let inner = Contents { tree: None, attributes: attributes.children.get(name).copied() };
            let node = Node::Directory { mode: *mode, access: attributes.access(name, *mode) };
            entries.push(Entry { name: name.clone(), node, contents: inner });
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        match entries.windows(2).any(|pair| pair[0].name == pair[1].name) {
            true => Err(malformed(&contents.tree.unwrap_or(EMPTY_TREE))),
            false => Ok(entries),
        }
    }

    /// What the tree of a directory cannot hold.
    pub(crate) fn attributes_of(&self, contents: &Contents) -> Result<Attributes> {
        contents.attributes.as_ref().map_or_else(|| Ok(Attributes::default()), |id| self.attributes(id))
    }

    fn attributes(&self, id: &ObjectId) -> Result<Attributes> {
        let mut attributes = Attributes::default();
        for raw in parse_tree(&self.tree(id)?).ok_or_else(|| malformed(id))? {
            match raw.name.split_first() {
                Some((b'm', [])) => attributes.read(&self.blob(&raw.id)?).ok_or_else(|| malformed(&raw.id))?,
                Some((b'd', name)) => drop(attributes.children.insert(name.to_vec(), raw.id)),
                _ => return Err(malformed(id)),
            }
        }
        Ok(attributes)
    }

    /// What stands at `path`, and for directories what is in it.
    pub(crate) fn find(&self, tree: &Tree, path: &RelPath) -> Result<Option<Entry>> {
        let mut contents = tree.contents();
        let mut parts = path.as_bytes().split(|&byte| byte == b'/').peekable();
        while let Some(part) = parts.next() {
            let Some(entry) = self.entries(&contents)?.into_iter().find(|entry| entry.name == part) else {
                return Ok(None);
            };
            if parts.peek().is_none() {
                return Ok(Some(entry));
            }
            contents = entry.contents;
        }
        Ok(None)
    }

    /// Calls `visit` for everything in the tree, parents before children, sorted by name within a directory.
    pub(crate) fn walk(&self, contents: &Contents, visit: &mut dyn FnMut(&[u8], &Entry) -> Result<()>) -> Result<()> {
        let mut size = Size::of(self.store);
        let mut open = vec![(Vec::new(), self.entries(contents)?.into_iter())];
        while let Some((at, entries)) = open.last_mut() {
            let Some(entry) = entries.next() else {
                open.pop();
                continue;
            };
            size.add(1)?;
            let path = join(at, &entry.name);
            visit(&path, &entry)?;
            if entry.node.is_directory() {
                check_depth(open.len(), &entry.contents)?;
                open.push((path, self.entries(&entry.contents)?.into_iter()));
            }
        }
        Ok(())
    }
}

/// How much of a stored tree was looked at. Directories that are the same are stored once, so that a few small objects
/// can stand for more paths than there is memory for.
pub(crate) struct Size {
    entries: u64,
    most: u64,
}

impl Size {
    pub(crate) fn of(store: &ObjectStore) -> Self {
        Size { entries: 0, most: store.most_entries() }
    }

    pub(crate) fn add(&mut self, entries: usize) -> Result<()> {
        self.entries += entries as u64;
        if self.entries <= self.most {
            return Ok(());
        }
        let message = format!("the snapshot holds more than {} files and directories", self.most);
        Err(Error::new(Code::TooLarge, message).then("allow more", NextStep::configure("max_files", self.most)))
    }
}

/// Refuses a directory with too many directories above it.
pub(crate) fn check_depth(depth: usize, contents: &Contents) -> Result<()> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    let id = contents.tree.or(contents.attributes).unwrap_or(EMPTY_TREE);
    Err(damaged(&id, &format!("lies below more than {MAX_DEPTH} directories")))
}

/// Whether a stored name can be put on disk: it neither leaves the workspace nor is some file system's name for a
/// `.git` or for what is ours.
pub(crate) fn is_safe_name(name: &[u8]) -> bool {
    !name.contains(&b'/') && RelPath::new(name).is_ok() && alias_reason(name).is_none()
}

fn malformed(id: &ObjectId) -> Error {
    Error::new(Code::Damaged, format!("object {id} is not a tree Backsight can read"))
        .then("see what is affected", NextStep::VerifyStore)
}

/// One line of a Git tree.
pub(crate) struct RawEntry {
    pub(crate) mode: u32,
    pub(crate) name: Vec<u8>,
    pub(crate) id: ObjectId,
}

pub(crate) fn parse_tree(bytes: &[u8]) -> Option<Vec<RawEntry>> {
    let mut entries = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let space = rest.iter().position(|&byte| byte == b' ')?;
        let nul = rest.iter().position(|&byte| byte == 0).filter(|&nul| nul > space)?;
        let mode = u32::from_str_radix(std::str::from_utf8(&rest[..space]).ok()?, 8).ok()?;
        let id = ObjectId::from_slice(rest.get(nul + 1..nul + 21)?)?;
        entries.push(RawEntry { mode, name: rest[space + 1..nul].to_vec(), id });
        rest = &rest[nul + 21..];
    }
    Some(entries)
}

/// The bytes of a Git tree, in Git's order: as if directory names ended in a slash.
pub(crate) fn encode_tree(mut entries: Vec<RawEntry>) -> Vec<u8> {
    let key = |entry: &RawEntry| {
        let mut name = entry.name.clone();
        if entry.mode == 0o40000 {
            name.push(b'/');
        }
        name
    };
    entries.sort_by_cached_key(key);
    let mut bytes = Vec::with_capacity(entries.len() * 48);
    for entry in entries {
        bytes.extend_from_slice(format!("{:o} ", entry.mode).as_bytes());
        bytes.extend_from_slice(&entry.name);
        bytes.push(0);
        bytes.extend_from_slice(entry.id.as_bytes());
    }
    bytes
}

/// Builds the objects of one directory and hands them to `put`.
pub(crate) fn encode_directory(
    entries: &[Entry],
    put: &mut dyn FnMut(ObjectKind, &[u8]) -> Result<ObjectId>,
) -> Result<Contents> {
    let git: Vec<RawEntry> = entries.iter().filter_map(git_entry).collect();
    let tree = if git.is_empty() { None } else { Some(put(ObjectKind::Tree, &encode_tree(git))?) };
    let mut attributes: Vec<RawEntry> = Vec::new();
    if let Some(blob) = encode_modes(entries) {
        attributes.push(RawEntry { mode: 0o100644, name: b"m".to_vec(), id: put(ObjectKind::Blob, &blob)? });
    }
    for entry in entries {
        if let Some(id) = entry.contents.attributes {
            attributes.push(RawEntry { mode: 0o40000, name: [b"d", entry.name.as_slice()].concat(), id });
        }
    }
    let attributes = if attributes.is_empty() { None } else { Some(put(ObjectKind::Tree, &encode_tree(attributes))?) };
    Ok(Contents { tree, attributes })
}

fn git_entry(entry: &Entry) -> Option<RawEntry> {
    let (mode, id) = match entry.node {
        Node::File { mode, id, .. } => (if mode & 0o100 != 0 { 0o100755 } else { 0o100644 }, id),
        Node::Symlink { id } => (0o120000, id),
        Node::Directory { .. } => (0o40000, entry.contents.tree?),
    };
    Some(RawEntry { mode, name: entry.name.clone(), id })
}

/// The classes that share a default within a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    File,
    Executable,
    Directory,
}

const CLASSES: [(Class, &str, u16); 3] =
    [(Class::File, "file", 0o644), (Class::Executable, "exec", 0o755), (Class::Directory, "dir", 0o755)];

fn class_of(entry: &Entry) -> Option<(Class, u16)> {
    match entry.node {
        Node::File { mode, .. } if mode & 0o100 != 0 => Some((Class::Executable, mode)),
        Node::File { mode, .. } => Some((Class::File, mode)),
        Node::Directory { mode, .. } if entry.contents.tree.is_some() => Some((Class::Directory, mode)),
        _ => None,
    }
}

/// Exceptions to the ordinary permissions, as NUL-ended records `class mode` (what most of that class have here)
/// and `class mode name`. Directories that Git cannot hold are always named: `empty mode name`.
fn encode_modes(entries: &[Entry]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for (class, label, ordinary) in CLASSES {
        let members =
            || entries.iter().filter_map(|entry| Some((entry, class_of(entry)?))).filter(|(_, found)| found.0 == class);
        let usual = most_common(members().map(|(_, (_, mode))| mode)).unwrap_or(ordinary);
        if usual != ordinary {
            text.extend_from_slice(format!("{label} {usual:o}\0").as_bytes());
        }
        for (entry, (_, mode)) in members().filter(|(_, (_, mode))| *mode != usual) {
            push_record(&mut text, label, mode, &entry.name);
        }
    }
    for entry in entries {
        if let (Node::Directory { mode, .. }, None) = (entry.node, entry.contents.tree) {
            push_record(&mut text, "empty", mode, &entry.name);
        }
    }
    push_holders(&mut text, entries);
    (!text.is_empty()).then_some(text)
}

/// Whom permissions are for, where the bits alone do not say it: `file 0 /HOLDER/name/name`, and without a name for all
/// that have need of it and are not named.
fn push_holders(text: &mut Vec<u8>, entries: &[Entry]) {
    let mut named: BTreeMap<&Holder, Vec<&[u8]>> = BTreeMap::new();
    let mut plain: BTreeMap<&Holder, usize> = BTreeMap::new();
    let mut is_whole = true;
    for entry in entries {
        let (Node::File { mode, access, .. } | Node::Directory { mode, access }) = entry.node else { continue };
        let Some(holder) = access.holder() else {
            is_whole &= !needs_holder(mode);
            continue;
        };
        let has_lists = holder.list.is_some() || holder.inherited.is_some();
        if has_lists || needs_holder(mode) {
            named.entry(holder).or_default().push(&entry.name);
            *plain.entry(holder).or_default() += usize::from(!has_lists);
        }
    }
    let most = plain.into_iter().filter(|(_, count)| is_whole && *count > 0);
    let usual = most.max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0))).map(|(holder, _)| holder);
    for (holder, names) in named {
        text.extend_from_slice(format!("file 0 /{holder}").as_bytes());
        for name in names.into_iter().filter(|_| usual != Some(holder)) {
            text.push(b'/');
            text.extend_from_slice(name);
        }
        text.push(0);
    }
}

fn push_record(text: &mut Vec<u8>, label: &str, mode: u16, name: &[u8]) {
    text.extend_from_slice(format!("{label} {mode:o} ").as_bytes());
    text.extend_from_slice(name);
    text.push(0);
}

/// The most common mode; of equally common ones the smallest, so that the answer never depends on order.
fn most_common(modes: impl Iterator<Item = u16>) -> Option<u16> {
    let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
    modes.for_each(|mode| *counts.entry(mode).or_default() += 1);
    let most = counts.values().copied().max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(mode, _)| mode)
}

/// The parsed attributes of one directory.
#[derive(Default)]
pub(crate) struct Attributes {
    usual: BTreeMap<Class, u16>,
    named: BTreeMap<Vec<u8>, u16>,
    empty: BTreeMap<Vec<u8>, u16>,
    children: BTreeMap<Vec<u8>, ObjectId>,
    usual_holder: Access,
    holders: BTreeMap<Vec<u8>, Access>,
}

impl Attributes {
    pub(crate) fn read(&mut self, text: &[u8]) -> Option<()> {
        for record in text.strip_suffix(b"\0")?.split(|&byte| byte == 0) {
            let mut parts = record.splitn(3, |&byte| byte == b' ');
            let label = std::str::from_utf8(parts.next()?).ok()?;
            let mode = u16::from_str_radix(std::str::from_utf8(parts.next()?).ok()?, 8).ok()? & 0o7777;
            let class = CLASSES.iter().find(|(_, name, _)| *name == label).map(|(class, _, _)| *class);
            match (class, label, parts.next()) {
                (Some(_), _, Some([b'/', holder @ ..])) => self.read_holder(holder),
                (Some(class), _, None) => drop(self.usual.insert(class, mode)),
                (Some(_), _, Some(name)) => drop(self.named.insert(name.to_vec(), mode)),
                (None, "empty", Some(name)) => drop(self.empty.insert(name.to_vec(), mode)),
                _ => return None,
            }
        }
        Some(())
    }

    /// A record that cannot be read says nothing.
    fn read_holder(&mut self, record: &[u8]) {
        let mut parts = record.split(|&byte| byte == b'/');
        let text = parts.next().and_then(|text| std::str::from_utf8(text).ok());
        let Some(holder) = text.and_then(Holder::parse) else { return };
        let access = Access::new(holder);
        let mut is_usual = true;
        for name in parts {
            is_usual = false;
            self.holders.insert(name.to_vec(), access);
        }
        if is_usual {
            self.usual_holder = access;
        }
    }

    /// Whom the permissions of a name are for, as far as it is recorded.
    pub(crate) fn access(&self, name: &[u8], mode: u16) -> Access {
        let usual = if needs_holder(mode) { self.usual_holder } else { Access::default() };
        self.holders.get(name).copied().unwrap_or(usual)
    }

    fn entry(&self, raw: RawEntry) -> Option<Entry> {
        let mode = |class: Class, ordinary: u16| {
            let usual = self.usual.get(&class).copied().unwrap_or(ordinary);
            self.named.get(&raw.name).copied().unwrap_or(usual)
        };
        let mut contents = Contents::default();
        let file = |mode: u16| Node::File { mode, id: raw.id, access: self.access(&raw.name, mode) };
        let node = match raw.mode {
            0o40000 => {
                contents = Contents { tree: Some(raw.id), attributes: self.children.get(&raw.name).copied() };
                let mode = mode(Class::Directory, 0o755);
                Node::Directory { mode, access: self.access(&raw.name, mode) }
            }
            0o120000 => Node::Symlink { id: raw.id },
            0o100755 => file(mode(Class::Executable, 0o755)),
            0o100644 | 0o100664 => file(mode(Class::File, 0o644)),
            _ => return None,
        };
        is_safe_name(&raw.name).then_some(Entry { name: raw.name, node, contents })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, mode: u16, holder: Option<&str>) -> Entry {
        let access = holder.and_then(Holder::parse).map(Access::new).unwrap_or_default();
        let node = Node::File { mode, id: EMPTY_TREE, access };
        Entry { name: name.as_bytes().to_vec(), node, contents: Contents::default() }
    }

    /// What is written for a directory, with `|` for its NULs.
    fn written(entries: &[Entry]) -> String {
        String::from_utf8(encode_modes(entries).unwrap_or_default()).unwrap().replace('\0', "|")
    }

    /// The holders that are read back, by name.
    fn read(entries: &[Entry]) -> Vec<String> {
        let mut attributes = Attributes::default();
        attributes.read(&encode_modes(entries).unwrap()).unwrap();
        let of = |entry: &Entry| {
            let Node::File { mode, .. } = entry.node else { return None };
            let holder = attributes.access(&entry.name, mode).holder();
            Some(format!("{} {}", entry.name.escape_ascii(), holder.map_or("-".to_owned(), ToString::to_string)))
        };
        entries.iter().filter_map(of).collect()
    }

    const LIST: &str = "1.2;u:6,u9:6,g:0,m:6,o:0;";

    #[test]
    fn whom_files_are_for_is_kept_where_the_bits_do_not_say_it() {
        let (plain, other) = (Some("1.2"), Some("1.3"));
        assert_eq!(written(&[file("a", 0o644, plain), file("b", 0o755, other)]), "", "the bits say all of it");
        let entries = [
            file("a b", 0o640, plain),
            file("c", 0o640, plain),
            file("d", 0o644, None),
            file("e", 0o640, other),
            file("f", 0o644, Some(LIST)),
        ];
        let text = written(&entries);
        assert_eq!(
            text,
            "file 640|file 644 d|file 644 f|file 0 /1.2|file 0 /1.2;u:6,u9:6,g:0,m:6,o:0;/f|file 0 /1.3/e|"
        );
        assert_eq!(read(&entries), ["a b 1.2", "c 1.2", "d -", "e 1.3", &format!("f {LIST}")]);
        // A reader from before sees permissions of names that begin with a slash, which no file has.
        let records: Vec<&str> = text.split_terminator('|').filter(|record| record.contains('/')).collect();
        assert!(records.iter().all(|record| record.starts_with("file 0 /")), "{records:?}");
    }

    /// A file of a tree from before this was recorded must not be taken for one of those that are.
    #[test]
    fn what_is_not_recorded_stays_unknown_beside_what_is() {
        let entries = [file("a", 0o640, Some("1.2")), file("b", 0o640, Some("1.2")), file("old", 0o640, None)];
        assert_eq!(read(&entries), ["a 1.2", "b 1.2", "old -"]);
    }

    #[test]
    fn a_holder_that_cannot_be_read_says_nothing() {
        let mut attributes = Attributes::default();
        attributes.read(b"file 0 /nonsense/a\0file 0 /1.2/b/c\0file 0 /\0file 640\0").unwrap();
        let names: [&[u8]; 3] = [b"a", b"b", b"d"];
        assert_eq!(names.map(|name| attributes.access(name, 0o640).is_unknown()), [true, false, true]);
    }
}

//! Reads the lines git puts between `diff --git` and `---`.

use crate::header::ORDINARY_FILE;
use crate::parse::names::read_bare_path;
use crate::patch::PatchKind;

/// What the lines between `diff --git` and `---` have said so far.
#[derive(Default)]
pub(super) struct Extended {
    pub old_mode: Option<u32>,
    pub new_mode: Option<u32>,
    pub created: Option<u32>,
    pub deleted: Option<u32>,
    pub rename_from: Option<Vec<u8>>,
    pub rename_to: Option<Vec<u8>>,
    pub copy_from: Option<Vec<u8>>,
    pub copy_to: Option<Vec<u8>>,
    pub similarity: Option<u8>,
    pub index: Option<Index>,
}

pub(super) struct Index {
    pub old: Vec<u8>,
    pub new: Vec<u8>,
    pub mode: Option<u32>,
}

/// A known header line whose value cannot be read.
pub(super) struct Unreadable;

impl Extended {
    /// Reads one line: `None` when it is no extended header line, `Some(Ok(false))` when it was already there.
    pub fn read(&mut self, line: &[u8]) -> Option<Result<bool, Unreadable>> {
        let path = |text: &[u8]| read_bare_path(text);
        let result = if let Some(text) = line.strip_prefix(b"old mode ") {
            set(&mut self.old_mode, read_mode(text))
        } else if let Some(text) = line.strip_prefix(b"new mode ") {
            set(&mut self.new_mode, read_mode(text))
        } else if let Some(text) = line.strip_prefix(b"new file mode ") {
            set(&mut self.created, read_mode(text))
        } else if let Some(text) = line.strip_prefix(b"deleted file mode ") {
            set(&mut self.deleted, read_mode(text))
        } else if let Some(text) = line.strip_prefix(b"rename from ") {
            set(&mut self.rename_from, path(text))
        } else if let Some(text) = line.strip_prefix(b"rename to ") {
            set(&mut self.rename_to, path(text))
        } else if let Some(text) = line.strip_prefix(b"copy from ") {
            set(&mut self.copy_from, path(text))
        } else if let Some(text) = line.strip_prefix(b"copy to ") {
            set(&mut self.copy_to, path(text))
        } else if let Some(text) = line.strip_prefix(b"similarity index ") {
            set(&mut self.similarity, read_percent(text))
        } else if let Some(text) = line.strip_prefix(b"index ") {
            set(&mut self.index, read_index(text))
        } else if line.starts_with(b"dissimilarity index ") {
            Ok(true)
        } else {
            return None;
        };
        Some(result)
    }

    /// Modes before and after. Git's reader takes an unsaid mode of a created or deleted file as an ordinary one.
    pub fn modes(&self, kind: PatchKind) -> (Option<u32>, Option<u32>) {
        let unchanged = self.index.as_ref().and_then(|index| index.mode);
        match kind {
            PatchKind::Added => (None, Some(self.created.or(unchanged).unwrap_or(ORDINARY_FILE))),
            PatchKind::Deleted => (Some(self.deleted.or(unchanged).unwrap_or(ORDINARY_FILE)), None),
            _ => match self.mode_change() {
                Some((old, new)) => (Some(old), Some(new)),
                None => (unchanged, unchanged),
            },
        }
    }

    /// What `old mode` and `new mode` say. A mode that changes into itself is as good as unsaid, and git never says it.
    pub fn mode_change(&self) -> Option<(u32, u32)> {
        self.old_mode.zip(self.new_mode).filter(|(old, new)| old != new)
    }
}

fn set<T>(slot: &mut Option<T>, value: Option<T>) -> Result<bool, Unreadable> {
    let first = slot.is_none();
    *slot = Some(value.ok_or(Unreadable)?);
    Ok(first)
}

fn read_mode(text: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o177777)
}

fn read_percent(text: &[u8]) -> Option<u8> {
    let number = std::str::from_utf8(text.strip_suffix(b"%")?).ok()?;
    number.parse().ok().filter(|percent| *percent <= 100)
}

fn read_index(text: &[u8]) -> Option<Index> {
    let (ids, mode) = match text.iter().position(|&byte| byte == b' ') {
        Some(space) => (&text[..space], Some(read_mode(&text[space + 1..])?)),
        None => (text, None),
    };
    let dots = ids.windows(2).position(|pair| pair == b"..")?;
    let (old, new) = (&ids[..dots], &ids[dots + 2..]);
    let is_id = |id: &[u8]| !id.is_empty() && id.iter().all(u8::is_ascii_hexdigit);
    (is_id(old) && is_id(new)).then(|| Index { old: old.to_vec(), new: new.to_vec(), mode })
}

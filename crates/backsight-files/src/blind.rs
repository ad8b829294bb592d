//! What a capture could not see, as a lookup and as a stored blob. What was not seen is never proven absent.

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::{Code, Error, ObjectId, Reason, Result, Uncovered};

use crate::objects::ObjectStore;

/// Paths (and everything below them) that a capture does not speak about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Blind {
    paths: BTreeMap<Vec<u8>, Reason>,
    /// What is Git's or Backsight's own inside the workspace. Nobody asks about it, but it occupies its directory.
    /// Only known of the present.
    reserved: BTreeSet<Vec<u8>>,
}

const REASONS: [(Reason, &str); 8] = [
    (Reason::Ignored, "ignored"),
    (Reason::Unreadable, "unreadable"),
    (Reason::TooLarge, "too_large"),
    (Reason::Special, "special"),
    (Reason::Raced, "raced"),
    (Reason::GitAlias, "git_alias"),
    (Reason::OwnAlias, "own_alias"),
    (Reason::TooDeep, "too_deep"),
];

impl Blind {
    pub(crate) fn new(ignored: &[Vec<u8>], uncovered: &[Uncovered], reserved: &[Vec<u8>]) -> Self {
        let mut paths: BTreeMap<Vec<u8>, Reason> = ignored.iter().map(|path| (path.clone(), Reason::Ignored)).collect();
        paths.extend(uncovered.iter().map(|uncovered| (uncovered.path.as_bytes().to_vec(), uncovered.reason)));
        Blind { paths, reserved: reserved.iter().cloned().collect() }
    }

    /// Why nothing is known about `path`, if so.
    pub(crate) fn reason(&self, path: &[u8]) -> Option<Reason> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        slashes.chain(std::iter::once(path.len())).find_map(|end| self.paths.get(&path[..end]).copied())
    }

    /// Whether something that was not captured stands exactly at `path`.
    pub(crate) fn stands_at(&self, path: &[u8]) -> bool {
        self.paths.contains_key(path)
    }

    /// Whether something below `directory` (or the directory itself) was not seen.
    pub(crate) fn touches(&self, directory: &[u8]) -> bool {
        let prefix = [directory, b"/"].concat();
        let below = self.paths.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix));
        let reserved = self.reserved.range(prefix.clone()..).next().is_some_and(|path| path.starts_with(&prefix));
        below || reserved || self.reason(directory).is_some()
    }

    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for (path, reason) in &self.paths {
            let label = REASONS.iter().find(|(known, _)| known == reason).map_or("ignored", |(_, label)| label);
            bytes.extend_from_slice(label.as_bytes());
            bytes.push(b' ');
            bytes.extend_from_slice(path);
            bytes.push(0);
        }
        (!bytes.is_empty()).then_some(bytes)
    }

    /// The stored form of a snapshot; no id means that everything was seen.
    pub(crate) fn load(store: &ObjectStore, id: Option<&ObjectId>) -> Result<Self> {
        let Some(id) = id else { return Ok(Blind::default()) };
        Blind::parse(&store.read_blob(id)?)
            .ok_or_else(|| Error::new(Code::Damaged, format!("object {id} is not a coverage record")))
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut paths = BTreeMap::new();
        for record in bytes.split(|&byte| byte == 0).filter(|record| !record.is_empty()) {
            let space = record.iter().position(|&byte| byte == b' ')?;
            let label = REASONS.iter().find(|(_, label)| label.as_bytes() == &record[..space])?;
            paths.insert(record[space + 1..].to_vec(), label.0);
        }
        Some(Blind { paths, reserved: BTreeSet::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_stands_for_everything_below_it() {
        let blind = Blind::new(&[b"target".to_vec()], &[], &[]);
        assert_eq!(blind.reason(b"target/debug/x"), Some(Reason::Ignored));
        assert_eq!(blind.reason(b"target"), Some(Reason::Ignored));
        assert_eq!(blind.reason(b"targets"), None);
        assert_eq!(blind.reason(b"src/target"), None);
    }

    #[test]
    fn a_directory_knows_of_what_is_hidden_inside_it() {
        let blind = Blind::new(&[b"a/b/c.log".to_vec()], &[], &[b"r/.git".to_vec()]);
        assert!(blind.touches(b"a") && blind.touches(b"a/b"));
        assert!(!blind.touches(b"a/b2"));
        assert!(blind.touches(b"r"));
        assert_eq!(blind.reason(b"r/.git"), None);
    }
}

//! The parsers of what others may have written, as functions of bytes alone, for fuzzing from outside this crate. Nothing
//! here is an interface: names and arguments change with the parsers.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use backsight_core::{ObjectId, RelPath};

use crate::anchored::AnchoredPath;
use crate::blind::Blind;
use crate::cache::Cache;
use crate::git_attributes::{AttributeFile, AttributeRules, AttributeState, Macros, PatternEffort};
use crate::journal::Journal;
use crate::objects::parse_loose;
use crate::pack::{Index, Pack, apply_delta};
use crate::tree::{Attributes, parse_tree};
use crate::{Patterns, git_config, git_index, git_log, git_repository};

/// An entry of the journal; how many paths it is about.
pub fn journal(bytes: &[u8]) -> Option<usize> {
    Journal::from_bytes(bytes).ok().map(|journal| journal.steps.len())
}

/// A loose object as it lies on disk; how many bytes it holds.
pub fn loose_object(bytes: &[u8]) -> Option<usize> {
    parse_loose(bytes, bytes.len() as u64).ok().map(|(_, content)| content.len())
}

/// Every object of a pack that its index names; how many could be read.
pub fn pack(pack: &[u8], index: &[u8]) -> usize {
    let Ok(index) = Index::parse(index.to_vec()) else { return 0 };
    let Some(data) = in_memory(pack) else { return 0 };
    let Ok(nowhere) = AnchoredPath::open_directory(Path::new("/")) else { return 0 };
    let pack = Pack::of(nowhere, data, pack.len() as u64, index);
    let _ = (pack.entries(), pack.sizes(), pack.check_file());
    // An index may name more objects than a fuzzer has time for.
    pack.ids().take(1000).filter(|id| pack.read(id).is_some_and(|read| read.is_ok())).count()
}

fn in_memory(bytes: &[u8]) -> Option<File> {
    let mut file = crate::platform::nameless_file().ok()?;
    file.write_all(bytes).ok()?;
    Some(file)
}

/// What a delta makes of its base.
pub fn delta(base: &[u8], delta: &[u8]) -> Option<usize> {
    apply_delta(base, delta).ok().map(|content| content.len())
}

/// The index of a pack.
pub fn pack_index(bytes: &[u8]) -> bool {
    Index::parse(bytes.to_vec()).is_ok()
}

/// A `packed-refs`; how many references it names.
pub fn packed_refs(bytes: &[u8]) -> usize {
    git_repository::parse_packed(bytes).len()
}

/// A Git configuration file; how many entries it has.
pub fn git_config(bytes: &[u8]) -> usize {
    git_config::parse(bytes).len()
}

/// The index of a work tree; how many paths it tracks.
pub fn git_index(bytes: &[u8]) -> Option<usize> {
    git_index::parse(bytes, 20).map(|parsed| parsed.paths.len())
}

/// The lines of a `.gitattributes` and a path; whether they say anything about its line endings.
pub fn git_attributes(lines: &[u8], path: &[u8]) -> bool {
    let rules = AttributeRules::over(None, b"", Arc::new(AttributeFile::parse(lines, Macros::Allowed)));
    let found = rules.at(path, &AttributeFile::default(), &mut PatternEffort::default());
    *found.get("text") != AttributeState::Unset
}

/// A commit; how many parents it has.
pub fn git_commit(content: &[u8]) -> Option<usize> {
    git_log::parse(ObjectId::from_hex(&"0".repeat(40))?, content).map(|commit| commit.parents.len())
}

/// The stat cache without its checksum, which a fuzzer would never guess.
pub fn stat_cache(bytes: &[u8]) -> bool {
    let whole = [bytes, &crc32fast::hash(bytes).to_le_bytes()].concat();
    Cache::parse(whole).is_some_and(|cache| cache.files() < u64::MAX)
}

/// A tree object; how many entries it has.
pub fn tree(bytes: &[u8]) -> Option<usize> {
    parse_tree(bytes).map(|entries| entries.len())
}

/// The exceptions to ordinary permissions in one directory.
pub fn attributes(bytes: &[u8]) -> bool {
    Attributes::default().read(bytes).is_some()
}

/// The stored list of what a capture did not see.
pub fn coverage(bytes: &[u8]) -> bool {
    Blind::parse(bytes).is_some()
}

/// Lines of patterns and a path.
pub fn patterns(lines: &str, path: &[u8]) -> Option<bool> {
    let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
    Some(Patterns::new(&lines).matches(&RelPath::new(path).ok()?, false))
}

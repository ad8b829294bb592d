//! What `git add` makes of a file of a work tree, without running it: which conversion the repository's attributes and
//! configuration ask for. What only a program could do is named and not done: no program of a repository is ever run.

use std::fs;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use backsight_core::{Code, Error, ObjectId, Result, bounded, quote};
use sha2::{Digest, Sha256};

use crate::git_attributes::{AttributeFile, AttributeRules, AttributeState, Macros, PathAttributes, PatternEffort};
use crate::git_config::{Reading, configuration_files, flag, not_read};
use crate::git_stamps::IndexStamps;
use crate::ignore::{Surroundings, common_dir, path_of};
use crate::tree::RawEntry;

pub(crate) const ATTRIBUTES: &[u8] = b".gitattributes";
const SYSTEM_ATTRIBUTES: &str = "/etc/gitattributes";
/// The largest file of attributes that is read: some hundred thousand lines.
pub(crate) const MAX_ATTRIBUTES: u64 = 8 << 20;
/// What the matching of all patterns with all paths may take beyond what each path may: a second or two of one processor.
const MAX_STEPS: u64 = 200_000_000;
/// What each path may take: some hundred patterns with stars.
const FEW_STEPS: u64 = 4096;
/// The longest text that is looked at as a pointer of Git LFS; Git LFS itself looks no further.
pub(crate) const MAX_POINTER: usize = 1024;

const SYMLINK: u32 = 0o120000;

/// What becomes of a file's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    Convert {
        line_endings: LineEndings,
        ident: bool,
    },
    /// Only a program could do it.
    Filter {
        name: Vec<u8>,
    },
    /// From an encoding that is not UTF-8.
    Encoding,
}

/// Whether `CR LF` becomes `LF`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LineEndings {
    Stay,
    Convert,
    /// In texts, unless the repository already holds the file with `CR LF`.
    Guess,
}

/// What a repository says about its work tree, apart from the files in the work tree itself.
#[derive(Debug)]
pub(crate) struct CheckIn {
    matching: PatternEffort,
    /// `core.autocrlf`: what no attribute speaks of is converted like text where it looks like it.
    guesses: bool,
    trusts_modes: bool,
    has_symlinks: bool,
    /// The system's attributes and the user's.
    outermost: Arc<AttributeRules>,
    /// `info/attributes`, which goes before all others.
    first: AttributeFile,
    git_dir: PathBuf,
    /// What the index vouches for; read when it is first needed.
    stamps: Option<IndexStamps>,
}

impl CheckIn {
    /// Reads the configuration and the attributes around the work tree of `git_dir`.
    pub(crate) fn of(git_dir: &Path, surroundings: &Surroundings) -> Result<CheckIn> {
        let mut unread = Vec::new();
        let files = configuration_files(surroundings, Some(git_dir), &mut unread);
        let reading = Reading { home: surroundings.home.as_deref(), git_dir: Some(git_dir) };
        let mut value = |key: &str| files.iter().find_map(|file| reading.value(file, "core", key, &mut unread));
        let guesses = value("autocrlf").is_some_and(|text| text.eq_ignore_ascii_case(b"input") || flag(&text));
        let [trusts_modes, has_symlinks] =
            ["filemode", "symlinks"].map(|key| value(key).is_none_or(|text| flag(&text)));
        let folds_case = value("ignorecase").is_some_and(|text| flag(&text));
        let named = value("attributesfile").map(|text| reading.path(&text));
        let of_user = named.or_else(|| Some(surroundings.config_directory()?.join("git/attributes")));
        if let Some(problem) = unread.pop() {
            return Err(unknown(&problem));
        }
        let load = |file: &Path| Ok::<_, Error>(parse(&read_file(file)?.unwrap_or_default(), Macros::Allowed));
        let system = AttributeRules::over(None, b"", Arc::new(load(Path::new(SYSTEM_ATTRIBUTES))?));
        let of_user = of_user.map_or_else(|| Ok(AttributeFile::default()), |file| load(&file))?;
        Ok(CheckIn {
            matching: PatternEffort { folds_case, steps: 0 },
            guesses,
            trusts_modes,
            has_symlinks,
            outermost: AttributeRules::over(Some(system), b"", Arc::new(of_user)),
            first: load(&common_dir(git_dir).join("info/attributes"))?,
            git_dir: git_dir.to_owned(),
            stamps: None,
        })
    }

    /// What is in force outside all work trees.
    pub(crate) fn outermost(&self) -> Arc<AttributeRules> {
        self.outermost.clone()
    }

    /// What becomes of the file at a path of the repository.
    pub(crate) fn treatment(&mut self, path: &[u8], rules: &AttributeRules) -> Result<Treatment> {
        let allowed = self.matching.steps + FEW_STEPS;
        let found = rules.at(path, &self.first, &mut self.matching);
        self.matching.steps = self.matching.steps.max(allowed) - FEW_STEPS;
        if self.matching.steps > MAX_STEPS {
            let message = "to match the patterns of the repository's `.gitattributes` takes too long";
            return Err(Error::new(Code::TooLarge, message).with_hint("have fewer patterns, with fewer `*` each"));
        }
        Ok(treatment(&found, self.guesses))
    }

    /// The permissions that a commit records for a regular file.
    pub(crate) fn mode(&self, parent: Option<&RawEntry>, mode: u32) -> u32 {
        match parent.map(|parent| parent.mode) {
            // Checked out as a file that holds where it leads.
            Some(SYMLINK) if !self.has_symlinks => SYMLINK,
            Some(known) if !self.trusts_modes && known & 0o170000 == 0o100000 => known,
            _ if !self.trusts_modes => 0o100644,
            _ => mode,
        }
    }

    /// Whether the index knows that the file at a path of the repository, `file`, still holds what became the blob
    /// `checked_in`, and the file holds what the blob `content` does.
    pub(crate) fn vouches(&mut self, path: &[u8], file: &Path, checked_in: &ObjectId, content: &ObjectId) -> bool {
        let git_dir = &self.git_dir;
        self.stamps.get_or_insert_with(|| IndexStamps::load(git_dir)).vouches(path, file, checked_in, content)
    }
}

fn treatment(found: &PathAttributes, guesses: bool) -> Treatment {
    if let AttributeState::Value(name) = found.get("filter")
        && !name.is_empty()
    {
        return Treatment::Filter { name: name.clone() };
    }
    match found.get("working-tree-encoding") {
        AttributeState::Value(name) if name.is_empty() || is_utf8(name) => {}
        // Git refuses such a file.
        AttributeState::True | AttributeState::Value(_) => return Treatment::Encoding,
        AttributeState::False | AttributeState::Unset => {}
    }
    let ending = match (found.get("text"), found.get("crlf")) {
        (AttributeState::True | AttributeState::False, _) => found.get("text"),
        (AttributeState::Value(value), _) if value == b"auto" || value == b"input" => found.get("text"),
        (_, older) => older,
    };
    let has_eol = matches!(found.get("eol"), AttributeState::Value(value) if value == b"lf" || value == b"crlf");
    let line_endings = match ending {
        AttributeState::True => LineEndings::Convert,
        AttributeState::False => LineEndings::Stay,
        AttributeState::Value(value) if value == b"auto" => LineEndings::Guess,
        AttributeState::Value(value) if value == b"input" => LineEndings::Convert,
        _ if has_eol => LineEndings::Convert,
        _ if guesses => LineEndings::Guess,
        _ => LineEndings::Stay,
    };
    Treatment::Convert { line_endings, ident: *found.get("ident") == AttributeState::True }
}

fn is_utf8(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"utf-8") || name.eq_ignore_ascii_case(b"utf8")
}

/// Whether `pointer` is what Git LFS keeps in the repository for a file of this content: its size and its hash.
pub(crate) fn is_lfs_pointer_to(pointer: &[u8], size: u64, digest: &[u8; 32]) -> bool {
    let Ok(text) = std::str::from_utf8(pointer) else { return false };
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    pointer.len() <= MAX_POINTER
        && text.starts_with("version https://git-lfs.github.com/spec/")
        // An extension changes what is hashed.
        && !text.lines().any(|line| line.starts_with("ext-"))
        && field("oid sha256:") == Some(hex.as_str())
        && field("size ").and_then(|text| text.parse().ok()) == Some(size)
}

/// The size of what is written to it, and its SHA-256.
#[derive(Default)]
pub(crate) struct Digesting {
    hasher: Sha256,
    size: u64,
}

impl Digesting {
    pub(crate) fn finish(self) -> (u64, [u8; 32]) {
        (self.size, self.hasher.finalize().into())
    }
}

impl Write for Digesting {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.hasher.update(bytes);
        self.size += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Reads a text of attributes.
pub(crate) fn parse(text: &[u8], macros: Macros) -> AttributeFile {
    AttributeFile::parse(text, macros)
}

/// The `.gitattributes` in a directory on disk. As in Git, a symlink is none.
pub(crate) fn read_attributes_in(directory: &Path) -> Result<Option<Vec<u8>>> {
    let file = directory.join(path_of(ATTRIBUTES));
    if fs::symlink_metadata(&file).is_ok_and(|found| found.is_symlink()) {
        return Ok(None);
    }
    let opened = match fs::File::open(directory) {
        Ok(opened) => opened,
        Err(error) if bounded::is_absence(&error) => return Ok(None),
        Err(error) => return Err(unknown(&not_read(&file, &error))),
    };
    or_absent(&file, bounded::read_in(opened.as_fd(), ATTRIBUTES, MAX_ATTRIBUTES))
}

fn read_file(file: &Path) -> Result<Option<Vec<u8>>> {
    or_absent(file, bounded::read(file, MAX_ATTRIBUTES))
}

fn or_absent(file: &Path, read: std::io::Result<Vec<u8>>) -> Result<Option<Vec<u8>>> {
    match read {
        Ok(text) => Ok(Some(text)),
        Err(error) if bounded::is_absence(&error) => Ok(None),
        Err(error) => Err(unknown(&not_read(file, &error))),
    }
}

/// The refusal to write files that Git may convert.
fn unknown(problem: &str) -> Error {
    Error::new(Code::GitRefused, format!("how Git converts the files is not known: {problem}"))
        .with_hint("make it a file that you can read, or remove it")
}

/// The refusal of a `.gitattributes` of a snapshot or a commit.
pub(crate) fn too_large(path: &[u8]) -> Error {
    unknown(&format!("`{}` is larger than {MAX_ATTRIBUTES} bytes", quote(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn treated(lines: &str, guesses: bool) -> Treatment {
        let rules = AttributeRules::over(None, b"", Arc::new(parse(lines.as_bytes(), Macros::Allowed)));
        treatment(&rules.at(b"x", &AttributeFile::default(), &mut PatternEffort::default()), guesses)
    }

    #[test]
    fn attributes_and_configuration_decide_together() {
        use LineEndings::{Convert, Guess, Stay};
        for (lines, otherwise, guessing) in [
            ("", Stay, Guess),
            ("x text", Convert, Convert),
            ("x -text", Stay, Stay),
            ("x binary", Stay, Stay),
            ("x text=auto", Guess, Guess),
            ("x text=auto eol=lf", Guess, Guess),
            ("x eol=crlf", Convert, Convert),
            ("x -text eol=lf", Stay, Stay),
            ("x text=nonsense", Stay, Guess),
            ("x crlf", Convert, Convert),
            ("x -crlf", Stay, Stay),
            ("x crlf=input", Convert, Convert),
            ("x text=auto -crlf", Guess, Guess),
            ("x eol", Stay, Guess),
            ("x -filter -ident working-tree-encoding=UTF-8", Stay, Guess),
        ] {
            for (guesses, line_endings) in [(false, otherwise), (true, guessing)] {
                let expected = Treatment::Convert { line_endings, ident: false };
                assert_eq!(treated(lines, guesses), expected, "{lines} {guesses}");
            }
        }
        assert_eq!(treated("x ident", false), Treatment::Convert { line_endings: Stay, ident: true });
        assert_eq!(treated("x filter=lfs text", false), Treatment::Filter { name: b"lfs".to_vec() });
        assert_eq!(treated("x working-tree-encoding=UTF-16", false), Treatment::Encoding);
        assert_eq!(treated("x filter", false), Treatment::Convert { line_endings: Stay, ident: false });
    }

    #[test]
    fn a_pointer_speaks_for_its_own_content_alone() {
        let digest: [u8; 32] = Sha256::digest(b"content").into();
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{hex}\nsize 7\n");
        assert!(is_lfs_pointer_to(pointer.as_bytes(), 7, &digest));
        assert!(!is_lfs_pointer_to(pointer.as_bytes(), 8, &digest));
        assert!(!is_lfs_pointer_to(pointer.as_bytes(), 7, &[0; 32]));
        assert!(!is_lfs_pointer_to(pointer.replace("oid", "ext-0-x\noid").as_bytes(), 7, &digest));
        assert!(!is_lfs_pointer_to(b"content", 7, &digest));
    }
}

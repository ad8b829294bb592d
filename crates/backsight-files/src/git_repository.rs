//! A Git repository that the user names, seen without running `git`: where it is, whether its format is one we know,
//! and what its references name. This file reads and never writes.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, ObjectId, Result, shell_word};

use crate::git_config;
use crate::git_objects::{GitObjects, MAX_COMMIT, MAX_OBJECT};
use crate::ignore::{common_dir, path_of};
use crate::object::ObjectKind;
use crate::tree::parse_tree;
use backsight_core::bounded::{self, is_absence};

/// References may name references, and tags may name tags; deeper than Git itself goes.
const MAX_INDIRECTIONS: usize = 10;

/// The largest of the repository's files that are read whole.
const MAX_REFERENCE: u64 = 1 << 16;
const MAX_PACKED_REFERENCES: u64 = 256 << 20;
const MAX_CONFIG: u64 = 1 << 20;
/// How many directories a branch's name may have, and how many loose references there may be.
const MAX_REFERENCE_DEPTH: usize = 100;
const MAX_REFERENCES: usize = 1_000_000;

/// Extensions that change nothing about how objects and branches are written.
const HARMLESS_EXTENSIONS: [&str; 7] = [
    "noop",
    "noop-v1",
    "partialclone",
    "preciousobjects",
    "relativeworktrees",
    "submodulepathconfig",
    "worktreeconfig",
];

/// A repository whose format is known.
#[derive(Debug)]
pub(crate) struct GitRepository {
    /// What the user named, for messages.
    named: PathBuf,
    /// Holds `HEAD`; for a linked work tree its own directory.
    git_dir: PathBuf,
    /// Holds `objects` and `refs`; shared by all linked work trees.
    common_dir: PathBuf,
    pub(crate) objects: GitObjects,
}

/// What a reference holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Object(ObjectId),
    Symbolic(String),
}

impl GitRepository {
    /// Opens the repository at a work tree, its `.git` (directory or file), or a bare repository. With `within`, all of
    /// it must be in that directory: what was named there may point anywhere.
    pub(crate) fn open(named: &Path, within: Option<&Path>) -> Result<Self> {
        let git_dir = locate(named).ok_or_else(|| {
            Error::new(Code::RepositoryNotFound, format!("`{}` is not a Git repository", named.display()))
                .with_hint("name the directory that holds `.git`, or a bare repository")
        })?;
        let common_dir = common_dir(&git_dir);
        if let Some(within) = within {
            stay_within(
                named,
                [git_dir.as_path(), &common_dir, &common_dir.join("objects"), &common_dir.join("refs")],
                within,
            )?;
        }
        refuse_symlinks(named, &common_dir)?;
        check_format(named, &common_dir)?;
        let objects = GitObjects::open(&common_dir.join("objects"))?;
        if let Some(within) = within {
            stay_within(named, objects.places(), within)?;
        }
        Ok(GitRepository { named: named.to_owned(), git_dir, common_dir, objects })
    }

    /// Which of the directories that it reads, wherever files of it point, is neither this user's nor of who owns the
    /// work tree, and whose it is.
    pub(crate) fn of_another_user(&self) -> Option<(PathBuf, u32)> {
        let owner = |path: &Path| fs::metadata(path).ok().map(|found| found.uid());
        let (own, beside) = (rustix::process::geteuid().as_raw(), owner(&self.named));
        let places = [self.git_dir.as_path(), &self.common_dir].into_iter().chain(self.objects.places());
        let of = |path: &Path| Some((path.to_owned(), owner(path)?));
        places.filter_map(of).find(|(_, owner)| *owner != own && Some(*owner) != beside)
    }

    /// Where it is written to, when that is not in what the user named: a linked work tree or a submodule.
    pub(crate) fn elsewhere(&self) -> Option<PathBuf> {
        let (named, real) = (self.named.canonicalize().ok()?, self.common_dir.canonicalize().ok()?);
        (!real.starts_with(named)).then_some(real)
    }

    /// What the user named.
    pub(crate) fn named(&self) -> std::path::Display<'_> {
        self.named.display()
    }

    /// The same, as it is typed in a shell.
    fn typed(&self) -> String {
        shell_word(self.named.as_os_str().as_encoded_bytes())
    }

    /// Where `HEAD` is.
    pub(crate) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Where objects and references are.
    pub(crate) fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    pub(crate) fn failed(&self, doing: &str, error: io::Error) -> Error {
        Error::io(format!("{doing} the repository `{}`", self.named()), error)
    }

    /// The commit `HEAD` names; none when its branch has no commit yet.
    pub(crate) fn head(&self) -> Result<Option<ObjectId>> {
        match self.resolve("HEAD")? {
            Some(id) => self.peel(&id, "HEAD").map(Some),
            None => Ok(None),
        }
    }

    /// The commit that a branch, a tag, a full reference name or a whole id names.
    pub(crate) fn revision(&self, text: &str) -> Result<ObjectId> {
        if let Some(id) = ObjectId::from_hex(text) {
            return if self.objects.contains(&id) { self.peel(&id, text) } else { Err(self.unknown(text)) };
        }
        let names = match text {
            "HEAD" => return self.head()?.ok_or_else(|| self.unknown(text)),
            _ if text.starts_with("refs/") => vec![text.to_owned()],
            _ => ["refs/heads/", "refs/tags/", "refs/remotes/", "refs/"].map(|prefix| format!("{prefix}{text}")).into(),
        };
        let mut found: Vec<(String, ObjectId)> = Vec::new();
        for name in names.into_iter().filter(|name| is_reference_name(name)) {
            if let Some(id) = self.resolve(&name)? {
                found.push((name, self.peel(&id, text)?));
            }
        }
        let Some((name, commit)) = found.first() else { return Err(self.unknown(text)) };
        match found.iter().find(|(_, other)| other != commit) {
            None => Ok(*commit),
            Some((other, _)) => {
                let message = format!("`{text}` is both `{name}` and `{other}` in `{}`", self.named());
                Err(Error::new(Code::RefAmbiguous, message).with_hint(format!("say which: `{name}` or `{other}`")))
            }
        }
    }

    fn unknown(&self, text: &str) -> Error {
        Error::new(Code::RefNotFound, format!("`{text}` names no commit in `{}`", self.named())).with_hint(format!(
            "name a branch, a tag, or a commit's whole id: `git -C {} rev-parse {}`",
            self.typed(),
            shell_word(text.as_bytes())
        ))
    }

    /// The commit's tree.
    pub(crate) fn tree_of(&self, commit: &ObjectId) -> Result<ObjectId> {
        let (_, content) = self.read(commit, MAX_COMMIT)?;
        header_id(&content, b"tree ").ok_or_else(|| self.damaged(commit, "has no tree"))
    }

    /// Whether the commit holds a directory at a path; its root is one.
    pub(crate) fn has_directory(&self, commit: &ObjectId, path: &[u8]) -> Result<bool> {
        let mut tree = self.tree_of(commit)?;
        for name in path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()) {
            let entries = parse_tree(&self.read_tree(&tree)?).ok_or_else(|| self.damaged(&tree, "is not a tree"))?;
            match entries.into_iter().find(|entry| entry.name == name && entry.mode == 0o40000) {
                Some(entry) => tree = entry.id,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The content of a tree.
    pub(crate) fn read_tree(&self, id: &ObjectId) -> Result<Vec<u8>> {
        match self.read(id, MAX_OBJECT)? {
            (ObjectKind::Tree, content) => Ok(content),
            (kind, _) => Err(self.damaged(id, &format!("is a {} where a tree was expected", kind.as_str()))),
        }
    }

    /// The commit behind an id: itself, or what a tag names.
    fn peel(&self, id: &ObjectId, text: &str) -> Result<ObjectId> {
        let mut id = *id;
        for _ in 0..MAX_INDIRECTIONS {
            match self.read(&id, MAX_COMMIT)? {
                (ObjectKind::Commit, _) => return Ok(id),
                (ObjectKind::Tag, content) => {
                    id = header_id(&content, b"object ").ok_or_else(|| self.damaged(&id, "names nothing"))?;
                }
                (kind, _) => {
                    let message = format!("`{text}` in `{}` names a {}, not a commit", self.named(), kind.as_str());
                    return Err(Error::new(Code::GitRefused, message).with_hint("name a branch or a commit"));
                }
            }
        }
        Err(self.damaged(&id, "is at the end of too long a chain of tags"))
    }

    /// The object, which must be there.
    pub(crate) fn read(&self, id: &ObjectId, limit: u64) -> Result<(ObjectKind, Vec<u8>)> {
        self.objects.read(id, limit)?.ok_or_else(|| self.damaged(id, "is missing"))
    }

    pub(crate) fn damaged(&self, what: &dyn std::fmt::Display, problem: &str) -> Error {
        Error::new(Code::Damaged, format!("{what} in the repository `{}` {problem}", self.named()))
            .with_hint(format!("see what is affected with `git -C {} fsck`", self.typed()))
    }

    /// What a reference names in the end; none when it, or the last one of the chain, does not exist.
    fn resolve(&self, name: &str) -> Result<Option<ObjectId>> {
        let mut name = name.to_owned();
        for _ in 0..MAX_INDIRECTIONS {
            match self.target(&name)? {
                None => return Ok(None),
                Some(Target::Object(id)) => return Ok(Some(id)),
                Some(Target::Symbolic(next)) => name = next,
            }
        }
        Err(self.damaged(&format!("reference `{name}`"), "is at the end of too long a chain"))
    }

    fn target(&self, name: &str) -> Result<Option<Target>> {
        let own = ["refs/bisect/", "refs/rewritten/", "refs/worktree/"];
        let is_own = !name.starts_with("refs/") || own.iter().any(|prefix| name.starts_with(prefix));
        let directory = if is_own { &self.git_dir } else { &self.common_dir };
        match self.loose_target(directory, name)? {
            Some(target) => Ok(Some(target)),
            None => Ok(self.packed()?.into_iter().find(|(packed, _)| packed == name).map(|(_, id)| Target::Object(id))),
        }
    }

    fn loose_target(&self, directory: &Path, name: &str) -> Result<Option<Target>> {
        let path = directory.join(name);
        let broken = || self.damaged(&format!("reference `{name}`"), "names neither an object nor a reference");
        // Git once wrote `HEAD` as a symlink and still reads it.
        let bytes = match fs::read_link(&path) {
            Ok(link) => [b"ref: ", link.as_os_str().as_encoded_bytes()].concat(),
            Err(_) => match bounded::read(&path, MAX_REFERENCE) {
                Ok(bytes) => bytes,
                Err(error) if is_absence(&error) => return Ok(None),
                Err(error) => return Err(Error::io(format!("read `{}`", path.display()), error)),
            },
        };
        let text = String::from_utf8_lossy(&bytes);
        match text.strip_prefix("ref:") {
            Some(next) if is_reference_name(next.trim()) => Ok(Some(Target::Symbolic(next.trim().to_owned()))),
            Some(_) => Err(broken()),
            None => ObjectId::from_hex(text.trim_ascii()).map(Target::Object).map(Some).ok_or_else(broken),
        }
    }

    /// The references in `packed-refs`.
    fn packed(&self) -> Result<Vec<(String, ObjectId)>> {
        let text = match bounded::read(&self.common_dir.join("packed-refs"), MAX_PACKED_REFERENCES) {
            Ok(text) => text,
            Err(error) if is_absence(&error) => return Ok(Vec::new()),
            Err(error) => return Err(self.failed("read the references of", error)),
        };
        Ok(parse_packed(&text))
    }

    /// The names of all branches, loose and packed, without `refs/heads/`.
    pub(crate) fn branches(&self) -> Result<Vec<String>> {
        let packed = self.packed()?.into_iter();
        let mut names: Vec<String> =
            packed.filter_map(|(name, _)| name.strip_prefix("refs/heads/").map(str::to_owned)).collect();
        loose_names(&self.common_dir.join("refs/heads"), &mut names)
            .map_err(|error| self.failed("read the references of", error))?;
        Ok(names)
    }

    /// The branches that are checked out, here and in every linked work tree, whether they have a commit or not.
    pub(crate) fn checked_out(&self) -> Result<Vec<String>> {
        let mut directories = vec![self.common_dir.clone(), self.git_dir.clone()];
        match fs::read_dir(self.common_dir.join("worktrees")) {
            Ok(entries) => {
                for entry in entries {
                    directories.push(entry.map_err(|error| self.failed("read the work trees of", error))?.path());
                }
            }
            Err(error) if is_absence(&error) => {}
            Err(error) => return Err(self.failed("read the work trees of", error)),
        }
        let mut names = Vec::new();
        for directory in directories {
            match self.loose_target(&directory, "HEAD") {
                Ok(Some(Target::Symbolic(name))) => names.extend(name.strip_prefix("refs/heads/").map(str::to_owned)),
                Ok(_) => {}
                // A work tree whose `HEAD` is broken waits for no branch, and is no reason to refuse another one.
                Err(error) if error.code() == Code::Damaged => {}
                Err(error) => return Err(error),
            }
        }
        Ok(names)
    }
}

/// The references in the text of a `packed-refs`.
pub(crate) fn parse_packed(text: &[u8]) -> Vec<(String, ObjectId)> {
    let entry = |line: &str| {
        let (id, name) = line.split_once(' ')?;
        Some((name.to_owned(), ObjectId::from_hex(id)?))
    };
    // The header begins with `#` and what tags peel to with `^`: neither is an id.
    String::from_utf8_lossy(text).lines().filter_map(entry).collect()
}

/// Whether Git allows a reference of this name, and so whether it is safe to use as a path.
pub(crate) fn is_reference_name(name: &str) -> bool {
    let is_bad_byte = |byte: u8| byte <= b' ' || byte == 0x7f || b"~^:?*[\\".contains(&byte);
    let is_good_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    name != "@"
        && !name.bytes().any(is_bad_byte)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
        && name.split('/').all(is_good_part)
}

/// The directory with `HEAD` that a path stands for.
fn locate(named: &Path) -> Option<PathBuf> {
    let candidates = [named.join(".git"), named.to_owned()];
    let followed =
        candidates.iter().filter_map(|path| if path.is_file() { git_file(path) } else { Some(path.clone()) });
    followed.into_iter().find(|path| is_git_dir(path))
}

/// Refuses places that are not in `within`, whatever led there.
fn stay_within<'p>(named: &Path, places: impl IntoIterator<Item = &'p Path>, within: &Path) -> Result<()> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let within = real(within);
    let Some(outside) = places.into_iter().map(real).find(|place| !place.starts_with(&within)) else { return Ok(()) };
    let message =
        format!("repository `{}` leaves the workspace: it keeps its data in `{}`", named.display(), outside.display());
    Err(Error::new(Code::InvalidPath, message)
        .with_hint("name a repository inside the workspace; only a person at the command line can name another"))
}

/// Refuses a repository of which a part is a symlink: what is written would go where nobody said.
fn refuse_symlinks(named: &Path, common_dir: &Path) -> Result<()> {
    let parts = ["objects", "objects/pack", "objects/info", "refs", "refs/heads", "packed-refs"];
    let parts = parts.iter().map(|part| common_dir.join(part));
    let is_symlink = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let Some(symlink) = [named.join(".git")].into_iter().chain(parts).find(is_symlink) else { return Ok(()) };
    let real = symlink.canonicalize().unwrap_or_else(|_| symlink.clone());
    let message = format!("`{}` is a symlink: it leads to `{}`", symlink.display(), real.display());
    Err(Error::new(Code::GitRefused, message)
        .with_hint("name the repository that really holds its objects and branches"))
}

/// Where a `.git` file points.
fn git_file(path: &Path) -> Option<PathBuf> {
    let text = bounded::read(path, MAX_REFERENCE).ok()?;
    let target = text.strip_prefix(b"gitdir:")?.trim_ascii();
    Some(path.parent()?.join(path_of(target)))
}

fn is_git_dir(directory: &Path) -> bool {
    let common = common_dir(directory);
    let has_head = fs::symlink_metadata(directory.join("HEAD")).is_ok_and(|metadata| !metadata.is_dir());
    has_head && common.join("objects").is_dir() && common.join("refs").is_dir()
}

fn check_format(named: &Path, common_dir: &Path) -> Result<()> {
    let text = match bounded::read(&common_dir.join("config"), MAX_CONFIG) {
        Ok(text) => text,
        Err(error) if is_absence(&error) => return Ok(()),
        Err(error) => return Err(Error::io(format!("read the configuration of `{}`", named.display()), error)),
    };
    match unknown_format(&text) {
        None => Ok(()),
        Some(problem) => Err(Error::new(Code::GitRefused, format!("repository `{}` {problem}", named.display()))
            .with_hint("name an ordinary repository, such as one that `git init --object-format=sha1` makes")),
    }
}

/// What in a repository's configuration says that its objects or branches are written in a way we do not know. As Git
/// does, this reads the file alone, without what it includes.
fn unknown_format(config: &[u8]) -> Option<String> {
    let entries = git_config::parse(config);
    let plain = |section: &'static str| {
        entries.iter().filter(move |entry| *entry.section == *section && entry.subsection.is_none())
    };
    let version = plain("core").rfind(|entry| entry.key == "repositoryformatversion");
    let version = version.map_or("0".into(), |entry| String::from_utf8_lossy(&entry.value));
    if version != "0" && version != "1" {
        return Some(format!("has the unknown format version `{version}`"));
    }
    plain("extensions").find_map(|entry| {
        let value = String::from_utf8_lossy(&entry.value);
        match (entry.key.as_str(), value.as_ref()) {
            ("objectformat", "sha1") | ("refstorage", "files") => None,
            ("objectformat", _) => Some(format!("names its objects by `{value}`, where snapshots are named by `sha1`")),
            ("refstorage", _) => Some(format!("keeps its branches as `{value}`, where only `files` can be written")),
            ("compatobjectformat", _) => Some(format!("also names its objects by `{value}`")),
            // Git itself passes over unknown extensions in version 0.
            (key, _) if version == "0" || HARMLESS_EXTENSIONS.contains(&key) => None,
            (key, _) => Some(format!("has the unknown extension `{key}`")),
        }
    })
}

/// Adds the names of all references in a directory. A symlink counts as one and is not followed.
fn loose_names(directory: &Path, names: &mut Vec<String>) -> io::Result<()> {
    let mut pending = vec![(directory.to_owned(), String::new(), 0)];
    while let Some((directory, prefix, depth)) = pending.pop() {
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                pending.push((entry.path(), format!("{name}/"), depth + 1));
            } else if !name.ends_with(".lock") {
                names.push(name);
            }
        }
        if depth > MAX_REFERENCE_DEPTH || names.len() + pending.len() > MAX_REFERENCES {
            return Err(io::Error::other("there are more, or deeper, branches than Backsight looks through"));
        }
    }
    Ok(())
}

/// The id in the first line of a commit or tag, which begins with `key`.
fn header_id(content: &[u8], key: &[u8]) -> Option<ObjectId> {
    let rest = content.strip_prefix(key)?;
    ObjectId::from_hex(std::str::from_utf8(rest.get(..40)?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_we_cannot_write_are_named() {
        let problem = |text: &str| unknown_format(text.as_bytes()).unwrap_or_default();
        assert_eq!(problem(""), "");
        assert_eq!(problem("[core]\nrepositoryformatversion = 1\n[extensions]\nworktreeConfig = true\n"), "");
        assert_eq!(problem("[core]\nrepositoryformatversion = 0\n[extensions]\nsomething = 1\n"), "");
        assert!(problem("[core]\nrepositoryformatversion = 2\n").contains("`2`"));
        assert!(problem("[core]\nrepositoryformatversion = 1\n[extensions]\nfancy = true\n").contains("`fancy`"));
        assert!(problem("[extensions]\nobjectFormat = sha256\n").contains("`sha256`"));
        assert!(problem("[core]\nrepositoryFormatVersion=1\n[Extensions]\nrefStorage=reftable").contains("`reftable`"));
    }
}

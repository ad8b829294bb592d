//! A new branch in a repository of the user's: whether its name is one, whether it is free, and making it. No existing
//! reference is ever changed, and no `HEAD` comes to mean something else.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, ObjectId, Result};

use crate::anchored::AnchoredPath;
use crate::disk::{Disk, DiskFile};
use crate::git_repository::{GitRepository, is_reference_name};

/// The longest file name, less what a lock's name adds.
const MAX_PART: usize = 255 - ".lock".len();

/// The name of a branch, without `refs/heads/`, that Git allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BranchName(String);

impl BranchName {
    /// Accepts what `git check-ref-format --branch` accepts, except for `@`, which everywhere else means `HEAD`.
    pub(crate) fn new(name: &str) -> Result<Self> {
        let fits = name.split('/').all(|part| part.len() <= MAX_PART);
        if fits && is_reference_name(name) && !name.starts_with('-') && name != "HEAD" {
            return Ok(BranchName(name.to_owned()));
        }
        Err(Error::new(Code::Usage, format!("`{}` is not a name Git allows for a branch", name.escape_debug()))
            .with_hint("use letters, digits, `-`, `_` and `/`, such as `agent/login-form`"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Refuses unless nothing stands where the branch would.
    pub(crate) fn check_free(&self, repository: &GitRepository) -> Result<()> {
        self.check_name(repository)?;
        match fs::symlink_metadata(self.lock(repository)) {
            Ok(_) => Err(self.is_locked(repository)),
            Err(_) => Ok(()),
        }
    }

    /// Refuses when a branch or a `HEAD` has the name, or one that it could not stand beside.
    fn check_name(&self, repository: &GitRepository) -> Result<()> {
        let (branches, heads) = (repository.branches()?, repository.checked_out()?);
        let problem = problem_with(&self.0, &branches, "exists already").or_else(|| {
            // To make the branch a `HEAD` waits for would turn every file of that work tree into a change.
            problem_with(&self.0, &heads, "is checked out and has no commit yet")
        });
        let Some(problem) = problem else { return Ok(()) };
        let taken: Vec<String> = branches.into_iter().chain(heads).collect();
        let message = format!("branch `{}` cannot be made in `{}`: {problem}", self.0, repository.named());
        Err(Error::new(Code::GitRefused, message)
            .with_hint(format!("use another name, such as `{}`", free_name(&self.0, &taken))))
    }

    /// Makes the branch. On failure everything is as it was.
    pub(crate) fn create(&self, disk: &Disk, repository: &GitRepository, tip: &ObjectId) -> Result<()> {
        let path = self.path(repository);
        let parent = path.parent().unwrap_or(&path);
        let mut made = Vec::new();
        let created = make_directories(disk, &repository.common_dir().join("refs"), parent, &mut made)
            .map_err(|error| self.failed(repository, error))
            .and_then(|()| self.create_locked(disk, repository, tip));
        if let Err(error) = created {
            // Whoever else has begun to use one of them keeps it: only empty ones can be removed.
            let remove = |directory: &PathBuf| disk.remove_directory(&AnchoredPath::beside(directory)?);
            made.iter().rev().for_each(|directory| drop(remove(directory)));
            return Err(error);
        }
        AnchoredPath::open_directory(parent).and_then(|parent| disk.sync_directory(&parent)).map_err(|error| {
            Error::io(format!("make sure that branch `{}`, which is there now, survives a power cut", self.0), error)
        })
    }

    fn create_locked(&self, disk: &Disk, repository: &GitRepository, tip: &ObjectId) -> Result<()> {
        let lock = AnchoredPath::beside(&self.lock(repository)).map_err(|error| self.failed(repository, error))?;
        let file = disk.create(&lock).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => self.is_locked(repository),
            _ => self.failed(repository, error),
        })?;
        let created = write_reference(file, tip, &repository.common_dir().join("refs"))
            .map_err(|error| self.failed(repository, error))
            .and_then(|()| self.publish(&lock, disk, repository));
        if created.is_err() {
            let _ = disk.remove_file(&lock);
        }
        created
    }

    /// Nobody who honours the lock can make the branch now, but somebody may have just before.
    fn publish(&self, lock: &AnchoredPath, disk: &Disk, repository: &GitRepository) -> Result<()> {
        self.check_name(repository)?;
        let path = self.path(repository);
        remove_empty_directories(disk, &path)
            .and_then(|()| disk.rename(lock, &AnchoredPath::beside(&path)?))
            .map_err(|error| self.failed(repository, error))
    }

    fn path(&self, repository: &GitRepository) -> PathBuf {
        repository.common_dir().join("refs/heads").join(&self.0)
    }

    fn lock(&self, repository: &GitRepository) -> PathBuf {
        repository.common_dir().join("refs/heads").join(format!("{}.lock", self.0))
    }

    fn is_locked(&self, repository: &GitRepository) -> Error {
        let lock = self.lock(repository);
        Error::new(Code::Busy, format!("branch `{}` is locked: `{}` exists", self.0, lock.display()))
            .with_hint(format!("try again; if no git is running, remove the lock: `rm '{}'`", lock.display()))
    }

    fn failed(&self, repository: &GitRepository, error: io::Error) -> Error {
        Error::io(format!("make branch `{}` in `{}`", self.0, repository.named()), error)
    }
}

/// Why a branch cannot stand beside those in `taken`. Letter case does not tell names apart: on some file systems it
/// cannot, and the repository may be copied there.
fn problem_with(name: &str, taken: &[String], how: &str) -> Option<String> {
    let folded = name.to_lowercase();
    taken.iter().find_map(|other| {
        let other_folded = other.to_lowercase();
        if other == name {
            Some(format!("it {how}"))
        } else if other_folded == folded {
            Some(format!("`{other}`, which differs in letter case only, {how}"))
        } else if is_below(&folded, &other_folded) || is_below(&other_folded, &folded) {
            Some(format!("`{other}` {how}, and Git keeps no branch below another"))
        } else {
            None
        }
    })
}

fn is_below(name: &str, other: &str) -> bool {
    name.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'))
}

/// A name like `name` that nothing in `taken` is in the way of.
fn free_name(name: &str, taken: &[String]) -> String {
    let flat = name.replace('/', "-");
    let numbered = |number: u32| [format!("{name}-{number}"), format!("{flat}-{number}")];
    let is_free = |candidate: &String| problem_with(candidate, taken, "").is_none();
    (2..=u32::MAX).flat_map(numbered).find(is_free).unwrap_or(flat)
}

fn write_reference(mut file: DiskFile, tip: &ObjectId, references: &Path) -> io::Result<()> {
    file.write_all(format!("{tip}\n").as_bytes())?;
    file.set_mode(mode_of(references)? & 0o666)?;
    file.sync()
}

/// The permission bits of a directory: new things in a repository take theirs from it, so that whoever shares the
/// repository shares them.
pub(crate) fn mode_of(directory: &Path) -> io::Result<u16> {
    Ok((fs::metadata(directory)?.permissions().mode() & 0o7777) as u16)
}

/// Makes `wanted`, which is below `base`, and what is missing between them. What it makes is added to `made`.
pub(crate) fn make_directories(disk: &Disk, base: &Path, wanted: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut parent = base.to_owned();
    for name in wanted.strip_prefix(base).unwrap_or(Path::new("")) {
        let path = parent.join(name);
        let found = fs::symlink_metadata(&path);
        if found.as_ref().is_ok_and(|found| found.is_symlink()) {
            let message = format!("`{}` is a symlink, which may lead anywhere", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        if !found.is_ok_and(|found| found.is_dir()) {
            let opened = File::open(&parent)?;
            match disk.make_directory_at(opened.as_fd(), name.as_encoded_bytes(), mode_of(&parent)?) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                done => {
                    made.push(path.clone());
                    done?;
                }
            }
        }
        parent = path;
    }
    Ok(())
}

/// Removes a directory in which there are only directories, as Git leaves them behind.
fn remove_empty_directories(disk: &Disk, path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(());
    }
    let (mut found, mut pending) = (Vec::new(), vec![path.to_owned()]);
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                return Err(io::ErrorKind::DirectoryNotEmpty.into());
            }
            pending.push(entry.path());
        }
        found.push(directory);
    }
    // Parents were found before what is in them.
    found.iter().rev().try_for_each(|directory| disk.remove_directory(&AnchoredPath::beside(directory)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_suggested_is_free() {
        let taken = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(free_name("a", &taken(&["a"])), "a-2");
        assert_eq!(free_name("a", &taken(&["A", "a-2", "A-3"])), "a-4");
        assert_eq!(free_name("a/b", &taken(&["a"])), "a-b-2");
        assert_eq!(free_name("a", &taken(&["a/b"])), "a-2");
    }

    /// The least that is a repository, with one packed branch.
    fn repository(directory: &Path) -> GitRepository {
        fs::create_dir_all(directory.join("objects")).unwrap();
        fs::create_dir_all(directory.join("refs/heads")).unwrap();
        fs::write(directory.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(directory.join("packed-refs"), format!("# pack-refs\n{TIP} refs/heads/x/y\n")).unwrap();
        GitRepository::open(directory, None).unwrap()
    }

    const TIP: ObjectId = ObjectId::from_bytes([7; 20]);

    #[test]
    fn a_branch_made_meanwhile_wins_and_nothing_of_ours_remains() {
        let directory = tempfile::tempdir().unwrap();
        let repository = repository(directory.path());
        let create = |name: &str| BranchName(name.to_owned()).create(&Disk::new(), &repository, &TIP);
        assert_eq!(create("x/y").unwrap_err().code(), Code::GitRefused);
        assert!(!directory.path().join("refs/heads/x").exists());
        create("a/b").unwrap();
        assert_eq!(create("a/b").unwrap_err().code(), Code::GitRefused);
        assert_eq!(create("a/b/c/d").unwrap_err().code(), Code::Io);
        let mut names: Vec<_> = repository.branches().unwrap();
        names.sort();
        assert_eq!(names, ["a/b", "x/y"]);
        let left: Vec<_> = fs::read_dir(directory.path().join("refs/heads/a")).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}

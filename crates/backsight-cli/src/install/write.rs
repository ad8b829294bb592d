//! What changes on disk, as a plan to be shown, and carrying it out: a copy of what was there, an atomic replacement,
//! symlinks written through. What `install` added is taken out again exactly; see [`super::kept`].
//!
//! A repository can carry symlinks, so where a project's file leads out of the project the plan says where to. Only ordinary
//! files of a sensible size are read: a pipe or a device under a client's name is refused.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use backsight_core::{Code, Error, Result};
use backsight_diff::{FileChange, FileSide, Options, generate_unified_diff};

use super::FileEdit;
use super::kept::{Kept, Shelf, clear, missing_above};

/// The largest settings file that is read; those of clients have a few kilobytes.
const LARGEST: u64 = 4 << 20;

/// What happens to one file.
#[derive(Clone, Debug)]
pub struct FilePlan {
    /// The file as the client names it.
    pub path: PathBuf,
    /// The file that is written: behind symlinks, another one.
    pub target: PathBuf,
    /// Whether that lies outside the project whose configuration it should be.
    pub is_outside: bool,
    /// Its text now; nothing when it is not there.
    pub before: Option<String>,
    /// Its text then; nothing when it goes.
    pub after: Option<String>,
    /// What is remembered of it.
    pub memory: Memory,
}

/// What happens to what is remembered of a file.
#[derive(Clone, Debug)]
pub enum Memory {
    /// It stays as it is.
    Stays,
    /// This is remembered.
    Keep(Kept),
    /// It is of no more use.
    Forget(Kept),
}

impl FilePlan {
    /// Whether anything happens.
    pub fn changes(&self) -> bool {
        self.before != self.after
    }

    /// In a word.
    pub fn action(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, Some(_)) => "create",
            (Some(_), None) => "remove",
            (before, after) if before == after => "keep",
            _ => "change",
        }
    }

    /// As a unified diff; paths below `base` are shown from there.
    pub fn diff(&self, base: &Path) -> Vec<u8> {
        let path = self.path.strip_prefix(base).unwrap_or(&self.path).to_string_lossy();
        let path = path.trim_start_matches('/').as_bytes();
        let side = |content| FileSide { path, mode: Some(0o100_644), id: None, content };
        let (old, new) = (self.before.as_deref().map(str::as_bytes), self.after.as_deref().map(str::as_bytes));
        let (old, new) = (old.map(side), new.map(side));
        generate_unified_diff(&FileChange { old, new }, &Options::default()).text
    }
}

/// What installing, or uninstalling, does to a file; `project` is where the file should be, if it is a project's.
pub fn plan(file: &FileEdit, uninstall: bool, project: Option<&Path>, shelf: &Shelf) -> Result<FilePlan> {
    let name = file.path.display().to_string();
    let in_file = |error: Error| {
        let told = Error::new(error.code(), format!("`{name}`: {}", error.message()));
        let told = told.with_details(error.details().clone());
        match error.advice() {
            [] => told.with_hint("mend the file first; nothing was written"),
            advice => told.with_advice(advice),
        }
    };
    let before = read(&file.path)?;
    let target = target(&file.path)?;
    let is_outside = project.is_some_and(|project| !is_within(&target, project));
    let kept = shelf.find(&target)?;
    let outcome = match uninstall {
        true => taken_out(file, before.as_deref(), kept),
        false => put_in(file, before.as_deref(), &target, kept),
    };
    let (after, memory) = outcome.map_err(in_file)?;
    Ok(FilePlan { path: file.path.clone(), target, is_outside, before, after, memory })
}

fn put_in(
    file: &FileEdit,
    before: Option<&str>,
    target: &Path,
    kept: Option<Kept>,
) -> Result<(Option<String>, Memory)> {
    let text = before.unwrap_or_default();
    let after = file.edit.install(text)?;
    if Some(after.as_str()) == before {
        return Ok((Some(after), Memory::Stays));
    }
    // A text that already holds something of ours is no state to go back to.
    let without = match before {
        Some(text) if !file.all.is_absent_from(text) => file.all.take_out(text, kept.as_ref())?,
        other => other.map(str::to_owned),
    };
    let mut made = missing_above(target);
    made.extend(kept.into_iter().flat_map(|kept| kept.made));
    let kept = Kept { target: target.to_owned(), before: without, written: after.clone(), made };
    Ok((Some(after), Memory::Keep(kept)))
}

fn taken_out(file: &FileEdit, before: Option<&str>, kept: Option<Kept>) -> Result<(Option<String>, Memory)> {
    let after = match before {
        Some(text) if !file.all.is_absent_from(text) => file.all.take_out(text, kept.as_ref())?,
        other => other.map(str::to_owned),
    };
    Ok((after, kept.map_or(Memory::Stays, Memory::Forget)))
}

/// Carries a plan out.
pub fn write(plan: &FilePlan, shelf: &Shelf) -> Result<()> {
    let target = target(&plan.path)?;
    // Another program may have written it, or led it elsewhere, while the question was open.
    if target != plan.target || read(&plan.path)? != plan.before {
        let message = format!("`{}` changed meanwhile, so it was not written", plan.path.display());
        return Err(Error::new(Code::Raced, message).with_hint("run the command again"));
    }
    if let Memory::Keep(kept) = &plan.memory {
        shelf.keep(kept)?;
    }
    match &plan.after {
        Some(_) if !plan.changes() => Ok(()),
        Some(text) => replace(&target, text, mode_of(&target)),
        None => remove(&target),
    }
}

/// Forgets the files that are no longer ours, and removes the directories that were made for them.
pub fn tidy_up(plans: &[FilePlan], shelf: &Shelf) -> Result<()> {
    let forgotten =
        || plans.iter().filter_map(|plan| if let Memory::Forget(kept) = &plan.memory { Some(kept) } else { None });
    for kept in forgotten() {
        shelf.forget(&kept.target)?;
    }
    clear(&forgotten().flat_map(|kept| kept.made.clone()).collect::<Vec<_>>());
    Ok(())
}

pub(super) fn read(path: &Path) -> Result<Option<String>> {
    let refused = |what: &str| {
        Error::new(Code::InvalidConfig, format!("`{}` {what}, so it is left alone", path.display()))
            .with_hint("see what is there with `ls -lL`; nothing was written")
    };
    let mut options = fs::OpenOptions::new();
    // Opening a pipe would wait for the program that writes into it.
    options.read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(Error::io(format!("read `{}`", path.display()), error)),
    };
    let failed = |error| Error::io(format!("read `{}`", path.display()), error);
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(refused("is not a file"));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(refused(&format!("is larger than {} MiB", LARGEST >> 20)));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| refused("is not UTF-8"))
}

/// The file behind symlinks, those of its directories too, also when it is not there yet.
fn target(path: &Path) -> Result<PathBuf> {
    const LONGEST_CHAIN: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LONGEST_CHAIN {
        match fs::read_link(&path) {
            Ok(link) => path = path.parent().unwrap_or(Path::new("/")).join(link),
            Err(_) => return Ok(real(&path)),
        }
    }
    Err(Error::new(Code::InvalidPath, format!("`{}` is a loop of symlinks", path.display())))
}

/// What is not there yet lies where the nearest directory that is there does.
fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().skip(1).find_map(|above| Some((above.canonicalize().ok()?, above)));
    let rest = found.as_ref().and_then(|(_, above)| path.strip_prefix(above).ok());
    found.as_ref().zip(rest).map_or_else(|| path.to_owned(), |((real, _), rest)| real.join(rest))
}

/// Whether a file lies below a directory.
fn is_within(target: &Path, directory: &Path) -> bool {
    let climbs = target.components().any(|part| part == Component::ParentDir);
    !climbs && directory.canonicalize().is_ok_and(|directory| target.starts_with(directory))
}

pub(super) fn mode_of(path: &Path) -> Option<u32> {
    fs::metadata(path).ok().map(|metadata| metadata.mode() & 0o7777)
}

/// Writes beside the file and renames, so that nobody ever reads half of it.
pub(super) fn replace(path: &Path, text: &str, mode: Option<u32>) -> Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    let temporary = directory.join(name);
    let attempt = || -> std::io::Result<()> {
        // What names commands is written by its owner alone, whatever the umask allows.
        fs::DirBuilder::new().recursive(true).mode(0o755).create(directory)?;
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(mode.unwrap_or(0o644)).open(&temporary)?;
        if let Some(mode) = mode {
            file.set_permissions(fs::Permissions::from_mode(mode))?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    attempt().map_err(|error| {
        // Whether it is there or not: nothing is left behind.
        let _ = fs::remove_file(&temporary);
        Error::io(format!("write `{}`", path.display()), error)
    })
}

pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::io(format!("remove `{}`", path.display()), error))
        }
        _ => Ok(()),
    }
}

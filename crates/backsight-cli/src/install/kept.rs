//! What `install` remembers of each file it wrote: the text before, the text it wrote, the directories it made. With it
//! `--uninstall` gives back exactly what was there. It lies in the user's state directory, where the file's path is
//! mirrored, and never in the project: neither Git nor a snapshot of the project sees it.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::write::{mode_of, read, remove, replace};

const BEFORE: &str = "before";
const WRITTEN: &str = "written";
const RECORD: &str = "record.json";
/// Which directories were made for the shelf itself.
const MADE: &str = ".made";

/// Where it is remembered; without a home directory nowhere.
#[derive(Clone, Debug)]
pub struct Shelf {
    /// `installed` in the user's state directory.
    directory: Option<PathBuf>,
}

/// What is remembered of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The file.
    pub target: PathBuf,
    /// Its text before; nothing when it was not there.
    pub before: Option<String>,
    /// Its text as it was written.
    pub written: String,
    /// The directories that were made for it, outermost first.
    pub made: Vec<PathBuf>,
}

/// What is not a text of its own.
#[derive(Deserialize, Serialize)]
struct Record {
    target: PathBuf,
    existed: bool,
    made: Vec<PathBuf>,
}

impl Shelf {
    /// In the user's state directory.
    pub fn new(state: Option<&Path>) -> Shelf {
        Shelf { directory: state.map(|state| state.join("installed")) }
    }

    /// Where the text before is kept, for the user who wants to look.
    pub fn copy_of(&self, target: &Path) -> Option<PathBuf> {
        self.place(target).map(|place| place.join(BEFORE))
    }

    /// What is remembered of a file, if all of it is there.
    pub fn find(&self, target: &Path) -> Result<Option<Kept>> {
        let Some(place) = self.place(target) else { return Ok(None) };
        let (Some(record), Some(written)) = (read(&place.join(RECORD))?, read(&place.join(WRITTEN))?) else {
            return Ok(None);
        };
        let before = read(&place.join(BEFORE))?;
        let Ok(record) = serde_json::from_str::<Record>(&record) else { return Ok(None) };
        if record.target != target || record.existed != before.is_some() {
            return Ok(None);
        }
        let is_above = |directory: &PathBuf| target != directory && target.starts_with(directory);
        let made = record.made.into_iter().filter(is_above).collect();
        Ok(Some(Kept { target: record.target, before, written, made }))
    }

    /// Remembers a file. The record comes last: without it nothing of the rest is believed.
    pub fn keep(&self, kept: &Kept) -> Result<()> {
        let Some(place) = self.place(&kept.target) else { return Ok(()) };
        self.make(&place)?;
        remove(&place.join(RECORD))?;
        match &kept.before {
            Some(before) => replace(&place.join(BEFORE), before, Some(mode_of(&kept.target).unwrap_or(0o600) & 0o700))?,
            None => remove(&place.join(BEFORE))?,
        }
        replace(&place.join(WRITTEN), &kept.written, Some(0o600))?;
        let record = Record { target: kept.target.clone(), existed: kept.before.is_some(), made: kept.made.clone() };
        let text = serde_json::to_string_pretty(&record)
            .map_err(|error| Error::new(Code::Io, format!("cannot write down what is installed: {error}")))?;
        replace(&place.join(RECORD), &(text + "\n"), Some(0o600))
    }

    /// Remembers a file no more.
    pub fn forget(&self, target: &Path) -> Result<()> {
        let (Some(place), Some(directory)) = (self.place(target), &self.directory) else { return Ok(()) };
        for name in [RECORD, WRITTEN, BEFORE] {
            remove(&place.join(name))?;
        }
        // Ours from the leaf up; what holds something else stays.
        for above in place.ancestors().take_while(|above| above.starts_with(directory) && above != directory) {
            if fs::remove_dir(above).is_err() {
                break;
            }
        }
        self.clear_if_empty()
    }

    /// Makes the directory of a file, which only the user looks into.
    fn make(&self, place: &Path) -> Result<()> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let missing = missing_above(&directory.join(MADE));
        let failed = |error| Error::io(format!("create `{}`", place.display()), error);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(place).map_err(failed)?;
        match missing.is_empty() {
            true => Ok(()),
            false => replace(&directory.join(MADE), &json!(missing).to_string(), Some(0o600)),
        }
    }

    /// When nothing is installed any more, the shelf goes too.
    fn clear_if_empty(&self) -> Result<()> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
        if !entries.flatten().all(|entry| entry.file_name() == MADE) {
            return Ok(());
        }
        let made = read(&directory.join(MADE))?.unwrap_or_default();
        let made: Vec<PathBuf> = serde_json::from_str(&made).unwrap_or_default();
        remove(&directory.join(MADE))?;
        clear(&made.into_iter().filter(|made| directory.starts_with(made)).collect::<Vec<_>>());
        Ok(())
    }

    fn place(&self, target: &Path) -> Option<PathBuf> {
        let below = target.strip_prefix("/").unwrap_or(target);
        self.directory.as_ref().map(|directory| directory.join(below))
    }
}

/// The directories that have to be made for a file, outermost first.
pub fn missing_above(target: &Path) -> Vec<PathBuf> {
    let above = target.ancestors().skip(1).take_while(|above| above.symlink_metadata().is_err());
    let mut missing: Vec<PathBuf> = above.map(Path::to_path_buf).collect();
    missing.reverse();
    missing
}

/// Removes directories that were made for files which are gone: those in which nothing is left.
pub fn clear(made: &[PathBuf]) {
    let mut made: Vec<&PathBuf> = made.iter().collect();
    made.sort_by_key(|directory| std::cmp::Reverse(directory.components().count()));
    for directory in made {
        // One that holds something of the user's cannot be removed, and stays.
        let _ = fs::remove_dir(directory);
    }
}

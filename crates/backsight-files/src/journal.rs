//! The journal: what a restore is about to do, written before it does it, so that a later process can finish or undo it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use backsight_core::{Code, Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::compare::Change;
use crate::disk::{Disk, Durability};

/// A journal entry: everything needed to finish or undo an application after a crash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub(crate) id: String,
    pub(crate) steps: Vec<Step>,
    /// What the caller wants back if it has to finish its own part later.
    pub(crate) note: Value,
}

/// How far an application has come; the extension of its journal entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Intent,
    Commit,
    Done,
}

pub(crate) const PHASES: [Phase; 3] = [Phase::Intent, Phase::Commit, Phase::Done];

impl Phase {
    fn extension(self) -> &'static str {
        match self {
            Phase::Intent => "intent",
            Phase::Commit => "commit",
            Phase::Done => "done",
        }
    }
}

/// One path on its way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Step {
    #[serde(flatten)]
    pub(crate) change: Change,
    /// Where the staged or displaced file is kept.
    pub(crate) stage: Stage,
}

/// The place of a step's staged file: a directory (relative to the workspace) and a name in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stage {
    pub(crate) directory: String,
    pub(crate) name: String,
}

/// The directory of journal entries, normally empty.
pub(crate) struct Journals<'a> {
    pub(crate) directory: &'a Path,
    pub(crate) disk: &'a Disk,
}

impl Journals<'_> {
    /// Entries that were cut short while they were written: nothing had happened yet.
    pub(crate) fn remove_torn(&self) -> Result<()> {
        for path in self.torn()? {
            self.disk.remove_file(&path).map_err(|error| Error::io("clean the journal", error))?;
        }
        Ok(())
    }

    pub(crate) fn torn(&self) -> Result<Vec<PathBuf>> {
        let paths = self.paths()?;
        Ok(paths.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "tmp")).collect())
    }

    fn path(&self, journal: &Journal, phase: Phase) -> PathBuf {
        self.directory.join(format!("{}.{}", journal.id, phase.extension()))
    }

    pub(crate) fn entries(&self) -> Result<Vec<(PathBuf, Phase)>> {
        let phase_of = |path: &PathBuf| {
            PHASES.into_iter().find(|phase| path.extension().is_some_and(|found| found == phase.extension()))
        };
        Ok(self.paths()?.into_iter().filter_map(|path| phase_of(&path).map(|phase| (path, phase))).collect())
    }

    fn paths(&self) -> Result<Vec<PathBuf>> {
        let failed = |error| Error::io("read the journal", error);
        let entries = match fs::read_dir(self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(failed)?,
        };
        let mut paths =
            entries.map(|entry| entry.map(|entry| entry.path()).map_err(failed)).collect::<Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    }

    pub(crate) fn read(&self, path: &Path) -> Result<Journal> {
        let bytes = fs::read(path).map_err(|error| Error::io(format!("read `{}`", path.display()), error))?;
        serde_json::from_slice(&bytes).map_err(|error| {
            Error::new(Code::Damaged, format!("journal entry `{}` cannot be read: {error}", path.display())).with_hint(
                format!("an interrupted restore cannot be finished: compare with `backsight status`, then go on with `rm {}`", path.display()))
        })
    }

    pub(crate) fn write_intent(&self, journal: &Journal) -> Result<()> {
        let bytes = serde_json::to_vec(journal)
            .map_err(|error| Error::new(Code::Io, format!("cannot encode the journal: {error}")))?;
        let write = || -> io::Result<()> {
            self.disk.create_private_directories(self.directory)?;
            self.disk.replace(&self.path(journal, Phase::Intent), &bytes, Durability::Synced)
        };
        write().map_err(|error| Error::io("write the journal", error))
    }

    pub(crate) fn advance(&self, journal: &Journal, from: Phase, to: Phase) -> Result<()> {
        let advance = || -> io::Result<()> {
            self.disk.rename(&self.path(journal, from), &self.path(journal, to))?;
            self.disk.sync_directory(self.directory)
        };
        advance().map_err(|error| Error::io("write the journal", error))
    }

    /// Forgets an entry, however far it had come.
    pub(crate) fn remove(&self, journal: &Journal) -> io::Result<()> {
        for phase in PHASES {
            match self.disk.remove_file(&self.path(journal, phase)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

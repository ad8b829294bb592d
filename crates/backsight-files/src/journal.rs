//! The journal: what a restore is about to do, written before it does it, so that a later process can finish or undo it.
//!
//! An entry makes a later process rename and remove files, so it is believed only under the store's seal, and read into
//! types that can name nothing but paths of the workspace and the places where this restore keeps its own files.

use std::io;

use backsight_core::{Code, Error, NextStep, RelPath, Result, shell_word};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::anchored::AnchoredPath;
use crate::compare::Change;
use crate::disk::{Disk, Durability};
use crate::scan::OWN_DIRECTORY;
use crate::seal::Seal;

/// What entries are sealed for.
const PURPOSE: &str = "journal";
/// A larger entry is none of ours: it would be of millions of paths.
const MAX_SIZE: u64 = 1 << 30;

/// A journal entry: everything needed to finish or undo an application after a crash.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    pub(crate) id: RestoreId,
    pub(crate) steps: Vec<Step>,
    /// What the caller wants back if it has to finish its own part later.
    pub(crate) note: Value,
}

/// Names one restore: sixteen hexadecimal digits, which are in the names of its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct RestoreId(String);

impl TryFrom<String> for RestoreId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            true => Ok(RestoreId(text)),
            false => Err("the id of a restore has sixteen hexadecimal digits".to_owned()),
        }
    }
}

impl RestoreId {
    /// Where its staged files are, below the workspace's root.
    pub(crate) fn stage_directory(&self) -> String {
        format!("{OWN_DIRECTORY}/stage/{}", self.0)
    }
}

/// How far an application has come; the extension of its journal entry. It says which way a later process goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No path has changed, and what is staged is ours alone: it is thrown away.
    Intent,
    /// Paths are on their way: forward.
    Commit,
    /// Every path is in its new place: the step is to be recorded.
    Done,
    /// It was given up: backward.
    Back,
}

pub(crate) const PHASES: [Phase; 4] = [Phase::Intent, Phase::Commit, Phase::Done, Phase::Back];

impl Phase {
    fn extension(self) -> &'static str {
        match self {
            Phase::Intent => "intent",
            Phase::Commit => "commit",
            Phase::Done => "done",
            Phase::Back => "back",
        }
    }
}

/// One path on its way.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) change: Change,
    /// Where the staged or displaced file is kept.
    pub(crate) stage: Stage,
}

/// The place of a step's staged file: a directory (relative to the workspace) and a name in it. Both follow from the
/// restore and the step's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stage {
    pub(crate) directory: Vec<u8>,
    pub(crate) name: String,
}

impl Stage {
    /// In the restore's own directory, or in `beside`, a directory of the workspace that another file system is mounted on.
    pub(crate) fn new(id: &RestoreId, number: usize, beside: Option<&RelPath>) -> Stage {
        match beside {
            None => Stage { directory: id.stage_directory().into_bytes(), name: number.to_string() },
            Some(beside) => {
                Stage { directory: beside.as_bytes().to_vec(), name: format!(".backsight-{}-{number}", id.0) }
            }
        }
    }

    /// Whether the file is kept in the directory of a restore, whichever it is.
    pub(crate) fn is_own(&self) -> bool {
        self.directory.starts_with(format!("{OWN_DIRECTORY}/").as_bytes())
    }

    /// Whether the file is kept outside the restore's own directory.
    pub(crate) fn is_beside(&self, id: &RestoreId) -> bool {
        self.directory != id.stage_directory().as_bytes()
    }
}

/// An entry as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    id: RestoreId,
    steps: Vec<WrittenStep>,
    note: Value,
}

#[derive(Serialize, Deserialize)]
struct WrittenStep {
    #[serde(flatten)]
    change: Change,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    beside: Option<RelPath>,
}

impl Journal {
    fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let steps = self.steps.iter().map(|step| WrittenStep {
            change: step.change.clone(),
            beside: step.stage.is_beside(&self.id).then(|| RelPath::new(step.stage.directory.clone()).ok()).flatten(),
        });
        serde_json::to_vec(&Written { id: self.id.clone(), steps: steps.collect(), note: self.note.clone() })
    }

    /// Reads an entry; what it must not say is an error.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Journal, String> {
        let Written { id, steps, note } = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let step = |(number, WrittenStep { change, beside }): (usize, WrittenStep)| {
            let is_above = |beside: &RelPath| change.path.is_within(beside) && change.path != *beside;
            match beside.as_ref().is_none_or(is_above) {
                true => Ok(Step { stage: Stage::new(&id, number, beside.as_ref()), change }),
                false => Err(format!("the files of `{}` cannot be kept where it says", change.path)),
            }
        };
        let steps = steps.into_iter().enumerate().map(step).collect::<Result<_, _>>()?;
        Ok(Journal { id, steps, note })
    }
}

/// The directory of journal entries, normally empty.
pub(crate) struct Journals<'a> {
    pub(crate) directory: &'a AnchoredPath,
    pub(crate) disk: &'a Disk,
    pub(crate) seal: &'a Seal,
}

impl Journals<'_> {
    /// Entries that were cut short while they were written: nothing had happened yet.
    pub(crate) fn remove_torn(&self) -> Result<()> {
        for path in self.torn()? {
            self.disk.remove_file(&path).map_err(|error| Error::io("clean the journal", error))?;
        }
        Ok(())
    }

    pub(crate) fn torn(&self) -> Result<Vec<AnchoredPath>> {
        Ok(self.paths()?.into_iter().filter(|path| path.has_extension("tmp")).collect())
    }

    fn path(&self, journal: &Journal, phase: Phase) -> AnchoredPath {
        self.directory.join(format!("{}.{}", journal.id.0, phase.extension()))
    }

    pub(crate) fn entries(&self) -> Result<Vec<(AnchoredPath, Phase)>> {
        let phase_of = |path: &AnchoredPath| PHASES.into_iter().find(|phase| path.has_extension(phase.extension()));
        Ok(self.paths()?.into_iter().filter_map(|path| phase_of(&path).map(|phase| (path, phase))).collect())
    }

    fn paths(&self) -> Result<Vec<AnchoredPath>> {
        let listed = self.directory.list().map_err(|error| Error::io("read the journal", error))?;
        Ok(listed.into_iter().map(|(path, _)| path).collect())
    }

    pub(crate) fn read(&self, path: &AnchoredPath) -> Result<Journal> {
        let sealed = path.read(MAX_SIZE).map_err(|error| Error::io(format!("read `{}`", path.display()), error))?;
        let refused = |problem: &str| {
            let entry = shell_word(path.path().as_os_str().as_encoded_bytes());
            Error::new(Code::Damaged, format!("journal entry `{}` {problem}", path.display()))
                .then("an interrupted restore cannot be finished: compare", NextStep::SeeStatus)
                .or_hint(format!("go on without it after `rm -- {entry}`"))
        };
        let Some(bytes) = self.seal.open(PURPOSE, &sealed) else {
            return Err(refused("was not written by this user on this machine, or was changed since"));
        };
        let journal = Journal::from_bytes(bytes).map_err(|problem| refused(&format!("cannot be read: {problem}")))?;
        match PHASES.iter().any(|phase| self.path(&journal, *phase).relative() == path.relative()) {
            true => Ok(journal),
            false => Err(refused("is about another restore than its name says")),
        }
    }

    pub(crate) fn write_intent(&self, journal: &Journal) -> Result<()> {
        let bytes =
            journal.to_bytes().map_err(|error| Error::new(Code::Io, format!("cannot encode the journal: {error}")))?;
        let write = || -> io::Result<()> {
            self.disk.create_private_directories(self.directory)?;
            let sealed = self.seal.close(PURPOSE, &bytes);
            self.disk.replace(&self.path(journal, Phase::Intent), &sealed, Durability::Synced)
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

    pub(crate) fn is_at(&self, journal: &Journal, phase: Phase) -> bool {
        self.path(journal, phase).exists()
    }

    /// Says how to go on from here, however far it had come.
    pub(crate) fn turn(&self, journal: &Journal, to: Phase) -> Result<()> {
        match PHASES.into_iter().find(|phase| self.is_at(journal, *phase)) {
            Some(from) if from == to => Ok(()),
            Some(from) => self.advance(journal, from, to),
            None => Err(Error::new(Code::Io, "the journal entry of the restore is gone")),
        }
    }

    /// Keeps room for recording the step. Without it a full disk would let every file change and then refuse the row.
    pub(crate) fn reserve(&self, journal: &Journal, bytes: u64) -> Result<()> {
        let reserved = self.disk.reserve(&self.reserve_path(journal), bytes);
        reserved.map_err(|error| Error::io("keep room for recording the step", error))
    }

    /// Gives that room back.
    pub(crate) fn release(&self, journal: &Journal) -> io::Result<()> {
        let path = self.reserve_path(journal);
        if path.exists() { self.disk.remove_file(&path) } else { Ok(()) }
    }

    fn reserve_path(&self, journal: &Journal) -> AnchoredPath {
        self.directory.join(format!("{}.reserve", journal.id.0))
    }

    /// How many bytes an entry has.
    pub(crate) fn size(&self, journal: &Journal, phase: Phase) -> u64 {
        self.path(journal, phase).size()
    }

    /// Forgets an entry, however far it had come.
    pub(crate) fn remove(&self, journal: &Journal) -> io::Result<()> {
        self.release(journal)?;
        for path in PHASES.map(|phase| self.path(journal, phase)) {
            if path.exists() {
                self.disk.remove_file(&path)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef";

    fn entry(id: &str, path: &str, more: &str) -> String {
        format!(r#"{{"id":"{id}","steps":[{{"path":"{path}","before":null,"after":null{more}}}],"note":{{}}}}"#)
    }

    #[test]
    fn an_entry_can_name_nothing_outside_the_workspace() {
        let whole = entry(ID, "mounted/sub/a", r#","beside":"mounted""#);
        let journal = Journal::from_bytes(whole.as_bytes()).unwrap();
        assert_eq!(journal.steps[0].stage.directory, b"mounted");
        assert_eq!(journal.steps[0].stage.name, format!(".backsight-{ID}-0"));
        let again = Journal::from_bytes(&journal.to_bytes().unwrap()).unwrap();
        assert_eq!(again.steps[0].stage, journal.steps[0].stage);
        let own = Journal::from_bytes(entry(ID, "a", "").as_bytes()).unwrap();
        assert_eq!(own.steps[0].stage.directory, format!(".backsight/stage/{ID}").as_bytes());
        for hostile in [
            entry("../../../Documents", "a", ""),
            entry("0123456789ABCDEF", "a", ""),
            entry("0123456789abcde", "a", ""),
            entry("", "a", ""),
            entry(ID, "../a", ""),
            entry(ID, "/etc/passwd", ""),
            entry(ID, ".git/config", ""),
            entry(ID, "a/../b", ""),
            entry(ID, "", ""),
            entry(ID, "mounted/a", r#","beside":"..""#),
            entry(ID, "mounted/a", r#","beside":"/""#),
            entry(ID, "mounted/a", r#","beside":"elsewhere""#),
            entry(ID, "mounted/a", r#","beside":"mounted/a""#),
            entry(ID, "mounted/a", r#","beside":"mounted/a/b""#),
            entry(ID, "mounted/a", r#","beside":"mount""#),
            entry(ID, ".git/a", r#","beside":".git""#),
            format!(r#"{{"id":"{ID}","steps":[],"note":{{}},"more":1}}"#),
            format!(r#"{{"id":"{ID}","steps":[]}}"#),
            "[".repeat(100_000),
        ] {
            let refused = Journal::from_bytes(hostile.as_bytes());
            assert!(refused.is_err(), "{}", hostile.chars().take(200).collect::<String>());
        }
    }

    #[test]
    fn only_an_entry_under_the_seal_and_its_own_name_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let directory = AnchoredPath::open_directory(directory.path()).unwrap();
        let (disk, seal) = (Disk::new(), Seal::new([1; 64]));
        let journals = Journals { directory: &directory, disk: &disk, seal: &seal };
        let journal = Journal::from_bytes(entry(ID, "a", "").as_bytes()).unwrap();
        journals.write_intent(&journal).unwrap();
        let (path, phase) = journals.entries().unwrap().remove(0);
        assert_eq!((phase, journals.read(&path).unwrap().id), (Phase::Intent, journal.id.clone()));
        let other = Journals { seal: &Seal::new([2; 64]), ..journals };
        assert_eq!(other.read(&path).unwrap_err().code(), Code::Damaged);
        let renamed = directory.join("fedcba9876543210.commit");
        disk.rename(&path, &renamed).unwrap();
        assert_eq!(journals.read(&renamed).unwrap_err().code(), Code::Damaged);
        let unsealed = directory.join(format!("{ID}.commit"));
        disk.replace(&unsealed, entry(ID, "a", "").as_bytes(), Durability::Cache).unwrap();
        assert_eq!(journals.read(&unsealed).unwrap_err().code(), Code::Damaged);
    }

    #[test]
    fn where_a_file_is_kept_tells_whose_directory_it_is() {
        let journal = Journal::from_bytes(entry(ID, "mounted/a", r#","beside":"mounted""#).as_bytes()).unwrap();
        let beside = &journal.steps[0].stage;
        assert_eq!((beside.is_own(), beside.is_beside(&journal.id)), (false, true));
        let own = Stage::new(&journal.id, 0, None);
        assert_eq!((own.is_own(), own.is_beside(&journal.id)), (true, false));
    }

    #[test]
    fn room_is_kept_until_it_is_given_back_or_the_entry_goes() {
        let directory = tempfile::tempdir().unwrap();
        let anchored = AnchoredPath::open_directory(directory.path()).unwrap();
        let (disk, seal) = (Disk::new(), Seal::new([1; 64]));
        let journals = Journals { directory: &anchored, disk: &disk, seal: &seal };
        let journal = Journal::from_bytes(entry(ID, "a", "").as_bytes()).unwrap();
        let length = |name: &str| std::fs::metadata(directory.path().join(name)).map(|found| found.len()).ok();
        journals.write_intent(&journal).unwrap();
        assert_eq!(Some(journals.size(&journal, Phase::Intent)), length(&format!("{ID}.intent")));
        let kept = format!("{ID}.reserve");
        journals.reserve(&journal, 5000).unwrap();
        assert_eq!(length(&kept), Some(5000));
        journals.release(&journal).unwrap();
        assert_eq!(length(&kept), None);
        journals.reserve(&journal, 5000).unwrap();
        std::fs::write(directory.path().join("0.tmp"), "torn").unwrap();
        journals.remove_torn().unwrap();
        journals.remove(&journal).unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

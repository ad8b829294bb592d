//! The words of the tests about tool calls: a user and agents write files, somebody records, and the timeline is read
//! back as one line a row.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use backsight::report::{Applied, Begun, Event, Origin, Row, Strategy, Tracked};
use backsight::request::{Begin, Finish, Log, Order, Revert, Track, Unknown};
use backsight::{Error, RelPath, Workspace};

use crate::lab::{Lab, open};
use crate::picture::Picture;

pub fn path(text: &str) -> RelPath {
    text.parse().unwrap()
}

pub fn paths(texts: &[&str]) -> Vec<RelPath> {
    texts.iter().map(|text| path(text)).collect()
}

pub fn names(paths: &[RelPath]) -> Vec<String> {
    paths.iter().map(RelPath::to_string).collect()
}

/// Who asks, and the paths they say they write.
pub fn by(tool: &str, declared: &[&str]) -> Origin {
    Origin { tool: Some(tool.to_owned()), declared: paths(declared), ..Origin::default() }
}

pub fn strategy(strategy: Strategy) -> Unknown {
    Unknown { strategy: Some(strategy), force: false }
}

/// A workspace in a directory of its own.
pub struct Scene {
    pub root: PathBuf,
    pub workspace: Workspace,
    pub lab: Lab,
}

impl Scene {
    pub fn empty() -> Scene {
        Scene::within(Lab::new())
    }

    pub fn within(lab: Lab) -> Scene {
        let root = lab.empty();
        let workspace = open(&root);
        Scene { root, workspace, lab }
    }

    /// Files with the text `0` in each, recorded as the first snapshot.
    pub fn of(files: &[&str]) -> Scene {
        let scene = Scene::empty();
        for file in files {
            scene.write(file, "0\n");
        }
        scene.workspace.track().unwrap();
        scene
    }

    pub fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        let target = self.root.join(file);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, text).unwrap();
    }

    pub fn remove(&self, file: &str) {
        let target = self.root.join(file);
        let removed = if target.is_dir() { fs::remove_dir_all(target) } else { fs::remove_file(target) };
        removed.unwrap();
    }

    pub fn chmod(&self, file: &str, mode: u32) {
        fs::set_permissions(self.root.join(file), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// The text of a file, or `-` when there is none.
    pub fn text(&self, file: &str) -> String {
        fs::read_to_string(self.root.join(file)).map_or("-".to_owned(), |text| text.trim_end().to_owned())
    }

    pub fn disk(&self) -> Picture {
        Picture::of(&self.root)
    }

    pub fn try_begin(&self, tool: &str, declared: &[&str], unknown: Unknown) -> Result<Begun, Error> {
        self.workspace.begin(&Begin { origin: by(tool, declared), unknown, title: None })
    }

    /// Begins a call and answers with its id.
    pub fn begin(&self, tool: &str, declared: &[&str]) -> String {
        self.try_begin(tool, declared, Unknown::default()).unwrap().call.id.to_string()
    }

    pub fn try_finish(&self, call: &str, unknown: Unknown) -> Result<Tracked, Error> {
        self.workspace.finish(&Finish { call: call.to_owned(), unknown, ..Finish::default() })
    }

    pub fn finish(&self, call: &str) -> Tracked {
        self.try_finish(call, Unknown::default()).unwrap()
    }

    pub fn try_track(&self, tool: &str, declared: &[&str], unknown: Unknown) -> Result<Tracked, Error> {
        self.workspace.track_with(&Track { origin: by(tool, declared), unknown, ..Track::default() })
    }

    pub fn revert(&self, reference: &str) -> Result<Applied, Error> {
        self.workspace.revert_steps(&Revert { references: vec![reference.to_owned()], ..Revert::default() })
    }

    /// What `detect` finds: unknown, then pending, as `path` and `path?`.
    pub fn unrecorded(&self) -> Vec<String> {
        let found = self.workspace.detect_unknown_modifications(&[]).unwrap();
        let pending = found.pending.iter().map(|path| format!("{path}?"));
        found.unknown_changes.iter().map(|change| change.file_path.to_string()).chain(pending).collect()
    }

    /// Every row, oldest first: `2 track writer: a.txt; others: notes.txt`.
    pub fn story(&self) -> Vec<String> {
        let all = Log { order: Order::OldestFirst, ..Log::default() };
        self.workspace.log(&all).unwrap().rows.iter().map(|row| self.line(row)).collect()
    }

    fn line(&self, row: &Row) -> String {
        let snapshot = match row {
            Row::Event(event) => return event_line(event),
            Row::Snapshot(snapshot) => snapshot,
        };
        let detail = self.workspace.show_detail(snapshot.id.as_str()).unwrap();
        let mut line = format!("{} {}", snapshot.sequence_number.0, snapshot.kind.as_str());
        if let Some(tool) = &snapshot.origin.tool {
            line += &format!(" {tool}");
        }
        if !detail.affected_files.is_empty() {
            line += &format!(": {}", names(&detail.affected_files).join(" "));
        }
        if !snapshot.unknown_changes.is_empty() {
            let others: Vec<String> =
                snapshot.unknown_changes.iter().map(|change| change.file_path.to_string()).collect();
            line += &format!("; others: {}", others.join(" "));
        }
        line
    }

    /// The timeline is whole, its hashes too, and each snapshot starts from the files of the one before it.
    pub fn check_chain(&self) -> Result<(), String> {
        let report = self.workspace.validate_workspace_sync().map_err(|error| error.to_string())?;
        if !report.problems.is_empty() {
            return Err(format!("the chain is broken: {:?}", report.problems));
        }
        let rows = crate::lab::rows(&self.workspace);
        for pair in rows.windows(2) {
            if pair[1].base_tree != Some(pair[0].tree) || pair[1].previous_snapshot_id.as_ref() != Some(&pair[0].id) {
                return Err(format!("{} does not continue {}", pair[1].sequence_number, pair[0].sequence_number));
            }
        }
        Ok(())
    }
}

fn event_line(event: &Event) -> String {
    format!("{} {} `{}`", event.sequence_number.0, event.kind.as_str(), event.description)
}

//! Laws of attribution, for any order of events: a user and three agents write, calls begin, end and are given up,
//! somebody tracks, undoes and redoes. Whatever happens,
//!
//! * what is reported as unrecorded is exactly what differs on disk from the latest snapshot;
//! * a call's step holds what the call wrote, and never what only somebody else wrote;
//! * taking the step back restores just that;
//! * nothing that was recorded can be lost, and the timeline is whole.

use std::collections::{BTreeMap, BTreeSet};

use backsight::Code;
use backsight::report::{Kind, OnConflict, Strategy as OnUnknown};
use backsight::request::{Collect, Revert, Unknown};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::lab::{contents, damage, open, stored_at};
use crate::picture::{Picture, Thing};
use crate::scene::{Scene, names};

const FILES: [&str; 7] = ["a", "b", "d/x", "d/y", "e/f/z", "t.log", "a0"];
const DECLARED: [&[&str]; 5] = [&[], &["a", "d/x"], &["b", "e"], &["d"], &["a", "e/f/z", "t.log"]];
const AGENTS: usize = 3;

/// What the caller says about unknown changes.
const SAYINGS: [Unknown; 4] = [
    Unknown { strategy: None, force: false },
    Unknown { strategy: Some(OnUnknown::AutoIntegrate), force: false },
    Unknown { strategy: Some(OnUnknown::Strict), force: false },
    Unknown { strategy: Some(OnUnknown::Strict), force: true },
];

#[derive(Clone, Debug)]
enum Act {
    Begin {
        agent: usize,
        declared: usize,
        unknown: usize,
    },
    Finish {
        agent: usize,
        unknown: usize,
    },
    Abandon {
        agent: usize,
    },
    /// By the agent whose call is open, within what it declared; else by the user.
    Write {
        agent: usize,
        file: usize,
    },
    Remove {
        agent: usize,
        file: usize,
    },
    Mode {
        agent: usize,
        file: usize,
    },
    UserWrites {
        file: usize,
    },
    UserRemoves {
        file: usize,
    },
    /// The user puts back what the latest snapshot holds.
    UserPutsBack {
        file: usize,
    },
    Track,
    Undo,
    Redo,
}

fn act() -> impl Strategy<Value = Act> {
    let (agent, file) = (0..AGENTS, 0..FILES.len());
    let both = || (agent.clone(), file.clone());
    prop_oneof![
        5 => (agent.clone(), 0..DECLARED.len(), 0..SAYINGS.len())
            .prop_map(|(agent, declared, unknown)| Act::Begin { agent, declared, unknown }),
        5 => (agent.clone(), 0..SAYINGS.len()).prop_map(|(agent, unknown)| Act::Finish { agent, unknown }),
        1 => agent.clone().prop_map(|agent| Act::Abandon { agent }),
        8 => both().prop_map(|(agent, file)| Act::Write { agent, file }),
        2 => both().prop_map(|(agent, file)| Act::Remove { agent, file }),
        1 => both().prop_map(|(agent, file)| Act::Mode { agent, file }),
        3 => file.clone().prop_map(|file| Act::UserWrites { file }),
        1 => file.clone().prop_map(|file| Act::UserRemoves { file }),
        1 => file.clone().prop_map(|file| Act::UserPutsBack { file }),
        1 => Just(Act::Track),
        1 => Just(Act::Undo),
        1 => Just(Act::Redo),
    ]
}

type Files = BTreeMap<Vec<u8>, (u32, Vec<u8>)>;

fn files(picture: &Picture) -> Files {
    let file = |(path, thing): (&Vec<u8>, &Thing)| match thing {
        Thing::File { mode, bytes } => Some((path.clone(), (*mode, bytes.clone()))),
        _ => None,
    };
    picture.0.iter().filter_map(file).collect()
}

fn is_within(file: &str, declared: &[&str]) -> bool {
    declared.iter().any(|known| file == *known || file.starts_with(&format!("{known}/")))
}

/// An open call as the test knows it.
struct Call {
    id: String,
    declared: &'static [&'static str],
    start: Files,
    /// What this call wrote, and what others wrote or recorded since it began.
    own: BTreeSet<&'static str>,
    others: BTreeSet<&'static str>,
}

struct Play {
    scene: Scene,
    calls: [Option<Call>; AGENTS],
    writes: usize,
    kept: BTreeSet<(String, Vec<u8>)>,
}

impl Play {
    fn new() -> Play {
        Play {
            scene: Scene::of(&["a", "b", "d/x", "e/f/z", "t.log"]),
            calls: Default::default(),
            writes: 0,
            kept: BTreeSet::new(),
        }
    }

    fn disk(&self) -> Files {
        files(&self.scene.disk())
    }

    fn act(&mut self, act: &Act) -> Result<(), String> {
        match *act {
            Act::Begin { agent, declared, unknown } => self.begin(agent, DECLARED[declared], SAYINGS[unknown]),
            Act::Finish { agent, unknown } => self.finish(agent, SAYINGS[unknown]),
            Act::Abandon { agent } => {
                if let Some(call) = self.calls[agent].take() {
                    self.scene.workspace.abandon(&call.id).map_err(|error| error.to_string())?;
                }
                Ok(())
            }
            Act::Write { agent, file } => self.write(self.writer(agent, FILES[file]), FILES[file]),
            Act::UserWrites { file } => self.write(None, FILES[file]),
            Act::Remove { agent, file } => self.remove(self.writer(agent, FILES[file]), FILES[file]),
            Act::UserRemoves { file } => self.remove(None, FILES[file]),
            Act::Mode { agent, file } => self.change_mode(self.writer(agent, FILES[file]), FILES[file]),
            Act::UserPutsBack { file } => self.put_back(FILES[file]),
            Act::Track => self.track(),
            Act::Undo => self.go(Kind::Undo),
            Act::Redo => self.go(Kind::Redo),
        }?;
        self.check_unrecorded()?;
        self.scene.check_chain()
    }

    /// The agent, if its call is open and it may write the file.
    fn writer(&self, agent: usize, file: &str) -> Option<usize> {
        let call = self.calls[agent].as_ref()?;
        (call.declared.is_empty() || is_within(file, call.declared)).then_some(agent)
    }

    fn note_write(&mut self, writer: Option<usize>, file: &'static str) {
        for (agent, call) in self.calls.iter_mut().enumerate() {
            let Some(call) = call else { continue };
            if Some(agent) == writer {
                call.own.insert(file)
            } else {
                call.others.insert(file)
            };
        }
    }

    fn write(&mut self, writer: Option<usize>, file: &'static str) -> Result<(), String> {
        self.writes += 1;
        let who = writer.map_or("user".to_owned(), |agent| format!("agent {agent}"));
        self.scene.write(file, format!("{who}, {}\n", self.writes));
        self.note_write(writer, file);
        Ok(())
    }

    fn remove(&mut self, writer: Option<usize>, file: &'static str) -> Result<(), String> {
        if self.scene.root.join(file).exists() {
            self.scene.remove(file);
            // Sometimes the directory goes with its last file.
            if let Some((parent, _)) = file.rsplit_once('/').filter(|_| self.writes.is_multiple_of(2)) {
                drop(std::fs::remove_dir(self.scene.root.join(parent)));
            }
            self.note_write(writer, file);
        }
        Ok(())
    }

    fn change_mode(&mut self, writer: Option<usize>, file: &'static str) -> Result<(), String> {
        if let Some((mode, _)) = self.disk().get(file.as_bytes()) {
            self.scene.chmod(file, mode ^ 0o100);
            self.note_write(writer, file);
        }
        Ok(())
    }

    fn put_back(&mut self, file: &'static str) -> Result<(), String> {
        let recorded = contents(&self.scene.workspace, "@");
        if let Some((mode, bytes)) = recorded.get(file.as_bytes()) {
            self.scene.write(file, bytes);
            self.scene.chmod(file, u32::from(*mode));
            self.note_write(None, file);
        }
        Ok(())
    }

    fn begin(&mut self, agent: usize, declared: &'static [&'static str], unknown: Unknown) -> Result<(), String> {
        if self.calls[agent].is_some() {
            return Ok(());
        }
        let (rows, start) = (self.scene.story(), self.disk());
        let begun = match self.scene.try_begin(&format!("agent {agent}"), declared, unknown) {
            Ok(begun) => begun,
            Err(error) => return self.check_refused(&error, unknown, &rows),
        };
        let added = self.scene.story().len() - rows.len();
        if added != usize::from(begun.integrated.is_some()) {
            return Err(format!("{added} rows for a beginning: {:?}", self.scene.story()));
        }
        let id = begun.call.id.to_string();
        self.calls[agent] = Some(Call { id, declared, start, own: BTreeSet::new(), others: BTreeSet::new() });
        Ok(())
    }

    /// Only the strict strategy refuses, and then nothing has changed.
    fn check_refused(&self, error: &backsight::Error, unknown: Unknown, rows: &[String]) -> Result<(), String> {
        let is_strict = unknown.strategy == Some(OnUnknown::Strict) && !unknown.force;
        if !is_strict || error.code() != Code::StateMismatch || self.scene.story() != rows {
            return Err(format!("refused under {unknown:?}: {error}"));
        }
        Ok(())
    }

    fn track(&mut self) -> Result<(), String> {
        let before = self.disk();
        self.scene.workspace.track().map_err(|error| error.to_string())?;
        self.note_recording(&[]);
        self.keep(&before);
        Ok(())
    }

    /// Somebody recorded: all that he could not know to be another's, and what he `declared`. From here on an open call
    /// owns only what it changes later; what a call declared stays its own.
    fn note_recording(&mut self, declared: &[&'static str]) {
        for call in self.calls.iter_mut().flatten() {
            let recorded = FILES.into_iter().filter(|file| match declared {
                [] => call.declared.is_empty(),
                _ => is_within(file, declared),
            });
            call.others.extend(recorded);
        }
    }

    /// A file changed without anybody of the play writing it.
    fn note_changes(&mut self, before: &Files) {
        let after = self.disk();
        for file in FILES.into_iter().filter(|file| before.get(file.as_bytes()) != after.get(file.as_bytes())) {
            self.note_write(None, file);
        }
    }

    fn go(&mut self, kind: Kind) -> Result<(), String> {
        let before = self.disk();
        let workspace = &self.scene.workspace;
        let went =
            if kind == Kind::Undo { workspace.undo(&Default::default()) } else { workspace.redo(&Default::default()) };
        match went {
            Ok(_) => {}
            Err(error) if matches!(error.code(), Code::Conflict | Code::NothingToUndo) => {
                return if before == self.disk() { Ok(()) } else { Err("refused, and changed files".to_owned()) };
            }
            Err(error) => return Err(error.to_string()),
        }
        self.note_changes(&before);
        for (path, (_, bytes)) in &before {
            let name = String::from_utf8(path.clone()).map_err(|error| error.to_string())?;
            if !stored_at(&self.scene.workspace, &name).contains(bytes) {
                return Err(format!("`{name}` as it was before the {} is in no snapshot", kind.as_str()));
            }
        }
        self.keep(&before);
        Ok(())
    }

    fn finish(&mut self, agent: usize, unknown: Unknown) -> Result<(), String> {
        let Some(call) = self.calls[agent].take() else { return Ok(()) };
        let (before, rows) = (self.disk(), self.scene.story());
        let tracked = match self.scene.try_finish(&call.id, unknown) {
            Ok(tracked) => tracked,
            Err(error) => {
                self.calls[agent] = Some(call);
                return self.check_refused(&error, unknown, &rows);
            }
        };
        let is_step = tracked.created && tracked.snapshot.kind == Kind::Track;
        let detail = self.scene.workspace.show_detail(tracked.snapshot.id.as_str()).unwrap();
        let step = if is_step { names(&detail.affected_files) } else { Vec::new() };
        let added = self.scene.story().len() - rows.len();
        if added != usize::from(tracked.created) + usize::from(tracked.integrated.is_some()) {
            return Err(format!("{added} rows for one call: {:?}", self.scene.story()));
        }
        self.check_step(&call, &before, &step)?;
        if is_step {
            self.check_revert(&call, &before, &step, tracked.snapshot.id.as_str())?;
        }
        self.note_recording(call.declared);
        self.keep(&before);
        Ok(())
    }

    fn check_step(&self, call: &Call, disk: &Files, step: &[String]) -> Result<(), String> {
        for file in FILES {
            let may_claim = call.declared.is_empty() || is_within(file, call.declared);
            let is_own = call.own.contains(file);
            // What another open call declared is left to it by one that declared nothing.
            let is_left =
                call.declared.is_empty() && self.calls.iter().flatten().any(|other| is_within(file, other.declared));
            let is_contested = is_left || call.others.contains(file);
            let changed = disk.get(file.as_bytes()) != call.start.get(file.as_bytes());
            let in_step = step.iter().any(|name| name == file);
            if in_step && !is_own && !(may_claim && call.others.contains(file)) {
                return Err(format!("the step holds `{file}`, which the call did not write"));
            }
            if !in_step && is_own && changed && !is_contested {
                return Err(format!("the step {step:?} lacks `{file}`, which only the call wrote"));
            }
        }
        Ok(())
    }

    /// On a copy: the step is taken back, and nothing else.
    fn check_revert(&self, call: &Call, disk: &Files, step: &[String], id: &str) -> Result<(), String> {
        let copy = self.scene.lab.copy(&self.scene.root);
        let workspace = open(&copy);
        // What another call may have written too is asked about first.
        let is_contested = !workspace.show(id).map_err(|error| error.to_string())?.may_hold.is_empty();
        let on_conflict = if is_contested { OnConflict::Merge } else { OnConflict::Refuse };
        let revert = Revert { references: vec![id.to_owned()], on_conflict, ..Revert::default() };
        workspace.revert_steps(&revert).map_err(|error| format!("the newest step cannot be reverted: {error}"))?;
        let after = files(&Picture::of(&copy));
        let paths: BTreeSet<&Vec<u8>> = disk.keys().chain(after.keys()).chain(call.start.keys()).collect();
        for path in paths {
            let name = String::from_utf8_lossy(path);
            let is_own = step.iter().any(|own| *own == name);
            let expected = match is_own {
                true if call.others.iter().any(|file| *file == name) => continue,
                true => call.start.get(path),
                false => disk.get(path),
            };
            if after.get(path) != expected {
                return Err(format!("after reverting {step:?}, `{name}` is {:?}, not {expected:?}", after.get(path)));
            }
        }
        Ok(())
    }

    /// What is recorded of the disk now must be readable for ever.
    fn keep(&mut self, disk: &Files) {
        let unrecorded = self.unrecorded();
        for (path, (_, bytes)) in disk {
            let name = String::from_utf8(path.clone()).unwrap();
            if !unrecorded.contains(&name) {
                self.kept.insert((name, bytes.clone()));
            }
        }
    }

    /// Files that differ from the latest snapshot.
    fn unrecorded(&self) -> BTreeSet<String> {
        let recorded: Files = contents(&self.scene.workspace, "@")
            .into_iter()
            .map(|(path, (mode, bytes))| (path, (u32::from(mode), bytes)))
            .collect();
        let disk = self.disk();
        let paths: BTreeSet<&Vec<u8>> = recorded.keys().chain(disk.keys()).collect();
        let is_file = |path: &&&Vec<u8>| FILES.iter().any(|file| file.as_bytes() == path.as_slice());
        let differ = |path: &&&Vec<u8>| recorded.get(**path) != disk.get(**path);
        let differing = paths.iter().filter(is_file).filter(differ);
        differing.map(|path| String::from_utf8_lossy(path).into_owned()).collect()
    }

    fn check_unrecorded(&self) -> Result<(), String> {
        let expected = self.unrecorded();
        let found = self.scene.workspace.detect_unknown_modifications(&[]).map_err(|error| error.to_string())?;
        let unknown: BTreeSet<String> =
            found.unknown_changes.iter().map(|change| change.file_path.to_string()).collect();
        let pending: BTreeSet<String> = names(&found.pending).into_iter().collect();
        if !unknown.is_disjoint(&pending) {
            return Err(format!("both unknown and pending: {unknown:?}, {pending:?}"));
        }
        let is_file = |name: &&String| FILES.contains(&name.as_str());
        let mut reported: BTreeSet<String> = unknown.union(&pending).filter(is_file).cloned().collect();
        if found.excluded > 0 {
            reported.insert("t.log".to_owned());
        }
        if reported != expected {
            return Err(format!("reported {reported:?}, but {expected:?} differ from the latest snapshot"));
        }
        for name in pending.iter().filter(is_file) {
            let may_be = |call: &Call| {
                (call.declared.is_empty() || is_within(name, call.declared))
                    && (call.own.contains(name.as_str()) || call.others.contains(name.as_str()))
            };
            if !self.calls.iter().flatten().any(may_be) {
                return Err(format!("`{name}` is pending, but no open call can have written it"));
            }
        }
        let status = self.scene.workspace.status().map_err(|error| error.to_string())?;
        if status.clean && !expected.is_empty() {
            return Err(format!("clean, although {expected:?} differ"));
        }
        Ok(())
    }

    fn end(mut self) -> Result<(), String> {
        for agent in 0..AGENTS {
            self.finish(agent, Unknown::default())?;
        }
        let workspace = &self.scene.workspace;
        workspace.gc(&Collect::default()).map_err(|error| error.to_string())?;
        for (name, bytes) in &self.kept {
            if !stored_at(workspace, name).contains(bytes) {
                return Err(format!("`{name}` with {:?} was recorded and is lost", String::from_utf8_lossy(bytes)));
            }
        }
        match damage(workspace) {
            none if none.is_empty() => Ok(()),
            found => Err(found),
        }
    }
}

#[test]
fn the_laws_of_attribution_hold_for_any_order_of_events() {
    // `CASES=1000 SEED=7` looks further.
    let number = |name: &str, usual: u32| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let config =
        Config { cases: number("CASES", 24), failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[number("SEED", 3) as u8; 32]);
    let acts = prop::collection::vec(act(), 8..40);
    let outcome = TestRunner::new_with_rng(config, rng).run(&acts, |acts| {
        let mut play = Play::new();
        for (number, act) in acts.iter().enumerate() {
            let happened = play.act(act);
            prop_assert!(
                happened.is_ok(),
                "at {number}, {act:?}: {}\n{}",
                happened.unwrap_err(),
                play.scene.story().join("\n")
            );
        }
        let ended = play.end();
        prop_assert!(ended.is_ok(), "in the end: {}", ended.unwrap_err());
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

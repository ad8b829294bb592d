//! Who wrote each line. Every line the tests write is unlike any other, so the truth is simple: a line belongs to the
//! row in which it first appeared, whatever was undone, restored or renamed since.

use std::collections::BTreeMap;

use backsight::report::{Kind, LineOrigin, Strategy as OnUnknown};
use backsight::request::{Collect, Restore, Revert};
use backsight::{Code, Workspace};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::lab::rows;
use crate::scene::{Scene, path, strategy};

/// `recorded 3`, `external 2`, `baseline 1`, `unrecorded`, `expired 4`.
fn told(origin: &LineOrigin) -> String {
    match origin {
        LineOrigin::Recorded(by) => format!("recorded {}", by.sequence_number.0),
        LineOrigin::External(by) => format!("external {}", by.sequence_number.0),
        LineOrigin::Baseline(by) => format!("baseline {}", by.sequence_number.0),
        LineOrigin::Unrecorded => "unrecorded".to_owned(),
        LineOrigin::Expired(by) => format!("expired {}", by.sequence_number.0),
    }
}

/// Each line with its origin, after checking that the hunks are the file.
fn blame(workspace: &Workspace, file: &str, reference: Option<&str>) -> Vec<(String, String)> {
    let blame = workspace.blame(&path(file), reference).unwrap();
    let bytes = workspace.get_file_at(reference.unwrap_or("now"), &path(file)).unwrap();
    let mut lines = Vec::new();
    for hunk in &blame.hunks {
        assert_eq!(hunk.start_line, lines.len() + 1);
        lines.extend(hunk.lines.iter().map(|line| (line.clone(), told(&hunk.origin))));
    }
    for pair in blame.hunks.windows(2) {
        assert_ne!(pair[0].origin, pair[1].origin, "a run is as long as it can be");
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let expected: Vec<String> = text.split_terminator('\n').map(str::to_owned).collect();
    assert_eq!(lines.iter().map(|(line, _)| line.clone()).collect::<Vec<_>>(), expected);
    lines
}

fn origins(scene: &Scene, file: &str, reference: Option<&str>) -> Vec<String> {
    blame(&scene.workspace, file, reference).into_iter().map(|(line, origin)| format!("{line}: {origin}")).collect()
}

fn tracked(scene: &Scene, file: &str, text: &str) {
    scene.write(file, text);
    scene.workspace.track().unwrap();
}

#[test]
fn an_empty_file_has_no_lines_and_a_binary_one_is_refused_by_name() {
    let scene = Scene::of(&["a"]);
    scene.write("empty", "");
    scene.write("binary", b"\x00\x01\n");
    scene.workspace.track().unwrap();
    assert_eq!(origins(&scene, "empty", None), [""; 0]);
    let error = scene.workspace.blame(&path("binary"), None).unwrap_err();
    assert!(error.code() == Code::Usage && error.message().contains("`binary` is binary"), "{error}");
    assert_eq!(scene.workspace.blame(&path("nowhere"), None).unwrap_err().code(), Code::PathNotFound);
    assert_eq!(scene.workspace.blame(&path("empty"), Some("1")).unwrap_err().code(), Code::PathNotFound);
}

#[test]
fn a_last_line_without_its_end_is_another_line_than_with_it() {
    let scene = Scene::empty();
    tracked(&scene, "f", "one\ntwo");
    tracked(&scene, "f", "one\ntwo\nthree\n");
    assert_eq!(origins(&scene, "f", None), ["one: baseline 1", "two: recorded 2", "three: recorded 2"]);
    tracked(&scene, "f", "one\r\ntwo\nthree\n");
    assert_eq!(origins(&scene, "f", None), ["one\r: recorded 3", "two: recorded 2", "three: recorded 2"]);
}

#[test]
fn the_users_lines_in_a_file_the_tool_wrote_too_are_the_users() {
    let scene = Scene::empty();
    tracked(&scene, "f", "1\n2\n3\n4\n5\n");
    scene.write("f", "1\nuser\n3\n4\n5\n");
    let call = scene.begin("writer", &[]);
    scene.write("f", "1\nuser\n3\ntool\n5\n");
    scene.finish(&call);
    let expected = ["1: baseline 1", "user: external 2", "3: baseline 1", "tool: recorded 2", "5: baseline 1"];
    assert_eq!(origins(&scene, "f", None), expected);
}

/// Whole or merged with what came since: the lines are those of who wrote them first.
#[test]
fn what_a_revert_brings_back_is_its_first_writers() {
    let scene = Scene::empty();
    tracked(&scene, "f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    tracked(&scene, "f", "1\n3\n4\n5\n6\n7\n8\n9\n");
    scene.revert("2").unwrap();
    assert_eq!(origins(&scene, "f", None)[1], "2: baseline 1");
    scene.workspace.undo(&Default::default()).unwrap();
    tracked(&scene, "f", "1\n3\n4\n5\n6\n7\n8\nnine\n");
    scene.revert("2").unwrap();
    let found = origins(&scene, "f", None);
    assert_eq!((found[1].as_str(), found[8].as_str()), ("2: baseline 1", "nine: recorded 5"), "{found:?}");
}

#[test]
fn a_file_that_never_changed_is_recorded_also_after_the_first_snapshot_expired() {
    let scene = Scene::of(&["still", "moving"]);
    for number in 1..4 {
        tracked(&scene, "moving", &format!("{number}\n"));
    }
    scene.workspace.gc(&Collect { keep_count: Some(1), ..Collect::default() }).unwrap();
    for reference in [None, Some("@")] {
        let found = origins(&scene, "still", reference);
        assert!(found != ["0: unrecorded"], "{reference:?}: the latest snapshot holds it");
    }
    assert_eq!(origins(&scene, "moving", None), ["3: recorded 4"]);
}

#[derive(Clone, Debug)]
enum Act {
    /// Replaces some lines; 0 the tool, 1 the user with a compensating snapshot, 2 the user and nobody records it.
    Edit {
        at: usize,
        removed: usize,
        added: usize,
        who: usize,
    },
    CutFinalNewline,
    Rename,
    Remove,
    Undo,
    Redo,
    Restore {
        to: usize,
    },
    RevertStep {
        step: usize,
    },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        10 => (0..12_usize, 0..4_usize, 0..4_usize, 0..3_usize)
            .prop_map(|(at, removed, added, who)| Act::Edit { at, removed, added, who }),
        1 => Just(Act::CutFinalNewline),
        2 => Just(Act::Rename),
        1 => Just(Act::Remove),
        3 => Just(Act::Undo),
        2 => Just(Act::Redo),
        2 => (0..20_usize).prop_map(|to| Act::Restore { to }),
        1 => (0..20_usize).prop_map(|step| Act::RevertStep { step }),
    ]
}

struct Play {
    scene: Scene,
    lines: usize,
    names: usize,
}

impl Play {
    fn new() -> Play {
        let scene = Scene::empty();
        scene.write("name 0", (0..6).map(|line| format!("first {line}\n")).collect::<String>());
        scene.write("other", "never looked at\n");
        scene.workspace.track().unwrap();
        Play { scene, lines: 0, names: 0 }
    }

    /// The file, under whatever name it has; there is at most one.
    fn name(&self) -> Option<String> {
        let names = self.scene.disk().0.into_keys().filter_map(|name| String::from_utf8(name).ok());
        names.filter(|name| name.starts_with("name")).max_by_key(|name| name.len())
    }

    fn act(&mut self, act: &Act) {
        let workspace = &self.scene.workspace;
        // Going back may refuse, or lead to a state without the file: both are fine.
        match act {
            Act::Edit { at, removed, added, who } => self.edit(*at, *removed, *added, *who),
            Act::CutFinalNewline => {
                let Some(name) = self.name() else { return };
                self.lines += 1;
                self.scene.write(&name, format!("{}\n{} is cut", self.scene.text(&name), self.lines));
                workspace.track().unwrap();
            }
            Act::Rename => {
                let Some(name) = self.name() else { return };
                workspace.track().unwrap();
                self.names += 1;
                let new = format!("name {}", self.names);
                std::fs::rename(self.scene.root.join(name), self.scene.root.join(new)).unwrap();
                workspace.track().unwrap();
            }
            Act::Remove => {
                let Some(name) = self.name() else { return };
                self.scene.remove(&name);
                workspace.track().unwrap();
            }
            Act::Undo => drop(workspace.undo(&Default::default())),
            Act::Redo => drop(workspace.redo(&Default::default())),
            Act::Restore { to } => {
                let known = rows(workspace);
                let reference = known[to % known.len()].id.to_string();
                drop(workspace.restore_with(&Restore { reference, ..Restore::default() }).unwrap());
            }
            Act::RevertStep { step } => {
                let known = rows(workspace);
                let references = vec![known[step % known.len()].id.to_string()];
                drop(workspace.revert_steps(&Revert { references, ..Revert::default() }));
            }
        }
    }

    fn edit(&mut self, at: usize, removed: usize, added: usize, who: usize) {
        self.names += 1;
        let name = self.name().unwrap_or(format!("name {}", self.names));
        let text = std::fs::read_to_string(self.scene.root.join(&name)).unwrap_or_default();
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let at = at.min(lines.len());
        let end = (at + removed).min(lines.len());
        let new: Vec<String> = (0..added).map(|line| format!("{} by {who}\n", self.lines + line)).collect();
        self.lines += added;
        lines.splice(at..end, new);
        self.scene.write(&name, lines.concat());
        match who {
            0 => drop(self.scene.workspace.track().unwrap()),
            1 => drop(self.scene.workspace.handle_unknown_changes(&[], &strategy(OnUnknown::AutoIntegrate)).unwrap()),
            _ => {}
        }
    }

    /// The row in which each line first appeared.
    fn truth(&self) -> BTreeMap<String, String> {
        let workspace = &self.scene.workspace;
        let mut truth = BTreeMap::new();
        for row in rows(workspace) {
            let origin = match row.kind {
                _ if row.base_tree.is_none() => "baseline",
                Kind::External | Kind::Safety => "external",
                _ => "recorded",
            };
            for file in workspace.list_files(row.id.as_str()).unwrap() {
                let bytes = workspace.get_file_at(row.id.as_str(), &file.path).unwrap_or_default();
                for line in String::from_utf8(bytes).unwrap().split_inclusive('\n') {
                    truth.entry(line.to_owned()).or_insert(format!("{origin} {}", row.sequence_number.0));
                }
            }
        }
        truth
    }

    /// Whether the row of this origin went back by merging: it made a text that no row before it had.
    fn merged(&self, origin: &str) -> bool {
        let known = rows(&self.scene.workspace);
        let row = known.iter().find(|row| format!("recorded {}", row.sequence_number.0) == origin);
        let Some(row) = row.filter(|row| matches!(row.kind, Kind::Revert | Kind::Undo | Kind::Redo)) else {
            return false;
        };
        let texts = |id: &str| -> Vec<Vec<u8>> {
            let files = self.scene.workspace.list_files(id).unwrap();
            files.iter().map(|file| self.scene.workspace.get_file_at(id, &file.path).unwrap()).collect()
        };
        let before = known.iter().filter(|older| older.sequence_number < row.sequence_number);
        let older: Vec<Vec<u8>> = before.flat_map(|older| texts(older.id.as_str())).collect();
        texts(row.id.as_str()).iter().any(|text| !older.contains(text))
    }

    fn check(&self, reference: Option<&str>, name: &str) -> Result<(), String> {
        let truth = self.truth();
        let workspace = &self.scene.workspace;
        let bytes = workspace.get_file_at(reference.unwrap_or("now"), &path(name)).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let found = blame(workspace, name, reference);
        for (line, (_, origin)) in text.split_inclusive('\n').zip(&found) {
            let expected = truth.get(line).map_or("unrecorded", String::as_str);
            if origin != expected && !self.merged(origin) {
                return Err(format!("`{}` of `{name}` in {reference:?} is {origin}, not {expected}", line.trim_end()));
            }
        }
        Ok(())
    }

    fn check_all(&self) -> Result<(), String> {
        if let Some(name) = self.name() {
            self.check(None, &name)?;
        }
        for row in rows(&self.scene.workspace) {
            for file in self.scene.workspace.list_files(row.id.as_str()).unwrap() {
                self.check(Some(row.id.as_str()), &file.path.to_string())?;
            }
        }
        Ok(())
    }

    /// After retention a line is its writer's, or expired; never somebody else's.
    fn check_after_expiry(&self) -> Result<(), String> {
        let truth = self.truth();
        let all = (1..=rows(&self.scene.workspace).len() as u64).map(|seq| format!("recorded {seq}"));
        let merges: Vec<String> = all.filter(|origin| self.merged(origin)).collect();
        self.scene.workspace.gc(&Collect { keep_count: Some(3), ..Collect::default() }).unwrap();
        let Some(name) = self.name() else { return Ok(()) };
        let text = std::fs::read_to_string(self.scene.root.join(&name)).unwrap();
        for (line, (_, origin)) in text.split_inclusive('\n').zip(blame(&self.scene.workspace, &name, None)) {
            let expected = truth.get(line).map_or("unrecorded", String::as_str);
            if origin != expected && !origin.starts_with("expired") && !merges.contains(&origin) {
                return Err(format!("after expiry `{}` is {origin}, not {expected} or expired", line.trim_end()));
            }
        }
        Ok(())
    }
}

#[test]
fn every_line_belongs_to_the_row_in_which_it_first_appeared() {
    let number = |name: &str, usual: u32| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let config =
        Config { cases: number("CASES", 24), failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[number("SEED", 5) as u8; 32]);
    let outcome = TestRunner::new_with_rng(config, rng).run(&prop::collection::vec(act(), 3..16), |acts| {
        let mut play = Play::new();
        for act in &acts {
            play.act(act);
        }
        for checked in [play.check_all(), play.check_after_expiry()] {
            prop_assert!(checked.is_ok(), "{}\n{}", checked.unwrap_err(), play.scene.story().join("\n"));
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

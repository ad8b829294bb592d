//! Long random histories of edits, tracks, restores, reverts, undos and redos, against a model: every state comes
//! back, no edit on another path is lost, and every byte a command displaced can be read from some snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::fixture::Fixture;
use crate::picture::{Picture, Thing};
use crate::random::Random;

const FILES: [&str; 8] = ["a", "b", "c.txt", "d/e", "d/f", "g/h/i", "g/j", "k"];

/// A workspace, what each snapshot was seen to hold, and all contents that were ever on disk when a command ran.
struct Chain {
    fixture: Fixture,
    random: Random,
    /// Whether paths change their type too.
    wild: bool,
    known: BTreeMap<u64, Picture>,
    displaced: BTreeSet<Vec<u8>>,
    trace: Vec<String>,
}

impl Chain {
    fn new(seed: u64, wild: bool) -> Self {
        let fixture = Fixture::in_memory();
        let mut chain = Chain {
            fixture,
            random: Random::new(seed),
            wild,
            known: BTreeMap::new(),
            displaced: BTreeSet::new(),
            trace: vec![format!("seed {seed}")],
        };
        for name in FILES {
            let text = chain.text();
            chain.fixture.write(name, &text);
        }
        chain.run("track");
        chain
    }

    fn text(&mut self) -> String {
        (0..12).map(|line| format!("{line} {}\n", self.random.below(3))).collect()
    }

    /// What a user, an editor or another agent does between two commands.
    fn edit(&mut self) {
        let name = *self.random.pick(&FILES);
        let path = self.fixture.root().join(name);
        let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        self.trace.push(format!("edit {name}"));
        match self.random.below(if self.wild { 10 } else { 6 }) {
            kind @ 6..=9 => self.become_something_else(name, kind),
            0 if is_file => fs::remove_file(path).unwrap(),
            1 if is_file => {
                use std::os::unix::fs::PermissionsExt;
                let mode = *self.random.pick(&[0o600, 0o644, 0o755]);
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
            2 | 3 if is_file => {
                let text = fs::read_to_string(&path).unwrap();
                let at = self.random.index(12);
                let word = format!("edited {}", self.random.below(100));
                let lines = text.lines().enumerate().map(|(index, line)| if index == at { &word } else { line });
                let text: String = lines.map(|line| format!("{line}\n")).collect();
                fs::write(path, text).unwrap();
            }
            _ => {
                let text = self.text();
                self.make_way(name);
                self.fixture.write(name, &text);
            }
        }
    }

    /// The path, or a directory above it, turns into another kind of thing.
    fn become_something_else(&mut self, name: &str, kind: u64) {
        let place = match (name.split_once('/'), self.random.once_in(2)) {
            (Some((top, _)), true) => top,
            _ => name,
        };
        self.trace.push(format!("{place} becomes kind {kind}"));
        self.make_way(place);
        let path = self.fixture.root().join(place);
        if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            fs::remove_dir_all(&path).unwrap();
        } else if path.symlink_metadata().is_ok() {
            fs::remove_file(&path).unwrap();
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = self.text();
        match kind {
            6 => std::os::unix::fs::symlink(self.random.pick(&FILES), &path).unwrap(),
            7 => fs::create_dir(&path).unwrap(),
            8 => {
                let inner = *self.random.pick(&["x", "y", "z/w"]);
                self.fixture.write(&format!("{place}/{inner}"), &text);
            }
            _ => self.fixture.write(place, &text),
        }
    }

    /// Nothing but directories stands above `name`, and no directory or symlink at it.
    fn make_way(&self, name: &str) {
        let mut path = self.fixture.root().to_owned();
        for part in name.split('/') {
            path.push(part);
            let Ok(metadata) = path.symlink_metadata() else { return };
            if !metadata.is_dir() {
                fs::remove_file(&path).unwrap();
                return;
            }
        }
        fs::remove_dir_all(path).unwrap();
    }

    /// Runs a command and checks what holds for all of them.
    fn run(&mut self, line: &str) -> (serde_json::Value, i32) {
        let before = self.fixture.picture();
        let answer = self.fixture.ask(line);
        let after = self.fixture.picture();
        self.trace.push(format!("{line} -> {}", answer.status));
        let trace = self.trace.join("\n");
        // Conflict markers that are left to settle are the answer 1.
        let marks = line.contains("--on-conflict merge") && answer.status == 1;
        assert!(marks || [0, 3, 4].contains(&answer.status), "{}\n{trace}", answer.json);
        let is_done = marks || answer.status == 0;
        if !is_done || line.starts_with("track") {
            after.expect(&before, &format!("{line} must not touch files\n{trace}"));
        }
        if is_done && !line.starts_with("track") {
            self.check_touched(line, &answer.json, &before, &after);
        }
        for (path, bytes) in before.files() {
            if after.0.get(path) != before.0.get(path) {
                self.displaced.insert(bytes.to_vec());
            }
        }
        if answer.status == 0 && answer.json["changed"] != false {
            let latest = self.fixture.ok("status");
            assert_eq!(latest["clean"], true, "{line} left the disk unlike its record: {latest}\n{trace}");
            self.known.insert(latest["latest"]["sequence_number"].as_u64().unwrap(), after);
        }
        (answer.json, answer.status)
    }

    /// Only paths the report names may differ (directories come and go with their files).
    fn check_touched(&self, line: &str, report: &serde_json::Value, before: &Picture, after: &Picture) {
        let named: BTreeSet<&str> = ["reverted", "merged", "conflicts"]
            .iter()
            .flat_map(|list| report[list].as_array().unwrap())
            .flat_map(|change| [change["path"].as_str(), change["from_path"].as_str()])
            .flatten()
            .collect();
        for (path, thing) in before.0.iter().chain(&after.0) {
            let path_text = std::str::from_utf8(path).unwrap();
            let differs = before.0.get(path) != after.0.get(path) && !matches!(thing, Thing::Directory { .. });
            let trace = self.trace.join("\n");
            assert!(!differs || named.contains(path_text), "{line} changed {path_text} unsaid: {report}\n{trace}");
        }
    }

    fn random_seq(&mut self) -> u64 {
        let seqs: Vec<u64> = self.known.keys().copied().collect();
        *self.random.pick(&seqs)
    }

    fn step(&mut self) {
        match self.random.below(10) {
            0..=2 => drop(self.run("track")),
            3 | 4 => {
                let seq = self.random_seq();
                let (_, status) = self.run(&format!("restore {seq}"));
                assert_eq!(status, 0, "{}", self.trace.join("\n"));
                let expected = self.known[&seq].clone();
                self.fixture.picture().expect(&expected, &self.trace.join("\n"));
            }
            5 => {
                let seq = self.random_seq();
                let how = *self.random.pick(&["refuse", "skip", "merge"]);
                self.run(&format!("revert {seq} --on-conflict {how}"));
            }
            6 | 7 => drop(self.run("undo")),
            8 => drop(self.run("redo")),
            _ => {
                let seq = self.random_seq();
                let name = *self.random.pick(&FILES);
                self.run(&format!("restore {seq} -- {name}"));
            }
        }
    }

    /// Undo as far as it goes (or `most` steps), then redo as often: the same files again.
    fn there_and_back(&mut self, most: usize) {
        self.run("track");
        let start = self.fixture.picture();
        let mut undone = 0;
        while undone < most && self.run("undo").1 == 0 {
            undone += 1;
        }
        for _ in 0..undone {
            assert_eq!(self.run("redo").1, 0, "{}", self.trace.join("\n"));
        }
        self.fixture.picture().expect(&start, &format!("undo x {undone}, redo x {undone}\n{}", self.trace.join("\n")));
    }

    /// Every content a command took from the disk is a blob of some snapshot.
    fn check_nothing_lost(&self) {
        let latest = self.fixture.ok("status")["latest"]["sequence_number"].as_u64().unwrap();
        let mut held = BTreeSet::new();
        for seq in 1..=latest {
            let listed = self.fixture.ok(&format!("ls '#{seq}'"));
            let files = listed["files"].as_array().unwrap();
            held.extend(files.iter().filter_map(|file| Some(file["blob"].as_str()?.to_owned())));
        }
        let directory = self.fixture.base().join("displaced");
        fs::create_dir_all(&directory).unwrap();
        let files: Vec<PathBuf> = (0..self.displaced.len()).map(|index| directory.join(index.to_string())).collect();
        for (file, bytes) in files.iter().zip(&self.displaced) {
            fs::write(file, bytes).unwrap();
        }
        let mut command = self.fixture.git_command(self.fixture.root());
        let output = command.args(["hash-object", "--no-filters", "--"]).args(&files).output().unwrap();
        for id in String::from_utf8(output.stdout).unwrap().lines() {
            assert!(held.contains(id), "a displaced content is in no snapshot: {id}\n{}", self.trace.join("\n"));
        }
    }
}

fn chain(seed: u64, wild: bool) {
    let mut chain = Chain::new(seed, wild);
    for _ in 0..20 {
        for _ in 0..chain.random.below(3) {
            chain.edit();
        }
        chain.step();
    }
    chain.there_and_back(10);
    chain.check_nothing_lost();
    chain.fixture.verify();
}

#[test]
fn random_history_1() {
    chain(1, false);
}

#[test]
fn random_history_2() {
    chain(2, false);
}

#[test]
fn random_history_3() {
    chain(3, false);
}

#[test]
fn random_history_with_changes_of_type_1() {
    chain(1, true);
}

#[test]
fn random_history_with_changes_of_type_2() {
    chain(2, true);
}

#[test]
fn random_history_with_changes_of_type_3() {
    chain(3, true);
}

/// An edit on another path, made between an undo and its redo, stays.
#[test]
fn an_edit_between_undo_and_redo_is_kept() {
    let fixture = Fixture::with_history();
    fixture.ok("undo");
    fixture.write("mine.txt", "mine\n");
    fixture.write("b.txt", "b\nmine\n");
    fixture.ok("redo");
    assert_eq!((fixture.read("mine.txt").as_str(), fixture.read("b.txt").as_str()), ("mine\n", "b\nmine\n"));
    assert_eq!(fixture.read("c.txt"), "c\n");
    fixture.ok("undo");
    assert_eq!((fixture.read("mine.txt").as_str(), fixture.read("b.txt").as_str()), ("mine\n", "b\nmine\n"));
    assert!(!fixture.root().join("c.txt").exists());
}

/// An edit after a restore, on a path the restore changed elsewhere, is kept by the undo of the restore.
#[test]
fn an_edit_between_a_restore_and_its_undo_is_kept() {
    let fixture = Fixture::with_history();
    fixture.ok("restore 1");
    fixture.write("b.txt", "mine\n");
    fixture.write("new.txt", "mine\n");
    fixture.ok("undo");
    assert_eq!((fixture.read("b.txt").as_str(), fixture.read("new.txt").as_str()), ("mine\n", "mine\n"));
    assert_eq!(fixture.read("c.txt"), "c\n");
}

/// An edit on the very path: refused, and nothing lost.
#[test]
fn an_edit_on_the_same_path_is_a_conflict_for_undo_and_redo() {
    let fixture = Fixture::with_history();
    fixture.ok("undo");
    fixture.write("c.txt", "mine\n");
    let before = fixture.picture();
    fixture.ask("redo").fails("CONFLICT", 3);
    fixture.picture().expect(&before, "refused redo");
    fixture.ok("redo --on-conflict skip");
    assert_eq!(fixture.read("c.txt"), "mine\n");
}

/// `undo N` and N times `undo` are the same.
#[test]
fn undo_by_count_equals_undo_one_by_one() {
    let (one, many) = (Fixture::new(), Fixture::new());
    for fixture in [&one, &many] {
        for step in 0..6 {
            fixture.write("a.txt", &format!("{step}\n"));
            fixture.write(&format!("n{step}"), "x");
            fixture.track();
        }
    }
    for _ in 0..4 {
        one.ok("undo");
    }
    many.ok("undo 4");
    one.picture().expect(&many.picture(), "undo x 4 and undo 4");
    // However they were undone, they are brought back one by one or several at once.
    for (line, count) in [("redo 3", 3), ("redo", 1)] {
        many.ok(line);
        for _ in 0..count {
            one.ok("redo");
        }
        one.picture().expect(&many.picture(), line);
    }
    many.ok("undo 4");
    one.ok("undo 3");
    one.ok("undo");
    one.ok("redo 4");
    many.ok("redo 4");
    one.picture().expect(&many.picture(), "redo 4 of undo 3 and undo, and of undo 4");
}

/// A step recorded after an undo does not close the way forward, and `redo` does not lose it.
#[test]
fn a_step_recorded_after_an_undo_survives_the_redo() {
    let fixture = Fixture::with_history();
    fixture.ok("undo");
    fixture.write("d.txt", "d\n");
    fixture.track();
    let before = fixture.picture();
    fixture.ok("redo");
    assert_eq!((fixture.read("d.txt").as_str(), fixture.read("c.txt").as_str()), ("d\n", "c\n"));
    fixture.ok("undo");
    fixture.picture().expect(&before, "undo of the redo");
}

/// The user took the newest step back by hand; `undo` must not stop there for ever.
#[test]
fn undo_goes_past_a_step_that_is_already_undone_on_disk() {
    let fixture = Fixture::with_history();
    fixture.remove("c.txt");
    for _ in 0..2 {
        fixture.ok("undo");
    }
    assert_eq!(fixture.read("a.txt"), crate::fixture::numbered(&[]), "the step before it is undone");
}

//! Stores that this user did not make on this machine.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::hostile::{ALL, Malice, entries, spoil, workspace};
use super::sandbox::{Trace, is_of_the_system, trace};
use super::{assert_decoys_are_whole, assert_named, assert_ran_nothing_else, is_decoy, lines, some_lines};
use crate::agents::client::Agent;
use crate::fixture::Fixture;
use crate::picture::Picture;

/// The store of `workspace`, as a clone or an archive would bring it: with no record of it in the user's state.
fn cloned() -> Fixture {
    let fixture = workspace();
    std::fs::remove_dir_all(fixture.home().join(".local")).unwrap();
    fixture
}

/// Nothing is changed or reached anywhere, and of the store nothing is read but its presence and its id.
fn assert_untouched(fixture: &Fixture, trace: &Trace, about: &str) {
    let own = fixture.root().join(".backsight");
    let seen = [own.clone(), own.join("store"), own.join("store/identity")];
    for path in &trace.reads {
        assert!(!path.starts_with(&own) || seen.contains(path), "{about} read {}", path.display());
        assert!(!is_decoy(fixture, path), "{about} read {}", path.display());
    }
    let written: Vec<_> = trace.writes.iter().filter(|path| !is_of_the_system(path)).collect();
    assert!(written.is_empty(), "{about} wrote to {written:?}");
    assert!(trace.connections.is_empty(), "{about}: {:?}", trace.connections);
}

#[test]
fn every_command_and_every_door_names_it_and_leaves_it_alone() {
    let fixture = cloned();
    let before = Picture::of(&fixture.base());
    for (name, line, input) in lines() {
        let traced = trace(&fixture.command(&format!("--json {line}")), &input);
        assert_untouched(&fixture, &traced, line);
        assert_ran_nothing_else(name, line, &traced.programs);
        assert_named(name, line, &traced.output);
        assert_eq!(before.difference(&Picture::of(&fixture.base())), "", "{line}");
    }
}

#[test]
fn whatever_it_is_made_of() {
    let mut round = 0;
    for entry in entries(cloned().root()) {
        for malice in ALL {
            let fixture = cloned();
            if !spoil(&fixture, &entry, malice) {
                continue;
            }
            // A file of many holes is not read for it.
            let picture = || (malice != Malice::Huge).then(|| Picture::of(&fixture.base()));
            let before = picture();
            for (name, line, input) in some_lines(&mut round, 2) {
                let traced = trace(&fixture.command(&format!("--json {line}")), &input);
                let about = format!("{line} with {malice:?} at {}", entry.display());
                assert_untouched(&fixture, &traced, &about);
                assert_ran_nothing_else(name, &about, &traced.programs);
                assert_named(name, &about, &traced.output);
            }
            if let (Some(before), Some(after)) = (before, picture()) {
                assert_eq!(before.difference(&after), "", "{malice:?} at {}", entry.display());
            }
            // Below the store nothing is looked at, so one kind of malice is as good as another there.
            if entry.components().count() > 3 && malice == Malice::LinkToFile {
                break;
            }
        }
    }
}

#[test]
fn a_store_of_another_user_above_is_not_used() {
    let fixture = workspace();
    let below = fixture.root().join("mine");
    std::fs::create_dir(&below).unwrap();
    chown(&fixture.root().join(".backsight"), "65534");
    let before = Picture::of(&fixture.base());
    let mut command = fixture.command("status --json");
    command.current_dir(&below);
    let traced = trace(&command, "");
    assert_untouched(&fixture, &traced, "status");
    let said = String::from_utf8_lossy(&traced.output.stdout).into_owned();
    assert!(said.contains("STORE_NOT_OURS") && said.contains("belongs to user 65534"), "{said}");
    assert_eq!(before.difference(&Picture::of(&fixture.base())), "");
    // A directory of one's own can have a store all the same.
    let mut command = fixture.command("init");
    assert!(command.current_dir(&below).status().unwrap().success());
    let mut command = fixture.command("track");
    assert!(command.current_dir(&below).status().unwrap().success());
}

/// One that the user may not even open.
#[test]
fn a_closed_store_of_another_user_is_named_by_its_owner() {
    let fixture = workspace();
    for name in ["", "ws", "home"] {
        std::os::unix::fs::chown(fixture.base().join(name), Some(5555), Some(5555)).unwrap();
    }
    chown(&fixture.home().join(".local"), "5555");
    let command = fixture.command("status --json");
    let mut wrapped = Command::new("setpriv");
    wrapped.args(["--reuid=5555", "--regid=5555", "--clear-groups"]).arg(command.get_program());
    wrapped.args(command.get_args()).current_dir(fixture.root()).env_clear();
    wrapped.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = wrapped.output().expect("`setpriv` is missing: apt-get install util-linux");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("STORE_NOT_OURS") && said.contains("belongs to user 0, and you are user 5555"), "{said}");
    // Its own, closed to itself, is not called a stranger's.
    chown(&fixture.root().join(".backsight"), "5555");
    std::fs::set_permissions(fixture.root().join(".backsight"), std::fs::Permissions::from_mode(0o000)).unwrap();
    let output = wrapped.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(r#""code":"IO""#) && said.contains("Permission denied"), "{said}");
}

fn chown(path: &Path, owner: &str) {
    assert!(Command::new("chown").args(["-R", owner]).arg(path).status().unwrap().success());
}

#[test]
fn a_copy_on_the_same_machine_is_named_and_a_move_is_not_disturbed() {
    let fixture = workspace();
    let moved = fixture.base().join("moved");
    std::fs::rename(fixture.root(), &moved).unwrap();
    let at = |directory: &Path| fixture.command("log --json").current_dir(directory).output().unwrap();
    assert!(at(&moved).status.success(), "{:?}", at(&moved));
    assert!(Command::new("cp").arg("-a").arg(&moved).arg(fixture.root()).status().unwrap().success());
    let refused = at(fixture.root());
    let said = String::from_utf8_lossy(&refused.stdout);
    assert!(said.contains("STORE_NOT_OURS") && said.contains("is a copy"), "{said}");
    assert!(at(&moved).status.success());
}

#[test]
fn an_adopted_store_keeps_its_history_and_nothing_that_acts() {
    let fixture = cloned();
    let store = fixture.root().join(".backsight/store");
    super::hostile::private(&store.join("journal/0123456789abcdef.commit"), "{}");
    std::fs::write(fixture.root().join("a.txt"), "three\n").unwrap();
    let adopted = fixture.ok("init --adopt");
    assert_eq!(adopted["rows"], 2, "{adopted}");
    assert_eq!(fixture.ok("verify")["clean"], true);
    assert_eq!(fixture.ok("config get max_files")["value"], "1000000", "settings are not taken over");
    assert_eq!(std::fs::read_dir(store.join("journal")).map_or(0, Iterator::count), 0);
    assert!(!store.join("server.json").exists());
    fixture.done("restore 1");
    assert_eq!(fixture.read("a.txt"), "one\n");
    fixture.done("undo");
    assert_eq!(fixture.read("a.txt"), "three\n");
    let aside = adopted["set_aside"].as_str().unwrap();
    assert!(Path::new(aside).join("config.toml").exists(), "what was not taken over is put aside");
    assert_decoys_are_whole(&fixture.home(), "adopting");
}

#[test]
fn adopting_follows_nothing_and_refuses_what_it_cannot_trust() {
    for entry in entries(cloned().root()) {
        for malice in [Malice::LinkToFile, Malice::LinkToDirectory, Malice::LinkToZeros, Malice::Fifo, Malice::Device] {
            let fixture = cloned();
            spoil(&fixture, &entry, malice);
            let traced = trace(&fixture.command("init --adopt"), "");
            let about = format!("adopting with {malice:?} at {}", entry.display());
            assert_decoys_are_whole(&fixture.home(), &about);
            let places = [fixture.root().join(".backsight"), fixture.home().join(".local")];
            for path in traced.writes.iter().filter(|path| !is_of_the_system(path)) {
                assert!(places.iter().any(|place| path.starts_with(place)), "{about} wrote to {}", path.display());
            }
            for path in traced.reads.iter() {
                assert!(!is_decoy(&fixture, path), "{about} read {}", path.display());
            }
        }
    }
}

#[test]
fn a_trigger_in_an_adopted_timeline_does_not_run() {
    let fixture = cloned();
    let store = fixture.root().join(".backsight/store");
    let database = rusqlite::Connection::open(store.join("timeline.db")).unwrap();
    let trigger = "CREATE TRIGGER t AFTER INSERT ON rows BEGIN DELETE FROM touched; END;";
    database.execute_batch(trigger).unwrap();
    drop(database);
    assert_eq!(fixture.ok("init --adopt")["rows"], 2);
    fixture.write("a.txt", "three\n");
    fixture.done("track");
    assert_eq!(fixture.ok("verify")["clean"], true);
}

#[test]
fn an_agent_that_is_at_work_goes_on_when_the_store_was_adopted() {
    let fixture = cloned();
    let mut agent = Agent::new(&fixture);
    agent.fails("workspace_status", json!({}), "STORE_NOT_OURS");
    fixture.done("init --adopt");
    agent.ok("workspace_status", json!({}));
    // Pages and terminals reach the server of the workspace again.
    let deadline = Instant::now() + Duration::from_secs(20);
    while !fixture.root().join(".backsight/store/server.json").exists() {
        assert!(Instant::now() < deadline, "nobody serves the adopted store");
        std::thread::sleep(Duration::from_millis(50));
    }
}

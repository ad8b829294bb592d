//! Our own store after something was put into it: by a `git pull`, an archive that was unpacked over it, a script.

use std::fs;
use std::path::Path;

use super::hostile::{ALL, Malice, entries, private, spoil, workspace};
use super::sandbox::{Trace, is_of_the_system, trace};
use super::{assert_decoys_are_whole, assert_named, assert_ran_nothing_else, is_decoy, lines, some_lines};
use crate::fixture::Fixture;
use crate::picture::Picture;

const REFUSED: [Malice; 9] = [
    Malice::LinkToFile,
    Malice::LinkToDirectory,
    Malice::LinkToZeros,
    Malice::DanglingLink,
    Malice::Fifo,
    Malice::Device,
    Malice::ForeignOwner,
    Malice::WorldWritable,
    Malice::HardLink,
];

/// Objects are checked whenever they are read and never written in place, so of these only the kind matters.
fn may_pass(entry: &Path, malice: Malice) -> bool {
    let is_object = entry.components().any(|part| part.as_os_str() == "objects") && entry.extension().is_some();
    is_object && matches!(malice, Malice::ForeignOwner | Malice::WorldWritable | Malice::HardLink)
}

/// The command changed nothing outside the workspace and the user's state, and reached no other process than one it
/// started. A server listens, on loopback alone.
fn assert_contained(fixture: &Fixture, name: &str, traced: &Trace, about: &str) {
    assert_inside(fixture, traced, about);
    for path in &traced.reads {
        assert!(!is_decoy(fixture, path), "{about} read {}", path.display());
    }
    let serves = |line: &String| name == "mcp" && line.contains("bind(") && line.contains("127.0.0.1");
    let reached: Vec<_> = traced.connections.iter().filter(|line| !serves(line)).collect();
    assert!(reached.is_empty(), "{about}: {reached:?}");
    assert_ran_nothing_else(name, about, &traced.programs);
    let said = String::from_utf8_lossy(&traced.output.stderr);
    assert!(!said.contains("panicked"), "{about}: {said}");
}

#[test]
fn a_link_a_fifo_a_device_or_another_owner_anywhere_in_it_stops_everything() {
    let mut round = 0;
    for entry in entries(workspace().root()) {
        for malice in REFUSED {
            let fixture = workspace();
            if !spoil(&fixture, &entry, malice) || may_pass(&entry, malice) {
                continue;
            }
            let before = Picture::of(&fixture.base());
            for (name, line, input) in some_lines(&mut round, 2) {
                let traced = trace(&fixture.command(&format!("--json {line}")), &input);
                let about = format!("{line} with {malice:?} at {}", entry.display());
                assert_contained(&fixture, name, &traced, &about);
                assert_named(name, &about, &traced.output);
            }
            assert_eq!(before.difference(&Picture::of(&fixture.base())), "", "{malice:?} at {}", entry.display());
        }
    }
}

#[test]
fn damage_anywhere_in_it_stays_inside() {
    let mut round = 0;
    for entry in entries(workspace().root()) {
        for malice in ALL.into_iter().filter(|malice| !REFUSED.contains(malice)) {
            let fixture = workspace();
            if !spoil(&fixture, &entry, malice) {
                continue;
            }
            let commands = some_lines(&mut round, 2).into_iter().filter(|(name, ..)| *name != "serve");
            for (name, line, input) in commands.chain([("track", "track", String::new())]) {
                let traced = trace(&fixture.command(line), &input);
                assert_contained(&fixture, name, &traced, &format!("{line} with {malice:?} at {}", entry.display()));
            }
            let text = fixture.read("a.txt");
            assert!(["one\n", "two\n"].contains(&text.as_str()), "{malice:?} at {}: {text}", entry.display());
        }
    }
}

/// Entries that would move, replace or delete files anywhere if they were carried out.
fn journals() -> Vec<(String, String)> {
    let step = |stage: &str| {
        format!(
            r#"{{"path":"a.txt","before":{{"kind":"file","mode":420,"id":"{}"}},"after":null,{stage}}}"#,
            "0".repeat(40)
        )
    };
    let entry = |id: &str, steps: &str, note: &str| format!(r#"{{"id":"{id}","steps":[{steps}],"note":{note}}}"#);
    let plain = r#""stage":{"directory":"..","name":".bashrc"}"#;
    let mut found = Vec::new();
    for phase in ["intent", "commit", "done", "tmp"] {
        let texts = [
            entry("0123456789abcdef", &step(plain), "{}"),
            entry("0123456789abcdef", &step(r#""stage":{"directory":".git/hooks","name":"post-checkout"}"#), "{}"),
            entry("0123456789abcdef", &step(r#""beside":".."#), "{}"),
            entry("0123456789abcdef", &step(r#""beside":"/tmp""#), "{}"),
            entry("0123456789abcdef", &step(r#""beside":".git""#), "{}"),
            entry("../../../home/Documents", "", "{}"),
            entry("0123456789abcdef", "", "null"),
            "{".repeat(100_000),
            "[".repeat(100_000),
            String::new(),
            "\u{0}".repeat(1000),
        ];
        found.extend(texts.into_iter().map(|text| (format!("0123456789abcdef.{phase}"), text)));
        found.push((format!("x.{phase}"), entry("../../../home/Documents", "", "{}")));
    }
    found
}

#[test]
fn a_journal_that_this_user_did_not_write_is_never_carried_out() {
    for (name, text) in journals() {
        let fixture = workspace();
        let about = format!("journal {name}: {}", text.chars().take(80).collect::<String>());
        fixture.write("a.txt", "three\n");
        private(&fixture.root().join(".backsight/store/journal").join(&name), &text);
        for line in ["status", "track", "undo"] {
            let traced = trace(&fixture.command(line), "");
            assert_inside(&fixture, &traced, &about);
        }
        assert!(["two\n", "three\n"].contains(&fixture.read("a.txt").as_str()), "{about}");
        // Reading goes on; writing says what is in the way and how to go on without it.
        if !name.ends_with(".tmp") {
            let refused = fixture.ask("track");
            assert_eq!(refused.code(), "DAMAGED", "{about}");
        }
    }
}

fn assert_inside(fixture: &Fixture, traced: &Trace, about: &str) {
    for path in traced.writes.iter().filter(|path| !is_of_the_system(path)) {
        let is_inside = path.starts_with(fixture.root()) && !path.starts_with(fixture.root().join(".git"));
        assert!(is_inside || path.starts_with(fixture.home().join(".local")), "{about} wrote to {}", path.display());
    }
    assert_decoys_are_whole(&fixture.home(), about);
}

#[test]
fn a_forged_address_gets_nothing_whoever_holds_the_lock() {
    let fixture = workspace();
    let store = fixture.root().join(".backsight/store");
    // A process that holds the lock, as a forger could arrange; the address stands in `server.json` already.
    let lock = fs::File::options().read(true).write(true).open(store.join("server.lock")).unwrap();
    lock.lock().unwrap();
    for (name, line, input) in lines() {
        if matches!(
            name,
            "changes" | "health" | "checkpoint" | "browser" | "debug" | "run" | "hook" | "baseline" | "noise"
        ) {
            let traced = trace(&fixture.command(line), &input);
            assert!(traced.connections.is_empty(), "{line}: {:?}", traced.connections);
        }
    }
}

//! `backsight debug` as a person meets it: a whole session with a real debugger, and what goes wrong before one begins.

use std::process::Command;

use insta::assert_snapshot;

use crate::fixture::Fixture;
use crate::serving::debug::{SHOP, python};
use crate::serving::server::Server;

/// A workspace with a program and a server.
fn shop() -> (Fixture, Server) {
    let fixture = Fixture::new();
    fixture.write("shop.py", SHOP);
    fixture.done("init");
    let server = Server::start(&fixture);
    (fixture, server)
}

/// Pauses in the loop for the first time.
fn launch(fixture: &Fixture, rest: &str) -> String {
    let line = format!("debug launch shop.py --break shop.py:6 --timeout 60 --runtime {} {rest}", python().display());
    timeless(&fixture.run(&line))
}

/// What a person sees, without what the clock and chance say.
fn seen(fixture: &Fixture, line: &str) -> String {
    timeless(&fixture.run(line))
}

/// `[SNAPSHOT]` for an id, `[MS]` for a number of milliseconds.
fn timeless(text: &str) -> String {
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let next_is_unit = |index: usize| words.get(index + 1).is_some_and(|word| matches!(*word, "ms" | "s"));
        let shown = words.iter().enumerate().map(|(index, word)| match *word {
            word if word.starts_with("snap-") => "[SNAPSHOT]",
            _ if next_is_unit(index) => "[MS]",
            word => word,
        });
        shown.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_session_from_the_first_stop_to_the_end() {
    let (fixture, _server) = shop();
    assert_snapshot!(launch(&fixture, ""), @"");
    assert_snapshot!(seen(&fixture, "debug stack --limit 2"), @"");
    assert_snapshot!(seen(&fixture, "debug eval 'sum + 1'"), @"");
    assert_snapshot!(seen(&fixture, "debug snapshot before"), @"");
    assert_snapshot!(seen(&fixture, "debug next --timeout 60"), @"");
    assert_snapshot!(seen(&fixture, "debug snapshot after"), @"");
    assert_snapshot!(seen(&fixture, "debug diff before after --exit-code"), @"");
    assert_snapshot!(seen(&fixture, "debug diff after after --exit-code"), @"");
    assert_snapshot!(seen(&fixture, "debug try --timeout 60"), @"");
    assert_snapshot!(seen(&fixture, "debug break shop.py:999"), @"");
    assert_snapshot!(seen(&fixture, "debug breaks"), @"");
    assert_snapshot!(seen(&fixture, "debug status"), @"");
    assert_snapshot!(seen(&fixture, "debug end"), @"");
}

#[test]
fn the_errors_of_a_session_name_the_next_step() {
    let (fixture, _server) = shop();
    assert_snapshot!(seen(&fixture, "debug status"), @"");
    assert!(launch(&fixture, "").contains("Paused in total at shop.py:6"));
    assert_snapshot!(launch(&fixture, ""), @"");
    assert_snapshot!(seen(&fixture, "debug diff here there"), @"");
    assert_snapshot!(seen(&fixture, "debug unbreak bp-9"), @"");
    assert_snapshot!(seen(&fixture, "debug break nowhere.py:1"), @"");
    assert_snapshot!(seen(&fixture, "debug break shop.py"), @"");
    assert_snapshot!(seen(&fixture, "debug eval 'main()'"), @"");
    assert_snapshot!(seen(&fixture, "debug vars --session other"), @"");
    fixture.done("debug unbreak bp-1");
    assert_snapshot!(seen(&fixture, "debug continue --timeout 0.2"), @"");
    assert_snapshot!(seen(&fixture, "debug snapshot"), @"");
    fixture.done("debug end");
}

#[test]
fn what_cannot_begin_says_why() {
    let fixture = Fixture::new();
    fixture.write("shop.py", SHOP);
    assert_snapshot!(fixture.run("debug launch shop.py"), @"");
    assert_snapshot!(fixture.run("debug sessions"), @"");
    fixture.done("init");
    let _server = Server::start(&fixture);
    assert_snapshot!(fixture.run("debug sessions"), @"");
    assert_snapshot!(fixture.run("debug launch nowhere.py"), @"");
    // Nothing is on the search path of the test's server.
    assert_snapshot!(fixture.run("debug launch shop.py"), @"");
    assert_snapshot!(fixture.run("debug try until"), @"");
    assert_snapshot!(fixture.run("debug attach"), @"");
}

#[test]
fn paths_are_taken_from_where_the_person_stands() {
    let (fixture, _server) = shop();
    fixture.write("sub/other.py", SHOP);
    let mut command = fixture
        .command(&format!("debug launch other.py --break other.py:6 --timeout 60 --runtime {}", python().display()));
    let said = fixture.transcript(relocated(&mut command, &fixture));
    assert!(said.contains("Paused in total at other.py:6"), "{said}");
    fixture.done("debug snapshot one");
    let mut command = fixture.command("debug export one one.json");
    let said = fixture.transcript(relocated(&mut command, &fixture));
    assert!(said.contains("into sub/one.json"), "{said}");
    assert!(fixture.root().join("sub/one.json").exists());
    fixture.done("debug end");
}

/// The same command in the directory `sub`.
fn relocated(command: &mut Command, fixture: &Fixture) -> Command {
    let mut moved = Command::new(command.get_program());
    moved.args(command.get_args()).env_clear().current_dir(fixture.root().join("sub"));
    moved.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    moved
}

#[test]
fn colours_are_for_those_who_want_them() {
    let (fixture, _server) = shop();
    assert!(!launch(&fixture, "").contains('\u{1b}'));
    let painted = fixture.run("--color always debug status");
    assert!(painted.contains("\u{1b}[") && painted.contains("Paused"), "{painted}");
    fixture.done("debug end");
}

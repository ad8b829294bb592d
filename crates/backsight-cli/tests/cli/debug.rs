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

/// `[SNAPSHOT]` for an id, `[MS]` for a number of milliseconds, `[PYTHON]` and `[PORT]` in a command line.
fn timeless(text: &str) -> String {
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let next_is_unit = |index: usize| words.get(index + 1).is_some_and(|word| matches!(*word, "ms" | "s"));
        let shown = words.iter().enumerate().map(|(index, word)| match *word {
            word if word.starts_with("snap-") => "[SNAPSHOT]",
            word if word.starts_with("127.0.0.1:") => "127.0.0.1:[PORT]",
            word if word.ends_with("/venv/bin/python") => "[PYTHON]",
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
    assert_snapshot!(launch(&fixture, ""), @r"
    Paused in total at shop.py:6 (breakpoint bp-1)
        4      sum = 0
        5      for price in prices:
      → 6          sum = sum + price
        7      return sum
        8
    $ [PYTHON] -Xfrozen_modules=off -m debugpy --configure-subProcess False --connect 127.0.0.1:[PORT] --wait-for-client [TMP]/ws/shop.py
    Printed:
      │ shopping
    ---- stderr
    hint: `backsight debug vars`, `backsight debug next` or `backsight debug snapshot LABEL`
    ---- exit 0
    ");
    assert_snapshot!(seen(&fixture, "debug stack --limit 2"), @r"
    → #0   total  shop.py:6  sum = sum + price
      #1   main   shop.py:13  answer = total(list(cart.values()))
    ---- stderr
    note: there are more: `backsight debug stack --from 2`
    ---- exit 0
    ");
    let callers = seen(&fixture, "debug vars --frame 1");
    assert!(callers.contains("+ cart") && !callers.contains("hunter2"), "{callers}");
    let inside = seen(&fixture, "debug vars prices --from 1 --limit 1");
    assert!(inside.contains('4') && inside.contains("`backsight debug vars prices --from 2`"), "{inside}");
    assert_snapshot!(seen(&fixture, "debug eval 'sum + 1'"), @r"
    1  int
    ---- exit 0
    ");
    assert_snapshot!(seen(&fixture, "debug snapshot before"), @r"
    Captured before in total (shop.py:6): 3 variables  [SNAPSHOT]
    ---- exit 0
    ");
    assert_snapshot!(seen(&fixture, "debug next --timeout 60"), @r"
    Paused in total at shop.py:5 (step)
        3  def total(prices):
        4      sum = 0
      → 5      for price in prices:
        6          sum = sum + price
        7      return sum
    ---- stderr
    hint: `backsight debug vars`, `backsight debug next` or `backsight debug snapshot LABEL`
    ---- exit 0
    ");
    assert_snapshot!(seen(&fixture, "debug snapshot after"), @r"
    Captured after in total (shop.py:5): 3 variables  [SNAPSHOT]
    ---- exit 0
    ");
    assert_snapshot!(seen(&fixture, "debug diff before after --exit-code"), @r"
    before → after  1 modified, 2 unchanged
    total (shop.py:6) → total (shop.py:5), [MS] ms
    ~ sum  0 -> 3 (+3)
    ---- exit 1
    ");
    assert_snapshot!(seen(&fixture, "debug diff after after --exit-code"), @r"
    after → after  no changes, 3 unchanged
    total (shop.py:5) → total (shop.py:5), [MS] ms
    ---- exit 0
    ");
    assert_snapshot!(seen(&fixture, "debug try --timeout 60"), @r"
    Paused in total at shop.py:6 (breakpoint bp-1)
        4      sum = 0
        5      for price in prices:
      → 6          sum = sum + price
        7      return sum
        8

    step-before → step-after  1 modified, 4 unchanged
    total (shop.py:5) → total (shop.py:6), [MS] ms
    ~ price  3 -> 4 (+1)
    ---- stderr
    hint: `backsight debug vars`, `backsight debug next` or `backsight debug snapshot LABEL`
    ---- exit 0
    ");
    assert_snapshot!(seen(&fixture, "debug break shop.py:999"), @r"
    bp-2  shop.py:999  bound  (really at line 18)
    ---- exit 0
    ");
    assert_snapshot!(seen(&fixture, "debug breaks"), @r"
    bp-1  shop.py:6  bound
    bp-2  shop.py:999  bound  (really at line 18)
    ---- exit 0
    ");
    assert_snapshot!(seen(&fixture, "debug status"), @r"
    Paused in total at shop.py:6 (breakpoint bp-1)
        4      sum = 0
        5      for price in prices:
      → 6          sum = sum + price
        7      return sum
        8
    $ [PYTHON] -Xfrozen_modules=off -m debugpy --configure-subProcess False --connect 127.0.0.1:[PORT] --wait-for-client [TMP]/ws/shop.py
    shop.py under debugpy, session main: 2 breakpoints, 2 snapshots
    ---- stderr
    hint: `backsight debug vars`, `backsight debug next` or `backsight debug snapshot LABEL`
    ---- exit 0
    ");
    assert_snapshot!(seen(&fixture, "debug end"), @r"
    Session main is over: the program was ended; 2 snapshots were cleared
    ---- exit 0
    ");
}

#[test]
fn the_errors_of_a_session_name_the_next_step() {
    let (fixture, _server) = shop();
    assert_snapshot!(seen(&fixture, "debug status"), @r"
    ---- stderr
    error: no program is being debugged
    hint: start one with `backsight debug launch PROGRAM`, or attach to one with `backsight debug attach --pid PID`
    ---- exit 3
    ");
    assert!(launch(&fixture, "").contains("Paused in total at shop.py:6"));
    assert_snapshot!(launch(&fixture, ""), @r"
    ---- stderr
    error: session `main` is being debugged already
    hint: end it with `backsight debug end`, or name another one with `--session`
    ---- exit 3
    ");
    assert_snapshot!(seen(&fixture, "debug diff here there"), @r"
    ---- stderr
    error: no snapshot `here` and no snapshot `there`
    hint: there are no snapshots: take one with `backsight debug snapshot`
    ---- exit 4
    ");
    assert_snapshot!(seen(&fixture, "debug unbreak bp-9"), @r"
    ---- stderr
    error: there is no breakpoint `bp-9`: bp-1
    hint: list them with `backsight debug breaks`
    ---- exit 4
    ");
    assert_snapshot!(seen(&fixture, "debug break nowhere.py:1"), @r"
    ---- stderr
    error: there is no file `[TMP]/ws/nowhere.py`
    hint: see that the path is right and the file is there
    ---- exit 4
    ");
    assert_snapshot!(seen(&fixture, "debug break shop.py"), @r"
    ---- stderr
    error: `shop.py` is a file: which line of it?
    hint: name a place as FILE:LINE
    ---- exit 2
    ");
    assert_snapshot!(seen(&fixture, "debug eval 'main()'"), @r"
    ---- stderr
    error: the expression was not evaluated: a call runs code
    hint: allow it to run the program's code with `--unsafe`
    ---- exit 7
    ");
    assert_snapshot!(seen(&fixture, "debug vars --session other"), @r"
    ---- stderr
    error: no session is called `other`
    hint: there are: main
    ---- exit 3
    ");
    fixture.done("debug unbreak bp-1");
    // How much it has printed by then is chance.
    let running = seen(&fixture, "debug continue --timeout 0.2");
    assert!(running.starts_with("Still running after [MS] "), "{running}");
    let hint = "hint: wait for it with `backsight debug status --timeout 60`, or `backsight debug pause`";
    assert!(running.contains(hint), "{running}");
    assert_snapshot!(seen(&fixture, "debug snapshot"), @r"
    ---- stderr
    error: the program is running
    hint: pause it with `backsight debug pause`, or let it run into a breakpoint
    ---- exit 3
    ");
    fixture.done("debug end");
}

#[test]
fn what_cannot_begin_says_why() {
    let fixture = Fixture::new();
    fixture.write("shop.py", SHOP);
    assert_snapshot!(fixture.run("debug launch shop.py"), @r"
    ---- stderr
    error: no server runs in this workspace, and debugging needs one
    hint: start one with `backsight serve` in another terminal, then do this again
    ---- exit 7
    ");
    assert_snapshot!(fixture.run("debug sessions"), @r"
    Nothing is being debugged.
    ---- stderr
    hint: start `backsight serve`, then `backsight debug launch PROGRAM`
    ---- exit 0
    ");
    fixture.done("init");
    let _server = Server::start(&fixture);
    assert_snapshot!(fixture.run("debug sessions"), @r"
    Nothing is being debugged.
    ---- stderr
    hint: start one with `backsight debug launch PROGRAM`
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("debug launch nowhere.py"), @r"
    ---- stderr
    error: there is no program at `[TMP]/ws/nowhere.py`
    hint: name a script, a binary or a Go package that exists
    ---- exit 4
    ");
    // Nothing is on the search path of the test's server.
    assert_snapshot!(fixture.run("debug launch shop.py"), @r"
    ---- stderr
    error: the debugger `debugpy` was not found (python3, python on the search path)
    hint: install it with `python3 -m pip install debugpy`, or name its program with `--runtime`
    ---- exit 4
    ");
    let told = fixture.run("debug launch shop.py --runtime /bin/true");
    assert!(told.contains("\n$ /bin/true -"), "{told}");
    assert_snapshot!(fixture.run("debug try until"), @r"
    ---- stderr
    error: the following required arguments were not provided:
      <FILE:LINE>

    Usage: backsight debug try <HOW> <FILE:LINE>

    For more information, try '--help'.
    ---- exit 2
    ");
    assert_snapshot!(fixture.run("debug attach"), @r"
    ---- stderr
    error: the following required arguments were not provided:
      <--pid <PID>|--port <PORT>>

    Usage: backsight debug attach <--pid <PID>|--port <PORT>>

    For more information, try '--help'.
    ---- exit 2
    ");
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

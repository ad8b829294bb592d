//! `log` as a graph of steps, sessions and milestones, and as the life of one file.

use insta::assert_snapshot;
use serde_json::json;

use crate::fixture::{Fixture, numbered};

/// Two sessions at once, somebody else, a milestone, a revert, a reset.
fn busy() -> Fixture {
    let fixture = Fixture::with_history();
    fixture.write("d.txt", "d\n");
    fixture.done("track -m 'add d' --tool write --session s2");
    fixture.write("a.txt", &numbered(&[(2, "agent"), (7, "again")]));
    fixture.write("b.txt", "somebody\n");
    fixture.done("track -m 'a again' --tool edit --session s1 --declare a.txt --strategy auto-integrate");
    fixture.done("milestone create 'First things'");
    fixture.write("d.txt", "dd\n");
    fixture.write("loose.txt", "l\n");
    fixture.done("track -m 'more d' --tool write --session s2 --declare d.txt");
    fixture.write("c.txt", "unsaved\n");
    fixture.done("revert 5");
    fixture.done("continuity reset --reason 'moved to a new disk'");
    fixture
}

fn in_unicode(fixture: &Fixture, line: &str) -> String {
    let mut command = fixture.command(line);
    command.env("LC_ALL", "C.UTF-8");
    fixture.transcript(command)
}

#[test]
fn each_session_has_a_column() {
    assert_snapshot!(busy().run("log"), @r"
    X      #11  [SHORT]  just now                  [reset] moved to a new disk
    <      #10  [SHORT]  just now  +1 -1   1 file  revert #5
    .      #9   [SHORT]  just now  +1 -1   1 file  [safety] before revert #5 (external)
    | *    #8   [SHORT]  just now  +1 -1   1 file  more d (write, session s2) [also 1 unknown change]
    === #7 First things == #1 to #6, 6 steps, 4 files, +5 -3 == just now =============================
    | | *  #6   [SHORT]  just now  +1 -1   1 file  a again (edit, session s1)
    o | |  #5   [SHORT]  just now  +1 -1   1 file  [external] changed outside: b.txt
    | * |  #4   [SHORT]  just now  +1 -0   1 file  add d (write, session s2)
    *   |  #3   [SHORT]  just now  +1 -0   1 file  add c
    |   *  #2   [SHORT]  just now  +1 -1   1 file  agent edits a (edit, session s1, message m1)
    *      #1   [SHORT]  just now         2 files  start
    ---- exit 0
    ");
}

#[test]
fn in_unicode_where_the_terminal_knows_it() {
    assert_snapshot!(in_unicode(&busy(), "log"), @r"
    ╳      #11  [SHORT]  just now                  [reset] moved to a new disk
    ↺      #10  [SHORT]  just now  +1 -1   1 file  revert #5
    ·      #9   [SHORT]  just now  +1 -1   1 file  [safety] before revert #5 (external)
    │ ●    #8   [SHORT]  just now  +1 -1   1 file  more d (write, session s2) [also 1 unknown change]
    ◆━━ #7 First things ━━ #1 to #6, 6 steps, 4 files, +5 -3 ━━ just now ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
    │ │ ●  #6   [SHORT]  just now  +1 -1   1 file  a again (edit, session s1)
    ○ │ │  #5   [SHORT]  just now  +1 -1   1 file  [external] changed outside: b.txt
    │ ● │  #4   [SHORT]  just now  +1 -0   1 file  add d (write, session s2)
    ●   │  #3   [SHORT]  just now  +1 -0   1 file  add c
    │   ●  #2   [SHORT]  just now  +1 -1   1 file  agent edits a (edit, session s1, message m1)
    ●      #1   [SHORT]  just now         2 files  start
    ---- exit 0
    ");
}

#[test]
fn oldest_first_keeps_the_columns() {
    assert_snapshot!(busy().run("log --reverse --limit 5"), @r"
    *      #1  [SHORT]  just now         2 files  start
    |   *  #2  [SHORT]  just now  +1 -1   1 file  agent edits a (edit, session s1, message m1)
    *      #3  [SHORT]  just now  +1 -0   1 file  add c
    | *    #4  [SHORT]  just now  +1 -0   1 file  add d (write, session s2)
    o      #5  [SHORT]  just now  +1 -1   1 file  [external] changed outside: b.txt
    ---- stderr
    hint: there are more: add `--cursor after-5`, or `--limit 0` for all
    ---- exit 0
    ");
}

#[test]
fn without_sessions_there_is_no_graph() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.done("track -m start");
    fixture.write("a", "b\n");
    fixture.done("track -m next --tool edit");
    fixture.done("milestone create Done");
    assert_snapshot!(fixture.run("log"), @r"
    === #3 Done == #1 to #2, 2 steps, 1 file, +1 -1 == just now ==
    #2  [SHORT]  just now  +1 -1  1 file  next (edit)
    #1  [SHORT]  just now         1 file  start
    ---- exit 0
    ");
}

#[test]
fn too_many_sessions_share_a_column_and_that_is_said() {
    let fixture = Fixture::new();
    for number in 1..=8 {
        fixture.write("a", &number.to_string());
        fixture.done(&format!("track --session s{number}"));
    }
    assert_snapshot!(fixture.run("log"), @r"
    *            #8  [SHORT]  just now  +1 -1  1 file  changed a (session s8)
      *          #7  [SHORT]  just now  +1 -1  1 file  changed a (session s7)
        *        #6  [SHORT]  just now  +1 -1  1 file  changed a (session s6)
          *      #5  [SHORT]  just now  +1 -1  1 file  changed a (session s5)
            *    #4  [SHORT]  just now  +1 -1  1 file  changed a (session s4)
              *  #3  [SHORT]  just now  +1 -1  1 file  changed a (session s3)
              *  #2  [SHORT]  just now  +1 -1  1 file  changed a (session s2)
              *  #1  [SHORT]  just now         1 file  first snapshot (session s1)
    ---- stderr
    note: 3 sessions share the last column: s3, s2 and s1
    ---- exit 0
    ");
}

#[test]
fn every_kind_can_be_asked_for() {
    let fixture = busy();
    for (kind, expected) in [("milestone", 7), ("reset", 11), ("external", 5), ("safety", 9), ("revert", 10)] {
        let found = fixture.ok(&format!("log --kind {kind}"));
        let numbers: Vec<u64> =
            found["rows"].as_array().unwrap().iter().map(|row| row["sequence_number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, [expected], "{kind}");
    }
    for kind in ["first_error", "recovery", "navigation", "debugger_stop", "capture"] {
        assert_eq!(fixture.ok(&format!("log --kind {kind}"))["rows"], json!([]), "{kind}");
    }
}

#[test]
fn filters_are_combined() {
    let fixture = busy();
    assert_snapshot!(fixture.run("log --text AGAIN --session s1"), @r"
    *  #6  [SHORT]  just now  +1 -1  1 file  a again (edit, session s1)
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log --text again --session s2"), @r"
    ---- stderr
    note: nothing recorded matches
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log --session s2 --file d.txt --tool write --reverse --limit 1"), @r"
    *  #4  [SHORT]  just now  +1 -0  1 file  add d (write, session s2)
    ---- stderr
    hint: there are more: add `--cursor after-4`, or `--limit 0` for all
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log --session s2 --file d.txt --tool write --reverse --limit 1 --cursor after-4"), @r"
    *  #8  [SHORT]  just now  +1 -1  1 file  more d (write, session s2) [also 1 unknown change]
    ---- exit 0
    ");
}

#[test]
fn a_cursor_of_the_other_order_is_refused() {
    let fixture = Fixture::with_history();
    fixture.ask("log --reverse --cursor before-3").fails("USAGE", 2);
}

#[test]
fn one_file_has_a_life_of_its_own() {
    let fixture = busy();
    std::fs::rename(fixture.root().join("b.txt"), fixture.root().join("bee.txt")).unwrap();
    fixture.done("track -m rename");
    fixture.remove("d.txt");
    fixture.write("a.txt", "all new\n");
    fixture.done("track -m 'a only' --declare a.txt");
    assert_snapshot!(fixture.run("log --file bee.txt"), @r"
    #12  [SHORT]  just now  R b.txt -> bee.txt  rename
    #10  [SHORT]  just now  M b.txt             revert #5
    #5   [SHORT]  just now  M b.txt             [external] changed outside: b.txt
    #1   [SHORT]  just now  A b.txt             start
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log --file d.txt --limit 2"), @r"
    #13  [SHORT]  just now  D d.txt  a only [unknown change]
    #8   [SHORT]  just now  M d.txt  more d (write, session s2)
    ---- stderr
    hint: 1 more: add `--limit 0` for all
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log --file d.txt --reverse --limit 1"), @r"
    #4  [SHORT]  just now  A d.txt  add d (write, session s2)
    ---- stderr
    hint: 2 more: add `--limit 0` for all
    ---- exit 0
    ");
}

#[test]
fn one_files_life_as_json_is_beside_the_rows() {
    let fixture = busy();
    let found = fixture.ok("log --file d.txt");
    let versions = found["versions"].as_array().unwrap();
    assert_eq!((&versions[0]["status"], &versions[0]["path"]), (&json!("modified"), &json!("d.txt")));
    assert_eq!(versions.len(), found["rows"].as_array().unwrap().len());
    assert!(fixture.ok("log --file d.txt --tool write").get("versions").is_none(), "only without other filters");
    assert!(fixture.ok("log").get("versions").is_none());
}

#[test]
fn a_directory_has_the_ordinary_list() {
    let fixture = Fixture::new();
    fixture.write("sub/a", "a\n");
    fixture.write("b", "b\n");
    fixture.done("track -m start");
    fixture.write("sub/a", "aa\n");
    fixture.done("track -m inside");
    fixture.write("b", "bb\n");
    fixture.done("track -m outside");
    assert_snapshot!(fixture.run("log --file sub"), @r"
    #2  [SHORT]  just now  +1 -1   1 file  inside
    #1  [SHORT]  just now         2 files  start
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log --file nothing"), @r"
    ---- stderr
    note: nothing recorded matches
    ---- exit 0
    ");
}

#[test]
fn names_from_outside_cannot_drive_the_terminal() {
    let fixture = Fixture::new();
    for number in 1..=8 {
        fixture.write("a", &number.to_string());
        fixture.done(&format!("track -m 'x\u{1b}[31m' --session s{number}"));
    }
    fixture.forge("UPDATE rows SET session = session || '\u{7}', tool = '\u{1b}[2J'");
    fixture.done("continuity reset --reason 'bell\u{7}'");
    let seen = in_unicode(&fixture, "log");
    assert!(!seen.chars().any(|character| character.is_control() && character != '\n'), "{seen:?}");
}

#[test]
fn colours_only_when_asked() {
    let fixture = busy();
    assert!(fixture.run("--color always log").contains('\u{1b}'));
    assert!(!fixture.run("log").contains('\u{1b}'));
}

//! `init`, `status`, `track`.

use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::json;

use crate::fixture::Fixture;

#[test]
fn init_says_where_the_store_is_and_what_to_do_next() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.run("init"), @r#"
    Set up workspace [TMP]/ws
    The store is [TMP]/ws/.backsight/store
    ---- stderr
    hint: record the first snapshot with `backsight track -m "start"`
    ---- exit 0
    "#);
    assert_snapshot!(fixture.run("init"), @r"
    Already a workspace: [TMP]/ws
    The store is [TMP]/ws/.backsight/store
    ---- exit 0
    ");
}

#[test]
fn init_can_keep_the_store_outside_the_tree() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.done("init --store user");
    fixture.done("track");
    assert!(!fixture.root().join(".backsight").exists());
    assert_snapshot!(fixture.run("status"), @r"
    Workspace [TMP]/ws
    Latest #1 [SHORT] (just now)
    1 snapshot, 1 file

    Nothing changed since #1
    ---- exit 0
    ");
}

#[test]
fn init_inside_a_workspace_makes_another_and_says_so() {
    let fixture = Fixture::new();
    fixture.write("sub/a", "a\n");
    fixture.done("init");
    assert_snapshot!(fixture.run("-C sub init"), @r#"
    Set up workspace [TMP]/ws/sub
    The store is [TMP]/ws/sub/.backsight/store
    ---- stderr
    note: it lies inside the workspace [TMP]/ws, which keeps its own history
    hint: record the first snapshot with `backsight track -m "start"`
    ---- exit 0
    "#);
}

#[test]
fn a_home_directory_is_refused_unless_told() {
    let fixture = Fixture::new();
    let mut command = fixture.command("init");
    command.env("HOME", fixture.root());
    assert_snapshot!(fixture.transcript(command), @r"
    ---- stderr
    error: `[TMP]/ws` is your home directory: tracking it would store everything you have
    hint: go to a project with `-C DIR`, or if you mean it, make a store with `backsight init --any-root`
    ---- exit 3
    ");
    let mut command = fixture.command("init --any-root");
    command.env("HOME", fixture.root());
    assert_snapshot!(fixture.transcript(command), @r#"
    Set up workspace [TMP]/ws
    The store is [TMP]/ws/.backsight/store
    ---- stderr
    hint: record the first snapshot with `backsight track -m "start"`
    ---- exit 0
    "#);
}

#[test]
fn status_before_the_first_snapshot() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    assert_snapshot!(fixture.run("status"), @r#"
    Workspace [TMP]/ws
    No snapshot yet, so nothing to compare with
    ---- stderr
    hint: record the first snapshot with `backsight track -m "start"`
    ---- exit 0
    "#);
}

#[test]
fn status_when_nothing_changed() {
    assert_snapshot!(Fixture::with_history().run("status --exit-code"), @r"
    Workspace [TMP]/ws
    Latest #3 [SHORT] add c (just now)
    3 snapshots, 3 files

    Nothing changed since #3
    ---- stderr
    hint: take the newest step back with `backsight undo`
    ---- exit 0
    ");
}

#[test]
fn status_lists_what_changed_and_what_is_not_covered() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", "other\n");
    fixture.write("sub/new", "n\n");
    fixture.remove("b.txt");
    fixture.done("config set max_file_size 1KiB");
    fixture.write("big.bin", &"x".repeat(2000));
    std::fs::set_permissions(fixture.root().join("c.txt"), PermissionsExt::from_mode(0o755)).unwrap();
    assert_snapshot!(fixture.run("status --exit-code"), @r"
    Workspace [TMP]/ws
    Latest #3 [SHORT] add c (just now)
    3 snapshots, 3 files, 1 not covered

    4 paths changed since #3 in what could be seen, nobody said by whom:
      M a.txt
      D b.txt
      m c.txt (0644 -> 0755)
      A sub/new

    1 path is not covered, so a restore that would displace it is refused:
      ? big.bin (too large: 2000 bytes)
    ---- stderr
    note: `backsight track` records them as your step; a tool call that begins now goes on and lists them as not its own (strategy warn)
    hint: raise the limit with `backsight config set max_file_size SIZE`, or ignore the file
    hint: see the changes with `backsight diff @`, record them with `backsight track`
    ---- exit 1
    ");
}

#[test]
fn track_records_a_step() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.write("odd\nname", "b\n");
    assert_snapshot!(fixture.run("track -m 'first step' --tool edit --session s1"), @r"
    #1 [SHORT] first step (first snapshot, 2 files)
    ---- exit 0
    ");
}

#[test]
fn track_without_changes_answers_with_the_snapshot_there_is() {
    assert_snapshot!(Fixture::with_history().run("track -m again"), @r"
    #3 [SHORT] nothing changed since this snapshot, recorded just now
    ---- stderr
    note: no new snapshot was made, so the description was not recorded
    ---- exit 0
    ");
}

#[test]
fn track_lists_the_first_paths_and_says_how_many_more() {
    let fixture = Fixture::with_history();
    for number in 10..35 {
        fixture.write(&format!("file{number}"), &number.to_string());
    }
    assert_snapshot!(fixture.run("track"), @r"
    #4 [SHORT] (25 paths changed)
      A file10
      A file11
      A file12
      A file13
      A file14
      A file15
      A file16
      A file17
      A file18
      A file19
      A file20
      A file21
      A file22
      A file23
      A file24
      A file25
      A file26
      A file27
      A file28
      A file29
      ... and 5 more: `backsight show @`
    ---- exit 0
    ");
}

#[test]
fn track_warns_about_what_it_could_not_cover() {
    let fixture = Fixture::new();
    fixture.done("config set max_file_size 1KiB");
    fixture.write("big.bin", &"x".repeat(2000));
    fixture.write("a", "a\n");
    assert_snapshot!(fixture.run("track"), @r"
    #1 [SHORT] (first snapshot, 1 file)
    ---- stderr
    warning: 1 path is not covered, so a restore that would displace it is refused:
      ? big.bin (too large: 2000 bytes)
    hint: raise the limit with `backsight config set max_file_size SIZE`, or ignore the file
    ---- exit 0
    ");
}

#[test]
fn a_file_that_grows_over_the_limit_is_told_from_one_that_was_never_captured() {
    let fixture = Fixture::new();
    fixture.done("config set max_file_size 1KiB");
    fixture.write("grows", "small\n");
    fixture.done("track");
    fixture.write("grows", &"x".repeat(3000));
    let uncovered = fixture.ok("status")["coverage"]["uncovered"].clone();
    let told = json!([{ "path": "grows", "reason": "too_large", "size": 3000, "was_captured": true }]);
    assert_eq!(uncovered, told);
    let seen = fixture.run("track");
    assert!(seen.contains("  ? grows (grew too large: 3000 bytes; its earlier content is kept)\n"), "{seen}");
    assert_eq!(fixture.cat("1", b"grows"), b"small\n");
    // The snapshot since then does not hold it.
    assert_eq!(fixture.ok("status")["coverage"]["uncovered"][0].get("was_captured"), None);
}

#[test]
fn what_others_wrote_cannot_drive_the_terminal() {
    let fixture = Fixture::new();
    fixture.write("a\u{1b}[31m", "a\n");
    // Names of such a kind are refused; a description is free.
    fixture.ask("track --tool 'edit\u{7}'").fails("USAGE", 2);
    fixture.ask("track --session 'line\nbreak'").fails("USAGE", 2);
    fixture.done("track -m 'red \u{1b}[31m text'");
    for line in ["log", "show @", "status", "ls @", "patch @"] {
        let seen = fixture.run(line);
        assert!(!seen.chars().any(|character| character.is_control() && character != '\n'), "{line}: {seen:?}");
    }
    assert_snapshot!(fixture.run("log"), @r#"
    #1  [SHORT]  just now  1 file  "red \033[31m text"
    ---- exit 0
    "#);
}

//! `init`, `status`, `track`.

use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::fixture::Fixture;

#[test]
fn init_says_where_the_store_is_and_what_to_do_next() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.run("init"), @"");
    assert_snapshot!(fixture.run("init"), @"");
}

#[test]
fn init_can_keep_the_store_outside_the_tree() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.done("init --store user");
    fixture.done("track");
    assert!(!fixture.root().join(".backsight").exists());
    assert_snapshot!(fixture.run("status"), @"");
}

#[test]
fn init_inside_a_workspace_makes_another_and_says_so() {
    let fixture = Fixture::new();
    fixture.write("sub/a", "a\n");
    fixture.done("init");
    assert_snapshot!(fixture.run("-C sub init"), @"");
}

#[test]
fn a_home_directory_is_refused_unless_told() {
    let fixture = Fixture::new();
    let mut command = fixture.command("init");
    command.env("HOME", fixture.root());
    assert_snapshot!(fixture.transcript(command), @"");
    let mut command = fixture.command("init --any-root");
    command.env("HOME", fixture.root());
    assert_snapshot!(fixture.transcript(command), @"");
}

#[test]
fn status_before_the_first_snapshot() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    assert_snapshot!(fixture.run("status"), @"");
}

#[test]
fn status_when_nothing_changed() {
    assert_snapshot!(Fixture::with_history().run("status --exit-code"), @"");
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
    assert_snapshot!(fixture.run("status --exit-code"), @"");
}

#[test]
fn track_records_a_step() {
    let fixture = Fixture::new();
    fixture.write("a", "a\n");
    fixture.write("odd\nname", "b\n");
    assert_snapshot!(fixture.run("track -m 'first step' --tool edit --session s1"), @"");
}

#[test]
fn track_without_changes_answers_with_the_snapshot_there_is() {
    assert_snapshot!(Fixture::with_history().run("track -m again"), @"");
}

#[test]
fn track_lists_the_first_paths_and_says_how_many_more() {
    let fixture = Fixture::new();
    for number in 10..35 {
        fixture.write(&format!("file{number}"), &number.to_string());
    }
    assert_snapshot!(fixture.run("track"), @"");
}

#[test]
fn track_warns_about_what_it_could_not_cover() {
    let fixture = Fixture::new();
    fixture.done("config set max_file_size 1KiB");
    fixture.write("big.bin", &"x".repeat(2000));
    fixture.write("a", "a\n");
    assert_snapshot!(fixture.run("track"), @"");
}

#[test]
fn what_others_wrote_cannot_drive_the_terminal() {
    let fixture = Fixture::new();
    fixture.write("a\u{1b}[31m", "a\n");
    fixture.done("track -m 'red \u{1b}[31m text' --tool 'edit\u{7}' --session 'line\nbreak'");
    for line in ["log", "show @", "status", "ls @", "patch @"] {
        let seen = fixture.run(line);
        assert!(!seen.chars().any(|character| character.is_control() && character != '\n'), "{line}: {seen:?}");
    }
    assert_snapshot!(fixture.run("log"), @"");
}

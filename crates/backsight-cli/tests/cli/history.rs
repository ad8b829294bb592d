//! `log`, `show`, `ls`, `cat`, `patch`, `diff`, `pin`, `unpin`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use insta::assert_snapshot;

use crate::fixture::Fixture;

#[test]
fn log_is_newest_first_and_says_who() {
    assert_snapshot!(Fixture::with_history().run("log"), @"");
}

#[test]
fn log_of_a_new_workspace_is_empty_and_says_so() {
    assert_snapshot!(Fixture::new().run("log"), @"");
}

#[test]
fn log_filters() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("log --session s1"), @"");
    assert_snapshot!(fixture.run("log --file c.txt"), @"");
    assert_snapshot!(fixture.run("log --tool nobody"), @"");
    assert_snapshot!(fixture.run("log --until 2020-01-01"), @"");
}

#[test]
fn log_says_how_to_see_more() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("log --limit 2"), @"");
    let (first, _) = fixture.json("log --limit 2");
    let cursor = first["next_cursor"].as_str().unwrap();
    assert_snapshot!(fixture.run(&format!("log --limit 2 --cursor {cursor}")), @"");
}

#[test]
fn show_tells_all_about_one_step() {
    assert_snapshot!(Fixture::with_history().run("show '#2'"), @"");
}

#[test]
fn an_unknown_reference_is_an_error_of_its_own() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("show '#99'"), @"");
    assert_snapshot!(fixture.run("show abcdef0123"), @"");
    assert_snapshot!(fixture.run("show @~9"), @"");
    assert_snapshot!(fixture.run("show nonsense"), @"");
}

#[test]
fn an_ambiguous_reference_names_what_it_could_mean() {
    let fixture = Fixture::new();
    // Seventeen ids cannot all begin with different digits, but four are needed: two snapshots of one tree share it.
    fixture.write("a", "1\n");
    fixture.done("track -m one");
    let (first, _) = fixture.json("show @");
    fixture.write("a", "2\n");
    fixture.done("track -m two");
    fixture.write("a", "1\n");
    fixture.done("track -m three");
    let tree = first["tree"].as_str().unwrap();
    assert_snapshot!(fixture.run(&format!("show {}", &tree[..12])).replace(&tree[..12], "[PREFIX]"), @"");
}

#[test]
fn ls_lists_modes_and_paths() {
    let fixture = Fixture::with_history();
    std::os::unix::fs::symlink("a.txt", fixture.root().join("link")).unwrap();
    std::fs::create_dir(fixture.root().join("empty")).unwrap();
    fixture.done("track");
    assert_snapshot!(fixture.run("ls @"), @"");
}

#[test]
fn cat_prints_the_bytes_and_nothing_else() {
    let fixture = Fixture::with_history();
    std::fs::write(fixture.root().join("raw"), b"\xff\x00\x1b[31m\r\n").unwrap();
    fixture.done("track");
    assert_eq!(fixture.command("cat @ raw").output().unwrap().stdout, b"\xff\x00\x1b[31m\r\n");
    assert_snapshot!(fixture.run("cat '#1' b.txt"), @"");
    assert_snapshot!(fixture.run("cat '#1' c.txt"), @"");
    assert_snapshot!(fixture.run("cat '#1' ."), @"");
}

#[test]
fn patch_lists_changed_paths() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("patch '#1'"), @"");
    assert_snapshot!(fixture.run("patch '#1' '#2' --exit-code"), @"");
    assert_snapshot!(fixture.run("patch @ --exit-code"), @"");
}

#[test]
fn patch_shows_renames_modes_and_types() {
    let fixture = Fixture::with_history();
    std::fs::rename(fixture.root().join("a.txt"), fixture.root().join("moved.txt")).unwrap();
    fixture.remove("b.txt");
    std::os::unix::fs::symlink("c.txt", fixture.root().join("b.txt")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(fixture.root().join("c.txt"), mode).unwrap();
    assert_snapshot!(fixture.run("patch @"), @"");
}

#[test]
fn diff_is_a_unified_diff() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("diff '#1' '#3' -U1 --exit-code"), @"");
    assert_snapshot!(fixture.run("diff '#1' --stat"), @"");
    assert_snapshot!(fixture.run("diff @"), @"");
}

#[test]
fn diff_says_what_it_does_not_show() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &"long line\n".repeat(50));
    fixture.write("b.txt", "b\0\n");
    assert_snapshot!(fixture.run("diff @ --max-file-bytes 100"), @"");
}

#[test]
fn diff_in_colour_only_when_asked() {
    let fixture = Fixture::with_history();
    let seen = fixture.run("--color always diff '#1' '#2' -U0").replace('\u{1b}', "^");
    assert_snapshot!(seen, @"");
    let mut forced = fixture.command("diff '#1' '#2'");
    assert!(
        fixture
            .transcript({
                forced.env("CLICOLOR_FORCE", "1");
                forced
            })
            .contains('\u{1b}')
    );
    let mut refused = fixture.command("diff '#1' '#2'");
    assert!(
        !fixture
            .transcript({
                refused.env("NO_COLOR", "1");
                refused
            })
            .contains('\u{1b}')
    );
}

#[test]
fn paths_are_taken_from_the_start_directory() {
    let fixture = Fixture::new();
    fixture.write("sub/a", "a\n");
    fixture.write("a", "a\n");
    fixture.done("track");
    fixture.write("sub/a", "b\n");
    fixture.write("a", "b\n");
    fixture.write("-odd", "o\n");
    assert_snapshot!(fixture.run("-C sub patch @ -- a"), @"");
    assert_snapshot!(fixture.run("-C sub patch @ -- ../a ../-odd"), @"");
    assert_snapshot!(fixture.run("-C sub patch @ -- ."), @"");
    assert_snapshot!(fixture.run("-C sub patch @ -- .."), @"");
    assert_snapshot!(fixture.run("patch @ -- -odd"), @"");
    fixture.done("track");
    assert_snapshot!(fixture.run("cat @ -- -odd"), @"");
    let absolute = fixture.root().join("sub/a");
    assert_snapshot!(fixture.run(&format!("patch @ -- {}", absolute.display())), @"");
}

#[test]
fn a_name_that_is_not_utf_8_works() {
    let fixture = Fixture::new();
    let name = OsStr::from_bytes(b"caf\xe9");
    std::fs::write(fixture.root().join(name), "x\n").unwrap();
    fixture.done("track");
    let mut command = fixture.command("cat @");
    command.arg(name);
    assert_snapshot!(fixture.transcript(command), @"");
    assert_snapshot!(fixture.run("ls @"), @"");
}

#[test]
fn a_path_outside_the_workspace_is_refused() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("diff @ -- ../x"), @"");
    assert_snapshot!(fixture.run("cat @ /etc/passwd"), @"");
    assert_snapshot!(fixture.run("restore @ -- .git/config"), @"");
}

#[test]
fn a_path_typed_as_a_reference_gets_advice() {
    assert_snapshot!(Fixture::with_history().run("diff @ a.txt"), @"");
}

#[test]
fn pin_and_unpin_name_the_snapshot() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("pin '#1'"), @"");
    assert_snapshot!(fixture.run("log --limit 0"), @"");
    assert_snapshot!(fixture.run("unpin '#1'"), @"");
}

//! `log`, `show`, `ls`, `cat`, `patch`, `diff`, `pin`, `unpin`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use insta::assert_snapshot;

use crate::fixture::Fixture;

#[test]
fn log_is_newest_first_and_says_who() {
    assert_snapshot!(Fixture::with_history().run("log"), @r"
    *    #3  [SHORT]  just now  +1 -0   1 file  add c
    | *  #2  [SHORT]  just now  +1 -1   1 file  agent edits a (edit, session s1, message m1)
    *    #1  [SHORT]  just now         2 files  start
    ---- exit 0
    ");
}

#[test]
fn log_of_a_new_workspace_is_empty_and_says_so() {
    assert_snapshot!(Fixture::new().run("log"), @r#"
    ---- stderr
    note: no snapshot yet
    hint: record the first one with `backsight track -m "start"`
    ---- exit 0
    "#);
}

#[test]
fn log_filters() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("log --session s1"), @r"
    *  #2  [SHORT]  just now  +1 -1  1 file  agent edits a (edit, session s1, message m1)
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log --file c.txt"), @r"
    #3  [SHORT]  just now  A c.txt  add c
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log --tool nobody"), @r"
    ---- stderr
    note: nothing recorded matches
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log --until 2020-01-01"), @r"
    ---- stderr
    note: nothing recorded matches
    ---- exit 0
    ");
}

#[test]
fn log_says_how_to_see_more() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("log --limit 2"), @r"
    *    #3  [SHORT]  just now  +1 -0  1 file  add c
      *  #2  [SHORT]  just now  +1 -1  1 file  agent edits a (edit, session s1, message m1)
    ---- stderr
    hint: there are more: add `--cursor before-2`, or `--limit 0` for all
    ---- exit 0
    ");
    let (first, _) = fixture.json("log --limit 2");
    let cursor = first["next_cursor"].as_str().unwrap();
    assert_snapshot!(fixture.run(&format!("log --limit 2 --cursor {cursor}")), @r"
    #1  [SHORT]  just now  2 files  start
    ---- exit 0
    ");
}

#[test]
fn show_tells_all_about_one_step() {
    assert_snapshot!(Fixture::with_history().run("show '#2'"), @r"
    #2 [SNAPSHOT-ID]
    what      agent edits a
    when      [DATE] [TIME] +00:00 (just now)
    kind      track
    who       edit, session s1, message m1
    took      [N] [UNIT]
    lines     +1 -1
    tree      [OBJECT]
    base      [OBJECT]
    coverage  2 files
    chain     [CHAIN]

    1 path changed
      M a.txt
    ---- exit 0
    ");
}

#[test]
fn an_unknown_reference_is_an_error_of_its_own() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("show '#99'"), @r"
    ---- stderr
    error: no snapshot answers to `#99`: the timeline has 3 snapshots
    hint: list snapshots with `backsight log`, or name one by number (`12`), id, tree, `@` (latest), `@~2`, `session:ID`, a milestone's name or `now`
    ---- exit 4
    ");
    assert_snapshot!(fixture.run("show abcdef0123"), @r"
    ---- stderr
    error: no snapshot answers to `[SHORT]`: the timeline has 3 snapshots
    hint: list snapshots with `backsight log`, or name one by number (`12`), id, tree, `@` (latest), `@~2`, `session:ID`, a milestone's name or `now`
    ---- exit 4
    ");
    assert_snapshot!(fixture.run("show @~9"), @r"
    ---- stderr
    error: no snapshot answers to `@~9`: the timeline has 3 snapshots
    hint: list snapshots with `backsight log`, or name one by number (`12`), id, tree, `@` (latest), `@~2`, `session:ID`, a milestone's name or `now`
    ---- exit 4
    ");
    assert_snapshot!(fixture.run("show nonsense"), @r"
    ---- stderr
    error: no snapshot answers to `nonsense`: it is none of the known spellings, and there is no milestone yet
    hint: list snapshots with `backsight log`, or name one by number (`12`), id, tree, `@` (latest), `@~2`, `session:ID`, a milestone's name or `now`
    ---- exit 4
    ");
}

#[test]
fn an_ambiguous_reference_names_what_it_could_mean() {
    let fixture = Fixture::new();
    // The ids of these two trees begin with the same four digits.
    for text in ["244\n", "246\n"] {
        fixture.write("a", text);
        fixture.done("track -m step");
    }
    assert_snapshot!(fixture.run("show 5ef9"), @r"
    ---- stderr
    error: `5ef9` could be #2 ([SNAPSHOT-ID]), #1 ([SNAPSHOT-ID])
    hint: use more digits, or the number
    ---- exit 4
    ");
}

#[test]
fn ls_lists_modes_and_paths() {
    let fixture = Fixture::with_history();
    std::os::unix::fs::symlink("a.txt", fixture.root().join("link")).unwrap();
    std::fs::create_dir(fixture.root().join("empty")).unwrap();
    fixture.done("track");
    assert_snapshot!(fixture.run("ls @"), @r"
    0644 a.txt
    0644 b.txt
    0644 c.txt
    0755 empty/
    0777 link@
    ---- exit 0
    ");
}

#[test]
fn cat_prints_the_bytes_and_nothing_else() {
    let fixture = Fixture::with_history();
    std::fs::write(fixture.root().join("raw"), b"\xff\x00\x1b[31m\r\n").unwrap();
    fixture.done("track");
    assert_eq!(fixture.command("cat @ raw").output().unwrap().stdout, b"\xff\x00\x1b[31m\r\n");
    assert_snapshot!(fixture.run("cat '#1' b.txt"), @r"
    b
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("cat '#1' c.txt"), @r"
    ---- stderr
    error: `c.txt` is not in #1
    hint: list its files with `backsight ls 1`
    ---- exit 4
    ");
    assert_snapshot!(fixture.run("cat '#1' ."), @r"
    ---- stderr
    error: path `.` is the workspace itself
    hint: name a file inside it
    ---- exit 2
    ");
}

#[test]
fn patch_lists_changed_paths() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("patch '#1'"), @r"
    M a.txt
    A c.txt
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("patch '#1' '#2' --exit-code"), @r"
    M a.txt
    ---- exit 1
    ");
    assert_snapshot!(fixture.run("patch @ --exit-code"), @r"
    ---- stderr
    note: no differences
    ---- exit 0
    ");
}

#[test]
fn patch_shows_renames_modes_and_types() {
    let fixture = Fixture::with_history();
    std::fs::rename(fixture.root().join("a.txt"), fixture.root().join("moved.txt")).unwrap();
    fixture.remove("b.txt");
    std::os::unix::fs::symlink("c.txt", fixture.root().join("b.txt")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(fixture.root().join("c.txt"), mode).unwrap();
    std::fs::create_dir(fixture.root().join("empty")).unwrap();
    assert_snapshot!(fixture.run("diff @ --stat"), @r"
    T b.txt               +1 -1
    m c.txt               permissions differ
    A empty               new and empty
    R a.txt -> moved.txt  renamed
    4 paths: 1 line added, 1 line removed
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("diff @ -- c.txt empty"), @r"
    ---- stderr
    note: c.txt: permissions differ, which this format cannot show
    note: empty: new and empty, which this format cannot show
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("patch @"), @r"
    T b.txt (file -> symlink)
    m c.txt (0644 -> 0600)
    A empty/
    R a.txt -> moved.txt
    ---- exit 0
    ");
}

#[test]
fn diff_is_a_unified_diff() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("diff '#1' '#3' -U1 --exit-code"), @r"
    diff --git a/a.txt b/a.txt
    index [SHORT]..[SHORT] 100644
    --- a/a.txt
    +++ b/a.txt
    @@ -1,3 +1,3 @@
     line 1
    -line 2
    +agent
     line 3
    diff --git a/c.txt b/c.txt
    new file mode 100644
    index [SHORT]..[SHORT]
    --- /dev/null
    +++ b/c.txt
    @@ -0,0 +1 @@
    +c
    ---- exit 1
    ");
    assert_snapshot!(fixture.run("diff '#1' --stat"), @r"
    M a.txt  +1 -1
    A c.txt  +1 -0
    2 paths: 2 lines added, 1 line removed
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("diff @"), @r"
    ---- stderr
    note: no differences
    ---- exit 0
    ");
}

#[test]
fn diff_says_what_it_does_not_show() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &"long line\n".repeat(50));
    fixture.write("b.txt", "b\0\n");
    assert_snapshot!(fixture.run("diff @ --max-file-bytes 100"), @r"
    # a.txt: 500 bytes, more than the 100 compared line by line
    diff --git a/a.txt b/a.txt
    index [SHORT]..[SHORT] 100644
    Binary files a/a.txt and b/a.txt differ
    diff --git a/b.txt b/b.txt
    index [OBJECT]..[OBJECT] 100644
    GIT binary patch
    literal 3
    Kc$`aO-~s>vGXQM>

    literal 2
    Jc$`b(0ssKe0BryO

    ---- stderr
    warning: 1 file too large to compare line by line
    hint: raise the bound with `--max-file-bytes SIZE`
    ---- exit 0
    ");
}

#[test]
fn diff_in_colour_only_when_asked() {
    let fixture = Fixture::with_history();
    let seen = fixture.run("--color always diff '#1' '#2' -U0").replace('\u{1b}', "^");
    assert_snapshot!(seen, @r"
    ^[1mdiff --git a/a.txt b/a.txt^[0m
    ^[1mindex [SHORT]..[SHORT] 100644^[0m
    ^[1m--- a/a.txt^[0m
    ^[1m+++ b/a.txt^[0m
    ^[36m@@ -2 +2 @@ line 1^[0m
    ^[31m-line 2^[0m
    ^[32m+agent^[0m
    ---- exit 0
    ");
    let seen_with = |variable: &str| {
        let mut command = fixture.command("diff '#1' '#2'");
        command.env(variable, "1");
        fixture.transcript(command)
    };
    assert!(seen_with("CLICOLOR_FORCE").contains('\u{1b}'));
    assert!(!seen_with("NO_COLOR").contains('\u{1b}'));
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
    assert_snapshot!(fixture.run("-C sub patch @ -- a"), @r"
    M sub/a
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("-C sub patch @ -- ../a ../-odd"), @r"
    A -odd
    M a
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("-C sub patch @ -- ."), @r"
    M sub/a
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("-C sub patch @ -- .."), @r"
    A -odd
    M a
    M sub/a
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("patch @ -- -odd"), @r"
    A -odd
    ---- exit 0
    ");
    fixture.done("track");
    assert_snapshot!(fixture.run("cat @ -- -odd"), @r"
    o
    ---- exit 0
    ");
    let absolute = fixture.root().join("sub/a");
    assert_snapshot!(fixture.run(&format!("patch @ -- {}", absolute.display())), @r"
    ---- stderr
    note: no differences
    ---- exit 0
    ");
}

#[test]
fn a_name_that_is_not_utf_8_works() {
    let fixture = Fixture::new();
    let name = OsStr::from_bytes(b"caf\xe9");
    std::fs::write(fixture.root().join(name), "x\n").unwrap();
    fixture.done("track");
    let mut command = fixture.command("cat @");
    command.arg(name);
    assert_snapshot!(fixture.transcript(command), @r"
    x
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("ls @"), @r#"
    0644 "caf\351"
    ---- exit 0
    "#);
}

#[test]
fn a_path_outside_the_workspace_is_refused() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("diff @ -- ../x"), @r"
    ---- stderr
    error: path `../x` is outside the workspace `[TMP]/ws`
    hint: name a path inside it, or choose another workspace with `-C DIR`
    ---- exit 2
    ");
    assert_snapshot!(fixture.run("cat @ /etc/passwd"), @r"
    ---- stderr
    error: path `/etc/passwd` is outside the workspace `[TMP]/ws`
    hint: name a path inside it, or choose another workspace with `-C DIR`
    ---- exit 2
    ");
    assert_snapshot!(fixture.run("restore @ -- .git/config"), @r"
    ---- stderr
    error: path `.git/config` lies in a `.git`, which Backsight never touches
    hint: name a path inside the workspace, relative to its root
    ---- exit 2
    ");
}

#[test]
fn a_path_typed_as_a_reference_gets_advice() {
    assert_snapshot!(Fixture::with_history().run("diff @ a.txt"), @r"
    ---- stderr
    error: no snapshot answers to `a.txt`: it is none of the known spellings, and there is no milestone yet
    hint: `a.txt` is a path: name paths after `--`, as in `-- a.txt`
    ---- exit 4
    ");
}

#[test]
fn pin_and_unpin_name_the_snapshot() {
    let fixture = Fixture::with_history();
    assert_snapshot!(fixture.run("pin '#1'"), @r"
    Pinned #1 [SHORT] start
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log --limit 0"), @r"
    *    #3  [SHORT]  just now  +1 -0   1 file  add c
    | *  #2  [SHORT]  just now  +1 -1   1 file  agent edits a (edit, session s1, message m1)
    *    #1  [SHORT]  just now         2 files  start [pinned]
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("unpin '#1'"), @r"
    Unpinned #1 [SHORT] start
    ---- exit 0
    ");
}

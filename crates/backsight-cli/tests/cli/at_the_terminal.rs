//! Small things a person meets at the terminal: what is left out means the usual, what is pasted works, and what is
//! mistyped is answered with what was meant.

use crate::fixture::Fixture;

/// The same command in a directory of the workspace.
fn run_in(fixture: &Fixture, directory: &str, line: &str) -> String {
    let mut command = fixture.command(line);
    command.current_dir(fixture.root().join(directory));
    fixture.transcript(command)
}

#[test]
fn without_a_reference_the_latest_is_meant() {
    let fixture = Fixture::with_history();
    for command in ["show", "ls", "diff", "patch"] {
        fixture.write("b.txt", "changed\n");
        assert_eq!(fixture.run(command), fixture.run(&format!("{command} @")), "{command}");
    }
    assert!(fixture.run("diff -- b.txt").contains("+changed"));
}

#[test]
fn a_path_pasted_from_an_answer_works_from_any_directory() {
    let fixture = Fixture::new();
    fixture.write("src/deep/a.rs", "one\n");
    fixture.write("src/b.rs", "one\n");
    fixture.done("track -m first");
    fixture.write("src/deep/a.rs", "two\n");
    fixture.remove("src/b.rs");
    fixture.done("track -m second");
    fixture.write("src/deep/a.rs", "three\n");
    // As `status` and `show` name them, and as they are named from here; on disk, or in a snapshot alone.
    for path in ["src/deep/a.rs", "deep/a.rs", "./deep/a.rs"] {
        assert!(run_in(&fixture, "src", &format!("diff -- {path}")).contains("+three"), "{path}");
        assert!(run_in(&fixture, "src", &format!("cat 1 {path}")).starts_with("one"), "{path}");
    }
    for path in ["src/b.rs", "b.rs"] {
        assert!(run_in(&fixture, "src", &format!("restore 1 --dry-run -- {path}")).contains("A src/b.rs"), "{path}");
    }
    // What says where it is means just that.
    assert!(run_in(&fixture, "src", "cat 1 ./src/b.rs").contains("`src/src/b.rs` is not in #1"));
    // The nearer one wins.
    fixture.write("src/src/b.rs", "nearer\n");
    assert!(run_in(&fixture, "src", "cat now src/b.rs").starts_with("nearer"));
    // A path that is to be written may not exist yet, and is never one of elsewhere.
    fixture.write("c.rs", "one\n");
    run_in(&fixture, "src", "track --tool edit --declare c.rs");
    assert_eq!(fixture.ok("show @")["description"], "changed outside: 3 files");
}

#[test]
fn a_path_where_a_reference_or_nothing_belongs_is_told_where_paths_go() {
    let fixture = Fixture::with_history();
    for line in ["restore a.txt", "restore 1 a.txt", "revert a.txt", "diff a.txt", "undo a.txt"] {
        let said = fixture.run(line);
        let is_told = said.contains("`a.txt` is a path: name paths after `--`, as in `-- a.txt`");
        assert_eq!(is_told, line != "undo a.txt", "{line}: {said}");
    }
}

#[test]
fn words_of_other_tools_are_answered_with_what_is_meant() {
    let fixture = Fixture::new();
    for (word, meant) in [("rollback", "'undo', 'restore', 'revert'"), ("history", "'log'"), ("commit", "'track'")] {
        let said = fixture.run(word);
        assert!(said.contains(meant), "{word}: {said}");
    }
    assert!(fixture.run("shwo").contains("'show'"));
}

#[test]
fn the_help_lists_the_commands_in_groups() {
    let help = Fixture::new().run("-h");
    let groups: Vec<&str> = help.lines().filter(|line| line.ends_with(':') && !line.starts_with(' ')).collect();
    assert_eq!(
        groups,
        [
            "Record:",
            "Look:",
            "Go back:",
            "Sessions and milestones:",
            "The app:",
            "Programs:",
            "The store:",
            "Agents:",
            "More:",
            "Options:",
            "Global options:",
            "Examples:"
        ]
    );
    assert!(!help.contains("Commands:"), "{help}");
}

#[test]
fn a_step_without_a_description_says_which_files_it_touched() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "1\n");
    fixture.done("track");
    for name in ["a.txt", "b.txt", "c.txt"] {
        fixture.write(name, "2\n");
    }
    fixture.done("track");
    let log = fixture.run("log");
    let ends: Vec<bool> =
        log.lines().zip(["a.txt, b.txt and 1 more", "first snapshot"]).map(|(line, end)| line.ends_with(end)).collect();
    assert_eq!(ends, [true, true], "{log}");
}

#[test]
fn what_was_not_compared_is_not_counted() {
    let fixture = Fixture::new();
    fixture.write("large.txt", &"line\n".repeat(300));
    fixture.done("track");
    fixture.write("large.txt", &"other\n".repeat(300));
    let said = fixture.run("diff @ --stat --max-file-bytes 100");
    assert!(said.contains("1 path: 1 path not compared") && !said.contains("0 lines"), "{said}");
    fixture.write("small.txt", "one\n");
    let said = fixture.run("diff @ --stat --max-file-bytes 100");
    assert!(said.contains("2 paths: 1 line added, 0 lines removed, 1 path not compared"), "{said}");
}

#[test]
fn several_unknown_changes_are_left_as_they_are() {
    let fixture = Fixture::with_history();
    for name in ["x.txt", "y.txt", "z.txt"] {
        fixture.write(name, "x\n");
    }
    let said = fixture.run("unknown handle warn");
    assert!(said.contains("3 unknown changes, left as they are:") && said.contains("records them"), "{said}");
}

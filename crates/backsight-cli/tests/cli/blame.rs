//! `blame`: which snapshot, tool and session last wrote each line.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fixture::{Fixture, numbered};

/// Lines by everybody: there from the start, by an agent, by somebody else, and not recorded yet.
fn by_everybody() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("main.rs", "fn main() {\n    greet();\n}\n");
    fixture.done("track -m start");
    fixture.write("main.rs", "fn main() {\n    greet(\"you\");\n\tbye();\n}\n");
    fixture.done("track -m 'greet by name' --tool edit --session s1");
    fixture.write("main.rs", "fn main() {\n    greet(\"you\");\n\tbye();\n}\n// by hand\n");
    fixture.done("unknown handle integrate");
    fixture.write("main.rs", "fn main() {\n    greet(\"you\");\n\tbye();\n}\n// by hand\n// not yet\n");
    fixture
}

/// `start_line state sequence_number` of every hunk.
fn hunks(blame: &Value) -> Vec<String> {
    let hunk = |hunk: &Value| {
        let number = hunk["sequence_number"].as_u64().map_or_else(String::new, |number| format!(" #{number}"));
        format!("{} {}{number}", hunk["start_line"], hunk["state"].as_str().unwrap())
    };
    blame["hunks"].as_array().unwrap().iter().map(hunk).collect()
}

#[test]
fn every_line_has_an_author() {
    assert_snapshot!(by_everybody().run("blame main.rs"), @r#"
    #1 [SHORT]  before #1     just now  1  fn main() {
    #2 [SHORT]  edit, s1      just now  2      greet("you");
    #2 [SHORT]  edit, s1      just now  3  	bye();
    #1 [SHORT]  before #1     just now  4  }
    #3 [SHORT]  external      just now  5  // by hand
                 not recorded            6  // not yet
    ---- exit 0
    "#);
}

#[test]
fn the_hunks_in_json_name_tool_session_and_snapshot() {
    let fixture = by_everybody();
    let blame = fixture.ok("blame main.rs");
    assert_eq!(hunks(&blame), ["1 baseline #1", "2 recorded #2", "4 baseline #1", "5 external #3", "6 unrecorded"]);
    let hunk = &blame["hunks"][1];
    assert_eq!(hunk["lines"], json!(["    greet(\"you\");", "\tbye();"]));
    assert_eq!(
        (&hunk["tool"], &hunk["session"], &hunk["description"]),
        (&json!("edit"), &json!("s1"), &json!("greet by name"))
    );
    assert_eq!(hunk["id"], fixture.ok("show 2")["id"]);
    assert_eq!((&blame["path"], blame.get("sequence_number")), (&json!("main.rs"), None));
}

#[test]
fn an_older_state_has_older_authors() {
    let fixture = by_everybody();
    let blame = fixture.ok("blame main.rs 1");
    assert_eq!((hunks(&blame), &blame["sequence_number"]), (vec!["1 baseline #1".to_owned()], &json!(1)));
    assert_eq!(hunks(&fixture.ok("blame main.rs @")).last().unwrap(), "5 external #3");
}

#[test]
fn a_range_of_lines_is_cut_out() {
    let fixture = by_everybody();
    assert_snapshot!(fixture.run("blame main.rs -L 3,4"), @r"
    #2 [SHORT]  edit, s1   just now  3  	bye();
    #1 [SHORT]  before #1  just now  4  }
    ---- exit 0
    ");
    assert_eq!(hunks(&fixture.ok("blame main.rs -L 3,+1")), ["3 recorded #2"]);
    assert_eq!(hunks(&fixture.ok("blame main.rs -L 5")), ["5 external #3", "6 unrecorded"]);
    assert_snapshot!(fixture.run("blame main.rs -L 7"), @r"
    ---- stderr
    error: `main.rs` has 6 lines, so none from 7 on
    hint: lines are counted from 1
    ---- exit 3
    ");
    assert_snapshot!(fixture.run("blame main.rs -L 4,3"), @r"
    ---- stderr
    error: invalid value '4,3' for '--lines <START,END>': lines are `10,20`, `10,+5` or `10`, counted from 1

    For more information, try '--help'.
    ---- exit 2
    ");
}

#[test]
fn what_an_undo_brought_back_belongs_to_whoever_wrote_it() {
    let fixture = Fixture::with_history();
    fixture.write("a.txt", &numbered(&[(2, "worse")]));
    fixture.done("track --tool other");
    fixture.done("undo");
    assert_eq!(hunks(&fixture.ok("blame a.txt")), ["1 baseline #1", "2 recorded #2", "3 baseline #1"]);
}

#[test]
fn a_renamed_file_keeps_its_authors() {
    let fixture = Fixture::with_history();
    std::fs::rename(fixture.root().join("a.txt"), fixture.root().join("z.txt")).unwrap();
    fixture.done("track --tool mv");
    assert_eq!(hunks(&fixture.ok("blame z.txt")), ["1 baseline #1", "2 recorded #2", "3 baseline #1"]);
}

#[test]
fn lines_cannot_drive_the_terminal() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "x\x1b[2J\u{202e}y\r\n");
    fixture.done("track");
    assert_snapshot!(fixture.run("blame a.txt"), @r"
    #1 [SHORT]  before #1  just now  1  x<U+001B>[2J<U+202E>y
    ---- exit 0
    ");
    fixture.write("a.txt", "z\n");
    fixture.done("track --tool evil");
    fixture.forge("UPDATE rows SET tool = 'evil\x1b[2J'");
    assert!(!fixture.run("blame a.txt").contains('\x1b'));
}

#[test]
fn colours_are_for_terminals() {
    let fixture = by_everybody();
    assert!(!fixture.run("blame main.rs").contains('\x1b'));
    assert!(fixture.run("--color always blame main.rs").contains('\x1b'));
}

#[test]
fn what_has_no_lines_is_said() {
    let fixture = Fixture::with_history();
    fixture.write("empty.txt", "");
    std::fs::write(fixture.root().join("raw"), b"\xff\x00").unwrap();
    fixture.done("track");
    assert_snapshot!(fixture.run("blame empty.txt"), @r"
    ---- stderr
    note: the file is empty
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("blame raw"), @r"
    ---- stderr
    error: `raw` is binary: it has no lines to attribute
    hint: see its versions with `backsight log --file raw`
    ---- exit 2
    ");
    let error = fixture.ask("blame nothing.txt").fails("PATH_NOT_FOUND", 4);
    assert!(error["hint"].as_str().unwrap().contains("backsight ls"), "{error}");
    fixture.ask("blame a.txt 99").fails("REF_NOT_FOUND", 4);
    fixture.ask("blame c.txt 1").fails("PATH_NOT_FOUND", 4);
}

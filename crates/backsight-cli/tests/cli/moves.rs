//! Files that were moved, with or without edits: one file to blame, history, diffs and counts.

use std::fs;

use serde_json::{Value, json};

use crate::fixture::Fixture;

fn lines(count: usize, changed: &[(usize, &str)]) -> String {
    let text = |line: usize| changed.iter().find(|(at, _)| *at == line).map(|(_, text)| (*text).to_owned());
    (1..=count).map(|line| text(line).unwrap_or_else(|| format!("line {line}")) + "\n").collect()
}

fn blamed(fixture: &Fixture, line: &str) -> Vec<(u64, String)> {
    let hunks = fixture.ok(line)["hunks"].clone();
    let one = |hunk: &Value| {
        (hunk["sequence_number"].as_u64().unwrap(), hunk["tool"].as_str().unwrap_or_default().to_owned())
    };
    hunks.as_array().unwrap().iter().map(one).collect()
}

#[test]
fn a_file_that_is_moved_and_edited_lives_on() {
    let fixture = Fixture::new();
    fixture.write("src/old.rs", &lines(200, &[]));
    fixture.write("other", "nothing like it\n");
    fixture.done("track");
    fixture.write("src/old.rs", &lines(200, &[(7, "by the first agent")]));
    fixture.done("track --tool first");
    fixture.remove("src/old.rs");
    fixture.write("lib/new.rs", &lines(200, &[(7, "by the first agent"), (100, "by the second")]));
    let tracked = fixture.ok("track --tool second");
    let change = &tracked["changes"][0];
    assert_eq!((&change["status"], &change["from_path"]), (&json!("renamed"), &json!("src/old.rs")), "{tracked}");
    assert_eq!(tracked["changes"].as_array().unwrap().len(), 1);
    assert_eq!((&tracked["lines_added"], &tracked["lines_removed"]), (&json!(1), &json!(1)), "{tracked}");
    let expected = [(1, ""), (2, "first"), (1, ""), (3, "second"), (1, "")];
    let expected: Vec<(u64, String)> = expected.into_iter().map(|(seq, tool)| (seq, tool.to_owned())).collect();
    assert_eq!(blamed(&fixture, "blame lib/new.rs"), expected);
    let versions = fixture.ok("log --file lib/new.rs")["versions"].clone();
    let told: Vec<(u64, &str)> = versions
        .as_array()
        .unwrap()
        .iter()
        .map(|version| (version["sequence_number"].as_u64().unwrap(), version["path"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [(3, "lib/new.rs"), (2, "src/old.rs"), (1, "src/old.rs")]);
    let seen = fixture.run("diff 2 3");
    assert!(seen.contains("rename from src/old.rs\nrename to lib/new.rs\n") && seen.lines().count() < 20, "{seen}");
    // Before it is recorded too.
    fixture.remove("lib/new.rs");
    fixture.write("lib/newer.rs", &lines(200, &[(7, "by the first agent"), (100, "by the second"), (150, "now")]));
    assert_eq!(fixture.ok("status")["changes"][0]["from_path"], "lib/new.rs");
}

#[test]
fn a_move_counts_the_lines_that_changed_everywhere() {
    for (text, counts) in [(lines(1000, &[]), (0, 0)), (lines(1000, &[(5, "x"), (6, "y")]), (2, 2))] {
        let fixture = Fixture::new();
        fixture.write("a", &lines(1000, &[]));
        fixture.done("track");
        fixture.remove("a");
        fixture.write("b", &text);
        fixture.done("track --session s --message m");
        fixture.done("milestone create Moved");
        let counted = |value: &Value, added: &str, removed: &str| {
            (value[added].as_u64().unwrap(), value[removed].as_u64().unwrap())
        };
        let of = |line: &str, at: &str| counted(fixture.ok(line).pointer(at).unwrap(), "lines_added", "lines_removed");
        assert_eq!(counted(&fixture.ok("diff 1 2 --stat"), "additions", "deletions"), counts);
        assert_eq!(counted(&fixture.ok("session diff s --stat"), "additions", "deletions"), counts);
        assert_eq!(of("show 2", ""), counts);
        assert_eq!(of("log --kind track --limit 1", "/rows/0"), counts);
        assert_eq!(of("milestone show Moved", "/summary"), counts);
        assert_eq!(of("session show s", ""), counts);
    }
}

#[test]
fn what_is_too_much_to_compare_is_said() {
    let fixture = Fixture::in_memory();
    let write = |prefix: &str, edit: &str| {
        for number in 0..301 {
            fixture.write(&format!("{prefix}{number}"), &format!("{}{edit}", lines(10, &[(1, &number.to_string())])));
        }
    };
    write("a", "");
    fixture.done("track");
    (0..301).for_each(|number| fixture.remove(&format!("a{number}")));
    write("b", "more\n");
    for line in ["status", "diff @", "patch @"] {
        assert_eq!(fixture.ok(line)["uncompared_renames"], 301, "{line}");
    }
    let seen = fixture.run("diff @ --stat");
    assert!(seen.contains("note: 301 added files not compared with those deleted"), "{seen}");
    let tracked = fixture.ok("track");
    assert!(tracked["warnings"][0].as_str().unwrap().starts_with("301 added files were not compared"), "{tracked}");
}

#[test]
fn what_a_merging_step_back_brought_back_is_its_first_writers() {
    let fixture = Fixture::new();
    fixture.write("f", &lines(20, &[]));
    fixture.done("track --tool person");
    fixture.write("f", &lines(20, &[(10, "person")]));
    fixture.done("track --tool person");
    let agent = lines(20, &[(10, "person"), (15, "agent")]);
    fixture.write("f", &agent.replace("person\n", "agent too\n"));
    fixture.done("track --tool agent");
    fixture.write("f", &fs::read_to_string(fixture.root().join("f")).unwrap().replace("line 2\n", "later\n"));
    fixture.done("track --tool later");
    let line = |number: usize| blamed(&fixture, &format!("blame f -L {number},{number}"))[0].clone();
    fixture.done("revert 3");
    assert_eq!(fixture.read("f"), lines(20, &[(2, "later"), (10, "person")]));
    let is_as_before = || {
        assert_eq!(line(15).0, 1);
        assert_eq!(line(10), (2, "person".to_owned()));
        assert_eq!(line(2), (4, "later".to_owned()));
    };
    is_as_before();
    // Taken back, the agent's lines are the agent's again; and so on, also after another edit in between.
    fixture.write("f", &fixture.read("f").replace("line 20\n", "last\n"));
    fixture.done("track --tool last");
    fixture.done("revert 5");
    assert_eq!([line(15), line(10)], [(3, "agent".to_owned()), (3, "agent".to_owned())]);
    fixture.write("f", &fixture.read("f").replace("line 18\n", "later still\n"));
    fixture.done("track --tool last");
    fixture.done("revert 7");
    is_as_before();
}

#[test]
fn an_undo_and_a_redo_that_merge_name_the_writer_too() {
    let fixture = Fixture::new();
    fixture.write("f", &lines(20, &[]));
    fixture.done("track --tool person");
    fixture.write("f", &lines(20, &[(15, "agent")]));
    fixture.done("track --tool agent");
    fixture.write("f", &lines(20, &[(15, "agent"), (2, "unrecorded")]));
    fixture.done("undo");
    assert_eq!(blamed(&fixture, "blame f -L 15,15")[0].0, 1);
    fixture.write("f", &lines(20, &[(2, "unrecorded"), (4, "again")]));
    fixture.done("redo");
    assert_eq!(fixture.read("f"), lines(20, &[(2, "unrecorded"), (4, "again"), (15, "agent")]));
    assert_eq!(blamed(&fixture, "blame f -L 15,15"), [(2, "agent".to_owned())]);
}

//! `continuity state`, `continuity validate`, `continuity reset`: each way a timeline can be broken is found and named.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::timeline::{number, rows, tamper};

/// The problems that nobody took note of: code, row, message.
fn problems(fixture: &Fixture) -> Vec<(String, u64, String)> {
    let report = fixture.ask("continuity validate").json;
    let open = report["problems"].as_array().unwrap().iter().filter(|problem| problem["acknowledged_by"].is_null());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    open.map(|found| (text(&found["code"]), found["sequence_number"].as_u64().unwrap(), text(&found["message"])))
        .collect()
}

/// The first problem of a kind.
fn problem<'a>(report: &'a Value, code: &str) -> &'a Value {
    let mut found = report["problems"].as_array().unwrap().iter();
    found.find(|problem| problem["code"] == code).unwrap_or_else(|| panic!("{code}: {report}"))
}

fn with_milestones() -> Fixture {
    let fixture = Fixture::with_history();
    fixture.done("milestone create One --end 2");
    fixture.done("milestone create Two");
    fixture
}

#[test]
fn the_state_says_where_the_timeline_stands() {
    let fixture = Fixture::with_history();
    fixture.done("milestone create 'Login works' --end 2");
    assert_snapshot!(fixture.run("continuity state"), @r"
    latest    #3 [SHORT] add c (just now)
    timeline  4 rows: 3 snapshots and 1 event
    chain     [CHAIN]
    milestone Login works (#1 to #2)
              the next milestone starts at #3
    unknown   the strategy is warn
    ---- exit 0
    ");
    let state = fixture.ok("continuity state");
    assert_eq!((&state["sequence_number"], &state["snapshot"]["sequence_number"]), (&json!(4), &json!(3)));
    assert_eq!(
        (&state["rows"], &state["snapshots"], &state["next_milestone_start"]),
        (&json!(4), &json!(3), &json!(3))
    );
    assert_eq!(state["chain_head"].as_str().unwrap().len(), 64);
}

#[test]
fn the_state_names_open_tool_calls_and_an_empty_timeline() {
    assert_snapshot!(Fixture::new().run("continuity state"), @r#"
    Nothing is recorded yet
    ---- stderr
    hint: record the first snapshot with `backsight track -m "start"`
    ---- exit 0
    "#);
    let fixture = Fixture::with_history();
    fixture.done("begin --tool edit");
    assert!(fixture.run("continuity state").contains("1 tool call not finished: [SNAPSHOT-ID]"));
}

#[test]
fn a_whole_timeline_and_untouched_files_are_in_sync() {
    assert_snapshot!(with_milestones().run("continuity validate"), @r"
    In sync: 5 rows checked, and the files are those of #3
    chain [CHAIN]
    ---- exit 0
    ");
}

#[test]
fn files_that_differ_are_a_state_mismatch() {
    let fixture = Fixture::with_history();
    fixture.write("b.txt", "other\n");
    fixture.remove("c.txt");
    assert_snapshot!(fixture.run("continuity validate"), @r"
    #3 STATE_MISMATCH: 2 paths on disk differ from what was last recorded
      M b.txt  [SHORT] -> [SHORT]
      D c.txt  [SHORT] -> nothing
      next      record them with `backsight unknown handle integrate`

    Not in sync: 3 rows checked, 2 unknown changes
    chain [CHAIN]
    ---- stderr
    hint: see the changes with `backsight unknown detect --diff`
    ---- exit 1
    ");
    let report = fixture.ask("continuity validate");
    assert_eq!((report.status, &report.json["in_sync"]), (1, &json!(false)));
    assert_eq!(report.json["affected_files"], json!(["b.txt", "c.txt"]));
}

#[test]
fn an_edited_row_is_named_with_both_hashes() {
    let fixture = Fixture::with_history();
    tamper(&fixture, "UPDATE rows SET description = 'harmless' WHERE seq = 2");
    assert_snapshot!(fixture.run("continuity validate"), @r"
    #2 SEQUENCE_DISCONTINUITY: #2 was altered after it was recorded
      expected  [CHAIN]
      actual    [CHAIN]
      next      see which snapshots are hurt with `backsight verify`

    Not in sync: 3 rows checked, 1 problem of the timeline
    chain [CHAIN]
    ---- stderr
    hint: restore `.backsight/store` from a backup, or take note of it and go on: `backsight continuity reset --reason TEXT`
    ---- exit 1
    ");
}

#[test]
fn a_missing_row_is_named_and_its_successor_has_a_broken_parent() {
    let fixture = Fixture::with_history();
    tamper(&fixture, "DELETE FROM rows WHERE seq = 2");
    let found = problems(&fixture);
    assert!(found.contains(&("SEQUENCE_DISCONTINUITY".into(), 3, "#2 is missing before #3".into())), "{found:?}");
    let report = fixture.ask("continuity validate").json;
    let broken = problem(&report, "BROKEN_PARENT");
    assert!(broken["message"].as_str().unwrap().starts_with("#3 should continue #1"), "{broken}");
    let first = fixture.ok("show 1");
    assert_eq!((&broken["sequence_number"], &broken["expected"]), (&json!(3), &first["id"]));
    assert_ne!(broken["actual"], first["id"]);
    assert!(fixture.run("continuity validate").contains("next      compare the steps around it"));
}

#[test]
fn reordered_rows_are_called_so() {
    let fixture = Fixture::with_history();
    tamper(
        &fixture,
        "UPDATE rows SET seq = 99 WHERE seq = 2; UPDATE rows SET seq = 2 WHERE seq = 3; UPDATE rows SET seq = 3 WHERE seq = 99;
         UPDATE touched SET seq = 99 WHERE seq = 2; UPDATE touched SET seq = 2 WHERE seq = 3; UPDATE touched SET seq = 3 WHERE seq = 99;
         UPDATE sqlite_sequence SET seq = 3",
    );
    let found = problems(&fixture);
    assert!(found.iter().any(|(code, seq, _)| code == "SEQUENCE_DISCONTINUITY" && *seq == 2), "{found:?}");
    assert!(found.iter().any(|(code, seq, _)| code == "SEQUENCE_DISCONTINUITY" && *seq == 3), "{found:?}");
}

#[test]
fn missing_latest_rows_are_found() {
    let fixture = Fixture::with_history();
    tamper(&fixture, "DELETE FROM rows WHERE seq = 3");
    let report = fixture.ask("continuity validate").json;
    let found = report["problems"].as_array().unwrap();
    let found = found.iter().find(|found| found["message"] == "#3, the latest row, is missing").unwrap();
    assert_eq!((&found["expected"], &found["actual"]), (&json!("3"), &json!("2")));
}

#[test]
fn milestones_with_a_gap_or_an_overlap_are_found() {
    for (start, code) in [(2, "MILESTONE_OVERLAP"), (7, "MILESTONE_GAP")] {
        let fixture = with_milestones();
        let sql = format!(
            "UPDATE rows SET details = json_set(details, '$.start_sequence_number', {start}, '$.end_sequence_number', 8) \
             WHERE seq = 5"
        );
        tamper(&fixture, &sql);
        let report = fixture.ask("continuity validate").json;
        let found = problem(&report, code);
        assert_eq!((&found["sequence_number"], &found["expected"]), (&json!(5), &json!("#3")));
        assert_eq!(found["actual"], format!("#{start}"));
    }
}

#[test]
fn a_reset_takes_note_and_what_is_altered_later_is_found_again() {
    let fixture = Fixture::with_history();
    tamper(&fixture, "UPDATE rows SET tool = 'nobody' WHERE seq = 2");
    fixture.write("b.txt", "other\n");
    fixture.done("begin --tool edit");
    assert_snapshot!(fixture.run("continuity reset --reason 'restored from a backup'"), @r"
    #5 continuity reset: restored from a backup
      what differed on disk is recorded as #4, by external
      took note of #2 SEQUENCE_DISCONTINUITY: #2 was altered after it was recorded
      gave up tool call [SNAPSHOT-ID]
    ---- stderr
    hint: check with `backsight continuity validate`
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("continuity validate"), @r"
    In sync: 5 rows checked, and the files are those of #4
    chain [CHAIN]
    ---- stderr
    note: 1 older problem acknowledged by the reset in #5
    ---- exit 0
    ");
    let log = fixture.ok("log");
    assert_eq!(
        (&log["rows"][0]["kind"], &log["rows"][0]["description"]),
        (&json!("reset"), &json!("restored from a backup"))
    );
    tamper(&fixture, "UPDATE rows SET tool = 'somebody' WHERE seq = 2");
    assert_eq!(problems(&fixture).len(), 1);
    tamper(&fixture, "UPDATE rows SET description = '' WHERE seq = 4");
    let found: Vec<u64> = problems(&fixture).into_iter().map(|(_, seq, _)| seq).collect();
    assert_eq!(found, [2, 4]);
}

#[test]
fn a_reset_removes_nothing() {
    let fixture = Fixture::with_history();
    let before = (fixture.picture(), rows(&fixture));
    let reset = fixture.ok("continuity reset --reason 'only to be sure'");
    assert_eq!((reset.get("integrated"), &reset["acknowledged"]), (None, &json!([])));
    assert_eq!((fixture.picture(), rows(&fixture)), (before.0, before.1 + 1));
    assert_eq!(number(&fixture, "SELECT max(seq) FROM rows WHERE tree IS NOT NULL"), 3);
    fixture.verify();
}

#[test]
fn a_reset_needs_a_reason() {
    let fixture = Fixture::with_history();
    assert_eq!(fixture.ask("continuity reset").status, 2);
    let error = fixture.ask("continuity reset --reason ' '").fails("USAGE", 2);
    assert!(error["hint"].as_str().unwrap().contains("--reason"), "{error}");
    assert_eq!(rows(&fixture), 3);
}

//! `milestone create`, `list`, `show`, and a milestone's name as a REF: gapless, explained, and taken back as one.

use insta::assert_snapshot;
use serde_json::json;

use crate::fixture::{Fixture, numbered};
use crate::timeline::{rows, tamper};

/// Eight steps, each of which replaces one line of `a.txt`.
fn eight() -> Fixture {
    let fixture = Fixture::in_memory();
    for step in 1..=8 {
        let lines: Vec<(usize, &str)> = (2..=step).map(|line| (line, "edited")).collect();
        fixture.write("a.txt", &numbered(&lines));
        fixture.done(&format!("track -m 'step {step}' --tool edit --session s{}", step % 2));
    }
    fixture
}

#[test]
fn a_range_starts_after_the_last_milestone_and_ends_with_the_latest_snapshot() {
    let fixture = eight();
    assert_snapshot!(fixture.run("milestone create 'Phase 1' --end 3"), @r"
    #9 milestone Phase 1: #1 to #3 (3 steps, 1 file, +2 -2)
    ---- stderr
    hint: see it with `backsight milestone show 'Phase 1'`, go back to it with `backsight restore 'Phase 1'`
    ---- exit 0
    ");
    let second = fixture.ok("milestone create 'Phase 2' -m 'the rest' --tag auth --tag feature");
    assert_eq!((&second["start_sequence_number"], &second["end_sequence_number"]), (&json!(4), &json!(8)));
    assert_eq!(second["previous_milestone_id"], fixture.ok("milestone show 'Phase 1'")["id"]);
    assert_eq!((&second["tags"], &second["description"]), (&json!(["auth", "feature"]), &json!("the rest")));
    let summary = json!({ "total_operations": 5, "affected_files": 1, "lines_added": 5, "lines_removed": 5 });
    assert_eq!(second["summary"], summary);
    assert_snapshot!(fixture.run("milestone list"), @r"
    #10  just now  #4 to #8  5 steps, 1 file, +5 -5  Phase 2 [auth] [feature]
    #9   just now  #1 to #3  3 steps, 1 file, +2 -2  Phase 1
    ---- exit 0
    ");
    // The third continues after the rows of the other two.
    fixture.write("b.txt", "b\n");
    fixture.done("track");
    assert_eq!(fixture.ok("milestone create 'Phase 3'")["start_sequence_number"], 11);
}

#[test]
fn explicit_snapshots_may_come_in_any_order_but_must_be_all() {
    let fixture = eight();
    let made = fixture.ok("milestone create First --snapshots 3 1 2");
    assert_eq!((&made["start_sequence_number"], &made["end_sequence_number"]), (&json!(1), &json!(3)));
    let shown = fixture.ok("milestone show First");
    let ids: Vec<_> = (1..=3).map(|number| fixture.ok(&format!("show {number}"))["id"].clone()).collect();
    assert_eq!((&shown["snapshot_ids"], &shown["affected_files"]), (&json!(ids), &json!(["a.txt"])));
}

#[test]
fn a_hole_is_a_sequence_discontinuity() {
    let fixture = eight();
    fixture.done("milestone create First --end 5");
    assert_snapshot!(fixture.run("milestone create Holes --snapshots 6 8"), @r"
    ---- stderr
    error: the snapshots do not follow each other: missing #7 between #6 and #8
    hint: name them too, or take the whole range with `--end 8`
    ---- exit 3
    ");
    let error = fixture.ask("milestone create Holes --snapshots 6 8").fails("SEQUENCE_DISCONTINUITY", 3);
    assert_eq!(error["details"], json!({ "missing": [7], "start": 6, "end": 8 }));
    // What the hint says works.
    assert_eq!(fixture.ok("milestone create Whole --end 8")["start_sequence_number"], 6);
}

#[test]
fn a_late_start_is_a_gap() {
    let fixture = eight();
    fixture.done("milestone create First --end 5");
    assert_snapshot!(fixture.run("milestone create Late --snapshots 7 8"), @r"
    ---- stderr
    error: starting at #7 would leave out what was recorded before: milestone `First` ends at #5, so the next one starts at #6
    hint: start at #6, or leave the snapshots out to take everything since
    ---- exit 3
    ");
    let error = fixture.ask("milestone create Late --snapshots 7 8").fails("MILESTONE_GAP", 3);
    assert_eq!(error["details"], json!({ "start": 7, "expected_start": 6, "last_end": 5 }));
}

#[test]
fn an_early_start_is_an_overlap() {
    let fixture = eight();
    fixture.done("milestone create First --end 5");
    assert_snapshot!(fixture.run("milestone create Early --snapshots 5 6"), @r"
    ---- stderr
    error: #5 to #6 overlaps milestone `First`, which ends at #5: the next milestone starts at #6
    hint: leave the snapshots out to take everything since the last milestone
    ---- exit 3
    ");
    let error = fixture.ask("milestone create Early --snapshots 5 6").fails("MILESTONE_OVERLAP", 3);
    assert_eq!(error["details"], json!({ "start": 5, "last_end": 5, "expected_start": 6 }));
}

#[test]
fn a_range_that_ends_before_it_starts_or_holds_nothing_is_invalid() {
    let fixture = eight();
    fixture.done("milestone create First --end 5");
    assert_snapshot!(fixture.run("milestone create Back --end 3"), @r"
    ---- stderr
    error: the range would end at #3, before it starts: the next milestone starts at #6, right after `First`
    hint: name an end from #6 to #8
    ---- exit 3
    ");
    let error = fixture.ask("milestone create Back --end 3").fails("INVALID_RANGE", 3);
    assert_eq!(error["details"], json!({ "start": 6, "end": 3, "latest": 8 }));
    fixture.done("milestone create Second");
    let error = fixture.ask("milestone create Third").fails("INVALID_RANGE", 3);
    assert!(error["message"].as_str().unwrap().contains("nothing was recorded since milestone `Second`"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("backsight track"), "{error}");
    Fixture::new().ask("milestone create Nothing").fails("INVALID_RANGE", 3);
}

#[test]
fn a_broken_parent_is_named_with_what_was_expected() {
    let fixture = eight();
    let third = fixture.ok("show 3")["id"].clone();
    tamper(&fixture, "UPDATE rows SET previous_id = '0123456789abcdef' WHERE seq = 4");
    let error = fixture.ask("milestone create Broken").fails("BROKEN_PARENT", 5);
    assert!(error["message"].as_str().unwrap().contains("#4 does not continue #3"), "{error}");
    assert_eq!(error["details"], json!({ "at": 4, "expected": third, "actual": "0123456789abcdef" }));
    assert!(error["hint"].as_str().unwrap().contains("backsight continuity validate"), "{error}");
    // What lies before the break is not affected.
    fixture.done("milestone create Before --end 3");
}

#[test]
fn a_refusal_adds_no_row() {
    let fixture = eight();
    for line in ["Holes --snapshots 1 3", "Late --snapshots 2 3", "'' --end 3", "'two\nlines'", "X --end 99"] {
        assert_ne!(fixture.ask(&format!("milestone create {line}")).status, 0, "{line}");
    }
    assert_eq!(fixture.ask("milestone create Both --end 3 --snapshots 1 2").status, 2);
    assert_eq!(rows(&fixture), 8);
}

#[test]
fn show_tells_the_steps_and_the_files() {
    let fixture = Fixture::with_history();
    fixture.done("milestone create Start --end 1");
    fixture.done("milestone create 'Login works' -m 'As agreed.' --tag feature");
    assert_snapshot!(fixture.run("milestone show 'Login works'"), @r"
    Login works
    what      As agreed.
    when      [DATE] [TIME] +00:00 (just now)
    row       #5 [SNAPSHOT-ID]
    range     #2 to #3: 2 steps, 2 files, +2 -1
    tags      [feature]
    follows   Start (#1)

    #2  [SHORT]  just now  +1 -1  1 file  agent edits a (edit, session s1, message m1)
    #3  [SHORT]  just now  +1 -0  1 file  add c

    2 files changed
      a.txt
      c.txt
    ---- stderr
    hint: one diff over all of it: add `--diff`; undo all of it: `backsight revert 'Login works' --dry-run`
    ---- exit 0
    ");
    let by_id = fixture.ok("milestone show 'Login works'")["id"].as_str().unwrap().to_owned();
    assert_eq!(fixture.ok(&format!("milestone show {by_id}"))["title"], "Login works");
    assert_eq!(fixture.ok("milestone show '#5'")["title"], "Login works");
    fixture.ask("milestone show Nobody").fails("REF_NOT_FOUND", 4);
}

#[test]
fn the_combined_diff_leads_from_the_beginning_to_the_end() {
    let fixture = eight();
    fixture.done("milestone create First --end 2");
    fixture.done("milestone create 'The rest'");
    let diff = fixture.ok("milestone show 'The rest' --diff")["combined_diff"].as_str().unwrap().to_owned();
    std::fs::write(fixture.base().join("combined.diff"), &diff).unwrap();
    let printed = fixture.command("milestone show 'The rest' --diff").output().unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), diff);
    fixture.git("apply -R ../combined.diff");
    assert_eq!(fixture.read("a.txt"), numbered(&[(2, "edited")]));
}

#[test]
fn a_milestone_is_a_place_to_go_back_to() {
    let fixture = eight();
    fixture.done("milestone create 'Phase 1' --end 3");
    fixture.done("milestone create 'Phase 2'");
    let now = fixture.picture();
    let planned = fixture.ok("restore 'Phase 1' --dry-run");
    assert_eq!((&planned["dry_run"], &planned["targets"]), (&json!(true), &json!([3])));
    assert_eq!(fixture.picture(), now);
    assert_snapshot!(fixture.run("restore 'Phase 1'"), @r"
    Restored to #3: 1 path put back
      M a.txt
    Recorded as #11; what was displaced is in #8
    ---- stderr
    hint: take it back with `backsight undo`
    ---- exit 0
    ");
    assert_eq!(fixture.read("a.txt"), numbered(&[(2, "edited"), (3, "edited")]));
    fixture.done("restore 'milestone:Phase 2'");
    assert_eq!(fixture.picture(), now);
}

#[test]
fn a_whole_milestone_is_reverted_at_once_and_later_work_stays() {
    let fixture = Fixture::new();
    let edits = [(2, "second"), (5, "fifth"), (8, "eighth")];
    for step in 0..=3 {
        fixture.write("a.txt", &numbered(&edits[..step]));
        fixture.write(&format!("{step}.txt"), "new\n");
        fixture.done("track");
    }
    fixture.done("milestone create Start --end 1");
    fixture.done("milestone create Middle --end 3");
    let before = fixture.picture();
    let planned = fixture.ok("revert Middle --dry-run");
    assert_eq!(planned["targets"].as_array().unwrap().len(), 2);
    assert_eq!((fixture.picture(), planned.get("snapshot")), (before.clone(), None));
    fixture.done("revert Middle");
    assert_eq!(fixture.read("a.txt"), numbered(&[(8, "eighth")]));
    let there: Vec<bool> = (0..=3).map(|step| fixture.root().join(format!("{step}.txt")).exists()).collect();
    assert_eq!(there, [true, false, false, true]);
    assert_eq!(fixture.ok("show @")["kind"], "revert");
    fixture.done("undo");
    assert_eq!(fixture.picture(), before);
    // Only one file of it.
    fixture.done("revert Middle -- 1.txt");
    assert_eq!(fixture.read("a.txt"), numbered(&edits));
}

#[test]
fn retention_keeps_the_ends_of_milestones() {
    let fixture = eight();
    fixture.done("milestone create 'Phase 1' --end 3");
    fixture.done("milestone create 'Phase 2' --end 6");
    fixture.done("gc --keep-count 1");
    for reference in ["'Phase 1'", "'Phase 2'"] {
        fixture.ok(&format!("restore {reference} --dry-run"));
    }
    fixture.ask("restore 2 --dry-run").fails("REF_EXPIRED", 4);
    assert!(fixture.ok("milestone show 'Phase 2' --diff")["combined_diff"].as_str().unwrap().contains("+edited"));
    fixture.verify();
}

#[test]
fn names_that_are_shared_or_odd_are_handled() {
    let fixture = eight();
    fixture.done("milestone create Twin --end 2");
    fixture.done("milestone create Twin --end 4");
    let error = fixture.ask("milestone show Twin").fails("REF_AMBIGUOUS", 4);
    assert_eq!(error["details"]["candidates"].as_array().unwrap().len(), 2);
    fixture.done("milestone create --end 5 -- '-q; rm *'");
    assert!(fixture.run("milestone list").contains("-q; rm *"));
    assert_snapshot!(Fixture::new().run("milestone list"), @r"
    ---- stderr
    note: no milestone yet
    hint: make one of everything recorded so far with `backsight milestone create TITLE`
    ---- exit 0
    ");
}

#[test]
fn a_milestone_keeps_its_beginning_through_retention() {
    let fixture = Fixture::new();
    fixture.git("init -q -b main");
    fixture.write("f", "0\n");
    fixture.write("others", "0\n");
    fixture.git("add f others");
    fixture.git("commit -q -m first");
    fixture.done("track");
    for text in ["1", "2", "3"] {
        fixture.write("f", &format!("{text}\n"));
        fixture.write("others", &format!("{text}\n"));
        fixture.done("track --tool edit --declare f");
    }
    fixture.done("milestone create M");
    fixture.write("later", "later\n");
    fixture.done("track");
    let diff = fixture.ok("milestone show M --diff")["combined_diff"].clone();
    fixture.done("gc --keep-count 1");
    fixture.ask("restore 2 --dry-run").fails("REF_EXPIRED", 4);
    assert_eq!(fixture.ok("milestone show M --diff")["combined_diff"], diff);
    let refused = fixture.ask("milestone export-git M --repo . --branch steps").fails("REF_EXPIRED", 4);
    assert!(refused["hint"].as_str().unwrap().contains("--squash"), "{refused}");
    fixture.done("milestone export-git M --repo . --branch one --squash");
    assert_eq!(fixture.git("diff --name-status main one"), "M\tf\nM\tothers\n");
    let reverted = fixture.ok("revert M");
    assert_eq!(reverted["targets"], json!([4, 3, 2]));
    // What others changed in the same rows is not the milestone's.
    assert_eq!([fixture.read("f"), fixture.read("others"), fixture.read("later")], ["0\n", "3\n", "later\n"]);
    fixture.done("revert @");
    assert_eq!(fixture.read("f"), "3\n");
    fixture.verify();
}

#[test]
fn a_title_may_look_like_a_number_or_the_beginning_of_an_id() {
    let fixture = eight();
    for (title, end) in [("2026", 2), ("facade", 3), ("add", 4), ("b", 5), ("3", 6)] {
        fixture.done(&format!("milestone create {title} --end {end}"));
        let reference = format!("milestone:{title}");
        assert_eq!(fixture.ok(&format!("milestone show {reference}"))["title"], title);
        assert_eq!(fixture.ok(&format!("restore {reference} --dry-run"))["targets"], json!([end]), "{title}");
    }
    // Without the prefix a snapshot comes first, and the name where there is none.
    assert_eq!(fixture.ok("restore 3 --dry-run")["targets"], json!([3]));
    for (title, end) in [("2026", 2), ("facade", 3), ("add", 4), ("b", 5)] {
        assert_eq!(fixture.ok(&format!("restore {title} --dry-run"))["targets"], json!([end]), "{title}");
    }
    fixture.ask("restore c --dry-run").fails("REF_NOT_FOUND", 4);
    for (title, meaning) in [("now", "the files on disk"), ("@~2", "counted from"), ("session:x", "a session")] {
        let refused = fixture.ask(&format!("milestone create '{title}'")).fails("USAGE", 2);
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains(&format!("`{title}`")) && message.contains(meaning), "{refused}");
    }
}

/// A milestone whose range holds an agent's steps and, between them, what the user did unrecorded.
fn with_the_user_in_between() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("a.txt", &numbered(&[]));
    fixture.done("track -m start");
    fixture.done("milestone create Start");
    fixture.write("a.txt", &numbered(&[(2, "agent")]));
    fixture.done("track -m one --tool edit --session s1");
    // What the user adds, changes in the agent's own file, and deletes.
    fixture.write("z.txt", "the user's\n");
    fixture.write("a.txt", &numbered(&[(2, "agent"), (9, "user")]));
    fixture.done("unknown handle auto-integrate");
    fixture.write("b.txt", "agent\n");
    fixture.done("track -m two --tool edit --session s1 --declare b.txt");
    fixture.done("milestone create Work");
    assert_eq!(fixture.ok("show 4")["kind"], "external");
    fixture
}

#[test]
fn a_milestones_revert_keeps_what_was_changed_outside_in_its_range() {
    let fixture = with_the_user_in_between();
    let dry = fixture.ok("revert Work --dry-run");
    assert!(dry["warnings"].to_string().contains("what was changed outside meanwhile stays: #4"), "{dry}");
    fixture.ok("revert Work");
    assert_eq!(fixture.read("z.txt"), "the user's\n");
    assert_eq!(fixture.read("a.txt"), numbered(&[(9, "user")]), "the agent's line goes, the user's stays");
    assert!(!fixture.root().join("b.txt").exists());
    fixture.ok("undo");
    assert_eq!(fixture.read("a.txt"), numbered(&[(2, "agent"), (9, "user")]));

    let fixture = with_the_user_in_between();
    fixture.ok("revert Work --with-others");
    assert!(!fixture.root().join("z.txt").exists());
    assert_eq!(fixture.read("a.txt"), numbered(&[]));

    // A single step is what it is, and a milestone of nothing else says so.
    let fixture = with_the_user_in_between();
    fixture.ok("revert 4");
    assert!(!fixture.root().join("z.txt").exists());
    let fixture = Fixture::new();
    fixture.write("a.txt", "a\n");
    fixture.done("track -m start");
    fixture.done("milestone create Start");
    fixture.write("z.txt", "the user's\n");
    fixture.done("unknown handle auto-integrate");
    fixture.done("milestone create Nothing");
    let error = fixture.ask("revert Nothing").fails("NOTHING_TO_UNDO", 4);
    assert!(error["hint"].as_str().unwrap().contains("--with-others"), "{error}");
    assert_eq!(fixture.read("z.txt"), "the user's\n");
}

/// The same when retention removed what is between the milestone's ends.
#[test]
fn an_expired_milestones_revert_keeps_what_was_changed_outside() {
    let fixture = with_the_user_in_between();
    fixture.ok("gc --keep-count 1 --keep-days 0");
    fixture.ok("revert Work");
    assert_eq!(fixture.read("z.txt"), "the user's\n");
    assert!(!fixture.root().join("b.txt").exists());
}

//! Nothing destructive happens by accident: a plan comes first, and only the plan that was shown is carried out.

use serde_json::{Value, json};

use super::client::{Agent, Era};
use crate::fixture::{Fixture, numbered};

fn changed(fixture: &Fixture) -> (Agent, Value) {
    let mut agent = Agent::new(fixture);
    let plan = agent.ok("files_restore", json!({ "ref": "#1" }));
    assert_eq!((&plan["changed"], &plan["confirm"]["tool"]), (&json!(false), &json!("files_restore")));
    (agent, plan["confirm"]["arguments"].clone())
}

#[test]
fn without_dry_run_false_nothing_is_changed_in_any_era() {
    let fixture = Fixture::with_history();
    let before = fixture.picture();
    for era in Era::ALL {
        let mut agent = Agent::named(&fixture, "tester", era);
        for (tool, arguments) in [
            ("files_restore", json!({ "ref": "#1" })),
            ("files_restore", json!({ "ref": "#1", "dry_run": true })),
            ("files_restore", json!({ "ref": "#1", "dry_run": null })),
            ("files_revert", json!({ "refs": "#2" })),
            ("files_undo", json!({ "dry_run": true })),
        ] {
            let plan = agent.ok(tool, arguments);
            assert!(plan["summary"].as_str().unwrap().ends_with("nothing was changed yet"), "{plan}");
        }
    }
    assert_eq!(fixture.picture(), before);
}

#[test]
fn the_call_in_the_plan_carries_it_out() {
    let fixture = Fixture::with_history();
    let (mut agent, confirm) = changed(&fixture);
    let done = agent.ok("files_restore", confirm);
    assert_eq!(done["reverted"], json!(["M a.txt", "D c.txt"]));
    assert_eq!(fixture.read("a.txt"), numbered(&[]));
    agent.ok("files_undo", json!({}));
    assert_eq!(fixture.read("a.txt"), numbered(&[(2, "agent")]));
}

#[test]
fn a_plan_whose_files_were_edited_since_is_refused() {
    type Edit = fn(&Fixture);
    let edits: [(&str, Edit); 4] = [
        ("another content", |fixture| fixture.write("a.txt", "edited meanwhile\n")),
        ("another file that would go", |fixture| fixture.write("d.txt", "d\n")),
        ("a file that is gone", |fixture| fixture.remove("c.txt")),
        ("the state is there already", |fixture| {
            fixture.write("a.txt", &numbered(&[]));
            fixture.remove("c.txt");
        }),
    ];
    for (what, edit) in edits {
        let fixture = Fixture::with_history();
        let (mut agent, confirm) = changed(&fixture);
        edit(&fixture);
        let before = fixture.picture();
        let error = agent.fails("files_restore", confirm, "STATE_MISMATCH");
        assert_eq!(fixture.picture(), before, "{what}");
        // The next call it names is the plan again.
        let next = &error["next"];
        assert_eq!(next, &json!({ "tool": "files_restore", "arguments": { "ref": "#1", "dry_run": true } }), "{what}");
        let plan = agent.ok("files_restore", next["arguments"].clone());
        if let Some(confirm) = plan.get("confirm") {
            agent.ok("files_restore", confirm["arguments"].clone());
        }
        assert_eq!(fixture.read("a.txt"), numbered(&[]), "{what}");
    }
}

#[test]
fn edits_elsewhere_do_not_spoil_a_plan() {
    let fixture = Fixture::with_history();
    let mut agent = Agent::new(&fixture);
    let plan = agent.ok("files_revert", json!({ "refs": "#2" }));
    fixture.write("b.txt", "somebody is at work here\n");
    agent.ok("files_revert", plan["confirm"]["arguments"].clone());
    assert_eq!(
        (fixture.read("a.txt"), fixture.read("b.txt")),
        (numbered(&[]), "somebody is at work here\n".to_owned())
    );
}

#[test]
fn a_plan_is_not_another_plan() {
    let fixture = Fixture::with_history();
    let (mut agent, confirm) = changed(&fixture);
    for (name, value) in [("ref", json!("#2")), ("paths", json!(["a.txt"])), ("plan", json!("plan-2-0000000000000000"))]
    {
        let mut other = confirm.clone();
        other[name] = value;
        agent.fails("files_restore", other, "STATE_MISMATCH");
    }
    // It is good for once: done, it is not the plan any more.
    agent.ok("files_restore", confirm.clone());
    agent.fails("files_restore", confirm, "STATE_MISMATCH");
}

/// An undo is confirmed by its plan as a restore is, and an edit meanwhile is named.
#[test]
fn every_tool_that_changes_files_takes_the_token_of_its_plan() {
    for (tool, arguments, file) in [
        ("files_restore", json!({ "ref": "#1" }), "a.txt"),
        ("files_revert", json!({ "refs": "#2" }), "a.txt"),
        ("files_undo", json!({ "dry_run": true }), "c.txt"),
    ] {
        let fixture = Fixture::with_history();
        let mut agent = Agent::new(&fixture);
        let confirm = agent.ok(tool, arguments.clone())["confirm"]["arguments"].clone();
        let unedited = fixture.read(file);
        fixture.write(file, "edited meanwhile\n");
        let error = agent.fails(tool, confirm.clone(), "STATE_MISMATCH");
        assert!(error["message"].as_str().unwrap().contains(&format!("`{file}` is not as it was")), "{error}");
        assert_eq!((&error["next"]["tool"], &error["next"]["arguments"]["dry_run"]), (&json!(tool), &json!(true)));
        fixture.write(file, &unedited);
        assert_eq!(agent.ok(tool, confirm)["changed"], true, "{tool}");
    }
}

#[test]
fn a_restore_leaves_what_cannot_be_stored_when_told_to_skip() {
    let fixture = Fixture::with_history();
    fixture.done("config set max_file_size 1000");
    fixture.write("b.txt", &"x".repeat(5000));
    let mut agent = Agent::new(&fixture);
    agent.fails("files_restore", json!({ "ref": "#1", "dry_run": false }), "NOT_COVERED");
    let done = agent.ok("files_restore", json!({ "ref": "#1", "dry_run": false, "on_conflict": "skip" }));
    assert!(done["skipped"][0].as_str().unwrap().starts_with("b.txt"), "{done}");
    assert_eq!(fixture.read("a.txt"), numbered(&[]));
}

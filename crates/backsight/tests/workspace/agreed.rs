//! The plan that was agreed to is the plan that is done: a token is checked under the lock, and an edit between the plan
//! and its confirmation is a refusal that says what changed.

use backsight::report::{Applied, OnConflict};
use backsight::request::{Restore, Revert, RevertSession, Track, Undo, Unrevert};
use backsight::{Code, Error, PlanToken, Workspace};

use crate::lab::open_watched;
use crate::scene::{Scene, by};

/// One way of taking files back.
type Go = fn(&Workspace, Option<PlanToken>, bool) -> Result<Applied, Error>;

fn restore(workspace: &Workspace, plan: Option<PlanToken>, dry_run: bool) -> Result<Applied, Error> {
    workspace.restore_with(&Restore { reference: "1".to_owned(), plan, dry_run, ..Restore::default() })
}

fn revert(workspace: &Workspace, plan: Option<PlanToken>, dry_run: bool) -> Result<Applied, Error> {
    workspace.revert_steps(&Revert { references: vec!["2".to_owned()], plan, dry_run, ..Revert::default() })
}

fn undo(workspace: &Workspace, plan: Option<PlanToken>, dry_run: bool) -> Result<Applied, Error> {
    workspace.undo(&Undo { plan, dry_run, ..Undo::default() })
}

fn redo(workspace: &Workspace, plan: Option<PlanToken>, dry_run: bool) -> Result<Applied, Error> {
    workspace.redo(&Undo { plan, dry_run, ..Undo::default() })
}

fn session(workspace: &Workspace, plan: Option<PlanToken>, dry_run: bool) -> Result<Applied, Error> {
    let (session, message) = ("s".to_owned(), "m".to_owned());
    let request = RevertSession { session, message, plan, dry_run, ..RevertSession::default() };
    workspace.revert_session(&request).map(|reverted| reverted.applied)
}

fn unrevert(workspace: &Workspace, plan: Option<PlanToken>, dry_run: bool) -> Result<Applied, Error> {
    let request = Unrevert { session: "s".to_owned(), plan, dry_run, ..Unrevert::default() };
    workspace.unrevert_session(&request).map(|unreverted| unreverted.applied)
}

/// Two files that session `s` edited in one step, #2.
fn edited() -> Scene {
    let scene = Scene::of(&["a", "b", "c"]);
    scene.write("a", "agent\n");
    scene.write("b", "agent\n");
    let mut origin = by("edit", &[]);
    (origin.session, origin.message) = (Some("s".to_owned()), Some("m".to_owned()));
    scene.workspace.track_with(&Track { origin, ..Track::default() }).unwrap();
    scene
}

fn ways() -> [(&'static str, Go, Scene); 6] {
    let undone = edited();
    undone.workspace.undo(&Undo::default()).unwrap();
    let reverted = edited();
    session(&reverted.workspace, None, false).unwrap();
    [
        ("restore", restore, edited()),
        ("revert", revert, edited()),
        ("undo", undo, edited()),
        ("redo", redo, undone),
        ("session revert", session, edited()),
        ("session unrevert", unrevert, reverted),
    ]
}

#[test]
fn an_edit_between_plan_and_confirmation_is_a_refusal_that_names_the_file() {
    for (name, go, scene) in ways() {
        let plan = go(&scene.workspace, None, true).unwrap().plan;
        assert!(plan.is_some(), "{name}");
        scene.write("b", "edited meanwhile\n");
        let before = scene.disk();
        let error = go(&scene.workspace, plan.clone(), false).unwrap_err();
        assert_eq!(error.code(), Code::StateMismatch, "{name}: {error}");
        assert_eq!(error.details()["changed"], serde_json::json!(["b"]), "{name}: {error}");
        assert_eq!(scene.disk(), before, "{name}");
        // A dry run of the same says so too.
        assert_eq!(go(&scene.workspace, plan, true).unwrap_err().code(), Code::StateMismatch, "{name}");
    }
}

#[test]
fn a_step_between_plan_and_confirmation_is_named() {
    let scene = edited();
    let plan = undo(&scene.workspace, None, true).unwrap().plan;
    scene.write("c", "another agent\n");
    scene.workspace.track().unwrap();
    let error = undo(&scene.workspace, plan, false).unwrap_err();
    assert_eq!((error.code(), &error.details()["recorded"]), (Code::StateMismatch, &serde_json::json!([3])));
    assert_eq!(scene.text("c"), "another agent");
}

#[test]
fn the_plan_agreed_to_is_done_whatever_happens_elsewhere() {
    for (name, go, scene) in ways().into_iter().filter(|(name, ..)| *name != "restore") {
        let plan = go(&scene.workspace, None, true).unwrap().plan;
        scene.write("c", "edited meanwhile\n");
        let applied = go(&scene.workspace, plan, false).unwrap();
        assert!(applied.changed && applied.plan.is_none(), "{name}");
        assert_eq!(scene.text("c"), "edited meanwhile", "{name}");
    }
}

#[test]
fn a_token_is_of_one_request() {
    let scene = edited();
    let plan = revert(&scene.workspace, None, true).unwrap().plan;
    let error = restore(&scene.workspace, plan.clone(), false).unwrap_err();
    assert_eq!(error.code(), Code::StateMismatch, "{error}");
    let one = Revert { references: vec!["2".to_owned()], paths: vec!["a".parse().unwrap()], plan, ..Revert::default() };
    assert_eq!(scene.workspace.revert_steps(&one).unwrap_err().code(), Code::StateMismatch);
    assert_eq!(scene.text("a"), "agent");
}

/// The second attempt after a race must not be another plan either.
#[test]
fn an_edit_while_the_plan_is_carried_out_is_refused_too() {
    let scene = edited();
    let plan = revert(&scene.workspace, None, true).unwrap().plan;
    let target = scene.root.join("b");
    let workspace = open_watched(&scene.root, backsight::Disk::new(), move |progress| {
        if matches!(progress, backsight::Progress::Applying { done: 0, .. }) {
            std::fs::write(&target, "edited while it ran\n").unwrap();
        }
    });
    let merge = Revert { references: vec!["2".to_owned()], on_conflict: OnConflict::Merge, plan, ..Revert::default() };
    let error = workspace.revert_steps(&merge).unwrap_err();
    assert_eq!(error.code(), Code::StateMismatch, "{error}");
    assert_eq!((scene.text("a"), scene.text("b")), ("agent".to_owned(), "edited while it ran".to_owned()));
}

#[test]
fn a_confirmed_plan_walks_the_tree_once() {
    for (name, go, scene) in ways() {
        scene.workspace.watch().unwrap();
        let plan = go(&scene.workspace, None, true).unwrap().plan;
        let before = scene.workspace.watch_report();
        go(&scene.workspace, plan, false).unwrap();
        let after = scene.workspace.watch_report();
        let walks = (after.full_walks - before.full_walks, after.partial_walks - before.partial_walks);
        assert_eq!(walks, (1, 0), "{name}");
    }
}

//! Tool calls, unknown changes, resets and milestones that die at any operation: the store is whole, the timeline is
//! whole, what was begun can be done again, and no step is recorded twice.

use std::path::{Path, PathBuf};

use backsight::report::{Kind, Origin, Strategy};
use backsight::request::{Finish, NewMilestone, Unknown};
use backsight::{Code, Workspace};

use crate::lab::{
    Findings, Lab, Outcome, Strictness, damage, ensure, git_complaints, kinds, leftovers, none, open, operations, rows,
    stop_at,
};
use crate::picture::Picture;
use crate::scene::{Scene, strategy};

/// A workspace, an action on it, and the kinds of rows it leads to.
struct Case<'a> {
    lab: &'a Lab,
    fixture: PathBuf,
    action: &'a dyn Fn(&Workspace) -> Outcome,
    /// Whether the action has nothing left to do, which is how a repetition after the commit point may answer.
    is_done: &'a dyn Fn(&Workspace, &backsight::Error) -> bool,
    added: &'a [Kind],
}

impl Case<'_> {
    fn stop_everywhere(&self) {
        let total = operations(self.lab, &self.fixture, self.action);
        let mut findings = Findings::default();
        for n in 0..=total {
            let copy = self.lab.copy(&self.fixture);
            let outcome = stop_at(&copy, n, self.action);
            let checked = ensure(outcome.is_ok() == (n >= total), || format!("{outcome:?}"));
            findings.note(format_args!("stopped at {n} of {total}"), checked.and_then(|()| self.check(&copy, outcome)));
        }
        findings.report();
    }

    fn check(&self, root: &Path, outcome: Outcome) -> Result<(), String> {
        let workspace = open(root);
        let before = kinds(&open(&self.fixture));
        none("files changed", Picture::of(&self.fixture).differences(&Picture::of(root)))?;
        self.check_whole(&workspace)?;
        if outcome.is_err() {
            match (self.action)(&workspace) {
                Ok(()) => {}
                Err(error) if (self.is_done)(&workspace, &error) => {}
                Err(error) => return Err(format!("cannot be repeated: {error}")),
            }
        }
        let expected = [&before[..], self.added].concat();
        ensure(kinds(&workspace) == expected, || format!("{:?}, not {expected:?}", kinds(&workspace)))?;
        self.check_whole(&workspace)?;
        ensure(workspace.status().is_ok_and(|status| status.open_calls.is_empty() || self.added.is_empty()), || {
            format!("a call is still open: {:?}", workspace.open_calls())
        })?;
        workspace.track().map_err(|error| format!("track fails: {error}"))?;
        none("left behind", leftovers(root, Strictness::Captured))?;
        none("in the end", damage(&workspace) + &git_complaints(root))
    }

    fn check_whole(&self, workspace: &Workspace) -> Result<(), String> {
        none("verify finds", damage(workspace))?;
        let report = workspace.validate_workspace_sync().map_err(|error| error.to_string())?;
        ensure(report.problems.is_empty(), || format!("{:?}", report.problems))?;
        let rows = rows(workspace);
        let follows = |pair: &[backsight::report::Snapshot]| pair[1].base_tree == Some(pair[0].tree);
        ensure(rows.windows(2).all(follows), || "a row does not start from the one before it".to_owned())
    }
}

fn never(_: &Workspace, _: &backsight::Error) -> bool {
    false
}

/// The call's row was appended before the process died: then it has finished.
fn has_finished(workspace: &Workspace, error: &backsight::Error) -> bool {
    error.code() == Code::CallNotFound && rows(workspace).last().is_some_and(|row| row.origin.tool.is_some())
}

/// The user and the tool have both written, the tool in a call that declared its file.
fn in_a_call() -> (Scene, String) {
    let scene = Scene::of(&["a", "b", "d/c"]);
    let call = scene.begin("writer", &["a", "new"]);
    scene.write("a", "tool\n");
    scene.write("new/file", "tool\n");
    scene.write("b", "user\n");
    scene.remove("d/c");
    (scene, call)
}

fn finish_dies_anywhere(choice: Strategy, added: &[Kind]) {
    let (Scene { root, workspace, lab }, call) = in_a_call();
    drop(workspace);
    let finish = |workspace: &Workspace| {
        let unknown = strategy(choice);
        workspace.finish(&Finish { call: call.clone(), unknown, ..Finish::default() }).map(drop)
    };
    Case { lab: &lab, fixture: root, action: &finish, is_done: &has_finished, added }.stop_everywhere();
}

#[test]
fn a_finish_that_lists_dies_before_or_after_its_row() {
    finish_dies_anywhere(Strategy::Warn, &[Kind::Track]);
}

#[test]
fn a_finish_that_integrates_dies_before_between_or_after_its_rows() {
    finish_dies_anywhere(Strategy::AutoIntegrate, &[Kind::External, Kind::Track]);
}

/// After a finish died and was done again, the step is the call's own and can be taken back alone.
#[test]
fn a_finish_done_again_is_the_same_step() {
    let (Scene { root, workspace, lab }, call) = in_a_call();
    drop(workspace);
    for choice in [Strategy::Warn, Strategy::AutoIntegrate] {
        let unknown = strategy(choice);
        let finish = |workspace: &Workspace| {
            workspace.finish(&Finish { call: call.clone(), unknown, ..Finish::default() }).map(drop)
        };
        let mut findings = Findings::default();
        for n in 0..operations(&lab, &root, &finish) {
            let copy = lab.copy(&root);
            drop(stop_at(&copy, n, &finish));
            let workspace = open(&copy);
            drop(finish(&workspace));
            let checked = workspace.undo(&Default::default()).map_err(|error| error.to_string()).and_then(|_| {
                let text = |file: &str| std::fs::read_to_string(copy.join(file)).unwrap_or_default();
                let found = ["a", "b", "d/c", "new/file"].map(text);
                ensure(found == ["0\n", "user\n", "", ""], || format!("after the undo: {found:?}"))?;
                ensure(!copy.join("new").exists(), || "the call's directory stays".to_owned())
            });
            findings.note(format_args!("{choice}, stopped at {n}"), checked);
        }
        findings.report();
    }
}

#[test]
fn a_begin_that_integrates_dies_before_or_after_its_row() {
    let scene = Scene::of(&["a", "b"]);
    scene.write("b", "user\n");
    scene.write("new/file", "user\n");
    let Scene { root, workspace, lab } = scene;
    drop(workspace);
    let begin = |workspace: &Workspace| {
        // A call that a dead process began is given up by whoever begins anew.
        for call in workspace.open_calls()? {
            workspace.abandon(call.id.as_str())?;
        }
        let origin = Origin { tool: Some("writer".to_owned()), ..Origin::default() };
        let unknown = Unknown { strategy: Some(Strategy::AutoIntegrate), force: false };
        let begun = workspace.begin(&backsight::request::Begin { origin, unknown, title: None })?;
        workspace.abandon(begun.call.id.as_str()).map(drop)
    };
    Case { lab: &lab, fixture: root, action: &begin, is_done: &never, added: &[Kind::External] }.stop_everywhere();
}

#[test]
fn a_begin_that_lists_dies_without_a_row_and_the_call_can_be_worked_with() {
    let scene = Scene::of(&["a", "b"]);
    scene.write("b", "user\n");
    let Scene { root, workspace, lab } = scene;
    drop(workspace);
    let begin = |workspace: &Workspace| workspace.begin(&Default::default()).map(drop);
    let mut findings = Findings::default();
    let total = operations(&lab, &root, &begin);
    for n in 0..=total {
        let copy = lab.copy(&root);
        let outcome = stop_at(&copy, n, &begin);
        let workspace = open(&copy);
        let checked = || -> Result<(), String> {
            let open = workspace.open_calls().map_err(|error| error.to_string())?;
            ensure(outcome.is_err() || open.len() == 1, || format!("answered, and {} calls are open", open.len()))?;
            ensure(kinds(&workspace) == [Kind::Track], || format!("{:?}", kinds(&workspace)))?;
            none("verify finds", damage(&workspace))?;
            std::fs::write(copy.join("a"), "tool\n").map_err(|error| error.to_string())?;
            for call in open {
                let finished = workspace
                    .finish(&Finish { call: call.id.to_string(), ..Finish::default() })
                    .map_err(|error| error.to_string())?;
                ensure(finished.changes.len() == 1, || format!("{:?}", finished.changes))?;
                ensure(finished.unknown_changes.len() == 1, || format!("{:?}", finished.unknown_changes))?;
            }
            none("in the end", damage(&workspace) + &git_complaints(&copy))
        };
        findings.note(format_args!("stopped at {n} of {total}"), checked());
    }
    findings.report();
}

#[test]
fn the_first_call_of_all_dies_before_or_after_the_first_snapshot() {
    let lab = Lab::new();
    let root = lab.empty();
    crate::plans::write(&root, "a", "0\n");
    let begin = |workspace: &Workspace| {
        let begun = workspace.begin(&Default::default())?;
        workspace.abandon(begun.call.id.as_str()).map(drop)
    };
    let total = operations(&lab, &root, &begin);
    let mut findings = Findings::default();
    for n in 0..=total {
        let copy = lab.copy(&root);
        drop(stop_at(&copy, n, &begin));
        let workspace = open(&copy);
        let again = begin(&workspace).map_err(|error| format!("cannot be repeated: {error}"));
        let checked = again.and_then(|()| {
            ensure(kinds(&workspace) == [Kind::Track], || format!("{:?}", kinds(&workspace)))?;
            none("in the end", damage(&workspace) + &git_complaints(&copy))
        });
        findings.note(format_args!("stopped at {n} of {total}"), checked);
    }
    findings.report();
}

#[test]
fn handling_unknown_changes_dies_before_or_after_its_row() {
    let scene = Scene::of(&["a", "b"]);
    scene.write("b", "user\n");
    scene.write("new/file", "user\n");
    let Scene { root, workspace, lab } = scene;
    drop(workspace);
    let handle =
        |workspace: &Workspace| workspace.handle_unknown_changes(&[], &strategy(Strategy::AutoIntegrate)).map(drop);
    Case { lab: &lab, fixture: root, action: &handle, is_done: &never, added: &[Kind::External] }.stop_everywhere();
}

#[test]
fn a_reset_dies_before_between_or_after_its_rows_and_can_be_repeated() {
    let (Scene { root, workspace, lab }, _) = in_a_call();
    drop(workspace);
    let reset =
        |workspace: &Workspace| workspace.reset_state_continuity("the machine died", &Origin::default()).map(drop);
    Case { lab: &lab, fixture: root.clone(), action: &reset, is_done: &never, added: &[Kind::External] }
        .stop_everywhere();
    let copy = lab.copy(&root);
    reset(&open(&copy)).unwrap();
    assert_eq!(open(&copy).open_calls().unwrap(), [], "open calls are given up");
}

#[test]
fn a_milestone_dies_before_or_after_its_row() {
    let scene = Scene::of(&["a"]);
    scene.write("a", "1\n");
    scene.workspace.track().unwrap();
    let Scene { root, workspace, lab } = scene;
    drop(workspace);
    let create = |workspace: &Workspace| {
        let new = NewMilestone { title: "Here".to_owned(), ..NewMilestone::default() };
        workspace.create_milestone_by_range(&new, None).map(drop)
    };
    let was_made = |workspace: &Workspace, error: &backsight::Error| {
        error.code() == Code::InvalidRange && workspace.milestones().is_ok_and(|made| made.len() == 1)
    };
    Case { lab: &lab, fixture: root, action: &create, is_done: &was_made, added: &[] }.stop_everywhere();
}

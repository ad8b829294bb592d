//! Sessions, messages and parts by their first characters: what is shown short is understood wherever an id is asked
//! for, the same id wins, and what could be several is refused with their names.

use backsight::report::{HasIds, Origin, Phase};
use backsight::request::{
    Begin, Finish, Log, NewSession, Revert, RevertSession, SessionDiff, SessionTrack, Track, Unrevert,
};
use backsight::seeds::Seed002 as _;
use backsight::{Code, OriginColumn};

use crate::scene::{Scene, names};

const FIRST: &str = "1c99f013-739a-45ac-8acc-ba79c9858eb5";
const SECOND: &str = "1c99f013-8b00-4c11-9d22-ba79c9858eb5";
const MESSAGE: &str = "2f23207b-dd45-480f-a3ec-99c8f410c781";
const PART: &str = "toolu_66064587b69580";

fn origin(session: &str, message: &str, part: &str) -> Origin {
    let some = |text: &str| Some(text.to_owned());
    Origin { tool: some("Bash"), session: some(session), message: some(message), part: some(part), declared: vec![] }
}

/// A tool call of an agent that writes one file.
fn call(scene: &Scene, origin: Origin, file: &str) {
    let begun = scene.workspace.begin(&Begin { origin, ..Begin::default() }).unwrap();
    scene.write(file, "by the agent\n");
    let call = begun.call.id.to_string();
    scene.workspace.finish(&Finish { call, description: format!("Bash: {file}"), ..Finish::default() }).unwrap();
}

fn conversation() -> Scene {
    let scene = Scene::of(&["a"]);
    call(&scene, origin(FIRST, MESSAGE, PART), "b");
    call(&scene, origin(FIRST, "490b90b7-a2ce-4c2c-bb76-cb77b125df2f", "toolu_01AbCdEfGh"), "c");
    scene
}

#[test]
fn the_beginning_of_an_id_is_enough_everywhere() {
    let scene = conversation();
    let workspace = &scene.workspace;
    assert_eq!(workspace.session("1c99").unwrap().session.id, FIRST);
    for reference in ["session:1c99", "message:490b", "part:toolu_01"] {
        assert_eq!(workspace.show(reference).unwrap().sequence_number.0, 3, "{reference}");
    }
    assert_eq!(workspace.show("part:toolu_66").unwrap().sequence_number.0, 2);
    let log = workspace.log(&Log { session: Some("1c99f".to_owned()), ..Log::default() }).unwrap();
    assert_eq!(log.rows.len(), 2);
    let diff = SessionDiff { message: Some("2f23".to_owned()), ..SessionDiff::new("1c99") };
    let diff = workspace.session_diff(&diff).unwrap();
    assert_eq!((diff.diffs.len(), diff.diffs[0].file.to_string().as_str()), (1, "b"));

    let back = RevertSession { session: "1c99".to_owned(), message: "490b".to_owned(), ..Default::default() };
    let part = Some("toolu_01".to_owned());
    let reverted = workspace.revert_session(&RevertSession { part, ..back.clone() }).unwrap();
    assert_eq!((reverted.session.as_str(), reverted.revert.part_id.as_deref()), (FIRST, Some("toolu_01AbCdEfGh")));
    assert!(!scene.root.join("c").exists() && scene.root.join("b").exists());
    let row = reverted.applied.snapshot.unwrap();
    assert_eq!(row.description, "revert session 1c99f013 to before 490b90b7, part toolu_01Ab");
    assert_eq!(row.origin.session.as_deref(), Some(FIRST));
    workspace.unrevert_session(&Unrevert { session: "1c99".to_owned(), ..Default::default() }).unwrap();
    assert!(scene.root.join("c").exists());

    let reverted =
        workspace.revert_steps(&Revert { references: vec!["message:2f23".into()], ..Default::default() }).unwrap();
    assert_eq!((reverted.reverted.len(), reverted.reverted[0].path.to_string().as_str()), (1, "b"));
    workspace.compute_diff("1c99", "1", "2").unwrap();
    let track = SessionTrack { session: "1c99".to_owned(), message: Some("m9".to_owned()), ..Default::default() };
    scene.write("d", "by the agent\n");
    assert_eq!(workspace.track_session(&track).unwrap().step.unwrap().origin.session.as_deref(), Some(FIRST));
}

#[test]
fn an_exact_id_wins_and_an_ambiguous_beginning_names_the_candidates() {
    let scene = conversation();
    call(&scene, origin(SECOND, "2f23ffff-0000-4000-8000-000000000000", "toolu_6606aaaa"), "d");
    let workspace = &scene.workspace;
    let error = workspace.session("1c99f013").unwrap_err();
    assert_eq!(error.code(), Code::RefAmbiguous);
    assert_eq!(error.details()["candidates"], serde_json::json!([FIRST, SECOND]));
    for reference in ["session:1c99", "message:2f23", "part:toolu_6606"] {
        let error = workspace.show(reference).unwrap_err();
        assert_eq!(error.code(), Code::RefAmbiguous, "{reference}");
        assert_eq!(error.details()["candidates"].as_array().unwrap().len(), 2, "{reference}");
    }
    let log = Log { session: Some("1c99".to_owned()), ..Log::default() };
    assert_eq!(workspace.log(&log).unwrap_err().code(), Code::RefAmbiguous);
    assert_eq!(workspace.session("1c99f013-8").unwrap().session.id, SECOND);

    for id in ["work", "work2", "worker"] {
        workspace.start_session(&NewSession { id: Some(id.to_owned()), title: None }).unwrap();
    }
    assert_eq!(workspace.session("work").unwrap().session.id, "work");
    // A new session is called just what it is called.
    assert!(workspace.start_session(&NewSession { id: Some("1c99f013".to_owned()), title: None }).unwrap().created);
    assert_eq!(workspace.session("1c99f013").unwrap().session.id, "1c99f013");
    assert_eq!(workspace.session("wor").unwrap_err().code(), Code::SessionNotFound, "too short to be a beginning");
    let error = workspace.session("nope").unwrap_err();
    assert!(error.message().contains("1c99f013-7, 1c99f013-8"), "{error}");
}

#[test]
fn within_a_session_only_its_own_messages_count() {
    let scene = conversation();
    call(&scene, origin(SECOND, "2f23ffff-0000-4000-8000-000000000000", "toolu_6606aaaa"), "d");
    let back = RevertSession { session: SECOND.to_owned(), message: "2f23".to_owned(), ..Default::default() };
    scene.workspace.revert_session(&back).unwrap();
    assert!(!scene.root.join("d").exists() && scene.root.join("b").exists());
}

#[test]
fn what_is_shown_short_is_understood_and_short_ids_stay() {
    let scene = conversation();
    call(&scene, origin(SECOND, &format!("{SECOND}:3"), "run_shell_command-54c9db28421df1b2"), "d");
    call(&scene, origin("s1", "m2", "p1"), "e");
    let workspace = &scene.workspace;
    let page = workspace.log(&Log::default()).unwrap();
    let mut whole = Vec::new();
    page.clone().each_id(&mut |column, id| whole.push((column, id.clone())));
    let mut shown = Vec::new();
    workspace.shortened(page).unwrap().each_id(&mut |column, id| shown.push((column, id.clone())));
    let texts: Vec<&str> = shown.iter().map(|(_, id)| id.as_str()).collect();
    let expected = ["s1", "m2", "p1", "1c99f013-8", "1c99f013-8b00:3", "run_shel"];
    assert_eq!(&texts[..4], &expected[..4]);
    assert_eq!(texts.len(), whole.len());
    for ((column, shown), (_, whole)) in shown.iter().zip(&whole) {
        let name = match column {
            OriginColumn::Session => "session",
            OriginColumn::Message => "message",
            OriginColumn::Part => "part",
        };
        let found = workspace.show(&format!("{name}:{shown}")).unwrap();
        assert_eq!(found, workspace.show(&format!("{name}:{whole}")).unwrap(), "{shown}");
        assert!(shown.chars().count() <= 16, "{shown}");
    }
    assert!(workspace.has_part(PART).unwrap() && !workspace.has_part("toolu_66").unwrap());
}

#[test]
fn what_a_session_says_nothing_about_is_told_by_its_files() {
    let scene = Scene::of(&["a"]);
    scene.workspace.init_snapshot("s1").unwrap();
    let mut request = SessionTrack { session: "s1".to_owned(), message: Some("m1".to_owned()), ..Default::default() };
    let describe = |request: &SessionTrack| scene.workspace.track_session(request).unwrap().step.unwrap().description;
    request.phase = Phase::Before;
    scene.workspace.track_session(&request).unwrap();
    scene.write("a", "1\n");
    request.phase = Phase::After;
    assert_eq!(describe(&request), "changed a");
    scene.write("a", "2\n");
    scene.write("b", "2\n");
    let request = SessionTrack { message: None, phase: Phase::None, tool: Some("Edit".to_owned()), ..request };
    assert_eq!(describe(&request), "Edit: 2 files");
    // A user who says nothing means nothing.
    scene.write("a", "3\n");
    assert_eq!(scene.workspace.track_with(&Track::default()).unwrap().snapshot.description, "");
}

#[test]
fn a_file_that_a_user_removed_since_is_not_in_effect() {
    let scene = Scene::of(&["a"]);
    call(&scene, origin("s1", "m1", "p1"), "b");
    call(&scene, origin("s1", "m2", "p2"), "c");
    let shown = |files: &[&str], lines: (u64, u64)| {
        let detail = scene.workspace.session("s1").unwrap();
        assert_eq!(names(&detail.files), files);
        assert_eq!((detail.lines_added, detail.lines_removed), (Some(lines.0), Some(lines.1)));
        detail
    };
    shown(&["b", "c"], (2, 0));
    scene.remove("b");
    scene.workspace.track().unwrap();
    let detail = shown(&["c"], (1, 0));
    assert!(detail.messages[0].files.is_empty(), "of the first message nothing is left");
    scene.remove("c");
    scene.workspace.track().unwrap();
    shown(&[], (0, 0));
    // What the session itself removed is in effect: the file is gone by its doing.
    let begun = scene.workspace.begin(&Begin { origin: origin("s1", "m3", "p3"), ..Begin::default() }).unwrap();
    scene.remove("a");
    scene.workspace.finish(&Finish { call: begun.call.id.to_string(), ..Finish::default() }).unwrap();
    assert_eq!(names(&scene.workspace.session("s1").unwrap().files), ["a"]);
}

#[test]
fn every_answer_about_the_size_of_a_store_is_the_same() {
    let scene = conversation();
    let dry_run = backsight::request::Collect { dry_run: true, ..Default::default() };
    let total = scene.workspace.usage().unwrap().total_bytes;
    assert_eq!(scene.workspace.gc(&dry_run).unwrap().bytes_before, total);
    // Nor does it matter who has the timeline open, and how much of it was folded.
    assert_eq!(crate::lab::open(&scene.root).usage().unwrap().total_bytes, total);
    assert_eq!(scene.workspace.gc(&dry_run).unwrap().bytes_after, total);
}

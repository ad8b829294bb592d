//! Sessions (seed 002): messages tracked before and after, parts inside them, several sessions at once, and the way
//! back and forth. Every sentence of what was promised about them stands here as a test.

use backsight::report::{Kind, Origin, Phase, SessionDetail, SessionReverted, SessionTracked, SessionUnreverted};
use backsight::request::{
    Begin, Collect, Finish, Log, NewSession, Revert, RevertSession, SessionDiff, SessionTrack, Sessions, Track,
    Unrevert,
};
use backsight::seeds::Seed002 as _;
use backsight::{Code, Error, Workspace};
use backsight_core::NextStep;

use crate::lab::{Findings, Scenario, Side, ensure, none, open};
use crate::picture::Picture;
use crate::scene::{Scene, names, path, paths};

fn track(session: &str, message: &str, phase: Phase) -> SessionTrack {
    let (message, part) = match message.split_once('/') {
        Some((message, part)) => (message, Some(part.to_owned())),
        None => (message, None),
    };
    SessionTrack { session: session.to_owned(), message: Some(message.to_owned()), part, phase, ..Default::default() }
}

impl Scene {
    fn start(&self, id: &str) {
        let new = NewSession { id: Some(id.to_owned()), title: None };
        self.workspace.start_session(&new).unwrap();
    }

    fn before(&self, session: &str, message: &str) -> SessionTracked {
        self.workspace.track_session(&track(session, message, Phase::Before)).unwrap()
    }

    fn after(&self, session: &str, message: &str) -> SessionTracked {
        self.workspace.track_session(&track(session, message, Phase::After)).unwrap()
    }

    /// A whole turn: before, the writes, after. `-` removes the file.
    fn turn(&self, session: &str, message: &str, writes: &[(&str, &str)]) -> SessionTracked {
        self.before(session, message);
        for (file, text) in writes {
            if *text == "-" { self.remove(file) } else { self.write(file, text) }
        }
        self.after(session, message)
    }

    fn try_back(&self, session: &str, message: &str) -> Result<SessionReverted, Error> {
        self.workspace.revert_session(&back_to(session, message))
    }

    fn back(&self, session: &str, message: &str) -> SessionReverted {
        self.try_back(session, message).unwrap()
    }

    fn try_forth(&self, session: &str) -> Result<SessionUnreverted, Error> {
        self.workspace.unrevert_session(&Unrevert { session: session.to_owned(), ..Default::default() })
    }

    fn forth(&self, session: &str) -> SessionUnreverted {
        self.try_forth(session).unwrap()
    }

    fn session(&self, id: &str) -> SessionDetail {
        self.workspace.session(id).unwrap()
    }

    /// The paths a session changed, with lines added and removed: `a.txt +1 -1`.
    fn changed_by(&self, session: &str, message: Option<&str>) -> Vec<String> {
        let request = SessionDiff { message: message.map(str::to_owned), ..SessionDiff::new(session) };
        let diff = self.workspace.session_diff(&request).unwrap();
        diff.diffs.iter().map(|diff| format!("{} +{} -{}", diff.file, diff.additions, diff.deletions)).collect()
    }

    fn texts(&self, files: &[&str]) -> Vec<String> {
        files.iter().map(|file| self.text(file)).collect()
    }
}

fn back_to(session: &str, message: &str) -> RevertSession {
    let (message, part) = match message.split_once('/') {
        Some((message, part)) => (message, Some(part.to_owned())),
        None => (message, None),
    };
    RevertSession { session: session.to_owned(), message: message.to_owned(), part, ..Default::default() }
}

fn lines(edited: &[(usize, &str)]) -> String {
    let line = |number: usize| {
        let found = edited.iter().find(|(at, _)| *at == number);
        found.map_or_else(|| format!("line {number}\n"), |(_, text)| format!("{text}\n"))
    };
    (1..=12).map(line).collect()
}

/// Session `s` with three turns on three files, each of which had the text `0`.
fn three_turns() -> Scene {
    let scene = Scene::of(&["a", "b", "c", "user"]);
    scene.start("s");
    scene.turn("s", "m1", &[("a", "1\n")]);
    scene.turn("s", "m2", &[("b", "2\n"), ("new/b2", "2\n")]);
    scene.turn("s", "m3", &[("a", "3\n"), ("c", "-")]);
    scene
}

const FILES: [&str; 4] = ["a", "b", "c", "new/b2"];

#[test]
fn a_session_starts_with_a_snapshot_of_what_is_there() {
    let scene = Scene::empty();
    scene.write("a", "by hand\n");
    let new = NewSession { id: Some("s1".to_owned()), title: Some(" Fix it ".to_owned()) };
    let started = scene.workspace.start_session(&new).unwrap();
    assert!(started.created);
    assert_eq!((started.session.title.as_deref(), started.session.baseline.unwrap().0), (Some("Fix it"), 1));
    let tree = started.session.baseline_tree.unwrap().to_string();
    assert_eq!(scene.workspace.get_file_at(&tree, &path("a")).unwrap(), b"by hand\n");
    // Again it is the same session, and nothing is recorded; a new title is taken.
    scene.write("a", "more\n");
    let again = scene.workspace.start_session(&NewSession { title: Some("T".to_owned()), ..new.clone() }).unwrap();
    assert_eq!(
        (again.created, again.session.baseline, again.session.title.as_deref()),
        (false, started.session.baseline, Some("T"))
    );
    assert_eq!(scene.story().len(), 1);
    // A second one has its own baseline, with what was changed by hand meanwhile, which is not the session's.
    let second = scene.workspace.start_session(&NewSession::default()).unwrap();
    assert!(second.created && second.session.id.starts_with("ses_"), "{}", second.session.id);
    assert_eq!(names(&second.unknown_changes.iter().map(|change| change.file_path.clone()).collect::<Vec<_>>()), ["a"]);
    assert_eq!(scene.story(), ["1 track external", "2 external external: a"]);
    assert_eq!(second.session.baseline.unwrap().0, 2);
    for id in ["", "a\nb", &"x".repeat(201)] {
        let error = scene.workspace.start_session(&NewSession { id: Some(id.to_owned()), title: None }).unwrap_err();
        assert_eq!(error.code(), Code::Usage, "{id:?}");
    }
}

#[test]
fn init_track_and_compute_have_the_seeds_names() {
    let scene = Scene::of(&["a"]);
    scene.workspace.init_snapshot("s1").unwrap();
    let before = scene.workspace.track_snapshot("s1").unwrap();
    assert_eq!(scene.workspace.track_snapshot("s1").unwrap(), before, "nothing changed");
    scene.write("a", "1\n2\n");
    let after = scene.workspace.track_snapshot("s1").unwrap();
    let diffs = scene.workspace.compute_diff("s1", &before.to_string(), &after.to_string()).unwrap();
    assert_eq!(
        (diffs[0].file.to_string(), diffs[0].before.as_str(), diffs[0].after.as_str()),
        ("a".into(), "0\n", "1\n2\n")
    );
    assert_eq!((diffs[0].additions, diffs[0].deletions), (2, 1));
    assert_eq!(scene.workspace.track_snapshot("nobody").unwrap_err().code(), Code::SessionNotFound);
    let error = scene.workspace.compute_diff("nobody", "@", "@").unwrap_err();
    assert_eq!(error.code(), Code::SessionNotFound);
}

#[test]
fn before_and_after_tell_the_message_from_the_user() {
    let scene = Scene::of(&["a", "user"]);
    scene.start("s");
    scene.write("user", "by hand\n");
    let before = scene.before("s", "m1");
    assert_eq!(before.unknown_changes[0].file_path, path("user"));
    assert!(before.call.is_some() && before.after_hash.is_none() && !before.changed);
    scene.write("a", "1\n");
    let after = scene.after("s", "m1");
    assert_eq!((after.before_hash, after.changed, after.repeated), (before.before_hash, true, false));
    assert_eq!(after.changes.iter().map(|change| change.path.to_string()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(after.step.as_ref().unwrap().tree, after.after_hash.unwrap());
    // The two hashes can be compared, as the seed does.
    let [from, to] = [after.before_hash, after.after_hash].map(|hash| hash.unwrap().to_string());
    let diffs = scene.workspace.compute_diff("s", &from, &to).unwrap();
    assert_eq!(diffs.iter().map(|diff| diff.file.to_string()).collect::<Vec<_>>(), ["a"]);
    scene.back("s", "m1");
    assert_eq!(scene.texts(&["a", "user"]), ["0", "by hand"]);
}

#[test]
fn repeating_before_or_after_changes_nothing() {
    let scene = Scene::of(&["a"]);
    scene.start("s");
    let first = scene.before("s", "m1");
    scene.write("a", "1\n");
    let again = scene.before("s", "m1");
    assert_eq!((again.repeated, again.before_hash), (true, first.before_hash));
    assert_eq!(again.call.as_ref().map(|call| &call.id), first.call.as_ref().map(|call| &call.id));
    let after = scene.after("s", "m1");
    let rows = scene.story();
    scene.write("a", "by hand\n");
    let repeated = scene.after("s", "m1");
    assert!(repeated.repeated && repeated.warnings[0].contains("ended already as #2"), "{:?}", repeated.warnings);
    assert_eq!((repeated.before_hash, repeated.after_hash), (after.before_hash, after.after_hash));
    assert_eq!(repeated.step.unwrap().id, after.step.unwrap().id);
    assert_eq!(repeated.changes, after.changes);
    assert_eq!(scene.story(), rows);
    // A message that goes on begins again.
    assert!(!scene.before("s", "m1").repeated);
    scene.write("a", "2\n");
    assert_eq!(scene.after("s", "m1").step.unwrap().sequence_number.0, 4);
    assert_eq!(scene.session("s").messages[0].steps.len(), 2);
    assert_eq!(scene.try_back("s", "m1").unwrap_err().code(), Code::Conflict, "#3 is the user's, on top of #2");
}

#[test]
fn a_missing_before_is_refused_and_a_missing_after_is_told() {
    let scene = Scene::of(&["a", "b"]);
    scene.start("s");
    scene.write("a", "1\n");
    let error = scene.workspace.track_session(&track("s", "m1", Phase::After)).unwrap_err();
    assert_eq!(error.code(), Code::CallNotFound);
    let record = NextStep::RecordMessage { session: "s".to_owned(), message: "m1".to_owned() };
    assert!(error.message().contains("has no `before`") && error.advises(&record), "{error}");
    assert_eq!(scene.story().len(), 1);
    scene.before("s", "m1");
    scene.write("a", "m1\n");
    let second = scene.before("s", "m2");
    assert!(second.warnings.iter().any(|warning| warning.contains("`m1` began at")), "{:?}", second.warnings);
    scene.write("b", "m2\n");
    assert_eq!(
        names(&scene.after("s", "m2").changes.iter().map(|change| change.path.clone()).collect::<Vec<_>>()),
        ["b"]
    );
    let open: Vec<String> = scene.session("s").messages.iter().filter(|m| m.open).map(|m| m.id.clone()).collect();
    assert_eq!(open, ["m1"]);
    // The late `after` still finds its own.
    assert_eq!(
        names(&scene.after("s", "m1").changes.iter().map(|change| change.path.clone()).collect::<Vec<_>>()),
        ["a"]
    );
    for (message, part, phase) in
        [(None::<String>, None, Phase::Before), (None, None, Phase::After), (None, Some("p"), Phase::None)]
    {
        let request = SessionTrack { message, part: part.map(str::to_owned), ..track("s", "m", phase) };
        assert_eq!(scene.workspace.track_session(&request).unwrap_err().code(), Code::Usage);
    }
}

#[test]
fn a_session_that_only_steps_name_is_a_session() {
    let scene = Scene::of(&["a", "b"]);
    let origin = |message: &str| Origin {
        session: Some("hook".to_owned()),
        message: Some(message.to_owned()),
        ..Origin::default()
    };
    scene.write("a", "1\n");
    scene.workspace.track_with(&Track { origin: origin("m1"), ..Track::default() }).unwrap();
    let call = scene.workspace.begin(&Begin { origin: origin("m2"), ..Begin::default() }).unwrap().call.id;
    scene.workspace.finish(&Finish { call: call.to_string(), ..Finish::default() }).unwrap();
    scene.write("b", "3\n");
    scene.workspace.track_with(&Track { origin: origin("m3"), ..Track::default() }).unwrap();
    let listed = scene.workspace.sessions(&Sessions::default()).unwrap();
    assert_eq!((listed.len(), listed[0].id.as_str(), listed[0].message_count, listed[0].step_count), (1, "hook", 3, 2));
    let messages: Vec<String> = scene.session("hook").messages.iter().map(|message| message.id.clone()).collect();
    assert_eq!(messages, ["m1", "m2", "m3"], "m2 changed nothing and is known");
    assert!(!scene.workspace.start_session(&NewSession { id: Some("hook".into()), title: None }).unwrap().created);
    assert_eq!(scene.session("hook").session.baseline.unwrap().0, 1);
    scene.back("hook", "m2");
    assert_eq!(scene.texts(&["a", "b"]), ["1", "0"]);
    scene.forth("hook");
    assert_eq!(scene.texts(&["a", "b"]), ["1", "3"]);
}

#[test]
fn a_revert_undoes_the_message_and_everything_later() {
    let scene = three_turns();
    let tree = scene.workspace.track().unwrap().snapshot.tree;
    let reverted = scene.back("s", "m2");
    assert_eq!(scene.texts(&FILES), ["1", "0", "0", "-"]);
    assert!(!scene.root.join("new").exists());
    assert_eq!((reverted.revert.message_id.as_str(), reverted.revert.part_id), ("m2", None));
    assert_eq!(reverted.revert.snapshot, Some(tree));
    let diff = reverted.revert.diff.unwrap();
    assert!(diff.contains("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-3\n+1\n") && diff.contains("+++ b/c"), "{diff}");
    let detail = scene.session("s");
    assert_eq!(detail.messages.iter().map(|m| m.reverted).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!((names(&detail.files), detail.unrevert.possible), (vec!["a".to_owned()], true));
    assert_eq!(detail.session.revert.unwrap().message_id, "m2");
}

#[test]
fn the_bodies_are_spelled_as_in_the_seed() {
    let scene = three_turns();
    let reverted = serde_json::to_value(scene.back("s", "m3")).unwrap();
    let keys: Vec<&String> = reverted["revert"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["messageID", "snapshot", "diff"]);
    let diff = serde_json::to_value(scene.workspace.session_diff(&SessionDiff::new("s")).unwrap()).unwrap();
    let file = diff["diffs"][0].as_object().unwrap();
    for key in ["file", "before", "after", "additions", "deletions"] {
        assert!(file.contains_key(key), "{key}");
    }
}

#[test]
fn unrevert_really_puts_the_files_back_also_after_a_restart() {
    let scene = three_turns();
    scene.chmod("b", 0o755);
    scene.turn("s", "m4", &[("bin", "\u{0}\u{1}")]);
    let disk = scene.disk();
    scene.back("s", "m1");
    assert_eq!(scene.texts(&FILES), ["0", "0", "0", "-"]);
    let restarted = open(&scene.root);
    let unreverted = restarted.unrevert_session(&Unrevert { session: "s".to_owned(), ..Default::default() }).unwrap();
    assert_eq!(scene.disk().differences(&disk), "");
    assert_eq!(unreverted.revert.message_id, "m1");
    assert!(unreverted.revert.diff.unwrap().contains("+++ b/new/b2"));
    assert!(scene.session("s").session.revert.is_none());
    scene.check_chain().unwrap();
}

#[test]
fn repeated_reverts_count_from_the_un_reverted_state_and_one_unrevert_brings_all_back() {
    let scene = three_turns();
    let disk = scene.disk();
    let first = scene.back("s", "m3").revert.snapshot;
    assert_eq!(scene.texts(&FILES), ["1", "2", "0", "2"]);
    assert_eq!(scene.back("s", "m1").revert.snapshot, first, "an unrevert goes back to before the first");
    assert_eq!(scene.texts(&FILES), ["0", "0", "0", "-"]);
    scene.back("s", "m3");
    assert_eq!(scene.texts(&FILES), ["1", "2", "0", "2"], "less far back than now");
    scene.back("s", "m2");
    assert_eq!(scene.texts(&FILES), ["1", "0", "0", "-"]);
    let rows = scene.story().len();
    assert!(!scene.back("s", "m2").applied.changed);
    assert_eq!(scene.story().len(), rows, "it was there already");
    scene.forth("s");
    assert_eq!(scene.disk().differences(&disk), "");
}

#[test]
fn a_revert_from_a_part_keeps_the_parts_before_it() {
    let scene = Scene::of(&["a", "b", "c"]);
    scene.start("s");
    // Two parts at work at once: the first one ends last.
    scene.before("s", "m1/p1");
    scene.before("s", "m1/p2");
    scene.write("b", "2\n");
    let mut second = track("s", "m1/p2", Phase::After);
    second.declared = paths(&["b"]);
    scene.workspace.track_session(&second).unwrap();
    scene.write("a", "1\n");
    scene.after("s", "m1/p1");
    scene.turn("s", "m2", &[("c", "3\n")]);
    let parts: Vec<String> = scene.session("s").messages[0].parts.iter().map(|part| part.id.clone()).collect();
    assert_eq!(parts, ["p1", "p2"]);
    let reverted = scene.back("s", "m1/p2");
    assert_eq!(scene.texts(&["a", "b", "c"]), ["1", "0", "0"]);
    assert_eq!(reverted.revert.part_id.as_deref(), Some("p2"));
    let message = &scene.session("s").messages[0];
    assert_eq!((message.reverted, message.parts[0].reverted, message.parts[1].reverted), (false, false, true));
    scene.back("s", "m1");
    assert_eq!(scene.texts(&["a", "b", "c"]), ["0", "0", "0"]);
    scene.forth("s");
    assert_eq!(scene.texts(&["a", "b", "c"]), ["1", "2", "3"]);
    let error = scene.try_back("s", "m1/p9").unwrap_err();
    assert_eq!(error.code(), Code::MessageNotFound);
    assert!(error.message().contains("its parts are p1, p2"), "{error}");
}

#[test]
fn a_turn_that_changed_nothing_reverts_to_nothing() {
    let scene = Scene::of(&["a", "b"]);
    scene.start("s");
    scene.turn("s", "m1", &[("a", "1\n")]);
    let talk = scene.turn("s", "talk", &[]);
    assert!(!talk.changed && talk.step.is_none() && talk.before_hash == talk.after_hash && talk.after_hash.is_some());
    scene.write("b", "by hand\n");
    let disk = scene.disk();
    // Also in another process.
    let reverted = open(&scene.root).revert_session(&back_to("s", "talk")).unwrap();
    assert_eq!((reverted.applied.changed, reverted.revert.diff.as_deref()), (false, Some("")));
    assert_eq!(scene.disk().differences(&disk), "");
    assert_eq!(scene.session("s").session.revert.unwrap().message_id, "talk");
    scene.forth("s");
    assert_eq!(scene.disk().differences(&disk), "");
    // What came later goes, what came before stays.
    scene.turn("s", "m3", &[("a", "3\n")]);
    scene.back("s", "talk");
    assert_eq!(scene.texts(&["a", "b"]), ["1", "by hand"]);
    // Recorded at once instead of around the work, it is known as well.
    scene.workspace.track_session(&track("s", "quiet", Phase::None)).unwrap();
    assert!(!scene.back("s", "quiet").applied.changed);
    assert_eq!(scene.session("s").session.revert.unwrap().message_id, "talk", "it was before `quiet` already");
    scene.forth("s");
    assert_eq!(scene.texts(&["a", "b"]), ["3", "by hand"]);
}

#[test]
fn a_new_turn_after_a_revert_closes_the_way_back_and_says_so() {
    let scene = three_turns();
    assert!(scene.try_forth("s").unwrap_err().message().contains("never reverted"));
    let revert = scene.back("s", "m2").applied.snapshot.unwrap().sequence_number;
    let before = scene.before("s", "m4");
    assert!(before.warnings.iter().any(|warning| warning.contains("closes the way back")), "{:?}", before.warnings);
    assert!(scene.session("s").unrevert.possible, "it has not done anything yet");
    scene.write("b", "4\n");
    let after = scene.after("s", "m4");
    assert_eq!(after.closed_revert, Some(revert));
    assert!(
        after.warnings.iter().any(|warning| warning.contains("can no longer be unreverted")),
        "{:?}",
        after.warnings
    );
    let error = scene.try_forth("s").unwrap_err();
    assert_eq!(error.code(), Code::NothingToUnrevert);
    let new = after.step.unwrap().sequence_number;
    assert!(error.message().contains(&format!("a new turn of it at {new} closed the way back")), "{error}");
    assert_eq!(error.details()["reason"], "closed");
    assert_eq!(scene.session("s").unrevert.reason.unwrap(), error.message().split_once(": ").unwrap().1);
    // A turn that changed nothing closes nothing.
    let other = three_turns();
    other.back("s", "m2");
    other.turn("s", "talk", &[]);
    other.forth("s");
    assert_eq!(other.texts(&FILES), ["3", "2", "-", "2"]);
    // From there it goes on: only what is in effect is taken back.
    scene.back("s", "m1");
    assert_eq!(scene.texts(&FILES), ["0", "0", "0", "-"]);
    scene.forth("s");
    assert_eq!(scene.texts(&FILES), ["1", "4", "0", "-"]);
    let error = scene.try_forth("s").unwrap_err();
    assert!(error.message().contains("taken back already"), "{error}");
}

#[test]
fn reverting_one_session_never_touches_anothers_or_the_users_work() {
    let scene = Scene::empty();
    scene.write("shared", lines(&[]));
    scene.write("mine", "0\n");
    scene.start("a");
    scene.start("b");
    scene.before("a", "a1");
    scene.write("shared", lines(&[(2, "by a")]));
    scene.after("a", "a1");
    scene.turn("b", "b1", &[("shared", &lines(&[(2, "by a"), (6, "by b")])), ("b.txt", "b\n")]);
    scene.write("shared", lines(&[(2, "by a"), (6, "by b"), (10, "by hand")]));
    scene.write("mine", "by hand\n");
    scene.turn("a", "a2", &[("a.txt", "a\n")]);
    scene.write("later", "by hand, unrecorded\n");
    scene.back("a", "a1");
    assert_eq!(scene.text("shared") + "\n", lines(&[(6, "by b"), (10, "by hand")]));
    assert_eq!(scene.texts(&["mine", "b.txt", "a.txt", "later"]), ["by hand", "b", "-", "by hand, unrecorded"]);
    // What is written meanwhile stays when it comes back.
    scene.turn("b", "b2", &[("b.txt", "b2\n")]);
    scene.back("b", "b1");
    assert_eq!(scene.text("shared") + "\n", lines(&[(10, "by hand")]));
    scene.forth("a");
    assert_eq!(scene.text("shared") + "\n", lines(&[(2, "by a"), (10, "by hand")]));
    scene.forth("b");
    assert_eq!(scene.text("shared") + "\n", lines(&[(2, "by a"), (6, "by b"), (10, "by hand")]));
    assert_eq!(scene.texts(&["mine", "b.txt", "a.txt"]), ["by hand", "b2", "a"]);
}

#[test]
fn an_overlap_is_refused_with_nothing_changed_both_ways() {
    let scene = Scene::empty();
    scene.write("shared", lines(&[]));
    scene.start("a");
    scene.turn("a", "a1", &[("shared", &lines(&[(2, "by a")])), ("other", "a\n")]);
    scene.write("shared", lines(&[(2, "by hand")]));
    let disk = scene.disk();
    let error = scene.try_back("a", "a1").unwrap_err();
    assert_eq!((error.code(), error.details()["conflicts"][0]["path"].as_str()), (Code::Conflict, Some("shared")));
    assert_eq!(scene.disk().differences(&disk), "");
    let skip = RevertSession { on_conflict: backsight::report::OnConflict::Skip, ..back_to("a", "a1") };
    let reverted = scene.workspace.revert_session(&skip).unwrap();
    assert_eq!((reverted.applied.skipped.len(), scene.text("other")), (1, "-".to_owned()));
    // Forth again: the skipped file is as it was all the time.
    scene.write("other", "by hand\n");
    let error = scene.try_forth("a").unwrap_err();
    assert_eq!(error.code(), Code::Conflict);
    assert!(scene.session("a").unrevert.possible, "a refusal takes nothing away");
    scene.remove("other");
    scene.forth("a");
    assert_eq!(scene.disk().differences(&disk), "");
}

#[test]
fn the_diff_of_a_session_is_its_own_work() {
    let scene = Scene::empty();
    scene.write("shared", lines(&[]));
    scene.start("a");
    scene.start("b");
    scene.turn("a", "a1", &[("shared", &lines(&[(2, "a1")])), ("a.txt", "1\n")]);
    scene.turn("b", "b1", &[("shared", &lines(&[(2, "a1"), (6, "b1")])), ("b.txt", "1\n")]);
    scene.write("shared", lines(&[(2, "a1"), (6, "b1"), (9, "by hand")]));
    scene.turn(
        "a",
        "a2",
        &[("shared", &lines(&[(2, "a1"), (6, "b1"), (9, "by hand"), (12, "a2")])), ("a.txt", "1\n2\n")],
    );
    assert_eq!(scene.changed_by("a", None), ["a.txt +2 -0", "shared +2 -2"]);
    assert_eq!(scene.changed_by("b", None), ["b.txt +1 -0", "shared +1 -1"]);
    assert_eq!(scene.changed_by("a", Some("a2")), ["a.txt +1 -0", "shared +1 -1"]);
    let diff = scene.workspace.session_diff(&SessionDiff::new("a")).unwrap();
    let shared = diff.diffs.iter().find(|diff| diff.file == path("shared")).unwrap();
    assert_eq!((shared.before.clone(), shared.after.clone()), (lines(&[]), lines(&[(2, "a1"), (12, "a2")])));
    assert!(diff.mixed.is_empty());
    // After a revert it is what is left.
    scene.back("a", "a2");
    assert_eq!(scene.changed_by("a", None), ["a.txt +1 -0", "shared +1 -1"]);
    assert!(scene.changed_by("a", Some("a2")).is_empty());
    scene.back("a", "a1");
    assert!(scene.changed_by("a", None).is_empty());
    scene.forth("a");
    assert_eq!(scene.changed_by("a", None), ["a.txt +2 -0", "shared +2 -2"]);
    // Where another one wrote the same lines in between they cannot be told apart, and that is said.
    scene.turn("b", "b2", &[("a.txt", "b\n")]);
    scene.turn("a", "a3", &[("a.txt", "b and a\n")]);
    let diff = scene.workspace.session_diff(&SessionDiff::new("a")).unwrap();
    assert_eq!(names(&diff.mixed), ["a.txt"]);
    assert_eq!(diff.diffs[0].after, "b and a\n");
    let error = scene.workspace.session_diff(&SessionDiff { message: Some("m9".into()), ..SessionDiff::new("a") });
    assert_eq!(error.unwrap_err().code(), Code::MessageNotFound);
    assert_eq!(scene.workspace.session_diff(&SessionDiff::new("x")).unwrap_err().code(), Code::SessionNotFound);
}

#[test]
fn plain_undo_redo_and_revert_of_a_session_revert_are_the_sessions_too() {
    let scene = three_turns();
    let disk = scene.disk();
    let revert = scene.back("s", "m2").applied.snapshot.unwrap().sequence_number;
    scene.workspace.undo(&Default::default()).unwrap();
    assert_eq!(scene.disk().differences(&disk), "");
    assert!(scene.session("s").session.revert.is_none());
    let error = scene.try_forth("s").unwrap_err();
    assert!(error.message().contains(&format!("its revert {revert} was taken back already")), "{error}");
    scene.workspace.redo(&Default::default()).unwrap();
    assert_eq!(scene.session("s").session.revert.unwrap().message_id, "m2");
    scene.forth("s");
    assert_eq!(scene.disk().differences(&disk), "");
    // An undo of the unrevert: it is reverted again, and can come back again.
    scene.workspace.undo(&Default::default()).unwrap();
    assert_eq!(scene.texts(&FILES), ["1", "0", "0", "-"]);
    scene.forth("s");
    assert_eq!(scene.disk().differences(&disk), "");
    let second = scene.back("s", "m3").applied.snapshot.unwrap().sequence_number;
    scene.revert(&second.to_string()).unwrap();
    assert_eq!(scene.disk().differences(&disk), "");
    assert_eq!(scene.try_forth("s").unwrap_err().code(), Code::NothingToUnrevert);
}

#[test]
fn a_step_that_somebody_undid_is_not_undone_again() {
    let scene = Scene::of(&["a", "b"]);
    scene.start("s");
    scene.turn("s", "m1", &[("a", "1\n")]);
    scene.turn("s", "m2", &[("b", "2\n")]);
    scene.workspace.undo(&Default::default()).unwrap();
    // The user does by hand what the session had done.
    scene.write("b", "2\n");
    scene.back("s", "m1");
    assert_eq!(scene.texts(&["a", "b"]), ["0", "2"], "b is the user's now");
}

#[test]
fn a_restore_by_somebody_else_leaves_the_way_back_open() {
    let scene = three_turns();
    let disk = scene.disk();
    let reverted = scene.back("s", "m1");
    scene.workspace.restore(&reverted.revert.snapshot.unwrap().to_string()).unwrap();
    assert_eq!(scene.disk().differences(&disk), "");
    assert!(!scene.forth("s").applied.changed, "the files are there already");
    assert!(scene.session("s").session.revert.is_none());
    assert_eq!(scene.disk().differences(&disk), "");
}

#[test]
fn an_unfinished_turn_is_taken_back_too() {
    let scene = Scene::of(&["a", "user"]);
    scene.start("s");
    scene.turn("s", "m1", &[("a", "1\n")]);
    scene.write("user", "by hand\n");
    scene.before("s", "m2");
    scene.write("half", "done\n");
    let dry = scene.workspace.revert_session(&RevertSession { dry_run: true, ..back_to("s", "m2") }).unwrap();
    assert!(
        dry.applied.warnings[0].contains("message `m2` of session `s` has not finished"),
        "{:?}",
        dry.applied.warnings
    );
    assert!(scene.root.join("half").exists() && scene.workspace.open_calls().unwrap().len() == 1);
    let reverted = scene.back("s", "m2");
    assert_eq!(reverted.finished_calls.len(), 1);
    assert_eq!(scene.texts(&["a", "user", "half"]), ["1", "by hand", "-"]);
    scene.forth("s");
    assert_eq!(scene.texts(&["a", "user", "half"]), ["1", "by hand", "done"]);
}

#[test]
fn a_dry_run_says_what_would_happen() {
    let scene = three_turns();
    let (disk, rows) = (scene.disk(), scene.story());
    let dry = scene.workspace.revert_session(&RevertSession { dry_run: true, ..back_to("s", "m2") }).unwrap();
    assert!(dry.applied.dry_run && dry.applied.changed && dry.applied.snapshot.is_none());
    assert_eq!((scene.disk().differences(&disk), scene.story()), (String::new(), rows));
    let done = scene.back("s", "m2");
    assert_eq!(done.revert.diff, dry.revert.diff);
    let dry = Unrevert { session: "s".to_owned(), dry_run: true, ..Default::default() };
    let dry = scene.workspace.unrevert_session(&dry).unwrap();
    assert!(scene.session("s").unrevert.possible);
    assert_eq!(scene.forth("s").revert.diff, dry.revert.diff);
}

#[test]
fn what_does_not_exist_is_not_found() {
    let scene = Scene::empty();
    for error in [
        scene.workspace.session("x").map(drop).unwrap_err(),
        scene.try_back("x", "m").map(drop).unwrap_err(),
        scene.try_forth("x").map(drop).unwrap_err(),
        scene.workspace.track_session(&track("x", "m", Phase::None)).map(drop).unwrap_err(),
    ] {
        assert_eq!(error.code(), Code::SessionNotFound, "{error}");
    }
    assert!(!scene.root.join(".backsight").exists(), "asking makes no store");
    assert!(scene.workspace.sessions(&Sessions::default()).unwrap().is_empty());
    scene.start("s");
    let error = scene.try_back("s", "m1").unwrap_err();
    assert_eq!(error.code(), Code::MessageNotFound);
    assert!(error.message().contains("it has none yet"), "{error}");
    assert!(scene.workspace.session("t").unwrap_err().message().contains("the sessions are s"));
}

#[test]
fn the_way_back_outlives_retention() {
    let scene = three_turns();
    let disk = scene.disk();
    scene.back("s", "m2");
    scene.write("user", "1\n");
    scene.workspace.track().unwrap();
    scene.workspace.gc(&Collect { keep_count: Some(1), ..Collect::default() }).unwrap();
    scene.forth("s");
    scene.write("user", "0\n");
    assert_eq!(scene.disk().differences(&disk), "");
}

#[test]
fn a_sessions_reverts_are_in_its_log_and_not_in_its_messages() {
    let scene = three_turns();
    scene.back("s", "m2");
    scene.forth("s");
    let log = scene.workspace.log(&Log { session: Some("s".to_owned()), ..Log::default() }).unwrap();
    let descriptions: Vec<&str> = log.snapshots().take(2).map(|row| row.description.as_str()).collect();
    assert_eq!(descriptions, ["unrevert session s: take back #5", "revert session s to before m2"]);
    assert_eq!(scene.workspace.show("message:m2").unwrap().sequence_number.0, 3);
    assert_eq!(scene.session("s").session.step_count, 3);
    // All of the session at once still means all of it.
    let all = Revert { references: vec!["session:s".to_owned()], ..Revert::default() };
    scene.workspace.revert_steps(&all).unwrap();
    assert_eq!(scene.texts(&FILES), ["0", "0", "0", "-"]);
    scene.check_chain().unwrap();
}

#[test]
fn a_store_from_before_sessions_is_brought_forward_with_its_sessions() {
    let scene = Scene::of(&["a"]);
    let origin = Origin { session: Some("old".into()), message: Some("m1".into()), ..Origin::default() };
    scene.write("a", "1\n");
    scene.workspace.track_with(&Track { origin: origin.clone(), ..Track::default() }).unwrap();
    scene
        .workspace
        .begin(&Begin { origin: Origin { message: Some("m2".into()), ..origin }, ..Begin::default() })
        .unwrap();
    // Format 2 was the same without three of the tables.
    let database = rusqlite::Connection::open(scene.root.join(".backsight/store/timeline.db")).unwrap();
    database
        .execute_batch("DROP TABLE sessions; DROP TABLE messages; DROP TABLE kept; PRAGMA user_version = 2;")
        .unwrap();
    drop(database);
    let workspace = open(&scene.root);
    let listed = workspace.sessions(&Sessions::default()).unwrap();
    assert_eq!((listed[0].id.as_str(), listed[0].open_calls.len()), ("old", 1));
    scene.write("a", "2\n");
    workspace.track_session(&track("old", "m2", Phase::After)).unwrap();
    workspace.revert_session(&back_to("old", "m2")).unwrap();
    assert_eq!(scene.text("a"), "1");
    assert!(workspace.validate_workspace_sync().unwrap().in_sync);
}

#[test]
fn a_revert_that_dies_anywhere_leaves_session_and_files_agreeing() {
    let scene = three_turns();
    let action = |workspace: &Workspace| workspace.revert_session(&back_to("s", "m2")).map(drop);
    let scenario = Scenario::new(&scene.lab, scene.root.clone(), Kind::Revert, &action);
    let mut findings = Findings::default();
    for n in 0..=scenario.operations {
        let copy = scenario.stopped_at(n);
        let outcome = scenario.check(&copy).and_then(|side| {
            let reverted = open(&copy).session("s").map_err(|error| error.to_string())?.session.revert;
            ensure(reverted.is_some() == (side == Side::After), || format!("{side:?}, and yet {reverted:?}"))?;
            if side == Side::After {
                let back = Unrevert { session: "s".to_owned(), ..Default::default() };
                open(&copy).unrevert_session(&back).map_err(|error| error.to_string())?;
                none("unreverted, it leads elsewhere", scenario.before.differences(&Picture::of(&copy)))?;
            }
            Ok(())
        });
        findings.note(n, outcome);
    }
    findings.report();
}

#[test]
fn a_revert_in_the_middle_of_anothers_turn_leaves_it_its_work() {
    let scene = Scene::of(&["a", "b"]);
    scene.start("one");
    scene.start("two");
    scene.turn("one", "m1", &[("a", "one\n")]);
    scene.before("two", "t1");
    scene.write("b", "two\n");
    scene.back("one", "m1");
    scene.write("more", "two\n");
    let after = scene.after("two", "t1");
    assert_eq!(names(&after.changes.iter().map(|change| change.path.clone()).collect::<Vec<_>>()), ["b", "more"]);
    assert_eq!(scene.texts(&["a", "b", "more"]), ["0", "two", "two"]);
    scene.forth("one");
    scene.back("two", "t1");
    assert_eq!(scene.texts(&["a", "b", "more"]), ["one", "0", "-"]);
    scene.check_chain().unwrap();
}

#[test]
fn a_revert_of_a_file_that_another_turn_is_writing_keeps_its_bytes_and_says_whose_they_count_as() {
    let scene = Scene::empty();
    scene.write("shared", lines(&[]));
    scene.start("one");
    scene.start("two");
    scene.turn("one", "m1", &[("shared", &lines(&[(2, "one")]))]);
    scene.before("two", "t1");
    scene.write("shared", lines(&[(2, "one"), (8, "two")]));
    let warnings = scene.back("one", "m1").applied.warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].starts_with("message `t1` of session `two` is at work on `shared`"), "{warnings:?}");
    assert_eq!(scene.text("shared") + "\n", lines(&[(8, "two")]));
}

/// Hooks are processes of their own, and a client starts several at once.
#[test]
fn what_hooks_of_one_session_note_at_once_is_all_kept() {
    let lab = crate::lab::Lab::new();
    let root = lab.empty();
    let open = || backsight::Workspace::open_with(&root, crate::lab::settings(backsight::Disk::new())).unwrap();
    open().track().unwrap();
    for round in 0..30 {
        let session = format!("s{round}");
        let (session, start) = (&session, &std::sync::Barrier::new(6));
        std::thread::scope(|scope| {
            for at in 0..6 {
                let workspace = open();
                scope.spawn(move || {
                    let prompt = (at == 0).then_some("the first words");
                    workspace.conversation(session).unwrap();
                    start.wait();
                    let client = if at % 2 == 0 { "codex" } else { "not a name\n" };
                    workspace.note_conversation(session, client, prompt).unwrap();
                });
            }
        });
        let known = open().conversation(session).unwrap();
        assert_eq!(known.title.as_deref(), Some("the first words"), "round {round}");
        assert_eq!(known.client.as_deref(), Some("codex"), "round {round}");
    }
}

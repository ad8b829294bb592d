//! Taking back hunks and lines: the bytes that come out, what later edits do to them, the token, the row, and undo.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use backsight::report::{Applied, HunkLines, OnConflict};
use backsight::request::{Revert, Undo};
use backsight::{Code, Error, HunkChoice, HunkId, PlanToken};
use proptest::prelude::*;

use crate::scene::Scene;

/// A scene whose second step turned a file into another.
fn stepped(before: &str, after: &str) -> Scene {
    let scene = Scene::of(&["other"]);
    scene.write("file", before);
    scene.workspace.track().unwrap();
    scene.write("file", after);
    scene.workspace.track().unwrap();
    scene
}

fn ids(scene: &Scene, reference: &str) -> Vec<HunkId> {
    let files = scene.workspace.step_hunks(reference, &[], 3).unwrap().files;
    files.iter().flat_map(|file| &file.hunks).flat_map(|passage| &passage.hunks).map(|hunk| hunk.id).collect()
}

fn choices(names: &[impl ToString]) -> Vec<HunkChoice> {
    names.iter().map(|name| name.to_string().parse().unwrap()).collect()
}

fn request(reference: &str, names: &[impl ToString]) -> Revert {
    Revert { references: vec![reference.to_owned()], hunks: choices(names), ..Revert::default() }
}

fn revert(scene: &Scene, reference: &str, names: &[impl ToString]) -> Result<Applied, Error> {
    scene.workspace.revert_steps(&request(reference, names))
}

fn bytes(scene: &Scene, file: &str) -> String {
    fs::read_to_string(scene.root.join(file)).unwrap()
}

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
const AFTER: &str = "ONE\ntwo\nthree\nfour\nFIVE\n5b\nsix\nseven\neight\nnine\n";

#[test]
fn a_hunk_is_taken_back_and_the_others_stay() {
    let scene = stepped(BEFORE, AFTER);
    let all = ids(&scene, "@");
    assert_eq!(all.len(), 3);
    let applied = revert(&scene, "@", &all[1..2]).unwrap();
    assert_eq!(bytes(&scene, "file"), AFTER.replace("FIVE\n5b\n", "five\n"));
    assert_eq!((applied.reverted.len(), applied.merged.len()), (1, 0));
    let row = applied.snapshot.unwrap();
    assert_eq!(row.description, "revert #3: 1 hunk of file");
    assert!(applied.safety.is_some());
    scene.workspace.undo(&Undo::default()).unwrap();
    assert_eq!(bytes(&scene, "file"), AFTER);
}

#[test]
fn names_do_not_depend_on_what_is_shown_around() {
    let scene = stepped(BEFORE, AFTER);
    let shown = |context| -> Vec<(HunkId, Vec<String>)> {
        let files = scene.workspace.step_hunks("@", &[], context).unwrap().files;
        let lines = |passage: &HunkLines| {
            let of = |hunk: &backsight::report::HunkPlace| {
                let lines = &passage.lines[hunk.at..hunk.at + hunk.lines];
                (hunk.id, lines.iter().map(|line| format!("{}{}", line.side, line.text)).collect())
            };
            passage.hunks.iter().map(of).collect::<Vec<_>>()
        };
        files.iter().flat_map(|file| &file.hunks).flat_map(lines).collect()
    };
    let usual = shown(3);
    assert_eq!(usual[1].1, ["-five", "+FIVE", "+5b"]);
    for context in [0, 1, 2, 100] {
        assert_eq!(shown(context), usual, "{context}");
    }
    // The same lines at two places are two hunks.
    let twice = stepped("a\nx\nb\nx\nc\n", "a\ny\nb\ny\nc\n");
    let [first, second] = ids(&twice, "@").try_into().unwrap();
    assert_ne!(first, second);
    revert(&twice, "@", &[second]).unwrap();
    assert_eq!(bytes(&twice, "file"), "a\ny\nb\nx\nc\n");
}

#[test]
fn lines_of_a_hunk_go_back_where_they_stood() {
    let scene = stepped("a\n1\n2\n3\nb\n", "a\none\ntwo\nthree\nb\n");
    let [hunk] = ids(&scene, "@").try_into().unwrap();
    revert(&scene, "@", &[format!("{hunk}:2,5")]).unwrap();
    assert_eq!(bytes(&scene, "file"), "a\none\n2\nthree\nb\n");
    let error = revert(&scene, "@~2", &[format!("{hunk}:2")]).unwrap_err();
    assert_eq!(error.code(), Code::RefNotFound);
    for wrong in ["0", "7", "3-2", "2-9"] {
        assert_eq!(revert(&scene, "3", &[format!("{hunk}:{wrong}")]).unwrap_err().code(), Code::Usage, "{wrong}");
    }
}

#[test]
fn later_edits_stay_and_overlaps_are_refused() {
    let scene = stepped(BEFORE, AFTER);
    let [first, middle, last] = ids(&scene, "@").try_into().unwrap();
    scene.write("file", AFTER.replace("seven", "7").replace("ONE\n", "mine\n"));
    let applied = revert(&scene, "@", &[middle]).unwrap();
    assert_eq!((applied.reverted.len(), applied.merged.len()), (0, 1));
    let merged = AFTER.replace("seven", "7").replace("ONE\n", "mine\n").replace("FIVE\n5b\n", "five\n");
    assert_eq!(bytes(&scene, "file"), merged);
    let error = revert(&scene, "3", &[first]).unwrap_err();
    assert_eq!((error.code(), bytes(&scene, "file")), (Code::Conflict, merged.clone()));
    let skip = Revert { on_conflict: OnConflict::Skip, ..request("3", &[first]) };
    assert_eq!(scene.workspace.revert_steps(&skip).unwrap().skipped.len(), 1);
    let merge = Revert { on_conflict: OnConflict::Merge, ..request("3", &[first, last]) };
    assert_eq!(scene.workspace.revert_steps(&merge).unwrap().conflicts.len(), 1);
    let marked = bytes(&scene, "file");
    assert!(marked.contains("<<<<<<< now\nmine\n=======\none\n>>>>>>> before #3\n"), "{marked}");
    assert!(marked.ends_with("nine\nten\n"), "{marked}");
}

#[test]
fn a_new_file_loses_lines_or_goes_and_a_deleted_one_comes_back() {
    let scene = Scene::of(&["gone"]);
    scene.write("gone", "a\nb\nc\n");
    scene.chmod("gone", 0o640);
    scene.workspace.track().unwrap();
    scene.remove("gone");
    scene.write("new", "1\n2\n3\n");
    scene.workspace.track().unwrap();
    let shown = scene.workspace.step_hunks("@", &[], 3).unwrap();
    let [gone, new] = [0, 1].map(|file| shown.files[file].hunks[0].hunks[0].id);
    revert(&scene, "3", &[format!("{gone}:1,3"), format!("{new}:2")]).unwrap();
    assert_eq!((bytes(&scene, "gone"), bytes(&scene, "new")), ("a\nc\n".to_owned(), "1\n3\n".to_owned()));
    let mode = fs::metadata(scene.root.join("gone")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    scene.workspace.undo(&Undo::default()).unwrap();
    assert_eq!((scene.text("gone"), scene.text("new")), ("-".to_owned(), "1\n2\n3".to_owned()));
    revert(&scene, "3", &[gone, new]).unwrap();
    assert_eq!((bytes(&scene, "gone"), scene.text("new")), ("a\nb\nc\n".to_owned(), "-".to_owned()));
}

#[test]
fn a_moved_file_keeps_its_name() {
    let scene = stepped(BEFORE, BEFORE);
    scene.remove("file");
    scene.write("moved", BEFORE.replace("two", "TWO"));
    scene.workspace.track().unwrap();
    let shown = scene.workspace.step_hunks("@", &[], 3).unwrap();
    assert_eq!(shown.files[0].from_file.as_ref().unwrap().to_string(), "file");
    revert(&scene, "@", &ids(&scene, "@")).unwrap();
    assert_eq!((scene.text("file"), bytes(&scene, "moved")), ("-".to_owned(), BEFORE.to_owned()));
}

#[test]
fn the_plan_that_was_shown_is_the_plan_that_is_done() {
    let scene = stepped(BEFORE, AFTER);
    let [first, middle, _] = ids(&scene, "@").try_into().unwrap();
    let go = |hunk: HunkId, plan: Option<PlanToken>, dry_run| {
        scene.workspace.revert_steps(&Revert { plan, dry_run, ..request("3", &[hunk]) })
    };
    let plan = go(first, None, true).unwrap().plan;
    assert_eq!(bytes(&scene, "file"), AFTER);
    assert_eq!(go(middle, plan.clone(), false).unwrap_err().code(), Code::StateMismatch);
    scene.write("file", AFTER.replace("seven", "7"));
    let error = go(first, plan, false).unwrap_err();
    assert!(error.message().contains("`file` is not as it was"), "{error}");
    let plan = go(first, None, true).unwrap().plan;
    go(first, plan, false).unwrap();
    assert_eq!(bytes(&scene, "file"), AFTER.replace("seven", "7").replace("ONE", "one"));
}

#[test]
fn a_range_is_taken_back_by_hunk_by_file_or_whole_by_any_writer() {
    let scene = stepped(BEFORE, AFTER);
    scene.write("file", AFTER.replace("nine", "9"));
    scene.write("other", "mine\n");
    let before = scene.disk();
    let shown = scene.workspace.range_hunks("2", None, 3).unwrap();
    let all: Vec<HunkId> = shown.files[0].hunks.iter().flat_map(|passage| &passage.hunks).map(|hunk| hunk.id).collect();
    revert(&scene, "2..now", &all[2..]).unwrap();
    assert_eq!(bytes(&scene, "file"), AFTER.replace("nine\n", "nine\nten\n"));
    scene.workspace.undo(&Undo::default()).unwrap();
    assert_eq!(scene.disk(), before);
    let file = Revert { references: vec!["2..3".into()], paths: vec!["file".parse().unwrap()], ..Revert::default() };
    let error = scene.workspace.revert_steps(&file).unwrap_err();
    assert_eq!(error.code(), Code::Conflict);
    let file = Revert { references: vec!["2..now".into()], ..file };
    scene.workspace.revert_steps(&file).unwrap();
    assert_eq!((bytes(&scene, "file"), scene.text("other")), (BEFORE.to_owned(), "mine".to_owned()));
    revert(&scene, "2..now", &[] as &[HunkId]).unwrap();
    assert_eq!(scene.text("other"), "0");
    scene.workspace.undo(&Undo { count: 2, ..Undo::default() }).unwrap();
    assert_eq!(scene.disk(), before);
}

#[test]
fn a_hunk_that_is_not_there_or_there_twice_changes_nothing() {
    let scene = stepped("a\n", "b\n");
    let hunk = ids(&scene, "@")[0];
    let unknown = revert(&scene, "@", &["h0000000000"]).unwrap_err();
    assert_eq!(unknown.code(), Code::RefNotFound);
    let list = backsight_core::NextStep::ListHunks { reference: Some("@".to_owned()) };
    assert!(unknown.advises(&list), "{unknown:?}");
    scene.write("file", "a\n");
    scene.workspace.track().unwrap();
    scene.write("file", "b\n");
    scene.workspace.track().unwrap();
    let both = Revert { references: vec!["3".into(), "5".into()], hunks: choices(&[hunk]), ..Revert::default() };
    assert_eq!(scene.workspace.revert_steps(&both).unwrap_err().code(), Code::RefAmbiguous);
    assert_eq!(bytes(&scene, "file"), "b\n");
}

/// Few different lines, so that many are alike, and a last one that may lack its end.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![4 => "[a-d]", 1 => Just(String::new()), 1 => "[a-b]\r"];
    (prop::collection::vec(line, 0..24), any::<bool>()).prop_map(|(lines, ends)| {
        let text = lines.join("\n");
        if ends && !text.is_empty() { text + "\n" } else { text }
    })
}

/// The file with some hunks undone, read off the diff that a person sees, with every line of the file in it.
fn undone(scene: &Scene, chosen: &[HunkId]) -> String {
    let shown = scene.workspace.step_hunks("@", &[], 100_000).unwrap();
    let mut text = String::new();
    for passage in shown.files.iter().flat_map(|file| &file.hunks) {
        for (at, line) in passage.lines.iter().enumerate() {
            let hunk = passage.hunks.iter().find(|hunk| (hunk.at..hunk.at + hunk.lines).contains(&at));
            let is_chosen = hunk.is_some_and(|hunk| chosen.contains(&hunk.id));
            if line.side == ' ' || (line.side == '-') == is_chosen {
                text += &line.text;
                text += if line.no_newline { "" } else { "\n" };
            }
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any subset gives exactly the file with those hunks undone; all of them are the file taken back.
    #[test]
    fn any_subset_of_hunks_gives_the_file_with_those_undone(
        before in text(), after in text(), picks in prop::collection::vec(any::<bool>(), 24),
    ) {
        prop_assume!(before != after);
        let scene = stepped(&before, &after);
        let all = ids(&scene, "@");
        let chosen: Vec<HunkId> = all.iter().zip(&picks).filter(|(_, pick)| **pick).map(|(id, _)| *id).collect();
        if !chosen.is_empty() {
            // What a page shows of a line has no carriage return.
            let expected = undone(&scene, &chosen);
            revert(&scene, "@", &chosen).unwrap();
            let found = fs::read_to_string(scene.root.join("file")).unwrap_or_default();
            prop_assert_eq!(found.replace('\r', ""), expected.replace('\r', ""));
            scene.workspace.undo(&Undo::default()).unwrap();
        }
        prop_assert_eq!(bytes(&scene, "file"), after);
        revert(&scene, "3", &all).unwrap();
        let by_hunks = scene.disk();
        scene.workspace.undo(&Undo::default()).unwrap();
        scene.revert("3").unwrap();
        prop_assert_eq!(by_hunks, scene.disk());
        prop_assert_eq!(bytes(&scene, "file"), before);
    }
}

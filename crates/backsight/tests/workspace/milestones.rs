//! Milestones are gapless: what may become one, what is refused and with which words, and what a milestone is good for.

use backsight::report::{Milestone, Origin, Row};
use backsight::request::{Collect, Log, NewMilestone, Note, Order, Restore};
use backsight::{Code, Error};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::scene::{Scene, names};

fn titled(title: &str) -> NewMilestone {
    NewMilestone { title: title.to_owned(), ..NewMilestone::default() }
}

fn up_to(scene: &Scene, title: &str, end: Option<&str>) -> Result<Milestone, Error> {
    scene.workspace.create_milestone_by_range(&titled(title), end)
}

fn of(scene: &Scene, title: &str, snapshots: &[&str]) -> Result<Milestone, Error> {
    let snapshots: Vec<String> = snapshots.iter().map(|text| (*text).to_owned()).collect();
    scene.workspace.create_milestone(&titled(title), &snapshots)
}

fn tracked(scene: &Scene, file: &str, text: &str) {
    scene.write(file, text);
    assert!(scene.workspace.track().unwrap().created);
}

/// Five snapshots of `a`, of which 2 to 5 change it.
fn five() -> Scene {
    let scene = Scene::of(&["a"]);
    for number in 2..=5 {
        tracked(&scene, "a", &format!("{number}\n"));
    }
    scene
}

#[test]
fn ranges_follow_each_other_and_a_milestone_says_what_is_in_it() {
    let scene = five();
    let first = up_to(&scene, "First", Some("3")).unwrap();
    assert_eq!((first.start_sequence_number.0, first.end_sequence_number.0, first.sequence_number.0), (1, 3, 6));
    assert_eq!(first.previous_milestone_id, None);
    let second = up_to(&scene, "Second", None).unwrap();
    assert_eq!((second.start_sequence_number.0, second.end_sequence_number.0), (4, 5));
    assert_eq!(second.previous_milestone_id, Some(first.id));
    assert_eq!((second.summary.total_operations, second.summary.affected_files), (2, 1));
    assert_eq!((second.summary.lines_added, second.summary.lines_removed), (Some(1), Some(1)));
    let detail = scene.workspace.milestone("Second", true).unwrap();
    assert_eq!(names(&detail.affected_files), ["a"]);
    let diff = detail.combined_diff.unwrap();
    assert!(diff.contains("-3\n+5\n"), "{diff}");
    assert_eq!(up_to(&scene, "Third", None).unwrap_err().code(), Code::InvalidRange);
}

#[test]
fn each_refusal_explains_itself_and_adds_no_row() {
    let scene = five();
    up_to(&scene, "First", Some("2")).unwrap();
    let rows = scene.story();
    let refused = |snapshots: &[&str]| of(&scene, "No", snapshots).unwrap_err();
    let hole = refused(&["3", "5"]);
    assert_eq!(hole.code(), Code::SequenceDiscontinuity);
    assert!(hole.message().contains("missing #4 between #3 and #5"), "{hole}");
    assert_eq!(refused(&["4", "5"]).code(), Code::MilestoneGap);
    assert_eq!(refused(&["2", "3"]).code(), Code::MilestoneOverlap);
    assert_eq!(refused(&[]).code(), Code::InvalidRange);
    assert_eq!(refused(&["3", "99"]).code(), Code::RefNotFound);
    assert_eq!(up_to(&scene, "No", Some("1")).unwrap_err().code(), Code::InvalidRange);
    for title in ["", "  ", "two\nlines"] {
        assert_eq!(up_to(&scene, title, None).unwrap_err().code(), Code::Usage);
    }
    assert_eq!(scene.story(), rows);
    of(&scene, "Any order", &["5", "3", "4", "3"]).unwrap();
    scene.check_chain().unwrap();
}

#[test]
fn a_milestone_is_a_place_to_go_to_and_a_step_to_take_back() {
    let scene = five();
    up_to(&scene, "First", Some("3")).unwrap();
    tracked(&scene, "b", "new\n");
    up_to(&scene, "Second", None).unwrap();
    tracked(&scene, "c", "later\n");

    let restore = |reference: &str| Restore { reference: reference.to_owned(), ..Restore::default() };
    scene.workspace.restore_with(&restore("First")).unwrap();
    assert_eq!(["a", "b", "c"].map(|file| scene.text(file)), ["3", "-", "-"]);
    scene.workspace.undo(&Default::default()).unwrap();
    scene.revert("milestone:Second").unwrap();
    assert_eq!(["a", "b", "c"].map(|file| scene.text(file)), ["3", "-", "later"], "what came later stays");
    scene.revert("#9").unwrap();
    assert_eq!(scene.text("c"), "-");
}

#[test]
fn a_title_given_twice_is_ambiguous_and_the_candidates_are_named() {
    let scene = Scene::of(&["a"]);
    let first = up_to(&scene, "Same", None).unwrap();
    tracked(&scene, "a", "1\n");
    let second = up_to(&scene, "Same", None).unwrap();
    let error = scene.workspace.restore("Same").unwrap_err();
    assert_eq!(error.code(), Code::RefAmbiguous);
    for milestone in [&first, &second] {
        assert!(error.message().contains(milestone.id.as_str()), "{error}");
        let found = scene.workspace.milestone(milestone.id.as_str(), false).unwrap();
        assert_eq!(found.milestone.sequence_number, milestone.sequence_number);
    }
    scene.workspace.restore(first.id.as_str()).unwrap();
    assert_eq!(scene.text("a"), "0");
}

#[test]
fn retention_keeps_the_end_of_every_milestone() {
    let scene = five();
    up_to(&scene, "First", Some("2")).unwrap();
    up_to(&scene, "Second", Some("4")).unwrap();
    tracked(&scene, "a", "8\n");
    scene.workspace.gc(&Collect { keep_count: Some(1), ..Collect::default() }).unwrap();
    let held: Vec<u64> = crate::lab::rows(&scene.workspace)
        .iter()
        .filter(|row| row.expired_at.is_none())
        .map(|row| row.sequence_number.0)
        .collect();
    assert_eq!(held, [2, 4, 8]);
    scene.workspace.restore("First").unwrap();
    assert_eq!(scene.text("a"), "2");
    scene.workspace.restore("Second").unwrap();
    assert_eq!(scene.text("a"), "4");
    assert_eq!(crate::lab::damage(&scene.workspace), "");
}

/// Retention removes contents, not rows: the history can still be divided, as far as it is known.
#[test]
fn a_range_whose_first_contents_expired_can_still_become_a_milestone() {
    let scene = five();
    scene.workspace.gc(&Collect { keep_count: Some(1), ..Collect::default() }).unwrap();
    let milestone = up_to(&scene, "Everything", None).unwrap();
    assert_eq!((milestone.start_sequence_number.0, milestone.end_sequence_number.0), (1, 5));
    assert_eq!(milestone.summary.total_operations, 5);
    scene.workspace.milestone("Everything", false).unwrap();
    scene.check_chain().unwrap();
}

#[test]
fn a_milestone_whose_end_expired_long_ago_can_still_be_made() {
    let scene = five();
    scene.workspace.gc(&Collect { keep_count: Some(1), ..Collect::default() }).unwrap();
    let milestone = up_to(&scene, "Early", Some("3")).unwrap();
    assert_eq!(milestone.end_sequence_number.0, 3);
    assert_eq!(scene.workspace.restore("Early").unwrap_err().code(), Code::RefExpired);
}

#[test]
fn a_title_is_not_what_another_reference_looks_like() {
    let scene = Scene::of(&["a"]);
    for title in ["now", "@", "@~2", "#2", "session:x", "milestone:x"] {
        assert_eq!(up_to(&scene, title, None).unwrap_err().code(), Code::Usage, "{title}");
    }
    for title in ["100%", "it's \"so\"", "Phase 1", "99", "beef", "add"] {
        tracked(&scene, "a", &format!("{title}\n"));
        up_to(&scene, title, None).unwrap();
    }
    for title in ["100%", "it's \"so\"", "Phase 1", "99", "beef", "add"] {
        scene.workspace.restore(title).unwrap();
        assert_eq!(scene.text("a"), title);
        assert_eq!(scene.workspace.milestone(&format!("milestone:{title}"), false).unwrap().milestone.title, title);
    }
}

/// The first milestone begins with the first snapshot, which is what was there before anybody did anything.
#[test]
fn the_first_milestone_can_be_reverted() {
    let scene = Scene::of(&["a", "b"]);
    tracked(&scene, "a", "one\n");
    tracked(&scene, "a", "two\n");
    up_to(&scene, "First", None).unwrap();
    tracked(&scene, "b", "later\n");
    scene.revert("First").unwrap();
    assert_eq!([scene.text("a"), scene.text("b")], ["0", "later"]);
    assert!(scene.revert("1").is_err(), "alone it has nothing before it");
}

#[derive(Clone, Debug)]
enum Act {
    Track,
    Note,
    Undo,
    Range { end: Option<usize> },
    Named { picks: Vec<usize> },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => Just(Act::Track),
        1 => Just(Act::Note),
        1 => Just(Act::Undo),
        2 => prop::option::of(0..20_usize).prop_map(|end| Act::Range { end }),
        3 => prop::collection::vec(0..20_usize, 0..5).prop_map(|picks| Act::Named { picks }),
        // Neighbours, which have a chance.
        3 => (0..20_usize, 1..4_usize).prop_map(|(start, count)| Act::Named { picks: (start..start + count).collect() }),
    ]
}

/// What a milestone of `range` from `first` on may be, by the plain words of the requirement.
fn allowed(named: Option<&[u64]>, end: Option<u64>, snapshots: &[u64], last_end: u64) -> Result<(u64, u64), Code> {
    let next = snapshots.iter().copied().find(|seq| *seq > last_end);
    let latest = snapshots.last().copied().unwrap_or_default();
    let Some(named) = named else {
        let start = next.ok_or(Code::InvalidRange)?;
        let end = end.unwrap_or(latest);
        return if end < start { Err(Code::InvalidRange) } else { Ok((start, end)) };
    };
    let (Some(start), Some(end)) = (named.iter().min().copied(), named.iter().max().copied()) else {
        return Err(Code::InvalidRange);
    };
    if snapshots.iter().any(|seq| (start..=end).contains(seq) && !named.contains(seq)) {
        return Err(Code::SequenceDiscontinuity);
    }
    match next {
        Some(next) if start > next => Err(Code::MilestoneGap),
        Some(next) if start == next => Ok((start, end)),
        _ => Err(Code::MilestoneOverlap),
    }
}

fn play(acts: &[Act]) -> Result<(), String> {
    let scene = Scene::of(&["a"]);
    let mut last_end = 0;
    let mut made = 0;
    for (number, act) in acts.iter().enumerate() {
        let all = scene.workspace.log(&Log { order: Order::OldestFirst, ..Log::default() }).unwrap();
        let snapshots: Vec<u64> = all.snapshots().map(|row| row.sequence_number.0).collect();
        let pick = |index: usize| snapshots[index % snapshots.len()];
        let (expected, found) = match act {
            Act::Track => {
                tracked(&scene, "a", &format!("{number}, tracked\n"));
                continue;
            }
            Act::Note => {
                let note = Note {
                    kind: backsight::report::Kind::Navigation,
                    description: "elsewhere".to_owned(),
                    origin: Origin::default(),
                    details: serde_json::json!({}),
                };
                scene.workspace.note(&note).unwrap();
                continue;
            }
            Act::Undo => {
                drop(scene.workspace.undo(&Default::default()));
                continue;
            }
            Act::Range { end } => {
                let end = end.map(pick);
                let reference = end.map(|seq| seq.to_string());
                (allowed(None, end, &snapshots, last_end), up_to(&scene, "Range", reference.as_deref()))
            }
            Act::Named { picks } => {
                let named: Vec<u64> = picks.iter().map(|index| pick(*index)).collect();
                let references: Vec<String> = named.iter().map(|seq| format!("#{seq}")).collect();
                let references: Vec<&str> = references.iter().map(String::as_str).collect();
                (allowed(Some(&named), None, &snapshots, last_end), of(&scene, "Named", &references))
            }
        };
        let found = found
            .map(|milestone| (milestone.start_sequence_number.0, milestone.end_sequence_number.0))
            .map_err(|error| error.code());
        if found != expected {
            return Err(format!("{act:?} gives {found:?}, not {expected:?}\n{}", scene.story().join("\n")));
        }
        if let Ok((_, end)) = found {
            last_end = end;
            made += 1;
        }
    }
    let milestones = scene.workspace.milestones().unwrap();
    if milestones.len() != made {
        return Err(format!("{} milestones, {made} were made", milestones.len()));
    }
    let rows = scene.workspace.log(&Log::default()).unwrap().rows;
    let events =
        rows.iter().filter(|row| matches!(row, Row::Event(event) if event.kind.as_str() == "milestone")).count();
    if events != made {
        return Err(format!("{events} rows of milestones, {made} were made"));
    }
    scene.check_chain()
}

#[test]
fn what_may_become_a_milestone_is_what_the_rules_say() {
    let config = Config { cases: 40, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
    let outcome = TestRunner::new_with_rng(config, rng).run(&prop::collection::vec(act(), 5..30), |acts| {
        let happened = play(&acts);
        prop_assert!(happened.is_ok(), "{}", happened.unwrap_err());
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

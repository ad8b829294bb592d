//! Tests of the store.

use backsight_core::{Code, Timestamp};

use super::*;
use crate::capture::{FrameCapture, Safety, Scope, Variable};

fn capture(text: &str) -> Capture {
    let variable = Variable::new(Scope::Local, "retryCount", Node::leaf("int", text));
    Capture {
        id: String::new(),
        label: String::new(),
        number: 0,
        timestamp: Timestamp(1_763_000_000_123),
        thread_id: 7,
        stack_depth: None,
        depth: 0,
        safety: Safety::Pure,
        frames: vec![FrameCapture {
            thread_id: 7,
            index: 0,
            function: "retry".into(),
            file: Some("src/retry.py".into()),
            line: Some(12),
            call: None,
            variables: vec![variable],
        }],
        incomplete: Vec::new(),
    }
}

fn create(store: &mut Store, naming: Naming) -> Created {
    let random = u128::from(store.taken + 1) << 96;
    store.create(capture("2"), naming, random).unwrap()
}

#[test]
fn a_snapshot_says_what_the_seed_asks_for() {
    let mut store = Store::new(5);
    let created = store.create(capture("2"), Naming::Label("before-fix".into()), u128::MAX).unwrap();
    assert!(created.warnings.is_empty());
    let entry = entry(&created.capture);
    assert_eq!(entry.id, "snap-ffffffff-ffff-4fff-bfff-ffffffffffff");
    assert_eq!((entry.label.as_str(), entry.thread_id, entry.frame_index), ("before-fix", 7, 0));
    assert_eq!((entry.function.as_str(), entry.variable_count, entry.value_count), ("retry", 1, 1));
    assert_eq!(entry.location.as_deref(), Some("src/retry.py:12"));
    assert_eq!(entry.timestamp, Timestamp(1_763_000_000_123));
    assert_eq!(store.list(), [entry]);
}

#[test]
fn labels_are_numbered_and_numbers_never_come_back() {
    let mut store = Store::new(5);
    let labels: Vec<String> = (0..3).map(|_| create(&mut store, Naming::Numbered).capture.label.clone()).collect();
    assert_eq!(labels, ["snapshot-1", "snapshot-2", "snapshot-3"]);
    create(&mut store, Naming::Label("mine".into()));
    store.delete("snapshot-3").unwrap();
    assert_eq!(create(&mut store, Naming::Numbered).capture.label, "snapshot-5");
    assert_eq!(store.clear(), 4);
    assert!(store.list().is_empty() && store.is_empty() && store.bytes() == 0);
    assert_eq!(create(&mut store, Naming::Numbered).capture.label, "snapshot-6");
}

#[test]
fn a_frame_without_variables_is_a_snapshot_with_none() {
    let mut store = Store::new(5);
    let mut empty = capture("2");
    empty.frames[0].variables.clear();
    store.create(empty, Naming::Numbered, 1).unwrap();
    assert_eq!(store.list()[0].variable_count, 0);
}

#[test]
fn snapshots_are_found_by_id_beginning_and_label() {
    let mut store = Store::new(5);
    let first = create(&mut store, Naming::Label("before".into())).capture;
    let second = create(&mut store, Naming::Numbered).capture;
    assert_eq!(store.get(&first.id).unwrap(), first);
    assert_eq!(store.get("before").unwrap(), first);
    assert_eq!(store.get("snapshot-2").unwrap(), second);
    assert_eq!(store.get("snap-00000002").unwrap(), second);
    let ambiguous = store.get("snap-0000").unwrap_err();
    assert_eq!(ambiguous.code(), Code::RefAmbiguous);
    assert!(ambiguous.hint().unwrap().contains(&first.id));
    assert_eq!(store.get("snap-").unwrap_err().code(), Code::SnapshotNotFound);
    assert_eq!(store.get("").unwrap_err().code(), Code::SnapshotNotFound);
}

#[test]
fn what_is_not_there_is_named_each() {
    let mut store = Store::new(5);
    assert_eq!(store.get("x").unwrap_err().message(), "no snapshot `x`");
    create(&mut store, Naming::Label("there".into()));
    let one = store.pair("there", "snap-abc123").unwrap_err();
    assert_eq!((one.code(), one.message()), (Code::SnapshotNotFound, "no snapshot `snap-abc123`"));
    let both = store.pair("a\u{1b}", "b").unwrap_err();
    assert_eq!(both.message(), "no snapshot `a\\u{1b}` and no snapshot `b`");
    assert_eq!(both.details()["missing"].as_array().map(Vec::len), Some(2));
    store.delete("there").unwrap();
    assert_eq!(store.delete("there").unwrap_err().code(), Code::SnapshotNotFound);
}

#[test]
fn a_label_means_the_latest_that_has_it() {
    let mut store = Store::new(5);
    let first = create(&mut store, Naming::Label("a".into()));
    let second = create(&mut store, Naming::Label("a".into()));
    assert!(second.warnings[0].contains(&first.capture.id), "{:?}", second.warnings);
    assert_eq!(store.get("a").unwrap().id, second.capture.id);
    assert_eq!(store.delete("a").unwrap(), [second.capture.id.as_str()]);
    assert_eq!(store.get("a").unwrap().id, first.capture.id);
}

#[test]
fn labels_that_could_be_mistaken_are_refused_and_take_no_number() {
    let mut store = Store::new(5);
    for label in ["", "  ", "snap-1", "snapshot-12", "a\nb", &"x".repeat(101)] {
        let error = store.create(capture("1"), Naming::Label(label.into()), 1).unwrap_err();
        assert_eq!(error.code(), Code::InvalidName, "{label}");
    }
    assert_eq!(create(&mut store, Naming::Label("snapshot-of-mine".into())).capture.number, 1);
}

#[test]
fn more_than_a_hundred_are_kept_and_warned_of_in_the_reply() {
    let mut store = Store::new(5);
    for _ in 0..SOFT_LIMIT {
        assert!(create(&mut store, Naming::Numbered).warnings.is_empty());
    }
    let created = create(&mut store, Naming::Numbered);
    assert_eq!(created.warnings.len(), 1);
    assert!(created.warnings[0].starts_with("101 snapshots, more than 100"), "{}", created.warnings[0]);
    assert_eq!(store.len(), 101);
}

#[test]
fn without_room_nothing_is_kept_and_the_oldest_unlabelled_are_named() {
    let bytes = size(&capture("2")) + 100;
    let mut store = Store::new(5).with_room(3 * bytes);
    create(&mut store, Naming::Label("wanted".into()));
    let unlabelled = create(&mut store, Naming::Numbered).capture;
    while store.create(capture("2"), Naming::Label(format!("l{}", store.len())), store.len() as u128).is_ok() {}
    let (before, taken) = (store.len(), store.taken);
    let error = store.create(capture("2"), Naming::Numbered, 77).unwrap_err();
    assert_eq!(error.code(), Code::TooLarge);
    assert!(error.hint().unwrap().contains(&unlabelled.id), "{:?}", error.hint());
    assert_eq!((store.len(), store.taken), (before, taken));
    store.delete(&unlabelled.id).unwrap();
    store.create(capture("2"), Naming::Numbered, 77).unwrap();
    let huge = capture(&"x".repeat(10 * bytes));
    assert!(store.create(huge, Naming::Numbered, 78).unwrap_err().hint().unwrap().starts_with("capture less"));
}

#[test]
fn hits_of_a_point_are_a_series_that_can_be_deleted_at_once() {
    let mut store = Store::new(5);
    create(&mut store, Naming::Numbered);
    for _ in 0..3 {
        create(&mut store, Naming::Hit("loop".into()));
    }
    assert_eq!(store.get("loop-2").unwrap().number, 3);
    assert_eq!(store.series("loop").unwrap().len(), 3);
    assert_eq!(store.list()[1].series.as_deref(), Some("loop"));
    store.delete("loop-1").unwrap();
    assert_eq!(create(&mut store, Naming::Hit("loop".into())).capture.label, "loop-4");
    assert_eq!(store.delete("loop").unwrap().len(), 3);
    assert_eq!(store.series("loop").unwrap_err().code(), Code::SnapshotNotFound);
    assert_eq!(store.len(), 1);
}

#[test]
fn nothing_is_kept_with_its_secrets() {
    let mut store = Store::new(5);
    let mut capture = capture("2");
    capture.frames[0].variables.push(Variable::new(Scope::Local, "password", Node::leaf("str", "'hunter2'")));
    let created = store.create(capture, Naming::Numbered, 1).unwrap();
    assert_eq!(created.redacted, 1);
    assert!(!format!("{:?}", store.get("snapshot-1").unwrap()).contains("hunter2"));
}

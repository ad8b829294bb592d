//! The seed's acceptance scenarios and edge cases by their numbers, on each of the four debuggers.

use backsight_core::Code;
use backsight_debug::capture::Scope;
use backsight_debug::diff;
use backsight_debug::report::WarningKind;
use backsight_debug::session::{Launch, Outcome};
use serde_json::json;

use super::facade::{Language, Stage, entry, on_each, plan, stop_of};
use super::subject::PATIENCE;
use crate::facade::patiently;

on_each! { Python as debugpy, JavaScript as node, Go as delve, Cpp as lldb: {
    us1_1_fr_001_fr_013_a_snapshot_says_what_it_is
    us1_2_a_snapshot_without_a_label_is_numbered
    us1_3_fr_010_a_running_program_is_not_captured
    us1_4_ids_are_unique_and_numbers_go_on
    us2_1_fr_002_fr_008_a_modified_variable_has_both_values
    us2_2_fr_007_a_new_variable_is_added
    us2_3_a_variable_out_of_scope_is_removed
    us2_4_nothing_changed
    us2_5_fr_011_an_unknown_snapshot_is_named
    us3_1_fr_003_all_are_listed
    us3_2_fr_004_a_deleted_one_is_gone
    us3_3_all_are_cleared
    us3_4_an_empty_list
    us4_1_fr_006_nested_fields_are_captured
    us4_2_a_nested_change_is_told_by_its_path
    us4_3_depth_0_expands_nothing
    fr_005_name_type_value_and_scope
    edge_a_frame_without_variables
    edge_fr_009_disconnecting_clears_all
    edge_another_type_is_removed_and_added
    edge_large_collections_are_summed_up
    edge_more_than_100_are_warned_of
    a_changed_secret_is_told_and_not_shown
} }

// Node's other threads are programs of their own for its inspector: there is one thread in a session.
on_each! { Python as debugpy_threads, Go as delve_threads, Cpp as lldb_threads: {
    edge_fr_012_another_thread_is_warned_of
} }

fn us1_1_fr_001_fr_013_a_snapshot_says_what_it_is(stage: &Stage) {
    let moved = stage.launch(&["BEFORE"]);
    let created = stage.snapshot(Some("before-fix"), 0).snapshot;
    assert!(created.id.starts_with("snap-") && created.id.len() == "snap-".len() + 36, "{created:?}");
    assert_eq!((created.label.as_str(), created.frame_index, created.frame_count), ("before-fix", 0, 1));
    assert_eq!(Some(created.thread_id), stop_of(&moved).stop.thread_id);
    assert!(created.function.contains("work"), "{created:?}");
    assert!(created.variable_count >= 6, "{created:?}");
    assert!(created.timestamp.0 > 1_700_000_000_000 && created.incomplete.is_empty(), "{created:?}");
}

fn us1_2_a_snapshot_without_a_label_is_numbered(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    assert_eq!(stage.snapshot(None, 0).snapshot.label, "snapshot-1");
}

fn us1_3_fr_010_a_running_program_is_not_captured(stage: &Stage) {
    let launch = Launch { arguments: vec!["linger".to_owned()], wait: Default::default(), ..stage.request(&[]) };
    let moved = stage.debugger.launch(None, launch, &patiently).unwrap();
    assert!(matches!(moved.outcome, Outcome::StillRunning { .. }), "{moved:?}");
    let error = stage.debugger.create_snapshot(None, None, plan(0)).unwrap_err();
    assert_eq!(error.code(), Code::NotPaused);
    assert!(error.hint().is_some_and(|hint| hint.contains("pause")), "{error}");
    assert!(stage.debugger.snapshots(None).unwrap().snapshots.is_empty());
}

fn us1_4_ids_are_unique_and_numbers_go_on(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    let taken: Vec<_> = (0..4).map(|_| stage.snapshot(None, 0).snapshot).collect();
    let ids: std::collections::BTreeSet<&str> = taken.iter().map(|one| one.id.as_str()).collect();
    let labels: Vec<&str> = taken.iter().map(|one| one.label.as_str()).collect();
    assert_eq!((ids.len(), labels), (4, vec!["snapshot-1", "snapshot-2", "snapshot-3", "snapshot-4"]));
}

fn us2_1_fr_002_fr_008_a_modified_variable_has_both_values(stage: &Stage) {
    let diff = stage.before_and_after(0);
    let count = entry(&diff.modified, "retry_count");
    assert_eq!((count.old_value.as_deref(), count.new_value.as_deref()), (Some("2"), Some("3")));
    assert_eq!((count.note.as_deref(), count.scope), (Some("+1"), Scope::Local));
    assert!(!diff.thread_mismatch && diff.time_delta_ms >= 0);
}

fn us2_2_fr_007_a_new_variable_is_added(stage: &Stage) {
    let diff = stage.before_and_after(0);
    assert!(entry(&diff.added, "result").value.as_deref().unwrap().contains("done"), "{diff:?}");
    assert!(diff.modified.iter().chain(&diff.removed).all(|entry| entry.path != "result"));
}

fn us2_3_a_variable_out_of_scope_is_removed(stage: &Stage) {
    let diff = stage.before_and_after(0);
    assert!(entry(&diff.removed, "temp_buffer").value.as_deref().unwrap().contains("bytes"), "{diff:?}");
    assert!(diff.modified.iter().chain(&diff.added).all(|entry| entry.path != "temp_buffer"));
}

fn us2_4_nothing_changed(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    let (first, second) = (stage.snapshot(None, 2).snapshot.id, stage.snapshot(None, 2).snapshot.id);
    let diff = stage.diff(&first, &second);
    assert_eq!((diff.summary.changes(), diff.omitted), (0, 0), "{diff:?}");
    assert!(diff.added.is_empty() && diff.removed.is_empty() && diff.modified.is_empty());
    // That a long list was not captured whole is said; whether it changed is known all the same.
    assert!(diff.summary.unchanged > 5 && diff.summary.not_compared == 0, "{diff:?}");
    assert!(diff.warnings.iter().all(|warning| warning.kind == WarningKind::Incomplete), "{diff:?}");
}

fn us2_5_fr_011_an_unknown_snapshot_is_named(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    let (kept, deleted) = (stage.snapshot(None, 0).snapshot.id, stage.snapshot(None, 0).snapshot.id);
    stage.debugger.delete_snapshot(None, &deleted).unwrap();
    for bad in ["snap-nobody", &deleted] {
        let error = stage.debugger.diff_snapshots(None, &kept, bad, &diff::Options::default()).unwrap_err();
        assert_eq!(error.code(), Code::SnapshotNotFound);
        assert!(error.message().contains(bad) && !error.message().contains(&kept), "{error}");
    }
}

fn us3_1_fr_003_all_are_listed(stage: &Stage) {
    let moved = stage.launch(&["BEFORE"]);
    let taken: Vec<_> = (0..3).map(|_| stage.snapshot(None, 0).snapshot).collect();
    let list = stage.debugger.snapshots(None).unwrap();
    assert_eq!(list.snapshots, taken);
    let first = &list.snapshots[0];
    assert_eq!((Some(first.thread_id), first.variable_count > 5), (stop_of(&moved).stop.thread_id, true));
    assert!(first.function.contains("work") && list.bytes > 0 && list.warning.is_none());
}

fn us3_2_fr_004_a_deleted_one_is_gone(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    let (first, second) = (stage.snapshot(None, 0).snapshot.id, stage.snapshot(None, 0).snapshot.id);
    assert_eq!(stage.debugger.delete_snapshot(None, &first).unwrap().deleted, [first.as_str()]);
    let left = stage.debugger.snapshots(None).unwrap().snapshots;
    assert_eq!(left.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), [second]);
    assert_eq!(stage.debugger.delete_snapshot(None, &first).unwrap_err().code(), Code::SnapshotNotFound);
}

fn us3_3_all_are_cleared(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    (0..5).for_each(|_| drop(stage.snapshot(None, 0)));
    assert_eq!(stage.debugger.clear_snapshots(None).unwrap().cleared, 5);
    assert!(stage.debugger.snapshots(None).unwrap().snapshots.is_empty());
    assert_eq!(stage.snapshot(None, 0).snapshot.label, "snapshot-6", "numbers are not used again");
}

fn us3_4_an_empty_list(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    let list = stage.debugger.snapshots(None).unwrap();
    assert_eq!((list.snapshots.len(), list.bytes, list.warning), (0, 0, None));
}

fn paths(stage: &Stage, reference: &str) -> Vec<String> {
    let options = diff::Options { max_tokens: 100_000, ..diff::Options::default() };
    let view = stage.debugger.read_snapshot(None, reference, &options).unwrap();
    assert_eq!(view.omitted, 0);
    view.values.into_iter().map(|value| value.path).collect()
}

fn us4_1_fr_006_nested_fields_are_captured(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    stage.snapshot(Some("nested"), 2);
    let paths = paths(stage, "nested");
    for path in ["order", "order.total", "order.customer", "order.customer.name"] {
        assert!(paths.iter().any(|there| there == path), "{path}: {paths:?}");
    }
}

fn us4_2_a_nested_change_is_told_by_its_path(stage: &Stage) {
    let diff = stage.before_and_after(2);
    let name = entry(&diff.modified, "order.customer.name");
    assert!(name.old_value.as_deref().unwrap().contains("Warsaw"), "{name:?}");
    assert!(name.new_value.as_deref().unwrap().contains("Krakow"), "{name:?}");
    let parents = ["order", "order.customer"];
    assert!(diff.modified.iter().all(|entry| !parents.contains(&entry.path.as_str())), "{diff:?}");
}

fn us4_3_depth_0_expands_nothing(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    let created = stage.snapshot(Some("flat"), 0).snapshot;
    assert_eq!((created.depth, created.value_count), (0, created.variable_count));
    assert!(paths(stage, "flat").iter().all(|path| !path.contains(['.', '['])));
}

fn fr_005_name_type_value_and_scope(stage: &Stage) {
    stage.launch(&["ADD"]);
    stage.snapshot(Some("here"), 0);
    let capture = stage.debugger.snapshot(None, "here").unwrap();
    let find = |name: &str| {
        let variable = capture.frames[0].variables.iter().find(|variable| variable.name == name);
        variable.unwrap_or_else(|| panic!("no `{name}`: {capture:#?}"))
    };
    let left = find("left");
    assert_eq!((left.scope, left.value.text.as_str()), (Scope::Argument, "1"));
    assert!(!left.value.kind.is_empty());
    assert_eq!(find("right").value.text, "2");
}

fn edge_a_frame_without_variables(stage: &Stage) {
    stage.launch(&["EMPTY"]);
    let created = stage.snapshot(None, 2);
    let capture = stage.debugger.snapshot(None, "snapshot-1").unwrap();
    // A function of JavaScript sees what is around it, whatever it declares itself.
    let is_own = |scope| matches!(scope, Scope::Local | Scope::Argument);
    let own: Vec<_> = capture.frames[0].variables.iter().filter(|variable| is_own(variable.scope)).collect();
    assert!(own.is_empty() && created.warnings.is_empty(), "{own:?}");
    assert!(stage.language == Language::JavaScript || created.snapshot.variable_count == 0);
    assert!(created.snapshot.incomplete.is_empty(), "{created:?}");
}

fn edge_fr_012_another_thread_is_warned_of(stage: &Stage) {
    let first = stop_of(&stage.launch(&["LONE"])).stop.thread_id;
    stage.snapshot(Some("one"), 0);
    let second = stop_of(&stage.go_on_to("LONE")).stop.thread_id;
    stage.snapshot(Some("other"), 0);
    assert_ne!(first, second);
    let diff = stage.diff("one", "other");
    assert!(diff.thread_mismatch);
    assert!(diff.warnings.iter().any(|warning| warning.kind == WarningKind::Thread), "{diff:?}");
    assert_eq!(entry(&diff.modified, "number").new_value.as_deref(), Some("1"));
}

fn edge_fr_009_disconnecting_clears_all(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    (0..2).for_each(|_| drop(stage.snapshot(None, 1)));
    let gone = stage.debugger.disconnect(None, None).unwrap();
    assert_eq!((gone.ended_program, gone.cleared_snapshots), (true, 2));
    assert_eq!(stage.debugger.snapshots(None).unwrap_err().code(), Code::NoSession);
    let ends = stage.ends();
    assert_eq!((ends.len(), &ends[0]["cleared_snapshots"]), (1, &json!(2)), "{ends:?}");
    // The next session begins with nothing.
    stage.launch(&["BEFORE"]);
    assert!(stage.debugger.snapshots(None).unwrap().snapshots.is_empty());
}

fn edge_another_type_is_removed_and_added(stage: &Stage) {
    let diff = stage.before_and_after(0);
    let (old, new) = (entry(&diff.removed, "value"), entry(&diff.added, "value"));
    assert_eq!((old.value.as_deref(), new.value.as_deref().unwrap().contains("one")), (Some("1"), true));
    assert_eq!((old.type_changed.as_ref(), new.type_changed.as_ref()), (Some(&new.kind), Some(&old.kind)));
    assert!(diff.modified.iter().all(|entry| entry.path != "value"));
}

fn edge_large_collections_are_summed_up(stage: &Stage) {
    stage.launch(&["BEFORE"]);
    for (label, depth) in [("flat", 0), ("deep", 1)] {
        stage.snapshot(Some(label), depth);
        let capture = stage.debugger.snapshot(None, label).unwrap();
        let big = &capture.frames[0].variables.iter().find(|variable| variable.name == "big").unwrap().value;
        assert_eq!(big.length, Some(5000), "{label}: {big:?}");
        let elements = big.count() - 1;
        assert!(if depth == 0 { elements == 0 } else { (4..100).contains(&elements) }, "{label}: {elements}");
    }
}

fn edge_more_than_100_are_warned_of(stage: &Stage) {
    stage.launch(&["EMPTY"]);
    for _ in 0..100 {
        assert!(stage.snapshot(None, 0).warnings.is_empty());
    }
    let created = stage.snapshot(None, 0);
    assert!(created.warnings.iter().any(|warning| warning.contains("101")), "{:?}", created.warnings);
    let list = stage.debugger.snapshots(None).unwrap();
    assert!(list.snapshots.len() == 101 && list.warning.is_some(), "kept, and warned of");
}

fn a_changed_secret_is_told_and_not_shown(stage: &Stage) {
    let diff = stage.before_and_after(0);
    let secret = entry(&diff.modified, "api_key");
    assert_ne!(secret.old_value, secret.new_value);
    let answer = format!("{diff:?} {:?}", stage.debugger.snapshot(None, "after").unwrap());
    assert!(!answer.contains("sk-live") && !answer.contains("fedcba"), "{answer}");
    let state = stage.debugger.state(None, PATIENCE, &patiently).unwrap();
    assert_eq!(state.snapshots, 2);
}

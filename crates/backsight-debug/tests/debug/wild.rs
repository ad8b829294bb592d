//! Captures as no debugger should tell them: nothing panics, counts add up, budgets hold, pages are complete.

use std::sync::Arc;

use backsight_core::{Timestamp, estimate_tokens};
use backsight_debug::capture::{Capture, FrameCapture, Incomplete, Inside, Node, Safety, Scope, Variable};
use backsight_debug::diff::{Form, Options, snapshot_diff};
use backsight_debug::report::SnapshotDiff;
use backsight_debug::series::series;
use backsight_debug::store::{self, Naming, Store};
use backsight_debug::view::snapshot_view;
use backsight_debug::{path, render};
use proptest::prelude::*;

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c]",
        1 => "\\PC{0,6}",
        1 => Just("password".to_owned()),
        1 => Just("[0]".to_owned()),
        1 => Just("a.b[c]#1".to_owned()),
        1 => Just("k".repeat(70)),
    ]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (-3..3).prop_map(|number: i32| number.to_string()),
        1 => Just("nan".to_owned()),
        1 => Just("-0.0".to_owned()),
        1 => Just("<X at 0x7fffaabbcc>".to_owned()),
        1 => ".{0,8}",
        1 => "[xy]{90,130}",
    ]
}

fn node() -> impl Strategy<Value = Node> {
    let inside = prop_oneof![
        6 => Just(Inside::Leaf),
        1 => Just(Inside::NotExpanded),
        1 => Just(Inside::Unset),
        1 => name().prop_map(Inside::SeeAt),
    ];
    let leaf = (prop_oneof![Just("int"), Just("str"), Just("")], words(), inside, meta())
        .prop_map(|(kind, text, inside, meta)| with(Node::new(kind, text, inside), meta));
    leaf.prop_recursive(4, 40, 6, |inner| {
        let named = || proptest::collection::vec((name(), inner.clone()), 0..6);
        let inside = prop_oneof![
            named().prop_map(Inside::Fields),
            named().prop_map(Inside::Entries),
            proptest::collection::vec((0..20_u64, inner.clone()), 0..6).prop_map(Inside::Elements),
            proptest::collection::vec(inner.clone(), 0..6)
                .prop_map(|elements| Inside::Elements((0..).zip(elements).collect())),
        ];
        (prop_oneof![Just("T"), Just("")], words(), inside, meta())
            .prop_map(|(kind, text, inside, meta)| with(Node::new(kind, text, inside), meta))
    })
}

type Meta = (Option<u64>, Option<u64>, Option<String>);

fn meta() -> impl Strategy<Value = Meta> {
    let length = prop_oneof![(0..12_u64), Just(u64::MAX)];
    (proptest::option::of(0..4_u64), proptest::option::of(length), proptest::option::of("[pq]"))
}

fn with(node: Node, (hash, length, identity): Meta) -> Node {
    Node { hash, length, identity, ..node }
}

fn variable() -> impl Strategy<Value = Variable> {
    let scope = prop_oneof![Just(Scope::Local), Just(Scope::Argument), Just(Scope::Watch), Just(Scope::This)];
    (name(), 0..3_u32, scope, node()).prop_map(|(name, shadowed, scope, value)| Variable {
        name,
        shadowed,
        scope,
        value,
    })
}

fn frame() -> impl Strategy<Value = FrameCapture> {
    let variables = proptest::collection::vec(variable(), 0..5);
    (1..3_i64, 0..4_u32, "[fgh]", proptest::option::of(0..3_u32), variables).prop_map(
        |(thread_id, index, function, line, variables)| FrameCapture {
            thread_id,
            index,
            function,
            file: None,
            line,
            call: None,
            variables,
        },
    )
}

fn capture() -> impl Strategy<Value = Capture> {
    let incomplete = proptest::collection::vec((name(), words()), 0..2);
    let frames = proptest::collection::vec(frame(), 0..4);
    (1..3_i64, proptest::option::of(0..6_u32), 0..3_u32, frames, incomplete, any::<i64>()).prop_map(
        |(thread_id, stack_depth, depth, frames, incomplete, time)| Capture {
            id: "snap-1".into(),
            label: "l".into(),
            number: 1,
            timestamp: Timestamp(time),
            thread_id,
            stack_depth,
            depth,
            safety: if depth > 1 { Safety::Pure } else { Safety::Adapter },
            frames,
            incomplete: incomplete.into_iter().map(|(path, reason)| Incomplete::new(path, reason)).collect(),
        },
    )
}

fn shown(diff: &SnapshotDiff) -> usize {
    diff.added.len() + diff.removed.len() + diff.modified.len()
}

fn check_counts(diff: &SnapshotDiff, offset: usize) -> Result<(), TestCaseError> {
    let all = diff.matched.unwrap_or(diff.summary.changes());
    prop_assert_eq!(all.saturating_sub(offset as u64), shown(diff) as u64 + diff.omitted);
    prop_assert_eq!(diff.folded.iter().map(|folded| folded.count).sum::<u64>(), diff.omitted);
    prop_assert_eq!(diff.next_offset.is_some(), diff.omitted > 0);
    Ok(())
}

#[test]
fn values_in_values_in_values_do_no_harm() {
    let deep = |end: &str| {
        let nest = |inner: Node, _| Node::new("Node", "Node", Inside::Fields(vec![("next".into(), inner)]));
        (0..400).fold(Node::leaf("int", end), nest)
    };
    let capture = |end: &str| crate::program::Paused::new(end).local("v", deep(end)).0;
    let (old, new) = (capture("1"), capture("2"));
    let diff = snapshot_diff(&old, &new, &Options::default());
    assert_eq!((diff.summary.changes(), diff.summary.not_compared), (0, 1), "too deep to be compared, and said so");
    let view = snapshot_view(&old, store::entry(&old), &Options::default());
    assert_eq!(view.values.len() as u64 + view.omitted, 401);
    Store::new(1).create(old, Naming::Numbered, 1).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_panics_and_everything_is_counted(
        a in capture(), b in capture(), max_tokens in 0..400_usize, offset in 0..4_usize, json in any::<bool>(),
        path in proptest::option::of(name()),
    ) {
        let form = if json { Form::Json } else { Form::Compact };
        let options = Options { max_tokens, path, offset, form };
        let diff = snapshot_diff(&a, &b, &options);
        check_counts(&diff, offset)?;
        let text = render::compact(&diff);
        prop_assert!(!text.contains(char::from(0x1b)) && text.ends_with('\n'));
        let measured = if json { serde_json::to_string(&diff).unwrap() } else { text };
        // One change is always told, and what is compared is too.
        if shown(&diff) > 1 {
            prop_assert!(estimate_tokens(&measured) <= max_tokens, "{} of {max_tokens}\n{measured}", estimate_tokens(&measured));
        }
        render::plain(&render::text(&diff));
        render::markdown(&diff);
        let view = snapshot_view(&a, store::entry(&a), &options);
        prop_assert_eq!(view.folded.iter().map(|folded| folded.count).sum::<u64>(), view.omitted);
        render::compact_view(&view);
        let table = series("s", &[Arc::new(a), Arc::new(b)], &options);
        render::compact_series(&table);
        render::markdown_series(&table);
    }

    #[test]
    fn a_capture_equals_itself(capture in capture()) {
        let diff = snapshot_diff(&capture, &capture, &Options::default());
        prop_assert_eq!(diff.summary.changes(), 0, "{}", render::compact(&diff));
        prop_assert!(diff.rebound.is_empty());
    }

    #[test]
    fn pages_are_complete_and_never_overlap(a in capture(), b in capture()) {
        let whole = snapshot_diff(&a, &b, &Options { max_tokens: usize::MAX, ..Options::default() });
        prop_assert_eq!(whole.omitted, 0);
        let mut pages = 0;
        let mut seen = [Vec::new(), Vec::new(), Vec::new()];
        let mut options = Options { max_tokens: 150, ..Options::default() };
        loop {
            let page = snapshot_diff(&a, &b, &options);
            check_counts(&page, options.offset)?;
            seen[0].extend(page.added);
            seen[1].extend(page.removed);
            seen[2].extend(page.modified);
            pages += 1;
            match page.next_offset {
                Some(next) => options.offset = next,
                None => break,
            }
            prop_assert!(pages < 1000);
        }
        prop_assert_eq!(seen, [whole.added, whole.removed, whole.modified]);
    }

    #[test]
    fn every_path_of_a_view_is_found(capture in capture()) {
        let Some(frame) = capture.frames.first() else { return Ok(()) };
        let one = Capture { frames: vec![frame.clone()], ..capture.clone() };
        let view = snapshot_view(&one, store::entry(&one), &Options { max_tokens: usize::MAX, ..Options::default() });
        prop_assert_eq!(view.values.len(), one.value_count());
        for value in &view.values {
            prop_assert!(path::find(frame, &value.path).is_some(), "{}", value.path);
        }
    }

    #[test]
    fn redaction_and_the_store_take_everything(capture in capture(), random in any::<u128>(), salt in any::<u64>()) {
        let mut store = Store::new(salt);
        let created = store.create(capture, Naming::Numbered, random).unwrap();
        prop_assert_eq!(store.get(&created.capture.id).unwrap(), created.capture);
        prop_assert!(store.bytes() > 0);
        render::compact_list(&store.list());
        store.clear();
        prop_assert_eq!(store.bytes(), 0);
    }
}

//! What a diff says about programs one knows: the seed's scenarios and edge cases, and what the notes promise beyond them.

use std::sync::Arc;

use backsight_core::estimate_tokens;
use backsight_debug::capture::{Capture, Inside, Node, Safety, Scope, Variable};
use backsight_debug::diff::{Form, Options, snapshot_diff};
use backsight_debug::render;
use backsight_debug::report::{DiffEntry, SnapshotDiff, Summary, WarningKind};
use backsight_debug::series::series;
use backsight_debug::store;
use backsight_debug::view::snapshot_view;

use crate::program::{Paused, closed, frame, int, list, map, object, sampled, text};

fn diff(old: &Paused, new: &Paused) -> SnapshotDiff {
    snapshot_diff(&old.0, &new.0, &Options::default())
}

/// The diff of one local variable `v`.
fn of(old: Node, new: Node) -> SnapshotDiff {
    diff(&Paused::new("a").local("v", old), &Paused::new("b").local("v", new))
}

fn paths(entries: &[DiffEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.path.as_str()).collect()
}

fn counts(diff: &SnapshotDiff) -> (u64, u64, u64, u64) {
    let Summary { added, removed, modified, unchanged, .. } = diff.summary;
    (added, removed, modified, unchanged)
}

fn kinds(diff: &SnapshotDiff) -> Vec<WarningKind> {
    diff.warnings.iter().map(|warning| warning.kind).collect()
}

/// Path, old value, new value and note of the only change, which is a modification.
fn only(diff: &SnapshotDiff) -> (&str, &str, &str, Option<&str>) {
    let ([entry], [], []) = (diff.modified.as_slice(), diff.added.as_slice(), diff.removed.as_slice()) else {
        panic!("not one modification: {}", render::compact(diff));
    };
    let text = |text: &'_ Option<String>| text.clone().map(|text| &*text.leak()).unwrap_or_default();
    (&entry.path, text(&entry.old_value), text(&entry.new_value), entry.note.as_deref())
}

#[test]
fn added_removed_modified_and_unchanged_as_the_seed_says() {
    let old =
        Paused::new("before-retry").local("retryCount", int(2)).local("tempBuffer", text("x")).local("same", int(1));
    let new = Paused::new("after-retry").local("retryCount", int(3)).local("same", int(1)).local("result", text("ok"));
    let new = new.with(|capture| {
        capture.timestamp.0 += 1250;
        capture.frames[0].line = Some(15);
    });
    let diff = diff(&old, &new);
    assert_eq!((diff.snapshot_id_a.as_str(), diff.snapshot_id_b.as_str()), ("snap-before-retry", "snap-after-retry"));
    assert_eq!((diff.thread_mismatch, diff.time_delta_ms), (false, 1250));
    assert_eq!(counts(&diff), (1, 1, 1, 1));
    let entry = &diff.modified[0];
    assert_eq!((entry.name.as_str(), entry.kind.as_str(), entry.scope), ("retryCount", "int", Scope::Local));
    assert_eq!((entry.old_value.as_deref(), entry.new_value.as_deref()), (Some("2"), Some("3")));
    assert_eq!(entry.note.as_deref(), Some("+1"));
    assert_eq!((diff.added[0].name.as_str(), diff.added[0].value.as_deref()), ("result", Some("'ok'")));
    assert_eq!((diff.removed[0].name.as_str(), diff.removed[0].value.as_deref()), ("tempBuffer", Some("'x'")));
    assert_eq!(
        render::compact(&diff),
        "before-retry -> after-retry (1250 ms): 1 added, 1 removed, 1 modified, 1 unchanged\n\
         at process (shop.py:12) -> process (shop.py:15)\n\
         modified:\n retryCount: 2 -> 3 (+1)\n\
         added:\n result: str = 'ok'\n\
         removed:\n tempBuffer: str = 'x'\n"
    );
}

#[test]
fn identical_snapshots_have_empty_lists() {
    let program = || Paused::new("a").local("x", int(1)).local("order", object("Order", vec![("total", int(5))]));
    let diff = diff(&program(), &program());
    assert!(diff.added.is_empty() && diff.removed.is_empty() && diff.modified.is_empty() && diff.warnings.is_empty());
    assert_eq!(counts(&diff), (0, 0, 0, 2));
    let empty = self::diff(&Paused::new("a"), &Paused::new("a"));
    assert_eq!(counts(&empty), (0, 0, 0, 0));
    assert_eq!(render::compact(&empty), "a -> a (0 ms): no changes, 0 unchanged\nat process (shop.py:12)\n");
}

#[test]
fn only_the_value_that_changed_is_told_not_what_it_is_in() {
    let order = |name: &str| {
        let customer = object("Customer", vec![("name", text(name)), ("city", text("Warsaw"))]);
        let mut order = object("Order", vec![("total", int(10)), ("customer", customer)]).with_hash(name.len() as u64);
        order.text = format!("Order({name})");
        order
    };
    let diff = of(order("Ann"), order("Bert"));
    assert_eq!(only(&diff), ("v.customer.name", "'Ann'", "'Bert'", None));
    assert_eq!(counts(&diff), (0, 0, 1, 2));
    assert_eq!(diff.modified[0].name, "name");
}

#[test]
fn a_type_change_is_both_gone_and_new() {
    let diff = of(int(5), text("five"));
    assert_eq!(counts(&diff), (1, 1, 0, 0));
    assert_eq!((diff.removed[0].kind.as_str(), diff.removed[0].type_changed.as_deref()), ("int", Some("str")));
    assert_eq!((diff.added[0].kind.as_str(), diff.added[0].type_changed.as_deref()), ("str", Some("int")));
    assert!(render::compact(&diff).contains("type changed:\n v: int 5 -> str 'five'\n"), "{}", render::compact(&diff));
    let same_text = of(Node::leaf("int", "1"), Node::leaf("long", "1"));
    assert_eq!(counts(&same_text), (1, 1, 0, 0), "the text alone does not decide");
}

#[test]
fn other_threads_functions_depths_and_safety_are_warned_of() {
    let old = Paused::new("a").local("x", int(1));
    let new = || Paused::new("b").local("x", int(2));
    let thread = diff(
        &old,
        &new().with(|capture| {
            capture.thread_id = 2;
            capture.frames[0].thread_id = 2;
        }),
    );
    assert!(thread.thread_mismatch);
    assert_eq!(kinds(&thread), [WarningKind::Thread]);
    assert_eq!(paths(&thread.modified), ["x"]);
    let function = diff(&old, &new().with(|capture| capture.frames[0].function = "other".into()));
    assert_eq!(kinds(&function), [WarningKind::Function]);
    assert_eq!(paths(&function.modified), ["x"], "what was asked for is compared all the same");
    let line = diff(&old, &new().with(|capture| capture.frames[0].line = Some(13)));
    assert_eq!(kinds(&line), [WarningKind::Line]);
    let recursion = diff(&old, &new().with(|capture| capture.stack_depth = Some(5)));
    assert_eq!(kinds(&recursion), [WarningKind::Recursion]);
    assert_eq!(recursion.warnings[0].message, "`process` compared with a call of it 2 deeper");
    let depth = diff(&old, &new().with(|capture| (capture.depth, capture.safety) = (0, Safety::Full)));
    assert_eq!(kinds(&depth), [WarningKind::Depth, WarningKind::Safety]);
    let incomplete = diff(&old, &new().incomplete("x.y", "timed out after 2000 ms"));
    assert_eq!(incomplete.warnings[0].message, "the second snapshot is incomplete: `x.y` timed out after 2000 ms");
}

#[test]
fn a_list_with_an_insertion_has_one_insertion() {
    let numbers = |numbers: &[i64]| list(numbers.iter().map(|number| int(*number)).collect());
    let diff = of(numbers(&[1, 2, 3, 4]), numbers(&[1, 9, 2, 3, 4]));
    assert_eq!((counts(&diff), paths(&diff.added)), ((1, 0, 0, 4), vec!["v[1]"]));
    let diff = of(numbers(&[1, 2, 3, 4]), numbers(&[1, 2, 4]));
    assert_eq!((counts(&diff), paths(&diff.removed)), ((0, 1, 0, 3), vec!["v[2]"]));
    let diff = of(numbers(&[]), numbers(&[7]));
    assert_eq!(paths(&diff.added), ["v[0]"]);
    let diff = of(Node::leaf("list", "list(0)").with_length(0), numbers(&[7]));
    assert_eq!(paths(&diff.added), ["v[0]"], "an empty list told as a leaf is a list");
}

#[test]
fn objects_in_lists_are_found_again_by_what_they_are() {
    let item = |id: i64, price: i64| object("Item", vec![("id", int(id)), ("name", text("n")), ("price", int(price))]);
    let old = list(vec![item(1, 10), item(2, 20), item(3, 30)]);
    let new = list(vec![item(2, 25), item(3, 30)]);
    let diff = of(old, new);
    assert_eq!(
        (paths(&diff.removed), paths(&diff.modified)),
        (vec!["v[0]"], vec!["v[0].price"]),
        "{}",
        render::compact(&diff)
    );
}

#[test]
fn maps_and_sets_are_compared_by_key_in_any_order() {
    let old = map(vec![("'a'", int(1)), ("'b'", int(2)), ("'c'", int(3))]);
    let new = map(vec![("'d'", int(4)), ("'c'", int(3)), ("'b'", int(5))]);
    let diff = of(old, new);
    assert_eq!(
        (paths(&diff.added), paths(&diff.removed), paths(&diff.modified)),
        (vec!["v['d']"], vec!["v['a']"], vec!["v['b']"])
    );
    assert_eq!(counts(&diff), (1, 1, 1, 1));
}

#[test]
fn numbers_and_texts_differ_as_they_are_written() {
    assert_eq!(
        only(&of(Node::leaf("float", "-0.0"), Node::leaf("float", "0.0"))),
        ("v", "-0.0", "0.0", Some("sign of zero"))
    );
    let nan = |bits: u64| Node::leaf("float", "nan").with_hash(bits);
    assert_eq!(counts(&of(nan(1), nan(2))), (0, 0, 0, 1));
    let long = |middle: &str| text(&format!("{}{middle}{}", "a".repeat(500), "b".repeat(500)));
    let diff = of(long("X"), long("YY"));
    let (_, old, new, note) = only(&diff);
    assert_eq!(note, Some("differs from character 501, length 1003 -> 1004"));
    assert!(old.contains("aXb") && new.contains("aYYb") && old.len() < 90);
}

#[test]
fn a_change_behind_a_cut_is_seen_by_its_hash() {
    let cut = |hash: u64| text(&"a".repeat(50)).with_hash(hash).with_length(100_000);
    assert_eq!(only(&of(cut(1), cut(2))).3, Some("changed behind the captured part"));
    assert_eq!(counts(&of(cut(1), cut(1))), (0, 0, 0, 1));
    let unknown = of(Node { hash: None, ..cut(1) }, Node { hash: None, ..cut(1) });
    assert_eq!((counts(&unknown), unknown.summary.not_compared), ((0, 0, 0, 0), 1), "nobody knows");
}

#[test]
fn what_was_not_looked_into_is_changed_inside_unchanged_or_unknown() {
    let changed = of(closed("Order").with_hash(1), closed("Order").with_hash(2));
    assert_eq!(only(&changed), ("v", "Order", "Order", Some("changed inside (deeper than captured)")));
    assert!(render::compact(&changed).contains(" v: Order changed inside (deeper than captured)\n"));
    assert_eq!(counts(&of(closed("Order").with_hash(1), closed("Order").with_hash(1))), (0, 0, 0, 1));
    let unknown = of(closed("Order"), closed("Order"));
    assert_eq!(unknown.summary.not_compared, 1);
    let said = render::compact(&unknown);
    assert!(said.contains("1 not compared, 0 unchanged\n"), "{said}");
    assert!(said.contains("not compared, may have changed inside: v\n") && !said.contains("no changes"), "{said}");
    let shown = render::plain(&render::text(&unknown));
    assert!(shown.contains("not compared, may have changed inside: v\n") && !shown.contains("no changes"), "{shown}");
    assert!(render::markdown(&unknown).contains("Not compared, may have changed inside: `v`."));
    let partial = || Node { partial: true, ..closed("Order").with_hash(1) };
    assert_eq!(of(partial(), partial()).not_compared, ["v"], "the hash is not of everything");
    let near = |near: u64| Node { near: Some(near), partial: true, ..closed("Order") };
    assert_eq!(counts(&of(near(1), near(2))), (0, 0, 1, 0), "what is nearest to it changed");
    assert_eq!(of(near(1), near(1)).not_compared, ["v"]);
    assert_eq!(of(near(1), closed("Order").with_hash(1)).not_compared, ["v"], "two hashes of different things");
    let leaf = || Node { partial: true, ..text("short") };
    assert_eq!(of(leaf(), leaf()).not_compared, ["v"]);
    let inner = |hash: u64| object("Order", vec![("customer", closed("Customer").with_hash(hash))]).with_hash(hash);
    assert_eq!(only(&of(inner(1), inner(2))).0, "v.customer", "the deepest that is known to differ");
}

#[test]
fn depths_are_compared_where_both_were_looked_into() {
    let open = object("Order", vec![("total", int(5))]).with_hash(7);
    let equal = of(closed("Order").with_hash(7), open.clone());
    assert_eq!(counts(&equal), (0, 0, 0, 1), "children are not added because one capture did not look");
    assert_eq!(only(&of(closed("Order").with_hash(8), open)).3, Some("changed inside (deeper than captured)"));
}

#[test]
fn cycles_are_references_and_never_walked() {
    let node = |at: &str| {
        object("Node", vec![("next", Node::new("Node", "Node", Inside::SeeAt(at.into()))), ("value", int(1))])
    };
    assert_eq!(counts(&of(node("v"), node("v"))), (0, 0, 0, 2));
    let diff = of(node("v"), node("w"));
    assert_eq!(only(&diff), ("v.next", "-> v", "-> w", None));
    let see = |at: &str, id: &str| Node::new("Node", "Node", Inside::SeeAt(at.into())).with_identity(id);
    let hashed = |at: &str, hash: u64| see(at, "p").with_hash(hash);
    assert_eq!(counts(&of(hashed("l[3]", 1), hashed("l[4]", 1))), (0, 0, 0, 1), "the same object at another index");
    assert_eq!(counts(&of(hashed("l[3]", 1), hashed("l[4]", 2))), (0, 0, 1, 0), "it is another one inside");
    let unknown = of(see("a", "p"), see("b", "p"));
    assert_eq!(unknown.not_compared, ["v"], "what stands at `a` is not compared with what stands at `b`");
    let other = of(see("l[3]", "p").with_hash(1), see("l[3]", "q").with_hash(2));
    assert_eq!(counts(&other), (0, 0, 1, 0), "another object at the same index, as when elements moved");
    let open = object("Node", vec![("value", int(1))]).with_identity("p");
    let moved = of(see("a", "p").with_hash(1), open.with_hash(2));
    assert_eq!(counts(&moved), (0, 0, 1, 0), "the same object, told here now, and changed meanwhile");
}

#[test]
fn another_object_is_told_from_a_changed_one() {
    let order = |id: &str, total: i64| {
        object(
            "Order",
            vec![("total", int(total)), ("more", object("M", vec![("x", int(1))]).with_identity(format!("{id}m")))],
        )
        .with_identity(id)
    };
    let mutated = of(order("p", 1), order("p", 2));
    assert_eq!((paths(&mutated.modified), mutated.rebound.len()), (vec!["v.total"], 0));
    let rebound = of(order("p", 1), order("q", 2));
    assert_eq!((paths(&rebound.modified), rebound.rebound.as_slice()), (vec!["v.total"], &["v".to_owned()][..]));
    let equal = of(order("p", 1), order("q", 1));
    assert_eq!((counts(&equal), equal.rebound.as_slice()), ((0, 0, 0, 2), &["v".to_owned()][..]));
    assert!(render::compact(&equal).contains("another object at: v\n"));
    let number = |id: &str| int(1).with_identity(id);
    assert!(of(number("p"), number("q")).rebound.is_empty(), "numbers have no identity worth telling");
}

#[test]
fn variables_that_hide_each_other_are_kept_apart() {
    let hidden = |number: i64| Variable { shadowed: 1, ..Variable::new(Scope::Local, "x", int(number)) };
    let old = Paused::new("a").local("x", int(1));
    let new = Paused::new("b").local("x", int(9)).variable(hidden(1));
    let diff = diff(&old, &new);
    assert_eq!(
        (counts(&diff), paths(&diff.added)),
        ((1, 0, 0, 1), vec!["x"]),
        "the inner one came, the outer one stayed"
    );
    let both = |inner: i64, outer: i64| Paused::new("a").local("x", int(inner)).variable(hidden(outer));
    assert_eq!(paths(&self::diff(&both(1, 2), &both(1, 3)).modified), ["x#1"]);
}

#[test]
fn what_has_no_value_yet_is_not_there() {
    let unset = || Node::new("int", "-1431655766", Inside::Unset);
    let old = Paused::new("a").local("result", unset()).local("later", unset());
    let new = Paused::new("b")
        .local("result", int(5))
        .local("later", Node { text: "77".into(), ..unset() })
        .local("more", unset());
    let diff = diff(&old, &new);
    assert_eq!((counts(&diff), paths(&diff.added)), ((1, 0, 0, 0), vec!["result"]));
}

#[test]
fn addresses_in_texts_are_not_values() {
    let at = |address: &str| {
        Node::leaf("Foo", format!("<Foo object at {address}>"))
            .with_hash(address.len() as u64 + u64::from(address.as_bytes()[9]))
    };
    let another = of(at("0x7f00aa1122"), at("0x7f00aa1133"));
    assert_eq!((counts(&another), another.not_compared), ((0, 0, 0, 0), vec!["v".to_owned()]));
    assert_eq!(counts(&of(at("0x7f00aa1122"), at("0x7f00aa1122"))), (0, 0, 0, 1));
    let pointer = |address: &str| Node::leaf("int *", address);
    assert_eq!(
        counts(&of(pointer("0x7f00aa1122"), pointer("0x7f00aa1133"))).2,
        1,
        "of a pointer the address is the value"
    );
}

#[test]
fn long_lists_are_compared_at_both_ends() {
    let ends = |length: u64, tail: &[i64]| {
        let head = (0..8).map(|index| (index, int(index as i64)));
        let first = length - tail.len() as u64;
        let tail = tail.iter().enumerate().map(|(index, value)| (first + index as u64, int(*value)));
        sampled(length, head.chain(tail).collect())
    };
    let appended = of(ends(1_000_000, &[96, 97, 98, 99]), ends(1_000_001, &[97, 98, 99, 100]));
    assert_eq!(
        (counts(&appended), paths(&appended.added)),
        ((1, 0, 0, 11), vec!["v[1000000]"]),
        "{}",
        render::compact(&appended)
    );
    let inside = of(ends(1_000_000, &[1, 2, 3, 4]), ends(1_000_007, &[1, 2, 3, 4]));
    assert_eq!(only(&inside).3, Some("changed among elements that were not captured, length 1000000 -> 1000007"));
    let hashed = |hash: u64| ends(1_000_000, &[1, 2, 3, 4]).with_hash(hash);
    assert_eq!(only(&of(hashed(1), hashed(2))).3, Some("changed among elements that were not captured"));
    assert_eq!(counts(&of(hashed(1), hashed(1))), (0, 0, 0, 12));
    assert_eq!(of(ends(1_000_000, &[1]), ends(1_000_000, &[1])).summary.not_compared, 1);
    let mut head = ends(1_000_001, &[96, 97, 98, 99]);
    if let Inside::Elements(elements) = &mut head.inside {
        (0..7).rev().for_each(|index| elements[index + 1].1 = elements[index].1.clone());
        elements[0].1 = int(-5);
    }
    let prepended = of(ends(1_000_000, &[96, 97, 98, 99]), head);
    assert_eq!(
        (counts(&prepended), paths(&prepended.added)),
        ((1, 0, 0, 11), vec!["v[0]"]),
        "{}",
        render::compact(&prepended)
    );
}

#[test]
fn what_was_not_compared_is_named_whatever_there_is_of_it() {
    let many = |count: usize| {
        let fields = (0..count).map(|index| (format!("f{index}"), closed("T"))).collect();
        Node::new("Order", "Order", Inside::Fields(fields))
    };
    let few = of(many(3), many(3));
    assert_eq!(few.not_compared, ["v.f0", "v.f1", "v.f2"]);
    let more = of(many(40), many(40));
    assert_eq!((more.summary.not_compared, more.not_compared), (40, vec!["v (40 values)".to_owned()]));
}

/// What was not captured of a long list is known by hashes of runs of its elements.
#[test]
fn which_elements_of_a_long_list_changed_is_told() {
    let long = |runs: Vec<u32>, length: u64, hash: u64| {
        let ends = (0..8).chain(length - 4..length).map(|index| (index, int(0))).collect();
        sampled(length, ends).with_hash(hash).with_runs(runs)
    };
    let same = || (0..100).collect::<Vec<u32>>();
    let mut two = same();
    (two[40], two[41], two[77]) = (900, 901, 902);
    let diff = of(long(same(), 100, 1), long(two, 100, 2));
    assert_eq!(only(&diff).3, Some("changed at [40..41], [77], not captured"));
    let mut grown = same();
    grown.insert(50, 900);
    let diff = of(long(same(), 100, 1), long(grown, 101, 2));
    assert_eq!(only(&diff).3, Some("changed at [50], not captured, length 100 -> 101"));
    let blocks = |changed: usize| (0..1000).map(|block| if block == changed { 9_999 } else { block as u32 }).collect();
    let diff = of(long(blocks(2000), 1_000_000, 1), long(blocks(500), 1_000_000, 2));
    assert_eq!(diff.modified.len(), 1, "runs of another number than is agreed on say nothing: {diff:#?}");
    let blocks = |changed: u64| {
        (0..1_000_000u64.div_ceil(977)).map(|block| if block == changed { 9_999_999 } else { block as u32 }).collect()
    };
    let diff = of(long(blocks(5000), 1_000_000, 1), long(blocks(500), 1_000_000, 2));
    assert_eq!(only(&diff).3, Some("changed at [488500..489476], not captured"));
}

/// There may be time to hash an element in one capture and not in the other.
#[test]
fn an_element_with_a_hash_is_not_another_than_one_without() {
    let part = |hash: Option<u64>| Node { hash, ..closed("T") };
    let diff = of(list(vec![part(Some(1)), part(None)]), list(vec![part(None), part(Some(1))]));
    assert_eq!((diff.summary.changes(), diff.summary.not_compared), (0, 2), "{diff:#?}");
}

#[test]
fn part_of_a_map_says_nothing_about_the_keys_it_does_not_hold() {
    let part = |keys: Vec<(&str, Node)>, hash: u64| Node { length: Some(1000), ..map(keys).with_hash(hash) };
    let diff = of(part(vec![("a", int(1)), ("b", int(2))], 1), part(vec![("b", int(2)), ("c", int(3))], 2));
    assert_eq!(only(&diff).3, Some("changed among elements that were not captured"));
}

#[test]
fn a_capture_that_lacks_variables_does_not_make_them_disappear() {
    let old = Paused::new("a").local("x", int(1)).local("y", int(2));
    let new = Paused::new("b").local("x", int(1)).incomplete("", "2 variables could not be understood");
    let lacking = new.with(|capture| capture.incomplete[0].lacks_variables = true);
    let diff = diff(&old, &lacking);
    assert_eq!((counts(&diff), diff.summary.not_compared), ((0, 0, 0, 1), 1));
    assert_eq!(kinds(&diff), [WarningKind::Incomplete]);
}

#[test]
fn a_new_variable_is_told_whatever_else_was_not_seen() {
    let old = Paused::new("a").local("x", int(1)).incomplete("", "3 values were not hashed");
    let new = Paused::new("b").local("x", int(1)).local("z", int(3)).incomplete("", "3 values were not hashed");
    let diff = diff(&old, &new);
    assert_eq!((counts(&diff), diff.summary.not_compared), ((1, 0, 0, 1), 0));
    assert_eq!(diff.added[0].path, "z");
}

/// A stack of functions, innermost first, each with a variable `x`.
fn stack(label: &str, depth: Option<u32>, calls: &[(&str, i64)]) -> Paused {
    Paused::new(label).with(|capture| {
        capture.stack_depth = depth;
        capture.frames = calls
            .iter()
            .zip(0..)
            .map(|((function, value), index)| {
                let mut frame = frame(function, index);
                frame.variables.push(Variable::new(Scope::Local, "x", int(*value)));
                frame
            })
            .collect();
    })
}

#[test]
fn frames_are_compared_call_by_call_from_the_outermost() {
    for depth in [Some(2), None] {
        let old = stack("a", depth, &[("f", 1), ("main", 5)]);
        let new = stack("b", depth.map(|depth| depth + 1), &[("g", 9), ("f", 2), ("main", 5)]);
        let diff = diff(&old, &new);
        assert_eq!(counts(&diff), (1, 0, 1, 1), "{}", render::compact(&diff));
        assert_eq!((diff.added[0].frame.as_deref(), diff.modified[0].frame.as_deref()), (Some("g"), Some("f")));
        let back = self::diff(&new, &old);
        assert_eq!(counts(&back), (0, 1, 1, 1));
    }
    let parted = diff(
        &stack("a", Some(3), &[("h", 1), ("f", 1), ("main", 5)]),
        &stack("b", Some(3), &[("h", 1), ("g", 1), ("main", 5)]),
    );
    assert_eq!(counts(&parted), (2, 2, 0, 1), "what another function called is another call");
}

#[test]
fn recursion_is_told_apart_by_the_depth_of_the_stack() {
    let old = stack("a", Some(5), &[("fact", 4), ("fact", 5)]);
    let new = stack("b", Some(6), &[("fact", 3), ("fact", 4)]);
    let diff = diff(&old, &new);
    assert_eq!(counts(&diff), (1, 0, 0, 1), "{}", render::compact(&diff));
    assert_eq!(kinds(&diff), [WarningKind::Recursion, WarningKind::Frames]);
}

#[test]
fn watches_come_first_then_arguments_then_locals_then_what_is_deeper() {
    let program = |label: &str, number: i64| {
        Paused::new(label)
            .local("deep", object("D", vec![("a", int(number))]))
            .local("local", int(number))
            .variable(Variable::new(Scope::Argument, "argument", int(number)))
            .variable(Variable::new(Scope::Watch, "local + 1", int(number)))
    };
    let diff = diff(&program("a", 1), &program("b", 2));
    assert_eq!(paths(&diff.modified), ["watch(local + 1)", "argument", "local", "deep.a"]);
}

/// Many changes in several places.
fn many(label: &str, add: i64) -> Paused {
    let items =
        (0..300).map(|number| object("Item", vec![("id", int(number)), ("price", int(number * 10 + add))])).collect();
    let prices = (0..40).map(|number| (format!("k{number}"), int(number + add))).collect::<Vec<_>>();
    let prices = map(prices.iter().map(|(key, value)| (key.as_str(), value.clone())).collect());
    (0..30).fold(
        Paused::new(label).local("order", object("Order", vec![("items", list(items))])).local("prices", prices),
        |program, number| program.local(&format!("local_{number}"), int(number + add)),
    )
}

#[test]
fn the_answer_fits_its_budget_with_exact_counts_and_says_where_the_rest_is() {
    for (form, least) in [(Form::Compact, 60), (Form::Json, 20)] {
        let options = Options { form, ..Options::default() };
        let (old, new) = (many("a", 0), many("b", 1));
        let diff = snapshot_diff(&old.0, &new.0, &options);
        let said = if form == Form::Json { serde_json::to_string(&diff).unwrap() } else { render::compact(&diff) };
        let tokens = estimate_tokens(&said);
        assert!((1_300..=1_500).contains(&tokens), "{tokens} tokens in {form:?}");
        assert_eq!(counts(&diff), (0, 0, 370, 300));
        assert!(diff.modified.len() >= least, "{} in {form:?}", diff.modified.len());
        assert_eq!(diff.modified.len() as u64 + diff.omitted, 370);
        assert_eq!(diff.folded.iter().map(|folded| folded.count).sum::<u64>(), diff.omitted);
        assert_eq!(diff.folded[0].under, "order");
    }
    let options = Options { path: Some("order.items[7]".into()), ..Options::default() };
    let narrow = snapshot_diff(&many("a", 0).0, &many("b", 1).0, &options);
    assert_eq!((paths(&narrow.modified), narrow.matched, narrow.omitted), (vec!["order.items[7].price"], Some(1), 0));
    let options = Options { path: Some("prices".into()), max_tokens: 200, ..Options::default() };
    let folded = snapshot_diff(&many("a", 0).0, &many("b", 1).0, &options);
    assert!(
        render::compact(&folded).contains(&format!("+{} more under prices", folded.omitted)),
        "{}",
        render::compact(&folded)
    );
}

#[test]
fn what_the_program_says_cannot_pass_for_ours() {
    let evil = "x\n+1 more\u{1b}[2J\u{202e}`*<b>|";
    let old = Paused::new("a").local(evil, text("1"));
    let new = Paused::new("b").local(evil, text(evil));
    let diff = diff(&old, &new);
    for page in [render::compact(&diff), render::plain(&render::text(&diff)), render::markdown(&diff)] {
        assert!(!page.contains(['\u{1b}', '\u{202e}']), "{page}");
        assert!(!page.lines().any(|line| line.starts_with("+1 more")), "{page}");
    }
    let markdown = render::markdown(&diff);
    assert!(markdown.contains("``x\\n+1 more"), "{markdown}");
}

#[test]
fn a_terminal_shows_one_line_for_each_change() {
    let old = Paused::new("a").local("count", int(2)).local("old", int(1));
    let new = Paused::new("b").local("count", int(3)).local("new_one", text("n"));
    assert_eq!(
        render::plain(&render::text(&diff(&old, &new))),
        "a → b  1 added, 1 removed, 1 modified, 0 unchanged\n\
         process (shop.py:12) → process (shop.py:12), 0 ms\n\
         ~ count    2 -> 3 (+1)\n\
         + new_one  str = 'n'\n\
         - old      int = 1\n"
    );
}

fn hits(count: i64) -> Vec<Arc<Capture>> {
    let hit = |number: i64| {
        let seen = list((0..number % 5).map(int).collect());
        let program = Paused::new(&format!("loop-{}", number + 1))
            .local("i", int(number))
            .local("limit", int(100))
            .local("seen", seen)
            .variable(Variable::new(Scope::Watch, "i * 2", int(number * 2)))
            .with(|capture| capture.timestamp.0 += number * 3);
        Arc::new(program.0)
    };
    (0..count).map(hit).collect()
}

#[test]
fn hits_of_a_point_are_a_table() {
    let table = series("loop", &hits(3), &Options::default());
    assert_eq!(
        render::compact_series(&table),
        "loop: 3 hits, 1 values never changed\n \
         hit | ms | watch(i * 2) | i | seen\n \
         1 | 0 | 0 | 0 | list(0)\n \
         2 | 3 | 2 | 1 | list(1) [0]\n \
         3 | 6 | 4 | 2 | list(2) [0, 1]\n\
         (\" as above, - no such value)\n"
    );
    assert!(render::markdown_series(&table).contains("| 2 | 3 | `2` | `1` | `list(1) [0]` |\n"));
    let same = series("loop", &[hits(1), hits(1)].concat(), &Options::default());
    assert!(render::compact_series(&same).ends_with("nothing changed from hit to hit\n"));
    assert_eq!(same.constant, 4);
    assert_eq!(series("none", &[], &Options::default()).hits, 0);
    let inside = |hash: u64| Arc::new(Paused::new("h").local("d", closed("dict").with_hash(hash)).0);
    let said = render::compact_series(&series("s", &[inside(1), inside(2), inside(2), inside(3)], &Options::default()));
    assert!(said.contains("1 | 0 | dict\n 2 | 0 | dict ~2\n 3 | 0 | \"\n 4 | 0 | dict ~3\n"), "{said}");
    let unknown = |_: u64| Arc::new(Paused::new("h").local("d", closed("dict")).0);
    let said = render::compact_series(&series("s", &[unknown(1), unknown(2)], &Options::default()));
    assert!(said.contains("not compared, may have changed inside: `d`") && !said.contains("nothing changed"), "{said}");
}

#[test]
fn a_long_table_keeps_its_ends_and_counts_the_rest() {
    let table = series("loop", &hits(1000), &Options::default());
    let tokens = estimate_tokens(&render::compact_series(&table));
    assert!((1_300..=1_500).contains(&tokens), "{tokens}");
    assert_eq!((table.hits, table.rows.len() as u64 + table.omitted_rows), (1000, 1000));
    assert_eq!((table.rows[0].hit, table.rows.last().map(|row| row.hit)), (1, Some(1000)));
    assert_eq!(table.omitted_columns, 0);
    let narrow = series("loop", &hits(1000), &Options { max_tokens: 80, ..Options::default() });
    assert!(narrow.omitted_columns > 0 && narrow.rows.len() >= 2);
}

#[test]
fn a_snapshot_is_read_back_from_the_outside_in() {
    let program = many("a", 0);
    let view = snapshot_view(&program.0, store::entry(&program.0), &Options { max_tokens: 600, ..Options::default() });
    assert_eq!(view.values[0].path, "order");
    assert!(view.values.iter().take(32).all(|value| !value.path.contains('.')));
    assert_eq!(view.values.len() as u64 + view.omitted, program.0.value_count() as u64);
    assert!(estimate_tokens(&render::compact_view(&view)) <= 600);
    let options = Options { path: Some("order.items[3]".into()), ..Options::default() };
    let part = snapshot_view(&program.0, store::entry(&program.0), &options);
    let values: Vec<&str> = part.values.iter().map(|value| value.value.as_str()).collect();
    assert_eq!(values, ["Item", "3", "30"]);
}

#[test]
fn two_calls_of_one_function_are_told_apart() {
    let call = |label: &str, call: &str, value: i64| {
        Paused::new(label).local("n", int(value)).with(|capture| capture.frames[0].call = Some(call.to_owned()))
    };
    assert_eq!(kinds(&diff(&call("a", "7f01", 1), &call("b", "7f02", 10))), [WarningKind::Call]);
    assert_eq!(kinds(&diff(&call("a", "7f01", 1), &call("b", "7f01", 2))), []);
}

//! Laws of the comparison that need to see what it found: nothing between equal captures, and applied to the first capture
//! it gives the second.

use std::collections::BTreeMap;

use backsight_core::Timestamp;
use proptest::prelude::*;
use proptest::sample::Index;

use super::change::Change;
use super::*;
use crate::capture::{FrameCapture, Inside, Node, Safety, Variable};
use crate::path::{self, Step};

/// A value as debuggers tell it: distinct names, lists whole, texts that say type and length.
fn value() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        (0..4).prop_map(|number: i32| Node::leaf("int", number.to_string())),
        "[ab]{0,2}".prop_map(|text| Node::leaf("str", format!("'{text}'"))),
        Just(Node::leaf("NoneType", "None")),
        Just(Node::leaf("list", "list(0)").with_length(0)),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let named = || proptest::collection::btree_map("[a-f]", inner.clone(), 0..5);
        prop_oneof![
            named().prop_map(|children| object(children.into_iter().collect())),
            named().prop_map(|children| map(children.into_iter().collect())),
            proptest::collection::vec(inner.clone(), 0..6).prop_map(list),
        ]
    })
}

fn object(children: Vec<(String, Node)>) -> Node {
    Node::new("Obj", "Obj", Inside::Fields(children))
}

fn map(children: Vec<(String, Node)>) -> Node {
    let length = children.len() as u64;
    Node::new("dict", format!("dict({length})"), Inside::Entries(children)).with_length(length)
}

fn list(children: Vec<Node>) -> Node {
    let length = children.len() as u64;
    let elements = (0..).zip(children).collect();
    Node::new("list", format!("list({length})"), Inside::Elements(elements)).with_length(length)
}

fn capture(variables: Vec<(String, Node)>) -> Capture {
    let variables = variables.into_iter().map(|(name, value)| Variable::new(Scope::Local, name, value)).collect();
    Capture {
        id: "snap-1".into(),
        label: "one".into(),
        number: 1,
        timestamp: Timestamp(0),
        thread_id: 1,
        stack_depth: Some(1),
        depth: 9,
        safety: Safety::Pure,
        frames: vec![FrameCapture {
            thread_id: 1,
            index: 0,
            function: "f".into(),
            file: None,
            line: None,
            call: None,
            variables,
        }],
        incomplete: Vec::new(),
    }
}

fn variables() -> impl Strategy<Value = Vec<(String, Node)>> {
    proptest::collection::btree_map("[a-d]", value(), 0..5).prop_map(|all| all.into_iter().collect())
}

/// Every value with nothing inside, by its path.
fn leaves(node: &Node, at: &mut String, found: &mut BTreeMap<String, (String, String)>) {
    let mut inner = 0;
    path::each_child(node, |step, child| {
        let length = at.len();
        path::push(at, step);
        leaves(child, at, found);
        at.truncate(length);
        inner += 1;
    });
    if inner == 0 {
        found.insert(at.clone(), (node.kind.clone(), node.text.clone()));
    }
}

fn all_leaves(node: &Node) -> BTreeMap<String, (String, String)> {
    let mut found = BTreeMap::new();
    leaves(node, &mut String::from("v"), &mut found);
    found
}

/// The changes by path; of what is gone apart, because its indices are those of the old list.
struct Patch<'a> {
    now: BTreeMap<&'a str, &'a Node>,
    come: BTreeMap<&'a str, &'a Node>,
    gone: Vec<&'a str>,
}

impl<'a> Patch<'a> {
    fn of(changes: &'a [Change<'a>]) -> Self {
        let mut patch = Patch { now: BTreeMap::new(), come: BTreeMap::new(), gone: Vec::new() };
        for change in changes {
            match change.what {
                What::Added(node, Some(_)) | What::Modified(_, node, _) => _ = patch.now.insert(&change.path, node),
                What::Added(node, None) => _ = patch.come.insert(&change.path, node),
                What::Removed(_, None) => patch.gone.push(&change.path),
                What::Removed(_, Some(_)) => {}
            }
        }
        patch
    }

    fn apply(&self, node: &Node, at: &str) -> Node {
        if let Some(node) = self.now.get(at) {
            return (*node).clone();
        }
        let come = self.come.iter().filter(|(path, _)| path::parent(path) == at);
        let name = |path: &str| path[at.len() + 1..].trim_end_matches(']').to_owned();
        match node.kind.as_str() {
            "list" => self.apply_list(node, at),
            "Obj" | "dict" => {
                let step = |name| if node.kind == "Obj" { Step::Field(name, 1) } else { Step::Key(name, 1) };
                let mut children = Vec::new();
                if let Inside::Fields(old) | Inside::Entries(old) = &node.inside {
                    for (key, child) in old {
                        let path = joined(at, step(key));
                        if !self.gone.contains(&path.as_str()) {
                            children.push((key.clone(), self.apply(child, &path)));
                        }
                    }
                }
                children.extend(come.map(|(path, node)| (name(path), (*node).clone())));
                if node.kind == "Obj" { object(children) } else { map(children) }
            }
            _ => node.clone(),
        }
    }

    fn apply_list(&self, node: &Node, at: &str) -> Node {
        let old: Vec<&Node> = node.children().collect();
        let path = |index: usize| joined(at, Step::Index(index as u64));
        let mut stay =
            (0..old.len()).filter(|index| !self.gone.contains(&path(*index).as_str())).map(|index| old[index]);
        let mut new = Vec::new();
        loop {
            let here = path(new.len());
            match self.come.get(here.as_str()) {
                Some(node) => new.push((*node).clone()),
                None => match stay.next() {
                    Some(node) => new.push(self.apply(node, &here)),
                    None => break list(new),
                },
            }
        }
    }
}

fn joined(at: &str, step: Step<'_>) -> String {
    let mut path = at.to_owned();
    path::push(&mut path, step);
    path
}

/// One way to change a value somewhere inside.
#[derive(Clone, Copy, Debug)]
enum Edit {
    Change,
    Add,
    Remove,
}

/// Applies an edit at the `which`th place where it can be applied, if there is one.
fn edit(node: &mut Node, edit: Edit, which: &mut usize) -> bool {
    let new = || Node::leaf("str", "'edited'");
    let takes = |which: &mut usize| {
        *which = which.wrapping_sub(1);
        *which == usize::MAX
    };
    match (&mut node.inside, edit) {
        (Inside::Leaf, Edit::Change) if node.kind != "list" && takes(which) => {
            node.text = "edited".into();
            return true;
        }
        (Inside::Fields(children) | Inside::Entries(children), Edit::Add) if takes(which) => {
            children.push(("z".into(), new()));
            recount(node);
            return true;
        }
        (Inside::Elements(children), Edit::Add) if takes(which) => {
            let at = children.len() / 2;
            children.insert(at, (0, new()));
            recount(node);
            return true;
        }
        (Inside::Fields(children) | Inside::Entries(children), Edit::Remove)
            if !children.is_empty() && takes(which) =>
        {
            children.remove(0);
            recount(node);
            return true;
        }
        (Inside::Elements(children), Edit::Remove) if !children.is_empty() && takes(which) => {
            children.remove(children.len() / 2);
            recount(node);
            return true;
        }
        _ => {}
    }
    match &mut node.inside {
        Inside::Fields(children) | Inside::Entries(children) => {
            children.iter_mut().any(|(_, child)| self::edit(child, edit, which))
        }
        Inside::Elements(children) => children.iter_mut().any(|(_, child)| self::edit(child, edit, which)),
        _ => false,
    }
}

/// Says again how long a container is.
fn recount(node: &mut Node) {
    match &node.inside {
        Inside::Elements(_) => *node = list(node.children().cloned().collect()),
        Inside::Entries(children) => *node = map(children.clone()),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn equal_captures_have_no_differences(variables in variables()) {
        let (old, new) = (capture(variables.clone()), capture(variables));
        let comparison = compare(&old, &new);
        prop_assert!(comparison.found.changes.is_empty() && comparison.found.rebound.is_empty());
        prop_assert!(comparison.warnings.is_empty());
        let count: usize = old.frames[0].variables.iter().map(|variable| all_leaves(&variable.value).len()).sum();
        prop_assert_eq!(comparison.found.unchanged, count as u64);
        prop_assert!(comparison.found.not_compared.is_empty());
    }

    #[test]
    fn the_changes_make_the_second_of_the_first(old in value(), new in value()) {
        let (a, b) = (capture(vec![("v".into(), old.clone())]), capture(vec![("v".into(), new.clone())]));
        let comparison = compare(&a, &b);
        let applied = Patch::of(&comparison.found.changes).apply(&old, "v");
        prop_assert_eq!(all_leaves(&applied), all_leaves(&new));
    }

    #[test]
    fn the_changes_of_lists_of_lists_apply(old in proptest::collection::vec(value(), 0..8), keep in proptest::collection::vec(any::<bool>(), 8), more in value()) {
        let mut changed: Vec<Node> = old.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(node, _)| node.clone()).collect();
        changed.insert(changed.len() / 2, more);
        let (old, new) = (list(old), list(changed));
        let (a, b) = (capture(vec![("v".into(), old.clone())]), capture(vec![("v".into(), new.clone())]));
        let comparison = compare(&a, &b);
        let applied = Patch::of(&comparison.found.changes).apply(&old, "v");
        prop_assert_eq!(all_leaves(&applied), all_leaves(&new));
    }

    #[test]
    fn one_edit_is_told_as_that_edit(
        old in value(), which in any::<Index>(), how in prop_oneof![Just(Edit::Change), Just(Edit::Add), Just(Edit::Remove)],
    ) {
        // With something to change, and something to take away, in any case.
        let old = object(vec![("w".into(), old), ("x".into(), Node::leaf("int", "7"))]);
        let mut new = old.clone();
        let edited = edit(&mut new, how, &mut which.index(6)) || edit(&mut new, how, &mut 0);
        prop_assert!(edited);
        let (a, b) = (capture(vec![("v".into(), old.clone())]), capture(vec![("v".into(), new.clone())]));
        let summary = compare(&a, &b).summary();
        let expected = match how {
            Edit::Change => (0, 0, 1),
            Edit::Add => (1, 0, 0),
            Edit::Remove => (0, 1, 0),
        };
        prop_assert_eq!((summary.added, summary.removed, summary.modified), expected, "{:?} {:?}", old, new);
    }
}

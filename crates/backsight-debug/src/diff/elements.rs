//! Lists: what makes two elements the same or alike, and which parts of lists can be compared when not all of their elements
//! were captured.

use std::cell::OnceCell;
use std::cmp::Ordering;

use super::align::Step;
use super::scalar::without_addresses;
use crate::capture::{Inside, Node};
use crate::hash::Hash;

/// Deeper insides do not count for a fingerprint.
const DEEPEST: u32 = 32;

/// A hash of everything captured of a value. Values with the same hash are compared all the same, so a hash that misses
/// something costs nothing but a worse alignment.
pub(super) fn fingerprint(node: &Node, by_hash: bool) -> u64 {
    hashed(Hash::default(), node, 0, by_hash).finish()
}

/// Whether hashes can tell elements apart: where one is missing, because there was no time for it, the same element with one
/// would look like another.
pub(super) fn has_hashes(node: &Node) -> bool {
    let own = matches!(node.inside, Inside::Leaf | Inside::Unset) || node.hash.is_some();
    own && node.children().all(has_hashes)
}

fn hashed(hash: Hash, node: &Node, depth: u32, by_hash: bool) -> Hash {
    let text = without_addresses(&node.text);
    let hash = hash
        .bytes(node.kind.as_bytes())
        .bytes(text.as_bytes())
        .number(node.length.map_or(0, |length| length.wrapping_add(1)));
    // A hash of a value whose text has an address may be a hash of that address.
    let own = node.hash.filter(|_| by_hash && *text == node.text).unwrap_or_default();
    let hash = hash.number(own);
    if depth >= DEEPEST {
        return hash;
    }
    match &node.inside {
        Inside::Leaf => hash.number(0),
        Inside::NotExpanded => hash.number(1),
        Inside::Unset => hash.number(2),
        Inside::SeeAt(at) => hash.number(3).bytes(node.identity.as_ref().unwrap_or(at).as_bytes()),
        Inside::Elements(children) => {
            children.iter().fold(hash.number(4), |hash, (_, child)| hashed(hash, child, depth + 1, by_hash))
        }
        Inside::Fields(children) => {
            let each = |hash: Hash, (name, child): &(String, Node)| {
                hashed(hash.bytes(name.as_bytes()), child, depth + 1, by_hash)
            };
            children.iter().fold(hash.number(5), each)
        }
        // Order means nothing: the sum is the same in any.
        Inside::Entries(children) => {
            let entry = |(key, child): &(String, Node)| {
                hashed(Hash::default().bytes(key.as_bytes()), child, depth + 1, by_hash).finish()
            };
            hash.number(6).number(children.iter().map(entry).fold(0, u64::wrapping_add))
        }
    }
}

/// The hashes of what is inside an element, when somebody asked for them.
type Inner = OnceCell<Vec<u64>>;

/// How much elements of two lists look alike. What is inside an element is hashed once, and only if somebody asks.
pub(super) struct Likeness<'a> {
    sides: (Elements<'a>, Elements<'a>),
    hashes: (Vec<Inner>, Vec<Inner>),
    by_hash: bool,
}

impl<'a> Likeness<'a> {
    pub(super) fn new(sides: (Elements<'a>, Elements<'a>), by_hash: bool) -> Self {
        let empty = |side: Elements<'a>| vec![OnceCell::new(); side.len()];
        Likeness { sides, hashes: (empty(sides.0), empty(sides.1)), by_hash }
    }

    /// How much an old and a new element look like the same one; 0 is not at all.
    pub(super) fn of(&self, old_index: usize, new_index: usize) -> u32 {
        let (old, new) = (&self.sides.0[old_index].1, &self.sides.1[new_index].1);
        if old.kind != new.kind {
            return 0;
        }
        if old.identity.is_some() && old.identity == new.identity {
            return 1000;
        }
        let hashes = |node: &Node| node.children().map(|child| fingerprint(child, self.by_hash)).collect::<Vec<u64>>();
        let before = self.hashes.0[old_index].get_or_init(|| hashes(old));
        let after = self.hashes.1[new_index].get_or_init(|| hashes(new));
        let equal = before.iter().zip(after).filter(|(before, after)| before == after).count();
        1 + equal.min(100) as u32
    }
}

/// Which end of a part of a list is not the list's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Nowhere,
    Start,
    End,
}

/// Steps without those at an open end that say no more than that one list's part is longer.
pub(super) fn without_open_ends(steps: &[Step], open: Open) -> &[Step] {
    let single = |step: &&Step| !matches!(step, Step::Both(..));
    match open {
        Open::Nowhere => steps,
        Open::Start => &steps[steps.iter().take_while(single).count()..],
        Open::End => &steps[..steps.len() - steps.iter().rev().take_while(single).count()],
    }
}

/// An element with its index.
pub(super) type Element = (u64, Node);

type Elements<'a> = &'a [Element];

/// The parts of two lists that can be compared.
pub(super) struct Windows<'a> {
    /// From the start of both lists.
    pub(super) head: (Elements<'a>, Elements<'a>),
    /// To the end of both lists.
    pub(super) tail: (Elements<'a>, Elements<'a>),
    /// Single elements with the same index, when the lists are equally long.
    pub(super) middle: Vec<(&'a Element, &'a Element)>,
}

/// The parts of two lists that can be compared when at least one was not captured whole.
pub(super) fn windows<'a>(
    sides: (Elements<'a>, Elements<'a>),
    lengths: (Option<u64>, Option<u64>),
    partial: (bool, bool),
) -> Windows<'a> {
    let old = Parts::of(sides.0, lengths.0);
    let new = Parts::of(sides.1, lengths.1);
    // Of one that is whole only as much as there is of the other.
    let (old, new) = match partial {
        (false, true) => (old.like(&new, sides.0), new),
        (true, false) => (old, new.like(&old, sides.1)),
        _ => (old, new),
    };
    let known_equal = matches!(lengths, (Some(old), Some(new)) if old == new);
    let middle = if known_equal { same_index(old.middle, new.middle) } else { Vec::new() };
    Windows { head: (old.head, new.head), tail: (old.tail, new.tail), middle }
}

#[derive(Clone, Copy)]
struct Parts<'a> {
    head: Elements<'a>,
    middle: Elements<'a>,
    tail: Elements<'a>,
}

impl<'a> Parts<'a> {
    fn of(elements: Elements<'a>, length: Option<u64>) -> Self {
        let head = elements.iter().zip(0..).take_while(|((index, _), expected)| index == expected).count();
        let (head, rest) = elements.split_at(head);
        let from_end = |back: &(usize, &(u64, Node))| {
            Some(back.1.0) == length.and_then(|length| length.checked_sub(back.0 as u64 + 1))
        };
        let tail = rest.iter().rev().enumerate().take_while(from_end).count();
        let (middle, tail) = rest.split_at(rest.len() - tail);
        Parts { head, middle, tail }
    }

    /// All of a list in parts as long as those of another one.
    fn like(&self, other: &Parts<'_>, all: Elements<'a>) -> Self {
        let head = other.head.len().min(all.len());
        let tail = other.tail.len().min(all.len() - head);
        let (head, rest) = all.split_at(head);
        let (middle, tail) = rest.split_at(rest.len() - tail);
        Parts { head, middle, tail }
    }
}

fn same_index<'a>(old: Elements<'a>, new: Elements<'a>) -> Vec<(&'a Element, &'a Element)> {
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    let mut pairs = Vec::new();
    while let (Some(before), Some(after)) = (old.peek(), new.peek()) {
        match before.0.cmp(&after.0) {
            Ordering::Less => _ = old.next(),
            Ordering::Greater => _ = new.next(),
            Ordering::Equal => pairs.extend(old.next().zip(new.next())),
        }
    }
    pairs
}

//! Compares two values and everything captured inside them. A value is reported only if nothing inside it explains that it
//! differs. Whatever one of the two captures did not look into is compared by its hash, length and text.

use std::collections::{HashMap, HashSet};

use super::align::{self, Step as Aligned};
use super::change::{Change, Found, Name, Place, What, Why};
use super::elements::{self, Windows};
use super::runs::{self, Span};
use super::scalar::{is_nan, without_addresses, without_any_address};
use crate::capture::{Inside, Node};
use crate::path::{self, Step};

/// Deeper values are compared as wholes; no capture is meant to be that deep.
const DEEPEST: u32 = 200;

/// A comparison under way.
pub(super) struct Walk<'a> {
    pub(super) found: Found<'a>,
    /// Paths of which not everything was captured, in either capture.
    incomplete: HashSet<&'a str>,
    /// Variables are missing from either capture.
    pub(super) lacks_variables: bool,
    place: Place<'a>,
    path: String,
    depth: u32,
    /// Within an object that took the place of another one, where everything else is another one too.
    rebound: bool,
}

/// The old or the new side of a comparison.
type Sides<'a, T> = (&'a [T], &'a [T]);

impl<'a> Walk<'a> {
    pub(super) fn new(incomplete: HashSet<&'a str>, lacks_variables: bool, place: Place<'a>) -> Self {
        Walk {
            found: Found::default(),
            incomplete,
            lacks_variables,
            place,
            path: String::new(),
            depth: 0,
            rebound: false,
        }
    }

    /// Goes on in a variable.
    pub(super) fn variable(
        &mut self,
        place: Place<'a>,
        path: &str,
        name: &'a str,
        old: Option<&'a Node>,
        new: Option<&'a Node>,
    ) {
        self.place = place;
        self.depth = 0;
        self.rebound = false;
        path.clone_into(&mut self.path);
        self.either(Name::Text(name), old, new);
    }

    fn either(&mut self, name: Name<'a>, old: Option<&'a Node>, new: Option<&'a Node>) {
        // What has no value yet is not there.
        match (old.filter(|old| is_set(old)), new.filter(|new| is_set(new))) {
            (Some(old), Some(new)) => self.both(name, old, new),
            (Some(old), None) => self.emit(name, What::Removed(old, None)),
            (None, Some(new)) => self.emit(name, What::Added(new, None)),
            (None, None) => {}
        }
    }

    fn emit(&mut self, name: Name<'a>, what: What<'a>) {
        self.emit_at(name, what, Vec::new());
    }

    fn emit_at(&mut self, name: Name<'a>, what: What<'a>, spans: Vec<Span>) {
        let Walk { path, depth, place, .. } = self;
        self.found.changes.push(Change { path: path.clone(), name, depth: *depth, place: *place, what, spans });
    }

    /// The elements that changed and were not captured: without those of which a change was told.
    fn unseen_elements(&self, from: usize, old: &Node, new: &Node) -> Vec<Span> {
        let told = self.found.changes[from..].iter().filter(|change| change.depth > self.depth);
        let indices: Vec<(u64, bool)> = told
            .filter_map(|change| {
                let rest = change.path.get(self.path.len()..)?.strip_prefix('[')?;
                let index = rest.split(']').next()?.parse().ok()?;
                let own = change.depth == self.depth + 1;
                Some((index, own && matches!(change.what, What::Removed(_, None))))
            })
            .collect();
        let is_told = |span: &Span| span.count() == 1 && indices.iter().any(|(index, gone)| span.holds(*index, *gone));
        runs::spans(old, new).into_iter().filter(|span| !is_told(span)).collect()
    }

    fn both(&mut self, name: Name<'a>, old: &'a Node, new: &'a Node) {
        // A debugger that does not tell types has no type changes.
        if old.kind != new.kind && !old.kind.is_empty() && !new.kind.is_empty() {
            self.emit(name, What::Removed(old, Some(new)));
            return self.emit(name, What::Added(new, Some(old)));
        }
        let outer = self.rebound;
        if !outer && is_another_object(old, new) {
            self.found.rebound.push(self.path.clone());
            self.rebound = true;
        }
        match self.difference(old, new) {
            Some(Difference::None) => self.found.unchanged += 1,
            Some(Difference::Unknown) => self.found.not_compared.push(self.path.clone()),
            Some(Difference::Is(why)) => self.emit(name, What::Modified(old, new, why)),
            None => self.inside(name, old, new),
        }
        self.rebound = outer;
    }

    /// How two values differ as wholes; nothing when they have to be looked into.
    fn difference(&self, old: &Node, new: &Node) -> Option<Difference> {
        use Inside::{Elements, Entries, Fields, Leaf, NotExpanded, SeeAt};
        match (&old.inside, &new.inside) {
            (SeeAt(_), _) | (_, SeeAt(_)) => Some(of_references(old, new)),
            (Leaf, Leaf) => Some(of_leaves(old, new)),
            // Neither was looked into, and the hash is not of everything inside.
            (NotExpanded, NotExpanded) if self.incomplete.contains(self.path.as_str()) => match of_unseen(old, new) {
                Difference::None => Some(Difference::Unknown),
                other => Some(other),
            },
            // One has something inside and the other has not.
            (Leaf, NotExpanded) | (NotExpanded, Leaf) => Some(of_wholes(old, new)),
            (NotExpanded, _) | (_, NotExpanded) => Some(of_unseen(old, new)),
            _ if self.depth >= DEEPEST => Some(of_unseen(old, new)),
            (Fields(_), Fields(_)) | (Elements(_), Elements(_)) | (Entries(_), Entries(_)) => None,
            (Leaf, Elements(_) | Entries(_)) if old.length == Some(0) => None,
            (Elements(_) | Entries(_), Leaf) if new.length == Some(0) => None,
            // A pointer to nothing that now points to something, or what a debugger shows now one way, now another.
            _ => Some(of_wholes(old, new)),
        }
    }

    fn inside(&mut self, name: Name<'a>, old: &'a Node, new: &'a Node) {
        let before = (self.found.changes.len(), self.found.unchanged, self.found.not_compared.len());
        let unseen = match (&old.inside, &new.inside) {
            (Inside::Elements(_), _) | (_, Inside::Elements(_)) => self.elements(old, new),
            (Inside::Fields(_), _) | (_, Inside::Fields(_)) => self.named(old, new, Step::Field),
            _ => self.named(old, new, Step::Key),
        };
        // What is inside is the same, also what was not told of it.
        if agree(&old.hash, &new.hash) && !old.partial && !new.partial {
            let known = self.found.not_compared.len() - before.2;
            self.found.not_compared.truncate(before.2);
            self.found.unchanged += known as u64;
        }
        let own = own_difference(old, new, unseen);
        // A part of it that no debugger can read stands for none of what is told of it.
        let hidden = (old.partial || new.partial) && self.found.not_compared.len() == before.2;
        if own == Difference::Unknown || (hidden && own == Difference::None) {
            self.found.not_compared.push(self.path.clone());
        } else if self.found.changes.len() > before.0 {
            // What is inside explains it, unless elements changed that were not seen to, or more went or came.
            let spans = self.unseen_elements(before.0, old, new);
            let is_unseen = own == Difference::Is(Why::Unseen);
            if is_unseen && (!spans.is_empty() || !self.explains_length(before.0, old, new)) {
                self.emit_at(name, What::Modified(old, new, Why::Unseen), spans);
            }
        } else if let Difference::Is(why) = own {
            let spans = self.unseen_elements(before.0, old, new);
            self.emit_at(name, What::Modified(old, new, why), spans);
        } else if before == self.counts() {
            // A container with nothing in it is a value of its own.
            self.found.unchanged += 1;
        }
    }

    fn counts(&self) -> (usize, u64, usize) {
        (self.found.changes.len(), self.found.unchanged, self.found.not_compared.len())
    }

    /// Whether the elements seen to go and come are as many as the change of the length says.
    fn explains_length(&self, from: usize, old: &Node, new: &Node) -> bool {
        let (Some(old), Some(new)) = (old.length, new.length) else { return true };
        let own = self.found.changes[from..].iter().filter(|change| change.depth == self.depth + 1);
        let net: i128 = own
            .map(|change| match change.what {
                What::Added(_, None) => 1,
                What::Removed(_, None) => -1,
                _ => 0,
            })
            .sum();
        net == i128::from(new) - i128::from(old)
    }

    /// Into one child.
    fn child(&mut self, step: Step<'a>, old: Option<&'a Node>, new: Option<&'a Node>) {
        let length = self.path.len();
        path::push(&mut self.path, step);
        self.depth += 1;
        let name = match step {
            Step::Field(name, _) | Step::Key(name, _) => Name::Text(name),
            Step::Index(index) => Name::Index(index),
        };
        self.either(name, old, new);
        self.depth -= 1;
        self.path.truncate(length);
    }

    /// Children by their names, in the order of the new ones; whether some were not seen.
    fn named(&mut self, old: &'a Node, new: &'a Node, step: fn(&'a str, usize) -> Step<'a>) -> bool {
        let (olds, news) = (named_children(old), named_children(new));
        let incomplete = self.incomplete.contains(self.path.as_str());
        let old_unseen = incomplete || is_partial(old, olds.len());
        let new_unseen = incomplete || is_partial(new, news.len());
        if same_names(olds, news) {
            // The common case needs no table.
            for ((name, old), (_, new)) in olds.iter().zip(news) {
                self.child(step(name, 1), Some(old), Some(new));
            }
            return old_unseen || new_unseen;
        }
        let mut places = table(olds);
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (name, new) in news {
            let occurrence = seen.entry(name).or_default();
            *occurrence += 1;
            match places.remove(&(name.as_str(), *occurrence)) {
                Some(old) => self.child(step(name, *occurrence), Some(&olds[old].1), Some(new)),
                None if old_unseen => {}
                None => self.child(step(name, *occurrence), None, Some(new)),
            }
        }
        if !new_unseen {
            let mut gone: Vec<((&'a str, usize), usize)> = places.into_iter().collect();
            gone.sort_unstable_by_key(|(_, index)| *index);
            for ((name, occurrence), index) in gone {
                self.child(step(name, occurrence), Some(&olds[index].1), None);
            }
        }
        old_unseen || new_unseen
    }

    /// Elements of lists; whether some were not seen.
    fn elements(&mut self, old: &'a Node, new: &'a Node) -> bool {
        let sides = (indexed_children(old), indexed_children(new));
        let incomplete = self.incomplete.contains(self.path.as_str());
        let old_partial = incomplete || is_partial(old, sides.0.len());
        let new_partial = incomplete || is_partial(new, sides.1.len());
        if !old_partial && !new_partial {
            self.aligned(sides, elements::Open::Nowhere);
            return false;
        }
        let Windows { head, tail, middle } =
            elements::windows(sides, (old.length, new.length), (old_partial, new_partial));
        self.aligned(head, elements::Open::End);
        for (old, new) in middle {
            self.child(Step::Index(new.0), Some(&old.1), Some(&new.1));
        }
        self.aligned(tail, elements::Open::Start);
        true
    }

    fn aligned(&mut self, sides: Sides<'a, (u64, Node)>, open: elements::Open) {
        let (old, new) = sides;
        let by_hash = old.iter().chain(new).all(|(_, node)| elements::has_hashes(node));
        let hashes = |side: &[(u64, Node)]| {
            side.iter().map(|(_, node)| elements::fingerprint(node, by_hash)).collect::<Vec<u64>>()
        };
        let likeness = elements::Likeness::new(sides, by_hash);
        let steps = align::align(&hashes(old), &hashes(new), |old, new| likeness.of(old, new));
        for step in elements::without_open_ends(&steps, open) {
            match *step {
                Aligned::Both(at, with) => self.child(Step::Index(new[with].0), Some(&old[at].1), Some(&new[with].1)),
                Aligned::Old(at) => self.child(Step::Index(old[at].0), Some(&old[at].1), None),
                Aligned::New(with) => self.child(Step::Index(new[with].0), None, Some(&new[with].1)),
            }
        }
    }
}

/// How two values differ as wholes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    None,
    /// They look the same, and what was not seen of them may not be.
    Unknown,
    Is(Why),
}

fn is_set(node: &Node) -> bool {
    node.inside != Inside::Unset
}

/// Whether the debugger tells that another object stands there. Of numbers and texts identity means nothing: what tells their
/// value whole tells everything.
fn is_another_object(old: &Node, new: &Node) -> bool {
    let objects = |node: &Node| match node.inside {
        Inside::Leaf => node.hash.is_some() || node.partial || *without_addresses(&node.text) != node.text,
        Inside::SeeAt(_) => false,
        _ => true,
    };
    objects(old) && objects(new) && differ(&old.identity, &new.identity)
}

/// Whether both are known and not the same.
fn differ<T: PartialEq>(old: &Option<T>, new: &Option<T>) -> bool {
    matches!((old, new), (Some(old), Some(new)) if old != new)
}

/// Whether both are known and the same.
fn agree<T: PartialEq>(old: &Option<T>, new: &Option<T>) -> bool {
    matches!((old, new), (Some(old), Some(new)) if old == new)
}

fn of_leaves(old: &Node, new: &Node) -> Difference {
    let (old_text, new_text) = (without_addresses(&old.text), without_addresses(&new.text));
    if old_text != new_text {
        return Difference::Is(Why::Text);
    }
    // Not a number is not a number, whatever its bits are.
    if is_nan(&old.text) {
        return Difference::None;
    }
    // With addresses left out it is not known whether two objects hold the same; a hash may be of those addresses.
    if *old_text != old.text {
        let same_object = old.text == new.text && agree(&old.hash, &new.hash) && !old.partial && !new.partial;
        let told_apart = old.text != new.text || old.partial || new.partial;
        return if same_object || !told_apart { Difference::None } else { Difference::Unknown };
    }
    if differ(&old.hash, &new.hash) || differ(&old.length, &new.length) {
        return Difference::Is(Why::Cut);
    }
    if old.partial || new.partial {
        return Difference::Unknown;
    }
    let cut = |node: &Node| node.length.is_some_and(|length| length > node.text.chars().count() as u64);
    match !agree(&old.hash, &new.hash) && cut(old) && cut(new) {
        true => Difference::Unknown,
        false => Difference::None,
    }
}

/// Of values that at least one capture did not look into.
fn of_unseen(old: &Node, new: &Node) -> Difference {
    if without_any_address(&old.text) != without_any_address(&new.text) {
        return Difference::Is(Why::Text);
    }
    if differ(&old.hash, &new.hash) || differ(&old.near, &new.near) || differ(&old.length, &new.length) {
        return Difference::Is(Why::Deeper);
    }
    if agree(&old.hash, &new.hash) && !old.partial && !new.partial { Difference::None } else { Difference::Unknown }
}

fn of_wholes(old: &Node, new: &Node) -> Difference {
    match of_unseen(old, new) {
        Difference::Is(why) => Difference::Is(why),
        Difference::None => Difference::None,
        // One has something inside and the other has not.
        Difference::Unknown => Difference::Is(Why::Deeper),
    }
}

/// Of values at least one of which stands elsewhere too.
fn of_references(old: &Node, new: &Node) -> Difference {
    let same_place = matches!((&old.inside, &new.inside), (Inside::SeeAt(old), Inside::SeeAt(new)) if old == new);
    // What stands at that place is compared there.
    if same_place && !differ(&old.identity, &new.identity) {
        return Difference::None;
    }
    if agree(&old.hash, &new.hash) && !old.partial && !new.partial {
        return Difference::None;
    }
    match (agree(&old.identity, &new.identity), differ(&old.hash, &new.hash)) {
        (true, true) => Difference::Is(Why::Deeper),
        (true, false) => Difference::Unknown,
        (false, false) if same_place => Difference::Unknown,
        (false, _) => Difference::Is(Why::Reference),
    }
}

/// How two containers differ apart from what was captured inside them.
fn own_difference(old: &Node, new: &Node, unseen: bool) -> Difference {
    if unseen && differ(&old.length, &new.length) {
        return Difference::Is(Why::Unseen);
    }
    if differ(&old.hash, &new.hash) {
        return Difference::Is(if unseen { Why::Unseen } else { Why::Deeper });
    }
    if agree(&old.hash, &new.hash) && !(unseen && (old.partial || new.partial)) {
        return Difference::None;
    }
    if without_any_address(&old.text) != without_any_address(&new.text) {
        return Difference::Is(Why::Text);
    }
    if unseen { Difference::Unknown } else { Difference::None }
}

fn is_partial(node: &Node, captured: usize) -> bool {
    node.length.is_some_and(|length| length > captured as u64)
}

fn named_children(node: &Node) -> &[(String, Node)] {
    match &node.inside {
        Inside::Fields(children) | Inside::Entries(children) => children,
        _ => &[],
    }
}

fn indexed_children(node: &Node) -> &[(u64, Node)] {
    match &node.inside {
        Inside::Elements(children) => children,
        _ => &[],
    }
}

/// Whether both have the same names in the same order, each once.
fn same_names(old: &[(String, Node)], new: &[(String, Node)]) -> bool {
    let mut seen = HashSet::with_capacity(old.len());
    old.len() == new.len() && old.iter().zip(new).all(|((old, _), (new, _))| old == new && seen.insert(old.as_str()))
}

/// Where each name is, with its number among equal ones.
fn table(children: &[(String, Node)]) -> HashMap<(&str, usize), usize> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut places = HashMap::with_capacity(children.len());
    for (index, (name, _)) in children.iter().enumerate() {
        let occurrence = seen.entry(name).or_default();
        *occurrence += 1;
        places.insert((name.as_str(), *occurrence), index);
    }
    places
}

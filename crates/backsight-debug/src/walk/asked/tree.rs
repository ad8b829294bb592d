//! The values of a frame while they are being asked for: what is known of each, and what is to be asked next.

use std::collections::HashMap;

use super::super::memory::{Form, Read};
use super::step;
use crate::adapters::{Quirks, Walker};
use crate::capture::{Inside, Node, Safety};
use crate::dap::types;
use crate::diff::run_of;
use crate::hash::Hash;

/// The longest text of a value.
const LONGEST: usize = 400;
/// What is deeper is not hashed.
const DEEPEST_HASH: u32 = 2_000;

pub(super) struct Tree<'a> {
    slots: Vec<Slot>,
    quirks: &'a Quirks,
    safety: Safety,
    /// Objects that are expanded, by what tells them from others.
    seen: HashMap<String, usize>,
    /// Expressions are evaluated in this frame.
    pub frame: i64,
    /// What is added now is only hashed, not told.
    hiding: bool,
}

struct Slot {
    parent: Option<usize>,
    label: Label,
    level: u32,
    variable: types::Variable,
    identity: Option<String>,
    /// Of the whole value, and how long that is, read where it lies.
    whole: Option<(u64, Option<u64>)>,
    state: State,
    /// Of runs of elements, read where they lie.
    runs: Vec<u32>,
    /// How many elements are told.
    shown: u64,
    /// Only hashed.
    hidden: bool,
    /// What is inside it is only hashed.
    shut: bool,
    children: Vec<usize>,
}

/// What a value is called in its parent.
#[derive(Clone, Debug)]
pub(super) enum Label {
    Root(String),
    Field(String),
    Index(u64),
    Key(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing is inside.
    Leaf,
    /// Something is inside and was not asked for.
    Closed,
    /// To be asked for.
    Waiting,
    /// Being asked for.
    Asked,
    /// Something is inside and was not to be had.
    Refused,
    /// What is inside is known.
    Open,
    /// It is told elsewhere.
    Seen,
}

impl<'a> Tree<'a> {
    pub(super) fn new(quirks: &'a Quirks, safety: Safety, frame: i64) -> Self {
        Tree { slots: Vec::new(), quirks, safety, seen: HashMap::new(), frame, hiding: false }
    }

    /// Adds a value, unless it is one the debugger made up.
    pub(super) fn add(&mut self, parent: Option<usize>, variable: types::Variable, level: u32) -> Option<usize> {
        if self.is_made_up(&variable) {
            return None;
        }
        let expandable = variable.variables_reference > 0 && (!is_lazy(&variable) || self.safety == Safety::Full);
        let label = self.label(parent, &variable.name);
        let state = if expandable { State::Waiting } else { State::Leaf };
        let hidden = self.hiding;
        let slot = Slot {
            parent,
            label,
            level,
            variable,
            identity: None,
            whole: None,
            runs: Vec::new(),
            shown: 0,
            state,
            hidden,
            shut: false,
            children: Vec::new(),
        };
        self.slots.push(slot);
        let slot = self.slots.len() - 1;
        if let Some(parent) = parent.and_then(|parent| self.slots.get_mut(parent)) {
            parent.shown += u64::from(!hidden);
            parent.children.push(slot);
        }
        Some(slot)
    }

    /// Whether the debugger made a value up.
    fn is_made_up(&self, variable: &types::Variable) -> bool {
        self.quirks.synthetic.contains(&variable.name) || (self.quirks.calls && variable.name.ends_with("()"))
    }

    pub(super) fn children(&self, slot: usize) -> &[usize] {
        self.slots.get(slot).map(|slot| slot.children.as_slice()).unwrap_or_default()
    }

    /// Forgets what is inside, which is then known to be something.
    pub(super) fn empty(&mut self, slot: usize) {
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.children.clear();
            slot.state = State::Closed;
        }
    }

    /// Whether a value only points to the one that is inside it.
    pub(super) fn is_box(&self, slot: usize, children: &[types::Variable]) -> bool {
        let interface = self.slots.get(slot).is_some_and(|slot| is_interface(&slot.variable));
        matches!(children, [only] if only.name.is_empty() || (only.name == "data" && interface))
    }

    /// What is inside a map, by key and value. Delve tells two values where a key and its value both have something inside, and
    /// where only the key has, what is inside the entry is what is inside the key.
    fn entries(&self, slot: usize, children: Vec<types::Variable>) -> Vec<types::Variable> {
        if !self.slots.get(slot).is_some_and(|slot| is_map(&slot.variable)) {
            return children;
        }
        let mut entries = Vec::with_capacity(children.len());
        let mut children = children.into_iter().peekable();
        while let Some(mut child) = children.next() {
            let value = child.name.strip_prefix("[key ").map(|rest| format!("[val {rest}"));
            if let Some(value) = value.and_then(|value| children.next_if(|next| next.name == value)) {
                entries.push(types::Variable { name: child.value, ..value });
                continue;
            }
            let kind = child.kind.as_deref().unwrap_or_default();
            if kind.split_once(": ").is_some_and(|(key, value)| opens(&child.name, key) && !opens(&child.value, value))
            {
                (child.variables_reference, child.indexed_variables, child.named_variables) = (0, None, None);
            }
            entries.push(child);
        }
        entries
    }

    fn label(&self, parent: Option<usize>, name: &str) -> Label {
        let Some(parent) = parent.and_then(|parent| self.slots.get(parent)) else {
            return Label::Root(name.to_owned());
        };
        let index = name.trim_start_matches('[').trim_end_matches(']').parse().ok();
        match (is_map(&parent.variable), is_indexed(&parent.variable), index) {
            (true, ..) => Label::Key(name.trim_matches('"').to_owned()),
            (false, true, Some(index)) => Label::Index(index),
            (false, true, None) => Label::Key(name.to_owned()),
            (false, false, _) => Label::Field(name.to_owned()),
        }
    }

    pub(super) fn name(&self, slot: usize) -> &str {
        self.slots.get(slot).map_or("", |slot| &slot.variable.name)
    }

    /// The values to be asked for next, of those that are not too deep.
    pub(super) fn open(&mut self, depth: u32) -> Vec<usize> {
        let mut open = Vec::new();
        for (index, slot) in self.slots.iter_mut().enumerate().filter(|(_, slot)| slot.state == State::Waiting) {
            // A getter that may run is not a level: its value takes its place.
            if slot.level >= depth && !is_lazy(&slot.variable) {
                slot.state = State::Closed;
            } else {
                slot.state = State::Asked;
                open.push(index);
            }
        }
        open
    }

    /// What is added from here on is only hashed.
    pub(super) fn hide(&mut self) {
        self.hiding = true;
    }

    /// Values that are not told any deeper, to be asked for all the same so that they can be hashed; at most so many.
    pub(super) fn deepen(&mut self, most: usize) -> Vec<usize> {
        self.hide();
        let waits = |slot: &Slot| {
            matches!(slot.state, State::Waiting | State::Closed) && !is_lazy(&slot.variable) && slot.whole.is_none()
        };
        let mut open = Vec::new();
        for (index, slot) in self.slots.iter_mut().enumerate().filter(|(_, slot)| waits(slot)).take(most) {
            slot.state = State::Asked;
            slot.shut = true;
            open.push(index);
        }
        open
    }

    /// Lists and maps of which only a part was asked for and whose memory does not tell the rest: from where on, and to where.
    pub(super) fn sampled(&self) -> Vec<(usize, u64, u64)> {
        let open = self.slots.iter().enumerate().filter(|(_, slot)| slot.state == State::Open && slot.whole.is_none());
        let part = |(index, slot): (usize, &Slot)| {
            let length = slot.variable.indexed_variables.filter(|length| *length > slot.children.len() as u64)?;
            let is_tail = |child: &usize| matches!(self.slots.get(*child).map(|slot| &slot.label), Some(Label::Index(at)) if *at >= length / 2);
            let tail = slot.children.iter().filter(|child| is_tail(child)).count() as u64;
            let head = slot.children.len() as u64 - tail;
            Some((index, head, length - tail))
        };
        open.filter_map(part).collect()
    }

    /// Those of them that got no answer stay closed.
    pub(super) fn close(&mut self, open: &[usize]) {
        for slot in open {
            if let Some(slot) = self.slots.get_mut(*slot).filter(|slot| slot.state == State::Asked) {
                slot.state = State::Closed;
            }
        }
    }

    /// Those of them that got no answer are not asked for again.
    pub(super) fn close_for_good(&mut self, open: &[usize]) {
        for slot in open {
            if let Some(slot) = self.slots.get_mut(*slot).filter(|slot| slot.state == State::Asked) {
                slot.state = State::Refused;
            }
        }
    }

    /// The expression for a value that is a pointer.
    pub(super) fn pointer(&self, slot: usize) -> Option<String> {
        let known = self.slots.get(slot).filter(|slot| slot.identity.is_none())?;
        let variable = &known.variable;
        let points = variable.kind.as_deref().is_some_and(|kind| kind.starts_with('*'));
        variable.evaluate_name.clone().filter(|_| points)
    }

    pub(super) fn identify(&mut self, slot: usize, identity: String) {
        let first = *self.seen.entry(identity.clone()).or_insert(slot);
        if let Some(slot_known) = self.slots.get_mut(slot) {
            slot_known.identity = Some(identity);
            if first != slot {
                slot_known.state = State::Seen;
            }
        }
    }

    /// Values of which the debugger sends only a part, and the expressions for them.
    pub(super) fn long(&self) -> Vec<(usize, String, Form)> {
        let is_long = |slot: &Slot| is_cut(&slot.variable.value) && slot.whole.is_none();
        let cut = self.slots.iter().enumerate().filter(|(_, slot)| is_long(slot));
        let told = cut.filter_map(|(index, slot)| {
            let kind = slot.variable.kind.as_deref().unwrap_or_default();
            let length = slot.variable.indexed_variables.unwrap_or_default();
            Some((index, slot.variable.evaluate_name.clone()?, Form::of_go(kind, length)?))
        });
        told.collect()
    }

    pub(super) fn learn(&mut self, slot: usize, read: Read) {
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.whole = Some((read.hash, read.count));
            slot.runs = read.runs;
        }
    }

    /// The adapter's number for what is inside, how many elements it has, and whether it is a map.
    pub(super) fn request(&self, slot: usize) -> (i64, Option<u64>, bool) {
        let Some(slot) = self.slots.get(slot) else { return (0, None, false) };
        let variable = &slot.variable;
        (variable.variables_reference, variable.indexed_variables.filter(|length| *length > 0), is_map(variable))
    }

    /// What is inside arrived; how many values that are. What only points to something becomes that, on the same level.
    pub(super) fn fill(&mut self, slot: usize, mut children: Vec<types::Variable>, part: ChildRange) -> u64 {
        let boxes = self.is_box(slot, &children);
        let Some(known) = self.slots.get_mut(slot).filter(|known| known.state != State::Seen) else { return 0 };
        if boxes {
            for child in children {
                known.state = if child.variables_reference > 0 { State::Waiting } else { State::Leaf };
                let kind = if is_interface(&known.variable) { child.kind.clone() } else { known.variable.kind.clone() };
                let evaluate_name = child.evaluate_name.clone();
                known.variable =
                    types::Variable { name: std::mem::take(&mut known.variable.name), kind, evaluate_name, ..child };
            }
            return 1;
        }
        known.state = State::Open;
        let level = known.level + 1;
        children.retain(|child| !self.is_made_up(child));
        let children = self.entries(slot, children);
        let came = children.len() as u64;
        for child in part.of(children) {
            self.add(Some(slot), child, level);
        }
        came
    }

    pub(super) fn path(&self, slot: usize) -> String {
        let Some(known) = self.slots.get(slot) else { return String::new() };
        let mut path = known.parent.map(|parent| self.path(parent)).unwrap_or_default();
        step(&mut path, &known.label);
        path
    }

    /// The value as it is captured.
    pub(super) fn node(&self, slot: usize) -> Node {
        let Some(known) = self.slots.get(slot) else { return Node::leaf("", "") };
        let variable = &known.variable;
        let kind = variable.kind.clone().unwrap_or_default();
        // Of a map's entry Delve tells both types.
        let kind = match (&known.label, kind.split_once(": ")) {
            (Label::Key(_), Some((_, value))) => value.to_owned(),
            _ => kind,
        };
        let length =
            variable.indexed_variables.filter(|length| *length > 0).or_else(|| length_in(&kind, &variable.value));
        let length = length.or_else(|| known.whole.and_then(|(_, length)| length));
        let state = if self.is_plain(known) { State::Leaf } else { known.state };
        let text = match state {
            State::Leaf => leaf_text(&variable.value),
            State::Closed | State::Waiting | State::Asked if self.says_more() => leaf_text(&variable.value),
            _ => container_text(&kind, length, &variable.value),
        };
        // What is told elsewhere is hashed as it is there.
        let first = known.identity.as_ref().filter(|_| known.state == State::Seen).and_then(|seen| self.seen.get(seen));
        let digest = self.digest(first.copied().unwrap_or(slot), 0);
        let told = state == State::Leaf && text == variable.value && !digest.partial;
        let inside = match state {
            State::Leaf => Inside::Leaf,
            State::Closed | State::Waiting | State::Asked | State::Refused => Inside::NotExpanded,
            State::Seen => Inside::SeeAt(String::new()),
            State::Open if known.shut => Inside::NotExpanded,
            State::Open => self.inside(known),
        };
        let identity = known.identity.clone().or_else(|| variable.memory_reference.clone());
        let hash = (!told && !digest.unreached).then_some(digest.hash);
        let runs = if digest.unreached { Vec::new() } else { self.runs(known) };
        Node { kind, text, hash, near: None, partial: digest.partial, length, runs, identity, inside }
    }

    /// A hash of all that is known of a value and everything inside it. The debugger's text of a value is not the value: it
    /// stands for it only where nothing is inside and nothing was left out.
    fn digest(&self, slot: usize, depth: u32) -> Digest {
        let unknown = Digest { partial: true, ..Digest::default() };
        let Some(known) = self.slots.get(slot).filter(|_| depth < DEEPEST_HASH) else { return unknown };
        let variable = &known.variable;
        let own = Hash::default().bytes(variable.kind.as_deref().unwrap_or_default().as_bytes());
        if let Some((hash, length)) = known.whole {
            let hash = own.number(hash).number(length.unwrap_or_default()).finish();
            return Digest { hash, ..Digest::default() };
        }
        match known.state {
            State::Leaf => {
                let partial = is_cut(&variable.value) || hides(variable) || variable.variables_reference > 0;
                Digest { hash: own.bytes(leaf_value(&variable.value).as_bytes()).finish(), partial, unreached: false }
            }
            // It is hashed, or said not to be, where it was met first. Where that is, not its address: stacks move.
            State::Seen => {
                let first = known.identity.as_ref().and_then(|identity| self.seen.get(identity));
                let at = first.map(|first| self.path(*first)).unwrap_or_default();
                Digest { hash: own.bytes(at.as_bytes()).finish(), ..Digest::default() }
            }
            State::Closed | State::Waiting | State::Asked | State::Refused => {
                // How far there was time to go is another place each time: what was hashed on the way says nothing.
                let unreached = self.hiding && known.state != State::Refused;
                Digest { hash: own.bytes(variable.value.as_bytes()).finish(), partial: true, unreached }
            }
            State::Open if self.is_plain(known) => {
                let partial = is_cut(&variable.value);
                Digest { hash: own.bytes(leaf_value(&variable.value).as_bytes()).finish(), partial, unreached: false }
            }
            // What the program says of a value may be more than what is inside it.
            State::Open if self.says_more() => self.digest_inside(known, own.bytes(variable.value.as_bytes()), depth),
            State::Open => self.digest_inside(known, own, depth),
        }
    }

    /// Whether the text of a value is made by the program itself.
    fn says_more(&self) -> bool {
        self.quirks.runs_code && self.quirks.walker == Walker::None
    }

    /// Some debuggers say of numbers and texts that something is inside, and then tell nothing of the program's.
    fn is_plain(&self, known: &Slot) -> bool {
        let is_empty = known.children.is_empty() && known.variable.indexed_variables.unwrap_or_default() == 0;
        known.state == State::Open && is_empty && self.says_more()
    }

    fn digest_inside(&self, known: &Slot, own: Hash, depth: u32) -> Digest {
        let length = known.variable.indexed_variables.filter(|length| *length > 0);
        let mut partial = length.is_some_and(|length| length > known.children.len() as u64);
        let mut unreached = false;
        let mut sum = 0_u64;
        for (child, label) in known.children.iter().filter_map(|child| Some((*child, &self.slots.get(*child)?.label))) {
            let inner = self.digest(child, depth + 1);
            partial |= inner.partial;
            unreached |= inner.unreached;
            let named = match label {
                Label::Root(name) | Label::Field(name) | Label::Key(name) => Hash::default().bytes(name.as_bytes()),
                Label::Index(index) => Hash::default().number(*index),
            };
            // By name, in whatever order they came.
            sum = sum.wrapping_add(named.number(inner.hash).finish());
        }
        Digest { hash: own.number(length.unwrap_or_default()).number(sum).finish(), partial, unreached }
    }

    /// Hashes of runs of elements of a list that is not told whole.
    fn runs(&self, known: &Slot) -> Vec<u32> {
        let Some(length) = known.variable.indexed_variables.filter(|length| *length > known.shown) else {
            return Vec::new();
        };
        if !known.runs.is_empty() {
            return known.runs.clone();
        }
        let mut elements: Vec<(u64, u64)> = Vec::new();
        for child in &known.children {
            let Some(Label::Index(index)) = self.slots.get(*child).map(|slot| &slot.label) else { return Vec::new() };
            elements.push((*index, self.digest(*child, 0).hash));
        }
        elements.sort_unstable();
        if elements.len() as u64 != length {
            return Vec::new();
        }
        let hashes: Vec<u64> = elements.into_iter().map(|(_, hash)| hash).collect();
        let run = hashes.chunks(run_of(length) as usize);
        run.map(|run| run.iter().fold(Hash::default(), |hash, one| hash.number(*one)).finish() as u32).collect()
    }

    fn inside(&self, known: &Slot) -> Inside {
        let children: Vec<(&Label, Node)> = known
            .children
            .iter()
            .filter_map(|child| {
                let slot = self.slots.get(*child).filter(|slot| !slot.hidden)?;
                Some((&slot.label, self.node(*child)))
            })
            .collect();
        let text = |label: &Label| match label {
            Label::Root(name) | Label::Field(name) | Label::Key(name) => name.clone(),
            Label::Index(index) => index.to_string(),
        };
        let indexed: Option<Vec<u64>> = children
            .iter()
            .map(|(label, _)| match label {
                Label::Index(index) => Some(*index),
                _ => None,
            })
            .collect();
        match (children.first().map(|(label, _)| *label), indexed) {
            (Some(Label::Index(_)), Some(indexes)) => {
                Inside::Elements(indexes.into_iter().zip(children.into_iter().map(|(_, node)| node)).collect())
            }
            (Some(Label::Key(_)), _) => {
                Inside::Entries(children.into_iter().map(|(label, node)| (text(label), node)).collect())
            }
            (None, _) => Inside::Leaf,
            _ => Inside::Fields(children.into_iter().map(|(label, node)| (text(label), node)).collect()),
        }
    }
}

/// A hash.
#[derive(Clone, Copy, Default)]
struct Digest {
    hash: u64,
    /// It is not of everything.
    partial: bool,
    /// Of how much it is was a matter of time.
    unreached: bool,
}

/// Which of the values inside a value are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) enum ChildRange {
    All,
    /// So many from one on, and the debugger was asked for them; some send everything whatever they are asked.
    Asked(u64, u64),
    /// So many from one on, of a debugger that was asked for everything.
    Chosen(u64, u64),
}

impl ChildRange {
    fn of(self, children: Vec<types::Variable>) -> Vec<types::Variable> {
        let (start, count) = match self {
            ChildRange::All => return children,
            ChildRange::Asked(_, count) if children.len() as u64 <= count => return children,
            ChildRange::Asked(start, count) | ChildRange::Chosen(start, count) => (start, count),
        };
        let number = |child: &types::Variable| child.name.trim_matches(['[', ']']).parse::<u64>().ok();
        let is_numbered = children.iter().all(|child| number(child).is_some());
        let wanted = start..start.saturating_add(count);
        let chosen = children.into_iter().zip(0..).filter(|(child, at)| match is_numbered {
            true => number(child).is_some_and(|number| wanted.contains(&number)),
            false => wanted.contains(at),
        });
        chosen.map(|(child, _)| child).collect()
    }
}

/// What keeps something that Delve does not tell: a function that was made in another (`main.main.func1.2`) its variables, the
/// method of a value (`main.(*Cart).Total-fm`) that value, and an `unsafe.Pointer` what it points to.
fn hides(variable: &types::Variable) -> bool {
    let text = variable.value.as_str();
    if let Some(address) = text.strip_prefix("unsafe.Pointer(") {
        return address != "0x0)" && address != "nil)";
    }
    let is_name = !text.contains(['"', ' ', '{', '`']);
    let is_numbered = |part: &str| {
        let number = part.strip_prefix("func").unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    is_name && (text.ends_with("-fm") || text.split('.').skip(1).any(is_numbered))
}

/// Whether Delve's text is of something that has something inside, which then begins with its type.
fn opens(text: &str, kind: &str) -> bool {
    let rest = text.strip_prefix(kind).or_else(|| text.strip_prefix('(')?.strip_prefix(kind)?.strip_prefix(')'));
    rest.is_some_and(|rest| rest.starts_with([' ', '{', '(', '[', '.']))
}

fn is_lazy(variable: &types::Variable) -> bool {
    variable.presentation_hint.as_ref().is_some_and(|hint| hint.lazy)
}

fn is_map(variable: &types::Variable) -> bool {
    let kind = variable.kind.as_deref().unwrap_or_default();
    let kind = kind.rsplit(": ").next().unwrap_or(kind).trim_start_matches('*');
    kind.starts_with("map[")
}

fn is_indexed(variable: &types::Variable) -> bool {
    variable.indexed_variables.is_some_and(|length| length > 0)
}

fn is_interface(variable: &types::Variable) -> bool {
    variable.value.starts_with("interface {}(")
        || variable.value.starts_with("error(")
        || variable.value.contains(")(*")
        || {
            let kind = variable.kind.as_deref().unwrap_or_default();
            kind.starts_with("interface") || kind == "error" || kind == "any"
        }
        || variable.value.starts_with(&format!("{}(", variable.kind.as_deref().unwrap_or("\0")))
}

/// Whether a debugger left something out of a value's text.
fn is_cut(text: &str) -> bool {
    text.contains("...")
}

fn length_in(kind: &str, text: &str) -> Option<u64> {
    let rest = text.strip_prefix(kind)?.strip_prefix(" len: ")?;
    rest.split(',').next()?.trim().parse().ok()
}

/// Delve shows unsigned numbers twice.
fn leaf_value(text: &str) -> &str {
    text.split_once(" = 0x").map_or(text, |(number, _)| number)
}

fn leaf_text(text: &str) -> String {
    let plain = leaf_value(text);
    match plain.len() > LONGEST {
        true => format!("{}...", plain.get(..plain.floor_char_boundary(LONGEST)).unwrap_or_default()),
        false => plain.to_owned(),
    }
}

fn container_text(kind: &str, length: Option<u64>, value: &str) -> String {
    let kind = if kind.is_empty() { value.split(['{', '[']).next().unwrap_or_default().trim() } else { kind };
    match length {
        Some(length) => format!("{kind} len {length}"),
        None => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, kind: &str, value: &str, reference: i64, indexed: u64) -> types::Variable {
        types::Variable {
            name: name.to_owned(),
            value: value.to_owned(),
            kind: Some(kind.to_owned()),
            variables_reference: reference,
            indexed_variables: Some(indexed),
            ..types::Variable::default()
        }
    }

    #[test]
    fn pointers_and_interfaces_are_no_level() {
        let quirks = Quirks { calls: true, runs_code: false, ..Quirks::default() };
        let mut tree = Tree::new(&quirks, Safety::Pure, 0);
        let root = tree.add(None, variable("o", "interface {}", "interface {}(*main.T) *{A: 1}", 1, 0), 0).unwrap();
        assert_eq!(tree.open(1), [root]);
        tree.fill(root, vec![variable("data", "*main.T", "*main.T {A: 1}", 2, 0)], ChildRange::All);
        assert_eq!(tree.open(1), [root]);
        tree.fill(root, vec![variable("", "main.T", "main.T {A: 1}", 3, 0)], ChildRange::All);
        assert_eq!(tree.open(1), [root]);
        tree.fill(
            root,
            vec![variable("A", "int", "1", 0, 0), variable("B", "main.U", "main.U {...}", 9, 0)],
            ChildRange::All,
        );
        assert_eq!(tree.open(1), [0; 0]);
        let node = tree.node(root);
        assert_eq!((node.kind.as_str(), node.text.as_str()), ("*main.T", "*main.T"));
        let Inside::Fields(fields) = &node.inside else { panic!("{node:?}") };
        assert_eq!((fields[0].1.text.as_str(), &fields[0].1.inside), ("1", &Inside::Leaf));
        assert_eq!((fields[1].1.partial, &fields[1].1.inside), (true, &Inside::NotExpanded));
    }

    #[test]
    fn maps_are_by_key_and_lists_by_index() {
        let quirks = Quirks { calls: true, runs_code: false, ..Quirks::default() };
        let mut tree = Tree::new(&quirks, Safety::Pure, 0);
        let map = tree.add(None, variable("m", "map[string]int", "map[string]int [\"a\": 1, ]", 1, 1), 0).unwrap();
        let list = tree.add(None, variable("l", "[]int", "[]int len: 9, cap: 9, [...]", 2, 9), 0).unwrap();
        tree.open(1);
        tree.fill(
            map,
            vec![variable("len()", "int", "1", 0, 0), variable("\"a\"", "string: int", "1", 0, 0)],
            ChildRange::All,
        );
        tree.fill(list, vec![variable("[0]", "uint", "5 = 0x5", 0, 0)], ChildRange::All);
        tree.fill(list, vec![variable("[8]", "uint", "6", 0, 0)], ChildRange::All);
        let node = tree.node(map);
        assert_eq!(node.inside, Inside::Entries(vec![("a".to_owned(), Node::leaf("int", "1"))]));
        let node = tree.node(list);
        assert_eq!((node.text.as_str(), node.length), ("[]int len 9", Some(9)));
        let Inside::Elements(elements) = &node.inside else { panic!("{node:?}") };
        assert_eq!((elements[0].0, elements[1].0, elements[0].1.text.as_str()), (0, 8, "5"));
        assert_eq!(tree.path(tree.slots.len() - 1), "l[8]");
    }

    #[test]
    fn an_entry_is_its_value_whatever_its_key_is() {
        let quirks = Quirks { calls: true, runs_code: false, ..Quirks::default() };
        let mut tree = Tree::new(&quirks, Safety::Pure, 0);
        let map = tree.add(None, variable("m", "map[main.K]string", "map[main.K]string [...]", 1, 3), 0).unwrap();
        tree.open(1);
        tree.fill(
            map,
            vec![
                variable("main.K {A: 1}", "main.K: string", "\"w\"", 7, 0),
                variable("\"k\"", "string: main.V", "main.V {B: 2}", 8, 0),
                variable("[key 2]", "main.K", "main.K {A: 2}", 9, 0),
                variable("[val 2]", "main.V", "main.V {B: 3}", 10, 0),
            ],
            ChildRange::All,
        );
        let Inside::Entries(entries) = tree.node(map).inside else { panic!("no entries") };
        let told: Vec<(&str, &str, &str, bool)> = entries
            .iter()
            .map(|(key, node)| (key.as_str(), node.kind.as_str(), node.text.as_str(), node.inside == Inside::Leaf))
            .collect();
        let expected = [
            ("main.K {A: 1}", "string", "\"w\"", true),
            ("k", "main.V", "main.V", false),
            ("main.K {A: 2}", "main.V", "main.V", false),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn an_object_that_is_met_again_is_not_asked_for_again() {
        let quirks = Quirks::default();
        let mut tree = Tree::new(&quirks, Safety::Pure, 0);
        let first = tree.add(None, variable("a", "*T", "*T {}", 1, 0), 0).unwrap();
        let second = tree.add(None, variable("b", "*T", "*T {}", 2, 0), 0).unwrap();
        tree.identify(first, "824634".to_owned());
        tree.identify(second, "824634".to_owned());
        assert_eq!(tree.open(2), [first]);
        assert!(matches!(tree.node(second).inside, Inside::SeeAt(_)));
    }
}

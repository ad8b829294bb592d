//! A paused program in a few words, for tests that need no debugger.

use backsight_core::Timestamp;
use backsight_debug::capture::{Capture, FrameCapture, Incomplete, Inside, Node, Safety, Scope, Variable};

/// A capture of one frame of `process` at line 12 of thread 1, which grows by the methods below.
pub struct Paused(pub Capture);

impl Paused {
    pub fn new(label: &str) -> Self {
        Paused(Capture {
            id: format!("snap-{label}"),
            label: label.into(),
            number: 1,
            timestamp: Timestamp(1_763_000_000_000),
            thread_id: 1,
            stack_depth: Some(3),
            depth: 2,
            safety: Safety::Pure,
            frames: vec![frame("process", 0)],
            incomplete: Vec::new(),
        })
    }

    pub fn local(self, name: &str, value: Node) -> Self {
        self.variable(Variable::new(Scope::Local, name, value))
    }

    pub fn variable(mut self, variable: Variable) -> Self {
        self.0.frames[0].variables.push(variable);
        self
    }

    pub fn incomplete(mut self, path: &str, reason: &str) -> Self {
        self.0.incomplete.push(Incomplete::new(path, reason));
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Capture)) -> Self {
        change(&mut self.0);
        self
    }
}

pub fn frame(function: &str, index: u32) -> FrameCapture {
    FrameCapture {
        thread_id: 1,
        index,
        function: function.into(),
        file: Some("src/shop.py".into()),
        line: Some(12),
        call: None,
        variables: Vec::new(),
    }
}

pub fn int(number: i64) -> Node {
    Node::leaf("int", number.to_string())
}

pub fn text(text: &str) -> Node {
    Node::leaf("str", format!("'{text}'"))
}

pub fn object(kind: &str, fields: Vec<(&str, Node)>) -> Node {
    Node::new(kind, kind, Inside::Fields(fields.into_iter().map(|(name, node)| (name.into(), node)).collect()))
}

pub fn map(entries: Vec<(&str, Node)>) -> Node {
    let length = entries.len() as u64;
    let entries = entries.into_iter().map(|(key, node)| (key.into(), node)).collect();
    Node::new("dict", format!("dict({length})"), Inside::Entries(entries)).with_length(length)
}

pub fn list(elements: Vec<Node>) -> Node {
    let length = elements.len() as u64;
    sampled(length, (0..).zip(elements).collect())
}

/// A list of which only some elements were captured.
pub fn sampled(length: u64, elements: Vec<(u64, Node)>) -> Node {
    Node::new("list", format!("list({length})"), Inside::Elements(elements)).with_length(length)
}

/// Something that was not looked into.
pub fn closed(kind: &str) -> Node {
    Node::new(kind, kind, Inside::NotExpanded)
}

//! What one look at a paused program found: frames, their variables, and what of them was not looked at. Only values: no
//! debugger is asked here.

use backsight_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nothing is expanded deeper than this, whatever was asked for: everything that looks at a capture goes as deep as it is.
pub const DEEPEST: u32 = 64;

/// One look at a paused program.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Capture {
    /// `snap-` and a UUID.
    pub id: String,
    /// What the caller called it, or `snapshot-4`.
    pub label: String,
    /// From 1, never reused within a session.
    pub number: u64,
    /// When.
    pub timestamp: Timestamp,
    /// The stopped thread that was asked for.
    pub thread_id: i64,
    /// How many frames the thread's stack has, also those that were not captured, where the debugger tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_depth: Option<u32>,
    /// How deep values were expanded: 0 is the variables themselves.
    pub depth: u32,
    /// What was allowed to run.
    pub safety: Safety,
    /// The frames, innermost first; the first one is the one asked for.
    pub frames: Vec<FrameCapture>,
    /// What was not seen, and why; empty means complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<Incomplete>,
}

/// What a capture may run in the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Safety {
    /// Nothing of the user's: no `__repr__`, property, getter or `inspect`.
    #[default]
    Pure,
    /// Whatever the debugger runs to show a value.
    Adapter,
    /// Also getters and properties.
    Full,
}

/// One frame.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct FrameCapture {
    /// The thread it belongs to.
    pub thread_id: i64,
    /// From 0, the innermost.
    pub index: u32,
    /// The function's name.
    pub function: String,
    /// The source file.
    #[serde(default)]
    pub file: Option<String>,
    /// From 1.
    #[serde(default)]
    pub line: Option<u32>,
    /// Which call of the function it is, where the debugger tells: another one is another call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// What is in scope, in the order of the source where that is known.
    pub variables: Vec<Variable>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Variable {
    /// As in the source.
    pub name: String,
    /// For names that hide each other: 0 is the innermost, 1 the one it hides.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shadowed: u32,
    /// What it is.
    pub scope: Scope,
    /// Its value.
    pub value: Node,
}

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// `this`, `self`.
    This,
    /// An argument.
    Argument,
    /// A local variable.
    Local,
    /// Captured from an outer function.
    Closure,
    /// An expression the caller asked for.
    Watch,
    /// The value being returned, or the exception.
    Result,
}

/// A value, as far as it was looked at.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Node {
    /// As the language writes it.
    #[serde(rename = "type")]
    pub kind: String,
    /// The value as text, cut at a limit; of a container its type and length, never the text of its children.
    pub text: String,
    /// Of the whole value, also of what was cut or not expanded, as far as the debugger could tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<u64>,
    /// Where there was too much for a hash of all of it: a hash of what is nearest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<u64>,
    /// Something inside has a state that nobody can read, so that an equal hash does not mean that nothing changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// How many elements, characters or bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// Hashes of runs of elements of a list that was not captured whole, each of as many: they tell which elements changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<u32>,
    /// Which object it is, where the debugger tells: equal within a process means the same object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// What is inside.
    pub inside: Inside,
}

/// What is inside a value.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inside {
    /// Nothing: a number, a text, an empty container.
    #[default]
    Leaf,
    /// Something, deeper than was asked for.
    NotExpanded,
    /// Named fields of an object or struct, in their order.
    Fields(Vec<(String, Node)>),
    /// Elements of a list by index, perhaps only some of them.
    Elements(Vec<(u64, Node)>),
    /// Entries of a map, or members of a set, by the text of their key; order means nothing.
    Entries(Vec<(String, Node)>),
    /// The same object is at this path already.
    SeeAt(String),
    /// Declared and not yet given a value: whatever stands there means nothing.
    Unset,
}

impl Capture {
    /// How many variables were captured, over all frames.
    pub fn variable_count(&self) -> usize {
        self.frames.iter().map(|frame| frame.variables.len()).sum()
    }

    /// How many values were captured: the variables and everything inside them.
    pub fn value_count(&self) -> usize {
        let variables = self.frames.iter().flat_map(|frame| &frame.variables);
        variables.map(|variable| variable.value.count()).sum()
    }
}

impl Variable {
    /// One that hides no other.
    pub fn new(scope: Scope, name: impl Into<String>, value: Node) -> Self {
        Variable { name: name.into(), shadowed: 0, scope, value }
    }
}

impl Node {
    /// A value with what is inside it.
    pub fn new(kind: impl Into<String>, text: impl Into<String>, inside: Inside) -> Self {
        let (kind, text) = (kind.into(), text.into());
        Node {
            kind,
            text,
            hash: None,
            near: None,
            partial: false,
            length: None,
            runs: Vec::new(),
            identity: None,
            inside,
        }
    }

    /// A value with nothing inside.
    pub fn leaf(kind: impl Into<String>, text: impl Into<String>) -> Self {
        Node::new(kind, text, Inside::Leaf)
    }

    /// The same with the hash of the whole value.
    pub fn with_hash(self, hash: u64) -> Self {
        Node { hash: Some(hash), ..self }
    }

    /// The same with its number of elements, characters or bytes.
    pub fn with_length(self, length: u64) -> Self {
        Node { length: Some(length), ..self }
    }

    /// The same with hashes of its runs of elements.
    pub fn with_runs(self, runs: Vec<u32>) -> Self {
        Node { runs, ..self }
    }

    /// The same with what tells it from other objects.
    pub fn with_identity(self, identity: impl Into<String>) -> Self {
        Node { identity: Some(identity.into()), ..self }
    }

    /// The values inside that were captured.
    pub fn children(&self) -> impl Iterator<Item = &Node> {
        let named = match &self.inside {
            Inside::Fields(children) | Inside::Entries(children) => children.as_slice(),
            _ => &[],
        };
        let indexed = match &self.inside {
            Inside::Elements(children) => children.as_slice(),
            _ => &[],
        };
        named.iter().map(|(_, node)| node).chain(indexed.iter().map(|(_, node)| node))
    }

    /// How many values this is, itself included.
    pub fn count(&self) -> usize {
        1 + self.children().map(Node::count).sum::<usize>()
    }
}

/// Something that was not seen.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Incomplete {
    /// Where: `order.items`.
    pub path: String,
    /// Why: `timed out after 2000 ms`, `1000000 elements, 12 captured`.
    pub reason: String,
    /// Variables themselves are missing, and not only what is inside some.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_variables: bool,
}

impl Incomplete {
    /// Something inside the values that were captured.
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Incomplete { path: path.into(), reason: reason.into(), lacks_variables: false }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

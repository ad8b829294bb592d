//! What the walkers tell, all three in the same words, made into frames. A walker names an object it has told already only by
//! its identity; where that is is found out here, so that paths are written in one place.

use std::collections::HashMap;

use backsight_core::{Code, Error, Result};
use serde::Deserialize;
use serde_json::Value;

use super::Found;
use crate::capture::{FrameCapture, Incomplete, Inside, Node, Scope, Variable};
use crate::path;

/// Everything a walker told.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Told {
    frames: Vec<ToldFrame>,
    #[serde(default)]
    incomplete: Vec<Missing>,
    #[serde(default)]
    stack: Option<u32>,
}

/// What was not seen: where and why, and whether whole variables are missing.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Missing {
    Inside(String, String),
    Variables(String, String, bool),
}

impl From<Missing> for Incomplete {
    fn from(missing: Missing) -> Incomplete {
        match missing {
            Missing::Inside(path, reason) => Incomplete::new(path, reason),
            Missing::Variables(path, reason, lacks_variables) => {
                Incomplete { lacks_variables, ..Incomplete::new(path, reason) }
            }
        }
    }
}

#[derive(Debug, Deserialize)]
struct ToldFrame {
    thread: i64,
    index: u32,
    function: String,
    file: Option<String>,
    line: Option<u32>,
    #[serde(default)]
    call: Option<String>,
    #[serde(rename = "v")]
    variables: Vec<ToldVariable>,
}

#[derive(Debug, Deserialize)]
struct ToldVariable {
    #[serde(rename = "n")]
    name: String,
    #[serde(rename = "s")]
    scope: Scope,
    #[serde(rename = "d", default)]
    shadowed: u32,
    #[serde(rename = "v")]
    value: ToldNode,
}

/// A value.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ToldNode {
    #[serde(rename = "k")]
    pub kind: String,
    #[serde(rename = "t")]
    text: String,
    #[serde(rename = "h", default)]
    hash: Option<String>,
    /// A hash of what is nearest, where there was too much.
    #[serde(rename = "g", default)]
    near: Option<String>,
    /// The hash says nothing of something inside.
    #[serde(rename = "p", default)]
    partial: u8,
    #[serde(rename = "n", default)]
    pub length: Option<u64>,
    /// Hashes of runs of elements.
    #[serde(rename = "r", default)]
    runs: Vec<u32>,
    #[serde(rename = "i", default)]
    identity: Option<String>,
    #[serde(rename = "f", default)]
    fields: Option<Vec<(String, ToldNode)>>,
    #[serde(rename = "e", default)]
    elements: Option<Vec<(u64, ToldNode)>>,
    #[serde(rename = "m", default)]
    entries: Option<Vec<(String, ToldNode)>>,
    /// Told already.
    #[serde(rename = "s", default)]
    seen: u8,
    /// Not expanded.
    #[serde(rename = "x", default)]
    closed: u8,
    /// Not given a value yet.
    #[serde(rename = "u", default)]
    unset: u8,
}

impl Told {
    pub(super) fn read(body: Value) -> Result<Told> {
        serde_json::from_value(body)
            .map_err(|error| Error::new(Code::AdapterFailed, format!("the walker's answer cannot be read: {error}")))
    }
}

impl From<Told> for Found {
    fn from(told: Told) -> Found {
        let incomplete = told.incomplete.into_iter().map(Incomplete::from).collect();
        Found { frames: told.frames.into_iter().map(frame).collect(), incomplete, stack_depth: told.stack }
    }
}

impl ToldNode {
    /// The value on one line, with what is directly inside it.
    pub(super) fn shown(&self) -> String {
        let part = |name: &str, node: &ToldNode| format!("{name}: {}", node.text);
        let inside: Vec<String> = match self {
            ToldNode { fields: Some(all), .. } | ToldNode { entries: Some(all), .. } => {
                all.iter().map(|(name, node)| part(name, node)).collect()
            }
            ToldNode { elements: Some(all), .. } => all.iter().map(|(_, node)| node.text.clone()).collect(),
            _ => return self.text.clone(),
        };
        let more = self.length.is_some_and(|length| length > inside.len() as u64 && self.fields.is_none());
        format!("{} {{{}{}}}", self.text, inside.join(", "), if more { ", ..." } else { "" })
    }

    /// Whether there is something inside.
    pub(super) fn is_open(&self) -> bool {
        let told = self.fields.is_some() || self.elements.is_some() || self.entries.is_some();
        told || self.closed != 0 || self.seen != 0
    }

    fn inside(self) -> (Inside, bool) {
        if self.unset != 0 {
            return (Inside::Unset, false);
        }
        let named = |all: Vec<(String, ToldNode)>| all.into_iter().map(|(name, node)| (name, node.node())).collect();
        let inside = match self {
            ToldNode { fields: Some(all), .. } => Inside::Fields(named(all)),
            ToldNode { entries: Some(all), .. } => Inside::Entries(named(all)),
            ToldNode { elements: Some(all), .. } => {
                Inside::Elements(all.into_iter().map(|(index, node)| (index, node.node())).collect())
            }
            ToldNode { seen: 1.., .. } => return (Inside::NotExpanded, true),
            ToldNode { closed: 1.., .. } => Inside::NotExpanded,
            _ => Inside::Leaf,
        };
        (inside, false)
    }

    /// The value as it is captured.
    pub(super) fn node(mut self) -> Node {
        let hash = self.hash.take().and_then(|hash| u64::from_str_radix(&hash, 16).ok());
        let mut node = Node::new(std::mem::take(&mut self.kind), std::mem::take(&mut self.text), Inside::Leaf);
        (node.hash, node.length, node.identity) = (hash, self.length, self.identity.take());
        node.near = self.near.take().and_then(|near| u64::from_str_radix(&near, 16).ok());
        node.partial = self.partial != 0;
        node.runs = std::mem::take(&mut self.runs);
        let (inside, seen) = self.inside();
        // Where it is is filled in when all paths are known.
        node.inside = if seen { Inside::SeeAt(String::new()) } else { inside };
        node
    }
}

fn frame(told: ToldFrame) -> FrameCapture {
    let variable = |told: ToldVariable| Variable {
        name: told.name,
        shadowed: told.shadowed,
        scope: told.scope,
        value: told.value.node(),
    };
    let mut frame = FrameCapture {
        thread_id: told.thread,
        index: told.index,
        function: told.function,
        file: told.file,
        line: told.line.filter(|line| *line > 0),
        call: told.call,
        variables: told.variables.into_iter().map(variable).collect(),
    };
    resolve(&mut frame);
    frame
}

/// Says of every value that is told elsewhere where that is.
pub(super) fn resolve(frame: &mut FrameCapture) {
    let mut known = HashMap::new();
    let paths = path::of_variables(frame);
    for (variable, path) in frame.variables.iter().zip(&paths) {
        collect(&variable.value, path.clone(), &mut known);
    }
    frame.variables.iter_mut().for_each(|variable| point(&mut variable.value, &known));
}

fn collect(node: &Node, at: String, known: &mut HashMap<String, String>) {
    if let (Some(identity), Inside::Fields(_) | Inside::Elements(_) | Inside::Entries(_)) =
        (&node.identity, &node.inside)
    {
        known.entry(identity.clone()).or_insert_with(|| at.clone());
    }
    path::each_child(node, |step, child| {
        let mut below = at.clone();
        path::push(&mut below, step);
        collect(child, below, known);
    });
}

fn point(node: &mut Node, known: &HashMap<String, String>) {
    match &mut node.inside {
        Inside::SeeAt(at) => match node.identity.as_ref().and_then(|identity| known.get(identity)) {
            Some(path) => *at = path.clone(),
            None => node.inside = Inside::NotExpanded,
        },
        Inside::Fields(children) | Inside::Entries(children) => {
            children.iter_mut().for_each(|(_, child)| point(child, known));
        }
        Inside::Elements(children) => children.iter_mut().for_each(|(_, child)| point(child, known)),
        Inside::Leaf | Inside::NotExpanded | Inside::Unset => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(variables: Value) -> Found {
        let told = json!({ "frames": [{ "thread": 1, "index": 0, "function": "f", "file": "a.py", "line": 3, "v": variables }],
            "incomplete": [["big", "9 elements, 2 captured"]], "stack": 4 });
        Told::read(told).unwrap().into()
    }

    #[test]
    fn what_was_told_already_is_pointed_to() {
        let found = found(json!([
            { "n": "a", "s": "local", "v": { "k": "A", "t": "A", "i": "7", "h": "ff", "f": [["me", { "k": "A", "t": "A", "i": "7", "s": 1 }]] } },
            { "n": "b", "s": "argument", "v": { "k": "list", "t": "list[1]", "n": 1, "i": "8", "e": [[0, { "k": "A", "t": "A", "i": "7", "s": 1 }]] } },
            { "n": "c", "s": "this", "d": 1, "v": { "k": "B", "t": "B", "i": "9", "x": 1 } },
            { "n": "d", "s": "local", "v": { "k": "int", "t": "?", "u": 1 } },
        ]));
        let variables = &found.frames[0].variables;
        let Inside::Fields(fields) = &variables[0].value.inside else { panic!("{variables:?}") };
        assert_eq!(fields[0].1.inside, Inside::SeeAt("a".to_owned()));
        assert_eq!(variables[0].value.hash, Some(255));
        let Inside::Elements(elements) = &variables[1].value.inside else { panic!("{variables:?}") };
        assert_eq!(elements[0].1.inside, Inside::SeeAt("a".to_owned()));
        assert_eq!((variables[2].shadowed, &variables[2].value.inside), (1, &Inside::NotExpanded));
        assert_eq!(variables[3].value.inside, Inside::Unset);
        assert_eq!((found.stack_depth, found.incomplete.len()), (Some(4), 1));
    }

    #[test]
    fn what_cannot_be_read_is_an_error_and_no_empty_capture() {
        for odd in [json!(null), json!({}), json!({ "frames": [{}] }), json!({ "frames": 5 })] {
            assert_eq!(Told::read(odd).unwrap_err().code(), Code::AdapterFailed);
        }
    }
}

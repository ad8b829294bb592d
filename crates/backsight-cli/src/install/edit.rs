//! What belongs into a file, and the file's text with it or without it. Pure: text in, text out.

use backsight_core::Result;
use serde_json::Value;

use super::jsonc::{Document, Step};
use super::node::Node;
use super::toml;

/// What belongs into a file.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Pieces of a JSON object; people's comments stay.
    Json(Vec<Piece>),
    /// An MCP server in Codex's TOML: the program.
    Toml {
        /// The program.
        program: String,
    },
    /// The whole file is ours.
    Whole(String),
}

/// A piece of a JSON object.
#[derive(Clone, Debug)]
pub enum Piece {
    /// An entry of ours under a name of ours; members that people added to it stay.
    Entry {
        /// Where.
        path: Vec<&'static str>,
        /// What.
        value: Node,
    },
    /// Something the file needs that is not ours alone: written when missing, never removed on its own.
    Needed {
        /// Where.
        name: &'static str,
        /// What.
        value: Node,
    },
    /// A handler in `hooks.EVENT`.
    Hook {
        /// The client's name of the event.
        event: &'static str,
        /// The handler.
        handler: Node,
        /// Whether handlers stand in groups, each with a matcher for tools, or in the event's list itself.
        groups: Groups,
    },
}

/// How a client arranges its handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// `[{"matcher": "*", "hooks": [handler]}]`
    WithMatcher,
    /// `[{"hooks": [handler]}]`
    Plain,
    /// `[handler]`
    None,
}

/// What is left of a file without what is ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remainder {
    /// The text.
    pub text: String,
    /// Whether nothing is left in it that anybody would miss.
    pub is_bare: bool,
}

impl Edit {
    /// Whether a text holds nothing of ours.
    pub fn is_absent_from(&self, text: &str) -> bool {
        self.uninstall(text).is_ok_and(|rest| rest.text == text)
    }

    /// The text with what belongs into it.
    pub fn install(&self, before: &str) -> Result<String> {
        match self {
            Edit::Whole(text) => Ok(text.clone()),
            Edit::Toml { program } => toml::install(before, program),
            Edit::Json(pieces) => {
                let mut document = Document::parse(before)?;
                for piece in pieces {
                    piece.install(&mut document)?;
                }
                let text = document.text().to_owned();
                let is_new = before.trim().is_empty() && !text.is_empty();
                Ok(if is_new && !text.ends_with('\n') { text + "\n" } else { text })
            }
        }
    }

    /// The text without it.
    pub fn uninstall(&self, before: &str) -> Result<Remainder> {
        match self {
            Edit::Whole(_) => Ok(Remainder { text: String::new(), is_bare: true }),
            Edit::Toml { .. } => toml::uninstall(before),
            Edit::Json(pieces) => {
                let mut document = Document::parse(before)?;
                for piece in pieces {
                    piece.uninstall(&mut document)?;
                }
                let mut rest = document.clone();
                for piece in pieces {
                    piece.remove_needed(&mut rest)?;
                }
                Ok(Remainder { text: document.text().to_owned(), is_bare: rest.is_bare() })
            }
        }
    }
}

impl Piece {
    fn install(&self, document: &mut Document) -> Result<()> {
        match self {
            Piece::Entry { path, value } => install_entry(document, path, value),
            Piece::Needed { name, value } => match document.get(&[Step::Key(name)]) {
                Some(_) => Ok(()),
                None => document.set(&[name], value),
            },
            Piece::Hook { event, handler, groups } => install_hook(document, event, handler, *groups),
        }
    }

    fn uninstall(&self, document: &mut Document) -> Result<()> {
        match self {
            Piece::Entry { path, .. } => {
                let steps: Vec<Step<'_>> = path.iter().map(|key| Step::Key(key)).collect();
                if document.get(&steps).is_none() {
                    return Ok(());
                }
                document.remove(&steps)?;
                remove_empty(document, &steps[..steps.len() - 1])
            }
            Piece::Needed { .. } => Ok(()),
            Piece::Hook { event, handler, .. } => uninstall_hook(document, event, handler),
        }
    }

    fn remove_needed(&self, document: &mut Document) -> Result<()> {
        match self {
            Piece::Needed { name, .. } => document.remove(&[Step::Key(name)]),
            _ => Ok(()),
        }
    }
}

/// Members that people added to our entry, such as an environment, stay.
fn install_entry(document: &mut Document, path: &[&'static str], value: &Node) -> Result<()> {
    let steps: Vec<Step<'_>> = path.iter().map(|key| Step::Key(key)).collect();
    let (Some(Value::Object(existing)), Node::Object(members)) = (document.get(&steps), value) else {
        return document.set(path, value);
    };
    let differing: Vec<&(String, Node)> =
        members.iter().filter(|(name, node)| existing.get(name) != Some(&node.value())).collect();
    for (name, node) in differing {
        let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        document.set(&path, node)?;
    }
    Ok(())
}

fn install_hook(document: &mut Document, event: &'static str, handler: &Node, groups: Groups) -> Result<()> {
    let ours = places_of(document, event, handler);
    if ours.is_empty() {
        let group = |members: Vec<(String, Node)>| Node::Object(members);
        let hooks = ("hooks".to_owned(), Node::List(vec![handler.clone()]));
        let added = match groups {
            Groups::WithMatcher => group(vec![("matcher".to_owned(), Node::from("*")), hooks]),
            Groups::Plain => group(vec![hooks]),
            Groups::None => handler.clone(),
        };
        return document.push(&["hooks", event], &added);
    }
    for place in ours {
        if document.get(&place) != Some(&handler.value()) {
            document.replace(&place, handler)?;
        }
    }
    Ok(())
}

fn uninstall_hook(document: &mut Document, event: &'static str, handler: &Node) -> Result<()> {
    let list = [Step::Key("hooks"), Step::Key(event)];
    let ours = places_of(document, event, handler);
    if ours.is_empty() {
        return Ok(());
    }
    // From the end, so that the places of those before stay right.
    for place in ours.into_iter().rev() {
        document.remove(&place)?;
        if place.len() > list.len() + 1 {
            remove_group_if_empty(document, &place[..list.len() + 1])?;
        }
    }
    remove_empty(document, &list)
}

/// A group whose last handler is gone goes with it.
fn remove_group_if_empty(document: &mut Document, group: &[Step<'_>]) -> Result<()> {
    let hooks: Vec<Step<'_>> = group.iter().copied().chain([Step::Key("hooks")]).collect();
    match document.get(&hooks) {
        Some(Value::Array(left)) if left.is_empty() => document.remove(group),
        _ => Ok(()),
    }
}

/// Removes an empty object or list, and then those around it.
fn remove_empty(document: &mut Document, path: &[Step<'_>]) -> Result<()> {
    let is_empty = match document.get(path) {
        Some(Value::Object(members)) => members.is_empty(),
        Some(Value::Array(list)) => list.is_empty(),
        _ => false,
    };
    if path.is_empty() || !is_empty {
        return Ok(());
    }
    document.remove(path)?;
    remove_empty(document, &path[..path.len() - 1])
}

/// Handlers of ours: those whose command ends as ours does, whichever program it was written with.
fn places_of<'a>(document: &Document, event: &'static str, handler: &Node) -> Vec<Vec<Step<'a>>> {
    let command = handler.value()["command"].as_str().unwrap_or_default().to_owned();
    let ending = command.rfind(" hook ").map(|at| command[at..].to_owned()).unwrap_or(command);
    let is_ours = |value: &Value| {
        let command = value["command"].as_str().unwrap_or_default();
        command.strip_suffix(&ending).is_some_and(|program| program.trim_end_matches('\'').ends_with("backsight"))
    };
    let list = [Step::Key("hooks"), Step::Key(event)];
    let Some(Value::Array(entries)) = document.get(&list) else { return Vec::new() };
    let mut found = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let place = [Step::Key("hooks"), Step::Key(event), Step::Index(index)];
        if is_ours(entry) {
            found.push(place.to_vec());
        }
        let handlers = entry["hooks"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (inner, _) in handlers.iter().enumerate().filter(|(_, handler)| is_ours(handler)) {
            found.push(place.iter().copied().chain([Step::Key("hooks"), Step::Index(inner)]).collect());
        }
    }
    found
}

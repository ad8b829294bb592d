//! What belongs into a file, and the file's text with it or without it. Pure: text in, text out.

use backsight_core::Result;
use backsight_diff::{Labels, Merge, merge};
use serde_json::Value;

use super::jsonc::{Document, Step};
use super::kept::Kept;
use super::node::Node;
use super::toml::{self, Server};

/// What belongs into a file.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Pieces of a JSON object; people's comments stay.
    Json(Vec<Piece>),
    /// An MCP server in Codex's TOML.
    Toml(Server),
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
    /// Something the file needs that is not ours alone: written when missing, removed only where it is known that it was
    /// missing.
    Needed {
        /// Where.
        name: &'static str,
        /// What.
        value: Node,
    },
    /// A text of ours in a list.
    Listed {
        /// Where the list is.
        path: Vec<&'static str>,
        /// The text.
        text: String,
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

/// What of ours is in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// The MCP server.
    pub server: bool,
    /// Hooks, or a plugin that does their work.
    pub hooks: bool,
}

/// Some editors begin a file with it; it is no part of the text.
const BYTE_ORDER_MARK: char = '\u{feff}';

impl Edit {
    /// Whether a text holds nothing of ours.
    pub fn is_absent_from(&self, text: &str) -> bool {
        match self {
            Edit::Whole(whole) => text.lines().next() != whole.lines().next(),
            _ => self.uninstall(text, None).is_ok_and(|rest| rest.text == text),
        }
    }

    /// What of ours a text holds.
    pub fn presence(&self, text: &str) -> Presence {
        let (_, text) = without_mark(text);
        match self {
            Edit::Whole(_) => Presence { server: false, hooks: !self.is_absent_from(text) },
            Edit::Toml(_) => Presence { server: toml::is_there(text), hooks: false },
            Edit::Json(pieces) => {
                let Ok(document) = Document::parse(text) else { return Presence::default() };
                let has = |piece: &&Piece| match piece {
                    Piece::Entry { path, .. } => document.get(&steps(path)).is_some(),
                    Piece::Hook { event, handler, .. } => !places_of(&document, event, handler).is_empty(),
                    Piece::Needed { .. } | Piece::Listed { .. } => false,
                };
                let found: Vec<&Piece> = pieces.iter().filter(has).collect();
                let is_hook = |piece: &&Piece| matches!(piece, Piece::Hook { .. });
                Presence { server: !found.iter().all(is_hook), hooks: found.iter().any(is_hook) }
            }
        }
    }

    /// The text with what belongs into it.
    pub fn install(&self, before: &str) -> Result<String> {
        let (mark, text) = without_mark(before);
        let text = match self {
            Edit::Whole(whole) => return Ok(whole.clone()),
            Edit::Toml(server) => toml::install(text, server)?,
            Edit::Json(pieces) => installed(text, pieces)?,
        };
        Ok(format!("{mark}{text}"))
    }

    /// The text without it. What was there `before`, where that is known, stays also when it is empty now.
    pub fn uninstall(&self, now: &str, before: Option<&str>) -> Result<Remainder> {
        let (mark, text) = without_mark(now);
        let rest = match self {
            Edit::Whole(_) => return Ok(Remainder { text: String::new(), is_bare: true }),
            Edit::Toml(_) => toml::uninstall(text)?,
            Edit::Json(pieces) => uninstalled(text, pieces, before.map(|before| without_mark(before).1))?,
        };
        Ok(Remainder { text: format!("{mark}{}", rest.text), ..rest })
    }

    /// The text without it, exactly as it was where that is known; nothing when the file is to go.
    pub fn take_out(&self, text: &str, kept: Option<&Kept>) -> Result<Option<String>> {
        let rest = self.uninstall(text, kept.and_then(|kept| kept.before.as_deref()))?;
        let Some(kept) = kept else { return Ok((!rest.is_bare).then_some(rest.text)) };
        match &kept.before {
            before if text == kept.written => Ok(before.clone()),
            None => Ok((!rest.is_bare).then_some(rest.text)),
            Some(before) if matches!(self, Edit::Whole(_)) => Ok(Some(before.clone())),
            // A file that was there before is left, even when nothing is in it any more.
            Some(before) => Ok(Some(self.merged(before, &kept.written, text, &rest.text).unwrap_or(rest.text))),
        }
    }

    /// What was there before, with what others changed since, if that means what is left without ours.
    fn merged(&self, before: &str, written: &str, now: &str, rest: &str) -> Option<String> {
        let Merge::Clean(text) = merge(written.as_bytes(), now.as_bytes(), before.as_bytes(), &Labels::default())
        else {
            return None;
        };
        let text = String::from_utf8(text).ok()?;
        (self.is_absent_from(&text) && self.meaning(&text)? == self.meaning(rest)?).then_some(text)
    }

    fn meaning(&self, text: &str) -> Option<Value> {
        let (_, text) = without_mark(text);
        match self {
            Edit::Whole(_) => None,
            Edit::Toml(_) => toml::meaning(text),
            Edit::Json(_) => Document::parse(text).ok()?.get(&[]).cloned(),
        }
    }
}

fn without_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 })
}

fn installed(before: &str, pieces: &[Piece]) -> Result<String> {
    let mut document = Document::parse(before)?;
    for piece in pieces {
        piece.install(&mut document)?;
    }
    let text = document.text().to_owned();
    let is_new = before.trim().is_empty() && !text.is_empty();
    Ok(if is_new && !text.ends_with('\n') { text + "\n" } else { text })
}

fn uninstalled(now: &str, pieces: &[Piece], before: Option<&str>) -> Result<Remainder> {
    let mut document = Document::parse(now)?;
    let before = before.and_then(|before| Document::parse(before).ok());
    for piece in pieces {
        piece.uninstall(&mut document, before.as_ref())?;
    }
    let mut rest = document.clone();
    for piece in pieces {
        piece.remove_needed(&mut rest)?;
    }
    Ok(Remainder { text: document.text().to_owned(), is_bare: rest.is_bare() })
}

fn steps<'a>(path: &[&'a str]) -> Vec<Step<'a>> {
    path.iter().map(|key| Step::Key(key)).collect()
}

impl Piece {
    fn install(&self, document: &mut Document) -> Result<()> {
        match self {
            Piece::Entry { path, value } => install_entry(document, path, value),
            Piece::Needed { name, value } => match document.get(&[Step::Key(name)]) {
                Some(_) => Ok(()),
                None => document.set(&[name], value),
            },
            Piece::Listed { path, text } => match place_in_list(document, path, text) {
                Some(_) => Ok(()),
                None => document.push(path, &Node::Text(text.clone())),
            },
            Piece::Hook { event, handler, groups } => install_hook(document, event, handler, *groups),
        }
    }

    fn uninstall(&self, document: &mut Document, before: Option<&Document>) -> Result<()> {
        match self {
            Piece::Entry { path, .. } => {
                let steps = steps(path);
                if document.get(&steps).is_none() {
                    return Ok(());
                }
                document.remove(&steps)?;
                remove_empty(document, &steps[..steps.len() - 1], before)
            }
            Piece::Needed { name, value } => {
                let place = [Step::Key(name)];
                let is_ours = before.is_some_and(|before| before.get(&place).is_none());
                match is_ours && document.get(&place) == Some(&value.value()) {
                    true => document.remove(&place),
                    false => Ok(()),
                }
            }
            Piece::Listed { path, text } => {
                let Some(place) = place_in_list(document, path, text) else { return Ok(()) };
                let list = steps(path);
                document.remove(&list.iter().copied().chain([Step::Index(place)]).collect::<Vec<_>>())?;
                remove_empty(document, &list, before)
            }
            Piece::Hook { event, handler, .. } => uninstall_hook(document, event, handler, before),
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
    let (Some(Value::Object(existing)), Node::Object(members)) = (document.get(&steps(path)), value) else {
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

fn place_in_list(document: &Document, path: &[&'static str], text: &str) -> Option<usize> {
    document.get(&steps(path))?.as_array()?.iter().position(|item| item == text)
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

fn uninstall_hook(
    document: &mut Document,
    event: &'static str,
    handler: &Node,
    before: Option<&Document>,
) -> Result<()> {
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
    remove_empty(document, &list, before)
}

/// A group whose last handler is gone goes with it.
fn remove_group_if_empty(document: &mut Document, group: &[Step<'_>]) -> Result<()> {
    let hooks: Vec<Step<'_>> = group.iter().copied().chain([Step::Key("hooks")]).collect();
    match document.get(&hooks) {
        Some(Value::Array(left)) if left.is_empty() => document.remove(group),
        _ => Ok(()),
    }
}

/// Removes an empty object or list, and then those around it; not what was there before.
fn remove_empty(document: &mut Document, path: &[Step<'_>], before: Option<&Document>) -> Result<()> {
    let is_empty = match document.get(path) {
        Some(Value::Object(members)) => members.is_empty(),
        Some(Value::Array(list)) => list.is_empty(),
        _ => false,
    };
    let was_there = before.is_some_and(|before| before.get(path).is_some());
    if path.is_empty() || !is_empty || was_there {
        return Ok(());
    }
    document.remove(path)?;
    remove_empty(document, &path[..path.len() - 1], before)
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

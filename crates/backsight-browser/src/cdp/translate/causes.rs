//! The errors behind an error. The protocol tells of an uncaught or logged error only that it has a `cause`, or holds
//! `errors`; what those say is asked for. Reading properties runs nothing of the page's: getters are not called.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::format;
use super::wire::{RemoteObject, cut, split_stack};
use crate::event::Cause;

/// So many errors behind an error are told.
const MOST: usize = 16;
/// So far down is asked; an error may be its own cause.
pub const DEEPEST: u8 = 4;
/// Bytes of what one of them says.
const MAX_CAUSE: usize = 2 * 1024;
/// Frames that are kept of each.
const MAX_FRAMES: usize = 16;

/// The properties that hold errors: those of `Error`, `AggregateError` and `SuppressedError`.
const INNER: [&str; 4] = ["errors", "cause", "error", "suppressed"];

/// The answer to `Runtime.getProperties`.
#[derive(Deserialize)]
struct Properties<'a> {
    #[serde(borrow, default)]
    result: Vec<Described<'a>>,
}

#[derive(Deserialize)]
struct Described<'a> {
    #[serde(default)]
    name: String,
    #[serde(borrow)]
    value: Option<RemoteObject<'a>>,
}

/// What one look at an error found.
#[derive(Default)]
pub struct Looked {
    /// The errors right behind it.
    pub causes: Vec<Cause>,
    /// The one behind which there are more.
    pub next: Option<String>,
    /// What the look made the page keep.
    pub held: Vec<String>,
    /// Whether it was a look into a list, of which the look at its error showed only the beginnings.
    pub is_list: bool,
}

/// Whether there is, or may be, an error behind this one: by what to ask.
pub fn is_deep<'a>(object: &'a RemoteObject<'_>) -> Option<&'a str> {
    let is_error = object.subtype.as_deref() == Some("error");
    let id = object.object_id.as_deref().filter(|_| is_error)?;
    // What is told again comes without its properties, and of many only the first are told.
    let Some(preview) = &object.preview else { return Some(id) };
    let has_inner = preview.properties.iter().any(|property| is_inner(&property.name, property.subtype.as_deref()));
    (has_inner || preview.overflow).then_some(id)
}

/// What the message itself tells of the errors behind it.
pub fn told(object: &RemoteObject<'_>) -> Vec<Cause> {
    let Some(preview) = object.preview.as_ref().filter(|_| object.subtype.as_deref() == Some("error")) else {
        return Vec::new();
    };
    let inner = preview.properties.iter().filter(|property| property.subtype.as_deref() == Some("error"));
    inner.filter(|property| INNER.contains(&&*property.name)).map(|property| cause(&property.value)).collect()
}

/// What an answer to `Runtime.getProperties` tells of the errors behind one.
pub fn read(answer: &RawValue) -> Option<Looked> {
    let mut found = Looked::default();
    let properties = serde_json::from_str::<Properties<'_>>(answer.get()).ok()?.result;
    for Described { name, value } in &properties {
        let Some(value) = value.as_ref() else { continue };
        found.held.extend(value.object_id.clone());
        let is_index = name.bytes().all(|byte| byte.is_ascii_digit());
        if !is_index && !is_inner(name, value.subtype.as_deref()) {
            continue;
        }
        found.is_list |= is_index;
        match (value.subtype.as_deref(), &value.preview) {
            (Some("error"), _) => {
                found.causes.push(cause(value.description.as_deref().unwrap_or_default()));
                found.next = found.next.or_else(|| is_deep(value).map(str::to_owned));
            }
            (Some("array"), Some(list)) => {
                let is_index = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
                let each = list.properties.iter().filter(|property| is_index(&property.name));
                found.causes.extend(each.map(|property| cause(&property.value)));
                // Here texts are cut after some hundred letters, and with them the places.
                found.next = value.object_id.clone().or(found.next);
            }
            _ => found.causes.push(cause(&format::value(value))),
        }
    }
    found.causes.truncate(MOST);
    Some(found)
}

/// Adds what was found behind the last of them.
pub fn join(causes: &mut Vec<Cause>, found: Vec<Cause>) {
    causes.extend(found);
    causes.truncate(MOST);
}

/// A list counts as what it holds only under the name that `AggregateError` gives it, and other values only as a cause.
fn is_inner(name: &str, subtype: Option<&str>) -> bool {
    match subtype {
        Some("error") => INNER.contains(&name),
        Some("array") => name == "errors",
        Some("null") => false,
        _ => name == "cause",
    }
}

/// An error as engines write it.
fn cause(description: &str) -> Cause {
    let (message, mut stack) = split_stack(description);
    stack.truncate(MAX_FRAMES);
    Cause { message: cut(message.to_owned(), MAX_CAUSE), stack }
}

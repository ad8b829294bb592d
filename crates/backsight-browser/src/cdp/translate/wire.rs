//! Partial pictures of protocol values that several lanes read. Every field may be missing: browsers rename and add at
//! will, and an event half understood is worth more than one thrown away.

use std::borrow::Cow;

use backsight_core::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::event::Frame;
use crate::fingerprint::frames::is_own;

/// The most frames that are kept of a stack: below a framework's dozens comes the app's own.
const MAX_FRAMES: usize = 50;
/// Bytes of an address.
const MAX_ADDRESS: usize = 8 * 1024;
/// Bytes of a function's name.
const MAX_FUNCTION: usize = 256;

/// A `Runtime.RemoteObject`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RemoteObject<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    pub subtype: Option<String>,
    pub class_name: Option<String>,
    #[serde(borrow)]
    pub value: Option<&'a RawValue>,
    pub unserializable_value: Option<String>,
    pub description: Option<String>,
    pub object_id: Option<String>,
    #[serde(borrow)]
    pub preview: Option<Preview<'a>>,
}

/// A `Runtime.ObjectPreview`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Preview<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    pub subtype: Option<String>,
    pub description: Option<String>,
    pub overflow: bool,
    #[serde(borrow)]
    pub properties: Vec<Property<'a>>,
    #[serde(borrow)]
    pub entries: Vec<Entry<'a>>,
}

/// A `Runtime.PropertyPreview`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Property<'a> {
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    pub subtype: Option<String>,
    #[serde(borrow)]
    pub value: Cow<'a, str>,
}

/// A `Runtime.EntryPreview` of a map or set.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Entry<'a> {
    #[serde(borrow)]
    pub key: Option<Preview<'a>>,
    #[serde(borrow)]
    pub value: Preview<'a>,
}

/// A `Runtime.StackTrace`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackTrace<'a> {
    #[serde(borrow)]
    pub call_frames: Vec<CallFrame<'a>>,
    /// Where a promise, a timer or a component was made.
    #[serde(borrow)]
    parent: Option<Box<StackTrace<'a>>>,
}

/// A `Runtime.CallFrame`, counted from 0.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CallFrame<'a> {
    #[serde(borrow)]
    pub function_name: Cow<'a, str>,
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    pub line_number: i64,
    pub column_number: i64,
}

impl StackTrace<'_> {
    /// The frames as events have them, and where they are of libraries alone also those in which the call was begun: where
    /// a promise was made is no place of a message, unless there is no other.
    pub fn frames(&self) -> Vec<Frame> {
        let mut frames = self.own_frames();
        let mut parent = self.parent.as_deref();
        while let Some(begun) = parent.filter(|_| !frames.iter().any(|frame| is_own(&frame.file))) {
            frames.extend(begun.own_frames());
            parent = begun.parent.as_deref();
        }
        frames.truncate(MAX_FRAMES);
        frames
    }

    fn own_frames(&self) -> Vec<Frame> {
        let known = self.call_frames.iter().filter(|frame| !frame.url.is_empty());
        known
            .take(MAX_FRAMES)
            .map(|frame| self::frame(&frame.url, frame.line_number, frame.column_number, &frame.function_name))
            .collect()
    }
}

/// A place the protocol counts from 0 (and below, when it does not know).
pub fn frame(file: &str, line: i64, column: i64, function: &str) -> Frame {
    let from_one = |number: i64| u32::try_from(number.saturating_add(1)).unwrap_or(0);
    let function = shortened(function, MAX_FUNCTION);
    Frame { file: address(file), line: from_one(line), column: from_one(column), function }
}

/// Splits the text of an error as engines write it into what it says and the frames below it (`at f (file:1:2)`).
pub fn split_stack(description: &str) -> (&str, Vec<Frame>) {
    let Some(start) = description.find("\n    at ") else { return (description, Vec::new()) };
    let frames = description[start..].lines().filter_map(text_frame).take(MAX_FRAMES).collect();
    (&description[..start], frames)
}

/// The frames that stand in a text, as component stacks do.
pub fn text_frames(text: &str) -> Vec<Frame> {
    match text.contains("\n    at ") {
        true => text.lines().skip(1).filter_map(text_frame).take(MAX_FRAMES).collect(),
        false => Vec::new(),
    }
}

/// One line `at function (file:line:column)` or `at file:line:column`, counted from 1.
fn text_frame(line: &str) -> Option<Frame> {
    let rest = line.trim_start().strip_prefix("at ")?;
    let (function, place) = match rest.strip_suffix(')').and_then(|inner| inner.rsplit_once(" (")) {
        Some((function, place)) => (function, place),
        None => ("", rest.strip_prefix("async ").unwrap_or(rest)),
    };
    let (head, column) = place.rsplit_once(':')?;
    let (file, line) = head.rsplit_once(':')?;
    let function = function.strip_prefix("async ").unwrap_or(function);
    // Code without an address is the engine's, or our own.
    if file == "<anonymous>" {
        return None;
    }
    Some(Frame {
        file: address(file),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
        function: shortened(function, MAX_FUNCTION),
    })
}

/// Milliseconds since the epoch as the protocol writes them.
pub fn epoch_millis(millis: f64) -> Timestamp {
    Timestamp(millis.floor() as i64)
}

/// FNV-1a, so that what is remembered compares equal in every process.
#[derive(Clone, Copy)]
pub struct Hash(pub u64);

impl Hash {
    /// Of nothing yet.
    pub fn new() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    /// With one more part; parts do not run into each other.
    pub fn with(self, part: &[u8]) -> Self {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Hash(step(part.iter().fold(self.0, |hash, byte| step(hash, *byte)), 0xff))
    }
}

/// An address of at most [`MAX_ADDRESS`] bytes. Pages choose their addresses, `data:` and `blob:` ones have no end, and they
/// go with everything that happens there: so they are cut where they come in, all in the same way, and compared afterwards.
pub fn address(text: &str) -> String {
    shortened(text, MAX_ADDRESS)
}

/// The beginning of a text, with what is missing; nothing else of it is copied.
pub fn shortened(text: &str, limit: usize) -> String {
    match text.len() > limit {
        true => {
            let kept = &text[..text.floor_char_boundary(limit)];
            format!("{kept}… ({} more bytes)", text.len() - kept.len())
        }
        false => text.to_owned(),
    }
}

/// Cuts a text at a number of bytes without cutting a character, and says how much is missing.
pub fn cut(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        let end = text.floor_char_boundary(limit);
        let missing = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("… ({missing} more bytes)"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_errors_text_is_split_into_what_it_says_and_where() {
        let text = "MyError: custom\nsecond line\n    at thrower (http://a/app.js:8:26)\n    at async http://a/app.js:9:35\n    at Object.construct (<anonymous>:26:22)";
        let (message, frames) = split_stack(text);
        assert_eq!(message, "MyError: custom\nsecond line");
        assert_eq!(frames.len(), 2);
        assert_eq!((frames[0].function.as_str(), frames[0].file.as_str()), ("thrower", "http://a/app.js"));
        assert_eq!((frames[1].line, frames[1].column), (9, 35));
        assert_eq!(split_stack("no stack"), ("no stack", Vec::new()));
    }

    #[test]
    fn a_cut_never_splits_a_character_and_says_how_much_is_missing() {
        assert_eq!(cut("äöü".into(), 3), "ä… (4 more bytes)");
        assert_eq!(cut("short".into(), 5), "short");
    }

    #[test]
    fn parts_of_a_hash_do_not_run_into_each_other() {
        assert_ne!(Hash::new().with(b"ab").with(b"c").0, Hash::new().with(b"a").with(b"bc").0);
    }
}

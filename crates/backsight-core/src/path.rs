//! A path inside a workspace, as bytes. Constructing one proves that it stays inside.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Code, Error, Result, is_unsafe_to_show};

/// A relative path with `/` between its parts: never empty, absolute, or holding `.`, `..`, `.git` or `.backsight`.
///
/// In JSON it is the text itself, or, when it is not UTF-8 or starts with a double quote, Git's C-style quoted form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(Vec<u8>);

impl RelPath {
    /// Checks the parts of a path that came from a person or a wire.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self> {
        let path = RelPath::recorded(bytes.into())?;
        match path.0.split(|&byte| byte == b'/').any(|part| part == b".backsight") {
            false => Ok(path),
            true => Err(refusal(&path.0, "lies in a `.backsight`, which is Backsight's own")),
        }
    }

    /// Checks the parts of a path that a record holds: one that was written before `.backsight` was refused must still
    /// be readable.
    fn recorded(bytes: Vec<u8>) -> Result<Self> {
        let problem = if bytes.is_empty() {
            Some("is empty")
        } else if bytes[0] == b'/' {
            Some("is absolute")
        } else if bytes.contains(&0) {
            Some("holds a NUL byte")
        } else {
            bytes.split(|&byte| byte == b'/').find_map(problem_with_part)
        };
        match problem {
            None => Ok(RelPath(bytes)),
            Some(problem) => Err(refusal(&bytes, problem)),
        }
    }

    /// From the text form used in JSON and on the command line: plain, or quoted as Git quotes.
    pub fn parse(text: &str) -> Result<Self> {
        match unquote(text) {
            Some(bytes) => RelPath::new(bytes),
            None => RelPath::new(text),
        }
    }

    /// `name` inside `directory`; an empty `directory` is the workspace root.
    pub fn join(directory: &[u8], name: &[u8]) -> Result<Self> {
        RelPath::new(join_bytes(directory, name))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// For calls into the operating system.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The directory that holds it; empty for the workspace root.
    pub fn parent(&self) -> &[u8] {
        match self.0.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => &self.0[..slash],
            None => &[],
        }
    }

    /// The last part.
    pub fn name(&self) -> &[u8] {
        match self.0.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => &self.0[slash + 1..],
            None => &self.0,
        }
    }

    /// Whether this is `other` or lies below it.
    pub fn is_within(&self, other: &RelPath) -> bool {
        self.0.starts_with(&other.0) && (self.0.len() == other.0.len() || self.0[other.0.len()] == b'/')
    }

    /// Every directory above it, nearest first, without the workspace root.
    pub fn ancestors(&self) -> impl Iterator<Item = &[u8]> {
        let slashes = self.0.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/');
        slashes.map(|(index, _)| &self.0[..index])
    }
}

fn refusal(bytes: &[u8], problem: &str) -> Error {
    Error::new(Code::InvalidPath, format!("path `{}` {problem}", quote(bytes)))
        .with_hint("name a path inside the workspace, relative to its root")
}

/// Whether some file system takes `name` for `plain`, which is ASCII in lower case: letter case of any kind, and the
/// invisible letters that macOS passes over.
pub fn is_alias(name: &[u8], plain: &str) -> bool {
    // Nearly all names are only that.
    if name.is_ascii() {
        return name.eq_ignore_ascii_case(plain.as_bytes());
    }
    let Ok(text) = std::str::from_utf8(name) else { return false };
    let is_passed_over = |letter: &char| matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let seen: String = text.chars().filter(|letter| !is_passed_over(letter)).collect();
    // Upper case first: `\u{17f}` is another lower case of `S`, and `\u{212a}` another upper case of `k`.
    let folded = seen.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    folded.eq(plain.chars())
}

fn problem_with_part(part: &[u8]) -> Option<&'static str> {
    match part {
        b"" => Some("has an empty part"),
        b"." => Some("has a `.` part"),
        b".." => Some("leaves the workspace"),
        b".git" => Some("lies in a `.git`, which Backsight never touches"),
        _ => None,
    }
}

fn join_bytes(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(directory.len() + name.len() + 1);
    if !directory.is_empty() {
        bytes.extend_from_slice(directory);
        bytes.push(b'/');
    }
    bytes.extend_from_slice(name);
    bytes
}

impl fmt::Display for RelPath {
    /// For people: control characters never reach a terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quote(&self.0))
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for RelPath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        RelPath::parse(text)
    }
}

impl Serialize for RelPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) if !text.starts_with('"') => serializer.serialize_str(text),
            _ => serializer.serialize_str(&c_quote(&self.0)),
        }
    }
}

impl<'de> Deserialize<'de> for RelPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        RelPath::recorded(unquote(&text).unwrap_or_else(|| text.into_bytes())).map_err(serde::de::Error::custom)
    }
}

/// The text of a path for people: as it is, or C-quoted when it holds what is unsafe to show, when blanks at its end would not
/// be seen, or when it is not UTF-8.
pub fn quote(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.starts_with('"') || text.trim() != text || text.chars().any(is_unsafe_to_show) => {
            c_quote_text(text)
        }
        Ok(text) => text.to_owned(),
        Err(_) => c_quote(bytes),
    }
}

/// C-quoted, with letters that can be seen left as they are: a name in another script stays readable.
fn c_quote_text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            seen if !seen.is_ascii() && !is_unsafe_to_show(seen) => quoted.push(seen),
            other => other.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| push_escaped(&mut quoted, byte)),
        }
    }
    quoted.push('"');
    quoted
}

fn c_quote(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    bytes.iter().for_each(|&byte| push_escaped(&mut text, byte));
    text.push('"');
    text
}

fn push_escaped(text: &mut String, byte: u8) {
    match byte {
        b'"' => text.push_str("\\\""),
        b'\\' => text.push_str("\\\\"),
        b'\n' => text.push_str("\\n"),
        b'\t' => text.push_str("\\t"),
        b'\r' => text.push_str("\\r"),
        0x20..=0x7e => text.push(char::from(byte)),
        _ => text.push_str(&format!("\\{byte:03o}")),
    }
}

/// The bytes of a C-quoted text, or nothing when it is not one.
fn unquote(text: &str) -> Option<Vec<u8>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next()? {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            digit @ b'0'..=b'3' => {
                let octal = [digit, rest.next()?, rest.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&octal).ok()?, 8).ok()?);
            }
            quoted @ (b'"' | b'\\') => bytes.push(quoted),
            _ => return None,
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_the_workspace_or_touch_git_cannot_be_made() {
        for bad in ["", "/etc/passwd", "..", "a/../b", "a//b", "a/.", ".git", "sub/.git/config", "a\0b"] {
            assert_eq!(RelPath::new(bad).unwrap_err().code(), Code::InvalidPath, "{bad:?}");
        }
        for good in ["a", "a/b", ".gitignore", "..a", "a b", "-x", "*", ":(glob)", "a\nb"] {
            assert!(RelPath::new(good).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn blanks_at_the_ends_of_a_name_are_seen() {
        let shown = ["a b", "a b ", " a"].map(|name| quote(name.as_bytes()));
        assert_eq!(shown, ["a b", "\"a b \"", "\" a\""]);
    }

    #[test]
    fn what_is_backsights_own_cannot_be_named_but_old_records_are_read() {
        for own in [".backsight", ".backsight/store/x", "a/.backsight"] {
            assert_eq!(RelPath::new(own).unwrap_err().code(), Code::InvalidPath, "{own}");
            assert!(serde_json::from_value::<RelPath>(own.into()).is_ok(), "{own}");
        }
        assert!(RelPath::new(".backsightx").is_ok() && RelPath::new("a.backsight").is_ok());
    }

    #[test]
    fn names_that_some_file_system_takes_for_another_are_known() {
        for name in [".git", ".GIT", ".g\u{200c}it", "\u{feff}.git", ".Git\u{202e}"] {
            assert!(is_alias(name.as_bytes(), ".git"), "{name:?}");
        }
        for name in [".backsight", ".Backsight", ".bac\u{212a}sight", ".back\u{17f}ight", ".b\u{200d}acksight"] {
            assert!(is_alias(name.as_bytes(), ".backsight"), "{name:?}");
        }
        for name in [".gitignore", "git", ".git.", ".git2", "a.git", ".github", "", "..git", "\u{e9}"] {
            assert!(!is_alias(name.as_bytes(), ".git"), "{name:?}");
        }
        assert!(!is_alias(b".git\xff", ".git"));
    }

    #[test]
    fn any_name_round_trips_through_json() {
        for bytes in [&b"plain"[..], b"caf\xe9", b"\"quoted\"", b"new\nline", b"back\\slash", "h\u{e9}".as_bytes()] {
            let path = RelPath::new(bytes).unwrap();
            let json = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<RelPath>(&json).unwrap(), path, "{json}");
        }
    }

    #[test]
    fn what_a_person_sees_holds_no_control_characters() {
        assert_eq!(quote(b"a\x1b[31mb"), "\"a\\033[31mb\"");
        assert_eq!(quote("h\u{e9}".as_bytes()), "h\u{e9}");
        assert_eq!(quote(b"caf\xe9"), "\"caf\\351\"");
        assert_eq!(quote("a\u{2028}h\u{e9}".as_bytes()), "\"a\\342\\200\\250h\u{e9}\"");
        for hidden in ['\u{2029}', '\u{202e}', '\u{61c}', '\u{200b}', '\u{e0041}', '\u{85}', '\u{fe01}'] {
            let shown = quote(format!("a{hidden}").as_bytes());
            assert!(!shown.contains(hidden) && shown.starts_with('"'), "{shown}");
            assert_eq!(RelPath::parse(&shown).unwrap().as_bytes(), format!("a{hidden}").as_bytes());
        }
    }

    #[test]
    fn within_means_whole_parts() {
        let path = |text: &str| RelPath::new(text).unwrap();
        assert!(path("a/b").is_within(&path("a")));
        assert!(path("a").is_within(&path("a")));
        assert!(!path("ab").is_within(&path("a")));
        assert_eq!(path("a/b/c").ancestors().collect::<Vec<_>>(), [&b"a/b"[..], b"a"]);
    }
}

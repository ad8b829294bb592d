//! What a capture looked at, and what it did not. Silence means complete.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RelPath;

/// Why a path is not in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// An ignore rule matches it.
    Ignored,
    /// The operating system would not let us read it.
    Unreadable,
    /// Larger than the configured `max_file_size`.
    TooLarge,
    /// A FIFO, socket or device.
    Special,
    /// It kept changing while it was read.
    Raced,
    /// A spelling of `.git` that is not exactly `.git`, which some systems treat as the same.
    GitAlias,
    /// A spelling of `.backsight` that is not exactly `.backsight`, which some systems treat as the same.
    OwnAlias,
    /// A directory below more directories than are walked.
    TooDeep,
}

impl Reason {
    /// Whether a person would want to hear about it; ignored files are as they asked.
    pub fn is_notable(self) -> bool {
        self != Reason::Ignored
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Ignored => "ignored",
            Reason::Unreadable => "unreadable",
            Reason::TooLarge => "too large",
            Reason::Special => "special file",
            Reason::Raced => "changed while being read",
            Reason::GitAlias => "alias of .git",
            Reason::OwnAlias => "alias of .backsight",
            Reason::TooDeep => "too deep",
        })
    }
}

/// One path that a capture does not hold. A directory stands for everything below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
pub struct Uncovered {
    /// Where.
    pub path: RelPath,
    /// Why.
    pub reason: Reason,
    /// How many bytes it has, where they are too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Whether the latest snapshot holds it: it grew too large since.
    #[serde(default, skip_serializing_if = "is_false")]
    pub was_captured: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Uncovered {
    /// A path and why it is not captured.
    pub fn new(path: RelPath, reason: Reason) -> Self {
        Uncovered { path, reason, size: None, was_captured: false }
    }
}

/// The reason, with what is known beside it: `grew too large: 2000000 bytes; its earlier content is kept`.
impl fmt::Display for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.size.map_or_else(String::new, |size| format!(": {size} bytes"));
        match self.was_captured {
            true => write!(f, "grew {}{bytes}; its earlier content is kept", self.reason),
            false => write!(f, "{}{bytes}", self.reason),
        }
    }
}

/// What a capture holds and what it could not see.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Coverage {
    /// Whether everything that is not ignored was captured.
    pub complete: bool,
    /// Files and symlinks captured.
    pub files: u64,
    /// Paths left out because an ignore rule matches; a directory counts once.
    pub ignored: u64,
    /// Paths left out for any other reason, sorted by path.
    pub uncovered: Vec<Uncovered>,
    /// Files of ignore rules or Git's settings that were not read, or not wholly, and why: what they would have
    /// ignored is captured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread_rules: Vec<String>,
}

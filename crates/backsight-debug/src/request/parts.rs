//! What several requests have in common.

use std::borrow::Cow;

use backsight_core::{FEWEST_TOKENS, Result, few_enough, short_enough, within};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::limits::{self, usage};
use crate::capture::Safety;
use crate::diff::{Form, Options};
use crate::walk::{CapturePlan, Frames};

/// An answer as long as it is.
const WHOLE: usize = 10_000_000;

/// How much of a paused program is captured.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct CaptureExtent {
    /// How deep values are expanded: 0 is the variables themselves.
    #[schemars(range(max = limits::DEEPEST))]
    pub depth: Option<u32>,
    /// Expressions to evaluate too, in the first frame.
    #[serde(default)]
    pub watch: Vec<String>,
    /// What may run to show a value; `pure`, nothing of the program, when left out.
    #[serde(default)]
    pub safety: Safety,
}

impl CaptureExtent {
    pub(super) fn check(&self) -> Result<()> {
        within("depth", self.depth.unwrap_or_default(), 0..=limits::DEEPEST)?;
        few_enough("watch", &self.watch)
    }

    /// In the lane's words, for the innermost frame.
    pub(super) fn plan(self, usual_depth: u32) -> CapturePlan {
        let depth = self.depth.unwrap_or(usual_depth);
        CapturePlan { depth, watches: self.watch, safety: self.safety, ..CapturePlan::default() }
    }
}

/// Which part of a long answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct AnswerPart {
    /// Only what is at or under this path.
    pub path: Option<String>,
    /// How many to skip, in the order of their importance.
    #[serde(default)]
    pub offset: u32,
    /// How large the answer may be; as large as it is when left out.
    #[schemars(range(min = FEWEST_TOKENS))]
    pub max_tokens: Option<usize>,
}

impl AnswerPart {
    pub(super) fn check(&self) -> Result<()> {
        short_enough("path", self.path.as_deref().unwrap_or_default())?;
        match self.max_tokens {
            Some(tokens) if tokens < FEWEST_TOKENS => {
                Err(usage(format!("`max_tokens` is {tokens}, not a number from {FEWEST_TOKENS}")))
            }
            _ => Ok(()),
        }
    }

    /// In the lane's words.
    pub fn options(&self) -> Options {
        let max_tokens = self.max_tokens.unwrap_or(WHOLE).min(WHOLE);
        Options { max_tokens, path: self.path.clone(), offset: self.offset as usize, form: Form::Json }
    }
}

/// How many frames: `top` (one), `all` or a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCount(pub Frames);

impl FrameCount {
    pub(super) fn check(self) -> Result<()> {
        match self.0 {
            Frames::Top | Frames::All => Ok(()),
            Frames::Count(count) => within("frames", count, 1..=limits::MOST_CAPTURED_FRAMES).map(drop),
        }
    }
}

impl Serialize for FrameCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            Frames::Top => serializer.serialize_str("top"),
            Frames::All => serializer.serialize_str("all"),
            Frames::Count(count) => serializer.serialize_u32(count),
        }
    }
}

impl<'de> Deserialize<'de> for FrameCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match (value.as_str(), value.as_u64().and_then(|count| u32::try_from(count).ok())) {
            (Some("top"), _) => Ok(FrameCount(Frames::Top)),
            (Some("all"), _) => Ok(FrameCount(Frames::All)),
            (_, Some(count)) => Ok(FrameCount(Frames::Count(count))),
            _ => Err(D::Error::custom(format!("`frames` is {value}, not top, all or a number from 1"))),
        }
    }
}

impl JsonSchema for FrameCount {
    fn schema_name() -> Cow<'static, str> {
        "FrameCount".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": limits::MOST_CAPTURED_FRAMES },
            { "type": "string", "enum": ["top", "all"] },
        ] })
    }
}

/// Which threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhichThreads {
    /// The one that is looked at.
    #[default]
    Stopped,
    /// All of them.
    All,
}

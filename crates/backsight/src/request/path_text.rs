//! A path inside the workspace as callers write it, not yet checked.

use std::borrow::Cow;

use backsight_core::{Code, Error, RelPath, Result, countable};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A path inside the workspace as a caller wrote it. Reading it from a wire never fails, so that one that leaves the workspace
/// is refused as an invalid path and not as a request that cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PathText(pub String);

impl PathText {
    /// The path, if it is one inside the workspace. `./` before it and `/` behind it are habits, not mistakes.
    pub fn inside(&self) -> Result<RelPath> {
        if self.0.is_empty() {
            return Err(Error::new(Code::InvalidPath, "a path is empty").with_hint("leave it out to mean everything"));
        }
        self.0.strip_prefix("./").unwrap_or(&self.0).trim_end_matches('/').parse()
    }

    /// Without the root of the workspace, which is no limit: then none is left. Models write `.` where they mean everything.
    pub fn without_root(texts: Vec<PathText>) -> Vec<PathText> {
        if texts.iter().any(PathText::is_root) { Vec::new() } else { texts }
    }

    /// Refuses more of them than a request may name.
    pub fn check_all(name: &str, texts: &[PathText]) -> Result<()> {
        countable(name, texts.len())?;
        texts.iter().filter(|text| !text.is_root()).try_for_each(|text| text.inside().map(drop))
    }

    fn is_root(&self) -> bool {
        matches!(self.0.as_str(), "." | "./")
    }

    /// All of them.
    pub fn all(texts: &[PathText]) -> Result<Vec<RelPath>> {
        texts.iter().map(PathText::inside).collect()
    }
}

impl From<&RelPath> for PathText {
    fn from(path: &RelPath) -> Self {
        PathText(path.to_string())
    }
}

impl JsonSchema for PathText {
    fn schema_name() -> Cow<'static, str> {
        "Path".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // No part is empty, `.`, `..` or `.git`; none holds a NUL.
        const PART: &str = r"(?!(\.{1,2}|\.git)(/|$))[^/\x00]+";
        json_schema!({ "type": "string", "pattern": format!("^(\\./)?{PART}(/{PART})*/*$"), "examples": ["src/main.rs"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn habits_are_forgiven_and_ways_out_are_not() {
        let read = |text: &str| PathText(text.to_owned()).inside();
        assert_eq!(read("./src/a.rs").unwrap(), read("src/a.rs").unwrap());
        assert_eq!(read("src/").unwrap(), read("src").unwrap());
        for wrong in ["", "../x", "/etc/passwd", ".git/config", "a/../b", "."] {
            assert_eq!(read(wrong).unwrap_err().code(), Code::InvalidPath, "{wrong}");
        }
        let texts = |texts: &[&str]| texts.iter().map(|text| PathText((*text).to_owned())).collect::<Vec<_>>();
        assert_eq!(PathText::without_root(texts(&["src", "."])), Vec::new(), "the root is no limit");
        assert_eq!(PathText::without_root(texts(&["src"])).len(), 1);
        assert_eq!(PathText::check_all("paths", &texts(&["../x", "."])).unwrap_err().code(), Code::InvalidPath);
    }
}

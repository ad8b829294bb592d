//! Which paths differ between two states.

use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Call, Definition, Effect, cursor, files_track::lists, one_or_many, paths};
use crate::reply::{Draft, Next};
use crate::words;

pub struct FilesChanges;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// default @, the latest snapshot
    from: Option<String>,
    /// default now, the disk
    to: Option<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    paths: Vec<String>,
    cursor: Option<String>,
}

impl Definition for FilesChanges {
    const NAME: &'static str = "files_changes";
    const TITLE: &'static str = "List changed files";
    const DESCRIPTION: &'static str = "List which files changed between two states. A state is a snapshot (#12, an \
        id, @ latest, @~2, a milestone's title, session:ID, message:ID) or now (the disk).";
    const EFFECT: Effect = Effect::Reads;
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("changes", "array"), ("unseen", "array")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let from = arguments.from.unwrap_or_else(|| "@".to_owned());
        let to = arguments.to.filter(|to| to != "now");
        let start = cursor(arguments.cursor.as_deref())?;
        let patch = call.workspace.patch_paths(&from, to.as_deref(), &paths(&arguments.paths)?)?;
        let changes: Vec<String> = patch.changes.iter().map(words::change).collect();
        let unseen: Vec<String> = patch.unseen.iter().map(words::unseen).collect();
        let to_name = to.as_deref().unwrap_or("now");
        let blind = if unseen.is_empty() {
            String::new()
        } else {
            format!("; {} not seen", words::count(unseen.len(), "path"))
        };
        let summary = match changes.len() {
            0 => format!("nothing differs between {from} and {to_name}{blind}"),
            1 => format!("1 path differs between {from} and {to_name}{blind}"),
            count => format!("{count} paths differ between {from} and {to_name}{blind}"),
        };
        let more = Next::new("files_changes", json!({ "from": from, "to": to, "paths": arguments.paths }));
        Ok(lists(Draft::new(summary).list_from("changes", changes, start, more), vec![("unseen", unseen)]))
    }
}

//! What differs between two states, line by line.

use backsight::report::FileDiff;
use backsight::request::Diff;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Call, Definition, Effect, cursor, files_track::lists, one_or_many, paths};
use crate::reply::{Draft, Next};
use crate::words;

pub struct FilesDiff;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// default @
    from: Option<String>,
    /// default now
    to: Option<String>,
    /// instead: what this one step changed
    step: Option<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    paths: Vec<String>,
    /// default 3
    context: Option<usize>,
    /// with ids
    #[serde(default)]
    hunks: bool,
    cursor: Option<String>,
}

impl Definition for FilesDiff {
    const NAME: &'static str = "files_diff";
    const TITLE: &'static str = "Show a diff of files";
    const DESCRIPTION: &'static str =
        "Show the diff, which lines differ between two states, or in one step. Names states like files_changes.";
    const EFFECT: Effect = Effect::Reads;
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("files", "array"), ("unseen", "array"), ("diff", "string")];
    type Arguments = Arguments;

    fn run(call: &Call<'_>, arguments: Arguments) -> Result<Draft> {
        let selection = paths(&arguments.paths)?;
        let start = cursor(arguments.cursor.as_deref())?;
        let to = arguments.to.filter(|to| to != "now");
        let hunks = arguments.hunks.then_some(true);
        let (diff, what, again) = match (arguments.step, arguments.from) {
            (Some(step), None) if to.is_none() => {
                let diff = call.workspace.step_diff(&step, false, &selection)?;
                let again = json!({ "step": step, "paths": arguments.paths, "hunks": hunks });
                (diff, format!("step {step}"), again)
            }
            (Some(_), _) => return Err(super::usage("`step` goes without `from` and `to`".to_owned())),
            (None, from) => {
                let from = from.unwrap_or_else(|| "@".to_owned());
                let mut request = Diff::new(from.clone(), to.clone());
                request.paths = selection;
                request.context = arguments.context.unwrap_or(request.context).min(1000);
                let what = format!("{from}..{}", to.as_deref().unwrap_or("now"));
                let again = json!({ "from": from, "to": to, "paths": arguments.paths, "context": arguments.context, "hunks": hunks });
                (call.workspace.diff_with(&request)?, what, again)
            }
        };
        let files = diff.diffs.iter().map(|file| {
            let note = if file.binary { " binary" } else { "" };
            let cut = file.cut.as_ref().map(|cut| format!(" ({cut})")).unwrap_or_default();
            format!("{} {} +{} -{}{note}{cut}", words::letter(file.status), file.file, file.additions, file.deletions)
        });
        let files: Vec<String> = files.collect();
        let text = |file: &FileDiff| if arguments.hunks { file.unified_with_hunks() } else { file.unified.clone() };
        let unified: String = diff.diffs.iter().map(|file| String::from_utf8_lossy(&text(file)).into_owned()).collect();
        let unseen: Vec<String> = diff.unseen.iter().map(words::unseen).collect();
        let blind = if unseen.is_empty() {
            String::new()
        } else {
            format!("; {} not seen", words::count(unseen.len(), "path"))
        };
        let summary =
            format!("{what}: {}, +{} -{}{blind}", words::count(files.len(), "file"), diff.additions, diff.deletions);
        // The list of files comes once, on the first page.
        let draft = Draft::new(summary);
        let (first, rest) = (start == 0, Next::new("files_changes", again_as_changes(&again)));
        let draft = if first { draft.list("files", files, Some(rest)) } else { draft };
        let draft = lists(draft, vec![("unseen", unseen)]);
        Ok(draft.body("diff", &unified, start, Next::new("files_diff", again)))
    }
}

/// The same question to `files_changes`.
fn again_as_changes(again: &serde_json::Value) -> serde_json::Value {
    let mut again = again.clone();
    if let Some(object) = again.as_object_mut() {
        object.remove("context");
        object.remove("hunks");
        if let Some(step) = object.remove("step") {
            object.insert("from".into(), json!("@"));
            object.insert("to".into(), step);
        }
    }
    again
}

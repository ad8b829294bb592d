//! What differs between two states, line by line.

use backsight::report::ComparedStates;
use backsight::request::{CompareStates, CompareStep, PathText};
use backsight_core::Result;
use serde_json::{Map, Value, json};

use super::{Call, Choosing, Group, Shown, ToolChoice, cursor, files_track::lists, usage};
use crate::reply::{Draft, Next};
use crate::words;

pub struct FilesDiff;

impl Choosing for FilesDiff {
    const NAME: &'static str = "files_diff";
    const TITLE: &'static str = "Show a diff of files";
    const DESCRIPTION: &'static str =
        "Show the diff, which lines differ between two states, or in one step. Names states like files_changes.";
    const GROUP: Group = Group::Files;
    const SHOWS_BUDGET: bool = true;
    const PAGES: bool = true;
    const WORD: &'static str = "";
    const SHOWN: &'static [Shown] = &[
        Shown::new("from").saying("default @").text(),
        Shown::new("to").saying("default now").text(),
        Shown::new("ref").named("step").saying("instead: what this one step changed").text(),
        Shown::new("paths").text(),
        Shown::new("context").saying("default 3"),
        Shown::new("hunks").saying("with ids"),
        Shown::new("cursor"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("files", "array"), ("unseen", "array"), ("diff", "string")];

    fn choices() -> Vec<ToolChoice> {
        vec![ToolChoice::of("states", states), ToolChoice::of("step", step)]
    }

    fn meant(arguments: &mut Map<String, Value>) -> Result<Option<&'static str>> {
        match (arguments.contains_key("step"), arguments.contains_key("from") || arguments.contains_key("to")) {
            (true, true) => Err(usage("`step` goes without `from` and `to`".to_owned())),
            (true, false) => Ok(Some("step")),
            (false, _) => Ok(None),
        }
    }
}

fn states(call: &Call<'_>, mut request: CompareStates) -> Result<Draft> {
    request.states.paths = PathText::without_root(request.states.paths);
    let (from, to) = (request.states.from().to_owned(), request.states.to().map(str::to_owned));
    let (paths, context) = (request.states.paths.clone(), request.context);
    let what = format!("{from}..{}", to.as_deref().unwrap_or("now"));
    let as_changes = json!({ "from": from, "to": to, "paths": paths });
    let hunks = request.form.hunks.then_some(true);
    let again = json!({ "from": from, "to": to, "paths": paths, "context": context, "hunks": hunks });
    request.form.unified = true;
    drafted(call, &call.workspace.perform(request)?, &what, again, as_changes)
}

fn step(call: &Call<'_>, mut request: CompareStep) -> Result<Draft> {
    request.paths = PathText::without_root(request.paths);
    let (step, paths) = (request.reference.clone(), request.paths.clone());
    let hunks = request.form.hunks.then_some(true);
    let again = json!({ "step": step, "paths": paths, "hunks": hunks });
    let as_changes = json!({ "from": "@", "to": step, "paths": paths });
    request.form.unified = true;
    drafted(call, &call.workspace.perform(request)?, &format!("step {step}"), again, as_changes)
}

fn drafted(call: &Call<'_>, compared: &ComparedStates, what: &str, again: Value, as_changes: Value) -> Result<Draft> {
    let start = cursor(call.cursor)?;
    let diff = &compared.diff;
    let files = diff.diffs.iter().map(|file| {
        let note = if file.binary { " binary" } else { "" };
        let cut = file.cut.as_ref().map(|cut| format!(" ({cut})")).unwrap_or_default();
        format!("{} {} +{} -{}{note}{cut}", words::letter(file.status), file.file, file.additions, file.deletions)
    });
    let files: Vec<String> = files.collect();
    let unseen: Vec<String> = diff.unseen.iter().map(words::unseen).collect();
    let (count, not_seen) = (words::count(files.len(), "file"), words::not_seen(&unseen));
    let summary = format!("{what}: {count}, +{} -{}{not_seen}", diff.additions, diff.deletions);
    // The list of files comes once, on the first page.
    let draft = Draft::new(summary);
    let rest = Next::new("files_changes", as_changes);
    let draft = if start == 0 { draft.list("files", files, Some(rest)) } else { draft };
    let draft = lists(draft, vec![("unseen", unseen)]);
    let unified = compared.unified.as_deref().unwrap_or_default();
    Ok(draft.body("diff", unified, start, Next::new(FilesDiff::NAME, again)))
}

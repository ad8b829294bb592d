//! An error as a person sees it: what happened, what was run, the conflicts or unknown changes if there are any, then
//! what to do.

use backsight::report::UnknownChange;
use backsight_core::{Error, RelPath, shell_word};
use backsight_server::CommandLine;
use serde_json::Value;

use crate::page::{Page, Sheet};
use crate::render::{changes, debug};
use crate::words::{safe, texts};

/// Puts the error on the page.
pub fn show(page: &mut Page, error: &Error) {
    // Further lines stand in: what a program or a file name says begins no line of ours.
    let message: Vec<String> = error.message().lines().map(safe).collect();
    page.error(message.join("\n  "));
    for command in ["command", "debuggee"] {
        debug::started(&mut page.talk, &texts(&error.details()[command]));
    }
    for conflict in error.details()["conflicts"].as_array().into_iter().flatten() {
        page.talk.line(format_args!("  {}: {}", path(&conflict["path"]), safe(text(&conflict["reason"]))));
        versions(&mut page.talk, conflict);
    }
    if let Ok(unknown) = serde_json::from_value::<Vec<UnknownChange>>(error.details()["unknown_changes"].clone()) {
        changes::list_unknown(&mut page.talk, &unknown);
    }
    if let Some(hint) = error.hint_in(&CommandLine) {
        page.hint(safe(&hint));
    }
}

/// How to see both sides of a conflict: what is there now, and what would come back.
fn versions(sheet: &mut Sheet, conflict: &Value) {
    let now = match (conflict["current"].is_null(), RelPath::parse(text(&conflict["path"]))) {
        (false, Ok(path)) => {
            let dashes = if path.as_bytes().starts_with(b"-") { "-- " } else { "" };
            format!("backsight cat now {dashes}{}", shell_word(path.as_bytes()))
        }
        _ => "no file".to_owned(),
    };
    let back = match conflict["wanted"].as_str() {
        Some(blob) => format!("backsight cat --blob {}", safe(blob)),
        None => "no file".to_owned(),
    };
    let (now, back) = (sheet.dim(now), sheet.dim(back));
    sheet.line(format_args!("    now   {now}"));
    sheet.line(format_args!("    back  {back}"));
}

/// A path in JSON may be quoted already; reading it first keeps it from being quoted twice.
fn path(value: &Value) -> String {
    RelPath::parse(text(value)).map_or_else(|_| safe(text(value)), |path| path.to_string())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

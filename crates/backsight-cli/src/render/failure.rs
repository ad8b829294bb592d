//! An error as a person sees it: what happened, the conflicts if there are any, then what to do.

use backsight_core::{Error, RelPath};
use serde_json::Value;

use crate::page::Page;
use crate::words::safe;

/// Puts the error on the page.
pub fn show(page: &mut Page, error: &Error) {
    let message: Vec<String> = error.message().lines().map(safe).collect();
    page.error(message.join("\n"));
    for conflict in error.details()["conflicts"].as_array().into_iter().flatten() {
        page.talk.line(format_args!("  {}: {}", path(&conflict["path"]), safe(text(&conflict["reason"]))));
    }
    if let Some(hint) = error.hint() {
        page.hint(safe(hint));
    }
}

/// A path in JSON may be quoted already; reading it first keeps it from being quoted twice.
fn path(value: &Value) -> String {
    RelPath::parse(text(value)).map_or_else(|_| safe(text(value)), |path| path.to_string())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

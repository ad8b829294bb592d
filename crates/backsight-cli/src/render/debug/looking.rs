//! The calls, threads and variables of a paused program, and what it printed.

use std::path::Path;

use backsight::debug::render::safe;
use serde_json::Value;

use super::{list, location, shown, text};
use crate::page::{CYAN, GREEN, Page, Sheet, YELLOW};
use crate::words::{count, enumerate, thousands};

/// Names are aligned up to this many characters.
const WIDEST_NAME: usize = 32;

/// The calls a thread is in.
pub fn stack(page: &mut Page, stack: &Value, start: &Path) {
    let frames = list(&stack["frames"]);
    let width = frames.iter().map(|frame| safe(text(frame, "function")).chars().count()).max().unwrap_or(0);
    let width = width.min(WIDEST_NAME);
    for frame in frames {
        let index = frame["index"].as_u64().unwrap_or_default();
        let mark = if index == 0 { page.data.paint(YELLOW.bold(), "→") } else { " ".to_owned() };
        let function = format!("{:<width$}", safe(text(frame, "function")));
        let place = location(frame, start).unwrap_or_default();
        let source = frame["source"].as_str().map(|source| shown(source.trim_start())).unwrap_or_default();
        let said = [page.data.bold(function), page.data.paint(CYAN, place), page.data.dim(source)].join("  ");
        page.data.line(format_args!("{mark} #{index:<3} {said}"));
    }
}

/// The threads.
pub fn threads(page: &mut Page, threads: &Value) {
    for thread in list(&threads["threads"]) {
        let id = thread["id"].as_i64().unwrap_or_default();
        let here = thread["stopped_here"] == true;
        let mark = if here { page.data.paint(YELLOW.bold(), "→") } else { " ".to_owned() };
        let name = safe(text(thread, "name"));
        let name = if here { page.data.bold(name) } else { name };
        page.data.line(format_args!("{mark} {id:>4}  {name}"));
    }
}

/// Variables, or what is inside one.
pub fn variables(page: &mut Page, found: &Value) {
    if found["value"].is_object() {
        row(&mut page.data, &found["value"], 0);
    }
    let all = list(&found["variables"]);
    let width = all.iter().map(|one| safe(text(one, "name")).chars().count()).max().unwrap_or(0).min(WIDEST_NAME);
    all.iter().for_each(|one| row(&mut page.data, one, width));
    if all.is_empty() && !found["value"].is_object() {
        page.data.line("No variables.");
    }
    if let Some(total) = found["total"].as_u64().filter(|total| *total > all.len() as u64) {
        let said = page.data.dim(format_args!("{} of {}", thousands(all.len() as u64), count(total, "value")));
        page.data.line(said);
    }
    for missing in list(&found["incomplete"]) {
        page.warning(format_args!("{}: {}", safe(text(missing, "path")), safe(text(missing, "reason"))));
    }
    let scopes: Vec<String> = list(&found["scopes"]).iter().filter_map(Value::as_str).map(safe).collect();
    if scopes.len() > 1 {
        page.note(format_args!("--scope looks into one of {}", enumerate(&scopes)));
    }
}

fn row(sheet: &mut Sheet, variable: &Value, width: usize) {
    let mark = if variable["expandable"] == true { sheet.paint(GREEN, "+") } else { " ".to_owned() };
    let name = format!("{:<width$}", safe(text(variable, "name")));
    let kind = sheet.dim(safe(text(variable, "type")));
    sheet.line(format_args!("{mark} {}  {}  {kind}", sheet.bold(name), safe(text(variable, "value"))));
}

/// The value of an expression.
pub fn value(page: &mut Page, value: &Value) {
    let kind = page.data.dim(safe(text(value, "type")));
    page.data.line(format_args!("{}  {kind}", safe(text(value, "value"))));
    if value["may_have_run_code"] == true {
        page.note("code of the program may have run for that");
    }
}

/// What the program printed: as it is into a file or a pipe, made harmless on a terminal.
pub fn output(page: &mut Page, printed: &Value) {
    if let Some(lost @ 1..) = printed["lost"].as_u64() {
        page.warning(format_args!("{} printed before that are no longer kept", count(lost, "piece")));
    }
    let all: String = list(&printed["pieces"]).iter().map(|piece| text(piece, "text")).collect();
    if page.data.is_terminal() {
        all.lines().for_each(|line| page.data.line(safe(line)));
    } else {
        page.data.raw(all.as_bytes());
    }
    if all.is_empty() {
        page.note("the program printed nothing");
    }
}

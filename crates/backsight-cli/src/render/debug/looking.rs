//! The calls, threads and variables of a paused program, and what it printed.

use std::path::Path;

use backsight::debug::render::safe;
use backsight::debug::session::{EvaluatedView, OutputPage, StackView, ThreadView, VariableView, VariablesPage};

use super::{location, shown};
use crate::page::{CYAN, GREEN, Page, Sheet, YELLOW};
use crate::words::{count, enumerate, thousands};

/// Names are aligned up to this many characters.
const WIDEST_NAME: usize = 32;

/// The calls a thread is in.
pub fn stack(page: &mut Page, stack: &StackView, start: &Path) {
    let width = stack.frames.iter().map(|frame| safe(&frame.function).chars().count()).max().unwrap_or(0);
    let width = width.min(WIDEST_NAME);
    for frame in &stack.frames {
        let index = frame.index;
        let mark = if index == 0 { page.data.paint(YELLOW.bold(), "→") } else { " ".to_owned() };
        let function = format!("{:<width$}", safe(&frame.function));
        let place = location(frame, start).unwrap_or_default();
        let source = frame.source.as_ref().map(|source| shown(source.trim_start())).unwrap_or_default();
        let said = [page.data.bold(function), page.data.paint(CYAN, place), page.data.dim(source)].join("  ");
        page.data.line(format_args!("{mark} #{index:<3} {said}"));
    }
}

/// The threads.
pub fn threads(page: &mut Page, threads: &[ThreadView]) {
    for thread in threads {
        let (id, here) = (thread.id, thread.stopped_here);
        let mark = if here { page.data.paint(YELLOW.bold(), "→") } else { " ".to_owned() };
        let name = safe(&thread.name);
        let name = if here { page.data.bold(name) } else { name };
        page.data.line(format_args!("{mark} {id:>4}  {name}"));
    }
}

/// Variables, or what is inside one.
pub fn variables(page: &mut Page, found: &VariablesPage) {
    if let Some(value) = &found.value {
        row(&mut page.data, value, 0);
    }
    let all = &found.variables;
    rows(&mut page.data, all);
    if all.is_empty() && found.value.is_none() {
        page.data.line("No variables.");
    }
    if let Some(total) = found.total.filter(|total| *total > all.len() as u64) {
        let said = page.data.dim(format_args!("{} of {}", thousands(all.len() as u64), count(total, "value")));
        page.data.line(said);
    }
    for missing in &found.incomplete {
        page.warning(format_args!("{}: {}", safe(&missing.path), safe(&missing.reason)));
    }
    let scopes: Vec<String> = found.scopes.iter().map(|scope| safe(scope)).collect();
    if scopes.len() > 1 {
        page.note(format_args!("--scope looks into one of {}", enumerate(&scopes)));
    }
}

/// Variables, one on each line.
pub fn rows(sheet: &mut Sheet, all: &[VariableView]) {
    let width = all.iter().map(|one| safe(&one.name).chars().count()).max().unwrap_or(0).min(WIDEST_NAME);
    all.iter().for_each(|one| row(sheet, one, width));
}

fn row(sheet: &mut Sheet, variable: &VariableView, width: usize) {
    let mark = if variable.expandable { sheet.paint(GREEN, "+") } else { " ".to_owned() };
    let name = format!("{:<width$}", safe(&variable.name));
    let kind = sheet.dim(safe(variable.kind.as_deref().unwrap_or_default()));
    sheet.line(format_args!("{mark} {}  {}  {kind}", sheet.bold(name), safe(&variable.value)));
}

/// The value of an expression.
pub fn value(page: &mut Page, value: &EvaluatedView) {
    let kind = page.data.dim(safe(value.kind.as_deref().unwrap_or_default()));
    page.data.line(format_args!("{}  {kind}", safe(&value.value)));
    if value.may_have_run_code {
        page.note("code of the program may have run for that");
    }
}

/// What the program printed: as it is into a file or a pipe, made harmless on a terminal.
pub fn output(page: &mut Page, printed: &OutputPage) {
    if printed.lost > 0 {
        page.warning(format_args!("{} printed before that are no longer kept", count(printed.lost, "piece")));
    }
    let all: String = printed.pieces.iter().map(|piece| piece.text.as_str()).collect();
    if page.data.is_terminal() {
        all.lines().for_each(|line| page.data.line(safe(line)));
    } else {
        page.data.raw(all.as_bytes());
    }
    if all.is_empty() {
        page.note("the program printed nothing");
    }
}

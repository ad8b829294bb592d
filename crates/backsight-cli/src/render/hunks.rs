//! Hunks with their names and numbered lines, so that a person can say which of them to take back.

use backsight::report::{FileHunks, HunkLines, Hunks};

use crate::page::{CYAN, GREEN, Page, RED, Sheet, YELLOW};
use crate::render::changes;
use crate::render::unified::visible;
use crate::words::{count, safe};

/// Puts all of them on the page; `reference` is what `revert` takes them back from.
pub fn show(page: &mut Page, hunks: &Hunks, reference: &str) {
    for file in &hunks.files {
        head(&mut page.data, file);
        for passage in &file.hunks {
            lines(&mut page.data, passage);
        }
        if file.lines_left_out > 0 {
            page.warning(format_args!("{}: {} left out", file.file, count(file.lines_left_out, "line")));
        }
    }
    let first = hunks.files.iter().flat_map(|file| &file.hunks).flat_map(|passage| &passage.hunks).next();
    match first {
        Some(hunk) => page.hint(format_args!(
            "take one back with `backsight revert {reference} --hunk {0}`, some lines of it with `--hunk {0}:1-2`",
            hunk.id
        )),
        None => page.note("no lines differ"),
    }
}

fn head(sheet: &mut Sheet, file: &FileHunks) {
    let (letter, style) = changes::letter(file.status);
    let letter = sheet.paint(style, letter);
    let name = sheet.bold(&file.file);
    let from = file.from_file.as_ref().map(|from| format!(" (was {from})")).unwrap_or_default();
    let why = match (&file.cut, file.binary, file.hunks.is_empty()) {
        (Some(cut), ..) => format!("  {}", safe(cut)),
        (None, true, _) => "  binary".to_owned(),
        (None, false, true) => "  no line differs".to_owned(),
        (None, false, false) => String::new(),
    };
    sheet.line(format_args!("{letter} {name}{from}{why}"));
}

fn lines(sheet: &mut Sheet, passage: &HunkLines) {
    let count = |skipped: char| passage.lines.iter().filter(|line| line.side != skipped).count();
    let (old, new) = (count('+'), count('-'));
    let place = format!("@@ -{},{old} +{},{new} @@ {}", passage.old_start, passage.new_start, safe(&passage.section));
    let place = sheet.paint(CYAN, place.trim_end());
    sheet.line(format_args!("  {place}"));
    for (at, line) in passage.lines.iter().enumerate() {
        let hunk = passage.hunks.iter().find(|hunk| (hunk.at..hunk.at + hunk.lines).contains(&at));
        if let Some(first) = hunk.filter(|hunk| hunk.at == at) {
            let name = sheet.paint(YELLOW, first.id);
            sheet.line(format_args!("  {name}"));
        }
        let number = hunk.map(|hunk| (at - hunk.at + 1).to_string()).unwrap_or_default();
        let cut = if line.cut > 0 { format!(" ... {} more characters", line.cut) } else { String::new() };
        let text = format!("{}{}{cut}", line.side, visible(line.text.as_bytes()));
        let text = match line.side {
            '+' => sheet.paint(GREEN, text),
            '-' => sheet.paint(RED, text),
            _ => text,
        };
        sheet.line(format_args!("  {number:>4} {text}"));
    }
}

//! Differences as lines with marks: pure, from the texts before and after. The marks are for reading only; what can be taken
//! back by itself has a name, see `choice.rs`.

mod choice;
mod known;
mod language;
mod words;

use std::sync::{Arc, Mutex, PoisonError};

use backsight_core::ObjectId;
use backsight_diff::{
    BinaryFiles, FileChange, FileSide, Hunk, Line, LineKind, Options, generate_unified_diff, parse_multi_file_diff,
    split_lines,
};
use backsight_files::{ObjectKind, object_id};

use crate::report::{FileDiff, FileHunks, HunkLine, HunkLines, HunkPlace, Hunks};
pub use choice::{HunkChoice, HunkId};
pub(crate) use choice::{chosen, named};
use known::{KnownMarks, Marks};
use language::Language;

/// Lines of an answer at most.
const LINES: usize = 60_000;
/// Characters of a line at most: longer ones are not written by people.
const LONGEST: usize = 2_000;
/// Larger texts are shown without the parts of their language.
const LARGEST_MARKED: usize = 2 << 20;

/// Marks of texts that were shown before, of all workspaces: about 8 MB.
static KNOWN: Mutex<KnownMarks> = Mutex::new(KnownMarks::new(2 << 20));

/// All hunks of these differences, with so many lines around each.
pub fn hunks(diffs: &[FileDiff], context: usize) -> Hunks {
    let mut room = LINES;
    let files: Vec<FileHunks> = diffs.iter().map(|diff| file(diff, context, &mut room)).collect();
    Hunks {
        additions: files.iter().map(|file| file.additions).sum(),
        deletions: files.iter().map(|file| file.deletions).sum(),
        lines_left_out: files.iter().map(|file| file.lines_left_out).sum(),
        files,
        ..Hunks::default()
    }
}

fn file(diff: &FileDiff, context: usize, room: &mut usize) -> FileHunks {
    use crate::report::Status;
    let is_text = !diff.binary && diff.cut.is_none();
    let blob = |text: &str, is_there: bool| match is_text && is_there {
        true => object_id(ObjectKind::Blob, text.as_bytes()).ok(),
        false => None,
    };
    let name = diff.file.to_string();
    let language = Language::of(&name);
    let mut shown = FileHunks {
        file: diff.file.clone(),
        from_file: diff.from_file.clone(),
        status: diff.status,
        additions: diff.additions,
        deletions: diff.deletions,
        binary: diff.binary,
        cut: diff.cut.clone(),
        before_blob: blob(&diff.before, diff.status != Status::Added),
        after_blob: blob(&diff.after, diff.status != Status::Deleted),
        after_lines: if is_text { split_lines(diff.after.as_bytes()).len() as u64 } else { 0 },
        language: language.map(|language| language.name),
        hunks: Vec::new(),
        lines_left_out: 0,
    };
    if !is_text {
        return shown;
    }
    let before = marks(language, shown.before_blob, &diff.before);
    let after = marks(language, shown.after_blob, &diff.after);
    let mut ids = named(diff).into_iter().map(|(id, _)| id);
    for hunk in passages(diff, context) {
        let hunks = places(&hunk, &mut ids);
        if hunk.lines.len() > *room {
            *room = 0;
            shown.lines_left_out += hunk.lines.len() as u64;
            continue;
        }
        *room -= hunk.lines.len();
        shown.hunks.push(HunkLines { hunks, ..passage(&hunk, &before, &after) });
    }
    shown
}

/// The parts of a text's language; those of texts that were shown before are known.
fn marks(language: Option<&'static Language>, blob: Option<ObjectId>, text: &str) -> Arc<Marks> {
    let (Some(language), Some(blob)) = (language.filter(|_| text.len() <= LARGEST_MARKED), blob) else {
        return Arc::default();
    };
    let found = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).find(blob, language);
    found.unwrap_or_else(|| {
        let marks = Arc::new(language.parts(text));
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner).keep(blob, language, marks.clone());
        marks
    })
}

fn passages(diff: &FileDiff, context: usize) -> Vec<Hunk> {
    fn side(content: &str) -> Option<FileSide<'_>> {
        Some(FileSide { path: b"a", mode: None, id: None, content: content.as_bytes() })
    }
    let options = Options { context, binary: BinaryFiles::Named, ..Options::default() };
    let text = generate_unified_diff(&FileChange { old: side(&diff.before), new: side(&diff.after) }, &options).text;
    let patches = parse_multi_file_diff(&text).unwrap_or_default();
    patches.into_iter().flat_map(|patch| patch.hunks).collect()
}

fn passage(hunk: &Hunk, before: &[Vec<u32>], after: &[Vec<u32>]) -> HunkLines {
    let (mut old, mut new) = (hunk.old_start.saturating_sub(1), hunk.new_start.saturating_sub(1));
    let mut lines = Vec::with_capacity(hunk.lines.len());
    for line in &hunk.lines {
        let (side, marks) = match line.kind {
            LineKind::Context => (' ', after.get(new)),
            LineKind::Removed => ('-', before.get(old)),
            LineKind::Added => ('+', after.get(new)),
        };
        old += usize::from(line.kind != LineKind::Added);
        new += usize::from(line.kind != LineKind::Removed);
        lines.push(one(side, line, marks.map_or(&[], Vec::as_slice)));
    }
    words::mark(&mut lines);
    HunkLines {
        old_start: hunk.old_start as u64,
        new_start: hunk.new_start as u64,
        section: String::from_utf8_lossy(&hunk.section).trim().to_owned(),
        lines,
        hunks: Vec::new(),
    }
}

/// Where the runs of a passage are; their names come in the same order.
fn places(hunk: &Hunk, ids: &mut impl Iterator<Item = HunkId>) -> Vec<HunkPlace> {
    let mut places: Vec<HunkPlace> = Vec::new();
    let changed = hunk.lines.iter().enumerate().filter(|(_, line)| line.kind != LineKind::Context);
    for (at, _) in changed {
        match places.last_mut().filter(|last| last.at + last.lines == at) {
            Some(last) => last.lines += 1,
            None => places.extend(ids.next().map(|id| HunkPlace { id, at, lines: 1 })),
        }
    }
    places
}

fn one(side: char, line: &Line, parts: &[u32]) -> HunkLine {
    let text = String::from_utf8_lossy(&line.bytes);
    let text = text.strip_suffix('\r').unwrap_or(&text);
    let (kept, cut) = match text.char_indices().nth(LONGEST) {
        Some((end, _)) => (&text[..end], text[end..].chars().count() as u64),
        None => (text, 0),
    };
    let parts = if cut > 0 { Vec::new() } else { parts.to_vec() };
    HunkLine { side, text: kept.to_owned(), parts, words: Vec::new(), cut, no_newline: line.no_newline }
}

#[cfg(test)]
mod tests {
    use crate::report::Status;

    use super::*;

    fn diff(file: &str, before: &str, after: &str) -> FileDiff {
        FileDiff {
            file: file.parse().unwrap(),
            before: before.to_owned(),
            after: after.to_owned(),
            additions: 1,
            deletions: 1,
            status: Status::Modified,
            from_file: None,
            binary: false,
            cut: None,
            unified: Vec::new(),
        }
    }

    #[test]
    fn lines_carry_sides_numbers_and_the_words_that_changed() {
        let shown = hunks(&[diff("a.py", "x = 1\nprice = old * 2\nz = 3\n", "x = 1\nprice = new * 2\nz = 3\n")], 1);
        let hunk = &shown.files[0].hunks[0];
        assert_eq!((hunk.old_start, hunk.new_start), (1, 1));
        let lines: Vec<String> = hunk.lines.iter().map(|line| format!("{}{}", line.side, line.text)).collect();
        assert_eq!(lines, [" x = 1", "-price = old * 2", "+price = new * 2", " z = 3"]);
        assert_eq!((hunk.lines[1].words.as_slice(), hunk.lines[2].words.as_slice()), (&[8, 3][..], &[8, 3][..]));
    }

    #[test]
    fn a_mark_of_viewing_belongs_to_the_bytes() {
        let [one, other] = ["b\n", "c\n"].map(|after| hunks(&[diff("a", "a\n", after)], 3).files[0].after_blob);
        assert!(one.is_some() && one != other);
        assert_eq!(one.unwrap().to_string(), "61780798228d17af2d34fce4cfbdf35556832472");
    }

    #[test]
    fn marks_of_a_text_that_was_shown_are_known() {
        let text = "def known_again():\n    return 1\n";
        let [first, again] = [0, 1].map(|_| hunks(&[diff("known.py", "x\n", text)], 3));
        assert_eq!(first, again);
        let (language, blob) = (Language::of("known.py"), first.files[0].after_blob);
        assert!(Arc::ptr_eq(&marks(language, blob, text), &marks(language, blob, text)));
        assert_eq!(*marks(language, blob, text), language.unwrap().parts(text));
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let long = "y".repeat(5_000);
        let shown = hunks(&[diff("a.txt", "x\n", &format!("{long}\n"))], 3);
        assert_eq!(shown.files[0].hunks[0].lines[1].cut, 3_000);
        let many = (0..70_000).map(|number| format!("{number}\n")).collect::<String>();
        let shown = hunks(&[diff("a.txt", "", &many), diff("b.txt", "1\n", "2\n")], 3);
        assert_eq!((shown.lines_left_out, shown.files[0].lines_left_out), (70_002, 70_000));
    }
}

//! Unified diffs of one file, as git writes them.

use std::ops::Range;

use crate::binary::write_contents;
use crate::changes::{Change, Purpose, changes};
use crate::header::{Body, Header, HeaderStyle, Origin, Side};
use crate::similarity::Fingerprint;
use crate::text::{is_binary, split_lines};

/// One side of a [`FileChange`]: a file that exists.
#[derive(Debug, Clone, Copy)]
pub struct FileSide<'a> {
    /// Path relative to the root of the diff, with `/` separators and no `a/` or `b/`.
    pub path: &'a [u8],
    /// Git mode such as `0o100644`, when known.
    pub mode: Option<u32>,
    /// Object id in hex as it should appear in the `index` line, when known.
    pub id: Option<&'a str>,
    /// The bytes of the file; for a symbolic link, its target.
    pub content: &'a [u8],
}

/// What happened to one file. No old side is a creation, no new side a deletion, two paths a rename.
#[derive(Debug, Clone, Copy)]
pub struct FileChange<'a> {
    /// The file before, if it existed.
    pub old: Option<FileSide<'a>>,
    /// The file after, if it still exists.
    pub new: Option<FileSide<'a>>,
}

/// What a diff says of binary files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BinaryFiles {
    /// That they differ.
    #[default]
    Named,
    /// Their contents, so that the diff can be applied. Git asks for whole ids on both sides then.
    Whole,
}

/// How [`generate_unified_diff`] writes.
#[derive(Debug, Clone)]
pub struct Options {
    /// Unchanged lines shown around each change.
    pub context: usize,
    /// What stands above the hunks.
    pub header: HeaderStyle,
    /// What is written of binary files; contents only under a header of Git's.
    pub binary: BinaryFiles,
    /// Write at most this many lines; what is cut is counted in [`Unified::cut_lines`].
    pub max_lines: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Options { context: 3, header: HeaderStyle::Git, binary: BinaryFiles::Named, max_lines: None }
    }
}

/// A generated diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unified {
    /// The diff; empty when nothing changed that the chosen header can express.
    pub text: Vec<u8>,
    /// Added lines, including those that were cut.
    pub additions: usize,
    /// Removed lines, including those that were cut.
    pub deletions: usize,
    /// Lines left out because of [`Options::max_lines`]. Unless zero, `text` cannot be applied.
    pub cut_lines: usize,
}

/// The diff of one file in git's format.
///
/// A file that turns into a symbolic link (or back) is written as a deletion and a creation, as git does,
/// since no patch can say it otherwise.
#[must_use]
pub fn generate_unified_diff(change: &FileChange, options: &Options) -> Unified {
    let mut result = Unified::default();
    match (change.old, change.new) {
        (Some(old), Some(new)) if file_type(old.mode) != file_type(new.mode) => {
            write_change(&FileChange { old: Some(old), new: None }, options, &mut result);
            write_change(&FileChange { old: None, new: Some(new) }, options, &mut result);
        }
        _ => write_change(change, options, &mut result),
    }
    if let Some(max_lines) = options.max_lines {
        cut(&mut result, max_lines);
    }
    result
}

fn file_type(mode: Option<u32>) -> u32 {
    mode.map_or(0o100000, |mode| mode & 0o170000)
}

fn cut(result: &mut Unified, max_lines: usize) {
    let mut ends = result.text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let end = if max_lines == 0 { Some(0) } else { ends.nth(max_lines - 1) };
    if let Some(end) = end {
        result.cut_lines = result.text[end..].iter().filter(|byte| **byte == b'\n').count();
        result.text.truncate(end);
    }
}

fn write_change(change: &FileChange, options: &Options, result: &mut Unified) {
    let old = change.old.map_or(&b""[..], |side| side.content);
    let new = change.new.map_or(&b""[..], |side| side.content);
    let binary = old != new && (is_binary(old) || is_binary(new));
    let (old_lines, new_lines) = if binary { (Vec::new(), Vec::new()) } else { (split_lines(old), split_lines(new)) };
    let edits = changes(&old_lines, &new_lines, Purpose::Show);

    let is_whole = options.binary == BinaryFiles::Whole && options.header == HeaderStyle::Git;
    let body = match (binary, edits.is_empty()) {
        (true, _) if is_whole => Body::Contents,
        (true, _) => Body::Binary,
        (false, false) => Body::Hunks,
        (false, true) => Body::Nothing,
    };
    let similarity = match binary {
        // Only identical files may claim 100.
        true => Fingerprint::of(old).similarity(&Fingerprint::of(new)).min(99),
        false => similarity(&old_lines, &edits, old.len().max(new.len())),
    };
    let header = header(change, options.header, body, similarity);
    if body == Body::Nothing && !header_says_something(&header) {
        return;
    }
    header.write(&mut result.text);
    if body == Body::Contents {
        write_contents(old, new, &mut result.text);
    }
    result.additions += edits.iter().map(|edit| edit.after.len()).sum::<usize>();
    result.deletions += edits.iter().map(|edit| edit.before.len()).sum::<usize>();
    HunkPrinter { old: &old_lines, new: &new_lines, context: options.context }.write(&edits, &mut result.text);
}

fn header<'a>(change: &FileChange<'a>, style: HeaderStyle, body: Body, similarity: u8) -> Header<'a> {
    let side = |side: Option<FileSide<'a>>| Side {
        path: side.map(|side| side.path),
        mode: side.and_then(|side| side.mode),
        id: side.and_then(|side| side.id).map(str::as_bytes),
    };
    let (mut old, mut new) = (side(change.old), side(change.new));
    // Git leaves the `index` line out where the content stays.
    if body == Body::Nothing && old.id == new.id {
        (old.id, new.id) = (None, None);
    }
    let renamed = matches!((old.path, new.path), (Some(old), Some(new)) if old != new);
    let origin = if renamed { Origin::Renamed } else { Origin::InPlace };
    Header { style, old, new, origin, similarity: Some(similarity), body }
}

/// Whether the header alone is worth writing: an empty file created or deleted, a rename, a mode.
fn header_says_something(header: &Header) -> bool {
    let modes = (header.old.mode, header.new.mode);
    header.style == HeaderStyle::Git
        && (header.old.path != header.new.path || matches!(modes, (Some(old), Some(new)) if old != new))
}

/// Percentage of the larger file's bytes that stand in unchanged lines.
fn similarity(old_lines: &[&[u8]], edits: &[Change], larger: usize) -> u8 {
    if edits.is_empty() {
        return 100;
    }
    let bytes = |lines: &[&[u8]]| lines.iter().map(|line| line.len()).sum::<usize>();
    let removed: usize = edits.iter().map(|edit| bytes(&old_lines[edit.before.clone()])).sum();
    let kept = bytes(old_lines).saturating_sub(removed);
    // Only identical files may claim 100, and the quotient is below 100 for anything else.
    u8::try_from(kept.saturating_mul(100) / larger.max(1)).map_or(99, |percent| percent.min(99))
}

struct HunkPrinter<'a> {
    old: &'a [&'a [u8]],
    new: &'a [&'a [u8]],
    context: usize,
}

impl<'a> HunkPrinter<'a> {
    fn write(&self, edits: &[Change], out: &mut Vec<u8>) {
        let mut heading = Heading { searched: 0, found: None };
        let mut rest = edits;
        while !rest.is_empty() {
            let (hunk, later) = rest.split_at(self.hunk_len(rest));
            self.write_hunk(hunk, &mut heading, out);
            rest = later;
        }
    }

    /// How many of the next edits share a hunk because their context would touch.
    fn hunk_len(&self, edits: &[Change]) -> usize {
        let reach = self.context.saturating_mul(2);
        1 + edits.windows(2).take_while(|pair| pair[1].before.start - pair[0].before.end <= reach).count()
    }

    fn write_hunk(&self, edits: &[Change], heading: &mut Heading<'a>, out: &mut Vec<u8>) {
        let (Some(first), Some(last)) = (edits.first(), edits.last()) else { return };
        let lead = self.context.min(first.before.start);
        let trail = self.context.min(self.old.len() - last.before.end);
        let old = first.before.start - lead..last.before.end + trail;
        let new = first.after.start - lead..last.after.end + trail;

        out.extend_from_slice(b"@@ -");
        write_range(out, &old);
        out.extend_from_slice(b" +");
        write_range(out, &new);
        out.extend_from_slice(b" @@");
        if let Some(line) = heading.above(self.old, old.start) {
            out.push(b' ');
            out.extend_from_slice(line);
        }
        out.push(b'\n');

        let mut at = old.start;
        for edit in edits {
            write_lines(out, b' ', &self.old[at..edit.before.start]);
            write_lines(out, b'-', &self.old[edit.before.clone()]);
            write_lines(out, b'+', &self.new[edit.after.clone()]);
            at = edit.before.end;
        }
        write_lines(out, b' ', &self.old[at..old.end]);
    }
}

/// Line numbers start at one, except that an empty range names the line before it.
pub(crate) fn write_range(out: &mut Vec<u8>, range: &Range<usize>) {
    let start = if range.is_empty() { range.start } else { range.start + 1 };
    out.extend_from_slice(start.to_string().as_bytes());
    if range.len() != 1 {
        out.extend_from_slice(format!(",{}", range.len()).as_bytes());
    }
}

fn write_lines(out: &mut Vec<u8>, marker: u8, lines: &[&[u8]]) {
    for line in lines {
        out.push(marker);
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

/// Finds the text git repeats after `@@`: the nearest line above that starts like a definition.
/// Remembers how far it has looked, so a file is searched once however many hunks it has.
struct Heading<'a> {
    searched: usize,
    found: Option<&'a [u8]>,
}

impl<'a> Heading<'a> {
    const MAX_BYTES: usize = 80;

    fn above(&mut self, lines: &[&'a [u8]], at: usize) -> Option<&'a [u8]> {
        let opens = |line: &&&[u8]| line.first().is_some_and(|&b| b.is_ascii_alphabetic() || b == b'_' || b == b'$');
        if let Some(line) = lines.get(self.searched..at).and_then(|lines| lines.iter().rev().find(opens)) {
            self.found = Some(shorten(line, Self::MAX_BYTES));
        }
        self.searched = self.searched.max(at);
        self.found
    }
}

/// Cuts to `max` bytes without splitting a UTF-8 character, and drops trailing white space.
fn shorten(line: &[u8], max: usize) -> &[u8] {
    let mut end = line.len().min(max);
    while end > 0 && line.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end -= 1;
    }
    line[..end].trim_ascii_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side<'a>(path: &'a str, content: &'a str) -> Option<FileSide<'a>> {
        Some(FileSide { path: path.as_bytes(), mode: Some(0o100644), id: None, content: content.as_bytes() })
    }

    fn with(old: Option<FileSide>, new: Option<FileSide>, options: &Options) -> String {
        String::from_utf8(generate_unified_diff(&FileChange { old, new }, options).text).unwrap()
    }

    fn diff(old: Option<FileSide>, new: Option<FileSide>) -> String {
        with(old, new, &Options::default())
    }

    #[test]
    fn a_modified_file() {
        let (old, new) = ("1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nfive\n6\n7\n8\n");
        let expected = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(diff(side("x", old), side("x", new)), expected);
    }

    #[test]
    fn changes_share_a_hunk_when_their_context_touches() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let near = old.replace("\n2\n", "\nx\n").replace("\n9\n", "\nx\n");
        let far = old.replace("\n2\n", "\nx\n").replace("\n10\n", "\nx\n");
        assert_eq!(diff(side("x", &old), side("x", &near)).matches("\n@@ ").count(), 1);
        assert_eq!(diff(side("x", &old), side("x", &far)).matches("\n@@ ").count(), 2);
    }

    #[test]
    fn creation_and_deletion() {
        let id = |side: Option<FileSide<'static>>| side.map(|side| FileSide { id: Some("7898192"), ..side });
        let created = "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..7898192\n\
                       --- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n";
        assert_eq!(diff(None, id(side("x", "a\n"))), created);
        let deleted = "diff --git a/x b/x\ndeleted file mode 100644\nindex 7898192..0000000\n\
                       --- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
        assert_eq!(diff(id(side("x", "a\n")), None), deleted);
    }

    #[test]
    fn an_empty_file_is_a_header() {
        assert_eq!(diff(None, side("x", "")), "diff --git a/x b/x\nnew file mode 100644\n");
        let plain = Options { header: HeaderStyle::Plain, ..Options::default() };
        assert_eq!(with(None, side("x", ""), &plain), "");
    }

    #[test]
    fn nothing_changed_is_nothing_written() {
        assert_eq!(diff(side("x", "a\n"), side("x", "a\n")), "");
        assert_eq!(diff(None, None), "");
    }

    #[test]
    fn renames_and_modes() {
        let expected = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n";
        assert_eq!(diff(side("x", "a\n"), side("y", "a\n")), expected);
        let executable = side("x", "a\n").map(|side| FileSide { mode: Some(0o100755), ..side });
        assert_eq!(diff(side("x", "a\n"), executable), "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n");
        let edited = diff(side("x", "a\nb\nc\nd\n"), side("y", "a\nb\nc\nD\n"));
        assert!(edited.starts_with("diff --git a/x b/y\nsimilarity index 75%\nrename from x\nrename to y\n--- a/x\n"));
    }

    #[test]
    fn a_file_that_becomes_a_link_is_replaced() {
        let link = side("x", "target").map(|side| FileSide { mode: Some(0o120000), ..side });
        let text = diff(side("x", "a\n"), link);
        assert!(text.contains("deleted file mode 100644\n") && text.contains("new file mode 120000\n"), "{text}");
    }

    #[test]
    fn ids_and_mode_share_the_index_line() {
        let with_id = |content, id| side("x", content).map(|side| FileSide { id: Some(id), ..side });
        let text = diff(with_id("a\n", "7898192"), with_id("b\n", "6178079"));
        assert!(text.starts_with("diff --git a/x b/x\nindex 7898192..6178079 100644\n--- a/x\n"), "{text}");
    }

    #[test]
    fn missing_final_newlines_are_marked() {
        let expected = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n";
        assert!(diff(side("x", "a"), side("x", "a\n")).ends_with(expected));
    }

    #[test]
    fn binary_files_only_differ() {
        let text = diff(side("x", "a\0"), side("x", "b"));
        assert_eq!(text, "diff --git a/x b/x\nBinary files a/x and b/x differ\n");
        assert_eq!(diff(side("x", "a\0"), side("x", "a\0")), "");
        assert!(diff(None, side("x", "\0")).ends_with("Binary files /dev/null and b/x differ\n"));
    }

    #[test]
    fn names_with_spaces_end_in_a_tab() {
        let text = diff(side("a b", "1\n"), side("a b", "2\n"));
        assert!(text.starts_with("diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n"), "{text}");
    }

    #[test]
    fn the_hunk_names_its_section() {
        let old = "fn main() {\n  1\n  2\n  3\n  4\n  5\n}\n";
        let new = old.replace("  5", "  five");
        assert!(diff(side("x", old), side("x", &new)).contains("@@ -3,5 +3,5 @@ fn main() {\n"));
    }

    #[test]
    fn without_context_an_insertion_names_the_line_before_it() {
        let options = Options { context: 0, ..Options::default() };
        assert!(with(side("x", "a\nb\n"), side("x", "a\nn\nb\n"), &options).contains("@@ -1,0 +2 @@ a\n+n\n"));
        let all = Options { context: usize::MAX, ..Options::default() };
        assert!(with(side("x", "1\n2\n3\n"), side("x", "1\n2\nx\n"), &all).contains("@@ -1,3 +1,3 @@\n"));
    }

    #[test]
    fn what_is_cut_is_counted() {
        let change = FileChange { old: side("x", "1\n2\n3\n"), new: side("x", "a\nb\nc\n") };
        let full = generate_unified_diff(&change, &Options::default());
        let cut = generate_unified_diff(&change, &Options { max_lines: Some(5), ..Options::default() });
        assert_eq!(cut.text, b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-1\n");
        assert_eq!((cut.additions, cut.deletions, cut.cut_lines), (3, 3, 5));
        let exact = generate_unified_diff(&change, &Options { max_lines: Some(10), ..Options::default() });
        assert_eq!(exact, full);
        let none = generate_unified_diff(&change, &Options { max_lines: Some(0), ..Options::default() });
        assert_eq!((none.text.len(), none.cut_lines), (0, 10));
    }
}

//! Reads hunks: a `@@` line and as many lines as it announces.

use crate::parse::FormatCode;
use crate::parse::scanner::Scanner;
use crate::patch::{Hunk, Line, LineKind};

/// Far above any real file, and low enough that sums of positions cannot overflow.
const MAX_NUMBER: usize = 1 << 30;

impl Scanner<'_> {
    /// Reads the hunks at the cursor, up to the first line that cannot belong to the file.
    pub(super) fn hunks(&mut self) -> Vec<Hunk> {
        let mut hunks: Vec<Hunk> = Vec::new();
        while let Some(line) = self.header_line().filter(|line| line.starts_with(b"@@ ")) {
            let at = self.at;
            self.at += 1;
            let Some(hunk) = read_header(line) else {
                self.error(at, FormatCode::BadHunkHeader, "cannot read this `@@` line");
                self.skip_hunk_lines();
                continue;
            };
            if let Some(hunk) = self.hunk_lines(at, hunk) {
                self.check_hunk(at, hunks.last(), &hunk);
                hunks.push(hunk);
            }
            self.check_end(at);
        }
        hunks
    }

    /// Fills `hunk` with the lines its header announces.
    fn hunk_lines(&mut self, header: usize, mut hunk: Hunk) -> Option<Hunk> {
        let (mut old_left, mut new_left) = (hunk.old_len, hunk.new_len);
        while old_left > 0 || new_left > 0 {
            let Some(line) = self.line().filter(|line| !line.starts_with(b"diff --git ") && !line.starts_with(b"@@ "))
            else {
                let message = format!("hunk lacks {old_left} old and {new_left} new lines its header announces");
                self.error(header, FormatCode::HunkTooShort, message);
                return None;
            };
            if line.first() == Some(&b'\\') {
                self.no_newline_marker(&mut hunk);
                continue;
            }
            let (kind, bytes) = self.split_prefix(line);
            let (old, new) = (usize::from(kind != LineKind::Added), usize::from(kind != LineKind::Removed));
            if old > old_left || new > new_left {
                self.error(self.at, FormatCode::HunkTooLong, "one line more than the hunk's header announces");
                self.skip_hunk_lines();
                return None;
            }
            (old_left, new_left) = (old_left - old, new_left - new);
            hunk.lines.push(Line { kind, bytes: bytes.to_vec(), no_newline: false });
            self.at += 1;
        }
        while self.line().is_some_and(|line| line.first() == Some(&b'\\')) {
            self.no_newline_marker(&mut hunk);
        }
        Some(hunk)
    }

    fn split_prefix<'line>(&mut self, line: &'line [u8]) -> (LineKind, &'line [u8]) {
        match line.split_first() {
            Some((b' ', bytes)) => (LineKind::Context, bytes),
            Some((b'+', bytes)) => (LineKind::Added, bytes),
            Some((b'-', bytes)) => (LineKind::Removed, bytes),
            // Editors strip the space of an empty context line; git and patch accept that, and so it is here.
            None | Some((b'\r', [])) => (LineKind::Context, line),
            Some(_) => {
                let message = "line in a hunk starts with neither space, `+`, `-` nor `\\`";
                self.error(self.at, FormatCode::UnknownLinePrefix, message);
                (LineKind::Context, line)
            }
        }
    }

    fn no_newline_marker(&mut self, hunk: &mut Hunk) {
        match hunk.lines.last_mut() {
            Some(line) if !line.no_newline => line.no_newline = true,
            _ => self.error(self.at, FormatCode::StrayNoNewline, "no line above that this marker could belong to"),
        }
        self.at += 1;
    }

    /// What only shows once the hunk is complete, or beside the one before it.
    fn check_hunk(&mut self, header: usize, previous: Option<&Hunk>, hunk: &Hunk) {
        if hunk.lines.iter().all(|line| line.kind == LineKind::Context) {
            self.error(header, FormatCode::HunkWithoutChange, "hunk changes nothing");
        }
        let ends_early = |lines: Vec<&Line>| lines.iter().rev().skip(1).any(|line| line.no_newline);
        if ends_early(hunk.old_lines().collect()) || ends_early(hunk.new_lines().collect()) {
            let message = "`\\ No newline at end of file` follows a line that is not the last of its file";
            self.error(header, FormatCode::StrayNoNewline, message);
        }
        let Some(previous) = previous else { return };
        if previous.lines.iter().any(|line| line.no_newline) {
            self.error(header, FormatCode::HunkOrder, "hunk after one that reaches the end of the file");
        } else if hunk.old_begin() < previous.old_begin() + previous.old_len
            || hunk.new_begin() < previous.new_begin() + previous.new_len
        {
            self.error(header, FormatCode::HunkOrder, "hunk starts before the previous one ends");
        }
    }

    /// A complete hunk must not be followed by more of the same.
    fn check_end(&mut self, header: usize) {
        let Some(line) = self.header_line() else { return };
        // A mail ends with a signature under this separator.
        let signature = line == b"-- ";
        if matches!(line.first(), Some(b' ' | b'+' | b'-')) && !signature && !self.at_plain_header() {
            let message = format!("more lines than the `@@` on line {} announces", header + 1);
            self.error(self.at, FormatCode::HunkTooLong, message);
            self.skip_hunk_lines();
        }
    }
}

/// Reads `@@ -1,2 +3,4 @@ section`; the counts may be left out when they are one.
fn read_header(line: &[u8]) -> Option<Hunk> {
    let rest = line.strip_prefix(b"@@ -")?;
    let (old_start, old_len, rest) = read_range(rest)?;
    let (new_start, new_len, rest) = read_range(rest.strip_prefix(b" +")?)?;
    let section = rest.strip_prefix(b" @@")?;
    let section = section.strip_prefix(b" ").unwrap_or(section).trim_ascii_end().to_vec();
    // A range with lines starts at line one at the earliest, and a hunk has at least one line.
    if (old_start == 0 && old_len > 0) || (new_start == 0 && new_len > 0) || old_len + new_len == 0 {
        return None;
    }
    Some(Hunk { old_start, old_len, new_start, new_len, section, lines: Vec::new() })
}

fn read_range(text: &[u8]) -> Option<(usize, usize, &[u8])> {
    let (start, rest) = read_number(text)?;
    match rest.strip_prefix(b",") {
        Some(rest) => read_number(rest).map(|(len, rest)| (start, len, rest)),
        None => Some((start, 1, rest)),
    }
}

fn read_number(text: &[u8]) -> Option<(usize, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at(digits);
    let number = std::str::from_utf8(number).ok()?.parse().ok().filter(|number| *number <= MAX_NUMBER)?;
    Some((number, rest))
}

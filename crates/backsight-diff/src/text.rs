//! What every other module needs to know about bytes that may be text: whether they are, where the
//! lines are, and how many lines differ. No formatting happens here.

use crate::changes::{Purpose, changes};

/// How far into a file a NUL byte makes it binary; the same window git looks at.
const BINARY_WINDOW: usize = 8000;

/// Whether the content should be treated as opaque: a NUL byte among the first 8000 bytes, as git decides.
#[must_use]
pub fn is_binary(content: &[u8]) -> bool {
    content.iter().take(BINARY_WINDOW).any(|&byte| byte == 0)
}

/// The lines of `content`, each with its terminator; only the last can lack one.
///
/// Only `\n` ends a line. A `\r` before it is part of the line, so CRLF files survive every operation unchanged.
#[must_use]
pub fn split_lines(content: &[u8]) -> Vec<&[u8]> {
    imara_diff::sources::byte_lines(content).collect()
}

/// The terminator of the first terminated line found, so that what is added does not mix line endings into a file.
pub(crate) fn line_end(texts: &[&[u8]]) -> &'static [u8] {
    let crlf = texts.iter().find_map(|text| {
        let newline = text.iter().position(|&byte| byte == b'\n')?;
        Some(text[..newline].ends_with(b"\r"))
    });
    if crlf == Some(true) { b"\r\n" } else { b"\n" }
}

/// Added and removed lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Counts {
    /// Lines present only afterwards.
    pub additions: usize,
    /// Lines present only before.
    pub deletions: usize,
}

/// How many lines differ between two contents; both numbers are zero when either side is binary.
///
/// Agrees with the counts of [`generate_unified_diff`](crate::generate_unified_diff) for the same contents.
#[must_use]
pub fn count(before: &[u8], after: &[u8]) -> Counts {
    if before == after || is_binary(before) || is_binary(after) {
        return Counts::default();
    }
    let (before, after) = (split_lines(before), split_lines(after));
    let mut counts = Counts::default();
    for change in changes(&before, &after, Purpose::Count) {
        counts.additions += change.after.len();
        counts.deletions += change.before.len();
    }
    counts
}

/// A line as a person should read it in a message.
pub(crate) fn describe_line(line: Option<&[u8]>) -> String {
    match line {
        None => "the end of the file".to_owned(),
        Some(line) => match line.strip_suffix(b"\n") {
            Some(line) => format!("`{}`", String::from_utf8_lossy(line)),
            None => format!("`{}` without a newline", String::from_utf8_lossy(line)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_makes_a_file_binary_only_near_its_start() {
        assert!(is_binary(b"a\0b"));
        assert!(!is_binary(b""));
        let mut late = vec![b'a'; BINARY_WINDOW];
        late.push(0);
        assert!(!is_binary(&late));
        late[BINARY_WINDOW - 1] = 0;
        assert!(is_binary(&late));
    }

    #[test]
    fn lines_keep_their_terminators() {
        assert_eq!(split_lines(b"a\r\n\nb"), [&b"a\r\n"[..], b"\n", b"b"]);
        assert!(split_lines(b"").is_empty());
    }

    #[test]
    fn counts_lines_on_both_sides() {
        let counts = |before: &str, after: &str| {
            let counts = count(before.as_bytes(), after.as_bytes());
            (counts.additions, counts.deletions)
        };
        assert_eq!(counts("a\nb\nc\n", "a\nb\nc\n"), (0, 0));
        assert_eq!(counts("", "a\nb"), (2, 0));
        assert_eq!(counts("a\nb", ""), (0, 2));
        assert_eq!(counts("a\nb\nc\n", "a\nx\ny\nc\n"), (2, 1));
        assert_eq!(counts("a", "a\n"), (1, 1));
        assert_eq!(counts("x\na", "a"), (0, 1));
        assert_eq!(counts("xa\nb\n", "a\nb\n"), (1, 1));
        assert_eq!(counts("a\nb\n", "a\0\n"), (0, 0));
    }
}

//! Room on a terminal: how wide a text is shown, how it is cut to a width, and how it is wrapped between words. Sequences
//! that set colours take no room.

use unicode_width::UnicodeWidthChar;

/// What stands for the rest of a text that was cut.
const REST: char = '…';

/// How many columns a text takes.
pub fn of(text: &str) -> usize {
    pieces(text).map(|piece| piece.columns()).sum()
}

/// The text, or as much of it as fits with a sign that it goes on.
pub fn cut(text: &str, room: usize) -> String {
    if of(text) <= room {
        return text.to_owned();
    }
    let (mut cut, mut used, mut is_coloured) = (String::new(), 0, false);
    for piece in pieces(text) {
        is_coloured |= matches!(piece, Piece::Colour(_));
        used += piece.columns();
        if used + 1 > room {
            break;
        }
        cut.push_str(piece.text());
    }
    let mut cut = cut.trim_end().to_owned();
    if room > 0 {
        cut.push(REST);
    }
    if is_coloured {
        cut.push_str("\u{1b}[0m");
    }
    cut
}

/// Lines of at most `room` columns, broken between words; all but the first are indented. What is quoted with backticks is
/// one word where a line can hold it, so that a command can be copied in one piece.
pub fn wrap(text: &str, room: usize, indent: usize) -> String {
    let inner = room.saturating_sub(indent).max(1);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in words(text, inner) {
        let is_first = line.is_empty();
        if !is_first && of(&line) + 1 + of(word) > inner {
            lines.push(std::mem::take(&mut line));
        } else if !is_first {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.join(&format!("\n{:indent$}", ""))
}

/// The words of a text; what stands between backticks is one of them unless it is wider than a line.
fn words(text: &str, widest: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let plain = rest.find(' ').unwrap_or(rest.len());
        let open = rest.find('`').filter(|open| *open < plain);
        let close = open.and_then(|open| rest[open + 1..].find('`').map(|close| open + 1 + close + 1));
        let quoted = close.map(|close| rest[close..].find(' ').map_or(rest.len(), |end| close + end));
        let end = quoted.filter(|end| of(&rest[..*end]) <= widest).unwrap_or(plain);
        words.push(&rest[..end]);
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    words
}

enum Piece<'a> {
    /// What sets a colour.
    Colour(&'a str),
    Character(char, &'a str),
}

impl Piece<'_> {
    fn columns(&self) -> usize {
        match self {
            Piece::Colour(_) => 0,
            Piece::Character(character, _) => character.width().unwrap_or(0),
        }
    }

    fn text(&self) -> &str {
        match self {
            Piece::Colour(text) | Piece::Character(_, text) => text,
        }
    }
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let colour = rest.strip_prefix("\u{1b}[").and_then(|after| Some(after.find('m')? + 3));
        let end = colour.unwrap_or(first.len_utf8());
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(if colour.is_some() { Piece::Colour(piece) } else { Piece::Character(first, piece) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_to_the_columns_it_takes() {
        assert_eq!(cut("rename the parser", 17), "rename the parser");
        assert_eq!(cut("rename the parser", 8), "rename…");
        assert_eq!(cut("日本語のパーサ", 7), "日本語…");
        assert_eq!(cut("\u{1b}[2mdimmed text\u{1b}[0m", 7), "\u{1b}[2mdimmed…\u{1b}[0m");
        assert_eq!(cut("abc", 1), "…");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(of("\u{1b}[1;33m#3\u{1b}[0m é日"), 6);
    }

    #[test]
    fn a_text_is_wrapped_between_words_and_commands_stay_whole() {
        let text = "it goes on (strategy warn), see `backsight log -n 5` then go on";
        assert_eq!(wrap(text, 34, 6), "it goes on (strategy warn),\n      see `backsight log -n 5`\n      then go on");
        // What no line can hold is broken like anything else; a word never is.
        assert_eq!(wrap("see `a very long command line` x", 16, 2), "see `a very\n  long command\n  line` x");
        assert_eq!(wrap("abcdefghijklmnop q", 8, 2), "abcdefghijklmnop\n  q");
        assert_eq!(wrap("", 8, 2), "");
    }
}

//! Bytes for a terminal become lines of text: colours, titles and other escape sequences go, and of a line that was drawn
//! over again and again (progress bars, spinners) only what stands there at its end is left.

/// Characters of a line that are kept.
const LONGEST: usize = 8 << 10;

/// Takes bytes in pieces of any size and gives lines.
#[derive(Debug, Default)]
pub struct Lines {
    line: Vec<char>,
    cursor: usize,
    cut: bool,
    state: State,
    /// The parameters of a control sequence so far.
    parameters: String,
    /// The beginning of a character whose rest has not come yet.
    tail: Vec<u8>,
    /// A full-screen program has the terminal; what it draws are no lines.
    elsewhere: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After `ESC [`, until a final character.
    Control,
    /// After `ESC ]` and its like, until BEL or `ESC \`.
    Command,
    /// A `ESC` within one of those.
    CommandEscape,
    /// After `ESC (` and its like: one character more.
    OneMore,
}

impl Lines {
    /// Takes bytes; every line that they end goes to `each`, empty ones too.
    pub fn feed(&mut self, bytes: &[u8], each: &mut impl FnMut(String)) {
        let joined;
        let bytes = if self.tail.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.tail).as_slice(), bytes].concat();
            &joined
        };
        for chunk in bytes.utf8_chunks() {
            chunk.valid().chars().for_each(|character| self.character(character, each));
            let broken = chunk.invalid();
            let is_last = broken.as_ptr_range().end == bytes.as_ptr_range().end;
            if is_last && is_beginning(broken) {
                self.tail = broken.to_vec();
            } else if !broken.is_empty() {
                self.character('\u{fffd}', each);
            }
        }
    }

    /// What stands in a line that was not ended.
    pub fn finish(&mut self) -> Option<String> {
        if !std::mem::take(&mut self.tail).is_empty() {
            self.put('\u{fffd}');
        }
        (!self.line.is_empty()).then(|| self.take())
    }

    fn character(&mut self, character: char, each: &mut impl FnMut(String)) {
        match self.state {
            State::Text => self.text(character, each),
            State::Escape => self.state = self.escape(character),
            State::OneMore => self.state = State::Text,
            State::Control => match character {
                '\u{40}'..='\u{7e}' => {
                    self.state = State::Text;
                    self.control(character, each);
                }
                '\u{1b}' => self.state = State::Escape,
                // Nobody writes so many; a broken sequence must not grow for ever.
                _ if self.parameters.len() < 64 => self.parameters.push(character),
                _ => self.state = State::Text,
            },
            State::Command => match character {
                '\u{7}' => self.state = State::Text,
                '\u{1b}' => self.state = State::CommandEscape,
                _ => {}
            },
            State::CommandEscape => self.state = if character == '\\' { State::Text } else { self.escape(character) },
        }
    }

    fn text(&mut self, character: char, each: &mut impl FnMut(String)) {
        match character {
            '\n' => self.end_line(each),
            '\r' => self.cursor = 0,
            '\u{8}' => self.cursor = self.cursor.saturating_sub(1),
            '\u{1b}' => self.state = State::Escape,
            '\u{9b}' => {
                self.parameters.clear();
                self.state = State::Control;
            }
            '\t' => self.put('\t'),
            character if character.is_control() => {}
            character => self.put(character),
        }
    }

    fn escape(&mut self, character: char) -> State {
        match character {
            '[' => {
                self.parameters.clear();
                State::Control
            }
            ']' | 'P' | 'X' | '^' | '_' => State::Command,
            '(' | ')' | '*' | '+' | '#' | '%' | ' ' => State::OneMore,
            // A reset clears the screen.
            'c' => {
                self.erase();
                State::Text
            }
            _ => State::Text,
        }
    }

    /// The sequences that change what stands in the line; all others only colour it.
    fn control(&mut self, last: char, each: &mut impl FnMut(String)) {
        let first = self.parameters.split(';').next().unwrap_or_default();
        let number: Option<usize> = first.parse().ok();
        let steps = number.unwrap_or(1).clamp(1, LONGEST);
        match last {
            'K' => match number.unwrap_or(0) {
                0 => self.line.truncate(self.cursor),
                1 => self.line.iter_mut().take(self.cursor).for_each(|character| *character = ' '),
                _ => self.line.clear(),
            },
            'G' | '`' => self.cursor = steps - 1,
            'C' => self.cursor = (self.cursor + steps).min(LONGEST),
            'D' => self.cursor = self.cursor.saturating_sub(steps),
            'J' => self.erase(),
            // Elsewhere on the screen another line begins.
            'A' | 'B' | 'E' | 'F' | 'H' | 'f' | 'd' if !self.line.is_empty() => self.end_line(each),
            'h' | 'l' if matches!(first, "?1049" | "?1047" | "?47") => {
                self.elsewhere = last == 'h';
                self.erase();
            }
            _ => {}
        }
    }

    fn erase(&mut self) {
        self.line.clear();
        self.cursor = 0;
        self.cut = false;
    }

    fn put(&mut self, character: char) {
        if self.cursor >= LONGEST {
            self.cut = true;
            return;
        }
        if self.cursor > self.line.len() {
            self.line.resize(self.cursor, ' ');
        }
        match self.line.get_mut(self.cursor) {
            Some(place) => *place = character,
            None => self.line.push(character),
        }
        self.cursor += 1;
    }

    fn end_line(&mut self, each: &mut impl FnMut(String)) {
        let line = self.take();
        if !self.elsewhere {
            each(line);
        }
    }

    fn take(&mut self) -> String {
        let mut text: String = self.line.drain(..).collect();
        text.truncate(text.trim_end().len());
        let cut = std::mem::take(&mut self.cut) || text.len() > LONGEST;
        text.truncate(text.floor_char_boundary(LONGEST));
        if cut {
            text.push('…');
        }
        self.cursor = 0;
        text
    }
}

/// Whether more bytes could make a character of these.
fn is_beginning(bytes: &[u8]) -> bool {
    let wanted = match bytes.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => return false,
    };
    bytes.len() < wanted && str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let mut found = Vec::new();
        let mut lines = Lines::default();
        for piece in pieces {
            lines.feed(piece, &mut |line| found.push(line));
        }
        found.extend(lines.finish());
        found
    }

    #[test]
    fn a_line_is_what_stands_there_at_its_end() {
        let table: [(&str, &[&str]); 16] = [
            ("plain\n", &["plain"]),
            ("windows\r\n\r\n", &["windows", ""]),
            ("\x1b[1;31merror\x1b[0m: red\n", &["error: red"]),
            ("\x1b]0;a title\x07text\n", &["text"]),
            ("\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\\n", &["link"]),
            (" 10%\r 50%\r100% done\n", &["100% done"]),
            ("loading...\rdone\x1b[K\n", &["done"]),
            ("loading...\rdone\n", &["doneing..."]),
            ("spin \u{8}\u{8}ning\n", &["spining"]),
            ("\x1b[2K\x1b[1Gready\n", &["ready"]),
            ("a\x1b[5Gb\n", &["a   b"]),
            ("\x1b(B\x1b[mplain\n", &["plain"]),
            ("before\n\x1b[?1049hall of\nvim\n\x1b[?1049lafter\n", &["before", "after"]),
            ("no end", &["no end"]),
            ("\x1bcclear\x1b[2J\x1b[Hagain\n", &["again"]),
            ("two\x1b[1Alines\n", &["two", "lines"]),
        ];
        for (bytes, expected) in table {
            assert_eq!(lines(&[bytes.as_bytes()]), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_character_may_come_in_two_pieces() {
        assert_eq!(lines(&[b"caf\xc3", b"\xa9 \xe2\x9c", b"\x96\n"]), ["café ✖"]);
        assert_eq!(lines(&[b"a\xff\xfeb\n", b"\xe2\x9c"]), ["a\u{fffd}\u{fffd}b", "\u{fffd}"]);
    }

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        let line = &lines(&["é".repeat(20_000).as_bytes()])[0];
        assert!(line.len() <= LONGEST + 3 && line.ends_with("é…"), "{}", line.len());
        assert_eq!(lines(&[b"\x1b[99999999G!\n"])[0].len(), LONGEST);
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0usize..200) {
            let at = at.min(bytes.len());
            prop_assert_eq!(lines(&[&bytes[..at], &bytes[at..]]), lines(&[&bytes]));
        }
    }
}

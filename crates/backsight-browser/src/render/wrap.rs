//! Breaks long lines between words, and within a word where it is too long for any line. Nothing is lost.

use super::escape::{character_width, width};
use super::{Line, Role, Span};

/// The spans in lines of at most `columns`, all after the first indented by `indent` blanks.
pub fn wrap(spans: Vec<Span>, columns: usize, indent: usize) -> Vec<Line> {
    let mut page = Page { columns, indent: indent.min(columns / 2), lines: Vec::new(), line: Line::default(), used: 0 };
    for span in spans {
        for word in span.text.split_inclusive(' ') {
            page.word(span.role, word);
        }
    }
    page.finish()
}

struct Page {
    columns: usize,
    indent: usize,
    lines: Vec<Line>,
    line: Line,
    used: usize,
}

impl Page {
    fn word(&mut self, role: Role, word: &str) {
        let is_start = self.used <= if self.lines.is_empty() { 0 } else { self.indent };
        // The blank after a word may stand outside.
        if !is_start && self.used + width(word.trim_end_matches(' ')) > self.columns {
            self.break_line();
        }
        if self.used + width(word.trim_end_matches(' ')) <= self.columns {
            return self.put(role, word);
        }
        for character in word.chars() {
            if self.used + character_width(character) > self.columns {
                self.break_line();
            }
            self.put(role, character.encode_utf8(&mut [0; 4]));
        }
    }

    fn put(&mut self, role: Role, text: &str) {
        self.used += width(text);
        match self.line.spans.last_mut() {
            Some(last) if last.role == role => last.text.push_str(text),
            _ => self.line.spans.push(Span::new(role, text)),
        }
    }

    fn break_line(&mut self) {
        let next = Line { spans: vec![Span::new(Role::Plain, " ".repeat(self.indent))] };
        self.lines.push(trimmed(std::mem::replace(&mut self.line, next)));
        self.used = self.indent;
    }

    fn finish(mut self) -> Vec<Line> {
        self.lines.push(trimmed(self.line));
        self.lines
    }
}

/// Without blanks at the end.
fn trimmed(mut line: Line) -> Line {
    while let Some(last) = line.spans.last_mut() {
        last.text.truncate(last.text.trim_end_matches(' ').len());
        if !last.text.is_empty() {
            break;
        }
        line.spans.pop();
    }
    line
}

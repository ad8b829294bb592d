//! How many tokens a text costs a model, near enough to keep a budget. Pure arithmetic over the characters: no tokeniser
//! is asked, so it costs nothing and gives the same answer everywhere. The numbers were fitted to the `o200k` encoding
//! on our own replies about code, prose, data, web pages and several scripts; tests of the binary hold them to it.

/// An estimate, rather high than low, of what today's tokenisers make of `text`.
///
/// ```
/// assert_eq!(backsight_core::estimate_tokens(""), 0);
/// assert!((2..=4).contains(&backsight_core::estimate_tokens("nothing changed")));
/// ```
pub fn estimate_tokens(text: &str) -> usize {
    let mut hundredths = 0;
    let mut before = None;
    let mut rest = text;
    while let Some(run) = Run::first_of(rest) {
        rest = &rest[run.text.len()..];
        hundredths += run.cost(rest.chars().next().map(Class::of));
        // Words are cut where letters of another case follow without a break.
        if matches!(run.class, Class::Word | Class::Capitals) && before.is_some_and(Class::is_word) {
            hundredths += 35;
        }
        before = Some(run.class);
    }
    (hundredths + hundredths / 33).div_ceil(100)
}

/// A stretch of characters of one class.
struct Run<'a> {
    class: Class,
    text: &'a str,
    length: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Blanks: one of them joins the word after it.
    Space,
    /// Line ends and tabs.
    Line,
    /// Small letters, the first of them perhaps a capital.
    Word,
    Capitals,
    Digit,
    Mark,
    /// Letters of alphabets beyond ASCII.
    Alphabet,
    /// Symbols and pictures.
    Picture,
    /// Everything else, such as Chinese.
    Wide,
}

impl Class {
    fn of(character: char) -> Class {
        match character {
            ' ' => Class::Space,
            '\n' | '\r' | '\t' => Class::Line,
            'a'..='z' => Class::Word,
            'A'..='Z' => Class::Capitals,
            '0'..='9' => Class::Digit,
            _ if character.is_ascii() => Class::Mark,
            ..'\u{590}' => Class::Alphabet,
            '\u{200d}' | '\u{2190}'..'\u{2e00}' | '\u{fe0f}' | '\u{1f000}'.. => Class::Picture,
            _ => Class::Wide,
        }
    }

    fn is_word(self) -> bool {
        matches!(self, Class::Word | Class::Capitals | Class::Digit)
    }
}

impl<'a> Run<'a> {
    fn first_of(text: &'a str) -> Option<Run<'a>> {
        let mut characters = text.chars().map(Class::of).peekable();
        let mut class = characters.next()?;
        let mut length = 1;
        if class == Class::Capitals && characters.peek() == Some(&Class::Word) {
            class = Class::Word;
        }
        while characters.next_if_eq(&class).is_some() {
            length += 1;
        }
        // The last of several capitals begins the next word.
        if class == Class::Capitals && length > 1 && characters.peek() == Some(&Class::Word) {
            length -= 1;
        }
        let end = text.char_indices().nth(length).map_or(text.len(), |(end, _)| end);
        Some(Run { class, text: &text[..end], length })
    }

    /// In hundredths of a token, given what comes after it. Common words are one token whatever their length; what has
    /// hardly any vowels breaks every other letter. A mark joins the word after it, and those of JSON come in groups.
    fn cost(&self, next: Option<Class>) -> usize {
        let length = self.length;
        match self.class {
            Class::Space => usize::from(length > 1) * 110,
            Class::Line => length.min(2) * 90,
            Class::Word if length > 3 && self.vowels() * 5 < length => length * 50,
            Class::Word => 105 + usize::from(length > 8) * 20 + length.saturating_sub(14) * 50,
            Class::Capitals if length == 1 => 80,
            Class::Capitals => length.div_ceil(3) * 100,
            Class::Digit => length.div_ceil(3) * 105,
            Class::Mark => self.marks(next),
            Class::Alphabet => length * 60,
            Class::Picture => length * 200,
            Class::Wide => length * 100,
        }
    }

    fn marks(&self, next: Option<Class>) -> usize {
        // A capital begins a word too.
        let is_word_next = matches!(next, Some(Class::Word | Class::Capitals));
        match self.length {
            1 if is_word_next => 35,
            1 if next == Some(Class::Digit) => 100,
            1 => 85,
            length if self.is_one_character() => 100 + length / 16 * 100,
            2 | 3 if self.is_json() => 85,
            4..=6 if self.is_json() => 110,
            2 => 100,
            3 => 110,
            length => length * 66,
        }
    }

    fn is_json(&self) -> bool {
        self.text.bytes().all(|byte| b"\"{}[]:,".contains(&byte))
    }

    fn vowels(&self) -> usize {
        self.text.bytes().filter(|byte| b"aeiouyAEIOUY".contains(byte)).count()
    }

    fn is_one_character(&self) -> bool {
        self.text.bytes().all(|byte| byte == self.text.as_bytes()[0])
    }
}

//! How many tokens a text costs a model, near enough to keep a budget. Pure arithmetic over the characters: no tokeniser
//! is asked, so it costs nothing and gives the same answer everywhere. The numbers were fitted to the `o200k` encoding
//! on our own replies about code, prose, data and several scripts; a test of the binary holds them to it.

/// The least an answer can be fitted to.
pub const FEWEST_TOKENS: usize = 200;

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
        hundredths += run.cost();
        // Words are cut where letters of another case or digits follow without a break.
        if run.class.is_word() && before.is_some_and(Class::is_word) {
            hundredths += 30;
        }
        before = Some(run.class);
        rest = &rest[run.text.len()..];
    }
    (hundredths + hundredths / 33).div_ceil(100)
}

/// The nearest guess of what today's tokenisers make of an answer about an app, as text or JSON: within a tenth of it, and as
/// often below as above. A budget that must hold for any text is kept with [`estimate_tokens`].
///
/// ```
/// assert_eq!(backsight_core::nearest_tokens(r#"{"severity":"clean"}"#), 5);
/// ```
pub fn nearest_tokens(text: &str) -> usize {
    let mut hundredths = 0;
    let mut before = None;
    let mut rest = text;
    while let Some(run) = Run::first_of(rest) {
        rest = &rest[run.text.len()..];
        hundredths += run.near(rest.chars().next().map(Class::of));
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

    /// In hundredths of a token. Common words are one token whatever their length; rare ones break every few letters.
    fn cost(&self) -> usize {
        let length = self.length;
        match self.class {
            Class::Space => usize::from(length > 1) * 100,
            Class::Line => length.min(2) * 70,
            Class::Word if length > 2 && self.vowels() * 5 < length => length * 50,
            Class::Word => length.div_ceil(7) * 100 + usize::from(length > 4) * 25,
            Class::Capitals | Class::Digit => length.div_ceil(3) * 100,
            Class::Mark if self.is_one_character() => {
                if length == 1 {
                    85
                } else {
                    100 + length / 16 * 100
                }
            }
            Class::Mark if length == 2 => 100,
            Class::Mark if length == 3 => 110,
            Class::Mark => length * 66,
            Class::Alphabet => length * 60,
            Class::Picture => length * 200,
            Class::Wide => length * 100,
        }
    }

    /// The same without caution, given what comes after it: a mark joins the word after it, and those of JSON come in groups.
    fn near(&self, next: Option<Class>) -> usize {
        let length = self.length;
        match self.class {
            Class::Space => usize::from(length > 1) * 110,
            Class::Line => length.min(2) * 90,
            Class::Word if length > 3 && self.vowels() * 5 < length => length * 50,
            Class::Word => 105 + usize::from(length > 8) * 20 + length.saturating_sub(14) * 50,
            Class::Capitals if length == 1 => 80,
            Class::Digit => length.div_ceil(3) * 105,
            Class::Mark => self.near_marks(next),
            Class::Capitals | Class::Alphabet | Class::Picture | Class::Wide => self.cost(),
        }
    }

    fn near_marks(&self, next: Option<Class>) -> usize {
        match (self.length, next) {
            (1, Some(Class::Word | Class::Capitals)) => 35,
            (1, Some(Class::Digit)) => 100,
            (2 | 3, _) if self.is_json() && !self.is_one_character() => 85,
            (4..=6, _) if self.is_json() && !self.is_one_character() => 110,
            _ => self.cost(),
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

#[cfg(test)]
mod tests {
    /// Answers that the numbers were not fitted to, each with its length in `o200k`.
    #[test]
    fn the_nearest_guess_is_within_a_tenth() {
        let answers: Vec<(String, usize)> = serde_json::from_str(include_str!("tokens/answers.json")).expect("a list");
        assert!(answers.len() >= 16);
        for (text, real) in answers {
            let guess = super::nearest_tokens(&text);
            assert!(guess * 10 <= real * 11 && guess * 10 >= real * 9, "{real} tokens taken for {guess}: {text}");
        }
    }
}

//! How many tokens a text costs a model, near enough to keep a budget. Pure arithmetic over the characters: no tokeniser
//! is asked, so it costs nothing and gives the same answer everywhere.

/// An estimate, on the high side, of what today's tokenisers make of `text`.
///
/// ```
/// assert_eq!(backsight_core::estimate_tokens(""), 0);
/// assert!((2..=4).contains(&backsight_core::estimate_tokens("nothing changed")));
/// ```
pub fn estimate_tokens(text: &str) -> usize {
    let mut quarters = 0;
    let mut run = Run { class: Class::Space, length: 0 };
    for character in text.chars() {
        let class = Class::of(character);
        if class != run.class {
            quarters += run.cost();
            run = Run { class, length: 0 };
        }
        run.length += 1;
    }
    (quarters + run.cost()).div_ceil(4)
}

/// A stretch of characters of one class.
struct Run {
    class: Class,
    length: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Blanks: one of them joins the word after it.
    Space,
    /// Line ends and tabs.
    Line,
    Letter,
    Digit,
    Mark,
    /// Everything beyond ASCII.
    Wide,
}

impl Class {
    fn of(character: char) -> Class {
        match character {
            ' ' => Class::Space,
            '\n' | '\r' | '\t' => Class::Line,
            'a'..='z' | 'A'..='Z' => Class::Letter,
            '0'..='9' => Class::Digit,
            _ if character.is_ascii() => Class::Mark,
            _ => Class::Wide,
        }
    }
}

impl Run {
    /// In quarters of a token. Common words are one token whatever their length; rare ones break every few letters.
    fn cost(&self) -> usize {
        let length = self.length;
        match self.class {
            Class::Space => usize::from(length > 1) * 4,
            Class::Line => length.min(2) * 2,
            Class::Letter => length.div_ceil(7) * 4 + usize::from(length > 4),
            Class::Digit => length.div_ceil(3) * 4,
            Class::Mark => length.div_ceil(2) * 4 - usize::from(length == 1),
            Class::Wide => length * 4,
        }
    }
}

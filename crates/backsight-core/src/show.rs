//! Text of strangers on its way to a reader: which characters steer a terminal, turn the order of reading, end a line or
//! cannot be seen. Every lane and interface asks here, so that they cannot disagree.

use std::fmt::Write;

/// Whether a character does something other than be seen: it must be shown by its number.
///
/// Characters for private use and unassigned ones are shown as some glyph or an empty box, so they hide nothing.
pub fn is_unsafe_to_show(character: char) -> bool {
    character.is_control()
        || matches!(character,
            // Ends of lines and paragraphs.
            '\u{2028}' | '\u{2029}'
            // Marks, embeddings, overrides and isolates of the reading direction; old shaping controls.
            | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            // Without width.
            | '\u{ad}' | '\u{34f}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}'
            | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            // Letters and blanks that cannot be seen.
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}'
            // Variants of glyphs, except the common one that makes pictures coloured; tags. Both can carry hidden text.
            | '\u{fe00}'..='\u{fe0e}' | '\u{e0000}'..='\u{e0fff}'
            // Spaces other than the ordinary ones, which can make a text seem to end.
            | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{3000}' | '\u{205f}')
        // No characters at all.
        || matches!(character, '\u{fdd0}'..='\u{fdef}')
        || u32::from(character) & 0xfffe == 0xfffe
}

/// Text on one line, with what is unsafe to show replaced by its number, not dropped: a text that holds it is suspicious,
/// and that should be seen.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => line.push_str("\\n"),
            '\t' => line.push_str("\\t"),
            '\r' => line.push_str("\\r"),
            // Writing to a String cannot fail.
            other if is_unsafe_to_show(other) => _ = write!(line, "\\u{{{:x}}}", u32::from(other)),
            other => line.push(other),
        }
    }
    line
}

/// The same for a line of a file, whose tabs stay: `<U+202E>`.
pub fn visible(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => line.push(character),
            other if is_unsafe_to_show(other) => _ = write!(line, "<U+{:04X}>", u32::from(other)),
            other => line.push(other),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_classes_of_characters_are_unsafe() {
        let ranges = [
            0x0..=0x1f,
            0x7f..=0x9f,
            0x200b..=0x200f,
            0x2028..=0x202e,
            0x2060..=0x206f,
            0xe0000..=0xe007f,
            0xe0100..=0xe01ef,
            0xfe00..=0xfe0e,
            0xfff9..=0xfffb,
            0x1d173..=0x1d17a,
        ];
        for number in ranges.into_iter().flatten().chain([0xad, 0x61c, 0x180e, 0xfeff, 0x3164, 0xfffe, 0x10ffff]) {
            assert!(char::from_u32(number).is_none_or(is_unsafe_to_show), "{number:x}");
        }
        for plain in "aZ09 ~\u{a0}é\u{300}日本語\u{fe0f}\u{202f}🎉\u{e000}\u{fffd}עברית".chars() {
            assert!(!is_unsafe_to_show(plain), "{:x}", u32::from(plain));
        }
    }

    #[test]
    fn nothing_moves_the_cursor_ends_a_line_or_hides() {
        assert_eq!(one_line("a\u{1b}[2J\nb\u{202e}c\u{200b}\u{2028}"), "a\\u{1b}[2J\\nb\\u{202e}c\\u{200b}\\u{2028}");
        assert_eq!(visible("\ta\x1b[2J\u{202e}b\u{2029}"), "\ta<U+001B>[2J<U+202E>b<U+2029>");
        assert_eq!(one_line("日本 é 🎉"), "日本 é 🎉");
    }
}

//! Text of strangers on its way to a reader: which characters steer a terminal, turn the order of reading, end a line or
//! cannot be seen. Every lane and interface asks here, so that they cannot disagree.

use std::borrow::Cow;
use std::fmt::Write;

use crate::path::quote;

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

/// Text on one line, without characters that steer a terminal or change the order of reading: `\\n`, `\\u{1b}`. They are replaced, not
/// dropped: a text that holds them is suspicious, and that should be seen.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_, _| false)
}

/// The same for a text of many lines, which keeps their ends and the tabs in them.
pub fn many_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character, next| match character {
        '\n' | '\t' => true,
        '\r' => next == Some('\n'),
        _ => false,
    })
}

/// JSON in which the characters that steer a terminal or change the order of reading are written as their numbers. It
/// means the same: outside its texts JSON holds none of them.
pub fn safe_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(is_unsafe_to_show) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len());
    let mut units = [0; 2];
    for character in json.chars() {
        match character {
            // Between the parts of a JSON value; in its texts they are written as escapes already.
            '\n' | '\t' | '\r' => safe.push(character),
            _ if is_unsafe_to_show(character) => character.encode_utf16(&mut units).iter().for_each(|unit| {
                // Writing to a String cannot fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }),
            _ => safe.push(character),
        }
    }
    Cow::Owned(safe)
}

fn escaped(text: &str, stays: impl Fn(char, Option<char>) -> bool) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe_to_show) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            _ if !is_unsafe_to_show(character) || stays(character, rest.clone().next()) => safe.push(character),
            '\n' => safe.push_str("\\n"),
            '\t' => safe.push_str("\\t"),
            '\r' => safe.push_str("\\r"),
            // Writing to a String cannot fail.
            other => _ = write!(safe, "\\u{{{:x}}}", u32::from(other)),
        }
    }
    Cow::Owned(safe)
}

/// A word as it is typed in a shell: whatever it holds, a shell that reads it runs nothing of it.
pub fn shell_word(word: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./-+=:,@%".contains(byte);
    // Blanks at its ends need no escapes in a shell's quotes.
    let text = std::str::from_utf8(word).ok().filter(|text| !text.starts_with('"'));
    let shown = match text.filter(|text| !text.chars().any(is_unsafe_to_show)) {
        Some(text) => text.to_owned(),
        None => quote(word),
    };
    match shown.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        // C's escapes mean the same to most shells after a dollar sign. To the others it is another word, and no more: so
        // no quotation mark may stand in it.
        Some(inside) => format!("$'{}'", inside.replace('\'', "\\047")),
        None if !word.is_empty() && word.iter().all(is_plain) => shown,
        None => format!("'{}'", shown.replace('\'', "'\\''")),
    }
}

/// A line of a file, whose tabs stay: `<U+202E>`.
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

    #[test]
    fn nothing_steers_a_terminal_or_begins_a_line() {
        assert_eq!(one_line("a\u{1b}[31m\nb\u{202e}\u{9b}c\t"), "a\\u{1b}[31m\\nb\\u{202e}\\u{9b}c\\t");
        assert_eq!(one_line("h\u{e9} \u{65e5}"), "h\u{e9} \u{65e5}");
        assert_eq!(many_lines("a\r\nb\rc\td\u{7}\n"), "a\r\nb\\rc\td\\u{7}\n");
    }

    #[test]
    fn json_stays_the_same_to_programs() {
        let value = serde_json::json!({ "a\u{202e}": ["\u{9b}2J", "\u{1b}\n\u{7f}", "\u{e9}"] });
        for json in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let safe = safe_json(&json);
            assert!(!safe.chars().any(|character| character != '\n' && is_unsafe_to_show(character)), "{safe}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
        }
    }

    #[test]
    fn a_word_is_one_word_to_every_shell_and_runs_nothing() {
        let words = [&b"src/a.rs"[..], b"", b"two words", b"it's", b"s/a/b/;p", b"caf\xe9", b"a\n'b"].map(shell_word);
        assert_eq!(
            words,
            ["src/a.rs", "''", "'two words'", "'it'\\''s'", "'s/a/b/;p'", "$'caf\\351'", "$'a\\n\\047b'"]
        );
        for shell in ["sh", "bash"] {
            for hostile in [
                "x';echo RAN;'",
                "\n';echo RAN;'",
                "$(echo RAN)",
                "`echo RAN`",
                "\\';echo RAN;\\'\u{1b}",
                "\"\n$(echo RAN)",
            ] {
                let line = format!("for word in {}; do printf .; done", shell_word(hostile.as_bytes()));
                let output = std::process::Command::new(shell).args(["-c", &line]).output().unwrap();
                assert_eq!(String::from_utf8_lossy(&output.stdout), ".", "{shell}: {line}");
            }
        }
    }
}

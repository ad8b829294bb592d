//! Text that strangers wrote, made harmless for those who show it: names of files and people, messages of pages, what
//! programs print. It is replaced, not dropped: a text that holds such characters is suspicious, and that should be seen.

use std::borrow::Cow;
use std::fmt::Write;

use crate::path::is_unsafe_to_show;

/// On one line, and without characters that steer a terminal or change the order of reading: `\\n`, `\\u{1b}`.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}

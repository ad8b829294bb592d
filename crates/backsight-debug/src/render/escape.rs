//! Makes text of the program being debugged harmless for those who show it.

use std::fmt::Write;

/// On one line, and without characters that steer a terminal, change the order of reading or cannot be seen. They are
/// replaced by their numbers, not dropped: whoever looks at a variable wants to know what is in it.
pub(super) fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => safe.push_str("\\n"),
            '\t' => safe.push_str("\\t"),
            '\r' => safe.push_str("\\r"),
            // Writing to a String cannot fail.
            other if is_unsafe(other) => _ = write!(safe, "\\u{{{:x}}}", u32::from(other)),
            other => safe.push(other),
        }
    }
    safe
}

fn is_unsafe(character: char) -> bool {
    let number = u32::from(character);
    // What joins pictures into one is seen with them; everything else of no width hides something.
    character.is_control()
        || matches!(
            number,
            0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x2800 | 0x3164 | 0xfeff | 0xffa0
        )
        || matches!(number, 0x180b..=0x180f | 0x2000..=0x200f | 0x2028..=0x202e | 0x205f..=0x206f | 0x3000)
        || matches!(number, 0xfe00..=0xfe0e | 0xfff9..=0xfffb | 0xe0000..=0xe0fff)
}

/// As a Markdown code span, in which nothing means anything.
pub(super) fn code(text: &str) -> String {
    let text = safe(text);
    if text.trim().is_empty() {
        return format!("(empty, {} blanks)", text.len());
    }
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let touches = |character: char| matches!(character, '`' | ' ');
    let pad = if text.starts_with(touches) || text.ends_with(touches) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// As Markdown that shows it as it is.
pub(super) fn prose(text: &str) -> String {
    let mut prose = String::new();
    for character in safe(text).chars() {
        if character.is_ascii_punctuation()
            && !matches!(character, ',' | '.' | ';' | '(' | ')' | '/' | '\'' | '"' | '%' | '?')
        {
            prose.push('\\');
        }
        prose.push(character);
    }
    prose
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_program_moves_the_cursor_or_hides() {
        assert_eq!(safe("a\u{1b}[2J\nb\u{202e}c\u{200b}"), "a\\u{1b}[2J\\nb\\u{202e}c\\u{200b}");
        assert_eq!(safe("日本 é 🎉"), "日本 é 🎉");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code(" "), "(empty, 1 blanks)");
        assert_eq!(prose("<b>*x*</b> [a](b)"), "\\<b\\>\\*x\\*\\</b\\> \\[a\\](b)");
    }
}

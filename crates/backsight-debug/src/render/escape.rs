//! Makes text of the program being debugged harmless for those who show it.

use backsight_core::one_line;

/// On one line, without what steers a terminal or changes the order of reading.
pub(super) fn safe(text: &str) -> String {
    one_line(text).into_owned()
}

/// Two different texts, so that they also look different: where escapes make them one, what stands for itself is escaped too.
pub(super) fn both_safe(one: &str, other: &str) -> (String, String) {
    let (safe_one, safe_other) = (safe(one), safe(other));
    if safe_one != safe_other || one == other {
        return (safe_one, safe_other);
    }
    let doubled = |text: &str| safe(&text.replace('\\', "\\\\"));
    (doubled(one), doubled(other))
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
        assert_eq!(both_safe("a\nb", "a\\nb"), ("a\\nb".to_owned(), "a\\\\nb".to_owned()));
        assert_eq!(both_safe("\u{202e}", "\\u{202e}"), ("\\u{202e}".to_owned(), "\\\\u{202e}".to_owned()));
        assert_eq!(both_safe("C:\\a", "C:\\b"), ("C:\\a".to_owned(), "C:\\b".to_owned()));
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code(" "), "(empty, 1 blanks)");
        assert_eq!(prose("<b>*x*</b> [a](b)"), "\\<b\\>\\*x\\*\\</b\\> \\[a\\](b)");
    }
}

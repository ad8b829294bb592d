//! Makes text from outside harmless for those who show it.

use backsight_core::one_line;

/// On one line, without what steers a terminal or changes the order of reading.
pub fn safe(text: &str) -> String {
    one_line(text).into_owned()
}

/// A text from outside as a Markdown code span, in which nothing means anything.
pub fn code(text: &str) -> String {
    let text = safe(text);
    if text.trim().is_empty() {
        return format!("(empty, {} blanks)", text.len());
    }
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // Blanks at both ends belong to the marks and not to the text; they are needed next to a backtick, and when the text
    // itself has blanks at both ends.
    let touches = |character: char| character == '`' || character == ' ';
    let pad = if text.starts_with(touches) || text.ends_with(touches) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A text of ours, into which something from outside may have found its way, as Markdown that shows it as it is.
pub fn prose(text: &str) -> String {
    let mut prose = String::new();
    for character in safe(text).chars() {
        if matches!(
            character,
            '\\' | '`'
                | '*'
                | '_'
                | '['
                | ']'
                | '<'
                | '>'
                | '#'
                | '!'
                | '|'
                | '~'
                | '&'
                | '$'
                | '@'
                | ':'
                | '='
                | '-'
                | '+'
        ) {
            prose.push('\\');
        }
        prose.push(character);
    }
    // Some readers make links of addresses without a scheme.
    prose.replace("www.", "www\\.")
}

/// Columns a text takes on a terminal, nearly.
pub fn width(text: &str) -> usize {
    text.chars().map(character_width).sum()
}

/// Columns a character takes.
pub fn character_width(character: char) -> usize {
    match character {
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

//! Unified diffs on the page. File contents cannot drive the terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::Style;
use backsight_core::is_unsafe_to_show;

use crate::page::{CYAN, GREEN, RED, Sheet};

/// As it is into a file or pipe; on a terminal with control characters made visible.
pub fn show(sheet: &mut Sheet, unified: &[u8]) {
    for line in unified.split_inclusive(|&byte| byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = if sheet.is_terminal() { Cow::from(visible(text).into_bytes()) } else { Cow::from(text) };
        sheet.raw_painted(style_of(line), &text);
        sheet.raw(&line[line.len() - usize::from(line.ends_with(b"\n"))..]);
    }
}

fn style_of(line: &[u8]) -> Style {
    match line {
        [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] => Style::new().bold(),
        [b'+', ..] => GREEN,
        [b'-', ..] => RED,
        [b'@', b'@', ..] => CYAN,
        [b' ', ..] | [b'\\', ..] | [b'\n', ..] | [] => Style::new(),
        _ => Style::new().bold(),
    }
}

/// Control characters as `^[`, and what else is unsafe to show as `<U+202E>`, so that file contents cannot drive the
/// terminal or read as something else.
pub fn visible(line: &[u8]) -> String {
    let mut text = String::with_capacity(line.len());
    for character in String::from_utf8_lossy(line).chars() {
        match character {
            '\t' => text.push(character),
            '\0'..='\x1f' => text.extend(['^', char::from(character as u8 + 64)]),
            other if is_unsafe_to_show(other) => {
                let _ = write!(text, "<U+{:04X}>", other as u32);
            }
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_contents_cannot_drive_the_terminal() {
        assert_eq!(visible(b"+a\x1b[2Jb\r"), "+a^[[2Jb^M");
        assert_eq!(visible("+\u{9b}31m\tx".as_bytes()), "+<U+009B>31m\tx");
        assert_eq!(visible("+\u{202e}\u{2028}\u{200b}x".as_bytes()), "+<U+202E><U+2028><U+200B>x");
    }
}

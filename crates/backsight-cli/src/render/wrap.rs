//! Text that is longer than the terminal is wide, broken between words. What goes to a file or a program stays on one line.

use crate::page::Sheet;

/// A text behind a label; what does not fit goes on below the text.
pub fn item(sheet: &mut Sheet, label: &str, text: &str) {
    labelled(sheet, label, label.chars().count(), text);
}

/// The same with a label that is painted, and so longer than it looks.
pub fn labelled(sheet: &mut Sheet, label: &str, width: usize, text: &str) {
    let room = sheet.width().map(|columns| columns.saturating_sub(width).max(20));
    for (number, line) in lines(text, room).into_iter().enumerate() {
        let before = if number == 0 { label.to_owned() } else { " ".repeat(width) };
        sheet.line(format_args!("{before}{line}"));
    }
}

/// The words of a text in lines of at most so many characters; a longer word has a line of its own.
fn lines(text: &str, room: Option<usize>) -> Vec<String> {
    let Some(room) = room else { return vec![text.to_owned()] };
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        let fits = line.is_empty() || line.chars().count() + 1 + word.chars().count() <= room;
        match fits {
            true if line.is_empty() => line.push_str(word),
            true => line.extend([" ", word]),
            false => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn words_stay_whole_and_lines_fit() {
        assert_eq!(lines("one two three", Some(7)), ["one two", "three"]);
        assert_eq!(lines("a-word-that-is-longer two", Some(7)), ["a-word-that-is-longer", "two"]);
        assert_eq!(lines("one two three", None), ["one two three"]);
        assert_eq!(lines("", Some(7)), [""]);
    }
}

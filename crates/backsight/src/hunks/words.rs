//! Which words of a line changed: each removed line beside the added one that took its place.

use crate::report::HunkLine;

/// Words of both lines multiplied: beyond that only what they begin and end with is compared.
const MOST: usize = 40_000;
/// Lines that share less than this part of a hundred of their words are different lines, and nothing in them is marked.
const ALIKE: usize = 35;

/// Marks the words in the lines of a hunk.
pub fn mark(lines: &mut [HunkLine]) {
    let mut at = 0;
    while at < lines.len() {
        let removed = run(lines, at, '-');
        let added = run(lines, at + removed, '+');
        for pair in 0..removed.min(added) {
            let (one, other) = (at + pair, at + removed + pair);
            let (before, after) = changed(&lines[one].text, &lines[other].text);
            (lines[one].words, lines[other].words) = (before, after);
        }
        at += (removed + added).max(1);
    }
}

fn run(lines: &[HunkLine], from: usize, side: char) -> usize {
    lines[from.min(lines.len())..].iter().take_while(|line| line.side == side).count()
}

/// What of each text is not in the other, as pairs of a place and a length in UTF-16 units.
fn changed(before: &str, after: &str) -> (Vec<u32>, Vec<u32>) {
    let (one, other) = (split(before), split(after));
    let (in_one, in_other) = common(&one, &other);
    let weight = |words: &[&str], kept: &[bool]| -> (usize, usize) {
        let solid = |word: &&str| !word.trim().is_empty();
        let all = words.iter().filter(|word| solid(word)).map(|word| word.len()).sum();
        let same =
            words.iter().zip(kept).filter(|(word, kept)| **kept && solid(word)).map(|(word, _)| word.len()).sum();
        (same, all)
    };
    let ((same, all), (_, rest)) = (weight(&one, &in_one), weight(&other, &in_other));
    if all.max(rest) == 0 || same * 100 < ALIKE * all.max(rest) {
        return (Vec::new(), Vec::new());
    }
    (places(&one, &in_one), places(&other, &in_other))
}

fn split(text: &str) -> Vec<&str> {
    let class = |character: char| match character {
        character if character.is_alphanumeric() || character == '_' => 0,
        character if character.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, character) in text.char_indices() {
        let now = class(character);
        // Signs stand alone.
        if last.is_some_and(|last| last != now || now == 2) {
            words.push(&text[start..at]);
            start = at;
        }
        last = Some(now);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// Which words of each are in both, in the same order.
fn common(one: &[&str], other: &[&str]) -> (Vec<bool>, Vec<bool>) {
    let (mut in_one, mut in_other) = (vec![false; one.len()], vec![false; other.len()]);
    let begin = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let left = one.len().min(other.len()) - begin;
    let end = one.iter().rev().zip(other.iter().rev()).take(left).take_while(|(a, b)| a == b).count();
    in_one[..begin].fill(true);
    in_other[..begin].fill(true);
    let (one_end, other_end) = (one.len() - end, other.len() - end);
    in_one[one_end..].fill(true);
    in_other[other_end..].fill(true);
    let (a, b) = (&one[begin..one_end], &other[begin..other_end]);
    if a.is_empty() || b.is_empty() || a.len() * b.len() > MOST {
        return (in_one, in_other);
    }
    // The longest common sequence: small texts, so the plain table will do.
    let width = b.len() + 1;
    let mut table = vec![0_u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i * width + j] = match a[i] == b[j] {
                true => table[(i + 1) * width + j + 1] + 1,
                false => table[(i + 1) * width + j].max(table[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            (in_one[begin + i], in_other[begin + j]) = (true, true);
            (i, j) = (i + 1, j + 1);
        } else if table[(i + 1) * width + j] >= table[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    (in_one, in_other)
}

/// The places of what is not kept; neighbours are one.
fn places(words: &[&str], kept: &[bool]) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    let mut at = 0_u32;
    for (word, kept) in words.iter().zip(kept) {
        let length = u32::try_from(word.encode_utf16().count()).unwrap_or(u32::MAX);
        if !kept {
            match found.as_mut_slice() {
                [.., start, long] if *start + *long == at => *long += length,
                _ => found.extend([at, length]),
            }
        }
        at += length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_marked_and_other_lines_are_not() {
        assert_eq!(changed("a = foo(1)", "a = bar(1)"), (vec![4, 3], vec![4, 3]));
        assert_eq!(changed("f(a, b)", "f(a, x, b)"), (vec![], vec![5, 3]));
        assert_eq!(changed("one two", "quite another thing"), (vec![], vec![]));
        assert_eq!(changed("", "x"), (vec![], vec![]));
    }

    #[test]
    fn places_are_counted_as_browsers_count() {
        assert_eq!(changed("say \"🦀\" a", "say \"🦀\" b"), (vec![9, 1], vec![9, 1]));
    }
}

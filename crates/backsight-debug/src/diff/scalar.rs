//! When two texts are the same value, and how they differ when they are not: by how much, from where on.

use std::borrow::Cow;

/// Shorter runs of hexadecimal digits are numbers or flags, not addresses.
const SHORTEST_ADDRESS: usize = 6;
/// Longer texts are shown as windows around the first difference.
const LONGEST_SHOWN: usize = 100;
/// How much of a window is before the difference.
const BEFORE: usize = 24;
/// How long a window is.
const WINDOW: usize = 72;

/// A text with the addresses in it replaced, unless it is nothing but an address, or a text of the program's own: then that is
/// the value.
pub(crate) fn without_addresses(text: &str) -> Cow<'_, str> {
    // Languages write a few letters before the mark: `b'..'`, `u8"..."`.
    let mark = text.trim_start_matches(|character: char| character.is_ascii_alphanumeric());
    if text.len() - mark.len() <= 2 && mark.starts_with(['"', '\'', '`']) {
        return Cow::Borrowed(text);
    }
    let Some(first) = address(text, 0) else { return Cow::Borrowed(text) };
    if first == (0, text.len()) {
        return Cow::Borrowed(text);
    }
    replace_addresses(text, first)
}

/// A text with all addresses in it replaced: of something with insides the address says which object it is.
pub(super) fn without_any_address(text: &str) -> Cow<'_, str> {
    match address(text, 0) {
        Some(first) => replace_addresses(text, first),
        None => Cow::Borrowed(text),
    }
}

fn replace_addresses(text: &str, first: (usize, usize)) -> Cow<'_, str> {
    let mut replaced = String::with_capacity(text.len());
    let mut copied = 0;
    let mut next = Some(first);
    while let Some((start, end)) = next {
        replaced.push_str(&text[copied..start]);
        replaced.push_str("0x…");
        copied = end;
        next = address(text, end);
    }
    replaced.push_str(&text[copied..]);
    Cow::Owned(replaced)
}

/// Where the first address from `from` on begins and ends.
fn address(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(found) = text.get(at..)?.find("0x") {
        let start = at + found;
        let digits = bytes[start + 2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let end = start + 2 + digits;
        let inside_word = start > 0 && bytes[start - 1].is_ascii_alphanumeric();
        if digits >= SHORTEST_ADDRESS && !inside_word {
            return Some((start, end));
        }
        at = end;
    }
    None
}

/// Whether a text says "not a number", which equals itself here whatever its bits are.
pub(super) fn is_nan(text: &str) -> bool {
    let plain = text.trim_start_matches(['+', '-']);
    plain.eq_ignore_ascii_case("nan")
}

/// A change of a text for showing: the two values, perhaps only windows of them, and how they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Delta {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) note: Option<String>,
}

/// How `old` became `new`.
pub(super) fn delta(old: &str, new: &str) -> Delta {
    if let Some(note) = number_delta(old, new) {
        return Delta { old: old.to_owned(), new: new.to_owned(), note: Some(note) };
    }
    if old.len() <= LONGEST_SHOWN && new.len() <= LONGEST_SHOWN {
        return Delta { old: old.to_owned(), new: new.to_owned(), note: None };
    }
    let (characters, at) = common_start(old, new);
    let window = |text: &str| window(text, at);
    let (old_count, new_count) = (old.chars().count(), new.chars().count());
    let lengths = match old_count == new_count {
        true => String::new(),
        false => format!(", length {old_count} -> {new_count}"),
    };
    let note = Some(format!("differs from character {characters}{lengths}"));
    Delta { old: window(old), new: window(new), note }
}

/// How many characters, and how many bytes, are the same at the start.
fn common_start(old: &str, new: &str) -> (usize, usize) {
    let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new);
    same.fold((0, 0), |(characters, bytes), (character, _)| (characters + 1, bytes + character.len_utf8()))
}

/// The part of a text around the byte `at`, with marks where it goes on.
fn window(text: &str, at: usize) -> String {
    if text.len() <= LONGEST_SHOWN {
        return text.to_owned();
    }
    let start = text.floor_char_boundary(at.saturating_sub(BEFORE));
    let end = text.ceil_char_boundary((start + WINDOW).min(text.len()));
    let before = if start > 0 { "…" } else { "" };
    let after = if end < text.len() { "…" } else { "" };
    format!("{before}{}{after}", &text[start..end])
}

/// `+1` and the like, when both are numbers of which the difference says something.
fn number_delta(old: &str, new: &str) -> Option<String> {
    if let (Ok(old), Ok(new)) = (old.parse::<i128>(), new.parse::<i128>()) {
        let difference = new.checked_sub(old).filter(|difference| *difference != 0)?;
        return Some(format!("{difference:+}"));
    }
    let (old, new) = (number(old)?, number(new)?);
    let difference = new - old;
    if difference == 0.0 {
        return (old == 0.0 && old.is_sign_negative() != new.is_sign_negative()).then(|| "sign of zero".to_owned());
    }
    if !difference.is_finite() {
        return None;
    }
    // Whatever the subtraction adds in far digits is not a difference of the two.
    let size = old.abs().max(new.abs());
    if size >= 1e15 {
        return None;
    }
    let digits = (15.0 - size.log10().ceil()).clamp(0.0, 15.0) as usize;
    let said = format!("{difference:+.digits$}");
    let trimmed = if said.contains('.') { said.trim_end_matches('0').trim_end_matches('.') } else { &said };
    let zero = trimmed.chars().all(|character| matches!(character, '+' | '-' | '0' | '.'));
    (!zero).then(|| trimmed.to_owned())
}

/// A number as languages write them; not the words that Rust also reads as numbers.
fn number(text: &str) -> Option<f64> {
    let starts = text.trim_start_matches(['+', '-']).starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let number: f64 = if starts { text.parse().ok()? } else { return None };
    number.is_finite().then_some(number)
}

/// A text cut to at most `longest` bytes, with a mark.
pub(crate) fn clipped(text: &str, longest: usize) -> Cow<'_, str> {
    if text.len() <= longest {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(longest.saturating_sub(1));
    Cow::Owned(format!("{}…", &text[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(old: &str, new: &str) -> Option<String> {
        delta(old, new).note
    }

    #[test]
    fn numbers_say_by_how_much() {
        assert_eq!(note("2", "3").as_deref(), Some("+1"));
        assert_eq!(note("10", "-5").as_deref(), Some("-15"));
        assert_eq!(note("1.5", "1.75").as_deref(), Some("+0.25"));
        assert_eq!(note("0.1", "0.3").as_deref(), Some("+0.2"));
        assert_eq!(note("1", "2.5").as_deref(), Some("+1.5"));
        assert_eq!(note("-0.0", "0.0").as_deref(), Some("sign of zero"));
        assert_eq!(note("1e300", "1e-300"), None, "no page of digits");
        for (old, new) in
            [("nan", "1.0"), ("inf", "1.0"), ("1.0", "1.00"), ("'1'", "'2'"), ("true", "false"), ("", "1")]
        {
            assert_eq!(note(old, new), None, "{old} {new}");
        }
        let (most, least) = (i128::MAX.to_string(), i128::MIN.to_string());
        assert_eq!(note(&most, &least), None);
    }

    #[test]
    fn long_texts_are_shown_where_they_differ() {
        let old = format!("'{}a{}'", "x".repeat(1000), "y".repeat(1000));
        let new = format!("'{}b{}'", "x".repeat(1000), "y".repeat(999));
        let delta = delta(&old, &new);
        assert_eq!(delta.note.as_deref(), Some("differs from character 1001, length 2003 -> 2002"));
        assert!(delta.old.len() < 90 && delta.old.contains("xay"), "{}", delta.old);
        assert!(delta.new.len() < 90 && delta.new.contains("xby"), "{}", delta.new);
        let wide = "日本".repeat(100);
        assert!(super::delta(&wide, &format!("{wide}!")).new.ends_with("日本!"));
    }

    #[test]
    fn addresses_inside_texts_do_not_count() {
        assert_eq!(without_addresses("<Foo at 0x7f00aa12>"), without_addresses("<Foo at 0x7f00bb34>"));
        assert_eq!(without_addresses("0x7ffe1234"), "0x7ffe1234", "an address alone is a value");
        assert_eq!(without_any_address("0x7ffe1234"), "0x…");
        assert_eq!(without_addresses("Flags(0x3)"), "Flags(0x3)", "too short for an address");
        assert_eq!(without_addresses("'0xdeadbeefcafe'"), "'0xdeadbeefcafe'", "a text of the program's own");
        assert_eq!(without_addresses("b\"0xdeadbeefcafe\""), "b\"0xdeadbeefcafe\"");
        assert_eq!(without_addresses("é0x"), "é0x");
        assert_eq!(without_addresses("f(0xdeadbeef, 0xcafebabe)"), "f(0x…, 0x…)");
    }
}

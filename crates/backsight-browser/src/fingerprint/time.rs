//! Points in time as logs write them: ISO, RFC, what JavaScript prints, and clocks. Each function looks at the start of some
//! bytes and says how many of them are one, so that the caller moves on and never comes back.

use super::shape::digits;

const MONTHS: [&[u8]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
const DAYS: [&[u8]; 7] = [b"mon", b"tue", b"wed", b"thu", b"fri", b"sat", b"sun"];

/// How long the point in time that begins with a digit is.
pub(crate) fn numeric(bytes: &[u8]) -> Option<usize> {
    let first = digits(bytes);
    let next = *bytes.get(first)?;
    match (first, next) {
        (4, b'-' | b'/') => iso(bytes, next),
        (1 | 2, b':') => clock(bytes, first),
        (1 | 2, b'/' | b'.') => day_first(bytes, first, next),
        (1 | 2, b' ' | b'-') => day_month(bytes, first, next),
        _ => None,
    }
}

/// How long the point in time that begins with the name of a day or month is.
pub(crate) fn named(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut has_day = false;
    if is_name(bytes, &DAYS) {
        at = 3;
        at += usize::from(bytes.get(at) == Some(&b','));
        at += usize::from(bytes.get(at) == Some(&b' '));
        has_day = true;
    }
    let rest = bytes.get(at..)?;
    if is_name(rest, &MONTHS) {
        return month_first(rest).map(|length| at + length);
    }
    let day = digits(rest);
    if !has_day || !(1..=2).contains(&day) {
        return None;
    }
    day_month(rest, day, *rest.get(day)?).map(|length| at + length)
}

/// `2024-01-02`, with a time after `T` or a space.
fn iso(bytes: &[u8], separator: u8) -> Option<usize> {
    let month = digits(bytes.get(5..)?);
    let after_month = 5 + month;
    if !(1..=2).contains(&month) || bytes.get(after_month) != Some(&separator) {
        return None;
    }
    let day = digits(bytes.get(after_month + 1..)?);
    let end = after_month + 1 + day;
    if !(1..=2).contains(&day) {
        return None;
    }
    Some(end + following_clock(&bytes[end..]))
}

/// `1/2/2024` or `02.01.2024`, with a time after it, and `02/Jan/2024:03:04:05 +0000`.
fn day_first(bytes: &[u8], first: usize, separator: u8) -> Option<usize> {
    let rest = bytes.get(first + 1..)?;
    if separator == b'/' && is_name(rest, &MONTHS) && rest.get(3) == Some(&b'/') {
        let year = digits(&rest[4..]);
        let end = first + 1 + 4 + year;
        return (year == 4).then(|| end + following_clock(&bytes[end..]));
    }
    let second = digits(rest);
    let year = digits(rest.get(second + 1..)?);
    if !(1..=2).contains(&second) || rest.get(second) != Some(&separator) || year != 4 {
        return None;
    }
    let end = first + 1 + second + 1 + year;
    // Four numbers with points between them are an address or a version.
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    Some(end + following_clock(&bytes[end..]))
}

/// `02 Jan 2024 03:04:05 GMT`.
fn day_month(bytes: &[u8], day: usize, separator: u8) -> Option<usize> {
    let rest = bytes.get(day + 1..)?;
    if !is_name(rest, &MONTHS) || rest.get(3) != Some(&separator) {
        return None;
    }
    let year = digits(&rest[4..]);
    let end = day + 1 + 4 + year;
    matches!(year, 2 | 4).then(|| end + following_clock(&bytes[end..]))
}

/// `Jan 02 2024 03:04:05 GMT+0100 (Central European Time)`, `Jan 2, 2024`, `Jan 02 03:04:05`.
fn month_first(bytes: &[u8]) -> Option<usize> {
    if bytes.get(3) != Some(&b' ') {
        return None;
    }
    let space = usize::from(bytes.get(4) == Some(&b' '));
    let day = digits(bytes.get(4 + space..)?);
    if !(1..=2).contains(&day) {
        return None;
    }
    let mut end = 4 + space + day;
    let comma = usize::from(bytes.get(end) == Some(&b','));
    let year = bytes.get(end + comma + 1..).map_or(0, digits);
    if bytes.get(end + comma) == Some(&b' ') && year == 4 {
        end += comma + 1 + year;
        return Some(end + following_clock(&bytes[end..]));
    }
    let clock = following_clock(&bytes[end..]);
    (clock > 0).then_some(end + clock)
}

/// The clock after a date, with what joins them; 0 when there is none.
fn following_clock(bytes: &[u8]) -> usize {
    let joined = match bytes {
        [b',', b' ', ..] => 2,
        [b'T' | b't' | b' ' | b':' | b'_', ..] => 1,
        _ => return 0,
    };
    let rest = &bytes[joined..];
    match digits(rest) {
        first @ (1 | 2) if rest.get(first) == Some(&b':') => {
            time_of_day(rest, first).map_or(0, |length| joined + length)
        }
        _ => 0,
    }
}

/// A clock that stands alone: with seconds, or with AM or PM.
fn clock(bytes: &[u8], hours: usize) -> Option<usize> {
    let plain = hours + 3;
    let length = time_of_day(bytes, hours)?;
    (length > plain).then_some(length)
}

/// `03:04`, `03:04:05`, `03:04:05.678`, then `Z`, `+01:00`, `GMT+0100 (Name)`, `AM`.
fn time_of_day(bytes: &[u8], hours: usize) -> Option<usize> {
    let pair = |at: usize| bytes.get(at) == Some(&b':') && bytes.get(at + 1..).map_or(0, digits) == 2;
    if !pair(hours) {
        return None;
    }
    let mut end = hours + 3;
    if pair(end) {
        end += 3;
        if matches!(bytes.get(end), Some(b'.' | b',')) {
            let fraction = digits(&bytes[end + 1..]);
            end += if fraction > 0 { fraction + 1 } else { 0 };
        }
    }
    if bytes.get(end) == Some(&b':') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    Some(end + zone(&bytes[end..]))
}

/// What says where on earth, or which half of the day.
fn zone(bytes: &[u8]) -> usize {
    let space = usize::from(bytes.first() == Some(&b' '));
    let rest = &bytes[space..];
    let ended = |length: usize| !rest.get(length).is_some_and(u8::is_ascii_alphanumeric);
    if rest.len() >= 2 && matches!(rest[0], b'a' | b'A' | b'p' | b'P') && matches!(rest[1], b'm' | b'M') && ended(2) {
        return space + 2;
    }
    if space == 0 && matches!(rest.first(), Some(b'Z' | b'z')) && ended(1) {
        return 1;
    }
    let mut length = 0;
    if rest.starts_with(b"GMT") || rest.starts_with(b"UTC") {
        length = 3;
    }
    if matches!(rest.get(length), Some(b'+' | b'-')) {
        let offset = &rest[length + 1..];
        match digits(offset) {
            4 => length += 5,
            2 if offset.get(2) == Some(&b':') && digits(&offset[3..]) == 2 => length += 6,
            _ => {}
        }
    }
    if length == 0 {
        return 0;
    }
    space + length + zone_name(&rest[length..])
}

/// ` (Central European Standard Time)`.
fn zone_name(bytes: &[u8]) -> usize {
    const LONGEST: usize = 60;
    if !bytes.starts_with(b" (") {
        return 0;
    }
    let window = &bytes[..bytes.len().min(LONGEST)];
    window.iter().position(|byte| *byte == b')').map_or(0, |end| end + 1)
}

/// Whether one of the `names` is the word at the start, in any case, possibly written out.
fn is_name(bytes: &[u8], names: &[&[u8]]) -> bool {
    let Some(start) = bytes.get(..3) else { return false };
    !bytes.get(3).is_some_and(u8::is_ascii_alphanumeric) && names.iter().any(|name| start.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_form_is_one_point_in_time() {
        for text in [
            "2024-01-02T03:04:05Z",
            "2024-01-02T03:04:05.678Z",
            "2024-01-02T03:04:05+01:00",
            "2024-01-02 03:04:05,678",
            "2024-01-02",
            "2024/01/02 03:04",
            "1/2/2024, 3:04:05 PM",
            "02.01.2024 03:04",
            "02/Jan/2024:03:04:05 +0000",
            "02 Jan 2024 03:04:05 GMT",
            "12:34:56",
            "12:34:56.789",
            "3:45 PM",
            "3:45:10pm",
        ] {
            assert_eq!(numeric(text.as_bytes()), Some(text.len()), "{text}");
        }
        for text in [
            "Tue, 02 Jan 2024 03:04:05 GMT",
            "Tue Jan 02 2024 03:04:05 GMT+0100 (Central European Standard Time)",
            "Jan 2, 2024",
            "Jan 02 03:04:05",
        ] {
            assert_eq!(named(text.as_bytes()), Some(text.len()), "{text}");
        }
    }

    #[test]
    fn other_numbers_and_words_are_none() {
        for text in ["12:34", "2024", "12:34:56:78", "1/2", "10.0.0.1", "1.2.3", "1.2.2024.5", "3 items"] {
            assert_eq!(numeric(text.as_bytes()), None, "{text}");
        }
        for text in ["Sun is up", "May 2", "Marx 2, 2024", "Mon", "Mondays"] {
            assert_eq!(named(text.as_bytes()), None, "{text}");
        }
    }
}

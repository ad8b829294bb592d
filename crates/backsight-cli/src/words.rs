//! Numbers, sizes and times as a person says them.

use std::fmt::Display;

use backsight_core::{Timestamp, quote};

/// The texts of a list of JSON.
pub fn texts(list: &serde_json::Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(serde_json::Value::as_str).map(str::to_owned).collect()
}

/// `1 file`, `2 files`.
pub fn count(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{} {stem}ies", thousands(number)),
        (_, None) => format!("{} {noun}s", thousands(number)),
    }
}

/// The same for the length of a list.
pub fn count_of<T>(list: &[T], noun: &str) -> String {
    count(list.len() as u64, noun)
}

/// `12,345`
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// `512 B`, `1.2 KiB`, `340 MiB`
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = number as f64 / 1024.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value < 9.95 { format!("{value:.1} {}", UNITS[unit]) } else { format!("{value:.0} {}", UNITS[unit]) }
}

/// How long ago, in the largest unit that fits: `just now`, `3 min ago`, `2 days ago`.
pub fn age(time: Timestamp, now: Timestamp) -> String {
    let seconds = now.0.saturating_sub(time.0).div_euclid(1000);
    let (number, unit) = match seconds {
        ..-60 => return "in the future".into(),
        -60..10 => return "just now".into(),
        10..60 => (seconds, "s"),
        60..3600 => (seconds / 60, "min"),
        3600..86_400 => (seconds / 3600, "h"),
        86_400..172_800 => return "1 day ago".into(),
        172_800..5_184_000 => (seconds / 86_400, "days"),
        5_184_000..63_072_000 => (seconds / 2_592_000, "months"),
        _ => (seconds / 31_536_000, "years"),
    };
    format!("{number} {unit} ago")
}

/// `340 ms`, `2.4 s`, `3 min 12 s`
pub fn duration(milliseconds: u64) -> String {
    match milliseconds {
        ..1000 => format!("{milliseconds} ms"),
        1000..60_000 => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
        60_000..3_600_000 => format!("{} min {} s", milliseconds / 60_000, milliseconds / 1000 % 60),
        _ => format!("{} h {} min", milliseconds / 3_600_000, milliseconds / 60_000 % 60),
    }
}

/// The time on the wall where the reader is.
pub fn local(time: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(time.0) {
        Ok(instant) => instant.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %:z").to_string(),
        Err(_) => time.to_string(),
    }
}

/// Text from outside, on one line and without control characters.
pub fn safe(text: &str) -> String {
    quote(text.as_bytes())
}

/// The words that say something, with a space between.
pub fn join(words: &[&str]) -> String {
    let said: Vec<&str> = words.iter().copied().filter(|word| !word.is_empty()).collect();
    said.join(" ")
}

/// `a`, `a and b`, `a, b and c`; a long list says how many more there are.
pub fn enumerate(items: &[impl Display]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = items.iter().take(SHOWN).map(ToString::to_string).collect();
    match (shown.as_slice(), items.len().saturating_sub(SHOWN)) {
        ([], _) => String::new(),
        ([only], _) => only.clone(),
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (_, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_use_the_largest_unit_that_fits() {
        let ages = [0, 9, 10, 59, 60, 3599, 3600, 86_399, 86_400, 172_800, 5_184_000, 63_072_000];
        let said = ages.map(|seconds| age(Timestamp(0), Timestamp(seconds * 1000)));
        let expected = "just now,just now,10 s ago,59 s ago,1 min ago,59 min ago,1 h ago,23 h ago,1 day ago,2 days ago,\
                        2 months ago,2 years ago";
        assert_eq!(said.join(","), expected);
        assert_eq!(age(Timestamp(100_000), Timestamp(0)), "in the future");
    }

    #[test]
    fn sizes_keep_two_digits() {
        let said = [0, 1023, 1024, 1536, 10 << 10, 1023 << 10, 300 << 20, 5 << 30].map(bytes);
        assert_eq!(said.join(","), "0 B,1023 B,1.0 KiB,1.5 KiB,10 KiB,1.0 MiB,300 MiB,5.0 GiB");
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!(count(1, "file"), "1 file");
        assert_eq!(count(0, "file"), "0 files");
        assert_eq!(count(30_000, "directory"), "30,000 directories");
    }

    #[test]
    fn durations_keep_two_units() {
        let said = [0, 999, 2449, 192_000, 3_600_000, 90_000_000].map(duration);
        assert_eq!(said.join(","), "0 ms,999 ms,2.4 s,3 min 12 s,1 h 0 min,25 h 0 min");
    }

    #[test]
    fn lists_say_what_they_leave_out() {
        assert_eq!(enumerate(&["a"]), "a");
        assert_eq!(enumerate(&["a", "b", "c"]), "a, b and c");
        assert_eq!(enumerate(&[0; 10]), "0, 0, 0, 0, 0, 0, 0, 0 and 2 more");
    }
}

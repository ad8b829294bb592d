//! Numbers and times as a person says them, and the words all renderings share.

use std::collections::BTreeMap;
use std::fmt::Display;

use backsight_core::Timestamp;

use crate::event::{ActionKind, Category};
use crate::report::{Changes, Coverage, Gap, MessageEntry, Saw, Waited};

/// `12,345`
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// `340 ms`, `2.4 s`, `3 min 12 s`, `1 h 5 min`, `2 days 3 h`
pub fn duration(milliseconds: i64) -> String {
    let millis = milliseconds.unsigned_abs();
    let (seconds, minutes, hours) = (millis / 1000, millis / 60_000, millis / 3_600_000);
    let said = match millis {
        ..1000 => format!("{millis} ms"),
        1000..60_000 => format!("{seconds}.{} s", millis % 1000 / 100),
        60_000..3_600_000 => format!("{minutes} min {} s", seconds % 60),
        3_600_000..172_800_000 => format!("{hours} h {} min", minutes % 60),
        _ => format!("{} days {} h", hours / 24, hours % 24),
    };
    if milliseconds < 0 { format!("-{said}") } else { said }
}

/// `13:02:11` of a time in UTC.
pub fn clock(time: Timestamp) -> String {
    let text = time.to_string();
    text.get(11..19).map(str::to_owned).unwrap_or(text)
}

/// `2026-11-15 13:02:11`
pub fn date_and_clock(time: Timestamp) -> String {
    let text = time.to_string();
    match (text.get(..10), text.get(11..19)) {
        (Some(date), Some(clock)) => format!("{date} {clock}"),
        _ => text,
    }
}

/// `2026-11-15 13:02:11 to 13:05:23 UTC`; the second date only when it is another.
pub fn window(from: Timestamp, to: Timestamp) -> String {
    let (first, last) = (date_and_clock(from), date_and_clock(to));
    let same_day = first.get(..10) == last.get(..10);
    format!("{first} to {} UTC", if same_day { clock(to) } else { last })
}

/// As on the wire.
pub fn action(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Click => "click",
        ActionKind::Dblclick => "dblclick",
        ActionKind::Input => "input",
        ActionKind::Change => "change",
        ActionKind::Submit => "submit",
        ActionKind::Key => "key",
        ActionKind::Navigate => "navigate",
        ActionKind::Route => "route",
    }
}

/// `console 100, network 3`
pub fn by_category(counts: &BTreeMap<Category, u64>) -> String {
    list(counts.iter().map(|(category, count)| format!("{} {count}", category.as_str())))
}

/// `a, b`
pub fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<String>>().join(", ")
}

/// The categories that were not asked for.
pub fn not_asked(changes: &Changes) -> Vec<&'static str> {
    let asked =
        [changes.console.is_some(), changes.network.is_some(), changes.websocket.is_some(), changes.actions.is_some()];
    Category::ALL.iter().zip(asked).filter(|(_, asked)| !asked).map(|(category, _)| category.as_str()).collect()
}

fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1000.0
}

/// `caused by TypeError: no rows @ src/cart.js:4; Error: no stock; 3 more`
pub fn causes(entry: &MessageEntry, show: fn(&str) -> String) -> Option<String> {
    let more = (entry.more_causes > 0).then(|| format!("{} more", entry.more_causes));
    let all: Vec<String> = entry.causes.iter().map(|cause| show(cause)).chain(more).collect();
    (!all.is_empty()).then(|| format!("caused by {}", all.join("; ")))
}

/// `recurring`, `7 variants`
pub fn remarks(entry: &MessageEntry) -> Vec<String> {
    let recurring = entry.recurring.then(|| "recurring".to_owned());
    let before_load = entry.before_load.then(|| "before the latest load".to_owned());
    let times = match (entry.after_ms, entry.last_ms) {
        (Some(after), Some(last)) => Some(format!("{} s to {} s after the start", seconds(after), seconds(last))),
        (None, Some(last)) => Some(format!("last {} s after the start", seconds(last))),
        (_, None) => None,
    };
    let variants = entry.variants.map(|variants| format!("{variants} variants"));
    recurring.into_iter().chain(variants).chain(before_load).chain(times).collect()
}

/// `13:02:11 to 13:03:00: why`
pub fn gap(gap: &Gap, show: fn(&str) -> String) -> String {
    let end = gap.to.map_or("now".to_owned(), clock);
    format!("{} to {end}: {}", date_and_clock(gap.from), show(&gap.reason))
}

/// Everything about who watched.
pub fn waited(waited: &Waited) -> String {
    let word = |saw: &Saw| match saw {
        Saw::HotUpdate => "a hot update",
        Saw::Reload => "a load of a page",
        Saw::Build => "the end of a build",
        Saw::Activity => "activity",
    };
    match waited.saw.is_empty() {
        true => format!("{} ms, in which nothing happened", waited.ms),
        false => format!("{} ms, saw {}", waited.ms, list(waited.saw.iter().map(word))),
    }
}

/// Who watched.
pub fn coverage(coverage: &Coverage, show: fn(&str) -> String) -> String {
    let mut said = match (coverage.attached, coverage.watching.is_empty()) {
        (false, _) => vec!["nobody watches now".to_owned()],
        (true, true) => vec!["watched".to_owned()],
        (true, false) => Vec::new(),
    };
    if !coverage.watching.is_empty() {
        said.push(list(coverage.watching.iter().map(|watched| show(watched))));
    }
    said.extend(coverage.since.map(|since| format!("since {}", date_and_clock(since))));
    if !coverage.not_watched.is_empty() {
        said.push(format!("not watched: {}", list(coverage.not_watched.iter().map(|category| category.as_str()))));
    }
    if !coverage.ended.is_empty() {
        said.push(format!("ended: {}", list(coverage.ended.iter().map(|ended| show(ended)))));
    }
    if coverage.backfilled > 0 {
        said.push(format!("{} told afterwards", thousands(coverage.backfilled)));
    }
    if coverage.seen_twice > 0 {
        said.push(format!("{} told by the script in the page too", thousands(coverage.seen_twice)));
    }
    said.join("; ")
}

//! What checkpoints and baselines may be called: names that a person reads as the story of a session. Whoever picks an
//! impossible name is told why and offered one that is possible.

use std::ops::Range;

use backsight_core::{Code, Error, Result, quote};
use serde_json::json;

/// The longest a name can be, in characters.
pub const LONGEST: usize = 50;

/// The checkpoint at the beginning of every coding session.
pub const SESSION_START: &str = "session_start";

/// The checkpoint before a commit.
pub const PRE_COMMIT: &str = "pre_commit";

/// References that mean something else than a checkpoint of that name.
pub const RESERVED: [&str; 5] = ["auto", "last", "start", "load", "now"];

/// Whether something can have this name; if not, why, and what it could be called instead.
pub fn check(name: &str) -> Result<()> {
    let problems = problems(name);
    if problems.is_empty() {
        return Ok(());
    }
    let proposal = proposal(name);
    let shown: String = name.chars().take(LONGEST + 10).collect();
    let cut = if shown.len() < name.len() { "…" } else { "" };
    let message = format!("name `{}{cut}` cannot be used: {}", quote(shown.as_bytes()), problems.join("; "));
    Err(Error::new(Code::InvalidName, message)
        .with_hint(format!("use `{proposal}`"))
        .with_details(json!({ "suggestion": proposal })))
}

/// A gentle word about a name that is possible and tells a later reader little.
pub fn advice(name: &str) -> Option<String> {
    let told = ["before_", "after_", "baseline_"];
    let follows = [SESSION_START, PRE_COMMIT].contains(&name)
        || told.iter().any(|start| name.strip_prefix(start).is_some_and(|rest| !rest.is_empty()));
    (!follows).then(|| {
        "names that tell the session's story: `session_start`, `pre_commit`, `before_...`, `after_...`, `baseline_...`"
            .to_owned()
    })
}

/// Names, those first that are most like the one that was meant.
pub(crate) fn nearest_first<'a>(meant: &str, mut names: Vec<&'a str>) -> Vec<&'a str> {
    let meant: String = meant.chars().take(2 * LONGEST).collect();
    names.sort_by_cached_key(|name| (distance(&meant, name), *name));
    names
}

/// How many letters are put in, taken away or replaced to make one text of the other (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, same) in other.iter().map(|known| *known == letter).enumerate() {
            let replaced = diagonal + usize::from(!same);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

fn problems(name: &str) -> Vec<String> {
    if name.is_empty() {
        return vec!["it is empty".into()];
    }
    let mut problems = Vec::new();
    if !name.chars().all(is_allowed) {
        problems.push("only lowercase letters, digits and underscores are allowed".into());
    } else if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        problems.push("it must start with a letter".into());
    }
    let length = name.chars().count();
    if length > LONGEST {
        problems.push(format!("it has {length} characters, at most {LONGEST} are allowed"));
    }
    if let Some(time) = times(name).first().and_then(|range| name.get(range.clone())) {
        problems.push(format!("it holds a time, `{}`, and the time is stored anyway", quote(time.as_bytes())));
    }
    if RESERVED.contains(&name) {
        problems.push("it is reserved".into());
    }
    problems
}

fn is_allowed(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9' | '_')
}

/// The nearest possible name. Every text has one.
fn proposal(name: &str) -> String {
    let mut proposal = startable(words(&without_times(name)));
    // What is left around a time, or of a long name, can look like another time; each round makes it shorter.
    while let Some(range) = times(&proposal).first().cloned() {
        proposal.replace_range(range, "");
        proposal = startable(tidy(&proposal));
    }
    proposal
}

/// A tidy text as something that starts with a letter and is not reserved.
fn startable(text: String) -> String {
    match text.chars().next() {
        None => "before_change".to_owned(),
        Some('a'..='z') if !RESERVED.contains(&text.as_str()) => text,
        Some(_) => tidy(&format!("at_{text}")),
    }
}

fn without_times(name: &str) -> String {
    let mut left = String::new();
    let mut end = 0;
    for range in times(name) {
        left.push_str(&name[end..range.start]);
        left.push(' ');
        end = range.end;
    }
    left + &name[end..]
}

/// Lowercase words with underscores between them; a capital after a small letter begins a word.
fn words(text: &str) -> String {
    let mut spaced = String::new();
    let mut after_small = false;
    for character in text.chars() {
        if after_small && character.is_ascii_uppercase() {
            spaced.push('_');
        }
        after_small = character.is_ascii_lowercase();
        spaced.push(character.to_ascii_lowercase());
    }
    tidy(&spaced)
}

/// The allowed characters of `text` as words, at most as many as a name can have, cut between words where that leaves
/// enough.
fn tidy(text: &str) -> String {
    let parts: Vec<&str> = text.split(|character| !is_allowed(character) || character == '_').collect();
    let mut name = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<&str>>().join("_");
    if name.len() > LONGEST {
        let end = name[..=LONGEST].rfind('_').filter(|end| *end > LONGEST / 2).unwrap_or(LONGEST);
        name.truncate(end);
    }
    name.trim_end_matches('_').to_owned()
}

/// Where dates, clock times and seconds or milliseconds since 1970 stand.
fn times(name: &str) -> Vec<Range<usize>> {
    let runs = digit_runs(name);
    let mut times = Vec::new();
    let mut at = 0;
    while at < runs.len() {
        let used = time_at(name, &runs[at..]);
        if used > 0 {
            times.push(runs[at].start..runs[at + used - 1].end);
        }
        at += used.max(1);
    }
    times
}

fn digit_runs(name: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in name.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// How many of the runs, from the first on, are one time.
fn time_at(name: &str, runs: &[Range<usize>]) -> usize {
    let digits = |index: usize| runs.get(index).and_then(|run| name.get(run.clone())).unwrap_or_default();
    let between = |index: usize| match (runs.get(index), runs.get(index + 1)) {
        (Some(one), Some(next)) => name.get(one.end..next.start).unwrap_or_default(),
        _ => "",
    };
    let joined = |index: usize| matches!(between(index), "-" | "_" | "/" | "." | " " | ":" | "t" | "T");
    let first = digits(0);
    let date = match first.len() {
        10 | 13 => return 1,
        8 | 12 | 14 if is_year(&first[..4]) && is_month(&first[4..6]) && is_day(&first[6..8]) => 1,
        4 if is_year(first) && is_month(digits(1)) && is_day(digits(2)) && joined(0) && joined(1) => 3,
        1 | 2 if is_day(first) && is_month(digits(1)) && is_year(digits(2)) && joined(0) && joined(1) => 3,
        1 | 2 if between(0) == ":" && digits(1).len() == 2 => 2,
        _ => return 0,
    };
    // The time of the day that follows a date belongs to it.
    (0..4)
        .fold(date, |used, _| if joined(used - 1) && matches!(digits(used).len(), 2 | 4 | 6) { used + 1 } else { used })
}

fn is_year(digits: &str) -> bool {
    digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"))
}

fn is_month(digits: &str) -> bool {
    digits.len() <= 2 && digits.parse().is_ok_and(|month: u8| (1..=12).contains(&month))
}

fn is_day(digits: &str) -> bool {
    digits.len() <= 2 && digits.parse().is_ok_and(|day: u8| (1..=31).contains(&day))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn suggestion(name: &str) -> String {
        let error = check(name).expect_err(name);
        assert_eq!(error.code(), Code::InvalidName);
        error.details()["suggestion"].as_str().unwrap().to_owned()
    }

    #[test]
    fn names_that_tell_the_story_pass() {
        for name in ["session_start", "pre_commit", "before_auth_refactor", "v2", "step_12_30", "year_2026", "a"] {
            check(name).expect(name);
        }
        check(&"a".repeat(50)).unwrap();
    }

    #[test]
    fn an_impossible_name_comes_with_a_possible_one() {
        let pairs = [
            ("Before Refactor!", "before_refactor"),
            ("beforeAuthRefactor", "before_auth_refactor"),
            ("before-refactor", "before_refactor"),
            ("2fast", "at_2fast"),
            ("_x", "x"),
            ("", "before_change"),
            ("größe", "gr_e"),
            ("日本", "before_change"),
            ("auto", "at_auto"),
            ("before_2026-11-15", "before"),
            ("before_2026_11_15_12_30_login", "before_login"),
            ("deploy 12:30", "deploy"),
            ("run_20261115", "run"),
            ("run_20261115t123000z", "run_z"),
            ("run_1763000000", "run"),
            ("run_1763000000123_x", "run_x"),
            ("15.11.2026 release", "release"),
        ];
        for (name, expected) in pairs {
            assert_eq!(suggestion(name), expected, "{name}");
        }
        assert_eq!(suggestion(&"long_word_".repeat(9)), "long_word_long_word_long_word_long_word_long_word");
    }

    #[test]
    fn the_error_says_everything_that_is_wrong() {
        let error = check("Before 2026-11-15").unwrap_err();
        assert_eq!(
            error.message(),
            "name `Before 2026-11-15` cannot be used: only lowercase letters, digits and underscores are allowed; it \
             holds a time, `2026-11-15`, and the time is stored anyway"
        );
        assert_eq!(error.hint().as_deref(), Some("use `before`"));
        assert!(check("now").unwrap_err().message().ends_with("it is reserved"));
        assert!(check("1a").unwrap_err().message().ends_with("it must start with a letter"));
        assert!(check(&"a".repeat(51)).unwrap_err().message().contains("it has 51 characters"));
        assert!(!check("\u{1b}[31m").unwrap_err().message().contains('\u{1b}'));
    }

    #[test]
    fn the_nearest_names_come_first() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
        let names = vec!["after_login", "before_login", "session_start"];
        assert_eq!(nearest_first("sesion_start", names.clone())[0], "session_start");
        assert_eq!(nearest_first("before_logn", names)[..2], ["before_login", "after_login"]);
    }

    #[test]
    fn advice_is_for_names_outside_the_conventions_only() {
        for name in ["session_start", "pre_commit", "before_x", "after_x", "baseline_login"] {
            assert_eq!(advice(name), None);
        }
        assert!(advice("before_").is_some());
        assert!(advice("checkpoint_3").unwrap().contains("before_"));
    }

    proptest! {
        #[test]
        fn every_proposal_is_possible(name in "\\PC{0,80}|[a-zA-Z0-9_:. -]{0,80}|[0-9_:-]{0,60}") {
            if let Err(error) = check(&name) {
                let proposal = error.details()["suggestion"].as_str().unwrap().to_owned();
                prop_assert!(check(&proposal).is_ok(), "{name:?} -> {proposal:?}");
            }
        }
    }
}

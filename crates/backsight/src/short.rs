//! Ids that clients choose are long, so people read and type the first characters of them. One rule both ways: what
//! [`short`] shows is what [`find`] understands. Pure: the caller brings the ids there are.

use backsight_core::{Code, Error, Result, quote};

use crate::timeline::OriginColumn;

/// Shorter prefixes are refused: they would soon be ambiguous.
pub(crate) const SHORTEST_PREFIX: usize = 4;
/// Ids of at most so many characters are shown as they are.
const WHOLE: usize = 12;
/// Characters of a long id that are shown at least.
const SHOWN: usize = 8;
/// Of an id that begins with a word (`toolu_`), characters after the word that are shown at least.
const AFTER_WORD: usize = 4;
/// Candidates that an error names.
const NAMED: usize = 5;

/// Whether an id is too long for a list.
pub(crate) fn is_long(id: &str) -> bool {
    length(split(id).0) > WHOLE
}

/// The id that a typed text means: the one that is the same, else the only one that begins with it.
pub(crate) fn find<'a>(
    column: OriginColumn,
    typed: &str,
    ids: impl IntoIterator<Item = &'a str>,
) -> Result<Option<&'a str>> {
    let mut found: Vec<&str> = Vec::new();
    for id in ids {
        if id == typed {
            return Ok(Some(id));
        }
        if is_meant(typed, id) && !found.contains(&id) {
            found.push(id);
        }
    }
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        several => Err(ambiguous(column, typed, several)),
    }
}

/// The fewest characters of an id that mean it among the sorted `ids`, and not too few to last a while.
pub(crate) fn short(id: &str, ids: &[String]) -> String {
    if !is_long(id) {
        return id.to_owned();
    }
    let (head, number) = split(id);
    let fewest = fewest(head);
    let start = prefix(head, fewest);
    let first = ids.partition_point(|other| other.as_str() < start);
    let alike = &ids[first..first + ids[first..].partition_point(|other| other.starts_with(start))];
    let means_it = |text: &str| {
        let found = find(OriginColumn::Session, text, alike.iter().map(String::as_str));
        found.is_ok_and(|found| found == Some(id))
    };
    let beginnings = (fewest..length(head)).map(|count| prefix(head, count));
    let whole_words = beginnings.filter(|text| text.ends_with(char::is_alphanumeric));
    let mut shortened = whole_words.map(|text| match number {
        Some(number) => format!("{text}:{number}"),
        None => text.to_owned(),
    });
    shortened.find(|text| means_it(text)).unwrap_or_else(|| id.to_owned())
}

/// `SESSION:3` is the third message of a session whose client numbers none: its number is told in full.
fn split(text: &str) -> (&str, Option<&str>) {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.rsplit_once(':') {
        Some((head, number)) if is_number(number) => (head, Some(number)),
        _ => (text, None),
    }
}

fn is_meant(typed: &str, id: &str) -> bool {
    match split(typed) {
        (head, _) if length(head) < SHORTEST_PREFIX => false,
        (head, None) => id.starts_with(head),
        (head, number) => {
            let (of_id, its_number) = split(id);
            number == its_number && of_id.starts_with(head)
        }
    }
}

fn fewest(head: &str) -> usize {
    let word = head.find('_').map_or(0, |end| length(&head[..=end]));
    if word < SHOWN { SHOWN.max(word + AFTER_WORD) } else { SHOWN }
}

fn prefix(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn ambiguous(column: OriginColumn, typed: &str, found: &[&str]) -> Error {
    let named: Vec<String> = found.iter().take(NAMED).map(|id| format!("`{}`", quote(id.as_bytes()))).collect();
    let more = match found.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" or {more} more"),
    };
    let (what, typed_shown) = (column.name(), quote(typed.as_bytes()));
    let message = format!("several {what}s begin with `{typed_shown}`: {}{more}", named.join(", "));
    Error::new(Code::RefAmbiguous, message)
        .with_hint("type more of the one you mean")
        .with_details(serde_json::json!({ "reference": typed, "candidates": found }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found<'a>(typed: &str, ids: &'a [&'a str]) -> Result<Option<&'a str>> {
        find(OriginColumn::Message, typed, ids.iter().copied())
    }

    #[test]
    fn the_same_id_wins_then_the_only_one_that_begins_so() {
        let ids = ["1c99f013-739a", "1c99f013-739a-45ac", "1c99aaaa", "toolu_66064587b69580", "m1", "m12"];
        assert_eq!(found("1c99f013-739a", &ids).unwrap(), Some("1c99f013-739a"));
        assert_eq!(found("1c99a", &ids).unwrap(), Some("1c99aaaa"));
        assert_eq!(found("toolu_66", &ids).unwrap(), Some("toolu_66064587b69580"));
        assert_eq!(found("m1", &ids).unwrap(), Some("m1"));
        assert_eq!(found("tool", &ids).unwrap(), Some("toolu_66064587b69580"));
        for nothing in ["", "1c9", "m", "too", "2f23", "f013"] {
            assert_eq!(found(nothing, &ids).unwrap(), None, "{nothing}");
        }
        let error = found("1c99", &ids).unwrap_err();
        assert_eq!(error.code(), Code::RefAmbiguous);
        assert_eq!(error.details()["candidates"].as_array().unwrap().len(), 3);
        assert!(error.message().contains("`1c99aaaa`"), "{error}");
    }

    #[test]
    fn a_numbered_message_is_told_by_its_session_and_the_whole_number() {
        let ids = ["c8f3d0b2-1111:1", "c8f3d0b2-1111:12", "c8aaaaaa-1111:2"];
        assert_eq!(found("c8f3:1", &ids).unwrap(), Some("c8f3d0b2-1111:1"));
        assert_eq!(found("c8f3:12", &ids).unwrap(), Some("c8f3d0b2-1111:12"));
        assert_eq!(found("c8aa", &ids).unwrap(), Some("c8aaaaaa-1111:2"));
        assert_eq!(found("c8f3d0b2-1111:2", &ids).unwrap(), None, "a number is not the start of another");
        assert!(found("c8f3", &ids).is_err());
    }

    #[test]
    fn short_ids_are_as_clients_and_people_make_them() {
        let mut ids: Vec<String> = [
            "1c99f013-739a-45ac-8acc-ba79c9858eb5",
            "0199f0c4-1a2b-7abc-8def-0123456789ab",
            "0199f0c4-1a2f-7abc-8def-0123456789ab",
            "toolu_66064587b69580",
            "toolu_01AbCdEfGh",
            "run_shell_command-54c9db28421df1b2",
            "c8f3d0b2-1111-4222-8333-944455556666:3",
            "s1",
            "msg_123",
        ]
        .map(str::to_owned)
        .to_vec();
        ids.sort();
        let shown: Vec<String> = ids.iter().map(|id| short(id, &ids)).collect();
        let expected = [
            "0199f0c4-1a2b",
            "0199f0c4-1a2f",
            "1c99f013",
            "c8f3d0b2:3",
            "msg_123",
            "run_shel",
            "s1",
            "toolu_01Ab",
            "toolu_6606",
        ];
        assert_eq!(shown, expected);
    }

    proptest! {
        #[test]
        fn what_is_shown_is_understood(ids in proptest::collection::btree_set("[ab_:1-]{1,3}[ab]{0,14}(:[0-9]{1,2})?|é{3,20}[a-c]", 1..30)) {
            let ids: Vec<String> = ids.into_iter().collect();
            for id in &ids {
                let shown = short(id, &ids);
                prop_assert!(shown.len() <= id.len());
                let meant = find(OriginColumn::Part, &shown, ids.iter().map(String::as_str));
                prop_assert_eq!(meant.unwrap(), Some(id.as_str()), "{}", shown);
            }
        }
    }
}

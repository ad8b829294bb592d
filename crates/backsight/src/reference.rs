//! How people and programs name a snapshot. Parsing is pure; looking it up is the workspace's business.

use backsight_core::{Code, Error, NextStep, Result, Seq};

use crate::short::SHORTEST_PREFIX;
use crate::timeline::OriginColumn;

/// A parsed reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// The files on disk.
    Now,
    /// `@`, `@~2`: so many before the latest.
    Latest { back: u64 },
    /// `#12` or `12`. Digits alone may also be the start of an id.
    Seq { seq: Seq, or_prefix: Option<String> },
    /// `session:ID` and the like.
    Origin { column: OriginColumn, value: String },
    /// The start of an id or tree.
    Prefix(String),
    /// The name of a milestone: `milestone:NAME`, or any text that means nothing else.
    Milestone(String),
}

pub(crate) fn parse(text: &str) -> Result<Reference> {
    let origins = [OriginColumn::Session, OriginColumn::Message, OriginColumn::Part];
    let origin =
        origins.into_iter().find_map(|column| Some((column, text.strip_prefix(column.name())?.strip_prefix(':')?)));
    if let Some((column, value)) = origin.filter(|(_, value)| !value.is_empty()) {
        return Ok(Reference::Origin { column, value: value.to_owned() });
    }
    if let Some(name) = text.strip_prefix("milestone:").filter(|name| !name.is_empty()) {
        return Ok(Reference::Milestone(name.to_owned()));
    }
    if text == "now" {
        return Ok(Reference::Now);
    }
    if let Some(rest) = text.strip_prefix('@') {
        return latest(text, rest);
    }
    if let Some(digits) = text.strip_prefix('#') {
        return match digits.parse() {
            // SQLite counts no further.
            Ok(seq) if i64::try_from(seq).is_err() => Err(unknown(text, "there is no such number")),
            Ok(seq) => Ok(Reference::Seq { seq: Seq(seq), or_prefix: None }),
            Err(_) => Err(unknown(text, "`#` is followed by a number")),
        };
    }
    let is_hex = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let prefix = (is_hex && text.len() >= SHORTEST_PREFIX).then(|| text.to_ascii_lowercase());
    match (text.parse(), prefix) {
        (Ok(seq), _) if i64::try_from(seq).is_err() && text.len() < 40 => Err(unknown(text, "there is no such number")),
        (Ok(seq), or_prefix) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok(Reference::Seq { seq: Seq(seq), or_prefix })
        }
        (_, Some(prefix)) => Ok(Reference::Prefix(prefix)),
        _ if text.trim().is_empty() => Err(unknown(text, "it is empty")),
        _ => Ok(Reference::Milestone(text.to_owned())),
    }
}

/// What a text means that can never be the name of a milestone; numbers and the first digits of ids can, since
/// `milestone:NAME` tells the two apart.
pub(crate) fn reserved(text: &str) -> Option<&'static str> {
    let starts = [
        ("session:", "a session"),
        ("message:", "a message"),
        ("part:", "a part of a message"),
        ("milestone:", "another milestone"),
        ("@", "counted from the latest snapshot"),
        ("#", "a number"),
    ];
    match text {
        "now" => Some("the files on disk"),
        _ => starts.iter().find(|(start, _)| text.starts_with(start)).map(|(_, meaning)| *meaning),
    }
}

fn latest(text: &str, rest: &str) -> Result<Reference> {
    let back = match rest {
        "" => Some(0),
        "~" => Some(1),
        _ => rest.strip_prefix('~').and_then(|digits| digits.parse().ok()),
    };
    if back.is_some_and(|back: u64| i64::try_from(back).is_err()) {
        return Err(unknown(text, "there are not that many"));
    }
    back.map(|back| Reference::Latest { back }).ok_or_else(|| unknown(text, "`@` is followed by nothing or `~N`"))
}

/// The error for a reference that names nothing.
pub(crate) fn unknown(text: &str, why: &str) -> Error {
    let shown = backsight_core::quote(text.as_bytes());
    Error::new(Code::RefNotFound, format!("no snapshot answers to `{shown}`: {why}"))
        .then("list snapshots", NextStep::SeeHistory { session: None, file: None })
        .or_hint("name one by number (`12`), id, tree, `@` (latest), `@~2`, `session:ID`, a milestone's name or `now`")
        .with_details(serde_json::json!({ "reference": text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_understood() {
        assert_eq!(parse("now").unwrap(), Reference::Now);
        assert_eq!(parse("@").unwrap(), Reference::Latest { back: 0 });
        assert_eq!(parse("@~").unwrap(), Reference::Latest { back: 1 });
        assert_eq!(parse("@~12").unwrap(), Reference::Latest { back: 12 });
        assert_eq!(parse("#7").unwrap(), Reference::Seq { seq: Seq(7), or_prefix: None });
        assert_eq!(parse("7").unwrap(), Reference::Seq { seq: Seq(7), or_prefix: None });
        assert_eq!(parse("1234").unwrap(), Reference::Seq { seq: Seq(1234), or_prefix: Some("1234".into()) });
        assert_eq!(parse("AbCd").unwrap(), Reference::Prefix("abcd".into()));
        assert_eq!(parse("abc").unwrap(), Reference::Milestone("abc".into()));
        assert_eq!(parse("Phase 1").unwrap(), Reference::Milestone("Phase 1".into()));
        assert_eq!(parse("milestone:beef").unwrap(), Reference::Milestone("beef".into()));
        assert_eq!(
            parse("session:a b").unwrap(),
            Reference::Origin { column: OriginColumn::Session, value: "a b".into() }
        );
    }

    #[test]
    fn nonsense_is_an_error_and_never_an_empty_answer() {
        for text in ["", " ", "#", "#x", "@2", "@~x"] {
            assert_eq!(parse(text).unwrap_err().code(), Code::RefNotFound, "{text:?}");
        }
    }
}

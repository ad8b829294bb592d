//! The token that stands for one plan: what a caller agrees to is what is done, or nothing is.
//!
//! A token is made of the plan alone, so nothing has to be kept between the dry run and the confirmation, which may come
//! to another process. Beside a hash over everything it carries a short mark for each path, so that a refusal can name
//! the paths that are not as they were.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use backsight_core::{Code, Error, RelPath, Result, Seq};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Plans of more paths carry no marks: a token has to be handed back by an agent, which pays for every letter of it.
const MOST_MARKS: usize = 16;
const PREFIX: &str = "plan-";

/// Stands for exactly one plan on exactly these contents. `plan-LATEST-HASH`, then eight digits for each path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlanToken {
    /// The latest snapshot when the plan was made.
    latest: Seq,
    /// Over everything the plan would do; the first 16 bits over what is asked for.
    whole: u64,
    /// Which path, and what would become of it; none for a plan of many paths.
    marks: Vec<(u16, u16)>,
}

/// What a plan comes to, as far as a token can tell plans apart.
pub(crate) struct Agreement {
    /// The latest snapshot.
    pub(crate) latest: Seq,
    /// What is done at all: the kind of step, its targets, which paths it is limited to.
    pub(crate) intent: String,
    /// What becomes of each path, from what to what.
    pub(crate) paths: BTreeMap<RelPath, String>,
}

impl Agreement {
    pub(crate) fn token(&self) -> PlanToken {
        let marks = self.paths.iter().map(|(path, fate)| (mark(path.as_bytes()), mark(fate.as_bytes())));
        PlanToken {
            latest: self.latest,
            whole: u64::from(mark(self.intent.as_bytes())) << 48
                | hash(format!("{} {:?}", self.intent, self.paths).as_bytes()) >> 16,
            marks: if self.paths.len() <= MOST_MARKS { marks.collect() } else { Vec::new() },
        }
    }

    /// Refuses unless this is the plan that `agreed` stands for. `candidates` are paths that the plan agreed to may have
    /// held, and `recorded` the snapshots since a number.
    pub(crate) fn check(
        &self,
        agreed: &PlanToken,
        candidates: &BTreeSet<RelPath>,
        recorded: impl FnOnce(Seq) -> Result<Vec<Seq>>,
    ) -> Result<()> {
        let token = self.token();
        // What was recorded since is no matter where the plan is the same all the same.
        if token.whole == agreed.whole {
            return Ok(());
        }
        let recorded = recorded(agreed.latest)?;
        // Of another plan nothing has changed. What a request comes to may be another when something was recorded.
        let is_of_another = token.whole >> 48 != agreed.whole >> 48 && recorded.is_empty();
        let changed = if is_of_another { Vec::new() } else { self.changed_since(agreed, candidates) };
        let mut news: Vec<String> = Vec::new();
        match changed.as_slice() {
            [] => {}
            [one] => news.push(format!("`{one}` is not as it was")),
            [first, rest @ ..] => news.push(format!("`{first}` and {} more are not as they were", rest.len())),
        }
        match recorded.as_slice() {
            [] => {}
            [one] => news.push(format!("{one} was recorded since")),
            [first, .., last] => news.push(format!("{first} to {last} were recorded since")),
        }
        if news.is_empty() {
            news.push(match is_of_another || !agreed.marks.is_empty() {
                true => "it was made for another request".to_owned(),
                false => "files of it changed since".to_owned(),
            });
        }
        let message = format!("this is not the plan you agreed to: {}; nothing was changed", news.join(", "));
        Err(Error::new(Code::StateMismatch, message)
            .with_hint("ask for the plan again and look at it")
            .with_details(serde_json::json!({ "changed": changed, "recorded": recorded, "plan": token })))
    }

    /// The paths that are in one of the two plans only, or in both with other fates.
    fn changed_since(&self, agreed: &PlanToken, candidates: &BTreeSet<RelPath>) -> Vec<RelPath> {
        if agreed.marks.is_empty() && !self.paths.is_empty() {
            return Vec::new();
        }
        let then: BTreeSet<(u16, u16)> = agreed.marks.iter().copied().collect();
        let differs =
            |(path, fate): &(&RelPath, &String)| !then.contains(&(mark(path.as_bytes()), mark(fate.as_bytes())));
        let mut changed: BTreeSet<RelPath> = self.paths.iter().filter(differs).map(|(path, _)| path.clone()).collect();
        let gone = |path: &&RelPath| {
            !self.paths.contains_key(*path) && then.iter().any(|(known, _)| *known == mark(path.as_bytes()))
        };
        changed.extend(candidates.iter().filter(gone).cloned());
        changed.into_iter().collect()
    }
}

fn hash(bytes: &[u8]) -> u64 {
    Sha256::digest(bytes).iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

fn mark(bytes: &[u8]) -> u16 {
    (hash(bytes) >> 48) as u16
}

impl fmt::Display for PlanToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}-{:016x}", self.latest.0, self.whole)?;
        self.marks.iter().try_for_each(|(path, fate)| write!(f, "{path:04x}{fate:04x}"))
    }
}

impl FromStr for PlanToken {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parse(text).ok_or_else(|| {
            Error::new(Code::Usage, format!("`{}` is not a plan's token", backsight_core::quote(text.as_bytes())))
                .with_hint("take the one that a dry run answers with")
        })
    }
}

fn parse(text: &str) -> Option<PlanToken> {
    let (latest, digits) = text.strip_prefix(PREFIX)?.split_once('-')?;
    let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_number = (1..=15).contains(&latest.len()) && latest.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || !is_hex(digits) || digits.len() > 16 + 8 * MOST_MARKS {
        return None;
    }
    let (whole, marks) = digits.split_at_checked(16)?;
    if marks.len() % 8 != 0 {
        return None;
    }
    let number = |digits: &str| u16::from_str_radix(digits, 16).ok();
    let pairs =
        (0..marks.len()).step_by(8).map(|at| Some((number(&marks[at..at + 4])?, number(&marks[at + 4..at + 8])?)));
    Some(PlanToken {
        latest: Seq(latest.parse().ok()?),
        whole: u64::from_str_radix(whole, 16).ok()?,
        marks: pairs.collect::<Option<_>>()?,
    })
}

impl TryFrom<String> for PlanToken {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<PlanToken> for String {
    fn from(token: PlanToken) -> String {
        token.to_string()
    }
}

impl JsonSchema for PlanToken {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PlanToken".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^plan-[0-9]{1,15}-[0-9a-f]{16}([0-9a-f]{8}){0,16}$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(paths: &[(&str, &str)]) -> Agreement {
        let paths = paths.iter().map(|(path, fate)| (path.parse().unwrap(), (*fate).to_owned())).collect();
        Agreement { latest: Seq(7), intent: "revert".to_owned(), paths }
    }

    fn refusal(then: &Agreement, now: &Agreement) -> String {
        let candidates: BTreeSet<RelPath> = then.paths.keys().cloned().collect();
        now.check(&then.token(), &candidates, |seq| Ok(vec![Seq(seq.0 + 1)])).unwrap_err().message().to_owned()
    }

    #[test]
    fn a_token_is_read_back_as_it_was_written() {
        for paths in [&[][..], &[("a", "1")], &[("a", "1"), ("b/c", "2")]] {
            let token = agreement(paths).token();
            assert_eq!(token.to_string().parse::<PlanToken>().unwrap(), token);
        }
        let right = agreement(&[("a", "1")]).token().to_string();
        for wrong in ["", "plan-", "plan-7", "plan--0000000000000000", "7-0000000000000000", "plan-7-000000000000000é"]
        {
            assert!(wrong.parse::<PlanToken>().is_err(), "{wrong}");
        }
        assert!(format!("{right}0").parse::<PlanToken>().is_err());
        assert!(right.to_uppercase().parse::<PlanToken>().is_err());
    }

    #[test]
    fn a_refusal_names_what_changed_what_came_and_what_went() {
        let then = agreement(&[("a", "1"), ("b", "1")]);
        let same = agreement(&[("a", "1"), ("b", "1")]);
        same.check(&then.token(), &BTreeSet::new(), |_| Ok(Vec::new())).unwrap();
        assert_eq!(
            refusal(&then, &agreement(&[("a", "1"), ("b", "2")])),
            "this is not the plan you agreed to: `b` is not as it was, #8 was recorded since; nothing was changed"
        );
        assert!(refusal(&then, &agreement(&[("b", "1")])).contains("`a` is not as it was"));
        assert!(refusal(&then, &agreement(&[("a", "1"), ("b", "1"), ("c", "1")])).contains("`c` is not as it was"));
    }

    #[test]
    fn a_token_of_another_plan_says_of_no_file_that_it_changed() {
        let then = agreement(&[("a", "1")]);
        let other = Agreement { intent: "restore".to_owned(), ..agreement(&[("a", "2")]) };
        let candidates: BTreeSet<RelPath> = then.paths.keys().cloned().collect();
        let refused = |now: &Agreement| now.check(&then.token(), &candidates, |_| Ok(Vec::new())).unwrap_err();
        let said = refused(&other);
        assert!(said.message().contains(": it was made for another request;"), "{said}");
        assert!(refused(&agreement(&[("a", "2")])).message().contains("`a` is not as it was"));
    }

    #[test]
    fn a_plan_of_many_paths_is_told_from_another_without_marks() {
        let many: Vec<(String, &str)> = (0..40).map(|number| (format!("f{number}"), "1")).collect();
        let of = |fate: &'static str| {
            let paths: Vec<(&str, &str)> = many.iter().map(|(path, _)| (path.as_str(), fate)).collect();
            agreement(&paths)
        };
        assert!(of("1").token().to_string().len() < 40);
        assert!(refusal(&of("1"), &of("2")).contains("#8 was recorded since"));
    }

    #[test]
    fn a_plan_for_another_request_is_not_the_one_agreed_to() {
        let then = agreement(&[("a", "1")]);
        let other = Agreement { intent: "restore".to_owned(), ..agreement(&[("a", "1")]) };
        let error = other.check(&then.token(), &BTreeSet::new(), |_| Ok(Vec::new())).unwrap_err();
        assert!(error.message().contains("it was made for another request"), "{}", error.message());
    }
}

//! Whether the app is well, in one word with reasons.

use backsight::browser::request::ReadAppHealth;
use backsight::browser::{Verdict, render};
use backsight_core::Result;
use serde_json::json;

use super::{Asking, Call, Group, Shown};
use crate::reply::{Draft, Next};

pub struct GetSessionHealth;

impl Asking for GetSessionHealth {
    const NAME: &'static str = "get_session_health";
    const TITLE: &'static str = "Is the app healthy";
    const DESCRIPTION: &'static str =
        "Health check of the app, page or frontend in one verdict: healthy (ok), degraded, broken or unknown, and why.";
    const GROUP: Group = Group::Browser;
    const SHOWN: &'static [Shown] = &[Shown::new("checkpoint").saying("default session_start, else start")];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("verdict", "string"),
        ("checkpoint", "string"),
        ("from", "string"),
        ("reasons", "array"),
        ("more_reasons", "integer"),
        ("gap", "array"),
        ("watching", "array"),
    ];
    type Request = ReadAppHealth;

    fn run(call: &Call<'_>, request: ReadAppHealth) -> Result<Draft> {
        let client = Some(call.client.to_owned());
        let health = call.workspace.perform(ReadAppHealth { client, ..request })?;
        let gap = health.gap.iter().map(|gap| match gap.to {
            Some(to) => format!("{} to {to}: {}", gap.from, render::safe(&gap.reason)),
            None => format!("since {}: {}", gap.from, render::safe(&gap.reason)),
        });
        let more = Next::whole("get_changes_since", json!({ "checkpoint": health.checkpoint }));
        let mut draft = Draft::new(format!("{}: {}", word(health.verdict), render::safe(&health.summary)))
            .untrusted()
            .fact("verdict", word(health.verdict))
            .fact("checkpoint", health.checkpoint.clone())
            .fact("from", health.from.to_string())
            .maybe("more_reasons", health.more_reasons);
        let lists = [
            ("reasons", safe(&health.reasons), Some(more)),
            ("gap", gap.collect(), None),
            ("watching", safe(&health.coverage.watching), None),
        ];
        for (name, items, more) in lists.into_iter().filter(|(_, items, _)| !items.is_empty()) {
            draft = draft.list(name, items, more);
        }
        Ok(draft)
    }
}

/// Texts of pages, each on one line.
fn safe(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| render::safe(text)).collect()
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Healthy => "healthy",
        Verdict::Degraded => "degraded",
        Verdict::Broken => "broken",
        Verdict::Unknown => "unknown",
    }
}

//! How an app behaves when it is well, kept under a name: what its endpoints answer and how fast, which errors are known,
//! which sockets are open. Comparing tells what deviates now.

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::endpoint;
use crate::event::Level;
use crate::known::Known;
use crate::report::{Coverage, Severity};
use crate::shape;
use crate::telemetry::Telemetry;
use crate::telemetry::network::{EndpointState, Known as Endpoint};

/// Deviations listed at most.
const CAP: usize = 50;
/// An endpoint is slow as in a diff.
const SLOWER: u32 = 3;
const SLOWER_BY: u32 = 100;

/// How an app behaves when it is well.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Baseline {
    /// Its name.
    pub name: String,
    /// When it was saved.
    pub created: Timestamp,
    /// The page at that time.
    #[serde(default)]
    pub page: Option<String>,
    /// Each endpoint.
    pub endpoints: BTreeMap<String, Expected>,
    /// Known errors and warnings, by fingerprint: what they say may be anybody's.
    #[serde(deserialize_with = "fingerprints")]
    pub messages: BTreeSet<u64>,
    /// Addresses with an open socket.
    pub sockets: BTreeSet<String>,
}

/// What an endpoint does when it is well.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Expected {
    /// Its latest status, whether that is a failure, and its median duration.
    #[serde(flatten)]
    pub state: EndpointState,
    /// Every status it answered with.
    pub statuses: BTreeSet<u16>,
    /// The shape of its answer, when that is JSON and was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
}

/// A baseline, as listed.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct BaselineEntry {
    /// Its name.
    pub name: String,
    /// When it was saved.
    pub created: Timestamp,
    /// How many endpoints it knows.
    pub endpoints: usize,
    /// How many errors and warnings are known in it.
    pub known_messages: usize,
    /// How many sockets it expects.
    pub sockets: usize,
    /// What was wrong when it was saved, in words: a comparison takes it as expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepts: Option<String>,
}

/// How an app differs from a baseline.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Comparison {
    /// The baseline.
    pub baseline: String,
    /// When it was saved.
    pub created: Timestamp,
    /// How bad it is.
    pub severity: Severity,
    /// In one line.
    pub summary: String,
    /// What differs, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<Deviation>,
    /// Deviations left out of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
    /// Endpoints of the baseline that were not requested in this run, so nothing is known of them.
    pub endpoints_not_seen: usize,
    /// What was wrong when the baseline was saved, in words, and so is taken as expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepts: Option<String>,
    /// Who watches.
    pub coverage: Coverage,
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Deviation {
    /// What kind.
    pub kind: DeviationKind,
    /// Of what: an endpoint, a message, a socket's address.
    pub subject: String,
    /// What the baseline says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub expected: String,
    /// What is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub actual: String,
}

/// In what way something can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviationKind {
    /// An error the baseline does not know.
    NewError,
    /// An endpoint fails that did not.
    Failing,
    /// An endpoint answers with another status, and does not fail.
    Status,
    /// The shape of an answer changed.
    Shape,
    /// An endpoint is much slower.
    Slower,
    /// A socket that should be open is not.
    SocketMissing,
    /// A warning the baseline does not know.
    NewWarning,
    /// An endpoint that failed succeeds now: better than the baseline.
    Improved,
}

/// Fingerprints, also from when what was said stood beside them.
fn fingerprints<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Alone(BTreeSet<u64>),
        WithTexts(BTreeMap<String, serde::de::IgnoredAny>),
    }
    let numbers = |texts: BTreeMap<String, _>| {
        texts.into_keys().map(|key| key.parse().map_err(serde::de::Error::custom)).collect()
    };
    match Written::deserialize(deserializer)? {
        Written::Alone(numbers) => Ok(numbers),
        Written::WithTexts(texts) => numbers(texts),
    }
}

impl DeviationKind {
    fn severity(self) -> Severity {
        match self {
            DeviationKind::NewError | DeviationKind::Failing => Severity::Error,
            DeviationKind::Improved => Severity::Clean,
            _ => Severity::Warning,
        }
    }

    fn words(self) -> &'static str {
        match self {
            DeviationKind::NewError => "new error(s)",
            DeviationKind::Failing => "failing endpoint(s)",
            DeviationKind::Status => "endpoint(s) with another status",
            DeviationKind::Shape => "changed answer(s)",
            DeviationKind::Slower => "slower endpoint(s)",
            DeviationKind::SocketMissing => "missing socket(s)",
            DeviationKind::NewWarning => "new warning(s)",
            DeviationKind::Improved => "endpoint(s) improved",
        }
    }
}

impl Baseline {
    /// How the app behaves now.
    pub fn now(name: &str, telemetry: &Telemetry, now: Timestamp) -> Baseline {
        let expected = |known: &Endpoint| Expected {
            state: known.state_now(),
            statuses: known.outcomes.iter().map(|counted| counted.outcome.status).collect(),
            shape: known.shape.clone(),
        };
        let seen = telemetry.endpoints.by_name().into_iter().filter(|(_, known)| known.noise.is_none());
        let said = telemetry.messages.iter().filter(|message| message.level >= Level::Warning);
        let open = telemetry.sockets.iter().filter(|address| address.open_now > 0 && address.noise.is_none());
        Baseline {
            name: name.to_owned(),
            created: now,
            page: telemetry.page().map(endpoint::template),
            endpoints: seen.map(|(name, known)| (name, expected(known))).collect(),
            messages: said.map(|message| message.key).collect(),
            sockets: open.map(|address| address.url.clone()).collect(),
        }
    }

    /// What it knows, to compare a window with.
    pub fn known(&self) -> Known {
        let endpoints = self.endpoints.iter().map(|(name, expected)| (name.clone(), expected.state));
        Known::of(endpoints, self.messages.iter().copied())
    }

    /// As listed.
    pub fn entry(&self) -> BaselineEntry {
        BaselineEntry {
            name: self.name.clone(),
            created: self.created,
            endpoints: self.endpoints.len(),
            known_messages: self.messages.len(),
            sockets: self.sockets.len(),
            accepts: self.accepts(),
        }
    }

    /// What was wrong when it was saved.
    fn accepts(&self) -> Option<String> {
        let said = |number: usize, one: &str, more: &str| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{number} {more}")),
        };
        let failing = self.endpoints.values().filter(|endpoint| endpoint.state.failing).count();
        let parts = [
            said(self.messages.len(), "error or warning", "errors and warnings"),
            said(failing, "failing endpoint", "failing endpoints"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" and "))
    }

    /// What deviates from it now.
    pub fn compare(&self, telemetry: &Telemetry, coverage: Coverage) -> Comparison {
        let mut deviations = self.new_messages(telemetry);
        let mut seen = 0;
        for (name, known) in telemetry.endpoints.by_name().into_iter().filter(|(_, known)| known.noise.is_none()) {
            match self.endpoints.get(&name) {
                Some(expected) => {
                    seen += 1;
                    deviations.extend(expected.deviations(&name, known));
                }
                None if known.state.now().failing => {
                    let actual = known.state.now().status.to_string();
                    let expected = "not in the baseline".to_owned();
                    deviations.push(Deviation { kind: DeviationKind::Failing, subject: name, expected, actual });
                }
                None => {}
            }
        }
        deviations.extend(self.missing_sockets(telemetry));
        deviations.sort_by(|one, other| (one.kind, &one.subject).cmp(&(other.kind, &other.subject)));
        let worst = deviations.iter().map(|deviation| deviation.kind.severity()).max();
        let not_seen = self.endpoints.len() - seen;
        let nothing = if coverage.attached && not_seen == 0 { Severity::Clean } else { Severity::Unknown };
        let summary = summary(&deviations, &coverage, not_seen);
        let omitted = Some(deviations.len().saturating_sub(CAP)).filter(|cut| *cut > 0);
        deviations.truncate(CAP);
        Comparison {
            baseline: self.name.clone(),
            created: self.created,
            severity: worst.unwrap_or(Severity::Clean).max(nothing),
            summary,
            deviations,
            omitted,
            endpoints_not_seen: not_seen,
            accepts: self.accepts(),
            coverage,
        }
    }

    fn new_messages(&self, telemetry: &Telemetry) -> Vec<Deviation> {
        let said = telemetry.messages.iter().filter(|message| message.level >= Level::Warning);
        let new = said.filter(|message| message.noise.is_none() && !self.messages.contains(&message.key));
        let deviation = |message: &crate::telemetry::console::Message| Deviation {
            kind: match message.level {
                Level::Error => DeviationKind::NewError,
                _ => DeviationKind::NewWarning,
            },
            subject: message.said().to_owned(),
            expected: String::new(),
            actual: format!("{} time(s)", message.count.now()),
        };
        new.map(deviation).collect()
    }

    fn missing_sockets(&self, telemetry: &Telemetry) -> Vec<Deviation> {
        let open: BTreeSet<&str> = telemetry
            .sockets
            .iter()
            .filter(|address| address.open_now > 0)
            .map(|address| address.url.as_str())
            .collect();
        let missing = self.sockets.iter().filter(|url| !open.contains(url.as_str()));
        let deviation = |url: &String| Deviation {
            kind: DeviationKind::SocketMissing,
            subject: url.clone(),
            expected: "open".to_owned(),
            actual: "not open".to_owned(),
        };
        missing.map(deviation).collect()
    }
}

impl Expected {
    fn deviations(&self, name: &str, known: &Endpoint) -> Vec<Deviation> {
        let now = known.state_now();
        let mut deviations = Vec::new();
        let mut add = |kind, expected: String, actual: String| {
            deviations.push(Deviation { kind, subject: name.to_owned(), expected, actual });
        };
        let statuses = || self.statuses.iter().map(u16::to_string).collect::<Vec<String>>().join(", ");
        if self.state.failing && !now.failing {
            add(DeviationKind::Improved, self.state.status.to_string(), now.status.to_string());
        } else if !self.statuses.contains(&now.status) {
            let kind = if now.failing { DeviationKind::Failing } else { DeviationKind::Status };
            add(kind, statuses(), now.status.to_string());
        } else if now.failing && !self.state.failing {
            add(DeviationKind::Failing, self.state.status.to_string(), now.status.to_string());
        }
        if let (Some(before), Some(since)) = (self.state.median_ms, now.median_ms)
            && since > before.saturating_mul(SLOWER)
            && since - before >= SLOWER_BY
        {
            add(DeviationKind::Slower, format!("{before} ms"), format!("{since} ms"));
        }
        if let (Some(before), Some(after)) = (&self.shape, &known.shape)
            && before != after
        {
            add(DeviationKind::Shape, String::new(), shape::differences(before, after).join("; "));
        }
        deviations
    }
}

fn summary(deviations: &[Deviation], coverage: &Coverage, not_seen: usize) -> String {
    let mut counts: BTreeMap<DeviationKind, usize> = BTreeMap::new();
    for deviation in deviations {
        *counts.entry(deviation.kind).or_insert(0) += 1;
    }
    let parts: Vec<String> = counts.iter().map(|(kind, count)| format!("{count} {}", kind.words())).collect();
    let is_worse = counts.keys().any(|kind| kind.severity() > Severity::Clean);
    match (parts.is_empty(), coverage.attached) {
        (false, attached) if !is_worse && (!attached || not_seen > 0) => {
            let doubt = if attached {
                format!("{not_seen} endpoint(s) of the baseline were not requested")
            } else {
                "nothing is attached now".to_owned()
            };
            format!("{}, but {doubt}", parts.join(", "))
        }
        (true, true) if not_seen > 0 => {
            format!("No deviation seen, but {not_seen} endpoint(s) of the baseline were not requested")
        }
        (true, true) => "As in the baseline.".to_owned(),
        (true, false) => "No deviation seen, but nothing is attached now".to_owned(),
        (false, _) => parts.join(", "),
    }
}

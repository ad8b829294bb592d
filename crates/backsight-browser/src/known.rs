//! What was known of an app at some moment, also in an earlier run. It is kept with every named checkpoint, so it is small:
//! endpoints and messages are numbers, and on disk each is a word.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::event::Level;
use crate::hash;
use crate::telemetry::Telemetry;
use crate::telemetry::network::EndpointState;

/// What was known of an app.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// Each endpoint by the number of its name, in their order.
    endpoints: Vec<(u64, EndpointState)>,
    /// The fingerprints of errors and warnings, in their order.
    messages: Vec<u64>,
}

impl Known {
    /// What is known now.
    pub fn now(telemetry: &Telemetry) -> Known {
        let endpoints = telemetry.endpoints.by_name().into_iter();
        let messages = telemetry.messages.iter().filter(|message| message.level >= Level::Warning);
        Known::of(endpoints.map(|(name, known)| (name, known.state_now())), messages.map(|message| message.key))
    }

    /// These endpoints and messages.
    pub fn of(endpoints: impl Iterator<Item = (String, EndpointState)>, messages: impl Iterator<Item = u64>) -> Known {
        let endpoints = endpoints.map(|(name, state)| (hash::hash([name.as_str()]), state));
        Known::sorted(endpoints.collect(), messages.collect())
    }

    fn sorted(mut endpoints: Vec<(u64, EndpointState)>, mut messages: Vec<u64>) -> Known {
        endpoints.sort_by_key(|(number, _)| *number);
        endpoints.shrink_to_fit();
        messages.sort_unstable();
        messages.shrink_to_fit();
        Known { endpoints, messages }
    }

    /// What was known of an endpoint, `GET http://localhost:3000/api/users/{id}`.
    pub(crate) fn endpoint(&self, name: &str) -> Option<EndpointState> {
        let number = hash::hash([name]);
        let place = self.endpoints.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.endpoints.get(place).map(|(_, state)| *state)
    }

    /// Whether an error or warning had been said.
    pub(crate) fn has_said(&self, message: u64) -> bool {
        self.messages.binary_search(&message).is_ok()
    }

    /// How many bytes it takes in memory.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        self.endpoints.capacity() * size_of::<(u64, EndpointState)>() + self.messages.capacity() * size_of::<u64>()
    }
}

/// As it is kept, and as it was kept at first.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Words(Kept),
    Names { endpoints: BTreeMap<String, EndpointState>, messages: Vec<u64> },
}

/// As it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// `number:status:requests[:median[!cause]]` for each endpoint, `!` for one that fails, hexadecimal, with blanks between.
    endpoints: String,
    /// Hexadecimal, with blanks between.
    messages: String,
}

impl Serialize for Known {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut endpoints = String::new();
        for (number, state) in &self.endpoints {
            let EndpointState { status, failing, cause, count, median_ms } = *state;
            let median = median_ms.map(|median| format!(":{median:x}")).unwrap_or_default();
            let failing = if failing { format!("!{cause:x}") } else { String::new() };
            let _ = write!(endpoints, "{number:x}:{status:x}:{count:x}{median}{failing} ");
        }
        let messages = self.messages.iter().map(|message| format!("{message:x}")).collect::<Vec<String>>().join(" ");
        Kept { endpoints: endpoints.trim_end().to_owned(), messages }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Known {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let kept = match Stored::deserialize(deserializer)? {
            Stored::Words(kept) => kept,
            Stored::Names { endpoints, messages } => return Ok(Known::of(endpoints.into_iter(), messages.into_iter())),
        };
        let endpoints = kept.endpoints.split_ascii_whitespace().map(endpoint).collect::<Option<Vec<_>>>();
        let messages = kept.messages.split_ascii_whitespace().map(|word| u64::from_str_radix(word, 16).ok());
        match (endpoints, messages.collect::<Option<Vec<u64>>>()) {
            (Some(endpoints), Some(messages)) => Ok(Known::sorted(endpoints, messages)),
            _ => Err(D::Error::custom("what was known of the app cannot be read")),
        }
    }
}

fn endpoint(word: &str) -> Option<(u64, EndpointState)> {
    let (known, cause) = word.split_once('!').map_or((word, None), |(known, cause)| (known, Some(cause)));
    let mut parts = known.split(':').map(|part| u64::from_str_radix(part, 16).ok());
    let (number, status, count) = (parts.next()??, parts.next()??, parts.next()??);
    let median_ms = match parts.next() {
        Some(median) => Some(u32::try_from(median?).ok()?),
        None => None,
    };
    let failing = cause.is_some();
    let cause = u32::from_str_radix(cause.unwrap_or("0"), 16).ok()?;
    Some((number, EndpointState { status: u16::try_from(status).ok()?, failing, cause, count, median_ms }))
}

impl JsonSchema for Known {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Known".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An app with 100 endpoints and 40 messages, and real figures in them.
    fn app() -> Known {
        let state = |number: u16| EndpointState {
            status: if number.is_multiple_of(10) { 500 } else { 200 },
            failing: number.is_multiple_of(10),
            cause: if number.is_multiple_of(10) { 0x9abc_def0 } else { 0 },
            count: u64::from(number) * 7,
            median_ms: (!number.is_multiple_of(3)).then_some(u32::from(number) * 11),
        };
        let endpoints =
            (1..=100).map(|number| (format!("GET http://localhost:3000/api/resource_{number}/{{id}}"), state(number)));
        Known::of(endpoints, (0..40).map(|number: u64| (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    #[test]
    fn twenty_checkpoints_of_a_large_app_take_less_than_100_kilobytes() {
        let known = app();
        let on_disk = serde_json::to_string(&known).unwrap().len();
        // What else a checkpoint holds: its name, times, verdict, summary and page.
        let beside = 600;
        assert!(20 * (on_disk + beside) < 100_000, "{on_disk} bytes on disk");
        assert!(20 * (known.bytes() + beside) < 100_000, "{} bytes in memory", known.bytes());
    }

    #[test]
    fn what_is_kept_is_what_was_known() {
        let known = app();
        let kept = serde_json::to_value(&known).unwrap();
        assert_eq!(serde_json::from_value::<Known>(kept).unwrap(), known);
        assert_eq!(
            known.endpoint("GET http://localhost:3000/api/resource_10/{id}").map(|state| state.status),
            Some(500)
        );
        assert_eq!(known.endpoint("GET http://localhost:3000/api/other"), None);
        let names = serde_json::json!({ "endpoints": { "GET /a": { "status": 404, "failing": true, "count": 3 } }, "messages": [7] });
        let names = serde_json::from_value::<Known>(names).unwrap();
        assert_eq!((names.endpoint("GET /a").map(|state| state.status), names.has_said(7)), (Some(404), true));
        let damaged = serde_json::json!({ "endpoints": "zz:1", "messages": "" });
        assert!(serde_json::from_value::<Known>(damaged).is_err());
    }
}

//! Points in time as numbers. Whoever needs "now" is given it.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Milliseconds since the Unix epoch; on the wire an RFC 3339 text in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// From the system's type.
    pub fn from_system(time: SystemTime) -> Self {
        let millis = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()),
            Err(before) => i64::try_from(before.duration().as_millis()).map(|millis| -millis),
        };
        Timestamp(millis.unwrap_or(i64::MAX))
    }

    /// The point `duration` later.
    pub fn after(self, duration: Duration) -> Self {
        Timestamp(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The point `duration` earlier.
    pub fn before(self, duration: Duration) -> Self {
        Timestamp(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(f, "{time:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let time: jiff::Timestamp = text.parse().map_err(|error: jiff::Error| error.to_string())?;
        Ok(Timestamp(time.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = |error| {
            let shown = crate::quote(text.as_bytes());
            serde::de::Error::custom(format!("`{shown}` is no time: {error}; write it as 2026-01-31T12:00:00Z"))
        };
        text.parse().map_err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_form_is_rfc_3339_and_reads_back() {
        let time = Timestamp(1_763_000_000_123);
        assert_eq!(time.to_string(), "2025-11-13T02:13:20.123Z");
        assert_eq!("2025-11-13T02:13:20.123Z".parse(), Ok(time));
        assert!("yesterday".parse::<Timestamp>().is_err());
    }
}

//! Ids that cannot be confused with one another.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The id of a Git object: the SHA-1 of its header and content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId([u8; 20]);

impl ObjectId {
    /// From the raw digest.
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        ObjectId(bytes)
    }

    /// From a slice of exactly twenty bytes.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(ObjectId)
    }

    /// From forty lower- or upper-case hex digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        if hex.len() != 40 || !hex.is_ascii() {
            return None;
        }
        let mut bytes = [0; 20];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(ObjectId(bytes))
    }

    /// The raw digest.
    pub fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// The first ten hex digits: enough for a person.
    pub fn short(&self) -> String {
        let mut hex = self.to_string();
        hex.truncate(10);
        hex
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ObjectId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        ObjectId::from_hex(text).ok_or("an object id is 40 hex digits")
    }
}

impl Serialize for ObjectId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ObjectId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The position of a row in a workspace's timeline: the only order there is, never reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// The id of a snapshot: sixteen random hex digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SnapshotId(String);

impl SnapshotId {
    /// From the randomness the caller drew.
    pub fn from_random(random: u64) -> Self {
        SnapshotId(format!("{random:016x}"))
    }

    /// From text that was stored earlier; none when it is no id.
    pub fn from_stored(text: &str) -> Option<Self> {
        let is_id = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_id.then(|| SnapshotId(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trips_and_nonsense_is_refused() {
        let hex = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        assert_eq!(ObjectId::from_hex(hex).unwrap().to_string(), hex);
        assert_eq!(ObjectId::from_hex("4b825d"), None);
        assert_eq!(ObjectId::from_hex("zb825dc642cb6eb9a060e54bf8d69288fbee4904"), None);
        assert_eq!(ObjectId::from_hex("+b825dc642cb6eb9a060e54bf8d69288fbee490"), None);
    }
}

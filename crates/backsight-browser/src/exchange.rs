//! What a request and its answer carried beside their bodies: heads, timing, who asked. Only a browser's protocol tells it;
//! it is cut here to sizes that many requests can have, and redacted with the event it goes with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::event::Frame;

/// Headers of one head.
const HEADERS: usize = 64;
/// Bytes of a header's name, and of its value.
const NAME: usize = 128;
const VALUE: usize = 1 << 10;
/// Bytes of all headers of one head.
const HEAD: usize = 8 << 10;

/// What went with a request and its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// As sent.
    pub request: Head,
    /// As it came back.
    pub response: Head,
    /// The words after the status.
    pub status_text: String,
    /// `http/1.1`, `h2`.
    pub protocol: String,
    /// Whom it was sent to: `127.0.0.1:8080`.
    pub remote: String,
    /// What the answer's body is.
    pub mime_type: String,
    /// Bytes of the answer on the wire, head and body.
    pub transferred: Option<u64>,
    /// How its time was spent.
    pub timing: Option<Timing>,
    /// Who asked: `script`, `parser`, `preload`, ...
    pub initiator: String,
    /// Where in the code it was asked, innermost first.
    pub stack: Vec<Frame>,
    /// `cache` or `service worker`, when the answer did not come from the network.
    pub served_by: Option<&'static str>,
}

/// The headers of a request or an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// In the order in which they came.
    pub headers: Vec<Header>,
    /// How many more there were, or how many lost part of their value.
    pub cut: u64,
}

/// One header.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Header {
    /// In small letters.
    pub name: String,
    /// Without its secrets.
    pub value: String,
}

/// How the time of a request was spent, in milliseconds; absent phases did not happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Timing {
    /// Waiting for a connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<f64>,
    /// Looking up the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns: Option<f64>,
    /// Connecting, TLS included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect: Option<f64>,
    /// The TLS part of connecting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<f64>,
    /// Sending.
    pub send: f64,
    /// Waiting for the answer's head.
    pub wait: f64,
}

impl Head {
    /// Of headers as they come: names in any case, values of any length. A value with several lines is several headers.
    pub fn of(headers: impl IntoIterator<Item = (String, String)>) -> Head {
        let mut head = Head::default();
        let mut room = HEAD;
        for (name, values) in headers {
            for value in values.split('\n') {
                let size = name.len() + value.len();
                if head.headers.len() == HEADERS || name.len() > NAME || room == 0 {
                    head.cut += 1;
                    continue;
                }
                let kept = bounds::prefix(value, VALUE.min(room));
                head.cut += u64::from(kept.len() < value.len());
                room = room.saturating_sub(size);
                head.headers.push(Header { name: name.to_ascii_lowercase(), value: kept.to_owned() });
            }
        }
        head
    }

    /// The value of a header.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.name == name).map(|header| header.value.as_str())
    }

    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        self.headers.iter().map(|header| header.name.len() + header.value.len() + 48).sum()
    }
}

impl Exchange {
    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        let frames: usize = self.stack.iter().map(|frame| frame.file.len() + frame.function.len() + 64).sum();
        self.request.size() + self.response.size() + frames + 256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_cut_to_size_and_says_so() {
        let long = (0..100).map(|number| (format!("X-{number}"), "v".repeat(500)));
        let head = Head::of(long);
        assert!(head.headers.len() < 64 && head.size() < HEAD + 4096, "{}", head.size());
        assert_eq!(head.headers.len() as u64 + head.cut, 100 + 1, "the last one is there in part");
        let head = Head::of([("Set-Cookie".to_owned(), "a=1\nb=2".to_owned())]);
        assert_eq!((head.headers.len(), head.cut, head.get("set-cookie")), (2, 0, Some("a=1")));
    }
}

//! What requests and answers carried beside their bodies, by the request's id: headers, timing, who asked. Messages come in
//! any order; what the network process saw (`...ExtraInfo`) is the truth where it comes, since it knows cookies too.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::read;
use super::wire::{StackTrace, shortened};
use crate::exchange::{Exchange, Head, Timing};

/// As many requests are followed at once.
const MAX: usize = 2_000;
/// Bytes of a word: a protocol, a type.
const WORD: usize = 100;
/// Frames of the code that asked.
const FRAMES: usize = 8;

/// The heads of requests that are not told yet.
#[derive(Debug, Default)]
pub struct Heads {
    hops: HashMap<String, Hops>,
    order: VecDeque<String>,
}

/// The hops of one request: each redirect is one.
#[derive(Debug, Default)]
struct Hops {
    now: Hop,
    /// The one that was over last.
    before: Option<Exchange>,
    /// Heads of the network process that belong to the next hop.
    early: Option<Head>,
}

#[derive(Debug, Default)]
struct Hop {
    exchange: Exchange,
    is_sent: bool,
    has_sent_extra: bool,
    has_received_extra: bool,
}

/// Headers as an object whose values are mostly texts.
#[derive(Default)]
struct Headers(Head);

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let headers = serde_json::Map::deserialize(deserializer)?;
        Ok(Headers(Head::of(headers.into_iter().map(|(name, value)| match value {
            Value::String(value) => (name, value),
            other => (name, other.to_string()),
        }))))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sent<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(default)]
    request: SentHead,
    #[serde(borrow)]
    redirect_response: Option<Answer<'a>>,
    #[serde(default, borrow)]
    initiator: Initiator<'a>,
}

#[derive(Deserialize, Default)]
struct SentHead {
    #[serde(default)]
    headers: Headers,
}

#[derive(Deserialize, Default)]
struct Initiator<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    stack: StackTrace<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Received<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(borrow)]
    response: Answer<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extra<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(default)]
    headers: Headers,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Finished<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(default)]
    encoded_data_length: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(default, borrow)]
    status_text: Cow<'a, str>,
    #[serde(default)]
    headers: Headers,
    #[serde(default, borrow)]
    mime_type: Cow<'a, str>,
    #[serde(default, borrow)]
    protocol: Cow<'a, str>,
    #[serde(default, borrow, rename = "remoteIPAddress")]
    remote_ip: Cow<'a, str>,
    remote_port: Option<u32>,
    timing: Option<Times>,
    #[serde(default)]
    from_disk_cache: bool,
    #[serde(default)]
    from_service_worker: bool,
}

/// A `Network.ResourceTiming`: milliseconds after the request began, below 0 for what did not happen.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Times {
    dns_start: f64,
    dns_end: f64,
    connect_start: f64,
    connect_end: f64,
    ssl_start: f64,
    ssl_end: f64,
    send_start: f64,
    send_end: f64,
    receive_headers_end: f64,
}

impl Heads {
    /// Takes note of what a message of the `Network` domain says about heads; most say nothing.
    pub fn hear(&mut self, name: &str, params: &RawValue) {
        match name {
            "requestWillBeSent" => self.sent(read(params)),
            "requestWillBeSentExtraInfo" => self.sent_extra(read(params)),
            "responseReceived" => self.received(read(params)),
            "responseReceivedExtraInfo" => self.received_extra(read(params)),
            "loadingFinished" => self.finished(read(params)),
            _ => {}
        }
    }

    /// What is known of a request that is over.
    pub fn take(&mut self, id: &str) -> Option<Box<Exchange>> {
        let hops = self.hops.remove(id)?;
        self.order.retain(|other| other != id);
        Some(Box::new(hops.now.exchange))
    }

    /// What is known of the hop that a redirect ended.
    pub fn take_redirected(&mut self, id: &str) -> Option<Box<Exchange>> {
        self.hops.get_mut(id)?.before.take().map(Box::new)
    }

    fn sent(&mut self, sent: Option<Sent<'_>>) {
        let Some(sent) = sent else { return };
        let hops = self.of(&sent.request_id);
        if let Some(redirect) = sent.redirect_response {
            let mut over = std::mem::take(&mut hops.now);
            over.answered(redirect);
            hops.before = Some(over.exchange);
        }
        let hop = &mut hops.now;
        if let Some(early) = hops.early.take() {
            hop.exchange.request = early;
            hop.has_sent_extra = true;
        }
        if !hop.has_sent_extra {
            hop.exchange.request = sent.request.headers.0;
        }
        hop.is_sent = true;
        hop.exchange.initiator = shortened(&sent.initiator.kind, WORD);
        hop.exchange.stack = sent.initiator.stack.frames();
        hop.exchange.stack.truncate(FRAMES);
    }

    fn sent_extra(&mut self, extra: Option<Extra<'_>>) {
        let Some(extra) = extra else { return };
        let hops = self.of(&extra.request_id);
        match hops.now.is_sent && !hops.now.has_sent_extra {
            true => {
                hops.now.exchange.request = extra.headers.0;
                hops.now.has_sent_extra = true;
            }
            false => hops.early = Some(extra.headers.0),
        }
    }

    fn received(&mut self, received: Option<Received<'_>>) {
        if let Some(received) = received {
            self.of(&received.request_id).now.answered(received.response);
        }
    }

    fn received_extra(&mut self, extra: Option<Extra<'_>>) {
        let Some(extra) = extra else { return };
        let hop = &mut self.of(&extra.request_id).now;
        hop.exchange.response = extra.headers.0;
        hop.has_received_extra = true;
    }

    fn finished(&mut self, finished: Option<Finished<'_>>) {
        if let Some(finished) = finished {
            let transferred = Some(finished.encoded_data_length).filter(|bytes| *bytes >= 0.0);
            self.of(&finished.request_id).now.exchange.transferred = transferred.map(|bytes| bytes as u64);
        }
    }

    fn of(&mut self, id: &str) -> &mut Hops {
        if !self.hops.contains_key(id) {
            self.order.push_back(id.to_owned());
            if self.order.len() > MAX
                && let Some(oldest) = self.order.pop_front()
            {
                self.hops.remove(&oldest);
            }
        }
        self.hops.entry(id.to_owned()).or_default()
    }
}

impl Hop {
    fn answered(&mut self, answer: Answer<'_>) {
        let exchange = &mut self.exchange;
        exchange.status_text = shortened(&answer.status_text, WORD);
        exchange.mime_type = shortened(&answer.mime_type, WORD);
        exchange.protocol = shortened(&answer.protocol, WORD);
        exchange.remote = match (answer.remote_ip.is_empty(), answer.remote_port) {
            (true, _) => String::new(),
            (false, Some(port)) if answer.remote_ip.contains(':') => format!("[{}]:{port}", bare(&answer.remote_ip)),
            (false, Some(port)) => format!("{}:{port}", shortened(&answer.remote_ip, WORD)),
            (false, None) => shortened(&answer.remote_ip, WORD),
        };
        exchange.timing = answer.timing.map(|times| times.spent());
        exchange.served_by = match (answer.from_service_worker, answer.from_disk_cache) {
            (true, _) => Some("service worker"),
            (false, true) => Some("cache"),
            (false, false) => None,
        };
        if !self.has_received_extra {
            exchange.response = answer.headers.0;
        }
    }
}

/// An IPv6 address without the brackets that browsers put around it.
fn bare(address: &str) -> String {
    shortened(address.trim_matches(['[', ']']), WORD)
}

impl Times {
    fn spent(&self) -> Timing {
        let phase = |start: f64, end: f64| (start >= 0.0 && end >= start).then(|| rounded(end - start));
        let began = [self.dns_start, self.connect_start, self.send_start];
        let blocked = began.into_iter().find(|start| *start >= 0.0).filter(|start| *start > 0.0);
        Timing {
            blocked: blocked.map(rounded),
            dns: phase(self.dns_start, self.dns_end),
            connect: phase(self.connect_start, self.connect_end),
            tls: phase(self.ssl_start, self.ssl_end),
            send: phase(self.send_start, self.send_end).unwrap_or(0.0),
            wait: phase(self.send_end, self.receive_headers_end).unwrap_or(0.0),
        }
    }
}

/// Microseconds are what the clock has.
fn rounded(milliseconds: f64) -> f64 {
    (milliseconds * 1_000.0).round() / 1_000.0
}

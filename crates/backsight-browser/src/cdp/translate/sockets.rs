//! The life of WebSockets (and WebTransports). The protocol never says with what code a socket closed; the page script does
//! (see `sockets.js`), a little before or after, so a closing waits a moment for it. What the page itself closed is no
//! error: React's StrictMode closes each socket before it is connected and opens another.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use backsight_core::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::wire::{StackTrace, address, cut, shortened};
use super::{Context, Told};
use crate::event::{Event, Side, Socket, SocketEvent};
use crate::noise::{Opener, Tool};
use crate::signs;
use crate::under_way::{AskedFor, Phase, UnderWay};

/// How long a closing waits for its code.
const GRACE_MS: i64 = 250;
/// How long a code waits for its closing.
const REPORT_MS: i64 = 1_000;
/// As many connections are followed; the oldest go first and are counted.
const MAX_OPEN: usize = 2_000;
/// Bytes of the reason for a closing; the protocol itself allows 123.
const MAX_REASON: usize = 1_000;
/// As many failed connections are remembered for folding what the console says about them.
const MAX_FAILED: usize = 64;

/// What Chromium calls it when a page closes a socket that is not connected yet.
const CLOSED_EARLY: &str = "WebSocket is closed before the connection is established";

/// Whether the browser only says that the page itself closed a socket before it was connected.
pub fn is_closed_early(text: &str) -> bool {
    text.contains(CLOSED_EARLY)
}

/// The sockets of a connection.
#[derive(Debug, Default)]
pub struct Sockets {
    open: HashMap<String, Connection>,
    order: VecDeque<String>,
    /// Which of them are closed and wait for their codes.
    closing: HashSet<String>,
    /// Told by the page script, not yet by the protocol.
    reports: VecDeque<(Report, String, Timestamp)>,
    /// Told by the protocol as never connected; the page script will say so too.
    refused: VecDeque<(String, String, Timestamp)>,
    /// Addresses that could not be connected.
    failed: VecDeque<String>,
    /// Tools' connections that a document lost; they are nobody's loss once the document is gone.
    lost: VecDeque<(String, Connection)>,
    /// Whether other sockets are connecting than when it was last asked.
    changed: bool,
}

#[derive(Debug)]
struct Connection {
    session: String,
    url: String,
    tool: Option<Tool>,
    since: Timestamp,
    connected: bool,
    failed: bool,
    /// The protocol's seconds and the wall's milliseconds at the same moment.
    anchor: Option<(f64, f64)>,
    closed: Option<(Timestamp, Timestamp)>,
    page: Option<String>,
}

/// What the page script says.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum FromPage {
    /// A socket closed.
    Socket(Report),
    /// The page closed an event stream with this address.
    Stream { stream: String },
}

/// What the page script says about a socket that closed.
#[derive(Clone, Debug, Deserialize)]
pub struct Report {
    url: String,
    code: u16,
    #[serde(default)]
    reason: String,
    /// Whether the page closed it; a script of an earlier version does not say.
    by_page: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SocketMessage<'a> {
    #[serde(alias = "transportId")]
    request_id: String,
    #[serde(default, borrow)]
    url: Cow<'a, str>,
    #[serde(default)]
    timestamp: f64,
    wall_time: Option<f64>,
    #[serde(borrow)]
    response: Option<SocketFrame<'a>>,
    #[serde(default, borrow)]
    error_message: Cow<'a, str>,
    #[serde(borrow)]
    initiator: Option<Initiator<'a>>,
    request: Option<Handshake>,
}

/// Who opened a socket.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Initiator<'a> {
    #[serde(borrow)]
    stack: Option<StackTrace<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Handshake {
    headers: HashMap<String, Value>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct SocketFrame<'a> {
    opcode: f64,
    #[serde(borrow)]
    payload_data: Cow<'a, str>,
}

impl Sockets {
    /// Any of the `Network.webSocket...` and `Network.webTransport...` events.
    pub fn heard(&mut self, context: &mut Context<'_>, method: &str, message: SocketMessage<'_>) {
        let id = message.request_id.clone();
        let was = self.is_connecting(&id);
        self.hear(context, method, message);
        self.changed |= was != self.is_connecting(&id);
    }

    fn is_connecting(&self, id: &str) -> bool {
        self.open.get(id).is_some_and(Connection::is_connecting)
    }

    /// The sockets that are asked for and not connected, as requests without an answer.
    pub fn under_way(&self) -> impl Iterator<Item = UnderWay> {
        self.open.values().filter(|connection| connection.is_connecting()).map(Connection::under_way)
    }

    /// Whether others are connecting than when it was last asked.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    fn hear(&mut self, context: &mut Context<'_>, method: &str, message: SocketMessage<'_>) {
        let id = message.request_id.clone();
        self.know(context, &message);
        let Some(connection) = self.open.get_mut(&id) else { return };
        if let Some(wall) = message.wall_time {
            connection.anchor = Some((message.timestamp, wall * 1_000.0));
        }
        let time = connection.time(message.timestamp, context.now);
        match method {
            "Network.webSocketHandshakeResponseReceived" | "Network.webTransportConnectionEstablished" => {
                connection.connected = true;
                context.tell(connection.event(&id, time, SocketEvent::Open));
            }
            "Network.webSocketFrameSent" | "Network.webSocketFrameReceived" => {
                let frame = message.response.unwrap_or_default();
                // Data frames only: pings and pongs say nothing about the app.
                if (0.0..3.0).contains(&frame.opcode) {
                    connection.connected = true;
                    let sent = method.ends_with("Sent");
                    let sign = signs::of_frame(&connection.url, &frame.payload_data).filter(|_| !sent);
                    context.told.extend(sign.map(Told::Sign));
                    let event = SocketEvent::Message { sent, bytes: size(&frame, sent) };
                    context.tell(connection.event(&id, time, event));
                }
            }
            "Network.webSocketFrameError" if message.error_message.starts_with(CLOSED_EARLY) => {
                connection.failed = true
            }
            "Network.webSocketFrameError" => {
                if !connection.connected {
                    connection.failed = true;
                    self.failed.push_back(connection.url.clone());
                    if self.failed.len() > MAX_FAILED {
                        self.failed.pop_front();
                    }
                }
                let event = SocketEvent::Error { message: cut(message.error_message.into_owned(), 1_000) };
                context.tell(connection.event(&id, time, event));
            }
            "Network.webSocketClosed" | "Network.webTransportClosed" => self.closed(context, &id, time),
            _ => {}
        }
    }

    /// The page script says with what code a socket closed.
    pub fn reported(&mut self, context: &mut Context<'_>, report: Report) {
        let report = Report { url: address(&report.url), reason: shortened(&report.reason, MAX_REASON), ..report };
        let (session, now) = (context.session, context.now);
        self.refused.retain(|(_, _, at)| now.0 - at.0 < REPORT_MS);
        let is_refused =
            |(from, url, _): &(String, String, Timestamp)| from == session && same_address(url, &report.url);
        if let Some(index) = self.refused.iter().position(is_refused) {
            self.refused.remove(index);
            return;
        }
        match self.closing_at(session, &report.url) {
            Some(id) => self.finish(&id, Some(&report)).into_iter().for_each(|(_, event)| context.tell(event)),
            None => {
                self.reports.push_back((report, session.to_owned(), now));
                if self.reports.len() > MAX_FAILED {
                    self.reports.pop_front();
                }
            }
        }
    }

    /// Whether a connection to this address is known to have failed.
    pub fn has_failed(&self, url: &str) -> bool {
        let url = address(url);
        self.failed.iter().any(|failed| same_address(failed, &url))
    }

    /// Closings that waited long enough; with a session that ends, all that is still open there.
    pub fn tick(&mut self, now: Timestamp, ended: Option<&str>) -> Vec<(String, Event)> {
        self.reports.retain(|(_, session, at)| now.0 - at.0 < REPORT_MS && ended != Some(session.as_str()));
        let due = |connection: &Connection| match connection.closed {
            Some((_, until)) => until <= now || ended == Some(connection.session.as_str()),
            None => false,
        };
        let mut ids: Vec<String> =
            self.closing.iter().filter(|id| self.open.get(*id).is_some_and(due)).cloned().collect();
        ids.sort_by_key(|id| self.open.get(id).and_then(|connection| connection.closed));
        let mut told: Vec<(String, Event)> = ids.iter().filter_map(|id| self.finish(id, None)).collect();
        if let Some(session) = ended {
            told.extend(self.gone(session, "the page is gone", Some(Side::Page), now));
        }
        told
    }

    /// Whether anything waits.
    pub fn pending(&self) -> bool {
        !self.reports.is_empty() || !self.closing.is_empty()
    }

    /// A page went on from one document to another; the protocol says nothing about the sockets of the old one.
    pub fn navigated(&mut self, context: &mut Context<'_>, left: &str) {
        // A page that is loaded again is to open its sockets again, so those are missed if it does not.
        let bare = |url: &str| url.split(['?', '#']).next().unwrap_or_default().to_owned();
        let is_reload = context.page().is_some_and(|page| bare(&page) == bare(left));
        let by = (!is_reload).then_some(Side::Page);
        let told = self.gone(context.session, "the page went on", by, context.now);
        told.into_iter().for_each(|(_, event)| context.tell(event));
    }

    /// A document that is gone takes its sockets along, and their peers hear 1001, "going away".
    fn gone(&mut self, session: &str, reason: &str, by: Option<Side>, now: Timestamp) -> Vec<(String, Event)> {
        let here = |id: &&String| self.open.get(*id).is_some_and(|connection| connection.session == session);
        let ids: Vec<String> = self.order.iter().filter(here).cloned().collect();
        let mut told = Vec::new();
        for id in ids {
            let Some(connection) = self.forget(&id) else { continue };
            // A tool comes back with the page or is missed by the next one.
            let by = connection.tool.map_or(by, |_| Some(Side::Page));
            if connection.connected && connection.closed.is_none() {
                let event = SocketEvent::Close { code: Some(1001), reason: reason.to_owned(), by };
                told.push((session.to_owned(), connection.event(&id, now, event)));
            } else if let Some((time, _)) = connection.closed {
                let event = SocketEvent::Close { code: None, reason: String::new(), by };
                told.push((session.to_owned(), connection.event(&id, time, event)));
            }
        }
        let (lost, others) = self.lost.drain(..).partition(|(_, connection)| connection.session == session);
        self.lost = others;
        for (id, connection) in VecDeque::<(String, Connection)>::into_iter(lost) {
            let event = SocketEvent::Close { code: None, reason: reason.to_owned(), by: Some(Side::Page) };
            told.push((session.to_owned(), connection.event(&id, now, event)));
        }
        told
    }

    /// Remembers that a document lost a tool's connection.
    fn lose(&mut self, id: &str, connection: Connection) {
        let is_known = |(_, other): &(String, Connection)| {
            (other.session.as_str(), other.url.as_str()) == (connection.session.as_str(), connection.url.as_str())
        };
        if connection.tool.is_none() || self.lost.iter().any(is_known) {
            return;
        }
        self.lost.push_back((id.to_owned(), connection));
        if self.lost.len() > MAX_FAILED {
            self.lost.pop_front();
        }
    }

    /// The socket that closed first at this address. One older than the watching has none, and is meant only when no other
    /// can be.
    fn closing_at(&self, session: &str, url: &str) -> Option<String> {
        let first = |url: &str| {
            let here = self.closing.iter().filter_map(|id| self.open.get(id).map(|connection| (id, connection)));
            let alike =
                here.filter(|(_, connection)| connection.session == session && same_address(&connection.url, url));
            alike.min_by_key(|(_, connection)| connection.closed).map(|(id, _)| id.clone())
        };
        first(url).or_else(|| if self.is_open_at(session, url) { None } else { first("") })
    }

    fn is_open_at(&self, session: &str, url: &str) -> bool {
        self.open.values().any(|connection| connection.session == session && same_address(&connection.url, url))
    }

    /// What the page script already said about a socket that closes now.
    fn report_for(&mut self, session: &str, url: &str) -> Option<Report> {
        let is_it = |report: &Report| match url.is_empty() {
            true => !self.is_open_at(session, &report.url),
            false => same_address(url, &report.url),
        };
        let index = self.reports.iter().position(|(report, from, _)| from == session && is_it(report))?;
        self.reports.remove(index).map(|(report, ..)| report)
    }

    /// Creates what is not known yet: after a late attach the first thing heard is a frame.
    fn know(&mut self, context: &mut Context<'_>, message: &SocketMessage<'_>) {
        if let Some(connection) = self.open.get_mut(&message.request_id) {
            if connection.url.is_empty() {
                connection.url = address(&message.url);
            }
            connection.tool = connection.tool.or_else(|| message.tool(&connection.url));
            return;
        }
        if self.open.len() >= MAX_OPEN
            && let Some(oldest) = self.order.pop_front()
        {
            self.forget(&oldest);
            context.counts.sockets_forgotten += 1;
        }
        let connection = Connection {
            session: context.session.to_owned(),
            url: address(&message.url),
            tool: message.tool(&message.url),
            since: context.now,
            connected: false,
            failed: false,
            anchor: None,
            closed: None,
            page: context.page(),
        };
        self.open.insert(message.request_id.clone(), connection);
        self.order.push_back(message.request_id.clone());
    }

    fn closed(&mut self, context: &mut Context<'_>, id: &str, time: Timestamp) {
        let Some(connection) = self.open.get_mut(id) else { return };
        let (session, url) = (connection.session.clone(), connection.url.clone());
        // A socket of which nothing else was heard is one that was open before the watching: its closing counts.
        if connection.failed || (!connection.connected && !url.is_empty()) {
            if let Some(connection) = self.forget(id) {
                self.lose(id, connection);
            }
            if self.report_for(&session, &url).is_none() {
                self.refused.push_back((session, url, context.now));
                if self.refused.len() > MAX_FAILED {
                    self.refused.pop_front();
                }
            }
            return;
        }
        connection.closed = Some((time, Timestamp(context.now.0 + GRACE_MS)));
        self.closing.insert(id.to_owned());
        if let Some(report) = self.report_for(&session, &url) {
            self.finish(id, Some(&report)).into_iter().for_each(|(_, event)| context.tell(event));
        }
    }

    fn finish(&mut self, id: &str, report: Option<&Report>) -> Option<(String, Event)> {
        let mut connection = self.forget(id)?;
        let (time, _) = connection.closed?;
        if let (true, Some(report)) = (connection.url.is_empty(), report) {
            connection.url = report.url.clone();
        }
        let code = report.map(|report| report.code);
        let reason = cut(report.map(|report| report.reason.clone()).unwrap_or_default(), 200);
        let by = report.and_then(Report::by);
        let event = connection.event(id, time, SocketEvent::Close { code, reason, by });
        let session = connection.session.clone();
        if by != Some(Side::Page) {
            self.lose(id, connection);
        }
        Some((session, event))
    }

    fn forget(&mut self, id: &str) -> Option<Connection> {
        self.changed |= self.is_connecting(id);
        self.order.retain(|other| other != id);
        self.closing.remove(id);
        self.open.remove(id)
    }
}

impl Report {
    /// Who closed it: with 1006 there was no closing, only an end.
    fn by(&self) -> Option<Side> {
        match (self.by_page, self.code) {
            (Some(true), _) => Some(Side::Page),
            (None, _) | (_, 1006) => None,
            (Some(false), _) => Some(Side::Server),
        }
    }
}

impl SocketMessage<'_> {
    /// The tool that opens this, as far as this message shows it.
    fn tool(&self, url: &str) -> Option<Tool> {
        let stack = self.initiator.as_ref().and_then(|initiator| initiator.stack.as_ref());
        let stack = stack.map(StackTrace::frames).unwrap_or_default();
        let headers = self.request.iter().flat_map(|request| &request.headers);
        let asked = headers.filter(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-protocol"));
        let protocols = asked.filter_map(|(_, value)| value.as_str()).next().unwrap_or_default();
        match stack.is_empty() && protocols.is_empty() && self.url.is_empty() {
            true => None,
            false => Tool::of(url, Opener { protocols, stack: &stack }),
        }
    }
}

impl Connection {
    /// Whether it is asked for, neither connected nor given up. Of one older than the watching no address is known.
    fn is_connecting(&self) -> bool {
        let is_apps = self.tool.is_none_or(Tool::is_dev_server);
        is_apps && !self.connected && !self.failed && self.closed.is_none() && !self.url.is_empty()
    }

    fn under_way(&self) -> UnderWay {
        let asked = AskedFor { method: "GET".to_owned(), url: self.url.clone(), operation: None };
        UnderWay { since: self.since, phase: Phase::Unanswered, is_document: false, asked: Arc::new(asked) }
    }

    fn event(&self, id: &str, time: Timestamp, event: SocketEvent) -> Event {
        let (id, url, page) = (id.to_owned(), self.url.clone(), self.page.clone());
        Event::Websocket(Socket { time, id, url, event, tool: self.tool, page, backfilled: false })
    }

    fn time(&self, seconds: f64, now: Timestamp) -> Timestamp {
        match self.anchor {
            Some((anchor, wall)) if seconds > 0.0 => Timestamp((wall + (seconds - anchor) * 1_000.0) as i64),
            _ => now,
        }
    }
}

/// A frame's real size. Binary frames come as base64; text that is sent comes with one character for each byte.
fn size(frame: &SocketFrame<'_>, sent: bool) -> u64 {
    let text = frame.payload_data.as_ref();
    let bytes = match frame.opcode == 2.0 {
        true => {
            text.len() / 4 * 3 - text.bytes().rev().take(2).filter(|byte| *byte == b'=').count().min(text.len() / 4 * 3)
        }
        false if sent && text.chars().all(|character| u32::from(character) < 256) => text.chars().count(),
        false => text.len(),
    };
    bytes as u64
}

/// Scripts see addresses without what the protocol leaves out, and the other way round: compare without the fragment.
fn same_address(known: &str, reported: &str) -> bool {
    let bare = |url: &str| url.split('#').next().unwrap_or_default().trim_end_matches('/').to_owned();
    bare(known) == bare(reported)
}

//! The life of event streams (`EventSource`). The protocol speaks of them as requests that hardly ever end; what an app lives
//! on is the connection, so that is told as one: open, messages, lost. A stream that never came about is told by its request.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use backsight_core::Timestamp;
use serde::Deserialize;

use super::flight::{Failed, Received};
use super::wire::{address, cut};
use super::{Context, Told};
use crate::event::{Event, Side, Socket, SocketEvent};
use crate::signs;
use crate::under_way::{AskedFor, Phase, UnderWay};

/// As many streams are followed; the oldest go first and are counted.
const MAX_OPEN: usize = 2_000;
/// As many losses are remembered.
const MAX_LOST: usize = 256;
/// Bytes of why a stream broke off.
const MAX_REASON: usize = 300;
/// Browsers wait some seconds and ask again, without a word to the page's code.
const ENDED: &str = "the server ended the event stream; the browser connects again";

/// The event streams of a connection.
#[derive(Debug, Default)]
pub struct Streams {
    open: HashMap<String, Stream>,
    order: VecDeque<String>,
    /// Those that were lost or could not be opened, which browsers try again by themselves.
    lost: VecDeque<LostStream>,
    /// Whether others are lost than when it was last asked.
    changed: bool,
}

#[derive(Debug)]
struct LostStream {
    session: String,
    since: Timestamp,
    asked: Arc<AskedFor>,
}

#[derive(Debug)]
struct Stream {
    session: String,
    /// Empty when it is older than the watching.
    url: String,
    page: Option<String>,
}

/// `Network.eventSourceMessageReceived`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamMessage<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(default, borrow)]
    data: Cow<'a, str>,
}

impl Streams {
    /// An answer came; some are the beginning of a stream.
    pub fn received(&mut self, context: &mut Context<'_>, received: &Received<'_>) {
        if let Some(url) = received.stream() {
            let url = address(url);
            self.found(context.session, &url);
            self.know(context, &received.request_id, url);
            self.tell(context, &received.request_id, SocketEvent::Open);
        }
    }

    /// The page closed a stream. While a lost one waits for its next attempt, nothing but the page's script says so.
    pub fn closed(&mut self, context: &Context<'_>, url: &str) {
        self.found(context.session, &address(url));
    }

    /// The streams that are lost.
    pub fn under_way(&self) -> impl Iterator<Item = UnderWay> {
        self.lost.iter().map(|lost| UnderWay {
            since: lost.since,
            phase: Phase::Lost,
            is_document: false,
            asked: Arc::clone(&lost.asked),
        })
    }

    /// Whether others are lost than when it was last asked.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// A stream is lost, unless that is known.
    fn lose(&mut self, session: &str, url: &str, now: Timestamp) {
        let is_known = |lost: &LostStream| lost.session == session && lost.asked.url == url;
        if url.is_empty() || self.lost.iter().any(is_known) {
            return;
        }
        if self.lost.len() == MAX_LOST {
            self.lost.pop_front();
        }
        let asked = AskedFor { method: "GET".to_owned(), url: url.to_owned(), operation: None };
        self.lost.push_back(LostStream { session: session.to_owned(), since: now, asked: Arc::new(asked) });
        self.changed = true;
    }

    /// A stream that may have been lost is open again, or is not wanted any more.
    fn found(&mut self, session: &str, url: &str) {
        let before = self.lost.len();
        self.lost.retain(|lost| lost.session != session || lost.asked.url != url);
        self.changed |= self.lost.len() != before;
    }

    /// A message came through one; the first that is heard of it when it is older than the watching.
    pub fn said(&mut self, context: &mut Context<'_>, message: &StreamMessage<'_>) {
        if !self.open.contains_key(&*message.request_id) {
            self.know(context, &message.request_id, String::new());
        }
        let url = self.open.get(&*message.request_id).map(|stream| stream.url.as_str()).unwrap_or_default();
        context.told.extend(signs::of_frame(url, &message.data).map(Told::Sign));
        let bytes = message.data.len() as u64;
        self.tell(context, &message.request_id, SocketEvent::Message { sent: false, bytes });
    }

    /// The server ended a request; whether it was a stream.
    pub fn finished(&mut self, context: &mut Context<'_>, id: &str) -> bool {
        self.close(context, id, ENDED.to_owned(), Some(Side::Server))
    }

    /// A request for this address broke off; whether it was a stream and the page did not close it.
    pub fn failed(&mut self, context: &mut Context<'_>, failed: &Failed<'_>, url: Option<&str>) -> bool {
        if let Some(url) = url.filter(|_| failed.kind == "EventSource" && !failed.canceled) {
            self.lose(context.session, url, context.now);
        }
        match failed.canceled {
            true => {
                self.close(
                    context,
                    &failed.request_id,
                    "the page closed the event stream".to_owned(),
                    Some(Side::Page),
                );
                false
            }
            false => {
                let reason = format!("the event stream broke off: {}; the browser connects again", failed.error_text);
                self.close(context, &failed.request_id, cut(reason, MAX_REASON), Some(Side::Server))
            }
        }
    }

    /// A document is gone, of which the protocol says nothing for its streams.
    pub fn gone(&mut self, context: &mut Context<'_>, session: &str) {
        let is_here = |id: &&String| self.open.get(*id).is_some_and(|stream| stream.session == session);
        let ids: Vec<String> = self.order.iter().filter(is_here).cloned().collect();
        for id in ids {
            self.close(context, &id, "the page is gone".to_owned(), Some(Side::Page));
        }
        let before = self.lost.len();
        self.lost.retain(|lost| lost.session != session);
        self.changed |= self.lost.len() != before;
    }

    fn know(&mut self, context: &mut Context<'_>, id: &str, url: String) {
        if self.open.len() >= MAX_OPEN
            && let Some(oldest) = self.order.pop_front()
        {
            self.open.remove(&oldest);
            context.counts.sockets_forgotten += 1;
        }
        let stream = Stream { session: context.session.to_owned(), url, page: context.page() };
        if self.open.insert(id.to_owned(), stream).is_none() {
            self.order.push_back(id.to_owned());
        }
    }

    fn close(&mut self, context: &mut Context<'_>, id: &str, reason: String, by: Option<Side>) -> bool {
        let is_known = self.open.contains_key(id);
        if is_known {
            self.tell(context, id, SocketEvent::Close { code: None, reason, by });
        }
        if let Some(stream) = self.open.remove(id) {
            self.order.retain(|other| other != id);
            match by {
                Some(Side::Page) => {}
                _ => self.lose(&stream.session, &stream.url, context.now),
            }
        }
        is_known
    }

    fn tell(&self, context: &mut Context<'_>, id: &str, event: SocketEvent) {
        let Some(stream) = self.open.get(id) else { return };
        let (time, id, url, page) = (context.now, format!("stream {id}"), stream.url.clone(), stream.page.clone());
        context.tell(Event::Websocket(Socket { time, id, url, event, tool: None, page, backfilled: false }));
    }
}

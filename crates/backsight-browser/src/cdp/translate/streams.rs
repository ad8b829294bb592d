//! The life of event streams (`EventSource`). The protocol speaks of them as requests that hardly ever end; what an app lives
//! on is the connection, so that is told as one: open, messages, lost. A stream that never came about is told by its request.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use serde::Deserialize;

use super::flight::{Failed, Received};
use super::wire::{address, cut};
use super::{Context, Told};
use crate::event::{Event, Side, Socket, SocketEvent};
use crate::signs;

/// As many streams are followed; the oldest go first and are counted.
const MAX_OPEN: usize = 2_000;
/// Bytes of why a stream broke off.
const MAX_REASON: usize = 300;
/// Browsers wait some seconds and ask again, without a word to the page's code.
const ENDED: &str = "the server ended the event stream; the browser connects again";

/// The event streams of a connection.
#[derive(Debug, Default)]
pub struct Streams {
    open: HashMap<String, Stream>,
    order: VecDeque<String>,
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
            self.know(context, &received.request_id, address(url));
            self.tell(context, &received.request_id, SocketEvent::Open);
        }
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

    /// A request broke off; whether it was a stream and the page did not close it.
    pub fn failed(&mut self, context: &mut Context<'_>, failed: &Failed<'_>) -> bool {
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
            self.open.remove(id);
            self.order.retain(|other| other != id);
        }
        is_known
    }

    fn tell(&self, context: &mut Context<'_>, id: &str, event: SocketEvent) {
        let Some(stream) = self.open.get(id) else { return };
        let (time, id, url, page) = (context.now, format!("stream {id}"), stream.url.clone(), stream.page.clone());
        context.tell(Event::Websocket(Socket { time, id, url, event, tool: None, page, backfilled: false }));
    }
}

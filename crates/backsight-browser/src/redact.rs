//! Takes secrets out of events before anything is kept, compared or shown. Equal secrets become equal tags, so what they
//! were part of can still be compared.
//!
//! What is replaced is decided by names (`password=...`), by the form of what stands there (tokens, keys, card numbers), and
//! in doubt in favour of replacing. A marker is `[REDACTED:kind:tag]`. Redacting twice is redacting once.

mod headers;
pub(crate) mod marker;
mod names;
mod numbers;
mod scan;
mod tokens;
mod value;

use std::borrow::Cow;

use crate::event::{Console, Event, Request, Socket, SocketEvent};
use crate::exchange::Exchange;

/// Takes secrets out.
#[derive(Clone, Debug)]
pub struct Redactor {
    salt: u64,
}

impl Redactor {
    /// One whose tags cannot be compared with those of another salt.
    pub fn new(salt: u64) -> Self {
        Redactor { salt }
    }

    /// Takes the secrets out of everything an event says.
    pub fn redact(&self, event: &mut Event) {
        match event {
            Event::Console(console) => self.console(console),
            Event::Network(request) => self.request(request),
            Event::Websocket(socket) => self.socket(socket),
            Event::Action(action) => {
                self.replace(&mut action.target);
                self.replace(&mut action.detail);
                self.optional(&mut action.page);
                self.optional(&mut action.frame);
            }
        }
    }

    /// A text without its secrets.
    pub fn text<'a>(&'a self, text: &'a str) -> Cow<'a, str> {
        scan::redact(self, text)
    }

    fn console(&self, console: &mut Console) {
        self.replace(&mut console.message);
        self.optional(&mut console.page);
        for frame in &mut console.stack {
            self.replace(&mut frame.file);
            self.replace(&mut frame.function);
        }
    }

    fn request(&self, request: &mut Request) {
        self.replace(&mut request.url);
        for text in [
            &mut request.failure,
            &mut request.operation,
            &mut request.request_body,
            &mut request.response_body,
            &mut request.page,
        ] {
            self.optional(text);
        }
        if let Some(exchange) = &mut request.exchange {
            self.exchange(exchange);
        }
    }

    fn exchange(&self, exchange: &mut Exchange) {
        for header in exchange.request.headers.iter_mut().chain(&mut exchange.response.headers) {
            match headers::redacted(self, &header.name, &header.value) {
                Some(redacted) => header.value = redacted,
                None => self.replace(&mut header.value),
            }
        }
        for frame in &mut exchange.stack {
            self.replace(&mut frame.file);
            self.replace(&mut frame.function);
        }
    }

    fn socket(&self, socket: &mut Socket) {
        self.replace(&mut socket.url);
        self.optional(&mut socket.page);
        match &mut socket.event {
            SocketEvent::Error { message } => self.replace(message),
            SocketEvent::Close { reason, .. } => self.replace(reason),
            SocketEvent::Open | SocketEvent::Message { .. } => {}
        }
    }

    fn replace(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.text(text) {
            *text = redacted;
        }
    }

    fn optional(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.replace(text);
        }
    }

    /// Sixteen bits that are the same for the same secret and this salt.
    fn tag(&self, secret: &[u8]) -> u16 {
        let start = self.salt ^ 0xcbf2_9ce4_8422_2325;
        let hash =
            secret.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
        // The salt goes in again at the end, so that short secrets do not show it in the low bits.
        let mixed = (hash ^ (hash >> 31) ^ self.salt.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 48) as u16
    }
}

#[cfg(test)]
mod tests;

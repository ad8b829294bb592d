//! The walk over an event that takes its secrets out before anything is kept, compared or shown. What is a secret is decided
//! in `backsight-redact`, for all lanes alike; this file only knows which texts an event has.

use std::borrow::Cow;

use backsight_redact::Redactor;

use crate::event::{Console, Event, Frame, Request, Socket, SocketEvent};
use crate::exchange::Exchange;

/// Takes the secrets out of everything an event says.
pub fn event(redactor: &Redactor, event: &mut Event) {
    let walk = Walk(redactor);
    match event {
        Event::Console(console) => walk.console(console),
        Event::Network(request) => walk.request(request),
        Event::Websocket(socket) => walk.socket(socket),
        Event::Action(action) => {
            walk.replace(&mut action.target);
            walk.replace(&mut action.detail);
            walk.optional(&mut action.page);
            walk.optional(&mut action.frame);
        }
    }
}

struct Walk<'a>(&'a Redactor);

impl Walk<'_> {
    fn console(&self, console: &mut Console) {
        self.replace(&mut console.message);
        self.optional(&mut console.page);
        self.stack(&mut console.stack);
        for cause in &mut console.causes {
            self.replace(&mut cause.message);
            self.stack(&mut cause.stack);
        }
    }

    fn stack(&self, stack: &mut [Frame]) {
        for frame in stack {
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
            match self.0.header(&header.name, &header.value) {
                Some(redacted) => header.value = redacted,
                None => self.replace(&mut header.value),
            }
        }
        self.stack(&mut exchange.stack);
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
        if let Cow::Owned(redacted) = self.0.text(text) {
            *text = redacted;
        }
    }

    fn optional(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.replace(text);
        }
    }
}

#[cfg(test)]
mod tests;

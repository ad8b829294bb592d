//! The protocol translator, given messages by hand: orders that cannot be provoked, and a small language for all its tests.

use backsight_browser::cdp::translate::{Target, Told, TranslateOptions, Translator};
use backsight_browser::event::{Event, SocketEvent};
use backsight_browser::{Amendment, Sign};
use backsight_core::Timestamp;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

mod bounds;
mod causes;
mod console;
mod earlier;
mod heads;
mod loads;
mod maps;
mod order;
mod requests;
mod sockets;
mod states;
mod streams;

/// A translator, its clock, and what it told.
pub struct Desk {
    pub translator: Translator,
    pub now: i64,
    pub events: Vec<Event>,
    pub amendments: Vec<Amendment>,
    /// What hot reload showed.
    pub signs: Vec<Sign>,
    /// Commands that nobody answered yet: token, session, method, params.
    pub commands: Vec<(u64, String, &'static str, Value)>,
}

/// Without page scripts, bodies and source maps, so that events come at once.
pub fn plain() -> TranslateOptions {
    TranslateOptions { page_hooks: true, source_maps: false, bodies: false, mark: None }
}

pub fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("every value can be written")
}

impl Desk {
    pub fn new() -> Self {
        Desk::with(Translator::new(plain()))
    }

    pub fn with(translator: Translator) -> Self {
        let (events, amendments, signs, commands) = Default::default();
        Desk { translator, now: 1_000_000, events, amendments, signs, commands }
    }

    /// One page `P` at `http://app/`, attached now; its timeline was asked for and is empty.
    pub fn page() -> Self {
        let mut desk = Desk::new();
        desk.attach("P", "page", "http://app/");
        desk
    }

    pub fn attach(&mut self, session: &str, kind: &str, url: &str) {
        let target = Target { id: format!("T{session}"), kind: kind.into(), url: url.into() };
        self.translator.attached(session, target, Timestamp(self.now));
    }

    pub fn hear(&mut self, session: &str, method: &str, params: Value) {
        let told = self.translator.hear(session, method, &raw(&params), Timestamp(self.now));
        self.take(told);
    }

    pub fn answer(&mut self, method: &str, answer: Result<Value, &str>) {
        let index = self.commands.iter().position(|command| command.2 == method);
        let (token, ..) = self.commands.remove(index.unwrap_or_else(|| panic!("{method} was not asked")));
        let raw = answer.map(|value| raw(&value));
        let told = self.translator.answered(token, raw.as_deref().map_err(|error| *error), Timestamp(self.now));
        self.take(told);
    }

    pub fn detach(&mut self, session: &str) {
        let told = self.translator.detached(session, Timestamp(self.now));
        self.take(told);
    }

    /// Time passes in steps of a tenth of a second.
    pub fn wait(&mut self, millis: i64) {
        let end = self.now + millis;
        while self.now < end {
            self.now = end.min(self.now + 100);
            let told = self.translator.tick(Timestamp(self.now));
            self.take(told);
        }
    }

    /// Everything told so far, one line each.
    pub fn lines(&mut self) -> Vec<String> {
        self.events.drain(..).map(|event| line(&event)).collect()
    }

    /// Everything told after all waiting is over.
    pub fn all(&mut self) -> Vec<String> {
        self.wait(6_000);
        assert!(!self.translator.pending(), "nothing waits for ever");
        self.lines()
    }

    fn take(&mut self, told: Vec<Told>) {
        for said in told {
            match said {
                Told::Event(event) => self.events.push(event),
                Told::Amended(amendment) => self.amendments.push(amendment),
                Told::Sign(sign) => self.signs.push(sign),
                Told::Command { token, session, method, params } => {
                    self.commands.push((token, session, method, params))
                }
            }
        }
    }
}

/// An event in one line.
pub fn line(event: &Event) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut backfilled = false;
    match event {
        Event::Console(console) => {
            words.push(format!("{:?} {:?}: {}", console.level, console.speaker, console.message));
            if let Some(frame) = console.stack.first() {
                let file = frame.file.rsplit('/').next().unwrap_or_default();
                let function = if frame.function.is_empty() { String::new() } else { format!("{} ", frame.function) };
                words.push(format!("@ {function}{file}:{}:{}", frame.line, frame.column));
            }
            backfilled = console.backfilled;
        }
        Event::Network(request) => {
            words.push(format!("{} {} {}", request.method, request.url, request.status));
            words.extend(request.kind.clone());
            words.extend(request.operation.as_ref().map(|operation| format!("#{operation}")));
            words.extend(request.failure.as_ref().map(|failure| format!("!{failure}")));
            words.extend(request.canceled.then(|| "canceled".to_owned()));
            words.extend(request.response_body.as_ref().map(|body| format!("< {body}")));
            backfilled = request.backfilled;
        }
        Event::Websocket(socket) => {
            words.push(format!("ws {}", socket.url));
            words.push(match &socket.event {
                SocketEvent::Open => "open".to_owned(),
                SocketEvent::Message { sent, bytes } => format!("{} {bytes}", if *sent { "sent" } else { "got" }),
                SocketEvent::Error { message } => format!("error {message}"),
                SocketEvent::Close { code, reason, by } => {
                    format!(
                        "close {code:?} {reason}{}",
                        by.map(|by| format!(" by {}", by.as_str())).unwrap_or_default()
                    )
                }
            });
        }
        Event::Action(action) => words.push(format!("{:?} {} {}", action.kind, action.target, action.detail)),
    }
    words.extend(backfilled.then(|| "(earlier)".to_owned()));
    words.join(" ").trim_end().to_owned()
}

/// The messages of requests.
pub fn sent(id: &str, method: &str, url: &str, kind: &str, at: f64) -> Value {
    json!({ "requestId": id, "loaderId": "L", "request": { "url": url, "method": method }, "timestamp": at, "wallTime": 1_000.0 + at,
        "type": kind, "frameId": "TP", "initiator": { "type": "script" } })
}

pub fn received(id: &str, url: &str, status: u16, extra: bool) -> Value {
    json!({ "requestId": id, "type": "Fetch", "hasExtraInfo": extra,
        "response": { "url": url, "status": status, "mimeType": "application/json", "fromServiceWorker": false } })
}

pub fn extra(id: &str, status: u16) -> Value {
    json!({ "requestId": id, "statusCode": status, "headers": {} })
}

pub fn finished(id: &str, at: f64) -> Value {
    json!({ "requestId": id, "timestamp": at, "encodedDataLength": 100 })
}

pub fn failed(id: &str, at: f64, text: &str) -> Value {
    json!({ "requestId": id, "timestamp": at, "type": "Fetch", "errorText": text, "canceled": false })
}

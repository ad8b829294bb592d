//! By what something that went wrong is known again wherever the app is served: on another port, from other files, by another
//! process. A group's own key holds the origin of the script, since two apps may say the same; this does not.

use std::fmt;
use std::str::FromStr;

use backsight_core::{Code, Error, Result, quote};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::browser::Browser;
use crate::endpoint::{self, Endpoint};
use crate::event::{Category, Event, Level, Request, Socket, SocketEvent, Speaker};
use crate::fingerprint;

/// The longest one that is understood.
const LONGEST: usize = 2 << 10;

/// `console:9f3a0c11d2e4b657`, `network:500 GET /api/stock`, `websocket:1011 /live`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Symptom(String);

impl Symptom {
    /// That of an event; none when nothing went wrong, and of what a process said, which no page shows again.
    pub fn of(event: &Event) -> Option<Symptom> {
        let text = match event {
            Event::Console(console) => {
                let is_pages = console.speaker != Speaker::Terminal && console.level >= Level::Warning;
                is_pages.then(|| format!("console:{:016x}", fingerprint::anywhere(console)))?
            }
            Event::Network(request) => request.is_failure().then(|| failure(request))?,
            Event::Websocket(socket) => lost(socket)?,
            Event::Action(_) => return None,
        };
        Some(Symptom(text))
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn failure(request: &Request) -> String {
    let endpoint = Endpoint::of(&request.method, &request.url, request.operation.as_deref());
    let home = request.page.as_deref().map(endpoint::normal_origin);
    format!("network:{} {} {}", request.status, endpoint.method, endpoint.shown(home.as_deref()))
}

/// A connection that was lost or never came about; what the page ended in order is none.
fn lost(socket: &Socket) -> Option<String> {
    const IN_ORDER: [u16; 2] = [1000, 1001];
    let what = match &socket.event {
        SocketEvent::Error { .. } => "error".to_owned(),
        SocketEvent::Close { code, .. } if !code.is_some_and(|code| IN_ORDER.contains(&code)) => {
            code.map_or("closed".to_owned(), |code| code.to_string())
        }
        SocketEvent::Close { .. } | SocketEvent::Open | SocketEvent::Message { .. } => return None,
    };
    let address = endpoint::template(&socket.url);
    let path =
        address.split_once("://").map_or(address.as_str(), |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    Some(format!("websocket:{what} {path}"))
}

impl fmt::Display for Symptom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Symptom {
    type Err = Error;

    fn from_str(text: &str) -> Result<Symptom> {
        let of = |category: Category| text.strip_prefix(category.as_str()).and_then(|rest| rest.strip_prefix(':'));
        let is_known = [Category::Console, Category::Network, Category::Websocket]
            .into_iter()
            .filter_map(of)
            .any(|rest| !rest.is_empty() && rest.len() <= LONGEST);
        match is_known {
            true => Ok(Symptom(text.to_owned())),
            false => {
                let shown = quote(text.as_bytes());
                Err(Error::new(Code::Usage, format!("`{shown}` is nothing that an error is known by"))
                    .with_hint("give the id of an entry, such as c12 or n7, or its `symptom`"))
            }
        }
    }
}

impl Browser {
    /// An event with a symptom that is kept, as the log shows it; none when it did not show.
    pub fn symptom_shown(&self, symptom: &Symptom) -> Option<String> {
        self.look(|telemetry| {
            let mut records = Category::ALL.into_iter().flat_map(|category| telemetry.log.of(category));
            let shown = records.find(|record| Symptom::of(&record.event).as_ref() == Some(symptom))?;
            Some(match &*shown.event {
                Event::Console(console) => console.message.clone(),
                Event::Network(request) => {
                    let why = request.failure.as_deref().or(request.response_body.as_deref()).unwrap_or_default();
                    format!("{} {} {} {why}", request.status, request.method, request.url).trim_end().to_owned()
                }
                Event::Websocket(socket) => socket.url.clone(),
                Event::Action(action) => action.target.clone(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use backsight_core::Timestamp;

    use super::*;
    use crate::event::{Console, Frame};

    fn said(port: u16, line: u32, message: &str) -> Event {
        let file = format!("http://localhost:{port}/src/cart.js");
        let stack = vec![Frame { file, line, column: 3, function: "total".to_owned() }];
        let page = Some(format!("http://localhost:{port}/"));
        let (level, speaker) = (Level::Error, Speaker::Exception);
        let message = message.replace("PORT", &port.to_string());
        Event::Console(Console {
            time: Timestamp(1),
            level,
            speaker,
            message,
            stack,
            causes: Vec::new(),
            page,
            backfilled: false,
        })
    }

    #[test]
    fn an_error_is_the_same_at_another_port_and_line_and_another_elsewhere() {
        let at = |port, line, message: &str| Symptom::of(&said(port, line, message)).unwrap();
        let known = at(3000, 7, "TypeError: x is undefined");
        assert_eq!(known, at(41234, 9, "TypeError: x is undefined"));
        assert_ne!(known, at(3000, 7, "TypeError: y is not a function"));
        let address = "Error: http://localhost:PORT/api/stock is gone";
        assert_eq!(at(3000, 7, address), at(41234, 7, address));
        let mut elsewhere = said(3000, 7, "TypeError: x is undefined");
        if let Event::Console(console) = &mut elsewhere {
            console.stack[0].file = "http://localhost:3000/src/user.js".to_owned();
        }
        assert_ne!(Some(known.clone()), Symptom::of(&elsewhere));
        assert_eq!(known.as_str().parse::<Symptom>().unwrap(), known);
    }

    #[test]
    fn a_failure_is_its_endpoint_and_status() {
        let failed = |origin: &str, path: &str, status: u16| {
            let mut request = Request::new(Timestamp(1), "get", &format!("{origin}{path}"));
            (request.status, request.page) = (status, Some("http://localhost:3000/cart".to_owned()));
            Symptom::of(&Event::Network(request)).map(|symptom| symptom.to_string())
        };
        let own = "http://localhost:3000";
        assert_eq!(failed(own, "/api/stock?n=3", 500).as_deref(), Some("network:500 GET /api/stock"));
        assert_eq!(failed(own, "/api/stock", 200), None);
        let other = failed("https://api.example.test", "/stock", 404);
        assert_eq!(other.as_deref(), Some("network:404 GET https://api.example.test/stock"));
    }

    #[test]
    fn what_is_no_symptom_is_refused() {
        for text in ["", "console:", "nothing:12", "console", "a12"] {
            assert!(text.parse::<Symptom>().is_err(), "{text}");
        }
    }
}

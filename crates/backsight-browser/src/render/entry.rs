//! One entry in full, and rows of the log, for a model or a terminal. Lines of ours begin at the margin; what comes from a
//! page or a program stands on lines that begin with a blank.

use backsight_core::Timestamp;

use super::escape::safe;
use super::words;
use crate::entry::{ActionInFull, Entry, LogRow, RequestInFull, SaidInFull, SocketInFull, level_word};
use crate::event::Frame;
use crate::exchange::{Header, Timing};

/// See [`super::entry`].
pub fn entry(entry: &Entry) -> String {
    let mut page = Page(String::new());
    let what = match (&entry.console, &entry.network, &entry.websocket, &entry.action) {
        (Some(said), ..) => level_word(said.level).to_owned(),
        (_, Some(request), ..) => format!("{} {}", request.status, safe(&request.method)),
        (_, _, Some(socket), _) => format!("websocket {}", safe(&socket.event)),
        (.., Some(action)) => words::action(action.kind).to_owned(),
        (None, None, None, None) => entry.category.as_str().to_owned(),
    };
    let when = match entry.count {
        0 | 1 => entry.last.to_string(),
        count => format!("{count}x, first {}, last {} (shown)", entry.first, entry.last),
    };
    page.line(&format!("{} {what}, {when}", safe(&entry.id)));
    entry.console.iter().for_each(|said| page.said(said));
    entry.network.iter().for_each(|request| page.request(request));
    entry.websocket.iter().for_each(|socket| page.socket(socket));
    entry.action.iter().for_each(|action| page.action(action));
    page.text("page", entry.page.as_deref().unwrap_or_default());
    page.list("variants", entry.variants.iter().map(|text| safe(text)));
    if entry.backfilled {
        page.line("it happened before the watching began: some of it is not known");
    }
    if !entry.cut.is_empty() {
        let cut = words::list(entry.cut.iter().map(|(what, count)| format!("{} {count}", safe(what))));
        page.line(&format!("not kept: {cut}"));
    }
    page.0
}

/// See [`super::log_row`].
pub fn row(row: &LogRow) -> String {
    let count = row.count.map(|count| format!("{count}x ")).unwrap_or_default();
    format!("{} {} {} {count}{}", safe(&row.id), clock(row.time), safe(&row.what), safe(&row.text))
}

/// `12:30:00.123`
fn clock(time: Timestamp) -> String {
    let text = time.to_string();
    text.get(11..23).map(str::to_owned).unwrap_or(text)
}

struct Page(String);

impl Page {
    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// What others say, each line of it behind a blank.
    fn text(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.list(name, text.lines().map(safe));
        }
    }

    fn list(&mut self, name: &str, lines: impl Iterator<Item = String>) {
        let mut lines = lines.peekable();
        if lines.peek().is_some() {
            self.line(&format!("{name}:"));
        }
        lines.for_each(|line| self.line(&format!(" {line}")));
    }

    fn said(&mut self, said: &SaidInFull) {
        self.text("message", &said.message);
        self.stack(&said.stack);
        for cause in &said.causes {
            self.text("caused by", &cause.message);
            self.stack(&cause.stack);
        }
    }

    fn stack(&mut self, stack: &[Frame]) {
        self.list("stack", stack.iter().map(place));
    }

    fn request(&mut self, request: &RequestInFull) {
        self.text("url", &request.url);
        self.text("failure", request.failure.as_deref().unwrap_or_default());
        let about = [
            request.kind.clone(),
            request.operation.as_ref().map(|operation| format!("operation {operation}")),
            request.duration_ms.map(|duration| format!("{duration:.0} ms")),
            request.timing.map(|timing| timed(&timing)),
            Some(request.protocol.clone()),
            Some(request.remote.clone()),
            request.served_by.as_ref().map(|by| format!("from {by}")),
            Some(request.initiator.clone()).filter(|by| !by.is_empty()).map(|by| format!("asked by {by}")),
            request.canceled.then(|| "given up by the page".to_owned()),
        ];
        let about: Vec<String> = about.into_iter().flatten().filter(|word| !word.is_empty()).collect();
        self.text("about", &safe(&about.join(", ")));
        self.stack(&request.stack);
        self.list("request headers", request.request_headers.iter().map(header));
        self.text("request body", request.request_body.as_deref().unwrap_or_default());
        self.list("response headers", request.response_headers.iter().map(header));
        self.text("response body", request.response_body.as_deref().unwrap_or_default());
    }

    fn socket(&mut self, socket: &SocketInFull) {
        self.text("url", &socket.url);
        if let Some(code) = socket.close_code {
            self.line(&format!("close code: {code}"));
        }
        self.text("message", &socket.message);
    }

    fn action(&mut self, action: &ActionInFull) {
        self.text("target", &action.target);
        self.text("detail", &action.detail);
        self.text("frame", action.frame.as_deref().unwrap_or_default());
    }
}

fn place(frame: &Frame) -> String {
    let name = if frame.function.is_empty() { String::new() } else { format!("{} @ ", safe(&frame.function)) };
    format!("{name}{}:{}:{}", safe(&frame.file), frame.line, frame.column)
}

fn header(header: &Header) -> String {
    format!("{}: {}", safe(&header.name), safe(&header.value))
}

/// `dns 1, connect 2, send 0, wait 30`
fn timed(timing: &Timing) -> String {
    let Timing { blocked, dns, connect, tls, send, wait } = *timing;
    let phases = [("blocked", blocked), ("dns", dns), ("connect", connect), ("tls", tls), ("send", Some(send))];
    let phases = phases.into_iter().chain([("wait", Some(wait))]);
    words::list(phases.filter_map(|(name, time)| Some(format!("{name} {:.0}", time?))))
}

//! Server-sent events: whoever listens hears where the timeline is, whoever records.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::server::Server;
use crate::fixture::Fixture;

/// Somebody who listens to `/events`.
struct Listener(BufReader<TcpStream>);

impl Listener {
    fn new(server: &Server) -> Listener {
        let mut stream = server.connect();
        write!(stream, "{}\r\n", server.head("GET", "/events")).unwrap();
        let mut listener = Listener(BufReader::new(stream));
        let head = listener.until_empty();
        assert!(head[0].contains(" 200 "), "{head:?}");
        assert!(head.iter().any(|line| line.eq_ignore_ascii_case("content-type: text/event-stream")), "{head:?}");
        listener
    }

    fn until_empty(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended: {lines:?}");
            match line.trim_end() {
                "" => return lines,
                line => lines.push(line.to_owned()),
            }
        }
    }

    /// The number of the next event; sizes of chunks and comments are not events.
    fn next(&mut self) -> u64 {
        loop {
            let lines = self.until_empty();
            let field = |name: &str| lines.iter().find_map(|line| line.strip_prefix(name)).map(str::trim);
            let Some(data) = field("data:") else { continue };
            let data: Value = serde_json::from_str(data).unwrap();
            let number = data["sequence_number"].as_u64().unwrap();
            assert_eq!((field("event:"), field("id:")), (Some("now"), Some(number.to_string().as_str())));
            return number;
        }
    }
}

#[test]
fn a_listener_hears_the_newest_row_at_once_and_each_new_one() {
    let fixture = Fixture::with_history();
    let server = Server::start(&fixture);
    let mut first = Listener::new(&server);
    assert_eq!(first.next(), 3);

    fixture.write("d.txt", "d\n");
    server.post("/api/track", &json!({})).ok();
    assert_eq!(first.next(), 4);

    // Another process records; the server only sees it in the timeline.
    fixture.write("e.txt", "e\n");
    assert_eq!(fixture.track(), 5);
    assert_eq!(first.next(), 5);

    // Who comes later hears the newest one, not those before.
    let mut second = Listener::new(&server);
    assert_eq!(second.next(), 5);
    fixture.done("milestone create 'Phase 1'");
    assert_eq!((first.next(), second.next()), (6, 6));
}

#[test]
fn a_listener_at_an_empty_workspace_hears_the_first_row() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    let mut listener = Listener::new(&server);
    assert_eq!(listener.next(), 0);
    fixture.write("a.txt", "a\n");
    fixture.done("track");
    assert_eq!(listener.next(), 1);
}

#[test]
fn nobody_listens_without_the_token() {
    let fixture = Fixture::new();
    let server = Server::start(&fixture);
    let head = server.head("GET", "/events").replace(&server.token, "wrong");
    server.raw(format!("{head}\r\n").as_bytes()).fails(401, "UNAUTHORIZED");
}

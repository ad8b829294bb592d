//! Event streams: told as connections, and each of their failures once.

use serde_json::{Value, json};

use super::{Desk, failed, finished, received, sent};

const URL: &str = "http://app/events";

/// A stream is asked for and begins.
fn opened(desk: &mut Desk, id: &str) {
    desk.hear("P", "Network.requestWillBeSent", sent(id, "GET", URL, "EventSource", 1.0));
    desk.hear("P", "Network.responseReceived", begun(id, 200, "text/event-stream"));
}

fn begun(id: &str, status: u16, mime: &str) -> Value {
    let mut answer = received(id, URL, status, false);
    answer["type"] = "EventSource".into();
    answer["response"]["mimeType"] = mime.into();
    answer
}

fn message(id: &str, data: &str) -> Value {
    json!({ "requestId": id, "timestamp": 1.5, "eventName": "message", "eventId": "", "data": data })
}

fn sockets(desk: &mut Desk) -> Vec<String> {
    desk.lines().into_iter().filter(|line| line.starts_with("ws ")).collect()
}

#[test]
fn a_stream_is_open_has_messages_and_is_ended_by_its_server() {
    let mut desk = Desk::page();
    opened(&mut desk, "1");
    desk.hear("P", "Network.eventSourceMessageReceived", message("1", "hello"));
    desk.hear("P", "Network.loadingFinished", finished("1", 2.0));
    let ended = "the server ended the event stream; the browser connects again by server";
    let life = ["open".to_owned(), "got 5".to_owned(), format!("close None {ended}")];
    assert_eq!(sockets(&mut desk), life.map(|event| format!("ws {URL} {event}")));
    desk.hear("P", "Network.eventSourceMessageReceived", message("0", "older than the watching"));
    assert_eq!(sockets(&mut desk), ["ws  got 23"]);
}

#[test]
fn a_stream_that_breaks_off_is_one_loss_and_no_failed_request() {
    let mut desk = Desk::page();
    opened(&mut desk, "1");
    desk.hear("P", "Network.loadingFailed", failed("1", 2.0, "net::ERR_INCOMPLETE_CHUNKED_ENCODING"));
    let reason = "the event stream broke off: net::ERR_INCOMPLETE_CHUNKED_ENCODING; the browser connects again";
    let told = desk.all();
    assert!(told.contains(&format!("ws {URL} close None {reason} by server")), "{told:?}");
    assert!(told.contains(&format!("GET {URL} 200 eventsource")), "{told:?}");
    assert_eq!(told.len(), 3, "{told:?}");
}

#[test]
fn a_stream_that_the_page_leaves_is_closed_by_the_page() {
    let mut aborted = failed("1", 2.0, "net::ERR_ABORTED");
    aborted["canceled"] = true.into();
    let gone = json!({ "frame": { "id": "TP", "loaderId": "L2", "url": "http://app/next" } });
    for (method, params) in [("Network.loadingFailed", aborted), ("Page.frameNavigated", gone)] {
        let mut desk = Desk::page();
        opened(&mut desk, "1");
        desk.hear("P", method, params);
        let told = sockets(&mut desk);
        assert!(told.len() == 2 && told[1].ends_with(" by page"), "{method}: {told:?}");
    }
    let mut desk = Desk::page();
    opened(&mut desk, "1");
    desk.detach("P");
    assert!(sockets(&mut desk)[1].ends_with("the page is gone by page"));
}

#[test]
fn what_is_refused_or_no_stream_never_opens() {
    for (status, mime) in [(503, "text/event-stream"), (204, ""), (200, "application/json")] {
        let mut desk = Desk::page();
        desk.hear("P", "Network.requestWillBeSent", sent("1", "GET", URL, "EventSource", 1.0));
        desk.hear("P", "Network.responseReceived", begun("1", status, mime));
        desk.hear("P", "Network.loadingFinished", finished("1", 2.0));
        assert_eq!(desk.all(), [format!("GET {URL} {status} eventsource")]);
    }
}

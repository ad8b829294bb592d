//! Event streams: told as connections, and each of their failures once.

use backsight_browser::Phase;
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

/// Whether the stream is known to be lost, if that changed.
fn is_lost(desk: &mut Desk) -> Option<bool> {
    let under_way = desk.translator.take_under_way()?;
    Some(under_way.iter().any(|request| request.phase == Phase::Lost && request.asked.url == URL))
}

fn refused(id: &str) -> Value {
    let mut refused = failed(id, 3.0, "net::ERR_CONNECTION_REFUSED");
    refused["type"] = "EventSource".into();
    refused
}

#[test]
fn a_stream_that_was_lost_or_never_opened_is_lost_until_it_is_open() {
    for was_open in [true, false] {
        let mut desk = Desk::page();
        if was_open {
            opened(&mut desk, "1");
            assert_eq!(is_lost(&mut desk), Some(false));
            desk.hear("P", "Network.loadingFinished", finished("1", 2.0));
            assert_eq!(is_lost(&mut desk), Some(true), "the server ended it");
        }
        for id in ["2", "3"] {
            desk.hear("P", "Network.requestWillBeSent", sent(id, "GET", URL, "EventSource", 3.0));
            desk.hear("P", "Network.loadingFailed", refused(id));
            desk.wait(3_000);
            assert_eq!(is_lost(&mut desk), Some(true), "between two attempts");
        }
        opened(&mut desk, "4");
        assert_eq!(is_lost(&mut desk), Some(false));
    }
}

#[test]
fn a_lost_stream_is_nobodys_loss_once_the_page_closed_it_or_is_gone() {
    let gone = json!({ "frame": { "id": "TP", "loaderId": "L2", "url": "http://app/next" } });
    let payload = json!({ "stream": URL }).to_string();
    let closed = json!({ "name": "__backsightSockets", "payload": payload, "executionContextId": 1 });
    for (method, params) in [("Page.frameNavigated", gone), ("Runtime.bindingCalled", closed)] {
        let mut desk = Desk::page();
        opened(&mut desk, "1");
        desk.hear("P", "Network.loadingFinished", finished("1", 2.0));
        assert_eq!(is_lost(&mut desk), Some(true));
        desk.hear("P", method, params);
        assert_eq!(is_lost(&mut desk), Some(false), "{method}");
    }
}

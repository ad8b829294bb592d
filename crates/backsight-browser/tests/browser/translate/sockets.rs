//! Sockets: openings, frames, failures and closings with their codes.

use backsight_browser::event::{Event, Tool};
use backsight_browser::{Phase, Sign};
use serde_json::{Value, json};

use super::Desk;

const URL: &str = "ws://app/live";

fn open(desk: &mut Desk, id: &str) {
    desk.hear("P", "Network.webSocketCreated", json!({ "requestId": id, "url": URL }));
    desk.hear(
        "P",
        "Network.webSocketWillSendHandshakeRequest",
        json!({ "requestId": id, "timestamp": 10.0, "wallTime": 1_000.0, "request": {} }),
    );
    desk.hear(
        "P",
        "Network.webSocketHandshakeResponseReceived",
        json!({ "requestId": id, "timestamp": 10.5, "response": { "status": 101 } }),
    );
}

fn closed(id: &str) -> Value {
    json!({ "requestId": id, "timestamp": 11.0 })
}

fn report(code: u16, reason: &str) -> Value {
    let payload = json!({ "url": URL, "code": code, "reason": reason }).to_string();
    json!({ "name": "__backsightSockets", "payload": payload, "executionContextId": 1 })
}

fn frame(id: &str, opcode: u8, data: &str) -> Value {
    json!({ "requestId": id, "timestamp": 10.6, "response": { "opcode": opcode, "mask": true, "payloadData": data } })
}

#[test]
fn the_code_of_a_closing_comes_from_the_page_before_or_after() {
    let mut desk = Desk::page();
    open(&mut desk, "1");
    desk.hear("P", "Network.webSocketClosed", closed("1"));
    assert_eq!(desk.lines(), ["ws ws://app/live open"]);
    desk.hear("P", "Runtime.bindingCalled", report(4001, "app closed"));
    assert!(
        matches!(&desk.events[..], [Event::Websocket(socket)] if socket.time.0 == 1_001_000),
        "the closing's own time"
    );
    assert_eq!(desk.lines(), ["ws ws://app/live close Some(4001) app closed"]);
    open(&mut desk, "2");
    desk.hear("P", "Runtime.bindingCalled", report(1000, "bye"));
    desk.hear("P", "Network.webSocketClosed", closed("2"));
    assert_eq!(desk.all(), ["ws ws://app/live open", "ws ws://app/live close Some(1000) bye"]);
}

#[test]
fn a_closing_without_a_code_waits_a_quarter_of_a_second() {
    let mut desk = Desk::page();
    open(&mut desk, "1");
    desk.lines();
    desk.hear("P", "Network.webSocketClosed", closed("1"));
    desk.wait(200);
    assert_eq!(desk.events.len(), 0);
    desk.wait(100);
    assert_eq!(desk.lines(), ["ws ws://app/live close None"]);
}

#[test]
fn frames_have_sizes_and_no_contents() {
    let mut desk = Desk::page();
    open(&mut desk, "1");
    desk.lines();
    desk.hear("P", "Network.webSocketFrameSent", frame("1", 1, "h\u{c3}\u{a4}llo"));
    desk.hear("P", "Network.webSocketFrameReceived", frame("1", 1, "hällo"));
    desk.hear("P", "Network.webSocketFrameSent", frame("1", 2, "AQIDBA=="));
    desk.hear("P", "Network.webSocketFrameReceived", frame("1", 2, ""));
    desk.hear("P", "Network.webSocketFrameReceived", frame("1", 9, "ping"));
    assert_eq!(
        desk.lines(),
        ["ws ws://app/live sent 6", "ws ws://app/live got 6", "ws ws://app/live sent 4", "ws ws://app/live got 0"]
    );
}

#[test]
fn a_connection_that_never_came_about_is_an_error_and_no_disconnection() {
    let mut desk = Desk::page();
    desk.hear("P", "Network.webSocketCreated", json!({ "requestId": "1", "url": URL }));
    desk.hear(
        "P",
        "Network.webSocketFrameError",
        json!({ "requestId": "1", "timestamp": 1.0, "errorMessage": "Unexpected response code: 403" }),
    );
    let text = "WebSocket connection to 'ws://app/live' failed: Unexpected response code: 403";
    desk.hear(
        "P",
        "Log.entryAdded",
        json!({ "entry": { "source": "network", "level": "error", "text": text, "timestamp": 1_000_001.0 } }),
    );
    desk.hear("P", "Network.webSocketClosed", closed("1"));
    desk.hear("P", "Runtime.bindingCalled", report(1006, ""));
    assert_eq!(desk.all(), ["ws ws://app/live error Unexpected response code: 403"]);
}

#[test]
fn an_error_on_an_open_connection_is_an_error_and_a_disconnection() {
    let mut desk = Desk::page();
    open(&mut desk, "1");
    desk.hear(
        "P",
        "Network.webSocketFrameError",
        json!({ "requestId": "1", "timestamp": 10.9, "errorMessage": "Invalid frame" }),
    );
    desk.hear("P", "Network.webSocketClosed", closed("1"));
    desk.hear("P", "Runtime.bindingCalled", report(1006, ""));
    assert_eq!(
        desk.all(),
        ["ws ws://app/live open", "ws ws://app/live error Invalid frame", "ws ws://app/live close Some(1006)"]
    );
}

#[test]
fn what_hot_reload_says_to_the_page_is_a_sign() {
    let mut desk = Desk::page();
    let update = r#"{"type":"update","updates":[{"type":"js-update","path":"/src/App.jsx"}]}"#;
    desk.hear("P", "Network.webSocketFrameReceived", frame("1", 1, r#"{"type":"connected"}"#));
    desk.hear("P", "Network.webSocketFrameSent", frame("1", 1, update));
    assert_eq!(desk.signs, []);
    desk.hear("P", "Network.webSocketFrameReceived", frame("1", 1, update));
    desk.hear("P", "Network.webSocketFrameReceived", frame("2", 1, r#"{"type":"invalid"}"#));
    assert_eq!(desk.signs, [Sign::HotUpdate, Sign::Building]);
}

#[test]
fn a_socket_older_than_the_watching_has_no_address_until_it_closes() {
    let mut desk = Desk::page();
    desk.hear("P", "Network.webSocketFrameReceived", frame("1", 1, "abc"));
    desk.hear("P", "Network.webSocketClosed", closed("1"));
    desk.hear("P", "Runtime.bindingCalled", report(1006, ""));
    desk.hear("P", "Network.webSocketClosed", closed("2"));
    assert_eq!(desk.all(), ["ws  got 3", "ws ws://app/live close Some(1006)", "ws  close None"]);
}

#[test]
fn the_code_of_one_socket_is_never_given_to_another() {
    let mut desk = Desk::page();
    // An old socket without an address closes while a known one at another address is open.
    desk.hear("P", "Network.webSocketFrameReceived", frame("old", 1, "abc"));
    open(&mut desk, "1");
    desk.hear("P", "Network.webSocketClosed", closed("old"));
    desk.hear("P", "Runtime.bindingCalled", report(4001, "mine"));
    desk.hear("P", "Network.webSocketClosed", closed("1"));
    assert_eq!(
        desk.all(),
        ["ws  got 3", "ws ws://app/live open", "ws ws://app/live close Some(4001) mine", "ws  close None"]
    );
    // A connection that was refused is reported by the page as 1006, before or after, and the next try is another one.
    for page_first in [true, false] {
        let mut desk = Desk::page();
        desk.hear("P", "Network.webSocketCreated", json!({ "requestId": "1", "url": URL }));
        desk.hear(
            "P",
            "Network.webSocketFrameError",
            json!({ "requestId": "1", "timestamp": 1.0, "errorMessage": "refused" }),
        );
        if page_first {
            desk.hear("P", "Runtime.bindingCalled", report(1006, ""));
        }
        desk.hear("P", "Network.webSocketClosed", closed("1"));
        if !page_first {
            desk.hear("P", "Runtime.bindingCalled", report(1006, ""));
        }
        open(&mut desk, "2");
        desk.hear("P", "Network.webSocketClosed", closed("2"));
        desk.hear("P", "Runtime.bindingCalled", report(1000, "bye"));
        assert_eq!(
            desk.all(),
            ["ws ws://app/live error refused", "ws ws://app/live open", "ws ws://app/live close Some(1000) bye"]
        );
    }
}

#[test]
fn sockets_of_a_page_that_is_gone_went_with_it() {
    let mut desk = Desk::page();
    open(&mut desk, "1");
    desk.lines();
    desk.detach("P");
    assert_eq!(desk.lines(), ["ws ws://app/live close Some(1001) the page is gone by page"]);
    assert!(!desk.translator.pending());
}

#[test]
fn sockets_of_a_document_that_was_left_are_closed_although_nobody_says_so() {
    let mut desk = Desk::page();
    open(&mut desk, "1");
    desk.lines();
    let frame = json!({ "id": "another frame", "parentId": "TP", "loaderId": "L2", "url": "http://app/frame" });
    desk.hear("P", "Page.frameNavigated", json!({ "frame": frame }));
    assert_eq!(desk.lines(), Vec::<String>::new(), "a frame within the page may go where it wants");
    desk.hear(
        "P",
        "Page.frameNavigated",
        json!({ "frame": { "id": "TP", "loaderId": "L2", "url": "http://app/next" } }),
    );
    assert_eq!(desk.all(), ["ws ws://app/live close Some(1001) the page went on by page", "Navigate http://app/next"]);
}

#[test]
fn what_the_page_closed_itself_is_no_error_and_says_so() {
    let mut desk = Desk::page();
    // React's StrictMode: closed before it is connected, and opened again. Chromium says so in two places.
    let text = "WebSocket is closed before the connection is established.";
    let said = format!("WebSocket connection to '{URL}' failed: {text}");
    let entry = json!({ "source": "javascript", "level": "warning", "text": said, "timestamp": 1_000_001.0 });
    desk.hear("P", "Network.webSocketCreated", json!({ "requestId": "1", "url": URL }));
    desk.hear("P", "Log.entryAdded", json!({ "entry": entry }));
    let error = json!({ "requestId": "1", "timestamp": 1.0, "errorMessage": text });
    desk.hear("P", "Network.webSocketFrameError", error);
    desk.hear("P", "Network.webSocketClosed", closed("1"));
    desk.hear("P", "Runtime.bindingCalled", report(1006, ""));
    open(&mut desk, "2");
    assert_eq!(desk.all(), ["ws ws://app/live open"]);
    // One that was connected.
    desk.hear("P", "Network.webSocketClosed", closed("2"));
    let payload = json!({ "url": URL, "code": 1005, "reason": "", "by_page": true }).to_string();
    desk.hear("P", "Runtime.bindingCalled", json!({ "name": "__backsightSockets", "payload": payload }));
    assert_eq!(desk.all(), ["ws ws://app/live close Some(1005)  by page"]);
}

fn tools(desk: &Desk) -> Vec<Option<Tool>> {
    let tool = |event: &Event| match event {
        Event::Websocket(socket) => Some(socket.tool),
        _ => None,
    };
    desk.events.iter().filter_map(tool).collect()
}

#[test]
fn a_tools_socket_is_known_by_its_protocol_or_by_the_script_that_opens_it() {
    let mut desk = Desk::page();
    let (hmr, app) = ("ws://app:5173/?token=x", "ws://app:5173/");
    let headers = json!({ "Host": "app", "Sec-WebSocket-Protocol": "vite-hmr" });
    desk.hear("P", "Network.webSocketCreated", json!({ "requestId": "1", "url": hmr }));
    desk.hear(
        "P",
        "Network.webSocketWillSendHandshakeRequest",
        json!({ "requestId": "1", "request": { "headers": headers } }),
    );
    desk.hear("P", "Network.webSocketHandshakeResponseReceived", json!({ "requestId": "1", "timestamp": 1.0 }));
    // A connection that is refused never comes to its handshake.
    let opened_by = |script: &str| json!({ "type": "script", "stack": { "callFrames": [{ "url": script }] } });
    let client = opened_by("http://app:5173/@vite/client");
    desk.hear("P", "Network.webSocketCreated", json!({ "requestId": "2", "url": hmr, "initiator": client }));
    desk.hear(
        "P",
        "Network.webSocketFrameError",
        json!({ "requestId": "2", "timestamp": 2.0, "errorMessage": "refused" }),
    );
    let chat = opened_by("http://app:5173/src/chat.ts");
    desk.hear("P", "Network.webSocketCreated", json!({ "requestId": "3", "url": app, "initiator": chat }));
    desk.hear("P", "Network.webSocketHandshakeResponseReceived", json!({ "requestId": "3", "timestamp": 1.0 }));
    assert_eq!(tools(&desk), [Some(Tool::Vite), Some(Tool::Vite), None]);
}

#[test]
fn a_page_that_goes_takes_its_lost_tools_along() {
    let mut desk = Desk::page();
    let hmr = "ws://app:5173/?token=x";
    let client = json!({ "type": "script", "stack": { "callFrames": [{ "url": "http://app:5173/@vite/client" }] } });
    for id in ["1", "2", "3"] {
        desk.hear("P", "Network.webSocketCreated", json!({ "requestId": id, "url": hmr, "initiator": client }));
        desk.hear(
            "P",
            "Network.webSocketFrameError",
            json!({ "requestId": id, "timestamp": 1.0, "errorMessage": "refused" }),
        );
        desk.hear("P", "Network.webSocketClosed", closed(id));
    }
    desk.lines();
    let frame = json!({ "id": "TP", "loaderId": "L2", "url": "http://app/next" });
    desk.hear("P", "Page.frameNavigated", json!({ "frame": frame }));
    let lines = desk.all();
    assert_eq!(lines, [format!("ws {hmr} close None the page went on by page"), "Navigate http://app/next".to_owned()]);
}

#[test]
fn a_page_that_is_loaded_again_is_to_open_its_sockets_again() {
    for (to, by) in [("http://app/?again", ""), ("http://app/other", " by page")] {
        let mut desk = Desk::page();
        open(&mut desk, "1");
        desk.lines();
        desk.hear("P", "Page.frameNavigated", json!({ "frame": { "id": "TP", "loaderId": "L2", "url": to } }));
        assert_eq!(desk.lines()[0], format!("ws ws://app/live close Some(1001) the page went on{by}"));
    }
}

#[test]
fn actions_are_told_with_who_did_them_and_never_with_what_was_typed() {
    let mut desk = Desk::page();
    let act = |payload: Value| json!({ "name": "__backsightActions", "payload": payload.to_string() });
    desk.hear(
        "P",
        "Runtime.bindingCalled",
        act(json!({ "kind": "click", "target": "#go", "trusted": true, "at": 1_000_000 })),
    );
    desk.hear(
        "P",
        "Runtime.bindingCalled",
        act(json!({ "kind": "input", "target": "#q", "detail": "12 characters", "trusted": false })),
    );
    desk.hear("P", "Runtime.bindingCalled", act(json!({ "kind": "rage", "target": "#q" })));
    desk.hear("P", "Runtime.bindingCalled", json!({ "name": "theirOwn", "payload": "anything" }));
    assert_eq!(desk.lines(), ["Click #go", "Input #q 12 characters, by script"]);
    assert_eq!(desk.translator.malformed(), 1);
}

#[test]
fn a_socket_that_connects_is_a_request_without_an_answer() {
    let connecting = |desk: &mut Desk| {
        let under_way = desk.translator.take_under_way()?;
        let sockets = under_way.iter().filter(|request| request.asked.url == URL);
        Some(sockets.map(|socket| (socket.since.0, socket.phase)).collect::<Vec<_>>())
    };
    let created = |desk: &mut Desk| desk.hear("P", "Network.webSocketCreated", json!({ "requestId": "1", "url": URL }));
    let error = |message: &str| json!({ "requestId": "1", "timestamp": 1.0, "errorMessage": message });
    let answered = json!({ "requestId": "1", "timestamp": 10.5, "response": { "status": 101 } });
    let gone = json!({ "frame": { "id": "TP", "loaderId": "L2", "url": "http://app/next" } });
    let ends = [
        ("Network.webSocketHandshakeResponseReceived", answered),
        ("Network.webSocketFrameError", error("net::ERR_CONNECTION_REFUSED")),
        ("Network.webSocketFrameError", error("WebSocket is closed before the connection is established.")),
        ("Network.webSocketClosed", closed("1")),
        ("Page.frameNavigated", gone),
    ];
    for (method, params) in ends {
        let mut desk = Desk::page();
        created(&mut desk);
        assert_eq!(connecting(&mut desk), Some(vec![(desk.now, Phase::Unanswered)]));
        desk.wait(12_000);
        assert_eq!(connecting(&mut desk), None, "nothing changed");
        desk.hear("P", method, params);
        assert_eq!(connecting(&mut desk), Some(vec![]), "{method}");
    }
    // Frames of a connection change nothing, and neither does one that is older than the watching.
    let mut desk = Desk::page();
    open(&mut desk, "1");
    connecting(&mut desk);
    desk.hear("P", "Network.webSocketFrameReceived", frame("1", 1, "tick"));
    desk.hear("P", "Network.webSocketFrameReceived", frame("9", 1, "tick"));
    assert_eq!(connecting(&mut desk), None);
}

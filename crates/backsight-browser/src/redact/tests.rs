//! That no text of an event is forgotten. What is a secret is tested in `backsight-redact`.

use backsight_core::Timestamp;

use super::*;
use crate::event::{Action, ActionKind, Cause, Frame, Level, Speaker};

#[test]
fn every_text_of_every_event_is_redacted() {
    let secret = "password=hunter2";
    let console = Console {
        time: Timestamp(0),
        level: Level::Error,
        speaker: Speaker::Page,
        message: secret.to_owned(),
        stack: vec![Frame {
            file: format!("http://x.test/a.js?{secret}"),
            function: secret.to_owned(),
            ..Frame::default()
        }],
        causes: vec![Cause {
            message: secret.to_owned(),
            stack: vec![Frame { file: secret.to_owned(), function: secret.to_owned(), ..Frame::default() }],
        }],
        page: Some(secret.to_owned()),
        backfilled: false,
    };
    let some = || Some(secret.to_owned());
    let request = Request {
        time: Timestamp(0),
        method: "GET".to_owned(),
        url: format!("http://x.test/?{secret}"),
        status: 500,
        failure: some(),
        canceled: false,
        duration_ms: None,
        kind: None,
        mime: None,
        operation: some(),
        request_body: some(),
        response_body: some(),
        exchange: None,
        page: some(),
        backfilled: false,
    };
    let socket = |event: SocketEvent| {
        Event::Websocket(Socket {
            time: Timestamp(0),
            id: "1".to_owned(),
            url: format!("ws://x.test/?{secret}"),
            event,
            tool: None,
            page: some(),
            backfilled: false,
        })
    };
    let action = Action {
        time: Timestamp(0),
        kind: ActionKind::Click,
        target: secret.to_owned(),
        detail: secret.to_owned(),
        page: some(),
        frame: some(),
    };
    for mut event in [
        Event::Console(console),
        Event::Network(request),
        socket(SocketEvent::Error { message: secret.to_owned() }),
        socket(SocketEvent::Close { code: Some(1000), reason: secret.to_owned(), by: None }),
        Event::Action(action),
    ] {
        super::event(&Redactor::of_wire(1), &mut event);
        let shown = format!("{event:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("[REDACTED:password:"));
    }
}

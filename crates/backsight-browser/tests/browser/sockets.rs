//! How connections end: by the page, by the server, by a loss; and the dev server's own connection.

use std::sync::Arc;

use backsight_browser::event::{Event, Side, Socket, SocketEvent, Tool};
use backsight_browser::report::Severity;
use backsight_browser::{AskedFor, Ingest, Phase, SourceKind, UnderWay};

use crate::app::App;

#[test]
fn what_the_page_closes_in_order_is_told_and_is_no_warning() {
    let app = App::watched();
    let close = |code, by| SocketEvent::Close { code: Some(code), reason: String::new(), by };
    let ended = |code, by| {
        app.socket("1", SocketEvent::Open);
        app.socket("1", close(code, by));
        let changes = app.changes();
        (changes.severity, changes.websocket.unwrap().disconnections[0].by)
    };
    let (page, server) = (Some(Side::Page), Some(Side::Server));
    assert_eq!(ended(1000, page), (Severity::Clean, page));
    assert_eq!(ended(1005, page), (Severity::Clean, page));
    assert_eq!(ended(1006, page), (Severity::Clean, page), "it closed what would not answer any more");
    assert_eq!(ended(4001, page), (Severity::Warning, page), "a code of the app's own says that something is wrong");
    assert_eq!(ended(1000, server), (Severity::Warning, server));
    assert_eq!(ended(1000, None), (Severity::Warning, None));
    assert_eq!(ended(1006, None), (Severity::Warning, None));
}

#[test]
fn a_socket_that_could_not_connect_and_is_open_now_has_recovered() {
    let app = App::watched();
    let refused = || SocketEvent::Error { message: "net::ERR_CONNECTION_REFUSED".to_owned() };
    app.socket("1", refused());
    assert_eq!(app.changes().severity, Severity::Error);
    app.socket("2", refused());
    app.socket("3", SocketEvent::Open);
    let changes = app.changes();
    assert_eq!((changes.severity, changes.summary.as_str()), (Severity::Clean, "1 websocket(s) connected again"));
    assert!(changes.websocket.unwrap().errors[0].recovered);
    // What goes wrong on a connection is not undone by another one, and a later failure is a failure.
    app.socket("3", SocketEvent::Error { message: "Invalid frame header".to_owned() });
    app.socket("4", SocketEvent::Open);
    assert_eq!(app.changes().severity, Severity::Error);
    app.socket("5", refused());
    assert_eq!(app.changes().severity, Severity::Error);
}

#[test]
fn an_event_stream_that_is_lost_is_a_warning_until_it_is_open_again() {
    let app = App::watched();
    let stream = |id: &str, event| match app.happened(id, event) {
        Event::Websocket(socket) => {
            app.record(Event::Websocket(Socket { url: "http://localhost:3000/events".to_owned(), ..socket }))
        }
        _ => unreachable!(),
    };
    let ended =
        |by| SocketEvent::Close { code: None, reason: "the server ended the event stream".to_owned(), by: Some(by) };
    stream("1", SocketEvent::Open);
    stream("1", SocketEvent::Message { sent: false, bytes: 5 });
    let open = app.changes();
    assert_eq!(open.severity, Severity::Clean);
    assert_eq!(open.websocket.unwrap().total_new, 2, "messages are counted");
    stream("1", ended(Side::Server));
    let lost = app.changes();
    assert_eq!((lost.severity, lost.summary.as_str()), (Severity::Warning, "1 event stream(s) lost"));
    stream("2", SocketEvent::Open);
    assert_eq!(app.changes().severity, Severity::Clean, "it is open again");
    stream("2", ended(Side::Server));
    stream("3", SocketEvent::Open);
    let again = app.changes();
    assert_eq!(again.severity, Severity::Clean, "browsers connect again by themselves");
    assert!(again.websocket.unwrap().disconnections[0].reconnected);
    stream("3", ended(Side::Page));
    assert_eq!(app.changes().severity, Severity::Clean, "the page closed it");
}

#[test]
fn a_lost_dev_server_is_told_as_long_as_it_is_lost_and_its_chatter_is_not() {
    let app = App::watched();
    let vite = |id: &str, event| match app.happened(id, event) {
        Event::Websocket(socket) => app.record(Event::Websocket(Socket { tool: Some(Tool::Vite), ..socket })),
        _ => unreachable!(),
    };
    let close = |by| SocketEvent::Close { code: Some(1006), reason: String::new(), by };
    let refused = || SocketEvent::Error { message: "net::ERR_CONNECTION_REFUSED".to_owned() };
    vite("1", SocketEvent::Open);
    assert_eq!(app.changes().severity, Severity::Clean);
    vite("1", close(None));
    let first = app.changes();
    assert_eq!(first.severity, Severity::Unknown, "it may start again");
    assert!(first.summary.contains("the dev server's connection was lost a moment ago"), "{}", first.summary);
    for id in 2..7 {
        app.pass(1000);
        vite(&id.to_string(), refused());
    }
    for _ in 0..2 {
        app.pass(1000);
        let lost = app.changes();
        let websocket = lost.websocket.unwrap();
        assert_eq!((lost.severity, websocket.errors.len(), websocket.disconnections.len()), (Severity::Warning, 0, 1));
        assert_eq!(websocket.disconnections[0].close_reason, "the dev server's connection is lost");
    }
    // It is back.
    vite("7", SocketEvent::Open);
    assert_eq!(app.changes().severity, Severity::Clean);
    // A restart that takes a moment says nothing afterwards.
    vite("7", close(None));
    app.pass(1000);
    vite("8", SocketEvent::Open);
    app.pass(9000);
    assert_eq!(app.changes().severity, Severity::Clean);
    // The page that lost it is gone.
    vite("8", close(None));
    app.pass(9000);
    assert_eq!(app.changes().severity, Severity::Warning);
    vite("8", close(Some(Side::Page)));
    assert_eq!(app.changes().severity, Severity::Clean);
    // The app's own socket at the same address is another one.
    app.socket("9", SocketEvent::Open);
    app.socket("9", close(None));
    assert_eq!(app.changes().websocket.unwrap().disconnections[0].close_code, Some(1006));
}

#[test]
fn the_dev_servers_own_process_may_end_and_its_connection_stays_lost() {
    let app = App::watched();
    let vite = |event| match app.happened("1", event) {
        Event::Websocket(socket) => app.record(Event::Websocket(Socket { tool: Some(Tool::Vite), ..socket })),
        _ => unreachable!(),
    };
    let process = || Ingest { source: "terminal: web".to_owned(), kind: SourceKind::Process, ..Ingest::default() };
    app.browser.ingest(process());
    vite(SocketEvent::Open);
    assert_eq!(app.changes().severity, Severity::Clean);
    vite(SocketEvent::Close { code: Some(1006), reason: String::new(), by: None });
    app.browser.ingest(Ingest { ended: Some("it ended".to_owned()), ..process() });
    app.pass(9000);
    let lost = app.changes();
    assert_eq!(lost.severity, Severity::Warning);
    assert_eq!(lost.websocket.unwrap().disconnections[0].close_reason, "the dev server's connection is lost");
}

fn under_way(app: &App, url: &str, phase: Phase) -> UnderWay {
    let asked = AskedFor { method: "GET".to_owned(), url: url.to_owned(), operation: None };
    UnderWay { since: app.now(), phase, is_document: false, asked: Arc::new(asked) }
}

#[test]
fn a_socket_that_does_not_connect_is_overdue_in_every_answer() {
    let app = App::watched();
    app.browser.requests_under_way(&[under_way(&app, "ws://localhost:3000/live?token=abc", Phase::Unanswered)]);
    assert!(app.changes().summary.contains("1 request(s) are still in flight (GET /live)"));
    for age in [5, 12, 40] {
        app.pass(age * 1_000 - (app.now().0 - crate::app::START));
        let changes = app.changes();
        let expected = format!("1 request(s) without an answer (GET ws://localhost:3000/live for {age} s)");
        assert_eq!((changes.severity, changes.summary), (Severity::Warning, expected));
    }
    app.browser.requests_under_way(&[]);
    assert_eq!(app.changes().severity, Severity::Clean);
}

#[test]
fn a_lost_event_stream_is_a_warning_in_every_answer_and_is_waited_for_by_none() {
    let app = App::watched();
    let url = "http://localhost:3000/events";
    app.browser.requests_under_way(&[under_way(&app, url, Phase::Lost)]);
    for age in [0, 2, 30] {
        app.pass(age * 1_000 - (app.now().0 - crate::app::START));
        let changes = app.changes();
        assert_eq!((changes.severity, changes.summary.as_str()), (Severity::Warning, "1 event stream(s) lost"));
        let lost = &changes.websocket.unwrap().disconnections[0];
        let reason = format!("the event stream is lost for {age} s");
        assert_eq!((lost.url.as_str(), &lost.close_reason, changes.in_flight), (url, &reason, 0));
    }
    // The loss itself says more, and an attempt that fails is an error.
    let reason = "the server ended the event stream; the browser connects again".to_owned();
    for event in [SocketEvent::Open, SocketEvent::Close { code: None, reason, by: Some(Side::Server) }] {
        if let Event::Websocket(socket) = app.happened("1", event) {
            app.record(Event::Websocket(Socket { url: url.to_owned(), ..socket }));
        }
    }
    assert_eq!(app.changes().websocket.unwrap().disconnections.len(), 1);
    app.request("GET", "/events", 0);
    assert_eq!(app.changes().severity, Severity::Error);
    assert_eq!(app.changes().severity, Severity::Warning, "between two attempts");
    app.browser.requests_under_way(&[]);
    assert_eq!(app.changes().severity, Severity::Clean);
}

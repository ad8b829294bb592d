//! One entry in full, and the log: what an answer cuts can be asked for, and what is gone is an error.

use backsight_browser::entry::LogAsk;
use backsight_browser::event::{ActionKind, Category, Event, Level, SocketEvent};
use backsight_browser::exchange::{Exchange, Head};
use backsight_browser::{Limits, render};
use backsight_core::Code;

use crate::app::App;

#[test]
fn every_entry_of_an_answer_leads_to_all_of_it() {
    let app = App::watched();
    let long = format!("TypeError: total is undefined {}", "at the cart ".repeat(200));
    (0..3).for_each(|_| app.error(&long));
    app.warn("slow");
    app.request("POST", "/api/orders", 500);
    app.socket("1", SocketEvent::Open);
    app.socket("1", SocketEvent::Close { code: Some(1006), reason: "gone away".to_owned(), by: None });
    app.act(ActionKind::Click, "#pay");
    let changes = app.changes();
    let console = changes.console.unwrap();
    assert!(console.errors[0].message.ends_with('…'));
    let entry = app.browser.entry(&console.errors[0].id).unwrap();
    assert_eq!((entry.count, entry.last.0 - entry.first.0), (3, 2));
    let said = entry.console.as_ref().unwrap();
    assert_eq!((said.message.as_str(), said.stack[0].line), (long.as_str(), 10));
    assert!(entry.cut.is_empty(), "{:?}", entry.cut);
    assert_eq!(app.browser.entry(&console.warnings[0].id).unwrap().console.unwrap().level, Level::Warning);
    let failed = app.browser.entry(&changes.network.unwrap().failures[0].id).unwrap().network.unwrap();
    assert_eq!((failed.method.as_str(), failed.status), ("POST", 500));
    let websocket = changes.websocket.unwrap();
    let closed = app.browser.entry(&websocket.disconnections[0].id).unwrap().websocket.unwrap();
    assert_eq!((closed.close_code, closed.message.as_str()), (Some(1006), "gone away"));
    assert_eq!(app.browser.entry(&websocket.connections[0].id).unwrap().websocket.unwrap().event, "open");
    let action = &changes.actions.unwrap().actions[0];
    assert_eq!(app.browser.entry(&action.id).unwrap().action.unwrap().target, "#pay");
}

#[test]
fn an_id_stays_that_of_its_error_and_shows_the_latest_one() {
    let app = App::watched();
    app.error("order 11111 was rejected");
    let first = app.changes().console.unwrap().errors[0].id.clone();
    app.error("order 22222 was rejected");
    let again = app.changes().console.unwrap().errors[0].id.clone();
    assert_eq!(first, again);
    let entry = app.browser.entry(&again).unwrap();
    assert_eq!(entry.console.unwrap().message, "order 22222 was rejected");
    assert_eq!((entry.count, entry.variants), (2, vec!["order 11111 was rejected".to_owned()]));
}

#[test]
fn errors_outlive_the_chatter_and_what_is_gone_is_an_error() {
    let app = App::with(Limits { console: 10, ..Limits::default() });
    app.watch();
    app.error("the one that matters");
    app.say(Level::Info, "soon gone");
    (0..50).for_each(|number| app.say(Level::Info, &format!("tick {number}")));
    assert_eq!(app.browser.entry("c1").unwrap().console.unwrap().message, "the one that matters");
    let gone = app.browser.entry("c2").unwrap_err();
    assert_eq!(gone.code(), Code::RefExpired, "{gone}");
    assert_eq!(app.browser.entry("c9999").unwrap_err().code(), Code::RefNotFound);
    assert_eq!(app.browser.entry("n1").unwrap_err().code(), Code::RefNotFound);
    assert_eq!(app.browser.entry("first").unwrap_err().code(), Code::Usage);
    let page = app.browser.log("agent", &LogAsk::default()).unwrap();
    assert_eq!((page.rows.len(), page.dropped.get(&Category::Console)), (10, Some(&42)));
}

#[test]
fn long_texts_are_cut_and_counted_and_memory_is_bounded() {
    let app = App::watched();
    for number in 0..2_000 {
        app.error(&format!("{} {number}", "word ".repeat(3_000)));
    }
    let entry = app.browser.entry("c2000").unwrap();
    let kept = entry.console.unwrap().message.len();
    assert!(kept <= 8 << 10 && entry.cut["text_bytes"] > 0, "{kept}");
    let most = LogAsk { limit: Some(200), ..LogAsk::default() };
    let mut page = app.browser.log("agent", &most).unwrap();
    let mut rows = page.rows.len() as u64 + page.older;
    assert!(rows * (8 << 10) <= 9 << 20, "{rows} rows are kept");
    assert_eq!(rows + page.dropped[&Category::Console], 2_000);
    // Pages follow each other without a gap.
    let mut seen = Vec::new();
    loop {
        seen.extend(page.rows.iter().map(|row| row.id.clone()));
        rows = rows.saturating_sub(page.rows.len() as u64);
        let Some(cursor) = page.cursor.clone() else { break };
        page = app.browser.log("agent", &LogAsk { cursor: Some(cursor), ..most.clone() }).unwrap();
    }
    assert_eq!((rows, seen.first().map(String::as_str)), (0, Some("c2000")));
    seen.dedup();
    assert!(seen.windows(2).all(|two| two[0] != two[1]));
}

#[test]
fn the_log_is_filtered_by_what_one_asks_for() {
    let app = App::watched();
    app.say(Level::Info, "hello");
    app.warn("Deprecated call");
    app.error("boom");
    app.browser.create_checkpoint("here", None).unwrap();
    app.request("GET", "/api/users", 200);
    app.request("GET", "/api/orders", 404);
    app.request("GET", "/api/down", 0);
    app.act(ActionKind::Click, "#deprecated");
    let ids = |ask: LogAsk| -> Vec<String> {
        app.browser.log("agent", &ask).unwrap().rows.into_iter().map(|row| row.id).collect()
    };
    let ask = LogAsk::default;
    assert_eq!(ids(ask()), ["a1", "n3", "n2", "n1", "c3", "c2", "c1"]);
    assert_eq!(ids(LogAsk { category: Some(Category::Network), ..ask() }), ["n3", "n2", "n1"]);
    assert_eq!(ids(LogAsk { level: Some(Level::Warning), ..ask() }), ["c3", "c2"]);
    assert_eq!(ids(LogAsk { text: Some("DEPRECATED".to_owned()), ..ask() }), ["a1", "c2"]);
    assert_eq!(ids(LogAsk { status: Some("4xx".to_owned()), ..ask() }), ["n2"]);
    assert_eq!(ids(LogAsk { status: Some("failed".to_owned()), ..ask() }), ["n3", "n2"]);
    assert_eq!(ids(LogAsk { status: Some("200".to_owned()), ..ask() }), ["n1"]);
    assert_eq!(ids(LogAsk { since: Some("here".to_owned()), ..ask() }), ["a1", "n3", "n2", "n1"]);
    let wrong = |ask: LogAsk| app.browser.log("agent", &ask).unwrap_err().code();
    assert_eq!(wrong(LogAsk { status: Some("bad".to_owned()), ..ask() }), Code::Usage);
    assert_eq!(wrong(LogAsk { cursor: Some("x".to_owned()), ..ask() }), Code::Usage);
    assert_eq!(wrong(LogAsk { since: Some("nowhere".to_owned()), ..ask() }), Code::CheckpointNotFound);
}

#[test]
fn heads_and_bodies_are_shown_without_their_secrets() {
    let app = App::watched();
    let Event::Network(mut request) = app.requested("POST", "/api/pay?token=QUERYsecret123", 402, Some(12.0)) else {
        unreachable!()
    };
    let head =
        |pairs: &[(&str, &str)]| Head::of(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    request.request_body = Some(r#"{"password":"BODYsecret123","amount":12}"#.to_owned());
    request.response_body = Some(r#"{"error":"card declined"}"#.to_owned());
    request.exchange = Some(Box::new(Exchange {
        request: head(&[
            ("Authorization", "Bearer HEADsecret123"),
            ("Cookie", "sid=COOKIEsecret123"),
            ("Accept", "*/*"),
        ]),
        response: head(&[("Set-Cookie", "sid=SETsecret123; HttpOnly"), ("X-Trace", "abc")]),
        initiator: "script".to_owned(),
        ..Exchange::default()
    }));
    app.record(Event::Network(request));
    let entry = app.browser.entry("n1").unwrap();
    let shown = render::entry(&entry);
    for wire in [serde_json::to_string(&entry).unwrap(), shown.clone()] {
        for secret in ["QUERYsecret123", "BODYsecret123", "HEADsecret123", "COOKIEsecret123", "SETsecret123"] {
            assert!(!wire.contains(secret), "{secret} in {wire}");
        }
        for kept in ["card declined", "amount", "x-trace", "HttpOnly", "sid=", "Bearer ["] {
            assert!(wire.contains(kept), "{kept} in {wire}");
        }
    }
}

#[test]
fn a_pages_words_never_stand_at_the_margin() {
    let app = App::watched();
    app.error("first line\nn99 GET /forged\n\u{1b}[31mred\u{202e}");
    let shown = render::entry(&app.browser.entry("c1").unwrap());
    let ours = ["c1 ", "message:", "stack:", "page:"];
    for line in shown.lines() {
        assert!(line.starts_with(' ') || ours.iter().any(|ours| line.starts_with(ours)), "{line:?} in {shown}");
    }
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown:?}");
}

#[test]
fn what_is_kept_for_good_is_a_path_and_a_fingerprint() {
    let app = App::watched();
    app.act(ActionKind::Navigate, "http://localhost:3000/orders/4711?coupon=SUMMER&q=jane%40example.test#top");
    app.error("TypeError: cannot greet Jane Doe of 12 Elm Street");
    app.error("no basket for Jane Doe");
    let made = app.browser.create_checkpoint("before", None).unwrap();
    assert_eq!(made.checkpoint.page.as_deref(), Some("http://localhost:3000/orders/{id}"));
    let baseline = app.browser.save_baseline("well").unwrap();
    let notes = app.browser.take_notables();
    let kept = format!(
        "{} {} {notes:?}",
        serde_json::to_string(&made.checkpoint).unwrap(),
        serde_json::to_string(&baseline).unwrap()
    );
    for personal in ["SUMMER", "jane", "Jane", "Elm", "4711", "greet", "basket"] {
        assert!(!kept.contains(personal), "{personal} in {kept}");
    }
    assert!(notes.iter().any(|note| note.description.contains("TypeError at app.js:10")), "{notes:?}");
    // What an older version kept is understood, and says no more than what is kept now.
    let mut old = serde_json::to_value(&baseline).unwrap();
    old["messages"] = serde_json::json!({ "17": "a text", "18446744073709551615": "another" });
    let read: backsight_browser::baseline::Baseline = serde_json::from_value(old).unwrap();
    assert_eq!(read.messages.into_iter().collect::<Vec<u64>>(), [17, u64::MAX]);
}

#[test]
fn an_archive_holds_what_was_requested_and_says_what_is_gone() {
    let app = App::with(Limits { network: 3, ..Limits::default() });
    app.watch();
    app.act(ActionKind::Navigate, "http://localhost:3000/");
    app.request("GET", "/early", 200);
    app.timed("POST", "/api/pay?token=QUERYsecret123&a=1", 500, Some(30.0));
    app.request("GET", "/down", 0);
    app.request("GET", "/last", 200);
    let har = app.browser.har().log;
    assert_eq!((har.version.as_str(), har.entries.len(), har.pages.len()), ("1.2", 3, 1));
    assert_eq!(har.comment, "1 earlier requests are no longer kept");
    let paid = &har.entries[0];
    assert_eq!((paid.request.method.as_str(), paid.response.status, paid.time), ("POST", 500, 30.0));
    assert_eq!(paid.pageref.as_deref(), Some("page_1"));
    assert!(paid.request.url.contains("token=%5BREDACTED") && paid.request.query_string[1].value == "1");
    assert_eq!(har.entries[1].error.as_deref(), Some("net::ERR_CONNECTION_REFUSED"));
    assert!(!serde_json::to_string(&har).unwrap().contains("QUERYsecret123"));
}

//! Requests: what each kind of end is told as.

use backsight_browser::Phase;
use backsight_browser::cdp::translate::{TranslateOptions, Translator};
use backsight_browser::event::Event;
use backsight_core::Timestamp;
use serde_json::{Value, json};

use super::{Desk, extra, failed, finished, plain, received, sent};

const URL: &str = "http://app/api";

#[test]
fn a_request_is_told_when_everything_came() {
    let mut desk = Desk::page();
    desk.hear("P", "Network.requestWillBeSent", sent("1", "PUT", URL, "Fetch", 10.0));
    desk.hear("P", "Network.responseReceived", received("1", URL, 200, true));
    desk.hear("P", "Network.loadingFinished", finished("1", 10.25));
    assert_eq!(desk.events.len(), 0, "what the network saw was announced and is still to come");
    desk.hear("P", "Network.responseReceivedExtraInfo", extra("1", 200));
    let Some(Event::Network(request)) = desk.events.first() else { panic!("no request: {:?}", desk.events) };
    assert_eq!((request.method.as_str(), request.status, request.duration_ms), ("PUT", 200, Some(250.0)));
    assert_eq!(request.time, Timestamp(1_010_250), "the protocol's clock, put on the wall");
    assert_eq!(request.page.as_deref(), Some("http://app/"));
    assert_eq!(desk.all().len(), 1, "and never again");
}

#[test]
fn what_never_comes_is_waited_for_a_quarter_of_a_second() {
    let mut desk = Desk::page();
    desk.hear("P", "Network.requestWillBeSent", sent("1", "GET", URL, "Fetch", 1.0));
    desk.hear("P", "Network.responseReceived", received("1", URL, 200, true));
    desk.hear("P", "Network.loadingFinished", finished("1", 1.1));
    desk.wait(200);
    assert_eq!(desk.events.len(), 0);
    desk.wait(100);
    assert_eq!(desk.lines(), ["GET http://app/api 200 fetch"]);
    desk.hear("P", "Network.responseReceivedExtraInfo", extra("1", 200));
    assert_eq!(desk.all(), Vec::<String>::new());
}

#[test]
fn redirects_are_hops_of_their_own() {
    let mut desk = Desk::page();
    desk.hear("P", "Network.requestWillBeSent", sent("1", "POST", "http://app/a", "Fetch", 1.0));
    desk.hear("P", "Network.responseReceivedExtraInfo", extra("1", 302));
    let mut second = sent("1", "GET", "http://app/b", "Fetch", 1.5);
    second["redirectResponse"] = json!({ "url": "http://app/a", "status": 302 });
    second["redirectHasExtraInfo"] = true.into();
    desk.hear("P", "Network.requestWillBeSent", second);
    assert_eq!(desk.lines(), ["POST http://app/a 302 fetch"]);
    desk.hear("P", "Network.responseReceived", received("1", "http://app/b", 500, true));
    desk.hear("P", "Network.loadingFinished", finished("1", 2.0));
    assert_eq!(desk.lines(), Vec::<String>::new(), "the second hop's own headers are missing");
    desk.hear("P", "Network.responseReceivedExtraInfo", extra("1", 500));
    assert_eq!(desk.lines(), ["GET http://app/b 500 fetch"]);
}

#[test]
fn a_revalidated_answer_is_a_304_whatever_the_page_was_told() {
    let mut desk = Desk::page();
    desk.hear("P", "Network.requestWillBeSent", sent("1", "GET", URL, "Fetch", 1.0));
    desk.hear("P", "Network.responseReceivedExtraInfo", extra("1", 304));
    desk.hear("P", "Network.responseReceived", received("1", URL, 200, true));
    desk.hear("P", "Network.loadingFinished", finished("1", 1.1));
    assert_eq!(desk.lines(), ["GET http://app/api 304 fetch"]);
}

#[test]
fn ends_that_are_no_answers_say_why() {
    let mut desk = Desk::page();
    let mut aborted = failed("2", 1.5, "net::ERR_ABORTED");
    aborted["canceled"] = true.into();
    let mut blocked = failed("3", 1.5, "");
    blocked["blockedReason"] = "mixed-content".into();
    for (id, end) in [("1", failed("1", 1.5, "net::ERR_CONNECTION_REFUSED")), ("2", aborted), ("3", blocked)] {
        desk.hear("P", "Network.requestWillBeSent", sent(id, "GET", &format!("http://app/{id}"), "XHR", 1.0));
        desk.hear("P", "Network.loadingFailed", end);
    }
    // Half an answer is none, although it has a status.
    desk.hear("P", "Network.requestWillBeSent", sent("4", "GET", URL, "Fetch", 1.0));
    desk.hear("P", "Network.responseReceived", received("4", URL, 200, false));
    desk.hear("P", "Network.loadingFailed", failed("4", 1.5, "net::ERR_CONTENT_LENGTH_MISMATCH"));
    desk.wait(300);
    let failures =
        desk.events.iter().filter(|event| matches!(event, Event::Network(request) if request.is_failure())).count();
    assert_eq!(failures, 3, "giving up is no failure");
    assert_eq!(
        desk.lines(),
        [
            "GET http://app/api 200 fetch !net::ERR_CONTENT_LENGTH_MISMATCH",
            "GET http://app/1 0 xhr !net::ERR_CONNECTION_REFUSED",
            "GET http://app/2 0 xhr canceled",
            "GET http://app/3 0 xhr !blocked: mixed-content",
        ]
    );
}

#[test]
fn a_failed_preflight_is_not_a_second_failure() {
    let mut desk = Desk::page();
    desk.hear("P", "Network.requestWillBeSent", sent("main", "PUT", URL, "Fetch", 1.0));
    let mut preflight = sent("pre", "OPTIONS", URL, "Preflight", 1.1);
    preflight["initiator"] = json!({ "type": "preflight", "requestId": "main" });
    desk.hear("P", "Network.requestWillBeSent", preflight);
    desk.hear("P", "Network.loadingFailed", failed("pre", 1.2, "net::ERR_FAILED"));
    let mut blocked = failed("main", 1.2, "net::ERR_FAILED");
    blocked["corsErrorStatus"] = json!({ "corsError": "PreflightMissingAllowOriginHeader", "failedParameter": "" });
    desk.hear("P", "Network.loadingFailed", blocked);
    assert_eq!(desk.all(), ["PUT http://app/api 0 fetch !blocked by CORS: PreflightMissingAllowOriginHeader"]);
}

#[test]
fn a_failure_that_came_through_a_service_worker_is_told_once() {
    let mut desk = Desk::page();
    desk.attach("S", "service_worker", "http://app/sw.js");
    desk.hear("P", "Network.requestWillBeSent", sent("page", "GET", URL, "Fetch", 1.0));
    desk.hear("S", "Network.requestWillBeSent", sent("own", "GET", URL, "Fetch", 1.1));
    let mut through = received("page", URL, 404, false);
    through["response"]["fromServiceWorker"] = true.into();
    desk.hear("P", "Network.responseReceived", through);
    desk.hear("P", "Network.loadingFinished", finished("page", 1.4));
    desk.hear("S", "Network.responseReceived", received("own", URL, 404, false));
    desk.hear("S", "Network.loadingFinished", finished("own", 1.3));
    assert_eq!(desk.all(), ["GET http://app/api 404 fetch"]);
    assert_eq!(desk.translator.counts().folded, 1);
    // A worker that makes up the failure itself has no request of its own.
    let mut alone = received("page2", URL, 503, false);
    alone["response"]["fromServiceWorker"] = true.into();
    desk.hear("P", "Network.requestWillBeSent", sent("page2", "GET", URL, "Fetch", 2.0));
    desk.hear("P", "Network.responseReceived", alone);
    desk.hear("P", "Network.loadingFinished", finished("page2", 2.4));
    assert_eq!(desk.all(), ["GET http://app/api 503 fetch"]);
}

#[test]
fn caches_do_not_count_as_fast_servers_and_data_is_no_request() {
    let mut desk = Desk::page();
    desk.hear("P", "Network.requestWillBeSent", sent("1", "GET", URL, "Fetch", 1.0));
    desk.hear("P", "Network.requestServedFromCache", json!({ "requestId": "1" }));
    desk.hear("P", "Network.responseReceived", received("1", URL, 200, false));
    desk.hear("P", "Network.loadingFinished", finished("1", 1.001));
    assert!(matches!(&desk.events[..], [Event::Network(request)] if request.duration_ms.is_none()));
    desk.lines();
    desk.hear("P", "Network.requestWillBeSent", sent("2", "GET", "data:text/plain,x", "Fetch", 1.0));
    desk.hear("P", "Network.responseReceived", received("2", "data:text/plain,x", 200, false));
    desk.hear("P", "Network.loadingFinished", finished("2", 1.001));
    desk.hear("P", "Network.requestWillBeSent", sent("3", "GET", "blob:http://app/1", "Fetch", 1.0));
    desk.hear("P", "Network.loadingFailed", failed("3", 1.1, "net::ERR_FILE_NOT_FOUND"));
    assert_eq!(desk.all(), ["GET blob:http://app/1 0 fetch !net::ERR_FILE_NOT_FOUND"]);
}

#[test]
fn answers_to_requests_older_than_the_watching_are_marked() {
    let mut desk = Desk::page();
    desk.hear("P", "Network.responseReceived", received("1", URL, 500, false));
    desk.hear("P", "Network.loadingFinished", finished("1", 1.0));
    desk.hear("P", "Network.loadingFinished", finished("2", 1.0));
    assert_eq!(desk.all(), ["GET http://app/api 500 fetch (earlier)"]);
    assert_eq!(desk.translator.counts().requests_unexplained, 1, "of the other one nothing but the end was seen");
}

#[test]
fn what_is_under_way_when_its_document_or_session_goes_is_given_up() {
    let mut desk = Desk::page();
    desk.attach("W", "worker", "http://app/w.js");
    desk.hear("P", "Network.requestWillBeSent", sent("1", "GET", "http://app/old", "Fetch", 1.0));
    desk.hear("W", "Network.requestWillBeSent", sent("2", "GET", "http://app/worker", "Fetch", 1.0));
    let mut next = sent("3", "GET", "http://app/next", "Document", 1.5);
    next["loaderId"] = "L2".into();
    desk.hear("P", "Network.requestWillBeSent", next);
    desk.hear(
        "P",
        "Page.frameNavigated",
        json!({ "frame": { "id": "TP", "loaderId": "L2", "url": "http://app/next" } }),
    );
    desk.lines();
    desk.wait(1_100);
    assert_eq!(desk.lines(), ["GET http://app/old 0 fetch canceled"]);
    desk.detach("W");
    assert_eq!(desk.lines(), ["GET http://app/worker 0 fetch canceled"]);
    desk.detach("P");
    assert_eq!(desk.lines(), ["GET http://app/next 0 document canceled"]);
}

#[test]
fn requests_that_never_end_do_not_pile_up() {
    let mut desk = Desk::page();
    for number in 0..2_010 {
        desk.hear("P", "Network.requestWillBeSent", sent(&number.to_string(), "GET", URL, "Fetch", 1.0));
    }
    assert_eq!(desk.translator.counts().requests_forgotten, 10);
    desk.detach("P");
    assert_eq!(desk.lines().len(), 2_000);
}

#[test]
fn files_without_a_status_are_no_failures() {
    let mut desk = Desk::page();
    desk.hear("P", "Network.requestWillBeSent", sent("1", "GET", "file:///a.html", "Document", 1.0));
    desk.hear("P", "Network.responseReceived", received("1", "file:///a.html", 0, false));
    desk.hear("P", "Network.loadingFinished", finished("1", 1.1));
    assert_eq!(desk.lines(), ["GET file:///a.html 200 document"]);
}

#[test]
fn graphql_requests_are_told_by_their_operation_and_forms_keep_what_was_typed() {
    let mut desk = Desk::page();
    let mut query = sent("1", "POST", "http://app/graphql", "Fetch", 1.0);
    query["request"]["postData"] = r#"{"operationName":"Cart","query":"query Cart { items }"}"#.into();
    desk.hear("P", "Network.requestWillBeSent", query);
    desk.hear("P", "Network.responseReceived", received("1", "http://app/graphql", 200, false));
    desk.hear("P", "Network.loadingFinished", finished("1", 1.1));
    assert!(matches!(&desk.events[..], [Event::Network(request)] if request.request_body.is_some()));
    assert_eq!(desk.lines(), ["POST http://app/graphql 200 fetch #Cart"]);
    let mut form = sent("2", "POST", "http://app/login", "Document", 1.0);
    form["request"]["postData"] = "user=ann&password=typed".into();
    desk.hear("P", "Network.requestWillBeSent", form);
    desk.hear("P", "Network.responseReceived", received("2", "http://app/login", 200, false));
    desk.hear("P", "Network.loadingFinished", finished("2", 1.1));
    assert!(matches!(&desk.events[..], [Event::Network(request)] if request.request_body.is_none()));
}

fn with_bodies() -> Desk {
    let mut desk = Desk::with(Translator::new(TranslateOptions { bodies: true, ..plain() }));
    desk.attach("P", "page", "");
    desk
}

fn ask(desk: &mut Desk, id: &str) {
    desk.hear("P", "Network.requestWillBeSent", sent(id, "GET", URL, "Fetch", 1.0));
    desk.hear("P", "Network.responseReceived", received(id, URL, 500, false));
    desk.hear("P", "Network.loadingFinished", finished(id, 1.1));
}

#[test]
fn bodies_of_json_answers_come_along() {
    let mut desk = with_bodies();
    ask(&mut desk, "1");
    assert_eq!(desk.lines(), Vec::<String>::new());
    assert_eq!(desk.commands[0].2, "Network.getResponseBody");
    assert_eq!(desk.commands[0].3, json!({ "requestId": "1" }));
    desk.answer("Network.getResponseBody", Ok(json!({ "body": "{\"error\":1}", "base64Encoded": false })));
    assert_eq!(desk.lines(), ["GET http://app/api 500 fetch < {\"error\":1}"]);
}

#[test]
fn a_body_that_does_not_come_holds_nothing_up() {
    let mut desk = with_bodies();
    ask(&mut desk, "1");
    desk.answer("Network.getResponseBody", Err("No data found"));
    ask(&mut desk, "2");
    desk.wait(1_100);
    assert_eq!(desk.lines(), ["GET http://app/api 500 fetch", "GET http://app/api 500 fetch"]);
    assert_eq!(desk.translator.counts().bodies_skipped, 2);
    // The answer to what was given up changes nothing.
    desk.answer("Network.getResponseBody", Ok(json!({ "body": "late" })));
    assert_eq!(desk.all(), Vec::<String>::new());
}

#[test]
fn only_a_few_bodies_are_asked_for_at_once_and_the_rest_is_counted() {
    let mut desk = with_bodies();
    for number in 0..10 {
        ask(&mut desk, &number.to_string());
    }
    assert_eq!(desk.commands.len(), 4);
    assert_eq!(desk.lines().len(), 6, "the others do not wait");
    assert_eq!(desk.translator.counts().bodies_skipped, 6);
    while !desk.commands.is_empty() {
        desk.answer("Network.getResponseBody", Ok(json!({ "body": "{}" })));
    }
    assert_eq!(desk.lines().len(), 4);
    ask(&mut desk, "again");
    assert_eq!(desk.commands.len(), 1, "there is room again");
}

#[test]
fn what_is_under_way_is_known_until_it_is_told() {
    let mut desk = Desk::page();
    let mut under_way = |method: &str, params: serde_json::Value| {
        desk.hear("P", method, params);
        let requests = desk.translator.take_under_way()?;
        let mut phases: Vec<_> = requests.iter().map(|request| (request.phase, request.is_document)).collect();
        phases.sort_by_key(|(phase, _)| *phase as u8);
        Some(phases)
    };
    let (waits, answered, held) = ((Phase::Unanswered, false), (Phase::Answered, false), (Phase::Held, false));
    assert_eq!(under_way("Network.requestWillBeSent", sent("1", "GET", URL, "Fetch", 1.0)), Some(vec![waits]));
    // These are held open on purpose: a beacon says so when it is asked for, a stream when it is answered.
    let beacon = sent("2", "POST", URL, "Ping", 1.0);
    assert_eq!(under_way("Network.requestWillBeSent", beacon), Some(vec![waits, held]));
    under_way("Network.requestWillBeSent", sent("3", "GET", URL, "Fetch", 1.0));
    let mut stream = received("3", URL, 200, false);
    stream["response"]["mimeType"] = json!("text/event-stream");
    assert_eq!(under_way("Network.responseReceived", stream), Some(vec![waits, held, held]));
    let broken = received("1", URL, 500, true);
    assert_eq!(under_way("Network.responseReceived", broken), Some(vec![answered, held, held]));
    assert_eq!(under_way("Network.loadingFinished", finished("1", 2.0)), None, "it is over, and not told yet");
    assert_eq!(under_way("Network.responseReceivedExtraInfo", extra("1", 500)), Some(vec![held, held]));
    let sent = sent("4", "GET", "http://app/next", "Document", 3.0);
    assert_eq!(under_way("Network.requestWillBeSent", sent), Some(vec![(Phase::Unanswered, true), held, held]));
}

fn from_page(binding: &str, payload: Value) -> Value {
    json!({ "name": binding, "executionContextId": 1, "payload": payload.to_string() })
}

#[test]
fn an_answer_that_has_begun_is_waited_for_when_the_page_needs_its_end() {
    let phases = |desk: &mut Desk| -> Vec<Phase> {
        desk.translator.take_under_way().unwrap_or_default().iter().map(|request| request.phase).collect()
    };
    for is_needed in [true, false] {
        let mut desk = Desk::page();
        desk.hear("P", "Network.requestWillBeSent", sent("1", "GET", "http://app/cut", "Fetch", 1.0));
        desk.hear("P", "Network.responseReceived", received("1", "http://app/cut", 200, false));
        assert_eq!(phases(&mut desk), [Phase::Answered]);
        if is_needed {
            desk.hear(
                "P",
                "Runtime.bindingCalled",
                from_page("__backsightTimeouts", json!({ "awaited": "http://app/cut" })),
            );
            assert_eq!(phases(&mut desk), [Phase::Unanswered]);
        }
        desk.wait(5_000);
        let expected: &[Phase] = if is_needed { &[Phase::Unanswered] } else { &[] };
        assert_eq!(phases(&mut desk), expected, "it is told as answered unless the page needs the rest");
        desk.hear("P", "Network.loadingFinished", finished("1", 6.0));
        desk.wait(1_000);
        assert_eq!(phases(&mut desk), [], "it is over");
        assert_eq!(desk.lines(), ["GET http://app/cut 200 fetch"], "and told once");
    }
}

#[test]
fn nobody_waits_for_what_a_document_asked_for_that_is_gone() {
    let mut desk = Desk::page();
    desk.hear("P", "Network.requestWillBeSent", sent("1", "GET", "http://app/hangs", "Image", 1.0));
    assert_eq!(desk.translator.take_under_way().unwrap().len(), 1);
    desk.hear("P", "Page.frameNavigated", json!({ "frame": { "id": "TP", "loaderId": "L2", "url": "http://app/" } }));
    assert_eq!(desk.translator.take_under_way(), Some(Vec::new()), "at once, not when it is given up");
}

#[test]
fn a_transaction_that_was_undone_is_a_warning() {
    let mut desk = Desk::page();
    let undone = json!({ "database": "cart", "error": "ConstraintError: Key already exists" });
    desk.hear("P", "Runtime.bindingCalled", from_page("__backsightFailures", undone));
    assert_eq!(
        desk.lines(),
        ["Warning Browser: IndexedDB undid a transaction of cart: ConstraintError: Key already exists"]
    );
}

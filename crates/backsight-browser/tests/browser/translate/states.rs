//! Every state of a request in every order of its messages, and what each is told as.

use std::collections::BTreeSet;

use backsight_browser::Phase;
use backsight_browser::cdp::translate::{TranslateOptions, Translator};
use backsight_browser::event::Event;
use backsight_browser::request_state::{RequestState, Says};
use serde_json::{Value, json};

use super::{Desk, extra, failed, finished, line, plain, received, sent};

/// A message of a session; those of one lane keep their order.
type Message = (usize, &'static str, &'static str, Value);

const URL: &str = "http://app/api";
const SENT: &str = "Network.requestWillBeSent";
const GOT: &str = "Network.responseReceived";
const EXTRA: &str = "Network.responseReceivedExtraInfo";
const FINISHED: &str = "Network.loadingFinished";
const FAILED: &str = "Network.loadingFailed";

fn canceled(id: &str, at: f64) -> Value {
    let mut canceled = failed(id, at, "net::ERR_ABORTED");
    canceled["canceled"] = true.into();
    canceled
}

fn answered(kind: &str, mime: &str) -> Value {
    let mut answer = received("1", URL, 200, true);
    answer["type"] = kind.into();
    answer["response"]["mimeType"] = mime.into();
    answer
}

/// What is said about one request, by whom; what it is told as, and its state.
fn scenarios() -> Vec<(&'static str, Vec<Message>, &'static str, RequestState)> {
    let start = |kind: &str| (0, "P", SENT, sent("1", "GET", URL, kind, 10.0));
    let network = |status: u16| (2, "P", EXTRA, extra("1", status));
    let refused = || failed("1", 11.0, "net::ERR_CONNECTION_REFUSED");
    let timeout = json!({ "name": "__backsightTimeouts", "payload": json!({ "url": URL, "limit": 500 }).to_string() });
    let mut by_worker = received("1", URL, 200, false);
    by_worker["response"]["fromServiceWorker"] = true.into();
    let mut unread = received("1", URL, 500, true);
    unread["timestamp"] = json!(10.5);
    let mut open = received("1", URL, 200, true);
    open["timestamp"] = json!(10.5);
    let gone = json!({ "frame": { "id": "TP", "loaderId": "L2", "url": "about:blank" } });
    vec![
        (
            "answered",
            vec![
                start("Fetch"),
                (1, "F", GOT, received("1", URL, 200, true)),
                (1, "F", FINISHED, finished("1", 11.0)),
                network(200),
            ],
            "GET http://app/api 200 fetch",
            RequestState::Answered,
        ),
        (
            "from a cache",
            vec![
                start("Fetch"),
                (2, "P", "Network.requestServedFromCache", json!({ "requestId": "1" })),
                (1, "F", GOT, received("1", URL, 200, false)),
                (1, "F", FINISHED, finished("1", 11.0)),
            ],
            "GET http://app/api 200 fetch",
            RequestState::Answered,
        ),
        (
            "from a worker",
            vec![start("Fetch"), (1, "F", GOT, by_worker), (1, "F", FINISHED, finished("1", 11.0))],
            "GET http://app/api 200 fetch",
            RequestState::Answered,
        ),
        (
            "answered, and its body is never read",
            vec![start("Fetch"), (1, "F", GOT, open), network(200)],
            "GET http://app/api 200 fetch",
            RequestState::Answered,
        ),
        (
            "refused, and its body is never read",
            vec![start("Fetch"), (1, "F", GOT, unread), network(500)],
            "GET http://app/api 500 fetch",
            RequestState::Refused,
        ),
        (
            "refused, and the page breaks it off",
            vec![
                start("Script"),
                (1, "F", GOT, received("1", URL, 500, true)),
                (1, "F", FAILED, canceled("1", 11.0)),
                network(500),
            ],
            "GET http://app/api 500 script canceled",
            RequestState::Refused,
        ),
        (
            "a document that failed, and the browser's own page in its place",
            vec![start("Document"), (0, "P", FAILED, refused()), (1, "F", FINISHED, finished("1", 11.1))],
            "GET http://app/api 0 document !net::ERR_CONNECTION_REFUSED",
            RequestState::Broken,
        ),
        (
            "a document that failed, and the browser's own page that asks again",
            vec![start("Document"), (0, "P", FAILED, refused()), (1, "F", FAILED, canceled("1", 11.1))],
            "GET http://app/api 0 document !net::ERR_CONNECTION_REFUSED",
            RequestState::Broken,
        ),
        (
            "half an answer",
            vec![
                start("Fetch"),
                (1, "F", GOT, received("1", URL, 200, true)),
                (1, "F", FAILED, failed("1", 11.0, "net::ERR_CONTENT_LENGTH_MISMATCH")),
                network(200),
            ],
            "GET http://app/api 200 fetch !net::ERR_CONTENT_LENGTH_MISMATCH",
            RequestState::Broken,
        ),
        (
            "the page's own time limit",
            vec![start("XHR"), (0, "P", FAILED, canceled("1", 11.0)), (1, "P", "Runtime.bindingCalled", timeout)],
            "GET http://app/api 0 xhr !timed out after 500 ms",
            RequestState::Broken,
        ),
        (
            "given up",
            vec![start("Fetch"), (0, "P", FAILED, canceled("1", 11.0)), network(200)],
            "GET http://app/api 0 fetch canceled",
            RequestState::GivenUp,
        ),
        (
            "given up in the middle of its answer",
            vec![
                start("Fetch"),
                (1, "F", GOT, received("1", URL, 200, true)),
                (1, "F", FAILED, canceled("1", 11.0)),
                network(200),
            ],
            "GET http://app/api 200 fetch canceled",
            RequestState::GivenUp,
        ),
        (
            "given up before its refusal came",
            vec![start("Fetch"), (0, "P", FAILED, canceled("1", 11.0)), network(404)],
            "GET http://app/api 0 fetch canceled",
            RequestState::GivenUp,
        ),
        (
            "a style that the browser withholds, because it is none",
            vec![start("Stylesheet"), (0, "P", FAILED, canceled("1", 11.0)), network(404)],
            "GET http://app/api 404 stylesheet canceled",
            RequestState::Refused,
        ),
        (
            "an image from elsewhere that the browser withholds",
            vec![start("Image"), (0, "P", FAILED, failed("1", 11.0, "net::ERR_BLOCKED_BY_ORB")), network(404)],
            "GET http://app/api 404 image !net::ERR_BLOCKED_BY_ORB",
            RequestState::Refused,
        ),
        (
            "a worker's script of which only the network speaks",
            vec![start("Script"), network(404)],
            "GET http://app/api 404 script canceled",
            RequestState::Refused,
        ),
        (
            "left behind by its document",
            vec![start("Fetch"), (0, "P", "Page.frameNavigated", gone)],
            "GET http://app/api 0 fetch canceled",
            RequestState::GivenUp,
        ),
        (
            "an image answered with a page",
            vec![
                start("Image"),
                (1, "F", GOT, answered("Image", "text/html")),
                (1, "F", FINISHED, finished("1", 11.0)),
                network(200),
            ],
            "GET http://app/api 200 image",
            RequestState::Mistaken,
        ),
        (
            "a GraphQL answer with errors",
            vec![
                (0, "P", SENT, {
                    let mut query = sent("1", "POST", "http://app/graphql", "Fetch", 10.0);
                    query["request"]["postData"] = r#"{"operationName":"Cart","query":"query Cart { a }"}"#.into();
                    query
                }),
                (1, "P", GOT, received("1", "http://app/graphql", 200, true)),
                (1, "P", FINISHED, finished("1", 11.0)),
                network(200),
            ],
            "POST http://app/graphql 200 fetch #Cart < {\"errors\":[{\"message\":\"No\"}]}",
            RequestState::Complained,
        ),
    ]
}

/// Every way to put the lanes into one order.
fn orders(lanes: &[Vec<Message>; 3]) -> Vec<Vec<Message>> {
    if lanes.iter().all(Vec::is_empty) {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for lane in (0..3).filter(|lane| !lanes[*lane].is_empty()) {
        let mut rest = lanes.clone();
        let first = rest[lane].remove(0);
        all.extend(orders(&rest).into_iter().map(|order| [vec![first.clone()], order].concat()));
    }
    all
}

#[test]
fn every_state_is_told_the_same_in_every_order() {
    let mut covered = BTreeSet::new();
    for (name, messages, expected, state) in scenarios() {
        let mut lanes: [Vec<Message>; 3] = Default::default();
        messages.into_iter().for_each(|message| lanes[message.0].push(message));
        for order in orders(&lanes) {
            for pause in [0, 20] {
                let mut desk = Desk::with(Translator::new(TranslateOptions { bodies: true, ..plain() }));
                desk.attach("P", "page", "");
                desk.attach("F", "iframe", "");
                for (_, session, method, params) in &order {
                    desk.hear(session, method, params.clone());
                    desk.wait(pause);
                }
                // Of a body that is asked for, this came.
                if desk.commands.iter().any(|command| command.2 == "Network.getResponseBody") {
                    let body = if state == RequestState::Complained { r#"{"errors":[{"message":"No"}]}"# } else { "" };
                    desk.answer("Network.getResponseBody", Ok(json!({ "body": body })));
                }
                desk.wait(6_000);
                assert!(!desk.translator.pending(), "{name}");
                let told: Vec<_> = desk.events.iter().filter(|event| matches!(event, Event::Network(_))).collect();
                let lines: Vec<String> = told.iter().map(|event| line(event)).collect();
                let lines: Vec<&str> = lines.iter().map(|line| line.trim_end_matches(" <")).collect();
                assert_eq!(lines, [expected], "{name}: {order:?}");
                assert!(matches!(told[0], Event::Network(request) if RequestState::of(request) == state), "{name}");
            }
        }
        covered.insert(state);
    }
    let is_over = |state: &RequestState| {
        use RequestState::{Held, Lost, Open, Overdue, UnderWay};
        !matches!(state, UnderWay | Overdue | Held | Lost | Open)
    };
    assert_eq!(covered, RequestState::ALL.into_iter().filter(is_over).collect(), "every state that is an end");
}

#[test]
fn what_is_not_over_is_told_by_nobody_and_known_as_what_it_is() {
    let phase = |messages: &[(&str, Value)]| {
        let mut desk = Desk::page();
        messages.iter().for_each(|(method, params)| desk.hear("P", method, params.clone()));
        assert_eq!(desk.lines(), Vec::<String>::new());
        desk.translator.take_under_way().unwrap().first().map(|request| request.phase)
    };
    let start = |kind: &str| (SENT, sent("1", "GET", URL, kind, 10.0));
    let mut stream = received("1", URL, 200, false);
    stream["response"]["mimeType"] = "text/event-stream".into();
    assert_eq!(phase(&[start("Fetch")]), Some(Phase::Unanswered));
    assert_eq!(phase(&[start("Fetch"), (GOT, received("1", URL, 200, false))]), Some(Phase::Answered));
    assert_eq!(phase(&[start("EventSource")]), Some(Phase::Unanswered), "one that never answers is no stream");
    assert_eq!(phase(&[start("Ping")]), Some(Phase::Held));
    assert_eq!(phase(&[start("Fetch"), (GOT, stream)]), Some(Phase::Held));
    assert_eq!(phase(&[start("Preflight")]), None, "the request itself tells of it");
}

#[test]
fn a_body_that_is_read_later_changes_nothing_and_one_that_breaks_is_told() {
    let mut desk = Desk::page();
    for (id, status) in [("1", 500), ("2", 200), ("3", 200)] {
        desk.hear("P", SENT, sent(id, "GET", &format!("{URL}/{id}"), "Fetch", 10.0));
        let mut answer = received(id, &format!("{URL}/{id}"), status, false);
        answer["timestamp"] = json!(10.5);
        desk.hear("P", GOT, answer);
    }
    desk.wait(600);
    assert!(
        matches!(&desk.events[..], [Event::Network(request)] if request.duration_ms == Some(500.0)),
        "to the answer"
    );
    assert_eq!(desk.lines(), ["GET http://app/api/1 500 fetch"]);
    desk.wait(3_000);
    assert_eq!(desk.lines(), ["GET http://app/api/2 200 fetch", "GET http://app/api/3 200 fetch"]);
    assert_eq!(desk.translator.take_under_way(), Some(Vec::new()));
    desk.hear("P", FINISHED, finished("1", 20.0));
    desk.hear("P", FINISHED, finished("2", 20.0));
    desk.hear("P", FAILED, failed("3", 20.0, "net::ERR_INCOMPLETE_CHUNKED_ENCODING"));
    assert_eq!(desk.all(), ["GET http://app/api/3 200 fetch !net::ERR_INCOMPLETE_CHUNKED_ENCODING"]);
}

#[test]
fn a_failed_answer_that_is_not_read_says_what_came_of_it() {
    let mut desk = Desk::with(Translator::new(TranslateOptions { bodies: true, ..plain() }));
    desk.attach("P", "page", "");
    desk.hear("P", SENT, sent("1", "GET", URL, "Fetch", 10.0));
    desk.hear("P", GOT, received("1", URL, 500, false));
    desk.wait(600);
    let command = desk.commands[0].clone();
    assert_eq!((command.1.as_str(), command.2), ("P", "Network.streamResourceContent"));
    desk.answer("Network.streamResourceContent", Ok(json!({ "bufferedData": "ZGIgZG93bg==" })));
    assert_eq!(desk.lines(), ["GET http://app/api 500 fetch < db down"]);
    assert_eq!(desk.all(), Vec::<String>::new());
}

#[test]
fn the_words_of_error_pages_of_documents_and_scripts_are_asked_for_whole() {
    for (kind, mime) in [("Document", "text/html"), ("Script", "text/plain"), ("Fetch", "text/html")] {
        let mut desk = Desk::with(Translator::new(TranslateOptions { bodies: true, ..plain() }));
        desk.attach("P", "page", "");
        desk.hear("P", SENT, sent("1", "GET", URL, kind, 10.0));
        let mut answer = received("1", URL, 500, false);
        answer["response"]["mimeType"] = mime.into();
        desk.hear("P", GOT, answer);
        desk.hear("P", FINISHED, finished("1", 11.0));
        let page = format!("<pre>TypeError at routes.js:12</pre>{}", "x".repeat(100_000));
        desk.answer("Network.getResponseBody", Ok(json!({ "body": page })));
        assert!(desk.lines()[0].contains("< <pre>TypeError at routes.js:12"), "{kind}");
    }
}

#[test]
fn a_time_limit_is_told_of_the_request_it_ended_and_of_no_other() {
    let mut desk = Desk::page();
    let tell = |desk: &mut Desk, url: &str| {
        let payload = json!({ "url": url, "limit": 0 }).to_string();
        desk.hear("P", "Runtime.bindingCalled", json!({ "name": "__backsightTimeouts", "payload": payload }));
    };
    // A signal that was over long before, one for another address, and one after a redirect.
    desk.hear("P", SENT, sent("1", "GET", "http://app/a", "Fetch", 1.0));
    tell(&mut desk, "http://app/a");
    desk.wait(3_000);
    desk.hear("P", FAILED, canceled("1", 4.0));
    desk.hear("P", SENT, sent("2", "GET", "http://app/b", "Fetch", 1.0));
    tell(&mut desk, "http://app/other");
    desk.hear("P", FAILED, canceled("2", 4.0));
    desk.hear("P", SENT, sent("3", "GET", "http://app/c#part", "Fetch", 1.0));
    let mut hop = sent("3", "GET", "http://app/d", "Fetch", 2.0);
    hop["redirectResponse"] = json!({ "url": "http://app/c", "status": 302 });
    desk.hear("P", SENT, hop);
    tell(&mut desk, "http://app/c");
    desk.hear("P", FAILED, canceled("3", 4.0));
    assert_eq!(
        desk.all(),
        [
            "GET http://app/c#part 302 fetch",
            "GET http://app/a 0 fetch canceled",
            "GET http://app/b 0 fetch canceled",
            "GET http://app/d 0 fetch !timed out: the page's time limit was over",
        ]
    );
}

#[test]
fn a_fetch_that_a_policy_blocks_is_one_failure_every_time() {
    let url = "http://other/x";
    let mut desk = Desk::page();
    for time in [2_000_000, 2_010_000] {
        let entry = |source: &str, text: String| json!({ "entry": { "source": source, "level": "error", "text": text, "timestamp": time } });
        let policy = format!(
            "Connecting to '{url}' violates the following Content Security Policy directive: \"connect-src 'self'\". The action has been blocked."
        );
        desk.hear("P", "Log.entryAdded", entry("security", policy));
        let details =
            json!({ "contentSecurityPolicyIssueDetails": { "blockedURL": url, "violatedDirective": "connect-src" } });
        desk.hear(
            "P",
            "Audits.issueAdded",
            json!({ "issue": { "code": "ContentSecurityPolicyIssue", "details": details } }),
        );
        let refused = format!(
            "Fetch API cannot load {url}. Refused to connect because it violates the document's Content Security Policy."
        );
        desk.hear("P", "Log.entryAdded", entry("javascript", refused));
        assert_eq!(desk.all(), ["GET http://other/x 0 !blocked by the content security policy: connect-src 'self'"]);
    }
}

#[test]
fn a_tab_that_shows_the_browsers_error_page_says_so_once() {
    let mut desk = Desk::new();
    desk.attach("P", "page", "http://app/x");
    desk.wait(100);
    let entry = json!({ "url": "http://app/x", "kind": "navigation", "end": 900_000.0, "duration": 80.0, "failure": "net::ERR_CONNECTION_REFUSED" });
    let entry = json!({ "entries": [entry] });
    desk.answer("Runtime.evaluate", Ok(json!({ "result": { "value": entry.to_string() } })));
    assert_eq!(desk.lines(), ["GET http://app/x 0 document !net::ERR_CONNECTION_REFUSED (earlier)"]);
    let frame = |loader: &str, url: &str| json!({ "frame": { "loaderId": loader, "unreachableUrl": url } });
    let mut tree = frame("M", "http://app/x");
    tree["childFrames"] = json!([frame("C", "http://app/frame"), { "frame": { "loaderId": "D" } }]);
    desk.answer("Page.getFrameTree", Ok(json!({ "frameTree": tree })));
    assert_eq!(desk.lines(), ["GET http://app/frame 0 document !the frame shows the browser's error page (earlier)"]);
    // Whoever comes back is not told again, and neither is what failed while it was watched.
    desk.hear("P", SENT, sent("E", "GET", "http://app/seen", "Document", 1_001.0));
    desk.hear("P", FAILED, failed("E", 1_002.0, "net::ERR_EMPTY_RESPONSE"));
    desk.all();
    let mut again = Desk::with(Translator::resume(plain(), desk.translator.into_replays()));
    again.attach("P", "page", "http://app/x");
    again.wait(100);
    tree["childFrames"] = json!([frame("C", "http://app/frame"), frame("E", "http://app/seen")]);
    again.answer("Page.getFrameTree", Ok(json!({ "frameTree": tree })));
    assert_eq!(again.all(), Vec::<String>::new());
}

#[test]
fn pages_that_are_none_are_no_endpoints() {
    let mut desk = Desk::page();
    for (id, url) in [("1", "about:blank"), ("2", "about:srcdoc"), ("3", "chrome-error://chromewebdata/")] {
        desk.hear("P", SENT, sent(id, "GET", url, "Document", 1.0));
        desk.hear("P", GOT, received(id, url, 200, false));
        desk.hear("P", FINISHED, finished(id, 1.1));
    }
    assert_eq!(desk.all(), Vec::<String>::new());
}

#[test]
fn the_table_of_the_architecture_is_the_one_that_runs() {
    let document = include_str!("../../../../../docs/ARCHITECTURE.md");
    let (_, table) = document.split_once("<!-- request-states:begin -->").unwrap();
    let (table, _) = table.split_once("<!-- request-states:end -->").unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let word = cells[3].split(':').next().unwrap().to_owned();
        (cells[1].trim_matches('`').to_owned(), word)
    };
    let written: Vec<_> = table.lines().filter(|line| line.starts_with("| `")).map(row).collect();
    let says = |state: RequestState| match state.says() {
        Says::Clean => "clean",
        Says::Named => "named",
        Says::Warning => "warning",
        Says::Error => "error",
    };
    let runs: Vec<_> =
        RequestState::ALL.into_iter().map(|state| (format!("{state:?}"), says(state).to_owned())).collect();
    assert_eq!(written, runs);
}

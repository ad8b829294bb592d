//! In whatever order a request's messages come, it is the same single event.

use backsight_browser::cdp::translate::{TranslateOptions, Translator};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Desk, extra, failed, finished, received, sent};

/// A message of a session; those of one lane keep their order.
type Message = (usize, &'static str, &'static str, Value);

const URL: &str = "http://app/api";

/// What the parent session, the frame's own session and the network process say about one request.
fn scenarios() -> Vec<(&'static str, Vec<Message>, Vec<String>)> {
    let start = || sent("1", "GET", URL, "Fetch", 10.0);
    let mut hop = sent("1", "GET", "http://app/next", "Fetch", 10.5);
    hop["redirectResponse"] = json!({ "url": URL, "status": 302 });
    hop["redirectHasExtraInfo"] = true.into();
    let mut cors = failed("1", 11.0, "net::ERR_FAILED");
    cors["corsErrorStatus"] = json!({ "corsError": "MissingAllowOriginHeader", "failedParameter": "" });
    let sent_method = "Network.requestWillBeSent";
    let got_method = "Network.responseReceived";
    let extra_method = "Network.responseReceivedExtraInfo";
    let headers = (2, "P", "Network.requestWillBeSentExtraInfo", json!({ "requestId": "1", "headers": {} }));
    vec![
        (
            "an answer in one session",
            vec![
                (0, "P", sent_method, start()),
                (0, "P", got_method, received("1", URL, 200, true)),
                (0, "P", "Network.loadingFinished", finished("1", 11.0)),
                headers.clone(),
                (2, "P", extra_method, extra("1", 304)),
            ],
            vec!["GET http://app/api 304 fetch".to_owned()],
        ),
        (
            "a document that starts in the parent and ends in the frame",
            vec![
                (0, "P", sent_method, start()),
                (1, "F", got_method, received("1", URL, 404, true)),
                (1, "F", "Network.loadingFinished", finished("1", 11.0)),
                headers.clone(),
                (2, "P", extra_method, extra("1", 404)),
            ],
            vec!["GET http://app/api 404 fetch".to_owned()],
        ),
        (
            "a redirect",
            vec![
                (0, "P", sent_method, start()),
                (0, "P", sent_method, hop),
                (1, "F", got_method, received("1", "http://app/next", 200, true)),
                (1, "F", "Network.loadingFinished", finished("1", 11.0)),
                (2, "P", extra_method, extra("1", 302)),
                (2, "P", extra_method, extra("1", 200)),
            ],
            vec!["GET http://app/api 302 fetch".to_owned(), "GET http://app/next 200 fetch".to_owned()],
        ),
        (
            "an answer the page may not see",
            vec![
                (0, "P", sent_method, start()),
                (1, "F", "Network.loadingFailed", cors),
                headers.clone(),
                (2, "P", extra_method, extra("1", 200)),
            ],
            vec!["GET http://app/api 0 fetch !blocked by CORS: MissingAllowOriginHeader".to_owned()],
        ),
        (
            "half an answer",
            vec![
                (0, "P", sent_method, start()),
                (1, "F", got_method, received("1", URL, 200, true)),
                (1, "F", "Network.loadingFailed", failed("1", 11.0, "net::ERR_CONTENT_LENGTH_MISMATCH")),
                (2, "P", extra_method, extra("1", 200)),
            ],
            vec!["GET http://app/api 200 fetch !net::ERR_CONTENT_LENGTH_MISMATCH".to_owned()],
        ),
    ]
}

/// Everything a translator reads.
const METHODS: [&str; 26] = [
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
    "Runtime.exceptionRevoked",
    "Runtime.bindingCalled",
    "Runtime.executionContextCreated",
    "Log.entryAdded",
    "Audits.issueAdded",
    "Network.requestWillBeSent",
    "Network.responseReceived",
    "Network.responseReceivedExtraInfo",
    "Network.requestServedFromCache",
    "Network.loadingFinished",
    "Network.loadingFailed",
    "Network.webSocketCreated",
    "Network.webSocketFrameSent",
    "Network.webSocketFrameError",
    "Network.webSocketClosed",
    "Page.frameNavigated",
    "Page.navigatedWithinDocument",
    "Page.javascriptDialogOpening",
    "Inspector.targetCrashed",
    "Target.attachedToTarget",
    "Target.targetInfoChanged",
    "Debugger.scriptParsed",
    "Network",
    "",
];

/// Values under the names the protocol uses, of kinds it never uses there.
fn junk() -> impl Strategy<Value = Value> {
    let names = "requestId|timestamp|wallTime|request|response|type|args|entry|issue|frame|id|url|status|payload|name|context|\
                 exceptionDetails|text|description|preview|properties|targetInfo|sourceMapURL|hash|details|code|level|source|\
                 stackTrace|callFrames|lineNumber|opcode|payloadData|redirectResponse";
    let names = prop::sample::select(names.split('|').map(str::to_owned).collect::<Vec<_>>());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(Value::from("data:application/json;base64,e30=")),
        Just(Value::from("http://app/%s %")),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names.clone(), inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_message_brings_the_translator_down(messages in prop::collection::vec((0usize..26, junk()), 1..40)) {
        let mut desk = Desk::with(Translator::new(TranslateOptions::default()));
        desk.attach("P", "page", "http://app/");
        for (method, params) in messages {
            desk.hear("P", METHODS[method], params);
        }
        desk.wait(300);
        while let Some((_, _, method, _)) = desk.commands.first().cloned() {
            desk.answer(method, Ok(json!({ "resource": 1 })));
        }
        desk.all();
        desk.detach("P");
        prop_assert!(!desk.translator.pending());
    }

    #[test]
    fn any_order_gives_the_same_single_event(choices in prop::collection::vec(0usize..3, 12), pauses in prop::collection::vec(0i64..20, 12)) {
        for (name, messages, expected) in scenarios() {
            let mut desk = Desk::page();
            desk.attach("F", "iframe", "");
            let mut lanes: [Vec<Message>; 3] = Default::default();
            for message in messages.into_iter().rev() {
                lanes[message.0].push(message);
            }
            for (choice, pause) in choices.iter().chain(&[0, 1, 2].repeat(6)).zip(pauses.iter().chain(&[1].repeat(18))) {
                let Some((_, session, method, params)) = lanes[*choice].pop() else { continue };
                desk.hear(session, method, params);
                desk.wait(*pause);
            }
            prop_assert_eq!(desk.all(), expected, "{}", name);
            prop_assert_eq!(desk.translator.counts().requests_unexplained, 0);
        }
    }
}

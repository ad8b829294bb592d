//! What is said: console calls, exceptions, the browser's own messages.

use backsight_browser::Amendment;
use backsight_browser::cdp::translate::{Target, TranslateOptions, Translator};
use backsight_browser::event::Event;
use backsight_core::Timestamp;
use serde_json::{Value, json};

use super::{Desk, failed, finished, plain, raw, received, sent};

fn called(kind: &str, text: &str, timestamp: f64) -> Value {
    json!({ "type": kind, "args": [{ "type": "string", "value": text }], "timestamp": timestamp, "executionContextId": 1 })
}

fn rejected(id: i64, text: &str, timestamp: f64) -> Value {
    json!({ "timestamp": timestamp, "exceptionDetails": { "exceptionId": id, "text": "Uncaught (in promise)", "lineNumber": 6, "columnNumber": 2,
        "url": "http://app/a.js", "exception": { "type": "object", "subtype": "error", "className": "Error", "description": text } } })
}

fn entry(source: &str, level: &str, text: &str, timestamp: f64) -> Value {
    json!({ "entry": { "source": source, "level": level, "text": text, "timestamp": timestamp, "url": "http://app/" } })
}

#[test]
fn kinds_of_calls_have_their_levels_and_some_say_nothing() {
    let mut desk = Desk::page();
    let silent = ["startGroup", "startGroupCollapsed", "endGroup", "clear"];
    let kinds = ["log", "warning", "error", "assert", "debug", "info", "trace", "table", "brandNew"];
    for kind in kinds.into_iter().chain(silent) {
        desk.hear("P", "Runtime.consoleAPICalled", called(kind, "x", 1_000_001.5));
    }
    let expected = [
        "Info Page: x",
        "Warning Page: x",
        "Error Page: x",
        "Error Page: Assertion failed: x",
        "Debug Page: x",
        "Info Page: x",
        "Info Page: x",
        "Info Page: x",
        "Info Page: x",
    ];
    assert_eq!(desk.lines(), expected);
}

#[test]
fn a_rejection_that_is_handled_a_moment_later_is_never_told() {
    let mut desk = Desk::page();
    desk.hear("P", "Runtime.exceptionThrown", rejected(1, "Error: one", 1_000_001.0));
    desk.hear("P", "Runtime.exceptionThrown", rejected(2, "Error: two", 1_000_002.0));
    desk.wait(100);
    desk.hear("P", "Runtime.exceptionRevoked", json!({ "exceptionId": 1, "reason": "Handler added" }));
    assert_eq!(desk.lines(), Vec::<String>::new(), "both still wait");
    desk.wait(300);
    assert_eq!(desk.lines(), ["Error Exception: Error: two (in promise) @ a.js:7:3"]);
    assert_eq!(desk.translator.counts().rejections_withdrawn, 1);
}

#[test]
fn a_rejection_that_is_handled_too_late_is_taken_back() {
    let mut desk = Desk::page();
    desk.hear("P", "Runtime.exceptionThrown", rejected(1, "Error: one", 1_000_001.0));
    assert_eq!(desk.translator.held(), 1, "what is held back is counted");
    desk.wait(300);
    assert_eq!((desk.translator.held(), desk.lines().len()), (0, 1));
    desk.hear("P", "Runtime.exceptionRevoked", json!({ "exceptionId": 1 }));
    desk.hear("P", "Runtime.exceptionRevoked", json!({ "exceptionId": 2 }));
    assert_eq!(desk.lines(), Vec::<String>::new());
    let [Amendment::Handled(said)] = &desk.amendments[..] else { panic!("{:?}", desk.amendments) };
    assert_eq!(said.message, "Error: one (in promise)");
}

#[test]
fn what_does_not_compile_is_told_with_its_place_and_the_compilers_words() {
    let mut desk = Desk::page();
    let error = json!({ "type": "error", "err": { "message": "\u{1b}[31mUnexpected token\u{1b}[39m (4:17)", "plugin": "vite:oxc",
        "id": "/app/src/Cart.jsx", "frame": "4 | <", "loc": { "file": "/app/src/Cart.jsx", "line": 4, "column": 17 } } });
    for payload in
        [error.to_string(), r#"{"type":"update","updates":[]}"#.to_owned(), "{\"type\":\"error\",".to_owned()]
    {
        let frame = json!({ "requestId": "1", "timestamp": 1.0, "response": { "opcode": 1, "mask": false, "payloadData": payload } });
        desk.hear("P", "Network.webSocketFrameReceived", frame);
    }
    let said: Vec<String> = desk.lines().into_iter().filter(|line| line.contains("Page:")).collect();
    assert_eq!(said, ["Error Page: [plugin:vite:oxc] Unexpected token (4:17) @ Cart.jsx:4:18"]);
}

#[test]
fn a_component_stack_in_the_text_is_part_of_the_stack() {
    let mut desk = Desk::page();
    let mut call =
        called("error", "Warning: no key\n    at li\n    at List (http://app/src/List.jsx:21:3)", 1_000_001.0);
    let library = json!([{ "functionName": "warn", "url": "http://app/node_modules/react.js", "lineNumber": 1, "columnNumber": 1 }]);
    call["stackTrace"] = json!({ "callFrames": library });
    desk.hear("P", "Runtime.consoleAPICalled", call);
    let Event::Console(said) = &desk.events[0] else { panic!("{:?}", desk.events) };
    let files: Vec<&str> = said.stack.iter().map(|frame| frame.file.as_str()).collect();
    assert_eq!(files, ["http://app/node_modules/react.js", "http://app/src/List.jsx"]);
}

#[test]
fn a_rejection_is_told_when_its_page_goes() {
    let mut desk = Desk::page();
    desk.hear("P", "Runtime.exceptionThrown", rejected(1, "Error: one", 1_000_001.0));
    desk.detach("P");
    assert_eq!(desk.lines(), ["Error Exception: Error: one (in promise) @ a.js:7:3"]);
    assert!(!desk.translator.pending());
}

/// Attaches to a page that tells `calls` again, beginning with this number, and says whether more is known to be missing.
fn replay(desk: &mut Desk, from: usize, calls: usize) -> bool {
    let before = desk.translator.counts().histories_cut;
    desk.attach("P", "page", "http://app/");
    for number in from..from + calls {
        let call = called("log", &number.to_string(), 900_000.0 + number as f64);
        desk.hear("P", "Runtime.consoleAPICalled", call);
    }
    desk.translator.replayed("P");
    desk.translator.counts().histories_cut > before
}

#[test]
fn a_history_that_does_not_go_back_to_the_beginning_is_known_to_be_cut() {
    let mut desk = Desk::new();
    assert!(!replay(&mut desk, 0, 999), "a page keeps 1,000");
    assert!(replay(&mut Desk::new(), 1, 1_000), "there was a first one");
    desk.detach("P");
    assert!(!replay(&mut desk, 500, 1_000), "what came before was told then");
    desk.detach("P");
    assert!(replay(&mut desk, 5_000, 1_000), "nobody heard what was said in between");
    // What is said afterwards is no history.
    for number in 0..2_000 {
        desk.hear("P", "Runtime.consoleAPICalled", called("log", "live", 1_000_001.0 + f64::from(number)));
    }
    desk.translator.replayed("P");
    assert_eq!(desk.translator.counts().histories_cut, 1);
}

#[test]
fn long_messages_leave_room_for_fewer_of_them() {
    let mut desk = Desk::page();
    for number in 0..4 {
        let call = called("log", &"x".repeat(1 << 20), 900_000.0 + f64::from(number));
        desk.hear("P", "Runtime.consoleAPICalled", call);
    }
    desk.translator.replayed("P");
    assert_eq!(desk.translator.counts().histories_cut, 1);
}

#[test]
fn exceptions_without_an_object_keep_their_text() {
    let mut desk = Desk::page();
    let details = json!({ "exceptionId": 1, "text": "Uncaught SyntaxError: Unexpected token", "lineNumber": 0, "columnNumber": 0, "url": "http://app/a.js" });
    desk.hear("P", "Runtime.exceptionThrown", json!({ "timestamp": 1_000_001.0, "exceptionDetails": details }));
    assert_eq!(desk.lines(), ["Error Exception: SyntaxError: Unexpected token @ a.js:1:1"]);
}

#[test]
fn a_message_of_a_library_is_placed_where_the_app_began_it() {
    let frame = |url: &str, line: i64| json!({ "functionName": "", "url": url, "lineNumber": line, "columnNumber": 0 });
    let library = || frame("http://app/node_modules/.vite/deps/react-dom_client.js", 14_207);
    let element = json!({ "description": "<li>", "callFrames": [library(), frame("http://app/src/Cart.jsx", 18)] });
    let outer = json!({ "callFrames": [frame("http://app/src/App.jsx", 3)] });
    let mut parent = element;
    parent["parent"] = outer;
    let place = |stack: Value| {
        let mut desk = Desk::page();
        let mut call = called("error", "no key", 1_000_001.0);
        call["stackTrace"] = stack;
        desk.hear("P", "Runtime.consoleAPICalled", call);
        let Event::Console(console) = desk.events.remove(0) else { unreachable!() };
        console.stack.into_iter().map(|frame| format!("{}:{}", frame.file, frame.line)).collect::<Vec<_>>()
    };
    let began = place(json!({ "callFrames": [library()], "parent": parent.clone() }));
    assert_eq!(began.last().unwrap(), "http://app/src/Cart.jsx:19", "and no further: {began:?}");
    let own = place(json!({ "callFrames": [frame("http://app/src/a.js", 0)], "parent": parent }));
    assert_eq!(own, ["http://app/src/a.js:1"], "where a promise was made is no place of a message that has one");
}

#[test]
fn asynchronous_calls_are_followed_while_new_code_takes_effect() {
    let followed = |desk: &mut Desk| -> Vec<Value> {
        let commands = desk.commands.drain(..).filter(|command| command.2 == "Debugger.setAsyncCallStackDepth");
        commands.map(|command| command.3["maxDepth"].clone()).collect()
    };
    let options = TranslateOptions { source_maps: true, ..plain() };
    let greeting = Translator::greeting("page", &options);
    assert!(greeting.iter().any(|(method, _)| *method == "Debugger.setAsyncCallStackDepth"));
    let mut desk = Desk::with(Translator::new(options));
    desk.attach("P", "page", "http://app/");
    desk.wait(14_000);
    let say = |desk: &mut Desk| desk.hear("P", "Runtime.consoleAPICalled", called("log", "x", desk.now as f64));
    say(&mut desk);
    assert_eq!(followed(&mut desk), Vec::<Value>::new());
    desk.wait(2_000);
    say(&mut desk);
    assert_eq!(followed(&mut desk), [json!(0)]);
    let went = json!({ "frame": { "id": "TP", "loaderId": "L2", "url": "http://app/next" } });
    desk.hear("P", "Page.frameNavigated", went.clone());
    desk.hear("P", "Page.frameNavigated", went);
    assert_eq!(followed(&mut desk), [json!(4)], "once");
    desk.wait(16_000);
    say(&mut desk);
    assert_eq!(followed(&mut desk), [json!(0)]);
}

#[test]
fn what_is_older_than_the_attach_is_marked() {
    let mut desk = Desk::page();
    desk.hear("P", "Runtime.consoleAPICalled", called("error", "before", 999_000.0));
    desk.hear("P", "Runtime.consoleAPICalled", called("error", "after", 1_000_000.5));
    desk.hear("P", "Log.entryAdded", entry("security", "error", "blocked before", 999_000.0));
    assert_eq!(
        desk.lines(),
        ["Error Page: before (earlier)", "Error Page: after", "Error Browser: blocked before (earlier)"]
    );
}

#[test]
fn a_reconnect_to_the_same_browser_tells_only_what_is_new() {
    let mut desk = Desk::page();
    let object = |preview: Value| json!({ "type": "error", "timestamp": 1_000_001.25, "args": [{ "type": "object", "description": "Object", "preview": preview }] });
    let preview = json!({ "type": "object", "description": "Object", "properties": [{ "name": "a", "type": "number", "value": "1" }] });
    desk.hear("P", "Runtime.consoleAPICalled", object(preview));
    desk.hear("P", "Runtime.consoleAPICalled", called("log", "twice", 1_000_002.0));
    desk.hear("P", "Runtime.consoleAPICalled", called("log", "twice", 1_000_002.0));
    desk.hear("P", "Log.entryAdded", entry("security", "error", "policy", 1_000_003.0));
    assert_eq!(desk.lines().len(), 4);

    let mut again = Desk::with(Translator::resume(plain(), desk.translator.into_replays()));
    again.now = 1_010_000;
    again.attach("Q", "page", "http://app/");
    // The session has another name, the target is the same.
    let same = Target { id: "TP".into(), kind: "page".into(), url: "http://app/".into() };
    again.translator.attached("Q", same, Timestamp(again.now));
    again.hear("Q", "Runtime.consoleAPICalled", object(Value::Null));
    again.hear("Q", "Runtime.consoleAPICalled", called("log", "twice", 1_000_002.0));
    again.hear("Q", "Runtime.consoleAPICalled", called("log", "twice", 1_000_002.0));
    again.hear("Q", "Runtime.consoleAPICalled", called("log", "meanwhile", 1_005_000.0));
    again.hear("Q", "Log.entryAdded", entry("security", "error", "policy", 1_000_003.0));
    assert_eq!(again.lines(), ["Info Page: meanwhile (earlier)"]);
    assert_eq!(again.translator.counts().replays_dropped, 4);
}

#[test]
fn a_worker_speaks_for_itself_when_it_is_attached_and_through_its_page_when_not() {
    let mut desk = Desk::page();
    desk.attach("W", "worker", "http://app/w.js");
    let said = |worker: &str| json!({ "entry": { "source": "worker", "level": "info", "text": "worker says", "timestamp": 1_000_001.0, "workerId": worker } });
    desk.hear("P", "Log.entryAdded", said("TW"));
    assert_eq!(desk.lines(), Vec::<String>::new());
    desk.hear("P", "Log.entryAdded", said("somebody else"));
    assert_eq!(desk.lines(), ["Info Page: worker says"]);
    assert_eq!(desk.translator.counts().folded, 1);
}

/// What `failures.js` reports.
fn failure(payload: Value) -> Value {
    json!({ "name": "__backsightFailures", "payload": payload.to_string(), "executionContextId": 1 })
}

fn thrown(text: &str, exception: Value, url: &str) -> Value {
    json!({ "timestamp": 1_000_001.0, "exceptionDetails":
        { "exceptionId": 1, "text": text, "lineNumber": 0, "columnNumber": 6, "url": url, "exception": exception } })
}

#[test]
fn an_error_of_a_worker_is_told_once_also_when_the_page_ends_the_worker() {
    let error =
        json!({ "type": "object", "subtype": "error", "description": "Error: no start\n    at http://app/w.js:1:7" });
    let heard =
        failure(json!({ "message": "Uncaught Error: no start", "file": "http://app/w.js", "line": 1, "column": 7 }));
    for by_worker in [Some(true), Some(false), None] {
        let mut desk = Desk::page();
        desk.hear("P", "Target.attachedToTarget", json!({ "sessionId": "W", "targetInfo": {} }));
        desk.attach("W", "worker", "http://app/w.js");
        if by_worker == Some(true) {
            desk.hear("W", "Runtime.exceptionThrown", thrown("Uncaught", error.clone(), "http://app/w.js"));
        }
        desk.hear("P", "Runtime.bindingCalled", heard.clone());
        match by_worker {
            Some(false) => {
                desk.hear("W", "Runtime.exceptionThrown", thrown("Uncaught", error.clone(), "http://app/w.js"))
            }
            _ => desk.detach("W"),
        }
        desk.wait(600);
        assert_eq!(desk.lines(), ["Error Exception: Error: no start @ w.js:1:7"], "{by_worker:?}");
    }
}

#[test]
fn an_exception_of_a_worker_of_a_worker_is_told_by_that_one() {
    let nothing = json!({ "type": "object", "subtype": "null", "value": null });
    let mut desk = Desk::page();
    desk.attach("W", "worker", "http://app/outer.js");
    desk.hear("W", "Runtime.exceptionThrown", thrown("Uncaught", nothing.clone(), "http://app/inner.js"));
    assert_eq!(desk.lines(), ["Error Exception: null @ inner.js:1:7"], "it has no worker of its own");
    desk.hear("W", "Target.attachedToTarget", json!({ "sessionId": "N", "targetInfo": {} }));
    desk.attach("N", "worker", "http://app/inner.js");
    desk.hear("W", "Runtime.exceptionThrown", thrown("Uncaught", nothing.clone(), "http://app/inner.js"));
    assert_eq!(desk.all(), Vec::<String>::new());
    desk.hear("W", "Runtime.exceptionThrown", thrown("Uncaught", nothing, "http://app/outer.js"));
    assert_eq!(desk.all(), ["Error Exception: null @ outer.js:1:7"], "`throw null` of its own");
}

#[test]
fn an_image_that_cannot_be_shown_is_told_unless_its_request_says_why() {
    let url = |path: &str| format!("http://app/{path}");
    let mut desk = Desk::page();
    for (id, status, mime) in [("1", 200, "image/png"), ("2", 404, "image/png"), ("3", 200, "text/html")] {
        desk.hear("P", "Network.requestWillBeSent", sent(id, "GET", &url(id), "Image", 1.0));
        let mut answer = received(id, &url(id), status, false);
        (answer["type"], answer["response"]["mimeType"]) = ("Image".into(), mime.into());
        desk.hear("P", "Network.responseReceived", answer);
        desk.hear("P", "Runtime.bindingCalled", failure(json!({ "element": "img", "url": url(id) })));
        desk.hear("P", "Network.loadingFinished", finished(id, 2.0));
    }
    let said = "Warning Browser: an image cannot be shown, its data is broken or of a kind the browser does not know";
    let mut told = desk.all();
    told.retain(|line| !line.starts_with("GET "));
    assert_eq!(told, [format!("{said}: http://app/1")]);
}

#[test]
fn a_module_that_does_not_resolve_is_nowhere_and_a_script_that_does_not_parse_is_somewhere() {
    let mut desk = Desk::page();
    for (message, url) in [
        ("TypeError: Failed to resolve module specifier \"lodash-es\".", "http://app/"),
        ("SyntaxError: Unexpected token '<'", "http://app/main.js"),
    ] {
        let error = json!({ "type": "object", "subtype": "error", "description": message });
        let mut thrown = thrown("Uncaught", error, url);
        thrown["exceptionDetails"]["columnNumber"] = json!(0);
        desk.hear("P", "Runtime.exceptionThrown", thrown);
    }
    assert_eq!(
        desk.all(),
        [
            "Error Exception: TypeError: Failed to resolve module specifier \"lodash-es\".",
            "Error Exception: SyntaxError: Unexpected token '<' @ main.js:1:1",
        ]
    );
}

#[test]
fn a_document_that_forbids_to_be_framed_is_one_failure_that_says_so() {
    let refused = "Refused to display 'http://app/' in a frame because it set 'X-Frame-Options' to 'deny'.";
    let framing = "Framing 'http://app/' violates the following Content Security Policy directive: \"frame-ancestors 'none'\". The request has been blocked.";
    for (source, text) in [("other", refused), ("security", framing)] {
        let mut desk = Desk::page();
        desk.hear("P", "Network.requestWillBeSent", sent("1", "GET", "http://app/pay", "Document", 1.0));
        let mut blocked = failed("1", 1.5, "net::ERR_BLOCKED_BY_RESPONSE");
        (blocked["type"], blocked["blockedReason"]) = ("Document".into(), "other".into());
        desk.hear("P", "Network.loadingFailed", blocked);
        desk.hear("P", "Log.entryAdded", entry(source, "error", text, 1_000_001.0));
        let why = "blocked: its X-Frame-Options or frame-ancestors forbids to show it in this frame";
        assert_eq!(desk.all(), [format!("GET http://app/pay 0 document !{why}")]);
    }
}

#[test]
fn advice_of_the_browser_is_no_warning() {
    let mut desk = Desk::page();
    desk.hear("P", "Log.entryAdded", entry("violation", "warning", "took 150 ms", 1_000_001.0));
    desk.hear("P", "Log.entryAdded", entry("recommendation", "verbose", "use autocomplete", 1_000_002.0));
    desk.hear("P", "Log.entryAdded", entry("deprecation", "warning", "going away", 1_000_003.0));
    assert_eq!(
        desk.lines(),
        ["Debug Browser: took 150 ms", "Debug Browser: use autocomplete", "Warning Browser: going away"]
    );
}

#[test]
fn what_no_request_tells_is_told_as_one() {
    let mut desk = Desk::page();
    let mut unknown = entry(
        "network",
        "error",
        "Failed to load resource: the server responded with a status of 404 (Not Found)",
        1_000_001.0,
    );
    unknown["entry"]["networkRequestId"] = "9.9".into();
    unknown["entry"]["url"] = "http://app/favicon.ico".into();
    desk.hear("P", "Log.entryAdded", unknown);
    assert_eq!(desk.lines(), Vec::<String>::new(), "its request may still come");
    desk.wait(600);
    assert_eq!(desk.lines(), ["GET http://app/favicon.ico 404"]);
}

#[test]
fn a_message_about_a_failed_request_is_folded_even_when_it_comes_first() {
    let mut desk = Desk::page();
    let text =
        "Access to fetch at 'http://other/x' from origin 'http://app' has been blocked by CORS policy: No header.";
    let mut cors = entry("javascript", "error", text, 1_000_001.0);
    cors["entry"]["category"] = "cors".into();
    desk.hear("P", "Log.entryAdded", cors.clone());
    desk.hear("P", "Network.requestWillBeSent", sent("1", "GET", "http://other/x", "Fetch", 1.0));
    let mut blocked = failed("1", 1.5, "net::ERR_FAILED");
    blocked["corsErrorStatus"] = json!({ "corsError": "MissingAllowOriginHeader", "failedParameter": "" });
    desk.hear("P", "Network.loadingFailed", blocked);
    assert_eq!(desk.all(), ["GET http://other/x 0 fetch !blocked by CORS: MissingAllowOriginHeader"]);
    assert_eq!(desk.translator.counts().folded, 1);
    // About a request that nobody saw, the message is all there is.
    let mut desk = Desk::page();
    desk.hear("P", "Log.entryAdded", cors);
    assert_eq!(desk.all(), [format!("Error Browser: {text}")]);
}

#[test]
fn an_issue_is_told_only_when_nothing_else_tells_it() {
    let issue = |url: &str| {
        json!({ "issue": { "code": "MixedContentIssue", "details": { "mixedContentIssueDetails":
            { "resolutionStatus": "MixedContentBlocked", "insecureURL": url, "mainResourceURL": "https://app/" } } } })
    };
    let mut desk = Desk::page();
    desk.hear("P", "Network.requestWillBeSent", sent("1", "GET", "http://a/known", "Image", 1.0));
    desk.hear("P", "Audits.issueAdded", issue("http://a/known"));
    desk.hear("P", "Audits.issueAdded", issue("http://a/unknown"));
    desk.hear("P", "Audits.issueAdded", issue("http://a/unknown"));
    desk.hear("P", "Audits.issueAdded", json!({ "issue": { "code": "QuirksModeIssue", "details": {} } }));
    assert_eq!(desk.all(), ["Error Browser: mixed content: http://a/unknown (MixedContentBlocked)"]);
}

#[test]
fn crashes_dialogs_and_downloads_are_said_by_the_browser() {
    let mut desk = Desk::page();
    desk.hear("P", "Network.requestWillBeSent", sent("1", "GET", "http://app/x", "Fetch", 1.0));
    desk.hear(
        "P",
        "Page.javascriptDialogOpening",
        json!({ "message": "sure?", "type": "confirm", "url": "http://app/" }),
    );
    desk.hear("P", "Page.downloadWillBegin", json!({ "suggestedFilename": "a.zip" }));
    desk.hear("P", "Inspector.targetCrashed", json!({}));
    assert_eq!(
        desk.lines(),
        [
            "Info Browser: confirm dialog is open and the page waits for an answer: sure?",
            "Info Browser: download began: a.zip",
            "Error Browser: the page crashed",
            "GET http://app/x 0 fetch canceled",
        ]
    );
}

#[test]
fn a_worker_that_is_stopped_has_not_crashed() {
    let mut desk = Desk::page();
    for kind in ["service_worker", "shared_worker", "worker", "worklet"] {
        desk.attach(kind, kind, "http://app/w.js");
        desk.hear(kind, "Inspector.targetCrashed", json!({}));
    }
    desk.attach("F", "iframe", "http://app/frame");
    desk.hear("F", "Inspector.targetCrashed", json!({}));
    assert_eq!(desk.all(), ["Error Browser: a frame of the page crashed"]);
}

#[test]
fn a_load_begins_when_its_document_is_asked_for() {
    let mut desk = Desk::page();
    let asked = |id: &str, url: &str, seconds: f64| {
        let mut sent = sent(id, "GET", url, "Document", 1.0);
        sent["wallTime"] = json!(seconds);
        sent
    };
    let shown = |loader: &str| json!({ "frame": { "id": "TP", "loaderId": loader, "url": "http://app/next" } });
    let loads = |desk: &mut Desk| -> Vec<i64> {
        let actions = desk.events.drain(..).filter_map(|event| match event {
            Event::Action(action) => Some(action.time.0),
            _ => None,
        });
        actions.collect()
    };
    let began = desk.now;
    desk.hear("P", "Network.requestWillBeSent", asked("D1", "http://app/old", began as f64 / 1_000.0 - 0.02));
    desk.now += 300;
    let mut redirected = asked("D1", "http://app/next", desk.now as f64 / 1_000.0);
    redirected["redirectResponse"] = json!({ "url": "http://app/old", "status": 302 });
    desk.hear("P", "Network.requestWillBeSent", redirected);
    desk.now += 500;
    desk.hear("P", "Page.frameNavigated", shown("D1"));
    assert_eq!(loads(&mut desk), [began - 20], "what its server says meanwhile belongs to it");
    // One from the browser's own memory is asked for by nobody, and a clock that was changed is not believed.
    desk.hear("P", "Page.frameNavigated", shown("D2"));
    desk.hear("P", "Network.requestWillBeSent", asked("D3", "http://app/next", 5.0));
    desk.hear("P", "Page.frameNavigated", shown("D3"));
    assert_eq!(loads(&mut desk), [desk.now, desk.now]);
}

#[test]
fn the_page_of_an_event_follows_navigations_and_is_that_of_the_page_for_workers() {
    let mut desk = Desk::page();
    desk.hear("P", "Target.attachedToTarget", json!({ "sessionId": "W", "targetInfo": {} }));
    desk.attach("W", "worker", "http://app/w.js");
    let page = |desk: &mut Desk| match desk.events.pop() {
        Some(Event::Console(console)) => console.page,
        other => panic!("a message was expected, not {other:?}"),
    };
    desk.hear("W", "Runtime.consoleAPICalled", called("log", "x", 1_000_001.0));
    assert_eq!(page(&mut desk).as_deref(), Some("http://app/"));
    desk.hear(
        "P",
        "Page.frameNavigated",
        json!({ "frame": { "id": "TP", "loaderId": "L2", "url": "http://app/next" } }),
    );
    desk.hear("P", "Page.navigatedWithinDocument", json!({ "frameId": "TP", "url": "http://app/next#a" }));
    desk.hear("P", "Page.navigatedWithinDocument", json!({ "frameId": "TP", "url": "http://app/next#a" }));
    desk.hear("P", "Page.navigatedWithinDocument", json!({ "frameId": "another frame", "url": "http://app/frame" }));
    assert_eq!(desk.lines(), ["Navigate http://app/next", "Route http://app/next#a"]);
    desk.hear("P", "Runtime.consoleAPICalled", called("log", "x", 1_000_002.0));
    assert_eq!(page(&mut desk).as_deref(), Some("http://app/next#a"));
}

#[test]
fn unknown_messages_are_ignored_and_broken_ones_counted() {
    let mut desk = Desk::page();
    desk.hear("P", "Network.somethingNew", json!({ "a": 1 }));
    desk.hear("P", "Nonsense", json!(null));
    assert_eq!(desk.translator.malformed(), 0);
    for method in ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Network.requestWillBeSent", "Log.entryAdded"]
    {
        for params in [json!(null), json!([]), json!("text"), json!({ "requestId": 7, "args": 1, "entry": 1 })] {
            desk.hear("P", method, params);
        }
    }
    assert!(desk.translator.malformed() >= 12, "{}", desk.translator.malformed());
    assert_eq!(desk.lines(), Vec::<String>::new());
}

#[test]
fn greetings_never_leave_a_page_pausable() {
    let everything = TranslateOptions { source_maps: true, ..plain() };
    for kind in ["page", "iframe", "worker", "shared_worker", "service_worker", "worklet"] {
        let methods: Vec<&str> =
            Translator::greeting(kind, &everything).into_iter().map(|(method, _)| method).collect();
        let debugger = methods.iter().position(|method| *method == "Debugger.enable");
        let skip = methods.iter().position(|method| *method == "Debugger.setSkipAllPauses");
        assert_eq!(skip, debugger.map(|index| index + 1), "{kind}: {methods:?}");
        assert_eq!(methods.contains(&"Page.enable"), matches!(kind, "page" | "iframe"));
    }
    let nothing = TranslateOptions { page_hooks: false, source_maps: false, bodies: false, mark: None };
    let quiet = Translator::greeting("page", &nothing);
    assert!(quiet.iter().all(|(method, _)| !method.starts_with("Debugger")
        && !method.contains("Binding")
        && !method.contains("Script")));
    assert_eq!(raw(&quiet[0].1).get(), "{}");
}

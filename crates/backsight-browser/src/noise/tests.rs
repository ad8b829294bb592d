//! What is noise and what never is, and what becomes of rules that users add.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::event::Level::{Debug, Error as Failure, Info, Warning};

const NOW: Timestamp = Timestamp(1_763_000_000_000);

fn nothing(category: Category) -> Subject<'static> {
    Subject { category, level: None, text: "", source: "", url: "", method: "", status: None }
}

fn said(level: Level, text: &str) -> Subject<'_> {
    let source = "http://localhost:5173/src/app.tsx";
    Subject { level: Some(level), text, source, url: "http://localhost:5173/", ..nothing(Category::Console) }
}

fn from(source: &str) -> Subject<'_> {
    Subject { source, ..said(Failure, "TypeError: x is not a function") }
}

fn requested(url: &str, status: u16) -> Subject<'_> {
    Subject { url, method: "GET", status: Some(status), ..nothing(Category::Network) }
}

fn socket(url: &str) -> Subject<'_> {
    Subject { url, ..nothing(Category::Websocket) }
}

fn noise(subject: &Subject<'_>) -> Option<String> {
    Rules::builtin().noise(subject).map(str::to_owned)
}

#[test]
fn every_builtin_rule_is_usable_and_has_its_own_id() {
    let written = builtin::rules().count();
    for rule in builtin::rules() {
        let id = rule.id.clone();
        assert!(!rule.reason.is_empty() && rule.builtin && rule.enabled, "{id}");
        Compiled::new(rule).unwrap_or_else(|problem| panic!("{id}: {problem}"));
    }
    let ids: BTreeSet<String> = Rules::builtin().list().into_iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), written);
    assert!(vendors::VENDORS.len() >= 12);
}

#[test]
fn what_is_not_the_apps_is_noise() {
    let messages = [
        (Failure, "Unchecked runtime.lastError: The message port closed before a response was received."),
        (Failure, "Uncaught (in promise) Error: Could not establish connection. Receiving end does not exist."),
        (Warning, "DevTools failed to load source map: Could not load content for http://localhost/a.js.map"),
        (Failure, "Failed to load resource: net::ERR_BLOCKED_BY_CLIENT"),
        (Info, "ServiceWorker registration successful with scope: http://localhost/"),
        (Debug, "[Violation] Added non-passive event listener to a scroll-blocking 'touchstart' event."),
        (Debug, "[Violation] 'setTimeout' handler took 82ms"),
        (Warning, "[Deprecation] Listener added for a 'DOMNodeInserted' mutation event."),
        (Warning, "Cookie “a” will be soon rejected because it has the “SameSite” attribute set to “None”"),
        (Warning, "Third-party cookie will be blocked in future Chrome versions as part of Privacy Sandbox."),
        (Failure, "ResizeObserver loop completed with undelivered notifications."),
        (Failure, "Error: No route matches URL \"/.well-known/appspecific/com.chrome.devtools.json\""),
        (Debug, "[vite] connecting..."),
        (Info, "10:12:13 AM [vite] hmr update /src/App.tsx"),
        (Info, "[HMR] Waiting for update signal from WDS..."),
        (Info, "[webpack-dev-server] App hot update..."),
        (Info, "[Fast Refresh] done in 120ms"),
        (Info, "[HMR][Svelte] Ready for updates"),
        (Info, "✨ Built in 231ms"),
        (
            Info,
            "%cDownload the React DevTools for a better development experience: https://react.dev/link/react-devtools",
        ),
        (Info, "Angular is running in development mode."),
        (Warning, "Lit is in dev mode. Not recommended for production!"),
        (Warning, "⚠️ React Router Future Flag Warning: React Router will begin wrapping state updates"),
    ];
    for (level, text) in messages {
        assert!(noise(&said(level, text)).is_some(), "{text}");
    }
    for source in ["chrome-extension://abc/inpage.js:1", "moz-extension://a-b/x.js", "inpage.js", "contentscript.js:12"]
    {
        assert!(noise(&from(source)).is_some(), "{source}");
    }
    let requests = [
        ("http://localhost:3000/favicon.ico", 404),
        ("http://localhost:3000/apple-touch-icon-precomposed.png", 404),
        ("http://localhost:3000/static/main.js.map", 404),
        ("http://localhost:3000/.well-known/appspecific/com.chrome.devtools.json", 404),
        ("http://localhost:5173/@vite/client", 200),
        ("http://localhost:3000/main.3f2a1b9c.hot-update.json", 404),
        ("http://localhost:3000/__nextjs_original-stack-frames", 500),
        ("https://www.google-analytics.com/g/collect?v=2", 204),
        ("https://o1.ingest.us.sentry.io/api/1/envelope/", 429),
        ("https://www.facebook.com/tr/?id=1", 0),
    ];
    for (url, status) in requests {
        assert!(noise(&requested(url, status)).is_some(), "{url}");
    }
    let granted = Subject { method: "OPTIONS", ..requested("http://localhost/api", 204) };
    assert_eq!(noise(&granted).as_deref(), Some("preflight"));
    for text in ["net::ERR_BLOCKED_BY_CLIENT", "blocked: other"] {
        let blocked = Subject { text, ..requested("http://localhost:3000/ads.js", 0) };
        assert_eq!(noise(&blocked).as_deref(), Some("blocked_by_client"));
    }
    for (tool, rule) in [(Tool::Vite, "hmr_socket"), (Tool::Next, "hmr_socket"), (Tool::Devtools, "devtools_socket")] {
        let owned = Subject { source: tool.source(), ..socket("ws://localhost:5173/") };
        assert_eq!(noise(&owned).as_deref(), Some(rule));
    }
    assert!(noise(&socket("wss://ws.hotjar.com/api/v2/client/ws")).is_some());
}

#[test]
fn that_the_dev_server_is_gone_is_no_chatter() {
    let lost = ["[vite] server connection lost. Polling for restart...", "[webpack-dev-server] Disconnected!"];
    for text in lost {
        assert_eq!(noise(&said(Info, text)), None, "{text}");
    }
    assert!(noise(&said(Info, "[vite] connected.")).is_some());
}

#[test]
fn the_apps_own_troubles_are_never_noise() {
    let messages = [
        (Failure, "[vite] Internal Server Error: Failed to resolve import './x' from 'src/App.tsx'"),
        (Failure, "[vite] Failed to reload /src/App.tsx. This could be due to syntax errors"),
        (Warning, "[HMR] Cannot apply update. Need to do a full reload!"),
        (Warning, "[Fast Refresh] performing full reload because your application had an unrecoverable error"),
        (Failure, "[webpack-dev-server] ERROR in ./src/App.js Module not found"),
        (Failure, "Warning: Each child in a list should have a unique \"key\" prop."),
        (Failure, "Hydration failed because the server rendered HTML didn't match the client."),
        (Warning, "Warning: componentWillMount has been renamed, and is not recommended for use."),
        (Failure, "Failed to load resource: the server responded with a status of 404 (Not Found)"),
        (Failure, "Failed to load resource: net::ERR_CONNECTION_REFUSED"),
        (Warning, "Cookie “session” has been rejected because it is already expired."),
        (Failure, "ServiceWorker registration failed: TypeError: Failed to register a ServiceWorker"),
        (Failure, "TypeError: Failed to fetch"),
        (Failure, "Uncaught ReferenceError: workbox is not defined"),
    ];
    for (level, text) in messages {
        assert_eq!(noise(&said(level, text)), None, "{text}");
    }
    for source in ["http://localhost/inpage.js", "http://localhost/src/app.ts:3", "", "webpack://app/contentscript.js"]
    {
        assert_eq!(noise(&from(source)), None, "{source}");
    }
    let requests = [
        ("http://localhost:3000/_next/data/dev/index.json", 500),
        ("http://localhost:5173/src/App.tsx", 500),
        ("http://localhost:5173/node_modules/.vite/deps/react.js", 504),
        ("http://localhost:5173/@vite/client", 500),
        ("http://localhost:3000/favicon.ico", 500),
        ("http://localhost:3000/api/map", 404),
        ("http://localhost:3000/api?next=https://www.google-analytics.com/", 500),
        ("http://localhost:3000/google-analytics.com/", 500),
        ("https://notgoogle-analytics.com/", 500),
        ("https://connect.facebook.net/en_US/sdk.js", 0),
    ];
    for (url, status) in requests {
        assert_eq!(noise(&requested(url, status)), None, "{url}");
    }
    assert_eq!(noise(&Subject { method: "OPTIONS", ..requested("http://localhost/api", 500) }), None);
    for text in ["blocked: csp", "blocked: mixed-content", "net::ERR_CONNECTION_REFUSED", ""] {
        assert_eq!(noise(&Subject { text, ..requested("http://localhost:3000/api", 0) }), None, "{text}");
    }
    let body = Subject { text: "net::ERR_BLOCKED_BY_CLIENT", ..requested("http://localhost:3000/api", 500) };
    assert_eq!(noise(&body), None, "an answer's words do not make it noise");
    for url in
        ["ws://localhost:8080/ws", "ws://localhost:3001/?token=eyJhbGciOiJIUzI1NiJ9.e30.x", "wss://api.example.com/"]
    {
        assert_eq!(noise(&socket(url)), None, "{url}");
    }
}

#[test]
fn an_app_that_is_an_extension_is_heard() {
    let own = Subject { url: "chrome-extension://abc/popup.html", ..from("chrome-extension://abc/popup.js:3") };
    assert_eq!(noise(&own), None);
    let other = Subject { url: "chrome-extension://abcd/popup.html", ..own };
    assert_eq!(noise(&other).as_deref(), Some("extension_scripts"));
}

#[test]
fn what_the_app_says_through_a_tool_is_the_apps() {
    let frame = |file: &str| Frame { file: file.into(), ..Frame::default() };
    let hook = frame("chrome-extension://fmkadmapgofadopljbjfkapdkoienihi/build/installHook.js");
    let stack = [hook.clone(), frame("http://localhost/src/app.ts")];
    assert_eq!(speaking_frame(&stack), Some(&stack[1]));
    let stack = [frame("https://browser.sentry-cdn.com/8.0.0/bundle.min.js"), frame("http://localhost/main.js")];
    assert_eq!(speaking_frame(&stack), Some(&stack[1]));
    let stack = [frame("chrome-extension://a/a.js"), frame("chrome-extension://a/b.js")];
    assert_eq!(speaking_frame(&stack), Some(&stack[0]));
    assert_eq!(speaking_frame(&[]), None);
    assert_eq!(noise(&from(&hook.file)), None);
}

fn new(rule: Value) -> NewRule {
    serde_json::from_value(rule).unwrap()
}

fn one(rule: Value) -> Rules {
    let mut rules = Rules::builtin();
    rules.add(vec![new(rule)], NOW).unwrap();
    rules
}

#[test]
fn conditions_of_a_rule_all_have_to_hold() {
    let rules = one(json!({"categories": ["console"], "level": "warn", "text": "^Slow \\w+", "source": "lib\\.js"}));
    let slow = Subject { source: "http://localhost/lib.js", ..said(Warning, "Slow query") };
    assert_eq!(rules.noise(&slow), Some("user_1"));
    assert_eq!(rules.noise(&Subject { level: Some(Info), ..slow }), Some("user_1"));
    for other in [
        Subject { level: Some(Failure), ..slow },
        Subject { text: "so Slow query", ..slow },
        Subject { source: "http://localhost/app.js", ..slow },
        Subject { category: Category::Websocket, ..slow },
    ] {
        assert_eq!(rules.noise(&other), None, "{other:?}");
    }
    let rules = one(json!({"method": "get", "status": "5xx", "url": "/legacy/"}));
    assert_eq!(rules.noise(&requested("http://h/legacy/a", 503)), Some("user_1"));
    assert_eq!(rules.noise(&requested("http://h/legacy/a", 404)), None);
    assert_eq!(rules.noise(&Subject { method: "POST", ..requested("http://h/legacy/a", 503) }), None);
}

#[test]
fn plain_patterns_and_capitals() {
    let rules = one(json!({"text": "a(b)*", "plain": true}));
    assert!(rules.noise(&said(Failure, "see a(b)* here")).is_some());
    assert_eq!(rules.noise(&said(Failure, "aba")), None);
    let rules = one(json!({"text": "HELLO (x", "plain": true, "ignore_case": true}));
    assert!(rules.noise(&said(Failure, "hello (X)")).is_some());
    assert!(one(json!({"text": "^hello", "ignore_case": true})).noise(&said(Failure, "HELLO")).is_some());
    assert_eq!(one(json!({"text": "^hello"})).noise(&said(Failure, "HELLO")), None);
}

#[test]
fn a_refused_login_is_never_noise() {
    let mut rules = Rules::builtin();
    let hiding = [json!({"status": "0-999"}), json!({"url": "http"}), json!({"text": "Failed|WebSocket"})];
    rules.add(hiding.map(new).to_vec(), NOW).unwrap();
    for status in [401, 403] {
        assert_eq!(rules.noise(&requested("http://localhost/api", status)), None);
        assert_eq!(rules.noise(&requested("https://www.google-analytics.com/collect", status)), None);
        let logged = format!("Failed to load resource: the server responded with a status of {status} (x)");
        assert_eq!(rules.noise(&said(Failure, &logged)), None);
    }
    let handshake = "Error during WebSocket handshake: Unexpected response code: 403";
    assert_eq!(rules.noise(&said(Failure, handshake)), None);
    assert!(rules.noise(&requested("http://localhost/api", 402)).is_some());
}

#[test]
fn a_batch_with_one_bad_rule_is_refused_whole_and_says_which_and_why() {
    let many = "x".repeat(513);
    let bad = [
        (json!({}), "none of `text`"),
        (json!({"level": "error"}), "would hide everything"),
        (json!({"categories": ["console"]}), "would hide everything"),
        (json!({"text": ".*"}), "`text` is found in every text"),
        (json!({"url": ""}), "`url` is found in every text"),
        (json!({"source": "a|."}), "`source` is found in every text"),
        (json!({"text": "("}), "`text` cannot be used: unclosed group"),
        (json!({"text": "(?=x)"}), "look-around"),
        (json!({"text": "(?:\\w{1000}){1000}"}), "too large"),
        (json!({"text": many}), "`text` has 513 characters"),
        (json!({"categories": ["console"], "status": 404}), "only requests have"),
        (json!({"categories": ["network"], "level": "info", "url": "x"}), "only messages have"),
        (json!({"level": "info", "status": 404}), "nothing has both"),
        (json!({"method": "G ET"}), "no method"),
        (json!({"id": "Hi", "text": "x"}), "lowercase"),
        (json!({"id": "favicon", "text": "x"}), "another rule"),
        (json!({"id": "good", "text": "x"}), "another rule"),
    ];
    for (rule, why) in bad {
        let mut rules = Rules::builtin();
        let batch = vec![new(json!({"id": "good", "text": "abc"})), new(rule.clone())];
        let error = rules.add(batch, NOW).unwrap_err();
        assert_eq!(error.code(), Code::InvalidRule);
        assert!(error.message().starts_with("noise rule 2"), "{error}");
        assert!(error.message().contains(why), "{rule}: {error}");
        assert_eq!(error.details()["position"], 1);
        assert!(rules.user_rules().is_empty());
    }
    assert!(serde_json::from_value::<NewRule>(json!({"txt": "a"})).is_err(), "a misspelt condition is no condition");
    for status in [json!("abc"), json!("500-400"), json!(-1), json!(70000), json!("0xx"), json!(null)] {
        let rule = serde_json::from_value::<NewRule>(json!({"url": "x", "status": status}));
        assert!(rule.is_err() || status.is_null(), "{status}");
    }
}

#[test]
fn there_are_at_most_a_hundred_user_rules() {
    let mut rules = Rules::builtin();
    let hundred: Vec<NewRule> = (0..100).map(|number| new(json!({"text": format!("text {number}")}))).collect();
    assert_eq!(rules.add(hundred, NOW).unwrap().len(), 100);
    assert_eq!(rules.add(vec![new(json!({"text": "y"}))], NOW).unwrap_err().code(), Code::InvalidRule);
    rules.remove("user_50").unwrap();
    assert_eq!(rules.add(vec![new(json!({"text": "y"}))], NOW).unwrap()[0].id, "user_101");
}

#[test]
fn builtin_rules_can_be_switched_off_and_not_removed() {
    let mut rules = Rules::builtin();
    let error = rules.remove("favicon").unwrap_err();
    assert_eq!((error.code(), error.hint()), (Code::InvalidRule, Some("switch it off instead".to_owned())));
    let icon = requested("http://localhost/favicon.ico", 404);
    assert!(!rules.set_enabled("favicon", false).unwrap().enabled);
    assert_eq!(rules.noise(&icon), None);
    assert!(rules.list().iter().any(|rule| rule.id == "favicon" && !rule.enabled));
    rules.set_enabled("favicon", true).unwrap();
    assert_eq!(rules.noise(&icon), Some("favicon"));
}

#[test]
fn user_rules_can_be_switched_and_removed() {
    let mut rules = one(json!({"id": "mine", "text": "abc", "reason": "known"}));
    let error = rules.remove("other").unwrap_err();
    assert_eq!((error.code(), error.hint()), (Code::RuleNotFound, Some("rules that were added: mine".to_owned())));
    assert_eq!(rules.set_enabled("other", true).unwrap_err().code(), Code::RuleNotFound);
    rules.set_enabled("mine", false).unwrap();
    assert_eq!(rules.noise(&said(Failure, "abc")), None);
    rules.set_enabled("mine", true).unwrap();
    assert_eq!(rules.noise(&said(Failure, "abc")), Some("mine"));
    assert_eq!(rules.remove("mine").unwrap().reason, "known");
    assert_eq!(rules.noise(&said(Failure, "abc")), None);
}

#[test]
fn rules_survive_the_store_and_damaged_ones_are_told() {
    let mut rules = one(json!({"id": "mine", "status": "500-599", "url": "/x/"}));
    rules.add(vec![new(json!({"text": "abc", "status": null}))], NOW).unwrap();
    rules.set_enabled("user_1", false).unwrap();
    rules.set_enabled("favicon", false).unwrap();
    let mut stored: Vec<Value> = rules.to_store().iter().map(|rule| serde_json::to_value(rule).unwrap()).collect();
    assert_eq!(stored.len(), 3);
    assert_eq!(
        stored[0],
        json!({"id": "mine", "enabled": true, "url": "/x/", "status": "500-599", "created": "2025-11-13T02:13:20.000Z"})
    );
    let mut again = Rules::builtin();
    assert_eq!(again.restore_json(stored.clone()), [""; 0]);
    assert_eq!(again.list(), rules.list());

    stored.extend([
        json!("nonsense"),
        json!({"id": "bad", "text": "("}),
        json!({"id": "all"}),
        json!({"id": "mine", "text": "twice"}),
        json!({"id": "gone", "builtin": true, "enabled": false}),
        json!({"id": "new_in_later_version", "text": "a", "unheard_of": 1}),
    ]);
    let problems = again.restore_json(stored);
    assert_eq!(problems.len(), 5, "{problems:#?}");
    assert!(problems[1].contains("`bad` is ignored: `text` cannot be used"), "{problems:#?}");
    let kept: Vec<String> = again.user_rules().into_iter().map(|rule| rule.id).collect();
    assert_eq!(kept, ["mine", "user_1", "new_in_later_version"]);
}

#[test]
fn messages_that_repeat_are_suggested() {
    let heard = [
        Candidate { template: "Tick {n} of {n} (ok)", count: 50, level: Info },
        Candidate { template: "Slow render: {duration}", count: 12, level: Warning },
        Candidate { template: "Boom", count: 500, level: Failure },
        Candidate { template: "Rare thing", count: 9, level: Info },
        Candidate { template: "[vite] hot updated: {n}", count: 100, level: Info },
        Candidate { template: "{n}", count: 100, level: Info },
    ];
    let mut rules = Rules::builtin();
    let suggestions = rules.suggest(&heard);
    let texts: Vec<&str> = suggestions.iter().filter_map(|suggestion| suggestion.rule.text.as_deref()).collect();
    assert_eq!(texts, [r"^Tick .+? of .+? \(ok\)", "^Slow render: .+?"]);
    assert!(suggestions[0].confidence > 0.9 && suggestions[1].confidence <= 0.8);
    rules.add(suggestions.into_iter().map(|suggestion| suggestion.rule).collect(), NOW).unwrap();
    assert_eq!(rules.noise(&said(Info, "Tick 3 of 10 (ok)")), Some("user_1"));
    assert_eq!(rules.suggest(&heard), []);
}

proptest! {
    #[test]
    fn no_rule_and_no_text_is_too_strange(text in "\\PC{0,40}|[(\\[{|*+?^$\\\\a-c.)]{0,30}", other in "\\PC{0,40}") {
        let mut rules = Rules::builtin();
        let _ = rules.add(vec![NewRule { text: Some(text.clone()), ..NewRule::default() }], NOW);
        let _ = rules.noise(&said(Failure, &other));
        let _ = rules.suggest(&[Candidate { template: &text, count: 99, level: Info }]);
    }
}

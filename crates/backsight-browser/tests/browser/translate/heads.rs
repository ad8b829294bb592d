//! Heads of requests and answers, timing and who asked, whatever the order of the messages.

use backsight_browser::event::{Event, Request};
use serde_json::{Value, json};

use super::{Desk, finished, received, sent};

const URL: &str = "http://app/api";

/// The messages of one request.
fn messages() -> Vec<(&'static str, Value)> {
    let mut asked = sent("1", "POST", URL, "Fetch", 10.0);
    asked["request"]["headers"] = json!({ "X-Early": "1" });
    let frame = json!({ "functionName": "pay", "url": "http://app/pay.js", "lineNumber": 6, "columnNumber": 2 });
    asked["initiator"] = json!({ "type": "script", "stack": { "callFrames": [frame] } });
    let mut answered = received("1", URL, 402, true);
    let response = &mut answered["response"];
    response["headers"] = json!({ "x-late": "2" });
    response["statusText"] = json!("Payment Required");
    response["protocol"] = json!("http/1.1");
    response["remoteIPAddress"] = json!("127.0.0.1");
    response["remotePort"] = json!(8080);
    response["timing"] = json!({ "requestTime": 10.0, "dnsStart": -1, "dnsEnd": -1, "connectStart": 1.0, "connectEnd": 3.0,
        "sslStart": -1, "sslEnd": -1, "sendStart": 3.0, "sendEnd": 3.5, "receiveHeadersEnd": 20.5 });
    vec![
        ("Network.requestWillBeSent", asked),
        (
            "Network.requestWillBeSentExtraInfo",
            json!({ "requestId": "1", "headers": { "Cookie": "a=b", "Accept": "*/*" } }),
        ),
        ("Network.responseReceived", answered),
        (
            "Network.responseReceivedExtraInfo",
            json!({ "requestId": "1", "statusCode": 402, "headers": { "Set-Cookie": "a=1\nb=2", "Content-Type": "text/plain" } }),
        ),
        ("Network.loadingFinished", finished("1", 10.25)),
    ]
}

fn only_request(desk: &Desk) -> &Request {
    let requests = desk.events.iter().filter_map(|event| match event {
        Event::Network(request) => Some(request),
        _ => None,
    });
    let requests: Vec<&Request> = requests.collect();
    assert_eq!(requests.len(), 1, "{requests:?}");
    requests[0]
}

#[test]
fn what_the_network_saw_is_kept_whatever_the_order() {
    // Every order in which the request comes before its end.
    for order in [[0, 1, 2, 3, 4], [1, 0, 3, 2, 4], [0, 2, 1, 3, 4], [0, 2, 4, 1, 3], [1, 3, 0, 2, 4], [0, 3, 2, 4, 1]]
    {
        let mut desk = Desk::page();
        for at in order {
            let (method, params) = messages().swap_remove(at);
            desk.hear("P", method, params);
        }
        desk.wait(400);
        let request = only_request(&desk);
        let exchange = request.exchange.as_ref().unwrap();
        assert_eq!(exchange.response.get("set-cookie"), Some("a=1"), "{order:?}");
        assert_eq!(exchange.response.headers.len(), 3, "{order:?}");
        if order[4] != 1 {
            assert_eq!(
                (exchange.request.get("cookie"), exchange.request.get("x-early")),
                (Some("a=b"), None),
                "{order:?}"
            );
        }
        assert_eq!((exchange.status_text.as_str(), exchange.remote.as_str()), ("Payment Required", "127.0.0.1:8080"));
        assert_eq!((exchange.initiator.as_str(), exchange.stack[0].line), ("script", 7), "{order:?}");
        let timing = exchange.timing.unwrap();
        assert_eq!((timing.blocked, timing.dns, timing.connect, timing.wait), (Some(1.0), None, Some(2.0), 17.0));
    }
}

#[test]
fn each_hop_of_a_redirect_has_its_own_heads() {
    let mut desk = Desk::page();
    let mut first = sent("1", "POST", "http://app/a", "Fetch", 1.0);
    first["request"]["headers"] = json!({ "X-Hop": "first" });
    desk.hear("P", "Network.requestWillBeSent", first);
    let mut second = sent("1", "GET", "http://app/b", "Fetch", 1.5);
    second["request"]["headers"] = json!({ "X-Hop": "second" });
    second["redirectResponse"] = json!({ "url": "http://app/a", "status": 302, "headers": { "Location": "/b" } });
    desk.hear("P", "Network.requestWillBeSent", second);
    let hop = only_request(&desk).exchange.clone().unwrap();
    assert_eq!((hop.request.get("x-hop"), hop.response.get("location")), (Some("first"), Some("/b")));
    desk.events.clear();
    desk.hear("P", "Network.responseReceived", received("1", "http://app/b", 200, false));
    desk.hear("P", "Network.loadingFinished", finished("1", 2.0));
    let last = only_request(&desk).exchange.clone().unwrap();
    assert_eq!((last.request.get("x-hop"), last.response.get("location")), (Some("second"), None));
}

#[test]
fn a_click_in_a_frame_says_which() {
    let mut desk = Desk::page();
    let payload =
        |frame: &str| json!({ "kind": "click", "target": "#pay", "trusted": true, "frame": frame }).to_string();
    for frame in ["http://pay.test/checkout", ""] {
        let called = json!({ "name": "__backsightActions", "payload": payload(frame), "executionContextId": 1 });
        desk.hear("P", "Runtime.bindingCalled", called);
    }
    let frames = desk.events.iter().filter_map(|event| match event {
        Event::Action(action) => Some(action.frame.clone()),
        _ => None,
    });
    assert_eq!(frames.collect::<Vec<_>>(), [Some("http://pay.test/checkout".to_owned()), None]);
}

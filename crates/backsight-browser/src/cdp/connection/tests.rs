//! The connection against a socket that does what the test says.

use serde_json::json;
use tokio::net::TcpListener;

use super::*;

const SOON: Duration = Duration::from_secs(10);

/// A connection and the browser's end of it.
async fn pair(limits: Limits) -> (Connection, Incoming, Socket) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let accept = async { tokio_tungstenite::accept_async(listener.accept().await.unwrap().0).await.unwrap() };
    let dialer = Dialer::default();
    let (opened, socket) = tokio::join!(Connection::open(&dialer, address, "/x", limits, SOON), accept);
    let (connection, incoming) = opened.unwrap();
    (connection, incoming, socket)
}

async fn next(socket: &mut Socket) -> Value {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).unwrap(),
            Some(Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

async fn say(socket: &mut Socket, message: Value) {
    socket.send(Message::text(message.to_string())).await.unwrap();
}

#[tokio::test]
async fn answers_find_their_commands_in_any_order() {
    let (connection, _incoming, mut browser) = pair(Limits::default()).await;
    let first = connection.send(None, "A.a", &json!({}), SOON);
    let second = connection.send(Some("s"), "B.b", &json!({ "x": 1 }), SOON);
    let (one, two) = (next(&mut browser).await, next(&mut browser).await);
    assert_eq!((one.get("sessionId"), &two["sessionId"], &two["params"]["x"]), (None, &json!("s"), &json!(1)));
    say(
        &mut browser,
        json!({ "id": two["id"], "sessionId": "s", "error": { "code": -1, "message": "no such thing" } }),
    )
    .await;
    say(&mut browser, json!({ "id": one["id"], "result": { "fine": true } })).await;
    assert_eq!(first.await.unwrap().get(), r#"{"fine":true}"#);
    assert_eq!(second.await.unwrap_err(), Refused::Answered("no such thing".to_owned()));
    assert_eq!(connection.waiting(), 0);
}

#[tokio::test]
async fn a_command_that_is_never_answered_ends_by_itself_and_leaves_nothing_behind() {
    let (connection, mut incoming, mut browser) = pair(Limits::default()).await;
    let patience = Duration::from_millis(50);
    let answer = connection.send(Some("s"), "A.a", &json!({}), patience);
    let dropped = connection.send(Some("s"), "A.b", &json!({}), SOON);
    assert_eq!(connection.waiting(), 2);
    drop(dropped);
    assert_eq!(answer.await.unwrap_err(), Refused::TimedOut);
    assert_eq!(connection.waiting(), 0);
    // What comes too late still says that somebody is there.
    let late = next(&mut browser).await;
    say(&mut browser, json!({ "id": late["id"], "result": {}, "sessionId": "s" })).await;
    let mut heard = Vec::new();
    assert!(incoming.take(&mut heard, 10).await);
    assert!(matches!(&heard[..], [Heard::Late { session }] if session == "s"), "{heard:?}");
}

#[tokio::test]
async fn whoever_waits_for_a_session_or_a_connection_that_goes_hears_so() {
    let (connection, mut incoming, browser) = pair(Limits::default()).await;
    let session = connection.send(Some("s"), "A.a", &json!({}), SOON);
    let other = connection.send(Some("t"), "A.a", &json!({}), SOON);
    connection.forget("s");
    assert_eq!(session.await.unwrap_err(), Refused::Gone);
    drop(browser);
    assert_eq!(other.await.unwrap_err(), Refused::Gone);
    assert!(!incoming.take(&mut Vec::new(), 10).await);
    assert!(connection.reason().contains("connection"), "{}", connection.reason());
    assert_eq!(connection.send(None, "A.a", &json!({}), SOON).await.unwrap_err(), Refused::Gone);
}

#[tokio::test]
async fn what_finds_the_queue_full_is_counted_and_answers_pass_it_by() {
    let limits = Limits { messages: 100, bytes: 1 << 20 };
    let (connection, mut incoming, mut browser) = pair(limits).await;
    for number in 0..250 {
        say(&mut browser, json!({ "method": "Runtime.x", "params": { "number": number } })).await;
    }
    say(&mut browser, json!({ "method": "Target.targetCreated", "params": {} })).await;
    let answer = connection.send(None, "A.a", &json!({}), SOON);
    let asked = next(&mut browser).await;
    say(&mut browser, json!({ "id": asked["id"], "result": {} })).await;
    // Nobody took anything from the queue, and the answer comes all the same.
    answer.await.unwrap();
    assert_eq!(connection.dropped(), 150);
    let mut heard = Vec::new();
    while heard.len() < 101 {
        assert!(incoming.take(&mut heard, 30).await);
    }
    // Without the messages about targets nothing else would make sense, so they have room of their own.
    assert!(matches!(heard.last().unwrap(), Heard::Event { method, .. } if method.starts_with("Target.")));
    say(&mut browser, json!({ "method": "Runtime.x" })).await;
    assert!(incoming.take(&mut heard, 10).await);
    assert_eq!((heard.len(), connection.dropped()), (102, 150));
}

#[tokio::test]
async fn the_queue_is_bounded_in_bytes_too() {
    let (connection, mut incoming, mut browser) = pair(Limits { messages: 1000, bytes: 1000 }).await;
    for _ in 0..10 {
        say(&mut browser, json!({ "method": "Runtime.x", "params": { "text": "x".repeat(300) } })).await;
    }
    let answer = connection.send(None, "A.a", &json!({}), SOON);
    let asked = next(&mut browser).await;
    say(&mut browser, json!({ "id": asked["id"], "result": {} })).await;
    answer.await.unwrap();
    assert_eq!(connection.dropped(), 7);
    let mut heard = Vec::new();
    incoming.take_now(&mut heard);
    assert_eq!(heard.len(), 3);
}

#[tokio::test]
async fn messages_nobody_needs_and_messages_nobody_understands_are_not_queued() {
    let (connection, mut incoming, mut browser) = pair(Limits::default()).await;
    say(&mut browser, json!({ "method": "Network.dataReceived", "params": {} })).await;
    browser.send(Message::binary(vec![0xff, 0xfe])).await.unwrap();
    say(&mut browser, json!({ "method": "Runtime.x", "extra": { "unknown": [1, 2, 3] } })).await;
    let mut heard = Vec::new();
    assert!(incoming.take(&mut heard, 10).await);
    assert!(matches!(&heard[..], [Heard::Event { method, session: None, .. }] if method == "Runtime.x"), "{heard:?}");
    assert_eq!((connection.malformed(), connection.dropped()), (1, 0));
}

#[tokio::test]
async fn no_origin_is_sent_since_browsers_refuse_those_who_have_one() {
    use tokio::io::AsyncReadExt;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let read = async {
        let mut stream = listener.accept().await.unwrap().0;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_buf(&mut head).await.unwrap();
        }
        String::from_utf8(head).unwrap().to_ascii_lowercase()
    };
    let dialer = Dialer::default();
    let open = Connection::open(&dialer, address, "/devtools/browser/1", Limits::default(), SOON);
    let (opened, head) = tokio::join!(open, read);
    assert!(opened.is_err());
    assert!(head.starts_with("get /devtools/browser/1 "), "{head}");
    assert!(!head.contains("\norigin:") && !head.contains("extensions"), "{head}");
}

#[tokio::test]
async fn nothing_is_sent_to_whom_is_not_admitted() {
    use backsight_core::{Admission, Code, Error};
    use tokio::io::AsyncReadExt;

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let dialer = Dialer::new(Admission::new(move |ours, theirs| {
        assert!(theirs == address && ours != theirs);
        Err(Error::new(Code::NotAllowed, "it is a stranger's"))
    }));
    let open = Connection::open(&dialer, address, "/devtools/browser/1", Limits::default(), SOON);
    let read = async {
        let mut heard = Vec::new();
        listener.accept().await.unwrap().0.read_to_end(&mut heard).await.unwrap();
        heard
    };
    let (opened, heard) = tokio::join!(open, read);
    assert_eq!((opened.err().as_deref(), heard), (Some("it is a stranger's"), Vec::new()));
    assert_eq!(dialer.refusal().unwrap().code(), Code::NotAllowed);
}

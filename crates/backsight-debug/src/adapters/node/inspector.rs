//! Speaks V8's inspector protocol over a WebSocket: commands matched with their answers, events in a queue.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use backsight_core::{Code, Error, Result};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::dap::transport::Prompt;

/// The largest answer that is read.
const LARGEST: usize = 256 << 20;

type Socket = WebSocketStream<Prompt>;

/// Our end of the connection. Dropping it lets the program go.
pub(super) struct Inspector {
    next: AtomicU64,
    waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<Answer>>>>,
    outgoing: mpsc::UnboundedSender<Message>,
    _tasks: JoinSet<()>,
}

/// The result of a command, or why there is none.
pub(super) type Answer = std::result::Result<Value, String>;

/// An event: its method and parameters.
pub(super) type Event = (String, Value);

impl Inspector {
    pub(super) async fn open(
        stream: Prompt,
        address: SocketAddr,
        path: &str,
        patience: Duration,
    ) -> Result<(Inspector, mpsc::UnboundedReceiver<Event>)> {
        let config = WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST));
        let config = config.write_buffer_size(0);
        let url = format!("ws://{address}{path}");
        let opening = tokio_tungstenite::client_async_with_config(url, stream, Some(config));
        let opened = tokio::time::timeout(patience, opening).await;
        let failed = |why: String| Error::new(Code::AdapterFailed, format!("no inspector answers at {address}: {why}"));
        let (socket, _) = opened
            .map_err(|_| failed(format!("no answer within {} ms", patience.as_millis())))?
            .map_err(|error| failed(error.to_string()))?;
        let (sink, stream) = socket.split();
        let (outgoing, to_write) = mpsc::unbounded_channel();
        let (queue, events) = mpsc::unbounded_channel();
        let waiting = Arc::default();
        let mut tasks = JoinSet::new();
        tasks.spawn(read(stream, Arc::clone(&waiting), queue));
        tasks.spawn(write(sink, to_write));
        Ok((Inspector { next: AtomicU64::new(1), waiting, outgoing, _tasks: tasks }, events))
    }

    /// Lets the program go.
    pub(super) fn close(&self) {
        let _ = self.outgoing.send(Message::Close(None));
    }

    /// Sends a command and waits for its result. The time limit is that of whoever asked for it.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Answer {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        lock(&self.waiting).insert(id, answer);
        let message = json!({ "id": id, "method": method, "params": params }).to_string();
        if self.outgoing.send(Message::text(message)).is_err() {
            lock(&self.waiting).remove(&id);
        }
        answered.await.unwrap_or_else(|_| Err("the program is gone".to_owned()))
    }
}

async fn read(
    mut stream: SplitStream<Socket>,
    waiting: Arc<Mutex<HashMap<u64, oneshot::Sender<Answer>>>>,
    queue: mpsc::UnboundedSender<Event>,
) {
    while let Some(Ok(message)) = stream.next().await {
        let Message::Text(text) = message else { continue };
        match understand(text.as_str()) {
            // Nobody waits any more if it cannot be told.
            Understood::Answer(id, answer) => {
                let waiting = lock(&waiting).remove(&id);
                let _ = waiting.map(|waiting| waiting.send(answer));
            }
            Understood::Event(method, params) => drop(queue.send((method, params))),
            Understood::Nothing => {}
        }
    }
    lock(&waiting).clear();
}

async fn write(mut sink: SplitSink<Socket, Message>, mut outgoing: mpsc::UnboundedReceiver<Message>) {
    while let Some(message) = outgoing.recv().await {
        if sink.send(message).await.is_err() {
            return;
        }
    }
    let _ = sink.close().await;
}

/// What a message of the inspector says.
#[derive(Debug, PartialEq)]
pub(super) enum Understood {
    /// The result of the command with that number, or why there is none.
    Answer(u64, Answer),
    /// Something that happened.
    Event(String, Value),
    /// Nothing that concerns us.
    Nothing,
}

/// Reads a message, whatever it is.
pub(super) fn understand(text: &str) -> Understood {
    let mut message = match parsed(text) {
        Ok(message) => message,
        // Whoever asked must not wait for ever.
        Err(error) => {
            let why = format!("the inspector's answer cannot be read: {error}");
            return id_in(text).map_or(Understood::Nothing, |id| Understood::Answer(id, Err(why)));
        }
    };
    if let Some(id) = message.get("id").and_then(Value::as_u64) {
        let failed = message.get("error").and_then(|error| error["message"].as_str()).map(str::to_owned);
        let result = message.get_mut("result").map(Value::take).unwrap_or_default();
        return Understood::Answer(id, failed.map_or(Ok(result), Err));
    }
    match message.get("method").and_then(Value::as_str).map(str::to_owned) {
        Some(method) => Understood::Event(method, message.get_mut("params").map(Value::take).unwrap_or_default()),
        None => Understood::Nothing,
    }
}

/// A message. JavaScript's texts may hold halves of characters, which are no text elsewhere.
fn parsed(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_halves(text)))
}

/// JSON in which every escaped half of a character that lacks the other half is replaced.
fn without_halves(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let low = |escape: &str| matches!(unit(escape), Some(0xdc00..=0xdfff));
        let length = match unit(escape) {
            Some(0xd800..=0xdbff) if escape.get(6..).is_some_and(low) => 12,
            Some(0xd800..=0xdfff) => {
                whole.push('\u{fffd}');
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            Some(_) => 6,
            None => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (escape, after) = escape.split_at(length);
        whole.push_str(escape);
        rest = after;
    }
    whole + rest
}

/// What `\uabcd` at the beginning stands for.
fn unit(escape: &str) -> Option<u32> {
    escape.strip_prefix("\\u")?.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok())
}

/// The number of the command that a message answers, which V8 writes first.
fn id_in(text: &str) -> Option<u64> {
    text.strip_prefix("{\"id\":")?.split_once([',', '}'])?.0.parse().ok()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn halves_of_characters_are_replaced_and_nothing_else() {
        for (text, whole) in [
            (r#""a\ud800b""#, "a\u{fffd}b"),
            (r#""\udfff\ud800\ud801""#, "\u{fffd}\u{fffd}\u{fffd}"),
            (r#""\ud83d\ude00\udc00""#, "\u{1f600}\u{fffd}"),
            (r#""\\ud800 \n\u0041\ud800""#, "\\ud800 \nA\u{fffd}"),
        ] {
            assert_eq!(parsed(text).unwrap(), json!(whole), "{text}");
        }
        assert!(parsed("{").is_err() && parsed("\"\\").is_err());
    }

    #[test]
    fn whatever_is_no_message_is_nothing() {
        for text in ["", "7", "[]", "\"x\"", "{}", "{\"id\":-1}", "{\"method\":5}", "{\"id\":\"1\",\"error\":7}"] {
            assert_eq!(understand(text), Understood::Nothing, "{text}");
        }
        assert_eq!(understand("{\"id\":3,\"error\":\"x\"}"), Understood::Answer(3, Ok(Value::Null)));
        assert_eq!(
            understand("{\"id\":3,\"error\":{\"message\":\"no\"}}"),
            Understood::Answer(3, Err("no".to_owned()))
        );
        assert_eq!(understand("{\"method\":\"a.b\"}"), Understood::Event("a.b".to_owned(), Value::Null));
    }

    #[test]
    fn an_answer_that_cannot_be_read_still_has_a_number() {
        assert_eq!(id_in(r#"{"id":12,"result":{"#), Some(12));
        assert_eq!(id_in(r#"{"id":7}"#), Some(7));
        assert_eq!(id_in(r#"{"method":"x"}"#), None);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in r#"[\\ud8cé0-9f"]{0,40}"#) {
            without_halves(&text);
        }
    }
}

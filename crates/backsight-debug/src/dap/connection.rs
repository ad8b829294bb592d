//! One connection to an adapter: requests are numbered and matched with their answers, each with its own time limit, and
//! everything the adapter says unasked goes into a queue. It knows nothing of what the messages mean.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::types::failure;
use super::wire::{Decoder, Frame, encode};

/// Messages that wait to be written; an adapter that takes none of so many is stuck.
const OUTGOING: usize = 4096;

/// What an adapter is read from.
pub(crate) type Reader = Box<dyn AsyncRead + Send + Unpin>;
/// What an adapter is written to.
pub(crate) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Our end. Dropping it closes the connection.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    outgoing: mpsc::Sender<Vec<u8>>,
    /// How many requests may be on their way at once: some adapters get slower, not faster, by more than one.
    window: Semaphore,
    _tasks: JoinSet<()>,
}

/// What an adapter says unasked, in its order. The queue ends with the connection.
pub(crate) type Incoming = mpsc::UnboundedReceiver<Heard>;

/// Something an adapter said unasked.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    Event {
        name: String,
        body: Value,
    },
    /// It wants something from us, and waits for an answer.
    Request {
        seq: i64,
        command: String,
        arguments: Value,
    },
}

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The adapter said no, in these words.
    Answered(String),
    /// No answer came in time.
    TimedOut(Duration),
    /// The connection is gone, for this reason.
    Gone(String),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Answered(message) => f.write_str(message),
            Refused::TimedOut(patience) => write!(f, "no answer within {} ms", patience.as_millis()),
            Refused::Gone(reason) => f.write_str(reason),
        }
    }
}

/// The answer to a request.
pub(crate) type Answer = Result<Value, Refused>;

#[derive(Default)]
struct Shared {
    next: AtomicI64,
    waiting: Mutex<HashMap<i64, oneshot::Sender<Answer>>>,
    /// Requests nobody waits for any more and the adapter still works on.
    overdue: Mutex<HashMap<i64, String>>,
    malformed: AtomicU64,
    junk: Mutex<(u64, String)>,
    reason: Mutex<Option<String>>,
    /// Told whenever a request is answered.
    settled: Notify,
}

impl Connection {
    /// Speaks to an adapter of which `window` requests at once are asked.
    pub(crate) fn open(reader: Reader, writer: Writer, window: usize) -> (Connection, Incoming) {
        let shared = Arc::new(Shared { next: AtomicI64::new(1), ..Shared::default() });
        let (outgoing, to_write) = mpsc::channel(OUTGOING);
        let (queue, incoming) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        tasks.spawn(read(reader, Arc::clone(&shared), queue));
        tasks.spawn(write(writer, to_write, Arc::clone(&shared)));
        let connection = Connection { shared, outgoing, window: Semaphore::new(window.max(1)), _tasks: tasks };
        (connection, incoming)
    }

    /// Asks when it is this request's turn; the time limit includes the wait for it.
    pub(crate) async fn request(&self, command: &str, arguments: Value, patience: Duration) -> Answer {
        let deadline = Instant::now() + patience;
        let Ok(turn) = tokio::time::timeout_at(deadline, self.window.acquire()).await else {
            return Err(Refused::TimedOut(patience));
        };
        let answer = self.send(command, arguments, deadline.saturating_duration_since(Instant::now())).await;
        drop(turn);
        match answer {
            Err(Refused::TimedOut(_)) => Err(Refused::TimedOut(patience)),
            answer => answer,
        }
    }

    /// Asks at once. The request is on its way, in the order of the calls, when this returns; the future is the answer.
    pub(crate) fn send(
        &self,
        command: &str,
        arguments: Value,
        patience: Duration,
    ) -> impl Future<Output = Answer> + Send + use<> {
        let seq = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        self.shared.waiting().insert(seq, answer);
        // An ended reader answers nobody: whoever asks after that hears so here, whoever asked before heard it there.
        let gone = self.shared.reason().is_some();
        let message = json!({ "seq": seq, "type": "request", "command": command, "arguments": arguments });
        let sent = !gone && self.outgoing.try_send(encode(message.to_string().as_bytes())).is_ok();
        let deadline = Instant::now() + patience;
        let forget = Forget { seq, command: command.to_owned(), shared: Arc::clone(&self.shared) };
        async move {
            if !sent {
                forget.shared.waiting().remove(&seq);
                return Err(Refused::Gone(forget.shared.why()));
            }
            match tokio::time::timeout_at(deadline, answered).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) => Err(Refused::Gone(forget.shared.why())),
                Err(_) => Err(Refused::TimedOut(patience)),
            }
        }
    }

    /// Answers what the adapter wanted from us.
    pub(crate) fn answer(&self, seq: i64, command: &str, outcome: Result<Value, &str>) {
        let own = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({ "seq": own, "type": "response", "request_seq": seq, "command": command,
            "success": outcome.is_ok() });
        match outcome {
            Ok(body) => message["body"] = body,
            Err(reason) => message["message"] = Value::from(reason),
        }
        // A connection that takes no more is closing, which the reader says.
        let _ = self.outgoing.try_send(encode(message.to_string().as_bytes()));
    }

    /// Something the adapter still works on although nobody waits for it any more.
    pub(crate) fn overdue(&self) -> Option<String> {
        self.shared.overdue().values().next().cloned()
    }

    /// Whether the adapter works on something.
    pub(crate) fn is_busy(&self) -> bool {
        !self.shared.waiting().is_empty() || !self.shared.overdue().is_empty()
    }

    /// Waits until the adapter owes no answer that is no longer waited for; whether that came in time.
    pub(crate) async fn caught_up(&self, patience: Duration) -> bool {
        let all = async {
            loop {
                let settled = self.shared.settled.notified();
                tokio::pin!(settled);
                // Before looking, so that no answer comes unnoticed in between.
                settled.as_mut().enable();
                if self.overdue().is_none() {
                    return;
                }
                settled.await;
            }
        };
        tokio::time::timeout(patience, all).await.is_ok()
    }

    /// Why the connection ended, once it has.
    pub(crate) fn ended(&self) -> Option<String> {
        self.shared.reason().clone()
    }

    /// How many messages could not be read, how many bytes were no messages, and the last of those.
    pub(crate) fn noise(&self) -> (u64, u64, String) {
        let (bytes, words) = lock(&self.shared.junk).clone();
        (self.shared.malformed.load(Ordering::Relaxed), bytes, words)
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, HashMap<i64, oneshot::Sender<Answer>>> {
        lock(&self.waiting)
    }

    fn overdue(&self) -> MutexGuard<'_, HashMap<i64, String>> {
        lock(&self.overdue)
    }

    fn reason(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.reason)
    }

    fn why(&self) -> String {
        self.reason().clone().unwrap_or_else(|| "the connection to the debugger is closed".to_owned())
    }

    /// The first reason is the cause, later ones are its consequences.
    fn end(&self, reason: &str) {
        self.reason().get_or_insert_with(|| reason.to_owned());
        self.waiting().clear();
        self.overdue().clear();
        self.settled.notify_waiters();
    }

    fn settle(&self, seq: i64, answer: Answer) {
        self.overdue().remove(&seq);
        self.settled.notify_waiters();
        if let Some(waiting) = self.waiting().remove(&seq) {
            // The receiver may be gone: it gave up at this very moment.
            let _ = waiting.send(answer);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes, when nobody waits for an answer any more, that the adapter still owes it.
struct Forget {
    seq: i64,
    command: String,
    shared: Arc<Shared>,
}

impl Drop for Forget {
    fn drop(&mut self) {
        if self.shared.waiting().remove(&self.seq).is_some() && self.shared.reason().is_none() {
            self.shared.overdue().insert(self.seq, std::mem::take(&mut self.command));
        }
    }
}

async fn read(mut reader: Reader, shared: Arc<Shared>, queue: mpsc::UnboundedSender<Heard>) {
    let mut decoder = Decoder::default();
    let mut buffer = vec![0; 1 << 16];
    let reason = loop {
        let bytes = match reader.read(&mut buffer).await {
            Ok(0) => break "the debugger closed the connection".to_owned(),
            Ok(count) => buffer.get(..count).unwrap_or_default(),
            Err(error) => break format!("the connection to the debugger broke: {error}"),
        };
        decoder.push(bytes);
        while let Some(frame) = decoder.next_frame() {
            sort(frame, &shared, &queue);
        }
        let junk = decoder.junk();
        if junk.0 != lock(&shared.junk).0 {
            *lock(&shared.junk) = junk;
        }
    };
    shared.end(&reason);
}

#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    seq: i64,
    #[serde(rename = "type")]
    kind: String,
    request_seq: Option<i64>,
    success: Option<bool>,
    message: Option<Value>,
    command: Option<String>,
    event: Option<String>,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    body: Value,
}

fn sort(frame: Frame, shared: &Shared, queue: &mpsc::UnboundedSender<Heard>) {
    let bytes = match frame {
        Frame::Message(bytes) => bytes,
        Frame::TooLong { length, beginning } => return too_long(length, &beginning, shared),
    };
    let head = serde_json::from_slice::<Head>(&bytes)
        .or_else(|_| serde_json::from_str::<Head>(&String::from_utf8_lossy(&bytes)));
    // Nobody takes from the queue any more: the session is ending.
    let enqueue = |heard| drop(queue.send(heard));
    match head {
        Ok(Head { kind, request_seq: Some(seq), success, message, body, .. }) if kind == "response" => {
            let message = message.as_ref().and_then(Value::as_str);
            let answer = match success {
                Some(false) => Err(Refused::Answered(failure(message, &body))),
                _ => Ok(body),
            };
            shared.settle(seq, answer);
        }
        Ok(Head { kind, event: Some(name), body, .. }) if kind == "event" => enqueue(Heard::Event { name, body }),
        Ok(Head { kind, seq, command: Some(command), arguments, .. }) if kind == "request" => {
            enqueue(Heard::Request { seq, command, arguments });
        }
        _ => drop(shared.malformed.fetch_add(1, Ordering::Relaxed)),
    }
}

/// Reads any bytes as what an adapter sends, in pieces of a size, and every event and answer as what it may be; how many messages
/// were understood.
pub(crate) fn read_bytes(bytes: &[u8], piece: usize) -> usize {
    let shared = Shared::default();
    let (queue, mut heard) = mpsc::unbounded_channel();
    // Small, so that also what is too long is met.
    let mut decoder = Decoder::new(1 << 16);
    let mut answers = Vec::new();
    for part in bytes.chunks(piece.max(1)) {
        decoder.push(part);
        while let Some(frame) = decoder.next_frame() {
            for seq in 0..4 {
                let (answer, answered) = oneshot::channel();
                shared.waiting().insert(seq, answer);
                answers.push(answered);
            }
            sort(frame, &shared, &queue);
        }
    }
    let said = std::iter::from_fn(|| heard.try_recv().ok()).filter_map(|heard| match heard {
        Heard::Event { body, .. } => Some(body),
        Heard::Request { .. } => None,
    });
    let answered = answers.into_iter().filter_map(|mut answer| answer.try_recv().ok()?.ok());
    said.chain(answered).map(|body| super::types::read_any(&body)).count()
}

/// Whoever waits for an answer that is too long hears so at once.
fn too_long(length: usize, beginning: &[u8], shared: &Shared) {
    shared.malformed.fetch_add(1, Ordering::Relaxed);
    let beginning = String::from_utf8_lossy(beginning);
    let Some((_, rest)) = beginning.split_once("\"request_seq\"") else { return };
    let digits: String = rest.trim_start_matches([':', ' ']).chars().take_while(char::is_ascii_digit).collect();
    if let Ok(seq) = digits.parse() {
        shared.settle(seq, Err(Refused::Answered(format!("the answer has {length} bytes, too many to be read"))));
    }
}

async fn write(mut writer: Writer, mut outgoing: mpsc::Receiver<Vec<u8>>, shared: Arc<Shared>) {
    while let Some(message) = outgoing.recv().await {
        let written = async {
            writer.write_all(&message).await?;
            writer.flush().await
        };
        if let Err(error) = written.await {
            shared.end(&format!("the connection to the debugger broke: {error}"));
            return;
        }
    }
    let _ = writer.shutdown().await;
}

#[cfg(test)]
mod tests {
    use tokio::io::{DuplexStream, ReadHalf, WriteHalf, duplex, split};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    /// The adapter's side of a connection.
    struct Other {
        reader: ReadHalf<DuplexStream>,
        writer: WriteHalf<DuplexStream>,
        decoder: Decoder,
    }

    impl Other {
        async fn hear(&mut self) -> Value {
            loop {
                if let Some(Frame::Message(bytes)) = self.decoder.next_frame() {
                    return serde_json::from_slice(&bytes).unwrap();
                }
                let mut buffer = [0; 1000];
                let count = self.reader.read(&mut buffer).await.unwrap();
                assert!(count > 0, "our side closed the connection");
                self.decoder.push(&buffer[..count]);
            }
        }

        async fn say(&mut self, message: Value) {
            self.writer.write_all(&encode(message.to_string().as_bytes())).await.unwrap();
        }

        async fn reply(&mut self, request: &Value, body: Value) {
            self.say(json!({ "type": "response", "request_seq": request["seq"], "success": true, "body": body })).await;
        }
    }

    fn pair(window: usize) -> (Connection, Incoming, Other) {
        let (ours, theirs) = duplex(1 << 16);
        let (reader, writer) = split(ours);
        let (connection, incoming) = Connection::open(Box::new(reader), Box::new(writer), window);
        let (reader, writer) = split(theirs);
        (connection, incoming, Other { reader, writer, decoder: Decoder::default() })
    }

    #[tokio::test]
    async fn answers_find_their_requests_in_any_order() {
        let (connection, _incoming, mut other) = pair(8);
        let first = connection.send("first", json!({}), PATIENCE);
        let second = connection.send("second", json!({}), PATIENCE);
        let (one, two) = (other.hear().await, other.hear().await);
        assert_eq!((&one["command"], &two["command"]), (&json!("first"), &json!("second")));
        other.reply(&two, json!(2)).await;
        other.reply(&one, json!(1)).await;
        assert_eq!((first.await, second.await), (Ok(json!(1)), Ok(json!(2))));
    }

    #[tokio::test]
    async fn no_more_requests_than_the_window_are_on_their_way() {
        let (connection, _incoming, mut other) = pair(1);
        let asked = async {
            tokio::join!(connection.request("a", json!({}), PATIENCE), connection.request("b", json!({}), PATIENCE))
        };
        let answering = async {
            for number in 0..2 {
                let request = other.hear().await;
                // The second request comes only after the first one's answer.
                assert!(other.decoder.next_frame().is_none());
                other.reply(&request, json!(number)).await;
            }
        };
        let ((first, second), ()) = tokio::join!(asked, answering);
        assert_eq!((first, second), (Ok(json!(0)), Ok(json!(1))));
    }

    #[tokio::test]
    async fn a_request_without_an_answer_ends_by_its_limit_and_is_owed_until_it_comes() {
        let (connection, mut incoming, mut other) = pair(1);
        let limit = Duration::from_millis(30);
        assert_eq!(connection.request("slow", json!({}), limit).await, Err(Refused::TimedOut(limit)));
        assert_eq!(connection.overdue().as_deref(), Some("slow"));
        let request = other.hear().await;
        other.reply(&request, json!(1)).await;
        other.say(json!({ "type": "event", "event": "after" })).await;
        assert_eq!(incoming.recv().await, Some(Heard::Event { name: "after".to_owned(), body: Value::Null }));
        assert_eq!(connection.overdue(), None);
    }

    #[tokio::test]
    async fn whoever_waits_hears_that_the_adapter_is_gone() {
        let (connection, mut incoming, other) = pair(4);
        let answer = connection.send("x", json!({}), PATIENCE);
        drop(other);
        let gone = Err(Refused::Gone("the debugger closed the connection".to_owned()));
        assert_eq!(answer.await, gone);
        assert_eq!(incoming.recv().await, None);
        assert_eq!(connection.request("y", json!({}), PATIENCE).await, gone);
        assert_eq!(connection.overdue(), None);
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_counted_and_the_rest_goes_on() {
        let (connection, mut incoming, mut other) = pair(4);
        other.writer.write_all(b"debugger 1.0 ready\n").await.unwrap();
        for broken in [&b"{"[..], b"[]", b"{\"type\":\"event\"}", b"{\"type\":\"wonder\"}"] {
            other.writer.write_all(&encode(broken)).await.unwrap();
        }
        // Invalid UTF-8 in a text costs that character only.
        other.writer.write_all(&encode(b"{\"type\":\"event\",\"event\":\"x\",\"body\":\"\xff\"}")).await.unwrap();
        let expected = Heard::Event { name: "x".to_owned(), body: json!("\u{fffd}") };
        assert_eq!(incoming.recv().await, Some(expected));
        let (malformed, junk, words) = connection.noise();
        assert_eq!((malformed, junk), (4, 18));
        assert!(words.contains("ready"));
    }

    #[tokio::test]
    async fn a_refusal_carries_the_adapters_words_and_a_wish_of_the_adapter_is_heard() {
        let (connection, mut incoming, mut other) = pair(4);
        let answer = connection.send("x", json!({}), PATIENCE);
        let request = other.hear().await;
        other
            .say(json!({ "seq": 5, "type": "response", "request_seq": request["seq"], "success": false,
                "message": "short", "body": { "error": { "format": "no {a}", "variables": { "a": "way" } } } }))
            .await;
        assert_eq!(answer.await, Err(Refused::Answered("no way".to_owned())));
        other.say(json!({ "seq": 9, "type": "request", "command": "runInTerminal", "arguments": { "a": 1 } })).await;
        let Some(Heard::Request { seq, command, .. }) = incoming.recv().await else { panic!("a request") };
        connection.answer(seq, &command, Err("unsupported"));
        let told = other.hear().await;
        assert_eq!(
            (&told["request_seq"], &told["success"], &told["message"]),
            (&json!(9), &json!(false), &json!("unsupported"))
        );
    }

    #[test]
    fn an_answer_that_is_too_long_is_told_to_whoever_waits() {
        let shared = Shared::default();
        let (answer, mut answered) = oneshot::channel();
        shared.waiting().insert(12, answer);
        too_long(99, b"{\"type\":\"response\",\"request_seq\": 12, \"x", &shared);
        assert!(matches!(answered.try_recv(), Ok(Err(Refused::Answered(text))) if text.contains("99 bytes")));
    }
}

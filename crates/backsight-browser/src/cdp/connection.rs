//! One connection to a browser's DevTools protocol: raw messages over a WebSocket or a pair of pipes, commands matched with
//! their answers, everything else put into a queue. It knows nothing of what the messages mean.
//!
//! The reader never waits for a command or for whoever takes from the queue, since a browser that is not read from stands
//! still. What does not fit into the queue is counted, and a command that is never answered ends by its own time limit.

pub(crate) mod pipe;

use std::collections::HashMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::dial::Dialer;
use pipe::Pipes;

/// Far more than anything that is asked for; what a page logs may be so long.
const LARGEST_MESSAGE: usize = 256 << 20;
/// What may wait in the queue; beyond it only messages about targets are taken, since without those everything is lost.
const QUEUE_BYTES: usize = 128 << 20;
/// Likewise in messages.
const QUEUE_MESSAGES: usize = 200_000;
/// Commands that wait to be written; a browser that takes none of so many is stuck.
const OUTGOING: usize = 65_536;
/// Often enough that nothing between us and the browser takes the connection for an idle one.
const PING_EVERY: Duration = Duration::from_secs(15);
/// Messages nobody needs, dropped before they cost anything.
const NOISE: [&str; 4] =
    ["Network.dataReceived", "Network.resourceChangedPriority", "Network.policyUpdated", "Page.lifecycleEvent"];

type Socket = WebSocketStream<TcpStream>;

/// The connection's own end: commands go in here. Dropping it closes the connection.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    outgoing: mpsc::Sender<String>,
    /// The reader and the writer, which end with this.
    tasks: JoinSet<()>,
}

/// What the browser says unasked, in its order.
pub(crate) struct Incoming {
    shared: Arc<Shared>,
    queue: mpsc::UnboundedReceiver<Heard>,
}

/// Something the browser said unasked.
#[derive(Debug)]
pub(crate) enum Heard {
    /// An event of the protocol.
    Event {
        /// The session it belongs to; none is the browser itself.
        session: Option<String>,
        /// `Domain.name`.
        method: String,
        /// As it came.
        params: Box<RawValue>,
    },
    /// A session answered a command after its time: it was slow, not gone.
    Late {
        /// Which.
        session: String,
    },
    /// A session answered the command of [`Connection::send_in_order`]: what it said before stands before this.
    Answered {
        /// Which.
        session: String,
    },
}

/// Why a command has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The browser said no, in these words.
    Answered(String),
    /// No answer came in time.
    TimedOut,
    /// The session or the whole connection is gone.
    Gone,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Answered(message) => f.write_str(message),
            Refused::TimedOut => f.write_str("no answer in time"),
            Refused::Gone => f.write_str("the connection is gone"),
        }
    }
}

/// The answer to a command.
pub(crate) type Answer = Result<Box<RawValue>, Refused>;

/// How much may wait to be taken from the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// In bytes.
    pub bytes: usize,
    /// In messages.
    pub messages: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { bytes: QUEUE_BYTES, messages: QUEUE_MESSAGES }
    }
}

struct Shared {
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, Waiting>>,
    limits: Limits,
    queued: AtomicUsize,
    queued_bytes: AtomicUsize,
    dropped: AtomicU64,
    malformed: AtomicU64,
    reason: Mutex<Option<String>>,
}

struct Waiting {
    session: Option<String>,
    answer: oneshot::Sender<Answer>,
    /// Whether the queue says when the answer came.
    is_in_order: bool,
}

impl Connection {
    /// Connects to `address` and asks for `path` there. No `Origin` is sent: browsers refuse those who have one.
    pub(crate) async fn open(
        dialer: &Dialer,
        address: SocketAddr,
        path: &str,
        limits: Limits,
        patience: Duration,
    ) -> Result<(Connection, Incoming), String> {
        let opened = tokio::time::timeout(patience, handshake(dialer, address, path)).await;
        let socket = opened.map_err(|_| format!("no answer within {} s", patience.as_secs()))??;
        let (sink, stream) = socket.split();
        Ok(Connection::begin(limits, |tasks, shared, queue, outgoing| {
            tasks.spawn(read(stream, Arc::clone(&shared), queue));
            tasks.spawn(write(sink, outgoing, shared));
        }))
    }

    /// Speaks through pipes with a browser that was started here. When this is dropped, the browser ends.
    pub(crate) fn through(pipes: Pipes, limits: Limits) -> (Connection, Incoming) {
        Connection::begin(limits, |tasks, shared, queue, outgoing| {
            tasks.spawn(pipe::read(pipes.from, Arc::clone(&shared), queue));
            tasks.spawn(pipe::write(pipes.to, outgoing, shared));
        })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the reader never waits; what is queued is counted and kept below `Limits`"
    )]
    fn begin(
        limits: Limits,
        spawn: impl FnOnce(&mut JoinSet<()>, Arc<Shared>, mpsc::UnboundedSender<Heard>, mpsc::Receiver<String>),
    ) -> (Connection, Incoming) {
        let (outgoing, to_write) = mpsc::channel(OUTGOING);
        let (queue, incoming) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
            limits,
            queued: AtomicUsize::new(0),
            queued_bytes: AtomicUsize::new(0),
            dropped: AtomicU64::new(0),
            malformed: AtomicU64::new(0),
            reason: Mutex::default(),
        });
        let mut tasks = JoinSet::new();
        spawn(&mut tasks, Arc::clone(&shared), queue, to_write);
        let incoming = Incoming { shared: Arc::clone(&shared), queue: incoming };
        (Connection { shared, outgoing, tasks }, incoming)
    }

    /// Sends a command. It is on its way, in the order of the calls, when this returns; the future is the answer.
    pub(crate) fn send(
        &self,
        session: Option<&str>,
        method: &str,
        params: &Value,
        patience: Duration,
    ) -> impl Future<Output = Answer> + Send + use<> {
        self.send_and(false, session, method, params, patience)
    }

    /// Sends a command of which the queue says when it was answered.
    pub(crate) fn send_in_order(
        &self,
        session: &str,
        method: &str,
        params: &Value,
        patience: Duration,
    ) -> impl Future<Output = Answer> + Send + use<> {
        self.send_and(true, Some(session), method, params, patience)
    }

    fn send_and(
        &self,
        is_in_order: bool,
        session: Option<&str>,
        method: &str,
        params: &Value,
        patience: Duration,
    ) -> impl Future<Output = Answer> + Send + use<> {
        let id = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting { session: session.map(str::to_owned), answer, is_in_order };
        self.shared.waiting().insert(id, waiting);
        let forget = Forget { id, shared: Arc::clone(&self.shared) };
        let sent = self.outgoing.try_send(command(id, session, method, params));
        let deadline = Instant::now() + patience;
        async move {
            let _forget = forget;
            if sent.is_err() {
                return Err(Refused::Gone);
            }
            match tokio::time::timeout_at(deadline, answered).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) => Err(Refused::Gone),
                Err(_) => Err(Refused::TimedOut),
            }
        }
    }

    /// Sends a command whose answer nobody needs.
    pub(crate) fn post(&self, session: Option<&str>, method: &str, params: &Value) {
        let id = self.shared.next.fetch_add(1, Ordering::Relaxed);
        // A connection that takes no more is closing, which the reader says.
        let _ = self.outgoing.try_send(command(id, session, method, params));
    }

    /// The session is gone: whoever waits for an answer from it hears so at once.
    pub(crate) fn forget(&self, session: &str) {
        self.shared.waiting().retain(|_, waiting| waiting.session.as_deref() != Some(session));
    }

    /// How many messages found the queue full.
    pub(crate) fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }

    /// How many messages could not be read at all.
    pub(crate) fn malformed(&self) -> u64 {
        self.shared.malformed.load(Ordering::Relaxed)
    }

    /// Why the connection ended, once it has.
    pub(crate) fn reason(&self) -> String {
        self.shared.reason().clone().unwrap_or_else(|| "the connection was closed".to_owned())
    }

    /// Takes leave of the browser. The pages stay as they are, and those that waited for us go on.
    pub(crate) async fn close(self) {
        let Connection { outgoing, mut tasks, .. } = self;
        drop(outgoing);
        // A browser that does not take leave in turn is left without.
        let _ =
            tokio::time::timeout(Duration::from_secs(1), async { while tasks.join_next().await.is_some() {} }).await;
    }

    #[cfg(test)]
    fn waiting(&self) -> usize {
        self.shared.waiting().len()
    }
}

impl Incoming {
    /// Takes what is there, at most `limit` messages; waits for the first. False: the connection has ended.
    pub(crate) async fn take(&mut self, into: &mut Vec<Heard>, limit: usize) -> bool {
        let from = into.len();
        let taken = self.queue.recv_many(into, limit).await;
        self.taken(into.get(from..).unwrap_or_default());
        taken > 0
    }

    /// Takes all that is there now.
    pub(crate) fn take_now(&mut self, into: &mut Vec<Heard>) {
        let from = into.len();
        while let Ok(heard) = self.queue.try_recv() {
            into.push(heard);
        }
        self.taken(into.get(from..).unwrap_or_default());
    }

    fn taken(&self, taken: &[Heard]) {
        self.shared.queued.fetch_sub(taken.len(), Ordering::Relaxed);
        self.shared.queued_bytes.fetch_sub(taken.iter().map(Heard::bytes).sum(), Ordering::Relaxed);
    }
}

impl Heard {
    fn bytes(&self) -> usize {
        match self {
            Heard::Event { params, method, .. } => params.get().len() + method.len(),
            Heard::Late { session } | Heard::Answered { session } => session.len(),
        }
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reason(&self) -> MutexGuard<'_, Option<String>> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first reason is the cause, later ones are its consequences.
    fn ended(&self, reason: String) {
        self.reason().get_or_insert(reason);
    }
}

/// Takes a command off the list when nobody waits for its answer any more.
struct Forget {
    id: u64,
    shared: Arc<Shared>,
}

impl Drop for Forget {
    fn drop(&mut self) {
        self.shared.waiting().remove(&self.id);
    }
}

async fn handshake(dialer: &Dialer, address: SocketAddr, path: &str) -> Result<Socket, String> {
    let stream = dialer.connect(address).await?;
    // Commands are small and each is waited for.
    let _ = stream.set_nodelay(true);
    let config = WebSocketConfig::default()
        .max_message_size(Some(LARGEST_MESSAGE))
        .max_frame_size(Some(LARGEST_MESSAGE))
        .write_buffer_size(0);
    let url = format!("ws://{address}{path}");
    let opened = tokio_tungstenite::client_async_with_config(url, stream, Some(config)).await;
    opened.map(|(socket, _)| socket).map_err(|error| error.to_string())
}

fn command(id: u64, session: Option<&str>, method: &str, params: &Value) -> String {
    let mut command = serde_json::json!({ "id": id, "method": method, "params": params });
    if let Some(session) = session {
        command["sessionId"] = Value::from(session);
    }
    command.to_string()
}

async fn read(mut stream: SplitStream<Socket>, shared: Arc<Shared>, queue: mpsc::UnboundedSender<Heard>) {
    while let Some(message) = stream.next().await {
        match message {
            Ok(Message::Text(text)) => sort(text.as_bytes(), &shared, &queue),
            Ok(Message::Binary(bytes)) => sort(&bytes, &shared, &queue),
            Ok(Message::Close(frame)) => {
                let reason = frame.map(|frame| frame.reason.to_string()).filter(|reason| !reason.is_empty());
                shared.ended(reason.unwrap_or_else(|| "the browser closed the connection".to_owned()));
                break;
            }
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => {}
            Err(error) => {
                shared.ended(format!("the connection broke: {error}"));
                break;
            }
        }
    }
    shared.ended("the browser closed the connection".to_owned());
    // Whoever waits for an answer hears that none will come.
    shared.waiting().clear();
}

/// The parts of a message that say where it goes; the rest stays unread.
#[derive(Deserialize)]
pub(crate) struct Head<'a> {
    pub id: Option<u64>,
    pub method: Option<String>,
    #[serde(rename = "sessionId")]
    session: Option<String>,
    #[serde(borrow)]
    pub params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Reads a message, if it is one.
pub(crate) fn head(bytes: &[u8]) -> Option<Head<'_>> {
    serde_json::from_slice(bytes).ok()
}

fn sort(bytes: &[u8], shared: &Shared, queue: &mpsc::UnboundedSender<Heard>) {
    let Some(head) = head(bytes) else {
        shared.malformed.fetch_add(1, Ordering::Relaxed);
        return;
    };
    match head {
        Head { id: Some(id), result, error, session, .. } => {
            let waiting = shared.waiting().remove(&id);
            match (waiting, session) {
                (Some(waiting), session) => {
                    if let Some(session) = session.filter(|_| waiting.is_in_order) {
                        enqueue(Heard::Answered { session }, shared, queue);
                    }
                    // The receiver may be gone: it gave up at this very moment.
                    drop(waiting.answer.send(answer(result, error)));
                }
                (None, Some(session)) => match has_room(session.len(), false, shared) {
                    true => enqueue(Heard::Late { session }, shared, queue),
                    false => _ = shared.dropped.fetch_add(1, Ordering::Relaxed),
                },
                (None, None) => {}
            }
        }
        Head { method: Some(method), params, session, .. } => {
            if NOISE.contains(&method.as_str()) {
                return;
            }
            // What finds no room is not copied first.
            let bytes = params.map_or(0, |params| params.get().len()) + method.len();
            match has_room(bytes, method.starts_with("Target."), shared) {
                true => {
                    let params = params.map_or_else(empty, ToOwned::to_owned);
                    enqueue(Heard::Event { session, method, params }, shared, queue);
                }
                false => _ = shared.dropped.fetch_add(1, Ordering::Relaxed),
            }
        }
        Head { id: None, method: None, .. } => {
            shared.malformed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn answer(result: Option<&RawValue>, error: Option<&RawValue>) -> Answer {
    #[derive(Deserialize)]
    struct Failure {
        message: Option<String>,
    }
    let Some(error) = error else { return Ok(result.map_or_else(empty, ToOwned::to_owned)) };
    let message = serde_json::from_str::<Failure>(error.get()).ok().and_then(|failure| failure.message);
    Err(Refused::Answered(message.unwrap_or_else(|| error.get().chars().take(200).collect())))
}

fn empty() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Whether so many more bytes may wait. Messages about targets have as much room again.
fn has_room(bytes: usize, is_about_targets: bool, shared: &Shared) -> bool {
    let room = if is_about_targets { 2 } else { 1 };
    shared.queued.load(Ordering::Relaxed) < shared.limits.messages.saturating_mul(room)
        && shared.queued_bytes.load(Ordering::Relaxed).saturating_add(bytes) <= shared.limits.bytes.saturating_mul(room)
}

fn enqueue(heard: Heard, shared: &Shared, queue: &mpsc::UnboundedSender<Heard>) {
    shared.queued.fetch_add(1, Ordering::Relaxed);
    shared.queued_bytes.fetch_add(heard.bytes(), Ordering::Relaxed);
    // Nobody takes from the queue any more: the connection is being closed.
    let _ = queue.send(heard);
}

async fn write(mut sink: SplitSink<Socket, Message>, mut outgoing: mpsc::Receiver<String>, shared: Arc<Shared>) {
    let mut ping = tokio::time::interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    loop {
        let message = tokio::select! {
            message = outgoing.recv() => message.map(Message::text),
            _ = ping.tick() => Some(Message::Ping(Default::default())),
        };
        let Some(message) = message else { break };
        if let Err(error) = sink.send(message).await {
            shared.ended(format!("the connection broke: {error}"));
            break;
        }
    }
    // The browser answers this with its own end, which the reader sees.
    let _ = sink.close().await;
}

#[cfg(test)]
mod tests;

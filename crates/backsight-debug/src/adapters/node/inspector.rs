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
        let Ok(mut message) = serde_json::from_str::<Value>(text.as_str()) else { continue };
        if let Some(id) = message["id"].as_u64() {
            let answer = match message["error"]["message"].as_str() {
                Some(error) => Err(error.to_owned()),
                None => Ok(message["result"].take()),
            };
            if let Some(waiting) = lock(&waiting).remove(&id) {
                // Nobody waits any more if it cannot be told.
                let _ = waiting.send(answer);
            }
        } else if let Some(method) = message["method"].as_str() {
            let _ = queue.send((method.to_owned(), message["params"].take()));
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

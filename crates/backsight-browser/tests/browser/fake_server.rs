//! A browser's protocol as a script: it answers as a polite browser does, unless the test says otherwise.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::tungstenite::Message;

/// What the server does.
#[derive(Clone, Debug)]
pub enum Act {
    /// Sends a message as text.
    Say(Value),
    /// Sends it as a binary frame.
    SayBinary(Value),
    /// Sends whatever this is.
    Junk(String),
    /// The beginning of a frame that announces more than comes, and then the end of the connection.
    HalfAFrame,
}

/// A command as it came.
#[derive(Clone, Debug)]
pub struct Command {
    pub id: u64,
    pub session: Option<String>,
    pub method: String,
    pub params: Value,
}

impl Command {
    pub fn reply(&self, result: Value) -> Act {
        Act::Say(self.reply_value(result))
    }

    pub fn reply_value(&self, result: Value) -> Value {
        match &self.session {
            Some(session) => json!({ "id": self.id, "result": result, "sessionId": session }),
            None => json!({ "id": self.id, "result": result }),
        }
    }
}

/// What the test says instead of the polite answer; `None` is the polite one.
pub type Script = Box<dyn FnMut(&Command) -> Option<Vec<Act>> + Send>;

/// A page the browser has.
#[derive(Clone, Debug)]
pub struct FakePage {
    pub id: String,
    pub url: String,
}

pub struct FakeServer {
    pub address: SocketAddr,
    pub guid: String,
    commands: Arc<Mutex<Vec<Command>>>,
    acts: mpsc::UnboundedSender<Act>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl FakeServer {
    /// Listens on a free port.
    pub fn start(guid: &str, pages: &[(&str, &str)], script: Script) -> FakeServer {
        FakeServer::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), guid, pages, script)
    }

    pub fn start_at(address: SocketAddr, guid: &str, pages: &[(&str, &str)], script: Script) -> FakeServer {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind(address)).unwrap();
        let address = listener.local_addr().unwrap();
        let (acts, queue) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel();
        let commands = Arc::new(Mutex::new(Vec::new()));
        let page = |(id, url): &(&str, &str)| FakePage { id: (*id).to_owned(), url: (*url).to_owned() };
        let pages = pages.iter().map(page).collect();
        let mut state = State { guid: guid.to_owned(), pages, script, queue, commands: Arc::clone(&commands) };
        let thread = std::thread::spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    () = state.serve(listener) => {}
                    _ = stopped => {}
                }
            });
        });
        FakeServer { address, guid: guid.to_owned(), commands, acts, stop: Some(stop), thread: Some(thread) }
    }

    /// The address people give.
    pub fn http(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn act(&self, act: Act) {
        self.acts.send(act).unwrap();
    }

    /// An event, out of the blue.
    pub fn say(&self, event: Value) {
        self.act(Act::Say(event));
    }

    pub fn commands(&self) -> Vec<Command> {
        self.commands.lock().unwrap().clone()
    }

    /// The methods one session was sent, in order.
    pub fn sent_to(&self, session: &str) -> Vec<String> {
        let sent = self.commands().into_iter().filter(|command| command.session.as_deref() == Some(session));
        sent.map(|command| command.method).collect()
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

pub fn target(id: &str, kind: &str, url: &str) -> Value {
    json!({ "targetId": id, "type": kind, "url": url, "title": "", "attached": false, "canAccessOpener": false })
}

pub fn attached(session: &str, parent: Option<&str>, target: Value) -> Value {
    let params = json!({ "sessionId": session, "targetInfo": target, "waitingForDebugger": true });
    match parent {
        Some(parent) => json!({ "method": "Target.attachedToTarget", "params": params, "sessionId": parent }),
        None => json!({ "method": "Target.attachedToTarget", "params": params }),
    }
}

/// `console.log(message)`, at a time of its own.
pub fn console(session: &str, message: &str, time: u64) -> Value {
    let args = json!([{ "type": "string", "value": message }]);
    let time = 1_800_000_000_000_u64 + time;
    let params = json!({ "type": "log", "args": args, "executionContextId": 1, "timestamp": time });
    json!({ "method": "Runtime.consoleAPICalled", "params": params, "sessionId": session })
}

struct State {
    guid: String,
    pages: Vec<FakePage>,
    script: Script,
    queue: mpsc::UnboundedReceiver<Act>,
    commands: Arc<Mutex<Vec<Command>>>,
}

impl State {
    async fn serve(&mut self, listener: TcpListener) {
        loop {
            let Ok((stream, _)) = listener.accept().await else { return };
            let mut first = [0; 64];
            let Ok(read) = stream.peek(&mut first).await else { continue };
            if first[..read].starts_with(b"GET /json/version") {
                self.version(stream).await;
            } else {
                self.converse(stream).await;
            }
        }
    }

    async fn version(&self, mut stream: TcpStream) {
        let address = stream.local_addr().unwrap();
        let socket = format!("ws://{address}/devtools/browser/{}", self.guid);
        let body = json!({ "Browser": "Fake/1.0", "webSocketDebuggerUrl": socket }).to_string();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
    }

    async fn converse(&mut self, stream: TcpStream) {
        let Ok(socket) = tokio_tungstenite::accept_async(stream).await else { return };
        let (mut sink, mut stream) = socket.split();
        loop {
            let acts = tokio::select! {
                message = stream.next() => match message {
                    Some(Ok(Message::Text(text))) => self.answer(&serde_json::from_str(&text).unwrap()),
                    Some(Ok(_)) => continue,
                    _ => return,
                },
                Some(act) = self.queue.recv() => {
                    self.notice(&act);
                    vec![act]
                }
            };
            for act in acts {
                let message = match act {
                    Act::Say(value) => Message::text(value.to_string()),
                    Act::SayBinary(value) => Message::binary(value.to_string().into_bytes()),
                    Act::Junk(text) => Message::text(text),
                    Act::HalfAFrame => {
                        let mut socket = sink.reunite(stream).unwrap().into_inner();
                        // A text frame of 5,000 bytes of which three come.
                        let _ = socket.write_all(&[0x81, 126, 0x13, 0x88, b'{', b'"', b'm']).await;
                        return;
                    }
                };
                if sink.send(message).await.is_err() {
                    return;
                }
            }
        }
    }

    /// A page that is told to be elsewhere is there.
    fn notice(&mut self, act: &Act) {
        let Act::Say(message) = act else { return };
        let info = &message["params"]["targetInfo"];
        if message["method"] == "Target.targetInfoChanged"
            && let Some(page) = self.pages.iter_mut().find(|page| info["targetId"] == page.id.as_str())
        {
            page.url = info["url"].as_str().unwrap().to_owned();
        }
    }

    fn answer(&mut self, message: &Value) -> Vec<Act> {
        let command = Command {
            id: message["id"].as_u64().unwrap(),
            session: message["sessionId"].as_str().map(str::to_owned),
            method: message["method"].as_str().unwrap().to_owned(),
            params: message["params"].clone(),
        };
        self.commands.lock().unwrap().push(command.clone());
        (self.script)(&command).unwrap_or_else(|| self.politely(&command))
    }

    fn politely(&self, command: &Command) -> Vec<Act> {
        match command.method.as_str() {
            "Browser.getVersion" => vec![command.reply(json!({ "product": "Fake/1.0" }))],
            "Target.setDiscoverTargets" => {
                let created = |page: &FakePage| {
                    let info = target(&page.id, "page", &page.url);
                    Act::Say(json!({ "method": "Target.targetCreated", "params": { "targetInfo": info } }))
                };
                self.pages.iter().map(created).chain([command.reply(json!({}))]).collect()
            }
            "Target.attachToTarget" => {
                let id = command.params["targetId"].as_str().unwrap();
                let url = self.pages.iter().find(|page| page.id == id).map_or("", |page| &page.url);
                let session = format!("session-{id}");
                let event = attached(&session, None, target(id, "page", url));
                vec![Act::Say(event), command.reply(json!({ "sessionId": session }))]
            }
            _ => vec![command.reply(json!({}))],
        }
    }
}

//! Being a workspace's server: taking the seat, listening, and leaving in order. A process that finds the seat taken
//! joins whoever has it, and takes its place when it goes.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use backsight::request::Init;
use backsight::{OwnStore, Settings, Workspace};
use backsight_core::{Code, Error, Result};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::ServiceExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::client::Client;
use crate::connections::{Connections, Place};
use crate::door::Door;
use crate::http::{Guard, Limits, RemoteAddress, Viewers, router};
use crate::leading;
use crate::log;
use crate::mcp::{Mcp, flow};
use crate::offer::Offer;
use crate::office::Office;
use crate::place::{self, Address, Seat};
use crate::stalled::Stalled;

/// Connections served at once, if the system grants that many descriptors; others are told to come back.
const CONNECTIONS: usize = 4096;
/// What those others are told.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\n\
    content-type: application/json\r\ncontent-length: 99\r\n\r\n\
    {\"ok\":false,\"error\":{\"code\":\"BUSY\",\"message\":\"the server has no connection left\",\"retryable\":true}}";
/// How many of them are told so at once, and how long that may take.
const FAREWELLS: usize = 64;
const FAREWELL: Duration = Duration::from_secs(1);
/// How long a connection may take to say what it wants, the next time too.
const HEAD: Duration = Duration::from_secs(20);
/// How long an answer may lie there unread.
const UNREAD: Duration = Duration::from_secs(30);
/// The fewest characters of a token where other machines can try theirs.
const SHORTEST_TOKEN: usize = 32;
/// How long requests under way have to finish when the server ends.
const GRACE: Duration = Duration::from_secs(5);
/// How often a process without a store it can use looks for one.
const LOOK_FOR_A_STORE: Duration = Duration::from_secs(1);
/// When a server first takes note of how much room the store takes, and how often from then on.
const FIRST_LOOK_AT_ROOM: Duration = Duration::from_secs(30);
const LOOK_AT_ROOM: Duration = Duration::from_secs(3600);

/// How to serve.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to listen; loopback unless somebody says otherwise.
    pub address: IpAddr,
    /// 0 means any free port.
    pub port: u16,
    /// The token to ask for; a random one when there is none.
    pub token: Option<String>,
    /// Names beside loopback's under which the server may be addressed.
    pub hosts: Vec<String>,
    /// The tools to offer over MCP.
    pub offer: Offer,
}

impl Default for Options {
    fn default() -> Self {
        let offer = Offer::default();
        Options { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 0, token: None, hosts: Vec::new(), offer }
    }
}

impl Options {
    /// Refuses a server that other machines can reach without a token that cannot be guessed.
    fn check_token(&self) -> Result<()> {
        let length = self.token.as_ref().map(|token| token.chars().count());
        let wrong = match length {
            _ if self.address.is_loopback() => return Ok(()),
            Some(length) if length >= SHORTEST_TOKEN => return Ok(()),
            Some(length) => format!("the token has {length} characters, fewer than {SHORTEST_TOKEN}"),
            None => "no token was chosen".to_owned(),
        };
        let message = format!("{} can be reached from other machines and {wrong}", self.address);
        Err(Error::new(Code::Usage, message)
            .with_hint("set BACKSIGHT_TOKEN, for instance to `$(openssl rand -hex 32)`, or listen on 127.0.0.1"))
    }
}

/// What became of an attempt to serve.
pub enum Served {
    /// This process was the server until it was told to end.
    Here,
    /// Another one was there first.
    Elsewhere(Address),
}

/// Serves the workspace over HTTP until `ending`. `ready` hears where.
pub async fn serve(
    workspace: Workspace,
    options: &Options,
    ending: CancellationToken,
    ready: impl FnOnce(&Address),
) -> Result<Served> {
    workspace.init(&Init::default())?;
    let store = store_of(&workspace)?;
    loop {
        if let Some(seat) = Seat::take(&store)? {
            let door = Door::new(Office::new(workspace));
            watch_again(&door).await;
            let listening = Listening::start(&door, seat, options, &ending).await?;
            ready(&listening.address);
            ending.cancelled().await;
            listening.finish().await;
            return Ok(Served::Here);
        }
        if let Some(address) = find_waiting(&store).await? {
            return Ok(Served::Elsewhere(address));
        }
    }
}

/// Speaks MCP on stdin and stdout until the client closes stdin or `ending`; on the way it is, joins or becomes the
/// workspace's server.
pub async fn mcp(
    workspace: Workspace,
    offer: Offer,
    conversation: Option<String>,
    ending: CancellationToken,
) -> Result<()> {
    // A directory that may not be tracked still gets answers: each tool says what is wrong.
    let store = workspace.init(&Init::default()).and_then(|_| store_of(&workspace)).ok();
    let door = Door::new(Office::new(workspace));
    let server = match store {
        // Where calls go is settled before the first one comes: the server must know every client from the beginning.
        Some(store) => {
            // A server that cannot be found keeps nobody from working: files need none.
            let seat = take_or_join(&door, &store).await.unwrap_or(None);
            tokio::spawn(lead_or_follow(door.clone(), store, seat, ending.clone()))
        }
        None => tokio::spawn(lead_or_follow_later(door.clone(), ending.clone())),
    };
    let (stdin, stdout) = rmcp::transport::io::stdio_pipes();
    let mcp = Mcp::for_this_process(door, offer, conversation);
    let service = mcp.serve_with_ct(flow::bounded(stdin, stdout), ending.child_token()).await;
    let outcome = match service {
        Ok(running) => running.waiting().await.map(drop).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    ending.cancel();
    let _ = server.await;
    // A client that leaves before it said hello has simply left.
    match outcome {
        Err(error) if !error.contains("connection closed") => Err(Error::new(Code::Io, format!("MCP ended: {error}"))),
        _ => Ok(()),
    }
}

/// Takes the seat if it is free; else calls go to whoever has it.
async fn take_or_join(door: &Door, store: &OwnStore) -> Result<Option<Seat>> {
    let seat = Seat::take(store)?;
    match seat {
        None => door.set_elsewhere(find_waiting(store).await?.as_ref().and_then(Client::new)),
        // Questions wait for it from the first one on; who cannot look has nothing to wait for.
        Some(_) => drop(door.local(Workspace::expect_browser).await),
    }
    Ok(seat)
}

/// The browser that an earlier server watched is watched again before anybody can ask about it. What comes of it is told in
/// the answers about the app; nothing else depends on it.
async fn watch_again(door: &Door) {
    drop(door.local(Workspace::attach_browser_again).await);
}

/// The same once there is a store that can be used: the user may adopt it, or allow the directory, while the agent works.
async fn lead_or_follow_later(door: Arc<Door>, ending: CancellationToken) -> Result<()> {
    let store = loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK_FOR_A_STORE) => {}
            () = ending.cancelled() => return Ok(()),
        }
        if let Ok(Some(store)) = door.local(Workspace::store).await {
            break store;
        }
    };
    let seat = take_or_join(&door, &store).await.unwrap_or(None);
    lead_or_follow(door, store, seat, ending).await
}

/// Serves with the seat, now or when whoever has it is gone.
async fn lead_or_follow(door: Arc<Door>, store: OwnStore, seat: Option<Seat>, ending: CancellationToken) -> Result<()> {
    let seat = match seat {
        Some(seat) => seat,
        None => {
            // The thread blocks in the kernel until the seat is free, and ends with the process.
            let (sender, receiver) = tokio::sync::oneshot::channel();
            std::thread::spawn(move || drop(sender.send(Seat::wait(&store))));
            tokio::select! {
                seat = receiver => seat.map_err(|_| Error::new(Code::Io, "nobody waits for the seat any more"))??,
                () = ending.cancelled() => return Ok(()),
            }
        }
    };
    watch_again(&door).await;
    door.set_elsewhere(None);
    let listening = Listening::start(&door, seat, &Options::default(), &ending).await?;
    ending.cancelled().await;
    listening.finish().await;
    Ok(())
}

/// A server that listens.
struct Listening {
    address: Address,
    seat: Seat,
    tasks: TaskTracker,
}

impl Listening {
    async fn start(door: &Arc<Door>, seat: Seat, options: &Options, ending: &CancellationToken) -> Result<Listening> {
        options.check_token()?;
        let wanted = SocketAddr::new(options.address, options.port);
        let listener = listen(wanted).map_err(|error| Error::io(format!("listen on {wanted}"), error))?;
        let bound = listener.local_addr().map_err(|error| Error::io("listen", error))?;
        let token = options.token.clone().map_or_else(random_token, Ok)?;
        let (key, started) = door.local(|workspace| workspace.page_key().map(|key| (key, workspace.now()))).await?;
        let address = Address {
            pid: std::process::id(),
            url: format!("http://{bound}"),
            token: token.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started,
            ingest_key: key.text(),
            log: log::place(),
        };
        let authorities = authorities(bound, &options.hosts);
        let pages =
            door.local::<_, Error>(|workspace| Ok(leading::place(workspace.state_directory().as_deref()))).await?;
        let viewers = Viewers::new(seat.seal().clone(), address.start(), bound.port()).with_pages(pages);
        let guard = Guard::new(token, authorities, Limits::default()).with_key(key).with_viewers(Arc::new(viewers));
        let tasks = TaskTracker::new();
        tasks.spawn(accept(
            listener,
            router(door.clone(), guard, options.offer.clone(), ending.clone()),
            tasks.clone(),
            ending.clone(),
        ));
        tasks.spawn(door.clone().keep_watch(ending.clone()));
        tasks.spawn(door.clone().keep_notes(ending.clone()));
        tasks.spawn(note_room(door.clone(), ending.clone()));
        seat.publish(&address)?;
        Ok(Listening { address, seat, tasks })
    }

    /// Lets requests under way finish, then gives the seat up.
    async fn finish(self) {
        self.tasks.close();
        let _ = tokio::time::timeout(GRACE, self.tasks.wait()).await;
        drop(self.seat);
    }
}

/// Takes note of how much room the store takes: a little after the start, so that short lives pay nothing for it, then hourly.
async fn note_room(door: Arc<Door>, ending: CancellationToken) {
    let mut wait = FIRST_LOOK_AT_ROOM;
    loop {
        tokio::select! {
            () = ending.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
        // A store that cannot be written to now is looked at again.
        drop(door.local(Workspace::note_room).await);
        wait = LOOK_AT_ROOM;
    }
}

/// Listens with room for a burst of connections.
fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(4096)
}

/// Every way a client that means us may write where it connects to.
fn authorities(bound: SocketAddr, hosts: &[String]) -> Vec<String> {
    let port = bound.port();
    let mut names = vec![bound.to_string()];
    if bound.ip().is_loopback() || bound.ip().is_unspecified() {
        names.extend(["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}")));
    }
    names.extend(hosts.iter().cloned());
    names
}

async fn accept(listener: TcpListener, router: Router, tasks: TaskTracker, ending: CancellationToken) {
    let connections = Connections::new(CONNECTIONS.min(descriptors() / 2));
    let farewells = Arc::new(Semaphore::new(FAREWELLS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = ending.cancelled() => return,
        };
        match accepted {
            Ok((stream, from)) => match connections.enter() {
                Some(place) => {
                    let (router, ending) = (router.clone(), ending.clone());
                    tasks.spawn(converse(stream, RemoteAddress(from.ip()), place, router, ending));
                }
                None => {
                    if let Ok(permit) = farewells.clone().try_acquire_owned() {
                        tasks.spawn(async move {
                            let _ = tokio::time::timeout(FAREWELL, refuse(stream)).await;
                            drop(permit);
                        });
                    }
                }
            },
            // Out of descriptors, most likely: some connection has to end first.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// How many files the process may have open.
fn descriptors() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// Says that there is no connection left. What the client says is read meanwhile: a stream that is closed over unread bytes
/// is reset, and takes the answer with it.
async fn refuse(mut stream: TcpStream) -> std::io::Result<()> {
    stream.write_all(FULL).await?;
    stream.shutdown().await?;
    let mut unheard = [0; 4096];
    while stream.read(&mut unheard).await? > 0 {}
    Ok(())
}

async fn converse(
    stream: TcpStream,
    remote: RemoteAddress,
    place: Arc<Place>,
    router: Router,
    ending: CancellationToken,
) {
    let _ = stream.set_nodelay(true);
    let routed = TowerToHyperService::new(router);
    let known = Arc::clone(&place);
    let service = hyper::service::service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(remote);
        request.extensions_mut().insert(Arc::clone(&known));
        hyper::service::Service::call(&routed, request)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(Stalled::after(UNREAD, stream)), service);
    tokio::pin!(connection);
    tokio::select! {
        // What a connection dies of is its client's business.
        _ = connection.as_mut() => {}
        () = place.is_given_up() => {}
        () = ending.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// A text that cannot be guessed.
#[expect(clippy::disallowed_methods, reason = "a server's token must not be guessed, also not in tests")]
pub fn random_token() -> Result<String> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|error| Error::new(Code::Io, format!("cannot draw a random token: {error}")))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn store_of(workspace: &Workspace) -> Result<OwnStore> {
    let store = workspace.store()?;
    store.ok_or_else(|| Error::new(Code::WorkspaceNotFound, "the workspace has no store"))
}

/// The address of whoever has the seat, also when it still has to say it; the wait takes no thread of the runtime's.
async fn find_waiting(store: &OwnStore) -> Result<Option<Address>> {
    let store = store.clone();
    let found = tokio::task::spawn_blocking(move || place::find(&store)).await;
    found.unwrap_or_else(|_| Err(Error::new(Code::ServerUnreachable, "looking for the server failed")))
}

/// The address of the workspace's server, if one runs.
pub fn find(root: &std::path::Path, settings: Settings) -> Result<Option<Address>> {
    match Workspace::open_with(root, settings)?.store()? {
        Some(store) => place::find(&store),
        None => Ok(None),
    }
}

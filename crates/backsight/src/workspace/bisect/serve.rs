//! Serves the files of a step to a page: by the user's command, which is given a port, or as they are. Only this machine is
//! served, and of its users only this one.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use backsight_core::{Code, Error, Result, bounded};
use backsight_debug::dap::peer;

use super::command::{Run, Started};
use crate::workspace::agents::decoded;

/// How long a command may take until it listens, when nobody says.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked whether it does.
const GLANCE: Duration = Duration::from_millis(50);
/// The largest head of a request, and the largest file that is served.
const LARGEST_HEAD: u64 = 16 << 10;
const LARGEST_FILE: u64 = 64 << 20;
/// Requests that are answered at a time.
const AT_A_TIME: usize = 32;
/// How long a client may take to ask.
const HEARING: Duration = Duration::from_secs(10);
/// Stands for the port in the arguments of a command.
const PORT: &str = "{port}";

/// Files that are served until this is dropped.
pub(super) struct Served {
    /// `http://localhost:41234`.
    pub(super) origin: String,
    by: By,
}

enum By {
    Us(StaticFiles),
    Command(Started),
}

/// Whether files could be served.
pub(super) enum Serving {
    Yes(Served),
    /// Why not, and what the command said.
    No(String, String),
}

impl Served {
    /// What the command said last; nothing when there is none.
    pub(super) fn output(self) -> String {
        match self.by {
            By::Us(files) => {
                drop(files);
                String::new()
            }
            By::Command(started) => started.end(),
        }
    }
}

/// Serves a directory as it is.
pub(super) fn files(directory: &Path) -> Result<Served> {
    let files = StaticFiles::new(directory).map_err(|error| Error::io("serve the files", error))?;
    Ok(Served { origin: format!("http://localhost:{}", files.port), by: By::Us(files) })
}

/// Has a command serve: it is given a free port as `PORT` and in place of `{port}`, and is ready when it listens there.
pub(super) fn command(run: Run<'_>) -> Result<Serving> {
    let port = free_port().map_err(|error| Error::io("find a free port", error))?;
    let command: Vec<String> = run.command.iter().map(|word| word.replace(PORT, &port.to_string())).collect();
    let mut environment = run.environment.clone();
    environment.push(("PORT", port.to_string().into()));
    let (patience, cancelled) = (run.timeout.unwrap_or(PATIENCE), run.cancelled);
    let mut started = Run { command: &command, environment, ..run }.start()?;
    let deadline = Instant::now() + patience;
    loop {
        if let Some(status) = started.ended_within(GLANCE) {
            return Ok(Serving::No(format!("the server ended before it listened: {}", status?), started.end()));
        }
        if is_listening(port) {
            return Ok(Serving::Yes(Served { origin: format!("http://localhost:{port}"), by: By::Command(started) }));
        }
        if cancelled() {
            return Err(Error::new(Code::Cancelled, "the search was taken back"));
        }
        if Instant::now() > deadline {
            let seconds = patience.as_secs_f64();
            let because = format!("the server did not listen on port {port} within {seconds} s");
            return Ok(Serving::No(because, started.end()));
        }
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Whether a process of this user listens there.
fn is_listening(port: u16) -> bool {
    let addresses = [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))];
    addresses
        .into_iter()
        .any(|address| TcpStream::connect_timeout(&address, HEARING).is_ok_and(|stream| is_ours(&stream)))
}

/// Whether the other end belongs to this user.
fn is_ours(stream: &TcpStream) -> bool {
    let (Ok(ours), Ok(theirs)) = (stream.local_addr(), stream.peer_addr()) else { return false };
    peer::owner(ours, theirs) == Some(rustix::process::geteuid().as_raw())
}

/// Serves files until it is dropped.
struct StaticFiles {
    port: u16,
    stop: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl StaticFiles {
    fn new(directory: &Path) -> io::Result<StaticFiles> {
        let (root, stop) = (directory.canonicalize()?, Arc::new(AtomicBool::new(false)));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let is_over = stop.clone();
        let accepting = std::thread::spawn(move || accept(&listener, &Arc::new(root), &is_over));
        Ok(StaticFiles { port, stop, accepting: Some(accepting) })
    }
}

impl Drop for StaticFiles {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes it up.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, root: &Arc<PathBuf>, is_over: &AtomicBool) {
    let busy = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming().flatten() {
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        if busy.load(Ordering::SeqCst) >= AT_A_TIME || !is_ours(&stream) {
            continue;
        }
        busy.fetch_add(1, Ordering::SeqCst);
        let (root, busy) = (root.clone(), busy.clone());
        std::thread::spawn(move || {
            // A page that does not wait for its answer is no trouble of the server's.
            let _ = answer(&stream, &root);
            let _ = stream.shutdown(Shutdown::Both);
            busy.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

fn answer(mut stream: &TcpStream, root: &Path) -> io::Result<()> {
    stream.set_read_timeout(Some(HEARING))?;
    stream.set_write_timeout(Some(HEARING))?;
    let mut head = BufReader::new(stream.take(LARGEST_HEAD));
    let mut first = String::new();
    head.read_line(&mut first)?;
    let mut line = String::new();
    while head.read_line(&mut line)? > 2 {
        line.clear();
    }
    let mut words = first.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let found =
        file_of(root, target).and_then(|path| Some((bounded::read(&path, LARGEST_FILE).ok()?, media_type(&path))));
    let (status, kind, body) = match found {
        _ if method != "GET" && method != "HEAD" => ("405 Method Not Allowed", "text/plain", Vec::new()),
        Some((body, kind)) => ("200 OK", kind, body),
        None => ("404 Not Found", "text/plain; charset=utf-8", b"no such file\n".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if method != "HEAD" {
        stream.write_all(&body)?;
    }
    stream.flush()
}

/// The file that a request means, if it lies below the root with every link followed.
fn file_of(root: &Path, target: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let path = target.split(['?', '#']).next()?;
    let bytes = decoded(path.trim_start_matches('/'))?;
    let found = root.join(std::ffi::OsStr::from_bytes(&bytes)).canonicalize().ok()?;
    let file = if found.is_dir() { found.join("index.html").canonicalize().ok()? } else { found };
    (file.starts_with(root) && file.is_file()).then_some(file)
}

/// What a browser takes a file for; scripts of modules are refused under a wrong one.
fn media_type(path: &Path) -> &'static str {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "js" | "mjs" | "cjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "xml" => "text/xml; charset=utf-8",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(served: &Served, request: &str) -> String {
        let address = served.origin.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address.replace("localhost", "127.0.0.1")).unwrap();
        stream.write_all(format!("{request} HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn files_below_the_root_are_served_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("files");
        std::fs::create_dir_all(root.join("sub dir")).unwrap();
        std::fs::write(place.path().join("secret"), "secret").unwrap();
        std::fs::write(root.join("index.html"), "<p>home").unwrap();
        std::fs::write(root.join("sub dir/a.mjs"), "export {}").unwrap();
        std::os::unix::fs::symlink("../secret", root.join("link")).unwrap();
        let served = files(&root).unwrap();
        let home = get(&served, "GET /?x=1");
        assert!(home.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html") && home.ends_with("<p>home"), "{home}");
        let script = get(&served, "GET /sub%20dir/a.mjs");
        assert!(script.contains("text/javascript") && script.ends_with("export {}"), "{script}");
        assert!(get(&served, "HEAD /").ends_with("\r\n\r\n"));
        for outside in ["/../secret", "/link", "/..%2fsecret", "/%2e%2e/secret", "/missing", "//etc/passwd", ""] {
            let text = get(&served, &format!("GET {outside}"));
            assert!(!text.contains("secret") && !text.contains("root:"), "{outside}: {text}");
        }
        assert!(get(&served, "POST /").starts_with("HTTP/1.1 405"));
        let port = served.origin.rsplit_once(':').unwrap().1.parse().unwrap();
        drop(served);
        assert!(!is_listening(port));
    }
}

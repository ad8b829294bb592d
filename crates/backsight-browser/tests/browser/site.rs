//! A small HTTP server for pages a test writes: one answer for each path, under two names so that there are two origins.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
    /// How long the server thinks about it.
    delay: Duration,
}

impl Answer {
    pub fn new(status: u16, kind: &str, body: &str) -> Answer {
        let headers = vec![("Content-Type".to_owned(), kind.to_owned())];
        Answer { status, headers, body: body.to_owned(), delay: Duration::ZERO }
    }

    pub fn html(body: &str) -> Answer {
        Answer::new(200, "text/html", &format!("<!doctype html><meta charset=utf-8><title>test</title>{body}"))
    }

    /// A page that is nothing but a script.
    pub fn page(script: &str) -> Answer {
        Answer::html(&format!("<link rel=icon href=data:,><script>{script}</script>"))
    }

    pub fn script(body: &str) -> Answer {
        Answer::new(200, "text/javascript", body)
    }

    /// The same from a server that needs so long for it.
    pub fn after(self, delay: Duration) -> Answer {
        Answer { delay, ..self }
    }

    pub fn with(mut self, name: &str, value: &str) -> Answer {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

pub struct Site {
    address: SocketAddr,
    hits: Arc<Mutex<Vec<String>>>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Site {
    pub fn serve(answers: &[(&str, Answer)]) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answers: HashMap<String, Answer> =
            answers.iter().map(|(path, answer)| ((*path).to_owned(), answer.clone())).collect();
        let (hits, ended) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (theirs, over) = (Arc::clone(&hits), Arc::clone(&ended));
        let answers = Arc::new(answers);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let (answers, hits) = (Arc::clone(&answers), Arc::clone(&theirs));
                // Browsers open connections ahead of need, so one must not wait for the other.
                std::thread::spawn(move || stream.map(|stream| respond(&stream, &answers, &hits)));
            }
        });
        Site { address, hits, ended, thread: Some(thread) }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.address.port())
    }

    /// The same under another name, which is another site to a browser.
    pub fn elsewhere(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.address.port())
    }

    /// How often a path was asked for.
    pub fn hits(&self, path: &str) -> usize {
        self.hits.lock().unwrap().iter().filter(|hit| *hit == path).count()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // Wakes the thread, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn respond(mut stream: &TcpStream, answers: &HashMap<String, Answer>, hits: &Mutex<Vec<String>>) -> Option<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next()?.ok()?;
    let path = first.split(' ').nth(1)?.split('?').next()?.to_owned();
    while !lines.next()?.ok()?.is_empty() {}
    hits.lock().unwrap().push(path.clone());
    let missing = Answer::new(404, "text/plain", "not found");
    let answer = answers.get(&path).unwrap_or(&missing);
    std::thread::sleep(answer.delay);
    let mut head =
        format!("HTTP/1.1 {} X\r\nContent-Length: {}\r\nConnection: close\r\n", answer.status, answer.body.len());
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{}", answer.body).as_bytes()).ok()
}

//! A small web site on loopback: one page, and answers that are fine, broken and missing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

/// A site of the test's own; it ends with the process.
pub struct Site {
    pub origin: String,
}

impl Site {
    pub fn start(page: String) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let page = page.clone();
                std::thread::spawn(move || answer(stream, &page));
            }
        });
        Site { origin }
    }
}

fn answer(mut stream: TcpStream, page: &str) {
    let mut head = String::new();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while reader.read_line(&mut head).is_ok_and(|read| read > 2) {}
    let target = head.split(' ').nth(1).unwrap_or("/").to_owned();
    let (status, kind, body) = match target.as_str() {
        "/" => ("200 OK", "text/html", page.to_owned()),
        "/api/ok" => ("200 OK", "application/json", "{\"fine\":true}".to_owned()),
        "/api/broken" => {
            ("500 Internal Server Error", "application/json", "{\"error\":\"the database is gone\"}".to_owned())
        }
        "/live" => ("403 Forbidden", "text/plain", String::new()),
        _ => ("404 Not Found", "text/plain", "no".to_owned()),
    };
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    let _ = stream.write_all(text.as_bytes());
    let _ = stream.read(&mut [0]);
}

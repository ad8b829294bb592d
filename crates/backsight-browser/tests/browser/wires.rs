//! What goes over wires besides HTTP: a WebSocket server that closes as its path says, and a forwarder that can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Message, accept_hdr};

/// Listens until it is dropped and gives every connection to `serve`.
pub struct Wire {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Wire {
    fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (ended, serve) = (Arc::new(AtomicBool::new(false)), Arc::new(serve));
        let over = Arc::clone(&ended);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let serve = Arc::clone(&serve);
                std::thread::spawn(move || serve(stream));
            }
        });
        Wire { address, ended, thread: Some(thread) }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// A WebSocket server: it says `hello`, and after the first message it closes with the code its path names. `/403` is refused.
pub fn sockets() -> Wire {
    Wire::listen(|stream| {
        let mut code = 1000;
        // The signature is the library's.
        #[allow(clippy::result_large_err)]
        let read_path = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
            code = request.uri().path().trim_start_matches('/').parse().unwrap_or(1000);
            if code == 403 {
                let mut refusal = ErrorResponse::new(None);
                *refusal.status_mut() = tokio_tungstenite::tungstenite::http::StatusCode::FORBIDDEN;
                return Err(refusal);
            }
            Ok(response)
        };
        let Ok(mut socket) = accept_hdr(stream, read_path) else { return };
        let _ = socket.send(Message::text("hello"));
        let _ = socket.read();
        let _ = socket.close(Some(CloseFrame { code: code.into(), reason: "as asked".into() }));
        while socket.read().is_ok() {}
    })
}

/// Passes connections on to a port of this machine until they are cut.
pub struct Forwarder {
    wire: Wire,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Forwarder {
    pub fn to(port: u16) -> Forwarder {
        let open = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&open);
        let wire = Wire::listen(move |near| {
            let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else { return };
            kept.lock().unwrap().extend([near.try_clone().unwrap(), far.try_clone().unwrap()]);
            let (near_reader, far_writer) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            std::thread::spawn(move || pass_on(near_reader, far_writer));
            pass_on(far, near);
        });
        Forwarder { wire, open }
    }

    pub fn port(&self) -> u16 {
        self.wire.port()
    }

    /// Ends every connection there is; new ones are passed on.
    pub fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.cut();
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 16384];
    while let Ok(read) = from.read(&mut buffer) {
        if read == 0 || to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

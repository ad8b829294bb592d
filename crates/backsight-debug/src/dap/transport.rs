//! The ways to reach an adapter: over its own stdin and stdout, over a port it opens, or over a port we open and it calls.

use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use backsight_core::{Code, Error, Result};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// A connection over TCP that answers at once. Adapters write a message in two parts and wait, before they send the second
/// one, for a sign that the first has arrived; without this that sign comes 40 ms later.
#[derive(Debug)]
pub(crate) struct Prompt(TcpStream);

impl Prompt {
    pub(crate) fn new(stream: TcpStream) -> Self {
        // Requests are small and each is waited for.
        let _ = stream.set_nodelay(true);
        acknowledge(&stream);
        Prompt(stream)
    }

    /// The addresses of our end and of theirs.
    pub(crate) fn ends(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        Ok((self.0.local_addr()?, self.0.peer_addr()?))
    }
}

impl AsyncRead for Prompt {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let read = Pin::new(&mut self.0).poll_read(context, buffer);
        if read.is_ready() {
            // The system forgets this wish after a while.
            acknowledge(&self.0);
        }
        read
    }
}

impl AsyncWrite for Prompt {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(target_os = "linux")]
fn acknowledge(stream: &TcpStream) {
    let _ = rustix::net::sockopt::set_tcp_quickack(stream, true);
}

#[cfg(not(target_os = "linux"))]
fn acknowledge(_: &TcpStream) {}

/// Calls `address` until somebody answers.
pub(crate) async fn connect(address: SocketAddr, patience: Duration) -> Result<Prompt> {
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_millis(5);
    loop {
        let error = match tokio::time::timeout_at(deadline, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(Prompt::new(stream)),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer".to_owned(),
        };
        if Instant::now() + pause >= deadline {
            let message = format!("no debugger answers at {address} within {} ms: {error}", patience.as_millis());
            return Err(Error::new(Code::AdapterFailed, message));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(200));
    }
}

/// A free port of this machine to be called at.
pub(crate) async fn listen() -> Result<(TcpListener, u16)> {
    let opened = async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        Ok((listener, port))
    };
    opened.await.map_err(|error| Error::io("open a port for the debugger", error))
}

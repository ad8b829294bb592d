//! Node, whose inspector is no debug adapter: what a session asks is translated into V8's protocol and back, inside this
//! process. So the session knows only one kind of debugger, and V8's side of things stays in here.

mod adapter;
mod conditions;
mod exceptions;
mod expression;
mod failing;
mod inspector;
mod look;
mod mapping;
mod maps;
mod place;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use backsight_core::{Code, Error, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::dap::connection::{Reader, Writer};
use crate::dap::transport::{self, Prompt};
use crate::dap::wire::{Decoder, Frame};
use adapter::Node;
use inspector::Inspector;

/// What Node itself says on stderr when it is debugged.
pub(crate) const TALK: &[&str] = &[
    "Debugger listening on",
    "For help, see:",
    "Debugger attached.",
    "Debugger ending on",
    "Waiting for the debugger to disconnect...",
];
/// How much may be on its way between the two halves of this process.
const PIPE: usize = 1 << 20;

/// The address in `Debugger listening on ws://127.0.0.1:41407/cb473f2a-...`.
pub(crate) fn address_in(line: &str) -> Option<(SocketAddr, String)> {
    let rest = line.split_once("ws://")?.1.trim();
    let (address, path) = rest.split_once('/')?;
    Some((address.parse().ok()?, format!("/{path}")))
}

/// Asks an inspector's port for the path it speaks at.
pub(crate) async fn discover(address: SocketAddr, patience: Duration) -> Result<String> {
    let mut stream = transport::connect(address, patience).await?;
    let asked = async {
        let request = format!("GET /json/list HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        // Node does not close the connection, so the answer is read until it says what was asked for.
        let mut answer = Vec::new();
        let mut buffer = [0; 4096];
        while answer.len() < 1 << 20 {
            let count = stream.read(&mut buffer).await?;
            answer.extend_from_slice(buffer.get(..count).unwrap_or_default());
            let path = path_in(&String::from_utf8_lossy(&answer));
            if count == 0 || path.is_some() {
                return Ok(path);
            }
        }
        Ok::<_, std::io::Error>(None)
    };
    let answer = tokio::time::timeout(patience, asked).await;
    let path = answer.ok().and_then(std::io::Result::ok).flatten();
    path.ok_or_else(|| Error::new(Code::AdapterFailed, format!("there is no inspector of Node at {address}")))
}

/// The path in `"webSocketDebuggerUrl": "ws://127.0.0.1:9229/cb47..."`, once the whole of it is there.
fn path_in(answer: &str) -> Option<String> {
    let rest = answer.split_once("\"webSocketDebuggerUrl\"")?.1;
    let mut quoted = rest.split('"').skip(1);
    let (address, _closed) = (quoted.next()?, quoted.next()?);
    address_in(address).map(|(_, path)| path)
}

/// Opens an inspector and gives it the face of an adapter.
pub(crate) async fn translate(
    stream: Prompt,
    address: SocketAddr,
    path: &str,
    patience: Duration,
) -> Result<(Reader, Writer)> {
    let (inspector, events) = Inspector::open(stream, address, path, patience).await?;
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let (reader, mut writer) = tokio::io::split(theirs);
    let (say, mut said) = tokio::sync::mpsc::unbounded_channel::<Vec<u8>>();
    tokio::spawn(async move {
        while let Some(message) = said.recv().await {
            if writer.write_all(&message).await.is_err() {
                return;
            }
        }
        let _ = writer.shutdown().await;
    });
    let node = Arc::new(Node::new(inspector, say));
    let listening = Arc::downgrade(&node);
    tokio::spawn(async move {
        let mut events = events;
        while let Some((method, params)) = events.recv().await {
            let Some(node) = listening.upgrade() else { return };
            node.hear(&method, params).await;
        }
        if let Some(node) = listening.upgrade() {
            node.ended();
        }
    });
    tokio::spawn(serve(reader, node));
    let (reader, writer) = tokio::io::split(ours);
    Ok((Box::new(reader), Box::new(writer)))
}

/// Reads any bytes as messages of an inspector, one a line, and translates what they tell of frames and values.
pub(crate) fn translate_bytes(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let mut understood = 0;
    for line in text.lines() {
        let told = match inspector::understand(line) {
            inspector::Understood::Answer(_, Ok(result)) => result,
            inspector::Understood::Event(_, params) => params,
            inspector::Understood::Answer(_, Err(_)) | inspector::Understood::Nothing => continue,
        };
        understood += 1;
        look::translate(&told, line);
        let _ = (address_in(line), path_in(line));
    }
    understood
}

/// Takes requests until the session is over; each is carried out beside the others.
async fn serve(mut reader: impl tokio::io::AsyncRead + Unpin, node: Arc<Node>) {
    let mut decoder = Decoder::default();
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = reader.read(&mut buffer).await {
        decoder.push(buffer.get(..count).unwrap_or_default());
        while let Some(frame) = decoder.next_frame() {
            let Frame::Message(bytes) = frame else { continue };
            let Ok(request) = serde_json::from_slice(&bytes) else { continue };
            let node = Arc::clone(&node);
            tokio::spawn(async move { node.serve(request).await });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_what_node_prints() {
        let line = "Debugger listening on ws://127.0.0.1:41407/cb473f2a-3fc0\n";
        assert_eq!(address_in(line), Some(("127.0.0.1:41407".parse().unwrap(), "/cb473f2a-3fc0".to_owned())));
        let list = r#"[ { "id": "x", "webSocketDebuggerUrl": "ws://127.0.0.1:9229/a-b" } ]"#;
        assert_eq!(path_in(list).as_deref(), Some("/a-b"));
        assert_eq!(path_in(list.split_at(55).0), None);
        for line in ["", "ws://", "ws://x/y", "Debugger attached."] {
            assert_eq!(address_in(line), None, "{line}");
        }
    }
}

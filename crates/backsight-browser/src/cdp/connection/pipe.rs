//! The protocol over a pair of pipes, which nobody but the process at the other end can speak: messages end with a zero
//! byte. A pipe cannot be opened a second time; when it is lost, the browser at its end is ending too.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::mpsc;

use super::{Heard, LARGEST_MESSAGE, Shared, sort};

/// Bytes read at once.
const PIECE: usize = 64 << 10;

/// Both ends of ours.
pub(crate) struct Pipes {
    /// Where the browser listens.
    pub to: Sender,
    /// Where it speaks.
    pub from: Receiver,
}

pub(super) async fn read(mut from: Receiver, shared: Arc<Shared>, queue: mpsc::UnboundedSender<Heard>) {
    let mut split = Split::new(LARGEST_MESSAGE);
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece).await {
            Ok(0) => break,
            Ok(count) => split.feed(piece.get(..count).unwrap_or_default(), |message| match message {
                Some(message) => sort(message, &shared, &queue),
                None => _ = shared.dropped.fetch_add(1, Ordering::Relaxed),
            }),
            Err(error) => {
                shared.ended(format!("the connection broke: {error}"));
                break;
            }
        }
    }
    shared.ended("the browser closed the connection".to_owned());
    // Commands that wait for an answer hear that none will come.
    shared.waiting().clear();
}

pub(super) async fn write(mut to: Sender, mut outgoing: mpsc::Receiver<String>, shared: Arc<Shared>) {
    while let Some(message) = outgoing.recv().await {
        let mut bytes = message.into_bytes();
        bytes.push(0);
        if let Err(error) = to.write_all(&bytes).await {
            shared.ended(format!("the connection broke: {error}"));
            break;
        }
    }
}

/// Finds the messages in what comes through a pipe.
pub(crate) struct Split {
    message: Vec<u8>,
    largest: usize,
    /// The message that comes is too long, so that the rest of it is passed over.
    passing: bool,
}

impl Split {
    pub(crate) fn new(largest: usize) -> Split {
        Split { message: Vec::new(), largest, passing: false }
    }

    /// Takes what came; `found` hears each whole message, and `None` for one that was too long.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut found: impl FnMut(Option<&[u8]>)) {
        let mut parts = bytes.split(|byte| *byte == 0);
        if let Some(first) = parts.next() {
            self.add(first);
        }
        for part in parts {
            // A part that is not the first comes after a zero: what was before it is whole.
            match std::mem::take(&mut self.passing) {
                true => found(None),
                false => found(Some(&self.message)),
            }
            self.message.clear();
            // One long message does not keep its room for ever.
            self.message.shrink_to(PIECE);
            self.add(part);
        }
    }

    fn add(&mut self, part: &[u8]) {
        if self.passing || self.message.len() + part.len() > self.largest {
            self.message = Vec::new();
            self.passing = true;
        } else {
            self.message.extend_from_slice(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However the bytes arrive, the messages are the same; what is too long is counted and takes nothing from the rest.
        #[test]
        fn messages_are_found_however_they_arrive(
            messages in prop::collection::vec(prop::collection::vec(1_u8..=255, 0..40), 0..10),
            size in 1_usize..50,
        ) {
            let all: Vec<u8> = messages.iter().flat_map(|message| message.iter().copied().chain([0])).collect();
            let (mut split, mut found) = (Split::new(20), Vec::new());
            for piece in all.chunks(size) {
                split.feed(piece, |message| found.push(message.map(<[u8]>::to_vec)));
            }
            let expected: Vec<_> = messages.into_iter().map(|message| Some(message).filter(|m| m.len() <= 20)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}

//! Reads a client's requests only as fast as the client takes the answers. The SDK begins every request that it reads and
//! queues what it answers, so a client that asks and does not read would fill our memory; here its pipe fills instead.
//!
//! Lines are counted, not understood: a line of the client's that is no notification wants one line from us. Where that
//! does not hold (a request that is taken back has no answer) the count is too high, so it never blocks for good: when a
//! client that reads waits and nothing moves, the oldest request counts as answered.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Requests that may be unanswered at once.
const MOST_OPEN: usize = 128;
/// Bytes they may have together; one alone may have more.
const MOST_BYTES: usize = 8 << 20;
/// After how long without any movement a request counts as answered.
const STANDSTILL: Duration = Duration::from_secs(5);
/// Bytes of a line that are looked at.
const PREFIX: usize = 4096;
/// Bytes read at once.
const CHUNK: usize = 16 << 10;

/// Both ends, which know of each other.
pub fn bounded<R, W>(reader: R, writer: W) -> (Requests<R>, Answers<W>) {
    bounded_with(reader, writer, STANDSTILL)
}

fn bounded_with<R, W>(reader: R, writer: W, standstill: Duration) -> (Requests<R>, Answers<W>) {
    let ledger = Arc::new(Mutex::new(Ledger::new()));
    let requests = Requests {
        inner: reader,
        ledger: ledger.clone(),
        chunk: Vec::new(),
        given: 0,
        line: Line::default(),
        standstill,
        timer: Box::pin(tokio::time::sleep(standstill)),
    };
    (requests, Answers { inner: writer, ledger, line: Line::default() })
}

/// How many requests some bytes hold.
pub fn count(mut bytes: &[u8]) -> usize {
    let (mut line, mut requests) = (Line::default(), 0);
    while !bytes.is_empty() {
        let piece = first_line(bytes);
        bytes = &bytes[piece.len()..];
        requests += usize::from(line.pass(piece).is_some_and(|line| line.is_request()));
    }
    requests
}

/// What was asked and is not answered.
struct Ledger {
    /// How long each request is, oldest first.
    open: VecDeque<usize>,
    bytes: usize,
    /// Whether the client does not take what we write.
    is_stuck: bool,
    moved: Instant,
    /// Who waits for room.
    waiting: Option<Waker>,
}

impl Ledger {
    fn new() -> Self {
        Ledger { open: VecDeque::new(), bytes: 0, is_stuck: false, moved: Instant::now(), waiting: None }
    }

    fn is_full(&self) -> bool {
        self.open.len() >= MOST_OPEN || self.bytes >= MOST_BYTES
    }

    fn asked(&mut self, length: usize) {
        self.open.push_back(length);
        self.bytes += length;
        self.moved = Instant::now();
    }

    fn answered(&mut self) {
        self.bytes -= self.open.pop_front().unwrap_or(0);
        self.moved = Instant::now();
        if !self.is_full()
            && let Some(waker) = self.waiting.take()
        {
            waker.wake();
        }
    }
}

fn lock(ledger: &Mutex<Ledger>) -> MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The line that is passing.
#[derive(Default)]
struct Line {
    prefix: Vec<u8>,
    length: usize,
}

impl Line {
    /// Takes note of bytes; what the line was when they end it.
    fn pass(&mut self, bytes: &[u8]) -> Option<Line> {
        let room = PREFIX.saturating_sub(self.prefix.len()).min(bytes.len());
        self.prefix.extend_from_slice(&bytes[..room]);
        self.length += bytes.len();
        bytes.ends_with(b"\n").then(|| std::mem::take(self))
    }

    fn holds(&self, wanted: &[u8]) -> bool {
        self.prefix.windows(wanted.len()).any(|window| window == wanted)
    }

    fn is_blank(&self) -> bool {
        self.prefix.iter().all(u8::is_ascii_whitespace)
    }

    /// Whether the client wants an answer to it.
    fn is_request(&self) -> bool {
        !self.is_blank() && self.holds(b"\"method\"") && !self.holds(b"\"notifications/")
    }

    /// Whether it answers a request; what we say by ourselves names its method first.
    fn is_answer(&self) -> bool {
        !self.is_blank() && !self.prefix.get(..48).unwrap_or(&self.prefix).windows(9).any(|part| part == b"\"method\":")
    }
}

/// The first line of some bytes, with its end, or all of them when it does not end here.
fn first_line(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| at + 1);
    &bytes[..end]
}

/// The client's end.
pub struct Requests<R> {
    inner: R,
    ledger: Arc<Mutex<Ledger>>,
    /// What was read and not all given on.
    chunk: Vec<u8>,
    given: usize,
    line: Line,
    standstill: Duration,
    timer: Pin<Box<Sleep>>,
}

impl<R> Requests<R> {
    /// Waits until another request may begin.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let moved = {
                let mut ledger = lock(&self.ledger);
                if !ledger.is_full() {
                    return Poll::Ready(());
                }
                ledger.waiting = Some(context.waker().clone());
                ledger.moved
            };
            self.timer.as_mut().reset(moved + self.standstill);
            ready!(self.timer.as_mut().poll(context));
            let mut ledger = lock(&self.ledger);
            match ledger.is_stuck {
                // Nothing moves because the client does not read: that is what this is for.
                true => ledger.moved = Instant::now(),
                false => ledger.answered(),
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Requests<R> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.given == this.chunk.len() {
            this.chunk.resize(CHUNK, 0);
            let mut read = ReadBuf::new(&mut this.chunk);
            let polled = Pin::new(&mut this.inner).poll_read(context, &mut read);
            let filled = read.filled().len();
            this.chunk.truncate(filled);
            this.given = 0;
            ready!(polled)?;
        }
        if this.line.length == 0 {
            ready!(this.poll_room(context));
        }
        let rest = first_line(&this.chunk[this.given..]);
        let rest = &rest[..rest.len().min(buffer.remaining())];
        buffer.put_slice(rest);
        this.given += rest.len();
        if let Some(line) = this.line.pass(rest).filter(Line::is_request) {
            lock(&this.ledger).asked(line.length);
        }
        Poll::Ready(Ok(()))
    }
}

/// Our end.
pub struct Answers<W> {
    inner: W,
    ledger: Arc<Mutex<Ledger>>,
    line: Line,
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Answers<W> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.inner).poll_write(context, bytes);
        lock(&this.ledger).is_stuck = polled.is_pending();
        let written = ready!(polled)?;
        let mut rest = &bytes[..written];
        while !rest.is_empty() {
            let piece = first_line(rest);
            rest = &rest[piece.len()..];
            if this.line.pass(piece).is_some_and(|line| line.is_answer()) {
                lock(&this.ledger).answered();
            }
        }
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.inner).poll_flush(context);
        lock(&this.ledger).is_stuck = polled.is_pending();
        polled
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    const CALL: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}\n";
    const ANSWER: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    const NOTE: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n";

    /// Reads until nothing comes; how many lines.
    async fn lines(requests: &mut Requests<&[u8]>) -> usize {
        let mut buffer = [0; 1000];
        let mut lines = 0;
        while let Ok(Ok(read)) = tokio::time::timeout(Duration::from_millis(50), requests.read(&mut buffer)).await
            && read > 0
        {
            lines += buffer[..read].iter().filter(|&&byte| byte == b'\n').count();
        }
        lines
    }

    #[tokio::test]
    async fn requests_wait_for_answers_and_notes_count_for_nothing() {
        let asked = [CALL, NOTE].concat().repeat(1000);
        let (mut requests, mut answers) = bounded(asked.as_slice(), Vec::<u8>::new());
        // What comes after the last request that may begin is not looked at.
        assert_eq!(lines(&mut requests).await, 2 * MOST_OPEN - 1);
        answers.write_all(&NOTE.repeat(50)).await.unwrap();
        assert_eq!(lines(&mut requests).await, 0);
        answers.write_all(&ANSWER.repeat(10)).await.unwrap();
        assert_eq!(lines(&mut requests).await, 2 * 10);
    }

    #[tokio::test]
    async fn large_requests_are_fewer() {
        let large = [&CALL[..CALL.len() - 1], &vec![b' '; 1 << 20], b"\n"].concat().repeat(20);
        let (mut requests, _answers) = bounded(large.as_slice(), Vec::<u8>::new());
        assert_eq!(lines(&mut requests).await, MOST_BYTES >> 20);
    }

    #[tokio::test]
    async fn what_is_never_answered_does_not_block_for_good() {
        let asked = CALL.repeat(MOST_OPEN + 2);
        let (mut requests, _answers) = bounded_with(asked.as_slice(), Vec::<u8>::new(), Duration::from_millis(20));
        let mut everything = Vec::new();
        requests.read_to_end(&mut everything).await.unwrap();
        assert_eq!(everything, asked);
    }
}

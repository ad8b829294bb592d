//! A connection whose other end must take what it asked for: an answer that waits unread for too long ends the connection,
//! and with it what the answer holds in memory. A stream that has nothing to say may stay silent as long as it likes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A stream that gives up when nothing of a write is taken for some time.
pub struct Stalled<S> {
    inner: S,
    longest: Duration,
    since: Option<Pin<Box<Sleep>>>,
}

impl<S> Stalled<S> {
    /// Gives a write this long to make some progress.
    pub fn after(longest: Duration, inner: S) -> Self {
        Stalled { inner, longest, since: None }
    }

    fn judge<T>(&mut self, context: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.since = None;
            return polled;
        }
        let longest = self.longest;
        let since = self.since.get_or_insert_with(|| Box::pin(tokio::time::sleep(longest)));
        match since.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the answer is not read"))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stalled<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stalled<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.inner).poll_write(context, bytes);
        this.judge(context, polled)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.inner).poll_write_vectored(context, slices);
        this.judge(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.inner).poll_flush(context);
        this.judge(context, polled)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.inner).poll_shutdown(context);
        this.judge(context, polled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn an_answer_that_is_not_read_ends_the_connection() {
        let (near, mut far) = tokio::io::duplex(10);
        let mut near = Stalled::after(Duration::from_millis(300), near);
        near.write_all(b"0123456789").await.unwrap();
        let stuck = tokio::spawn(async move { near.write_all(b"more").await.map_err(|error| error.kind()) });
        assert_eq!(stuck.await.unwrap(), Err(io::ErrorKind::TimedOut));
        let mut read = [0; 10];
        far.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"0123456789");
    }

    #[tokio::test]
    async fn one_that_is_read_slowly_and_one_that_is_silent_go_on() {
        let (near, mut far) = tokio::io::duplex(1);
        let mut near = Stalled::after(Duration::from_millis(300), near);
        let reading = tokio::spawn(async move {
            let mut read = Vec::new();
            for _ in 0..5 {
                tokio::time::sleep(Duration::from_millis(150)).await;
                read.push(far.read_u8().await.unwrap());
            }
            read
        });
        near.write_all(b"ab").await.unwrap();
        tokio::time::sleep(Duration::from_millis(600)).await;
        near.write_all(b"cde").await.unwrap();
        assert_eq!(reading.await.unwrap(), b"abcde");
    }
}

//! Connections whose writes must make progress.

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// A connection that fails if its client reads nothing of a response for some time: otherwise clients that never read
/// would hold their connections for ever.
pub(super) struct Stream {
    inner: TokioIo<TcpStream>,
    time: Duration,
    /// Ends when the client has read nothing for too long; `None` if the last write succeeded.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Stream {
    pub(super) fn new(stream: TcpStream, time: Duration) -> Self {
        Self {
            inner: TokioIo::new(stream),
            time,
            stalled: None,
        }
    }

    fn in_time<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let time = self.time;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(time)));
        let late = || Err(io::ErrorKind::TimedOut.into());
        stalled.as_mut().poll(context).map(|()| late())
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl Write for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.in_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, parts);
        self.in_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

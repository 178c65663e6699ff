//! Connections whose reads and writes must make progress.

use super::client::{Client, Phase};
use super::places::Places;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

type Wait = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// A connection that ends if its client sends nothing for too long, or reads nothing of a response: otherwise such
/// clients would hold their connections for ever. The time of bodies is limited where they are read.
pub(super) struct Stream {
    client: Arc<Client>,
    places: Arc<Places>,
    /// Time limit for the head of a request, and for progress of a response.
    time: Duration,
    /// Ends when the client has sent nothing for too long in this phase.
    silent: Option<(Phase, Wait)>,
    /// Ends when the client has read nothing for too long; `None` if the last write succeeded.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Stream {
    pub(super) fn new(client: Arc<Client>, places: Arc<Places>, time: Duration) -> Self {
        Self {
            client,
            places,
            time,
            silent: None,
            stalled: None,
        }
    }

    /// Polls the end of a wait for the client, which is that of the connection: in order if it is idle.
    fn poll_silent(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let phase = self.client.phase();
        if self.silent.as_ref().is_none_or(|(waited, _)| *waited != phase) {
            let (places, time) = (Arc::clone(&self.places), self.time);
            let wait: Wait = match phase {
                Phase::Busy => return Poll::Pending,
                Phase::Idle => Box::pin(async move {
                    places.end_of_idle().await;
                    Ok(())
                }),
                Phase::Head => Box::pin(async move {
                    sleep(time).await;
                    Err(ErrorKind::TimedOut.into())
                }),
            };
            self.silent = Some((phase, wait));
        }
        match &mut self.silent {
            Some((_, wait)) => wait.as_mut().poll(context),
            None => Poll::Pending,
        }
    }

    fn in_time<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let time = self.time;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(time)));
        let late = || Err(ErrorKind::TimedOut.into());
        stalled.as_mut().poll(context).map(|()| late())
    }
}

/// Repeats an operation on a socket until it is done, or until the socket is found to be not ready for it.
fn poll_socket<T>(
    mut poll_ready: impl FnMut() -> Poll<io::Result<()>>,
    mut operate: impl FnMut() -> io::Result<T>,
) -> Poll<io::Result<T>> {
    loop {
        ready!(poll_ready())?;
        match operate() {
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            done => return Poll::Ready(done),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let socket = &self.client.socket;
        let read = poll_socket(
            || socket.poll_read_ready(context),
            || socket.try_read(buffer.initialize_unfilled()),
        );
        let Poll::Ready(read) = read else {
            return self.poll_silent(context);
        };
        let n = read?;
        buffer.advance(n);
        if self.client.phase() == Phase::Idle {
            self.client.set_phase(Phase::Head);
            self.silent = None;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let socket = &self.client.socket;
        let written = poll_socket(|| socket.poll_write_ready(context), || socket.try_write(bytes));
        self.in_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let socket = &self.client.socket;
        let written = poll_socket(
            || socket.poll_write_ready(context),
            || socket.try_write_vectored(parts),
        );
        self.in_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The system sends what was written.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The socket is closed when the connection is dropped, which follows.
        Poll::Ready(Ok(()))
    }
}

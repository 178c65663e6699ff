//! The clients of connections.

use super::until::until;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::time::sleep;

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing of the next request has arrived.
    Idle,
    /// The head of a request arrives.
    Head,
    /// A request is being served, whose body may still arrive.
    Busy,
}

/// A client: its socket, which is read and written for it and watched while it waits, and what its connection is doing.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) socket: TcpStream,
    phase: AtomicU8,
}

impl Client {
    pub(super) fn new(socket: TcpStream) -> Self {
        Self {
            socket,
            phase: AtomicU8::new(Phase::Idle as u8),
        }
    }

    pub(super) fn phase(&self) -> Phase {
        let phase = self.phase.load(Ordering::Relaxed);
        let is = |other: &Phase| *other as u8 == phase;
        [Phase::Idle, Phase::Head]
            .into_iter()
            .find(is)
            .unwrap_or(Phase::Busy)
    }

    pub(super) fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// Returns when the connection was reset: nobody can get a response.
    pub(super) async fn reset(&self) {
        // A failure means that nothing can be sent, too.
        let _ = self.socket.ready(Interest::ERROR).await;
    }

    /// Returns when the connection was reset, or some time after the client closed its side: clients may do so and wait
    /// for their response, and those that have gone cannot be told from them.
    pub(super) async fn gone(&self, time: Duration) {
        let closed = async {
            while self
                .socket
                .ready(Interest::READABLE)
                .await
                .is_ok_and(|ready| !ready.is_read_closed())
            {
                // What can be read is for later.
                sleep(Duration::from_secs(1)).await;
            }
            sleep(time).await;
        };
        until(self.reset(), closed).await;
    }
}

//! The connections that may be open at a time.

use crate::output::note;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// Time for which an idle connection stays although others wait for its place: its next request may be under way.
const KEPT: Duration = Duration::from_secs(1);

/// Places of connections. While a client waits for one, connections end with their responses, and the one that has been
/// idle for longest ends at once: clients that keep their connections would shut out all others.
#[derive(Debug)]
pub(super) struct Places {
    free: Arc<Semaphore>,
    /// Time after which idle connections end in any case.
    idle: Duration,
    /// True while a client waits.
    are_wanted: AtomicBool,
    /// Wakes idle connections, the one that has waited for longest first.
    wanted: Notify,
    noted: Once,
}

impl Places {
    pub(super) fn new(places: usize, idle: Duration) -> Self {
        Self {
            free: Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS))),
            idle,
            are_wanted: AtomicBool::new(false),
            wanted: Notify::new(),
            noted: Once::new(),
        }
    }

    /// Returns the next connection when there is a place for it; `None` if there will be none.
    pub(super) async fn next(&self, listener: &TcpListener) -> Option<(TcpStream, OwnedSemaphorePermit)> {
        let stream = self.accept(listener).await;
        if self.free.available_permits() == 0 {
            self.want();
        }
        let place = Arc::clone(&self.free).acquire_owned().await;
        self.are_wanted.store(false, Ordering::Relaxed);
        Some((stream, place.ok()?))
    }

    async fn accept(&self, listener: &TcpListener) -> TcpStream {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => return stream,
                // The client did not wait.
                Err(e)
                    if matches!(
                        e.kind(),
                        ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
                    ) => {}
                // For example too many open files: the client waits until there are fewer.
                Err(e) => {
                    self.noted
                        .call_once(|| note(&format!("a connection has to wait: {e}")));
                    self.want();
                    sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    fn want(&self) {
        self.are_wanted.store(true, Ordering::Relaxed);
        self.wanted.notify_one();
    }

    /// Returns true while a client waits for a place.
    pub(super) fn are_wanted(&self) -> bool {
        self.are_wanted.load(Ordering::Relaxed)
    }

    /// Returns when a connection that is idle from now on should end.
    pub(super) async fn end_of_idle(&self) {
        let kept = KEPT.min(self.idle);
        sleep(kept).await;
        let wanted = async {
            loop {
                self.wanted.notified().await;
                // Otherwise another connection has ended meanwhile.
                if self.are_wanted() {
                    break;
                }
            }
        };
        // Either way the connection ends.
        let _ = timeout(self.idle - kept, wanted).await;
    }
}

//! The bodies of requests, whose memory together is limited.

use super::client::Client;
use super::problem::Problem;
use super::until::until;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Size in bytes up to which bodies wait for no others: most requests are small, and should not wait for large ones.
const SMALL: usize = 64 << 10;

/// Number of bodies of the largest size that have room together.
const LARGEST: usize = 8;

/// Bytes that are counted as one, as the count of a body has 32 bits.
const UNIT: usize = 1 << 10;

/// Limits of bodies.
#[derive(Debug)]
pub(super) struct Bodies {
    /// Largest size in bytes.
    limit: usize,
    /// Time limit for a body to arrive, and for its wait for room.
    time: Duration,
    /// Room for the bodies that are not small.
    room: Arc<Semaphore>,
}

/// The body of a request, and the room that it takes unless it is small.
#[derive(Debug)]
pub(super) struct RequestBody {
    pub(super) text: Vec<u8>,
    _room: Option<OwnedSemaphorePermit>,
}

impl Bodies {
    pub(super) fn new(limit: usize, time: Duration) -> Self {
        let room = limit.div_ceil(UNIT).saturating_mul(LARGEST);
        Self {
            limit,
            time,
            room: Arc::new(Semaphore::new(room.min(Semaphore::MAX_PERMITS))),
        }
    }

    /// Reads a body when there is room for it.
    pub(super) async fn read(&self, body: &mut Incoming, client: &Client) -> Result<RequestBody, Problem> {
        let limit = self.limit;
        if body.size_hint().lower() > limit as u64 {
            return Err(Problem::TooLong { limit });
        }
        let declared = body.size_hint().exact().map(|size| size as usize);
        let most = declared.unwrap_or(SMALL.min(limit));
        let mut room = None;
        if most > SMALL {
            room = Some(self.room(most, client).await?);
        }
        // One piece of memory of its size is given back as a whole.
        let mut text = Vec::new();
        reserve(&mut text, declared.unwrap_or(0))?;
        let mut is_whole = self.fill(body, &mut text, most).await?;
        // A body of undeclared size may become as large as any.
        if !is_whole && text.len() <= limit {
            room = Some(self.room(limit, client).await?);
            let rest = limit - text.len();
            reserve(&mut text, rest)?;
            is_whole = self.fill(body, &mut text, limit).await?;
        }
        match is_whole {
            true => Ok(RequestBody { text, _room: room }),
            false => Err(Problem::TooLong { limit }),
        }
    }

    async fn room(&self, bytes: usize, client: &Client) -> Result<OwnedSemaphorePermit, Problem> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let room = timeout(self.time, Arc::clone(&self.room).acquire_many_owned(units));
        // The body of a connection that was reset meanwhile will not arrive.
        let room = until(client.reset(), room).await.ok_or(Problem::GivenUp)?;
        room.map_err(|_| Problem::Busy)?.map_err(|_| Problem::Internal)
    }

    /// Appends what arrives, until the text is longer than allowed. Returns true if all has arrived.
    async fn fill(&self, body: &mut Incoming, text: &mut Vec<u8>, most: usize) -> Result<bool, Problem> {
        let all = async {
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|e| Problem::Request(e.to_string()))?;
                text.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
                if text.len() > most {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        timeout(self.time, all).await.map_err(|_| Problem::Late)?
    }
}

/// Makes room for bytes. Where the limits allow more than the machine has, a request is refused, and the server stays.
fn reserve(text: &mut Vec<u8>, more: usize) -> Result<(), Problem> {
    text.try_reserve_exact(more).map_err(|_| Problem::NoMemory)
}

//! The thread pools of computations.
//!
//! Every computation has its own pool, so that several Python threads do not wait for one another: a prediction
//! during a long fit starts at once. Pools are kept for later computations, as starting threads takes longer than a
//! small prediction.
//!
//! A forked process only has the thread that called fork, so a pool belongs to the process that created it: a child
//! process creates its own. The global pool of rayon is never used, as it would be created once and be dead in a child.

use crate::error::value_error;
use pyo3::PyResult;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Mutex, TryLockError};

/// The process and the number of threads of a pool.
type Key = (u32, usize);

/// The pools that no computation uses.
static IDLE: Mutex<BTreeMap<Key, Vec<ThreadPool>>> = Mutex::new(BTreeMap::new());

/// Most pools of a number of threads that are kept.
const MOST_IDLE: usize = 4;

/// A thread pool for one computation.
pub(crate) struct Pool {
    key: Key,
    /// `None` only while it is dropped.
    pool: Option<ThreadPool>,
}

impl Deref for Pool {
    type Target = ThreadPool;

    fn deref(&self) -> &ThreadPool {
        self.pool.as_ref().expect("present until it is dropped")
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let pool = self.pool.take();
        with_idle(|idle| {
            let idle = idle.entry(self.key).or_default();
            if idle.len() < MOST_IDLE {
                idle.extend(pool);
            }
        });
    }
}

/// Bytes of a model that several threads decode faster than one.
const FOR_SEVERAL: u64 = 1 << 20;

/// Returns a pool that decodes a model of some bytes. Small ones have one thread, as worker processes with a small model
/// each would otherwise have a thread per core each.
pub(crate) fn pool_to_decode(bytes: u64) -> PyResult<Pool> {
    pool(usize::from(bytes < FOR_SEVERAL))
}

/// Returns a pool of this process with the given number of threads, or as many as are useful; 0 means one per core, or as
/// many as the environment variable `RAYON_NUM_THREADS` says.
pub(crate) fn pool(n_threads: usize) -> PyResult<Pool> {
    let n_threads = rpo::core::useful_threads(n_threads);
    let key = (std::process::id(), n_threads);
    let pool = match with_idle(|idle| idle.get_mut(&key)?.pop()).flatten() {
        Some(pool) => pool,
        None => ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build()
            .map_err(value_error)?,
    };
    Ok(Pool {
        key,
        pool: Some(pool),
    })
}

/// Calls `f` with the idle pools, unless another thread does so just now; or did when this process was forked, and will
/// never finish.
fn with_idle<T>(f: impl FnOnce(&mut BTreeMap<Key, Vec<ThreadPool>>) -> T) -> Option<T> {
    match IDLE.try_lock() {
        Ok(mut idle) => Some(f(&mut idle)),
        Err(TryLockError::Poisoned(poisoned)) => Some(f(&mut poisoned.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}

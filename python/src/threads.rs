//! The threads that computations run on.
//!
//! A process that was forked has no threads but the one that forked, so a pool belongs to the process that made it: it is
//! made when it is first used, and a child makes its own. The global pool of rayon, which would be made once and be dead
//! in a child, is never used.

use crate::error::value_error;
use pyo3::PyResult;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, TryLockError};

/// The pools by process and number of threads.
static POOLS: Mutex<BTreeMap<(u32, usize), Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());

/// The pool of this process with a number of threads, or as many of them as are of use; 0 means one for each core.
pub(crate) fn pool(n_threads: usize) -> PyResult<Arc<ThreadPool>> {
    let n_threads = rpo::core::useful_threads(n_threads);
    let make = || {
        let pool = ThreadPoolBuilder::new().num_threads(n_threads).build();
        pool.map(Arc::new).map_err(value_error)
    };
    let mut pools = match POOLS.try_lock() {
        Ok(pools) => pools,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        // Another thread makes one right now; or did when this process was forked, and will never finish.
        Err(TryLockError::WouldBlock) => return make(),
    };
    let key = (std::process::id(), n_threads);
    if let Some(pool) = pools.get(&key) {
        return Ok(Arc::clone(pool));
    }
    let pool = make()?;
    pools.insert(key, Arc::clone(&pool));
    Ok(pool)
}

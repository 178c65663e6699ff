//! The thread pools of computations.
//!
//! A forked process only has the thread that called fork, so a pool belongs to the process that created it: it is
//! created at the first use, and a child process creates its own. The global pool of rayon is never used, as it would
//! be created once and be dead in a child.

use crate::error::value_error;
use pyo3::PyResult;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, TryLockError};

/// The pools, by process and number of threads.
static POOLS: Mutex<BTreeMap<(u32, usize), Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());

/// Returns the pool of this process with the given number of threads, or as many as are useful; 0 means one per core.
pub(crate) fn pool(n_threads: usize) -> PyResult<Arc<ThreadPool>> {
    let n_threads = rpo::core::useful_threads(n_threads);
    let make = || {
        let pool = ThreadPoolBuilder::new().num_threads(n_threads).build();
        pool.map(Arc::new).map_err(value_error)
    };
    let mut pools = match POOLS.try_lock() {
        Ok(pools) => pools,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        // Another thread is creating a pool; or it was when this process was forked, and will never finish.
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

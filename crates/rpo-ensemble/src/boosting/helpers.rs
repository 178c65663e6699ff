//! Keeps other threads at hand through the short serial parts of a step.

use rayon::Yield;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a helper looks for work before it gives up: longer than the serial parts of most steps. A thread of the
/// pool sleeps after some 20 µs, and waking it takes about as long again.
const PATIENCE: Duration = Duration::from_micros(100);

/// Most helpers: steps that profit are too short for more threads.
const MOST: usize = 7;

thread_local! {
    /// Number of fits that this thread leads. It may work for others while it waits, but not as a helper, which would
    /// keep its own fits waiting.
    static LED: Cell<usize> = const { Cell::new(0) };
}

/// Threads of the pool that look for work a little longer than they would otherwise. They help the fit that the current
/// thread leads, for as long as this value lives.
pub(super) struct Helpers {
    /// Whether each helper is at hand.
    at_hand: Vec<Arc<AtomicBool>>,
    /// Stays on its thread.
    of_thread: PhantomData<*const ()>,
}

impl Helpers {
    /// Returns a helper for each other thread of the pool, up to [`MOST`].
    pub(super) fn new() -> Self {
        LED.set(LED.get() + 1);
        Self {
            at_hand: (0..n_helpers()).map(|_| Arc::default()).collect(),
            of_thread: PhantomData,
        }
    }

    /// Calls the helpers that have given up.
    pub(super) fn call(&self) {
        for at_hand in &self.at_hand {
            if at_hand.swap(true, Ordering::Relaxed) {
                continue;
            }
            let at_hand = Arc::clone(at_hand);
            rayon::spawn(move || {
                if may_help() {
                    help();
                }
                at_hand.store(false, Ordering::Relaxed);
            });
        }
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        LED.set(LED.get() - 1);
    }
}

/// Returns the number of helpers that a fit may have.
pub(super) fn n_helpers() -> usize {
    rayon::current_num_threads().saturating_sub(1).min(MOST)
}

/// Returns whether the current thread may help: if it leads no fit.
pub(super) fn may_help() -> bool {
    LED.get() == 0
}

/// Works on what the pool has to do until nothing has come for a while.
fn help() {
    let mut last = Instant::now();
    while last.elapsed() < PATIENCE {
        match rayon::yield_now() {
            Some(Yield::Executed) => last = Instant::now(),
            _ => std::hint::spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_come_when_called_and_give_up() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        pool.install(|| {
            let helpers = Helpers::new();
            assert_eq!((helpers.at_hand.len(), LED.get()), (2, 1));
            for _ in 0..3 {
                helpers.call();
                while helpers
                    .at_hand
                    .iter()
                    .any(|helper| helper.load(Ordering::Relaxed))
                {
                    rayon::yield_now();
                }
            }
            drop(helpers);
            assert_eq!(LED.get(), 0);
        });
    }
}

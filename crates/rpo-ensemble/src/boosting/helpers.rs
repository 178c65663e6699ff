//! Keeps other threads at hand through the short serial parts of a step.

use rayon::Yield;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a helper looks for work before it gives up: longer than the serial parts of most steps. A thread of the
/// pool sleeps after some 20 µs, and waking it takes about as long again.
const PATIENCE: Duration = Duration::from_micros(100);

/// Most helpers: steps that profit are too short for more threads.
const MOST: usize = 7;

/// Threads of the pool that look for work a little longer than they would of themselves.
pub(super) struct Helpers {
    /// Whether each helper is at hand.
    at_hand: Vec<Arc<AtomicBool>>,
}

impl Helpers {
    /// Returns one helper for each other thread of the pool.
    pub(super) fn new() -> Self {
        let n = rayon::current_num_threads().saturating_sub(1).min(MOST);
        Self {
            at_hand: (0..n).map(|_| Arc::default()).collect(),
        }
    }

    /// Calls the helpers that have given up.
    pub(super) fn call(&self) {
        for at_hand in &self.at_hand {
            if at_hand.swap(true, Ordering::Relaxed) {
                continue;
            }
            let (at_hand, caller) = (Arc::clone(at_hand), rayon::current_thread_index());
            rayon::spawn(move || {
                // The caller may find this task itself while it waits for others.
                if rayon::current_thread_index() != caller {
                    help();
                }
                at_hand.store(false, Ordering::Relaxed);
            });
        }
    }
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
        let helpers = pool.install(Helpers::new);
        assert_eq!(helpers.at_hand.len(), 2);
        for _ in 0..3 {
            pool.install(|| helpers.call());
            let any = || {
                helpers
                    .at_hand
                    .iter()
                    .any(|at_hand| at_hand.load(Ordering::Relaxed))
            };
            while any() {
                std::thread::yield_now();
            }
        }
    }
}

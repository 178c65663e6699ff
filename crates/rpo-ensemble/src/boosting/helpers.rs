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
        if work() {
            last = Instant::now();
        }
    }
}

/// Works on what the pool has to do until something is done that other threads do.
pub(super) fn work_until(mut is_done: impl FnMut() -> bool) {
    let mut last = Instant::now();
    while !is_done() {
        if work() {
            last = Instant::now();
        } else if last.elapsed() >= PATIENCE {
            std::thread::sleep(PATIENCE);
        }
    }
}

/// Works on one thing that the pool has to do. Returns false if there is none.
fn work() -> bool {
    let is_done = matches!(rayon::yield_now(), Some(Yield::Executed));
    if !is_done {
        std::hint::spin_loop();
    }
    is_done
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::thread::sleep;

    fn in_pool(n_threads: usize, run: impl FnOnce() + Send) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
        pool.build().unwrap().install(run);
    }

    fn wait_until(is_so: impl Fn() -> bool) {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < Duration::from_secs(60), "it does not happen");
            sleep(Duration::from_millis(1));
        }
    }

    /// Keeps the other threads of the pool busy until the value that is returned is true.
    fn occupy_others() -> Arc<AtomicBool> {
        let (n_busy, are_free) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let n_others = rayon::current_num_threads() - 1;
        for _ in 0..n_others {
            let (n_busy, are_free) = (Arc::clone(&n_busy), Arc::clone(&are_free));
            rayon::spawn(move || {
                n_busy.fetch_add(1, Ordering::Relaxed);
                wait_until(|| are_free.load(Ordering::Relaxed));
            });
        }
        wait_until(|| n_busy.load(Ordering::Relaxed) == n_others);
        are_free
    }

    fn n_at_hand(helpers: &Helpers) -> usize {
        let at_hand = helpers.at_hand.iter();
        at_hand.filter(|at_hand| at_hand.load(Ordering::Relaxed)).count()
    }

    #[test]
    fn helpers_come_when_called_and_give_up() {
        in_pool(3, || {
            let helpers = Helpers::new();
            for _ in 0..3 {
                assert_eq!(n_at_hand(&helpers), 0);
                let are_free = occupy_others();
                helpers.call();
                assert_eq!(n_at_hand(&helpers), 2);
                // This thread does nothing of the pool's, so that only the others can come.
                are_free.store(true, Ordering::Relaxed);
                wait_until(|| n_at_hand(&helpers) == 0);
            }
        });
        in_pool(MOST + 2, || assert_eq!(Helpers::new().at_hand.len(), MOST));
    }

    #[test]
    fn helpers_do_what_comes_before_they_give_up() {
        in_pool(1, || {
            let n_done = Arc::<AtomicUsize>::default();
            let (first, second) = (Arc::clone(&n_done), Arc::clone(&n_done));
            rayon::spawn(move || {
                first.fetch_add(1, Ordering::Relaxed);
                rayon::spawn(move || {
                    second.fetch_add(1, Ordering::Relaxed);
                });
            });
            let start = Instant::now();
            help();
            assert_eq!(n_done.load(Ordering::Relaxed), 2);
            assert!(start.elapsed() >= PATIENCE);
        });
    }

    #[test]
    fn who_waits_works() {
        in_pool(1, || {
            let is_done = Arc::<AtomicBool>::default();
            let other = Arc::clone(&is_done);
            rayon::spawn(move || other.store(true, Ordering::Relaxed));
            work_until(|| is_done.load(Ordering::Relaxed));
        });
        // Others may take longer than anybody looks for work.
        in_pool(2, || {
            let are_free = occupy_others();
            let (is_done, other) = (Arc::<AtomicBool>::default(), Arc::clone(&are_free));
            let set = Arc::clone(&is_done);
            rayon::spawn(move || {
                other.store(true, Ordering::Relaxed);
                sleep(3 * PATIENCE);
                set.store(true, Ordering::Relaxed);
            });
            work_until(|| is_done.load(Ordering::Relaxed));
            assert!(are_free.load(Ordering::Relaxed));
        });
    }

    #[test]
    fn a_thread_that_leads_a_fit_does_not_help() {
        in_pool(3, || {
            assert!(may_help());
            let helpers = Helpers::new();
            assert!(!may_help());
            let are_free = occupy_others();
            let is_done = Arc::<AtomicBool>::default();
            let other = Arc::clone(&is_done);
            rayon::spawn(move || other.store(true, Ordering::Relaxed));
            helpers.call();
            // The calls came last and are taken first, by this thread. Whoever helps would go on with the rest.
            for n_left in [1, 0] {
                assert!(matches!(rayon::yield_now(), Some(Yield::Executed)));
                assert_eq!(n_at_hand(&helpers), n_left);
                assert!(!is_done.load(Ordering::Relaxed));
            }
            are_free.store(true, Ordering::Relaxed);
            wait_until(|| is_done.load(Ordering::Relaxed));
            drop(helpers);
            assert!(may_help());
        });
    }
}

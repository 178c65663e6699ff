//! Panics that are errors of a file, and are not printed as those of the program.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// True while a panic of this thread is expected.
    static IS_EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Replaces the hook that prints panics, once: by one that leaves out those that are expected.
static HOOK: Once = Once::new();

/// Calls a function and returns its panic, which is not printed.
pub(super) fn catch<T>(call: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    HOOK.call_once(|| {
        let print = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_EXPECTED.get() {
                print(panic);
            }
        }));
    });
    let outer = IS_EXPECTED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    IS_EXPECTED.set(outer);
    result
}

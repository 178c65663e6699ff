//! How many threads to start.

/// The number of threads to start where `wanted` are wanted, 0 for one for each processor: at most four for each processor, and
/// sixteen on small machines. More would only wait for each other, and no result depends on their number.
pub fn useful_threads(wanted: usize) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    wanted.min(4 * processors.max(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_threads_are_as_wanted_and_many_are_not() {
        assert_eq!([0, 1, 16].map(useful_threads), [0, 1, 16]);
        let most = useful_threads(usize::MAX);
        assert!((16..100_000).contains(&most), "{most}");
    }
}

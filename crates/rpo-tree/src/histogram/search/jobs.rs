//! Division of a search between threads.

use super::Sums;
use crate::histogram::WORTH_IT;
use crate::histogram::categories::{Scratch, Scratches};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Number of values whose scores take as long as all other work on a feature.
const PER_FEATURE: usize = 64;

/// Chunks of work per thread: several, as they are not equally large.
const PARTS: usize = 8;

/// The work of one node in a search of several: its number of features, and the number of values to score.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub(super) n_features: usize,
    pub(super) work: usize,
}

impl Job {
    fn work(&self) -> usize {
        self.work + self.n_features * PER_FEATURE
    }
}

/// Searches the features of several nodes and joins the results per node, in any order. `of_range` gets the number of a
/// node and a range of its features; the ranges have about the same work and run in parallel if the total work is worth
/// it.
///
/// Nodes are searched together because handing work over takes a good part of the time of one node.
pub(super) fn join_parts<S: Sums, T: Send>(
    jobs: &[Job],
    scratches: &mut Scratches<S>,
    of_range: impl Fn(usize, Range<usize>, &mut Scratch<S>) -> Option<T> + Sync,
    join: impl Fn(Option<T>, Option<T>) -> Option<T> + Sync,
) -> Vec<Option<T>> {
    let threads = rayon::current_num_threads();
    let work: usize = jobs.iter().map(Job::work).sum();
    if threads == 1 || work < WORTH_IT {
        let each = jobs.iter().enumerate();
        return each
            .map(|(i, job)| of_range(i, 0..job.n_features, scratches.one()))
            .collect();
    }
    let parts = Parts::new(jobs, work.div_ceil(PARTS * threads));
    let of_thread = |(thread, scratch): (usize, &mut Scratch<S>)| {
        let mut found: Vec<Option<T>> = jobs.iter().map(|_| None).collect();
        for (i, range) in parts.take_from(thread, threads) {
            found[*i] = join(found[*i].take(), of_range(*i, range.clone(), scratch));
        }
        found
    };
    let found = scratches.several(threads).par_iter_mut().enumerate();
    let found = found.with_max_len(1).map(of_thread).reduce_with(|a, b| {
        let both = a.into_iter().zip(b);
        both.map(|(a, b)| join(a, b)).collect()
    });
    found.unwrap_or_default()
}

/// Ranges of features of several nodes, each of which one thread takes.
struct Parts {
    ranges: Vec<(usize, Range<usize>)>,
    is_taken: Vec<AtomicBool>,
}

impl Parts {
    /// Divides the work of nodes into ranges with about `of_part` work each.
    fn new(jobs: &[Job], of_part: usize) -> Self {
        let ranges = jobs.iter().enumerate().flat_map(|(i, job)| {
            let n = job.n_features;
            let size = n.div_ceil(job.work().div_ceil(of_part).max(1)).max(1);
            (0..n)
                .step_by(size)
                .map(move |start| (i, start..n.min(start + size)))
        });
        let mut ranges: Vec<_> = ranges.collect();
        // Neighbouring ranges hold the same features of all nodes.
        ranges.sort_by_key(|(_, range)| range.start);
        Self {
            is_taken: ranges.iter().map(|_| AtomicBool::new(false)).collect(),
            ranges,
        }
    }

    /// Takes the ranges that no other thread has taken: first the thread's own share, whose sums it computed and has in
    /// its cache, then what is left of the others'.
    fn take_from(&self, thread: usize, threads: usize) -> impl Iterator<Item = &(usize, Range<usize>)> {
        let n = self.ranges.len();
        let own = thread * n / threads;
        (own..n)
            .chain(0..own)
            .filter(|&i| !self.is_taken[i].swap(true, Relaxed))
            .map(|i| &self.ranges[i])
    }
}

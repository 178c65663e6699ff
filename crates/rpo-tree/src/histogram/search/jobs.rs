//! Division of a search between threads.

use super::Sums;
use crate::histogram::WORTH_IT;
use crate::histogram::categories::{Scratch, Scratches};
use rayon::prelude::*;
use std::ops::Range;

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

/// Searches the features of several nodes and joins the results per node. `of_range` gets the number of a node and a
/// range of its features; the ranges have about the same work and run in parallel if the total work is worth it.
///
/// Nodes are searched together because handing work over takes a good part of the time of one node.
pub(super) fn join_parts<S: Sums, T: Send>(
    jobs: &[Job],
    scratches: &mut Scratches<S>,
    of_range: impl Fn(usize, Range<usize>, &mut Scratch<S>) -> Option<T> + Sync,
    join: impl Fn(Option<T>, Option<T>) -> Option<T>,
) -> Vec<Option<T>> {
    let threads = rayon::current_num_threads();
    let work: usize = jobs.iter().map(Job::work).sum();
    if threads == 1 || work < WORTH_IT {
        let each = jobs.iter().enumerate();
        return each
            .map(|(i, job)| of_range(i, 0..job.n_features, scratches.one()))
            .collect();
    }
    let of_part = work.div_ceil(PARTS * threads);
    let ranges = jobs.iter().enumerate().flat_map(|(i, job)| {
        let n = job.n_features;
        let size = n.div_ceil(job.work().div_ceil(of_part).max(1)).max(1);
        (0..n)
            .step_by(size)
            .map(move |start| (i, start..n.min(start + size)))
    });
    let mut ranges: Vec<_> = ranges.collect();
    // Each thread takes neighbouring ranges: for all nodes, the features whose sums it computed, which are in its
    // cache.
    ranges.sort_by_key(|(_, range)| range.start);
    let parts = scratches.several(ranges.len()).par_iter_mut().zip(&ranges);
    let found: Vec<_> = parts
        .map(|(scratch, (i, range))| of_range(*i, range.clone(), scratch))
        .collect();
    let mut joined: Vec<_> = jobs.iter().map(|_| None).collect();
    for ((i, _), found) in ranges.into_iter().zip(found) {
        joined[i] = join(joined[i].take(), found);
    }
    joined
}

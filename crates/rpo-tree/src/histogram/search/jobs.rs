//! Division of a search between threads.

use super::Sums;
use crate::grow::threads;
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
    let threads = threads();
    let work: usize = jobs.iter().map(Job::work).sum();
    if threads == 1 || work < WORTH_IT {
        let each = jobs.iter().enumerate();
        return each
            .map(|(i, job)| of_range(i, 0..job.n_features, scratches.one()))
            .collect();
    }
    let parts = divide(jobs, work.div_ceil(PARTS * threads));
    let of_thread = |(thread, scratch): (usize, &mut Scratch<S>)| {
        let mut found: Vec<Option<T>> = jobs.iter().map(|_| None).collect();
        for Part { node, range, .. } in take(&parts, thread, threads) {
            found[*node] = join(found[*node].take(), of_range(*node, range.clone(), scratch));
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

/// A range of features of a node, which one thread takes.
struct Part {
    node: usize,
    range: Range<usize>,
    is_taken: AtomicBool,
}

/// Divides the work of nodes into parts with about `of_part` work each.
fn divide(jobs: &[Job], of_part: usize) -> Vec<Part> {
    let parts = jobs.iter().enumerate().flat_map(|(node, job)| {
        let n = job.n_features;
        let size = n.div_ceil(job.work().div_ceil(of_part).max(1)).max(1);
        (0..n).step_by(size).map(move |start| Part {
            node,
            range: start..n.min(start + size),
            is_taken: AtomicBool::new(false),
        })
    });
    let mut parts: Vec<_> = parts.collect();
    // Neighbouring parts hold the same features of all nodes.
    parts.sort_by_key(|part| part.range.start);
    parts
}

/// Takes the parts that no other thread has taken: first the thread's own, whose sums it computed and has in its cache,
/// then what is left of the others'.
fn take(parts: &[Part], thread: usize, threads: usize) -> impl Iterator<Item = &Part> {
    let (others, own) = parts.split_at(thread * parts.len() / threads);
    let in_turn = own.iter().chain(others);
    in_turn.filter(|part| !part.is_taken.swap(true, Relaxed))
}

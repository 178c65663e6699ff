//! The best splits of nodes that are searched together, among all features or those drawn.

use super::HistogramSplitter;
use crate::grow::threads;
use crate::histogram::WORTH_IT;
use crate::histogram::categories::{Scratch, Scratches};
use crate::histogram::features::Layout;
use crate::histogram::search::{
    Drawn, Found, Node, Sums, TouchedNode, best_of_all, best_of_touched, best_offers, offer,
};
use crate::histogram::workspace::{Common, Searched, TOGETHER, TouchedLists, Whole, Work};
use crate::splitter::NodeRows;
use crate::splitter::candidates::RandomOrder;
use rayon::prelude::*;
use std::ops::Range;

/// A node to search, and its sums if they cover all features.
type ToSearch<'n, S> = (NodeRows<'n>, Option<Whole<S>>);

impl HistogramSplitter<'_> {
    /// Searches some nodes, at most [`TOGETHER`](crate::histogram::workspace::TOGETHER), given the sums of all features of
    /// each or of none.
    pub(super) fn search<S: Sums>(
        &self,
        sums: &S,
        nodes: Vec<ToSearch<'_, S>>,
        common: &mut Common,
        work: &mut Work<S>,
    ) -> Vec<Searched<S>> {
        let Common {
            draw, drawn, touched, ..
        } = common;
        let are_whole = nodes.iter().all(|(_, of_all)| of_all.is_some());
        let is_dense = matches!(self.features.layout, Layout::Dense(_));
        // Dense features that are summed one by one are all listed.
        let k = self.n_drawn().or((is_dense && !are_whole).then_some(usize::MAX));
        if let Some(k) = k {
            for ((node, _), drawn) in nodes.iter().zip(&mut *drawn) {
                draw.draw(k, node.seed.purpose("features"), drawn);
            }
        }
        let all = draw.features();
        let searched = |(of_all, best): (Option<_>, Option<(Found, f64)>)| Searched { best, sums: of_all };
        if !are_whole {
            let n_rows: usize = nodes.iter().map(|(node, _)| node.rows.len()).sum();
            let apart = threads() > 1 && n_rows * self.n_targets >= WORTH_IT;
            let totals = nodes.par_iter().zip(&mut work.gathered);
            let totals: Vec<_> = totals
                .with_min_len(if apart { 1 } else { TOGETHER })
                .map(|((node, _), gathered)| sums.total(node.rows, gathered))
                .collect();
            let found = match &self.features.layout {
                Layout::Dense(_) => self.search_drawn(sums, &nodes, &totals, (drawn, all), work),
                Layout::Sparse(bins) => {
                    let rows = nodes.iter().map(|(node, _)| node.rows);
                    touched.list(bins, rows, self.n_drawn().map(|_| &drawn[..]));
                    self.search_touched(sums, &nodes, &totals, (touched, all), work)
                }
            };
            let best = found
                .into_iter()
                .zip(&totals)
                .map(|(found, total)| self.with_gain(sums, found, total));
            return best.map(|best| searched((None, best))).collect();
        }
        let to_search = nodes.iter().filter_map(|(node, of_all)| {
            let (histogram, total) = of_all.as_ref()?;
            Some(Node {
                features: self.features,
                sums,
                histogram: &**histogram,
                total,
                limits: self.limits(),
                order: RandomOrder::of(node.seed),
            })
        });
        let to_search: Vec<_> = to_search.collect();
        let found = self.search_all(&to_search, &nodes, (drawn, all), &mut work.scratches);
        let best = found.into_iter().zip(&to_search);
        let best: Vec<_> = best
            .map(|(found, node)| self.with_gain(sums, found, node.total))
            .collect();
        let of_all = nodes.into_iter().map(|(_, of_all)| of_all);
        of_all.zip(best).map(searched).collect()
    }

    /// Returns a split with its gain, if the gain is large enough.
    fn with_gain<S: Sums>(&self, sums: &S, found: Option<Found>, total: &S::Total) -> Option<(Found, f64)> {
        found.and_then(|found| Some((found, self.gain(sums, &found, total)?)))
    }

    /// Returns the gain of a split, if it is large enough.
    fn gain<S: Sums>(&self, sums: &S, found: &Found, total: &S::Total) -> Option<f64> {
        let gain = sums.gain(found.split.score, total);
        let is_enough = self.may_gain_nothing || gain > 0.0;
        let gain = gain.max(0.0);
        (is_enough && gain >= self.params.min_gain).then_some(gain)
    }

    /// Returns the best splits of nodes from the sums of all features, given the drawn features and all features.
    fn search_all<S: Sums>(
        &self,
        to_search: &[Node<'_, S>],
        nodes: &[ToSearch<'_, S>],
        (drawn, all): (&[Vec<u32>], &[u32]),
        scratches: &mut Scratches<S>,
    ) -> Vec<Option<Found>> {
        let Some(k) = self.n_drawn() else {
            return best_of_all(self.features, to_search, scratches);
        };
        let is_random = k < all.len();
        let of_node = |(node, features): (&Node<'_, S>, _)| Drawn {
            features,
            order: (!is_random).then_some(node.order),
            work: self.n_bins() * k * S::WIDTH,
        };
        let features = drawn.iter().map(Vec::as_slice);
        let drawn: Vec<_> = to_search.iter().zip(features).map(of_node).collect();
        let of_range =
            |i: usize, range, scratch: &mut Scratch<S>| to_search[i].best_of_drawn(&drawn[i], range, scratch);
        let found = best_offers(&drawn, scratches, of_range);
        let each = found.into_iter().zip(to_search).zip(nodes);
        each.map(|((found, search), (node, _))| match found {
            Some(best) => best,
            None if is_random => search.first_of(further(all, *node), scratches.one()),
            None => None,
        })
        .collect()
    }

    /// Returns the best splits of nodes among the drawn features, the only ones that are summed, given the drawn
    /// features and all features.
    fn search_drawn<S: Sums>(
        &self,
        sums: &S,
        nodes: &[ToSearch<'_, S>],
        totals: &[S::Total],
        (drawn, all): (&[Vec<u32>], &[u32]),
        work: &mut Work<S>,
    ) -> Vec<Option<Found>> {
        let Work {
            scratches, gathered, ..
        } = work;
        let limits = self.limits();
        let offer_all =
            |mut best, i: usize, chosen: &[u32], rank: &dyn Fn(usize) -> u64, scratch: &mut Scratch<S>| {
                let (rows, bounds) = ((nodes[i].0.rows, &gathered[i]), (&totals[i], &limits));
                scratch.scan_apart(sums, self.features, chosen, rows, bounds, |k, scanned| {
                    best = offer(best, chosen[k], rank(k), scanned);
                });
                best
            };
        let is_random = drawn[0].len() < all.len();
        let of_nodes = nodes.iter().zip(drawn).map(|((node, _), features)| Drawn {
            features,
            order: (!is_random).then(|| RandomOrder::of(node.seed)),
            work: (node.rows.len() + self.n_bins()) * features.len() * S::WIDTH,
        });
        let of_nodes: Vec<_> = of_nodes.collect();
        let of_range = |i: usize, range: Range<usize>, scratch: &mut Scratch<S>| {
            let (node, mut best) = (&of_nodes[i], None);
            for first in range.clone().step_by(S::AT_ONCE) {
                let chosen = &node.features[first..range.end.min(first + S::AT_ONCE)];
                best = offer_all(best, i, chosen, &|k| node.rank(first + k), scratch);
            }
            best
        };
        let found = best_offers(&of_nodes, scratches, of_range);
        let each = found.into_iter().zip(nodes).enumerate();
        each.map(|(i, (found, (node, _)))| match found {
            Some(best) => best,
            None if is_random => further(all, *node)
                .find_map(|feature| offer_all(None, i, &[feature], &|_| 0, scratches.one()))?,
            None => None,
        })
        .collect()
    }

    /// Returns the best splits of nodes of sparse features from what their rows touch, given all features.
    fn search_touched<S: Sums>(
        &self,
        sums: &S,
        nodes: &[ToSearch<'_, S>],
        totals: &[S::Total],
        (lists, all): (&TouchedLists, &[u32]),
        work: &mut Work<S>,
    ) -> Vec<Option<Found>> {
        let is_random = self.n_drawn().is_some_and(|k| k < all.len());
        let of_nodes = nodes.iter().enumerate().map(|(i, (node, _))| TouchedNode {
            features: self.features,
            sums,
            rows: node.rows,
            gathered: &work.gathered[i],
            total: &totals[i],
            limits: self.limits(),
            touched: &lists.of_nodes[i],
            searched: &lists.searched[i],
            order: (!is_random).then(|| RandomOrder::of(node.seed)),
        });
        let to_search: Vec<_> = of_nodes.collect();
        let found = best_of_touched(&to_search, &mut work.scratches);
        let each = found.into_iter().zip(&to_search).zip(nodes);
        each.map(|((found, search), (node, _))| match found {
            Some(best) => best,
            None if is_random => search.first_of(further(all, *node), work.scratches.one()),
            None => None,
        })
        .collect()
    }
}

/// Returns the features in the order in which a node continues after its draws.
fn further(features: &[u32], node: NodeRows<'_>) -> impl Iterator<Item = u32> {
    let (mut features, order) = (features.to_vec(), RandomOrder::of(node.seed));
    features.sort_unstable_by_key(|&f| order.rank(f));
    features.into_iter()
}

//! The search inside one categorical feature.
//!
//! Categories get positions on a line by the means of the targets; the search for the best or a random threshold
//! between these positions is that of numeric features.

use super::sweep::{Entry, Feature, SplitCandidate};
use super::{AxisParams, NodeRows};
use crate::categories::{CategorySet, Groups, MOST_CATEGORIES};
use crate::criterion::Criterion;
use crate::ranks::{ColumnValues, Ranks};
use crate::rule::AxisRule;
use rpo_core::MatrixView;

/// The targets by whose means categories are ordered.
#[derive(Debug, Clone, Copy)]
pub struct CategoryTargets<'a> {
    /// Split targets (n x m, in CSR or contiguous rows); missing ones count as 0.
    pub targets: MatrixView<'a>,
    /// One weight per sample.
    pub weights: &'a [f32],
    /// Second derivatives of a loss (n x m), if they are not 1: a mean is the sum of the targets divided by the sum of
    /// the second derivatives.
    pub curvatures: Option<&'a [f32]>,
}

impl CategoryTargets<'_> {
    /// Adds the targets of a sample.
    #[inline]
    fn add(&self, row: u32, (weight, sums): (&mut f64, &mut [f64])) {
        let of_row = f64::from(self.weights[row as usize]);
        *weight += match self.curvatures {
            None => of_row,
            Some(h) => {
                let m = sums.len();
                let h = &h[row as usize * m..][..m];
                of_row * h.iter().map(|&h| f64::from(h)).sum::<f64>() / m as f64
            }
        };
        self.targets.for_each_in_row(row as usize, |j, z| {
            sums[j as usize] += if z.is_nan() { 0.0 } else { of_row * f64::from(z) };
        });
    }
}

/// Buffers of the search.
#[derive(Debug, Clone)]
pub(super) struct CategorySearch {
    groups: Groups,
    /// Samples of the node by rank of their category, and the group of each rank.
    counts: Vec<u32>,
    group: Vec<u16>,
    /// Position of each rank on the line; NaN for the rest.
    places: Vec<f32>,
    /// The positions 1, 2, ... as values of a column.
    line: ColumnValues,
}

impl Default for CategorySearch {
    fn default() -> Self {
        Self {
            groups: Groups::default(),
            counts: Vec::new(),
            group: Vec::new(),
            places: Vec::new(),
            line: ColumnValues::new((1..=MOST_CATEGORIES).map(|place| place as f32).collect()),
        }
    }
}

/// Returns the ranks of a column of categories, of which there are at most 255.
fn narrow(ranks: &Ranks) -> &[u8] {
    match ranks {
        Ranks::U8(ranks) => ranks,
        Ranks::U16(_) | Ranks::U32(_) => unreachable!("categories are at most 255"),
    }
}

impl CategorySearch {
    /// Places the categories of a node; returns false if all its samples lie at one place.
    pub(super) fn arrange(
        &mut self,
        (values, ranks): &(ColumnValues, Ranks),
        node: NodeRows<'_>,
        targets: Option<CategoryTargets<'_>>,
        params: &AxisParams,
    ) -> bool {
        let (ranks, missing) = (narrow(ranks), values.missing_rank() as usize);
        self.counts.clear();
        self.counts.resize(missing + 1, 0);
        for &row in node.rows {
            self.counts[usize::from(ranks[row as usize])] += 1;
        }
        self.places.clear();
        self.places.resize(missing + 1, f32::NAN);
        let is_placed = |count: u32| count as usize >= params.min_category_count.max(1);
        let placed = || {
            let counts = self.counts[..missing].iter().zip(0_u16..);
            counts.filter(|(count, _)| is_placed(**count))
        };
        let (n_groups, n_placed) =
            placed().fold((0, 0), |(n, sum), (&count, _)| (n + 1, sum + count as usize));
        let n_rest = node.rows.len() - n_placed;
        if n_groups + usize::from(n_rest > 0) < 2 {
            return false;
        }
        let Some(targets) = targets else {
            for ((_, rank), place) in placed().zip(1_u16..) {
                self.places[usize::from(rank)] = f32::from(place);
            }
            return true;
        };
        let groups = placed().map(|(&count, rank)| (rank, f64::from(count)));
        self.groups.start(targets.targets.n_cols(), groups, n_rest as f64);
        self.group.clear();
        self.group.resize(missing + 1, n_groups as u16);
        for (group, rank) in (0_u16..).zip(self.groups.categories()) {
            self.group[usize::from(*rank)] = group;
        }
        for &row in node.rows {
            let group = self.group[usize::from(ranks[row as usize])];
            targets.add(row, self.groups.group(usize::from(group)));
        }
        let order = self
            .groups
            .order(params.category_smoothing, params.min_samples_leaf);
        for (rank, place) in order.zip(1_u16..) {
            self.places[usize::from(rank)] = f32::from(place);
        }
        true
    }

    /// Writes the entries of the samples of a node into `out`; those of the rest are missing.
    pub(super) fn entries(&self, ranks: &Ranks, rows: &[u32], out: &mut Vec<u64>) {
        let ranks = narrow(ranks);
        let rest = self.line.missing_rank();
        out.clear();
        out.extend(rows.iter().map(|&row| {
            let place = self.places[usize::from(ranks[row as usize])];
            u64::new(if place.is_nan() { rest } else { place as u32 - 1 }, row)
        }));
    }

    /// Returns the best split between positions, from sorted entries.
    pub(super) fn best_split(
        &self,
        entries: &[u64],
        n_rows: usize,
        min_leaf: usize,
        criterion: &mut impl Criterion,
    ) -> Option<SplitCandidate> {
        Feature::new(entries, self.line.bounds(), n_rows, min_leaf).best_split(criterion)
    }

    /// Returns the positions of the samples of a node; NaN for those of the rest.
    pub(super) fn places<'s>(&'s self, ranks: &'s Ranks, rows: &'s [u32]) -> impl Iterator<Item = f32> + 's {
        let ranks = narrow(ranks);
        let place = move |&row: &u32| self.places[usize::from(ranks[row as usize])];
        rows.iter().map(place)
    }

    /// Returns the rule of a split between the positions of a feature.
    pub(super) fn rule(&self, values: &ColumnValues, feature: u32, split: &SplitCandidate) -> AxisRule {
        let threshold = split.threshold.value(|| &self.line);
        let placed = values
            .values
            .iter()
            .zip(&self.places)
            .filter(|(_, place)| !place.is_nan());
        let listed = placed.filter(|(_, place)| (**place <= threshold) != split.missing_left);
        let listed = CategorySet::from_iter(listed.map(|(&code, _)| code as u32));
        AxisRule::of_categories(feature, listed, split.missing_left)
    }
}

//! Label counts of few rows, computed from the pairwise products of their labels.
//!
//! With c_i the weight and L_i the labels of row i, the rows R have ‖Σ_R c z‖² = Σ_{i,j ∈ R} c_i c_j |L_i ∩ L_j|. For
//! few rows all these products fit into a core's nearest cache, and most candidates move one or two rows.

use super::few::MOST_FEW;
use crate::ranks::bits;
use rpo_core::vectorized;

/// The products of the rows of a subtree, and a node inside it.
#[derive(Debug, Clone)]
pub(super) struct LabelProducts {
    /// Per row: its products with every row.
    products: Vec<[u32; MOST_FEW]>,
    weights: [u32; MOST_FEW],
    /// Per row: the sum of its products with all rows of the node.
    with_node: [u32; MOST_FEW],
    /// Per label: the rows that have it; 0 between calls.
    having: Vec<u64>,
}

/// Sums over some rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct ProductSums {
    /// Σ c.
    pub(super) weight: u32,
    /// ‖Σ c z‖².
    pub(super) norm: u32,
    /// The product of Σ c z with the same sum over the node.
    pub(super) with_node: u32,
}

impl LabelProducts {
    pub(super) fn new() -> Self {
        Self {
            products: Vec::new(),
            weights: [0; MOST_FEW],
            with_node: [0; MOST_FEW],
            having: Vec::new(),
        }
    }

    /// Starts a subtree, given the labels of its rows (below `n_labels`) and their weights; returns false if sums might
    /// not fit into 32 bits.
    pub(super) fn enter<'l>(
        &mut self,
        n_labels: usize,
        rows: impl Iterator<Item = (&'l [u32], u32)> + Clone,
    ) -> bool {
        self.having.resize(n_labels, 0);
        let total: u64 = rows.clone().map(|(_, weight)| u64::from(weight)).sum();
        let most_labels = rows
            .clone()
            .map(|(labels, _)| labels.len())
            .max()
            .unwrap_or(0)
            .max(1);
        let bound = total.saturating_mul(total).saturating_mul(most_labels as u64);
        if bound > u64::from(u32::MAX) {
            return false;
        }
        for (i, (labels, weight)) in rows.clone().enumerate() {
            self.weights[i] = weight;
            labels
                .iter()
                .for_each(|&label| self.having[label as usize] |= 1 << i);
        }
        self.products.resize(rows.clone().count(), [0; MOST_FEW]);
        let (having, weights) = (&self.having, &self.weights);
        let with_labels = self.products.iter_mut().zip(rows.clone());
        vectorized(
            #[inline(always)]
            || {
                for (products, (labels, weight)) in with_labels {
                    *products = in_common(labels, having);
                    let with_weights = products.iter_mut().zip(weights);
                    with_weights.for_each(|(product, other)| *product *= weight * other);
                }
            },
        );
        for (labels, _) in rows {
            labels.iter().for_each(|&label| self.having[label as usize] = 0);
        }
        true
    }

    /// Starts a node with these rows.
    pub(super) fn start(&mut self, rows: u64) -> ProductSums {
        self.with_node = [0; MOST_FEW];
        let with_node = &mut self.with_node;
        bits::for_each_of(rows, |i| add(with_node, &self.products[i]));
        self.sums(rows)
    }

    /// Removes rows from the node.
    pub(super) fn take_out(&mut self, rows: u64) {
        let with_node = &mut self.with_node;
        bits::for_each_of(rows, |i| {
            let products = &self.products[i];
            with_node
                .iter_mut()
                .zip(products)
                .for_each(|(sum, product)| *sum -= product);
        });
    }

    /// Computes the sums over rows of the node.
    #[inline(always)]
    pub(super) fn sums(&self, rows: u64) -> ProductSums {
        let mut sums = ProductSums::default();
        let mut with_rows = [0; MOST_FEW];
        bits::for_each_of(rows, |i| {
            add(&mut with_rows, &self.products[i]);
            sums.weight += self.weights[i];
            sums.with_node += self.with_node[i];
        });
        bits::for_each_of(rows, |i| sums.norm += with_rows[i]);
        sums
    }
}

#[inline(always)]
fn add(sums: &mut [u32; MOST_FEW], products: &[u32; MOST_FEW]) {
    sums.iter_mut()
        .zip(products)
        .for_each(|(sum, product)| *sum += product);
}

/// Counts for each row how many of the given labels it has, given the rows that have each label. Words are added bit by
/// bit, 64 rows side by side.
#[inline(always)]
fn in_common(labels: &[u32], having: &[u64]) -> [u32; MOST_FEW] {
    // Digit b of the count of every row.
    let mut digits = [0; u32::BITS as usize];
    let n_digits = (u32::BITS - (labels.len() as u32).leading_zeros()) as usize;
    for &label in labels {
        let mut carry = having[label as usize];
        for digit in &mut digits[..n_digits] {
            (*digit, carry) = (*digit ^ carry, *digit & carry);
        }
    }
    let mut counts = [0; MOST_FEW];
    for (b, digit) in digits[..n_digits].iter().enumerate() {
        for (half, counts) in counts.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            let rows = (digit >> (32 * half)) as u32;
            for (i, count) in counts.iter_mut().enumerate() {
                *count |= (rows >> i & 1) << b;
            }
        }
    }
    counts
}

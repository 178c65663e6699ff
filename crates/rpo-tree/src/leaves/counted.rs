//! Means of labels, by counting.

use super::{LeafMembers, SparseLeaves};
use crate::partition::partition;
use rpo_core::{CsrMatrix, CsrView, csr_row};

impl SparseLeaves {
    /// Returns the means of 0/1 labels over members of weight 1, bit for bit those that
    /// [`from_model`](Self::from_model) computes. Returns `None` for other outputs, and if a leaf is empty.
    ///
    /// Leaves hold rows from all over the training set. Its labels are read from front to back and distributed to the
    /// leaves: reading them leaf by leaf would wait for memory at every row.
    pub(super) fn of_labels(members: &LeafMembers, weights: &[f32], labels: CsrView<'_>) -> Option<Self> {
        let (_, _, values) = labels.into_raw_storage();
        let are_labels = values.iter().all(|&v| v == 1.0) && weights.iter().all(|&w| w == 1.0);
        if !are_labels {
            return None;
        }
        let by_leaf = LabelsByLeaf::new(members, labels)?;
        let (mut indptr, mut columns, mut means) = (vec![0], Vec::new(), Vec::new());
        let (mut of_leaf, mut mean_of) = (Vec::new(), Vec::new());
        for leaf in 0..members.n_leaves() {
            let (own, size) = (by_leaf.of(leaf), members[leaf].len());
            if size == 1 {
                // The labels of one row are in order.
                columns.extend_from_slice(own);
                means.resize(columns.len(), 1.0);
            } else {
                // The mean for each number of members that have a label: sums of fractions, as other outputs are
                // summed.
                let (share, mut sum) = (1.0 / size as f64, 0.0);
                mean_of.clear();
                mean_of.extend((0..size).map(|_| {
                    sum += share;
                    sum as f32
                }));
                of_leaf.clear();
                of_leaf.extend_from_slice(own);
                of_leaf.sort_unstable();
                for equal in of_leaf.chunk_by(|a, b| a == b) {
                    columns.push(equal[0]);
                    means.push(mean_of[equal.len() - 1]);
                }
            }
            indptr.push(columns.len());
        }
        columns.shrink_to_fit();
        means.shrink_to_fit();
        let shape = (members.n_leaves(), labels.cols());
        Some(Self::new(CsrMatrix::new(shape, indptr, columns, means)))
    }
}

/// The labels of the members of each leaf.
struct LabelsByLeaf {
    labels: Vec<u32>,
    /// End of the labels of each leaf.
    ends: Vec<usize>,
}

impl LabelsByLeaf {
    /// Groups the labels by leaf; returns `None` if a leaf is empty, or a row is in two leaves.
    fn new(members: &LeafMembers, labels: CsrView<'_>) -> Option<Self> {
        const NO_LEAF: u32 = u32::MAX;
        let mut leaf_of = vec![NO_LEAF; labels.rows()];
        for leaf in 0..members.n_leaves() {
            let rows = &members[leaf];
            if rows.is_empty() {
                return None;
            }
            rows.iter().for_each(|&row| leaf_of[row as usize] = leaf as u32);
        }
        let n_sorted = leaf_of.iter().filter(|&&leaf| leaf != NO_LEAF).count();
        if n_sorted != members.all_rows().len() {
            return None;
        }
        let of_leaves = leaf_of.iter().enumerate().filter(|(_, leaf)| **leaf != NO_LEAF);
        let of_rows = of_leaves.flat_map(|(row, &leaf)| {
            let own = csr_row(&labels, row).0;
            own.iter().map(move |&label| (leaf as usize, label))
        });
        let (mut ends, mut sorted) = (vec![0; members.n_leaves()], Vec::new());
        partition(of_rows, &mut ends, &mut sorted);
        Some(Self { labels: sorted, ends })
    }

    fn of(&self, leaf: usize) -> &[u32] {
        let start = if leaf == 0 { 0 } else { self.ends[leaf - 1] };
        &self.labels[start..self.ends[leaf]]
    }
}

#[cfg(test)]
mod tests {
    use super::super::means::Means;
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;
    use rpo_core::{Matrix, MatrixView, Seed};
    use std::sync::Arc;

    proptest! {
        #[test]
        fn counted_means_are_the_means(n in 1_usize..200, n_leaves in 1_usize..20, one_in in 1_u64..9, seed: u64) {
            let draw = |i: usize, j: usize| Seed::new(seed).child(i as u64).hash(j as u64);
            let labels = Array2::from_shape_fn((n, 7), |cell| f32::from(u8::from(draw(cell.0, cell.1).is_multiple_of(one_in))));
            let leaf_of: Vec<u32> = (0..n).map(|i| (draw(i, 100) % n_leaves as u64) as u32).collect();
            let members = LeafMembers::from_assignment(&leaf_of, n_leaves).unwrap();
            let (weights, csr) = (vec![1.0; n], MatrixView::from(&labels).to_csr());
            let outputs = Arc::new(Matrix::from(csr.clone()));
            let expected = SparseLeaves::from_model(&Means::new(&members, &weights, &outputs).unwrap());
            let counted = SparseLeaves::of_labels(&members, &weights, csr.view());
            let has_empty = (0..n_leaves).any(|leaf| members[leaf].is_empty());
            prop_assert_eq!(counted, (!has_empty).then_some(expected));
        }
    }

    #[test]
    fn what_is_not_a_plain_mean_of_labels_is_left_to_others() {
        let csr = |value: f32| CsrMatrix::new((2, 1), vec![0, 1, 1], vec![0], vec![value]);
        let members = LeafMembers::from_assignment(&[0, 1], 2).unwrap();
        let of = |weights: [f32; 2], value| SparseLeaves::of_labels(&members, &weights, csr(value).view());
        assert!(of([1.0, 1.0], 1.0).is_some());
        assert!(of([1.0, 2.0], 1.0).is_none());
        assert!(of([1.0, 1.0], 0.5).is_none());
    }
}

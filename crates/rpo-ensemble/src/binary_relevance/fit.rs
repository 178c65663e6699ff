//! Growing a forest per label.

use super::model::{BinaryRelevanceForest, LabelTree};
use super::params::ValidBinaryRelevanceParams;
use crate::EnsembleError;
use crate::sampling::{check_labels, rows, size, subset};
use rayon::prelude::*;
use rpo_core::{CsrMatrix, MatrixView, Seed, csr_row};
use rpo_tree::columns::Columns;
use rpo_tree::criterion::Entropy;
use rpo_tree::grow;
use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter};

impl ValidBinaryRelevanceParams {
    /// Fits forests to features `x` (n x p, NaN for missing) and labels `y` (n x d, 0 or 1).
    ///
    /// Trees grow in parallel on the current rayon pool; the result does not depend on its size. Tree t of label j draws
    /// from streams of its own, keyed by the seed, j and t; its rows from one keyed by the seed and t.
    ///
    /// # Errors
    /// [`EnsembleError`] for shapes that do not fit, labels other than 0 and 1, infinite feature values.
    pub fn fit(&self, x: MatrixView<'_>, y: MatrixView<'_>) -> Result<BinaryRelevanceForest, EnsembleError> {
        self.fit_observed(x, y, || ())
    }

    /// [`fit`](Self::fit), calling `on_tree` whenever a tree is finished, from any thread.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_observed(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        on_tree: impl Fn() + Sync,
    ) -> Result<BinaryRelevanceForest, EnsembleError> {
        let params = &self.0;
        let labels = check_labels(x, y)?;
        let columns = Columns::new(x)?;
        let (n, p) = (x.n_rows(), x.n_cols());
        let seeds: Vec<Seed> = (0..params.n_trees as u64)
            .map(|t| params.seed.purpose("tree of labels").child(t))
            .collect();
        let rows_per_tree = size(params.row_share, n);
        let rows: Vec<Vec<u32>> = seeds.iter().map(|&seed| rows(seed, n, rows_per_tree)).collect();
        let grow_tree = |entropy: &Entropy, label: usize, t: usize| -> Result<LabelTree, EnsembleError> {
            let seed = seeds[t].purpose("label").child(label as u64);
            let features = subset(p, size(params.feature_share, p), seed.purpose("features"));
            let axis = AxisParams {
                min_samples_leaf: params.min_samples_leaf,
                ..AxisParams::default()
            };
            let splitter = AxisSplitter::new(&columns, entropy.clone(), axis)?.on(&features)?;
            let growth = rpo_tree::GrowParams {
                max_depth: params.max_depth,
                ..rpo_tree::GrowParams::default()
            };
            let mut workspace = splitter.workspace();
            let grown = grow(
                &splitter,
                &mut workspace,
                rows[t].clone(),
                &growth,
                seed.purpose("grow"),
            );
            let shares = (0..grown.members.n_leaves()).map(|leaf| {
                let members = grown.members.rows(leaf);
                let positive = members.iter().filter(|&&row| entropy.is_positive(row)).count();
                (positive as f64 / members.len() as f64) as f32
            });
            let shares = shares.collect();
            on_tree();
            LabelTree::new(grown.structure, shares)
        };
        let trees = (0..labels.cols())
            .into_par_iter()
            .flat_map(|label| {
                let entropy = Entropy::new(positive(&labels, label));
                (0..params.n_trees)
                    .into_par_iter()
                    .map(move |t| (label, t, entropy.clone()))
            })
            .map(|(label, t, entropy)| grow_tree(&entropy, label, t))
            .collect::<Result<Vec<_>, EnsembleError>>()?;
        BinaryRelevanceForest::from_parts(trees, seeds, rows_per_tree, n, p)
    }
}

/// Which rows have a label.
fn positive(labels: &CsrMatrix, label: usize) -> Vec<bool> {
    let labels = labels.view();
    (0..labels.rows())
        .map(|row| csr_row(&labels, row).0.binary_search(&(label as u32)).is_ok())
        .collect()
}

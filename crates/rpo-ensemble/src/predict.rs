//! Predicting with a forest.
//!
//! Rows go in blocks: every tree routes the whole block while its nodes are in the cache, then each row sums
//! its leaves' answers, tree by tree in `f64`. A row's result depends on that row alone.

use crate::EnsembleError;
use crate::fit::bootstrap_counts;
use crate::forest::Forest;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use rpo_core::{CsrMatrix, MatrixError, MatrixView};
use rpo_tree::{LeafModel, RowBlock};
use std::ops::Range;

/// Largest number of bytes of dense predictions, unless a caller allows more: 4 GiB.
pub const DEFAULT_BUDGET: usize = 4 << 30;

/// Sums per output with a list of those met, so that clearing costs what was met.
struct Sums {
    values: Vec<f64>,
    met: Vec<u32>,
}

impl Sums {
    fn new(n_outputs: usize) -> Self {
        Self {
            values: vec![0.0; n_outputs],
            met: Vec::new(),
        }
    }

    #[inline]
    fn add(&mut self, output: u32, value: f64) {
        let sum = &mut self.values[output as usize];
        if *sum == 0.0 {
            self.met.push(output);
        }
        *sum += value;
    }

    /// Hands out each output met, once, and clears.
    fn drain(&mut self, mut f: impl FnMut(u32, f64)) {
        for &output in &self.met {
            let sum = std::mem::take(&mut self.values[output as usize]);
            // An output is listed again if its sum passed through zero.
            if sum != 0.0 {
                f(output, sum);
            }
        }
        self.met.clear();
    }
}

impl Forest {
    /// Predictions (n x d): the mean of the trees' answers. For 0/1 labels values in [0, 1] that rank the
    /// labels.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of features than the forest was fitted to,
    /// [`EnsembleError::Predictions`] if the result would exceed [`DEFAULT_BUDGET`].
    pub fn predict(&self, x: MatrixView<'_>) -> Result<Array2<f32>, EnsembleError> {
        self.predict_within(x, DEFAULT_BUDGET)
    }

    /// [`predict`](Self::predict) with another limit on the bytes of the result.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_within(&self, x: MatrixView<'_>, budget: usize) -> Result<Array2<f32>, EnsembleError> {
        self.check_features(x)?;
        let mut out = self.zeros(x.n_rows(), budget)?;
        let size = RowBlock::good_size(x);
        let scale = 1.0 / self.trees().len() as f64;
        out.axis_chunks_iter_mut(Axis(0), size)
            .into_par_iter()
            .enumerate()
            .for_each_init(
                || (Router::new(self, x), Sums::new(self.n_outputs())),
                |(router, sums), (chunk, mut out)| {
                    router.route(chunk * size..chunk * size + out.nrows());
                    for (i, mut row) in out.rows_mut().into_iter().enumerate() {
                        router.sum(i, |_| true, sums);
                        sums.drain(|j, sum| row[j as usize] = (sum * scale) as f32);
                    }
                },
            );
        Ok(out)
    }

    /// The largest predictions of each row that are not 0, at most k of them, as CSR (n x d); of equal ones
    /// the smaller output index first. Never holds all predictions.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of features than the forest was fitted to,
    /// [`EnsembleError::Parameter`] for k = 0.
    pub fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, EnsembleError> {
        self.check_features(x)?;
        if k == 0 {
            let (name, given) = ("k", "0".to_owned());
            return Err(EnsembleError::Parameter {
                name,
                given,
                expected: "at least 1",
            });
        }
        let (size, n) = (RowBlock::good_size(x), x.n_rows());
        let scale = 1.0 / self.trees().len() as f64;
        let chunks: Vec<Vec<Vec<(u32, f32)>>> = (0..n.div_ceil(size))
            .into_par_iter()
            .map_init(
                || (Router::new(self, x), Sums::new(self.n_outputs())),
                |(router, sums), chunk| {
                    router.route(chunk * size..((chunk + 1) * size).min(n));
                    let row = |i| {
                        router.sum(i, |_| true, sums);
                        let mut scores = Vec::new();
                        sums.drain(|j, sum| scores.push((j, (sum * scale) as f32)));
                        keep_top(&mut scores, k);
                        scores
                    };
                    (0..router.block.len()).map(row).collect()
                },
            )
            .collect();
        let (mut indptr, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in chunks.iter().flatten() {
            columns.extend(row.iter().map(|(j, _)| *j));
            values.extend(row.iter().map(|(_, score)| *score));
            indptr.push(columns.len());
        }
        Ok(CsrMatrix::new((n, self.n_outputs()), indptr, columns, values))
    }

    /// Predictions for the training rows, each by the trees that did not see it, and how many those are. A
    /// row that every tree saw has NaN in all outputs.
    ///
    /// `x` are the features the forest was fitted to.
    ///
    /// # Errors
    /// [`EnsembleError::NoBootstrap`] if every tree saw every row, [`EnsembleError::Mismatch`] if `x` has
    /// not the training set's shape, [`EnsembleError::Predictions`] if the result would exceed
    /// [`DEFAULT_BUDGET`].
    pub fn oob_predictions(&self, x: MatrixView<'_>) -> Result<(Array2<f32>, Vec<u32>), EnsembleError> {
        self.check_features(x)?;
        if !self.bootstrap() {
            return Err(EnsembleError::NoBootstrap);
        }
        if x.n_rows() != self.n_train() {
            let (expected, given) = (self.n_train(), x.n_rows());
            return Err(EnsembleError::Mismatch {
                what: "training rows",
                expected,
                given,
            });
        }
        let mut out = self.zeros(x.n_rows(), DEFAULT_BUDGET)?;
        // Per tree, whether a row was out of its bag.
        let out_of_bag: Vec<Vec<bool>> = self
            .trees()
            .par_iter()
            .map(|t| {
                bootstrap_counts(t.seed, x.n_rows())
                    .into_iter()
                    .map(|c| c == 0.0)
                    .collect()
            })
            .collect();
        let counts: Vec<u32> = (0..x.n_rows())
            .map(|i| out_of_bag.iter().filter(|tree| tree[i]).count() as u32)
            .collect();
        let size = RowBlock::good_size(x);
        out.axis_chunks_iter_mut(Axis(0), size)
            .into_par_iter()
            .enumerate()
            .for_each_init(
                || (Router::new(self, x), Sums::new(self.n_outputs())),
                |(router, sums), (chunk, mut out)| {
                    router.route(chunk * size..chunk * size + out.nrows());
                    for (i, mut row) in out.rows_mut().into_iter().enumerate() {
                        let index = chunk * size + i;
                        if counts[index] == 0 {
                            row.fill(f32::NAN);
                            continue;
                        }
                        let scale = 1.0 / f64::from(counts[index]);
                        router.sum(i, |tree| out_of_bag[tree][index], sums);
                        sums.drain(|j, sum| row[j as usize] = (sum * scale) as f32);
                    }
                },
            );
        Ok((out, counts))
    }

    /// The leaf of each row in each tree (n x trees).
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of features than the forest was fitted to.
    pub fn apply(&self, x: MatrixView<'_>) -> Result<Array2<u32>, EnsembleError> {
        self.check_features(x)?;
        let mut out = Array2::zeros((x.n_rows(), self.trees().len()));
        let size = RowBlock::good_size(x);
        out.axis_chunks_iter_mut(Axis(0), size)
            .into_par_iter()
            .enumerate()
            .for_each_init(
                || Router::new(self, x),
                |router, (chunk, mut out)| {
                    router.route(chunk * size..chunk * size + out.nrows());
                    out.indexed_iter_mut()
                        .for_each(|((i, tree), leaf)| *leaf = router.leaf(tree, i));
                },
            );
        Ok(out)
    }

    fn check_features(&self, x: MatrixView<'_>) -> Result<(), EnsembleError> {
        if x.n_cols() != self.n_features() {
            let (expected, given) = (self.n_features(), x.n_cols());
            return Err(EnsembleError::Mismatch {
                what: "features",
                expected,
                given,
            });
        }
        Ok(())
    }

    fn zeros(&self, rows: usize, budget: usize) -> Result<Array2<f32>, EnsembleError> {
        let columns = self.n_outputs();
        let bytes = rows.saturating_mul(columns).saturating_mul(size_of::<f32>());
        if bytes > budget {
            let error = MatrixError::OverBudget {
                rows,
                columns,
                bytes,
                budget,
            };
            return Err(EnsembleError::Predictions(error));
        }
        Ok(Array2::zeros((rows, columns)))
    }
}

/// Keeps the k largest scores, of equal ones the smaller indices, in index order.
fn keep_top(scores: &mut Vec<(u32, f32)>, k: usize) {
    if scores.len() > k {
        scores.select_nth_unstable_by(k - 1, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scores.truncate(k);
    }
    scores.sort_unstable_by_key(|(j, _)| *j);
}

/// Routes blocks of rows through all trees.
struct Router<'f, 'x> {
    forest: &'f Forest,
    block: RowBlock<'x>,
    /// Leaves by tree, then row of the block.
    leaves: Vec<u32>,
}

impl<'f, 'x> Router<'f, 'x> {
    fn new(forest: &'f Forest, x: MatrixView<'x>) -> Self {
        Self {
            forest,
            block: RowBlock::new(x),
            leaves: Vec::new(),
        }
    }

    fn route(&mut self, rows: Range<usize>) {
        self.block.load(rows);
        self.leaves.clear();
        for tree in self.forest.trees() {
            let structure = tree.tree.structure();
            self.block
                .for_each(|_, row| self.leaves.push(structure.leaf(row)));
        }
    }

    fn leaf(&self, tree: usize, row: usize) -> u32 {
        self.leaves[tree * self.block.len() + row]
    }

    /// Sums the answers to a row of the block over the trees that `which` admits.
    fn sum(&self, row: usize, which: impl Fn(usize) -> bool, sums: &mut Sums) {
        for (i, tree) in self.forest.trees().iter().enumerate().filter(|(i, _)| which(*i)) {
            tree.tree
                .leaves()
                .for_each(self.leaf(i, row), |j, v| sums.add(j, v));
        }
    }
}

//! Predictions of any forest: means of leaf values over trees, as a dense matrix or only the largest.
//!
//! Rows are predicted in blocks: every tree routes the whole block while its nodes are in the cache, then the leaf
//! values of each row are summed, tree by tree in `f64`. Leaves that are label sets are counted, which is exact. The
//! result of a row depends on that row alone. Bench: `cargo bench -p rpo-benches --bench forest -- predict`.

use super::block::{BlockPredictor, Routed};
use super::label_sets::LabelSets;
use super::sums::SparseSums;
use crate::error::EnsembleError;
use ndarray::{Array2, ArrayViewMut2, Axis};
use rayon::prelude::*;
use rpo_core::{
    CsrMatrix, DEFAULT_MEMORY_LIMIT, Domain, MatrixView, MemoryLimit, Mismatch, check_dense, csr_of_rows,
    top_of, top_of_pairs,
};

/// Returns the means over trees (n x d), within a memory limit in bytes.
pub(crate) fn mean_of_trees(
    forest: &impl Routed,
    x: MatrixView<'_>,
    memory_limit: usize,
) -> Result<Array2<f32>, EnsembleError> {
    let mut out = zeros(x.n_rows(), forest.n_outputs(), memory_limit)?;
    let scale = 1.0 / forest.n_trees() as f64;
    predict_rows(forest, x, |_, _| true, &mut out, |_| scale);
    Ok(out)
}

/// Returns the k largest nonzero means of each row, as CSR (n x d).
pub(crate) fn top_k(forest: &impl Routed, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, EnsembleError> {
    Domain::Count.check("k", k)?;
    let n_outputs = forest.n_outputs();
    if forest.label_sets().is_some() {
        return Ok(top_of_few(forest, x, k));
    }
    Ok(sparse_rows(
        forest,
        x,
        n_outputs,
        k,
        BlockPredictor::new,
        |predictor, i, sums| {
            predictor.for_each(i..i + 1, |_, outputs, value| {
                sums.add_all(outputs.iter().map(|&j| (j, value)));
            });
        },
        mean(forest.n_trees()),
    ))
}

/// Returns the function that turns a sum over trees into a mean.
pub(crate) fn mean(n_trees: usize) -> impl Fn(u32, f64) -> f32 + Sync {
    let scale = 1.0 / n_trees as f64;
    move |_, sum| (sum * scale) as f32
}

/// Returns the k largest means of each row, for few outputs.
fn top_of_few(forest: &impl Routed, x: MatrixView<'_>, k: usize) -> CsrMatrix {
    let ((span, block), n) = (spans(forest, x), x.n_rows());
    let scale = 1.0 / forest.n_trees() as f64;
    let spans: Vec<Vec<Vec<(u32, f32)>>> = (0..n.div_ceil(span))
        .into_par_iter()
        .map(|i| {
            let mut summing = Summing::new(forest, x, |_, _| true);
            let mut rows = Vec::new();
            let end = ((i + 1) * span).min(n);
            for first in (i * span..end).step_by(block) {
                let mut means = Array2::zeros((block.min(end - first), forest.n_outputs()));
                summing.write(first, means.view_mut(), |_| scale);
                rows.extend(means.rows().into_iter().map(|row| top_of(row, k)));
            }
            rows
        })
        .collect();
    csr_of_rows(spans.iter().flatten(), (n, forest.n_outputs()))
}

/// Writes, for each row, the sum of the leaf values of the admitted trees times the row's scale.
pub(crate) fn predict_rows<F: Routed>(
    forest: &F,
    x: MatrixView<'_>,
    admit: impl Fn(usize, usize) -> bool + Sync,
    out: &mut Array2<f32>,
    scale: impl Fn(usize) -> f64 + Sync,
) {
    let (span, block) = spans(forest, x);
    out.axis_chunks_iter_mut(Axis(0), span)
        .into_par_iter()
        .enumerate()
        .for_each(|(i, mut out)| {
            let mut summing = Summing::new(forest, x, &admit);
            for (k, out) in out.axis_chunks_iter_mut(Axis(0), block).enumerate() {
                summing.write(i * span + k * block, out, &scale);
            }
        });
}

/// Sums the leaf values of the admitted trees for blocks of rows.
struct Summing<'f, 'x, F: Routed, A> {
    predictor: BlockPredictor<'f, 'x, F, A>,
    sets: Option<&'f LabelSets>,
    sums: Vec<f64>,
}

impl<'f, 'x, F: Routed, A: Fn(usize, usize) -> bool> Summing<'f, 'x, F, A> {
    fn new(forest: &'f F, x: MatrixView<'x>, admit: A) -> Self {
        Self {
            predictor: BlockPredictor::new(forest, x, admit),
            sets: forest.label_sets(),
            sums: Vec::new(),
        }
    }

    /// Writes the sums for the rows of `x` from `first` on, one per row of `out`, each times the row's scale.
    fn write(&mut self, first: usize, out: ArrayViewMut2<'_, f32>, scale: impl Fn(usize) -> f64) {
        self.predictor.load(first..first + out.nrows());
        let scale = |row| scale(first + row);
        match self.sets.map(|sets| (sets, sets.n_lanes())) {
            None => self.write_sums(out, scale),
            Some((sets, 8)) => self.write_counts::<8>(sets, out, scale),
            Some((sets, 16)) => self.write_counts::<16>(sets, out, scale),
            Some((sets, _)) => self.write_counts::<32>(sets, out, scale),
        }
    }

    fn write_sums(&mut self, mut out: ArrayViewMut2<'_, f32>, scale: impl Fn(usize) -> f64) {
        let (n_rows, d) = out.dim();
        // Number of rows that are summed at once: as many as keep their sums in the cache of a core.
        let group = ((128 << 10) / (size_of::<f64>() * d)).clamp(1, n_rows.max(1));
        let sums = &mut self.sums;
        sums.resize(group * d, 0.0);
        for start in (0..n_rows).step_by(group) {
            let rows = start..(start + group).min(n_rows);
            self.predictor.for_each(rows.clone(), |row, outputs, value| {
                let sums = &mut sums[(row - start) * d..][..d];
                outputs.iter().for_each(|&j| sums[j as usize] += value);
            });
            for (row, sums) in rows.zip(sums.chunks_mut(d)) {
                let scale = scale(row);
                for (out, sum) in out.row_mut(row).iter_mut().zip(sums) {
                    *out = (std::mem::take(sum) * scale) as f32;
                }
            }
        }
    }

    fn write_counts<const LANES: usize>(
        &mut self,
        sets: &LabelSets,
        mut out: ArrayViewMut2<'_, f32>,
        scale: impl Fn(usize) -> f64,
    ) {
        let (n_rows, d) = out.dim();
        let mut counts = vec![[0; LANES]; n_rows];
        // Sums for leaves that cannot be encoded as a label set.
        let sums = &mut self.sums;
        sums.resize(n_rows * d, 0.0);
        self.predictor.count(sets, &mut counts, |row, j, value| {
            sums[row * d + j as usize] += value;
        });
        for (row, (counts, sums)) in counts.iter().zip(sums.chunks_mut(d)).enumerate() {
            let scale = scale(row);
            for ((out, sum), &count) in out.row_mut(row).iter_mut().zip(sums).zip(counts) {
                *out = ((std::mem::take(sum) + f64::from(count)) * scale) as f32;
            }
        }
    }
}

/// Sums values of each row by `add` over the trees, converts the sums by `finish`, and returns the k largest as CSR.
pub(crate) fn sparse_rows<'f, 'x, F: Routed>(
    forest: &'f F,
    x: MatrixView<'x>,
    n_columns: usize,
    k: usize,
    predictor: impl Fn(&'f F, MatrixView<'x>, Admit) -> BlockPredictor<'f, 'x, F, Admit> + Sync,
    add: impl Fn(&BlockPredictor<'f, 'x, F, Admit>, usize, &mut SparseSums) + Sync,
    finish: impl Fn(u32, f64) -> f32 + Sync,
) -> CsrMatrix {
    let ((span, block), n) = (spans(forest, x), x.n_rows());
    let spans: Vec<Vec<Vec<(u32, f32)>>> = (0..n.div_ceil(span))
        .into_par_iter()
        .map(|i| {
            let mut predictor = predictor(forest, x, |_, _| true);
            let mut sums = SparseSums::new(n_columns);
            let mut rows = Vec::new();
            let end = ((i + 1) * span).min(n);
            for first in (i * span..end).step_by(block) {
                let block = first..(first + block).min(end);
                predictor.load(block.clone());
                for in_block in 0..block.len() {
                    add(&predictor, in_block, &mut sums);
                    let mut values = Vec::new();
                    sums.drain(|j, sum| values.push((j, finish(j, sum))));
                    rows.push(top_of_pairs(values, k));
                }
            }
            rows
        })
        .collect();
    csr_of_rows(spans.iter().flatten(), (n, n_columns))
}

/// Checks that the number of features is that of the fitted model, and that CSR features are stored by rows.
pub(crate) fn check_features(x: MatrixView<'_>, n_features: usize) -> Result<(), EnsembleError> {
    x.check_csr("features")?;
    Ok(Mismatch::check("features", n_features, x.n_cols())?)
}

/// Refuses samples with too many features to be made dense, which rules on unhashed features require.
pub(crate) fn check_width(x: MatrixView<'_>) -> Result<(), EnsembleError> {
    /// Largest size of a sample in bytes.
    const LIMIT: usize = 1 << 30;
    check_dense(1, x.n_cols(), size_of::<f32>(), LIMIT).map_err(EnsembleError::Features)
}

/// Allocates predictions, unless they would take more than `memory_limit` bytes.
pub(crate) fn zeros(rows: usize, columns: usize, memory_limit: usize) -> Result<Array2<f32>, EnsembleError> {
    check_dense(rows, columns, size_of::<f32>(), memory_limit).map_err(EnsembleError::Predictions)?;
    Ok(Array2::zeros((rows, columns)))
}

/// Refuses leaves of samples in trees that would take too much memory.
pub(crate) fn check_leaves(rows: usize, trees: usize) -> Result<(), EnsembleError> {
    let bytes = rows.saturating_mul(trees).saturating_mul(size_of::<u32>());
    let what = || format!("the leaves of {rows} samples in {trees} trees");
    Ok(MemoryLimit::check(bytes, DEFAULT_MEMORY_LIMIT, what)?)
}

/// Decides whether a tree takes part in the prediction of a row; here always true.
type Admit = fn(usize, usize) -> bool;

/// Returns the number of rows of a span and of a block. A thread predicts a span at a time, a few spans per thread;
/// spans are whole blocks.
pub(crate) fn spans(forest: &impl Routed, x: MatrixView<'_>) -> (usize, usize) {
    /// Smallest number of rows of a block that is made smaller so that each thread has two blocks.
    const FEWEST: usize = 256;
    let (n, n_threads) = (x.n_rows(), rayon::current_num_threads());
    let block = forest.block_size(x).min(n.div_ceil(2 * n_threads).max(FEWEST));
    let span = n.div_ceil(4 * n_threads);
    (span.max(1).next_multiple_of(block), block)
}

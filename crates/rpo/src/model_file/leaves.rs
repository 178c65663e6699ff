//! Leaves of all trees as arrays, and back; each tree may use another storage.

use super::arrays::{ArrayReader, ArrayWriter, check_length, check_values};
use super::error::ModelFileErrorKind as Kind;
use super::matrix;
use ndarray::Array2;
use rpo_core::Matrix;
use rpo_tree::leaves::{DenseLeaves, SampleLeaves, SparseLeaves};
use rpo_tree::{LeafModel, Leaves, TreeError};
use std::sync::Arc;

/// Storage of a tree's leaves, in `tree.leaves`.
const DENSE: u32 = 0;
const SPARSE: u32 = 1;
const SAMPLES: u32 = 2;

/// Collects the leaves of all trees.
#[derive(Default)]
pub(super) struct LeafWriter {
    storages: Vec<u32>,
    dense: Vec<f32>,
    width: usize,
    sparse: matrix::SparseRows,
    sample_counts: Vec<u32>,
    samples: Vec<u32>,
    weights: Vec<f32>,
    outputs: Option<Arc<Matrix>>,
}

impl LeafWriter {
    pub(super) fn push(&mut self, tree: usize, leaves: &Leaves) -> Result<(), Kind> {
        self.width = leaves.n_outputs();
        match leaves {
            Leaves::Dense(leaves) => {
                self.storages.push(DENSE);
                self.dense.extend(leaves.values().iter());
            }
            Leaves::Sparse(leaves) => {
                self.storages.push(SPARSE);
                self.sparse.push(&leaves.values().view());
            }
            Leaves::Samples(leaves) => {
                self.storages.push(SAMPLES);
                keep_outputs(&mut self.outputs, Some(leaves.outputs()), tree)?;
                for leaf in 0..leaves.n_leaves() {
                    let (rows, weights) = leaves.members(leaf as u32);
                    self.sample_counts.push(rows.len() as u32);
                    self.samples.extend_from_slice(rows);
                    match weights {
                        Some(weights) => self.weights.extend_from_slice(weights),
                        None => self.weights.resize(self.samples.len(), 1.0),
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the leaves; returns the training outputs that some of them refer to.
    pub(super) fn write(self, out: &mut ArrayWriter) -> Result<Option<Arc<Matrix>>, Kind> {
        out.integers("tree.leaves", &self.storages);
        if self.storages.contains(&DENSE) {
            check_values("leaf.dense", &self.dense, "a finite number", f32::is_finite)?;
            out.table("leaf.dense", &self.dense, self.width);
        }
        if self.storages.contains(&SPARSE) {
            self.sparse.write(&LEAF_NAMES, out)?;
        }
        if self.outputs.is_none() {
            return Ok(None);
        }
        out.integers("leaf.size", &self.sample_counts);
        out.integers("leaf.row", &self.samples);
        let is_count = |w: &f32| w.fract() == 0.0 && (1.0..=f32::from(u16::MAX)).contains(w);
        if self.weights.iter().all(is_count) {
            if self.weights.iter().any(|&w| w > 1.0) {
                let counts: Vec<u32> = self.weights.iter().map(|&w| w as u32).collect();
                out.integers("leaf.weight", &counts);
            }
        } else {
            out.floats("leaf.weight", &self.weights);
        }
        Ok(self.outputs)
    }
}

/// Keeps the training outputs that trees refer to, which are the same for all.
pub(super) fn keep_outputs(
    kept: &mut Option<Arc<Matrix>>,
    of_tree: Option<&Arc<Matrix>>,
    tree: usize,
) -> Result<(), Kind> {
    let Some(outputs) = of_tree else {
        return Ok(());
    };
    let kept = kept.get_or_insert_with(|| Arc::clone(outputs));
    if Arc::ptr_eq(kept, outputs) || kept == outputs {
        Ok(())
    } else {
        Err(Kind::SeveralOutputs { tree })
    }
}

/// Writes the training outputs that leaves refer to.
pub(super) fn write_outputs(outputs: &Matrix, out: &mut ArrayWriter) -> Result<(), Kind> {
    match outputs {
        Matrix::Dense(a) => {
            let values: Vec<f32> = a.iter().copied().collect();
            check_values("output.dense", &values, "a finite number", f32::is_finite)?;
            out.table("output.dense", &values, a.ncols());
            Ok(())
        }
        Matrix::Sparse(a) => {
            let mut rows = matrix::SparseRows::default();
            rows.push(&a.view());
            rows.write(&OUTPUT_NAMES, out)
        }
    }
}

/// Reads the training outputs, if there are any.
pub(super) fn read_outputs(
    arrays: &mut ArrayReader<'_>,
    n_outputs: usize,
) -> Result<Option<Arc<Matrix>>, Kind> {
    if arrays.has("output.dense") {
        let values = arrays.table("output.dense", n_outputs)?;
        check_values("output.dense", &values, "a finite number", f32::is_finite)?;
        let shape = (values.len() / n_outputs.max(1), n_outputs);
        let values =
            Array2::from_shape_vec(shape, values).map_err(|e| Kind::array("output.dense", e.to_string()))?;
        return Ok(Some(Arc::new(Matrix::Dense(values))));
    }
    if !arrays.has(OUTPUT_NAMES.size) {
        return Ok(None);
    }
    let outputs = matrix::read(&OUTPUT_NAMES, n_outputs, arrays)?;
    Ok(Some(Arc::new(Matrix::Sparse(outputs))))
}

pub(super) const LEAF_NAMES: matrix::Names = matrix::Names {
    size: "leaf.sparse.size",
    column: "leaf.sparse.column",
    value: "leaf.sparse.value",
};

const OUTPUT_NAMES: matrix::Names = matrix::Names {
    size: "output.size",
    column: "output.column",
    value: "output.value",
};

/// Hands out the leaves of one tree after the other.
pub(super) struct LeafReader {
    storages: std::vec::IntoIter<u32>,
    n_outputs: usize,
    dense: std::vec::IntoIter<f32>,
    sparse: matrix::RowReader,
    samples: Option<Samples>,
}

struct Samples {
    counts: std::vec::IntoIter<u32>,
    rows: std::vec::IntoIter<u32>,
    weights: Option<std::vec::IntoIter<f32>>,
    outputs: Arc<Matrix>,
}

impl LeafReader {
    /// Takes the arrays and checks whatever concerns all trees together, given the training outputs, if any.
    pub(super) fn new(
        arrays: &mut ArrayReader<'_>,
        outputs: Option<&Arc<Matrix>>,
        n_trees: usize,
        n_leaves: usize,
        n_outputs: usize,
    ) -> Result<Self, Kind> {
        let storages = arrays.integers("tree.leaves")?;
        check_length("tree.leaves", &storages, n_trees)?;
        check_values("tree.leaves", &storages, "0, 1 or 2", |s| s <= SAMPLES)?;
        let mut left = n_leaves;
        let mut dense = Vec::new();
        if storages.contains(&DENSE) {
            dense = arrays.table("leaf.dense", n_outputs)?;
            check_values("leaf.dense", &dense, "a finite number", f32::is_finite)?;
            left = left.saturating_sub(dense.len() / n_outputs.max(1));
        }
        let mut sparse = matrix::RowReader::empty();
        if storages.contains(&SPARSE) {
            sparse = matrix::RowReader::new(&LEAF_NAMES, n_outputs, arrays)?;
            left = left.saturating_sub(sparse.n_left());
        }
        let mut samples = None;
        if storages.contains(&SAMPLES) {
            let outputs = outputs.ok_or_else(|| Kind::array(OUTPUT_NAMES.size, "is missing"))?;
            samples = Some(Samples::read(arrays, left, outputs)?);
        } else if left > 0 {
            let problem = format!("{left} leaves have no values");
            return Err(Kind::array("tree.leaves", problem));
        }
        Ok(Self {
            storages: storages.into_iter(),
            n_outputs,
            dense: dense.into_iter(),
            sparse,
            samples,
        })
    }

    /// The leaves of the next tree.
    pub(super) fn next(&mut self, n_leaves: usize) -> Result<Result<Leaves, TreeError>, Kind> {
        let storage = self.storages.next().expect("one storage per tree");
        let missing = |name| Kind::array(name, "has too few entries for the leaves of the trees");
        Ok(match (storage, &mut self.samples) {
            (SAMPLES, Some(samples)) => samples.next(n_leaves)?.map(Leaves::Samples),
            (SPARSE, _) => {
                let values = self.sparse.take(n_leaves);
                let values = values.ok_or_else(|| missing(LEAF_NAMES.size))?;
                Ok(Leaves::Sparse(SparseLeaves::new(values)))
            }
            _ => {
                let values: Vec<f32> = self
                    .dense
                    .by_ref()
                    .take(n_leaves.saturating_mul(self.n_outputs))
                    .collect();
                let values = Array2::from_shape_vec((n_leaves, self.n_outputs), values)
                    .map_err(|_| missing("leaf.dense"))?;
                Ok(Leaves::Dense(DenseLeaves::new(values)))
            }
        })
    }
}

impl Samples {
    fn read(arrays: &mut ArrayReader<'_>, n_leaves: usize, outputs: &Arc<Matrix>) -> Result<Self, Kind> {
        let counts = arrays.integers("leaf.size")?;
        check_length("leaf.size", &counts, n_leaves)?;
        let rows = arrays.integers("leaf.row")?;
        let n_rows = counts.iter().map(|&n| u64::from(n)).sum::<u64>();
        check_length("leaf.row", &rows, n_rows as usize)?;
        let weights = if arrays.has("leaf.weight") {
            let weights = arrays.numbers("leaf.weight")?;
            check_length("leaf.weight", &weights, rows.len())?;
            Some(weights.into_iter())
        } else {
            None
        };
        Ok(Self {
            counts: counts.into_iter(),
            rows: rows.into_iter(),
            weights,
            outputs: Arc::clone(outputs),
        })
    }

    fn next(&mut self, n_leaves: usize) -> Result<Result<SampleLeaves, TreeError>, Kind> {
        let mut starts = Vec::with_capacity(n_leaves + 1);
        let mut end: u32 = 0;
        starts.push(end);
        for count in self.counts.by_ref().take(n_leaves) {
            end = end
                .checked_add(count)
                .ok_or_else(|| Kind::array("leaf.size", "a tree has more than 2^32 rows"))?;
            starts.push(end);
        }
        let n_rows = end as usize;
        let rows = self.rows.by_ref().take(n_rows).collect();
        let weights: Option<Vec<f32>> = self.weights.as_mut().map(|w| w.take(n_rows).collect());
        // A tree that was grown without weights says so by having none.
        let weights = weights.filter(|w| w.iter().any(|w| *w != 1.0));
        Ok(SampleLeaves::from_parts(
            starts,
            rows,
            weights,
            Arc::clone(&self.outputs),
        ))
    }
}

//! Boosted models as arrays, and back.

use super::arrays::{ArrayReader, ArrayWriter, check_length, check_values};
use super::description::{Description, required};
use super::error::ModelFileErrorKind as Kind;
use super::leaves::LEAF_NAMES;
use super::matrix;
use super::rules::{AxisReader, AxisWriter};
use super::structures::{StructureReader, StructureWriter};
use crate::ModelError;
use ndarray::Array2;
use rpo_ensemble::boosting::{Boosted, BoostingStep, StepValues};

/// Storage of what a tree's leaves add, in `tree.values`.
const VECTORS: u32 = 0;
const SPARSE: u32 = 1;
const PRODUCT: u32 = 2;
const SINGLE: u32 = 3;

pub(super) fn write(
    model: &Boosted,
    out: &mut ArrayWriter,
    description: &mut Description,
) -> Result<(), Kind> {
    description.link = Some(model.link());
    description.trees_per_step = Some(model.trees_per_step());
    let mut structures = StructureWriter::<AxisWriter>::default();
    let mut storages = Vec::with_capacity(model.trees().len());
    let (mut dense, mut sparse) = (Vec::new(), matrix::SparseRows::default());
    let (mut numbers, mut factors, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
    let mut gains = Vec::new();
    for tree in model.trees() {
        structures.push(&tree.structure);
        gains.extend_from_slice(&tree.gains);
        storages.push(match &tree.values {
            StepValues::Vectors(values) => {
                dense.extend(values.iter());
                VECTORS
            }
            StepValues::Sparse(values) => {
                sparse.push(&values.view());
                SPARSE
            }
            StepValues::Product { leaves, outputs } => {
                numbers.extend_from_slice(leaves);
                factors.extend_from_slice(outputs);
                PRODUCT
            }
            StepValues::Single { leaves, output } => {
                numbers.extend_from_slice(leaves);
                outputs.push(*output);
                SINGLE
            }
        });
    }
    out.doubles("initial", model.initial());
    structures.write(out)?;
    out.doubles("split.gain", &gains);
    out.integers("tree.values", &storages);
    if storages.contains(&VECTORS) {
        out.table("leaf.dense", &dense, model.n_outputs());
    }
    if storages.contains(&SPARSE) {
        sparse.write(&LEAF_NAMES, out)?;
    }
    if storages.contains(&PRODUCT) {
        out.table("tree.factor", &factors, model.n_outputs());
    }
    if storages.contains(&SINGLE) {
        out.integers("tree.output", &outputs);
    }
    if storages.contains(&PRODUCT) || storages.contains(&SINGLE) {
        out.floats("leaf.value", &numbers);
    }
    Ok(())
}

pub(super) fn read(
    arrays: &mut ArrayReader<'_>,
    description: &Description,
    n_features: usize,
) -> Result<Boosted, Kind> {
    let link = required("link", description.link)?;
    let per_step = required("trees_per_step", description.trees_per_step)?;
    if per_step == 0 {
        let message = "trees_per_step is 0; at least 1 expected".to_owned();
        return Err(Kind::Description { message });
    }
    let initial = arrays.doubles("initial")?;
    check_length("initial", &initial, description.n_outputs)?;
    let mut structures = StructureReader::<AxisReader>::new(arrays, n_features)?;
    let gains = arrays.doubles("split.gain")?;
    check_length("split.gain", &gains, structures.n_splits())?;
    let mut gains = gains.into_iter();
    let storages = arrays.integers("tree.values")?;
    check_length("tree.values", &storages, structures.n_trees())?;
    check_values("tree.values", &storages, "0 to 3", |s| s <= SINGLE)?;
    let mut values = ValueReader::new(arrays, &storages, description.n_outputs)?;
    let mut trees = Vec::with_capacity(storages.len());
    for storage in storages {
        let structure = structures.next()?;
        let values = values.next(storage, structure.n_leaves())?;
        let n_splits = structure.nodes().len() - structure.n_leaves();
        trees.push(BoostingStep {
            structure,
            values,
            gains: gains.by_ref().take(n_splits).collect(),
        });
    }
    values.finish()?;
    let model = Boosted::from_parts(initial, trees, per_step, link, n_features, description.n_train);
    Ok(model.map_err(ModelError::from)?)
}

/// Hands out what the leaves of one tree after the other add.
struct ValueReader {
    n_outputs: usize,
    dense: std::vec::IntoIter<f32>,
    sparse: matrix::RowReader,
    numbers: std::vec::IntoIter<f32>,
    factors: std::vec::IntoIter<f32>,
    outputs: std::vec::IntoIter<u32>,
}

impl ValueReader {
    fn new(arrays: &mut ArrayReader<'_>, storages: &[u32], n_outputs: usize) -> Result<Self, Kind> {
        let has = |storage: u32| storages.contains(&storage);
        let dense = if has(VECTORS) {
            arrays.table("leaf.dense", n_outputs)?
        } else {
            Vec::new()
        };
        let sparse = if has(SPARSE) {
            matrix::RowReader::new(&LEAF_NAMES, n_outputs, arrays)?
        } else {
            matrix::RowReader::empty()
        };
        let factors = if has(PRODUCT) {
            arrays.table("tree.factor", n_outputs)?
        } else {
            Vec::new()
        };
        let outputs = if has(SINGLE) {
            arrays.integers("tree.output")?
        } else {
            Vec::new()
        };
        let numbers = if has(PRODUCT) || has(SINGLE) {
            arrays.numbers("leaf.value")?
        } else {
            Vec::new()
        };
        for (name, values) in [
            ("leaf.dense", &dense),
            ("tree.factor", &factors),
            ("leaf.value", &numbers),
        ] {
            check_values(name, values, "a finite number", f32::is_finite)?;
        }
        Ok(Self {
            n_outputs,
            dense: dense.into_iter(),
            sparse,
            numbers: numbers.into_iter(),
            factors: factors.into_iter(),
            outputs: outputs.into_iter(),
        })
    }

    fn next(&mut self, storage: u32, n_leaves: usize) -> Result<StepValues, Kind> {
        let d = self.n_outputs;
        let missing = |name| Kind::array(name, "has too few entries for the trees");
        let take = |values: &mut std::vec::IntoIter<f32>, n: usize, name| {
            let some: Vec<f32> = values.take(n).collect();
            if some.len() == n {
                Ok(some)
            } else {
                Err(missing(name))
            }
        };
        Ok(match storage {
            VECTORS => {
                let values = take(&mut self.dense, n_leaves.saturating_mul(d), "leaf.dense")?;
                let values = Array2::from_shape_vec((n_leaves, d), values);
                StepValues::Vectors(values.map_err(|_| missing("leaf.dense"))?)
            }
            SPARSE => {
                let values = self.sparse.take(n_leaves);
                StepValues::Sparse(values.ok_or_else(|| missing(LEAF_NAMES.size))?)
            }
            PRODUCT => StepValues::Product {
                leaves: take(&mut self.numbers, n_leaves, "leaf.value")?,
                outputs: take(&mut self.factors, d, "tree.factor")?,
            },
            _ => StepValues::Single {
                leaves: take(&mut self.numbers, n_leaves, "leaf.value")?,
                output: self.outputs.next().ok_or_else(|| missing("tree.output"))?,
            },
        })
    }

    /// Refuses values that belong to no tree.
    fn finish(self) -> Result<(), Kind> {
        for (name, left) in [
            ("leaf.dense", self.dense.len()),
            (LEAF_NAMES.size, self.sparse.n_left()),
            ("leaf.value", self.numbers.len()),
            ("tree.factor", self.factors.len()),
            ("tree.output", self.outputs.len()),
        ] {
            if left > 0 {
                return Err(Kind::array(
                    name,
                    format!("has {left} entries too many for the trees"),
                ));
            }
        }
        Ok(())
    }
}

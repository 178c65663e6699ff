//! Conversion of boosted models to and from arrays.

use super::{Boosted, BoostingStep, LinkBlock, StepValues};
use ndarray::Array2;
use rpo_core::TreeEnsemble;
use rpo_core::store::{Entries, Reader, Restore, Sizes, Store, StoreError, Writer};
use rpo_tree::store::{StoreLeaves, StoreTrees};
use rpo_tree::{LeafModel, Structure};

/// The storages of leaf values, as numbered in `tree.values`.
const VECTORS: u32 = 0;
const SPARSE: u32 = 1;
const PRODUCT: u32 = 2;
const SINGLE: u32 = 3;

impl Store for Boosted {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        match self.links.common() {
            Some(link) => out.field("inverse_link", link)?,
            None => out.field("links", self.links())?,
        }
        out.field("trees_per_step", self.trees_per_step())?;
        out.array("initial", self.initial())?;
        Structure::store_all(self.trees().iter().map(|tree| &tree.structure), out)?;
        let gains: Vec<f64> = self
            .trees()
            .iter()
            .flat_map(|tree| &tree.gains)
            .copied()
            .collect();
        out.array("split.gain", &gains)?;
        let values: Vec<&StepValues> = self.trees().iter().map(|tree| &tree.values).collect();
        StepValues::store_all(&values, out)
    }
}

impl Restore for Boosted {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let links = match from.field::<Option<_>>("links")? {
            Some(links) => links,
            None => vec![LinkBlock {
                link: from.field("inverse_link")?,
                n_outputs: sizes.n_outputs,
                ordered: false,
            }],
        };
        let per_step = from.field("trees_per_step")?;
        let initial = from.array::<f64>("initial")?.of_length(sizes.n_outputs)?.to_vec();
        let structures = Structure::restore_all(from, sizes)?;
        let n_leaves: Vec<usize> = structures.iter().map(Structure::n_leaves).collect();
        let mut gains = from.array::<f64>("split.gain")?;
        let values = StepValues::restore_all(&n_leaves, from, sizes)?;
        let trees = structures.into_iter().zip(values).map(|(structure, values)| {
            let gains = gains.part(structure.nodes().len() - structure.n_leaves())?;
            Ok(BoostingStep {
                structure,
                values,
                gains,
            })
        });
        let trees = trees.collect::<Result<_, StoreError>>()?;
        gains.finish()?;
        let model = Self::from_parts(initial, trees, per_step, links, sizes.n_features, sizes.n_train);
        model.map_err(|e| StoreError::part("boosted model", e))
    }
}

impl StoreLeaves for StepValues {
    fn store_all(trees: &[&Self], out: &mut Writer) -> Result<(), StoreError> {
        let (mut storages, mut width) = (Vec::with_capacity(trees.len()), 0);
        let (mut dense, mut sparse) = (Vec::new(), Vec::new());
        let (mut numbers, mut factors, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        for values in trees {
            width = values.n_outputs();
            storages.push(match values {
                Self::Vectors(values) => {
                    dense.extend(values.iter());
                    VECTORS
                }
                Self::Sparse(values) => {
                    sparse.push(values.view());
                    SPARSE
                }
                Self::Product { leaves, outputs } => {
                    numbers.extend_from_slice(leaves);
                    factors.extend_from_slice(outputs);
                    PRODUCT
                }
                Self::Single { leaves, output, .. } => {
                    numbers.extend_from_slice(leaves);
                    outputs.push(*output);
                    SINGLE
                }
            });
        }
        out.array("tree.values", &storages)?;
        let has = |storage| storages.contains(&storage);
        if has(VECTORS) {
            out.table("leaf.dense", &dense, width)?;
        }
        if has(SPARSE) {
            out.sparse("leaf.sparse", &sparse)?;
        }
        if has(PRODUCT) {
            out.table("tree.factor", &factors, width)?;
        }
        if has(SINGLE) {
            out.array("tree.output", &outputs)?;
        }
        if has(PRODUCT) || has(SINGLE) {
            out.array("leaf.value", &numbers)?;
        }
        Ok(())
    }

    fn restore_all(n_leaves: &[usize], from: &mut Reader<'_>, sizes: Sizes) -> Result<Vec<Self>, StoreError> {
        let storages = from.array::<u32>("tree.values")?.of_length(n_leaves.len())?;
        let storages = storages.where_all("0 to 3", |storage| storage <= SINGLE)?;
        let has = |wanted| storages.clone().any(|storage| storage == wanted);
        let width = sizes.n_outputs;
        let mut dense = Entries::default();
        if has(VECTORS) {
            dense = from.table("leaf.dense", width)?;
        }
        let mut sparse = Vec::new().into_iter();
        if has(SPARSE) {
            let sizes = n_leaves.iter().zip(storages.clone());
            let sizes: Vec<usize> = sizes.filter(|of| of.1 == SPARSE).map(|of| *of.0).collect();
            sparse = from.sparse("leaf.sparse", width, &sizes)?.into_iter();
        }
        let mut factors = Entries::default();
        if has(PRODUCT) {
            factors = from.table("tree.factor", width)?;
        }
        let mut outputs = Entries::default();
        if has(SINGLE) {
            outputs = from.array::<u32>("tree.output")?;
        }
        let mut numbers = Entries::default();
        if has(PRODUCT) || has(SINGLE) {
            let values = from.array::<f32>("leaf.value")?;
            numbers = values.where_all("a finite number", f32::is_finite)?;
        }
        let mut trees = Vec::with_capacity(n_leaves.len());
        for (&n, storage) in n_leaves.iter().zip(storages) {
            trees.push(match storage {
                VECTORS => {
                    let values = dense.part(n.saturating_mul(width))?;
                    let values = Array2::from_shape_vec((n, width), values);
                    Self::Vectors(values.map_err(|e| dense.wrong(format!("is invalid: {e}")))?)
                }
                SPARSE => Self::Sparse(sparse.next().expect("as many as trees")),
                PRODUCT => Self::Product {
                    leaves: numbers.part(n)?,
                    outputs: factors.part(width)?,
                },
                _ => Self::Single {
                    leaves: numbers.part(n)?,
                    output: outputs.part(1)?[0],
                    n_outputs: width,
                },
            });
        }
        dense.finish()?;
        numbers.finish()?;
        factors.finish()?;
        outputs.finish()?;
        Ok(trees)
    }
}

//! Storing leaves of trees as arrays, and restoring them; each tree may use another storage.

use super::{StoreLeaves, of_tree};
use crate::leaves::{DenseLeaves, LeafModel, Leaves, SampleLeaves, SparseLeaves};
use ndarray::Array2;
use rpo_core::store::{Entries, Reader, Sizes, StoreError, Writer};
use rpo_core::{CsrView, Matrix};
use std::sync::Arc;

/// Codes in `tree.leaves` for the storage of a tree's leaves.
const DENSE: u32 = 0;
const SPARSE: u32 = 1;
const SAMPLES: u32 = 2;

impl StoreLeaves for Leaves {
    fn store_all(trees: &[&Self], out: &mut Writer) -> Result<(), StoreError> {
        let (mut storages, mut dense) = (Vec::with_capacity(trees.len()), Vec::new());
        let (mut sparse, mut samples) = (Vec::<CsrView<'_>>::new(), Vec::new());
        let mut width = 0;
        for (i, leaves) in trees.iter().enumerate() {
            width = leaves.n_outputs();
            storages.push(match leaves {
                Self::Dense(leaves) => {
                    dense.extend(leaves.values.iter());
                    DENSE
                }
                Self::Sparse(leaves) => {
                    sparse.push(leaves.values().view());
                    SPARSE
                }
                Self::Samples(leaves) => {
                    let shared = out.share("output", leaves.outputs());
                    let others = "refers to other training outputs than the trees before it";
                    shared.map_err(|_| of_tree(i, others))?;
                    samples.push(leaves);
                    SAMPLES
                }
            });
        }
        out.array("tree.leaves", &storages)?;
        if storages.contains(&DENSE) {
            out.table("leaf.dense", &dense, width)?;
        }
        if !sparse.is_empty() {
            out.sparse("leaf.sparse", &sparse)?;
        }
        if !samples.is_empty() {
            store_samples(&samples, out)?;
        }
        Ok(())
    }

    fn restore_all(n_leaves: &[usize], from: &mut Reader<'_>, sizes: Sizes) -> Result<Vec<Self>, StoreError> {
        let storages = from.array::<u32>("tree.leaves")?.of_length(n_leaves.len())?;
        let storages = storages.where_all("0, 1 or 2", |storage| storage <= SAMPLES)?;
        let has = |wanted| storages.clone().any(|storage| storage == wanted);
        let width = sizes.n_outputs;
        let mut dense = Entries::default();
        if has(DENSE) {
            dense = from.table("leaf.dense", width)?;
        }
        let mut sparse = Vec::new().into_iter();
        if has(SPARSE) {
            let sizes = n_leaves.iter().zip(storages.clone());
            let sizes: Vec<usize> = sizes.filter(|of| of.1 == SPARSE).map(|of| *of.0).collect();
            sparse = from.sparse("leaf.sparse", width, &sizes)?.into_iter();
        }
        let mut samples = None;
        if has(SAMPLES) {
            samples = Some(Samples::read(from, width)?);
        }
        let mut trees = Vec::with_capacity(n_leaves.len());
        for (i, (&n, storage)) in n_leaves.iter().zip(storages).enumerate() {
            trees.push(match (storage, &mut samples) {
                (SAMPLES, Some(samples)) => Self::Samples(samples.next(n, i)?),
                (SPARSE, _) => Self::Sparse(SparseLeaves::new(sparse.next().expect("as many as trees"))),
                _ => {
                    let values = dense.part(n.saturating_mul(width))?;
                    let values = Array2::from_shape_vec((n, width), values).map_err(|e| of_tree(i, e))?;
                    Self::Dense(DenseLeaves { values })
                }
            });
        }
        dense.finish()?;
        samples.map_or(Ok(()), Samples::finish)?;
        Ok(trees)
    }
}

fn store_samples(trees: &[&SampleLeaves], out: &mut Writer) -> Result<(), StoreError> {
    let (mut counts, mut samples, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for leaves in trees {
        for leaf in 0..leaves.n_leaves() {
            let (rows, of_rows) = leaves.members(leaf as u32);
            counts.push(rows.len() as u32);
            samples.extend_from_slice(rows);
            match of_rows {
                Some(of_rows) => weights.extend_from_slice(of_rows),
                None => weights.resize(samples.len(), 1.0),
            }
        }
    }
    out.array("leaf.size", &counts)?;
    out.array("leaf.row", &samples)?;
    let is_count = |w: &f32| w.fract() == 0.0 && (1.0..=f32::from(u16::MAX)).contains(w);
    if !weights.iter().all(is_count) {
        return out.array("leaf.weight", &weights);
    }
    if weights.iter().any(|&w| w > 1.0) {
        let counts: Vec<u32> = weights.iter().map(|&w| w as u32).collect();
        out.array("leaf.weight", &counts)?;
    }
    Ok(())
}

/// The training samples in the leaves of trees not yet restored.
struct Samples<'a> {
    counts: Entries<'a, u32>,
    rows: Entries<'a, u32>,
    weights: Option<Entries<'a, f32>>,
    outputs: Arc<Matrix>,
}

impl<'a> Samples<'a> {
    fn read(from: &mut Reader<'a>, n_outputs: usize) -> Result<Self, StoreError> {
        let outputs = from.shared("output", n_outputs)?;
        let outputs = outputs.ok_or_else(|| StoreError::array("output.size", "is missing"))?;
        let counts = from.array::<u32>("leaf.size")?;
        let rows = from.array::<u32>("leaf.row")?.of_length(counts.total())?;
        let mut weights = None;
        if from.has("leaf.weight") {
            weights = Some(from.array::<f32>("leaf.weight")?.of_length(rows.len())?);
        }
        Ok(Self {
            counts,
            rows,
            weights,
            outputs,
        })
    }

    fn next(&mut self, n_leaves: usize, tree: usize) -> Result<SampleLeaves, StoreError> {
        let counts = self.counts.part(n_leaves)?;
        let mut starts = Vec::with_capacity(n_leaves + 1);
        let mut end: u32 = 0;
        starts.push(end);
        for count in counts {
            end = end
                .checked_add(count)
                .ok_or_else(|| of_tree(tree, "its leaves have 2^32 samples or more"))?;
            starts.push(end);
        }
        let rows = self.rows.part(end as usize)?;
        let mut weights = None;
        if let Some(of_all) = &mut self.weights {
            // A tree that was grown without weights has none.
            weights = Some(of_all.part(end as usize)?).filter(|of_tree| of_tree.iter().any(|w| *w != 1.0));
        }
        let leaves = SampleLeaves::from_parts(starts, rows, weights, Arc::clone(&self.outputs));
        leaves.map_err(|e| of_tree(tree, e))
    }

    /// Rejects samples that belong to no tree.
    fn finish(self) -> Result<(), StoreError> {
        self.counts.finish()
    }
}

//! Leaves as references to training samples.

use super::{LeafMembers, LeafModel};
use crate::error::TreeError;
use rpo_core::{Matrix, Mismatch, ParameterError, TooFew, WeightError};
use std::sync::Arc;

/// The training samples of each leaf with their weights; the outputs are shared by all trees of an ensemble.
///
/// A prediction is then a weighted sum of training outputs, ŷ(x) = Σ_i w_i(x) y_i (as interpreted by Joly, Wehenkel,
/// Geurts 2019, appendix B). Memory: 4 bytes per sample, 8 with weights, whatever the number of outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleLeaves {
    start: Vec<u32>,
    rows: Vec<u32>,
    /// Weight of each entry of `rows`; `None` if all are 1.
    weights: Option<Vec<f32>>,
    outputs: Arc<Matrix>,
}

impl SampleLeaves {
    /// Refers to the members of each leaf, or to all members for a leaf without weight.
    pub(super) fn new(
        members: &LeafMembers,
        weights: &[f32],
        outputs: Arc<Matrix>,
    ) -> Result<Self, TreeError> {
        let weighted = Self::of_weighted(members, weights, outputs)?;
        let n_empty = weighted.n_empty();
        if n_empty == 0 {
            return Ok(weighted);
        }
        let all = &weighted.rows;
        let (given, limit) = (all.len().saturating_mul(n_empty + 1), u32::MAX as usize);
        if given > limit {
            let what = "the number of rows that the leaves refer to";
            return Err(TreeError::TooLarge { what, given, limit });
        }
        let mut rows = Vec::with_capacity(given);
        let mut start = vec![0];
        for leaf in 0..weighted.n_leaves() as u32 {
            let own = weighted.members(leaf).0;
            rows.extend_from_slice(if own.is_empty() { all } else { own });
            start.push(rows.len() as u32);
        }
        Ok(Self::weigh(start, rows, weights, weighted.outputs))
    }

    /// Refers to the members of positive weight of each leaf, which may be none.
    pub(super) fn of_weighted(
        members: &LeafMembers,
        weights: &[f32],
        outputs: Arc<Matrix>,
    ) -> Result<Self, TreeError> {
        let weight = |row: &&u32| weights[**row as usize] > 0.0;
        let mut rows = Vec::with_capacity(members.rows.len());
        let mut start = vec![0];
        for leaf in 0..members.n_leaves() {
            rows.extend(members[leaf].iter().filter(weight));
            start.push(rows.len() as u32);
        }
        if rows.is_empty() {
            return Err(WeightError::AllZero.into());
        }
        Ok(Self::weigh(start, rows, weights, outputs))
    }

    fn weigh(start: Vec<u32>, rows: Vec<u32>, weights: &[f32], outputs: Arc<Matrix>) -> Self {
        let weights: Vec<f32> = rows.iter().map(|&row| weights[row as usize]).collect();
        Self {
            start,
            rows,
            weights: weights.iter().any(|w| *w != 1.0).then_some(weights),
            outputs,
        }
    }

    /// Number of leaves that refer to no row.
    pub(super) fn n_empty(&self) -> usize {
        self.start.windows(2).filter(|w| w[0] == w[1]).count()
    }

    /// Returns all rows as one leaf.
    pub(super) fn whole(&self) -> Self {
        Self {
            start: vec![0, self.rows.len() as u32],
            ..self.clone()
        }
    }

    /// Creates leaves from stored parts: the start of each leaf in `rows` (and the end), the rows, and the weights
    /// (`None`: all 1).
    ///
    /// # Errors
    /// [`TreeError`] if the parts do not fit together: an empty leaf, a row without outputs, a weight that is not
    /// positive, outputs that are sparse by columns.
    pub(crate) fn from_parts(
        start: Vec<u32>,
        rows: Vec<u32>,
        weights: Option<Vec<f32>>,
        outputs: Arc<Matrix>,
    ) -> Result<Self, TreeError> {
        outputs.view().check_csr("outputs")?;
        if start.first() != Some(&0) {
            let given = start.first().map_or_else(|| "missing".to_owned(), u32::to_string);
            return Err(ParameterError::out_of_range("start", given, "0 for the first leaf").into());
        }
        let end = start[start.len() - 1] as usize;
        Mismatch::check("end of the last leaf", rows.len(), end)?;
        if let Some(leaf) = start.windows(2).position(|w| w[0] >= w[1]) {
            return Err(ParameterError::out_of_range("start", start[leaf + 1], "increasing").into());
        }
        TooFew::check_indices("rows of outputs", &rows, outputs.n_rows())?;
        if let Some(weights) = &weights {
            Mismatch::check("weights of the leaves' rows", rows.len(), weights.len())?;
            let bad = weights
                .iter()
                .zip(&rows)
                .find(|(w, _)| !(w.is_finite() && **w > 0.0));
            if let Some((&value, &row)) = bad {
                let sample = row as usize;
                return Err(WeightError::OutOfRange { sample, value }.into());
            }
        }
        Ok(Self {
            start,
            rows,
            weights,
            outputs,
        })
    }

    /// Returns the training samples of a leaf, which explain its prediction, and their weights (`None`: all 1).
    #[inline]
    pub fn members(&self, leaf: u32) -> (&[u32], Option<&[f32]>) {
        let range = self.start[leaf as usize] as usize..self.start[leaf as usize + 1] as usize;
        (
            &self.rows[range.clone()],
            self.weights.as_ref().map(|w| &w[range]),
        )
    }

    /// Calls `f(sample, fraction)` for the training samples of a leaf; the fractions sum to 1.
    #[inline]
    pub fn for_each_member(&self, leaf: u32, mut f: impl FnMut(u32, f64)) {
        let (rows, weights) = self.members(leaf);
        match weights {
            // The case of most leaves of a fully developed tree; needs no division.
            _ if rows.len() == 1 => f(rows[0], 1.0),
            None => {
                let share = 1.0 / rows.len() as f64;
                rows.iter().for_each(|&row| f(row, share));
            }
            Some(weights) => {
                let total: f64 = weights.iter().map(|&w| f64::from(w)).sum();
                rows.iter()
                    .zip(weights)
                    .for_each(|(&row, &w)| f(row, f64::from(w) / total));
            }
        }
    }

    /// Returns the training outputs that leaves refer to.
    pub fn outputs(&self) -> &Arc<Matrix> {
        &self.outputs
    }

    /// Refers to the same samples of other outputs: changes the target space without growing again.
    ///
    /// # Errors
    /// [`TreeError::Mismatch`] if the number of rows of the new outputs differs, [`TreeError::NotCsr`] if they are
    /// sparse by columns.
    pub(crate) fn with_outputs(mut self, outputs: Arc<Matrix>) -> Result<Self, TreeError> {
        outputs.view().check_csr("outputs")?;
        Mismatch::check("rows of new outputs", self.outputs.n_rows(), outputs.n_rows())?;
        self.outputs = outputs;
        Ok(self)
    }
}

impl LeafModel for SampleLeaves {
    fn n_leaves(&self) -> usize {
        self.start.len() - 1
    }

    fn n_outputs(&self) -> usize {
        self.outputs.n_cols()
    }

    #[inline]
    fn for_each(&self, leaf: u32, mut f: impl FnMut(u32, f64)) {
        let outputs = self.outputs.view();
        self.for_each_member(leaf, |row, share| {
            outputs.for_each_in_row(row as usize, |j, v| f(j, share * f64::from(v)));
        });
    }
}

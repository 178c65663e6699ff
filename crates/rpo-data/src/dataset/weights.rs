//! How much samples weigh, and single outputs of samples.

use super::{Dataset, DatasetError};
use ndarray::{Array2, ArrayView2, Axis, concatenate};
use rpo_core::{DEFAULT_MEMORY_LIMIT, Mismatch, Propensity, WeightError};
use std::sync::Arc;

/// The weights of a set, where they are not all alike.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Weights {
    samples: Option<Arc<[f32]>>,
    cells: Option<Arc<Array2<f32>>>,
}

impl Weights {
    /// Those of some samples.
    pub(super) fn select_samples(&self, samples: &[usize]) -> Self {
        let of_samples = |weights: &Arc<[f32]>| samples.iter().map(|&sample| weights[sample]).collect();
        Self {
            samples: self.samples.as_ref().map(of_samples),
            cells: self.select_cells(Axis(0), samples),
        }
    }

    /// Those of some outputs.
    pub(super) fn select_outputs(&self, outputs: &[usize]) -> Self {
        Self {
            samples: self.samples.clone(),
            cells: self.select_cells(Axis(1), outputs),
        }
    }

    fn select_cells(&self, axis: Axis, indices: &[usize]) -> Option<Arc<Array2<f32>>> {
        let cells = self.cells.as_ref()?;
        Some(Arc::new(cells.select(axis, indices)))
    }

    /// Returns true if the other set has weights of the same kinds.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.samples.is_some() == other.samples.is_some() && self.cells.is_some() == other.cells.is_some()
    }

    /// Those of this set followed by those of another, which are of the same kinds and outputs.
    pub(super) fn concat(&self, other: &Self) -> Self {
        let samples = self.samples.iter().zip(&other.samples).next();
        let cells = self.cells.iter().zip(&other.cells).next();
        Self {
            samples: samples.map(|(a, b)| a.iter().chain(b.iter()).copied().collect()),
            cells: cells.map(|(a, b)| {
                let joined = concatenate(Axis(0), &[a.view(), b.view()]);
                Arc::new(joined.expect("both have a column for each output"))
            }),
        }
    }
}

impl Dataset {
    /// Sets the weight of each sample, for methods that take weights.
    ///
    /// # Errors
    /// [`DatasetError::Mismatch`] if there is not one per sample, [`DatasetError::Weight`] for one that is negative or not
    /// finite, or if all are 0.
    pub fn with_weights(mut self, weights: Vec<f32>) -> Result<Self, DatasetError> {
        Mismatch::check("weights of the samples", self.n_samples(), weights.len())?;
        WeightError::check(&weights)?;
        self.weights.samples = Some(weights.into());
        Ok(self)
    }

    /// The weight of each sample; `None` where all weigh the same.
    pub fn weights(&self) -> Option<&[f32]> {
        self.weights.samples.as_deref()
    }

    /// Sets the weight of each output of each sample (n x d), which multiplies that of the sample, for boosting. An output of
    /// weight 0 counts as a missing one.
    ///
    /// # Errors
    /// As [`with_weights`](Self::with_weights).
    pub fn with_cell_weights(mut self, weights: Array2<f32>) -> Result<Self, DatasetError> {
        Mismatch::check(
            "samples of the weights of outputs",
            self.n_samples(),
            weights.nrows(),
        )?;
        Mismatch::check(
            "outputs of the weights of outputs",
            self.n_outputs(),
            weights.ncols(),
        )?;
        let cells = weights.indexed_iter();
        WeightError::check_of(cells.map(|((sample, _), &weight)| (sample, weight)))?;
        let weights = match weights.is_standard_layout() {
            true => weights,
            false => weights.as_standard_layout().into_owned(),
        };
        self.weights.cells = Some(Arc::new(weights));
        Ok(self)
    }

    /// Sets weights of outputs under which the samples with a label and those without count the same: n/(2 n₊) and
    /// n/(2 n₋), of n samples where the label is observed. A label that is always or never there keeps weight 1. They are
    /// dense, and multiply [those there are](Self::with_cell_weights).
    ///
    /// # Errors
    /// [`DatasetError::Dense`] if they take more than [`DEFAULT_MEMORY_LIMIT`].
    pub fn with_balanced_labels(self) -> Result<Self, DatasetError> {
        let statistics = self.label_statistics();
        let n_samples = self.n_samples();
        self.with_label_weights(|j| {
            let n = n_samples - statistics.missing[j];
            let with = statistics.counts[j];
            let of = |count: usize| match with * (n - with) {
                0 => 1.0,
                _ => (n as f64 / (2 * count) as f64) as f32,
            };
            (of(with), of(n - with))
        })
    }

    /// Sets weights of outputs for labels that may be there where they are not recorded: 1/p where label l is recorded, of
    /// propensity p (Jain, Prabhu, Varma, KDD 2016), or 2/p - 1 if `unbiased`, and 1 where it is not.
    ///
    /// A label is recorded with probability p where it is there, and never where it is not. The sum of the losses of the labels
    /// that are there alone is then estimated without bias by weights 1/p; the number of wrong labels by weights 2/p - 1, as each
    /// recorded label also takes back the 1/p - 1 unrecorded ones that were counted as wrong (Qaraei et al., WWW 2021). They
    /// are dense, and multiply [those there are](Self::with_cell_weights).
    ///
    /// # Errors
    /// [`DatasetError::Dense`] if they take more than [`DEFAULT_MEMORY_LIMIT`], [`DatasetError::Parameter`] for parameters out of
    /// range or fewer than three samples.
    pub fn with_propensity_weights(
        self,
        propensity: Propensity,
        unbiased: bool,
    ) -> Result<Self, DatasetError> {
        let counts = self.label_statistics().counts;
        let inverse = propensity.inverse(&counts, self.n_samples());
        let inverse = inverse.map_err(|e| DatasetError::Parameter(Box::new(e)))?;
        self.with_label_weights(|j| match unbiased {
            true => ((2.0 * inverse[j] - 1.0) as f32, 1.0),
            false => (inverse[j] as f32, 1.0),
        })
    }

    /// Sets weights of outputs, for each label those of the samples with it and of the others.
    fn with_label_weights(self, of: impl Fn(usize) -> (f32, f32)) -> Result<Self, DatasetError> {
        let outputs = self.outputs().view();
        let mut weights = outputs
            .to_dense(DEFAULT_MEMORY_LIMIT)
            .map_err(DatasetError::Dense)?;
        for (j, mut weights) in weights.columns_mut().into_iter().enumerate() {
            let (with, without) = of(j);
            weights.mapv_inplace(|label| if label == 1.0 { with } else { without });
        }
        if let Some(given) = self.cell_weights() {
            weights *= &given;
        }
        self.with_cell_weights(weights)
    }

    /// The weight of each output of each sample; `None` where those of a sample weigh the same.
    pub fn cell_weights(&self) -> Option<ArrayView2<'_, f32>> {
        self.weights.cells.as_ref().map(|cells| cells.view())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Task;
    use ndarray::array;

    fn data() -> Dataset {
        let (x, y) = (
            array![[0.0], [1.0], [2.0]],
            array![[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]],
        );
        Dataset::new(x.into(), y.into(), Task::MultiLabel).unwrap()
    }

    #[test]
    fn weights_go_with_their_samples_and_outputs() {
        let cells = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
        let data = data().with_weights(vec![1.0, 2.0, 3.0]).unwrap();
        let data = data.with_cell_weights(cells).unwrap();
        let some = data.select_samples(&[2, 0]).unwrap();
        assert_eq!(some.weights(), Some(&[3.0, 1.0][..]));
        assert_eq!(some.cell_weights().unwrap(), array![[5.0, 6.0], [1.0, 2.0]]);
        let one = data.select_outputs(&[1]).unwrap();
        assert_eq!(one.cell_weights().unwrap(), array![[2.0], [4.0], [6.0]]);
        let both = some.concat(&data.select_samples(&[1]).unwrap()).unwrap();
        assert_eq!(
            both.cell_weights().unwrap(),
            array![[5.0, 6.0], [1.0, 2.0], [3.0, 4.0]]
        );
        let without = self::data();
        assert!(
            matches!(both.concat(&without), Err(DatasetError::Incompatible(what)) if what.contains("weights"))
        );
    }

    #[test]
    fn labels_are_balanced() {
        let nan = f32::NAN;
        let y = array![[0.0, 1.0, nan], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 1.0, 0.0]];
        let data = Dataset::with_missing(
            array![[0.0], [1.0], [2.0], [3.0]].into(),
            y.into(),
            Task::MultiLabel,
        );
        let data = data.unwrap().with_balanced_labels().unwrap();
        let expected = [
            [2.0 / 3.0, 2.0, 2.0 / 3.0, 2.0 / 3.0],
            [1.0; 4],
            [1.5, 0.75, 0.75, 1.5],
        ];
        let found = data.cell_weights().unwrap();
        for (found, expected) in found.columns().into_iter().zip(expected) {
            assert_eq!(found.to_vec(), expected.map(|v: f64| v as f32));
        }
    }

    #[test]
    fn recorded_labels_make_up_for_those_that_are_not() {
        let propensity = Propensity::default();
        let inverse = propensity.inverse(&[2, 1], 3).unwrap();
        let y = array![[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]];
        let data = || {
            Dataset::new(
                array![[0.0], [1.0], [2.0]].into(),
                y.clone().into(),
                Task::MultiLabel,
            )
            .unwrap()
        };
        for unbiased in [false, true] {
            let weights = inverse
                .iter()
                .map(|i| if unbiased { 2.0 * i - 1.0 } else { *i } as f32);
            let weights: Vec<f32> = weights.collect();
            assert!(1.0 < weights[0] && weights[0] < weights[1]);
            let found = data().with_propensity_weights(propensity, unbiased).unwrap();
            let expected = array![[weights[0], 1.0], [weights[0], weights[1]], [1.0, 1.0]];
            assert_eq!(found.cell_weights().unwrap(), expected);
        }
        let few = data().select_samples(&[0, 1]).unwrap();
        let refused = few.with_propensity_weights(propensity, false).unwrap_err();
        assert!(matches!(refused, DatasetError::Parameter(_)), "{refused}");
    }

    #[test]
    fn weights_that_are_none_are_refused() {
        let bad = array![[1.0, 1.0], [1.0, -1.0], [1.0, 1.0]];
        let found = data().with_cell_weights(bad);
        assert!(matches!(
            found,
            Err(DatasetError::Weight(WeightError::OutOfRange {
                sample: 1,
                value: -1.0
            }))
        ));
        assert!(matches!(
            data().with_cell_weights(Array2::zeros((3, 2))),
            Err(DatasetError::Weight(WeightError::AllZero))
        ));
        assert!(matches!(
            data().with_cell_weights(Array2::ones((3, 1))),
            Err(DatasetError::Mismatch(_))
        ));
    }
}

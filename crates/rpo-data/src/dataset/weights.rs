//! Weights of samples, and of individual outputs of samples.

use super::{Dataset, DatasetError, check_range};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, CowArray, Ix2, concatenate};
use rpo_core::{DEFAULT_MEMORY_LIMIT, Mismatch, Propensity, WeightError};
use std::borrow::Cow;
use std::sync::Arc;

/// The weights of a set, if they are not all equal.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Weights {
    samples: Option<Arc<[f32]>>,
    cells: Option<Arc<Array2<f32>>>,
    /// Rules by which weights of outputs follow from the labels of a set, so that those of a fit follow from its own
    /// samples, and not from samples that are withheld from it.
    rules: Vec<LabelRule>,
}

/// A rule for the weights of outputs.
#[derive(Debug, Clone, Copy, PartialEq)]
enum LabelRule {
    /// [`Weighting::Balanced`].
    Balanced,
    /// [`Weighting::Propensity`].
    Propensity { model: Propensity, unbiased: bool },
}

impl Weights {
    /// Returns the weights of some samples.
    pub(super) fn select_samples(&self, samples: &[usize]) -> Self {
        let of_samples = |weights: &Arc<[f32]>| samples.iter().map(|&sample| weights[sample]).collect();
        Self {
            samples: self.samples.as_ref().map(of_samples),
            cells: self.select_cells(Axis(0), samples),
            rules: self.rules.clone(),
        }
    }

    /// Returns the weights of some outputs.
    pub(super) fn select_outputs(&self, outputs: &[usize]) -> Self {
        Self {
            samples: self.samples.clone(),
            cells: self.select_cells(Axis(1), outputs),
            rules: self.rules.clone(),
        }
    }

    fn select_cells(&self, axis: Axis, indices: &[usize]) -> Option<Arc<Array2<f32>>> {
        let cells = self.cells.as_ref()?;
        Some(Arc::new(cells.select(axis, indices)))
    }

    /// Returns true if the other set has the same kinds of weights.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.samples.is_some() == other.samples.is_some()
            && self.cells.is_some() == other.cells.is_some()
            && self.rules == other.rules
    }

    /// Appends the weights of another set, which has the same kinds of weights and the same outputs.
    pub(super) fn concat(&self, other: &Self) -> Self {
        let samples = self.samples.iter().zip(&other.samples).next();
        let cells = self.cells.iter().zip(&other.cells).next();
        Self {
            samples: samples.map(|(a, b)| a.iter().chain(b.iter()).copied().collect()),
            cells: cells.map(|(a, b)| {
                let joined = concatenate(Axis(0), &[a.view(), b.view()]);
                Arc::new(joined.expect("both have a column for each output"))
            }),
            rules: self.rules.clone(),
        }
    }
}

/// Weights of samples, or of individual outputs of samples, for methods that support weights.
///
/// A vector converts to [`Weighting::Samples`], a matrix to [`Weighting::Cells`].
#[derive(Debug, Clone, PartialEq)]
pub enum Weighting {
    /// The weight of each sample.
    Samples(Vec<f32>),
    /// A feature with the weight of each sample, which is then removed from the features.
    Feature(usize),
    /// The weight of each output of each sample (n x d), which multiplies that of the sample, for boosting. An output
    /// of weight 0 becomes missing.
    Cells(Array2<f32>),
    /// Weights of outputs that give the samples with and without a label the same total: W/(2 W₊) and W/(2 W₋), for
    /// the total weight W of the samples where the label is observed, of which W₊ belongs to those with it. A label that
    /// is constant keeps weight 1. The weights are dense and multiply existing weights of outputs. Those of a subset of the
    /// samples follow from the labels of the subset.
    Balanced,
    /// Weights of outputs for labels that may be relevant although they are not recorded: 1/p where a label of
    /// propensity p is recorded (Jain, Prabhu, Varma, KDD 2016), or 2/p - 1 if `unbiased`, and 1 where it is not.
    ///
    /// A relevant label is recorded with probability p, an irrelevant one never. Weights 1/p then give an unbiased
    /// estimate of the sum of the losses of the relevant labels alone. Weights 2/p - 1 do so for the number of wrong
    /// labels, as each recorded label also takes back the 1/p - 1 unrecorded ones that were counted as wrong (Qaraei et
    /// al., WWW 2021). The weights are dense and multiply existing weights of outputs. Those of a subset of the samples
    /// follow from the labels of the subset.
    Propensity {
        /// The model of the propensities of labels, by their counts among the samples of positive weight.
        model: Propensity,
        /// True for weights 2/p - 1.
        unbiased: bool,
    },
}

impl From<Vec<f32>> for Weighting {
    fn from(samples: Vec<f32>) -> Self {
        Self::Samples(samples)
    }
}

impl From<Array2<f32>> for Weighting {
    fn from(cells: Array2<f32>) -> Self {
        Self::Cells(cells)
    }
}

impl Dataset {
    /// Sets weights of samples, or of individual outputs of samples.
    ///
    /// ```
    /// use ndarray::array;
    /// use rpo_data::{Dataset, Task, Weighting};
    /// let labels = array![[1.0], [0.0], [0.0], [0.0]];
    /// let data = Dataset::new(array![[1.], [2.], [3.], [4.]].into(), labels.into(), Task::MultiLabel)?;
    /// let weighted = data.with_weights(vec![1.0, 1.0, 0.5, 0.5])?.with_weights(Weighting::Balanced)?;
    /// assert_eq!(weighted.weights(), Some(&[1.0, 1.0, 0.5, 0.5][..]));
    /// assert_eq!(weighted.cell_weights()?.unwrap().column(0).to_vec(), [1.5, 0.75, 0.75, 0.75]);
    /// # Ok::<(), rpo_data::DatasetError>(())
    /// ```
    ///
    /// # Errors
    /// [`DatasetError::Mismatch`] for a wrong number of samples or outputs, [`DatasetError::OutOfRange`] for a feature
    /// that does not exist, [`DatasetError::Weight`] if a weight is negative or not finite, or all are 0,
    /// [`DatasetError::NotOneClass`] if some but not all of the classes of a sample's column have weight 0. For labels
    /// also [`DatasetError::Dense`] for weights that take more than [`DEFAULT_MEMORY_LIMIT`], and
    /// [`DatasetError::Parameter`] for parameters out of range or fewer than three samples.
    pub fn with_weights(self, weights: impl Into<Weighting>) -> Result<Self, DatasetError> {
        match weights.into() {
            Weighting::Samples(weights) => self.with_sample_weights(weights),
            Weighting::Feature(feature) => self.with_weights_of(feature),
            Weighting::Cells(weights) => self.with_cell_weights(weights),
            Weighting::Balanced => self.with_rule(LabelRule::Balanced),
            Weighting::Propensity { model, unbiased } => {
                self.with_rule(LabelRule::Propensity { model, unbiased })
            }
        }
    }

    /// The weight of each sample; `None` if all weights are equal.
    pub fn weights(&self) -> Option<&[f32]> {
        self.weights.samples.as_deref()
    }

    /// The samples that take part in training, if others do not: those of positive weight that have an output. If no
    /// sample has one, all of positive weight.
    pub fn samples_for_training(&self) -> Option<Vec<usize>> {
        let weights = self.weights();
        let outputs = self.outputs().view();
        let mut samples: Vec<usize> = (0..self.n_samples()).collect();
        samples.retain(|&sample| weights.is_none_or(|weights| weights[sample] > 0.0));
        if outputs.has_missing() {
            let has_output = |sample: usize| {
                let mut n_missing = 0;
                outputs.for_each_in_row(sample, |_, value| n_missing += usize::from(value.is_nan()));
                n_missing < self.n_outputs()
            };
            if samples.iter().any(|&sample| has_output(sample)) {
                samples.retain(|&sample| has_output(sample));
            }
        }
        (samples.len() < self.n_samples()).then_some(samples)
    }

    /// The set without its samples of weight 0 and those without any output. They are excluded from training: from fits,
    /// and from everything else that is found from the training samples.
    pub fn for_training(&self) -> Cow<'_, Self> {
        match self.samples_for_training() {
            None => Cow::Borrowed(self),
            Some(samples) => Cow::Owned(self.samples_in_range(&samples)),
        }
    }

    /// Returns true if the outputs of a sample may have different weights.
    pub fn has_cell_weights(&self) -> bool {
        self.weights.cells.is_some() || !self.weights.rules.is_empty()
    }

    /// The weight of each output of each sample; `None` if the outputs of a sample have equal weights. Weights that follow
    /// from labels ([`Weighting::Balanced`], [`Weighting::Propensity`]) are those of the labels of this set.
    ///
    /// # Errors
    /// [`DatasetError::Dense`] for weights that take more than [`DEFAULT_MEMORY_LIMIT`], [`DatasetError::Parameter`] for
    /// propensities of fewer than three samples.
    pub fn cell_weights(&self) -> Result<Option<CowArray<'_, f32, Ix2>>, DatasetError> {
        let given = self.weights.cells.as_ref().map(|cells| cells.view().into());
        let rules = self.weights.rules.iter();
        rules
            .map(|rule| self.weights_by(rule))
            .try_fold(given, |weights, of_rule| {
                let mut of_rule = of_rule?;
                weights.iter().for_each(|weights| of_rule *= weights);
                Ok(Some(of_rule.into()))
            })
    }

    fn with_sample_weights(mut self, weights: Vec<f32>) -> Result<Self, DatasetError> {
        Mismatch::check("weights of the samples", self.n_samples(), weights.len())?;
        WeightError::check(weights.iter().copied())?;
        self.weights.samples = Some(weights.into());
        Ok(self)
    }

    fn with_weights_of(self, feature: usize) -> Result<Self, DatasetError> {
        check_range("feature", &[feature], self.n_features())?;
        let mut weights = vec![0.0; self.n_samples()];
        for (sample, weight) in weights.iter_mut().enumerate() {
            self.features.view().for_each_in_row(sample, |j, value| {
                if j as usize == feature {
                    *weight = value;
                }
            });
        }
        let others: Vec<usize> = (0..self.n_features()).filter(|&j| j != feature).collect();
        self.select_features(&others)?.with_sample_weights(weights)
    }

    fn with_cell_weights(mut self, weights: Array2<f32>) -> Result<Self, DatasetError> {
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
        check_cells(weights.view())?;
        let weights = match weights.is_standard_layout() {
            true => weights,
            false => weights.as_standard_layout().into_owned(),
        };
        if let Some(outputs) = self.outputs.view().missing_where_zero(weights.view()) {
            self.outputs = outputs;
            let columns = std::mem::take(&mut self.class_columns);
            self = self.with_class_columns(columns)?;
        }
        self.weights.cells = Some(Arc::new(weights));
        self.weights.rules.clear();
        Ok(self)
    }

    /// Adds a rule, if it gives these samples valid weights.
    fn with_rule(mut self, rule: LabelRule) -> Result<Self, DatasetError> {
        if !self.has_labels() {
            return Err(DatasetError::LabelWeightsOfNumbers);
        }
        self.weights.rules.push(rule);
        if let Some(weights) = self.cell_weights()? {
            check_cells(weights.view())?;
        }
        Ok(self)
    }

    /// The weights of outputs by a rule.
    fn weights_by(&self, rule: &LabelRule) -> Result<Array2<f32>, DatasetError> {
        match *rule {
            LabelRule::Balanced => self.balanced_weights(),
            LabelRule::Propensity { model, unbiased } => self.propensity_weights(model, unbiased),
        }
    }

    fn balanced_weights(&self) -> Result<Array2<f32>, DatasetError> {
        let weights = self.weights();
        let weight = |sample: usize| weights.map_or(1.0, |weights| f64::from(weights[sample]));
        self.label_weights(|_, labels| {
            let total = |value: f32| {
                let samples = labels.iter().enumerate().filter(|(_, label)| **label == value);
                samples.map(|(sample, _)| weight(sample)).sum::<f64>()
            };
            let (with, without) = (total(1.0), total(0.0));
            match with > 0.0 && without > 0.0 {
                true => {
                    let half = (with + without) / 2.0;
                    ((half / with) as f32, (half / without) as f32)
                }
                false => (1.0, 1.0),
            }
        })
    }

    fn propensity_weights(&self, model: Propensity, unbiased: bool) -> Result<Array2<f32>, DatasetError> {
        let used = self.for_training();
        let inverse = model.inverse(&used.label_statistics().counts, used.n_samples());
        let inverse = inverse.map_err(|e| DatasetError::Parameter(Box::new(e)))?;
        self.label_weights(|j, _| match unbiased {
            true => ((2.0 * inverse[j] - 1.0) as f32, 1.0),
            false => (inverse[j] as f32, 1.0),
        })
    }

    /// Weights of outputs, 1 for numbers beside labels; `of` returns, for a label and its values, the weights of the samples
    /// with it and without it.
    fn label_weights(
        &self,
        of: impl Fn(usize, ArrayView1<'_, f32>) -> (f32, f32),
    ) -> Result<Array2<f32>, DatasetError> {
        let outputs = self.outputs().view();
        let mut weights = outputs
            .to_dense(DEFAULT_MEMORY_LIMIT)
            .map_err(DatasetError::Dense)?;
        for (j, mut weights) in weights.columns_mut().into_iter().enumerate() {
            let (with, without) = match self.is_label(j) {
                true => of(j, weights.view()),
                false => (1.0, 1.0),
            };
            weights.mapv_inplace(|label| if label == 1.0 { with } else { without });
        }
        Ok(weights)
    }
}

/// Checks weights of outputs. An error names the sample.
fn check_cells(weights: ArrayView2<'_, f32>) -> Result<(), WeightError> {
    WeightError::check(weights.iter().copied()).map_err(|error| match error {
        WeightError::OutOfRange { sample: cell, value } => WeightError::OutOfRange {
            sample: cell / weights.ncols(),
            value,
        },
        all_zero => all_zero,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClassColumn;
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
        let data = data.with_weights(cells).unwrap();
        let some = data.select_samples(&[2, 0]).unwrap();
        assert_eq!(some.weights(), Some(&[3.0, 1.0][..]));
        assert_eq!(
            some.cell_weights().unwrap().unwrap(),
            array![[5.0, 6.0], [1.0, 2.0]]
        );
        let one = data.select_outputs(&[1]).unwrap();
        assert_eq!(one.cell_weights().unwrap().unwrap(), array![[2.0], [4.0], [6.0]]);
        let both = some.concat(&data.select_samples(&[1]).unwrap()).unwrap();
        assert_eq!(
            both.cell_weights().unwrap().unwrap(),
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
        let x = array![[0.0], [1.0], [2.0], [3.0]];
        let data = Dataset::with_missing(x.into(), y.into(), Task::MultiLabel).unwrap();
        let check = |data: Dataset, expected: [[f64; 4]; 3]| {
            let data = data.with_weights(Weighting::Balanced).unwrap();
            let found = data.cell_weights().unwrap().unwrap();
            for (found, expected) in found.columns().into_iter().zip(expected) {
                assert_eq!(found.to_vec(), expected.map(|v| v as f32));
            }
        };
        let third = 2.0 / 3.0;
        check(
            data.clone(),
            [[third, 2.0, third, third], [1.0; 4], [1.5, 0.75, 0.75, 1.5]],
        );
        let weighted = data.with_weights(vec![4.0, 1.0, 1.0, 0.0]).unwrap();
        check(weighted, [[0.6, 3.0, 0.6, 0.6], [1.0; 4], [1.0; 4]]);
    }

    /// Weights of a part that is withheld for testing have no part in a fit.
    #[test]
    fn weights_by_labels_are_those_of_the_labels_of_a_subset() {
        let y = array![[1.0], [0.0], [0.0], [0.0], [1.0], [1.0]];
        let x = Array2::zeros((6, 1));
        let data = Dataset::new(x.into(), y.into(), Task::MultiLabel).unwrap();
        let given = Array2::from_shape_fn((6, 1), |(i, _)| 1.0 + i as f32);
        let data = data.with_weights(given).unwrap();
        for rule in [
            Weighting::Balanced,
            Weighting::Propensity {
                model: Propensity::default(),
                unbiased: false,
            },
        ] {
            let weighted = data.clone().with_weights(rule.clone()).unwrap();
            let first = data.select_samples(&[0, 1, 2, 3]).unwrap();
            let alone = first.with_weights(rule).unwrap();
            let of_part = weighted.select_samples(&[0, 1, 2, 3]).unwrap();
            assert_eq!(of_part, alone);
            assert_eq!(of_part.cell_weights(), alone.cell_weights());
            assert_ne!(
                of_part.cell_weights().unwrap().unwrap()[[0, 0]],
                weighted.cell_weights().unwrap().unwrap()[[0, 0]]
            );
            // Few samples are no obstacle to a test part, of which nobody asks for weights.
            assert!(weighted.select_samples(&[4]).unwrap().has_cell_weights());
        }
    }

    /// Outputs of weight 0 are missing in everything that reads them.
    #[test]
    fn outputs_of_weight_zero_are_missing() {
        let cells = array![[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]];
        let weighted = data().with_weights(cells.clone()).unwrap();
        let y = array![[0.0, f32::NAN], [f32::NAN, 0.0], [1.0, 1.0]];
        let x = weighted.features().clone();
        let missing = Dataset::with_missing(x, y.into(), Task::MultiLabel).unwrap();
        assert_eq!(
            weighted.label_statistics().counts,
            missing.label_statistics().counts
        );
        let hidden = |data: &Dataset| {
            let y = data.outputs().view().to_dense(usize::MAX).unwrap();
            y.map(|v| if v.is_nan() { -1.0 } else { *v })
        };
        assert_eq!(hidden(&weighted), hidden(&missing));
        // Of a column of classes, all outputs are missing or none.
        let column = ClassColumn {
            name: "grade".to_owned(),
            first: 0,
            classes: vec!["bronze".to_owned(), "gold".to_owned()],
        };
        let y = array![[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]];
        let x = missing.features().clone();
        let classes = Dataset::new(x, y.into(), Task::MultiLabel).unwrap();
        let classes = classes.with_class_columns(vec![column]).unwrap();
        let refused = classes.clone().with_weights(cells);
        assert!(matches!(
            refused,
            Err(DatasetError::NotOneClass { sample: 0, .. })
        ));
        let whole = classes
            .with_weights(array![[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
            .unwrap();
        assert_eq!(whole.class_columns().len(), 1);
        assert_eq!(hidden(&whole).row(0).to_vec(), [-1.0, -1.0]);
    }

    #[test]
    fn samples_of_weight_zero_are_left_out() {
        let all = data().with_weights(vec![1.0, 2.0, 0.5]).unwrap();
        assert_eq!(all.samples_for_training(), None);
        assert_eq!(*all.for_training(), all);
        let some = data().with_weights(vec![1.0, 0.0, 0.5]).unwrap();
        assert_eq!(*some.for_training(), some.select_samples(&[0, 2]).unwrap());
    }

    #[test]
    fn samples_without_any_output_are_left_out() {
        let nan = f32::NAN;
        let y = array![[nan, nan], [1.0, nan], [nan, nan], [2.0, 3.0]];
        let x = Array2::zeros((4, 1));
        let data = Dataset::with_missing(x.into(), y.into(), Task::Regression).unwrap();
        assert_eq!(data.samples_for_training(), Some(vec![1, 3]));
        let weighted = |weights: [f32; 4]| {
            let data = data.clone().with_weights(weights.to_vec()).unwrap();
            data.samples_for_training()
        };
        assert_eq!(weighted([1.0, 0.0, 1.0, 1.0]), Some(vec![3]));
        // Without any output there is nothing to learn; the fit reports it.
        assert_eq!(weighted([1.0, 0.0, 1.0, 0.0]), Some(vec![0, 2]));
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
            let model = propensity;
            let found = data()
                .with_weights(Weighting::Propensity { model, unbiased })
                .unwrap();
            let expected = array![[weights[0], 1.0], [weights[0], weights[1]], [1.0, 1.0]];
            assert_eq!(found.cell_weights().unwrap().unwrap(), expected);
        }
        let few = data().select_samples(&[0, 1]).unwrap();
        let (model, unbiased) = (propensity, false);
        let refused = few
            .with_weights(Weighting::Propensity { model, unbiased })
            .unwrap_err();
        assert!(matches!(refused, DatasetError::Parameter(_)), "{refused}");
    }

    #[test]
    fn weights_that_are_none_are_refused() {
        let bad = array![[1.0, 1.0], [1.0, -1.0], [1.0, 1.0]];
        let found = data().with_weights(bad);
        assert!(matches!(
            found,
            Err(DatasetError::Weight(WeightError::OutOfRange {
                sample: 1,
                value: -1.0
            }))
        ));
        assert!(matches!(
            data().with_weights(Array2::zeros((3, 2))),
            Err(DatasetError::Weight(WeightError::AllZero))
        ));
        // The product of two weights may be too large.
        let huge = array![[1.0, 1.0], [f32::MAX, 1.0], [1.0, 1.0]];
        let (model, unbiased) = (Propensity::default(), false);
        let found = data()
            .with_weights(huge)
            .unwrap()
            .with_weights(Weighting::Propensity { model, unbiased });
        assert!(matches!(
            found,
            Err(DatasetError::Weight(WeightError::OutOfRange { sample: 1, .. }))
        ));
        let numbers = Dataset::new(
            Array2::zeros((2, 1)).into(),
            Array2::ones((2, 1)).into(),
            Task::Regression,
        );
        assert!(matches!(
            numbers.unwrap().with_weights(Weighting::Balanced),
            Err(DatasetError::LabelWeightsOfNumbers)
        ));
        assert!(matches!(
            data().with_weights(Array2::ones((3, 1))),
            Err(DatasetError::Mismatch(_))
        ));
    }

    #[test]
    fn numbers_beside_labels_keep_their_weight() {
        let y = array![[1.0, 1.0], [0.0, 1.0], [0.0, 2.0], [0.0, 0.0]];
        let data = Dataset::new(Array2::zeros((4, 1)).into(), y.into(), Task::Regression).unwrap();
        let mixed = data
            .with_labels_beside(vec![0])
            .with_weights(Weighting::Balanced)
            .unwrap();
        let third = 2.0 / 3.0;
        let expected = array![[2.0, 1.0], [third, 1.0], [third, 1.0], [third, 1.0]];
        assert_eq!(mixed.cell_weights().unwrap().unwrap(), expected);
    }
}

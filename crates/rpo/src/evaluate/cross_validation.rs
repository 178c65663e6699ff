//! Cross-validation: every sample is predicted by a model that was fitted without that sample.

use super::EvaluateOptions;
use crate::method::{Estimator, FitContext};
use crate::{DEFAULT_MEMORY_LIMIT, Model, ModelError};
use ndarray::Array2;
use rpo_core::Predictor;
use rpo_core::Seed;
use rpo_data::split::{Split, SplitError, Withheld};
use rpo_data::{Dataset, Names};
use rpo_metrics::Score;
use std::fmt;

/// The values of metrics on the folds of a cross-validation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CrossValidation {
    /// The names of the metrics.
    pub metrics: Vec<String>,
    /// The value of each metric for each fold; NaN if undefined.
    pub folds: Vec<Vec<f64>>,
    /// The mean of each metric over the folds where it is defined; NaN if undefined in all folds.
    pub means: Vec<f64>,
    /// The standard deviation of each metric over the folds where it is defined, with divisor n − 1; NaN if it is
    /// defined in fewer than two folds.
    pub standard_deviations: Vec<f64>,
}

impl CrossValidation {
    /// Summarizes the values of metrics on folds, such as those that were finished.
    ///
    /// # Panics
    /// If a fold does not have a value for each metric.
    pub fn new(metrics: Vec<String>, folds: Vec<Vec<f64>>) -> Self {
        let of_metric = |j: usize| {
            let values = folds.iter().map(|fold| fold[j]).filter(|v| !v.is_nan());
            mean_and_deviation(&values.collect::<Vec<_>>())
        };
        let (means, standard_deviations) = (0..metrics.len()).map(of_metric).unzip();
        Self {
            metrics,
            folds,
            means,
            standard_deviations,
        }
    }
}

pub(super) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let deviation = match values {
        // Not 0 / -1.
        [] => f64::NAN,
        _ => (squares / (n - 1.0)).sqrt(),
    };
    (mean, deviation)
}

/// Evaluates a method by k-fold cross-validation. Folds keep the frequency of each label (iterative stratification,
/// Sechidis, Tsoumakas, Vlahavas 2011), and are random for regression; groups of samples
/// ([`Dataset::with_groups`](rpo_data::Dataset::with_groups)) are in one fold, so that scores hold for new groups, where a
/// model could otherwise recognize the group of a sample. [`Folds::withheld`] tests on what is later than the training
/// samples. The result depends only on the arguments.
///
/// ```
/// use rpo::data::generate::MultiLabelSet;
/// use rpo::prelude::*;
///
/// let data = MultiLabelSet::new(200, 30, 20).generate(Seed::new(1))?;
/// let forest = ForestParams { trees: 20, ..ForestParams::default() };
/// let result = cross_validate(&forest, &data, &[Metric::Lrap], Folds { seed: Seed::new(7), ..Folds::default() })?;
/// assert_eq!(result.folds.len(), 5);
/// assert!(result.means[0] > 0.3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`Split::folds`], errors of fitting and evaluating, and the errors of [`Folds::on_fold`].
pub fn cross_validate<S: Score>(
    estimator: &dyn Estimator,
    data: &Dataset,
    metrics: &[S],
    mut options: Folds<'_>,
) -> Result<CrossValidation, ModelError> {
    let splits = options.splits(data)?;
    let mut folds = Vec::new();
    for_each_fold(estimator, data, &splits, |split, test, model| {
        let evaluated = model
            .evaluate_with(test, metrics, options.evaluation)
            .map_err(|e| e.in_selection(&split.test))?;
        if let Some(on_fold) = &mut options.on_fold {
            on_fold(Fold {
                test_samples: &split.test,
                test,
                model: &model,
                values: &evaluated.values,
            })
            .map_err(|e| e.in_selection(&split.test))?;
        }
        folds.push(evaluated.values);
        Ok(())
    })?;
    let names = metrics.iter().map(Score::name).collect();
    Ok(CrossValidation::new(names, folds))
}

/// The folds of a cross-validation and the options of their evaluation.
pub struct Folds<'a> {
    /// The number of folds, at least 2. Default 5.
    pub k: usize,
    /// Seed for assigning samples to folds. Default 0.
    pub seed: Seed,
    /// What folds consist of, as in [`Split::folds`]: with the time of each sample, scores hold for the future. Default
    /// stratified by labels, or whole groups of data that have some.
    pub withheld: Withheld,
    /// Options of the evaluation of each fold.
    pub evaluation: EvaluateOptions,
    /// Called after each fold, for example to collect out-of-fold predictions or report progress; an error ends the
    /// cross-validation. Default none.
    pub on_fold: Option<OnFold<'a>>,
}

impl Folds<'_> {
    fn splits(&self, data: &Dataset) -> Result<Vec<Split>, SplitError> {
        Split::folds(
            data,
            &self.withheld,
            self.k,
            self.seed.purpose("cross-validation"),
        )
    }
}

impl fmt::Debug for Folds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folds")
            .field("k", &self.k)
            .field("seed", &self.seed)
            .field("evaluation", &self.evaluation)
            .finish_non_exhaustive()
    }
}

/// Callback for each evaluated fold.
pub type OnFold<'a> = &'a mut dyn FnMut(Fold<'_>) -> Result<(), ModelError>;

impl Default for Folds<'_> {
    fn default() -> Self {
        Self {
            k: 5,
            seed: Seed::new(0),
            withheld: Withheld::Stratified,
            evaluation: EvaluateOptions::default(),
            on_fold: None,
        }
    }
}

/// A fold of a cross-validation.
#[derive(Debug)]
#[non_exhaustive]
pub struct Fold<'a> {
    /// Indices of the test samples, increasing.
    pub test_samples: &'a [usize],
    /// The test samples.
    pub test: &'a Dataset,
    /// The model fitted to all other samples.
    pub model: &'a Model,
    /// The value of each metric; NaN if undefined.
    pub values: &'a [f64],
}

/// Predictions by models that were fitted without the sample.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CrossValScores {
    /// The names of the outputs of the models.
    pub output_names: Names,
    /// A row for each sample (n x outputs of the models); NaN for those that are in no fold.
    pub scores: Array2<f32>,
    /// True for each sample that is in a fold: where time decides ([`Folds::withheld`]), the earliest ones are in none.
    pub is_tested: Vec<bool>,
}

impl CrossValScores {
    /// Creates the predictions for a number of samples, before the first fold.
    pub fn new(n_samples: usize) -> Self {
        Self {
            output_names: Names::Numbered(0),
            scores: Array2::zeros((n_samples, 0)),
            is_tested: vec![false; n_samples],
        }
    }

    /// Adds the predictions for the samples of a fold ([`Folds::on_fold`]).
    ///
    /// # Errors
    /// Predictions for all samples larger than 4 GiB, and those of predicting.
    ///
    /// # Panics
    /// If a sample of the fold is not among the samples, or its model predicts other outputs than that of the first fold.
    pub fn add(&mut self, fold: &Fold<'_>) -> Result<(), ModelError> {
        let predicted = fold.model.predict(fold.test.features().view())?;
        if self.scores.ncols() == 0 {
            let shape = (self.is_tested.len(), fold.model.n_outputs());
            ModelError::check_scores(shape.0, shape.1, DEFAULT_MEMORY_LIMIT)?;
            self.output_names.clone_from(&fold.model.schema().output_names);
            self.scores = Array2::from_elem(shape, f32::NAN);
        }
        for (predicted, &sample) in predicted.rows().into_iter().zip(fold.test_samples) {
            self.scores.row_mut(sample).assign(&predicted);
            self.is_tested[sample] = true;
        }
        Ok(())
    }
}

/// Predicts each sample of a fold by a model that was fitted without that sample, with the folds of [`cross_validate`],
/// without metrics: [`Fold::values`] is empty.
///
/// ```
/// use rpo::data::generate::MultiLabelSet;
/// use rpo::prelude::*;
///
/// let data = MultiLabelSet::new(200, 30, 20).generate(Seed::new(1))?;
/// let folds = Folds { k: 4, seed: Seed::new(7), ..Folds::default() };
/// let found = rpo::cross_val_scores(&RidgeParams::default(), &data, folds)?;
/// assert_eq!(found.scores.dim(), (200, 20));
/// assert!(found.is_tested.iter().all(|is_tested| *is_tested));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`cross_validate`], and scores larger than 4 GiB.
pub fn cross_val_scores(
    estimator: &dyn Estimator,
    data: &Dataset,
    mut options: Folds<'_>,
) -> Result<CrossValScores, ModelError> {
    ModelError::check_scores(data.n_samples(), data.n_outputs(), DEFAULT_MEMORY_LIMIT)?;
    let mut found = CrossValScores::new(data.n_samples());
    let splits = options.splits(data)?;
    for_each_fold(estimator, data, &splits, |split, test, model| {
        let fold = Fold {
            test_samples: &split.test,
            test,
            model: &model,
            values: &[],
        };
        found.add(&fold).map_err(|e| e.in_selection(&split.test))?;
        match &mut options.on_fold {
            Some(on_fold) => on_fold(fold).map_err(|e| e.in_selection(&split.test)),
            None => Ok(()),
        }
    })?;
    Ok(found)
}

/// Fits to the training samples of each split and calls `on_fold` with its test samples and the model.
fn for_each_fold(
    estimator: &dyn Estimator,
    data: &Dataset,
    splits: &[Split],
    mut on_fold: impl FnMut(&Split, &Dataset, Model) -> Result<(), ModelError>,
) -> Result<(), ModelError> {
    for split in splits {
        let model = fit_without_test(estimator, data, split, &FitContext::default())?;
        on_fold(split, &data.select_samples(&split.test)?, model)?;
    }
    Ok(())
}

/// Fits to the training samples of a split.
pub(crate) fn fit_without_test(
    estimator: &dyn Estimator,
    data: &Dataset,
    split: &Split,
    context: &FitContext<'_>,
) -> Result<Model, ModelError> {
    Model::fit_with(estimator, &data.select_samples(&split.train)?, context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_of_fewer_than_two_values_are_undefined() {
        let folds = vec![vec![f64::NAN, f64::NAN, 1.0], vec![f64::NAN, 2.0, 3.0]];
        let result = CrossValidation::new(["none", "one", "two"].map(str::to_owned).into(), folds);
        let [none, one, two] = result.standard_deviations[..] else {
            panic!("one deviation for each metric");
        };
        assert!(result.means[0].is_nan() && none.is_nan() && one.is_nan());
        assert_eq!((result.means[1], two), (2.0, f64::sqrt(2.0)));
    }
}

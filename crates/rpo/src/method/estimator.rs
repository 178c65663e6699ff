//! What a method has to do: fit a model to a data set.

use super::{DecisionParams, Difference, MethodError, Registry};
use crate::combine::Candidate;
use crate::{Model, ModelError, Schema, TrainingSummary};
use ndarray::Array2;
use rpo_core::MatrixView;
use rpo_data::preprocess::Pipeline;
use rpo_data::{Dataset, Task};
use rpo_linear::FitEstimate;
use rpo_projections::Projection;
use serde_json::{Map, Value};
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// The parameters of a method, which fit a model to a data set.
///
/// The parameters of every method of this workspace are one, as is a [`Method`](super::Method). Implement it for the
/// parameters of a custom method, and register them ([`Registry::with`](super::Registry::with)), to train, tune,
/// evaluate and store the method like any other; `examples/extension` in the repository does so.
pub trait Estimator: fmt::Debug + Send + Sync {
    /// The name of the method, under which the parameters are recorded.
    fn method(&self) -> &str;

    /// The parameters by name, as a model records them.
    fn parameters(&self) -> Map<String, Value>;

    /// Checks every parameter that can be checked without data.
    ///
    /// # Errors
    /// The first parameter that is out of range or contradicts another.
    fn check(&self) -> Result<(), ModelError>;

    /// What the method requires of the data. Default: that the outputs of a sample weigh the same.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Number of steps of a fit: trees or boosting iterations. Default 1.
    fn n_steps(&self) -> usize {
        1
    }

    /// Returns true if models have out-of-bag predictions for training samples. Default false.
    fn has_oob(&self) -> bool {
        false
    }

    /// Returns true if a fit that is to stop ([`FitContext::stop`]) ends with the best that it has found, where it has found
    /// anything. Default false.
    fn keeps_best(&self) -> bool {
        false
    }

    /// Returns true if a fit can continue a model ([`FitContext::start`]). Default false.
    fn continues(&self) -> bool {
        false
    }

    /// Fits a model.
    ///
    /// # Errors
    /// Parameters that [`check`](Self::check) refuses, and data that the method cannot be fitted to.
    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError>;

    /// Fits a model, and predicts each of some training samples as the fit to all others would, where that takes no further
    /// fit; the samples are the rows of the predictions. Default: `None`, without a fit.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    fn fit_leaving_one_out(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        samples: &[usize],
    ) -> Result<Option<(Model, Array2<f32>)>, ModelError> {
        let _ = (data, context, samples);
        Ok(None)
    }

    /// Fits a model in steps and passes the model to `on_checkpoint` after each of the given numbers of steps, in
    /// increasing order, and at the end; stops where the callback breaks. Default: one checkpoint at the end.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and errors of the callback.
    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        on_checkpoint: &mut OnCheckpoint<'_>,
    ) -> Result<Model, ModelError> {
        let _ = steps;
        let model = self.fit(data, context)?;
        let _ = on_checkpoint(self.n_steps(), &model)?;
        Ok(model)
    }

    /// The method as one that writes its model to a file while it grows. Default: none.
    fn streaming(&self) -> Option<&dyn StreamingFit> {
        None
    }
}

/// A method whose models can be written while they grow, so that memory never holds a whole model.
pub trait StreamingFit {
    /// Fits a model and writes it to a file; returns the number of bytes written. The file equals that of a model that
    /// was fitted and then saved.
    ///
    /// # Errors
    /// As [`Estimator::fit`], and a file that cannot be written.
    fn fit_to_file(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        destination: &StreamDestination<'_>,
    ) -> Result<u64, ModelError>;
}

/// The file that a [`StreamingFit`] writes, and what the model keeps beside what was fitted.
#[derive(Debug, Clone, Copy)]
pub struct StreamDestination<'a> {
    /// The file.
    pub path: &'a Path,
    /// The parameters to record.
    pub parameters: &'a Map<String, Value>,
    /// The pipeline that prepared the features, and the data before it.
    pub pipeline: Option<(&'a Pipeline, &'a Dataset)>,
}

/// What a method requires of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Features must not be missing.
    pub observed_features: bool,
    /// Nominal features of three or more values may be missing all the same, as their encoding takes missing values.
    pub missing_categories: bool,
    /// Outputs must not be missing.
    pub observed_outputs: bool,
    /// Samples must have no weights.
    pub equal_weights: bool,
    /// The outputs of a sample must weigh the same.
    pub equal_outputs: bool,
    /// Outputs must be labels. The text says with which parameters numbers can be learned, and is empty if with none.
    pub labels: Option<&'static str>,
}

/// Nothing but outputs that weigh the same.
impl Default for Needs {
    fn default() -> Self {
        Self {
            observed_features: false,
            missing_categories: false,
            observed_outputs: false,
            equal_weights: false,
            equal_outputs: true,
            labels: None,
        }
    }
}

impl Needs {
    /// Checks that the data have what the method needs.
    ///
    /// # Errors
    /// [`MethodError::Data`] for missing values where the method needs all, an output without an observed value, weights where
    /// the method takes none, and for numbers where it needs labels.
    pub(crate) fn check(&self, method: &str, data: &Dataset) -> Result<(), MethodError> {
        let refuse = |problem: String| {
            let method = method.to_owned();
            Err(MethodError::Data { method, problem })
        };
        let impute = "set `impute` to fill them in, or use a forest or boosting, which take missing values";
        let others = "use a forest or boosting, which take missing outputs";
        let is_encoded = |feature: usize| {
            let values = data.nominal().get(&feature);
            self.missing_categories && values.is_some_and(|values| values.len() > 2)
        };
        let feature = || first_missing(data.features().view(), |feature| !is_encoded(feature));
        let output = || first_missing(data.outputs().view(), |_| true);
        let feature = self.observed_features.then(feature).flatten();
        let output = self.observed_outputs.then(output).flatten();
        for (what, missing, names, help) in [
            ("feature", feature, data.feature_names(), impute),
            ("output", output, data.output_names(), others),
        ] {
            if let Some((row, column)) = missing {
                let name = names.get(column).unwrap_or_default();
                return refuse(format!(
                    "needs every {what}, but some are missing, the first is {name:?} of sample {row}; {help}"
                ));
            }
        }
        let outputs = data.outputs().view();
        if outputs.has_missing()
            && let Some(output) = outputs.first_unobserved(data.weights())
        {
            let name = data.output_names().get(output).unwrap_or_default();
            return refuse(format!(
                "needs an observed value of every output in a sample of positive weight, and {name:?} has none; leave it out \
                 of the outputs"
            ));
        }
        if self.equal_weights && data.weights().is_some() {
            let others: Vec<_> = Registry::standard().taking_weights().collect();
            return refuse(format!(
                "takes no weights of samples; those that do are {}",
                others.join(", ")
            ));
        }
        if self.equal_outputs && data.cell_weights().is_some() {
            return refuse("takes no weights of single outputs; use boosting".to_owned());
        }
        match self.labels.filter(|_| data.task() == Task::Regression) {
            None => Ok(()),
            Some("") => refuse("is for labels: the outputs are numbers".to_owned()),
            Some(hint) => refuse(format!(
                "is for labels with these parameters: the outputs are numbers; {hint}"
            )),
        }
    }
}

/// Row and column of the first missing value in the columns that are asked for.
pub(crate) fn first_missing(values: MatrixView<'_>, of: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
    (0..values.n_rows()).find_map(|row| {
        let mut found = None;
        values.for_each_in_row(row, |column, v| {
            if found.is_none() && v.is_nan() && of(column as usize) {
                found = Some((row, column as usize));
            }
        });
        found
    })
}

/// The parameters that decide how many steps a model has, and nothing about each of them. A model of a part of the samples,
/// withheld to choose the number, is one of other data.
const NUMBER_OF_STEPS: [&str; 7] = [
    "iterations",
    "time_limit",
    "validation",
    "early_stopping",
    "validation_metric",
    "refit_all",
    "find_iterations",
];

/// The schema of a model of a data set with the levels of another.
fn schema_beside(start: &Model, data: &Dataset) -> Schema {
    let schema = Schema::from(data);
    match &start.schema().levels {
        Some((_, levels)) => schema.with_levels(levels),
        None => schema,
    }
}

/// The summary of a data set for a model with the levels of another.
fn summary_beside(start: &Model, data: &Dataset) -> TrainingSummary {
    let levels = start.schema().levels.as_ref();
    TrainingSummary::of(data).repeated(levels.map_or(1, |(_, levels)| levels.len()))
}

/// Options of a fit. None of them changes the model, except for withheld samples.
#[derive(Clone, Copy, Default)]
pub struct FitContext<'a> {
    /// Called after every step, from any thread.
    pub on_step: Option<&'a (dyn Fn() + Sync)>,
    /// Asked between steps, from any thread: where it returns true, the fit ends with an error
    /// ([`EnsembleError::Stopped`](rpo_ensemble::EnsembleError::Stopped)), or with the best so far ([`Estimator::keeps_best`]).
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Called before a fit that may be long with what it will take, by the methods that know.
    pub on_estimate: Option<&'a (dyn Fn(FitEstimate) + Sync)>,
    /// Called with each configuration of a method that tries several, after its trial.
    pub on_candidate: Option<&'a (dyn Fn(&Candidate) + Sync)>,
    /// Wraps the family of output projections, for example to time it.
    pub wrap_projection: Option<&'a WrapProjection<'a>>,
    /// Samples that were withheld from the data to choose among settings. A method that withholds samples to choose its
    /// number of steps takes these instead, as the number of steps is a setting like any other.
    pub validation: Option<&'a Dataset>,
    /// A model to continue, fitted to the same data with the same parameters by a method that
    /// [`continues`](Estimator::continues): its steps come first, and the number of steps is that of both.
    pub start: Option<&'a Model>,
}

impl FitContext<'_> {
    /// Refuses what does not belong to a fit of a method to a data set: a model to continue, or withheld samples.
    pub(crate) fn check(&self, estimator: &dyn Estimator, data: &Dataset) -> Result<(), MethodError> {
        self.check_start(estimator, data)?;
        self.check_validation(estimator, data)
    }

    /// Refuses withheld samples of other columns: scores on them would mean nothing.
    fn check_validation(&self, estimator: &dyn Estimator, data: &Dataset) -> Result<(), MethodError> {
        let Some(withheld) = self.validation else {
            return Ok(());
        };
        let counts = |what: &str, ours: usize, theirs: usize| match ours == theirs {
            true => format!("has other {what}"),
            false => format!("has {theirs} {what} in place of {ours}"),
        };
        let difference = if withheld.task() != data.task() {
            "is of another task".to_owned()
        } else if withheld.feature_names() != data.feature_names() || withheld.nominal() != data.nominal() {
            counts("features", data.n_features(), withheld.n_features())
        } else if withheld.output_names() != data.output_names() {
            counts("outputs", data.n_outputs(), withheld.n_outputs())
        } else {
            return Ok(());
        };
        Err(MethodError::Data {
            method: estimator.method().to_owned(),
            problem: format!(
                "scores its steps on samples like those it is fitted to; what was withheld {difference}"
            ),
        })
    }

    /// Refuses to continue a model that the method, or the data, do not fit.
    fn check_start(&self, estimator: &dyn Estimator, data: &Dataset) -> Result<(), MethodError> {
        let problem = match self.start {
            None => return Ok(()),
            Some(_) if !estimator.continues() => "continues no model; boosting does, and forests merge",
            Some(start) if start.schema() != &schema_beside(start, data) => {
                "continues a model on the data that it was fitted to; here features or outputs are others"
            }
            Some(start) if start.training() != &summary_beside(start, data) => {
                "continues a model on the data that it was fitted to; here samples or their outputs are others"
            }
            Some(_) => return Ok(()),
        };
        Err(MethodError::Data {
            method: estimator.method().to_owned(),
            problem: problem.to_owned(),
        })
    }

    /// Refuses to continue a model that was fitted with other parameters, except for those that only say how many steps there
    /// are, and for decisions, which are made anew: the record would describe another model.
    pub(crate) fn check_start_parameters(&self, parameters: &Map<String, Value>) -> Result<(), ModelError> {
        let may_differ = |name: &str| NUMBER_OF_STEPS.contains(&name) || DecisionParams::has(name);
        let difference = self
            .start
            .and_then(|start| Difference::first(&start.parameters, parameters, may_differ));
        difference.map_or(Ok(()), |difference| Err(ModelError::Continue(difference)))
    }

    /// Returns true if the fit is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
    }

    /// The wrapped family, if families are to be wrapped.
    pub(crate) fn wrapped(&self, family: Option<Arc<dyn Projection>>) -> Option<Arc<dyn Projection>> {
        Some(self.wrap_projection?(family?))
    }
}

impl fmt::Debug for FitContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let validation = self.validation.map(Dataset::n_samples);
        f.debug_struct("FitContext")
            .field("validation", &validation)
            .finish_non_exhaustive()
    }
}

/// Receives the model after a number of steps; [`ControlFlow::Break`] stops the fit.
pub type OnCheckpoint<'a> = dyn FnMut(usize, &Model) -> Result<ControlFlow<()>, ModelError> + Send + 'a;

/// Returns a projection family that wraps another.
pub type WrapProjection<'a> = dyn Fn(Arc<dyn Projection>) -> Arc<dyn Projection> + Sync + 'a;

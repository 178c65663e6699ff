//! The interface of a method: fits a model to a data set.

use super::{DataProblem, DecisionParams, Difference, MethodError, Needs, is_on};
use crate::combine::Candidate;
use crate::training::TrainingDifference;
use crate::{Decision, Model, ModelError, Schema, TrainingSummary, default_metric};
use ndarray::Array2;
use rpo_core::{Domain, Observers};
use rpo_data::preprocess::Pipeline;
use rpo_data::{Dataset, Task};
use rpo_linear::FitEstimate;
use rpo_metrics::Metric;
use rpo_projections::Projection;
use serde_json::{Map, Value};
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Parameters of a method, with which it fits a model to a data set.
///
/// The parameters of every method of this workspace implement it, as does [`Method`](super::Method). Implement it for
/// the parameters of a custom method, and register them ([`Registry::with`](super::Registry::with)), to train, tune,
/// evaluate and store the method like any other; `examples/extension` in the repository shows how.
pub trait Estimator: fmt::Debug + Send + Sync {
    /// The name of the method, which is recorded with the parameters.
    fn method(&self) -> &str;

    /// The parameters by name, as recorded in a model.
    fn parameters(&self) -> Map<String, Value>;

    /// Checks all parameters as far as possible without data.
    ///
    /// # Errors
    /// The first parameter that is out of range or contradicts another.
    fn check(&self) -> Result<(), ModelError>;

    /// The requirements of the method on the data. Default: no missing features or outputs and no weights, so that none are
    /// ignored; [`Needs::FEW`] for a method that respects them.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Checks that a data set, including samples that a fit leaves out, meets the requirements. Default: those of
    /// [`needs`](Self::needs).
    ///
    /// # Errors
    /// [`MethodError::Data`] for data that do not.
    fn check_samples(&self, data: &Dataset) -> Result<(), ModelError> {
        Ok(self.needs().check(self.method(), data)?)
    }

    /// The levels of the quantiles that models predict ([`Model::of_levels`]). Default: none.
    fn quantile_levels(&self) -> Vec<f64> {
        Vec::new()
    }

    /// The metric by which models for this task and number of outputs are compared unless another is given, also while
    /// they are searched for. Default: the [`default_metric`](crate::default_metric).
    fn default_metric(&self, task: Task, n_outputs: usize) -> Metric {
        default_metric(task, n_outputs, &self.quantile_levels())
    }

    /// Number of steps of a fit: trees, boosting iterations or tried configurations, or the largest number if it depends
    /// on the data ([`FitContext::on_total`]). Default 1.
    fn n_steps(&self) -> usize {
        1
    }

    /// Returns true if models have out-of-bag predictions for training samples. Default false.
    fn has_oob(&self) -> bool {
        false
    }

    /// Returns true if the unit of sample weights matters, because penalties or costs are in units of samples of weight 1.
    /// Default false: fits depend on the ratios of weights alone.
    fn has_unit_of_weights(&self) -> bool {
        false
    }

    /// Returns true if a fit that is stopped early ([`FitContext::stop`]) returns the best result so far, if there is
    /// one. Default false.
    fn keeps_best(&self) -> bool {
        false
    }

    /// Returns true if a fit can continue a model ([`FitContext::start`]). Default false.
    fn continues(&self) -> bool {
        false
    }

    /// Fits a model. Callers use [`Model::fit_with`], which first checks the data against [`needs`](Self::needs).
    ///
    /// # Errors
    /// Parameters that [`check`](Self::check) refuses, and data that the method cannot fit.
    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError>;

    /// Fits a model and predicts each of the given training samples as a fit to all other samples would, if that needs
    /// no further fit; the rows of the predictions are the samples. Default: returns `None` without fitting.
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

    /// Fits a model in steps; callers use [`Model::fit_in_parts`]. Passes the model to `on_checkpoint` after each of the
    /// given numbers of steps, in increasing order, and at the end; stops if the callback breaks. Default: one checkpoint
    /// at the end.
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

    /// The method's interface for writing a model to a file while it grows, for [`Model::fit_to_file`]. Default: none.
    fn streaming(&self) -> Option<&dyn StreamingFit> {
        None
    }
}

/// A method that can write a model while it grows, so that memory never holds the whole model.
pub trait StreamingFit {
    /// Fits a model, writes it to a file and returns the number of bytes written. The file equals that of a model that
    /// is fitted first and then saved.
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

/// The destination of a [`StreamingFit`], and what the model records besides the fitted parts.
#[derive(Debug, Clone, Copy)]
pub struct StreamDestination<'a> {
    /// The file.
    pub path: &'a Path,
    /// The parameters to record.
    pub parameters: &'a Map<String, Value>,
    /// The pipeline that prepared the features, and the unprepared data.
    pub pipeline: Option<(&'a Pipeline, &'a Dataset)>,
    /// How labels are decided from scores.
    pub decision: Decision,
}

/// Parameters that determine only the number of steps of a model, not the steps themselves. A model fitted to a subset
/// of the samples, with others withheld to choose the number, counts as one of other data.
const NUMBER_OF_STEPS: [&str; 7] = [
    "iterations",
    "time_limit",
    "validation",
    "early_stopping",
    "validation_metric",
    "refit_all",
    "find_iterations",
];

/// Returns true if samples were withheld from a model to choose its number of steps.
fn withheld_samples(start: &Model) -> bool {
    let is_set = |name: &str| start.parameters.get(name).is_some_and(is_on);
    (is_set("validation") || is_set("early_stopping")) && !is_set("refit_all")
}

/// Returns true if a model has the columns of a data set, whose first feature counts if it has an index.
fn has_columns_of(start: &Model, data: &Dataset) -> bool {
    let mut expected = Schema::from(data);
    expected.first_feature = expected.first_feature.or(start.schema().first_feature);
    let expected = expected.with_levels(start.quantile_levels());
    expected.is_ok_and(|expected| start.schema().has_columns_of(&expected))
}

/// The training summary of a data set for the quantile levels of a model.
fn summary_beside(start: &Model, data: &Dataset) -> TrainingSummary {
    TrainingSummary::of(data).repeated(start.schema().outputs_per_target())
}

/// Options of a fit that are no parameters of the method, and are not recorded in the model. Callbacks that only receive
/// something do not change the model; [`stop`](Self::stop), [`wrap_projection`](Self::wrap_projection),
/// [`time_share`](Self::time_share), [`validation`](Self::validation) and [`start`](Self::start) may.
#[derive(Clone, Copy, Default)]
pub struct FitContext<'a> {
    /// Called after every step, from any thread.
    pub on_step: Option<&'a (dyn Fn() + Sync)>,
    /// Called before the first step with the number of steps, by methods that know it only from the data, as `auto` does;
    /// others have the number of [`Estimator::n_steps`].
    pub on_total: Option<&'a (dyn Fn(usize) + Sync)>,
    /// Called between steps, from any thread: if it returns true, the fit ends with an error
    /// ([`EnsembleError::Stopped`](rpo_ensemble::EnsembleError::Stopped)), or with the best result so far
    /// ([`Estimator::keeps_best`]). A fit whose last step is made returns its model.
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Called with an estimate of time and memory before a potentially long fit, by the methods that can estimate it.
    pub on_estimate: Option<&'a (dyn Fn(FitEstimate) + Sync)>,
    /// Called after the trial of each configuration, by methods that try several.
    pub on_candidate: Option<&'a (dyn Fn(&Candidate) + Sync)>,
    /// Called with the number of steps and their score whenever boosting scores its steps on withheld samples, in
    /// order; not for the members of ensembles. Larger scores are better: losses and errors are negative.
    pub on_score: Option<&'a (dyn Fn(usize, f64) + Sync)>,
    /// Wraps the output projection, for example to measure its time. A wrapper that projects otherwise gives another
    /// model.
    pub wrap_projection: Option<&'a WrapProjection<'a>>,
    /// The fraction of a time limit among the parameters that the fit may take, in (0, 1]; `None` for all of it. The fit
    /// that finds intervals or decision thresholds on withheld samples and the fit to all samples share the limit.
    pub time_share: Option<f64>,
    /// Samples withheld from the data to choose among settings. A method that withholds samples to choose its number of
    /// steps uses these instead, as the number of steps is a setting like any other.
    pub validation: Option<&'a Dataset>,
    /// A model to continue, fitted to the same data with the same parameters by a method that
    /// [`continues`](Estimator::continues). Its steps come first; the number of steps counts both.
    pub start: Option<&'a Model>,
}

impl<'a> FitContext<'a> {
    /// Returns the observers of the fit, [`on_step`](Self::on_step) and [`stop`](Self::stop), for a method that fits by a
    /// [`Learner`](rpo_core::Learner): an [`Estimator`] that passes them on reports its steps and can be stopped.
    pub fn observers(&self) -> Observers<'a> {
        Observers {
            on_step: self.on_step,
            stop: self.stop,
        }
    }

    /// The part of a time limit in seconds that the fit may take.
    pub(crate) fn share_of(&self, limit: f64) -> f64 {
        self.time_share.map_or(limit, |share| share * limit)
    }

    /// Checks that the model to continue and the withheld samples fit the method and the data.
    pub(crate) fn check(&self, estimator: &dyn Estimator, data: &Dataset) -> Result<(), MethodError> {
        Domain::Fraction.check("time_share", self.time_share)?;
        self.check_start(estimator, data)?;
        self.check_validation(estimator, data)
    }

    /// Refuses withheld samples with different columns, on which scores would be meaningless.
    fn check_validation(&self, estimator: &dyn Estimator, data: &Dataset) -> Result<(), MethodError> {
        let Some(withheld) = self.validation else {
            return Ok(());
        };
        let counts = |what: &str, ours: usize, theirs: usize| match ours == theirs {
            true => format!("has different {what}"),
            false => format!("has {theirs} {what} in place of {ours}"),
        };
        let difference = if withheld.task() != data.task() {
            "is for another task".to_owned()
        } else if withheld.feature_names() != data.feature_names() || withheld.nominal() != data.nominal() {
            counts("features", data.n_features(), withheld.n_features())
        } else if withheld.output_names() != data.output_names() {
            counts("outputs", data.n_outputs(), withheld.n_outputs())
        } else {
            return Ok(());
        };
        let problem = DataProblem::Withheld { difference };
        Err(MethodError::data(estimator.method(), problem))
    }

    /// Refuses to continue a model that does not fit the method or the data.
    fn check_start(&self, estimator: &dyn Estimator, data: &Dataset) -> Result<(), MethodError> {
        let other = |difference| DataProblem::OtherData { difference };
        let problem = match self.start {
            None => return Ok(()),
            Some(_) if !estimator.continues() => DataProblem::CannotContinue,
            Some(start) if !has_columns_of(start, data) => other("the features or outputs"),
            Some(start) if start.training().n_samples < data.n_samples() && withheld_samples(start) => {
                DataProblem::WithheldFromModel
            }
            Some(start) => match start.training().difference(&summary_beside(start, data)) {
                Some(TrainingDifference::Summary) => other("the samples or their outputs"),
                Some(TrainingDifference::Outputs) => other("the outputs of samples, or their order,"),
                Some(TrainingDifference::Weights) => other("the weights of samples"),
                None => return Ok(()),
            },
        };
        Err(MethodError::data(estimator.method(), problem))
    }

    /// Refuses to continue a model that was fitted with different parameters, because the record would be wrong.
    /// Parameters that only determine the number of steps may differ, and so may those of decisions, which are made
    /// anew.
    pub(crate) fn check_start_parameters(&self, parameters: &Map<String, Value>) -> Result<(), ModelError> {
        let may_differ = |name: &str| NUMBER_OF_STEPS.contains(&name) || DecisionParams::has(name);
        let difference = self
            .start
            .and_then(|start| Difference::first(&start.parameters, parameters, may_differ));
        difference.map_or(Ok(()), |difference| Err(ModelError::Continue(difference)))
    }

    /// Returns the wrapped projection if `wrap_projection` is set.
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

/// Receives the number of steps and the model so far; [`ControlFlow::Break`] stops the fit.
pub type OnCheckpoint<'a> = dyn FnMut(usize, &Model) -> Result<ControlFlow<()>, ModelError> + Send + 'a;

/// Wraps a projection family in another.
pub type WrapProjection<'a> = dyn Fn(Arc<dyn Projection>) -> Arc<dyn Projection> + Sync + 'a;

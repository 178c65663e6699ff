//! Fitting: checks, the initial constants, and the loop over steps.

use super::boosters::{Alone, Boosters};
use super::check::{check, check_loss};
use super::choices::Algorithm;
use super::features::Features;
use super::levels::{repeated, repeated_cells};
use super::loss::{Logistic, LossKind, Objective};
use super::model::Boosted;
use super::options::BoostingOptions;
use super::params::BoostingParams;
use super::resolved::Resolved;
use super::run::Run;
use super::state::{Column, Outputs};
use super::used::Used;
use crate::error::EnsembleError;
use ndarray::ArrayBase;
use rayon::prelude::*;
use rpo_core::{CheckParams, Learner, Matrix, MatrixView};
use std::borrow::Cow;

impl CheckParams for BoostingParams {
    type Error = EnsembleError;

    fn check(&self) -> Result<(), EnsembleError> {
        Resolved::new(self, &BoostingOptions::default(), None).map(|_| ())
    }
}

/// Features may be missing (NaN). With the logistic loss, labels are 0 or 1. Steps are made one after the other, while
/// the next [trees](BoostingParams::trees_ahead) grow; within a step, the work on samples and outputs runs in parallel.
///
/// Memory beside the model: the coded features, the training scores in their [form](super::TrainingForm), and the
/// targets of trees, one number or two for each sample and component. With g trees ahead, there are 2 g targets if each tree
/// has a projection of its own and 2 otherwise, and the leaf of each sample in up to 2 g trees.
///
/// Errors beside those of data and parameters: infinite values, targets that the loss refuses, outputs without any
/// target, scores beyond the memory limit; weights that are negative or not finite, an empty validation set, or a model
/// to continue with another shape or inverse link. Steps of another algorithm may be continued if a step has as many trees.
impl Learner for BoostingParams {
    type Model = Boosted;
    type Options<'a> = BoostingOptions<'a>;

    fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: BoostingOptions<'_>,
    ) -> Result<Boosted, EnsembleError> {
        // Runs on a thread of the pool: a step has many parallel parts that are too small to submit each from outside.
        rayon::scope(|_| self.fit_inside(x, y, options))
    }
}

impl BoostingParams {
    fn fit_inside(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: BoostingOptions<'_>,
    ) -> Result<Boosted, EnsembleError> {
        let params = Resolved::new(self, &options, Some(y.n_cols()))?;
        let objective = &check(&params, x, y, &options)?;
        let n_train = x.n_rows();
        let used = Used::new(x, y, &options);
        // The lifetimes of these types are not shortened implicitly.
        let x = used.x.as_ref().map_or(x.reborrow(), Matrix::view);
        let mut y = used.y.as_ref().map_or(y.reborrow(), Matrix::view);
        let mut cells = used.cells.as_ref().map(ArrayBase::view);
        cells = cells.or(options.cell_weights.as_ref().map(ArrayBase::view));
        let params = &params.for_data(x.n_rows(), x.n_cols(), y.n_cols());
        let (of_levels, cells_of_levels);
        let n_levels = params.loss.n_levels();
        if n_levels > 1 {
            of_levels = repeated(y, n_levels, params.memory_limit)?;
            cells_of_levels = cells.map(|cells| repeated_cells(cells, n_levels));
            y = (&of_levels).into();
            cells = cells_of_levels.as_ref().map(ArrayBase::view);
        }
        let weights = used
            .weights
            .as_deref()
            .or(options.weights)
            .map_or_else(|| Cow::Owned(vec![1.0; x.n_rows()]), Cow::Borrowed);
        let weights = &*weights;
        let features = Features::new(x.reborrow(), params.bins, options.categorical)?;
        let all = Outputs::new(y, weights, cells);
        let initial = match options.start {
            Some(start) => start.initial().to_vec(),
            None => initial(params, objective, &all)?,
        };
        if let Some(loss) = &options.loss {
            check_loss(loss.as_ref(), &all, &initial, used.rows.as_deref())?;
        }
        let boosters = Boosters {
            params,
            objective,
            features: &features,
            outputs: &all,
        };
        let (columns, alone): (Vec<Column>, Vec<Alone<'_>>);
        let boosters = if params.algorithm == Algorithm::SingleTarget {
            columns = all.apart(params)?;
            let outputs = columns.iter().enumerate();
            alone = outputs
                .map(|(output, column)| Alone::new(output, column, weights, objective))
                .collect();
            boosters.apart(&alone, &initial)?
        } else {
            vec![boosters.shared(&initial)?]
        };
        let n_features = x.n_cols();
        let start = match options.start {
            Some(start) => start.clone(),
            None => Boosted::from_parts(
                initial,
                Vec::new(),
                boosters.len(),
                objective.links(),
                n_features,
                n_train,
            )?,
        };
        let total_weight: f64 = weights.iter().map(|&c| f64::from(c)).sum();
        let run = Run {
            iterations: params.iterations,
            memory_limit: params.memory_limit,
            boosters,
            weight_of_losses: params.with_loss.then_some(total_weight),
            validation: options.validation,
            observers: options.observers,
            on_progress: options.on_progress,
        };
        let (model, history) = run.run(start)?;
        if let Some(out) = options.history {
            *out = history;
        }
        Ok(model)
    }
}

/// Returns the constants ρ₀.
fn initial(
    params: &Resolved,
    objective: &Objective,
    outputs: &Outputs<'_>,
) -> Result<Vec<f64>, EnsembleError> {
    let from_mean = params.loss.is(LossKind::Square) || params.loss.is(LossKind::Logistic);
    let n = outputs.n_rows();
    (0..outputs.n_outputs())
        .into_par_iter()
        .map(|output| {
            if from_mean && outputs.is_complete_and_sparse() {
                // The mean is computed from the stored values.
                let mean = outputs.mean_of_stored(output);
                return Ok(if params.loss.is(LossKind::Square) {
                    mean
                } else {
                    Logistic::constant(mean, outputs.n_weighted())
                });
            }
            let (mut y, mut weights) = (vec![0.0; n], vec![0.0; n]);
            outputs.copy_column(output, &mut y, &mut weights);
            let observed = (0..n).filter(|&i| weights[i] > 0.0);
            let (y, weights): (Vec<f64>, Vec<f64>) = observed.map(|i| (y[i], weights[i])).unzip();
            if y.is_empty() {
                return Err(EnsembleError::NoTarget { output });
            }
            Ok(objective.of(output).initial(&y, &weights))
        })
        .collect()
}

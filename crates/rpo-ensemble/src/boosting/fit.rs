//! Fitting: checks, the initial constants, and the loop over steps.

use super::booster::{Booster, Features};
use super::choices::Algorithm;
use super::loss::LossKind;
use super::model::Boosted;
use super::options::{BoostingFit, BoostingOptions, History, Observer, Progress, Stop, Validation};
use super::outputs::Outputs;
use super::params::{BoostingParams, ValidBoostingParams};
use super::values::StepValues;
use super::watch::Watch;
use super::{check::check, form};
use crate::error::EnsembleError;
use ndarray::{Array2, ArrayBase};
use rayon::prelude::*;
use rpo_core::MatrixView;
use rpo_tree::RankedFeatures;
use std::borrow::Cow;

impl ValidBoostingParams {
    /// Fits a model to features `x` (n x p, NaN for missing) and outputs `y` (n x d; 0 or 1 with
    /// the logistic loss).
    ///
    /// Trees grow one after the other; what a step does with the rows and outputs runs in parallel on the current
    /// rayon pool, and the result does not depend on its size.
    ///
    /// Memory beside the model: the coded features, and the training scores in the form of
    /// [`TrainingForm`](super::TrainingForm).
    ///
    /// # Errors
    /// [`EnsembleError`] for shapes that do not fit, infinite values, targets that the loss does not know, outputs
    /// without any target, parameters that the data make impossible, or scores that exceed the memory budget.
    pub fn fit(&self, x: MatrixView<'_>, y: MatrixView<'_>) -> Result<BoostingFit, EnsembleError> {
        self.fit_with(x, y, BoostingOptions::default())
    }

    /// [`fit`](Self::fit) with weights, a validation set, an observer, or a model to continue.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and for weights that are not finite or negative, an empty validation set, or a model
    /// of another shape, link or kind.
    pub fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: BoostingOptions<'_>,
    ) -> Result<BoostingFit, EnsembleError> {
        let params = &self.0;
        check(params, x, y, &options)?;
        let BoostingOptions {
            weights,
            cell_weights,
            validation,
            observer,
            start,
            missing_outputs: _,
        } = options;
        // None of these types shortens its lifetime by itself.
        let (x, y) = (x.reborrow(), y.reborrow());
        let cells = cell_weights.as_ref().map(ArrayBase::view);
        let weights = weights.map_or_else(|| Cow::Owned(vec![1.0; x.n_rows()]), Cow::Borrowed);
        let weights = &*weights;
        let features = Features {
            x,
            columns: RankedFeatures::new(x)?,
        };
        let all = Outputs::new(y, weights, cells);
        let initial = match start {
            Some(start) => start.initial().to_vec(),
            None => initial(params, &all)?,
        };
        let single = params.algorithm == Algorithm::SingleTarget;
        let apart = if single {
            all.apart(params.memory_budget)?
        } else {
            Vec::new()
        };
        let alone: Vec<Outputs<'_>> = apart
            .iter()
            .map(|(y, cells)| Outputs::new(y.into(), weights, cells.as_ref().map(Array2::view)))
            .collect();
        let parts = if single {
            &alone[..]
        } else {
            std::slice::from_ref(&all)
        };
        let boosters = parts
            .iter()
            .zip(initial.chunks(initial.len() / parts.len()))
            .enumerate()
            .map(|(i, (part, initial))| {
                let state = form::choose(params, part, initial)?;
                let seed = if single {
                    params.seed.purpose("output").child(i as u64)
                } else {
                    params.seed
                };
                Ok(Booster::new(params, &features, part, state, seed))
            })
            .collect::<Result<_, EnsembleError>>()?;
        let (n_features, n_train) = (x.n_cols(), x.n_rows());
        let link = params.loss.loss().link();
        let start = match start {
            Some(start) => start.clone(),
            None => Boosted::from_parts(initial, Vec::new(), parts.len(), link, n_features, n_train)?,
        };
        let total_weight = weights.iter().map(|&c| f64::from(c)).sum();
        let run = Run {
            params,
            boosters,
            total_weight,
        };
        run.run(start, validation, observer)
    }
}

/// The constants ρ₀.
fn initial(params: &BoostingParams, outputs: &Outputs<'_>) -> Result<Vec<f64>, EnsembleError> {
    let known = params.loss.is(LossKind::Square) || params.loss.is(LossKind::Logistic);
    let n = outputs.n_rows();
    (0..outputs.n_outputs())
        .into_par_iter()
        .map(|output| {
            if known && outputs.is_complete_and_sparse() {
                // Both follow from the mean, which the stored values give.
                let mean = outputs.mean_of_stored(output);
                return Ok(if params.loss.is(LossKind::Square) {
                    mean
                } else {
                    super::loss::Logistic::constant(mean, outputs.n_weighted())
                });
            }
            let (mut y, mut weights) = (vec![0.0; n], vec![0.0; n]);
            outputs.copy_column(output, &mut y, &mut weights);
            let known = (0..n).filter(|&i| weights[i] > 0.0);
            let (y, weights): (Vec<f64>, Vec<f64>) = known.map(|i| (y[i], weights[i])).unzip();
            if y.is_empty() {
                return Err(EnsembleError::NoTarget { output });
            }
            Ok(params.loss.loss().initial(&y, &weights))
        })
        .collect()
}

/// The loop over steps.
struct Run<'a> {
    params: &'a BoostingParams,
    /// One, or one per output.
    boosters: Vec<Booster<'a>>,
    total_weight: f64,
}

impl Run<'_> {
    fn run(
        mut self,
        start: Boosted,
        validation: Option<Validation<'_>>,
        mut observer: Option<&mut Observer<'_>>,
    ) -> Result<BoostingFit, EnsembleError> {
        let first = start.n_steps();
        let last = first + self.params.iterations;
        let mut model = start;
        for (i, booster) in self.boosters.iter_mut().enumerate() {
            let trees = model.trees().chunks(model.trees_per_step());
            booster.replay(trees.map(|step| &step[i]));
            booster.prepare(first)?;
        }
        let mut watch = validation.map(|v| Watch::new(v, &model)).transpose()?;
        let mut history = History {
            training_loss: vec![self.loss()],
            validation: Vec::new(),
            stop: Stop::Iterations,
        };
        if let Some(watch) = &mut watch {
            history.validation.push(watch.evaluate(&model, first));
        }
        for step in first..last {
            let trees = self
                .boosters
                .par_iter_mut()
                .enumerate()
                .map(|(i, booster)| {
                    let mut tree = booster.step(step, step + 1 == last)?;
                    if let StepValues::Single { output, .. } = &mut tree.values {
                        *output = i as u32;
                    }
                    Ok(tree)
                })
                .collect::<Result<Vec<_>, EnsembleError>>()?;
            let seen = watch.as_mut().and_then(|watch| {
                watch.add(&trees);
                let is_due = (step + 1) % watch.every() == 0 || step + 1 == last;
                is_due.then(|| watch.evaluate(&model, step + 1))
            });
            history.validation.extend(seen);
            model.push(trees);
            history.training_loss.push(self.loss());
            let progress = Progress {
                model: &model,
                step: step + 1,
                training_loss: self.loss(),
                validation: seen.map(|(_, value)| value),
            };
            if observer.as_mut().is_some_and(|see| see(&progress).is_break()) {
                history.stop = Stop::Observer;
                break;
            }
            if watch.as_ref().is_some_and(|watch| watch.is_over(step + 1)) {
                history.stop = Stop::Patience;
                break;
            }
        }
        if let Some(best) = watch.and_then(|watch| watch.best()) {
            model = model.truncate(best);
        }
        Ok(BoostingFit { model, history })
    }

    fn loss(&self) -> f64 {
        self.boosters.iter().map(Booster::loss).sum::<f64>() / self.total_weight
    }
}

//! Gradient boosting with random output projections.
//!
//! A model f(x) = ρ₀ + Σ_m μ ρ_m ⊙ g_m(x) for d outputs is fitted step by step. With r the negative gradient of the
//! loss at the current scores (n x d),
//!
//! | [`Algorithm`] | a tree grows on | its leaf values | the step ρ_m |
//! | --- | --- | --- | --- |
//! | `SingleTarget`, 1 | each r_j separately, d trees | mean r_j | a number per tree |
//! | `Gbmort`, 2 | r, all outputs together | mean r (d numbers) | one per output |
//! | `GbrtRpo`, 3 | r φᵀ, one projection | its mean (1 number) | one per output |
//! | `GbrtRelabelRpo`, 4 | r φᵀ, q projections | mean r (d numbers) | one per output |
//!
//! and f changes by the step times the learning rate μ. φ is drawn anew at every step. Growing a tree then costs as
//! much as for q outputs. Algorithm 3 shares a tree among all outputs that its projection mixes; Algorithm 4 fits each
//! output in every leaf. The printed algorithms omit μ in their updates, and label leaves with the gradient instead of
//! its negative; here r is the negative gradient throughout.
//!
//! The table is that of the paper, [`BoostingParams::paper`]. By default ([`BoostingParams::from`] an algorithm) leaves
//! are second-order: a leaf with the sum G of gradients and the sum H of second derivatives of an output has the value
//! −G/(H + λ), which is its step, and splits are scored by the sum of G²/(H + λ) of their children, over the outputs or
//! the components. Numbers are boosted in units of their deviation ([`BoostingParams::scale_outputs`]). Trees that outputs
//! share grow some steps ahead, on earlier residuals ([`BoostingParams::trees_ahead`]); leaf values and steps are those of
//! the current ones.
//!
//! [`Loss`]es: square, absolute, Huber, one or several quantiles, logistic, Poisson, Tweedie, softmax of groups of
//! outputs, and custom losses; each output may have its own. Targets may be missing (NaN) or weighted cell by cell: the
//! weight of a cell multiplies its loss, and so its gradient and its contribution to steps and leaf values.
//!
//! ```
//! use ndarray::Array2;
//! use rpo_ensemble::{Learner, MatrixView, Predictor};
//! use rpo_ensemble::boosting::{Algorithm, BoostingOptions, BoostingParams, History, LossKind, Validation};
//!
//! // 200 samples, 2 features; label j is 1 where x0 + x1 exceeds j / 20.
//! let x = Array2::from_shape_fn((200, 2), |(i, j)| if j == 0 { (i % 20) as f32 / 20.0 } else { (i / 20) as f32 / 10.0 });
//! let y = Array2::from_shape_fn((200, 40), |(i, j)| f32::from(u8::from(x.row(i).sum() > j as f32 / 20.0)));
//! let (x, y) = (MatrixView::from(&x), MatrixView::from(&y)); // or of a CsrMatrix
//!
//! let params = BoostingParams {
//!     loss: Some(LossKind::Logistic),
//!     iterations: 60,
//!     learning_rate: 0.5,
//!     ..BoostingParams::from(Algorithm::GbrtRelabelRpo)
//! };
//! let model = params.fit(x, y)?;
//! let probabilities = model.predict(x)?;
//! assert!(probabilities[[199, 10]] > 0.9 && probabilities[[0, 10]] < 0.1);
//!
//! // Stops when the metric on a validation set (here the same samples) has not improved for 10 steps.
//! let metric = |p: ndarray::ArrayView2<'_, f32>| -f64::from(p[[199, 10]] - 0.95).abs();
//! let validation = Some(Validation { x, metric: &metric, patience: Some(10), every: 1 });
//! let mut history = History::default();
//! let options = BoostingOptions { validation, history: Some(&mut history), ..Default::default() };
//! let stopped = params.fit_with(x, y, options)?;
//! assert!(stopped.n_steps() < 60);
//! assert_eq!(stopped, model.truncate(stopped.n_steps()));
//! assert!(history.training_loss.windows(2).all(|w| w[1] <= w[0]));
//! # Ok::<(), rpo_ensemble::EnsembleError>(())
//! ```
//!
//! Determinism: a model is a function of data, parameters and seed. Step m draws its projection, its samples and its
//! features from random streams keyed by the seed and m, and partial sums over samples are combined in a fixed order.
//!
//! Source: Joly, Wehenkel, Geurts, *Gradient tree boosting with random output projections for multi-label
//! classification and multi-output regression* (2019); Friedman, *Greedy function approximation* (2001).

mod ahead;
mod block_scores;
mod booster;
mod boosters;
mod check;
mod choices;
mod early_stopping;
mod features;
mod fit;
mod helpers;
mod levels;
mod link;
mod loss;
mod model;
mod options;
mod params;
mod predict;
mod resolved;
mod routing;
mod run;
mod stage;
mod state;
mod step;
mod store;
mod stretch;
mod target;
mod trees;
mod units;
mod used;

pub use choices::{Algorithm, LineSearch, StepScope, TrainingForm};
pub use link::LinkBlock;
pub use loss::{Direction, Loss, LossKind};
pub use model::Boosted;
pub use options::{BoostingOptions, History, OnProgress, Progress, Stop, Validation, ValidationMetric};
pub use params::BoostingParams;
pub use rpo_core::InverseLink;
pub use stage::Stages;
pub use step::{BoostingStep, StepValues};

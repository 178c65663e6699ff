//! Hyper-parameter search over a space of settings, within a limit, by a score that the caller computes.
//!
//! - [`Tuning`] searches the parameters of a method on a data set.
//! - [`Space`] has the parameters and their values; [`Space::settings`] lists all combinations, or draws them (Bergstra,
//!   Bengio, JMLR 2012).
//! - [`Search`] scores settings in parallel on the current rayon pool, within a [`SearchLimit`], and keeps the best.
//! - [`Holdout`] withholds a fraction of the samples to score on; [`Refit`] chooses the samples that the winner is fitted
//!   to. The boosting paper (Joly, Wehenkel, Geurts, section 4.1.2) withholds 20 % of the learning samples and
//!   does not say whether its winners see them afterwards; its figures agree with no refit, the default here.
//!
//! **Determinism.** With a limit in trials or in steps, the winner and the history, except its seconds, do not depend
//! on the number of threads if the objective does not; ties go to the earlier setting. With a limit in wall-clock time,
//! the result depends on the speed of the machine.
//!
//! ```
//! use rpo::prelude::*;
//! use rpo::tune::{Search, SearchLimit, SearchOrder, Setting, Space, Trial};
//!
//! # let features = ndarray::Array2::from_shape_fn((120, 3), |(i, j)| ((i * (7 * j + 3)) % 101) as f32 / 101.0);
//! # let outputs = ndarray::Array2::from_shape_fn((120, 2), |(i, j)| features[[i, j]] * features[[i, 2]]);
//! # let data = Dataset::new(features.into(), outputs.into(), Task::Regression)?;
//! let seed = Seed::new(7);
//! let holdout = Holdout::new(&data, 0.2, seed)?;
//! let space = Space::default()
//!     .parameter("max_features", "all,sqrt,0.5".parse()?)?
//!     .parameter("min_samples_leaf", "integers:1:5".parse()?)?;
//!
//! type Error = Box<dyn std::error::Error + Send + Sync>;
//! let params = |setting: &Setting| -> Result<ForestParams, Error> {
//!     Ok(ForestParams {
//!         trees: 10,
//!         max_features: setting.get("max_features")?,
//!         min_samples_leaf: setting.get("min_samples_leaf")?,
//!         ..ForestParams::default()
//!     })
//! };
//! let score = |setting: &Setting, _: &mut Trial| -> Result<f64, Error> {
//!     let model = Model::fit(&params(setting)?, &holdout.train)?;
//!     Ok(model.evaluate(&holdout.validation, &[Metric::R2])?[0])
//! };
//! let search = Search { limit: SearchLimit::Trials(6), ..Search::new(Metric::R2) };
//! let result = search.run(space.settings(SearchOrder::Random, seed)?, score)?;
//! assert_eq!(result.history.len(), 6);
//! let model = Model::fit(&params(&result.best_setting)?, &data)?;
//! assert_eq!(model.training().n_samples, 120);
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```

mod distribution;
mod holdout;
mod search;
mod space;
mod trial;
mod tuning;

pub use distribution::{ParamDistribution, Value};
pub use holdout::{Holdout, Refit};
pub use search::{Direction, Pruner, Search, SearchError, SearchLimit, SearchResult};
pub use space::{Setting, Space, SpaceError};
pub use trial::{Outcome, Record, Trial, TrialError};
pub use tuning::{RANDOM_TRIALS, SearchOrder, TuneError, Tuned, Tuning};

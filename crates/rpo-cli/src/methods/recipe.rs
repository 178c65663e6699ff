//! The checked parameters of a method, and what it is to fit them.

use crate::error::CliError;
use rpo::Model;
use rpo::data::Dataset;
use rpo::projections::Projection;
use serde_json::{Map, Value};
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// The checked parameters of a method.
pub trait Recipe: Send + Sync {
    /// Number of steps of a fit: trees, or iterations.
    fn n_steps(&self) -> usize;

    /// What the parameters are, for the record in the model file.
    fn record(&self) -> Map<String, Value>;

    /// Whether its models predict for training samples out of their bags.
    fn has_oob(&self) -> bool {
        false
    }

    /// Fits to a data set.
    ///
    /// # Errors
    /// Data that the method cannot be fitted to.
    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, CliError>;

    /// The way to save a model part by part, if the method has one.
    fn stepwise(&self) -> Option<&dyn Stepwise> {
        None
    }

    /// Fits in parts and shows the model after each of the given numbers of steps, and whole; ends where it is
    /// told to. A method that cannot be had in parts shows the whole.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and what `show` returns.
    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        show: &mut Show<'_>,
    ) -> Result<Model, CliError> {
        let _ = steps;
        let model = self.fit(data, context)?;
        let _ = show(self.n_steps(), &model)?;
        Ok(model)
    }
}

/// A method whose models can be saved part by part.
pub trait Stepwise {
    /// Fits to a data set and saves the model as it grows, so that memory never holds it whole; returns the number of
    /// bytes written. The file is that of a model that was fitted and then saved.
    ///
    /// # Errors
    /// As [`Recipe::fit`], and a file that cannot be written.
    fn fit_to_file(&self, data: &Dataset, context: &FitContext<'_>, path: &Path) -> Result<u64, CliError>;
}

/// What surrounds a fit. Nothing in it but samples withheld changes the model.
#[derive(Clone, Copy, Default)]
pub struct FitContext<'a> {
    /// What messages call the data; by its own name if not given.
    pub data: Option<&'a str>,
    /// Called after every step, from any thread.
    pub on_step: Option<&'a (dyn Fn() + Sync)>,
    /// Wraps the family of output projections, to time it.
    pub wrap: Option<&'a WrapProjection<'a>>,
    /// Samples withheld from the data already, to choose among settings on. A method that withholds some to choose
    /// its number of steps takes these instead: steps are a setting like any other.
    pub validation: Option<&'a Dataset>,
}

impl FitContext<'_> {
    /// A failure of training on the data.
    pub fn error(&self, data: &Dataset, source: impl Into<Box<dyn Error + Send + Sync>>) -> CliError {
        CliError::Train {
            data: self.data.unwrap_or(data.name()).to_owned(),
            source: source.into(),
        }
    }
}

/// What looks at a model after so many steps, and says whether to go on.
pub type Show<'a> = dyn FnMut(usize, &Model) -> Result<ControlFlow<()>, CliError> + 'a;

/// Another projection family around one.
pub type WrapProjection<'a> = dyn Fn(Arc<dyn Projection>) -> Arc<dyn Projection> + Sync + 'a;

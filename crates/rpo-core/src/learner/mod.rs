//! The interface of the parameters of every method.

mod forest;
mod observers;

use crate::{CheckParams, MatrixView};

pub use forest::{ForestLearner, Merge};
pub use observers::Observers;

/// The parameters of a method, which can fit a model to features and outputs.
///
/// A model is a function of the data, the parameters and the options, bit for bit: the same seed gives the same model
/// for any number of threads.
///
/// A fit refuses everything that a check refuses, with an error of the same type.
pub trait Learner: CheckParams {
    /// The fitted model.
    type Model;

    /// Optional inputs of a fit besides the parameters and the data, such as sample weights: those that the method
    /// uses, so that others cannot be given. [`Observers`](crate::Observers) if there are no others.
    type Options<'a>: Default;

    /// Fits a model to features `x` (n x p) and outputs `y` (n x d).
    ///
    /// # Errors
    /// Parameters that [`check`](CheckParams::check) refuses or that do not suit the data, sizes that do not match,
    /// values that the method does not accept, options that do not suit the data, and a request to stop.
    fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: Self::Options<'_>,
    ) -> Result<Self::Model, Self::Error>;

    /// Calls [`fit_with`](Self::fit_with) with the default options.
    ///
    /// # Errors
    /// As for [`fit_with`](Self::fit_with).
    fn fit(&self, x: MatrixView<'_>, y: MatrixView<'_>) -> Result<Self::Model, Self::Error> {
        self.fit_with(x, y, Self::Options::default())
    }
}

//! The baseline that every other method must beat: the frequency of each label, or the mean or median of each number,
//! whatever the features are.

mod fit;
mod model;

pub use model::Baseline;

use crate::method::MethodEntry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the baseline.
///
/// ```
/// use rpo::data::generate::MultiLabelSet;
/// use rpo::prelude::*;
///
/// let data = MultiLabelSet::new(100, 10, 5).generate(Seed::new(1))?;
/// let model = Model::fit(&BaselineParams::default(), &data)?;
/// let frequency = model.training().output_means()[0] as f32;
/// assert_eq!(model.predict(data.features().view())?[[0, 0]], frequency);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BaselineParams {
    /// Statistic predicted for numbers: the mean, which minimises the squared error, or the median, which minimises the
    /// absolute error. The prediction for a label is its frequency.
    pub statistic: Statistic,
}

/// A statistic of the training outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The mean.
    #[default]
    Mean,
    /// The median; for an even number of values, the mean of the middle two.
    Median,
}

pub(super) fn entries() -> Vec<MethodEntry> {
    let summary = "Label frequencies, or means or medians of numbers: the score to beat";
    vec![MethodEntry::new("baseline", summary, BaselineParams::default()).model::<Baseline>(Baseline::KIND)]
}

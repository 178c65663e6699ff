//! Methods whose trees depend on the seed and their index alone, so that parts merge into the whole.

use super::{FitContext, Recipe, Show, Stepwise};
use crate::error::CliError;
use rpo::Model;
use rpo::data::Dataset;
use serde_json::{Map, Value};
use std::ops::Range;

/// A [`Recipe`] of trees, of which any range can be grown.
pub(super) trait TreeRecipe: Send + Sync {
    /// The indices of its trees.
    fn trees(&self) -> Range<usize>;

    /// What the parameters are, for the record in the model file.
    fn record(&self) -> &Map<String, Value>;

    /// Whether its models predict for training samples out of their bags.
    fn has_oob(&self) -> bool {
        false
    }

    /// The way to save a model tree by tree, if there is one.
    fn stepwise(&self) -> Option<&dyn Stepwise> {
        None
    }

    /// Grows the trees of a part of the indices.
    fn grow(&self, data: &Dataset, trees: Range<usize>, context: &FitContext<'_>) -> Result<Model, CliError>;
}

impl<T: TreeRecipe> Recipe for T {
    fn n_steps(&self) -> usize {
        self.trees().len()
    }

    fn record(&self) -> Map<String, Value> {
        TreeRecipe::record(self).clone()
    }

    fn has_oob(&self) -> bool {
        TreeRecipe::has_oob(self)
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, CliError> {
        self.grow(data, self.trees(), context)
    }

    fn stepwise(&self) -> Option<&dyn Stepwise> {
        TreeRecipe::stepwise(self)
    }

    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        show: &mut Show<'_>,
    ) -> Result<Model, CliError> {
        let grow = |trees| self.grow(data, trees, context);
        let model = grow_in_parts(self.trees(), steps, grow, show)?;
        Ok(model.with_parameters(TreeRecipe::record(self).clone()))
    }
}

/// Grows a forest whose parts merge into exactly the whole, so that nothing is grown twice, and shows it after each of
/// the given numbers of trees, and whole.
fn grow_in_parts(
    trees: Range<usize>,
    steps: &[usize],
    grow: impl Fn(Range<usize>) -> Result<Model, CliError>,
    show: &mut Show<'_>,
) -> Result<Model, CliError> {
    let mut grown: Option<(usize, Model)> = None;
    let before = steps.iter().copied().filter(|&end| end < trees.len());
    for end in before.chain([trees.len()]) {
        let start = grown.as_ref().map_or(0, |(n, _)| *n);
        if end <= start {
            continue;
        }
        let part = grow(trees.start + start..trees.start + end)?;
        let model = match grown.take() {
            None => part,
            Some((_, earlier)) => earlier.merge(part)?,
        };
        let stop = show(end, &model)?.is_break();
        grown = Some((end, model));
        if stop {
            break;
        }
    }
    let (_, model) = grown.expect("a forest has at least one tree, so that one part is grown");
    Ok(model)
}

//! Forests as arrays, and back.

use super::arrays::{ArrayReader, ArrayWriter};
use super::description::{Description, required};
use super::error::ModelFileErrorKind as Kind;
use super::rules::{AxisReader, AxisWriter};
use super::trees;
use crate::ModelError;
use rpo_ensemble::{Bag, Forest, ForestTree, Importances};

pub(super) fn write(
    forest: &Forest,
    out: &mut ArrayWriter,
    description: &mut Description,
) -> Result<(), Kind> {
    description.bootstrap = Some(forest.bag() == Bag::Bootstrap);
    if let Bag::Subsample(rows) = forest.bag() {
        description.rows_per_tree = Some(rows);
    }
    let of_forest = forest.trees().iter().map(|t| (&t.tree, t.seed));
    trees::write::<AxisWriter, _>(of_forest, out)?;
    out.longs("importance", forest.importance_sums().units());
    Ok(())
}

pub(super) fn read(
    arrays: &mut ArrayReader<'_>,
    description: &Description,
    n_features: usize,
    n_outputs: usize,
) -> Result<Forest, Kind> {
    let n_train = description.n_train;
    let bootstrap = required("bootstrap", description.bootstrap)?;
    let bag = match (bootstrap, description.rows_per_tree) {
        (true, None) => Bag::Bootstrap,
        (false, None) => Bag::All,
        (false, Some(rows)) => Bag::Subsample(rows),
        (true, Some(_)) => {
            let message = "both `bootstrap` and `rows_per_tree` are there".to_owned();
            return Err(Kind::Description { message });
        }
    };
    let trees = trees::read::<AxisReader, _>(arrays, n_features, n_outputs)?;
    let trees = trees.into_iter().map(|(tree, seed)| ForestTree { tree, seed });
    let importances = Importances::from_units(arrays.longs("importance")?);
    let forest = Forest::from_parts(trees.collect(), importances, bag, n_train, n_features, n_outputs);
    Ok(forest.map_err(ModelError::from)?)
}

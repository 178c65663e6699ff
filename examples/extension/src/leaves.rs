//! A custom leaf model: means that are shrunk towards the mean of all samples.

use crate::{CustomForest, CustomForestModel};
use ndarray::{Array1, Array2};
use rpo::ModelError;
use rpo::core::Domain;
use rpo::core::store::{Reader, Sizes, StoreError, Writer};
use rpo::ensemble::{EnsembleError, Grower, TreeInput};
use rpo::tree::store::StoreLeaves;
use rpo::tree::{AxisRule, Grown, LeafModel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Computes leaf values as if each leaf had some more samples, each with the mean of the tree's samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Shrinkage {
    /// Weight of the mean of all samples in a leaf, as a number of samples.
    #[schemars(range(min = 0.0))]
    pub shrinkage: f64,
}

impl Default for Shrinkage {
    fn default() -> Self {
        Self { shrinkage: 1.0 }
    }
}

impl CustomForest for Shrinkage {
    const NAME: &'static str = "shrunken-forest";
    const KIND: &'static str = "shrunken-forest";
    type Model = CustomForestModel<Self>;

    fn check(&self) -> Result<(), ModelError> {
        Ok(Domain::NotNegative.check("shrinkage", self.shrinkage)?)
    }
}

impl Grower for Shrinkage {
    type Rule = AxisRule;
    type Leaves = ShrunkenMeans;

    fn grow(&self, tree: &TreeInput<'_>) -> Result<Grown<AxisRule>, EnsembleError> {
        tree.grow()
    }

    fn label(&self, tree: &TreeInput<'_>, grown: &Grown<AxisRule>) -> Result<ShrunkenMeans, EnsembleError> {
        let (all_weight, all_sums) = weighted_sums(tree, &tree.samples());
        let mean = all_sums / all_weight;
        let (members, n_outputs) = (&grown.members, mean.len());
        let mut values = Array2::zeros((members.n_leaves(), n_outputs));
        for (leaf, mut row) in values.rows_mut().into_iter().enumerate() {
            let (weight, sums) = weighted_sums(tree, &members[leaf]);
            let shrunken = (sums + self.shrinkage * &mean) / (weight + self.shrinkage);
            row.assign(&shrunken.mapv(|v| v as f32));
        }
        Ok(ShrunkenMeans(values))
    }
}

/// The total weight of samples and the weighted sums of their outputs.
fn weighted_sums(tree: &TreeInput<'_>, samples: &[u32]) -> (f64, Array1<f64>) {
    let outputs = tree.outputs;
    let (mut total, mut sums) = (0.0, Array1::zeros(outputs.n_cols()));
    for &sample in samples {
        let weight = f64::from(tree.weights[sample as usize]);
        total += weight;
        outputs.view().for_each_in_row(sample as usize, |j, value| {
            sums[j as usize] += weight * f64::from(value);
        });
    }
    (total, sums)
}

/// The values of the leaves of a tree (leaves x d).
#[derive(Debug, Clone, PartialEq)]
pub struct ShrunkenMeans(Array2<f32>);

impl LeafModel for ShrunkenMeans {
    fn n_leaves(&self) -> usize {
        self.0.nrows()
    }

    fn n_outputs(&self) -> usize {
        self.0.ncols()
    }

    fn for_each(&self, leaf: u32, mut f: impl FnMut(u32, f64)) {
        let values = self.0.row(leaf as usize);
        values.iter().zip(0..).for_each(|(&value, j)| f(j, value.into()));
    }
}

const VALUES: &str = "leaf.shrunken";

impl StoreLeaves for ShrunkenMeans {
    fn store_all(trees: &[&Self], out: &mut Writer) -> Result<(), StoreError> {
        let values: Vec<f32> = trees.iter().flat_map(|tree| tree.0.iter().copied()).collect();
        let n_outputs = trees.first().map_or(0, |tree| tree.n_outputs());
        out.table(VALUES, &values, n_outputs)
    }

    fn restore_all(n_leaves: &[usize], from: &mut Reader<'_>, sizes: Sizes) -> Result<Vec<Self>, StoreError> {
        let d = sizes.n_outputs;
        let mut all = from.table(VALUES, d)?;
        let mut trees = Vec::with_capacity(n_leaves.len());
        for &n in n_leaves {
            let values = all.part(n.saturating_mul(d))?;
            let values = Array2::from_shape_vec((n, d), values).map_err(|e| StoreError::part("leaves", e))?;
            trees.push(Self(values));
        }
        all.finish()?;
        Ok(trees)
    }
}

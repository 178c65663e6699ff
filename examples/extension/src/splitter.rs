//! A custom splitter with its own rule: the sum of two features is compared with a threshold.

use crate::{CustomForest, CustomForestModel};
use ndarray::ArrayView2;
use rpo::ModelError;
use rpo::core::store::{Reader, StoreError, Writer, check_finite};
use rpo::core::{Domain, Seed};
use rpo::ensemble::{EnsembleError, Grower, TreeInput};
use rpo::tree::criterion::{Criterion, Variance};
use rpo::tree::splitter::{NodeRows, ProposedSplit, Splitter};
use rpo::tree::store::StoreRule;
use rpo::tree::{Grown, Leaves, Row, Rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Grows trees whose nodes draw pairs of features and choose the best sum and threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SumOfPairs {
    /// Number of pairs of features drawn at a node.
    #[schemars(range(min = 1))]
    pub pairs: usize,
}

impl Default for SumOfPairs {
    fn default() -> Self {
        Self { pairs: 10 }
    }
}

impl CustomForest for SumOfPairs {
    const NAME: &'static str = "pair-forest";
    const KIND: &'static str = "pair-forest";
    type Model = CustomForestModel<Self>;

    fn check(&self) -> Result<(), ModelError> {
        Ok(Domain::Count.check("pairs", self.pairs)?)
    }
}

impl Grower for SumOfPairs {
    type Rule = PairSum;
    type Leaves = Leaves;

    fn grow(&self, tree: &TreeInput<'_>) -> Result<Grown<PairSum>, EnsembleError> {
        let dense = |matrix: rpo::core::MatrixView<'_>| matrix.to_dense(usize::MAX);
        let features = dense(tree.features).map_err(EnsembleError::Features)?;
        let targets = dense(tree.targets()).map_err(EnsembleError::Outputs)?;
        tree.grow_with(&PairSplitter {
            features: features.view(),
            criterion: Variance::new(targets.view(), tree.weights),
            pairs: self.pairs,
        })
    }

    fn label(&self, tree: &TreeInput<'_>, grown: &Grown<PairSum>) -> Result<Leaves, EnsembleError> {
        tree.label(grown)
    }
}

/// Sends `x[first] + x[second] <= threshold` to child 0, larger sums to child 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairSum {
    first: u32,
    second: u32,
    threshold: f32,
}

impl Rule for PairSum {
    fn arity(&self) -> usize {
        2
    }

    fn child(&self, row: Row<'_>) -> usize {
        let sum = row.values[self.first as usize] + row.values[self.second as usize];
        usize::from(sum > self.threshold)
    }

    fn n_features(&self) -> usize {
        self.first.max(self.second) as usize + 1
    }
}

struct PairSplitter<'a> {
    features: ArrayView2<'a, f32>,
    criterion: Variance<'a>,
    pairs: usize,
}

impl PairSplitter<'_> {
    /// Draws two features at random; they may be the same.
    fn draw(&self, seed: Seed) -> (u32, u32) {
        let p = self.features.ncols() as u64;
        let feature = |key| (seed.child(key).value() % p) as u32;
        (feature(0), feature(1))
    }

    fn sum(&self, row: u32, (first, second): (u32, u32)) -> f32 {
        let row = self.features.row(row as usize);
        row[first as usize] + row[second as usize]
    }
}

impl<'a> Splitter for PairSplitter<'a> {
    type Rule = PairSum;
    /// The statistics, and the sums of a node's samples with their indices.
    type Workspace = (Variance<'a>, Vec<(f32, u32)>);

    fn n_rows(&self) -> usize {
        self.features.nrows()
    }

    fn workspace(&self) -> Self::Workspace {
        (self.criterion.clone(), Vec::new())
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        (criterion, sums): &mut Self::Workspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<PairSum>> {
        criterion.start(node.rows);
        if criterion.is_pure() {
            return None;
        }
        let mut best: Option<ProposedSplit<PairSum>> = None;
        for draw in 0..self.pairs as u64 {
            let pair = self.draw(node.seed.child(draw));
            sums.clear();
            sums.extend(node.rows.iter().map(|&row| (self.sum(row, pair), row)));
            sums.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            criterion.clear();
            for neighbours in sums.windows(2) {
                let [(threshold, row), (next, _)] = [neighbours[0], neighbours[1]];
                criterion.move_row(row);
                // Overflowing sums are infinite, and cannot be thresholds because files do not store infinite values.
                if threshold < next && threshold.is_finite() {
                    let gain = criterion.gain(criterion.score());
                    if best.as_ref().is_none_or(|best| gain > best.gain) {
                        let (first, second) = pair;
                        let rule = PairSum {
                            first,
                            second,
                            threshold,
                        };
                        best = Some(ProposedSplit { rule, gain });
                    }
                }
            }
        }
        let PairSum {
            first,
            second,
            threshold,
        } = best.as_ref()?.rule;
        for (child, &row) in children.iter_mut().zip(node.rows) {
            *child = u16::from(self.sum(row, (first, second)) > threshold);
        }
        best
    }
}

/// The number of the rule's only kind.
const SPLIT: u32 = 1;

impl StoreRule for PairSum {
    const KINDS: &'static str = "0 or 1";

    fn kind(&self) -> u32 {
        SPLIT
    }

    fn arity_of(kind: u32) -> Option<u32> {
        (kind == SPLIT).then_some(2)
    }

    fn store_all(rules: &[&Self], out: &mut Writer) -> Result<(), StoreError> {
        let thresholds: Vec<f32> = rules.iter().map(|rule| rule.threshold).collect();
        check_finite("pair.threshold", &thresholds)?;
        out.array(
            "pair.first",
            &rules.iter().map(|rule| rule.first).collect::<Vec<_>>(),
        )?;
        out.array(
            "pair.second",
            &rules.iter().map(|rule| rule.second).collect::<Vec<_>>(),
        )?;
        out.array("pair.threshold", &thresholds)
    }

    fn restore_all(kinds: &[u32], from: &mut Reader<'_>, n_features: usize) -> Result<Vec<Self>, StoreError> {
        let mut features = |name| {
            let features = from.array::<u32>(name)?.of_length(kinds.len())?;
            features.where_all("a feature of the model", |feature| {
                (feature as usize) < n_features
            })
        };
        let (first, second) = (features("pair.first")?, features("pair.second")?);
        let thresholds = from.array::<f32>("pair.threshold")?.of_length(kinds.len())?;
        let thresholds = thresholds.where_all("a finite number", f32::is_finite)?;
        let rules = first.zip(second).zip(thresholds);
        let rule = |((first, second), threshold)| Self {
            first,
            second,
            threshold,
        };
        Ok(rules.map(rule).collect())
    }
}

//! What features contribute to the predictions of sums of trees.
//!
//! The Shapley values of a sum are the sums of the Shapley values of its parts, and those of a tree are computed by
//! [`rpo_tree::shapley`], whose documentation defines them.

use crate::boosting::{Boosted, BoostingStep, LinkBlock, StepValues};
use crate::error::EnsembleError;
use crate::forest::{Forest, ForestTree, SingleTargetForest};
use crate::inference::mean::{check_features, check_width};
use rayon::prelude::*;
use rpo_core::{
    Apply, Contributions, Explain, InverseLink, MatrixView, Predictor, TreeEnsemble, check_explained,
    csr_of_rows,
};
use rpo_tree::shapley::{Branches, ShapleyWalk};
use rpo_tree::{AxisRule, LeafModel, RowBlock, Structure};

/// Samples that are explained together, so that the values of the leaves are collected once for all.
const TOGETHER: usize = 8;

/// Largest number of leaves that background samples are sent to together, and of these samples.
const ROUTED_LEAVES: usize = 1 << 22;
const ROUTED: usize = 4096;

/// A tree of the sum.
struct Term<'a, L> {
    structure: &'a Structure<AxisRule>,
    leaves: &'a L,
    /// The output of the tree, in a model of trees with one output each.
    output: Option<u32>,
}

impl<L: LeafModel> Term<'_, L> {
    /// Calls `f(output, value)` for values whose sum per output is what the leaf adds.
    fn for_each(&self, leaf: u32, mut f: impl FnMut(u32, f64)) {
        self.leaves
            .for_each(leaf, |j, value| f(self.output.unwrap_or(j), value));
    }
}

/// A model whose scores are scale · (initial + Σ_trees value of the leaf).
struct SumOfTrees<'a, L> {
    terms: Vec<Term<'a, L>>,
    /// One number per output.
    initial: Vec<f64>,
    /// One number per output.
    scales: Vec<f64>,
    /// The function from the score of each output to its prediction.
    links: Vec<InverseLink>,
}

impl<L: LeafModel> SumOfTrees<'_, L> {
    /// Explains the scores of `model`, of which this is the sum.
    fn explain(
        &self,
        model: &impl Apply<Error = EnsembleError>,
        x: MatrixView<'_>,
        outputs: &[&[u32]],
        background: MatrixView<'_>,
    ) -> Result<Contributions, EnsembleError> {
        check_features(x, model.n_features())?;
        check_features(background, model.n_features())?;
        check_width(x)?;
        let d = model.n_outputs();
        check_explained::<EnsembleError>(x, outputs, d, background)?;
        let counts = self.background(model, background)?;
        let base = self.base(&counts, background.n_rows());
        let trees = self.terms.iter().zip(&counts);
        let trees = trees.map(|(term, counts)| Branches::new(term.structure, counts));
        let trees = trees.collect::<Result<Vec<_>, _>>()?;
        let chunks: Vec<Vec<Vec<(u32, f32)>>> = outputs
            .par_chunks(TOGETHER)
            .enumerate()
            .map(|(chunk, outputs)| self.rows(&trees, x, chunk * TOGETHER, outputs))
            .collect();
        let n_rows = outputs.iter().map(|outputs| outputs.len()).sum();
        let values = csr_of_rows(chunks.iter().flatten(), (n_rows, x.n_cols()));
        Ok(Contributions {
            base,
            links: self.links.clone(),
            values,
        })
    }

    /// Counts the background samples in each leaf of each tree.
    fn background(
        &self,
        model: &impl Apply<Error = EnsembleError>,
        background: MatrixView<'_>,
    ) -> Result<Vec<Vec<u64>>, EnsembleError> {
        let of_tree = |term: &Term<'_, L>| vec![0_u64; term.structure.n_leaves()];
        let mut counts: Vec<Vec<u64>> = self.terms.iter().map(of_tree).collect();
        let rows: Vec<usize> = (0..background.n_rows()).collect();
        let together = (ROUTED_LEAVES / self.terms.len().max(1)).clamp(1, ROUTED);
        for rows in rows.chunks(together) {
            let leaves = model.apply(background.select_rows(rows).view())?;
            for (counts, leaves) in counts.iter_mut().zip(leaves.columns()) {
                leaves.iter().for_each(|&leaf| counts[leaf as usize] += 1);
            }
        }
        Ok(counts)
    }

    /// The mean scores of the background.
    fn base(&self, counts: &[Vec<u64>], n_rows: usize) -> Vec<f64> {
        let mut sums = vec![0.0; self.initial.len()];
        for (term, counts) in self.terms.iter().zip(counts) {
            for (leaf, &count) in (0..).zip(counts).filter(|(_, count)| **count > 0) {
                let weight = count as f64 / n_rows as f64;
                term.for_each(leaf, |j, value| sums[j as usize] += weight * value);
            }
        }
        let base = sums.iter().zip(&self.initial).zip(&self.scales);
        base.map(|((sum, initial), scale)| scale * (initial + sum))
            .collect()
    }

    /// The contributions to the scores of consecutive samples, a row for each sample and output.
    fn rows(
        &self,
        trees: &[Branches<'_>],
        x: MatrixView<'_>,
        first: usize,
        outputs: &[&[u32]],
    ) -> Vec<Vec<(u32, f32)>> {
        let mut all: Vec<u32> = outputs.concat();
        all.sort_unstable();
        all.dedup();
        let place = |output: u32| all.binary_search(&output).ok();
        let mut block = RowBlock::new(x);
        block.load(first..first + outputs.len());
        let rows = block.rows();
        let of_sample = |outputs: &&[u32]| FeatureSums::new(x.n_cols(), outputs.len());
        let mut sums: Vec<FeatureSums> = outputs.iter().map(of_sample).collect();
        let (mut walk, mut values) = (ShapleyWalk::default(), Vec::new());
        for (term, tree) in self.terms.iter().zip(trees) {
            values.clear();
            values.resize(term.structure.n_leaves() * all.len(), 0.0);
            let mut is_used = false;
            for (leaf, values) in (0..).zip(values.chunks_exact_mut(all.len().max(1))) {
                term.for_each(leaf, |j, value| {
                    if let Some(place) = place(j) {
                        values[place] += value * self.scales[j as usize];
                        is_used = true;
                    }
                });
            }
            // A tree of another output gives nothing.
            if !is_used {
                continue;
            }
            for ((row, outputs), sums) in rows.iter().zip(outputs).zip(&mut sums) {
                let places: Vec<usize> = outputs.iter().filter_map(|&j| place(j)).collect();
                let value = |leaf: u32, i: usize| values[leaf as usize * all.len() + places[i]];
                walk.walk(tree, *row, outputs.len(), value, |feature, given| {
                    sums.add(feature, given);
                });
            }
        }
        sums.into_iter().flat_map(FeatureSums::into_rows).collect()
    }
}

/// Sums by feature, for the outputs of one sample. Most features contribute nothing where there are many.
struct FeatureSums {
    n_outputs: usize,
    /// The position of a feature among those that contribute.
    places: Vec<Option<u32>>,
    features: Vec<u32>,
    sums: Vec<f64>,
}

impl FeatureSums {
    fn new(n_features: usize, n_outputs: usize) -> Self {
        Self {
            n_outputs,
            places: vec![None; n_features],
            features: Vec::new(),
            sums: Vec::new(),
        }
    }

    fn add(&mut self, feature: u32, given: &[f64]) {
        let place = *self.places[feature as usize].get_or_insert_with(|| {
            self.features.push(feature);
            self.sums.resize(self.features.len() * given.len(), 0.0);
            self.features.len() as u32 - 1
        });
        let sums = &mut self.sums[place as usize * given.len()..];
        sums.iter_mut().zip(given).for_each(|(sum, given)| *sum += given);
    }

    /// Returns a row for each output, by increasing feature.
    fn into_rows(self) -> Vec<Vec<(u32, f32)>> {
        let mut order: Vec<usize> = (0..self.features.len()).collect();
        order.sort_unstable_by_key(|&place| self.features[place]);
        let row = |output: usize| {
            let entry = |&place: &usize| {
                let sum = self.sums[place * self.n_outputs + output] as f32;
                (sum != 0.0).then_some((self.features[place], sum))
            };
            order.iter().filter_map(entry).collect()
        };
        (0..self.n_outputs).map(row).collect()
    }
}

/// Scores are predictions.
impl<L: LeafModel> Explain for Forest<AxisRule, L> {
    fn contributions(
        &self,
        x: MatrixView<'_>,
        outputs: &[&[u32]],
        background: MatrixView<'_>,
    ) -> Result<Contributions, EnsembleError> {
        let d = self.n_outputs();
        let sum = SumOfTrees {
            terms: self.trees().iter().map(|tree| term(tree, None)).collect(),
            initial: vec![0.0; d],
            scales: vec![1.0 / self.trees().len() as f64; d],
            links: vec![InverseLink::Identity; d],
        };
        sum.explain(self, x, outputs, background)
    }
}

/// Scores are predictions.
impl Explain for SingleTargetForest {
    fn contributions(
        &self,
        x: MatrixView<'_>,
        outputs: &[&[u32]],
        background: MatrixView<'_>,
    ) -> Result<Contributions, EnsembleError> {
        let per_output = self.trees_per_output();
        let trees = self.trees().iter().enumerate();
        let sum = SumOfTrees {
            terms: trees
                .map(|(i, tree)| term(tree, Some((i / per_output) as u32)))
                .collect(),
            initial: vec![0.0; self.n_outputs()],
            scales: vec![1.0 / per_output as f64; self.n_outputs()],
            links: vec![InverseLink::Identity; self.n_outputs()],
        };
        sum.explain(self, x, outputs, background)
    }
}

/// Returns a tree of a forest as a part of its sum.
fn term<L: LeafModel>(tree: &ForestTree<AxisRule, L>, output: Option<u32>) -> Term<'_, L> {
    Term {
        structure: tree.tree.structure(),
        leaves: tree.tree.leaves(),
        output,
    }
}

/// Scores are those of [`Boosted::scores`], doubled for the logistic link, where they are half of the log-odds. Quantiles
/// of several levels are explained before they are sorted.
impl Explain for Boosted {
    fn contributions(
        &self,
        x: MatrixView<'_>,
        outputs: &[&[u32]],
        background: MatrixView<'_>,
    ) -> Result<Contributions, EnsembleError> {
        fn term(tree: &BoostingStep<AxisRule>) -> Term<'_, StepValues> {
            Term {
                structure: &tree.structure,
                leaves: &tree.values,
                output: None,
            }
        }
        let of_block = |block: &LinkBlock| vec![block.link; block.n_outputs];
        let links: Vec<InverseLink> = self.links().iter().flat_map(of_block).collect();
        let scale = |link: &InverseLink| match link {
            InverseLink::Logistic => 2.0,
            InverseLink::Identity | InverseLink::Exponential | InverseLink::Softmax => 1.0,
        };
        let sum = SumOfTrees {
            terms: self.trees().iter().map(term).collect(),
            initial: self.initial().to_vec(),
            scales: links.iter().map(scale).collect(),
            links,
        };
        sum.explain(self, x, outputs, background)
    }
}

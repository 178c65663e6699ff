//! Growth of label trees.

use rayon::prelude::*;
use rpo_core::{CheckParams, ForestLearner, InverseLink, Learner, MatrixView, Seed};

use super::cluster::LabelPoints;
use super::structure::Structure;
use super::{LabelForest, LabelTree, LabelTreeParams};
use crate::checks::check_data;
use crate::dual::{LANES, Numbering, Rows, SparseWeights, fit_group, label_samples};
use crate::linear::{Costs, mean_count, scaled_rows};
use crate::options::{Limits, check_matrix};
use crate::{ClassifierOptions, LinearError};

impl CheckParams for LabelTreeParams {
    type Error = LinearError;

    fn check(&self) -> Result<(), LinearError> {
        self.indices()?;
        self.check_ranges()?;
        self.classifiers.check()
    }
}

impl Learner for LabelTreeParams {
    type Model = LabelForest;
    type Options<'a> = ClassifierOptions<'a>;

    /// Outputs are 0/1 labels.
    ///
    /// The nodes of a tree are fitted in parallel on the current rayon pool; the result does not depend on its size.
    /// Memory: the stored values of X again, 8 bytes each, and those of the samples of the node that each thread fits.
    /// Fails for weights beyond the range of their precision.
    ///
    /// ```
    /// # use ndarray::array;
    /// use rpo_linear::{LabelTreeParams, Learner, Predictor};
    /// let x = array![[1.0, 0.0, 0.2], [0.9, 0.1, 0.0], [0.0, 1.0, 0.3], [0.0, 0.8, 0.0]];
    /// let y = array![[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]];
    /// let params = LabelTreeParams { leaf_labels: 1, ..LabelTreeParams::default() };
    /// let model = params.fit((&x).into(), (&y).into())?;
    /// let best = model.predict_top_k((&x).into(), 1)?;
    /// assert_eq!(best.indices(), [0, 0, 1, 1]);
    /// # Ok::<(), rpo_linear::LinearError>(())
    /// ```
    fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: ClassifierOptions<'_>,
    ) -> Result<LabelForest, LinearError> {
        self.check()?;
        check_data(x, y, InverseLink::Logistic)?;
        let limits = options.checked(x.n_rows())?;
        let ClassifierOptions {
            weights,
            groups,
            observers,
            ..
        } = options;
        let classifiers = &self.classifiers;
        let normalize = classifiers.row_norm(x);
        let mut rows = scaled_rows(x, normalize, weights);
        let samples = label_samples(y, weights);
        self.check_memory(&samples, limits.memory)?;
        let costs = Costs::new(classifiers, &mut rows, &samples, groups, limits)?;
        let calibration = costs.calibrate(&mut rows, &samples, limits)?;
        let mut trees = Vec::with_capacity(self.trees);
        for index in self.indices()? {
            let seed = Seed::new(classifiers.seed)
                .purpose("label tree")
                .child(index as u64);
            trees.push(self.tree(&rows, &samples, &costs, limits, seed)?);
            observers.step();
        }
        let shape = (x.n_rows(), x.n_cols(), y.n_cols());
        Ok(LabelForest::new(
            trees,
            calibration,
            normalize,
            self.beam,
            Some(costs.mean_cost()),
            shape,
        ))
    }
}

impl ForestLearner for LabelTreeParams {
    fn tree_range(&self) -> (usize, usize) {
        (self.first_tree, self.trees)
    }

    fn tree_range_mut(&mut self) -> (&mut usize, &mut usize) {
        (&mut self.first_tree, &mut self.trees)
    }
}

impl LabelTreeParams {
    /// Checks the memory for the clusters of the labels of at least one sample.
    fn check_memory(&self, samples: &[Vec<u32>], memory: usize) -> Result<(), LinearError> {
        let what = "the projected features of labels";
        check_matrix::<f32>(what, samples.len(), self.feature_width, memory)?;
        let n_labels = samples.iter().filter(|samples| !samples.is_empty()).count();
        // The order of the similarities has 32 bits for each pair.
        let most = memory.min((u32::MAX as usize).saturating_mul(size_of::<u64>()));
        let what = "the similarities of labels and clusters";
        check_matrix::<u64>(what, n_labels, self.clusters.min(n_labels), most)
    }

    /// Grows a tree over the labels of at least one sample.
    fn tree(
        &self,
        rows: &Rows,
        samples: &[Vec<u32>],
        costs: &Costs<'_>,
        limits: Limits<'_>,
        seed: Seed,
    ) -> Result<LabelTree, LinearError> {
        let labels = (0..samples.len() as u32).filter(|&l| !samples[l as usize].is_empty());
        let labels: Vec<u32> = labels.collect();
        let points = LabelPoints::project(rows, samples, self.feature_width, seed.purpose("projection"));
        let structure = Structure::grow(
            &points,
            labels,
            self.clusters,
            self.leaf_labels,
            seed.purpose("clusters"),
        );
        drop(points);
        let paths = structure.paths(samples.len());
        let mut weights = Vec::with_capacity(structure.nodes.len());
        for (depth, level) in structure.levels().enumerate() {
            let problems = problems(&structure, level.clone(), depth, samples, &paths);
            let at = Level {
                costs,
                mean: mean_count(rows, problems.iter().flatten()),
                is_root: depth == 0,
            };
            let fitted: Vec<SparseWeights> = problems
                .into_par_iter()
                .enumerate()
                .map_init(
                    || Numbering::new(rows.n_features()),
                    |numbering, (index, positives)| {
                        limits.check_stop()?;
                        let node = level.start + index;
                        let seed = seed.purpose("samples").child(node as u64);
                        self.node(rows, &positives, &at, numbering, seed)
                    },
                )
                .collect::<Result<_, LinearError>>()?;
            weights.extend(fitted);
        }
        Ok(LabelTree::new(structure, weights, seed))
    }

    /// Fits the classifiers of a node, one for each list of positive samples, on the samples in any of the lists, or at the
    /// root on all samples.
    fn node(
        &self,
        rows: &Rows,
        positives: &[Vec<u32>],
        at: &Level<'_, '_>,
        numbering: &mut Numbering,
        seed: Seed,
    ) -> Result<SparseWeights, LinearError> {
        let mut members: Vec<u32> = match at.is_root {
            true => (0..rows.n_rows() as u32).collect(),
            false => positives.concat(),
        };
        members.sort_unstable();
        members.dedup();
        let (local, features) = rows.gather(&members, numbering);
        let position = |sample: &u32| members.partition_point(|m| m < sample) as u32;
        let positives: Vec<Vec<u32>> = positives
            .iter()
            .map(|samples| samples.iter().map(position).collect())
            .collect();
        let params = at.costs.dual(rows.factor());
        let groups = positives.par_chunks(LANES).enumerate().map(|(group, positives)| {
            let samples = positives.iter().map(Vec::as_slice);
            let seed = seed.child(group as u64);
            Ok(fit_group(
                &local,
                samples,
                |samples| at.costs.among(at.mean, &local, samples),
                &params,
                seed,
            )?
            .0)
        });
        let groups = groups.collect::<Result<Vec<_>, LinearError>>()?;
        Ok(SparseWeights::join(&groups, &features))
    }
}

/// What the nodes at a depth share.
struct Level<'a, 'p> {
    costs: &'a Costs<'p>,
    /// The mean sum of the weights of the positive samples of classifiers.
    mean: f64,
    is_root: bool,
}

/// Returns the samples of each classifier of each node at a depth, increasing.
fn problems(
    structure: &Structure,
    level: std::ops::Range<usize>,
    depth: usize,
    samples: &[Vec<u32>],
    paths: &[Vec<(u32, u32)>],
) -> Vec<Vec<Vec<u32>>> {
    let nodes = &structure.nodes[level.clone()];
    let mut problems: Vec<Vec<Vec<u32>>> = nodes.iter().map(|node| vec![Vec::new(); node.len()]).collect();
    for (samples, path) in samples.iter().zip(paths) {
        if let Some(&(node, lane)) = path.get(depth) {
            problems[node as usize - level.start][lane as usize].extend_from_slice(samples);
        }
    }
    for positives in problems.iter_mut().flatten() {
        positives.sort_unstable();
        positives.dedup();
    }
    problems
}

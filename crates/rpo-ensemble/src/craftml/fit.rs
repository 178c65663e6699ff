//! Growing the trees of CRAFTML.

use super::hashed::{HashedLabels, Hasher};
use super::model::{Craftml, CraftmlTree};
use super::params::{CentroidKind, CraftmlParams, CraftmlVariant};
use super::rademacher::{ProjectedDistance, ProjectedLabels, draw};
use super::training_set::{TrainingSet, label};
use crate::error::EnsembleError;
use crate::observers::grow_each;
use rpo_core::{
    CheckParams, CsrMatrix, DEFAULT_MEMORY_LIMIT, ForestLearner, Learner, MatrixView, MemoryLimit, Observers,
    Seed,
};
use rpo_projections::Hashing;
use rpo_tree::centroid::{
    CentroidRule, CentroidSplitter, ClusterTargets, Cosine, Euclidean, RecordedTree, StoredCentroids,
};
use rpo_tree::{Grown, LeafKind, LeafMembers, Tree, TreeError, grow_parallel};
use std::sync::Arc;

impl ForestLearner for CraftmlParams {
    fn tree_range(&self) -> (usize, usize) {
        (self.first_tree, self.trees)
    }

    fn tree_range_mut(&mut self) -> (&mut usize, &mut usize) {
        (&mut self.first_tree, &mut self.trees)
    }
}

/// Values must be finite. There are no options but the observers, for whom a step is a tree.
impl Learner for CraftmlParams {
    type Model = Craftml;
    type Options<'a> = Observers<'a>;

    fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        observers: Observers<'_>,
    ) -> Result<Craftml, EnsembleError> {
        let trainer = self.trainer(x, y)?;
        let trees = grow_each(self.indices()?, observers, |index| trainer.tree(index))?;
        Craftml::from_parts(trees, trainer.training(), x.n_rows(), x.n_cols(), y.n_cols())
    }
}

impl CraftmlParams {
    /// Returns a trainer that grows the trees one by one, for callers that do not keep all trees in memory.
    ///
    /// ```
    /// # use ndarray::array;
    /// use rpo_ensemble::{CraftmlParams, CraftmlVariant, ForestLearner, Learner, TreeEnsemble};
    /// # let x = array![[1.0, 0.0], [0.0, 1.0]];
    /// # let y = array![[1.0, 0.0], [0.0, 1.0]];
    /// let params = CraftmlParams { trees: 3, ..CraftmlVariant::Original.into() };
    /// let trainer = params.trainer((&x).into(), (&y).into())?;
    /// let trees = params.indices()?.map(|index| trainer.tree(index));
    /// // ... here they could be written to a file, each in its turn. They are the trees of `fit`:
    /// let trees = trees.collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(trees, params.fit((&x).into(), (&y).into())?.trees());
    /// # Ok::<(), rpo_ensemble::EnsembleError>(())
    /// ```
    ///
    /// # Errors
    /// [`EnsembleError`] for shapes that do not match, values that are missing (NaN) or infinite, and more clusters than
    /// memory allows.
    pub fn trainer(&self, x: MatrixView<'_>, y: MatrixView<'_>) -> Result<CraftmlTrainer, EnsembleError> {
        self.check()?;
        let params = self.clone();
        let seed = Seed::new(params.seed);
        let training = TrainingSet::new(x, Arc::new(y.to_owned()))?;
        if x.n_rows() == 0 || x.n_cols() == 0 {
            let (rows, columns) = (x.n_rows(), x.n_cols());
            return Err(TreeError::Empty { rows, columns }.into());
        }
        let (p, d) = (x.n_cols(), y.n_cols());
        let n_clusters = params.centroid_params(d).kmeans.clusters.min(x.n_rows());
        for tree in params.indices()? {
            // Checks that maps of these sizes can be made before growing begins.
            let (p_to, d_to) = (
                params.feature_width.resolve(tree, p),
                params.label_width.resolve(tree, d),
            );
            // Sums and means of k-means.
            let bytes = (2 * size_of::<f64>())
                .saturating_mul(n_clusters)
                .saturating_mul(d_to.min(d));
            MemoryLimit::check(bytes, DEFAULT_MEMORY_LIMIT, || {
                format!("the centres of {n_clusters} clusters of projected labels")
            })?;
            match params.variant {
                CraftmlVariant::Original => {
                    Hashing::map(p, p_to, seed)?;
                    Hashing::map(d, d_to, seed)?;
                }
                CraftmlVariant::Report | CraftmlVariant::ReportQuirks => {
                    draw(p, p_to, seed)?;
                    draw(d, d_to, seed)?;
                }
            }
        }
        Ok(CraftmlTrainer {
            params,
            labels: y.to_csr(),
            training: Arc::new(training),
        })
    }
}

/// Grows the trees of a CRAFTML forest.
#[derive(Debug)]
pub struct CraftmlTrainer {
    params: CraftmlParams,
    /// The labels, without stored zeros.
    labels: CsrMatrix,
    training: Arc<TrainingSet>,
}

impl CraftmlTrainer {
    /// Returns the training set, if trees refer to it.
    pub(crate) fn training(&self) -> Option<Arc<TrainingSet>> {
        let refer = self.params.centroids == CentroidKind::Rows;
        refer.then(|| Arc::clone(&self.training))
    }

    /// Grows the tree with the given index, which is a function of the data, the parameters and the index. Subtrees
    /// grow in parallel on the current rayon pool.
    ///
    /// Memory: the projected features of all rows, 8 bytes per stored value, and the tree.
    ///
    /// # Errors
    /// [`EnsembleError`] for a projection that cannot be made.
    pub fn tree(&self, index: usize) -> Result<CraftmlTree, EnsembleError> {
        let params = &self.params;
        let seed = Seed::new(params.seed).purpose("craftml tree").child(index as u64);
        let x = self.training.features();
        let (p, d) = (x.cols(), self.labels.cols());
        let width = params.feature_width.resolve(index, p);
        let label_width = params.label_width.resolve(index, d);
        let labels = self.labels.view();
        let nodes = params.centroid_params(d);
        let keeps_rows = params.centroids == CentroidKind::Rows;
        let (hasher, grown) = match params.variant {
            CraftmlVariant::Original => {
                let map = Hashing::map(p, width, seed.purpose("features"))?;
                let hasher = Hasher::new(map);
                let x = hasher.hash_rows(x);
                let targets = HashedLabels {
                    labels,
                    width: label_width,
                };
                let stored = match params.centroids {
                    CentroidKind::Rows => StoredCentroids::Members,
                    CentroidKind::Values => StoredCentroids::Weights,
                };
                let splitter = CentroidSplitter::new(x.view(), &targets, &Cosine, nodes, stored)?;
                (Some(hasher), self.grow(&splitter, seed)?)
            }
            CraftmlVariant::Report | CraftmlVariant::ReportQuirks => {
                let targets = ProjectedLabels {
                    labels,
                    width: label_width,
                };
                let routing = ProjectedDistance { n_features: p, width };
                let stored = match params.variant {
                    CraftmlVariant::ReportQuirks => StoredCentroids::WeightsOf(&Euclidean),
                    _ => StoredCentroids::Weights,
                };
                let splitter = CentroidSplitter::new(x, &targets, &routing, nodes, stored)?;
                (None, self.grow(&splitter, seed)?)
            }
        };
        let kind = params
            .leaves
            .kind()
            .unwrap_or_else(|| default_leaves(&grown.members));
        let leaves = label(kind, &grown.members, self.training.outputs())?;
        let (structure, max) = (grown.structure, nodes.centroid_entries);
        match hasher {
            Some(hasher) if keeps_rows => {
                let Some(nodes) = RecordedTree::of(&structure, grown.members, max) else {
                    unreachable!("the splitter kept the members of all centroids");
                };
                CraftmlTree::recorded(hasher, nodes, leaves, seed)
            }
            hasher => CraftmlTree::new(hasher, Tree::new(structure, leaves)?, seed),
        }
    }

    fn grow<T: ClusterTargets>(
        &self,
        splitter: &CentroidSplitter<'_, T>,
        seed: Seed,
    ) -> Result<Grown<CentroidRule>, TreeError> {
        let rows = (0..self.labels.rows() as u32).collect();
        grow_parallel(splitter, rows, &self.params.grow_params(), seed.purpose("grow"))
    }
}

/// Returns the default storage: references to training rows if, on average over the rows, a row shares its leaf with
/// few others. References then take less memory and predict as fast. Rows with equal labels can make large leaves in
/// any tree.
fn default_leaves(members: &LeafMembers) -> LeafKind {
    const FEW: usize = 16;
    let sizes = (0..members.n_leaves()).map(|leaf| members[leaf].len());
    let (n, company) = sizes.fold((0, 0), |(n, company), size| (n + size, company + size * size));
    if company <= FEW * n {
        LeafKind::Samples
    } else {
        LeafKind::Sparse
    }
}

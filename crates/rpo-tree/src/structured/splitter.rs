//! The splitter that turns a node's label sets into a binary problem.

use super::label_weighting::{LabelFrequency, LabelWeighting};
use crate::CheckParams;
use crate::cluster::{Geometry, KMeansParams, Points, Workspace as Clusters, check_starts};
use crate::error::TreeError;
use crate::splitter::{BinarySplitter, NodeRows, ProposedSplit, Splitter, check_subset};
use rpo_core::{CsrView, Domain, MatrixView, TooFew, csr_row};
use serde::{Deserialize, Serialize};

/// Parameters of the clustering of a node's label sets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LabelClusteringParams {
    /// Weights of the labels; `None`: all 1. Default cost-sensitive with β = 0.5.
    pub weighting: Option<LabelWeighting>,
    /// Starts of k-means, from 1 to 1000. Default 5; the paper does not give it.
    pub cluster_starts: usize,
    /// Passes of k-means, at least 1. Default 100.
    pub cluster_passes: usize,
}

impl Default for LabelClusteringParams {
    fn default() -> Self {
        Self {
            weighting: Some(LabelWeighting::default()),
            cluster_starts: 5,
            cluster_passes: 100,
        }
    }
}

impl CheckParams for LabelClusteringParams {
    type Error = TreeError;

    fn check(&self) -> Result<(), TreeError> {
        self.weighting.map_or(Ok(()), |weighting| weighting.check())?;
        check_starts("cluster_starts", self.cluster_starts)?;
        Ok(Domain::Count.check("cluster_passes", self.cluster_passes)?)
    }
}

impl LabelClusteringParams {
    fn kmeans(&self) -> KMeansParams {
        KMeansParams {
            starts: self.cluster_starts,
            passes: self.cluster_passes,
            ..KMeansParams::new(Geometry::Euclidean, 2)
        }
    }
}

/// Clusters the label sets of a node into two clusters and separates them by a [`BinarySplitter`]; see the
/// [module](crate::structured).
///
/// A node is a leaf if all its samples have the same labels among those that the tree uses, or if the binary splitter
/// finds no split. The smaller cluster is the positive class.
#[derive(Debug)]
pub struct StructuredSplitter<'a, B> {
    labels: CsrView<'a>,
    /// For each label, true if the tree uses it.
    used: Vec<bool>,
    /// By label: number of the tree's rows that have it.
    tree_counts: Vec<u32>,
    tree_rows: usize,
    weighting: Option<LabelWeighting>,
    kmeans: KMeansParams,
    binary: B,
}

impl<'a, B: BinarySplitter> StructuredSplitter<'a, B> {
    /// Takes labels (n x d; a stored non-zero value is a label), the increasing subset of labels that the tree uses,
    /// the samples that the tree grows on, parameters, and the splitter of the binary problems.
    ///
    /// # Errors
    /// [`TreeError::NotCsr`], [`TreeError::Parameter`] with the first parameter out of range or for labels that are not
    /// increasing, [`TreeError::TooFew`] for a label or sample that does not exist.
    pub fn new(
        labels: CsrView<'a>,
        subset: &[u32],
        rows: &[u32],
        params: &LabelClusteringParams,
        binary: B,
    ) -> Result<Self, TreeError> {
        params.check()?;
        MatrixView::Sparse(labels).check_csr("labels")?;
        check_subset(subset, labels.cols())?;
        TooFew::check_indices("rows of labels", rows, labels.rows())?;
        let mut splitter = Self {
            labels,
            used: vec![false; labels.cols()],
            tree_counts: vec![0; labels.cols()],
            tree_rows: rows.len(),
            weighting: params.weighting,
            kmeans: params.kmeans(),
            binary,
        };
        subset.iter().for_each(|&j| splitter.used[j as usize] = true);
        for &row in rows {
            for j in present(&splitter.labels, &splitter.used, row) {
                splitter.tree_counts[j as usize] += 1;
            }
        }
        Ok(splitter)
    }

    /// Marks the rows of the smaller cluster; returns false if there is only one cluster.
    fn cluster(&self, node: NodeRows<'_>, work: &mut LabelClustering) -> bool {
        let labels = |row| present(&self.labels, &self.used, row);
        for &row in node.rows {
            for j in labels(row) {
                if work.counts[j as usize] == 0 {
                    work.met.push(j);
                }
                work.counts[j as usize] += 1;
            }
        }
        // In label order, whatever rows come first.
        work.met.sort_unstable();
        match self.weighting {
            Some(weighting) => {
                let counts = work.met.iter().map(|&j| LabelFrequency {
                    tree: self.tree_counts[j as usize],
                    node: work.counts[j as usize],
                });
                let counts: Vec<_> = counts.collect();
                let scales = weighting.scales(&counts, self.tree_rows, node.rows.len());
                for (&j, scale) in work.met.iter().zip(scales) {
                    work.scales[j as usize] = scale as f32;
                }
            }
            None => work.met.iter().for_each(|&j| work.scales[j as usize] = 1.0),
        }
        work.points.clear();
        for &row in node.rows {
            let entries = labels(row).map(|j| (j, work.scales[j as usize]));
            work.points.push(entries, 1.0);
        }
        work.met.drain(..).for_each(|j| work.counts[j as usize] = 0);
        self.kmeans
            .run(&work.points, node.seed.purpose("clusters"), &mut work.clusters);
        if work.clusters.n_clusters() < 2 {
            return false;
        }
        let found = work.clusters.labels();
        let n_second = found.iter().filter(|&&c| c == 1).count();
        let smaller = u32::from(n_second < found.len() - n_second);
        work.positive.clear();
        work.positive.extend(found.iter().map(|&c| c == smaller));
        true
    }
}

/// Returns the labels of a row that the tree uses.
#[inline]
fn present<'v>(labels: &CsrView<'v>, used: &'v [bool], row: u32) -> impl Iterator<Item = u32> + 'v {
    let (columns, values) = csr_row(labels, row as usize);
    columns
        .iter()
        .zip(values)
        .filter(|(j, v)| used[**j as usize] && **v != 0.0)
        .map(|(&j, _)| j)
}

/// Buffers of the clustering.
#[derive(Debug)]
pub struct LabelClustering {
    /// By label: number of the node's rows that have it; 0 between nodes.
    counts: Vec<u32>,
    met: Vec<u32>,
    scales: Vec<f32>,
    points: Points,
    clusters: Clusters,
    positive: Vec<bool>,
}

impl<B: BinarySplitter> Splitter for StructuredSplitter<'_, B> {
    type Rule = B::Rule;
    type Workspace = (LabelClustering, B::Workspace);

    fn n_rows(&self) -> usize {
        self.labels.rows()
    }

    fn workspace(&self) -> Self::Workspace {
        let n_labels = self.used.len();
        let clustering = LabelClustering {
            counts: vec![0; n_labels],
            met: Vec::new(),
            scales: vec![0.0; n_labels],
            points: Points::new(n_labels),
            clusters: Clusters::default(),
            positive: Vec::new(),
        };
        (clustering, self.binary.workspace())
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        (clustering, binary): &mut Self::Workspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<B::Rule>> {
        if !self.cluster(node, clustering) {
            return None;
        }
        self.binary.split(node, &clustering.positive, binary, children)
    }
}

//! Splitting a node by clustering.

use super::accumulate::Touched;
use super::rule::{Centroid, CentroidRule, MAX_CHILDREN, largest};
use super::{ClusterTargets, Routing, SparseVector};
use crate::TreeError;
use crate::cluster::{KMeans, KMeansParams, Points, Workspace};
use crate::products::{add_products, table_width};
use crate::splitter::{NodeRows, Split, Splitter};
use rand::seq::index;
use rayon::prelude::*;
use rpo_core::{CsrView, MatrixView, Seed, csr_row};
use serde::{Deserialize, Serialize};

/// Which rows of a node teach its centroids.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum NodeSample {
    /// At most this many, drawn without replacement.
    Count(usize),
    /// ⌊share · n⌋ of n but at least one, drawn without replacement; the share is in (0, 1].
    Share(f64),
    /// As many, the first of the node: no sample at all (kept to reproduce a published defect).
    FirstShare(f64),
}

impl NodeSample {
    fn size(self, n: usize) -> usize {
        match self {
            Self::Count(count) => count.min(n),
            Self::Share(share) | Self::FirstShare(share) => ((share * n as f64) as usize).clamp(1, n),
        }
    }
}

/// Parameters of [`CentroidSplitter`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CentroidParams {
    /// How the targets are clustered; at most 65,535 clusters, the number of children.
    pub kmeans: KMeansParams,
    /// Which rows teach. Default (CRAFTML): 20,000.
    pub sample: NodeSample,
    /// Largest number of features with a weight in a centroid: those largest in absolute value are kept, of equal
    /// ones the first. `None`: all.
    pub max_entries: Option<usize>,
    /// How often a node is tried whose rows all go to one child, each time from other random numbers, at least 1.
    pub max_attempts: u32,
}

impl CentroidParams {
    /// CRAFTML's: spherical 10-means in 5 passes, 20,000 rows, 1000 entries, 5 attempts.
    pub const fn craftml() -> Self {
        Self {
            kmeans: KMeansParams::spherical(10),
            sample: NodeSample::Count(20_000),
            max_entries: Some(1000),
            max_attempts: 5,
        }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] with the first parameter out of range.
    pub fn check(&self) -> Result<(), TreeError> {
        let fail = |name, given: String, expected| {
            Err(TreeError::Parameter {
                name,
                given,
                expected,
            })
        };
        KMeans::new(self.kmeans)?;
        if self.kmeans.n_clusters > MAX_CHILDREN {
            return fail("n_clusters", self.kmeans.n_clusters.to_string(), "at most 65535");
        }
        match self.sample {
            NodeSample::Count(0) => return fail("sample", "0".to_owned(), "at least 1 row"),
            NodeSample::Share(share) | NodeSample::FirstShare(share) if !(share > 0.0 && share <= 1.0) => {
                return fail("sample", share.to_string(), "a share in (0, 1]");
            }
            _ => {}
        }
        if self.max_entries == Some(0) {
            return fail("max_entries", "0".to_owned(), "at least 1");
        }
        if self.max_attempts == 0 {
            return fail("max_attempts", "0".to_owned(), "at least 1");
        }
        Ok(())
    }
}

/// Splits by the nearest of the centroids of clusters of targets; see the [module](super).
///
/// A node whose rows have all the same features or all the same targets is a leaf, and so is one whose rows go to
/// one child whatever is tried. (CRAFTML's released code makes nodes of one child instead, up to five in
/// succession; leaving them out changes no leaf.) A split's gain is its number of rows, so that best-first growth
/// opens the largest node next.
#[derive(Debug)]
pub struct CentroidSplitter<'a, T> {
    x: CsrView<'a>,
    targets: &'a T,
    routing: &'a dyn Routing,
    predict_by: Option<&'a dyn Routing>,
    kmeans: KMeans,
    params: CentroidParams,
    /// One over the length of each row, 0 for rows of zeros; empty where lengths do not matter.
    shares: Vec<f64>,
}

impl<'a, T: ClusterTargets> CentroidSplitter<'a, T> {
    /// A splitter of rows with features `x` (n x p, the columns increasing in each row).
    ///
    /// # Errors
    /// [`TreeError::Parameter`] for parameters out of range, [`TreeError::NotCsr`], [`TreeError::NonFinite`] for
    /// missing or infinite features.
    pub fn new(
        x: CsrView<'a>,
        targets: &'a T,
        routing: &'a dyn Routing,
        params: CentroidParams,
    ) -> Result<Self, TreeError> {
        params.check()?;
        crate::check_csr("features", MatrixView::Sparse(x))?;
        MatrixView::Sparse(x)
            .check_finite()
            .map_err(TreeError::NonFinite)?;
        let share = |row| {
            let square: f64 = csr_row(&x, row).1.iter().map(|&v| f64::from(v).powi(2)).sum();
            if square > 0.0 { square.sqrt().recip() } else { 0.0 }
        };
        let shares = if routing.unit_rows() {
            (0..x.rows()).into_par_iter().map(share).collect()
        } else {
            Vec::new()
        };
        Ok(Self {
            x,
            targets,
            routing,
            predict_by: None,
            kmeans: KMeans::new(params.kmeans)?,
            params,
            shares,
        })
    }

    /// Grows with one routing and leaves another in the tree, made of the means of the rows that each child
    /// received: the defect of a published implementation, kept to reproduce its figures. Such a tree does not send
    /// training rows to the leaves that hold them.
    #[must_use]
    pub fn predict_by(self, routing: &'a dyn Routing) -> Self {
        Self {
            predict_by: Some(routing),
            ..self
        }
    }

    fn features_equal(&self, rows: &[u32]) -> bool {
        let row = |i: u32| csr_row(&self.x, i as usize);
        rows.windows(2).all(|pair| row(pair[0]) == row(pair[1]))
    }

    fn attempt(
        &self,
        rows: &[u32],
        seed: Seed,
        work: &mut CentroidWorkspace,
        children: &mut [u16],
    ) -> Option<CentroidRule> {
        self.draw(rows, seed.purpose("sample"), &mut work.sample);
        work.points.clear();
        self.targets
            .push(&work.sample, seed.purpose("targets"), &mut work.points);
        self.kmeans
            .run(&work.points, seed.purpose("clusters"), &mut work.clusters);
        if work.clusters.n_clusters() < 2 {
            return None;
        }
        let CentroidWorkspace {
            sample,
            clusters,
            centroids,
            means,
            ..
        } = work;
        means.compute(
            self,
            self.routing,
            seed,
            sample,
            clusters.labels().iter().copied(),
            clusters.n_clusters(),
            centroids,
        );
        self.route(rows, work, children);
        let kept = keep_reached(children, work.centroids.len());
        if kept.len() < 2 {
            return None;
        }
        if let Some(routing) = self.predict_by {
            let labels = children.iter().map(|&c| c.into());
            let (means, centroids) = (&mut work.means, &mut work.centroids);
            means.compute(self, routing, seed, rows, labels, kept.len(), centroids);
            return Some(CentroidRule::gather(work.centroids.iter(), &mut work.gather));
        }
        let kept = kept.iter().map(|&c| &work.centroids[c]);
        Some(CentroidRule::gather(kept, &mut work.gather))
    }

    fn draw(&self, rows: &[u32], seed: Seed, sample: &mut Vec<u32>) {
        sample.clear();
        let size = self.params.sample.size(rows.len());
        match self.params.sample {
            NodeSample::FirstShare(_) => sample.extend_from_slice(&rows[..size]),
            _ if size == rows.len() => sample.extend_from_slice(rows),
            _ => {
                let drawn = index::sample(&mut seed.rng(), rows.len(), size);
                sample.extend(drawn.iter().map(|i| rows[i]));
                sample.sort_unstable();
            }
        }
    }

    /// Sends every row to its nearest centroid, with all centroids side by side in one table.
    fn route(&self, rows: &[u32], work: &mut CentroidWorkspace, children: &mut [u16]) {
        /// Rows that a thread takes in one go.
        const CHUNK: usize = 4096;
        let (centroids, table) = (&work.centroids, &mut work.table);
        let width = table_width(centroids.len());
        if table.len() < width * self.x.cols() {
            table.resize(width * self.x.cols(), 0.0);
        }
        let mut offsets = vec![0.0; width];
        for (c, centroid) in centroids.iter().enumerate() {
            offsets[c] = centroid.offset;
            for (&feature, &weight) in centroid.features.iter().zip(&centroid.weights) {
                table[feature as usize * width + c] = weight;
            }
        }
        let route = |(rows, children): (&[u32], &mut [u16])| {
            let mut scores = vec![0.0; width];
            for (&row, child) in rows.iter().zip(children) {
                scores.copy_from_slice(&offsets);
                let (features, values) = csr_row(&self.x, row as usize);
                add_products(features, values, table, &mut scores);
                *child = largest(&scores[..centroids.len()]) as u16;
            }
        };
        if rows.len() < 2 * CHUNK {
            route((rows, children));
        } else {
            rows.par_chunks(CHUNK)
                .zip(children.par_chunks_mut(CHUNK))
                .for_each(route);
        }
        for (c, centroid) in centroids.iter().enumerate() {
            for &feature in &centroid.features {
                table[feature as usize * width + c] = 0.0;
            }
        }
    }
}

impl<T: ClusterTargets> Splitter for CentroidSplitter<'_, T> {
    type Rule = CentroidRule;
    type Workspace = CentroidWorkspace;

    fn workspace(&self) -> CentroidWorkspace {
        CentroidWorkspace {
            sample: Vec::new(),
            points: Points::new(self.targets.n_columns()),
            clusters: Workspace::default(),
            centroids: Vec::new(),
            means: Means {
                sums: Touched::new(self.x.cols()),
                mean: SparseVector::default(),
                order: Vec::new(),
            },
            gather: Touched::new(self.x.cols()),
            table: Vec::new(),
        }
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        work: &mut CentroidWorkspace,
        children: &mut [u16],
    ) -> Option<Split<CentroidRule>> {
        if self.targets.all_equal(node.rows) || self.features_equal(node.rows) {
            return None;
        }
        let seed = node.seed.purpose("centroids");
        let rule = (0..self.params.max_attempts)
            .find_map(|attempt| self.attempt(node.rows, seed.child(attempt.into()), work, children))?;
        let gain = node.rows.len() as f64;
        Some(Split { rule, gain })
    }
}

/// What a thread works in.
#[derive(Debug)]
pub struct CentroidWorkspace {
    sample: Vec<u32>,
    points: Points,
    clusters: Workspace,
    centroids: Vec<Centroid>,
    means: Means,
    gather: Touched<u32>,
    /// Weights, feature by feature; zeros between nodes.
    table: Vec<f32>,
}

/// Means of clusters.
#[derive(Debug)]
struct Means {
    sums: Touched<f64>,
    mean: SparseVector,
    /// Rows cluster by cluster.
    order: Vec<(u32, u32)>,
}

impl Means {
    /// Replaces `centroids` by those of the clusters that `labels` names row by row.
    #[expect(
        clippy::too_many_arguments,
        reason = "a step of one function, split off to be read alone"
    )]
    fn compute<T: ClusterTargets>(
        &mut self,
        splitter: &CentroidSplitter<'_, T>,
        routing: &dyn Routing,
        seed: Seed,
        rows: &[u32],
        labels: impl Iterator<Item = u32>,
        n_clusters: usize,
        centroids: &mut Vec<Centroid>,
    ) {
        let scoring = routing.at_node(seed.purpose("routing"));
        self.order.clear();
        self.order.extend(labels.zip(rows.iter().copied()));
        // Stable by construction: rows increase.
        self.order.sort_unstable();
        centroids.resize_with(n_clusters, Centroid::default);
        for cluster in self.order.chunk_by(|a, b| a.0 == b.0) {
            for &(_, row) in cluster {
                let share = if routing.unit_rows() {
                    splitter.shares[row as usize]
                } else {
                    1.0
                };
                let (features, values) = csr_row(&splitter.x, row as usize);
                for (&feature, &value) in features.iter().zip(values) {
                    *self.sums.touch(feature) += share * f64::from(value);
                }
            }
            let (mean, n) = (&mut self.mean, cluster.len() as f64);
            mean.features.clear();
            mean.values.clear();
            self.sums.for_each(|feature, sum| {
                if *sum != 0.0 {
                    mean.features.push(feature);
                    mean.values.push(*sum / n);
                }
            });
            self.sums.clear();
            if let Some(max) = splitter.params.max_entries {
                mean.keep_largest(max);
            }
            let centroid = &mut centroids[cluster[0].0 as usize];
            centroid.offset = scoring.score(mean) as f32;
            centroid.features.clone_from(&mean.features);
            centroid.weights.clear();
            centroid.weights.extend(mean.values.iter().map(|&v| v as f32));
        }
    }
}

impl SparseVector {
    /// Keeps the `n` values largest in size, of equal ones the first.
    fn keep_largest(&mut self, n: usize) {
        if self.values.len() <= n {
            return;
        }
        let mut order: Vec<u32> = (0..self.values.len() as u32).collect();
        let size = |i: u32| self.values[i as usize].abs();
        order.select_nth_unstable_by(n - 1, |&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
        order.truncate(n);
        order.sort_unstable();
        for (to, &from) in order.iter().enumerate() {
            self.features[to] = self.features[from as usize];
            self.values[to] = self.values[from as usize];
        }
        self.features.truncate(n);
        self.values.truncate(n);
    }
}

/// Renumbers children so that each has rows; returns which those were.
fn keep_reached(children: &mut [u16], n: usize) -> Vec<usize> {
    let mut reached = vec![false; n];
    children.iter().for_each(|&c| reached[usize::from(c)] = true);
    let kept: Vec<usize> = (0..n).filter(|&c| reached[c]).collect();
    if kept.len() < n {
        let mut names = vec![0; n];
        kept.iter()
            .enumerate()
            .for_each(|(name, &c)| names[c] = name as u16);
        children.iter_mut().for_each(|c| *c = names[usize::from(*c)]);
    }
    kept
}

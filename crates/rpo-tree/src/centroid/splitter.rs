//! Splitting nodes by clustering.

use super::gather::{Centroid, Gather, check_entries};
use super::means::{Means, total_of_child};
use super::member_rows::MemberRows;
use super::rule::{CentroidRule, MAX_CHILDREN};
use super::table::Table;
use super::{ClusterTargets, Routing};
use crate::cluster::{Geometry, KMeansParams, Points, Workspace};
use crate::splitter::{NodeRows, ProposedSplit, Splitter};
use crate::{CheckParams, TreeError};
use rand::seq::index;
use rayon::prelude::*;
use rpo_core::{CsrView, Domain, MatrixView, ParameterError, Seed, csr_row};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The sample of a node that is clustered, and whose features form its centroids.
///
/// Text form: a number, a fraction such as `0.6`, or `first:0.6`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NodeSample {
    /// At most this many, drawn without replacement.
    Count(usize),
    /// ⌊fraction · n⌋ of n samples but at least one, drawn without replacement; the fraction is in (0, 1].
    Share(f64),
    /// As many as `Share`, but the first of the node: no random sample (kept to reproduce a published defect).
    FirstShare(f64),
}

impl NodeSample {
    fn size(self, n: usize) -> usize {
        match self {
            Self::Count(count) => count.min(n),
            Self::Share(share) | Self::FirstShare(share) => ((share * n as f64) as usize).clamp(1, n),
        }
    }

    fn check(self) -> Result<(), ParameterError> {
        match self {
            Self::Count(count) => Domain::Count.check("node_sample", count),
            Self::Share(share) | Self::FirstShare(share) => Domain::Fraction.check("node_sample", share),
        }
    }
}

impl fmt::Display for NodeSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            // Always with a decimal point, so that a fraction of 1 is not read as one sample.
            Self::Share(share) => write!(f, "{share:?}"),
            Self::FirstShare(share) => write!(f, "first:{share:?}"),
        }
    }
}

impl FromStr for NodeSample {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Self, ParameterError> {
        let parsed = match text.strip_prefix("first:") {
            Some(share) => share.parse().map(Self::FirstShare),
            None => text
                .parse()
                .map(Self::Count)
                .or_else(|_| text.parse().map(Self::Share)),
        };
        let expected = "a number of samples, or a fraction such as 0.6";
        let sample = parsed.map_err(|_| ParameterError::out_of_range("node_sample", text, expected))?;
        sample.check()?;
        Ok(sample)
    }
}

rpo_core::impl_text_serde!(NodeSample, ["integer", "number", "string"]);

/// Parameters of [`CentroidSplitter`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CentroidParams {
    /// Clustering of the targets; at most 65,535 clusters, the number of children.
    pub kmeans: KMeansParams,
    /// The samples that are clustered. CRAFTML: 20,000.
    pub node_sample: NodeSample,
    /// Largest number of features with a weight in a centroid: those with the largest absolute values are kept, among
    /// equal ones the first. `None`: all.
    pub centroid_entries: Option<usize>,
    /// Number of attempts, at least 1, with different random numbers, at a node whose samples all go to one child.
    pub attempts: u32,
}

/// The parameters of CRAFTML: spherical 10-means in 5 passes, 20,000 samples, 1000 entries, 5 attempts.
impl Default for CentroidParams {
    fn default() -> Self {
        Self {
            kmeans: KMeansParams::new(Geometry::Spherical, 10),
            node_sample: NodeSample::Count(20_000),
            centroid_entries: Some(1000),
            attempts: 5,
        }
    }
}

impl CheckParams for CentroidParams {
    type Error = TreeError;

    fn check(&self) -> Result<(), TreeError> {
        self.kmeans.check()?;
        let k = self.kmeans.clusters;
        ParameterError::unless(k <= MAX_CHILDREN, "clusters", k, "at most 65535")?;
        self.node_sample.check()?;
        Domain::Count.check("centroid_entries", self.centroid_entries)?;
        Ok(Domain::Count.check("attempts", self.attempts as usize)?)
    }
}

/// Splits by the nearest of the centroids of clusters of targets; see the [module](super).
///
/// A node whose samples all have the same features or the same targets is a leaf, and so is a node whose samples go to
/// one child in all attempts. (CRAFTML's released code makes nodes of one child instead, up to five in succession;
/// omitting them changes no leaf.) The gain of a split is its number of samples, so that best-first growth splits the
/// largest node next.
#[derive(Debug)]
pub struct CentroidSplitter<'a, T> {
    x: CsrView<'a>,
    targets: &'a T,
    routing: &'a dyn Routing,
    params: CentroidParams,
    member_rows: MemberRows<'a>,
    stored: StoredCentroids<'a>,
}

/// Information that rules store about their centroids.
#[derive(Debug, Clone, Copy, Default)]
pub enum StoredCentroids<'a> {
    /// The weights of the routing.
    #[default]
    Weights,
    /// Weights of another routing, computed from the means of the samples that each child received: the defect of a
    /// published implementation, kept to reproduce its figures. Such a tree does not send training samples to the
    /// leaves that hold them.
    WeightsOf(&'a dyn Routing),
    /// The members of each centroid, from which a [`RecordedTree`](super::RecordedTree) is made, in less time and
    /// memory than weights take. The rules themselves send all samples to child 0.
    Members,
}

impl<'a, T: ClusterTargets> CentroidSplitter<'a, T> {
    /// Creates a splitter of samples with features `x` (n x p, columns increasing in each row), and the choice of what
    /// its rules store.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] for parameters out of range, [`TreeError::NotCsr`], [`TreeError::NonFinite`] for
    /// missing or infinite features, [`TreeError::TooLarge`] for 2^32 stored values or more.
    pub fn new(
        x: CsrView<'a>,
        targets: &'a T,
        routing: &'a dyn Routing,
        params: CentroidParams,
        stored: StoredCentroids<'a>,
    ) -> Result<Self, TreeError> {
        params.check()?;
        MatrixView::Sparse(x).check_csr("features")?;
        MatrixView::Sparse(x)
            .check_values(f32::is_finite)
            .map_err(TreeError::NonFinite)?;
        // Centroids have no more entries than the rows that they average.
        check_entries(x.nnz())?;
        Ok(Self {
            x,
            targets,
            routing,
            params,
            member_rows: MemberRows::new(x, routing),
            stored,
        })
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
        self.params
            .kmeans
            .run(&work.points, seed.purpose("clusters"), &mut work.clusters);
        if work.clusters.n_clusters() < 2 {
            return None;
        }
        let CentroidWorkspace {
            sample,
            clusters,
            centroids,
            means,
            total,
            ..
        } = work;
        // The sums of all rows, if all rows are clustered.
        let total = total.as_ref().filter(|_| sample.len() == rows.len());
        let scoring = self.routing.at_node(seed.purpose("routing"));
        let members = clusters.labels().iter().map(|&label| label as usize + 1);
        let members = members.zip(sample.iter().copied());
        let (n_clusters, max_entries) = (clusters.n_clusters(), self.params.centroid_entries);
        means.compute(
            &self.member_rows,
            members,
            n_clusters,
            total.map(|(_, total)| &total[..]),
            max_entries,
            &*scoring,
            centroids,
        );
        self.route(rows, work, children);
        let reached = keep_reached(children, work.centroids.len());
        if reached.n < 2 {
            return None;
        }
        if let StoredCentroids::WeightsOf(routing) = self.stored {
            let members = children.iter().map(|&c| usize::from(c) + 1);
            let members = members.zip(rows.iter().copied());
            let rows = MemberRows::new(self.x, routing);
            let scoring = routing.at_node(seed.purpose("routing"));
            let (means, centroids) = (&mut work.means, &mut work.centroids);
            means.compute(&rows, members, reached.n, None, max_entries, &*scoring, centroids);
            return Some(CentroidRule::gather(work.centroids.iter(), &mut work.gather));
        }
        let named = work.centroids.iter().zip(&reached.names);
        let kept: Vec<&Centroid> = named
            .filter(|(_, name)| name.is_some())
            .map(|(centroid, _)| centroid)
            .collect();
        if matches!(self.stored, StoredCentroids::Members) {
            let mut rule = CentroidRule::without_weights(kept.len());
            rule.members = members_of(rows, &work.sample, work.clusters.labels(), &reached);
            return Some(rule);
        }
        Some(CentroidRule::gather(kept.iter().copied(), &mut work.gather))
    }

    fn draw(&self, rows: &[u32], seed: Seed, sample: &mut Vec<u32>) {
        sample.clear();
        let size = self.params.node_sample.size(rows.len());
        match self.params.node_sample {
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
        /// Number of rows that a thread takes at a time.
        const CHUNK: usize = 4096;
        let (centroids, table) = (&work.centroids, &mut work.table);
        table.fill(centroids, self.x.cols());
        let route = |(rows, children): (&[u32], &mut [u16])| {
            let mut scores = Vec::new();
            for (&row, child) in rows.iter().zip(children) {
                let (features, values) = csr_row(&self.x, row as usize);
                *child = table.nearest(features, values, &mut scores) as u16;
            }
        };
        if rows.len() < 2 * CHUNK {
            route((rows, children));
        } else {
            rows.par_chunks(CHUNK)
                .zip(children.par_chunks_mut(CHUNK))
                .for_each(route);
        }
        table.clear(centroids);
    }
}

impl<T: ClusterTargets> Splitter for CentroidSplitter<'_, T> {
    type Rule = CentroidRule;
    type Workspace = CentroidWorkspace;

    fn n_rows(&self) -> usize {
        self.x.rows()
    }

    fn workspace(&self) -> CentroidWorkspace {
        CentroidWorkspace {
            sample: Vec::new(),
            points: Points::new(self.targets.n_columns()),
            clusters: Workspace::default(),
            centroids: Vec::new(),
            means: Means::new(self.x.cols()),
            gather: Gather::new(self.x.cols()),
            table: Table::default(),
            total: None,
            totals: Vec::new(),
        }
    }

    fn begin(&self, work: &mut CentroidWorkspace) {
        work.total = None;
        work.totals.clear();
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        work: &mut CentroidWorkspace,
        children: &mut [u16],
    ) -> Option<ProposedSplit<CentroidRule>> {
        let total = work.totals.iter().position(|(number, _)| *number == node.number);
        work.total = total.map(|total| work.totals.swap_remove(total));
        if self.targets.all_equal(node.rows) || self.features_equal(node.rows) {
            return None;
        }
        let seed = node.seed.purpose("centroids");
        let rule = (0..self.params.attempts)
            .find_map(|attempt| self.attempt(node.rows, seed.child(attempt.into()), work, children))?;
        let gain = node.rows.len() as f64;
        Some(ProposedSplit { rule, gain })
    }

    fn opened(&self, parent: usize, children: &[(NodeRows<'_>, bool)], work: &mut CentroidWorkspace) {
        let searched = children.iter().filter(|(_, searched)| *searched);
        let Some((largest, _)) = searched.max_by_key(|(child, _)| child.rows.len()) else {
            return;
        };
        if !self.member_rows.is_exact {
            return;
        }
        let total = work.total.take().filter(|(number, _)| *number == parent);
        let others = children.iter().map(|(child, _)| child);
        let others = others.filter(|child| child.number != largest.number);
        let total = total_of_child(
            total.map(|(_, total)| total),
            &self.member_rows,
            largest.rows,
            others.map(|child| child.rows),
            self.x.cols(),
        );
        work.totals.extend(total.map(|total| (largest.number, total)));
    }
}

/// Buffers of a thread.
#[derive(Debug)]
pub struct CentroidWorkspace {
    sample: Vec<u32>,
    points: Points,
    clusters: Workspace,
    centroids: Vec<Centroid>,
    means: Means,
    gather: Gather,
    table: Table,
    /// The number of the node searched last and the sums of its rows, if available.
    total: Option<(usize, Vec<f64>)>,
    /// The same pairs for nodes to be searched.
    totals: Vec<(usize, Vec<f64>)>,
}

/// The children that receive rows.
struct Reached {
    n: usize,
    /// Per centroid: the number of its child, if any row goes there.
    names: Vec<Option<u16>>,
}

/// Renumbers children so that each has rows.
fn keep_reached(children: &mut [u16], n_centroids: usize) -> Reached {
    let mut names = vec![None; n_centroids];
    children.iter().for_each(|&c| names[usize::from(c)] = Some(0));
    let mut n = 0;
    for name in names.iter_mut().flatten() {
        *name = n as u16;
        n += 1;
    }
    if n < n_centroids {
        for child in children {
            *child = names[usize::from(*child)].expect("rows go where they reached");
        }
    }
    Reached { n, names }
}

/// Returns for each row of a node 1 + the child whose centroid averages it, or 0 if none does.
fn members_of(rows: &[u32], sample: &[u32], labels: &[u32], reached: &Reached) -> Box<[u16]> {
    let mut drawn = sample.iter().zip(labels).peekable();
    let code = |row: &u32| {
        let label = drawn
            .next_if(|(sampled, _)| *sampled == row)
            .map(|(_, &label)| label);
        let child = label.and_then(|label| reached.names[label as usize]);
        child.map_or(0, |child| child + 1)
    };
    rows.iter().map(code).collect()
}

//! k-means on sparse or dense rows, by distance or by direction.
//!
//! Given n rows of weight w_i and k, alternates between taking every row to its nearest centre and moving every
//! centre to the mean of its rows:
//!
//! ```text
//! Euclidean:  c_i = argmin_c ‖x_i - μ_c‖²,      μ_c = Σ w_i x_i / Σ w_i,           minimises Σ w_i ‖x_i - μ_{c_i}‖²
//! spherical:  c_i = argmax_c cos(x_i, μ_c),     μ_c = Σ w_i x_i/‖x_i‖, normalised,  maximises Σ w_i cos(x_i, μ_{c_i})
//! ```
//!
//! Neither objective ever gets worse from one pass to the next. Starts are drawn by k-means++ (Arthur,
//! Vassilvitskii 2007): the first centre is a random row, each further one a row with probability proportional
//! to w_i times its squared distance to the nearest centre so far; for directions to w_i (1 - cos)², as CRAFTML's
//! released code does.
//!
//! The rules that make results defined: of equally near centres the lowest takes a row; a cluster without rows
//! disappears, and those behind it move up; if fewer than k distinct rows exist there are fewer clusters; a row
//! without direction (all zeros) has cosine 0 with everything; a spherical cluster whose rows cancel has the zero
//! vector for its centre.
//!
//! Values are `f32`, everything that is computed `f64`. A pass costs a fused multiply-add per stored value and
//! centre: centres are kept feature by feature, so that a stored value meets k neighbouring numbers, and only for
//! the features that occur.
//!
//! The distances may be those of images of the rows under a sparse map ([`Points::map`]), which are never made.
//!
//! linfa-clustering's k-means has dense rows only: on the 700-component projections of label sets that CRAFTML's report
//! clusters, it would hold and pass over all components, where this one reads the labels. It finds the same clusters
//! from the same start, which a test checks.
//!
//! Sources: Lloyd 1982; Dhillon, Modha 2001 (spherical); Siblini, Kuntz, Meyer, ICML 2018 (CRAFTML), whose released
//! code does not scale centres to unit length between passes; here a product with a centre is a cosine.

mod fit;
mod images;
mod passes;
mod points;
mod seeding;

pub use fit::Clustering;
pub use passes::Workspace;
pub use points::Points;

use crate::TreeError;
use rpo_core::{ParameterError, check_count};
use serde::{Deserialize, Serialize};

/// What near means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Geometry {
    /// Small squared distance; centres are means.
    Euclidean,
    /// Large cosine; centres are means of unit rows, scaled to unit length.
    Spherical,
}

/// Parameters of k-means.
///
/// ```
/// use ndarray::array;
/// use rpo_core::Seed;
/// use rpo_tree::cluster::{KMeans, KMeansParams};
///
/// let rows = array![[0.0, 0.1], [9.0, 9.2], [0.2, 0.0], [9.1, 9.0]];
/// let kmeans = KMeans::new(KMeansParams::euclidean(2))?;
/// let found = kmeans.fit((&rows).into(), Seed::new(7))?;
/// assert_eq!(found.n_clusters(), 2);
/// assert_eq!(found.labels()[0], found.labels()[2]);
/// assert_ne!(found.labels()[0], found.labels()[1]);
/// # Ok::<(), rpo_tree::TreeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KMeansParams {
    /// Largest number of clusters k, at least 1.
    pub n_clusters: usize,
    /// What near means.
    pub geometry: Geometry,
    /// Largest number of passes (assignment, then new centres), at least 1; fewer are made when a pass changes
    /// no assignment.
    pub max_passes: usize,
    /// Number of starts, at least 1; the one with the best objective wins, of equal ones the first.
    pub n_starts: usize,
    /// Learn on at most this many rows, drawn without replacement, at least 1; `None`: all. Every row is assigned.
    pub sample: Option<usize>,
}

impl KMeansParams {
    /// Squared distances, 10 starts, at most 300 passes, all rows: what k-means usually means.
    pub const fn euclidean(n_clusters: usize) -> Self {
        Self {
            n_clusters,
            geometry: Geometry::Euclidean,
            max_passes: 300,
            n_starts: 10,
            sample: None,
        }
    }

    /// Cosines, one start, 5 passes, all rows: as in CRAFTML's released code.
    pub const fn spherical(n_clusters: usize) -> Self {
        Self {
            n_clusters,
            geometry: Geometry::Spherical,
            max_passes: 5,
            n_starts: 1,
            sample: None,
        }
    }
}

/// k-means with checked parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KMeans(KMeansParams);

impl KMeans {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] with the first one that is 0 (or, for clusters, above 65,536).
    pub fn new(params: KMeansParams) -> Result<Self, TreeError> {
        let fits = (1..=1 << 16).contains(&params.n_clusters);
        ParameterError::unless(fits, "n_clusters", params.n_clusters, "1 to 65536")?;
        check_count("max_passes", params.max_passes)?;
        check_count("n_starts", params.n_starts)?;
        check_count("sample", params.sample)?;
        Ok(Self(params))
    }

    /// The parameters.
    pub const fn params(&self) -> &KMeansParams {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_checked() {
        let good = KMeansParams::euclidean(2);
        assert!(KMeans::new(good).is_ok());
        let check = |params, expected| match KMeans::new(params) {
            Err(TreeError::Parameter(ParameterError::OutOfRange { name, .. })) => assert_eq!(name, expected),
            other => panic!("{expected}: {other:?}"),
        };
        check(
            KMeansParams {
                n_clusters: 0,
                ..good
            },
            "n_clusters",
        );
        check(
            KMeansParams {
                n_clusters: (1 << 16) + 1,
                ..good
            },
            "n_clusters",
        );
        check(
            KMeansParams {
                max_passes: 0,
                ..good
            },
            "max_passes",
        );
        check(KMeansParams { n_starts: 0, ..good }, "n_starts");
        check(
            KMeansParams {
                sample: Some(0),
                ..good
            },
            "sample",
        );
    }
}

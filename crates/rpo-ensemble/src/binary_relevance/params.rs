//! Parameters of forests per label: a builder, and the checked value that fits.

use crate::EnsembleError;
use crate::error::check_ranges;
use rpo_core::Seed;

/// Parameters of a forest for every label. Start from [`default`](Self::default), rf-cost's, set what differs, then
/// [`check`](Self::check) and fit.
#[derive(Debug, Clone)]
pub struct BinaryRelevanceParams {
    pub(super) n_trees: usize,
    pub(super) row_share: f64,
    pub(super) feature_share: f64,
    pub(super) min_samples_leaf: usize,
    pub(super) max_depth: Option<u32>,
    pub(super) seed: Seed,
}

impl Default for BinaryRelevanceParams {
    /// 50 trees per label on 75 % of rows and features, leaves of at least 3 rows; seed 0.
    fn default() -> Self {
        Self {
            n_trees: 50,
            row_share: 0.75,
            feature_share: 0.75,
            min_samples_leaf: 3,
            max_depth: None,
            seed: Seed::new(0),
        }
    }
}

impl BinaryRelevanceParams {
    /// Number of trees per label, at least 1. Default 50.
    #[must_use]
    pub fn n_trees(self, n_trees: usize) -> Self {
        Self { n_trees, ..self }
    }

    /// Share of the rows that a tree grows on, drawn without replacement, in (0, 1]. Default 0.75. The t-th trees of all
    /// labels grow on the same rows. At 1 no row is out of bag.
    #[must_use]
    pub fn row_share(self, row_share: f64) -> Self {
        Self { row_share, ..self }
    }

    /// Share of the features that a tree uses, in (0, 1]. Default 0.75.
    #[must_use]
    pub fn feature_share(self, feature_share: f64) -> Self {
        Self {
            feature_share,
            ..self
        }
    }

    /// Fewest rows of a leaf, at least 1. Default 3.
    #[must_use]
    pub fn min_samples_leaf(self, min_samples_leaf: usize) -> Self {
        Self {
            min_samples_leaf,
            ..self
        }
    }

    /// Largest depth of a leaf; the root has depth 0. Default none.
    #[must_use]
    pub fn max_depth(self, max_depth: Option<u32>) -> Self {
        Self { max_depth, ..self }
    }

    /// The master seed, from which the streams of all trees derive. Default 0.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self {
            seed: Seed::new(seed),
            ..self
        }
    }

    /// Checks all ranges.
    ///
    /// # Errors
    /// [`EnsembleError::Parameter`] with the first parameter out of range.
    pub fn check(self) -> Result<ValidBinaryRelevanceParams, EnsembleError> {
        let is_share = |v: f64| v > 0.0 && v <= 1.0;
        const SHARE: &str = "in (0, 1]";
        const POSITIVE: &str = "at least 1";
        let checks = [
            ("n_trees", self.n_trees > 0, self.n_trees.to_string(), POSITIVE),
            (
                "row_share",
                is_share(self.row_share),
                self.row_share.to_string(),
                SHARE,
            ),
            (
                "feature_share",
                is_share(self.feature_share),
                self.feature_share.to_string(),
                SHARE,
            ),
            (
                "min_samples_leaf",
                self.min_samples_leaf > 0,
                self.min_samples_leaf.to_string(),
                POSITIVE,
            ),
        ];
        check_ranges(checks)?;
        Ok(ValidBinaryRelevanceParams(self))
    }
}

/// Checked parameters, ready to fit.
#[derive(Debug, Clone)]
pub struct ValidBinaryRelevanceParams(pub(super) BinaryRelevanceParams);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_checked_at_their_bounds() {
        let name = |params: BinaryRelevanceParams| match params.check() {
            Err(EnsembleError::Parameter { name, .. }) => name,
            other => panic!("{other:?}"),
        };
        let base = BinaryRelevanceParams::default;
        assert!(
            base()
                .row_share(1.0)
                .feature_share(f64::MIN_POSITIVE)
                .min_samples_leaf(1)
                .check()
                .is_ok()
        );
        assert_eq!(name(base().n_trees(0)), "n_trees");
        assert_eq!(name(base().min_samples_leaf(0)), "min_samples_leaf");
        for bad in [0.0, -1.0, 1.0 + f64::EPSILON, f64::NAN] {
            assert_eq!(name(base().row_share(bad)), "row_share");
            assert_eq!(name(base().feature_share(bad)), "feature_share");
        }
    }
}

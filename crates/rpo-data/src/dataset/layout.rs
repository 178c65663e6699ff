//! The storage of features, and conversion from one to another.

use super::{Dataset, DatasetError};
use rpo_core::{Matrix, MatrixView, check_dense};
use serde::{Deserialize, Serialize};

/// Fraction of stored entries below which [`Layout::Auto`] chooses CSR. A stored CSR entry takes two words where a
/// dense entry takes one, and costs an indirection to read, so that sparse storage pays off below about 1 in 4.
pub const AUTO_DENSITY: f64 = 0.25;
/// Largest number of features, for each category of three or more values, that [`Layout::Auto`] leaves dense whatever
/// their density. Trees split categories as such if features are dense; with more features this takes more time than it
/// is worth.
const FEATURES_PER_CATEGORY: usize = 100;

/// The storage of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Row-major dense.
    Dense,
    /// Compressed sparse rows.
    Sparse,
    /// Sparse below a density of [`AUTO_DENSITY`], unless at least one in a hundred features is a category of three or
    /// more values and there are no texts; dense otherwise.
    Auto,
}

/// Returns true if features of which `n_stored` of `n_all` values are not zero are sparse in [`Layout::Auto`].
pub(crate) fn is_sparse(n_stored: usize, n_all: usize) -> bool {
    (n_stored as f64) < AUTO_DENSITY * n_all as f64
}

impl Dataset {
    /// Converts the features to a layout. Dense features may take up to `memory_limit` bytes
    /// ([`DEFAULT_MEMORY_LIMIT`](crate::DEFAULT_MEMORY_LIMIT) is a reasonable limit).
    ///
    /// # Errors
    /// [`DatasetError::Dense`], before more than the limit is allocated.
    pub fn with_layout(mut self, layout: Layout, memory_limit: usize) -> Result<Self, DatasetError> {
        let sparse = match layout {
            Layout::Dense => false,
            Layout::Sparse => true,
            Layout::Auto => self.feature_density() < AUTO_DENSITY && !self.is_categorical(memory_limit),
        };
        self.features = match self.features {
            Matrix::Dense(a) if sparse => MatrixView::from(&a).to_csr().into(),
            Matrix::Sparse(_) if !sparse => Matrix::Dense(self.features.view().to_dense(memory_limit)?),
            as_it_is => as_it_is,
        };
        Ok(self)
    }

    /// Returns true if so many features are categories of three or more values that all are stored as dense features, if
    /// these are within a memory limit.
    fn is_categorical(&self, memory_limit: usize) -> bool {
        let n_categories = self.nominal.values().filter(|values| values.len() > 2).count();
        self.texts.is_empty()
            && self.n_features() <= n_categories.saturating_mul(FEATURES_PER_CATEGORY)
            && check_dense(
                self.n_samples(),
                self.n_features(),
                size_of::<f32>(),
                memory_limit,
            )
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Task;
    use super::super::tests::mixed;
    use super::*;
    use rpo_core::{MatrixError, MemoryLimit};

    /// Zeros, and one category of three values among `n_features` features.
    fn zeros(n_features: usize) -> Dataset {
        let x = ndarray::Array2::zeros((3, n_features));
        let values = ["a", "b", "c"].map(String::from).into();
        Dataset::new(x.into(), ndarray::Array2::zeros((3, 1)).into(), Task::Regression)
            .and_then(|data| data.with_nominal([(0, values)].into()))
            .unwrap()
    }

    #[test]
    fn categories_stay_dense_unless_they_are_few() {
        for (n_features, limit, expected) in [
            (100, usize::MAX, true),
            (101, usize::MAX, false),
            (100, 1199, false),
        ] {
            let data = zeros(n_features).with_layout(Layout::Auto, limit).unwrap();
            assert_eq!(
                matches!(data.features(), Matrix::Dense(_)),
                expected,
                "{n_features} {limit}"
            );
        }
        let numbers = zeros(100).with_nominal([].into()).unwrap();
        let numbers = numbers.with_layout(Layout::Auto, usize::MAX).unwrap();
        assert!(matches!(numbers.features(), Matrix::Sparse(_)));
    }

    #[test]
    fn layouts_hold_the_same_values() {
        let dense = mixed();
        let sparse = dense.clone().with_layout(Layout::Sparse, 0).unwrap();
        assert_eq!((sparse.n_missing(), dense.n_missing()), (1, 1));
        assert_eq!(sparse.feature_density(), dense.feature_density());
        let joined = sparse.concat(&dense).unwrap();
        assert!(matches!(joined.features(), Matrix::Sparse(_)));
        let again = joined
            .select_samples(&[3, 1, 5])
            .unwrap()
            .with_layout(Layout::Auto, usize::MAX)
            .unwrap();
        assert!(matches!(again.features(), Matrix::Dense(_)));
        assert_eq!(
            format!("{:?}", again.features()),
            format!("{:?}", dense.features())
        );
        assert_eq!(again.outputs(), dense.outputs());
        assert!(matches!(
            sparse.with_layout(Layout::Dense, 35),
            Err(DatasetError::Dense(MatrixError::Memory(MemoryLimit {
                bytes: 36,
                limit: 35,
                ..
            })))
        ));
    }
}

//! The fitted baseline.

use crate::{ModelError, Predict};
use ndarray::{Array1, Array2};
use rpo_core::store::{Reader, Restore, Sizes, Store, StoreError, Writer, check_finite};
use rpo_core::{CsrMatrix, Domain, MatrixView, Mismatch, csr_of_rows, top_of};

/// A fitted baseline: the same values for every sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    values: Array1<f32>,
    n_features: usize,
    n_train: usize,
}

impl Baseline {
    /// The name of the kind of model in a file.
    pub(super) const KIND: &str = "baseline";

    pub(super) fn new(values: Array1<f32>, n_features: usize, n_train: usize) -> Self {
        Self {
            values,
            n_features,
            n_train,
        }
    }
}

impl Predict for Baseline {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_outputs(&self) -> usize {
        self.values.len()
    }

    fn n_train(&self) -> usize {
        self.n_train
    }

    fn predict_with_limit(&self, x: MatrixView<'_>, memory_limit: usize) -> Result<Array2<f32>, ModelError> {
        Mismatch::check("features", self.n_features, x.n_cols())?;
        ModelError::check_scores(x.n_rows(), self.values.len(), memory_limit)?;
        let shape = (x.n_rows(), self.values.len());
        let rows = self
            .values
            .broadcast(shape)
            .expect("one row is as long as the others");
        Ok(rows.to_owned())
    }

    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, ModelError> {
        Domain::Count.check("k", k)?;
        Mismatch::check("features", self.n_features, x.n_cols())?;
        let best = top_of(self.values.view(), k);
        let rows = std::iter::repeat_n(&best, x.n_rows());
        Ok(csr_of_rows(rows, (x.n_rows(), self.values.len())))
    }

    fn equals(&self, other: &dyn Predict) -> bool {
        other.downcast_ref() == Some(self)
    }
}

impl Store for Baseline {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        let values = self.values.to_vec();
        check_finite("baseline.value", &values)?;
        out.array("baseline.value", &values)
    }
}

impl Restore for Baseline {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let values = from.array::<f32>("baseline.value")?.of_length(sizes.n_outputs)?;
        let values = values.where_all("a finite number", f32::is_finite)?.to_vec();
        Ok(Self::new(values.into(), sizes.n_features, sizes.n_train))
    }
}

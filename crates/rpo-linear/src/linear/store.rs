//! Storage of linear models.

use rpo_core::store::{Reader, Restore, Sizes, Store, StoreError, Writer};

use super::LinearModel;
use super::calibrate::Calibration;

impl Store for LinearModel {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.field("inverse_link", self.inverse_link)?;
        self.calibration.store(out)?;
        out.field("normalize", self.normalize)?;
        if let Some(residual) = self.residual {
            out.field("residual", residual)?;
        }
        if let Some(cost) = self.cost {
            out.field("cost", cost)?;
        }
        if let Some(penalty) = self.penalty {
            out.field("penalty", penalty)?;
        }
        out.matrix("weight", &self.weights)?;
        out.array("offset", &self.offset.to_vec())
    }
}

impl Restore for LinearModel {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let (inverse_link, normalize) = (from.field("inverse_link")?, from.field("normalize")?);
        let calibration = Calibration::restore(from, sizes)?;
        let residual = from.field("residual")?;
        let cost = from.field("cost")?;
        let penalty = from.field("penalty")?;
        let weights = from.matrix("weight", sizes.n_outputs)?;
        if weights.n_rows() != sizes.n_features {
            return Err(StoreError::array("weight", "does not have one row per feature"));
        }
        let offset = from.array::<f64>("offset")?.of_length(sizes.n_outputs)?;
        let offset = offset.where_all("a number", |b| !b.is_nan())?.to_vec();
        Ok(Self {
            weights,
            offset: offset.into(),
            inverse_link,
            calibration,
            normalize,
            residual,
            cost,
            penalty,
            n_train: sizes.n_train,
        })
    }
}

//! Storage of one-vs-rest.

use rpo_core::store::{Reader, Restore, Sizes, Store, StoreError, Writer, check_finite};

use super::OneVsRestModel;

impl Store for OneVsRestModel {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.field("loss", self.loss())?;
        out.field("normalize", self.normalize())?;
        out.field("residual", self.residual())?;
        out.sparse("weight", &[self.weights()])?;
        let offset = self.offset().to_vec();
        check_finite("offset", &offset)?;
        out.short_floats("offset", &offset)
    }
}

impl Restore for OneVsRestModel {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let (loss, normalize, residual) = (
            from.field("loss")?,
            from.field("normalize")?,
            from.field("residual")?,
        );
        let weights = from.sparse("weight", sizes.n_outputs)?;
        if weights.rows() != sizes.n_features {
            return Err(StoreError::array(
                "weight.size",
                "does not have one entry per feature",
            ));
        }
        let offset = from.floats("offset")?.of_length(sizes.n_outputs)?;
        let offset = offset.where_all("a finite number", f32::is_finite)?.to_vec();
        let model = Self::new(weights, offset.into(), loss, normalize, residual, sizes.n_train);
        model.map_err(|e| StoreError::part("one-vs-rest", e))
    }
}

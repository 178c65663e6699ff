//! Pipelines as arrays, and back. Indicators follow from the values of nominal features.

use super::{Nominal, Pipeline};
use rpo_core::store::{Reader, Store, StoreError, Writer};

const FILL: &str = "impute.fill";
const MEAN: &str = "standardize.mean";
const FACTOR: &str = "standardize.factor";
const ONE_HOT: &str = "one_hot";

impl Store for Pipeline {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        if let Some(imputer) = self.imputer() {
            let fill = imputer.fill().iter().map(|fill| fill.unwrap_or(f32::NAN));
            out.floats(FILL, &fill.collect::<Vec<_>>())?;
        }
        if self.one_hot().is_some() {
            out.field(ONE_HOT, true)?;
        }
        if let Some(standardizer) = self.standardizer() {
            out.doubles(MEAN, standardizer.mean())?;
            out.doubles(FACTOR, standardizer.factor())?;
        }
        Ok(())
    }
}

impl Pipeline {
    /// Restores a pipeline of this many features, some of them nominal with these values; one without steps if none is
    /// stored.
    ///
    /// # Errors
    /// [`StoreError`] for arrays that are invalid or do not fit the features.
    pub fn restore(from: &mut Reader<'_>, n_features: usize, nominal: &Nominal) -> Result<Self, StoreError> {
        let mut fill = None;
        if from.has(FILL) {
            let values = from.floats(FILL)?;
            fill = Some(values.iter().map(|v| (!v.is_nan()).then_some(v)).collect());
        }
        let mut moments = None;
        if from.has(MEAN) {
            moments = Some((from.doubles(MEAN)?.to_vec(), from.doubles(FACTOR)?.to_vec()));
        }
        let one_hot = from.optional_field(ONE_HOT)?.unwrap_or(false);
        let pipeline = Self::new(n_features, nominal.clone(), fill, one_hot, moments);
        pipeline.map_err(|e| StoreError::part("pipeline", e))
    }
}

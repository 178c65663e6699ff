//! Storing of pipelines as arrays, and restoring. Indicators follow from the values of nominal features.

use super::pipeline::Learned;
use super::{Nominal, Pipeline};
use crate::text::Texts;
use rpo_core::store::{Reader, Store, StoreError, Writer};

const TARGETS: &str = "target_encoding.targets";
const TARGET_MEAN: &str = "target_encoding.mean";
const FILL: &str = "impute.fill";
const MEAN: &str = "standardize.mean";
const FACTOR: &str = "standardize.factor";
const ONE_HOT: &str = "one_hot";
const WEIGHT: &str = "idf.weight";
const NORMALIZE: &str = "normalize_features";
const TEXT_WEIGHT: &str = "text.weight";
const TEXT_WEIGHTING: &str = "text_weights";

impl Store for Pipeline {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        let learned = self.learned();
        if let Some((weighting, weights)) = learned.texts {
            out.field(TEXT_WEIGHTING, weighting)?;
            out.array(TEXT_WEIGHT, &weights)?;
        }
        if let Some((targets, means)) = learned.target_encoding {
            out.field(TARGETS, targets)?;
            out.array(TARGET_MEAN, &means)?;
        }
        if let Some(fill) = learned.fill {
            let fill = fill.iter().map(|fill| fill.unwrap_or(f32::NAN));
            out.array(FILL, &fill.collect::<Vec<_>>())?;
        }
        if learned.one_hot {
            out.field(ONE_HOT, true)?;
        }
        if let Some((mean, factor)) = learned.moments {
            out.array(MEAN, &mean)?;
            out.array(FACTOR, &factor)?;
        }
        if let Some(weights) = learned.weights {
            out.array(WEIGHT, &weights)?;
        }
        learned
            .normalize
            .map_or(Ok(()), |length| out.field(NORMALIZE, length))
    }
}

impl Pipeline {
    /// Restores a pipeline for `n_features` features, of which `nominal` have lists of values and `texts` are terms of
    /// texts. If nothing is stored, the pipeline has no steps.
    ///
    /// # Errors
    /// [`StoreError`] for arrays that are invalid or do not fit the features.
    pub fn restore(
        from: &mut Reader<'_>,
        n_features: usize,
        nominal: &Nominal,
        texts: &Texts,
    ) -> Result<Self, StoreError> {
        let mut learned = Learned {
            one_hot: from.field::<Option<_>>(ONE_HOT)?.unwrap_or(false),
            normalize: from.field(NORMALIZE)?,
            ..Learned::default()
        };
        if from.has(TEXT_WEIGHT) {
            learned.texts = Some((
                from.field(TEXT_WEIGHTING)?,
                from.array::<f32>(TEXT_WEIGHT)?.to_vec(),
            ));
        }
        if from.has(TARGET_MEAN) {
            learned.target_encoding = Some((from.field(TARGETS)?, from.array::<f32>(TARGET_MEAN)?.to_vec()));
        }
        if from.has(FILL) {
            let values = from.array::<f32>(FILL)?;
            learned.fill = Some(values.map(|v| (!v.is_nan()).then_some(v)).collect());
        }
        if from.has(MEAN) {
            learned.moments = Some((
                from.array::<f64>(MEAN)?.to_vec(),
                from.array::<f64>(FACTOR)?.to_vec(),
            ));
        }
        if from.has(WEIGHT) {
            learned.weights = Some(from.array::<f32>(WEIGHT)?.to_vec());
        }
        let pipeline = Self::new(n_features, nominal.clone(), texts.clone(), learned);
        pipeline.map_err(|e| StoreError::part("pipeline", e))
    }
}

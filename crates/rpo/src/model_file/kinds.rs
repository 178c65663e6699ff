//! The kinds of models that a file can hold.

use super::error::ModelFileErrorKind;
use crate::model::Predictor;
use rpo_core::store::{Reader, Restore, Sizes, StoreError};
use rpo_ensemble::boosting::Boosted;
use rpo_ensemble::structured::StructuredForest;
use rpo_ensemble::{Craftml, Forest, SingleTargetForest};
use rpo_linear::{LinearModel, LinkModel};

type RestoreFn = fn(&mut Reader<'_>, Sizes) -> Result<Predictor, StoreError>;

/// What restores a model of each kind.
const KINDS: [(&str, RestoreFn); 7] = [
    ("forest", predictor::<Forest>),
    ("boosting", predictor::<Boosted>),
    ("single-target-forest", predictor::<SingleTargetForest>),
    ("label-embedding", predictor::<LinkModel>),
    ("linear", predictor::<LinearModel>),
    ("craftml", predictor::<Craftml>),
    ("structured-forest", predictor::<StructuredForest>),
];

fn predictor<T: Restore + Into<Predictor>>(
    from: &mut Reader<'_>,
    sizes: Sizes,
) -> Result<Predictor, StoreError> {
    T::restore(from, sizes).map(T::into)
}

/// Restores a model of a kind.
pub(super) fn restore(
    kind: &str,
    from: &mut Reader<'_>,
    sizes: Sizes,
) -> Result<Predictor, ModelFileErrorKind> {
    match KINDS.iter().find(|(name, _)| *name == kind) {
        Some((_, restore)) => Ok(restore(from, sizes)?),
        None => Err(ModelFileErrorKind::UnknownKind {
            found: kind.to_owned(),
            supported: KINDS.map(|(name, _)| name).join(", "),
        }),
    }
}

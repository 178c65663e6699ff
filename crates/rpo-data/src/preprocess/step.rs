//! What a step of a pipeline can do, and the list of all steps.

use super::expansion::{Columns, kept};
use super::impute::Imputer;
use super::kinds::Kinds;
use super::occurring::Occurring;
use super::one_hot::OneHot;
use super::scale::Idf;
use super::standardize::Standardization;
use super::target_encoding::TargetEncoding;
use super::text_weights::TextWeights;
use super::{Nominal, Normalization, PreprocessError, Steps};
use crate::dataset::Dataset;
use crate::names::Names;
use rpo_core::store::{Reader, StoreError, Writer};
use rpo_core::{Matrix, MatrixView};
use std::borrow::Cow;

/// A fitted step, and the features to train on; `None` if the step is not asked for.
pub(super) type Fitted<S> = Result<Option<(S, Matrix)>, PreprocessError>;

/// A fitted step of a pipeline.
pub(super) trait Step {
    /// Fits the step, if `steps` ask for it. The features to train on are those of [`Step::fitted`], unless samples must
    /// not be transformed by what was learned from themselves.
    fn fit_transform(steps: Steps<'_>, data: &Dataset) -> Fitted<Self>
    where
        Self: Sized;

    /// Transforms features (n x p).
    fn transform(&self, features: MatrixView<'_>) -> Result<Matrix, PreprocessError>;

    /// Stores what was learned.
    fn store(&self, out: &mut Writer) -> Result<(), StoreError>;

    /// Restores the step for features of these kinds, if it is stored.
    fn restore(from: &mut Reader<'_>, kinds: &Kinds) -> Result<Option<Self>, StoreError>
    where
        Self: Sized;

    /// Returns the columns that replace features; `None` if all features stay in their places.
    fn columns(&self) -> Option<&dyn Columns> {
        None
    }

    /// Returns the nominal features after the step, from those before.
    fn nominal(&self, before: Nominal) -> Nominal {
        before
    }

    /// Returns the name of a feature after the step, from the names before; `None` beyond the last.
    fn feature_name(&self, before: &dyn Fn(usize) -> Option<String>, column: usize) -> Option<String> {
        before(column)
    }

    /// Returns the step with the transformed features of a set.
    fn fitted(self, data: &Dataset) -> Fitted<Self>
    where
        Self: Sized,
    {
        let features = self.transform(data.features().view())?;
        Ok(Some((self, features)))
    }
}

/// Returns a step that was made of stored values.
pub(super) fn restored<S>(step: Result<S, PreprocessError>) -> Result<Option<S>, StoreError> {
    step.map(Some).map_err(invalid)
}

/// Converts the error of stored values that do not fit the features.
pub(super) fn invalid(error: PreprocessError) -> StoreError {
    StoreError::part("pipeline", error)
}

/// How a step of the list is made.
pub(super) struct Maker {
    pub(super) fit_transform: fn(Steps<'_>, &Dataset) -> Fitted<AnyStep>,
    pub(super) restore: fn(&mut Reader<'_>, &Kinds) -> Result<Option<AnyStep>, StoreError>,
}

macro_rules! steps {
    ($($step:ident),+ $(,)?) => {
        /// A step of the list.
        #[derive(Debug, Clone, PartialEq)]
        pub(super) enum AnyStep {
            $($step($step)),+
        }

        impl AnyStep {
            /// The list.
            pub(super) const ALL: &[Maker] = &[$(Maker {
                fit_transform: |steps, data| {
                    let made = $step::fit_transform(steps, data)?;
                    Ok(made.map(|(step, features)| (Self::$step(step), features)))
                },
                restore: |from, kinds| Ok($step::restore(from, kinds)?.map(Self::$step)),
            }),+];

            pub(super) fn get(&self) -> &dyn Step {
                match self {
                    $(Self::$step(step) => step),+
                }
            }
        }
    };
}

// In the order in which they are applied, each to the result of those before it, and stored.
steps![
    TextWeights,
    TargetEncoding,
    OneHot,
    Imputer,
    Standardization,
    Idf,
    Normalization,
    Occurring,
];

/// Returns the name of a feature after these steps, from the names before; `None` beyond the last.
pub(super) fn feature_name(steps: &[AnyStep], names: &Names, column: usize) -> Option<String> {
    match steps.split_last() {
        None => names.get(column).map(Cow::into_owned),
        Some((last, before)) => {
            let before = |column| feature_name(before, names, column);
            last.get().feature_name(&before, column)
        }
    }
}

/// Returns a set with the features that these steps made of its features.
pub(super) fn replaced(
    steps: &[AnyStep],
    data: &Dataset,
    features: Matrix,
) -> Result<Dataset, PreprocessError> {
    let (mut nominal, mut texts, mut dates) =
        (data.nominal().clone(), data.texts().clone(), data.dates().clone());
    for step in steps.iter().map(AnyStep::get) {
        nominal = step.nominal(nominal);
        if let Some(columns) = step.columns() {
            (texts, dates) = (kept(columns, &texts), kept(columns, &dates));
        }
    }
    let names = data.feature_names();
    let names = match steps.iter().any(|step| step.get().columns().is_some()) {
        true => Names::Given(
            (0..features.n_cols())
                .filter_map(|j| feature_name(steps, names, j))
                .collect(),
        ),
        false => names.clone(),
    };
    Ok(data.replace_features(features, names, nominal, texts, dates)?)
}

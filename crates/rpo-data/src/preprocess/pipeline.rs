//! The fitted preprocessing steps before a model, in sequence.

use super::expansion::Columns;
use super::kinds::Kinds;
use super::step::{AnyStep, feature_name, invalid, replaced};
use super::target_encoding::TargetEncoding;
use super::{Nominal, PreprocessError, Transform};
use crate::dataset::Dataset;
use crate::names::Names;
use crate::text::Texts;
use rpo_core::store::{Reader, Store, StoreError, Writer};
use rpo_core::{Matrix, MatrixView, Mismatch};

/// Fitted [`Steps`](super::Steps): a transform of sets, and of plain feature matrices whose columns are those of the
/// set it was fitted on.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// The kinds of the features before the steps.
    kinds: Kinds,
    steps: Vec<AnyStep>,
}

impl Pipeline {
    pub(super) fn new(kinds: Kinds, steps: Vec<AnyStep>) -> Self {
        Self { kinds, steps }
    }

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
        let kinds = Kinds::new(n_features, nominal.clone(), texts.clone());
        let kinds = kinds.map_err(invalid)?;
        let (mut before, mut steps) = (kinds.clone(), Vec::new());
        for maker in AnyStep::ALL {
            if let Some(step) = (maker.restore)(from, &before)? {
                before = before.after(step.get());
                steps.push(step);
            }
        }
        Ok(Self { kinds, steps })
    }

    /// Returns the columns of each step that changes their number.
    fn columns(&self) -> impl Iterator<Item = &dyn Columns> {
        self.steps.iter().filter_map(|step| step.get().columns())
    }

    /// Returns true if there are no steps, so that features stay unchanged.
    pub fn is_identity(&self) -> bool {
        self.steps.is_empty()
    }

    /// Number of features after the steps.
    pub fn n_columns(&self) -> usize {
        let last = self.columns().last();
        last.map_or(self.kinds.n_features, Columns::n_columns)
    }

    /// Returns the original feature of each feature after the steps; increasing.
    pub fn sources(&self) -> Vec<usize> {
        let features = (0..self.kinds.n_features).collect();
        self.columns().fold(features, |before: Vec<usize>, columns| {
            let sources = columns.sources().into_iter();
            sources.map(|column| before[column]).collect()
        })
    }

    /// Returns the name of a feature after the steps, from the names before; `None` beyond the last. Indicators are
    /// named `feature=value`, means of targets `mean(target|feature)`.
    pub fn feature_name(&self, names: &Names, column: usize) -> Option<String> {
        feature_name(&self.steps, names, column)
    }

    /// Returns the features, by their index before the steps, that are replaced by means of targets. Their missing
    /// values are encoded like other values, and the encoded values of a training sample include its own targets.
    pub fn target_encoded(&self) -> impl Iterator<Item = usize> + '_ {
        let encodings = self.steps.iter().filter_map(|step| match step {
            AnyStep::TargetEncoding(encoding) => Some(encoding),
            _ => None,
        });
        encodings.flat_map(TargetEncoding::replaced)
    }

    /// Transforms features (n x p) by all steps, like [`apply`](Transform::apply).
    ///
    /// # Errors
    /// [`PreprocessError::Mismatch`]; [`PreprocessError::Dataset`] for a value that is not in the list of a replaced
    /// nominal feature, or would become infinite; [`PreprocessError::Memory`].
    pub fn transform(&self, features: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        Mismatch::check("features", self.kinds.n_features, features.n_cols())?;
        let mut made: Option<Matrix> = None;
        for step in &self.steps {
            let latest = made.as_ref().map_or_else(|| features.reborrow(), Matrix::view);
            made = Some(step.get().transform(latest)?);
        }
        Ok(made.unwrap_or_else(|| features.to_owned()))
    }

    /// Refuses a set whose features differ from those the pipeline was fitted on.
    ///
    /// # Errors
    /// [`PreprocessError::Mismatch`], [`PreprocessError::Kind`].
    pub fn check(&self, data: &Dataset) -> Result<(), PreprocessError> {
        self.kinds.check(data)
    }
}

impl Transform for Pipeline {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        self.check(data)?;
        let features = self.transform(data.features().view())?;
        replaced(&self.steps, data, features)
    }
}

impl Store for Pipeline {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        self.steps.iter().try_for_each(|step| step.get().store(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Layout, Task};
    use crate::preprocess::{
        Encoding, EncodingTargets, FeatureWeights, Fill, Normalization, Standardize, Steps,
    };
    use ndarray::Array2;
    use proptest::prelude::*;
    use rpo_core::Seed;
    use std::borrow::Cow;

    /// Twelve samples with a numeric feature, one of four values, one of two values, and a numeric one; a tenth of the
    /// values is missing.
    fn data(seed: &[u8], layout: Layout) -> Dataset {
        let n_values = [f32::INFINITY, 4.0, 2.0, f32::INFINITY];
        let x = Array2::from_shape_fn((12, 4), |(i, j)| match f32::from(seed[4 * i + j]) {
            v if v < 25.0 => f32::NAN,
            v if n_values[j].is_finite() => v % n_values[j],
            v => (v - 128.0).max(0.0) / 8.0,
        });
        let list = |n: usize| (0..n).map(|v| format!("v{v}")).collect();
        let y = Array2::zeros((12, 1));
        Dataset::new(x.into(), y.into(), Task::Regression)
            .and_then(|data| data.with_nominal([(1, list(4)), (2, list(2))].into()))
            .and_then(|data| data.with_layout(layout, usize::MAX))
            .unwrap()
    }

    fn bits(x: &Matrix) -> Vec<u32> {
        let dense = x.view().to_dense(usize::MAX).unwrap();
        dense.iter().map(|v| v.to_bits()).collect()
    }

    proptest! {
        /// A set and its feature matrix are transformed to the same values, dense or sparse, all rows or some, also by
        /// the restored pipeline.
        #[test]
        fn sets_and_matrices_are_transformed_alike(
            seed in proptest::collection::vec(any::<u8>(), 48),
            fill in proptest::option::of(prop_oneof![Just(Fill::Median), Just(Fill::Mean), Just(Fill::MostFrequent)]),
            encoding in 0_usize..3, scope in 0_usize..3, sparse in any::<bool>(),
            idf in any::<bool>(), l2 in any::<bool>(),
        ) {
            let layout = if sparse { Layout::Sparse } else { Layout::Dense };
            let data = data(&seed, layout);
            let (weights, normalize) = (idf.then_some(FeatureWeights::Idf), l2.then_some(Normalization::L2));
            let y = Array2::from_shape_fn((12, 2), |(i, j)| f32::from(seed[4 * i + j]));
            let targets = EncodingTargets::new(y, vec!["a".to_owned(), "b".to_owned()], Seed::new(1)).unwrap();
            let nominal = [Encoding::Positions, Encoding::OneHot, Encoding::Target(&targets)][encoding];
            let standardize = [Standardize::None, Standardize::Measurements, Standardize::All][scope];
            let steps = Steps { impute: fill, nominal, standardize, weights, normalize, ..Steps::default() };
            let (pipeline, training) = steps.fit_apply(&data).unwrap();
            let made = pipeline.apply(&data).unwrap();
            prop_assert_eq!((made.nominal(), made.feature_names()), (training.nominal(), training.feature_names()));
            prop_assert!(encoding == 2 || bits(made.features()) == bits(training.features()));
            prop_assert_eq!(made.n_features(), pipeline.n_columns());
            let names = |j| pipeline.feature_name(data.feature_names(), j);
            prop_assert!((0..=made.n_features()).all(|j| made.feature_names().get(j).map(Cow::into_owned) == names(j)));
            let left = data.select_features(&[0, 2, 3]).unwrap();
            let missing = if encoding == 0 { data.n_missing() } else { left.n_missing() };
            prop_assert_eq!(made.n_missing() == 0, missing == 0 || fill.is_some());
            let x = data.features().view();
            prop_assert_eq!(bits(&pipeline.transform(x).unwrap()), bits(made.features()));
            let rows = [3, 7, 7];
            let some = pipeline.transform(x.select_rows(&rows).view()).unwrap();
            prop_assert_eq!(bits(&some), bits(&made.features().view().select_rows(&rows)));

            let mut out = Writer::default();
            pipeline.store(&mut out).unwrap();
            let stored = out.finish().unwrap();
            let again = Pipeline::restore(&mut stored.reader(), 4, data.nominal(), data.texts());
            prop_assert_eq!(again, Ok(pipeline));
        }
    }

    #[test]
    fn without_steps_nothing_happens() {
        let data = data(&[200; 48], Layout::Dense);
        let pipeline = Steps::default().fit(&data).unwrap();
        assert!(pipeline.is_identity());
        assert_eq!(pipeline.apply(&data), Ok(data.clone()));
        // There is nothing to replace.
        let numbers = data.select_features(&[0, 2, 3]).unwrap();
        let one_hot = Steps {
            nominal: Encoding::OneHot,
            ..Steps::default()
        };
        assert!(one_hot.fit(&numbers).unwrap().is_identity());
        assert_eq!(
            pipeline.apply(&numbers),
            Err(PreprocessError::Mismatch(Mismatch {
                what: "features",
                expected: 4,
                given: 3
            }))
        );
    }

    /// A dense matrix of these indicators would be beyond the memory limit, before and after standardization.
    #[test]
    fn many_categories_take_the_memory_of_few_values() {
        const N: usize = 40_000;
        let x = Array2::from_shape_fn((N, 2), |(i, j)| match j {
            0 => (i % 7) as f32,
            _ => (i * 31 % (N - 1)) as f32,
        });
        let values = (0..N).map(|v| v.to_string()).collect();
        let dense = Dataset::new(x.into(), Array2::zeros((N, 1)).into(), Task::Regression)
            .and_then(|data| data.with_nominal([(1, values)].into()))
            .unwrap();
        let sparse = dense.clone().with_layout(Layout::Sparse, usize::MAX).unwrap();
        let steps = Steps {
            nominal: Encoding::OneHot,
            standardize: Standardize::All,
            ..Steps::default()
        };
        let prepared = [dense, sparse].map(|data| {
            let (pipeline, prepared) = steps.fit_apply(&data).unwrap();
            assert_eq!(pipeline.n_columns(), N + 1);
            prepared.features().clone()
        });
        for x in &prepared {
            assert!(matches!(x, Matrix::Sparse(_)));
            assert_eq!(x.view().n_stored(), 2 * N);
        }
        let [(dense, _), (sparse, _)] = prepared.each_ref().map(|x| {
            let Matrix::Sparse(x) = x else {
                unreachable!("was checked")
            };
            (x.data(), x.indices())
        });
        let differ = dense.iter().zip(sparse).filter(|(a, b)| (*a - *b).abs() > 1e-6);
        assert_eq!(differ.count(), 0);
    }
}

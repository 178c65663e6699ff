//! The preprocessing steps before a model, fitted in sequence.

use super::expansion::Expansion;
use super::impute::Imputer;
use super::one_hot::OneHot;
use super::scale::{Idf, of_unit_length, unit_length};
use super::target_encoding::TargetEncoding;
use super::text_weights::TextWeights;
use super::{
    EncodingTargets, FeatureWeights, Fill, Nominal, Normalization, PreprocessError, Standardizer,
    TextWeighting, Transform, check_nominal, check_texts,
};
use crate::dataset::Dataset;
use crate::names::Names;
use crate::text::Texts;
use rpo_core::{Matrix, MatrixView, Mismatch, ParameterError};
use std::borrow::Cow;

/// The encoding of nominal features of three or more values.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Encoding<'t> {
    /// Keeps positions in the lists of values.
    #[default]
    Positions,
    /// Replaces them by indicators, after missing values are filled in: one per value, nominal `{0,1}` and named
    /// `feature=value`. A feature of two values already is an indicator of the second. A missing value is missing in
    /// all its indicators. The layout of the features is kept.
    OneHot,
    /// Replaces them by means of these targets, also where values are missing, before other missing values are filled
    /// in. See [`EncodingTargets`].
    Target(&'t EncodingTargets),
}

/// The steps to fit, in the order of the fields. By default there are none, except for texts.
///
/// ```
/// use ndarray::array;
/// use rpo_data::preprocess::{Encoding, Fill, Steps};
/// use rpo_data::{Dataset, Task};
/// let x = array![[2.0, 1.0], [0.0, f32::NAN], [1.0, 3.0]]; // colours, widths
/// let colours = ["red", "green", "blue"].map(String::from).into();
/// let train = Dataset::new(x.into(), array![[0.0], [1.0], [2.0]].into(), Task::Regression)?
///     .with_nominal([(0, colours)].into())?;
/// let steps = Steps { impute: Some(Fill::Mean), nominal: Encoding::OneHot, ..Steps::default() };
/// let pipeline = steps.fit(&train)?;
/// let new = array![[1.0, f32::NAN]];
/// assert_eq!(pipeline.transform((&new).into())?, array![[0.0, 1.0, 0.0, 2.0]].into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Steps<'t> {
    /// Weights the terms of texts, by tf-idf by default; sets without texts are left unchanged.
    ///
    /// If a text has term j cⱼ times, the feature becomes wⱼ f(cⱼ) / sqrt(Σ wₖ² f(cₖ)²), with
    /// wⱼ = log((1 + n) / (1 + nⱼ)) + 1 and f(c) = c or 1 + log c, where nⱼ of the n samples of the set have the term.
    /// The sum is over the terms of that text, so that each text column has length 1, or 0 if a text has no term of the
    /// vocabulary. These are the weights of scikit-learn's `TfidfVectorizer` (with `sublinear_tf` for 1 + log c) for
    /// the same terms. Features that are not terms are left unchanged; sparse features stay sparse.
    pub texts: TextWeighting,
    /// Fills missing features: numeric ones according to [`Fill`], nominal ones with their most frequent value; ties go
    /// to the value declared first. A feature that is never observed in the set is filled with 0
    /// ([`Pipeline::unobserved`]).
    pub impute: Option<Fill>,
    /// Replaces nominal features of three or more values.
    pub nominal: Encoding<'t>,
    /// Standardizes numeric features: x' = (x - mean) / sd, with the mean and the standard deviation (divisor n) of the
    /// observed values of the set, where a sample of weight 2 counts as two. A feature that is constant in the set
    /// becomes 0 everywhere. Missing values stay missing. The result is dense, as subtracting a mean leaves no zeros,
    /// except for sets with texts, whose sparse features stay sparse. A value so far from those of the set that the
    /// result would be infinite is an error. (Daniels and Metaxas 2017, section 4.)
    pub standardize: bool,
    /// Multiplies features by weights based on the number of samples of the set in which a feature is observed and
    /// not 0. With [`FeatureWeights::Idf`], a feature that no sample or every sample has becomes 0. Nominal features
    /// and the terms of texts are left unchanged, missing values stay missing, and sparse features stay sparse.
    pub weights: Option<FeatureWeights>,
    /// Scales the features of each sample. All features become numeric; sparse ones stay sparse.
    pub normalize: Option<Normalization>,
}

impl Steps<'_> {
    /// Fits each step to the result of the steps before it.
    ///
    /// # Errors
    /// [`PreprocessError::NoSamples`] if values are to be learned; [`PreprocessError::Memory`];
    /// [`PreprocessError::Mismatch`] for targets with another number of samples.
    pub fn fit(self, data: &Dataset) -> Result<Pipeline, PreprocessError> {
        self.fit_apply(data).map(|(pipeline, _)| pipeline)
    }

    /// Like [`fit`](Self::fit), but also returns the set to train on: the transformed set, except that means of targets
    /// are out of fold.
    ///
    /// # Errors
    /// As for [`fit`](Self::fit).
    pub fn fit_apply(self, data: &Dataset) -> Result<(Pipeline, Cow<'_, Dataset>), PreprocessError> {
        let mut pipeline = Pipeline::of(data.n_features(), data.nominal().clone(), data.texts().clone());
        let mut data = Cow::Borrowed(data);
        if !data.texts().is_empty() {
            pipeline.text_weights = TextWeights::fit(&data, self.texts)?;
            data = applied(pipeline.text_weights.as_ref(), data)?;
        }
        if let Encoding::Target(targets) = self.nominal
            && data.nominal().values().any(|values| values.len() > 2)
        {
            let (encoding, encoded) = TargetEncoding::fit_apply(&data, targets)?;
            pipeline.target_encoding = Some(encoding);
            data = Cow::Owned(encoded);
        }
        if let Some(fill) = self.impute {
            pipeline.imputer = Some(Imputer::fit(&data, fill)?);
            data = applied(pipeline.imputer.as_ref(), data)?;
        }
        if self.nominal == Encoding::OneHot {
            pipeline = pipeline.with_one_hot()?;
            data = applied(pipeline.one_hot.as_ref(), data)?;
        }
        if self.standardize {
            pipeline.standardizer = Some(Standardizer::of_features(&data)?);
            data = applied(pipeline.standardizer.as_ref(), data)?;
        }
        if self.weights == Some(FeatureWeights::Idf) {
            pipeline.idf = Some(Idf::fit(&data)?);
            data = applied(pipeline.idf.as_ref(), data)?;
        }
        if self.normalize.is_some() {
            pipeline.normalize = self.normalize;
            data = Cow::Owned(of_unit_length(&data)?);
        }
        Ok((pipeline, data))
    }
}

/// Applies a step to the set, if there is one.
fn applied<'a>(
    step: Option<&impl Transform>,
    data: Cow<'a, Dataset>,
) -> Result<Cow<'a, Dataset>, PreprocessError> {
    match step {
        Some(step) => Ok(Cow::Owned(step.apply(&data)?)),
        None => Ok(data),
    }
}

/// Fitted [`Steps`]: a transform of sets, and of plain feature matrices whose columns are those of the set it was
/// fitted on.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    n_features: usize,
    nominal: Nominal,
    texts: Texts,
    text_weights: Option<TextWeights>,
    target_encoding: Option<TargetEncoding>,
    imputer: Option<Imputer>,
    one_hot: Option<OneHot>,
    standardizer: Option<Standardizer>,
    idf: Option<Idf>,
    normalize: Option<Normalization>,
}

/// The learned state of a pipeline's steps, from which the pipeline can be rebuilt.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Learned {
    /// The weighting of terms of texts, and the weight of each term, column by column.
    pub(super) texts: Option<(TextWeighting, Vec<f32>)>,
    /// The targets whose means replace nominal features, and those means.
    pub(super) target_encoding: Option<(Vec<String>, Vec<f32>)>,
    /// The fill value of each feature after the target encoding.
    pub(super) fill: Option<Vec<Option<f32>>>,
    /// True if indicators replace nominal features.
    pub(super) one_hot: bool,
    /// Mean and factor of each column after the encoding.
    pub(super) moments: Option<(Vec<f64>, Vec<f64>)>,
    /// Weight of each column.
    pub(super) weights: Option<Vec<f32>>,
    pub(super) normalize: Option<Normalization>,
}

impl Pipeline {
    /// Creates a pipeline without steps.
    fn of(n_features: usize, nominal: Nominal, texts: Texts) -> Self {
        Self {
            n_features,
            nominal,
            texts,
            text_weights: None,
            target_encoding: None,
            imputer: None,
            one_hot: None,
            standardizer: None,
            idf: None,
            normalize: None,
        }
    }

    /// Rebuilds a fitted pipeline from the number of features, the values of nominal features, and the learned state.
    pub(super) fn new(
        n_features: usize,
        nominal: Nominal,
        texts: Texts,
        learned: Learned,
    ) -> Result<Self, PreprocessError> {
        let Learned {
            texts: text_weights,
            target_encoding,
            fill,
            one_hot,
            moments,
            weights,
            normalize,
        } = learned;
        let mut pipeline = Self {
            normalize,
            ..Self::of(n_features, nominal, texts)
        };
        if let Some((weighting, weights)) = text_weights {
            let texts = pipeline.texts.clone();
            pipeline.text_weights = Some(TextWeights::new(weighting, weights, texts, n_features)?);
        }
        if let Some((targets, means)) = target_encoding {
            if one_hot {
                let reason = "cannot be combined with means of targets";
                return Err(ParameterError::conflict("one_hot", true, reason).into());
            }
            let nominal = pipeline.nominal.clone();
            pipeline.target_encoding = Some(TargetEncoding::new(n_features, nominal, targets, &means)?);
        }
        if let Some(fill) = fill {
            Mismatch::check("features", pipeline.n_columns(), fill.len())?;
            pipeline.imputer = Some(Imputer::new(fill, pipeline.encoded())?);
        }
        if one_hot {
            pipeline = pipeline.with_one_hot()?;
        }
        if let Some((mean, factor)) = moments {
            Mismatch::check("features", pipeline.n_columns(), mean.len())?;
            pipeline.standardizer = Some(Standardizer::new(
                mean,
                factor,
                pipeline.encoded(),
                !pipeline.texts.is_empty(),
            )?);
        }
        if let Some(weights) = weights {
            Mismatch::check("features", pipeline.n_columns(), weights.len())?;
            pipeline.idf = Some(Idf::new(weights, pipeline.encoded())?);
        }
        Ok(pipeline)
    }

    /// Returns the learned state.
    pub(super) fn learned(&self) -> Learned {
        let moments = |s: &Standardizer| (s.mean().to_vec(), s.factor().to_vec());
        let texts = self.text_weights.as_ref();
        Learned {
            texts: texts.map(|texts| (texts.weighting, texts.weights.clone())),
            target_encoding: self
                .target_encoding
                .as_ref()
                .map(|encoding| (encoding.targets().to_vec(), encoding.means())),
            fill: self.imputer.as_ref().map(|imputer| imputer.fill().to_vec()),
            one_hot: self.one_hot.is_some(),
            moments: self.standardizer.as_ref().map(moments),
            weights: self.idf.as_ref().map(|idf| idf.weights().to_vec()),
            normalize: self.normalize,
        }
    }

    /// Returns the columns that replace nominal features, if any are replaced.
    fn columns(&self) -> Option<&Expansion> {
        let targets = self.target_encoding.as_ref().map(TargetEncoding::columns);
        targets.or(self.one_hot.as_ref().map(OneHot::columns))
    }

    /// Returns the nominal features that remain after encoding.
    fn encoded(&self) -> Nominal {
        match (&self.target_encoding, &self.one_hot) {
            (Some(encoding), _) => encoding.columns().kept_nominal(),
            (None, Some(one_hot)) => one_hot.nominal(),
            (None, None) => self.nominal.clone(),
        }
    }

    /// Adds the one-hot step, if there is a feature to replace.
    fn with_one_hot(self) -> Result<Self, PreprocessError> {
        let one_hot = OneHot::new(self.n_features, self.nominal.clone())?;
        let one_hot = Some(one_hot).filter(|one_hot| !one_hot.columns().replaced().is_empty());
        Ok(Self { one_hot, ..self })
    }

    /// Returns true if there are no steps, so that features stay unchanged.
    pub fn is_identity(&self) -> bool {
        self.text_weights.is_none()
            && self.target_encoding.is_none()
            && self.imputer.is_none()
            && self.one_hot.is_none()
            && self.standardizer.is_none()
            && self.idf.is_none()
            && self.normalize.is_none()
    }

    /// Number of features after the steps.
    pub fn n_columns(&self) -> usize {
        self.columns().map_or(self.n_features, Expansion::n_columns)
    }

    /// Returns the original feature of each feature after the steps; increasing.
    pub fn sources(&self) -> Vec<usize> {
        self.columns()
            .map_or_else(|| (0..self.n_features).collect(), Expansion::sources)
    }

    /// Returns the name of a feature after the steps, from the names before; `None` beyond the last. Indicators are
    /// named `feature=value`, means of targets `mean(target|feature)`.
    pub fn feature_name(&self, names: &Names, column: usize) -> Option<String> {
        match (&self.target_encoding, &self.one_hot) {
            (Some(encoding), _) => encoding.feature_name(names, column),
            (None, Some(one_hot)) => one_hot.feature_name(names, column),
            (None, None) => names.get(column).map(Cow::into_owned),
        }
    }

    /// Returns the features, by their index before the steps, that are replaced by means of targets. Their missing
    /// values are encoded like other values, and the encoded values of a training sample include its own targets.
    pub fn target_encoded(&self) -> impl Iterator<Item = usize> + '_ {
        let replaced = self.target_encoding.iter().flat_map(|e| e.columns().replaced());
        replaced.map(|r| r.feature)
    }

    /// Returns the names before the steps of the features that no training sample has, which imputation fills with 0.
    pub fn unobserved(&self, names: &Names) -> Vec<String> {
        let columns = self.imputer.iter().flat_map(Imputer::unobserved);
        let name = |column: usize| match &self.target_encoding {
            Some(encoding) => encoding.feature_name(names, column),
            None => names.get(column).map(Cow::into_owned),
        };
        columns.filter_map(name).collect()
    }

    /// Transforms features (n x p) by all steps, like [`apply`](Transform::apply).
    ///
    /// # Errors
    /// [`PreprocessError::Mismatch`]; [`PreprocessError::Dataset`] for a value that is not in the list of a replaced
    /// nominal feature, or would become infinite; [`PreprocessError::Memory`].
    pub fn transform(&self, features: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        Mismatch::check("features", self.n_features, features.n_cols())?;
        let mut made = None;
        if let Some(texts) = &self.text_weights {
            made = Some(texts.weigh(features.reborrow())?);
        }
        if let Some(encoding) = &self.target_encoding {
            made = Some(encoding.encode(latest(made.as_ref(), &features))?);
        }
        if let Some(imputer) = &self.imputer {
            made = Some(imputer.fill_in(latest(made.as_ref(), &features))?);
        }
        if let Some(one_hot) = &self.one_hot {
            made = Some(one_hot.encode(latest(made.as_ref(), &features))?);
        }
        if let Some(standardizer) = &self.standardizer {
            made = Some(standardizer.standardize(latest(made.as_ref(), &features))?);
        }
        if let Some(idf) = &self.idf {
            made = Some(idf.weigh(latest(made.as_ref(), &features))?);
        }
        if self.normalize.is_some() {
            made = Some(unit_length(latest(made.as_ref(), &features)));
        }
        Ok(made.unwrap_or_else(|| features.to_owned()))
    }

    /// Refuses a set whose features differ from those the pipeline was fitted on.
    ///
    /// # Errors
    /// [`PreprocessError::Mismatch`], [`PreprocessError::Kind`].
    pub fn check(&self, data: &Dataset) -> Result<(), PreprocessError> {
        Mismatch::check("features", self.n_features, data.n_features())?;
        check_texts(&self.texts, data)?;
        check_nominal(&self.nominal, data)
    }
}

impl Transform for Pipeline {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        self.check(data)?;
        let mut data = Cow::Borrowed(data);
        data = applied(self.text_weights.as_ref(), data)?;
        data = applied(self.target_encoding.as_ref(), data)?;
        data = applied(self.imputer.as_ref(), data)?;
        data = applied(self.one_hot.as_ref(), data)?;
        data = applied(self.standardizer.as_ref(), data)?;
        data = applied(self.idf.as_ref(), data)?;
        if self.normalize.is_some() {
            data = Cow::Owned(of_unit_length(&data)?);
        }
        Ok(data.into_owned())
    }
}

/// Returns the features after the steps so far.
fn latest<'a>(made: Option<&'a Matrix>, features: &'a MatrixView<'_>) -> MatrixView<'a> {
    made.map_or_else(|| features.reborrow(), Matrix::view)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Layout, Task};
    use ndarray::Array2;
    use proptest::prelude::*;
    use rpo_core::Seed;

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
            encoding in 0_usize..3, standardize in any::<bool>(), sparse in any::<bool>(),
            idf in any::<bool>(), l2 in any::<bool>(),
        ) {
            let layout = if sparse { Layout::Sparse } else { Layout::Dense };
            let data = data(&seed, layout);
            let (weights, normalize) = (idf.then_some(FeatureWeights::Idf), l2.then_some(Normalization::L2));
            let y = Array2::from_shape_fn((12, 2), |(i, j)| f32::from(seed[4 * i + j]));
            let targets = EncodingTargets::new(y, vec!["a".to_owned(), "b".to_owned()], Seed::new(1)).unwrap();
            let nominal = [Encoding::Positions, Encoding::OneHot, Encoding::Target(&targets)][encoding];
            let steps = Steps { impute: fill, nominal, standardize, weights, normalize, ..Steps::default() };
            let (pipeline, training) = steps.fit_apply(&data).unwrap();
            let made = pipeline.apply(&data).unwrap();
            prop_assert_eq!((made.nominal(), made.feature_names()), (training.nominal(), training.feature_names()));
            prop_assert!(encoding == 2 || bits(made.features()) == bits(training.features()));
            prop_assert_eq!(made.n_features(), pipeline.n_columns());
            let names = |j| pipeline.feature_name(data.feature_names(), j);
            prop_assert!((0..=made.n_features()).all(|j| made.feature_names().get(j).map(Cow::into_owned) == names(j)));
            let left = data.select_features(&[0, 2, 3]).unwrap();
            let missing = if encoding == 2 { left.n_missing() } else { data.n_missing() };
            prop_assert_eq!(made.n_missing() == 0, missing == 0 || fill.is_some());
            let x = data.features().view();
            prop_assert_eq!(bits(&pipeline.transform(x).unwrap()), bits(made.features()));
            let rows = [3, 7, 7];
            let some = pipeline.transform(x.select_rows(&rows).view()).unwrap();
            prop_assert_eq!(bits(&some), bits(&made.features().view().select_rows(&rows)));

            let again = Pipeline::new(4, data.nominal().clone(), Texts::new(), pipeline.learned());
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
}

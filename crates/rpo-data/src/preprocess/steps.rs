//! The preprocessing steps that can be asked for, and their fitting in sequence.

use super::kinds::Kinds;
use super::step::{AnyStep, replaced};
use super::{
    EncodingTargets, FeatureWeights, Fill, Normalization, Pipeline, PreprocessError, Standardize,
    TextWeighting,
};
use crate::dataset::Dataset;
use std::borrow::Cow;

/// The encoding of nominal features of three or more values.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Encoding<'t> {
    /// Keeps positions in the lists of values.
    #[default]
    Positions,
    /// Replaces them by indicators: one per value, nominal `{0,1}` and named `feature=value`. A feature of two values
    /// already is an indicator of the second. All indicators of a missing value are 0: it has the effect of no value,
    /// not that of the most frequent one. Sparse features stay sparse, and dense features become sparse if there are more
    /// than four columns for each feature before: fewer than one in four values is then not 0, the rule of
    /// [`Layout::Auto`](crate::Layout::Auto).
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
    /// Replaces nominal features of three or more values.
    pub nominal: Encoding<'t>,
    /// Fills missing features: numeric ones according to [`Fill`], nominal ones that are not replaced with their most
    /// frequent value; ties go to the value declared first. A feature that is never observed in the set is filled with 0.
    pub impute: Option<Fill>,
    /// Standardizes numeric features, all or some: x' = (x - mean) / sd, with the mean and the standard deviation
    /// (divisor n) of the observed values of the set, where a sample of weight 2 counts as two. A feature that is constant
    /// in the set becomes 0 everywhere. Missing values stay missing. The result is dense, as subtracting a mean leaves no
    /// zeros, except that sparse features stay sparse in sets with texts, and where fewer than a quarter of the features
    /// are standardized, as beside many indicators. A value so far from those of the set that the result would be infinite
    /// is an error. (Daniels and Metaxas 2017, *Experiments and Results*.)
    pub standardize: Standardize,
    /// Multiplies features by weights based on the number of samples of the set in which a feature is observed and not
    /// 0. With [`FeatureWeights::Idf`], a feature that no sample has becomes 0. Nominal features and the terms of texts
    /// are left unchanged, missing values stay missing, and sparse features stay sparse.
    pub weights: Option<FeatureWeights>,
    /// Scales the features of each sample. All features become numeric; sparse ones stay sparse.
    pub normalize: Option<Normalization>,
    /// Leaves out the features that are 0 in all samples of the set, if there are 65,536 features or more and these are
    /// more than half of them, as of hashed terms. Other sets are left unchanged.
    pub leave_out_absent: bool,
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
        let kinds = Kinds::of(data);
        let (mut steps, mut data) = (Vec::new(), Cow::Borrowed(data));
        for maker in AnyStep::ALL {
            if let Some((step, features)) = (maker.fit_transform)(self, &data)? {
                data = Cow::Owned(replaced(std::slice::from_ref(&step), &data, features)?);
                steps.push(step);
            }
        }
        Ok((Pipeline::new(kinds, steps), data))
    }
}

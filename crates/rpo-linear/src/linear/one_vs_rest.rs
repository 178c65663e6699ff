//! One-vs-rest: a sparse linear classifier for each label.

use rpo_core::{CheckParams, Domain, InverseLink, Learner, Matrix, MatrixView, Propensity, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use super::LinearModel;
use super::classifiers::Solver;
use super::cost::Costs;
use crate::checks::check_data;
use crate::dual::{Bias, DualParams, Kept, MarginLoss, Precision, Rows, label_samples};
use crate::{ClassifierOptions, LinearError};

/// The length that the features of each sample are scaled to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RowNorm {
    /// Euclidean length 1; a sample whose features are all 0 stays unchanged.
    #[default]
    L2,
    /// No scaling of one sample relative to others. A fit divides all of them by their root mean square length, so that
    /// its parameters mean the same in all units of the features.
    None,
}

/// Parameters of one-vs-rest: for each label, with y = ±1, the minimum of ½‖w‖² + C Σᵢ ℓ(yᵢ (wᵀxᵢ + b)), with small
/// weights left out. The xᵢ have length 1 or, with [`RowNorm::None`], a root mean square length of 1.
///
/// The score of a label is the probability with the log-odds a z + h ln(1 + 100 max(0, 1 + z)) + c, z = wᵀx + b; log-odds
/// t above 8 become 8 + ln(t - 7), unless the loss is logistic, as probabilities of 32 bits are 1 from 17 on. For
/// the logistic loss a = 1 and h = c = 0. For the squared hinge, whose margins are not probabilities, a from 0.1 to 8,
/// h from 0 to 2 and c are those of the smallest logarithmic loss on withheld samples (Platt 1999, where h = 0), the
/// same for all labels, so that they do not change the order of labels; a = 3 and h = c = 0 if no label has two
/// samples, or all samples are of one group. The logarithm is for rare labels, whose z are close to -1: the mean
/// probability of a label that one in 800 samples has, beside one that a third have, is 6 times its frequency, and 20
/// times with h = 0. The logarithmic loss of rare labels is 3 to 22 % smaller than with h = 0 on bibtex, corel5k,
/// rcv1subset1, delicious and slashdot.
///
/// Fitted by coordinate descent in the dual, for 8 labels at a time: Hsieh, Chang, Lin, Keerthi, Sundararajan
/// (ICML 2008) for the squared hinge, Yu, Huang, Lin (Machine Learning 85, 2011) for the logistic loss. As in
/// LIBLINEAR, b belongs to a feature of a constant value and is penalised. A label that no sample has
/// scores 0, and one that every sample has 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OneVsRestParams {
    /// Loss of a margin m: squared-hinge, max(0, 1 - m)²; logistic, log(1 + exp(-m)), slower, for probabilities.
    pub loss: MarginLoss,
    /// Weight C of the loss against the penalty; by default the best of powers of two for withheld samples.
    ///
    /// Above 0. Without scaling, C of LIBLINEAR is `cost` divided by the mean square length of samples. The best has the
    /// largest average precision of all pairs of a withheld sample and one of up to 64 labels, spread over the order of
    /// frequency. The search starts at C = ½ and goes up or down as long as that helps. The result is 1/8 to 1/2 on
    /// published sets of 22 to 1,000 labels, and 8 on a generated set of 5,000 labels without noise.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub cost: Option<f64>,
    /// Exponent a of the cost of a label with k samples, C (k̄ / k)^a, where k̄ is the mean over labels; 0 for equal
    /// costs.
    ///
    /// Not negative. Rare labels, whose few samples are all the information there is, are thus fitted more closely than
    /// frequent ones: with 0.25, precision and psp@5 are higher than with 0 on seven of nine sets, by up to half a
    /// point. In a label tree, k is the number of samples with any label of a cluster, and k̄ the mean over all
    /// classifiers at the same depth.
    #[schemars(range(min = 0.0))]
    pub cost_exponent: f64,
    /// Also weighs the positive samples of each label by 1/p, so that rare labels rank higher: p is the propensity of
    /// the label, the model of psp@K.
    ///
    /// 1/p = 1 + (ln n - 1) (B + 1)^A (N + B)^-A, where N of n training samples have the label, not counting those
    /// of weight 0; Jain, Prabhu, Varma, KDD 2016. A classifier of a cluster of labels counts the samples with any of
    /// them. As these weights are up to ten, they need a smaller `cost`, which is found unless it is given: psp@5 is 0.4
    /// to 1.6 points higher on five sets of 100 to 1,000 labels, p@5 0.3 points lower to 0.7 higher.
    pub propensity_weights: bool,
    /// Exponent A of propensities (0.5 for Wikipedia, 0.6 for Amazon). For propensity_weights.
    ///
    /// Not negative.
    #[schemars(range(min = 0.0))]
    pub propensity_a: f64,
    /// Offset B of propensities (0.4 for Wikipedia, 2.6 for Amazon). For propensity_weights.
    ///
    /// Above 0.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub propensity_b: f64,
    /// Scaling of the features of each sample, in training and prediction: l2, to length 1; none. By default l2, or none
    /// for fewer than 10 features that vary.
    ///
    /// The length of a sample is a good part of what a few features say about it. With 3 to 10 features of real sets,
    /// mean LRAP is .003 higher without scaling; with all of their 21 to 300 features it is .03 lower.
    pub normalize: Option<RowNorm>,
    /// Value of the feature that represents the intercept, relative to the length of samples; 0 for none.
    #[schemars(range(min = 0.0))]
    pub bias: f64,
    /// Largest violation of the optimality conditions at which the fit of labels ends, in units of the margin.
    ///
    /// Above 0. For the logistic loss Σ |α / C - σ(-m)|, where α is the dual variable of a sample, divided by the
    /// number of samples with the label (or without it, if these are fewer). Default 0.1: precision at 5 within 0.1
    /// points of that at 0.01, on sets of 159 to 5,000 labels. With the squared hinge, if the mean score of a label's
    /// samples exceeds that of the others by less than the tolerance, its tolerance becomes a quarter of the
    /// difference, but at least a thousandth of the given one: this concerns rare labels with few features.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub tolerance: f64,
    /// Maximum number of passes over the samples, at least 1.
    #[schemars(range(min = 1))]
    pub max_passes: usize,
    /// Weights below this multiple of √C in magnitude are left out, where C is the cost of their label, and samples
    /// have length 1 and a mean weight of 1: a larger value makes smaller models, 0 keeps all weights.
    ///
    /// Not negative. Weights are larger the larger C is. Those of at least a quarter of the largest of their label are
    /// kept whatever the limit, so that no label loses all of them. Default 0.1: precision at 5 within 0.2 points of
    /// that with all weights, which are two to six times as many.
    #[schemars(range(min = 0.0))]
    pub prune: f64,
    /// Precision of weights: half, 16 bits; single, 32 bits.
    pub precision: Precision,
    /// Seed of the order of samples.
    pub seed: u64,
}

impl Default for OneVsRestParams {
    fn default() -> Self {
        Self {
            loss: MarginLoss::SquaredHinge,
            cost: None,
            cost_exponent: 0.25,
            propensity_weights: false,
            propensity_a: Propensity::default().a,
            propensity_b: Propensity::default().b,
            normalize: None,
            bias: 1.0,
            tolerance: 0.1,
            max_passes: 50,
            prune: 0.1,
            precision: Precision::Half,
            seed: 0,
        }
    }
}

impl CheckParams for OneVsRestParams {
    type Error = LinearError;

    fn check(&self) -> Result<(), LinearError> {
        Domain::Positive.check("cost", self.cost)?;
        Domain::NotNegative.check("cost_exponent", self.cost_exponent)?;
        self.propensity().check()?;
        Domain::NotNegative.check("bias", self.bias)?;
        Domain::Positive.check("tolerance", self.tolerance)?;
        Domain::Count.check("max_passes", self.max_passes)?;
        Ok(Domain::NotNegative.check("prune", self.prune)?)
    }
}

impl Learner for OneVsRestParams {
    type Model = LinearModel;
    type Options<'a> = ClassifierOptions<'a>;

    /// Outputs are 0/1 labels.
    ///
    /// Labels are fitted in groups of 8, in parallel on the current rayon pool; the result does not depend on its size.
    /// Memory: the stored values of X again, 8 bytes each, and 32 bytes per sample and feature for each thread. The
    /// weights of all labels are never stored dense. Fails for weights beyond the range of their precision, or working
    /// memory above the limit.
    ///
    /// ```
    /// # use ndarray::array;
    /// use rpo_linear::{Learner, OneVsRestParams, Predictor};
    /// let x = array![[1.0, 0.0, 0.2], [0.9, 0.1, 0.0], [0.0, 1.0, 0.3], [0.0, 0.8, 0.0]];
    /// let y = array![[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]];
    /// let model = OneVsRestParams::default().fit((&x).into(), (&y).into())?;
    /// let scores = model.predict((&x).into())?;
    /// assert!(scores[[0, 0]] > 0.5 && scores[[0, 1]] < 0.5);
    /// # Ok::<(), rpo_linear::LinearError>(())
    /// ```
    fn fit_with(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: ClassifierOptions<'_>,
    ) -> Result<LinearModel, LinearError> {
        self.check()?;
        check_data(x, y, InverseLink::Logistic)?;
        let limits = options.checked(x.n_rows())?;
        let ClassifierOptions {
            weights,
            groups,
            observers,
            ..
        } = options;
        let normalize = self.row_norm(x);
        let mut rows = scaled_rows(x, normalize, weights);
        let samples = label_samples(y, weights);
        let costs = Costs::new(self, &mut rows, &samples, groups, limits)?;
        let calibration = costs.calibrate(&mut rows, &samples, limits)?;
        let solver = Solver {
            params: costs.dual(rows.factor()),
            seed: self.origin(),
            limits,
        };
        let fitted = solver.fit(&rows, &samples, |samples| costs.of(&rows, samples))?;
        observers.step();
        Ok(LinearModel {
            weights: Matrix::Sparse(fitted.weights),
            offset: fitted.offset.mapv(f64::from),
            inverse_link: InverseLink::Logistic,
            calibration,
            normalize,
            residual: Some(fitted.residual),
            cost: Some(costs.mean_cost()),
            penalty: None,
            n_train: x.n_rows(),
        })
    }
}

impl OneVsRestParams {
    /// Returns the factor of the cost of the samples with a label, `count` of all `n_train`.
    pub(crate) fn positive_weight(&self, count: usize, n_train: usize) -> Result<f32, LinearError> {
        if !self.propensity_weights {
            return Ok(1.0);
        }
        let inverse = self.propensity().inverse(&[count], n_train)?;
        Ok(inverse[0] as f32)
    }

    /// Returns the scaling of samples like these.
    pub(crate) fn row_norm(&self, x: MatrixView<'_>) -> RowNorm {
        self.normalize.unwrap_or_else(|| match vary(x, SCALED) {
            true => RowNorm::L2,
            false => RowNorm::None,
        })
    }

    fn propensity(&self) -> Propensity {
        Propensity {
            a: self.propensity_a,
            b: self.propensity_b,
        }
    }

    /// Returns the seed of the classifiers.
    pub(crate) fn origin(&self) -> Seed {
        Seed::new(self.seed).purpose("one-vs-rest")
    }

    /// Returns the parameters of the solver for samples of this mean weight and features that were multiplied with a
    /// factor.
    pub(super) fn dual(&self, mean_weight: f64, factor: f32) -> DualParams {
        DualParams {
            loss: self.loss,
            tolerance: self.tolerance as f32,
            max_passes: self.max_passes,
            bias: Bias {
                value: self.bias as f32,
                is_free: false,
            },
            mean_weight: mean_weight as f32,
            kept: Kept {
                limit: self.prune as f32,
                precision: self.precision,
                factor,
            },
        }
    }
}

/// Returns the samples as they are fitted: of length 1, or of a mean square length of 1.
pub(crate) fn scaled_rows(x: MatrixView<'_>, normalize: RowNorm, weights: Option<&[f32]>) -> Rows {
    let unit_length = normalize == RowNorm::L2;
    let mut rows = Rows::new(x, unit_length, weights);
    if !unit_length {
        rows.scale_to_unit_mean_square();
    }
    rows
}

/// Fewest varying features that are scaled by default.
const SCALED: usize = 10;

/// Returns true if at least `least` features have several values.
fn vary(x: MatrixView<'_>, least: usize) -> bool {
    let (n, p) = (x.n_rows(), x.n_cols());
    if n < 2 || p < least {
        return false;
    }
    let (mut first, mut other) = (vec![0.0; p], vec![0.0; p]);
    x.copy_row(0, &mut first);
    let mut varying = BTreeSet::new();
    (1..n).any(|row| {
        x.copy_row(row, &mut other);
        let differing = (0..p).filter(|&j| first[j] != other[j]);
        varying.extend(differing.take(least));
        varying.len() >= least
    })
}

//! Parameters of label embeddings.

use std::fmt;

use rpo_core::{CheckParams, Domain, InverseLink, ParameterError};
use rpo_projections::{LabelEmbedding, Penalty, Rank, SpectralLaw};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sgd::SgdParams;
use crate::LinearError;

/// The model that a label embedding fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EmbeddingMode {
    /// Random features of a learned embedding: Algorithm 3.
    #[default]
    Full,
    /// A learned embedding alone.
    Linear,
    /// Random features of a random embedding, compressed sensing: the paper's baseline `cs`.
    Cs,
    /// A random embedding alone.
    CsLinear,
    /// Random features of the features themselves: a kernel machine. If the features are the scores of a model, this is
    /// the second stage of Algorithm 2.
    Kernel,
}

impl EmbeddingMode {
    fn is_learned(self) -> bool {
        matches!(self, Self::Full | Self::Linear)
    }

    fn is_random(self) -> bool {
        matches!(self, Self::Cs | Self::CsLinear)
    }

    fn is_linear(self) -> bool {
        matches!(self, Self::Linear | Self::CsLinear)
    }

    /// Returns the reason for refusing a parameter that the mode does not use.
    fn refusal(self) -> &'static str {
        match self {
            Self::Full => "has no effect with `mode` = full",
            Self::Linear => "has no effect with `mode` = linear",
            Self::Cs => "has no effect with `mode` = cs",
            Self::CsLinear => "has no effect with `mode` = cs-linear",
            Self::Kernel => "has no effect with `mode` = kernel",
        }
    }
}

/// The loss that the final fit minimizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkLoss {
    /// The sum of the labels' logistic losses.
    #[default]
    Logistic,
    /// The squared loss, minimized directly.
    Squared,
    /// The multinomial logistic loss of classes, exactly one of which applies to each sample.
    Softmax,
}

/// Parameters of label embeddings with a linear or kernel link (Karampatziakis, Mineiro, *Scalable Multilabel Prediction
/// via Randomized Methods*, 2015, Algorithm 3).
///
/// `None` stands for the default of a parameter. A parameter that the mode or the loss does not use must be `None`;
/// otherwise [`check`](rpo_core::CheckParams::check) and the fit return an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LabelEmbeddingParams {
    /// Model: full, random features of a learned embedding; linear, a learned embedding alone; cs and cs-linear, the same
    /// with a random embedding; kernel, random features of the features themselves.
    pub mode: EmbeddingMode,
    /// Dimensions of the embedding: a number; labels:0.9, the fewest with 90 % of the trace of the labels' YᵀY, or
    /// labels:0.9:256, at most 256; auto:256, the default, the same, but where the mean of the labels makes up most of the
    /// trace, at least one for the mean and the fewest with 80 % of the variance; or captured:0.9:256, the fewest with 90
    /// % of what 256 dimensions capture.
    ///
    /// The rule of section 7.1 is labels:0.9. Of labels that most samples have, a single dimension, their mean, may hold
    /// 90 % of the trace. For thousands of labels with a power law of frequencies the rule takes thousands of dimensions.
    /// Not for kernel.
    pub rank: Option<Rank>,
    /// Number of random features; by default half the number of samples, at least 100 and at most 2000; fewer if there
    /// are more than 1250 outputs or fewer than 7.
    ///
    /// A kernel is approximated to within 1/√s by s features: more features cost time and gain little. The default
    /// gives at most 2.5 million weights, but at least 250 features (100 for fewer than 500 samples), and at most 300
    /// for each dimension that the embedding may have (`rank`), or feature with the mode kernel: a smooth function of
    /// one number takes no more. Not for linear and cs-linear.
    #[schemars(range(min = 1))]
    pub features: Option<usize>,
    /// Kernel that the random features approximate: gaussian, the default, student:NU or cauchy-iid.
    ///
    /// Not for linear and cs-linear.
    pub kernel: Option<SpectralLaw>,
    /// Inverse width of the kernel, in units of what the median distance between samples suggests: a larger value makes
    /// the kernel narrower; 0.5 by default.
    ///
    /// c in σ⁻¹ = c √(2/D), where D is the median squared distance ([`SpectralLaw::inverse_bandwidth`]): smaller is
    /// wider. An embedding is linear in what can be predicted, so that a wide kernel suits it. Not for linear and
    /// cs-linear.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub bandwidth: Option<f64>,
    /// Loss of the final fit: logistic, squared, or softmax for exactly one class per sample.
    pub link_loss: LinkLoss,
    /// Number of passes of gradient descent over the samples; 5 by default.
    ///
    /// The descent starts from the least squares solution with the labels' log-odds in the intercepts. Test log losses
    /// after 3, 5 and 10 passes are 7.63, 7.50, 7.45 on bibtex, 14.7, 15.0, 15.6 on corel5k and 6.29, 6.33, 6.36 on
    /// yeast. Not for the squared loss, nor are the six parameters that follow, from `rate` to `withhold`.
    #[schemars(range(min = 1))]
    pub epochs: Option<usize>,
    /// Step length of gradient descent; 1 by default.
    ///
    /// η; 1 is a Newton step if all probabilities have the variance that least squares assumes.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub rate: Option<f64>,
    /// Momentum of gradient descent; 0.5 by default.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub momentum: Option<f64>,
    /// Factor on the step length and on the accumulated change of the weights after each epoch; 1 by default.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub decay: Option<f64>,
    /// Target of a present label; that of an absent one is 1 minus it. 1 by default.
    ///
    /// Softmax allows 1 only.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.5))]
    pub smoothing: Option<f64>,
    /// Largest number of samples per step; a tenth of them by default. Steps have equal numbers but for one sample.
    ///
    /// By default ⌈n/10⌉, but at most the number that gives 10⁸ activations or features, a tenth of what the software of
    /// the paper's authors allows: memory for 10⁹ is 4 GB.
    #[schemars(range(min = 1))]
    pub batch: Option<usize>,
    /// Fraction of the samples withheld to choose the number of epochs; 0 by default.
    ///
    /// The whole model is first fitted to the other samples, then to all samples with the best number of epochs. With
    /// 0, the epoch of the smallest training loss is kept.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub withhold: Option<f64>,
    /// Penalty on the weights: variance:ALPHA, in units of the variance of the weighted terms, or a number, in units of
    /// their mean square.
    ///
    /// Above 0. For the final fit. Only the squared loss is penalized; the logistic and the softmax loss are not. Their
    /// descent starts from the least squares solution with this penalty and uses it in its preconditioner, so that the
    /// number of epochs limits the weights. As a penalty of the logistic loss it would have to be far smaller (LRAP on
    /// bibtex falls from 0.600 to 0.561). All terms are penalized equally, including the intercept, as in the software
    /// of the paper's authors. A number is the paper's λ₂. Default `variance:3`.
    pub lambda: Penalty,
    /// Penalty of the embedding's least squares, written like lambda; variance:2 by default.
    ///
    /// Not for kernel.
    pub embedding_lambda: Option<Penalty>,
    /// Penalty of the regression onto the embedding, as a multiple of that of the embedding; 1 by default.
    ///
    /// The software of the paper's authors uses 1e-6. Not for kernel.
    #[schemars(range(min = 0.0))]
    pub final_lambda_ratio: Option<f64>,
    /// Number of passes of the range finder that learns the embedding; 1 by default.
    ///
    /// 2 in the published experiments. For full and linear.
    #[schemars(range(max = 1000))]
    pub embedding_passes: Option<usize>,
    /// Number of directions that the range finder probes beyond the dimensions of the embedding; 20 by default.
    ///
    /// For full and linear.
    pub oversampling: Option<usize>,
    /// Seed of all randomness: probes, frequencies, and the order of the samples.
    pub seed: u64,
}

impl Default for LabelEmbeddingParams {
    /// The model of the paper's section 7.1, with settings that suit data sets of any shape without a search. They depart
    /// from [`paper`](Self::paper) in the penalty of the embedding, which is in units of the variance of what it weighs, in
    /// the bound on the dimensions, and in the one pass of the range finder.
    fn default() -> Self {
        Self {
            mode: EmbeddingMode::Full,
            rank: None,
            features: None,
            kernel: None,
            bandwidth: None,
            link_loss: LinkLoss::Logistic,
            epochs: None,
            rate: None,
            momentum: None,
            decay: None,
            smoothing: None,
            batch: None,
            withhold: None,
            lambda: Penalty::Variance(3.0),
            embedding_lambda: None,
            final_lambda_ratio: None,
            embedding_passes: None,
            oversampling: None,
            seed: 0,
        }
    }
}

impl LabelEmbeddingParams {
    /// What the paper's section 7.1 and the software of its authors fix: embeddings with 90 % of the labels' trace, however
    /// many dimensions that takes, two passes of the range finder, the penalty 10⁻⁴, and 10⁻⁶ of it in the regression onto
    /// the embedding. The authors search all else for each data set and metric; here it has the defaults, also for the
    /// settings of section 7.4 (LSHTC: 800 dimensions, 4000 features of the law cauchy-iid, 20 epochs). The solvers are
    /// ours: least squares by Cholesky factors or preconditioned conjugate gradients, and gradient descent from the
    /// solution of the square loss with the log-odds of the labels added to the intercepts.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            rank: Some(Rank::LabelShare {
                share: 0.9,
                at_most: None,
            }),
            embedding_lambda: Some(Penalty::Relative(1e-4)),
            final_lambda_ratio: Some(1e-6),
            embedding_passes: Some(2),
            ..Self::default()
        }
    }
}

impl CheckParams for LabelEmbeddingParams {
    type Error = LinearError;

    /// Also refuses parameters that the mode or the loss does not use.
    fn check(&self) -> Result<(), LinearError> {
        self.check_uses()?;
        let rank = self.rank.unwrap_or_default();
        rank.check()?;
        if let (true, Rank::CapturedShare { .. }) = (self.mode.is_random(), rank) {
            let reason = "needs a learned embedding: `mode` = full or linear";
            return Err(ParameterError::conflict("rank", rank, reason).into());
        }
        // An embedding is not interrupted.
        let passes = self.embedding_passes.unwrap_or(0);
        ParameterError::unless(passes <= 1000, "embedding_passes", passes, "at most 1000")?;
        let strength = self.embedding_lambda.map(Penalty::strength);
        Domain::NotNegative.check("embedding_lambda", strength)?;
        Domain::NotNegative.check("final_lambda_ratio", self.final_lambda_ratio())?;
        if let Some(kernel) = self.kernel() {
            kernel.law.check()?;
            Domain::Count.check("features", kernel.n_features)?;
            Domain::Positive.check("bandwidth", kernel.bandwidth)?;
        }
        if let Some(sgd) = self.sgd() {
            Domain::Count.check("epochs", sgd.epochs)?;
            Domain::Count.check("batch", sgd.batch)?;
            Domain::Positive.check("rate", sgd.rate)?;
            Domain::BelowOne.check("momentum", sgd.momentum)?;
            Domain::Fraction.check("decay", sgd.decay)?;
            let fits = sgd.smoothing > 0.5 && sgd.smoothing <= 1.0;
            ParameterError::unless(fits, "smoothing", sgd.smoothing, "in (0.5, 1]")?;
            if self.link_loss == LinkLoss::Softmax && sgd.smoothing < 1.0 {
                let reason = "cannot be combined with `link_loss` = softmax";
                return Err(ParameterError::conflict("smoothing", sgd.smoothing, reason).into());
            }
            Domain::BelowOne.check("withhold", sgd.withhold)?;
        }
        Ok(Domain::Positive.check("lambda", self.lambda.strength())?)
    }
}

impl LabelEmbeddingParams {
    /// Refuses parameters that have no effect.
    fn check_uses(&self) -> Result<(), ParameterError> {
        let mode = self.mode;
        let learned = mode.is_learned();
        let embedded = mode != EmbeddingMode::Kernel;
        for (used, name, value) in [
            (!mode.is_linear(), "features", text(&self.features)),
            (!mode.is_linear(), "kernel", text(&self.kernel)),
            (!mode.is_linear(), "bandwidth", text(&self.bandwidth)),
            (embedded, "rank", text(&self.rank)),
            (embedded, "embedding_lambda", text(&self.embedding_lambda)),
            (embedded, "final_lambda_ratio", text(&self.final_lambda_ratio)),
            (learned, "embedding_passes", text(&self.embedding_passes)),
            (learned, "oversampling", text(&self.oversampling)),
        ] {
            if let (false, Some(value)) = (used, value) {
                return Err(ParameterError::conflict(name, value, mode.refusal()));
            }
        }
        if self.link_loss != LinkLoss::Squared {
            return Ok(());
        }
        for (name, value) in [
            ("epochs", text(&self.epochs)),
            ("rate", text(&self.rate)),
            ("momentum", text(&self.momentum)),
            ("decay", text(&self.decay)),
            ("smoothing", text(&self.smoothing)),
            ("batch", text(&self.batch)),
            ("withhold", text(&self.withhold)),
        ] {
            if let Some(value) = value {
                let reason = "has no effect with `link_loss` = squared";
                return Err(ParameterError::conflict(name, value, reason));
            }
        }
        Ok(())
    }

    pub(super) fn inverse_link(&self) -> InverseLink {
        match self.link_loss {
            LinkLoss::Squared => InverseLink::Identity,
            LinkLoss::Logistic => InverseLink::Logistic,
            LinkLoss::Softmax => InverseLink::Softmax,
        }
    }

    /// Returns the rank of the embedding and whether it is learned; `None` if features are used directly.
    pub(super) fn embedding(&self) -> Option<(Rank, bool)> {
        let rank = self.rank.unwrap_or_default();
        (self.mode != EmbeddingMode::Kernel).then_some((rank, self.mode.is_learned()))
    }

    pub(super) fn label_embedding(&self) -> LabelEmbedding {
        let usual = LabelEmbedding::default();
        LabelEmbedding {
            oversampling: self.oversampling.unwrap_or(usual.oversampling),
            passes: self.embedding_passes.unwrap_or(usual.passes),
            penalty: self.embedding_lambda.unwrap_or(usual.penalty),
            ..usual
        }
    }

    pub(super) fn final_lambda_ratio(&self) -> f64 {
        self.final_lambda_ratio.unwrap_or(1.0)
    }

    /// Returns the kernel of the random features; `None` for a linear link.
    pub(super) fn kernel(&self) -> Option<Kernel> {
        (!self.mode.is_linear()).then(|| Kernel {
            law: self.kernel.unwrap_or(SpectralLaw::Gaussian),
            n_features: self.features,
            bandwidth: self.bandwidth.unwrap_or(0.5),
        })
    }

    /// Returns the parameters of gradient descent; `None` for the squared loss.
    pub(super) fn sgd(&self) -> Option<SgdParams> {
        (self.link_loss != LinkLoss::Squared).then(|| SgdParams {
            epochs: self.epochs.unwrap_or(5),
            rate: self.rate.unwrap_or(1.0),
            momentum: self.momentum.unwrap_or(0.5),
            decay: self.decay.unwrap_or(1.0),
            smoothing: self.smoothing.unwrap_or(1.0),
            batch: self.batch,
            withhold: self.withhold.unwrap_or(0.0),
        })
    }
}

/// The kernel that random features approximate.
pub(super) struct Kernel {
    pub(super) law: SpectralLaw,
    /// Number of random features; `None` for half the number of samples, within bounds.
    pub(super) n_features: Option<usize>,
    /// Factor on the inverse bandwidth.
    pub(super) bandwidth: f64,
}

fn text(value: &Option<impl fmt::Display>) -> Option<String> {
    value.as_ref().map(ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rpo_projections::ProjectionError;

    fn name(params: &LabelEmbeddingParams) -> &'static str {
        match params.check() {
            Err(
                LinearError::Parameter(error) | LinearError::Projection(ProjectionError::Parameter(error)),
            ) => error.name(),
            Err(LinearError::Projection(ProjectionError::NoComponents)) => "rank",
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn parameters_are_checked_at_their_bounds() {
        let base = LabelEmbeddingParams::default;
        assert!(base().check().is_ok());
        let refused = |set: &dyn Fn(&mut LabelEmbeddingParams)| {
            let mut params = base();
            set(&mut params);
            let found = name(&params);
            if params.lambda == base().lambda && params.link_loss == LinkLoss::Logistic {
                let softmax = LabelEmbeddingParams {
                    link_loss: LinkLoss::Softmax,
                    ..params
                };
                assert_eq!(name(&softmax), found);
            }
            found
        };
        assert_eq!(refused(&|p| p.rank = Some(Rank::Exact(0))), "rank");
        assert_eq!(refused(&|p| p.epochs = Some(0)), "epochs");
        assert_eq!(refused(&|p| p.batch = Some(0)), "batch");
        assert_eq!(refused(&|p| p.features = Some(0)), "features");
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(
                refused(&|p| p.final_lambda_ratio = Some(bad)),
                "final_lambda_ratio"
            );
            assert_eq!(
                refused(&|p| p.embedding_lambda = Some(Penalty::Relative(bad))),
                "embedding_lambda"
            );
            assert_eq!(refused(&|p| p.rate = Some(bad)), "rate");
            assert_eq!(refused(&|p| p.momentum = Some(bad)), "momentum");
            assert_eq!(refused(&|p| p.decay = Some(bad)), "decay");
            assert_eq!(refused(&|p| p.smoothing = Some(bad)), "smoothing");
            assert_eq!(refused(&|p| p.withhold = Some(bad)), "withhold");
        }
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(refused(&|p| p.lambda = Penalty::Relative(bad)), "lambda");
            assert_eq!(refused(&|p| p.lambda = Penalty::Variance(bad)), "lambda");
            assert_eq!(refused(&|p| p.bandwidth = Some(bad)), "bandwidth");
        }
        assert_eq!(refused(&|p| p.momentum = Some(1.0)), "momentum");
        assert_eq!(refused(&|p| p.withhold = Some(1.0)), "withhold");
        assert_eq!(refused(&|p| p.embedding_passes = Some(1001)), "embedding_passes");
    }

    #[test]
    fn parameters_without_effect_are_refused() {
        let conflict = |json: &str| {
            let params: LabelEmbeddingParams = serde_json::from_str(json).unwrap();
            params.check().unwrap_err().to_string()
        };
        for (json, message) in [
            (
                r#"{"mode": "linear", "features": 10}"#,
                "`features` = 10 has no effect with `mode` = linear",
            ),
            (
                r#"{"mode": "cs-linear", "kernel": "gaussian"}"#,
                "`kernel` = gaussian has no effect with `mode` = cs-linear",
            ),
            (
                r#"{"mode": "kernel", "rank": 3}"#,
                "`rank` = 3 has no effect with `mode` = kernel",
            ),
            (
                r#"{"mode": "kernel", "embedding_lambda": "variance:1"}"#,
                "`embedding_lambda` = variance:1.0 has no effect with `mode` = kernel",
            ),
            (
                r#"{"mode": "cs", "embedding_passes": 2}"#,
                "`embedding_passes` = 2 has no effect with `mode` = cs",
            ),
            (
                r#"{"mode": "cs", "rank": "captured:0.5:3"}"#,
                "`rank` = captured:0.5:3 needs a learned embedding: `mode` = full or linear",
            ),
            (
                r#"{"link_loss": "squared", "epochs": 3}"#,
                "`epochs` = 3 has no effect with `link_loss` = squared",
            ),
            (
                r#"{"link_loss": "softmax", "smoothing": 0.9}"#,
                "`smoothing` = 0.9 cannot be combined with `link_loss` = softmax",
            ),
        ] {
            assert_eq!(conflict(json), message);
        }
    }
}

//! Parameters of links: a builder, and the checked value that fits.

use rpo_core::{ParameterError, Seed, check_count, check_fraction, check_not_negative, check_positive};
use rpo_projections::linalg::Penalty;
use rpo_projections::{LabelEmbedding, Rank, SpectralLaw};
use serde::{Deserialize, Serialize};

use crate::LinearError;

/// What the link sees of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Inputs {
    /// z = Wᵀx, the least squares prediction of Y V with V learned: Algorithm 3.
    Learned(Rank),
    /// The same with a Gaussian V: compressed sensing, the paper's baseline `cs`.
    Random(Rank),
    /// The features themselves: with a Fourier link a kernel machine, and on top of any model's scores, given as
    /// features, the second stage of Algorithm 2.
    Raw,
}

/// How activations depend on the inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Link {
    /// a = Θᵀ(z, 1): the paper's mode for ODP.
    Linear,
    /// a = Θᵀ(cos(Rᵀz + b), 1).
    Fourier {
        /// The law of the frequencies R.
        law: SpectralLaw,
        /// Number of features s; `None` for half as many as samples, but at least 100 and at most 2,000: as kernels
        /// are approximated to within 1/√s, more cost time and bring little.
        n_features: Option<usize>,
        /// c in the rule for the bandwidth, σ⁻¹ = c √(2/D) with the median D of squared distances
        /// ([`SpectralLaw::inverse_bandwidth`]): above 1 narrower, below 1 wider.
        bandwidth_factor: f64,
    },
}

/// What Θ minimises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fit {
    /// Squared loss, solved directly.
    Squared,
    /// The sum over labels of logistic losses, from the squared loss's solution by preconditioned gradient descent.
    Logistic(Descent),
    /// Multinomial logistic loss, for classes of which each row has one; likewise.
    Softmax(Descent),
}

/// Preconditioned stochastic gradient descent with momentum.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Descent {
    /// Passes over the samples, at least 1.
    pub epochs: usize,
    /// Step length η; 1 is what Newton's method would take if all probabilities had the variance of least squares.
    pub rate: f64,
    /// Momentum α, in [0, 1).
    pub momentum: f64,
    /// What step length and momentum are multiplied with after an epoch, in (0, 1].
    pub decay: f64,
    /// s₀ in (½, 1]: targets are s₀ and 1 - s₀ in place of 1 and 0. 1 for softmax.
    pub smoothing: f64,
    /// Samples per step; `None` for ⌈n/10⌉, but no more than make 10⁸ activations or features.
    pub batch: Option<usize>,
    /// Share of the samples, in [0, 1), withheld to choose the epoch that is kept by its loss there. With 0 it is
    /// chosen by the training loss.
    pub validation: f64,
}

impl Default for Descent {
    /// In the middle of the ranges that the paper's authors search: 10 epochs, η = 1, α = 0.5; no decay, no smoothing,
    /// no validation.
    fn default() -> Self {
        Self {
            epochs: 10,
            rate: 1.0,
            momentum: 0.5,
            decay: 1.0,
            smoothing: 1.0,
            batch: None,
            validation: 0.0,
        }
    }
}

impl Descent {
    fn check(self) -> Result<(), ParameterError> {
        check_count("epochs", self.epochs)?;
        check_count("batch", self.batch)?;
        check_positive("rate", self.rate)?;
        let below_1 = |name, v: f64| ParameterError::unless((0.0..1.0).contains(&v), name, v, "in [0, 1)");
        below_1("momentum", self.momentum)?;
        check_fraction("decay", self.decay)?;
        let fits = self.smoothing > 0.5 && self.smoothing <= 1.0;
        ParameterError::unless(fits, "smoothing", self.smoothing, "in (0.5, 1]")?;
        below_1("validation", self.validation)
    }
}

/// Parameters of a [`LinkModel`](crate::LinkModel): the label embedding with a flexible link of Karampatziakis, Mineiro,
/// *Scalable Multilabel Prediction via Randomized Methods*, 2015, Algorithm 3. Set what differs from the defaults,
/// then [`check`](Self::check) and fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkParams {
    pub(crate) inputs: Inputs,
    pub(crate) embedding: LabelEmbedding,
    pub(crate) final_lambda_ratio: f64,
    pub(crate) link: Link,
    pub(crate) fit: Fit,
    pub(crate) penalty: Penalty,
    pub(crate) cache: usize,
    pub(crate) seed: Seed,
}

impl Default for LinkParams {
    /// The paper's section 7.1: a learned embedding with 90 % of the trace of YᵀY, Gaussian features, logistic losses.
    /// Where its authors search, defaults are in units of the data, so that one setting is decent on sets of any
    /// shape: c = 0.5, half as wide again as the median distance says, penalties `variance:2` of the embedding and
    /// `variance:3` of the final fit. Features are kept if they take up to 1 GiB.
    fn default() -> Self {
        Self {
            inputs: Inputs::Learned(Rank::default()),
            embedding: LabelEmbedding::default(),
            final_lambda_ratio: 1.0,
            link: Link::Fourier {
                law: SpectralLaw::Gaussian,
                n_features: None,
                bandwidth_factor: 0.5,
            },
            fit: Fit::Logistic(Descent::default()),
            penalty: Penalty::Variance(3.0),
            cache: 1 << 30,
            seed: Seed::new(0),
        }
    }
}

impl LinkParams {
    /// What the link sees. Default learned, with the rank that has 90 % of the trace of YᵀY.
    #[must_use]
    pub fn inputs(self, inputs: Inputs) -> Self {
        Self { inputs, ..self }
    }

    /// How embeddings are computed: penalty, passes, oversampling, intercept and solver. Without effect on raw inputs,
    /// where only the default is accepted.
    #[must_use]
    pub fn embedding(self, embedding: LabelEmbedding) -> Self {
        Self { embedding, ..self }
    }

    /// The penalty of the regression of Y V on X (line 11) in units of the embedding's. Default 1, as in the paper's
    /// text; the software of its authors takes 1e-6.
    #[must_use]
    pub fn final_lambda_ratio(self, final_lambda_ratio: f64) -> Self {
        Self {
            final_lambda_ratio,
            ..self
        }
    }

    /// How activations depend on the inputs. Default features for the Gaussian kernel, c = 0.5.
    #[must_use]
    pub fn link(self, link: Link) -> Self {
        Self { link, ..self }
    }

    /// What Θ minimises. Default the logistic losses.
    #[must_use]
    pub fn fit_by(self, fit: Fit) -> Self {
        Self { fit, ..self }
    }

    /// Penalty on Θ, above 0: in the squared loss, and in the preconditioner of the others, which start from there. All
    /// terms are penalised alike, the intercept too, as in the software of the paper's authors. Default
    /// [`Penalty::Variance`] with α = 3.
    #[must_use]
    pub fn penalty(self, penalty: Penalty) -> Self {
        Self { penalty, ..self }
    }

    /// [`Penalty::Relative`], the paper's λ₂: in units of the mean diagonal of ΦᵀΦ.
    #[must_use]
    pub fn lambda(self, lambda: f64) -> Self {
        self.penalty(Penalty::Relative(lambda))
    }

    /// Bytes up to which the features Φ (n x (s + 1)) are kept through the fit; larger ones are computed again for every
    /// block of rows. Changes no result. Default 1 GiB.
    #[must_use]
    pub fn cache(self, bytes: usize) -> Self {
        Self { cache: bytes, ..self }
    }

    /// The seed of the embedding's probes, the frequencies and the order of the samples. Default 0.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self {
            seed: Seed::new(seed),
            ..self
        }
    }

    /// Checks every parameter that can be checked without data.
    ///
    /// # Errors
    /// [`LinearError::Parameter`] or [`LinearError::Projection`] with the first parameter out of range.
    pub fn check(self) -> Result<ValidLinkParams, LinearError> {
        match self.inputs {
            Inputs::Random(Rank::CapturedShare { .. }) => {
                let expected = "a number or a share of the labels: nothing is captured at random";
                return Err(ParameterError::out_of_range("rank", "captured", expected).into());
            }
            Inputs::Learned(rank) | Inputs::Random(rank) => rank.check()?,
            Inputs::Raw
                if self.embedding != LabelEmbedding::default() || !is_one(self.final_lambda_ratio) =>
            {
                let expected = "nothing: raw inputs have no embedding";
                return Err(ParameterError::out_of_range("embedding", "set", expected).into());
            }
            Inputs::Raw => {}
        }
        self.embedding.check()?;
        check_not_negative("final_lambda_ratio", self.final_lambda_ratio)?;
        if let Link::Fourier {
            law,
            n_features,
            bandwidth_factor,
        } = self.link
        {
            law.check()?;
            check_count("n_features", n_features)?;
            check_positive("bandwidth_factor", bandwidth_factor)?;
        }
        match self.fit {
            Fit::Squared => {}
            Fit::Logistic(descent) => descent.check()?,
            Fit::Softmax(descent) => {
                descent.check()?;
                let (fits, expected) = (descent.smoothing >= 1.0, "1 with the softmax loss");
                ParameterError::unless(fits, "smoothing", descent.smoothing, expected)?;
            }
        }
        check_positive("lambda", self.penalty.strength())?;
        Ok(ValidLinkParams(self))
    }
}

fn is_one(v: f64) -> bool {
    (v - 1.0).abs() == 0.0
}

/// Checked [`LinkParams`], ready to [`fit`](Self::fit).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValidLinkParams(pub(crate) LinkParams);

#[cfg(test)]
mod tests {
    use super::*;
    use rpo_projections::ProjectionError;

    #[test]
    fn parameters_are_checked_at_their_bounds() {
        let name = |params: LinkParams| match params.check() {
            Err(LinearError::Parameter(ParameterError::OutOfRange { name, .. })) => name,
            Err(LinearError::Projection(ProjectionError::Parameter(ParameterError::OutOfRange {
                name,
                ..
            }))) => name,
            Err(LinearError::Projection(ProjectionError::NoComponents)) => "rank",
            other => panic!("{other:?}"),
        };
        let base = LinkParams::default;
        assert!(base().check().is_ok());
        assert_eq!(name(base().inputs(Inputs::Learned(Rank::Exact(0)))), "rank");
        assert_eq!(
            name(base().embedding(LabelEmbedding::default().lambda(-1.0))),
            "lambda"
        );
        let captured = Rank::CapturedShare {
            share: 0.5,
            at_most: 3,
        };
        assert_eq!(name(base().inputs(Inputs::Random(captured))), "rank");
        let raw = base().inputs(Inputs::Raw);
        assert!(raw.check().is_ok());
        assert_eq!(name(raw.final_lambda_ratio(0.5)), "embedding");
        assert_eq!(
            name(raw.embedding(LabelEmbedding::default().passes(3))),
            "embedding"
        );
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(name(base().final_lambda_ratio(bad)), "final_lambda_ratio");
        }
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(name(base().lambda(bad)), "lambda");
            assert_eq!(name(base().penalty(Penalty::Variance(bad))), "lambda");
            let link = |n_features, bandwidth_factor| Link::Fourier {
                law: SpectralLaw::CauchyIid,
                n_features: Some(n_features),
                bandwidth_factor,
            };
            assert_eq!(name(base().link(link(1, bad))), "bandwidth_factor");
            assert_eq!(name(base().link(link(0, 1.0))), "n_features");
        }
        let change = |f: &dyn Fn(&mut Descent)| {
            let mut descent = Descent::default();
            f(&mut descent);
            assert_eq!(
                name(base().fit_by(Fit::Softmax(descent))),
                name(base().fit_by(Fit::Logistic(descent)))
            );
            name(base().fit_by(Fit::Logistic(descent)))
        };
        assert_eq!(change(&|d| d.epochs = 0), "epochs");
        assert_eq!(change(&|d| d.batch = Some(0)), "batch");
        for bad in [f64::NAN, -1.0] {
            assert_eq!(change(&|d| d.rate = bad), "rate");
            assert_eq!(change(&|d| d.momentum = bad), "momentum");
            assert_eq!(change(&|d| d.decay = bad), "decay");
            assert_eq!(change(&|d| d.smoothing = bad), "smoothing");
            assert_eq!(change(&|d| d.validation = bad), "validation");
        }
        assert_eq!(change(&|d| d.momentum = 1.0), "momentum");
        assert_eq!(change(&|d| d.validation = 1.0), "validation");
        let smooth = Descent {
            smoothing: 0.9,
            ..Descent::default()
        };
        assert!(base().fit_by(Fit::Logistic(smooth)).check().is_ok());
        assert_eq!(name(base().fit_by(Fit::Softmax(smooth))), "smoothing");
    }
}

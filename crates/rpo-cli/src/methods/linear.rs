//! Label embeddings with a link, and the linear models beside them.

use super::{FitContext, Groups, Method, Recipe, name, record};
use crate::error::CliError;
use clap::{Args, ValueEnum};
use rpo::data::Dataset;
use rpo::linear::{
    EmbeddingMode, LabelEmbeddingParams, LinkLoss, LogisticRegressionParams, Penalty, Rank, RidgeParams,
    SpectralLaw,
};
use rpo::{Decision, Model};
use serde_json::{Map, Value, json};

/// Penalty and decisions of linear models and links.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Linear models and links")]
pub(crate) struct LinearOptions {
    /// Penalty on the weights: variance:ALPHA, in units of the variance of what they weigh, which suits data of any shape; or
    /// a number, in units of its mean square. By default variance:0.3 of ridge, variance:0.1 of logistic-regression,
    /// and variance:3 of label-embedding, where it is that of the final fit.
    #[arg(long, value_name = "PENALTY")]
    lambda: Option<Penalty>,

    /// How labels are decided from scores: threshold, the default, or f1, for all samples at once by the expected F1 of
    /// each label.
    #[arg(long, value_enum)]
    pub(super) decide: Option<DecisionName>,
}

/// A rule of decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecisionName {
    /// From a score on.
    Threshold,
    /// The largest expected F1 of each label.
    F1,
}

impl From<DecisionName> for Decision {
    fn from(name: DecisionName) -> Self {
        match name {
            DecisionName::Threshold => Self::Threshold,
            DecisionName::F1 => Self::ExpectedF1,
        }
    }
}

/// The embedding and the link.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Label embedding")]
pub(crate) struct EmbeddingOptions {
    /// What is fitted: full, the default, random features of a learned embedding; linear, a learned embedding alone; cs
    /// and cs-linear, the same with a random embedding; kernel, random features of the features themselves.
    #[arg(long, value_enum)]
    mode: Option<ModeName>,

    /// Dimensions of the embedding: a number, labels:SHARE for the fewest with that share of the labels' trace (by
    /// default labels:0.9), or captured:SHARE:AT_MOST.
    #[arg(long, value_name = "RANK")]
    rank: Option<Rank>,

    /// Number of random features; by default half as many as samples, 100 at least and 2000 at most.
    #[arg(long, value_name = "S")]
    features: Option<usize>,

    /// Kernel that they stand for: gaussian, the default, student:NU or cauchy-iid.
    #[arg(long, value_name = "LAW")]
    kernel: Option<SpectralLaw>,

    /// Factor on the bandwidth's inverse, which the median distance sets; 0.5 by default.
    #[arg(long, value_name = "C")]
    bandwidth: Option<f64>,

    /// Loss of the final fit: logistic, the default, squared, or softmax for one class per sample.
    #[arg(long, value_enum, value_name = "LOSS")]
    link_loss: Option<LossName>,

    /// Passes of the gradient descent; 10 by default.
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,

    /// Length of its steps; 1 by default.
    #[arg(long, value_name = "ETA")]
    rate: Option<f64>,

    /// Its momentum; 0.5 by default.
    #[arg(long, value_name = "ALPHA")]
    momentum: Option<f64>,

    /// Factor on rate and momentum after each pass; 1 by default.
    #[arg(long, value_name = "FACTOR")]
    decay: Option<f64>,

    /// Target of a label that is present, 1 less it of one that is not; 1 by default.
    #[arg(long, value_name = "TARGET")]
    smoothing: Option<f64>,

    /// Samples per step; a tenth by default.
    #[arg(long, value_name = "N")]
    batch: Option<usize>,

    /// Share of the samples withheld to choose the pass that is kept; 0 by default.
    #[arg(long, value_name = "SHARE")]
    withhold: Option<f64>,

    /// Penalty of the embedding's least squares, as --lambda; variance:2 by default.
    #[arg(long, value_name = "PENALTY")]
    embedding_lambda: Option<Penalty>,

    /// Penalty of the regression onto the embedding as a multiple of that; 1 by default.
    #[arg(long, value_name = "RATIO")]
    final_lambda_ratio: Option<f64>,

    /// Passes of the embedding's range finder; 1 by default.
    #[arg(long, value_name = "Q")]
    embedding_passes: Option<usize>,

    /// Directions probed beyond the dimensions wanted; 20 by default.
    #[arg(long, value_name = "L")]
    oversampling: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeName {
    Full,
    Linear,
    Cs,
    CsLinear,
    Kernel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LossName {
    Logistic,
    Squared,
    Softmax,
}

impl EmbeddingOptions {
    fn params(&self, lambda: Option<Penalty>, seed: u64) -> LabelEmbeddingParams {
        let usual = LabelEmbeddingParams::default();
        LabelEmbeddingParams {
            mode: match self.mode.unwrap_or(ModeName::Full) {
                ModeName::Full => EmbeddingMode::Full,
                ModeName::Linear => EmbeddingMode::Linear,
                ModeName::Cs => EmbeddingMode::Cs,
                ModeName::CsLinear => EmbeddingMode::CsLinear,
                ModeName::Kernel => EmbeddingMode::Kernel,
            },
            rank: self.rank,
            features: self.features,
            kernel: self.kernel,
            bandwidth: self.bandwidth,
            link_loss: match self.link_loss.unwrap_or(LossName::Logistic) {
                LossName::Squared => LinkLoss::Squared,
                LossName::Logistic => LinkLoss::Logistic,
                LossName::Softmax => LinkLoss::Softmax,
            },
            epochs: self.epochs,
            rate: self.rate,
            momentum: self.momentum,
            decay: self.decay,
            smoothing: self.smoothing,
            batch: self.batch,
            withhold: self.withhold,
            lambda: lambda.unwrap_or(usual.lambda),
            embedding_lambda: self.embedding_lambda,
            final_lambda_ratio: self.final_lambda_ratio,
            embedding_passes: self.embedding_passes,
            oversampling: self.oversampling,
            seed,
        }
    }

    /// What was given, and the defaults of the rest that matters most.
    fn record(&self) -> Vec<(&'static str, Value)> {
        let mode = self.mode.unwrap_or(ModeName::Full);
        let mut record = vec![
            ("mode", json!(name(&mode))),
            (
                "link_loss",
                json!(name(&self.link_loss.unwrap_or(LossName::Logistic))),
            ),
        ];
        if mode != ModeName::Kernel {
            record.push(("rank", json!(self.rank.unwrap_or_default().to_string())));
        }
        if !matches!(mode, ModeName::Linear | ModeName::CsLinear) {
            record.extend([
                (
                    "kernel",
                    json!(self.kernel.unwrap_or(SpectralLaw::Gaussian).to_string()),
                ),
                ("bandwidth", json!(self.bandwidth.unwrap_or(BANDWIDTH))),
            ]);
        }
        let others = [
            ("features", json!(self.features)),
            ("epochs", json!(self.epochs)),
            ("rate", json!(self.rate)),
            ("momentum", json!(self.momentum)),
            ("decay", json!(self.decay)),
            ("smoothing", json!(self.smoothing)),
            ("batch", json!(self.batch)),
            ("withhold", json!(self.withhold)),
            ("embedding_lambda", json!(self.embedding_lambda)),
            ("final_lambda_ratio", json!(self.final_lambda_ratio)),
            ("embedding_passes", json!(self.embedding_passes)),
            ("oversampling", json!(self.oversampling)),
        ];
        record.extend(others.into_iter().filter(|(_, value)| !value.is_null()));
        record
    }
}

/// The factor on the bandwidth's inverse if it is not given.
const BANDWIDTH: f64 = 0.5;
/// The penalty of a link if it is not given.
const PENALTY: Penalty = Penalty::Variance(3.0);

/// A link or linear model to be fitted.
pub(super) struct LinearRecipe {
    params: Params,
    decision: Decision,
    record: Map<String, Value>,
}

enum Params {
    Link(Box<LabelEmbeddingParams>),
    Ridge(RidgeParams),
    Logistic(LogisticRegressionParams),
}

impl LinearRecipe {
    pub(super) fn new(method: Method, groups: &Groups, seed: u64) -> Result<Self, CliError> {
        let LinearOptions { lambda, decide } = groups.linear;
        let decide = decide.unwrap_or(DecisionName::Threshold);
        let mut parameters = vec![("decide", json!(name(&decide)))];
        let params = match method {
            Method::Ridge => {
                let mut params = RidgeParams::default();
                params.lambda = lambda.unwrap_or(params.lambda);
                parameters.push(("lambda", json!(params.lambda)));
                Params::Ridge(params)
            }
            Method::LogisticRegression => {
                let mut params = LogisticRegressionParams::default();
                params.lambda = lambda.unwrap_or(params.lambda);
                parameters.push(("lambda", json!(params.lambda)));
                Params::Logistic(params)
            }
            _ => {
                parameters.push(("lambda", json!(lambda.unwrap_or(PENALTY))));
                parameters.extend(groups.embedding.record());
                Params::Link(Box::new(groups.embedding.params(lambda, seed)))
            }
        };
        match &params {
            Params::Link(params) => params.check()?,
            Params::Ridge(params) => params.check()?,
            Params::Logistic(params) => params.check()?,
        }
        Ok(Self {
            params,
            decision: decide.into(),
            record: record(method, seed, parameters),
        })
    }
}

impl Recipe for LinearRecipe {
    fn n_steps(&self) -> usize {
        1
    }

    fn record(&self) -> Map<String, Value> {
        self.record.clone()
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, CliError> {
        let (x, y) = (data.features().view(), data.outputs().view());
        let model = match &self.params {
            Params::Link(params) => params
                .fit(x, y)
                .map_err(|e| context.error(data, e))
                .and_then(|fitted| Ok(Model::new(fitted, data)?)),
            Params::Ridge(params) => params
                .fit(x, y)
                .map_err(|e| context.error(data, e))
                .and_then(|fitted| Ok(Model::new(fitted, data)?)),
            Params::Logistic(params) => params
                .fit(x, y)
                .map_err(|e| context.error(data, e))
                .and_then(|fitted| Ok(Model::new(fitted, data)?)),
        }?;
        if let Some(on_step) = context.on_step {
            on_step();
        }
        Ok(model.with_decision(self.decision).with_parameters(self.record()))
    }
}

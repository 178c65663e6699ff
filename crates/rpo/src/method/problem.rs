//! What data lack for a method.

/// A requirement of a method that the data do not meet, as the rest of a sentence that begins with the method.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataProblem {
    /// No samples, or no outputs.
    #[error(
        "needs at least one sample and one output; the data have {n_samples} samples and {n_outputs} outputs"
    )]
    Empty {
        /// Number of samples.
        n_samples: usize,
        /// Number of outputs.
        n_outputs: usize,
    },
    /// A missing feature, for a method that needs all of them.
    #[error(
        "does not take missing features, but {name:?} of sample {sample} is missing (the first of them); {remedy} to fill \
         them in, or use a method that takes them, such as random-forest or gbmort"
    )]
    MissingFeature {
        /// The feature.
        name: String,
        /// The first sample that lacks a feature.
        sample: usize,
        /// The parameter to set that fills in missing features, and its value.
        remedy: String,
    },
    /// A missing output, for a method that needs all of them.
    #[error(
        "does not take missing outputs, but {name:?} of sample {sample} is missing (the first of them); use a forest, \
         boosting, ridge or logistic-regression, which take missing outputs"
    )]
    MissingOutput {
        /// The output.
        name: String,
        /// The first sample that lacks an output.
        sample: usize,
    },
    /// An output that no sample of positive weight has.
    #[error(
        "needs an observed value of every output in a sample of positive weight, and {name:?} has none; leave it out of \
         the outputs"
    )]
    UnobservedOutput {
        /// The output.
        name: String,
    },
    /// Weights of samples, for a method without them.
    #[error("does not take sample weights; the methods that do are {}", .others.join(", "))]
    SampleWeights {
        /// The methods that take them.
        others: Vec<String>,
    },
    /// Weights of single outputs, for a method without them.
    #[error("does not take weights of single outputs; use boosting")]
    OutputWeights,
    /// Numbers, for a method that learns labels.
    #[error("is for labels: the outputs are numbers")]
    Numbers,
    /// Numbers, for a method that learns them only with other parameters.
    #[error("is for labels with these parameters: the outputs are numbers; {remedy}")]
    NumbersWithParameters {
        /// The parameters with which it learns numbers.
        remedy: String,
    },
    /// A parameter for outputs of another kind.
    #[error("cannot use `{parameter}`, which is for {kind}: {outputs}")]
    Parameter {
        /// The parameter.
        parameter: &'static str,
        /// The outputs that it is for.
        kind: &'static str,
        /// The outputs that there are.
        outputs: &'static str,
    },
    /// Withheld samples of other columns than the training samples.
    #[error(
        "needs withheld samples with the columns of the training samples, but the withheld data {difference}"
    )]
    Withheld {
        /// What differs.
        difference: String,
    },
    /// A model to continue, for a method that cannot.
    #[error("cannot continue a model; boosting can, and forests can be merged")]
    CannotContinue,
    /// A model to continue that was fitted to other data.
    #[error("continues a model only on the data to which it was fitted, but {difference} differ")]
    OtherData {
        /// What differs.
        difference: &'static str,
    },
    /// A model to continue whose fit left samples out.
    #[error(
        "continues a model only on the samples to which it was fitted, but some were withheld from this one to choose \
         its number of steps (`validation`, `early_stopping`); a model with `refit_all` can be continued"
    )]
    WithheldFromModel,
    /// A method that writes models to a file while they grow, but not those of such outputs.
    #[error("cannot write models of these outputs to a file while they grow")]
    NotStreamed,
    /// A member of an ensemble cannot use the data.
    #[error("cannot fit one of its `members`: {method} {problem}")]
    Member {
        /// The member.
        method: String,
        /// What it needs.
        problem: Box<DataProblem>,
    },
}

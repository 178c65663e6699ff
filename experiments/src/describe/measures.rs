//! Names of the measures of a cell besides its metrics.

/// CPU seconds of the fit.
pub(crate) const FIT_CPU: &str = "fit-cpu";
/// Seconds of the fit.
pub(crate) const FIT_WALL: &str = "fit-wall";
/// CPU seconds of predicting the test samples.
pub(crate) const PREDICT_CPU: &str = "predict-cpu";
/// Seconds of predicting the test samples.
pub(crate) const PREDICT_WALL: &str = "predict-wall";
/// CPU seconds of drawing and applying projections during the fit.
pub(crate) const PROJECTION: &str = "projection";
/// CPU seconds of drawing and applying one projection.
pub(crate) const PROJECTION_ONCE: &str = "projection-once";
/// Size in bytes of the model's file.
pub(crate) const MODEL_BYTES: &str = "model-bytes";
/// Number of trees.
pub(crate) const TREES: &str = "trees";
/// Number of nodes of all trees.
pub(crate) const NODES: &str = "nodes";
/// Peak memory of the process in bytes until the model was fitted, including the data.
pub(crate) const PEAK_MEMORY: &str = "peak-memory";

/// CPU seconds of the search for options before the fit.
pub(crate) const SEARCH_CPU: &str = "search-cpu";
/// Number of settings that the search tried.
pub(crate) const TRIALS: &str = "trials";

/// The lower bound of the interval of a metric.
pub(crate) fn low(metric: &str) -> String {
    format!("{metric}, 5 %")
}

/// The upper bound of the interval of a metric.
pub(crate) fn high(metric: &str) -> String {
    format!("{metric}, 95 %")
}

/// Residual error: the variance of the noise.
pub(crate) const RESIDUAL: &str = "residual";
/// Squared bias.
pub(crate) const BIAS: &str = "bias";
/// Variance due to the learning set.
pub(crate) const V_LS: &str = "v-ls";
/// Variance due to the tree algorithm.
pub(crate) const V_ALGO: &str = "v-algo";
/// Variance due to the projections.
pub(crate) const V_PROJ: &str = "v-proj";
/// Mean squared error on fresh samples.
pub(crate) const ERROR: &str = "error";

/// The sum of the five terms, which equals the error up to the noise of the fresh samples.
pub(crate) const SUM: &str = "sum";

/// Measures and their labels in tables and figures.
const SCORING: [(&str, &str); 12] = [
    (FIT_CPU, "fit, CPU s"),
    (FIT_WALL, "fit, s"),
    (PREDICT_CPU, "predict, CPU s"),
    (PREDICT_WALL, "predict, s"),
    (PROJECTION, "projections, CPU s"),
    (PROJECTION_ONCE, "one projection, CPU s"),
    (MODEL_BYTES, "model file, bytes"),
    (TREES, "trees"),
    (NODES, "nodes"),
    (PEAK_MEMORY, "peak memory, bytes"),
    (SEARCH_CPU, "search, CPU s"),
    (TRIALS, "settings tried"),
];

/// Measures of a decomposition and their labels.
const DECOMPOSITION: [(&str, &str); 7] = [
    (ERROR, "error"),
    (SUM, "sum of terms"),
    (RESIDUAL, "residual"),
    (BIAS, "bias²"),
    (V_LS, "V_LS"),
    (V_ALGO, "V_Algo"),
    (V_PROJ, "V_Proj"),
];

/// The measures of a kind of cell besides its metrics.
pub(crate) fn names(decomposition: bool) -> Vec<String> {
    let measures: &[_] = if decomposition { &DECOMPOSITION } else { &SCORING };
    measures.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// A p-value as text.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

/// A p-value as the end of a phrase that begins with p.
pub(crate) fn p_relation(p: f64) -> String {
    if p < 0.001 {
        p_value(p)
    } else {
        format!("= {}", p_value(p))
    }
}

/// The label of a measure or metric.
pub(crate) fn label(name: &str) -> String {
    let mut measures = SCORING.iter().chain(&DECOMPOSITION);
    let found = measures.find(|(measure, _)| *measure == name);
    found.map_or_else(|| name.to_uppercase(), |(_, label)| (*label).to_owned())
}

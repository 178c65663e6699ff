//! The files of scikit-learn's trees, `tree_variance.json` and `tree_gini.json`, for the tests of this crate and of
//! `rpo-ensemble`.

use ndarray::Array2;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub(crate) struct Fixture {
    pub(crate) header: Header,
    pub(crate) cases: Vec<Case>,
    #[serde(default)]
    pub(crate) gain_tables: Vec<GainTable>,
}

#[derive(Deserialize)]
pub(crate) struct Header {
    pub(crate) tolerance: Tolerance,
}

#[derive(Deserialize)]
pub(crate) struct Tolerance {
    #[serde(alias = "probabilities_absolute")]
    pub(crate) predictions_absolute: f64,
    pub(crate) impurity_absolute: f64,
    #[serde(default = "default_importances")]
    pub(crate) importances_absolute: f64,
    pub(crate) gain_absolute: Option<f64>,
}

/// Default for importances: `tree_gini.json` gives no tolerance for them; that of `tree_variance.json` is used.
fn default_importances() -> f64 {
    1e-9
}

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) criterion: Option<String>,
    pub(crate) params: Params,
    pub(crate) x: Vec<Vec<Option<f32>>>,
    pub(crate) y: Vec<Vec<f32>>,
    pub(crate) sample_weight: Option<Vec<f32>>,
    pub(crate) x_test: Vec<Vec<Option<f32>>>,
    pub(crate) expected: Expected,
}

#[derive(Deserialize)]
pub(crate) struct Params {
    pub(crate) max_depth: Option<u32>,
    pub(crate) min_samples_split: usize,
    pub(crate) min_samples_leaf: usize,
    pub(crate) max_leaf_nodes: Option<usize>,
    #[serde(default)]
    pub(crate) min_impurity_decrease: f64,
}

#[derive(Deserialize)]
pub(crate) struct Expected {
    pub(crate) train_predictions: Option<Vec<Vec<f64>>>,
    /// Fractions of ones (`tree_gini.json`).
    pub(crate) test_probability_of_1: Option<Vec<Vec<f64>>>,
    pub(crate) test_predictions: Option<Vec<Vec<f64>>>,
    pub(crate) n_leaves: Option<usize>,
    pub(crate) depth: Option<usize>,
    pub(crate) feature_importances: Option<Vec<f64>>,
    pub(crate) tree: Option<TheirTree>,
}

#[derive(Deserialize)]
pub(crate) struct TheirTree {
    pub(crate) children_left: Vec<i64>,
    pub(crate) children_right: Vec<i64>,
    pub(crate) feature: Vec<i64>,
    pub(crate) threshold: Vec<Value>,
    pub(crate) missing_go_to_left: Vec<Option<bool>>,
    pub(crate) impurity: Vec<f64>,
    pub(crate) n_node_samples: Vec<usize>,
    pub(crate) weighted_n_node_samples: Vec<f64>,
    pub(crate) value: Vec<Vec<f64>>,
}

/// Impurity decreases of all thresholds of one feature.
#[derive(Deserialize)]
pub(crate) struct GainTable {
    pub(crate) name: String,
    pub(crate) x: Vec<f32>,
    pub(crate) y: Vec<f32>,
    pub(crate) columns: Vec<String>,
    pub(crate) splits: Vec<Vec<f64>>,
}

/// Reads the cases of a file, unless there is no folder of fixtures.
pub(crate) fn read(file: &str) -> Option<Fixture> {
    let Some(folder) = std::env::var_os("RPO_FIXTURES") else {
        eprintln!("skipped: RPO_FIXTURES, the folder with {file}, is not set");
        return None;
    };
    let path = std::path::Path::new(&folder).join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let fixture: Fixture = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert!(!fixture.cases.is_empty(), "{} holds cases", path.display());
    Some(fixture)
}

/// Features with NaN where they are missing.
pub(crate) fn matrix(rows: &[Vec<Option<f32>>]) -> Array2<f32> {
    let p = rows.first().map_or(0, Vec::len);
    Array2::from_shape_fn((rows.len(), p), |(i, j)| rows[i][j].unwrap_or(f32::NAN))
}

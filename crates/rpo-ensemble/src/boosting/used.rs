//! The part of the training data that boosting learns from.

use super::options::BoostingOptions;
use ndarray::{Array2, Axis};
use rpo_core::{Matrix, MatrixView};

/// What takes the place of the given data: outputs of weight 0 are missing, and samples of weight 0 and those without
/// an observed output are left out, so that they do not count in bins, draws and numbers of samples either.
#[derive(Default)]
pub(super) struct Used {
    /// The samples that are kept; `None` for all of them.
    pub(super) rows: Option<Vec<usize>>,
    pub(super) x: Option<Matrix>,
    pub(super) y: Option<Matrix>,
    pub(super) weights: Option<Vec<f32>>,
    pub(super) cells: Option<Array2<f32>>,
}

impl Used {
    /// Takes checked data.
    pub(super) fn new(x: MatrixView<'_>, y: MatrixView<'_>, options: &BoostingOptions<'_>) -> Self {
        let cells = options.cell_weights.as_ref();
        let masked = cells.and_then(|cells| y.missing_where_zero(cells.view()));
        let y = masked.as_ref().map_or(y.reborrow(), Matrix::view);
        match informative(y, options.weights) {
            None => Self {
                y: masked,
                ..Self::default()
            },
            Some(rows) => Self {
                x: Some(x.select_rows(&rows)),
                y: Some(y.select_rows(&rows)),
                weights: options
                    .weights
                    .map(|all| rows.iter().map(|&row| all[row]).collect()),
                cells: cells.map(|cells| cells.select(Axis(0), &rows)),
                rows: Some(rows),
            },
        }
    }
}

/// Returns the samples of positive weight with an observed output, unless these are all samples or none.
fn informative(y: MatrixView<'_>, weights: Option<&[f32]>) -> Option<Vec<usize>> {
    let has_zero = weights.is_some_and(|weights| weights.contains(&0.0));
    if !has_zero && !y.has_missing() {
        return None;
    }
    let is_informative = |row: &usize| {
        let mut n_missing = 0;
        y.for_each_in_row(*row, |_, v| n_missing += usize::from(v.is_nan()));
        n_missing < y.n_cols() && weights.is_none_or(|weights| weights[*row] > 0.0)
    };
    let rows: Vec<usize> = (0..y.n_rows()).filter(is_informative).collect();
    (!rows.is_empty() && rows.len() < y.n_rows()).then_some(rows)
}

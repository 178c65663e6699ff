//! Products of tall sparse matrices with a few columns at a time.

use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;
use rpo_core::{Mismatch, vectorized};

use super::Rows;
use crate::{ProjectionError, memory};

/// Number of columns of a [`Lanes`] panel: 128 bytes, two cache lines, for every row that a product reads.
pub const LANES: usize = 16;
/// One row of a panel: the numbers of [`LANES`] columns side by side.
pub type Lanes = [f64; LANES];

/// Returns the panel Q with which B = Y Q are the targets of one panel themselves.
pub fn identity_panel() -> [Lanes; LANES] {
    std::array::from_fn(|j| std::array::from_fn(|lane| if j == lane { 1.0 } else { 0.0 }))
}

/// Computes Aᵀ M(B Z) for A (n x a), B (n x b) and a panel Z (b x [`LANES`]), in one pass over the rows of both: the n
/// rows of B Z exist one at a time. `middle` receives the index of a row and that row of B Z, and may change it.
///
/// This is the one kernel behind everything learned from sparse X and Y here: Xᵀ(Y Q), Xᵀ(X P), Yᵀ(X Z) and, with a
/// `middle` that applies a derivative, gradients and curvatures of losses. One thread computes a panel in row order, so
/// that results do not depend on the number of threads; parallelize over panels.
///
/// # Errors
/// [`ProjectionError::Mismatch`] if the sizes of A, B and Z do not match, [`ProjectionError::OutOfMemory`] if the product does
/// not fit in memory.
pub fn panel_product(
    left: &impl Rows,
    right: &impl Rows,
    z: &[Lanes],
    mut middle: impl FnMut(usize, &mut Lanes),
) -> Result<Vec<Lanes>, ProjectionError> {
    Mismatch::check(
        "rows of the right factor of a product",
        left.row_count(),
        right.row_count(),
    )?;
    Mismatch::check("rows of the panel of a product", right.column_count(), z.len())?;
    let mut out = memory::filled([0.0; LANES], left.column_count(), 1)?;
    vectorized(
        #[inline(always)]
        || {
            for i in 0..left.row_count() {
                let mut t = [0.0; LANES];
                right.for_each_stored(
                    i,
                    #[inline(always)]
                    |j, v| add_scaled(&mut t, v, &z[j]),
                );
                middle(i, &mut t);
                left.for_each_stored(
                    i,
                    #[inline(always)]
                    |j, v| add_scaled(&mut out[j], v, &t),
                );
            }
        },
    );
    Ok(out)
}

/// Applies `f` to all columns of Q (r x k), one panel at a time and in parallel, and concatenates the returned panels
/// (c rows each) to c x k. The last panel is padded with columns of zeros.
///
/// # Errors
/// Those of `f`, and [`ProjectionError::OutOfMemory`].
pub(crate) fn by_panels(
    q: ArrayView2<'_, f64>,
    n_rows: usize,
    f: impl Fn(&[Lanes]) -> Result<Vec<Lanes>, ProjectionError> + Sync,
) -> Result<Array2<f64>, ProjectionError> {
    let n_panels = q.ncols().div_ceil(LANES);
    let panels: Vec<Result<Vec<Lanes>, ProjectionError>> = (0..n_panels)
        .into_par_iter()
        .map(|panel| f(&panel_of(q, panel)?))
        .collect();
    let mut out = memory::zeros(n_rows, q.ncols())?;
    for (first, panel) in (0..).step_by(LANES).zip(panels) {
        let panel = panel.map_err(|error| in_columns_from(first, error))?;
        Mismatch::check("rows of the result of a panel", n_rows, panel.len())?;
        let width = LANES.min(q.ncols() - first);
        let mut target = out.slice_mut(s![.., first..first + width]);
        for (mut row, lanes) in target.rows_mut().into_iter().zip(panel) {
            row.iter_mut().zip(lanes).for_each(|(out, v)| *out = v);
        }
    }
    Ok(out)
}

/// Names the column of all columns where an error names one of a panel.
fn in_columns_from(first: usize, mut error: ProjectionError) -> ProjectionError {
    if let ProjectionError::FactorValue { column, .. } = &mut error {
        *column += first;
    }
    error
}

/// Returns columns `panel * LANES ..` of Q.
fn panel_of(q: ArrayView2<'_, f64>, panel: usize) -> Result<Vec<Lanes>, ProjectionError> {
    let first = panel * LANES;
    let columns = q.slice(s![.., first..q.ncols().min(first + LANES)]);
    let mut lanes = memory::filled([0.0; LANES], q.nrows(), 1)?;
    for (lanes, row) in lanes.iter_mut().zip(columns.rows()) {
        lanes.iter_mut().zip(row).for_each(|(lane, &v)| *lane = v);
    }
    Ok(lanes)
}

/// `out += v * t`, lane by lane.
#[inline(always)]
pub(super) fn add_scaled(out: &mut Lanes, v: f64, t: &Lanes) {
    for lane in 0..LANES {
        out[lane] += v * t[lane];
    }
}

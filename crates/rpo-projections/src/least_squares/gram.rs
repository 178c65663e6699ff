//! XᵀX of matrices with few columns.

use ndarray::{Array2, Axis, s};
use rayon::prelude::*;
use rpo_core::product;

use super::Rows;
use crate::{ProjectionError, memory};

/// Number of rows of XᵀX that one task sums.
const STRIPE: usize = 128;
/// Number of rows of a dense X that are multiplied at once.
const BLOCK: usize = 256;
/// From this fraction of stored values on, a dense product is faster than adding entry by entry.
const DENSE_SHARE: f64 = 0.15;

/// Computes the lower triangle of XᵀX (p x p), in `f64`; the entries above it are 0. Rows are summed in order, for any
/// number of threads. Cost: Σᵢ nnz(xᵢ)² if X is sparse, that of a dense product, n p², otherwise.
///
/// # Errors
/// [`ProjectionError::OutOfMemory`] if p x p numbers do not fit.
pub(crate) fn gram(x: &(impl Rows + Sync)) -> Result<Array2<f64>, ProjectionError> {
    let (n, p) = (x.row_count(), x.column_count());
    let mut out = memory::zeros(p, p)?;
    let mut stored = 0_usize;
    (0..n).for_each(|i| x.for_each_stored(i, |_, _| stored += 1));
    if stored as f64 >= DENSE_SHARE * n as f64 * p as f64 {
        add_dense(x, &mut out)?;
    } else {
        add_sparse(x, &mut out);
    }
    Ok(out)
}

fn add_sparse(x: &(impl Rows + Sync), out: &mut Array2<f64>) {
    out.axis_chunks_iter_mut(Axis(0), STRIPE)
        .into_par_iter()
        .enumerate()
        .for_each(|(stripe, mut out)| {
            let first = stripe * STRIPE;
            let mut row: Vec<(usize, f64)> = Vec::new();
            for i in 0..x.row_count() {
                row.clear();
                x.for_each_stored(i, |j, v| row.push((j, v)));
                let start = row.partition_point(|(j, _)| *j < first);
                let end = row.partition_point(|(j, _)| *j < first + out.nrows());
                for at in start..end {
                    let (j, v) = row[at];
                    let mut sums = out.row_mut(j - first);
                    row[..=at].iter().for_each(|&(l, w)| sums[l] += v * w);
                }
            }
        });
}

fn add_dense(x: &(impl Rows + Sync), out: &mut Array2<f64>) -> Result<(), ProjectionError> {
    let (n, p) = (x.row_count(), x.column_count());
    let mut block = memory::zeros(n.min(BLOCK), p)?;
    for first in (0..n).step_by(BLOCK) {
        let rows = BLOCK.min(n - first);
        block.fill(0.0);
        for i in 0..rows {
            x.for_each_stored(first + i, |j, v| block[[i, j]] = v);
        }
        let block = block.slice(s![..rows, ..]);
        out.axis_chunks_iter_mut(Axis(0), STRIPE)
            .into_par_iter()
            .enumerate()
            .for_each(|(stripe, mut out)| {
                let (start, end) = (stripe * STRIPE, stripe * STRIPE + out.nrows());
                let mut out = out.slice_mut(s![.., ..end]);
                out += &product(block.slice(s![.., start..end]).t(), block.slice(s![.., ..end]));
            });
    }
    // The blocks on the diagonal are computed whole.
    out.indexed_iter_mut()
        .filter(|((i, j), _)| j > i)
        .for_each(|(_, v)| *v = 0.0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use rpo_core::Seed;

    #[test]
    fn both_ways_give_the_lower_triangle_of_the_product() {
        for (n, p, density) in [
            (0, 3, 1.0),
            (5, 1, 1.0),
            (300, 131, 0.05),
            (300, 131, 0.9),
            (3, 200, 0.5),
        ] {
            let mut rng = Seed::new(n as u64).stream();
            let x = Array2::from_shape_simple_fn((n, p), || {
                if rng.gen_bool(density) {
                    rng.gen_range(-3.0..3.0)
                } else {
                    0.0_f64
                }
            });
            let sparse = rpo_core::MatrixView::from(&x.mapv(|v| v as f32)).to_csr();
            let exact = x.mapv(|v| f64::from(v as f32));
            let mut expected = exact.t().dot(&exact);
            expected
                .indexed_iter_mut()
                .filter(|((i, j), _)| j > i)
                .for_each(|(_, v)| *v = 0.0);
            for found in [
                gram(&rpo_core::MatrixView::Sparse(sparse.view())).unwrap(),
                gram(&exact.view()).unwrap(),
            ] {
                assert!((found - &expected).iter().all(|v| v.abs() < 1e-10), "{n} x {p}");
            }
        }
    }
}

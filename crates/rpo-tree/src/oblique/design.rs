//! DesignMatrix matrices: what solvers know of a node.

use super::real::Real;
use rpo_core::vectorized;

/// The rows of a design matrix that a product runs over.
#[derive(Debug, Clone, Copy)]
pub enum Batch<'a> {
    /// All rows, in order.
    All,
    /// These rows.
    Rows(&'a [u32]),
}

/// A node's matrix A: one row per sample; one column per feature, then a column of ones, whose weight is the bias.
/// Columns behind that one are all 0.
pub trait DesignMatrix<T: Real> {
    /// Number of rows N.
    fn n_rows(&self) -> usize;
    /// Number of columns, those of zeros included: the length of weights and gradients.
    fn n_columns(&self) -> usize;
    /// The column of ones.
    fn bias(&self) -> usize;
    /// The margins a·w of the batch's rows, into `out`.
    fn margins(&self, batch: Batch<'_>, weights: &[T], out: &mut [T]);
    /// Aᵀv over the batch's rows, given v for each of them, into `out`.
    fn transposed(&self, batch: Batch<'_>, v: &[T], out: &mut [T]);
    /// The sum of the squares of all entries, ones included.
    fn squared_norm(&self) -> f64;
}

/// Rows and columns worked on at once: 4 rows share the loads of a vector, 8 columns fill two registers each.
const ROWS: usize = 4;
const LANES: usize = 8;

/// A dense design matrix, its rows filled up with zeros to whole groups of 8 columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct DenseDesign<T> {
    values: Vec<T>,
    n_rows: usize,
    stride: usize,
    bias: usize,
}

impl<T: Real> DenseDesign<T> {
    /// A matrix of rows of `n_features` values, written by `fill(row, values)` into zeros.
    #[cfg(test)]
    pub(super) fn new(n_rows: usize, n_features: usize, fill: impl FnMut(usize, &mut [T])) -> Self {
        let mut design = Self::default();
        design.refill(n_rows, n_features, fill);
        design
    }

    /// Replaces the matrix by one of rows of `n_features` values, written by `fill(row, values)` into zeros.
    pub(crate) fn refill(&mut self, n_rows: usize, n_features: usize, mut fill: impl FnMut(usize, &mut [T])) {
        (self.n_rows, self.bias) = (n_rows, n_features);
        self.stride = (n_features + 1).next_multiple_of(LANES);
        self.values.clear();
        self.values.resize(n_rows * self.stride, T::default());
        for (i, row) in self.values.chunks_exact_mut(self.stride).enumerate() {
            fill(i, &mut row[..n_features]);
            row[n_features] = T::ONE;
        }
    }

    #[inline(always)]
    fn row(&self, i: usize) -> &[[T; LANES]] {
        self.values[i * self.stride..][..self.stride].as_chunks().0
    }

    #[inline(always)]
    fn margins_of(&self, row: impl Fn(usize) -> usize, weights: &[T], out: &mut [T]) {
        let weights = weights.as_chunks::<LANES>().0;
        let whole = out.len() - out.len() % ROWS;
        for (k, out) in out[..whole].as_chunks_mut::<ROWS>().0.iter_mut().enumerate() {
            let [a, b, c, d]: [_; ROWS] = std::array::from_fn(|r| self.row(row(k * ROWS + r)));
            let mut sums = [[T::default(); LANES]; ROWS];
            for ((((w, a), b), c), d) in weights.iter().zip(a).zip(b).zip(c).zip(d) {
                for lane in 0..LANES {
                    sums[0][lane] += a[lane] * w[lane];
                    sums[1][lane] += b[lane] * w[lane];
                    sums[2][lane] += c[lane] * w[lane];
                    sums[3][lane] += d[lane] * w[lane];
                }
            }
            *out = sums.map(add_up);
        }
        for (k, out) in out.iter_mut().enumerate().skip(whole) {
            let mut sums = [T::default(); LANES];
            for (w, a) in weights.iter().zip(self.row(row(k))) {
                for lane in 0..LANES {
                    sums[lane] += a[lane] * w[lane];
                }
            }
            *out = add_up(sums);
        }
    }

    #[inline(always)]
    fn transposed_of(&self, row: impl Fn(usize) -> usize, v: &[T], out: &mut [T]) {
        out.fill(T::default());
        let out = out.as_chunks_mut::<LANES>().0;
        let (groups, rest) = v.as_chunks::<ROWS>();
        for (k, v) in groups.iter().enumerate() {
            let [a, b, c, d]: [_; ROWS] = std::array::from_fn(|r| self.row(row(k * ROWS + r)));
            let [va, vb, vc, vd] = *v;
            for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                // Array to array, so that the lanes stay vectors.
                *out = std::array::from_fn(|lane| {
                    out[lane] + ((va * a[lane] + vb * b[lane]) + (vc * c[lane] + vd * d[lane]))
                });
            }
        }
        for (k, &v) in rest.iter().enumerate() {
            for (out, a) in out.iter_mut().zip(self.row(row(groups.len() * ROWS + k))) {
                for lane in 0..LANES {
                    out[lane] += v * a[lane];
                }
            }
        }
    }
}

/// The lanes, added pairwise.
#[inline(always)]
fn add_up<T: Real>(lanes: [T; LANES]) -> T {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

impl<T: Real> DesignMatrix<T> for DenseDesign<T> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn n_columns(&self) -> usize {
        self.stride
    }

    fn bias(&self) -> usize {
        self.bias
    }

    fn margins(&self, batch: Batch<'_>, weights: &[T], out: &mut [T]) {
        vectorized(
            #[inline(always)]
            || match batch {
                Batch::All => self.margins_of(|i| i, weights, out),
                Batch::Rows(rows) => self.margins_of(|i| rows[i] as usize, weights, out),
            },
        );
    }

    fn transposed(&self, batch: Batch<'_>, v: &[T], out: &mut [T]) {
        vectorized(
            #[inline(always)]
            || match batch {
                Batch::All => self.transposed_of(|i| i, v, out),
                Batch::Rows(rows) => self.transposed_of(|i| rows[i] as usize, v, out),
            },
        );
    }

    fn squared_norm(&self) -> f64 {
        self.values.iter().map(|v| v.to_f64().powi(2)).sum()
    }
}

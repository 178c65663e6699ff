//! Design matrices: the data of a node that solvers use.

use super::real::Real;
use rpo_core::vectorized;

/// The rows of a design matrix that are included in a product.
#[derive(Debug, Clone, Copy)]
pub enum Batch<'a> {
    /// All rows, in order.
    All,
    /// The listed rows.
    Rows(&'a [u32]),
}

/// A node's matrix A: one row per sample; one column per feature, followed by a column of ones, whose weight is the
/// bias. Columns after that one are all 0.
pub trait DesignMatrix<T: Real> {
    /// Number of rows N.
    fn n_rows(&self) -> usize;
    /// Number of columns, including zero columns: the length of weights and gradients.
    fn n_columns(&self) -> usize;
    /// Index of the column of ones.
    fn bias(&self) -> usize;
    /// Writes the margins a·w of the batch's rows into `out`.
    fn margins(&self, batch: Batch<'_>, weights: &[T], out: &mut [T]);
    /// Writes Aᵀv over the batch's rows into `out`, given v for each of them.
    fn transposed(&self, batch: Batch<'_>, v: &[T], out: &mut [T]);
    /// Returns the sum of the squares of all entries, ones included.
    fn squared_norm(&self) -> f64;
}

/// Rows and columns processed at once: 4 rows share the loads of a vector, 8 columns fill two registers each.
const ROWS: usize = 4;
const LANES: usize = 8;

/// A dense design matrix, with rows zero-padded to whole groups of 8 columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct DenseDesign<T> {
    values: Vec<T>,
    n_rows: usize,
    stride: usize,
    bias: usize,
}

impl<T: Real> DenseDesign<T> {
    /// Creates a matrix of rows of `n_features` values, written by `fill(row, values)` into zeros.
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
        /// Number of rows whose lanes are stored in memory before they are summed: with the lanes of only the current
        /// rows, the compiler would vectorize across rows.
        const WAITING: usize = 32;
        let weights = weights.as_chunks::<LANES>().0;
        let mut waiting = [[T::default(); LANES]; WAITING];
        for (out, first) in out.chunks_mut(WAITING).zip((0..).step_by(WAITING)) {
            let (groups, rest) = waiting[..out.len()].as_chunks_mut::<ROWS>();
            let n_grouped = groups.len() * ROWS;
            for (group, first) in groups.iter_mut().zip((first..).step_by(ROWS)) {
                let [a, b, c, d]: [_; ROWS] = std::array::from_fn(|r| self.row(row(first + r)));
                let mut sums = [[T::default(); LANES]; ROWS];
                for ((((w, a), b), c), d) in weights.iter().zip(a).zip(b).zip(c).zip(d) {
                    let [sa, sb, sc, sd] = sums;
                    sums = [plus(sa, w, a), plus(sb, w, b), plus(sc, w, c), plus(sd, w, d)];
                }
                *group = sums;
            }
            for (sums, i) in rest.iter_mut().zip(first + n_grouped..) {
                let products = weights.iter().zip(self.row(row(i)));
                *sums = products.fold([T::default(); LANES], |sums, (w, a)| plus(sums, w, a));
            }
            for (out, &sums) in out.iter_mut().zip(&waiting) {
                *out = add_up(sums);
            }
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
                // From arrays to an array, so that the lanes stay vectors.
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

/// Adds products to sums. From arrays to an array, so that the lanes stay vectors.
#[inline(always)]
fn plus<T: Real>(sums: [T; LANES], w: &[T; LANES], a: &[T; LANES]) -> [T; LANES] {
    std::array::from_fn(|lane| sums[lane] + a[lane] * w[lane])
}

/// Sums the lanes pairwise.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rpo_core::Seed;

    proptest! {
        /// Several rows are processed at a time, and each margin is still the sum of its eight lanes, bit for bit.
        #[test]
        fn margins_are_sums_of_lanes((n, p) in (1_usize..80, 1_usize..30), seed in any::<u64>()) {
            let number = |key: usize| (Seed::new(seed).hash(key as u64) >> 40) as f32 / (1 << 22) as f32 - 2.0;
            let cell = |i: usize, j: usize| if j < p { number(i * 100 + j) } else { f32::from(u8::from(j == p)) };
            let design = DenseDesign::new(n, p, |i, row| row.iter_mut().enumerate().for_each(|(j, x)| *x = cell(i, j)));
            let weights: Vec<f32> = (0..design.n_columns()).map(|j| number(1_000_000 + j)).collect();
            let rows: Vec<u32> = (0..n as u32).rev().collect();
            for batch in [Batch::All, Batch::Rows(&rows)] {
                let mut margins = vec![f32::NAN; n];
                design.margins(batch, &weights, &mut margins);
                for (place, margin) in margins.into_iter().enumerate() {
                    let i = if let Batch::Rows(rows) = batch { rows[place] as usize } else { place };
                    let mut lanes = [0.0; LANES];
                    for (j, w) in weights.iter().enumerate() {
                        lanes[j % LANES] += cell(i, j) * w;
                    }
                    prop_assert_eq!(margin.to_bits(), add_up(lanes).to_bits());
                }
            }
        }
    }
}

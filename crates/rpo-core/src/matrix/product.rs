//! Products of dense matrices with the same bits on every processor.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, LinalgScalar, s};

/// Number of terms that are summed before they are added to an entry: the depth of a `matrixmultiply` panel, for both
/// types and on every processor.
const PANEL: usize = 256;

/// Number types with a fused multiply-add, which IEEE 754 rounds once: `f32` and `f64`.
pub trait Fused: LinalgScalar {
    /// `self` · `a` + `b`, rounded once.
    #[must_use]
    fn fused(self, a: Self, b: Self) -> Self;
}

impl Fused for f32 {
    fn fused(self, a: Self, b: Self) -> Self {
        self.mul_add(a, b)
    }
}

impl Fused for f64 {
    fn fused(self, a: Self, b: Self) -> Self {
        self.mul_add(a, b)
    }
}

/// Returns A B (n x k by k x m), with the same bits on every processor.
///
/// ndarray leaves matrix products to kernels chosen at run time. Those for x86-64 with FMA and AVX2, for AVX-512 and
/// for `AArch64` sum the terms of an entry in one order, each by a fused multiply-add. On a processor without these
/// instructions the other kernels would round twice; there the same sums are computed one by one, which is slow but
/// gives the same result.
///
/// # Panics
/// If `a` has not as many columns as `b` has rows.
#[must_use]
pub fn product<T: Fused>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Array2<T> {
    let mut out = Array2::zeros((a.nrows(), b.ncols()));
    product_into(a, b, out.view_mut());
    out
}

/// Overwrites `out` (n x m) with A B, see [`product`].
///
/// # Panics
/// If the shapes do not agree.
pub fn product_into<T: Fused>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) {
    if has_fused_kernels() {
        #[expect(clippy::disallowed_methods, reason = "this is its one place")]
        general_mat_mul(T::one(), &a, &b, T::zero(), &mut out);
    } else {
        one_by_one(a, b, out);
    }
}

fn has_fused_kernels() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma") && std::arch::is_x86_feature_detected!("avx2");
    #[cfg(target_arch = "aarch64")]
    return true;
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return false;
}

/// Computes the sums of the kernels, entry by entry.
fn one_by_one<T: Fused>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) {
    assert_eq!(a.ncols(), b.nrows(), "the inner lengths of a product");
    out.fill(T::zero());
    for (first, a) in (0..).step_by(PANEL).zip(a.axis_chunks_iter(Axis(1), PANEL)) {
        let b = b.slice(s![first..first + a.ncols(), ..]);
        for (a, mut out) in a.rows().into_iter().zip(out.rows_mut()) {
            for (column, out) in b.columns().into_iter().zip(&mut out) {
                let terms = a.iter().zip(column);
                let sum = terms.fold(T::zero(), |sum, (&a, &b)| a.fused(b, sum));
                *out = *out + sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entries(rows: usize, columns: usize, seed: u32) -> Array2<f64> {
        Array2::from_shape_fn((rows, columns), |(i, j)| {
            let hash = (seed ^ (i * 7919 + j * 104_729) as u32).wrapping_mul(2_654_435_761);
            f64::from(hash) / f64::from(u32::MAX) - 0.5
        })
    }

    fn assert_alike<T: Fused + PartialEq + std::fmt::Debug>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) {
        let mut expected = Array2::from_elem((a.nrows(), b.ncols()), T::one());
        one_by_one(a, b, expected.view_mut());
        assert_eq!(product(a, b), expected);
    }

    proptest! {
        #[test]
        fn kernels_make_the_sums_of_the_entries_one_by_one(
            (n, k, m) in (0_usize..40, 0_usize..700, 0_usize..40),
            (turned, narrow, seed) in (0..4, any::<bool>(), any::<u32>()),
        ) {
            if !has_fused_kernels() {
                eprintln!("skipped: this processor has no fused kernels to compare with");
                return Ok(());
            }
            let (a, b) = if turned & 1 == 0 { (entries(n, k, seed), entries(k, m, !seed)) } else {
                (entries(k, n, seed).reversed_axes(), entries(m, k, !seed).reversed_axes())
            };
            // Every other column, so that no stride is 1.
            let b = if turned & 2 == 0 { b.view() } else { b.slice(s![.., ..;2]) };
            if narrow {
                let (a, b) = (a.mapv(|v| v as f32), b.mapv(|v| v as f32));
                assert_alike(a.view(), b.view());
            } else {
                assert_alike(a.view(), b.view());
            }
        }
    }
}

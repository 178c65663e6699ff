//! Fast Walsh-Hadamard transform.

use std::ops::{Add, Sub};

use crate::ProjectionError;

/// Replaces x by H x with H the Hadamard matrix of Sylvester (natural order): H₁ = \[1\],
/// H₂ₙ = \[\[Hₙ, Hₙ\], \[Hₙ, -Hₙ\]\]; the entry in row a and column b is (-1)^popcount(a AND b). H H = N I.
///
/// Cost: N log2 N additions, in place.
///
/// # Errors
/// [`ProjectionError::NotPowerOfTwo`] if the length is not 1, 2, 4, 8, ...; x is then unchanged.
pub(crate) fn fwht<T>(x: &mut [T]) -> Result<(), ProjectionError>
where
    T: Copy + Add<Output = T> + Sub<Output = T>,
{
    let n = x.len();
    if !n.is_power_of_two() {
        return Err(ProjectionError::NotPowerOfTwo(n));
    }
    if n == 2 {
        (x[0], x[1]) = (x[0] + x[1], x[0] - x[1]);
        return Ok(());
    }
    // Two levels at a time read and write each number half as often.
    let mut half = 1;
    for quad in x.chunks_exact_mut(4) {
        let (a, b, c, d) = (
            quad[0] + quad[1],
            quad[0] - quad[1],
            quad[2] + quad[3],
            quad[2] - quad[3],
        );
        quad.copy_from_slice(&[a + c, b + d, a - c, b - d]);
        half = 4;
    }
    while 4 * half <= n {
        for block in x.chunks_exact_mut(4 * half) {
            let (low, high) = block.split_at_mut(2 * half);
            let ((p, q), (r, s)) = (low.split_at_mut(half), high.split_at_mut(half));
            for (((p, q), r), s) in p.iter_mut().zip(q).zip(r).zip(s) {
                let (a, b, c, d) = (*p + *q, *p - *q, *r + *s, *r - *s);
                (*p, *q, *r, *s) = (a + c, b + d, a - c, b - d);
            }
        }
        half *= 4;
    }
    if 2 * half == n {
        let (low, high) = x.split_at_mut(half);
        for (a, b) in low.iter_mut().zip(high) {
            (*a, *b) = (*a + *b, *a - *b);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_agrees_with_the_sylvester_matrix() {
        for log in 0..=9 {
            let n = 1_usize << log;
            let x: Vec<i64> = (0..n as i64).map(|i| i * i % 17 - 5).collect();
            let sign = |a: usize, b: usize| {
                if (a & b).count_ones().is_multiple_of(2) {
                    1
                } else {
                    -1
                }
            };
            let expected: Vec<i64> = (0..n).map(|a| (0..n).map(|b| sign(a, b) * x[b]).sum()).collect();
            let mut got = x.clone();
            fwht(&mut got).unwrap();
            assert_eq!(got, expected, "n = {n}");
            fwht(&mut got).unwrap();
            assert_eq!(
                got,
                x.iter().map(|v| v * n as i64).collect::<Vec<_>>(),
                "H H = N I, n = {n}"
            );
        }
    }

    #[test]
    fn other_lengths_are_refused() {
        for n in [0, 3, 6, 12, 1000] {
            let mut x = vec![1.0; n];
            assert_eq!(fwht(&mut x), Err(ProjectionError::NotPowerOfTwo(n)));
            assert_eq!(x, vec![1.0; n]);
        }
    }
}

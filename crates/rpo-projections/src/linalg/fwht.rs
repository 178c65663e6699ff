//! Fast Walsh-Hadamard transform.

use std::ops::{Add, Sub};

/// Replaces x by H x, where H is Sylvester's Hadamard matrix (natural order): H₁ = \[1\], H₂ₙ = \[\[Hₙ, Hₙ\], \[Hₙ,
/// -Hₙ\]\]; the entry in row a and column b is (-1)^popcount(a AND b). H H = N I.
///
/// Cost: N log2 N additions, in place.
///
/// # Panics
/// If the length is not 1, 2, 4, 8, ...
pub(crate) fn fwht<T>(x: &mut [T])
where
    T: Copy + Add<Output = T> + Sub<Output = T>,
{
    let n = x.len();
    assert!(n.is_power_of_two(), "a Walsh-Hadamard transform of {n} numbers");
    if n == 2 {
        (x[0], x[1]) = (x[0] + x[1], x[0] - x[1]);
        return;
    }
    // Processing two levels at a time halves the number of reads and writes.
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
            fwht(&mut got);
            assert_eq!(got, expected, "n = {n}");
            fwht(&mut got);
            assert_eq!(
                got,
                x.iter().map(|v| v * n as i64).collect::<Vec<_>>(),
                "H H = N I, n = {n}"
            );
        }
    }
}

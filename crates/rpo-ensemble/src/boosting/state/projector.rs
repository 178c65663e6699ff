//! The projection of probabilities and of their second derivatives.

use super::coefficients::Coefficients;
use super::padded_rows::{LANES, PaddedRows};

/// Projects probabilities p by φ, and the second derivatives 4 p (1 − p) by the squares of φ if these are given.
///
/// Sums over outputs consist of 16 interleaved partial sums in `f32`, which are added in `f64`: that is fast and keeps
/// the relative error near 1e-6.
pub(super) struct Projector<'s> {
    phi: &'s Coefficients,
    squares: Option<&'s Coefficients>,
    /// The rows of φ and of its squares, if they are dense, padded with 0.
    rows: Option<(PaddedRows, Option<PaddedRows>)>,
}

impl<'s> Projector<'s> {
    pub(super) fn new(phi: &'s Coefficients, squares: Option<&'s Coefficients>) -> Self {
        let padded = |coefficients: &Coefficients| match coefficients {
            Coefficients::Dense { phi, n_outputs } => {
                Some(PaddedRows::of(phi.chunks_exact(*n_outputs), *n_outputs, 0.0))
            }
            _ => None,
        };
        Self {
            phi,
            squares,
            rows: padded(phi).map(|rows| (rows, squares.and_then(padded))),
        }
    }

    /// Projects the probabilities of a sample, padded with any finite numbers. Writes one number per component; second
    /// derivatives only if squares were given. For loops that run inside
    /// [`vectorized`](rpo_core::vectorized).
    #[inline(always)]
    pub(super) fn project(&self, p: &[f32], of_p: &mut [f64], of_second: &mut [f64]) {
        let Some((phi, squares)) = &self.rows else {
            project(self.phi, p, |p| p, of_p);
            if let Some(squares) = self.squares {
                project(squares, p, second_derivative, of_second);
            }
            return;
        };
        for (k, of_p) in of_p.iter_mut().enumerate() {
            *of_p = dot(p, |p| p, phi.row(k));
        }
        if let Some(squares) = squares {
            for (k, second) in of_second.iter_mut().enumerate() {
                *second = dot(p, second_derivative, squares.row(k));
            }
        }
    }
}

#[inline(always)]
fn second_derivative(p: f32) -> f32 {
    4.0 * p * (1.0 - p)
}

/// Computes coefficients that are not dense times f(p).
#[inline(always)]
fn project(coefficients: &Coefficients, p: &[f32], f: impl Fn(f32) -> f32, out: &mut [f64]) {
    match coefficients {
        Coefficients::Dense { .. } => unreachable!("dense coefficients are projected by padded rows"),
        Coefficients::Sparse(components) => {
            for (out, component) in out.iter_mut().zip(components) {
                let terms = component
                    .iter()
                    .map(|&(j, c)| f64::from(f(p[j as usize])) * f64::from(c));
                *out = terms.sum();
            }
        }
        Coefficients::Identity { .. } => out.iter_mut().zip(p).for_each(|(o, &p)| *o = f64::from(f(p))),
        Coefficients::Diagonal(diagonal) => {
            let terms = p.iter().zip(diagonal);
            out.iter_mut()
                .zip(terms)
                .for_each(|(o, (&p, &c))| *o = f64::from(f(p)) * f64::from(c));
        }
    }
}

/// Returns the dot product of f(p) and a row of coefficients, both padded.
#[inline(always)]
fn dot(p: &[f32], f: impl Fn(f32) -> f32, row: &[f32]) -> f64 {
    const PAIR: usize = 2 * LANES;
    let mut sums = [0.0_f32; PAIR];
    let (pairs, last) = p.as_chunks::<PAIR>();
    let (row_pairs, row_last) = row.as_chunks::<PAIR>();
    for (p, row) in pairs.iter().zip(row_pairs) {
        for lane in 0..PAIR {
            sums[lane] += f(p[lane]) * row[lane];
        }
    }
    // A single vector may be left.
    let last = last.as_chunks::<LANES>().0.iter();
    for (p, row) in last.zip(row_last.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            sums[lane] += f(p[lane]) * row[lane];
        }
    }
    total(&sums)
}

/// Adds partial sums, by halves: in one sum, each addition would wait for the one before.
///
/// Not inlined: the compiler would arrange the loop that makes the sums for these additions, with vectors of two
/// numbers.
#[inline(never)]
fn total(sums: &[f32; 2 * LANES]) -> f64 {
    let eight: [f64; 8] = std::array::from_fn(|k| f64::from(sums[k]) + f64::from(sums[k + 8]));
    let four: [f64; 4] = std::array::from_fn(|k| eight[k] + eight[k + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_projects_as_in_f64() {
        for d in [1, 7, 8, 9, 16, 23, 24, 40, 159] {
            let given: Vec<f32> = (0..d).map(|j| ((j * 7 + 3) % 11) as f32 / 11.0).collect();
            let q = 2.min(d);
            let dense: Vec<f32> = (0..q * d).map(|i| ((i * 5) % 7) as f32 - 3.0).collect();
            for phi in [
                Coefficients::Dense {
                    phi: dense,
                    n_outputs: d,
                },
                Coefficients::Sparse(vec![vec![(0, 2.0), (d as u32 - 1, -1.0)], vec![]]),
                Coefficients::Identity { n_outputs: d },
                Coefficients::Diagonal(given.clone()),
            ] {
                let squares = phi.squared();
                let q = phi.n_components();
                let (mut expected, mut expected_second) = (vec![0.0; q], vec![0.0; q]);
                let wide: Vec<f64> = given.iter().map(|&p| f64::from(p)).collect();
                phi.project(&wide, &mut expected);
                let second: Vec<f64> = wide.iter().map(|p| 4.0 * p * (1.0 - p)).collect();
                squares.project(&second, &mut expected_second);
                for squares in [None, Some(&squares)] {
                    let p = PaddedRows::repeat(&given, 1, 0.25);
                    let (mut found, mut found_second) = (vec![0.0; q], vec![0.0; q]);
                    Projector::new(&phi, squares).project(p.row(0), &mut found, &mut found_second);
                    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4);
                    assert!(near(&found, &expected), "{phi:?}: {found:?} for {expected:?}");
                    if squares.is_some() {
                        assert!(near(&found_second, &expected_second), "{phi:?}: {found_second:?}");
                    }
                }
            }
        }
    }
}

//! Projections whose entries, all or some of them, are signs.

use rand::{Rng, RngCore};
use rpo_core::math;
use rpo_core::{MatrixView, Seed};

use crate::maps::{DenseMap, LabelRows};
use crate::maps::{Entry, SparseMap};
use crate::{LinearMap, ProjectionError, RandomProjection, check_sizes};

/// Returns true if the rows of outputs are better stored with their zeros.
///
/// Dense rows are added four lanes at a time and without branches; single entries are added one by one, and their
/// number varies per output. Measured: with few entries per output, dense rows win up to s = 64, where drawing them
/// begins to dominate; with four or more, only below s = 8.
fn store_rows(s: f64, n_components: usize) -> bool {
    s < 8.0 || (s < 64.0 && (n_components as f64) < 4.0 * s)
}

/// Largest s: one over the resolution of uniform random numbers.
const MAX_SPARSITY: f64 = (1_u64 << 53) as f64;

/// Maps of signs, with independent entries: ±√(s/m), each with probability 1/(2s), and 0 with probability 1 - 1/s.
///
/// Shapes: Y (n x d), Φ (m x d), Z (n x m); m may exceed d. Units: those of Y; E‖Φu‖² = ‖u‖². Cost: O(m d/s) to draw
/// and O(m nnz(Y)/s) to apply, or those of [`Gaussian`](crate::Gaussian) maps if storing zeros costs less than leaving
/// them out.
///
/// Source: Joly, Geurts, Wehenkel, ECML-PKDD 2014, section 2.2; Achlioptas, J. Comput. Syst. Sci. 66, 2003,
/// theorem 1.1 (s = 1 and 3); Li, Hastie, Church, KDD 2006 (s = √d).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rademacher {
    /// One over the fraction of nonzero entries: from 1, with which all entries are ±1/√m, to 2⁵³, where probabilities
    /// of 1/s reach the resolution of the random numbers. Other values are refused ([`ProjectionError::Sparsity`]).
    ///
    /// `None` stands for √d for d outputs: a fraction 1/√d of the entries is nonzero (Li, Hastie, Church 2006). For the
    /// 983 outputs of the delicious set that is 3.19 %, not the "about 2 %" of section 4.5 of the forest paper.
    pub s: Option<f64>,
}

impl Rademacher {
    /// Refuses an s out of range.
    pub(crate) fn check(self) -> Result<(), ProjectionError> {
        match self.s {
            Some(s) if !(1.0..=MAX_SPARSITY).contains(&s) => Err(ProjectionError::Sparsity(s)),
            _ => Ok(()),
        }
    }

    /// Returns a map as its nonzero entries, for callers that need the entries, not only products with them.
    ///
    /// # Errors
    /// As for [`RandomProjection::draw`].
    pub fn map(
        self,
        n_outputs: usize,
        n_components: usize,
        seed: Seed,
    ) -> Result<SparseMap, ProjectionError> {
        self.check()?;
        check_sizes(n_outputs, n_components)?;
        let (shape, s) = ((n_outputs, n_components), self.s(n_outputs));
        SparseMap::new(
            shape,
            (s / n_components as f64).sqrt(),
            &sparse_signs(shape, s, seed)?,
        )
    }

    /// One over the fraction of nonzero entries.
    fn s(self, n_outputs: usize) -> f64 {
        self.s.unwrap_or_else(|| (n_outputs as f64).sqrt())
    }

    fn make(
        self,
        (n_outputs, n_components): (usize, usize),
        seed: Seed,
        y: Option<MatrixView<'_>>,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        self.check()?;
        check_sizes(n_outputs, n_components)?;
        let shape = (n_outputs, n_components);
        let s = self.s(n_outputs);
        let scale = (s / n_components as f64).sqrt();
        Ok(if store_rows(s, n_components) {
            Box::new(DenseMap::new(SignRows::new(s, seed), shape, scale, y)?)
        } else {
            Box::new(SparseMap::new(shape, scale, &sparse_signs(shape, s, seed)?)?)
        })
    }
}

impl Default for Rademacher {
    /// s = 1: every entry is ±1/√m.
    fn default() -> Self {
        Self { s: Some(1.0) }
    }
}

impl RandomProjection for Rademacher {
    fn draw(
        &self,
        n_outputs: usize,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        self.make((n_outputs, n_components), seed, None)
    }

    fn draw_for(
        &self,
        y: MatrixView<'_>,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        self.make((y.n_cols(), n_components), seed, Some(y))
    }
}

/// Draws entries +1, -1 and 0, output by output.
#[derive(Debug)]
struct SignRows {
    seed: Seed,
    /// A uniform `i32` below the first bound means +1, one above the second bound -1. Each happens for ⌊2³²/(2s)⌋ of
    /// the 2³² numbers, so that probabilities are exact to 2⁻³².
    bounds: (i32, i32),
}

impl SignRows {
    fn new(s: f64, seed: Seed) -> Self {
        let count = (f64::from(1_u32 << 31) / s) as i64;
        Self {
            seed,
            bounds: (
                (i64::from(i32::MIN) + count) as i32,
                (i64::from(i32::MAX) - count) as i32,
            ),
        }
    }
}

impl LabelRows for SignRows {
    fn fill(&self, label: u32, row: &mut [f32]) {
        let mut rng = self.seed.child(label.into()).stream();
        let (below, above) = self.bounds;
        // Numbers first, comparisons after, so that the comparisons are vectorised.
        let mut numbers = [0_i32; 16];
        for block in row.chunks_mut(numbers.len()) {
            for pair in numbers[..block.len().next_multiple_of(2)].chunks_exact_mut(2) {
                let word = rng.next_u64();
                pair.copy_from_slice(&[(word >> 32) as i32, word as i32]);
            }
            for (x, &number) in block.iter_mut().zip(&numbers) {
                *x = f32::from(u8::from(number < below)) - f32::from(u8::from(number > above));
            }
        }
    }
}

/// Draws the nonzero entries of a d x m matrix of signs with density 1/s, as (output, component, ±1) in order.
///
/// The gaps between successive nonzero entries of independent draws are geometric, and drawing gaps costs one number
/// per nonzero entry. Drawing a binomial count per row, then that number of distinct columns, then signs gives the same
/// distribution, but the columns must be kept distinct and sorted.
fn sparse_signs(
    (n_outputs, n_components): (usize, usize),
    s: f64,
    seed: Seed,
) -> Result<Vec<Entry>, ProjectionError> {
    let (m, total) = (n_components as u64, n_outputs as u64 * n_components as u64);
    // Reserves room for the expected number of entries plus six standard deviations, so that it is never outgrown.
    let expected = total as f64 / s;
    let mut entries = Vec::new();
    let room = entries.try_reserve_exact((expected + 6.0 * expected.sqrt()) as usize);
    room.map_err(|_| ProjectionError::OutOfMemory {
        rows: n_outputs,
        columns: n_components,
    })?;
    let mut rng = seed.stream();
    let per_log = math::ln_1p(-s.recip()).recip();
    let mut at = 0_u64;
    loop {
        // U in (0, 1]: P(gap >= g) = P(ln U / ln(1 - 1/s) >= g) = (1 - 1/s)^g.
        let uniform = 1.0 - rng.r#gen::<f64>();
        // The conversion saturates, and so must the sum, if the gap leads beyond the matrix.
        at = at.saturating_add((math::ln(uniform) * per_log) as u64);
        if at >= total {
            return Ok(entries);
        }
        let sign = if rng.next_u64() >> 63 == 0 { 1.0 } else { -1.0 };
        entries.push(((at / m) as u32, (at % m) as u32, sign));
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparsities_outside_their_range_are_refused() {
        for s in [0.0, 1.0 - f64::EPSILON, -1.0, f64::INFINITY, MAX_SPARSITY + 2.0] {
            let drawn = Rademacher { s: Some(s) }.draw(3, 2, Seed::new(1)).map(|_| ());
            assert_eq!(drawn, Err(ProjectionError::Sparsity(s)));
        }
        let check = |s| Rademacher { s: Some(s) }.check();
        assert!(check(f64::NAN).is_err() && check(1.0).is_ok() && check(MAX_SPARSITY).is_ok());
    }

    #[test]
    fn densities_and_signs_of_both_representations() {
        let (d, m) = (4_000, 25);
        for s in [1.0, 3.0, 7.0] {
            let (rows, mut row, mut counts) = (SignRows::new(s, Seed::new(1)), [0.0; 25], [0_u32; 3]);
            for label in 0..d as u32 {
                rows.fill(label, &mut row);
                row.iter().for_each(|x| counts[(x + 1.0) as usize] += 1);
            }
            check_counts(s, d * m, counts[0], counts[2]);
        }
        for s in [8.0, 63.0] {
            let entries = sparse_signs((d, m), s, Seed::new(1)).unwrap();
            assert!(
                entries.windows(2).all(|w| (w[0].0, w[0].1) < (w[1].0, w[1].1)),
                "ordered, none twice"
            );
            let plus = entries.iter().filter(|e| e.2 > 0.0).count() as u32;
            check_counts(s, d * m, entries.len() as u32 - plus, plus);
        }
    }

    fn check_counts(s: f64, total: usize, minus: u32, plus: u32) {
        let p = 0.5 / s;
        let (mean, sd) = (total as f64 * p, (total as f64 * p * (1.0 - p)).sqrt());
        for count in [minus, plus] {
            assert!(
                (f64::from(count) - mean).abs() < 5.0 * sd,
                "s = {s}: {count} entries, expected {mean}"
            );
        }
    }
}

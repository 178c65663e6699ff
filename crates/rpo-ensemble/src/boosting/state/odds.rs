//! The training state of the logistic loss on several outputs: odds o = exp(2f) in place of scores f.
//!
//! A step adds one constant v per leaf and output to the scores, so it multiplies odds by exp(2v), without an
//! exponential per cell. The probability of a label is o / (1 + o), its second derivative (∂²ℓ/∂f²) 4 o / (1 + o)², and
//! the residual R = 2 (Y − P). The projection of R is 2 Y φᵀ − 2 P φᵀ, so the cost of the labels is only their number.
//!
//! A step reads the n x d odds twice: to apply the last update and project the next residual, and to sum probabilities
//! and second derivatives over the leaves of the new tree, which is all that a Newton step needs. An exact step then
//! searches one output after the other.

use super::odds_search::{Leaf, exact_step};
use super::padded_rows::{LANES, PaddedRows};
use super::projector::Projector;
use super::sums::{LeafSums, scale_columns};
use super::{Chunks, LeafIndex, Outputs, Pass, Real, StepUpdate, rows_together, write};
use crate::boosting::choices::{LineSearch, StepScope};
use crate::boosting::loss::{Objective, StepRule};
use crate::boosting::resolved::Resolved;
use ndarray::Array2;
use rayon::prelude::*;
use rpo_core::{CsrMatrix, csr_row, math, vectorized};

/// Odds are bounded to [1e-18, 1e18], |f| up to about 20.7. At the bounds, probabilities are 0 or 1 in `f32`, and
/// products of two 1 + o stay in the range of `f32`.
const LARGEST: f32 = 1e18;
const SMALLEST: f32 = 1e-18;

/// Odds of every row and output.
pub(crate) struct OddsState<'a> {
    outputs: &'a Outputs<'a>,
    labels: CsrMatrix,
    line_search: LineSearch,
    scope: StepScope,
    rules: Vec<StepRule>,
    /// Padded with the smallest odds.
    odds: PaddedRows,
    /// The sums over the leaves of the last tree. They are as large as the values of a step, and are reused because
    /// most of the time of a new allocation would be spent by the system on new pages.
    sums: LeafSums,
    /// The factors of the odds in the last update, leaf by leaf, padded with 1.
    factors: PaddedRows,
    /// True if passes return the loss.
    with_loss: bool,
}

impl<'a> OddsState<'a> {
    /// Creates the state from the initial constants.
    pub(crate) fn new(
        params: &Resolved,
        objective: &Objective,
        outputs: &'a Outputs<'a>,
        initial: &[f64],
    ) -> Self {
        let row: Vec<f32> = initial.iter().map(|f| math::exp(2.0 * f) as f32).collect();
        Self {
            outputs,
            labels: outputs.y.to_csr(),
            line_search: params.line_search,
            scope: params.step_scope,
            rules: objective.rules(params.penalties),
            odds: PaddedRows::repeat(&row, outputs.n_rows(), SMALLEST),
            sums: LeafSums::zero(0, outputs.n_outputs()),
            factors: PaddedRows::default(),
            with_loss: params.with_loss,
        }
    }

    pub(super) fn run<Z: Real>(&mut self, pass: Pass<'_, Z>) -> f64 {
        let (n_rows, d) = (self.outputs.n_rows(), self.outputs.n_outputs());
        let together = rows_together(n_rows);
        let next = Chunks::new(pass.next, n_rows, together);
        let projections = next.projections.into_iter();
        let projectors: Vec<_> = projections
            .map(|(phi, squares)| (phi, squares.is_some(), Projector::new(phi, squares)))
            .collect();
        let most = projectors
            .iter()
            .map(|(phi, ..)| phi.n_components())
            .max()
            .unwrap_or(0);
        if let Some((leaves, update)) = pass.update {
            self.set_factors(leaves.n_leaves, update);
        }
        let update = pass.update.map(|(leaves, _)| (&leaves.of_row[..], &self.factors));
        let stay = PaddedRows::filled(1.0, d, 1);
        let with_loss = self.with_loss;
        let (labels, weights) = (self.labels.view(), self.outputs.weights);
        let width = self.odds.width();
        let chunks = self.odds.all_mut().par_chunks_mut(together * width);
        let losses = chunks
            .zip(next.parts)
            .enumerate()
            .map(|(chunk, (odds, mut parts))| {
                let mut p = PaddedRows::filled(0.0, d, 1);
                let zeros = || vec![0.0; most];
                let (mut of_labels, mut of_p, mut second) = (zeros(), zeros(), zeros());
                let (stay, labels, projectors) = (&stay, &labels, &projectors);
                vectorized(
                    #[inline(always)]
                    move || {
                        let (p, mut sum) = (p.all_mut(), 0.0);
                        for (i, odds) in odds.chunks_exact_mut(width).enumerate() {
                            let row = chunk * together + i;
                            let factor = match update {
                                Some((leaf_of, factors)) => factors.row(leaf_of[row] as usize),
                                None => stay.row(0),
                            };
                            if projectors.is_empty() && !with_loss {
                                scale(odds, factor);
                                continue;
                            }
                            let mut loss = match with_loss {
                                true => multiply::<true>(odds, factor, p),
                                false => multiply::<false>(odds, factor, p),
                            };
                            let (ones, values) = csr_row(labels, row);
                            if with_loss {
                                loss -= sum_of_logarithms(odds, ones);
                                sum += f64::from(weights[row]) * loss;
                            }
                            for ((phi, is_second, projector), (z, h)) in projectors.iter().zip(&mut parts) {
                                let q = phi.n_components();
                                let (of_labels, of_p, second) =
                                    (&mut of_labels[..q], &mut of_p[..q], &mut second[..q]);
                                phi.project_sparse(ones, values, of_labels);
                                projector.project(p, of_p, second);
                                let z = z[i * q..][..q].iter_mut();
                                for (z, (y, p)) in z.zip(of_labels.iter().zip(&*of_p)) {
                                    *z = Z::from_f64(2.0 * (y - p));
                                }
                                if *is_second {
                                    write(&mut h[i * q..][..q], second);
                                }
                            }
                        }
                        sum
                    },
                )
            });
        losses.collect::<Vec<f64>>().iter().sum()
    }

    /// Computes the factors by which an update multiplies the odds in each leaf.
    fn set_factors(&mut self, n_leaves: usize, update: &StepUpdate) {
        /// Smallest number of factors that justifies a task.
        const TASK: usize = 4096;
        let d = self.outputs.n_outputs();
        if self.factors.n_rows() != n_leaves {
            self.factors = PaddedRows::filled(1.0, d, n_leaves);
        }
        let width = self.factors.width();
        let leaves = self.factors.all_mut().par_chunks_mut(width).enumerate();
        leaves.with_min_len(TASK.div_ceil(d)).for_each_init(
            || vec![0.0; d],
            |values, (leaf, factors)| {
                update.copy_leaf(leaf, values);
                let pairs = factors.iter_mut().zip(values);
                pairs.for_each(|(factor, v)| *factor = math::exp(2.0 * *v) as f32);
            },
        );
    }

    /// Sums over each leaf separately, so that its sums stay in the L1 cache during the loop over its samples.
    fn sum_leaves(&mut self, leaves: &LeafIndex) {
        let d = self.outputs.n_outputs();
        let members = leaves.members();
        let mut sums = std::mem::replace(&mut self.sums, LeafSums::zero(0, 0));
        if sums.residual.nrows() != leaves.n_leaves {
            sums = LeafSums::zero(leaves.n_leaves, d);
        }
        let arrays = [&mut sums.residual, &mut sums.curvature, &mut sums.weight];
        let [p, h, w] = arrays.map(|sums| sums.as_slice_mut().expect("made in row order"));
        let of_leaves = p
            .par_chunks_mut(d)
            .zip(h.par_chunks_mut(d))
            .zip(w.par_chunks_mut(d));
        let of_leaves = of_leaves.enumerate().with_max_len(1);
        of_leaves.for_each(|(leaf, ((p, h), w))| {
            let rows = &members[leaf];
            let weight = self.sum_rows(rows, p, h);
            // `p` holds sums of probabilities: Σ c r = 2 (Σ c y − Σ c p).
            let labels = self.labels.view();
            for &row in rows {
                let c = f64::from(self.outputs.weights[row as usize]);
                let ones = csr_row(&labels, row as usize).0;
                ones.iter().for_each(|&j| p[j as usize] -= c);
            }
            p.iter_mut().for_each(|p| *p *= -2.0);
            h.iter_mut().for_each(|h| *h *= 4.0);
            w.fill(weight);
        });
        self.sums = sums;
    }

    /// Sums probabilities and their variances over some samples, in parts if there are many. Returns the sum of
    /// weights.
    fn sum_rows(&self, rows: &[u32], p: &mut [f64], h: &mut [f64]) -> f64 {
        /// Number of samples of a part.
        const PART: usize = 1024;
        p.fill(0.0);
        h.fill(0.0);
        let d = p.len();
        if rows.len() > PART {
            let parts = rows.par_chunks(PART).map(|rows| {
                let (mut p, mut h) = (vec![0.0; d], vec![0.0; d]);
                let weight = self.sum_rows(rows, &mut p, &mut h);
                (p, h, weight)
            });
            let mut weight = 0.0;
            for (of_part, h_of_part, weight_of_part) in parts.collect::<Vec<_>>() {
                p.iter_mut().zip(of_part).for_each(|(p, part)| *p += part);
                h.iter_mut().zip(h_of_part).for_each(|(h, part)| *h += part);
                weight += weight_of_part;
            }
            return weight;
        }
        let (mut narrow, mut weight) = (NarrowSums::new(d), 0.0);
        for some in rows.chunks(NarrowSums::ROWS) {
            for &row in some {
                let c = self.outputs.weights[row as usize];
                weight += f64::from(c);
                let odds = self.odds.row(row as usize);
                vectorized(
                    #[inline(always)]
                    || narrow.add(odds, c),
                );
            }
            narrow.flush(p, h);
        }
        weight
    }

    pub(super) fn scalar_steps(&mut self, leaves: &LeafIndex, g: &[f64]) -> Vec<f64> {
        self.sum_leaves(leaves);
        let sums = &self.sums;
        match self.line_search {
            LineSearch::Newton => sums.newton(&self.rules, |_| 1.0, |leaf, _| g[leaf]),
            LineSearch::Exact => {
                let shape = sums.residual.dim();
                let g = Array2::from_shape_fn(shape, |(leaf, _)| g[leaf]);
                self.search(leaves, &g)
            }
        }
    }

    pub(super) fn vector_steps(&mut self, leaves: &LeafIndex) -> Array2<f64> {
        self.sum_leaves(leaves);
        let sums = &self.sums;
        match self.line_search {
            LineSearch::Newton => sums.newton_vectors(self.scope, &self.rules),
            LineSearch::Exact => {
                let means = sums.means();
                let steps = self.search(leaves, &means);
                scale_columns(means, &steps)
            }
        }
    }

    /// Returns the exact step of each output along leaf values g (L x d), to the precision of `f32` sums.
    fn search(&self, leaves: &LeafIndex, g: &Array2<f64>) -> Vec<f64> {
        let (members, start) = (leaves.members(), &self.sums);
        let order = members.all_rows();
        let weights: Vec<f32> = order.iter().map(|&i| self.outputs.weights[i as usize]).collect();
        let (n, d) = (order.len(), self.outputs.n_outputs());
        let strips = (0..d.div_ceil(STRIP)).into_par_iter().map_init(
            || vec![0.0_f32; n * STRIP],
            |odds, strip| {
                let outputs = strip * STRIP..((strip + 1) * STRIP).min(d);
                for (place, &i) in order.iter().enumerate() {
                    let row = &self.odds.row(i as usize)[outputs.clone()];
                    for (k, &o) in row.iter().enumerate() {
                        odds[k * n + place] = o;
                    }
                }
                outputs
                    .zip(odds.chunks(n))
                    .map(|(j, odds)| {
                        let leaves = (0..members.n_leaves()).map(|leaf| Leaf {
                            n_samples: members[leaf].len(),
                            value: g[[leaf, j]],
                            weight: start.weight[[leaf, j]],
                            residual: start.residual[[leaf, j]],
                            curvature: start.curvature[[leaf, j]],
                        });
                        exact_step(&leaves.collect::<Vec<_>>(), odds, &weights)
                    })
                    .collect::<Vec<f64>>()
            },
        );
        strips.collect::<Vec<_>>().concat()
    }
}

/// Number of outputs whose odds are gathered together, so that the reads of a row share cache lines.
const STRIP: usize = 16;

/// Returns o limited to its range.
#[inline(always)]
pub(super) fn bounded(o: f32) -> f32 {
    let o = if o > LARGEST { LARGEST } else { o };
    if o < SMALLEST { SMALLEST } else { o }
}

/// Multiplies odds by factors.
#[inline(always)]
fn scale(odds: &mut [f32], factors: &[f32]) {
    let pairs = odds.iter_mut().zip(factors);
    pairs.for_each(|(o, factor)| *o = bounded(*o * factor));
}

/// Multiplies odds by factors, writes probabilities, and returns Σ log(1 + o) if it is requested. Padding adds log 1.
///
/// Logarithms are taken of products: two 1 + o are multiplied in `f32`, eight of these products in `f64`, exponents are
/// split off, and one logarithm per row remains.
#[inline(always)]
fn multiply<const WITH_LOSS: bool>(odds: &mut [f32], factors: &[f32], p: &mut [f32]) -> f64 {
    const PAIR: usize = 2 * LANES;
    let (mut product, mut exponent) = ([1.0_f64; LANES], 0_i64);
    let (pairs, last) = odds.as_chunks_mut::<PAIR>();
    let (factor_pairs, last_factors) = factors.as_chunks::<PAIR>();
    let (p_pairs, last_p) = p.as_chunks_mut::<PAIR>();
    for (i, ((odds, factors), p)) in pairs.iter_mut().zip(factor_pairs).zip(p_pairs).enumerate() {
        let one_plus = multiply_some(odds, factors, p);
        if !WITH_LOSS {
            continue;
        }
        for k in 0..LANES {
            product[k] *= f64::from(one_plus[k] * one_plus[k + LANES]);
        }
        if i % 8 == 7 {
            product.iter_mut().for_each(|x| exponent += take_exponent(x));
        }
    }
    let last = last.as_chunks_mut::<LANES>().0.iter_mut();
    let others = last_factors.as_chunks().0.iter().zip(last_p.as_chunks_mut().0);
    for (odds, (factors, p)) in last.zip(others) {
        let one_plus = multiply_some(odds, factors, p);
        for k in 0..LANES {
            product[k] *= f64::from(one_plus[k]);
        }
    }
    if !WITH_LOSS {
        return 0.0;
    }
    product.iter_mut().for_each(|x| exponent += take_exponent(x));
    // The product of mantissas is at most 2⁸.
    math::ln(product.iter().product()) + exponent as f64 * std::f64::consts::LN_2
}

/// Multiplies some odds by factors, writes probabilities and returns 1 + o.
#[inline(always)]
fn multiply_some<const N: usize>(odds: &mut [f32; N], factors: &[f32; N], p: &mut [f32; N]) -> [f32; N] {
    let mut one_plus = [0.0; N];
    for k in 0..N {
        let o = bounded(odds[k] * factors[k]);
        odds[k] = o;
        one_plus[k] = 1.0 + o;
        p[k] = o / one_plus[k];
    }
    one_plus
}

/// Returns Σ log o of some outputs, by logarithms of products of 16, which stay in the range of `f64`.
fn sum_of_logarithms(odds: &[f32], outputs: &[u32]) -> f64 {
    let product = |some: &[u32]| some.iter().map(|&j| f64::from(odds[j as usize])).product();
    outputs.chunks(16).map(|some| math::ln(product(some))).sum()
}

/// Divides a positive normal number by the power of two that brings it to [1, 2), and returns the exponent.
#[inline(always)]
fn take_exponent(x: &mut f64) -> i64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    *x = f64::from_bits(bits & MANTISSA | 1.0_f64.to_bits());
    (bits >> 52) as i64 - 1023
}

/// Sums of probabilities and second derivatives over a few rows, in `f32`.
struct NarrowSums {
    p: PaddedRows,
    h: PaddedRows,
}

impl NarrowSums {
    /// Number of rows after which sums are added to those in `f64`.
    const ROWS: usize = 32;

    fn new(d: usize) -> Self {
        Self {
            p: PaddedRows::filled(0.0, d, 1),
            h: PaddedRows::filled(0.0, d, 1),
        }
    }

    #[inline(always)]
    fn add(&mut self, odds: &[f32], weight: f32) {
        for (&o, (p, h)) in odds.iter().zip(self.p.all_mut().iter_mut().zip(self.h.all_mut())) {
            let q = 1.0 / (1.0 + o);
            let part = weight * (o * q);
            *p += part;
            *h += part * q;
        }
    }

    fn flush(&mut self, p: &mut [f64], h: &mut [f64]) {
        for (sums, narrow) in [(p, &mut self.p), (h, &mut self.h)] {
            for (sum, narrow) in sums.iter_mut().zip(narrow.all_mut()) {
                *sum += f64::from(std::mem::take(narrow));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplying_odds_adds_scores() {
        for d in [1, 7, 16, 17, 40, 983] {
            let score = |j: usize| ((j * 37 + 11) % 101) as f64 / 10.0 - 5.0;
            let row = |scale: f64, padding| {
                let row: Vec<f32> = (0..d).map(|j| (scale * score(j)).exp() as f32).collect();
                PaddedRows::repeat(&row, 1, padding)
            };
            let (mut odds, factors) = (row(2.0, SMALLEST), row(0.02, 1.0));
            let mut p = PaddedRows::filled(0.0, d, 1);
            let sum = multiply::<true>(odds.all_mut(), factors.row(0), p.all_mut());
            let expected: f64 = (0..d).map(|j| (2.02 * score(j)).exp().ln_1p()).sum();
            assert!(
                (sum - expected).abs() < 1e-7 * d as f64 + 1e-6 * expected,
                "{d}: {sum} for {expected}"
            );
            for j in 0..d {
                let expected = 1.0 / (1.0 + (-2.02 * score(j)).exp());
                assert!((f64::from(p.row(0)[j]) - expected).abs() < 1e-6, "{j}");
            }
        }
    }

    #[test]
    fn logarithms_are_of_products() {
        for n in [0, 1, 15, 16, 17, 40] {
            for extreme in [1.0, SMALLEST, LARGEST] {
                let odds: Vec<f32> = (0..50)
                    .map(|j| bounded(extreme * (0.5 + (j % 7) as f32)))
                    .collect();
                let outputs: Vec<u32> = (0..n).map(|i| (i * 13 + 5) % 50).collect();
                let logs = outputs.iter().map(|&j| f64::from(odds[j as usize]).ln());
                let (expected, found) = (logs.sum::<f64>(), sum_of_logarithms(&odds, &outputs));
                assert!(
                    (found - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
                    "{n}: {found} for {expected}"
                );
            }
        }
    }

    #[test]
    fn extreme_odds_stay_in_range() {
        let (mut odds, mut p) = (vec![1e17_f32; 296], vec![0.0; 296]);
        for (factor, expected) in [
            (1e30, LARGEST),
            (1e30, LARGEST),
            (1e-38, SMALLEST),
            (f32::MIN_POSITIVE, SMALLEST),
        ] {
            let sum = multiply::<true>(&mut odds, &[factor; 296], &mut p);
            assert!(odds.iter().all(|&o| o == expected), "{factor}");
            let each = f64::from(expected).ln_1p();
            assert!((sum - 296.0 * each).abs() <= 1e-5 * (1.0 + 296.0 * each), "{sum}");
        }
    }
}

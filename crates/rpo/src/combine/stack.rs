//! Stacking of labels: logistic regression of the labels on the members' log-odds.

use super::link::log_odds;
use super::{Pool, rules};
use crate::ModelError;
use ndarray::Array2;
use rayon::prelude::*;
use rpo_core::{MatrixView, math};
use rpo_projections::least_squares::{Cholesky, System};

/// λ/N of the penalty of weights.
const PENALTY: f64 = 1e-3;
/// The smallest λ: few entries are often separated by some weights, whatever the members are worth.
const LEAST_PENALTY: f64 = 1.0;
/// The same of the intercept, which has a minimum even if no label occurs.
const INTERCEPT_PENALTY: f64 = 1e-6;
/// Largest number of Newton steps. A few suffice; from a start where members are overconfident, a dozen.
const STEPS: usize = 50;
/// Largest number of times that a step is halved.
const HALVINGS: u32 = 30;

impl Pool<'_> {
    /// The weights w of the candidates and the intercept b of labels, jointly for all labels, on the samples of each of
    /// several sets of parts. The candidates are scored once for a step of all of them.
    ///
    /// # Errors
    /// None beyond those of scoring the candidates.
    pub(super) fn stack(
        &self,
        candidates: &[usize],
        sets: &[Vec<usize>],
    ) -> Result<Vec<(Vec<f64>, f64)>, ModelError> {
        let mut searches: Vec<_> = sets.iter().map(|_| Search::new(candidates.len())).collect();
        while searches.iter().any(|search| search.next.is_some()) {
            let mut sums: Vec<_> = sets.iter().map(|_| Sums::new(candidates.len() + 1)).collect();
            self.for_each_block(candidates, |part, mut scores, truth| {
                scores.iter_mut().for_each(|scores| scores.mapv_inplace(log_odds));
                for ((search, parts), sums) in searches.iter().zip(sets).zip(&mut sums) {
                    if let Some(at) = search.next.as_ref().filter(|_| parts.contains(&part)) {
                        sums.add(&scores, truth.view(), at);
                    }
                }
                Ok(())
            })?;
            searches
                .iter_mut()
                .zip(sums)
                .for_each(|(search, sums)| search.advance(sums));
        }
        Ok(searches.into_iter().map(Search::minimum).collect())
    }
}

/// Minimises, over N observed entries with the log-odds z of M members,
///
/// `Σ [ln(1 + e^s) − y s] + max(10⁻³ N, 1)/2 ‖w − 1/M‖² + 10⁻⁶ N/2 b²` with `s = z·w + b`,
///
/// by Newton steps from equal weights, each halved until it descends. Full steps diverge where the members are
/// overconfident, as the loss has next to no curvature there. Whoever drives the search adds up the loss at `next` and
/// [advances](Self::advance) with it.
struct Search {
    /// The point [w, b] at which the loss is needed; `None` at the end.
    next: Option<Vec<f64>>,
    /// The best point so far.
    at: Vec<f64>,
    /// The loss there; `None` before the first one is known.
    sums: Option<Sums>,
    step: Vec<f64>,
    /// By which a whole step would decrease a linear loss.
    decrease: f64,
    n_steps: usize,
    halvings: u32,
}

impl Search {
    /// Begins with equal weights of `m` members.
    fn new(m: usize) -> Self {
        let start = [rules::mean(m), vec![0.0]].concat();
        Self {
            next: Some(start.clone()),
            at: start,
            sums: None,
            step: Vec::new(),
            decrease: 0.0,
            n_steps: 0,
            halvings: 0,
        }
    }

    /// Takes the loss at `next`, without the penalty. Does nothing after the end.
    fn advance(&mut self, there: Sums) {
        let Some(moved) = self.next.take() else { return };
        let there = there.penalized(&moved);
        let enough = 1e-4 * self.factor() * self.decrease;
        match &self.sums {
            Some(here) if !(there.loss < here.loss && there.loss <= here.loss - enough) => self.halve(here.n),
            here => {
                let is_close = here.is_some() && self.step.iter().all(|step| step.abs() < 1e-9);
                self.at = moved;
                if !is_close {
                    self.turn(&there);
                }
                self.sums = Some(there);
            }
        }
    }

    /// Begins a step.
    fn turn(&mut self, here: &Sums) {
        let width = self.at.len();
        // Members that agree leave directions of little curvature, in which an iteration would hardly move.
        let curvature = Array2::from_shape_fn((width, width), |(k, l)| here.curvature[k * width + l]);
        let mut step = Array2::from_shape_fn((1, width), |(_, k)| -here.slope[k]);
        let solved = Cholesky::try_from(curvature).and_then(|l| l.solve_rows(System::Whole, step.view_mut()));
        // Rounding hides the curvature.
        if solved.is_err() || self.n_steps == STEPS {
            return;
        }
        self.step = step.into_iter().collect();
        let products = self
            .step
            .iter()
            .zip(&here.slope)
            .map(|(step, slope)| step * slope);
        self.decrease = -products.sum::<f64>();
        (self.n_steps, self.halvings) = (self.n_steps + 1, 0);
        self.next = Some(self.moved());
    }

    /// Goes half as far.
    fn halve(&mut self, n: f64) {
        self.halvings += 1;
        // Rounding hides the descent: this is the minimum.
        if self.decrease > 1e-14 * n && self.halvings < HALVINGS {
            self.next = Some(self.moved());
        }
    }

    fn factor(&self) -> f64 {
        math::powi(0.5, self.halvings)
    }

    fn moved(&self) -> Vec<f64> {
        let moved = self.at.iter().zip(&self.step);
        moved.map(|(at, step)| at + self.factor() * step).collect()
    }

    /// The weights and the intercept.
    fn minimum(mut self) -> (Vec<f64>, f64) {
        let intercept = self.at.pop().unwrap_or_default();
        (self.at, intercept)
    }
}

/// The loss at a point, its gradient and its Hessian.
struct Sums {
    loss: f64,
    slope: Vec<f64>,
    curvature: Vec<f64>,
    n: f64,
}

impl Sums {
    fn new(width: usize) -> Self {
        Self {
            loss: 0.0,
            slope: vec![0.0; width],
            curvature: vec![0.0; width * width],
            n: 0.0,
        }
    }

    /// Adds the entries of a block. Sums of samples are added in sample order, whatever the number of threads.
    fn add(&mut self, log_odds: &[Array2<f32>], truth: MatrixView<'_>, at: &[f64]) {
        let width = at.len();
        let of_sample = |row: usize| {
            let mut sums = Self::new(width);
            let mut labels = vec![0.0; truth.n_cols()];
            truth.copy_row(row, &mut labels);
            // The last one belongs to the intercept.
            let mut z = vec![1.0; width];
            for (column, label) in labels.iter().enumerate().filter(|(_, label)| !label.is_nan()) {
                for (z, member) in z.iter_mut().zip(log_odds) {
                    *z = f64::from(member[[row, column]]);
                }
                let (s, label) = (
                    z.iter().zip(at).map(|(z, at)| z * at).sum::<f64>(),
                    f64::from(*label),
                );
                let p = math::sigmoid(s);
                sums.loss += math::softplus(s) - label * s;
                for k in 0..width {
                    sums.slope[k] += (p - label) * z[k];
                    for l in 0..width {
                        sums.curvature[k * width + l] += p * (1.0 - p) * z[k] * z[l];
                    }
                }
                sums.n += 1.0;
            }
            sums
        };
        let samples: Vec<Self> = (0..truth.n_rows()).into_par_iter().map(of_sample).collect();
        for sample in samples {
            let both = self.slope.iter_mut().chain(&mut self.curvature);
            both.zip(sample.slope.into_iter().chain(sample.curvature))
                .for_each(|(sum, value)| *sum += value);
            self.loss += sample.loss;
            self.n += sample.n;
        }
    }

    /// Adds the penalty.
    fn penalized(mut self, at: &[f64]) -> Self {
        let m = at.len() - 1;
        for (k, at) in at.iter().enumerate() {
            let (penalty, centre) = match k < m {
                true => ((PENALTY * self.n).max(LEAST_PENALTY), 1.0 / m as f64),
                false => (INTERCEPT_PENALTY * self.n, 0.0),
            };
            self.loss += 0.5 * penalty * (at - centre) * (at - centre);
            self.slope[k] += penalty * (at - centre);
            self.curvature[k * (m + 1) + k] += penalty;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The objective is convex: where its slope, here by differences, is 0, is the minimum. Half of the members
        /// are certain of everything, as fully grown trees are, and most are wrong.
        #[test]
        fn the_slope_vanishes_however_certain_members_are(
            (n, m) in (1_usize..40, 1_usize..6),
            odds in prop::collection::vec(prop_oneof![-7.0_f32..7.0, Just(-7.0), Just(7.0)], 40 * 5),
            labels in prop::collection::vec(prop_oneof![4 => Just(0.0_f32), 1 => Just(1.0), 1 => Just(f32::NAN)], 40),
        ) {
            let members: Vec<Array2<f32>> =
                (0..m).map(|k| Array2::from_shape_fn((n, 1), |(i, _)| odds[40 * k + i])).collect();
            let truth = Array2::from_shape_vec((n, 1), labels[..n].to_vec()).unwrap();
            let observed = labels[..n].iter().filter(|y| !y.is_nan()).count() as f64;
            let objective = |at: &[f64]| {
                let entries = (0..n).filter(|&i| !labels[i].is_nan());
                let loss = entries.map(|i| {
                    let s = at[m] + (0..m).map(|k| at[k] * f64::from(members[k][[i, 0]])).sum::<f64>();
                    math::softplus(s) - f64::from(labels[i]) * s
                });
                let distance: f64 = at[..m].iter().map(|w| (w - 1.0 / m as f64).powi(2)).sum();
                let penalties = (1e-3 * observed).max(1.0) * distance + 1e-6 * observed * at[m] * at[m];
                loss.sum::<f64>() + penalties / 2.0
            };
            let start = [rules::mean(m), vec![0.0]].concat();
            let mut search = Search::new(m);
            while let Some(next) = &search.next {
                let mut sums = Sums::new(m + 1);
                sums.add(&members, (&truth).into(), next);
                search.advance(sums);
            }
            let at = search.at;
            prop_assert!(objective(&at) <= objective(&start));
            for k in 0..=m {
                let moved = |by: f64| {
                    let mut moved = at.clone();
                    moved[k] += by;
                    objective(&moved)
                };
                let slope = (moved(1e-4) - moved(-1e-4)) / 2e-4;
                prop_assert!(slope.abs() <= 1e-5 * observed, "{slope} at {at:?}");
            }
        }
    }
}

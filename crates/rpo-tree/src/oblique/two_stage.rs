//! The two-stage solve: first a hyperplane that separates the classes, then one with fewer weights.

use super::adam::Adam;
use super::batches::Batches;
use super::design::{Batch, DesignMatrix};
use super::hellinger::HellingerParams;
use super::least_squares::least_squares;
use super::loss::{slopes, soft_assign};
use super::penalty::SmoothAbs;
use super::real::Real;
use rpo_core::Seed;
use rpo_core::math;

/// Returns hyperplanes that separate the positive rows from the others, the final one first: those of the second stage,
/// of the first stage, and of least squares. Returns none if the classes cannot be separated: a class has no rows, or
/// the first stage ends with zero distance between them.
///
/// `n_features` is |F| of ρ, the number of features that the tree uses. Batches are drawn from the seed.
///
/// 1. w from [`least_squares`] on u = ±1.
/// 2. ADAM on L with α growing (eq. 6).
/// 3. ADAM on L + γ Σ_j Φ(w_j) with α at its end (eqs. 8 to 10), from a fresh state. The paper leaves open whether α
///    starts again: that would make the distance vanish against the penalty and drive w to 0. Among the last w and
///    those of every 20th step, the one with the smallest objective over all rows is taken.
///
/// # Panics
/// If there is not one mark per row of the design.
pub(crate) fn two_stage<T: Real, D: DesignMatrix<T>>(
    design: &D,
    positive: &[bool],
    params: &HellingerParams,
    n_features: usize,
    seed: Seed,
) -> Vec<Vec<T>> {
    assert_eq!(design.n_rows(), positive.len(), "one mark per row");
    let alpha = params.sharpness.end;
    let mut solver = Solver {
        design,
        positive,
        params,
        gradient: vec![T::default(); design.n_columns()],
        margins: vec![T::default(); design.n_rows()],
    };
    let targets: Vec<T> = positive
        .iter()
        .map(|&p| if p { T::ONE } else { -T::ONE })
        .collect();
    let start = least_squares(design, &targets, params.ridge);
    let mut w = start.clone();
    solver.descend(
        &mut w,
        0.0,
        |step| params.sharpness.at(step),
        seed.purpose("stage 1"),
        |_, _| {},
    );
    let Some(loss) = solver.loss(alpha, &w) else {
        return Vec::new();
    };
    let rho = math::ln_1p(n_features as f64 / positive.len() as f64).min(params.rho);
    let Some(gamma) = solver.gamma(rho, loss, &w) else {
        return Vec::new();
    };
    let first = w.clone();
    let mut best: Option<(f64, Vec<T>)> = None;
    let mut consider = |solver: &mut Solver<'_, T, D>, w: &[T]| {
        let objective = solver.objective(alpha, gamma, w);
        match &mut best {
            Some((least, _)) if *least <= objective => {}
            Some((least, kept)) => {
                *least = objective;
                kept.copy_from_slice(w);
            }
            None => best = Some((objective, w.to_vec())),
        }
    };
    solver.descend(
        &mut w,
        gamma,
        |_| alpha,
        seed.purpose("stage 2"),
        |solver, w| {
            consider(solver, w);
        },
    );
    consider(&mut solver, &w);
    let second = best.map(|(_, w)| w);
    second.into_iter().chain([first, start]).collect()
}

/// A node to solve, with buffers.
struct Solver<'a, T, D> {
    design: &'a D,
    positive: &'a [bool],
    params: &'a HellingerParams,
    gradient: Vec<T>,
    /// Margins of all rows; those of a batch are stored at the front.
    margins: Vec<T>,
}

impl<T: Real, D: DesignMatrix<T>> Solver<'_, T, D> {
    /// Number of steps between two evaluations on the whole node.
    const LOOK: usize = 20;

    /// Runs ADAM from a fresh state on L + γ Σ Φ; `look` receives w every [`LOOK`](Self::LOOK) steps, before the last
    /// step.
    fn descend(
        &mut self,
        w: &mut [T],
        gamma: f64,
        alpha: impl Fn(usize) -> f64,
        seed: Seed,
        mut look: impl FnMut(&mut Self, &[T]),
    ) {
        let mut batches = Batches::new(self.positive, self.params.batch_size, seed);
        let mut adam = Adam::new(self.params.step_size, w.len());
        let n = batches.size();
        for step in 0..self.params.descent_steps {
            if step > 0 && step % Self::LOOK == 0 {
                look(self, w);
            }
            let alpha = alpha(step);
            let (batch, positive) = batches.next();
            let v = &mut self.margins[..n];
            self.design.margins(batch, w, v);
            let Some(rates) = soft_assign(alpha, v, positive) else {
                continue;
            };
            slopes(alpha, &rates, v, positive);
            self.design.transposed(batch, v, &mut self.gradient);
            self.add_penalty_slope(gamma, w);
            adam.step(w, &self.gradient);
        }
    }

    /// Returns the weights to which the penalty applies; the bias is the last weight.
    fn penalized<'w>(&self, w: &'w [T]) -> &'w [T] {
        &w[..self.design.bias() + usize::from(self.params.penalize_bias)]
    }

    /// Returns γ = ρ d² / ‖w‖₁ over the penalized weights; `None` if these or the distance vanish.
    fn gamma(&self, rho: f64, loss: f64, w: &[T]) -> Option<f64> {
        let size: f64 = self.penalized(w).iter().map(|w| w.to_f64().abs()).sum();
        (size >= 1e-12 && -loss >= 1e-12).then(|| rho * -loss / size)
    }

    fn add_penalty_slope(&mut self, gamma: f64, w: &[T]) {
        if gamma == 0.0 {
            return;
        }
        let (penalty, gamma) = (SmoothAbs { eta: self.params.eta }, T::from_f64(gamma));
        let penalized = self.penalized(w);
        for (g, &w) in self.gradient.iter_mut().zip(penalized) {
            *g += gamma * penalty.derivative(w);
        }
    }

    /// Returns L over all rows; `None` if a class is empty.
    fn loss(&mut self, alpha: f64, w: &[T]) -> Option<f64> {
        self.design.margins(Batch::All, w, &mut self.margins);
        let rates = soft_assign(alpha, &mut self.margins, self.positive)?;
        Some(rates.loss())
    }

    /// Returns L + γ Σ Φ over all rows.
    fn objective(&mut self, alpha: f64, gamma: f64, w: &[T]) -> f64 {
        let penalty = SmoothAbs { eta: self.params.eta };
        let sum: f64 = self.penalized(w).iter().map(|w| penalty.value(w.to_f64())).sum();
        self.loss(alpha, w).unwrap_or(0.0) + gamma * sum
    }
}

#[cfg(test)]
mod tests {
    use super::super::design::DenseDesign;
    use super::*;

    /// Makes two clouds that the first of many features separates; the other features are noise.
    fn clouds(n: usize, p: usize) -> (DenseDesign<f32>, Vec<bool>) {
        let positive: Vec<bool> = (0..n).map(|i| i % 5 == 0).collect();
        let noise = |i: usize, j: usize| {
            (Seed::new(3).hash((i * p + j) as u64) >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let design = DenseDesign::new(n, p, |i, row| {
            row.iter_mut().enumerate().for_each(|(j, x)| *x = noise(i, j));
            row[0] += if positive[i] { 1.5 } else { -0.5 };
        });
        (design, positive)
    }

    /// The first stage increases the distance, in batches too; the penalty concentrates the weight on what
    /// matters.
    #[test]
    fn the_stages_part_the_classes_and_then_shed_weights() {
        let (design, positive) = clouds(400, 30);
        for batch_size in [60, 1000] {
            let params = HellingerParams {
                batch_size,
                ..HellingerParams::default()
            };
            let found = two_stage(&design, &positive, &params, 30, Seed::new(1));
            let [second, first, start] = found.try_into().expect("three hyperplanes");
            let distance = |w: &[f32]| {
                let mut margins = vec![0.0; 400];
                design.margins(Batch::All, w, &mut margins);
                -soft_assign(4.0, &mut margins, &positive).unwrap().loss()
            };
            assert!(distance(&first) > distance(&start) + 0.1);
            let share = |w: &[f32]| w[0].abs() / w[..30].iter().map(|w| w.abs()).sum::<f32>();
            assert!(
                share(&second) > 1.2 * share(&first),
                "{} {}",
                share(&second),
                share(&first)
            );
        }
    }

    /// γ is proportional to the weights that it multiplies.
    #[test]
    fn a_bias_that_is_not_penalized_counts_nowhere() {
        let design = DenseDesign::<f64>::new(2, 1, |i, row| row[0] = i as f64);
        for (penalize_bias, size) in [(false, 0.5), (true, 100.5)] {
            let params = HellingerParams {
                penalize_bias,
                ..HellingerParams::default()
            };
            let solver = Solver {
                design: &design,
                positive: &[false, true],
                params: &params,
                gradient: Vec::new(),
                margins: Vec::new(),
            };
            assert_eq!(solver.gamma(0.4, -0.9, &[-0.5, 100.0]), Some(0.4 * 0.9 / size));
            assert_eq!(solver.gamma(0.4, -0.9, &[0.0, 0.0]), None);
        }
    }

    #[test]
    fn classes_that_cannot_part_have_no_hyperplane() {
        let design = DenseDesign::<f32>::new(8, 3, |_, row| row.fill(0.5));
        let params = HellingerParams::default();
        let solve = |positive: &[bool]| two_stage(&design, positive, &params, 3, Seed::new(0));
        assert!(solve(&[true; 8]).is_empty());
        assert!(solve(&[true, false, true, false, true, false, true, false]).is_empty());
    }
}

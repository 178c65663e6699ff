//! Losses: gradients against finite differences, constants and steps against brute force and Brent's method.

use super::*;
use crate::boosting::link::prediction;
use argmin::core::{CostFunction, Executor};
use argmin::solver::brent::BrentOpt;
use proptest::collection::vec;
use proptest::prelude::*;

/// The Huber loss, which defines only values and residuals and uses the default line search.
const HUBER: Huber = Huber { delta: 0.5 };

const LOSSES: [&dyn Loss; 9] = [
    &Square,
    &Absolute,
    &Logistic,
    &HUBER,
    &Quantile { level: 0.3 },
    &Quantile { level: 0.9 },
    &LogLink(Poisson),
    &LogLink(Tweedie { power: 1.5 }),
    &LogLink(Tweedie { power: 1.1 }),
];

/// Converts arbitrary real targets to targets that a loss accepts.
fn targets(loss: &dyn Loss, y: &[f64]) -> Vec<f64> {
    let known = |&y: &f64| {
        if loss.refuses(y).is_some() {
            f64::from(u8::from(y > 0.0))
        } else {
            y
        }
    };
    y.iter().map(known).collect()
}

struct Along<'a>(&'a dyn Loss, Direction<'a>);

impl CostFunction for Along<'_> {
    type Param = f64;
    type Output = f64;

    fn cost(&self, step: &f64) -> Result<f64, argmin::core::Error> {
        Ok(self.1.value(self.0, *step))
    }
}

/// Returns the smallest value that Brent's method finds in an interval.
fn brent(loss: &dyn Loss, direction: Direction<'_>, limit: f64) -> f64 {
    let solver = BrentOpt::new(-limit, limit).set_tolerance(1e-9, 1e-12);
    let run = Executor::new(Along(loss, direction), solver).configure(|state| state.max_iters(300));
    run.run().unwrap().state().get_best_cost()
}

proptest! {
    /// By central differences, for all losses; the same for curvatures.
    #[test]
    fn residuals_are_negative_derivatives(y in -3.0..3.0_f64, f in -6.0..6.0_f64) {
        let h = 1e-5;
        for loss in LOSSES {
            let y = targets(loss, &[y])[0];
            // A kink between the two points has no derivative.
            prop_assume!((y - f).abs() > 2.0 * h && ((y - f).abs() - 0.5).abs() > 2.0 * h);
            let slope = (loss.value(y, f - h) - loss.value(y, f + h)) / (2.0 * h);
            let r = loss.residual(y, f);
            prop_assert!((slope - r).abs() <= 1e-6 * (1.0 + r.abs()), "{loss:?}: {slope} {r}");
            if let Some(curvature) = loss.curvature(y, f) {
                let second = (loss.residual(y, f - h) - loss.residual(y, f + h)) / (2.0 * h);
                prop_assert!((second - curvature).abs() <= 1e-6 * (1.0 + curvature), "{loss:?}: {second} {curvature}");
            }
        }
    }

    /// Of the loss of constant scores; that of the logistic loss predicts the fraction of positives.
    #[test]
    fn initial_constants_are_minima(y in vec(-3.0..3.0_f64, 1..20), w in vec(0.1..3.0_f64, 20), delta in 1e-4..1.0_f64) {
        for loss in LOSSES {
            let (y, w) = (targets(loss, &y), &w[..y.len()]);
            let at = |c: f64| y.iter().zip(w).map(|(&y, w)| w * loss.value(y, c)).sum::<f64>();
            let constant = loss.initial(&y, w);
            let is_mixed = y.contains(&0.0) && y.contains(&1.0);
            if loss.inverse_link() == InverseLink::Logistic && !is_mixed {
                // No finite minimum exists: the constant is finite, and no worse than 0.
                prop_assert!(constant.is_finite() && at(constant) <= at(0.0));
                continue;
            }
            if loss.inverse_link() == InverseLink::Exponential && y.iter().all(|v| *v == 0.0) {
                prop_assert!((constant.exp() - 0.5 / y.len() as f64).abs() < 1e-12);
                continue;
            }
            for other in [constant - delta, constant + delta] {
                prop_assert!(at(constant) <= at(other) + 1e-9 * at(other), "{loss:?}: {constant} {other}");
            }
            if loss.inverse_link() == InverseLink::Logistic {
                let share = y.iter().zip(w).map(|(y, w)| y * w).sum::<f64>() / w.iter().sum::<f64>();
                let p = prediction(InverseLink::Logistic, constant);
                prop_assert!((p - share).abs() <= 1e-12, "{p} {share}");
            }
        }
    }

    /// Steps of line searches: no loss is above that at 0, and where a slope exists, it is 0.
    #[test]
    fn steps_are_minima(
        rows in vec((-3.0..3.0_f64, -2.0..2.0_f64, -1.5..1.5_f64, 0.1..3.0_f64), 1..25),
        constant in any::<bool>(),
    ) {
        let column = |f: fn(&(f64, f64, f64, f64)) -> f64| rows.iter().map(f).collect::<Vec<f64>>();
        let (y, scores, weights) = (column(|r| r.0), column(|r| r.1), column(|r| r.3));
        let tree = if constant { vec![0.7; rows.len()] } else { column(|r| r.2) };
        for loss in LOSSES {
            let y = targets(loss, &y);
            let direction = Direction { targets: &y, scores: &scores, tree: &tree, weights: &weights };
            let step = loss.step(&direction);
            let found = direction.value(loss, step);
            prop_assert!(found <= direction.value(loss, 0.0), "{loss:?}: worse than nothing");
            let largest = tree.iter().fold(0.0_f64, |m, g| m.max(g.abs()));
            let limit = loss.largest_move().min(40.0) / largest;
            prop_assert!(step.abs() <= loss.largest_move() / largest * (1.0 + 1e-12));
            // Brent's method uses only values, which determine a step to half of its digits.
            if loss.largest_move().is_finite() {
                let best = brent(loss, direction, limit);
                prop_assert!(found <= best + 1e-9 * (1.0 + best), "{loss:?}: {found} {best}");
            }
            for k in -20..=20 {
                let other = direction.value(loss, step + f64::from(k) * 0.05 * limit);
                let inside = (step + f64::from(k) * 0.05 * limit).abs() <= limit;
                prop_assert!(!inside || found <= other + 1e-9 * (1.0 + other), "{loss:?}: {found} {other}");
            }
            let slope: f64 = direction.samples().map(|(y, f, g, w)| w * g * loss.residual(y, f + step * g)).sum();
            let scale: f64 = direction.samples().map(|(y, f, g, w)| w * (g * loss.residual(y, f)).abs()).sum();
            let is_smooth = loss.curvature(0.0, 0.0).is_some();
            let is_inside = step.abs() < 0.999 * loss.largest_move() / largest;
            prop_assert!(!is_smooth || !is_inside || slope.abs() <= 2e-9 * scale.max(1e-9), "{loss:?}: {slope}");
        }
    }

    /// In units of 2ᵏ, a Huber loss with δ in the same unit has the same constants and steps, digit by digit.
    #[test]
    fn steps_do_not_depend_on_the_unit(
        rows in vec((-3.0..3.0_f64, -2.0..2.0_f64, -1.5..1.5_f64, 0.1..3.0_f64), 1..25),
        exponent in -300..300_i32,
    ) {
        let unit = 2.0_f64.powi(exponent);
        let column = |f: fn(&(f64, f64, f64, f64)) -> f64| rows.iter().map(f).collect::<Vec<f64>>();
        let weights = column(|r| r.3);
        let (y, scores, tree) = (column(|r| r.0), column(|r| r.1), column(|r| r.2));
        let scaled = |values: &[f64]| values.iter().map(|v| unit * v).collect::<Vec<f64>>();
        let (scaled_y, scaled_scores) = (scaled(&y), scaled(&scores));
        let scaled_huber = Huber { delta: unit * HUBER.delta };
        let step = |loss: &Huber, targets: &[f64], scores: &[f64], tree: &[f64]| {
            loss.step(&Direction { targets, scores, tree, weights: &weights })
        };
        let expected = step(&HUBER, &y, &scores, &tree);
        prop_assert_eq!(step(&scaled_huber, &scaled_y, &scaled_scores, &tree), unit * expected);
        prop_assert_eq!(step(&scaled_huber, &scaled_y, &scaled_scores, &scaled(&tree)), expected);
        prop_assert_eq!(scaled_huber.initial(&scaled_y, &weights), unit * HUBER.initial(&y, &weights));
    }

    /// The decrease of the square loss, and steps of 1 along mean residuals.
    #[test]
    fn square_steps_by_formula(
        rows in vec((-3.0..3.0_f64, -2.0..2.0_f64, 0.1..3.0_f64, 0_usize..4), 2..25),
        rate in 0.01..1.0_f64,
    ) {
        let y: Vec<f64> = rows.iter().map(|r| r.0).collect();
        let f: Vec<f64> = rows.iter().map(|r| r.1).collect();
        let w: Vec<f64> = rows.iter().map(|r| r.2).collect();
        let mean = |leaf: usize| {
            let members = rows.iter().filter(|r| r.3 == leaf);
            let (sum, total) = members.fold((0.0, 0.0), |(s, t), r| (s + r.2 * (r.0 - r.1), t + r.2));
            if total > 0.0 { sum / total } else { 0.0 }
        };
        for (tree, is_mean) in [
            (rows.iter().map(|r| mean(r.3)).collect::<Vec<f64>>(), true),
            (rows.iter().map(|r| [0.3, -1.2, 0.8, 2.0][r.3]).collect(), false),
        ] {
            let direction = Direction { targets: &y, scores: &f, tree: &tree, weights: &w };
            let step = Square.step(&direction);
            let squares: f64 = tree.iter().zip(&w).map(|(g, w)| w * g * g).sum();
            prop_assume!(squares > 1e-6);
            prop_assert!(!is_mean || (step - 1.0).abs() <= 1e-10, "{step}");
            let before = direction.value(&Square, 0.0);
            let decrease = before - direction.value(&Square, rate * step);
            let expected = 0.5 * rate * (2.0 - rate) * step * step * squares;
            prop_assert!((decrease - expected).abs() <= 1e-9 * before, "{decrease} {expected}");
        }
    }
}

/// Probabilities lie in [0, 1] and nothing overflows.
#[test]
fn logistic_formulas_hold_for_any_score() {
    for score in [0.0, 1e-300, 0.1, 5.0, 37.0, 400.0, 1e4, f64::MAX / 4.0] {
        for (y, score) in [(0.0, score), (0.0, -score), (1.0, score), (1.0, -score)] {
            let (value, r) = (Logistic.value(y, score), Logistic.residual(y, score));
            let h = Logistic.curvature(y, score).unwrap();
            assert!(value.is_finite() && value >= 0.0, "{y} {score}: {value}");
            assert!(r.is_finite() && r.abs() <= 2.0, "{y} {score}: {r}");
            assert!((0.0..=1.0).contains(&h), "{y} {score}: {h}");
            let p = prediction(InverseLink::Logistic, score);
            assert!((0.0..=1.0).contains(&p), "{score}: {p}");
            assert!((r - 2.0 * (y - p)).abs() < 1e-15);
        }
    }
    // Separable samples have their minimum at infinity: the step is the largest move.
    let (y, tree) = ([0.0, 1.0, 1.0], [-0.5, 0.25, 2.0]);
    let direction = Direction {
        targets: &y,
        scores: &[0.0; 3],
        tree: &tree,
        weights: &[1.0; 3],
    };
    let step = Logistic.step(&direction);
    assert!(step > 0.0 && step <= 5.0, "{step}");
    assert!(direction.value(&Logistic, step) < direction.value(&Logistic, 0.9 * step) + 1e-12);
}

proptest! {
    #[test]
    fn residuals_of_groups_are_negative_derivatives(
        scores in vec(-6.0..6.0_f64, 2..6),
        which in 0..6_usize,
        shift in -800.0..800.0_f64,
    ) {
        let k = scores.len();
        let y: Vec<f64> = (0..k).map(|j| f64::from(u8::from(j == which % k))).collect();
        let (mut r, mut h, mut p) = (vec![0.0; k], vec![0.0; k], vec![0.0; k]);
        Softmax::gradients(&y, &scores, &mut r, &mut h);
        Softmax::probabilities(&scores, &mut p);
        prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let (step, ones) = (1e-5, vec![1.0; k]);
        for j in 0..k {
            let moved = |by: f64| {
                let mut scores = scores.clone();
                scores[j] += by;
                scores
            };
            let slope = (Softmax::value(&y, &moved(-step), &ones) - Softmax::value(&y, &moved(step), &ones)) / (2.0 * step);
            prop_assert!((slope - r[j]).abs() < 1e-6, "{slope} {}", r[j]);
            let expected = p[j] * (1.0 - p[j]) * k as f64 / (k - 1) as f64;
            prop_assert!((h[j] - expected).abs() < 1e-12);
        }
        // Only differences of scores matter, and no score is too large.
        let far: Vec<f64> = scores.iter().map(|f| f + shift).collect();
        let (a, b) = (Softmax::value(&y, &scores, &ones), Softmax::value(&y, &far, &ones));
        prop_assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn nothing_to_move_along_is_no_step() {
    for loss in LOSSES {
        let direction = Direction {
            targets: &[1.0, 0.0],
            scores: &[0.3, 0.2],
            tree: &[0.0, 0.0],
            weights: &[1.0, 2.0],
        };
        assert_eq!(loss.step(&direction), 0.0, "{loss:?}");
    }
}

#[test]
fn names_read_what_they_write() {
    assert_eq!(LossKind::ALL.len(), LossKind::names().len());
    for kind in LossKind::ALL {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    assert!("hinge".parse::<LossKind>().is_err());
}

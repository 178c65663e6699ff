//! Probabilities from the scores of classifiers that do not estimate them.
//!
//! Source: Platt, "Probabilistic outputs for support vector machines", 1999, with one pair of numbers for all labels, so
//! that the order of labels within a sample stays as it is.

use rpo_core::math;

/// Range of the slope: a larger one would make the probabilities of surely present labels equal in 32 bits, and one that
/// is not positive would reverse the order of samples.
const SLOPES: (f64, f64) = (0.1, 8.0);
/// Maximum number of Newton steps.
const STEPS: usize = 50;
/// Maximum number of halvings of a step.
const HALVINGS: usize = 30;
/// Curvature that keeps steps finite where all scores are equal.
const LEAST: f64 = 1e-12;
/// Change of slope and shift at which the steps end.
const TOLERANCE: f64 = 1e-6;

/// The probability 1 / (1 + e⁻ᵃᶻ⁻ᶜ) of a label with score z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Calibration {
    /// a.
    pub(super) slope: f32,
    /// c.
    pub(super) shift: f32,
}

/// The scores of pairs of a sample and a label, whether the sample has the label, and its weight.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) scores: Vec<f32>,
    pub(super) present: Vec<bool>,
    pub(super) weights: Vec<f32>,
}

impl Calibration {
    /// Returns the probability with the smallest logarithmic loss of all pairs with finite scores; `None` unless labels
    /// are present in some and absent in others. Weights count relative to their mean.
    pub(super) fn fit(pairs: &Pairs) -> Option<Self> {
        let used = pairs.scores.iter().zip(&pairs.present).zip(&pairs.weights);
        let used = used.filter(|((z, _), _)| z.is_finite());
        let mut used: Vec<Pair> = used
            .map(|((&z, &present), &weight)| Pair {
                z: z.into(),
                present,
                weight: weight.into(),
            })
            .filter(|pair| pair.weight > 0.0)
            .collect();
        let mean = used.iter().map(|pair| pair.weight).sum::<f64>() / used.len() as f64;
        used.iter_mut().for_each(|pair| pair.weight /= mean);
        let sum = |present| -> f64 {
            let those = used.iter().filter(|pair| pair.present == present);
            those.map(|pair| pair.weight).sum()
        };
        let (with, without) = (sum(true), sum(false));
        if with == 0.0 || without == 0.0 {
            return None;
        }
        // Platt's targets, which keep the slope finite where scores separate all pairs.
        let targets = [1.0 / (without + 2.0), (with + 1.0) / (with + 2.0)];
        let problem = Problem { used, targets };
        let mut at = [1.0, math::ln(with / without)];
        let mut loss = problem.loss(at);
        for _ in 0..STEPS {
            let step = problem.step(at);
            let mut fraction = 1.0;
            let next = (0..HALVINGS).find_map(|_| {
                let next = [at[0] + fraction * step[0], at[1] + fraction * step[1]];
                fraction *= 0.5;
                let loss_there = problem.loss(next);
                (loss_there <= loss).then_some((next, loss_there))
            });
            let Some((next, loss_there)) = next else { break };
            let change = (next[0] - at[0]).abs() + (next[1] - at[1]).abs();
            (at, loss) = (next, loss_there);
            if change < TOLERANCE {
                break;
            }
        }
        Some(Self {
            slope: at[0] as f32,
            shift: at[1] as f32,
        })
    }
}

#[derive(Debug, Clone, Copy)]
struct Pair {
    z: f64,
    present: bool,
    weight: f64,
}

/// Logistic regression on one variable.
struct Problem {
    used: Vec<Pair>,
    /// Targets of pairs without and with the label.
    targets: [f64; 2],
}

impl Problem {
    fn loss(&self, [slope, shift]: [f64; 2]) -> f64 {
        let of = |pair: &Pair| {
            let activation = slope * pair.z + shift;
            pair.weight * (math::softplus(activation) - self.targets[usize::from(pair.present)] * activation)
        };
        self.used.iter().map(of).sum()
    }

    /// Returns the Newton step; if its slope would leave the range, the step to the bound, with the best shift there.
    fn step(&self, [slope, shift]: [f64; 2]) -> [f64; 2] {
        let (mut gradient, mut curvature) = ([0.0; 2], [0.0; 3]);
        for &Pair { z, present, weight } in &self.used {
            let p = math::sigmoid(slope * z + shift);
            let difference = weight * (p - self.targets[usize::from(present)]);
            let c = weight * (p * (1.0 - p));
            gradient[0] += difference * z;
            gradient[1] += difference;
            curvature[0] += c * z * z;
            curvature[1] += c * z;
            curvature[2] += c;
        }
        let [zz, z, one] = [curvature[0] + LEAST, curvature[1], curvature[2] + LEAST];
        let determinant = (zz * one - z * z).max(LEAST * LEAST);
        let free = slope - (one * gradient[0] - z * gradient[1]) / determinant;
        let of_slope = free.clamp(SLOPES.0, SLOPES.1) - slope;
        [of_slope, -(gradient[1] + z * of_slope) / one]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs whose labels have the probability σ(a z + c), in the proportions that it says.
    fn pairs(slope: f64, shift: f64) -> Pairs {
        let mut pairs = Pairs::default();
        for step in -20..=20 {
            let z = f64::from(step) / 10.0;
            let with = (1000.0 * math::sigmoid(slope * z + shift)).round() as usize;
            for i in 0..1000 {
                pairs.scores.push(z as f32);
                pairs.present.push(i < with);
                pairs.weights.push(1.0);
            }
        }
        pairs
    }

    #[test]
    fn the_slope_and_shift_of_probabilities_are_found() {
        for (slope, shift) in [(3.0, 0.0), (5.0, -4.0), (0.5, 1.0)] {
            let found = Calibration::fit(&pairs(slope, shift)).unwrap();
            assert!((f64::from(found.slope) - slope).abs() < 0.03, "{found:?}");
            assert!((f64::from(found.shift) - shift).abs() < 0.03, "{found:?}");
        }
    }

    /// The mean of the probabilities is the share of pairs with a label, whatever the slope.
    #[test]
    fn slopes_stay_in_their_range() {
        for (given, expected) in [(-2.0, SLOPES.0), (40.0, SLOPES.1)] {
            let pairs = pairs(given, 1.0);
            let found = Calibration::fit(&pairs).unwrap();
            assert!((f64::from(found.slope) - expected).abs() < 1e-6, "{found:?}");
            let n = pairs.scores.len() as f64;
            let probability = |z: &f32| math::sigmoid(f64::from(found.slope * z + found.shift));
            let mean = pairs.scores.iter().map(probability).sum::<f64>() / n;
            let share = pairs.present.iter().filter(|present| **present).count() as f64 / n;
            assert!((mean - share).abs() < 1e-3, "{mean} {share}");
        }
    }

    /// Except for the targets, which count pairs.
    #[test]
    fn a_weight_counts_samples() {
        let mut weighted = pairs(2.0, -1.0);
        let mut repeated = Pairs::default();
        for (i, weight) in weighted.weights.iter_mut().enumerate() {
            *weight = (i % 3) as f32;
            for _ in 0..i % 3 {
                repeated.scores.push(weighted.scores[i]);
                repeated.present.push(weighted.present[i]);
                repeated.weights.push(1.0);
            }
        }
        let (found, expected) = (
            Calibration::fit(&weighted).unwrap(),
            Calibration::fit(&repeated).unwrap(),
        );
        assert!(
            (found.slope - expected.slope).abs() < 1e-3,
            "{found:?} {expected:?}"
        );
        assert!(
            (found.shift - expected.shift).abs() < 1e-3,
            "{found:?} {expected:?}"
        );
    }

    #[test]
    fn the_unit_of_weights_changes_nothing() {
        let mut pairs = pairs(2.0, -1.0);
        for (i, weight) in pairs.weights.iter_mut().enumerate() {
            *weight = (i % 3) as f32;
        }
        let expected = Calibration::fit(&pairs);
        pairs.weights.iter_mut().for_each(|weight| *weight /= 1024.0);
        assert_eq!(Calibration::fit(&pairs), expected);
    }

    #[test]
    fn nothing_is_fitted_to_labels_that_do_not_vary() {
        let all = |present| Pairs {
            scores: vec![0.5; 3],
            present: vec![present; 3],
            weights: vec![1.0; 3],
        };
        assert_eq!(Calibration::fit(&all(true)), None);
        assert_eq!(Calibration::fit(&all(false)), None);
        assert_eq!(Calibration::fit(&Pairs::default()), None);
        let equal = Pairs {
            scores: vec![0.5; 4],
            present: vec![true, false, false, false],
            weights: vec![1.0; 4],
        };
        assert!(Calibration::fit(&equal).is_some_and(|c| c.slope.is_finite() && c.shift.is_finite()));
    }
}

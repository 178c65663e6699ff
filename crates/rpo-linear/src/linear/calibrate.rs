//! Probabilities from the scores of classifiers that do not estimate them.
//!
//! Source: Platt, "Probabilistic outputs for support vector machines", 1999, with the same numbers for all labels, so that
//! the order of labels within a sample stays as it is, and a logarithm of the distance from -1. A label that features say
//! little about has the score 2p - 1 at probability p: the scores of one that a thousandth of the samples have are between
//! -1 and -0.99, where a straight line of log-odds that suits the other labels gives probabilities that are 20 times too
//! large. A number for each label, or for labels of a frequency, would move the order of labels: it costs 2 points of
//! precision at 5 on corel5k and 1 on delicious.

use rpo_core::math;
use rpo_core::store::{Reader, Restore, Sizes, Store, StoreError, Writer};

/// Range of the slope: a larger one would call every label certainly present or absent, and one that is not positive would
/// reverse the order of samples.
const SLOPES: (f64, f64) = (0.1, 8.0);
/// Range of the bend, for the same reasons.
const BENDS: (f64, f64) = (0.0, 2.0);
/// The distance from -1 at which the logarithm begins to rise: of 0.001, 0.01 and 0.05 the one with the smallest
/// logarithmic losses over nine sets.
const NEAR: f64 = 0.01;
/// Log-odds from which they grow by a logarithm. From about 17 on, the probabilities of 32 bits are all 1, so that labels
/// with larger ones would lose their order; the probability changes by 0.0003 at most.
const SURE: f64 = 8.0;
/// Maximum number of Newton steps.
const STEPS: usize = 50;
/// Maximum number of halvings of a step.
const HALVINGS: usize = 30;
/// Curvature, relative to that of each number, that keeps steps finite where all scores are equal ...
const RELATIVE: f64 = 1e-6;
/// ... and where that is 0.
const LEAST: f64 = 1e-12;
/// Change of the numbers at which the steps end.
const TOLERANCE: f64 = 1e-6;

/// The log-odds s(a z + b ln(1 + max(0, 1 + z) / 0.01) + c) of a label with score z, which grow with z, where s(t) is t up
/// to 8 and 8 + ln(1 + t - 8) from there on. For the logistic loss they are z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Calibration {
    /// a.
    slope: f32,
    /// b.
    bend: f32,
    /// c.
    shift: f32,
}

/// Returns ln(1 + max(0, 1 + z) / 0.01).
fn logarithm(z: f64) -> f64 {
    if z > -1.0 {
        math::ln(1.0 + (1.0 + z) / NEAR)
    } else {
        0.0
    }
}

/// The scores of pairs of a sample and a label, whether the sample has the label, and its weight.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) scores: Vec<f32>,
    pub(super) present: Vec<bool>,
    pub(super) weights: Vec<f32>,
}

impl Store for Calibration {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.field("slope", self.slope)?;
        out.field("bend", self.bend)?;
        out.field("shift", self.shift)
    }
}

impl Restore for Calibration {
    fn restore(from: &mut Reader<'_>, _: Sizes) -> Result<Self, StoreError> {
        let (slope, bend, shift) = (from.field("slope")?, from.field("bend")?, from.field("shift")?);
        let found = Self { slope, bend, shift };
        match [slope, bend, shift].into_iter().all(f32::is_finite) {
            true => Ok(found),
            false => Err(StoreError::part(
                "calibration",
                "its slope, bend or shift is not finite",
            )),
        }
    }
}

impl Calibration {
    /// Returns a straight line through 0.
    pub(crate) fn line(slope: f32) -> Self {
        Self {
            slope,
            bend: 0.0,
            shift: 0.0,
        }
    }

    /// Returns true if scores are log-odds.
    fn is_identity(self) -> bool {
        self == Self::line(1.0)
    }

    /// Returns the logarithm of the probability of a score.
    #[inline(always)]
    pub(crate) fn log_probability(self, z: f32) -> f32 {
        -math::softplus(-self.log_odds(z.into())) as f32
    }

    /// Returns the log-odds of a score, which may be infinite.
    #[inline(always)]
    pub(super) fn log_odds(self, z: f64) -> f64 {
        let found = self.unbounded(z);
        match found > SURE && !self.is_identity() {
            true => SURE + math::ln(1.0 + found - SURE),
            false => found,
        }
    }

    /// Returns the log-odds before the last of their functions.
    fn unbounded(self, z: f64) -> f64 {
        let line = f64::from(self.slope) * z + f64::from(self.shift);
        // A bend of 0 times the logarithm of an infinite score is no number.
        if self.bend == 0.0 {
            return line;
        }
        line + f64::from(self.bend) * logarithm(z)
    }

    /// Returns the mean slope of the log-odds between two scores.
    pub(super) fn slope_between(self, from: f64, to: f64) -> f64 {
        if self.is_identity() {
            return 1.0;
        }
        let difference = to - from;
        if difference.abs() > 1e-9 {
            return (self.log_odds(to) - self.log_odds(from)) / difference;
        }
        let of_logarithm = if from > -1.0 {
            1.0 / (NEAR + 1.0 + from)
        } else {
            0.0
        };
        let slope = f64::from(self.slope) + f64::from(self.bend) * of_logarithm;
        slope / (1.0 + (self.unbounded(from) - SURE).max(0.0))
    }

    /// Returns the log-odds with the smallest logarithmic loss of all pairs with finite scores; `None` unless labels
    /// are present in some and absent in others. Weights count relative to their mean.
    pub(super) fn fit(pairs: &Pairs) -> Option<Self> {
        let used = pairs.scores.iter().zip(&pairs.present).zip(&pairs.weights);
        let used = used.filter(|((z, _), _)| z.is_finite());
        let mut used: Vec<Pair> = used
            .map(|((&z, &present), &weight)| Pair {
                terms: [z.into(), logarithm(z.into()), 1.0],
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
        let mut at = [1.0, 0.0, math::ln(with / without)];
        let mut loss = problem.loss(at);
        for _ in 0..STEPS {
            let step = problem.step(at);
            let mut fraction = 1.0;
            let next = (0..HALVINGS).find_map(|_| {
                let next = std::array::from_fn(|i| at[i] + fraction * step[i]);
                fraction *= 0.5;
                let loss_there = problem.loss(next);
                (loss_there <= loss).then_some((next, loss_there))
            });
            let Some((next, loss_there)) = next else { break };
            let change: f64 = (0..TERMS).map(|i| (next[i] - at[i]).abs()).sum();
            (at, loss) = (next, loss_there);
            if change < TOLERANCE {
                break;
            }
        }
        let [slope, bend, shift] = at.map(|v| v as f32);
        Some(Self { slope, bend, shift })
    }
}

/// Slope, bend and shift.
const TERMS: usize = 3;

#[derive(Debug, Clone, Copy)]
struct Pair {
    /// What slope, bend and shift are multiplied with.
    terms: [f64; TERMS],
    present: bool,
    weight: f64,
}

impl Pair {
    fn log_odds(&self, at: [f64; TERMS]) -> f64 {
        at[0] * self.terms[0] + at[1] * self.terms[1] + at[2]
    }
}

/// Logistic regression on the score and its logarithm.
struct Problem {
    used: Vec<Pair>,
    /// Targets of pairs without and with the label.
    targets: [f64; 2],
}

impl Problem {
    fn loss(&self, at: [f64; TERMS]) -> f64 {
        let of = |pair: &Pair| {
            let log_odds = pair.log_odds(at);
            pair.weight * (math::softplus(log_odds) - self.targets[usize::from(pair.present)] * log_odds)
        };
        self.used.iter().map(of).sum()
    }

    /// Returns the Newton step within the ranges.
    fn step(&self, at: [f64; TERMS]) -> [f64; TERMS] {
        let (mut gradient, mut curvature) = ([0.0; TERMS], [[0.0; TERMS]; TERMS]);
        for pair in &self.used {
            let p = math::sigmoid(pair.log_odds(at));
            let difference = pair.weight * (p - self.targets[usize::from(pair.present)]);
            let c = pair.weight * (p * (1.0 - p));
            for i in 0..TERMS {
                gradient[i] += difference * pair.terms[i];
                for j in 0..TERMS {
                    curvature[i][j] += c * pair.terms[i] * pair.terms[j];
                }
            }
        }
        for i in 0..TERMS {
            curvature[i][i] += RELATIVE * curvature[i][i] + LEAST;
        }
        // The minimum of the quadratic model with some of the steps given.
        let minimum = |given: &[(usize, f64)]| {
            let (mut rows, mut values) = (curvature, gradient.map(|g| -g));
            for &(i, step) in given {
                rows[i] = std::array::from_fn(|j| if i == j { 1.0 } else { 0.0 });
                values[i] = step;
            }
            let mut found = solve(rows, values);
            given.iter().for_each(|&(i, step)| found[i] = step);
            found
        };
        let ranges = [SLOPES, BENDS];
        let is_within = |i: usize, step: f64| (ranges[i].0..=ranges[i].1).contains(&(at[i] + step));
        let free = minimum(&[]);
        if (0..ranges.len()).all(|i| is_within(i, free[i])) {
            return free;
        }
        // The model is convex, so that its minimum in the ranges is then on one of their bounds.
        let on_bound = |i: usize, bound: f64| {
            let (given, other) = ((i, bound - at[i]), 1 - i);
            let found = minimum(&[given]);
            if is_within(other, found[other]) {
                return found;
            }
            let nearest = (at[other] + found[other]).clamp(ranges[other].0, ranges[other].1);
            minimum(&[given, (other, nearest - at[other])])
        };
        let model = |step: &[f64; TERMS]| -> f64 {
            let term = |i: usize| {
                let product: f64 = (0..TERMS).map(|j| curvature[i][j] * step[j]).sum();
                step[i] * (gradient[i] + 0.5 * product)
            };
            (0..TERMS).map(term).sum()
        };
        let [slopes, bends] = ranges;
        let bounds = [(0, slopes.0), (0, slopes.1), (1, bends.0), (1, bends.1)];
        let steps = bounds.map(|(i, bound)| on_bound(i, bound));
        let best = steps.into_iter().min_by(|a, b| model(a).total_cmp(&model(b)));
        best.unwrap_or(free)
    }
}

/// Solves a system of linear equations by Cramer's rule.
fn solve(rows: [[f64; TERMS]; TERMS], values: [f64; TERMS]) -> [f64; TERMS] {
    let determinant = |m: [[f64; TERMS]; TERMS]| {
        let minor = |j: usize, k: usize| m[1][j] * m[2][k] - m[1][k] * m[2][j];
        m[0][0] * minor(1, 2) - m[0][1] * minor(0, 2) + m[0][2] * minor(0, 1)
    };
    let of_all = determinant(rows);
    std::array::from_fn(|column| {
        let mut replaced = rows;
        for (row, value) in replaced.iter_mut().zip(values) {
            row[column] = value;
        }
        determinant(replaced) / of_all
    })
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
            assert!((f64::from(found.slope) - slope).abs() < 0.05, "{found:?}");
            assert!((f64::from(found.shift) - shift).abs() < 0.05, "{found:?}");
        }
    }

    /// Half of the labels have the score 2p - 1 at small probabilities p, the others at any.
    #[test]
    fn rare_labels_beside_common_ones_have_small_probabilities() {
        let mut pairs = Pairs::default();
        for i in 0..8000_u16 {
            let p = if i % 2 == 0 {
                0.001
            } else {
                f32::from(i % 80) / 80.0
            };
            pairs.scores.push(2.0 * p - 1.0);
            pairs
                .present
                .push(f32::from(i / 80) < 100.0 * p - if i % 80 == 0 { 0.0 } else { 0.5 });
            pairs.weights.push(1.0);
        }
        let found = Calibration::fit(&pairs).unwrap();
        let p = |z: f64| math::sigmoid(found.log_odds(z));
        assert!(p(-0.998) < 0.006, "{found:?} {}", p(-0.998));
        for expected in [0.1, 0.5, 0.9] {
            let p = p(2.0 * expected - 1.0);
            assert!((p - expected).abs() < 0.08, "{found:?} {p} {expected}");
        }
    }

    #[test]
    fn log_odds_grow_and_have_mean_slopes() {
        let calibration = Calibration {
            slope: 0.1,
            bend: 1.5,
            shift: -3.0,
        };
        let scores: Vec<f64> = (-300..300).map(|i| f64::from(i) / 100.0).collect();
        let steep = Calibration {
            slope: 8.0,
            ..calibration
        };
        for calibration in [calibration, steep] {
            for pair in scores.windows(2) {
                let change = calibration.log_odds(pair[1]) - calibration.log_odds(pair[0]);
                assert!(change > 0.0);
                assert!((calibration.slope_between(pair[0], pair[1]) * 0.01 - change).abs() < 1e-9);
            }
        }
        let tangent = steep.slope_between(2.5, 2.5);
        assert!((tangent - steep.slope_between(2.4999, 2.5001)).abs() < 1e-6);
        let tangent = calibration.slope_between(0.5, 0.5);
        assert!((tangent - calibration.slope_between(0.4999, 0.5001)).abs() < 1e-6);
        assert_eq!(calibration.log_odds(f64::NEG_INFINITY), f64::NEG_INFINITY);
        for calibration in [calibration, Calibration::line(1.0)] {
            assert_eq!(calibration.log_odds(f64::INFINITY), f64::INFINITY);
        }
    }

    #[test]
    fn labels_that_are_surely_present_keep_their_order() {
        let steep = Calibration {
            slope: SLOPES.1 as f32,
            bend: 0.5,
            shift: 2.0,
        };
        let p = |z: f32| math::sigmoid(steep.log_odds(z.into())) as f32;
        assert!((1..50).all(|i| p(i as f32 / 10.0) < p((i + 1) as f32 / 10.0)));
        assert!(p(4.0) > 0.999 && p(f32::INFINITY) == 1.0);
    }

    /// The mean of the probabilities is the share of pairs with a label, whatever the slope.
    #[test]
    fn slopes_stay_in_their_range() {
        for (given, expected) in [(-2.0, SLOPES.0), (40.0, SLOPES.1)] {
            let pairs = pairs(given, 1.0);
            let found = Calibration::fit(&pairs).unwrap();
            assert!((f64::from(found.slope) - expected).abs() < 1e-6, "{found:?}");
            assert!((0.0..=BENDS.1 as f32).contains(&found.bend), "{found:?}");
            let n = pairs.scores.len() as f64;
            let probability = |z: &f32| math::sigmoid(found.log_odds((*z).into()));
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

//! Finds the weights of members from their inner products.

use super::Gram;
use ndarray::Array2;
use rpo_projections::least_squares::{Cholesky, System};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// Rule that finds the weights of members. Every rule minimizes the squared error of the weighted mean, over all
/// outputs together; numbers are measured in units of each output's standard deviation. Where labels stand beside
/// numbers, members have a weight for either, found on outputs of that kind. For members that predict
/// quantiles, the mean and the greedy rules minimize the pinball loss; the other rules do not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CombineRule {
    /// Equal weights.
    Mean,
    /// Selection with replacement (Caruana, Niculescu-Mizil, Crew, Ksikes, ICML 2004): in each of 50 rounds, the member
    /// that helps most is added; the best round is kept.
    #[default]
    Greedy,
    /// Half the weight by greedy selection, the other half divided equally among the five best members, or the best third
    /// of fewer than fifteen: the best of four need not be good.
    GreedyMean,
    /// Nonnegative weights that sum to 1, with the smallest error.
    Nnls,
    /// A model of the truth given the members' predictions, with weights of any sign, shrunk towards equal weights:
    /// logistic regression on the log-odds for labels, ridge regression on the distances from the means for numbers.
    Stack,
}

impl CombineRule {
    const NAMES: [(&'static str, Self); 5] = [
        ("mean", Self::Mean),
        ("greedy", Self::Greedy),
        ("greedy-mean", Self::GreedyMean),
        ("nnls", Self::Nnls),
        ("stack", Self::Stack),
    ];
}

impl fmt::Display for CombineRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, rule)| rule == self);
        f.write_str(name.expect("every rule is listed").0)
    }
}

impl FromStr for CombineRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rule = Self::NAMES.iter().find(|(name, _)| *name == text);
        rule.map(|(_, rule)| *rule).ok_or_else(|| {
            let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            format!("one of {} expected", names.join(", "))
        })
    }
}

impl CombineRule {
    /// The weights of members of given inner products. Those of a stack are for numbers: they depend on nothing else.
    pub(super) fn weights(self, gram: &Gram) -> Vec<f64> {
        match self {
            Self::Mean => mean(gram.n_members()),
            Self::Greedy => greedy(gram),
            Self::GreedyMean => greedy_mean(gram),
            Self::Nnls => simplex(gram),
            Self::Stack => ridge(gram),
        }
    }
}

/// Number of rounds of greedy selection, so weights are multiples of a fiftieth.
const ROUNDS: usize = 50;
/// Largest number of members whose mean is half of [`CombineRule::GreedyMean`], and the largest part of all members.
const BEST: usize = 5;
const BEST_PART: usize = 3;
/// Largest number of passes of coordinate descent. Members are few, and passes cost M³ at most.
const PASSES: usize = 1000;

/// Equal weights that sum to 1.
pub(super) fn mean(n_members: usize) -> Vec<f64> {
    vec![1.0 / n_members as f64; n_members]
}

/// The weights of greedy selection, which sum to 1; ties go to the first member.
fn greedy(gram: &Gram) -> Vec<f64> {
    let m = gram.n_members();
    // Products of the sum of the members so far with all members, with itself, and with the truth.
    let (mut with, mut square, mut truth) = (vec![0.0; m], 0.0, 0.0);
    let mut total = 0.0;
    let Ok(weights) = selection(m, |added| {
        if let Some(added) = added {
            square += 2.0 * with[added] + gram.between(added, added);
            truth += gram.with_truth(added);
            (0..m).for_each(|k| with[k] += gram.between(added, k));
        }
        total += 1.0;
        let error = |k: usize| {
            let square = square + 2.0 * with[k] + gram.between(k, k);
            square / (total * total) - 2.0 * (truth + gram.with_truth(k)) / total
        };
        Ok::<_, Infallible>((0..m).map(error).collect())
    });
    weights
}

/// Greedy selection by any error: `errors` receives the member added last and returns, for each member, the error of
/// the mean of all members so far and that member.
pub(super) fn selection<E>(
    m: usize,
    mut errors: impl FnMut(Option<usize>) -> Result<Vec<f64>, E>,
) -> Result<Vec<f64>, E> {
    let mut counts = vec![0.0; m];
    let mut best = (f64::INFINITY, counts.clone());
    let mut last = None;
    for round in 1..=ROUNDS {
        let errors = errors(last)?.into_iter().zip(0..);
        let Some((least, added)) = errors.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            break;
        };
        counts[added] += 1.0;
        last = Some(added);
        if least < best.0 {
            let total = round as f64;
            best = (least, counts.iter().map(|count| count / total).collect());
        }
    }
    // If all errors are equal, for example because no entry is observed, the first member was added every time.
    Ok(best.1)
}

/// Half greedy weights, half the mean of the best members.
fn greedy_mean(gram: &Gram) -> Vec<f64> {
    let errors: Vec<f64> = (0..gram.n_members()).map(|k| gram.error_of(k)).collect();
    half_of_best(greedy(gram), &errors)
}

/// Half of the given weights plus half of the mean of the members with the smallest individual errors.
pub(super) fn half_of_best(mut weights: Vec<f64>, errors: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..errors.len()).collect();
    order.sort_by(|&a, &b| errors[a].total_cmp(&errors[b]));
    order.truncate(order.len().div_ceil(BEST_PART).min(BEST));
    weights.iter_mut().for_each(|weight| *weight /= 2.0);
    let part = 0.5 / order.len() as f64;
    order.iter().for_each(|&k| weights[k] += part);
    weights
}

/// The nonnegative weights that sum to 1 and have the smallest error. Weight moves from one member to another, over all
/// pairs in turn, until no move helps.
fn simplex(gram: &Gram) -> Vec<f64> {
    let m = gram.n_members();
    let mut weights = greedy(gram);
    let mut products: Vec<f64> = (0..m)
        .map(|k| (0..m).map(|l| gram.between(k, l) * weights[l]).sum())
        .collect();
    for _ in 0..PASSES {
        let mut moved = 0.0_f64;
        for to in 0..m {
            for from in (0..m).filter(|&from| from != to) {
                // Half the first and half the second derivative along the move.
                let slope = products[to] - gram.with_truth(to) - (products[from] - gram.with_truth(from));
                let curvature =
                    gram.between(to, to) + gram.between(from, from) - 2.0 * gram.between(to, from);
                if curvature <= 0.0 {
                    continue;
                }
                let step = (-slope / curvature).clamp(-weights[to], weights[from]);
                weights[to] += step;
                weights[from] -= step;
                (0..m).for_each(|k| products[k] += step * (gram.between(k, to) - gram.between(k, from)));
                moved = moved.max(step.abs());
            }
        }
        if moved < 1e-12 {
            break;
        }
    }
    // Clears the rounding errors that the moves accumulated.
    let total: f64 = weights.iter().map(|weight| weight.max(0.0)).sum();
    weights.iter().map(|weight| weight.max(0.0) / total).collect()
}

/// The weights of any sign that minimize the error plus λ‖w − 1/M‖², where λ is a thousandth of the mean of the members'
/// squares.
fn ridge(gram: &Gram) -> Vec<f64> {
    let m = gram.n_members();
    let penalty = 1e-3 * (0..m).map(|k| gram.between(k, k)).sum::<f64>() / m as f64;
    let target = penalty / m as f64;
    let entry = |(k, l)| gram.between(k, l) + if k == l { penalty } else { 0.0 };
    let mut weights = Array2::from_shape_fn((1, m), |(_, k)| gram.with_truth(k) + target);
    let system = Cholesky::try_from(Array2::from_shape_fn((m, m), entry));
    match system.and_then(|l| l.solve_rows(System::Whole, weights.view_mut())) {
        Ok(()) => weights.into_iter().collect(),
        // All products are 0: members predict the training means, or nothing is observed.
        Err(_) => mean(m),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    prop_compose! {
        fn grams()(m in 1_usize..7)(
            values in prop::collection::vec(-1.0_f32..1.0, 12 * (m + 1)), m in Just(m)
        ) -> Gram {
            let members: Vec<Array2<f32>> = (0..=m)
                .map(|k| Array2::from_shape_vec((6, 2), values[12 * k..12 * (k + 1)].to_vec()).unwrap())
                .collect();
            let mut gram = Gram::new(m);
            gram.add(&members[..m], &members[m]);
            gram
        }
    }

    fn least_single(gram: &Gram) -> f64 {
        (0..gram.n_members())
            .map(|k| gram.error_of(k))
            .fold(f64::INFINITY, f64::min)
    }

    /// Every composition of `n` into the weights of three members.
    fn compositions(n: usize) -> impl Iterator<Item = [f64; 3]> {
        let weights = move |a: usize, b: usize| [a, b, n - a - b].map(|part| part as f64 / n as f64);
        (0..=n).flat_map(move |a| (0..=n - a).map(move |b| weights(a, b)))
    }

    proptest! {
        #[test]
        fn weights_are_a_mean_and_no_worse_than_the_best_member(gram in grams()) {
            let tolerance = 1e-9;
            for rule in [greedy, greedy_mean, simplex] {
                let weights = rule(&gram);
                prop_assert!(weights.iter().all(|weight| *weight >= 0.0));
                prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < tolerance);
            }
            let errors = [simplex(&gram), greedy(&gram)].map(|weights| gram.error(&weights));
            prop_assert!(errors[1] <= least_single(&gram) + tolerance);
            prop_assert!(errors[0] <= errors[1] + tolerance);
        }

        #[test]
        fn no_other_mean_has_a_smaller_error(gram in grams()) {
            if gram.n_members() >= 3 {
                let gram = gram.of_members(&[0, 1, 2]);
                let least = gram.error(&simplex(&gram));
                for weights in compositions(20) {
                    prop_assert!(gram.error(&weights) >= least - 1e-9);
                }
            }
        }

        #[test]
        fn ridge_has_no_slope(gram in grams()) {
            let m = gram.n_members();
            let weights = ridge(&gram);
            let penalty = 1e-3 * (0..m).map(|k| gram.between(k, k)).sum::<f64>() / m as f64;
            for k in 0..m {
                let row: f64 = (0..m).map(|l| gram.between(k, l) * weights[l]).sum();
                let slope = row - gram.with_truth(k) + penalty * (weights[k] - 1.0 / m as f64);
                prop_assert!(slope.abs() < 1e-6, "{slope}");
            }
        }
    }

    /// Members that agree leave directions of little curvature.
    #[test]
    fn ridge_is_exact_for_members_that_agree() {
        let truth: Vec<f32> = (0..40).map(|i| ((i * 17) % 40) as f32 / 10.0 - 2.0).collect();
        let member = |k: usize| {
            let values = truth.iter().enumerate();
            let near = values.map(|(i, value)| value + 0.03 * (((i * (7 + 4 * k)) % 13) as f32 / 6.5 - 1.0));
            Array2::from_shape_vec((40, 1), near.collect()).unwrap()
        };
        let members: Vec<Array2<f32>> = (0..10).map(member).collect();
        let mut gram = Gram::new(10);
        gram.add(&members, &Array2::from_shape_vec((40, 1), truth.clone()).unwrap());
        let weights = ridge(&gram);
        let penalty = 1e-3 * (0..10).map(|k| gram.between(k, k)).sum::<f64>() / 10.0;
        for k in 0..10 {
            let row: f64 = (0..10).map(|l| gram.between(k, l) * weights[l]).sum();
            let slope = row - gram.with_truth(k) + penalty * (weights[k] - 0.1);
            assert!(slope.abs() < 1e-9 * gram.between(k, k), "{slope}");
        }
        let nothing = Gram::new(3);
        assert_eq!(ridge(&nothing), mean(3));
    }

    /// A naive selection that recomputes every error.
    #[test]
    fn greedy_adds_what_helps_most() {
        let column = |values: [f32; 4]| Array2::from_shape_vec((4, 1), values.to_vec()).unwrap();
        let members = [
            column([1.0, 0.0, 1.0, 0.5]),
            column([0.0, 1.0, 1.0, 0.0]),
            column([0.5, 0.5, 0.0, 1.0]),
        ];
        let mut gram = Gram::new(3);
        gram.add(&members, &column([0.7, 0.3, 0.6, 0.5]));
        let mut counts = [0.0; 3];
        let mut best = (f64::INFINITY, counts);
        for round in 1..=ROUNDS {
            let with = |k: usize| {
                let mut counts = counts;
                counts[k] += 1.0;
                (gram.error(&counts.map(|count| count / round as f64)), counts)
            };
            let (error, chosen) = (0..3).map(with).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            counts = chosen;
            if error < best.0 {
                best = (error, counts.map(|count| count / round as f64));
            }
        }
        assert_eq!(greedy(&gram), best.1);
    }

    #[test]
    fn rules_have_names() {
        for (name, rule) in CombineRule::NAMES {
            assert_eq!((name.parse(), rule.to_string().as_str()), (Ok(rule), name));
            assert_eq!(serde_json::to_value(rule).unwrap(), name);
        }
        assert!("best".parse::<CombineRule>().is_err());
    }
}

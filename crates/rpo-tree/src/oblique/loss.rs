//! The soft Hellinger distance of a split and its gradient.
//!
//! A row with margin z goes right with φ = (tanh(αz) + 1)/2 = σ(2αz) (the paper's eq. 3). With t̃ and f̃ the means of φ
//! over the rows with u = +1 and u = −1 (eq. 5),
//!
//! ```text
//! d² = (√t̃ − √f̃)² + (√(1−t̃) − √(1−f̃))²   in [0, 2]                                   (eq. 2, squared)
//! L  = −d²                                                                              (eq. 6)
//! ∇L = [√(f̃/t̃) − √((1−f̃)/(1−t̃))] ∇t̃ + [√(t̃/f̃) − √((1−t̃)/(1−f̃))] ∇f̃               (eq. 7)
//! ```
//!
//! ∇t̃ is the mean of 2αφ(1−φ) a over the positive rows, ∇f̃ that over the others, so ∇L = Aᵀv with one number per row:
//! v_i = bracket · 2αφ_i(1−φ_i) / (size of the row's class). The loss does not change if u or w changes sign, nor if
//! all rows of a class are repeated: it is insensitive to skew.

use super::real::Real;

/// Soft fractions of the rows that go right, by class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SoftRates {
    /// t̃, the fraction of the positive rows.
    pub(crate) tpr: f64,
    /// f̃, the fraction of the other rows.
    pub(crate) fpr: f64,
    /// Number of positive rows.
    pub(crate) n_positive: usize,
    /// Number of other rows.
    pub(crate) n_negative: usize,
}

impl SoftRates {
    /// Returns L = −d².
    pub(crate) fn loss(&self) -> f64 {
        -squared_distance(self.tpr, self.fpr)
    }
}

/// Returns the squared Hellinger distance of two Bernoulli distributions, without the factor ½: in [0, 2], 0 on the
/// diagonal, 2 at (1, 0). Symmetric. (Eq. 2, squared.)
pub(crate) fn squared_distance(tpr: f64, fpr: f64) -> f64 {
    (tpr.sqrt() - fpr.sqrt()).powi(2) + ((1.0 - tpr).sqrt() - (1.0 - fpr).sqrt()).powi(2)
}

/// Replaces margins by φ, in place, and returns the soft rates; `None` if a class is empty.
///
/// # Panics
/// If the number of margins differs from that of rows.
pub(crate) fn soft_assign<T: Real>(alpha: f64, margins: &mut [T], positive: &[bool]) -> Option<SoftRates> {
    assert_eq!(margins.len(), positive.len(), "one margin per row");
    let factor = T::from_f64(2.0 * alpha);
    margins.iter_mut().for_each(|z| *z = (factor * *z).sigmoid());
    // Sums by class, without a branch on the class.
    let (mut sum, mut sum_positive, mut n_positive) = (0.0, 0.0, 0);
    for (phi, &positive) in margins.iter().zip(positive) {
        let phi = phi.to_f64();
        sum += if positive { 0.0 } else { phi };
        sum_positive += if positive { phi } else { 0.0 };
        n_positive += usize::from(positive);
    }
    let n_negative = positive.len() - n_positive;
    (n_positive > 0 && n_negative > 0).then(|| SoftRates {
        tpr: sum_positive / n_positive as f64,
        fpr: sum / n_negative as f64,
        n_positive,
        n_negative,
    })
}

/// Replaces φ by the slopes ∂L/∂z of the rows, in place.
///
/// Rates are kept 1e-12 away from 0 and 1 in divisions: there φ(1−φ) goes to 0 equally fast, so slopes stay bounded.
pub(crate) fn slopes<T: Real>(alpha: f64, rates: &SoftRates, phi: &mut [T], positive: &[bool]) {
    let inside = |rate: f64| rate.clamp(1e-12, 1.0 - 1e-12);
    let (t, f) = (inside(rates.tpr), inside(rates.fpr));
    let bracket = |a: f64, b: f64| (b / a).sqrt() - ((1.0 - b) / (1.0 - a)).sqrt();
    let slope = |bracket: f64, n: usize| T::from_f64(2.0 * alpha * bracket / n as f64);
    let of_positive = slope(bracket(t, f), rates.n_positive);
    let of_negative = slope(bracket(f, t), rates.n_negative);
    let negligible = T::from_f64(NEGLIGIBLE);
    for (phi, &positive) in phi.iter_mut().zip(positive) {
        let factor = if positive { of_positive } else { of_negative };
        let slope = factor * (*phi * (T::ONE - *phi));
        let counts = slope > negligible || -slope > negligible;
        *phi = if counts { slope } else { T::default() };
    }
}

/// Slopes up to this magnitude are set to 0. They move no weight (a step of ADAM is at most its rate times gradient /
/// 1e-8), but their products in single precision may be subnormal numbers, with which processors take many times
/// longer.
const NEGLIGIBLE: f64 = 1e-18;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn loss(alpha: f64, margins: &[f64], positive: &[bool]) -> f64 {
        let rates = soft_assign(alpha, &mut margins.to_vec(), positive);
        rates.expect("both classes").loss()
    }

    fn loss_slopes(alpha: f64, margins: &[f64], positive: &[bool]) -> Vec<f64> {
        let mut out = margins.to_vec();
        let rates = soft_assign(alpha, &mut out, positive).expect("both classes");
        slopes(alpha, &rates, &mut out, positive);
        out
    }

    fn rows() -> impl Strategy<Value = (Vec<f64>, Vec<bool>)> {
        let both =
            |(_, positive): &(Vec<f64>, Vec<bool>)| positive.contains(&true) && positive.contains(&false);
        let n = 2_usize..12;
        n.prop_flat_map(|n| {
            (
                prop::collection::vec(-1.5..1.5, n),
                prop::collection::vec(any::<bool>(), n),
            )
        })
        .prop_filter("both classes", both)
    }

    proptest! {
        #[test]
        fn slopes_are_central_differences((margins, positive) in rows(), alpha in prop::sample::select(vec![0.1, 1.0, 4.0])) {
            let slopes = loss_slopes(alpha, &margins, &positive);
            for i in 0..margins.len() {
                let at = |step: f64| {
                    let mut moved = margins.clone();
                    moved[i] += step;
                    loss(alpha, &moved, &positive)
                };
                let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
                prop_assert!((slopes[i] - expected).abs() < 1e-6, "{} {expected}", slopes[i]);
            }
        }

        /// Both are in [0, 2].
        #[test]
        fn both_forms_of_the_distance_agree(t in 0.0..=1.0, f in 0.0..=1.0) {
            let (t, f): (f64, f64) = (t, f);
            let distance = squared_distance(t, f);
            let other = 2.0 - 2.0 * ((t * f).sqrt() + ((1.0 - t) * (1.0 - f)).sqrt());
            prop_assert!((distance - other).abs() < 1e-12);
            prop_assert!((0.0..=2.0).contains(&distance));
        }

        /// Neither that of the classes nor that of the margins.
        #[test]
        fn signs_do_not_matter((margins, positive) in rows(), alpha in 0.05..4.0) {
            let expected = loss(alpha, &margins, &positive);
            let flipped: Vec<bool> = positive.iter().map(|p| !p).collect();
            let negated: Vec<f64> = margins.iter().map(|z| -z).collect();
            prop_assert!((loss(alpha, &margins, &flipped) - expected).abs() < 1e-12);
            prop_assert!((loss(alpha, &negated, &positive) - expected).abs() < 1e-12);
        }

        /// Repeating the rows of a class changes neither the loss nor the sum of their slopes.
        #[test]
        fn skew_does_not_matter((margins, positive) in rows(), times in 2_usize..6, alpha in 0.05..4.0) {
            let repeat = |i: usize| if positive[i] { times } else { 1 };
            let origin: Vec<usize> = (0..margins.len()).flat_map(|i| vec![i; repeat(i)]).collect();
            let many: Vec<f64> = origin.iter().map(|&i| margins[i]).collect();
            let marks: Vec<bool> = origin.iter().map(|&i| positive[i]).collect();
            prop_assert!((loss(alpha, &many, &marks) - loss(alpha, &margins, &positive)).abs() < 1e-10);
            let mut sums = vec![0.0; margins.len()];
            origin.iter().zip(loss_slopes(alpha, &many, &marks)).for_each(|(&i, v)| sums[i] += v);
            for (sum, slope) in sums.iter().zip(loss_slopes(alpha, &margins, &positive)) {
                prop_assert!((sum - slope).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn the_distance_is_symmetric_and_has_its_extremes_in_the_corners() {
        assert_eq!(squared_distance(1.0, 0.0).sqrt(), 2.0_f64.sqrt());
        for i in 0..=8 {
            let t = f64::from(i) / 8.0;
            assert_eq!(squared_distance(t, t), 0.0);
            assert_eq!(squared_distance(t, 0.3), squared_distance(0.3, t));
        }
    }

    /// Saturated rows have slope 0, not NaN.
    #[test]
    fn saturation_gives_no_nan() {
        for size in [30.0, 1e5, 1e300] {
            for sign in [-1.0, 1.0] {
                let margins = [sign * size, sign * size, size, -size];
                for positive in [[true, false, true, false], [true, true, true, false]] {
                    let slopes = loss_slopes(4.0, &margins, &positive);
                    assert!(slopes.iter().all(|v| v.is_finite()), "{slopes:?}");
                }
            }
        }
        assert_eq!(soft_assign(1.0, &mut [0.5, 0.5], &[true, true]), None);
    }
}

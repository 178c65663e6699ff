//! Units of features.

/// What shows the unit of a feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Mean of all values.
    pub mean: f64,
    /// Mean squared distance to the mean; 0 for a feature that does not vary.
    pub variance: f64,
    /// Fraction of the values that are not 0.
    pub share: f64,
}

impl Spread {
    /// Fraction of nonzero values from which on a feature is dense.
    pub const DENSE_SHARE: f64 = 0.25;

    /// Returns true if less than a quarter of the values are not 0.
    pub fn is_sparse(&self) -> bool {
        self.share < Self::DENSE_SHARE
    }

    /// The square of the unit: about the mean square of the values that are not 0.
    pub fn squared_unit(&self) -> f64 {
        self.variance / self.share
    }
}

/// Multiples of the unit of sparse features, both squared, beyond which a dense feature among them is a measurement.
/// Frequent words of public data sets of texts are within 1/50 and 3: rare words have the largest factors of inverse
/// document frequencies.
const UNITS: (f64, f64) = (0.01, 4.0);
/// The same for features that are sparse themselves. The units squared of terms of public data sets, with inverse
/// document frequencies, are within 1/15 and 50 times the median, 99 in 100 of them below 15 times; the few values of the
/// rarest may all be small by chance.
const SPARSE_UNITS: (f64, f64) = (1e-4, 16.0);

/// Marks the features that are measurements, numbers such as ages and amounts beside words or indicators, which are in
/// one unit. None is where no sparse feature varies.
///
/// With the variance v and the fraction q of nonzero values, a unit squared is about v/q. It is compared with the median
/// of the features that vary with q below a quarter: a feature is a measurement if its unit squared is less than a
/// hundredth of that or more than 4 times, for one with q below a quarter less than 1/10,000 or more than 16 times.
///
/// ```
/// use rpo_core::{Spread, measurements};
/// let indicator = Spread { mean: 0.1, variance: 0.09, share: 0.1 };
/// let age = Spread { mean: 40.0, variance: 100.0, share: 1.0 };
/// assert_eq!(measurements(&[indicator, age, indicator]), [false, true, false]);
/// ```
pub fn measurements(spreads: &[Spread]) -> Vec<bool> {
    let sparse = spreads.iter().filter(|s| s.variance > 0.0 && s.is_sparse());
    let mut units: Vec<f64> = sparse.map(Spread::squared_unit).collect();
    if units.is_empty() {
        return vec![false; spreads.len()];
    }
    let middle = units.len() / 2;
    let usual = *units.select_nth_unstable_by(middle, f64::total_cmp).1;
    let is_measurement = |spread: &Spread| {
        let (least, most) = if spread.is_sparse() { SPARSE_UNITS } else { UNITS };
        // Indicators that are nearly always 1 vary little, but are in the unit of others.
        let square = (spread.variance + spread.mean * spread.mean) / spread.share;
        spread.variance > 0.0 && (spread.squared_unit() > most * usual || square < least * usual)
    };
    spreads.iter().map(is_measurement).collect()
}

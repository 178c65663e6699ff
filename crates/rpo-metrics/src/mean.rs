//! Means over the samples or labels where a quantity is defined.

/// A mean over the samples or labels where a quantity is defined.
///
/// `value` is NaN if there are none. Reports should include the counts: a macro AUC over 300 of 983 labels is not
/// comparable with one over all of them.
///
/// Collecting values gives their mean, collecting (value, weight) pairs a weighted mean. For the areas of labels, the
/// weights are the numbers of samples that have each label
/// ([`LabelSets::label_counts`](crate::LabelSets::label_counts)).
///
/// ```
/// use rpo_metrics::Mean;
/// let mean = Mean::from_iter([(0.5, 1.0), (f64::NAN, 4.0), (1.0, 3.0)]);
/// assert_eq!((mean.value, mean.n_used, mean.n_skipped), (0.875, 2, 1));
/// assert_eq!(Mean::from_iter([0.5, f64::NAN, 1.0]).value, 0.75);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean; NaN if `n_used` is 0.
    pub value: f64,
    /// Number of items in the mean.
    pub n_used: usize,
    /// Number of items that were left out because the quantity is undefined for them.
    pub n_skipped: usize,
}

impl Mean {
    /// The mean times the number of items in it, 0 if there are none: the sum of the values, up to rounding, if they
    /// have equal weights.
    pub fn sum(&self) -> f64 {
        match self.n_used {
            0 => 0.0,
            n => self.value * n as f64,
        }
    }
}

/// Computes the mean of the values that are not NaN, summed in the given order.
impl FromIterator<f64> for Mean {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let (mut sum, mut n_used, mut n_skipped) = (0.0, 0_usize, 0_usize);
        for value in values {
            if value.is_nan() {
                n_skipped += 1;
            } else {
                n_used += 1;
                sum += value;
            }
        }
        Self {
            value: sum / n_used as f64,
            n_used,
            n_skipped,
        }
    }
}

/// Computes the weighted mean of the values that are not NaN: Σ w v / Σ w.
impl FromIterator<(f64, f64)> for Mean {
    fn from_iter<I: IntoIterator<Item = (f64, f64)>>(values: I) -> Self {
        let (mut sum, mut total, mut n_used, mut n_skipped) = (0.0, 0.0, 0_usize, 0_usize);
        for (value, weight) in values {
            if value.is_nan() {
                n_skipped += 1;
            } else {
                n_used += 1;
                sum += value * weight;
                total += weight;
            }
        }
        Self {
            value: sum / total,
            n_used,
            n_skipped,
        }
    }
}

/// Treatment of missing entries of the truth (NaN).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingTruth {
    /// Refuse them. The default.
    #[default]
    Refuse,
    /// Leave them out, as if they and their predictions had been removed. An output without observed values is
    /// undefined (NaN) and left out of means over outputs; a sample without observed values is left out of means over
    /// samples.
    Skip,
}

/// Treatment of samples without relevant labels, for which a ratio per sample is 0/0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EmptySamples {
    /// Leave them out of the mean and count them (Joly, Geurts and Wehenkel 2014, section 4). The default.
    #[default]
    Skip,
    /// Count them as 1: a perfect LRAP (scikit-learn's convention), an error in the one-error.
    One,
}

//! Means over the rows or labels where a quantity is defined.

/// A mean over the rows or labels where a quantity is defined.
///
/// `value` is NaN if there are none. The counts belong in every report: a macro AUC over 300 of 983 labels says
/// something else than one over all of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean; NaN if `n_used` is 0.
    pub value: f64,
    /// How many items entered the mean.
    pub n_used: usize,
    /// How many were left out because the quantity is undefined there.
    pub n_skipped: usize,
}

impl Mean {
    /// The mean of the values that are not NaN, summed in the given order.
    pub fn of_defined(values: impl IntoIterator<Item = f64>) -> Self {
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

/// What to do with entries of the truth that are NaN: missing, so that nobody knows what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingTruth {
    /// Refuse them. The default.
    #[default]
    Refuse,
    /// Leave them out, as if they and their predictions had been removed. An output without any known value is
    /// undefined (NaN), and it and a row without any are left out of means over outputs and over rows.
    Skip,
}

/// What to do with rows that have no relevant label, where a per-row ratio is 0/0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EmptySamples {
    /// Leave them out of the mean and count them (Joly, Geurts and Wehenkel 2014, section 4). The default.
    #[default]
    Skip,
    /// Count them as 1: a perfect LRAP (scikit-learn's convention), an error in the one-error.
    One,
}

/// What to do with labels whose per-label value is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UndefinedLabels {
    /// Leave them out of the mean and count them. The default.
    #[default]
    Skip,
    /// Count them as 0 (scikit-learn's macro average precision).
    Zero,
}

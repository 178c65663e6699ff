//! Splits of one feature.

/// Limits on admissible splits and on the ordering of categories.
#[derive(Debug, Clone, Copy)]
pub(in crate::histogram) struct Limits {
    /// At least 1.
    pub(in crate::histogram) min_samples_leaf: usize,
    /// Smoothing of the means of ordered categories.
    pub(in crate::histogram) category_smoothing: f64,
    pub(in crate::histogram) min_category_count: usize,
}

/// The best split of a feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::histogram) struct Split {
    pub(in crate::histogram) score: f64,
    /// The last bin on the left, and the next bin that holds a sample; `None` if that is the bin of missing values.
    pub(in crate::histogram) last: usize,
    pub(in crate::histogram) next: Option<usize>,
    /// Whether missing values go left; `None` if the node has none, in which case they will follow the larger child.
    pub(in crate::histogram) missing_left: Option<bool>,
}

/// Result of scanning a feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::histogram) enum Scanned {
    /// All samples of the node lie in one bin.
    Constant,
    /// No split is admissible.
    NoSplit,
    Split(Split),
}

/// Chooses between the best splits with missing values on the right and on the left (each a score and the position of
/// the last bin on the left), given the bins that hold an observed value of the node and whether it has missing values.
/// Among equal scores the smaller threshold wins, then missing values on the right.
pub(in crate::histogram) fn choose(
    right: Option<(f64, usize)>,
    left: Option<(f64, usize)>,
    bins: &[u16],
    any_missing: bool,
) -> Scanned {
    let left_wins = match (right, left) {
        (Some((r, i)), Some((l, j))) => l > r || (l == r && j < i),
        (right, _) => right.is_none(),
    };
    let Some((score, i)) = (if left_wins { left } else { right }) else {
        return Scanned::NoSplit;
    };
    Scanned::Split(Split {
        score,
        last: usize::from(bins[i]),
        next: bins.get(i + 1).map(|&bin| usize::from(bin)),
        missing_left: any_missing.then_some(left_wins),
    })
}

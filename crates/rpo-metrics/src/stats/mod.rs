//! Tests of significance for comparing methods: over many data sets (Friedman, Nemenyi, Bonferroni-Dunn), pair
//! by pair (Wilcoxon signed-rank, paired t), over repeated samples (bootstrap), and corrections for many tests.
//!
//! The protocol is that of J. Demšar, *Statistical comparisons of classifiers over multiple data sets*, JMLR 7
//! (2006): Friedman's test on the ranks first, then post-hoc tests. A quantity that the data leave undefined (a
//! z value where every difference is zero, say) is NaN; data that are not finite or too few are errors.
//!
//! ```
//! use ndarray::array;
//! use rpo_metrics::stats::{Better, Friedman, SignedRanks};
//! // Four data sets (rows), three methods (columns), larger is better.
//! let scores = array![[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.6, 0.5], [0.9, 0.6, 0.8]];
//! let friedman = Friedman::new(scores.view(), Better::Higher)?;
//! assert_eq!(friedman.average_ranks(), [1.0, 2.25, 2.75]);
//! assert!(friedman.tie_corrected().p < 0.05);
//! let best_and_worst = SignedRanks::new(&[0.9, 0.8, 0.7, 0.9], &[0.7, 0.6, 0.5, 0.8])?;
//! assert_eq!(best_and_worst.exact()?.two_sided, 0.125);
//! # Ok::<(), rpo_metrics::stats::StatsError>(())
//! ```

mod bootstrap;
mod corrections;
pub mod distributions;
mod error;
mod friedman;
mod paired_t;
mod post_hoc;
mod ranks;
mod wilcoxon;

pub use bootstrap::Bootstrap;
pub use corrections::{bonferroni, holm};
pub use error::StatsError;
pub use friedman::{Better, Friedman, FriedmanTest};
pub use paired_t::PairedT;
pub use post_hoc::{bonferroni_dunn_quantile, critical_difference, nemenyi_quantile};
pub use wilcoxon::{NormalApproximation, SignedRanks, Zeros};

/// The probability of data at least as extreme, under the hypothesis of no difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PValues {
    /// In either direction.
    pub two_sided: f64,
    /// In the direction x > y.
    pub greater: f64,
    /// In the direction x < y.
    pub less: f64,
}

/// x - y, pair by pair.
///
/// # Errors
/// Lengths that differ, values that are not finite.
pub fn differences(x: &[f64], y: &[f64]) -> Result<Vec<f64>, StatsError> {
    if x.len() != y.len() {
        return Err(StatsError::Lengths {
            x: x.len(),
            y: y.len(),
        });
    }
    let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    check_finite(x)?;
    check_finite(y)?;
    check_finite(&differences)?;
    Ok(differences)
}

fn check_finite(values: &[f64]) -> Result<(), StatsError> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(StatsError::NonFinite {
            index,
            value: values[index],
        }),
        None => Ok(()),
    }
}

fn check_count(what: &'static str, given: usize, needed: usize) -> Result<(), StatsError> {
    if given < needed {
        return Err(StatsError::TooFew { what, given, needed });
    }
    Ok(())
}

/// Refuses levels outside the open interval, NaN among them.
fn check_probability(what: &'static str, value: f64) -> Result<(), StatsError> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(StatsError::Probability { what, value })
}

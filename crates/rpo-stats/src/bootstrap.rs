//! Bootstrap intervals.

use crate::error::check_finite;
use crate::{ConfidenceInterval, StatsError};
use rand::Rng;
use rayon::prelude::*;
use rpo_core::{Domain, Seed, TooFew};

/// A statistic of the data and of bootstrap resamples (Efron 1979).
///
/// To compare two methods on the same samples, use the mean of their differences as the statistic.
#[derive(Debug, Clone, PartialEq)]
pub struct Bootstrap {
    /// The statistic of the data.
    pub observed: f64,
    /// The statistic of each resample.
    pub resampled: Vec<f64>,
}

impl Bootstrap {
    /// Computes `statistic(indices)` for all `n` samples in order and for `n_resamples` resamples of n indices, drawn
    /// with replacement. Resample b is drawn from stream b of `seed`, so results do not depend on the number of
    /// threads.
    ///
    /// # Errors
    /// No sample, no resample, a statistic that is not finite (the index in the error is that of the resample).
    ///
    /// # Panics
    /// If n indices for each thread, or the statistics of all resamples, exceed the memory.
    pub fn draw(
        n: usize,
        n_resamples: usize,
        seed: Seed,
        statistic: impl Fn(&[usize]) -> f64 + Sync,
    ) -> Result<Self, StatsError> {
        TooFew::check("samples", 1, n)?;
        TooFew::check("resamples", 1, n_resamples)?;
        let all: Vec<usize> = (0..n).collect();
        let observed = statistic(&all);
        check_finite(&[observed])?;
        let seed = seed.purpose("bootstrap interval");
        let resampled: Vec<f64> = (0..n_resamples)
            .into_par_iter()
            .map(|b| {
                let mut rng = seed.child(b as u64).rng();
                let indices: Vec<usize> = (0..n).map(|_| rng.gen_range(0..n as u64) as usize).collect();
                statistic(&indices)
            })
            .collect();
        check_finite(&resampled)?;
        Ok(Self { observed, resampled })
    }

    /// Returns the standard deviation of the resampled statistic, divisor B - 1; NaN for a single resample.
    pub fn standard_error(&self) -> f64 {
        let n = self.resampled.len() as f64;
        let mean = self.resampled.iter().sum::<f64>() / n;
        let squares: f64 = self.resampled.iter().map(|v| (v - mean).powi(2)).sum();
        (squares / (n - 1.0)).sqrt()
    }
}

/// The percentile interval: the quantiles of the resampled statistic at (1 - level) / 2 and (1 + level) / 2,
/// interpolated linearly between order statistics at position (B - 1) p.
impl ConfidenceInterval for Bootstrap {
    fn interval(&self, level: f64) -> Result<(f64, f64), StatsError> {
        Domain::Level.check("level", level)?;
        TooFew::check("resamples", 1, self.resampled.len())?;
        let mut sorted = self.resampled.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let quantile = |p: f64| {
            let position = (sorted.len() - 1) as f64 * p;
            let (below, above) = (position.floor() as usize, position.ceil() as usize);
            sorted[below] + (sorted[above] - sorted[below]) * position.fract()
        };
        Ok((quantile((1.0 - level) / 2.0), quantile(f64::midpoint(1.0, level))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_intervals_cover_and_do_not_depend_on_threads() {
        let x: Vec<f64> = (0..50).map(f64::from).collect();
        let mean = |rows: &[usize]| rows.iter().map(|&i| x[i]).sum::<f64>() / rows.len() as f64;
        let draw = || Bootstrap::draw(x.len(), 2000, Seed::new(3), mean).unwrap();
        let found = draw();
        assert_eq!(found.observed, 24.5);
        // The mean's standard error with divisor n: sqrt((50² - 1) / 12 / 50) = 2.041.
        assert!((found.standard_error() - 2.041).abs() < 0.1);
        let (low, high) = found.interval(0.9).unwrap();
        assert!((low - (24.5 - 1.645 * 2.041)).abs() < 0.3 && (high - (24.5 + 1.645 * 2.041)).abs() < 0.3);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(pool.install(draw), found);
    }

    #[test]
    fn bad_resamples_are_refused() {
        let draw = |n, n_resamples, value| Bootstrap::draw(n, n_resamples, Seed::new(0), |_| value);
        assert!(draw(0, 3, 1.0).is_err() && draw(2, 0, 1.0).is_err());
        assert!(draw(2, 3, f64::NAN).is_err());
        let one = draw(2, 1, 1.5).unwrap();
        assert!(one.interval(1.0).is_err() && one.standard_error().is_nan());
        assert_eq!(one.interval(0.5).unwrap(), (1.5, 1.5));
        let none = Bootstrap {
            resampled: vec![],
            ..one
        };
        assert!(matches!(
            none.interval(0.5),
            Err(StatsError::TooFew(TooFew { given: 0, .. }))
        ));
    }
}

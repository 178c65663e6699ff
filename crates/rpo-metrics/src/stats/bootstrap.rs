//! Bootstrap intervals.

use super::{StatsError, check_count, check_finite, check_probability};
use rand::Rng;
use rayon::prelude::*;
use rpo_core::Seed;

/// A statistic on the data and on resamples of its rows (Efron 1979).
///
/// For the difference of two methods on the same rows resample their [`differences`](super::differences). For
/// a metric of a whole matrix, say a macro F1, resample its rows with [`Bootstrap::draw`].
#[derive(Debug, Clone, PartialEq)]
pub struct Bootstrap {
    observed: f64,
    resampled: Vec<f64>,
}

impl Bootstrap {
    /// The mean of `x` and of `x[rows]` for each given list of rows.
    ///
    /// # Errors
    /// No value, no resample, an empty resample, a row out of range, values that are not finite.
    pub fn mean_of<R: AsRef<[usize]>>(x: &[f64], resamples: &[R]) -> Result<Self, StatsError> {
        check_count("values", x.len(), 1)?;
        check_count("resamples", resamples.len(), 1)?;
        check_finite(x)?;
        for (resample, rows) in resamples.iter().map(AsRef::as_ref).enumerate() {
            check_count("rows of a resample", rows.len(), 1)?;
            if let Some(&row) = rows.iter().find(|row| **row >= x.len()) {
                return Err(StatsError::ResampleRow {
                    resample,
                    row,
                    n_rows: x.len(),
                });
            }
        }
        let mean = |rows: &[usize]| rows.iter().map(|&i| x[i]).sum::<f64>() / rows.len() as f64;
        Ok(Self {
            observed: x.iter().sum::<f64>() / x.len() as f64,
            resampled: resamples.iter().map(|rows| mean(rows.as_ref())).collect(),
        })
    }

    /// `statistic(rows)` for all of `n_rows` rows in order and for `n_resamples` resamples of as many rows, drawn
    /// with return. Resample b draws from stream b of `seed`: the same for any number of threads.
    ///
    /// # Errors
    /// No row, no resample, a statistic that is not finite (its index: the resample, from 0).
    pub fn draw(
        n_rows: usize,
        n_resamples: usize,
        seed: Seed,
        statistic: impl Fn(&[usize]) -> f64 + Sync,
    ) -> Result<Self, StatsError> {
        check_count("rows", n_rows, 1)?;
        check_count("resamples", n_resamples, 1)?;
        let all: Vec<usize> = (0..n_rows).collect();
        let observed = statistic(&all);
        check_finite(&[observed])?;
        let seed = seed.purpose("bootstrap interval");
        let resampled: Vec<f64> = (0..n_resamples)
            .into_par_iter()
            .map(|b| {
                let mut rng = seed.child(b as u64).rng();
                let rows: Vec<usize> = (0..n_rows)
                    .map(|_| rng.gen_range(0..n_rows as u64) as usize)
                    .collect();
                statistic(&rows)
            })
            .collect();
        check_finite(&resampled)?;
        Ok(Self { observed, resampled })
    }

    /// The statistic on the data.
    pub fn observed(&self) -> f64 {
        self.observed
    }

    /// The statistic on each resample.
    pub fn resampled(&self) -> &[f64] {
        &self.resampled
    }

    /// The percentile interval: the resamples' quantiles at (1 - level) / 2 and (1 + level) / 2, interpolated
    /// linearly between order statistics at position (B - 1) p.
    ///
    /// # Errors
    /// A level outside (0, 1).
    pub fn interval(&self, level: f64) -> Result<(f64, f64), StatsError> {
        check_probability("the confidence level", level)?;
        let mut sorted = self.resampled.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let quantile = |p: f64| {
            let position = (sorted.len() - 1) as f64 * p;
            let (below, above) = (position.floor() as usize, position.ceil() as usize);
            sorted[below] + (sorted[above] - sorted[below]) * position.fract()
        };
        Ok((quantile((1.0 - level) / 2.0), quantile(f64::midpoint(1.0, level))))
    }

    /// The standard deviation of the resampled statistic, divisor B - 1; NaN for a single resample.
    pub fn standard_error(&self) -> f64 {
        let n = self.resampled.len() as f64;
        let mean = self.resampled.iter().sum::<f64>() / n;
        let squares: f64 = self.resampled.iter().map(|v| (v - mean).powi(2)).sum();
        (squares / (n - 1.0)).sqrt()
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
        assert_eq!(found.observed(), 24.5);
        // The mean's standard error with divisor n: sqrt((50² - 1) / 12 / 50) = 2.041.
        assert!((found.standard_error() - 2.041).abs() < 0.1);
        let (low, high) = found.interval(0.9).unwrap();
        assert!((low - (24.5 - 1.645 * 2.041)).abs() < 0.3 && (high - (24.5 + 1.645 * 2.041)).abs() < 0.3);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(pool.install(draw), found);
    }

    #[test]
    fn bad_resamples_are_refused() {
        let expected = StatsError::ResampleRow {
            resample: 1,
            row: 2,
            n_rows: 2,
        };
        assert_eq!(Bootstrap::mean_of(&[1.0, 2.0], &[[0, 1], [0, 2]]), Err(expected));
        let none: [[usize; 1]; 0] = [];
        assert!(Bootstrap::mean_of(&[1.0], &none).is_err());
        assert!(Bootstrap::mean_of(&[1.0], &[[]]).is_err());
        assert!(Bootstrap::draw(2, 3, Seed::new(0), |_| f64::NAN).is_err());
        let one = Bootstrap::mean_of(&[1.0, 2.0], &[[0, 1]]).unwrap();
        assert!(one.interval(1.0).is_err() && one.standard_error().is_nan());
        assert_eq!(one.interval(0.5).unwrap(), (1.5, 1.5));
    }
}

//! Finds the penalty of ridge regression by leaving samples out.

use rayon::prelude::*;
use rpo_core::{Matrix, MatrixView};
use rpo_projections::Penalty;
use rpo_projections::least_squares::{LANES, Lanes, RidgeSolver, Rows, identity_panel};

use super::panels::PanelOutputs;
use super::ridge::{equations, roots, usable_leverages};
use crate::options::Limits;
use crate::{LinearError, RegressionOptions};

/// The values that are tried.
const ALPHAS: [f64; 17] = [
    3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0,
];
/// The position of the one that is tried first, and taken where none can be found: within a few percent of the best
/// Hamming loss on held-out training samples, on data sets of 6 to 983 labels, dense and sparse.
const USUAL: usize = 8;
/// A step must lower the error by this part, so that errors that are nearly equal leave the value as it is.
const LEAST_GAIN: f64 = 0.003;
/// Largest number of samples that are fitted: a penalty in units of the variance suits any number.
const MOST_FITTED: usize = 5000;
/// Largest number of samples that are left out in turn.
const MOST_LEFT_OUT: usize = 1000;

/// Finds α of [`Penalty::Variance`] with the smallest squared error of samples that are left out one at a time,
/// relative to the variance of each output, in the mean over the outputs.
///
/// From 0.3, the search moves in the direction in which the error falls, as long as it does. It fits at most 5000
/// samples and leaves out at most 1000 of them, evenly spaced. 0.3 is returned without a search for 2000 features and
/// more, whose normal equations are not factored, for samples of groups, and for outputs that do not vary.
pub(super) fn found_alpha(
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    options: RegressionOptions<'_>,
) -> Result<f64, LinearError> {
    let usual = ALPHAS[USUAL];
    if x.n_cols() >= RidgeSolver::DIRECT_COLUMNS || options.is_grouped {
        return Ok(usual);
    }
    let samples = Samples::new(x, y, options);
    // A larger penalty leaves a sample less influence.
    let error = samples.error(usual)?.unwrap_or(f64::INFINITY);
    let larger = samples.best_of(&mut ALPHAS[USUAL + 1..].iter(), (usual, error))?;
    if larger != usual {
        return Ok(larger);
    }
    samples.best_of(&mut ALPHAS[..USUAL].iter().rev(), (usual, error))
}

/// The samples of a search.
struct Samples<'a> {
    x: Matrix,
    y: Matrix,
    weights: Option<Vec<f32>>,
    /// The square roots of the weights.
    roots: Option<Vec<f64>>,
    /// The rows that are left out in turn.
    left_out: Vec<usize>,
    limits: Limits<'a>,
}

impl<'a> Samples<'a> {
    fn new(x: MatrixView<'_>, y: MatrixView<'_>, options: RegressionOptions<'a>) -> Self {
        let counts = |row: &usize| options.weights.is_none_or(|weights| weights[*row] > 0.0);
        let counting: Vec<usize> = (0..x.n_rows()).filter(counts).collect();
        let fitted = evenly_spaced(&counting, MOST_FITTED);
        let of_fitted = |weights: &[f32]| fitted.iter().map(|&row| weights[row]).collect::<Vec<f32>>();
        let weights = options.weights.map(of_fitted);
        Self {
            x: x.select_rows(&fitted),
            y: y.select_rows(&fitted),
            roots: weights.as_deref().map(roots),
            weights,
            left_out: evenly_spaced(&(0..fitted.len()).collect::<Vec<_>>(), MOST_LEFT_OUT),
            limits: Limits::new(options.memory_limit, options.observers),
        }
    }

    /// Returns the last value before the error no longer falls, from a value and its error on.
    fn best_of(
        &self,
        others: &mut dyn Iterator<Item = &f64>,
        (mut best, mut least): (f64, f64),
    ) -> Result<f64, LinearError> {
        for &alpha in others {
            match self.error(alpha)? {
                Some(error) if error < least * (1.0 - LEAST_GAIN) => (best, least) = (alpha, error),
                _ => break,
            }
        }
        Ok(best)
    }

    /// Returns the error of samples that are left out; `None` if it is not known, as a sample determines its prediction
    /// alone or no output varies.
    fn error(&self, alpha: f64) -> Result<Option<f64>, LinearError> {
        let (x, y) = (self.x.view(), self.y.view());
        let (weights, factors) = (self.weights.as_deref(), self.roots.as_deref());
        let ridge = equations(&x, Penalty::Variance(alpha), weights, factors)?;
        let Some(leverages) = usable_leverages(&ridge, &self.left_out)? else {
            return Ok(None);
        };
        let panels: Vec<Result<Vec<f64>, LinearError>> = (0..y.n_cols().div_ceil(LANES))
            .into_par_iter()
            .map(|panel| {
                self.limits.check_stop()?;
                let first = panel * LANES;
                let weights = ridge.solve_panel(&PanelOutputs { y, first, factors }, &identity_panel())?;
                Ok(self.relative_errors(first, &weights, &leverages))
            })
            .collect();
        let errors = panels.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
        Ok((!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64))
    }

    /// The errors of the outputs from `first` on that vary, for their weights, the last row of which are intercepts.
    fn relative_errors(&self, first: usize, weights: &[Lanes], leverages: &[f64]) -> Vec<f64> {
        let outputs = PanelOutputs {
            y: self.y.view(),
            first,
            factors: None,
        };
        let (Some(intercepts), x) = (weights.last(), self.x.view()) else {
            return Vec::new();
        };
        let truth = |row: usize| {
            let mut truth = [0.0; LANES];
            outputs.for_each_stored(row, |lane, v| truth[lane] = v);
            truth
        };
        let weight = |row: usize| {
            self.weights
                .as_ref()
                .map_or(1.0, |weights| f64::from(weights[row]))
        };
        let (mut total, mut means) = (0.0, [0.0; LANES]);
        for &row in &self.left_out {
            total += weight(row);
            means
                .iter_mut()
                .zip(truth(row))
                .for_each(|(mean, y)| *mean += weight(row) * y);
        }
        means.iter_mut().for_each(|mean| *mean /= total);
        let (mut errors, mut variances) = ([0.0; LANES], [0.0; LANES]);
        for (&row, h) in self.left_out.iter().zip(leverages) {
            let (truth, mut scores) = (truth(row), *intercepts);
            x.for_each_in_row(row, |j, v| {
                let lanes = scores.iter_mut().zip(&weights[j as usize]);
                lanes.for_each(|(score, w)| *score += f64::from(v) * w);
            });
            for lane in 0..LANES {
                errors[lane] += weight(row) * ((truth[lane] - scores[lane]) / (1.0 - h)).powi(2);
                variances[lane] += weight(row) * (truth[lane] - means[lane]).powi(2);
            }
        }
        let varying = errors
            .iter()
            .zip(variances)
            .filter(|(_, variance)| *variance > 0.0);
        varying.map(|(error, variance)| error / variance).collect()
    }
}

/// Returns at most `most` of some rows, evenly spaced.
fn evenly_spaced(rows: &[usize], most: usize) -> Vec<usize> {
    let n = rows.len().min(most);
    (0..n).map(|i| rows[i * rows.len() / n]).collect()
}

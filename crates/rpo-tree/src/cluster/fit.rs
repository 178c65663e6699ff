//! Clustering a matrix.

use super::KMeansParams;
use super::points::{Points, check};
use super::workspace::Workspace;
use crate::error::TreeError;
use ndarray::{Array2, ArrayView2};
use rand::seq::index;
use rpo_core::{MatrixView, Mismatch, ParameterError, Seed, WeightError};

/// Clusters of the rows of a matrix.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Clustering {
    /// The cluster of each sample, from 0. If fitted on all samples, the centres are the means of these clusters; if
    /// fitted on a random sample, these are the nearest centres.
    pub labels: Vec<u32>,
    /// The centres (clusters x columns), in the scale of the samples: means, or unit vectors if spherical.
    pub centres: Array2<f64>,
    /// The objective at each assignment of the fitted samples: the weighted sum of squared distances to the centres, or
    /// of cosines with them.
    pub history: Vec<f64>,
    /// Number of updates of the centres.
    pub n_updates: usize,
    /// True if the fit ended because no assignment changed, false if it reached the largest number of passes.
    pub is_stable: bool,
}

/// Options of [`KMeansParams::fit`]. Default: none.
#[derive(Debug, Clone, Copy, Default)]
pub struct KMeansOptions<'a> {
    /// Factors of the columns. A weight v_j in the distance, Σ_j v_j (x_j - μ_j)², corresponds to the scale √v_j.
    pub scales: Option<&'a [f32]>,
    /// Weights of the samples.
    pub weights: Option<&'a [f32]>,
    /// Initial centres (clusters x columns, in the scale of the scaled samples), at most k: implies one start on all
    /// samples, regardless of the parameters.
    pub centres: Option<ArrayView2<'a, f64>>,
}

impl KMeansParams {
    /// Clusters the rows of `x` (n x p, dense or CSR, finite).
    ///
    /// # Errors
    /// [`TreeError::Parameter`] for parameters out of range, and for scales and centres that are not finite;
    /// [`TreeError::Empty`], [`TreeError::NotCsr`] or [`TreeError::NonFinite`] for a matrix that cannot be clustered;
    /// [`TreeError::Mismatch`] or [`TreeError::Weight`] for options that do not fit the matrix.
    pub fn fit(
        &self,
        x: MatrixView<'_>,
        options: &KMeansOptions<'_>,
        seed: Seed,
    ) -> Result<Clustering, TreeError> {
        self.check()?;
        let KMeansOptions {
            scales,
            weights,
            centres,
        } = *options;
        check(x, scales, weights)?;
        let mut work = Workspace::default();
        if let Some(centres) = centres {
            self.check_centres(x, centres)?;
            let points = Points::from_matrix(x, 0..x.n_rows(), scales, weights);
            self.take_centres(&points, centres, &mut work);
            self.iterate(&points, &mut work);
            self.settle(&points, &mut work);
            return Ok(clustering(&points, work));
        }
        let Some(sample) = self.sample.filter(|&sample| sample < x.n_rows()) else {
            let points = Points::from_matrix(x, 0..x.n_rows(), scales, weights);
            self.run(&points, seed, &mut work);
            self.settle(&points, &mut work);
            return Ok(clustering(&points, work));
        };
        let mut rng = seed.purpose("sample").rng();
        let mut rows = index::sample(&mut rng, x.n_rows(), sample).into_vec();
        rows.sort_unstable();
        let points = Points::from_matrix(x, rows, scales, weights);
        self.run(&points, seed, &mut work);
        self.settle(&points, &mut work);
        if work.n_clusters() == 0 {
            // Only rows without weight were drawn.
            return Err(WeightError::AllZero.into());
        }
        let labels = self.labels_of_all(x, scales, &points, &work);
        Ok(Clustering {
            labels,
            ..clustering(&points, work)
        })
    }

    fn check_centres(&self, x: MatrixView<'_>, centres: ArrayView2<'_, f64>) -> Result<(), TreeError> {
        Mismatch::check("columns of the given centres", x.n_cols(), centres.ncols())?;
        if !(1..=self.clusters).contains(&centres.nrows()) {
            Mismatch::check("given centres", self.clusters, centres.nrows())?;
        }
        match centres.iter().find(|v| !v.is_finite()) {
            Some(bad) => Err(ParameterError::out_of_range("centres", bad, "finite").into()),
            None => Ok(()),
        }
    }

    /// Returns the nearest centre of every row of the matrix, sampled or not.
    fn labels_of_all(
        &self,
        x: MatrixView<'_>,
        scales: Option<&[f32]>,
        points: &Points,
        work: &Workspace,
    ) -> Vec<u32> {
        let run = &work.run;
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let mut products = Vec::new();
        (0..x.n_rows())
            .map(|row| {
                columns.clear();
                values.clear();
                x.for_each_in_row(row, |j, v| {
                    if let Some(number) = points.number(j as usize) {
                        columns.push(number as u32);
                        values.push(v * scales.map_or(1.0, |s| s[j as usize]));
                    }
                });
                let square = values.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
                run.nearest(&columns, &values, self.geometry.size(square), &mut products)
                    .0 as u32
            })
            .collect()
    }
}

fn clustering(points: &Points, work: Workspace) -> Clustering {
    let run = work.run;
    let mut centres = Array2::zeros((run.n_clusters, points.n_columns()));
    for (number, &column) in points.names().iter().enumerate() {
        for c in 0..run.n_clusters {
            centres[[c, column as usize]] = run.centres[number * run.width + c];
        }
    }
    Clustering {
        labels: run.labels,
        centres,
        history: run.history,
        n_updates: run.n_updates,
        is_stable: run.is_stable,
    }
}

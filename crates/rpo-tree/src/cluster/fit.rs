//! Clustering a matrix.

use super::points::check;
use super::{KMeans, Points, Workspace};
use crate::error::{TreeError, check_length};
use ndarray::{Array2, ArrayView2};
use rand::seq::index;
use rpo_core::{MatrixView, ParameterError, Seed};

/// Clusters of the rows of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Clustering {
    labels: Vec<u32>,
    centres: Array2<f64>,
    history: Vec<f64>,
    n_updates: usize,
    is_stable: bool,
}

impl Clustering {
    /// The cluster of each row, from 0. After learning on all rows they are those whose means the centres are,
    /// after learning on a sample the nearest centres.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Number of clusters.
    pub fn n_clusters(&self) -> usize {
        self.centres.nrows()
    }

    /// The centres (clusters x columns), in the scale of the rows: means, or unit vectors if spherical.
    pub fn centres(&self) -> ArrayView2<'_, f64> {
        self.centres.view()
    }

    /// The objective at each assignment of the rows learnt from: the weighted sum of squared distances to the
    /// centres, or of cosines with them.
    pub fn history(&self) -> &[f64] {
        &self.history
    }

    /// How often the centres moved.
    pub fn n_updates(&self) -> usize {
        self.n_updates
    }

    /// Whether it ended because no assignment changed, and not for the number of passes.
    pub fn is_stable(&self) -> bool {
        self.is_stable
    }
}

impl KMeans {
    /// Clusters the rows of `x` (n x p, dense or CSR, finite).
    ///
    /// # Errors
    /// [`TreeError::Empty`], [`TreeError::NotCsr`] or [`TreeError::NonFinite`].
    pub fn fit(&self, x: MatrixView<'_>, seed: Seed) -> Result<Clustering, TreeError> {
        self.fit_weighted(x, None, None, seed)
    }

    /// Clusters the rows of `x` with column j multiplied by `scales[j]`, row i counting `weights[i]` times.
    ///
    /// A weight v_j in the distance, Σ_j v_j (x_j - μ_j)², is the scale √v_j.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and [`TreeError::Mismatch`], [`TreeError::Parameter`], [`TreeError::Weight`] or
    /// [`TreeError::NoWeight`] for scales and weights that do not fit.
    pub fn fit_weighted(
        &self,
        x: MatrixView<'_>,
        scales: Option<&[f32]>,
        weights: Option<&[f32]>,
        seed: Seed,
    ) -> Result<Clustering, TreeError> {
        let mut work = Workspace::default();
        match self.params().sample.filter(|&sample| sample < x.n_rows()) {
            None => {
                let points = Points::from_matrix(x, scales, weights)?;
                self.run(&points, seed, &mut work);
                Ok(clustering(&points, work))
            }
            Some(sample) => {
                check(x, scales, weights)?;
                let mut rng = seed.purpose("sample").rng();
                let mut rows = index::sample(&mut rng, x.n_rows(), sample).into_vec();
                rows.sort_unstable();
                let mut points = Points::new(x.n_cols());
                for row in rows {
                    points.push_row(x, row, scales, weights.map_or(1.0, |w| w[row]));
                }
                self.run(&points, seed, &mut work);
                if work.n_clusters() == 0 {
                    // Only rows without weight were drawn.
                    return Err(TreeError::NoWeight);
                }
                let labels = self.labels_of_all(x, scales, &points, &work);
                Ok(Clustering {
                    labels,
                    ..clustering(&points, work)
                })
            }
        }
    }

    /// Clusters the rows of `x` starting from given centres (clusters x columns): one start, all rows, whatever
    /// the parameters say. Scales and weights as in [`fit_weighted`](Self::fit_weighted); the centres are in the
    /// scale of the scaled rows.
    ///
    /// # Errors
    /// As [`fit_weighted`](Self::fit_weighted), and for centres that do not have as many columns, are none, more than
    /// k, or not finite.
    pub fn fit_from(
        &self,
        x: MatrixView<'_>,
        scales: Option<&[f32]>,
        weights: Option<&[f32]>,
        centres: ArrayView2<'_, f64>,
    ) -> Result<Clustering, TreeError> {
        let points = Points::from_matrix(x, scales, weights)?;
        check_length("columns of the given centres", x.n_cols(), centres.ncols())?;
        let k = self.params().n_clusters;
        if !(1..=k).contains(&centres.nrows()) {
            check_length("given centres", k, centres.nrows())?;
        }
        if let Some(bad) = centres.iter().find(|v| !v.is_finite()) {
            return Err(ParameterError::out_of_range("value of a given centre", bad, "finite").into());
        }
        let mut work = Workspace::default();
        self.take_centres(&points, centres, &mut work);
        self.iterate(&points, &mut work);
        Ok(clustering(&points, work))
    }

    /// The nearest centre of every row of the matrix, sampled or not.
    fn labels_of_all(
        &self,
        x: MatrixView<'_>,
        scales: Option<&[f32]>,
        points: &Points,
        work: &Workspace,
    ) -> Vec<u32> {
        let run = &work.run;
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        let mut products = vec![0.0; run.width];
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
                run.nearest(
                    &columns,
                    &values,
                    self.params().geometry.size(square),
                    &mut products,
                )
                .0 as u32
            })
            .collect()
    }
}

fn clustering(points: &Points, work: Workspace) -> Clustering {
    let run = work.run;
    let mut centres = Array2::zeros((run.n_clusters, points.n_columns()));
    for (number, &column) in points.names.iter().enumerate() {
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

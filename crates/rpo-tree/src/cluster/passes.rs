//! Passes: assignment and new centres, in turn.

use super::images::squares;
use super::points::Points;
use super::workspace::{Run, TIE, Workspace};
use super::{Geometry, KMeansParams, length};
use ndarray::ArrayView2;
use rpo_core::Seed;

impl KMeansParams {
    /// Clusters points from random starts; the result is in the workspace and depends on nothing that was there
    /// before. Rows without weight are assigned but do not move centres; if no row has weight there are no clusters.
    pub(crate) fn run(&self, points: &Points, seed: Seed, work: &mut Workspace) {
        for start in 0..self.starts {
            self.seed_centres(points, seed.child(start as u64), work);
            self.iterate(points, work);
            if self.starts > 1 && (start == 0 || self.improves(&work.run, &work.best)) {
                std::mem::swap(&mut work.run, &mut work.best);
            }
        }
        if self.starts > 1 {
            std::mem::swap(&mut work.run, &mut work.best);
        }
    }

    fn improves(&self, new: &Run, old: &Run) -> bool {
        match (self.geometry, new.history.last(), old.history.last()) {
            (Geometry::Euclidean, Some(new), Some(old)) => *new < old * (1.0 - TIE),
            (Geometry::Spherical, Some(new), Some(old)) => *new > old * (1.0 + TIE),
            _ => false,
        }
    }

    /// Takes given centres (clusters x columns), scaled to unit length if spherical.
    pub(super) fn take_centres(&self, points: &Points, centres: ArrayView2<'_, f64>, work: &mut Workspace) {
        let run = &mut work.run;
        run.clear(points, centres.nrows());
        for (c, centre) in centres.rows().into_iter().enumerate() {
            let square: f64 = centre.iter().map(|v| v * v).sum();
            let scale = match self.geometry {
                Geometry::Euclidean => {
                    run.offsets[c] = -square / 2.0;
                    1.0
                }
                Geometry::Spherical => length(square),
            };
            for (j, &value) in centre.iter().enumerate() {
                if let Some(number) = points.number(j) {
                    run.centres[number * run.width + c] = value / scale;
                }
            }
        }
    }

    /// Makes passes from the centres at hand until no assignment changes, or enough were made.
    pub(super) fn iterate(&self, points: &Points, work: &mut Workspace) {
        for _ in 0..self.passes {
            if !self.assign(points, work) {
                work.run.is_stable = true;
                return;
            }
            drop_empty(&mut work.run);
            self.move_centres(points, work);
        }
    }

    /// Takes every row to its nearest centre and notes the objective; returns whether anything changed.
    fn assign(&self, points: &Points, work: &mut Workspace) -> bool {
        let geometry = self.geometry;
        let Workspace { run, products, .. } = work;
        products.resize(run.width, 0.0);
        let mut labels = std::mem::take(&mut run.labels);
        let (mut changed, mut objective) = (false, 0.0);
        for (row, label) in labels.iter_mut().enumerate() {
            let (columns, values) = points.row(row);
            let (c, product) = run.nearest(columns, values, geometry.size(points.squares[row]), products);
            changed |= *label != c as u32;
            *label = c as u32;
            let (weight, square) = (points.weights[row], points.squares[row]);
            objective += weight
                * match geometry {
                    // Rounding can leave less than nothing of a distance.
                    Geometry::Euclidean => (square - 2.0 * product).max(0.0),
                    Geometry::Spherical => product / length(square),
                };
        }
        run.labels = labels;
        run.history.push(objective);
        changed
    }

    /// Moves each centre to the mean of its rows.
    fn move_centres(&self, points: &Points, work: &mut Workspace) {
        let Workspace { run, sums, .. } = work;
        let width = run.width;
        sums.clear();
        sums.resize(run.centres.len(), 0.0);
        let mut weights = vec![0.0; width];
        for (row, &label) in run.labels.iter().enumerate() {
            let share = points.weights[row]
                / match self.geometry {
                    Geometry::Euclidean => 1.0,
                    Geometry::Spherical => length(points.squares[row]),
                };
            weights[label as usize] += points.weights[row];
            let (columns, values) = points.row(row);
            for (&column, &value) in columns.iter().zip(values) {
                sums[column as usize * width + label as usize] += share * f64::from(value);
            }
        }
        let squares = match &points.images {
            Some(images) => images.through_and_back(sums, width),
            None => squares(sums, width),
        };
        let mut scales = vec![0.0; width];
        for c in (0..run.n_clusters).filter(|&c| weights[c] > 0.0) {
            let scale = match self.geometry {
                Geometry::Euclidean => weights[c],
                Geometry::Spherical => length(squares[c]),
            };
            scales[c] = scale;
            if self.geometry == Geometry::Euclidean {
                run.offsets[c] = -squares[c] / (scale * scale) / 2.0;
            }
        }
        for (centre, sum) in run.centres.chunks_exact_mut(width).zip(sums.chunks_exact(width)) {
            for c in 0..width {
                // A cluster whose rows weigh nothing keeps its centre.
                centre[c] = if weights[c] > 0.0 {
                    sum[c] / scales[c]
                } else {
                    centre[c]
                };
            }
        }
        run.n_updates += 1;
    }
}

/// Removes clusters without rows; those behind them move up.
fn drop_empty(run: &mut Run) {
    let mut has_rows = vec![false; run.n_clusters];
    run.labels.iter().for_each(|&c| has_rows[c as usize] = true);
    if has_rows.iter().all(|&h| h) {
        return;
    }
    let kept: Vec<usize> = (0..run.n_clusters).filter(|&c| has_rows[c]).collect();
    let mut names = vec![0; run.n_clusters];
    for (name, &c) in kept.iter().enumerate() {
        names[c] = name as u32;
        run.offsets[name] = run.offsets[c];
    }
    for centre in run.centres.chunks_exact_mut(run.width) {
        for (name, &c) in kept.iter().enumerate() {
            centre[name] = centre[c];
        }
        centre[kept.len()..].fill(0.0);
    }
    run.labels.iter_mut().for_each(|c| *c = names[*c as usize]);
    run.n_clusters = kept.len();
}

//! Passes: alternating assignment and update of centres.

use super::images::{by_fours, squares};
use super::points::Points;
use super::workspace::{Run, TIE, Workspace};
use super::{Geometry, KMeansParams, length};
use ndarray::ArrayView2;
use rpo_core::{Seed, vectorized};

impl KMeansParams {
    /// Clusters points from random starts. The assignment is stored in the workspace and does not depend on its
    /// previous content. Centres are those of the pass before the last until they [settle](Self::settle). Rows without
    /// weight are assigned but do not move centres; if no row has weight there are no clusters.
    pub(crate) fn run(&self, points: &Points, seed: Seed, work: &mut Workspace) {
        work.seeding.begin(points);
        for start in 0..self.starts {
            self.seed_centres(points, seed.child(start as u64), work);
            self.pass_on(points, work);
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

    /// Sets the given centres (clusters x columns), scaled to unit length if spherical.
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

    /// Makes passes from the current centres until no assignment changes, or the largest number of passes is reached.
    /// The centres of the last pass still have to [settle](Self::settle).
    pub(super) fn iterate(&self, points: &Points, work: &mut Workspace) {
        self.assign(points, work);
        self.pass_on(points, work);
    }

    /// Like [`iterate`](Self::iterate), but after the first assignment.
    fn pass_on(&self, points: &Points, work: &mut Workspace) {
        if work.run.n_clusters == 0 {
            work.run.is_stable = true;
            return;
        }
        drop_empty(&mut work.run);
        for _ in 1..self.passes {
            self.move_centres(points, work);
            if !self.assign(points, work) {
                work.run.is_stable = true;
                return;
            }
            drop_empty(&mut work.run);
        }
    }

    /// Moves the centres after the last pass, which changed assignments.
    pub(super) fn settle(&self, points: &Points, work: &mut Workspace) {
        if !work.run.is_stable {
            self.move_centres(points, work);
        }
    }

    /// Assigns every row to its nearest centre and records the objective; returns true if any assignment changed.
    fn assign(&self, points: &Points, work: &mut Workspace) -> bool {
        let geometry = self.geometry;
        let Workspace { run, products, .. } = work;
        let mut labels = std::mem::take(&mut run.labels);
        let (mut changed, mut objective) = (false, 0.0);
        vectorized(
            #[inline(always)]
            || {
                for (row, label) in labels.iter_mut().enumerate() {
                    let (columns, values) = points.row(row);
                    let (c, product) = run.nearest(columns, values, points.size(row, geometry), products);
                    changed |= *label != c as u32;
                    *label = c as u32;
                    objective += points.weights[row]
                        * match geometry {
                            // Rounding can make a distance negative.
                            Geometry::Euclidean => (points.squares[row] - 2.0 * product).max(0.0),
                            Geometry::Spherical => product / points.lengths[row],
                        };
                }
            },
        );
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
                    Geometry::Spherical => points.lengths[row],
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
        let mut scales = vec![1.0; width];
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
        for c in (0..run.n_clusters).filter(|&c| weights[c] <= 0.0) {
            // A cluster whose rows have no weight keeps its centre.
            let places = (c..sums.len()).step_by(width);
            places.for_each(|place| sums[place] = run.centres[place]);
        }
        std::mem::swap(sums, &mut run.centres);
        vectorized(
            #[inline(always)]
            || {
                for centre in run.centres.chunks_exact_mut(width) {
                    by_fours(centre, &scales, |sum, scale| sum / scale);
                }
            },
        );
        run.n_updates += 1;
    }
}

/// Removes clusters without rows; later clusters move up.
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
    run.offsets[kept.len()..].fill(f64::NEG_INFINITY);
    run.labels.iter_mut().for_each(|c| *c = names[*c as usize]);
    run.n_clusters = kept.len();
}

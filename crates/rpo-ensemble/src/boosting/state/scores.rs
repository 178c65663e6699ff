//! The training state as scores n x d, for any loss.

use super::sums::{LeafSums, scale_columns};
use super::{Chunks, LeafIndex, Outputs, Pass, Real, rows_together, sum_of_losses};
use crate::boosting::choices::{LineSearch, StepScope};
use crate::boosting::loss::{Direction, Objective, StepRule};
use crate::boosting::resolved::Resolved;
use ndarray::Array2;
use rayon::prelude::*;
use rpo_core::vectorized;
use std::ops::Range;
use std::slice::ChunksExact;

/// Scores of every sample and output; everything else is computed when needed.
pub(crate) struct ScoreState<'a, T> {
    outputs: &'a Outputs<'a>,
    objective: &'a Objective,
    line_search: LineSearch,
    scope: StepScope,
    rules: Vec<StepRule>,
    /// Scores, row after row.
    scores: Vec<T>,
    /// Negative gradients and second derivatives at the current scores, row after row. If they are few enough, they are
    /// kept from the pass that projects them, for the sums over the leaves of the tree.
    derived: Option<(Vec<f64>, Vec<f64>)>,
    /// True if passes return the loss.
    with_loss: bool,
}

/// Largest number of cells of several outputs whose derivatives are kept.
const KEPT: usize = 1 << 17;

/// Number of cells that are computed together, as many as fit into the L1 cache.
const TILE: usize = 512;

/// Number of cells of a task.
const TASK: usize = 8 * TILE;

/// Consecutive samples, row after row: outputs, scores, cell weights, losses, residuals and second derivatives.
struct Tile<'a> {
    outputs: &'a Outputs<'a>,
    objective: &'a Objective,
    y: Vec<f64>,
    scores: Vec<f64>,
    /// Empty if no cell has a weight.
    cells: Vec<f64>,
    values: Vec<f64>,
    residual: Vec<f64>,
    curvature: Vec<f64>,
}

impl<'a> Tile<'a> {
    fn new(outputs: &'a Outputs<'a>, objective: &'a Objective) -> Self {
        Self {
            outputs,
            objective,
            y: Vec::new(),
            scores: Vec::new(),
            cells: Vec::new(),
            values: Vec::new(),
            residual: Vec::new(),
            curvature: Vec::new(),
        }
    }

    /// Number of samples in a tile of d outputs.
    fn n_rows(d: usize) -> usize {
        (TILE / d).max(1)
    }

    /// Copies the weights of the cells of some samples.
    fn load_cells(&mut self, rows: Range<usize>) {
        if !self.outputs.is_complete() {
            self.load_outputs(rows);
        }
    }

    /// Copies the outputs of some samples and the weights of their cells.
    fn load_outputs(&mut self, rows: Range<usize>) {
        let n_cells = rows.len() * self.outputs.n_outputs();
        self.y.resize(n_cells, 0.0);
        if !self.outputs.is_complete() {
            self.cells.resize(n_cells, 0.0);
        }
        self.outputs.copy_rows(rows, &mut self.y, &mut self.cells);
    }

    /// Copies some samples, given their scores.
    fn load<T: Real>(&mut self, rows: Range<usize>, scores: &[T]) {
        self.load_outputs(rows);
        self.scores.clear();
        self.scores.extend(scores.iter().map(|f| f.to_f64()));
    }

    /// Returns the losses of the cells of each sample.
    fn losses(&mut self) -> ChunksExact<'_, f64> {
        self.values.resize(self.y.len(), 0.0);
        self.objective
            .values(&self.y, &self.scores, &self.cells, &mut self.values);
        self.values.chunks_exact(self.outputs.n_outputs())
    }

    /// Computes negative gradients, and second derivatives if they are requested.
    fn derive(&mut self, with_curvature: bool) {
        let n_cells = self.y.len();
        self.residual.resize(n_cells, 0.0);
        self.curvature
            .resize(if with_curvature { n_cells } else { 0 }, 0.0);
        self.objective
            .gradients(&self.y, &self.scores, &mut self.residual, &mut self.curvature);
    }

    /// Multiplies the derivatives by the weights of the cells.
    fn weigh(&mut self) {
        for values in [&mut self.residual, &mut self.curvature] {
            values.iter_mut().zip(&self.cells).for_each(|(v, u)| *v *= u);
        }
    }
}

impl<'a, T: Real> ScoreState<'a, T> {
    /// Creates the state from the initial constants.
    pub(crate) fn new(
        params: &Resolved,
        objective: &'a Objective,
        outputs: &'a Outputs<'a>,
        initial: &[f64],
    ) -> Self {
        let row: Vec<T> = initial.iter().map(|&v| T::from_f64(v)).collect();
        Self {
            outputs,
            objective,
            line_search: params.line_search,
            scope: params.step_scope,
            rules: objective.rules(params.penalties),
            scores: row.repeat(outputs.n_rows()),
            derived: None,
            with_loss: params.with_loss,
        }
    }

    /// Returns true if steps can be computed from sums over leaves.
    fn steps_from_sums(&self) -> bool {
        self.line_search == LineSearch::Newton || self.objective.is_quadratic()
    }

    pub(super) fn run<Z: Real>(&mut self, pass: Pass<'_, Z>) -> f64 {
        let d = self.outputs.n_outputs();
        let (outputs, objective, with_loss) = (self.outputs, self.objective, self.with_loss);
        let n_rows = outputs.n_rows();
        let size = match rayon::current_num_threads() {
            1 => n_rows.max(1),
            _ => (TASK / d).max(1),
        };
        let next = Chunks::new(pass.next, n_rows, size);
        let projections = &next.projections;
        let added = pass
            .update
            .map(|(leaves, update)| (&leaves.of_row, update.by_leaf(leaves.n_leaves, d)));
        let keeps = !projections.is_empty() && d > 1 && n_rows * d <= KEPT;
        let zeros = || (vec![0.0; n_rows * d], vec![0.0; n_rows * d]);
        let mut derived = keeps.then(|| self.derived.take().unwrap_or_else(zeros));
        let mut kept: Vec<_> = derived
            .iter_mut()
            .flat_map(|(r, h)| r.chunks_mut(size * d).zip(h.chunks_mut(size * d)))
            .map(Some)
            .collect();
        kept.resize_with(n_rows.div_ceil(size), || None);
        let mut losses = vec![0.0; n_rows];
        let tasks = self
            .scores
            .par_chunks_mut(size * d)
            .zip(losses.par_chunks_mut(size));
        tasks.zip(next.parts).zip(kept).enumerate().for_each(
            |(task, (((scores, losses), mut parts), mut kept))| {
                let mut tile = Tile::new(outputs, objective);
                let tile_size = Tile::n_rows(d);
                let tiles = scores.chunks_mut(tile_size * d).zip(losses.chunks_mut(tile_size));
                for (i, (scores, losses)) in tiles.enumerate() {
                    let first = task * size + i * tile_size;
                    let rows = first..first + losses.len();
                    if let Some((leaf_of_row, added)) = &added {
                        add(scores, &leaf_of_row[rows.clone()], added);
                    }
                    if projections.is_empty() && !with_loss {
                        continue;
                    }
                    tile.load(rows.clone(), scores);
                    if with_loss {
                        let of_cells = tile.losses().zip(&outputs.weights[rows]);
                        for (loss, (of_cells, &weight)) in losses.iter_mut().zip(of_cells) {
                            *loss = f64::from(weight) * of_cells.iter().sum::<f64>();
                        }
                    }
                    if projections.is_empty() {
                        continue;
                    }
                    let is_second = projections.iter().any(|(_, squares)| squares.is_some());
                    tile.derive(is_second || kept.is_some());
                    if let Some((r, h)) = &mut kept {
                        window(r, i, tile_size * d).copy_from_slice(&tile.residual);
                        window(h, i, tile_size * d).copy_from_slice(&tile.curvature);
                    }
                    tile.weigh();
                    for ((phi, squares), (z, h)) in projections.iter().zip(&mut parts) {
                        let size = tile_size * phi.n_components();
                        phi.project_rows(&tile.residual, d, window(z, i, size));
                        if let Some(squares) = squares {
                            squares.project_rows(&tile.curvature, d, window(h, i, size));
                        }
                    }
                }
            },
        );
        self.derived = derived;
        sum_of_losses(&losses)
    }

    /// Sums over the leaves. With many outputs each leaf is summed separately, because the sums of all leaves do not
    /// fit into a cache.
    fn leaf_sums(&self, leaves: &LeafIndex) -> LeafSums {
        if Tile::n_rows(self.outputs.n_outputs()) == 1 {
            return self.sums_leaf_by_leaf(leaves);
        }
        let d = self.outputs.n_outputs();
        let together = rows_together(self.outputs.n_rows());
        let parts: Vec<LeafSums> = self
            .scores
            .par_chunks(together * d)
            .enumerate()
            .map(|(chunk, scores)| {
                let mut sums = LeafSums::zero(leaves.n_leaves, d);
                let mut tile = Tile::new(self.outputs, self.objective);
                let size = Tile::n_rows(d);
                for (i, scores) in scores.chunks(size * d).enumerate() {
                    let first = chunk * together + i * size;
                    let rows = first..first + scores.len() / d;
                    let derivatives = match &self.derived {
                        Some((r, h)) => {
                            tile.load_cells(rows.clone());
                            let cells = rows.start * d..rows.end * d;
                            (&r[cells.clone()], &h[cells])
                        }
                        None => {
                            tile.load(rows.clone(), scores);
                            tile.derive(true);
                            (&tile.residual[..], &tile.curvature[..])
                        }
                    };
                    let weights = self.outputs.weights[rows.clone()].iter().map(|&c| f64::from(c));
                    sums.take(&leaves.of_row[rows], weights, &tile.cells, derivatives);
                }
                sums
            })
            .collect();
        LeafSums::total(leaves.n_leaves, d, &parts)
    }

    /// Sums over each leaf separately, in the same parts of the samples as for few outputs.
    fn sums_leaf_by_leaf(&self, leaves: &LeafIndex) -> LeafSums {
        let (d, members) = (self.outputs.n_outputs(), leaves.members());
        let together = rows_together(self.outputs.n_rows()) as u32;
        let of_part = |rows: &[u32]| {
            let mut sums = LeafSums::zero(1, d);
            let mut tile = Tile::new(self.outputs, self.objective);
            for &row in rows {
                let row = row as usize;
                tile.load(row..row + 1, &self.scores[row * d..][..d]);
                tile.derive(true);
                let weight = std::iter::once(f64::from(self.outputs.weights[row]));
                sums.take(&[0], weight, &tile.cells, (&tile.residual, &tile.curvature));
            }
            sums
        };
        let of_leaf = |leaf: usize| {
            let parts = members[leaf].par_chunk_by(|a, b| a / together == b / together);
            LeafSums::total(1, d, &parts.map(of_part).collect::<Vec<_>>())
        };
        let of_leaves = (0..leaves.n_leaves).into_par_iter().with_max_len(1);
        LeafSums::of_leaves(&of_leaves.map(of_leaf).collect::<Vec<_>>())
    }

    pub(super) fn scalar_steps(&self, leaves: &LeafIndex, g: &[f64], units: &[f64]) -> Vec<f64> {
        if self.steps_from_sums() {
            let sums = self.leaf_sums(leaves);
            return sums.newton(&self.rules, |j| units[j], |leaf, _| g[leaf]);
        }
        self.search(leaves, |leaf, _| g[leaf])
    }

    pub(super) fn vector_steps(&self, leaves: &LeafIndex) -> Array2<f64> {
        if self.steps_from_sums() {
            return self.leaf_sums(leaves).newton_vectors(self.scope, &self.rules);
        }
        match self.scope {
            StepScope::Output => {
                let means = self.leaf_sums(leaves).means();
                let steps = self.search(leaves, |leaf, j| means[[leaf, j]]);
                scale_columns(means, &steps)
            }
            StepScope::Leaf => self.search_leaves(leaves),
        }
    }

    /// Copies the data of one output for a search: the samples of positive weight, in the given order.
    fn load(&self, output: usize, order: &[u32], column: &mut Column) {
        let (n, d) = (self.outputs.n_rows(), self.outputs.n_outputs());
        column.all_y.resize(n, 0.0);
        column.all_weights.resize(n, 0.0);
        self.outputs
            .copy_column(output, &mut column.all_y, &mut column.all_weights);
        column.clear();
        for &row in order {
            let i = row as usize;
            if column.all_weights[i] > 0.0 {
                column.rows.push(row);
                column.y.push(column.all_y[i]);
                column.weights.push(column.all_weights[i]);
                column.f.push(self.scores[i * d + output].to_f64());
            }
        }
    }

    /// Returns the exact step of each output along a tree.
    fn search(&self, leaves: &LeafIndex, g: impl Fn(usize, usize) -> f64 + Sync) -> Vec<f64> {
        let order: Vec<u32> = (0..self.outputs.n_rows() as u32).collect();
        (0..self.outputs.n_outputs())
            .into_par_iter()
            .map_init(Column::default, |column, j| {
                self.load(j, &order, column);
                let leaf = |row: &u32| leaves.of_row[*row as usize] as usize;
                column.g.extend(column.rows.iter().map(|row| g(leaf(row), j)));
                self.objective
                    .alone(j)
                    .step(&column.direction(0..column.rows.len()))
            })
            .collect()
    }

    /// Returns the exact step of each leaf and output (L x d), 0 where no sample has weight.
    fn search_leaves(&self, leaves: &LeafIndex) -> Array2<f64> {
        let members = leaves.members();
        let order: Vec<u32> = (0..leaves.n_leaves)
            .flat_map(|leaf| members[leaf].to_vec())
            .collect();
        let steps: Vec<Vec<f64>> = (0..self.outputs.n_outputs())
            .into_par_iter()
            .map_init(Column::default, |column, j| {
                self.load(j, &order, column);
                column.g.resize(column.rows.len(), 1.0);
                let loss = self.objective.alone(j);
                let mut start = 0;
                let step = |leaf: usize| {
                    let rows = &column.rows[start..];
                    let n = rows.partition_point(|&row| leaves.of_row[row as usize] as usize <= leaf);
                    let range = start..start + n;
                    start += n;
                    if n == 0 {
                        0.0
                    } else {
                        loss.step(&column.direction(range))
                    }
                };
                (0..leaves.n_leaves).map(step).collect()
            })
            .collect();
        Array2::from_shape_fn((leaves.n_leaves, steps.len()), |(leaf, j)| steps[j][leaf])
    }
}

/// Adds the leaf values of samples to their scores.
fn add<T: Real>(scores: &mut [T], leaves: &[u32], added: &Array2<f64>) {
    let (d, added) = (added.ncols(), added.as_slice().expect("made in row order"));
    vectorized(
        #[inline(always)]
        || match d {
            // A single output is a constant known to the compiler.
            1 => add_rows(scores, leaves, added, 1),
            _ => add_rows(scores, leaves, added, d),
        },
    );
}

#[inline(always)]
fn add_rows<T: Real>(scores: &mut [T], leaves: &[u32], added: &[f64], d: usize) {
    for (scores, &leaf) in scores.chunks_exact_mut(d).zip(leaves) {
        let added = &added[leaf as usize * d..][..d];
        for (f, v) in scores.iter_mut().zip(added) {
            *f = T::from_f64(f.to_f64() + v);
        }
    }
}

/// Returns the i-th window of the given size; the last may be shorter.
fn window<T>(values: &mut [T], i: usize, size: usize) -> &mut [T] {
    let rest = &mut values[i * size..];
    let n = rest.len().min(size);
    &mut rest[..n]
}

/// The data of one output for the samples of positive weight.
#[derive(Default)]
struct Column {
    all_y: Vec<f64>,
    all_weights: Vec<f64>,
    rows: Vec<u32>,
    y: Vec<f64>,
    f: Vec<f64>,
    g: Vec<f64>,
    weights: Vec<f64>,
}

impl Column {
    fn clear(&mut self) {
        self.rows.clear();
        for values in [&mut self.y, &mut self.f, &mut self.g, &mut self.weights] {
            values.clear();
        }
    }

    fn direction(&self, range: Range<usize>) -> Direction<'_> {
        Direction {
            targets: &self.y[range.clone()],
            scores: &self.f[range.clone()],
            tree: &self.g[range.clone()],
            weights: &self.weights[range],
        }
    }
}

//! The scores of the training set, n x d, for any loss.

use super::sums::{LeafSums, scale_columns};
use super::{Chunks, LeafIndex, Outputs, Pass, ROWS, Real, write};
use crate::boosting::choices::{LineSearch, StepScope};
use crate::boosting::loss::{Direction, Objective, StepRule};
use crate::boosting::resolved::Resolved;
use ndarray::Array2;
use rayon::prelude::*;

/// Scores of every sample and output; everything else is computed when it is needed.
pub(crate) struct ScoreState<'a, T> {
    outputs: &'a Outputs<'a>,
    objective: &'a Objective,
    line_search: LineSearch,
    scope: StepScope,
    rules: Vec<StepRule>,
    /// Row after row.
    scores: Vec<T>,
}

/// A row of outputs, scores, cell weights, residuals and second derivatives.
struct RowBuffer {
    y: Vec<f64>,
    scores: Vec<f64>,
    cells: Vec<f64>,
    residual: Vec<f64>,
    curvature: Vec<f64>,
}

impl RowBuffer {
    fn new(d: usize) -> Self {
        let zero = || vec![0.0; d];
        Self {
            y: zero(),
            scores: zero(),
            cells: zero(),
            residual: zero(),
            curvature: zero(),
        }
    }

    /// Copies a sample.
    fn load<T: Real>(&mut self, outputs: &Outputs<'_>, row: usize, scores: &[T]) {
        outputs.copy_row(row, &mut self.y, &mut self.cells);
        let pairs = self.scores.iter_mut().zip(scores);
        pairs.for_each(|(wide, f)| *wide = f.to_f64());
    }

    /// Computes negative gradients, and second derivatives if they are wanted.
    fn derive(&mut self, objective: &Objective, with_curvature: bool) {
        let curvature = if with_curvature {
            &mut self.curvature[..]
        } else {
            &mut []
        };
        objective.gradients(&self.y, &self.scores, &mut self.residual, curvature);
    }
}

impl<'a, T: Real> ScoreState<'a, T> {
    /// Starts from constants.
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
            rules: objective.rules(params.penalty),
            scores: row.repeat(outputs.n_rows()),
        }
    }

    /// Returns true if steps follow from sums over leaves.
    fn steps_from_sums(&self) -> bool {
        self.line_search == LineSearch::Newton || self.objective.is_quadratic()
    }

    pub(super) fn run<Z: Real>(&mut self, pass: Pass<'_, Z>) -> f64 {
        let d = self.outputs.n_outputs();
        let (outputs, objective) = (self.outputs, self.objective);
        let next = Chunks::new(pass.next, outputs.n_rows());
        let (phi, squares, q) = (next.phi, next.squares, next.n_components());
        let added = pass
            .update
            .map(|(leaves, update)| (leaves, update.by_leaf(leaves.n_leaves, d)));
        let chunks = self.scores.par_chunks_mut(ROWS * d).zip(next.parts).enumerate();
        let losses: Vec<f64> = chunks
            .map(|(chunk, (scores, (z, h)))| {
                let (mut buffer, mut projected, mut sum) = (RowBuffer::new(d), vec![0.0; q], 0.0);
                for (i, scores) in scores.chunks_exact_mut(d).enumerate() {
                    let row = chunk * ROWS + i;
                    if let Some((leaves, added)) = &added {
                        let added = added.row(leaves.of_row[row] as usize);
                        for (f, v) in scores.iter_mut().zip(added) {
                            *f = T::from_f64(f.to_f64() + v);
                        }
                    }
                    buffer.load(outputs, row, scores);
                    let row_loss = objective.value(&buffer.y, &buffer.scores, &buffer.cells);
                    sum += f64::from(outputs.weights[row]) * row_loss;
                    let Some(phi) = phi else { continue };
                    buffer.derive(objective, squares.is_some());
                    weigh(&mut buffer.residual, &buffer.cells);
                    phi.project(&buffer.residual, &mut projected);
                    write(&mut z[i * q..][..q], &projected);
                    if let Some(squares) = squares {
                        weigh(&mut buffer.curvature, &buffer.cells);
                        squares.project(&buffer.curvature, &mut projected);
                        write(&mut h[i * q..][..q], &projected);
                    }
                }
                sum
            })
            .collect();
        losses.iter().sum()
    }

    /// Sums over the leaves.
    fn leaf_sums(&self, leaves: &LeafIndex) -> LeafSums {
        let d = self.outputs.n_outputs();
        let parts: Vec<LeafSums> = self
            .scores
            .par_chunks(ROWS * d)
            .enumerate()
            .map(|(chunk, scores)| {
                let (mut sums, mut buffer) = (LeafSums::zero(leaves.n_leaves, d), RowBuffer::new(d));
                for (i, scores) in scores.chunks_exact(d).enumerate() {
                    let row = chunk * ROWS + i;
                    let (leaf, c) = (leaves.of_row[row] as usize, f64::from(self.outputs.weights[row]));
                    buffer.load(self.outputs, row, scores);
                    buffer.derive(self.objective, true);
                    for j in 0..d {
                        let (w, r) = (c * buffer.cells[j], buffer.residual[j]);
                        sums.residual[[leaf, j]] += w * r;
                        sums.weight[[leaf, j]] += w;
                        sums.curvature[[leaf, j]] += w * buffer.curvature[j];
                        sums.squares[j] += w * r * r;
                    }
                }
                sums
            })
            .collect();
        let mut sums = LeafSums::zero(leaves.n_leaves, d);
        parts.iter().for_each(|part| sums.add(part));
        sums
    }

    pub(super) fn scalar_steps(&self, leaves: &LeafIndex, g: &[f64]) -> Vec<f64> {
        if self.steps_from_sums() {
            return self.leaf_sums(leaves).newton(&self.rules, |leaf, _| g[leaf]);
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

    /// The exact step of each output along a tree.
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

    /// The exact step of each leaf and output (L x d), 0 where no sample has weight.
    fn search_leaves(&self, leaves: &LeafIndex) -> Array2<f64> {
        let members = leaves.members();
        let order: Vec<u32> = (0..leaves.n_leaves)
            .flat_map(|leaf| members.rows(leaf).to_vec())
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

/// Multiplies the numbers of a sample by the weights of its cells.
fn weigh(values: &mut [f64], cells: &[f64]) {
    values.iter_mut().zip(cells).for_each(|(v, u)| *v *= u);
}

/// One output of the samples of positive weight.
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

    fn direction(&self, range: std::ops::Range<usize>) -> Direction<'_> {
        Direction {
            targets: &self.y[range.clone()],
            scores: &self.f[range.clone()],
            tree: &self.g[range.clone()],
            weights: &self.weights[range],
        }
    }
}

//! What boosting knows of the training set between steps: the scores so far, in one of three forms.
//!
//! * [`Scores`]: the n x d scores themselves; any loss, weights per cell, missing outputs.
//! * [`Factored`]: the square loss on sparse outputs, as Y minus what the steps so far add up to, never n x d.
//! * [`Odds`]: the logistic loss on many cells, as odds exp(2f), which a step multiplies.
//!
//! All answer the same three questions: what is the projected residual, which step is best along a tree, and what
//! is the loss after it.

mod factored;
mod odds;
mod scores;
mod sums;

pub(super) use factored::Factored;
pub(super) use odds::Odds;
pub(super) use scores::Scores;

use super::coefficients::Coefficients;
use super::leaf_index::LeafIndex;
use ndarray::Array2;

/// Number of rows that are summed together before sums are joined in order. Fixed, so that results do not depend
/// on the number of threads.
const ROWS: usize = 2048;

/// A floating-point type that states and projected residuals are kept in.
pub(super) trait Real: Copy + Send + Sync + Default {
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
}

impl Real for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
}

impl Real for f32 {
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

/// What a step adds to the scores, before it is rounded for storage.
#[derive(Debug, Clone)]
pub(super) enum Move {
    /// leaves[l] · outputs[j].
    Product { leaves: Vec<f64>, outputs: Vec<f64> },
    /// L x d.
    Vectors(Array2<f64>),
}

impl Move {
    /// Copies what a leaf adds.
    fn copy_leaf(&self, leaf: usize, out: &mut [f64]) {
        match self {
            Self::Product { leaves, outputs } => {
                let g = leaves[leaf];
                out.iter_mut().zip(outputs).for_each(|(out, rho)| *out = g * rho);
            }
            Self::Vectors(values) => out
                .iter_mut()
                .zip(values.row(leaf))
                .for_each(|(out, &v)| *out = v),
        }
    }

    /// What every leaf adds (L x d).
    fn by_leaf(&self, n_leaves: usize, n_outputs: usize) -> Array2<f64> {
        let mut values = Array2::zeros((n_leaves, n_outputs));
        for (leaf, mut row) in values.rows_mut().into_iter().enumerate() {
            self.copy_leaf(leaf, row.as_slice_mut().expect("made in row order"));
        }
        values
    }
}

/// A pass over the training set: first makes a move, if any, then writes the residual projected for the next tree
/// into z (n x q), if there is one.
pub(super) struct Sweep<'s, T> {
    pub(super) made: Option<(&'s LeafIndex, &'s Move)>,
    pub(super) next: Option<(&'s Coefficients, &'s mut [T])>,
}

/// The coefficients of the next tree, and z in chunks of [`ROWS`] rows, empty ones where nothing is to be written.
type NextInChunks<'s, T> = (Option<&'s Coefficients>, Vec<&'s mut [T]>);

impl<'s, T> Sweep<'s, T> {
    fn next_in_chunks(next: Option<(&'s Coefficients, &'s mut [T])>, n_rows: usize) -> NextInChunks<'s, T> {
        match next {
            Some((phi, z)) => (Some(phi), z.chunks_mut(ROWS * phi.n_components()).collect()),
            None => (
                None,
                (0..n_rows.div_ceil(ROWS)).map(|_| Default::default()).collect(),
            ),
        }
    }
}

/// The training state in one of its forms.
pub(super) enum State<'a> {
    Wide(Scores<'a, f64>),
    Narrow(Scores<'a, f32>),
    Factored(Factored<'a>),
    Odds(Odds<'a>),
}

macro_rules! each {
    ($state:expr, $inner:ident => $call:expr) => {
        match $state {
            State::Wide($inner) => $call,
            State::Narrow($inner) => $call,
            State::Factored($inner) => $call,
            State::Odds($inner) => $call,
        }
    };
}

impl State<'_> {
    /// Makes the pass; the training loss after the move, Σ_i c_i Σ_j u_ij ℓ(y_ij, f_ij).
    pub(super) fn sweep<T: Real>(&mut self, sweep: Sweep<'_, T>) -> f64 {
        each!(self, state => state.sweep(sweep))
    }

    /// Algorithm 3: the step of each output along a tree with these numbers in its leaves.
    pub(super) fn scalar_steps(&mut self, leaves: &LeafIndex, g: &[f64]) -> Vec<f64> {
        each!(self, state => state.scalar_steps(leaves, g))
    }

    /// Algorithms 2 and 4: leaves labelled with mean residuals, times the step of each output (or each leaf).
    pub(super) fn vector_steps(&mut self, leaves: &LeafIndex) -> Array2<f64> {
        each!(self, state => state.vector_steps(leaves))
    }
}

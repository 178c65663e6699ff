//! The state of a fit between steps: the current training scores, in one of three forms.
//!
//! * [`ScoreState`]: the n x d scores themselves, for any loss, weights per cell and missing outputs.
//! * [`FactoredResiduals`]: for the square loss on sparse outputs, Y minus the sum of the steps so far, never n x d.
//! * [`OddsState`]: for the logistic loss on several outputs, odds exp(2f), which a step multiplies.
//!
//! All forms compute the same three things: the projected residual, the best step along a tree, and the loss after the
//! step.

mod coefficients;
mod factored;
mod form;
mod leaf_index;
mod odds;
mod odds_search;
mod outputs;
mod padded_rows;
mod projector;
mod scores;
mod sums;
mod update;

pub(super) use coefficients::Coefficients;
pub(super) use form::{choose, target_bytes};
pub(super) use leaf_index::LeafIndex;
pub(super) use outputs::{Column, Outputs, check_memory};
pub(super) use update::{StepUpdate, keep_largest, narrow};

use factored::FactoredResiduals;
use ndarray::Array2;
use odds::OddsState;
use scores::ScoreState;

/// Returns the number of samples per partial sum; partial sums are added in order. With few samples it is an eighth of
/// them, so that there is work for several threads. Results do not depend on the number of threads.
fn rows_together(n_rows: usize) -> usize {
    n_rows.div_ceil(8).clamp(128, 2048)
}

/// A floating-point type of states and projected residuals.
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

/// A pass over the training set: first applies an update, if any, then writes the targets of the next trees, if there
/// are any.
pub(super) struct Pass<'s, T> {
    pub(super) update: Option<(&'s LeafIndex, &'s StepUpdate)>,
    pub(super) next: Vec<Projected<'s, T>>,
}

/// The residual projected for a tree (n x q), and second derivatives if they are requested.
pub(super) struct Projected<'s, T> {
    pub(super) phi: &'s Coefficients,
    pub(super) z: &'s mut [T],
    /// The squares of φ, and the second derivatives along the components (n x q).
    pub(super) curvature: Option<(&'s Coefficients, &'s mut [f32])>,
}

/// The coefficients of the next trees, and the buffers written for them in chunks of rows.
struct Chunks<'s, T> {
    /// φ and, if second derivatives are requested, its squares.
    projections: Vec<(&'s Coefficients, Option<&'s Coefficients>)>,
    /// z and second derivatives, by chunk, then by projection.
    parts: Vec<Vec<(&'s mut [T], &'s mut [f32])>>,
}

impl<'s, T> Chunks<'s, T> {
    fn new(next: Vec<Projected<'s, T>>, n_rows: usize, rows: usize) -> Self {
        let parts = (0..n_rows.div_ceil(rows)).map(|_| Vec::with_capacity(next.len()));
        let (mut projections, mut parts) = (Vec::with_capacity(next.len()), parts.collect::<Vec<_>>());
        for Projected { phi, z, curvature } in next {
            let size = rows * phi.n_components();
            let (squares, mut h) = match curvature {
                Some((squares, h)) => (Some(squares), h.chunks_mut(size)),
                None => (None, [].chunks_mut(size)),
            };
            projections.push((phi, squares));
            for (part, z) in parts.iter_mut().zip(z.chunks_mut(size)) {
                part.push((z, h.next().unwrap_or_default()));
            }
        }
        Self { projections, parts }
    }
}

/// Sums the losses of samples in a fixed order.
fn sum_of_losses(losses: &[f64]) -> f64 {
    let of_chunk = |losses: &[f64]| losses.iter().fold(0.0, |sum, loss| sum + loss);
    losses.chunks(rows_together(losses.len())).map(of_chunk).sum()
}

/// Writes numbers converted to another type.
fn write<T: Real>(out: &mut [T], values: &[f64]) {
    out.iter_mut()
        .zip(values)
        .for_each(|(out, &v)| *out = T::from_f64(v));
}

/// The training state in one of its forms.
pub(super) enum State<'a> {
    Wide(ScoreState<'a, f64>),
    Narrow(ScoreState<'a, f32>),
    Factored(FactoredResiduals<'a>),
    Odds(Box<OddsState<'a>>),
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
    /// Makes the pass and returns the training loss after the update, Σ_i c_i Σ_j u_ij ℓ(y_ij, f_ij), if it is
    /// requested.
    pub(super) fn run<T: Real>(&mut self, pass: Pass<'_, T>) -> f64 {
        each!(self, state => state.run(pass))
    }

    /// Algorithm 3: returns the step of each output along a tree with leaf values `g`. A residual times the number of its
    /// output in `units` is in the unit of `g`, so that values of `g` that are only rounding are found in any unit.
    pub(super) fn scalar_steps(&mut self, leaves: &LeafIndex, g: &[f64], units: &[f64]) -> Vec<f64> {
        match self {
            State::Wide(state) => state.scalar_steps(leaves, g, units),
            State::Narrow(state) => state.scalar_steps(leaves, g, units),
            // Neither compares g with residuals of another unit.
            State::Factored(state) => state.scalar_steps(leaves, g),
            State::Odds(state) => state.scalar_steps(leaves, g),
        }
    }

    /// Algorithms 2 and 4: returns the leaf values, which are mean residuals times the step of each output (or each
    /// leaf).
    pub(super) fn vector_steps(&mut self, leaves: &LeafIndex) -> Array2<f64> {
        each!(self, state => state.vector_steps(leaves))
    }
}

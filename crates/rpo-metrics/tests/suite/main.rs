//! Reference vectors, naive twins and invariants.

mod metric_vectors;
mod missing;
mod naive;
mod probabilities;
mod properties;
mod vectors;

//! Reference vectors, naive twins and invariants.

mod metric_vectors;
mod missing;
mod naive;
mod properties;
mod vectors;

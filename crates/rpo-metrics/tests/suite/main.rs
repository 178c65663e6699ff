//! Reference vectors, naive twins and invariants.

mod metric_vectors;
mod naive;
mod properties;
mod stats_properties;
mod stats_vectors;
mod vectors;

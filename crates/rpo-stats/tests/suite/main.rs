//! Reference vectors and invariants.

mod properties;
#[path = "../../../rpo-metrics/tests/suite/vectors.rs"]
mod reference;
mod vectors;

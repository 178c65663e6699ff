//! Reference vectors and invariants of the significance tests.

mod properties;
#[path = "../../../rpo-metrics/tests/suite/vectors.rs"]
mod reference;
mod vectors;

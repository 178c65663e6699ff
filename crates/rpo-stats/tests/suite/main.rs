//! Reference vectors and invariants.

mod properties;
mod reference;
mod vectors;

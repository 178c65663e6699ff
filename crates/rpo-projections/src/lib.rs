//! rpo-projections

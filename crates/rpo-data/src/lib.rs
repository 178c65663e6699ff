//! rpo-data

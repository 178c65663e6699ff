//! rpo-ensemble

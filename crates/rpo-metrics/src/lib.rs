//! rpo-metrics

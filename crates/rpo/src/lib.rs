//! rpo

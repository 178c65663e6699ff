//! rpo-cli

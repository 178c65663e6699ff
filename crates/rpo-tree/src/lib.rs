//! rpo-tree

#![doc = include_str!("../README.md")]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests compare with the standard library"
    )
)]

mod by_node;
pub mod categories;
pub mod centroid;
pub mod cluster;
pub mod criterion;
mod error;
mod grow;
pub mod histogram;
mod importance;
mod input;
pub mod leaves;
pub mod oblique;
mod occupied;
mod partition;
mod products;
mod ranks;
mod rule;
pub mod shapley;
pub mod splitter;
pub mod store;
mod structure;
pub mod structured;
mod tree;

/// The crate of the types in the signatures of this crate: matrices, parameters, and what errors hold.
pub use rpo_core as core;
/// Types of features, targets and seeds, and the trait that checks parameters.
pub use rpo_core::{CheckParams, CsrMatrix, Matrix, MatrixView, Seed};

pub use by_node::ByNode;
pub use error::TreeError;
pub use grow::{GrowParams, Grown, Subtree, Team, grow, grow_parallel, grow_together, undivided};
pub use input::RowBlock;
pub use leaves::{LeafBuilder, LeafKind, LeafMembers, LeafModel, Leaves};
pub use ranks::RankedFeatures;
pub use rule::{AxisRule, AxisTest, Row, Rule};
pub use structure::{Node, Structure};
pub use tree::Tree;

#[cfg(test)]
extern crate self as rpo_tree;

#[cfg(test)]
#[path = "../tests/suite/mod.rs"]
mod suite;

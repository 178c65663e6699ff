#![doc = include_str!("../README.md")]

pub mod columns;
pub mod criterion;
mod error;
mod grow;
mod rule;
pub mod splitter;
mod structure;

pub use error::TreeError;
pub use grow::{GrowParams, Grown, grow};
pub use rule::{AxisRule, Row, Rule};
pub use structure::{Node, Structure};

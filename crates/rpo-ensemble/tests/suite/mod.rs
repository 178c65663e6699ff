//! Reference vectors, naive reimplementations, contracts and invariants, in one program, because linking many takes
//! time and disk space.

#![allow(
    clippy::disallowed_methods,
    reason = "tests compare with the standard library"
)]

mod bins;
mod boosting_ahead;
mod boosting_common;
mod boosting_contracts;
mod boosting_fixtures;
mod boosting_losses;
mod boosting_mixed;
mod boosting_observed;
mod boosting_props;
mod boosting_second_order;
mod common;
mod contracts;
mod craftml;
mod custom;
mod explain;
mod extremes;
mod fixtures;
mod missing;
mod predict;
mod props;
mod relabel;
mod scaling;
mod single_target;
mod structured;

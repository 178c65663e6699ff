//! The methods of this workspace, each with its own folder and a line in the registry.

pub mod auto;
pub mod baseline;
pub mod blend;
mod boosting;
mod craftml;
mod forest;
mod growing;
mod linear;
mod member;
mod models;
mod structured;

use crate::method::MethodEntry;

/// All methods, in the order in which help lists them.
pub(crate) fn all() -> Vec<MethodEntry> {
    let methods = [
        auto::entries(),
        forest::entries(),
        boosting::entries(),
        structured::entries(),
        craftml::entries(),
        linear::entries(),
        blend::entries(),
        baseline::entries(),
    ];
    methods.into_iter().flatten().collect()
}

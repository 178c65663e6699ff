//! Reference vectors, naive twins, contracts and invariants, in one program, because linking many takes time and disk
//! space.

mod align;
mod auto;
mod blend;
mod categories;
mod common;
mod craftml;
mod custom;
mod file_target;
mod fitting;
mod groups;
mod hostile;
mod indicators;
mod intervals;
mod levels;
mod linear;
mod mixed;
mod model_file;
mod pipeline;
mod presets;
mod refusals;
mod relabel;
mod rerank;
mod structured;
mod target_encoding;
mod tune;

//! Reference vectors, naive twins, contracts and invariants, in one program, because linking many takes time and disk
//! space.

mod boosting;
mod circle;
mod common;
mod craftml;
mod decisions;
mod features;
mod files;
mod interrupt;
mod linear;
mod losses;
mod machines;
mod messages;
mod methods;
mod missing;
mod overwriting;
mod real;
mod refusals;
mod serve;
mod stability;
mod structured;
mod tables;
mod texts;
mod tune;
mod very_many_labels;
mod written;

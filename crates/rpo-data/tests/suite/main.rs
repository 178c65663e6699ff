//! Reference vectors, naive twins, contracts and invariants, in one program: linking many takes time and disk.

mod arff;
mod catalogue;
mod class_columns;
#[cfg(feature = "arrow")]
mod containers;
mod label_lists;
mod robustness;
mod target_encoding;
mod texts;
mod typed_columns;

//! Texts as features: how often each term, a word or several in a row, is in a text.
//!
//! A table is read with texts as counts of terms ([`TextOptions`], [`TextColumn`]); a model weights them
//! ([`TextWeighting`](crate::preprocess::TextWeighting)).

mod column;
mod options;
mod rows;
mod terms;

pub use column::TextColumn;
pub use options::{TextOptions, TextUnit};
pub(crate) use rows::{Counts, TextRows};

use std::collections::BTreeMap;
use std::sync::Arc;

/// The texts of a set: for the first feature of each column, how it was read.
pub(crate) type Texts = BTreeMap<usize, Arc<TextColumn>>;

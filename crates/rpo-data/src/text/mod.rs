//! Texts as features: counts of terms, where a term is a word or several consecutive words.
//!
//! Tables are read with texts as counts of terms ([`TextOptions`], [`TextColumn`]); a model weights them
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

/// The text columns of a set, by the first feature of each.
pub(crate) type Texts = BTreeMap<usize, Arc<TextColumn>>;

//! Completes methods that are described by their differences from another.

use super::read::Source;
use super::{DescribeError, Description, MethodText};

/// Gives every method that is `like` an earlier one the options of that method, except those that it sets itself, and
/// its search.
pub(super) fn complete(description: &mut Description, file: &Source<'_>) -> Result<(), DescribeError> {
    for place in 0..description.methods.len() {
        let (before, from_here) = description.methods.split_at_mut(place);
        let method = &mut from_here[0];
        let Some(like) = &method.like else { continue };
        let Some(other) = before.iter().find(|m| m.id.get_ref() == like.get_ref()) else {
            let message = format!("no method {:?} before this one", like.get_ref());
            return Err(file.error(like.span(), message));
        };
        method.take_from(other);
    }
    Ok(())
}

impl MethodText {
    fn take_from(&mut self, other: &Self) {
        for (name, values) in &other.options {
            self.options.entry(name.clone()).or_insert_with(|| values.clone());
        }
        if self.search.is_none() {
            self.search.clone_from(&other.search);
        }
    }
}

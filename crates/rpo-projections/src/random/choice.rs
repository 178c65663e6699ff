//! Uniform choices without replacement.

use rand::seq::SliceRandom;
use rpo_core::Seed;

use crate::{ProjectionError, memory};

/// Draws `amount` distinct numbers below `n`, in random order. `n` must fit 32 bits.
///
/// Cost: O(n), less than a map with n columns needs anyway. Unlike the samplers of `rand`, it returns an error if
/// memory does not suffice.
pub(crate) fn distinct(n: usize, amount: usize, seed: Seed) -> Result<Vec<u32>, ProjectionError> {
    let mut numbers = memory::filled(0, n, 1)?;
    numbers.iter_mut().zip(0..).for_each(|(number, i)| *number = i);
    let (chosen, _) = numbers.partial_shuffle(&mut seed.rng(), amount);
    Ok(chosen.to_vec())
}

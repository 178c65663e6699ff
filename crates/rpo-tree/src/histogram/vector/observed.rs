//! The sums of all bins of a feature, including those that are not stored.

use crate::histogram::cell::Cell;
use crate::histogram::features::Place;
use crate::histogram::sparse::zero_sums;

/// The sums of the bins of a feature.
pub(super) struct Observed<'h, C> {
    stored: &'h [C],
    zero: Option<(usize, C)>,
    pub(super) missing: C,
}

impl<'h, C: Cell> Observed<'h, C> {
    pub(super) fn new(place: Place, stored: &'h [C], total: C) -> Self {
        let n_missing = usize::from(place.has_missing);
        Self {
            stored,
            zero: place.zero.map(|zero| (zero, zero_sums(stored, total))),
            missing: if n_missing == 0 {
                C::ZERO
            } else {
                stored[stored.len() - 1]
            },
        }
    }

    pub(super) fn bin(&self, bin: usize) -> C {
        match &self.zero {
            Some((zero, sums)) if *zero == bin => *sums,
            Some((zero, _)) if *zero < bin => self.stored[bin - 1],
            _ => self.stored[bin],
        }
    }
}

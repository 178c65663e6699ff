//! Sums whose differences keep their digits.

/// A sum of numbers with the digits that `f64` rounds off.
///
/// The difference of two sums is the weight, say, of the samples in which a value is not stored. It is exactly 0 if both
/// sums have the same terms in the same order, and a small weight keeps its digits beside a large one.
///
/// ```
/// use rpo_core::WideSum;
/// let (mut all, mut stored) = (WideSum::default(), WideSum::default());
/// [1e16, 0.25, 0.5].into_iter().for_each(|weight| all.add(weight));
/// stored.add(1e16);
/// assert_eq!(all.less(stored), 0.75);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct WideSum {
    sum: f64,
    /// What rounding took from the sum.
    rest: f64,
}

impl WideSum {
    /// Adds a number.
    #[inline(always)]
    pub fn add(&mut self, number: f64) {
        // Knuth's two-sum.
        let sum = self.sum + number;
        let added = sum - self.sum;
        self.rest += (self.sum - (sum - added)) + (number - added);
        self.sum = sum;
    }

    /// Returns this sum less another.
    #[inline(always)]
    pub fn less(self, other: Self) -> f64 {
        (self.sum - other.sum) + (self.rest - other.rest)
    }
}

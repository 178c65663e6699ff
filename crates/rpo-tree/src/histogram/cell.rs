//! What is summed per bin.

/// Integers that are summed side by side.
pub(super) trait Cell: Copy + Default + PartialEq + Send + Sync {
    /// Adds another.
    fn add(&mut self, other: &Self);
    /// Takes away what was added.
    fn subtract(&mut self, other: &Self);
}

macro_rules! cell {
    ($integer:ty) => {
        impl Cell for $integer {
            #[inline(always)]
            fn add(&mut self, other: &Self) {
                *self += other;
            }
            #[inline(always)]
            fn subtract(&mut self, other: &Self) {
                *self -= other;
            }
        }
    };
    ($integer:ty, $lanes:literal) => {
        impl Cell for [$integer; $lanes] {
            #[inline(always)]
            fn add(&mut self, other: &Self) {
                for lane in 0..$lanes {
                    self[lane] += other[lane];
                }
            }
            #[inline(always)]
            fn subtract(&mut self, other: &Self) {
                for lane in 0..$lanes {
                    self[lane] -= other[lane];
                }
            }
        }
    };
}

cell!(i64);
cell!(i64, 2);

/// The sum of cells.
pub(super) fn sum<'c, C: Cell + 'c>(cells: impl IntoIterator<Item = &'c C>) -> C {
    let mut sum = C::default();
    cells.into_iter().for_each(|cell| sum.add(cell));
    sum
}

//! Products of a sparse row with several dense vectors at once, and the largest of them; squared lengths.

use rpo_core::vectorized;
use std::ops::{AddAssign, Mul};

/// Adds Σ_j x_j table[j] to `sums`, for a table with rows as wide as `sums`, of which `columns` lists those used.
///
/// Each sum is computed in the order of the entries, so the result depends on nothing else.
#[inline]
pub(crate) fn add_products<T>(columns: &[u32], values: &[f32], table: &[T], sums: &mut [T])
where
    T: Copy + From<f32> + Mul<Output = T> + AddAssign,
{
    // Widths that fit into registers; other widths go through memory.
    vectorized(
        #[inline(always)]
        || match sums.len() {
            2 => fixed::<T, 2>(columns, values, table, sums),
            4 => fixed::<T, 4>(columns, values, table, sums),
            8 => fixed::<T, 8>(columns, values, table, sums),
            12 => fixed::<T, 12>(columns, values, table, sums),
            16 => fixed::<T, 16>(columns, values, table, sums),
            width => {
                for (&column, &value) in columns.iter().zip(values) {
                    let value = T::from(value);
                    let row = &table[column as usize * width..][..width];
                    sums.iter_mut().zip(row).for_each(
                        #[inline(always)]
                        |(sum, &w)| *sum += value * w,
                    );
                }
            }
        },
    );
}

/// Returns the first index at which the offset plus the product, computed as in [`add_products`], is at least
/// `least(largest)`, and that value. Offsets beyond the vectors of a table are -∞, so that none of them is selected.
///
/// For loops that run inside [`vectorized`].
#[inline(always)]
pub(crate) fn largest_product<T>(
    columns: &[u32],
    values: &[f32],
    table: &[T],
    offsets: &[T],
    sums: &mut Vec<T>,
    least: impl FnOnce(T) -> T,
) -> (usize, T)
where
    T: Copy + From<f32> + Mul<Output = T> + AddAssign + PartialOrd,
{
    match offsets.len() {
        2 => largest_of_fixed::<T, 2>(columns, values, table, offsets, least),
        4 => largest_of_fixed::<T, 4>(columns, values, table, offsets, least),
        8 => largest_of_fixed::<T, 8>(columns, values, table, offsets, least),
        12 => largest_of_fixed::<T, 12>(columns, values, table, offsets, least),
        16 => largest_of_fixed::<T, 16>(columns, values, table, offsets, least),
        _ => {
            sums.clear();
            sums.extend_from_slice(offsets);
            add_products(columns, values, table, sums);
            let first = first_of_largest(sums, least);
            (first, sums[first])
        }
    }
}

#[inline(always)]
fn largest_of_fixed<T, const WIDTH: usize>(
    columns: &[u32],
    values: &[f32],
    table: &[T],
    offsets: &[T],
    least: impl FnOnce(T) -> T,
) -> (usize, T)
where
    T: Copy + From<f32> + Mul<Output = T> + AddAssign + PartialOrd,
{
    let sums: [T; WIDTH] = sums_of_fixed(columns, values, table, offsets);
    let larger = |a: T, b: T| if b > a { b } else { a };
    // Lane by lane, as vector instructions do it.
    let largest = match sums.as_chunks::<4>().0 {
        [first, others @ ..] => {
            let [a, b, c, d] = others.iter().fold(*first, |lanes, sums| {
                std::array::from_fn(|i| larger(lanes[i], sums[i]))
            });
            larger(larger(a, c), larger(b, d))
        }
        [] => sums.into_iter().reduce(larger).expect("tables have a width"),
    };
    let least = least(largest);
    let mut reach = 0_u32;
    for (i, &sum) in sums.iter().enumerate() {
        reach |= u32::from(sum >= least) << i;
    }
    // No value reaches it if some values are NaN.
    let first = if reach == 0 {
        0
    } else {
        reach.trailing_zeros() as usize
    };
    (first, sums[first])
}

/// Returns the sum of the squares, computed as four interleaved sums: the additions to a single one would wait for each
/// other.
#[inline]
pub(crate) fn squared_length<T: Copy>(values: &[T]) -> f64
where
    f64: From<T>,
{
    let mut sums = [0.0; 4];
    let mut add = |values: &[T]| {
        for (sum, &value) in sums.iter_mut().zip(values) {
            let value = f64::from(value);
            *sum += value * value;
        }
    };
    let (values, last) = values.as_chunks::<4>();
    values.iter().for_each(|values| add(values));
    add(last);
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Returns the width of a table for `n` vectors: one for which [`add_products`] is fast, padded with zeros.
pub(crate) fn table_width(n: usize) -> usize {
    match n {
        0..=2 => 2,
        3..=4 => 4,
        5.. => n.next_multiple_of(4),
    }
}

#[inline(always)]
fn fixed<T, const WIDTH: usize>(columns: &[u32], values: &[f32], table: &[T], sums: &mut [T])
where
    T: Copy + From<f32> + Mul<Output = T> + AddAssign,
{
    let all: [T; WIDTH] = sums_of_fixed(columns, values, table, sums);
    sums.copy_from_slice(&all);
}

#[inline(always)]
fn sums_of_fixed<T, const WIDTH: usize>(
    columns: &[u32],
    values: &[f32],
    table: &[T],
    offsets: &[T],
) -> [T; WIDTH]
where
    T: Copy + From<f32> + Mul<Output = T> + AddAssign,
{
    let mut acc: [T; WIDTH] = offsets.try_into().expect("called for this width");
    for (&column, &value) in columns.iter().zip(values) {
        let value = T::from(value);
        let row = &table[column as usize * WIDTH..][..WIDTH];
        for i in 0..WIDTH {
            acc[i] += value * row[i];
        }
    }
    acc
}

/// Returns the first index at which a value is at least `least(largest)`; 0 if there are no values. Uses selections
/// instead of branches, as the index cannot be predicted.
#[inline]
pub(crate) fn first_of_largest<T: Copy + PartialOrd>(values: &[T], least: impl FnOnce(T) -> T) -> usize {
    let larger = |a: T, b: T| if b > a { b } else { a };
    let Some(largest) = values.iter().copied().reduce(larger) else {
        return 0;
    };
    let least = least(largest);
    let mut first = 0;
    for (i, &value) in values.iter().enumerate().rev() {
        first = if value >= least { i } else { first };
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_values_the_first_is_the_largest() {
        let exact = |values: &[f32]| first_of_largest(values, |largest| largest);
        assert_eq!(exact(&[]), 0);
        assert_eq!(exact(&[-3.0, -1.0, -2.0, -1.0]), 1);
        assert_eq!(exact(&[f32::NEG_INFINITY; 3]), 0);
        assert_eq!(
            first_of_largest(&[0.0, 1.9, 2.0, 1.0], |largest| largest - 0.5),
            1
        );
    }

    #[test]
    fn all_widths_agree_with_the_definition() {
        for n in 1..40 {
            let width = table_width(n);
            assert!(width >= n);
            let table: Vec<f64> = (0..5 * width).map(|i| (i * i % 17) as f64 - 8.0).collect();
            let (columns, values) = ([3_u32, 0, 4], [2.0_f32, -1.0, 0.5]);
            let mut sums = vec![1.0; width];
            add_products(&columns, &values, &table, &mut sums);
            for i in 0..width {
                let expected = 1.0 + 2.0 * table[3 * width + i] - table[i] + 0.5 * table[4 * width + i];
                assert_eq!(sums[i], expected, "width {width}, vector {i}");
            }
            // Ties within a half, and padding vectors beyond the n-th, which are never selected.
            let mut offsets = vec![1.0; width];
            offsets[n..].fill(f64::NEG_INFINITY);
            let least = |largest: f64| largest - 0.5;
            let first = first_of_largest(&sums[..n], least);
            let found = largest_product(&columns, &values, &table, &offsets, &mut Vec::new(), least);
            assert_eq!(found, (first, sums[first]), "width {width}");
        }
    }
}

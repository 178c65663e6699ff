//! Sorting of the values of a feature.
//!
//! Coding features sorts every column once. The bits of many values are counted digit by digit, which takes a fraction
//! of the time of comparisons.

/// Bits of a digit: the counts of one digit fit into the first-level cache.
const BITS: u32 = 11;
const DIGITS: usize = 1 << BITS;

/// Fewer values are sorted by comparison.
const FEW: usize = 2048;

/// Sorts values whose order is that of the 32 bits `key`; values with equal keys keep their order.
pub(crate) fn sort_by_bits<T: Copy + Ord>(values: &mut Vec<T>, key: impl Fn(T) -> u32) {
    if values.len() < FEW {
        values.sort_unstable();
        return;
    }
    let digit = |value: T, shift: u32| (key(value) >> shift) as usize % DIGITS;
    let mut sorted = values.clone();
    for shift in (0..u32::BITS).step_by(BITS as usize) {
        let mut places = [0_usize; DIGITS];
        for &value in &*values {
            places[digit(value, shift)] += 1;
        }
        if places.contains(&values.len()) {
            continue;
        }
        let mut start = 0;
        for place in &mut places {
            start += std::mem::replace(place, start);
        }
        for &value in &*values {
            let place = &mut places[digit(value, shift)];
            sorted[*place] = value;
            *place += 1;
        }
        std::mem::swap(values, &mut sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_comparisons_sort(
            seed in any::<u32>(), n in prop::sample::select(vec![0, 1, 7, FEW - 1, FEW, 3 * FEW]),
            mask in prop::sample::select(vec![0, 7, 0xFFFF, 0x00FF_0000, u32::MAX]),
        ) {
            let random = |i: u32| i.wrapping_add(seed).wrapping_mul(0x9E37_79B9).rotate_left(13) & mask;
            let values: Vec<u64> = (0..n as u32).map(|i| u64::from(random(i)) << 32 | u64::from(i)).collect();
            let (mut expected, mut sorted) = (values.clone(), values);
            expected.sort_unstable();
            sort_by_bits(&mut sorted, |value| (value >> 32) as u32);
            prop_assert_eq!(sorted, expected);
        }
    }
}

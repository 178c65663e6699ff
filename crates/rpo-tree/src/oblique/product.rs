//! Products of sparse and dense vectors.

use super::real::Real;

/// Returns Σ `multiply(values[i], dense[indices[i]])`, computed as four interleaved sums: the additions to a single one
/// would wait for each other.
#[inline(always)]
pub(super) fn product_at<V: Copy, D: Copy, T: Real>(
    indices: &[u32],
    values: &[V],
    dense: &[D],
    multiply: impl Fn(V, D) -> T,
) -> T {
    let mut sums = [T::default(); 4];
    let mut add = |indices: &[u32], values: &[V]| {
        for ((sum, &i), &value) in sums.iter_mut().zip(indices).zip(values) {
            *sum += multiply(value, dense[i as usize]);
        }
    };
    let (indices, last_indices) = indices.as_chunks::<4>();
    let (values, last_values) = values.as_chunks::<4>();
    for (indices, values) in indices.iter().zip(values) {
        add(indices, values);
    }
    add(last_indices, last_values);
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_is_added() {
        let dense: Vec<f64> = (0..20).map(f64::from).collect();
        for n in 0..12 {
            let indices: Vec<u32> = (0..n).map(|i| 19 - i).collect();
            let values: Vec<f64> = (0..n).map(|i| f64::from(1 << i)).collect();
            let expected: f64 = (0..n).map(|i| f64::from(1 << i) * f64::from(19 - i)).sum();
            assert_eq!(product_at(&indices, &values, &dense, |v, x| v * x), expected);
        }
    }
}

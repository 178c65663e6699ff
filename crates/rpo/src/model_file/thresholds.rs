//! Thresholds of splits: as they are, or as positions in a list of the distinct ones.
//!
//! Features with few values, 0/1 ones above all, have few thresholds.

use super::arrays::{ArrayReader, ArrayWriter, check_length, check_values};
use super::error::ModelFileErrorKind as Kind;

const NAME: &str = "split.threshold";
const CODES: &str = "split.threshold_code";
const EXPECTED: &str = "a number";

/// Writes the thresholds, in the form that takes less room.
pub(super) fn write(thresholds: &[f32], out: &mut ArrayWriter) -> Result<(), Kind> {
    check_values(NAME, thresholds, EXPECTED, |t: f32| !t.is_nan())?;
    // By bits, so that -0 and 0 stay what they are.
    let mut distinct: Vec<u32> = thresholds.iter().map(|t| t.to_bits()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let code_width = if distinct.len() <= 1 << 8 { 1 } else { 2 };
    let coded = code_width * thresholds.len() + 4 * distinct.len();
    if distinct.len() > 1 << 16 || coded >= 4 * thresholds.len() {
        out.floats(NAME, thresholds);
        return Ok(());
    }
    let code = |t: &f32| distinct.partition_point(|&d| d < t.to_bits()) as u32;
    let codes: Vec<u32> = thresholds.iter().map(code).collect();
    let values: Vec<f32> = distinct.iter().map(|&bits| f32::from_bits(bits)).collect();
    out.floats(NAME, &values);
    out.integers(CODES, &codes);
    Ok(())
}

/// The threshold of each of `n_splits` splits.
pub(super) fn read(arrays: &mut ArrayReader<'_>, n_splits: usize) -> Result<Vec<f32>, Kind> {
    let values = arrays.numbers(NAME)?;
    check_values(NAME, &values, EXPECTED, |t: f32| !t.is_nan())?;
    if !arrays.has(CODES) {
        check_length(NAME, &values, n_splits)?;
        return Ok(values);
    }
    let codes = arrays.integers(CODES)?;
    check_length(CODES, &codes, n_splits)?;
    check_values(CODES, &codes, "a position in the list of thresholds", |code| {
        (code as usize) < values.len()
    })?;
    Ok(codes.iter().map(|&code| values[code as usize]).collect())
}

//! Rules of one feature as arrays, and back.
//!
//! Thresholds are stored as they are, or as positions in a list of the distinct ones: features with few values, 0/1 ones
//! above all, have few thresholds.

use super::StoreRule;
use crate::rule::AxisRule;
use rpo_core::store::{Reader, StoreError, Writer, check_entries};

/// The kind of a split on one feature.
const SPLIT: u32 = 2;
/// Added where missing values go to the first child.
const MISSING_LEFT: u32 = 0x80;

const THRESHOLDS: &str = "split.threshold";
const CODES: &str = "split.threshold_code";

impl StoreRule for AxisRule {
    const KINDS: &'static str = "0, 2 or 130";

    fn kind(&self) -> u32 {
        SPLIT | if self.missing_left() { MISSING_LEFT } else { 0 }
    }

    fn arity_of(kind: u32) -> Option<u32> {
        (kind & !MISSING_LEFT == SPLIT).then_some(2)
    }

    fn store_all(rules: &[&Self], out: &mut Writer) -> Result<(), StoreError> {
        let features: Vec<u32> = rules.iter().map(|rule| rule.feature()).collect();
        out.integers("split.feature", &features)?;
        let thresholds: Vec<f32> = rules.iter().map(|rule| rule.threshold()).collect();
        store_thresholds(&thresholds, out)
    }

    fn restore_all(kinds: &[u32], from: &mut Reader<'_>, n_features: usize) -> Result<Vec<Self>, StoreError> {
        let features = from.integers("split.feature")?.of_length(kinds.len())?;
        let limit = n_features.min(1 << 31);
        let features = features.where_all("a feature of the model", |feature| (feature as usize) < limit)?;
        let thresholds = restore_thresholds(from, kinds.len())?;
        let rules = kinds.iter().zip(features.iter()).zip(thresholds);
        let rule = |((kind, feature), threshold)| Self::new(feature, threshold, kind & MISSING_LEFT != 0);
        Ok(rules.map(rule).collect())
    }
}

/// Stores thresholds in the form that takes less room.
fn store_thresholds(thresholds: &[f32], out: &mut Writer) -> Result<(), StoreError> {
    check_entries(THRESHOLDS, thresholds, "a number", |t| !t.is_nan())?;
    // By bits, so that -0 and 0 stay what they are.
    let mut distinct: Vec<u32> = thresholds.iter().map(|t| t.to_bits()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let code_width = if distinct.len() <= 1 << 8 { 1 } else { 2 };
    let coded = code_width * thresholds.len() + 4 * distinct.len();
    if distinct.len() > 1 << 16 || coded >= 4 * thresholds.len() {
        return out.floats(THRESHOLDS, thresholds);
    }
    let code = |t: &f32| distinct.partition_point(|&d| d < t.to_bits()) as u32;
    let codes: Vec<u32> = thresholds.iter().map(code).collect();
    let values: Vec<f32> = distinct.iter().map(|&bits| f32::from_bits(bits)).collect();
    out.floats(THRESHOLDS, &values)?;
    out.integers(CODES, &codes)
}

/// The threshold of each of `n_splits` splits.
fn restore_thresholds(from: &mut Reader<'_>, n_splits: usize) -> Result<Vec<f32>, StoreError> {
    let values = from.floats(THRESHOLDS)?.where_all("a number", |t| !t.is_nan())?;
    if !from.has(CODES) {
        return Ok(values.of_length(n_splits)?.to_vec());
    }
    let codes = from.integers(CODES)?.of_length(n_splits)?;
    let expected = "a position in the list of thresholds";
    let codes = codes.where_all(expected, |code| (code as usize) < values.len())?;
    Ok(codes.iter().map(|code| values.get(code as usize)).collect())
}

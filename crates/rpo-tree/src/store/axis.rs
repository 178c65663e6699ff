//! Storing rules on one feature as arrays, and restoring them.
//!
//! Thresholds are stored directly, or as positions in a list of the distinct ones: features with few values, 0/1
//! features above all, have few thresholds. For categorical rules, the words of their category sets are stored.

use super::StoreRule;
use crate::categories::CategorySet;
use crate::rule::AxisRule;
use rpo_core::store::{Reader, StoreError, Writer};

/// Kinds of numeric and of categorical splits.
const SPLIT: u32 = 2;
const CATEGORIES: u32 = 4;
/// Flag added if missing values go to the first child.
const MISSING_LEFT: u32 = 0x80;

const THRESHOLDS: &str = "split.threshold";
const CODES: &str = "split.threshold_code";

impl StoreRule for AxisRule {
    const KINDS: &'static str = "0, 2, 4, 130 or 132";

    fn kind(&self) -> u32 {
        let kind = if self.categories().is_some() {
            CATEGORIES
        } else {
            SPLIT
        };
        kind | if self.missing_left() { MISSING_LEFT } else { 0 }
    }

    fn arity_of(kind: u32) -> Option<u32> {
        matches!(kind & !MISSING_LEFT, SPLIT | CATEGORIES).then_some(2)
    }

    fn store_all(rules: &[&Self], out: &mut Writer) -> Result<(), StoreError> {
        let features: Vec<u32> = rules.iter().map(|rule| rule.feature()).collect();
        out.array("split.feature", &features)?;
        let of_numbers = rules.iter().filter(|rule| rule.categories().is_none());
        let thresholds: Vec<f32> = of_numbers.map(|rule| rule.threshold()).collect();
        store_thresholds(&thresholds, out)?;
        let sets: Vec<&[(u32, u32)]> = rules
            .iter()
            .filter_map(|rule| rule.categories())
            .map(CategorySet::words)
            .collect();
        if sets.is_empty() {
            return Ok(());
        }
        let sizes: Vec<u32> = sets.iter().map(|words| words.len() as u32).collect();
        let (numbers, bits): (Vec<u32>, Vec<u32>) = sets.concat().into_iter().unzip();
        out.array("category.words", &sizes)?;
        out.array("category.word", &numbers)?;
        out.array("category.bits", &bits)
    }

    fn restore_all(kinds: &[u32], from: &mut Reader<'_>, n_features: usize) -> Result<Vec<Self>, StoreError> {
        let features = from.array::<u32>("split.feature")?.of_length(kinds.len())?;
        let limit = n_features.min(1 << 31);
        let features = features.where_all("a feature of the model", |feature| (feature as usize) < limit)?;
        let of_categories = |kind: u32| kind & !MISSING_LEFT == CATEGORIES;
        let n_sets = kinds.iter().filter(|kind| of_categories(**kind)).count();
        let mut thresholds = restore_thresholds(from, kinds.len() - n_sets)?.into_iter();
        let mut sets = restore_sets(from, n_sets)?.into_iter();
        let rule = |(&kind, feature): (&u32, u32)| {
            let missing_left = kind & MISSING_LEFT != 0;
            match of_categories(kind) {
                true => Some(Self::of_categories(feature, sets.next()?, missing_left)),
                false => Some(Self::new(feature, thresholds.next()?, missing_left)),
            }
        };
        Ok(kinds.iter().zip(features).filter_map(rule).collect())
    }
}

/// Restores the category sets of `n_sets` splits.
fn restore_sets(from: &mut Reader<'_>, n_sets: usize) -> Result<Vec<CategorySet>, StoreError> {
    if n_sets == 0 {
        return Ok(Vec::new());
    }
    let sizes = from.array::<u32>("category.words")?.of_length(n_sets)?;
    let mut numbers = from.array::<u32>("category.word")?.of_length(sizes.total())?;
    let mut bits = from.array::<u32>("category.bits")?.of_length(sizes.total())?;
    let set = |(split, size): (usize, u32)| {
        let (numbers, bits) = (numbers.part(size as usize)?, bits.part(size as usize)?);
        let words: Vec<(u32, u32)> = numbers.into_iter().zip(bits).collect();
        CategorySet::try_from(words)
            .map_err(|e| StoreError::part(format_args!("split {split} of categories"), e))
    };
    sizes.enumerate().map(set).collect()
}

/// Stores thresholds in the smaller of the two forms.
fn store_thresholds(thresholds: &[f32], out: &mut Writer) -> Result<(), StoreError> {
    if let Some(index) = thresholds.iter().position(|t| t.is_nan()) {
        return Err(StoreError::Entry {
            name: THRESHOLDS.to_owned(),
            index,
            value: f64::NAN,
            expected: "a number",
        });
    }
    // Compared by bits, to distinguish -0 and 0.
    let mut distinct: Vec<u32> = thresholds.iter().map(|t| t.to_bits()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let code_width = if distinct.len() <= 1 << 8 { 1 } else { 2 };
    let coded = code_width * thresholds.len() + 4 * distinct.len();
    if distinct.len() > 1 << 16 || coded >= 4 * thresholds.len() {
        return out.array(THRESHOLDS, thresholds);
    }
    let code = |t: &f32| distinct.partition_point(|&d| d < t.to_bits()) as u32;
    let codes: Vec<u32> = thresholds.iter().map(code).collect();
    let values: Vec<f32> = distinct.iter().map(|&bits| f32::from_bits(bits)).collect();
    out.array(THRESHOLDS, &values)?;
    out.array(CODES, &codes)
}

/// Restores the threshold of each of `n_splits` splits.
fn restore_thresholds(from: &mut Reader<'_>, n_splits: usize) -> Result<Vec<f32>, StoreError> {
    let values = from
        .array::<f32>(THRESHOLDS)?
        .where_all("a number", |t| !t.is_nan())?;
    if !from.has(CODES) {
        return Ok(values.of_length(n_splits)?.to_vec());
    }
    let codes = from.array::<u32>(CODES)?.of_length(n_splits)?;
    let expected = "a position in the list of thresholds";
    let codes = codes.where_all(expected, |code| (code as usize) < values.len())?;
    let values = values.to_vec();
    Ok(codes.map(|code| values[code as usize]).collect())
}

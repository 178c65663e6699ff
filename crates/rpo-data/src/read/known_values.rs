//! Finds values in a list that was made of another file.

use super::number;
use std::collections::BTreeMap;

/// The number below which different integers are different `f64`s: larger ones may be equal although their texts differ.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns, for each of several values of a category, its first position in a list, if the list has it.
///
/// Programs write one value differently. A value that is not in the list is also found as a boolean in another spelling
/// (`True` for `true`), or as the same number (`2.0` for `2`, as integers become where a column has a gap), below 2^53
/// and unless the list has the number twice.
///
/// ```
/// use rpo_data::read::known_positions;
/// let known = ["2", "3", "n/a"].map(String::from);
/// let given = ["3.0", "n/a", "4"].map(String::from);
/// assert_eq!(known_positions(&known, &given), [Some(1), Some(2), None]);
/// ```
pub fn known_positions(known: &[String], given: &[String]) -> Vec<Option<usize>> {
    // Lists may have as many values as there are samples, so maps replace a linear search per value.
    let places: BTreeMap<&String, usize> = known.iter().enumerate().rev().map(|(i, v)| (v, i)).collect();
    let exact: Vec<Option<usize>> = given.iter().map(|value| places.get(value).copied()).collect();
    if !exact.contains(&None) {
        return exact;
    }
    let mut numbers: BTreeMap<u64, Option<usize>> = BTreeMap::new();
    for (i, value) in known.iter().enumerate() {
        if let Some(number) = number_of(value) {
            let place = numbers.entry(number);
            place.and_modify(|place| *place = None).or_insert(Some(i));
        }
    }
    let is_boolean = |value: &str| {
        ["false", "true"]
            .iter()
            .any(|word| value.eq_ignore_ascii_case(word))
    };
    let in_any_case = |value: &str| known.iter().position(|other| other.eq_ignore_ascii_case(value));
    let written_otherwise = |value: &String| match number_of(value) {
        Some(number) => numbers.get(&number).copied().flatten(),
        None => is_boolean(value).then(|| in_any_case(value)).flatten(),
    };
    let values = exact.into_iter().zip(given);
    values
        .map(|(exact, value)| exact.or_else(|| written_otherwise(value)))
        .collect()
}

/// The bits of the number that a value is; 0 and -0 have the same.
fn number_of(value: &str) -> Option<u64> {
    let number = number::parse(value.as_bytes()).ok()?;
    (number.abs() < EXACT).then_some((number + 0.0).to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_known_however_they_are_written() {
        let known = ["1", "true", "05", "5", "5.0", "9007199254740993", "-0"].map(String::from);
        let check = |value: &str, expected| {
            assert_eq!(
                known_positions(&known, &[value.to_owned()]),
                [expected],
                "{value}"
            );
        };
        for (value, place) in [("1.0", 0), ("1e0", 0), ("TRUE", 1), ("05", 2), ("5", 3), ("0", 6)] {
            check(value, Some(place));
        }
        // Not the only 5; another number with the same f64; other words.
        for value in [
            "5.00",
            "9007199254740992",
            "9007199254740993.0",
            "one",
            "False",
            "",
        ] {
            check(value, None);
        }
    }
}

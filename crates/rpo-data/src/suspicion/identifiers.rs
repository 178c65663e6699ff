//! Numeric features that number or identify the samples.

use super::FEW;
use crate::dataset::Dataset;
use crate::names::Names;
use rpo_core::{MatrixView, csr_row};

/// Minimum number of samples from which on it is no coincidence that distinct numbers are consecutive; of fewer, a
/// feature such as an age may have each value once.
const MANY: usize = 100;

/// Returns the numeric features with a different whole number in every sample, if the numbers are consecutive in some
/// order, like those of rows, or if the name is that of an identifier.
pub(super) fn numbered(data: &Dataset) -> Vec<&str> {
    let x = data.features().view();
    let Names::Given(names) = data.feature_names() else {
        return Vec::new();
    };
    if x.n_rows() < FEW {
        return Vec::new();
    }
    let is_number = |feature: &usize| !data.nominal().contains_key(feature);
    let candidates = candidates(x).into_iter().filter(is_number);
    let numbered = candidates.filter(|&feature| {
        let values = whole_numbers(x, feature, x.n_rows());
        values.is_some_and(|values| {
            let is_range = values.len() >= MANY && is_range(&values);
            (is_range || is_name_of_identifier(&names[feature])) && are_distinct(values)
        })
    });
    numbered.map(|feature| names[feature].as_str()).collect()
}

/// Returns the features with distinct whole numbers in the first samples; only these have to be looked at further.
fn candidates(x: MatrixView<'_>) -> Vec<usize> {
    let is_candidate = |feature: usize| whole_numbers(x, feature, FEW).is_some_and(are_distinct);
    match x {
        MatrixView::Dense(_) => (0..x.n_cols()).filter(|&feature| is_candidate(feature)).collect(),
        // Of distinct numbers at most one is 0, so that one of any two samples stores the feature.
        MatrixView::Sparse(ref rows) => {
            let stored = [0, 1].map(|row| csr_row(rows, row).0);
            let mut stored: Vec<u32> = stored.concat();
            stored.sort_unstable();
            stored.dedup();
            let stored = stored.into_iter().map(|feature| feature as usize);
            stored.filter(|&feature| is_candidate(feature)).collect()
        }
    }
}

/// Returns the values of a feature in the first `n` samples; `None` if one is missing or has a fraction.
fn whole_numbers(x: MatrixView<'_>, feature: usize, n: usize) -> Option<Vec<f32>> {
    let value = |row: usize| match x {
        MatrixView::Dense(ref x) => x[[row, feature]],
        MatrixView::Sparse(ref rows) => {
            let (features, values) = csr_row(rows, row);
            let found = features.binary_search(&(feature as u32));
            found.map_or(0.0, |at| values[at])
        }
    };
    let is_whole = |value: &f32| value.fract() == 0.0;
    (0..n).map(|row| Some(value(row)).filter(is_whole)).collect()
}

/// Returns true if distinct numbers among these would be consecutive.
fn is_range(values: &[f32]) -> bool {
    let least = values.iter().copied().fold(f32::INFINITY, f32::min);
    let greatest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    f64::from(greatest) - f64::from(least) + 1.0 == values.len() as f64
}

fn are_distinct(mut values: Vec<f32>) -> bool {
    values.sort_unstable_by(f32::total_cmp);
    values.windows(2).all(|pair| pair[0] != pair[1])
}

/// Returns true for names such as `id`, `customer_id`, `userId` and `index`, and those of an index of pandas in CSV.
fn is_name_of_identifier(name: &str) -> bool {
    let is_index_of_pandas = name.is_empty() || name.starts_with("Unnamed: ");
    let last = name
        .rsplit(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let before = last.strip_suffix("Id").or_else(|| last.strip_suffix("ID"));
    let is_joined = before.is_some_and(|before| before.ends_with(char::is_lowercase));
    const WORDS: [&str; 7] = ["id", "identifier", "index", "idx", "key", "uid", "uuid"];
    let is_word = WORDS.iter().any(|word| last.eq_ignore_ascii_case(word));
    is_index_of_pandas || is_joined || is_word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Columns, Layout, Task};
    use ndarray::Array2;
    use proptest::prelude::*;

    #[test]
    fn names_of_identifiers_are_recognized() {
        for name in [
            "",
            "Unnamed: 0",
            "ID",
            "customer_id",
            "row index",
            "PassengerId",
            "userID",
            "key",
        ] {
            assert!(is_name_of_identifier(name), "{name}");
        }
        for name in ["humid", "GRID", "Id of mother", "width", "indexes", "Covid"] {
            assert!(!is_name_of_identifier(name), "{name}");
        }
    }

    /// A set with one feature beside one that is usually 0.
    fn named(name: &str, values: &[f32], layout: Layout) -> Dataset {
        let n = values.len();
        let x = Array2::from_shape_fn((n, 2), |(i, j)| match j {
            0 => f32::from(u8::from(i == 0)),
            _ => values[i],
        });
        let y = Array2::zeros((n, 1));
        let names = ["other", name].map(str::to_owned).to_vec();
        let data = Dataset::new(x.into(), y.into(), Task::Regression).unwrap();
        let data = data.with_names(Columns::Features, Names::Given(names)).unwrap();
        data.with_layout(layout, usize::MAX).unwrap()
    }

    #[test]
    fn numbers_of_rows_are_found() {
        let range: Vec<f32> = (0..MANY).map(|i| ((i * 7) % MANY) as f32 - 3.0).collect();
        let squares: Vec<f32> = (0..MANY).map(|i| (i * i) as f32).collect();
        let halves: Vec<f32> = range.iter().map(|value| value / 2.0).collect();
        let mut twice = range.clone();
        twice[MANY - 1] = twice[MANY - 2];
        let mut missing = range.clone();
        missing[MANY - 1] = f32::NAN;
        for layout in [Layout::Dense, Layout::Sparse] {
            let found = |name: &str, values: &[f32]| !numbered(&named(name, values, layout)).is_empty();
            assert!(found("x", &range) && found("id", &range) && found("id", &squares));
            assert!(!found("x", &squares) && !found("id", &halves) && !found("id", &missing));
            assert!(!found("id", &twice) && !found("x", &twice));
            // Fewer samples.
            let few: Vec<f32> = (0..MANY - 1).map(|i| i as f32).collect();
            assert!(found("id", &few) && !found("x", &few) && !found("id", &few[..FEW - 1]));
        }
    }

    proptest! {
        /// The definition, with a set in place of sorting and of a look at the first samples.
        #[test]
        fn numbered_features_have_consecutive_numbers(
            shuffled in Just((0..MANY + 2).collect::<Vec<_>>()).prop_shuffle(),
            n in MANY..=MANY + 2,
            changed in prop::option::of((0..MANY, 0..MANY)),
        ) {
            let mut values = shuffled[..n].to_vec();
            if let Some((from, to)) = changed {
                values[to] = values[from];
            }
            let set: std::collections::BTreeSet<usize> = values.iter().copied().collect();
            let is_range = set.last().unwrap() - set.first().unwrap() + 1 == n;
            let numbers: Vec<f32> = values.iter().map(|value| *value as f32).collect();
            for layout in [Layout::Dense, Layout::Sparse] {
                let found = |name: &str| !numbered(&named(name, &numbers, layout)).is_empty();
                prop_assert_eq!(found("x"), set.len() == n && is_range);
                prop_assert_eq!(found("id"), set.len() == n);
            }
        }
    }
}

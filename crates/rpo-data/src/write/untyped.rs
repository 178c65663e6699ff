//! Columns of words that a CSV file does not tell from numbers and dates.

use crate::dataset::Dataset;
use crate::read::is_typed;

/// Returns the names of the categories and of the columns of classes half of whose values or more are numbers, dates or
/// booleans: a CSV file has no types, so that its reader takes such a column for one of these, or for one with mistakes,
/// unless [`ReadOptions::types`](crate::read::ReadOptions::types) names it. Categories with the values 0 and 1 are equal
/// as numbers.
///
/// ```
/// use rpo_data::read::{ReadOptions, Targets, read_from};
/// use rpo_data::write::untyped_in_csv;
/// let text = "@attribute zip {1001, 1002, 2000}\n@attribute size {s, m, l}\n@attribute y {0, 1}\n@data\n1001,s,1\n";
/// let options = ReadOptions { targets: Targets::Last(1), ..ReadOptions::default() };
/// assert_eq!(untyped_in_csv(&read_from(text.as_bytes(), &options)?), ["zip"]);
/// # Ok::<(), rpo_data::read::ReadError>(())
/// ```
pub fn untyped_in_csv(data: &Dataset) -> Vec<String> {
    let names = data.feature_names();
    let categories = data
        .nominal()
        .iter()
        .filter(|(_, values)| ***values != ["0", "1"]);
    let categories = categories.filter_map(|(&feature, values)| {
        let name = names.get(feature)?.into_owned();
        Some((name, &values[..]))
    });
    let classes = data.class_columns().iter();
    let classes = classes.map(|column| (column.name.clone(), &column.classes[..]));
    let is_untyped = |values: &[String]| {
        let n_typed = values.iter().filter(|value| is_typed(value)).count();
        n_typed > 0 && 2 * n_typed >= values.len()
    };
    let found = categories.chain(classes).filter(|(_, values)| is_untyped(values));
    found.map(|(name, _)| name).collect()
}

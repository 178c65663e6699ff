//! Finds numbers and dates among the texts of a file with typed columns.

use crate::dataset::StoredAsText;
use crate::read::csv::MissingTexts;
use crate::read::date::Moment;
use crate::read::number;
use crate::read::options::ColumnType;

/// Returns what the values of a category are, if they are texts of which nearly all, at least two, are numbers or dates.
pub(super) fn stored_as_text(column: &str, values: &[String]) -> Option<StoredAsText> {
    let missing = MissingTexts::default();
    let present = values.iter().filter(|value| {
        let text = missing.present(value.trim_ascii().as_bytes());
        text.is_some()
    });
    let n_present = present.clone().count();
    let moment = |value: &str| Moment::parse(value.trim_ascii().as_bytes());
    let is_number = |value: &&String| number::parse(value.trim_ascii().as_bytes()).is_ok();
    let is_date = |value: &&String| moment(value).is_some();
    let nearly_all = |is: &dyn Fn(&&String) -> bool| {
        let n = present.clone().filter(is).count();
        n >= 2 && 10 * n >= 9 * n_present
    };
    let of = |kind, is: &dyn Fn(&&String) -> bool| {
        Some(StoredAsText {
            column: column.to_owned(),
            kind,
            value: present.clone().find(is)?.clone(),
            other: present.clone().find(|value| !is(value)).cloned(),
        })
    };
    if nearly_all(&is_number) {
        return of(ColumnType::Number, &is_number);
    }
    if nearly_all(&is_date) {
        let mut moments = present.clone().filter_map(|value| moment(value));
        let has_time = moments.any(|moment| moment.has_time);
        let kind = if has_time {
            ColumnType::DateTime
        } else {
            ColumnType::Date
        };
        return of(kind, &is_date);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_all_texts_decide() {
        let found = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
            stored_as_text("x", &values).map(|found| (found.kind, found.other))
        };
        let many: Vec<String> = (0..9).map(|i| format!("{i}.5")).collect();
        let mut many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(found(&many), Some((ColumnType::Number, None)));
        // Read as missing values.
        many.extend(["", " NA", " 3"]);
        assert_eq!(found(&many), Some((ColumnType::Number, None)));
        many.push("n/a");
        assert_eq!(found(&many), Some((ColumnType::Number, Some("n/a".to_owned()))));
        many.push("none");
        assert_eq!(found(&many), None);
        let date = "2024-01-31";
        assert_eq!(found(&[date, "2024-02-01"]), Some((ColumnType::Date, None)));
        let time = "2024-02-01 12:30";
        assert_eq!(found(&[date, time]), Some((ColumnType::DateTime, None)));
        for words in [&[date][..], &["1"], &["1", "2", date], &["true", "false"], &[]] {
            assert_eq!(found(words), None, "{words:?}");
        }
    }
}

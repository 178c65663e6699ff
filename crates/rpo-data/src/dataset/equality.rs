//! When sets are equal.

use super::Dataset;

/// Sets are equal if they have the same name and hold the same data, whatever was noted when they were read, however
/// their files number features, and whatever stands for missing values there.
impl PartialEq for Dataset {
    fn eq(&self, other: &Self) -> bool {
        // All fields are named, so that a new one is not forgotten.
        let Self {
            name,
            notes: _,
            first_feature: _,
            missing_values: _,
            task,
            features,
            outputs,
            feature_names,
            output_names,
            label_column,
            class_columns,
            labels_beside,
            nominal,
            texts,
            dates,
            weights,
            ids,
            groups,
        } = self;
        *name == other.name
            && *task == other.task
            && *feature_names == other.feature_names
            && *output_names == other.output_names
            && *label_column == other.label_column
            && *class_columns == other.class_columns
            && *labels_beside == other.labels_beside
            && *nominal == other.nominal
            && *texts == other.texts
            && *dates == other.dates
            && *weights == other.weights
            && *ids == other.ids
            && *groups == other.groups
            && *features == other.features
            && *outputs == other.outputs
    }
}

#[cfg(test)]
mod tests {
    use crate::dataset::Dataset;
    use crate::read::{ReadOptions, read_from};

    fn read(text: &str) -> Dataset {
        read_from(text.as_bytes(), &ReadOptions::default()).unwrap()
    }

    #[test]
    fn notes_on_a_file_do_not_make_data_different() {
        let (plain, noted) = (read("1 1:16777216\n0 1:2\n"), read("1 1:16777217\n\n0 1:2\n"));
        assert_ne!(plain.notes, noted.notes);
        assert!(noted.notes.empty_lines.is_some() && noted.notes.rounded.len() == 1);
        assert_eq!(plain, noted);
        assert_ne!(plain, read("1 1:16777216\n1 1:2\n"));
        // What is selected keeps the notes.
        let part = noted.select_samples(&[0]).unwrap();
        assert_eq!(part.select_outputs(&[0]).unwrap().notes, noted.notes);
    }
}

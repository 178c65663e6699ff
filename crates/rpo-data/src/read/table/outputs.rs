//! Makes outputs of targets: those of words become a label, or one label per class.

use crate::builder::MatrixBuilder;
use crate::dataset::{ClassColumn, LeftOut, Task};
use crate::read::known_positions;
use crate::read::label_words::LabelWords;
use crate::read::typed::order_of_words;
use rpo_core::Matrix;

/// How the values of a target become outputs.
pub(super) enum Target {
    /// An output with these values.
    Value,
    /// A label: for each position of a word, its value.
    Label(Vec<f32>),
    /// An output for each class.
    Classes {
        classes: Vec<String>,
        /// For each position of a word, the class; or the word, if it is not a known class.
        of_word: Vec<Result<u32, String>>,
    },
}

impl Target {
    fn n_outputs(&self) -> u32 {
        match self {
            Self::Value | Self::Label(_) => 1,
            Self::Classes { classes, .. } => classes.len() as u32,
        }
    }

    /// The target of a column of words. If class columns are known, it has the classes of the one with its name. Otherwise
    /// the words of a label make it a label, and others are classes: in their order if they are declared, or else
    /// sorted.
    pub(super) fn of_words(
        name: &str,
        words: &[String],
        are_declared: bool,
        known: Option<&[ClassColumn]>,
    ) -> Self {
        if let Some(column) = known.and_then(|known| known.iter().find(|column| column.name == name)) {
            let positions = known_positions(&column.classes, words).into_iter().zip(words);
            let of_word =
                positions.map(|(position, word)| position.map(|p| p as u32).ok_or_else(|| word.clone()));
            return Self::Classes {
                classes: column.classes.clone(),
                of_word: of_word.collect(),
            };
        }
        let mut label = LabelWords::default();
        let values: Option<Vec<f32>> = words
            .iter()
            .map(|word| label.value(word.as_bytes()).map(|value| value as f32))
            .collect();
        if let Some(values) = values {
            return Self::Label(values);
        }
        let places = match are_declared {
            true => (0..words.len() as u32).collect(),
            false => order_of_words(words),
        };
        let mut classes = vec![String::new(); words.len()];
        for (word, &place) in words.iter().zip(&places) {
            classes[place as usize].clone_from(word);
        }
        Self::Classes {
            classes,
            of_word: places.into_iter().map(Ok).collect(),
        }
    }
}

/// The outputs of a table.
pub(super) struct Outputs {
    pub(super) values: Matrix,
    pub(super) names: Vec<String>,
    pub(super) class_columns: Vec<ClassColumn>,
    /// The outputs that are labels beside numbers.
    pub(super) labels_beside: Vec<usize>,
    /// Classes of samples that are not known.
    pub(super) others: LeftOut,
}

impl Outputs {
    /// Makes outputs of the targets with these names, whose values are in the columns of a matrix. Beside numbers, targets
    /// of words are labels, and so are those of 0 and 1 alone unless all are declared to be numbers.
    pub(super) fn new(values: Matrix, targets: Vec<(String, Target)>, task: Task, are_numbers: bool) -> Self {
        let are_labels = match task {
            Task::Regression if !are_numbers => values.view().binary_columns(),
            _ => vec![false; targets.len()],
        };
        let mut outputs = Self {
            values,
            names: Vec::new(),
            class_columns: Vec::new(),
            labels_beside: Vec::new(),
            others: LeftOut::default(),
        };
        if targets.iter().all(|(_, target)| matches!(target, Target::Value)) {
            outputs.names = targets.into_iter().map(|(name, _)| name).collect();
            outputs.labels_beside = (0..are_labels.len()).filter(|&j| are_labels[j]).collect();
            return outputs;
        }
        for ((name, target), is_label) in targets.iter().zip(are_labels) {
            let Target::Classes { classes, .. } = target else {
                let is_label = is_label && matches!(target, Target::Value);
                if (is_label || matches!(target, Target::Label(_))) && task == Task::Regression {
                    outputs.labels_beside.push(outputs.names.len());
                }
                outputs.names.push(name.clone());
                continue;
            };
            let column = ClassColumn {
                name: name.clone(),
                first: outputs.names.len(),
                classes: classes.clone(),
            };
            outputs.names.extend(column.output_names());
            outputs.class_columns.push(column);
        }
        let is_dense = task == Task::Regression;
        let mut builder = match is_dense {
            true => MatrixBuilder::dense(outputs.names.len()),
            false => MatrixBuilder::sparse(outputs.names.len()),
        };
        let mut row = vec![0.0; targets.len()];
        for sample in 0..outputs.values.n_rows() {
            outputs.values.view().copy_row(sample, &mut row);
            let mut output = 0;
            for ((name, target), &value) in targets.iter().zip(&row) {
                let n = target.n_outputs();
                match target {
                    Target::Value => builder.push(output, value),
                    Target::Label(_) if value.is_nan() => builder.push(output, value),
                    Target::Label(values) => builder.push(output, values[value as usize]),
                    Target::Classes { .. } if value.is_nan() => {
                        (0..n).for_each(|j| builder.push(output + j, value));
                    }
                    Target::Classes { of_word, .. } => {
                        let class = of_word[value as usize].as_ref();
                        if let Err(word) = class {
                            outputs.others.add(sample, &format!("{name}={word}"));
                        }
                        match class {
                            _ if is_dense => {
                                (0..n).for_each(|j| {
                                    builder.push(output + j, f32::from(u8::from(class == Ok(&j))));
                                });
                            }
                            Ok(class) => builder.push(output + class, 1.0),
                            Err(_) => {}
                        }
                    }
                }
                output += n;
            }
            builder.end_row();
        }
        outputs.values = builder.finish();
        outputs
    }
}

//! Predictions in the form of the targets of a table.

use crate::{Model, ModelError};
use ndarray::ArrayView2;
use rpo_core::{Mismatch, Predictor, csr_row};
use rpo_data::{ClassColumn, TargetOutputs};
use std::borrow::Cow;

/// The predicted value of a target, in the form in which a table holds it.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetValue<'a> {
    /// A number.
    Number(f32),
    /// A label: true if it is predicted.
    Label(bool),
    /// The class of a column of classes.
    Class(&'a str),
    /// The labels of a column that lists them.
    Labels(Vec<Cow<'a, str>>),
}

impl Model {
    /// Names of the columns of [`target_values`](Self::target_values): the targets of the training table, or the outputs
    /// of a model with several levels of each.
    pub fn value_columns(&self) -> Vec<String> {
        let schema = self.schema();
        match &schema.label_column {
            Some(column) => vec![column.name.clone()],
            None if schema.outputs_per_target() > 1 => {
                schema.output_names.iter().map(Cow::into_owned).collect()
            }
            None => schema.target_columns(),
        }
    }

    /// Turns scores (rows x d) into the values of targets, one list per row: the class that is predicted for a column of
    /// classes, true for a predicted label, the list of predicted labels for a column of lists, and the score of a
    /// number. Labels are decided by the model's rule ([`decide`](Self::decide)).
    ///
    /// ```
    /// use rpo::data::read::{ReadOptions, Targets, read_from};
    /// use rpo::prelude::*;
    /// use rpo::TargetValue;
    /// let text = "x,grade,price\n1,gold,9\n2,silver,5\n1,gold,8\n2,silver,6\n";
    /// let options = ReadOptions { targets: Targets::Last(2), ..ReadOptions::default() };
    /// let data = read_from(text.as_bytes(), &options)?;
    /// let model = Model::fit(&Method::named("extra-trees")?, &data)?;
    /// let scores = model.predict(data.features().view())?;
    /// assert_eq!(model.value_columns(), ["grade", "price"]);
    /// let values = model.target_values(scores.view())?;
    /// assert_eq!(values[0], [TargetValue::Class("gold"), TargetValue::Number(8.5)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Scores for another number of outputs; those of [`decide`](Self::decide).
    pub fn target_values(
        &self,
        scores: ArrayView2<'_, f32>,
    ) -> Result<Vec<Vec<TargetValue<'_>>>, ModelError> {
        let schema = self.schema();
        Mismatch::check("columns of the scores", self.n_outputs(), scores.ncols())?;
        let labels = self.labels();
        let decided = match labels.is_empty() {
            true => None,
            false => Some(self.decide(scores)?),
        };
        let mut is_label = vec![false; self.n_outputs()];
        labels.iter().for_each(|&label| is_label[label] = true);
        let targets = ClassColumn::targets(&schema.class_columns, self.n_outputs());
        let mut is_decided = vec![false; self.n_outputs()];
        let rows = scores.rows().into_iter().enumerate().map(|(row, scores)| {
            let decided: Vec<usize> = match &decided {
                None => Vec::new(),
                Some(decided) => csr_row(&decided.view(), row)
                    .0
                    .iter()
                    .map(|&j| j as usize)
                    .collect(),
            };
            if schema.label_column.is_some() {
                let name = |&label: &usize| schema.output_names.get(label).unwrap_or_default();
                return vec![TargetValue::Labels(decided.iter().map(name).collect())];
            }
            decided.iter().for_each(|&label| is_decided[label] = true);
            let values = targets.iter().map(|target| match *target {
                TargetOutputs::Classes(column) => {
                    let decided = column.outputs().find(|&label| is_decided[label]);
                    TargetValue::Class(&column.classes[decided.map_or(0, |label| label - column.first)])
                }
                TargetOutputs::One(output) if is_label[output] => TargetValue::Label(is_decided[output]),
                TargetOutputs::One(output) => TargetValue::Number(scores[output]),
            });
            let values = values.collect();
            decided.iter().for_each(|&label| is_decided[label] = false);
            values
        });
        Ok(rows.collect())
    }
}

//! Selection of samples and columns, joining of sets.

use super::{Dataset, DatasetError, check_range};
use crate::builder::MatrixBuilder;
use rpo_core::{Matrix, MatrixView};
use std::sync::Arc;

impl Dataset {
    /// Returns the given samples, in the given order; samples may repeat.
    ///
    /// # Errors
    /// [`DatasetError::OutOfRange`].
    pub fn select_samples(&self, samples: &[usize]) -> Result<Self, DatasetError> {
        check_range("sample", samples, self.n_samples())?;
        Ok(self.samples_in_range(samples))
    }

    /// Returns the given samples, which exist.
    pub(super) fn samples_in_range(&self, samples: &[usize]) -> Self {
        Self {
            features: self.features.view().select_rows(samples),
            outputs: self.outputs.view().select_rows(samples),
            weights: self.weights.select_samples(samples),
            ids: self
                .ids()
                .map(|ids| samples.iter().map(|&i| ids[i].clone()).collect()),
            groups: self
                .groups()
                .map(|groups| samples.iter().map(|&i| groups[i]).collect()),
            ..self.without_matrices()
        }
    }

    /// Returns the given features with their names and kinds, in increasing order without repetition, whatever the
    /// given order. The terms of a text, and the parts of a date, become plain numbers if some of them are left out.
    ///
    /// # Errors
    /// [`DatasetError::OutOfRange`].
    pub fn select_features(&self, features: &[usize]) -> Result<Self, DatasetError> {
        check_range("feature", features, self.n_features())?;
        let kept = sorted(features);
        let nominal = kept
            .iter()
            .enumerate()
            .filter_map(|(new, old)| self.nominal.get(old).map(|values| (new, Arc::clone(values))))
            .collect();
        // A column of several features is kept only if it has all of them.
        let whole = |first: usize, n: usize| {
            let new = kept.binary_search(&first).ok()?;
            let last = kept.get(new + n - 1)?;
            (*last == first + n - 1).then_some(new)
        };
        let texts = self.texts.iter();
        let texts = texts.filter_map(|(&first, c)| Some((whole(first, c.n_features())?, Arc::clone(c))));
        let dates = self.dates.iter();
        let dates = dates.filter_map(|(&first, c)| Some((whole(first, c.n_features())?, c.clone())));
        let (texts, dates) = (texts.collect(), dates.collect());
        Ok(Self {
            features: select_columns(self.features.view(), &kept),
            outputs: self.outputs.clone(),
            feature_names: self.feature_names.select(&kept),
            nominal,
            texts,
            dates,
            ..self.without_matrices()
        })
    }

    /// Returns the given outputs with their names, in increasing order without repetition, whatever the given order.
    ///
    /// # Errors
    /// [`DatasetError::OutOfRange`].
    pub fn select_outputs(&self, outputs: &[usize]) -> Result<Self, DatasetError> {
        check_range("output", outputs, self.n_outputs())?;
        let kept = sorted(outputs);
        Ok(Self {
            features: self.features.clone(),
            outputs: select_columns(self.outputs.view(), &kept),
            output_names: self.output_names.select(&kept),
            class_columns: self.class_columns_within(&kept),
            labels_beside: (0..kept.len())
                .filter(|&new| self.labels_beside.binary_search(&kept[new]).is_ok())
                .collect(),
            weights: self.weights.select_outputs(&kept),
            ..self.without_matrices()
        })
    }

    /// Returns the samples of this set followed by those of another with the same columns. The features of the result
    /// are sparse if those of either set are sparse. Groups of equal numbers in both sets are one group.
    ///
    /// # Errors
    /// [`DatasetError::Incompatible`] if task, names or kinds differ, or only one has weights, identifiers or groups.
    pub fn concat(&self, other: &Self) -> Result<Self, DatasetError> {
        let same = [
            (self.task == other.task, "task"),
            (self.feature_names == other.feature_names, "features"),
            (self.output_names == other.output_names, "outputs"),
            (self.class_columns == other.class_columns, "columns of classes"),
            (self.labels_beside == other.labels_beside, "labels"),
            (self.nominal == other.nominal, "nominal features"),
            (self.texts == other.texts, "texts"),
            (self.dates == other.dates, "dates"),
            (self.weights.is_like(&other.weights), "weights: one has them"),
            (
                self.ids().is_some() == other.ids().is_some(),
                "identifiers: one has them",
            ),
            (
                self.groups().is_some() == other.groups().is_some(),
                "groups: one has them",
            ),
        ];
        if let Some((_, what)) = same.iter().find(|(same, _)| !same) {
            return Err(DatasetError::Incompatible(what));
        }
        Ok(Self {
            features: stack(self.features.view(), other.features.view()),
            outputs: stack(self.outputs.view(), other.outputs.view()),
            weights: self.weights.concat(&other.weights),
            ids: self
                .ids()
                .zip(other.ids())
                .map(|(a, b)| a.iter().chain(b).cloned().collect()),
            groups: self
                .groups()
                .zip(other.groups())
                .map(|(a, b)| a.iter().chain(b).copied().collect()),
            ..self.without_matrices()
        })
    }
}

fn sorted(columns: &[usize]) -> Vec<usize> {
    let mut kept = columns.to_vec();
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Selects the given columns, which must increase.
pub(crate) fn select_columns(a: MatrixView<'_>, columns: &[usize]) -> Matrix {
    match a {
        MatrixView::Dense(a) => Matrix::Dense(a.select(ndarray::Axis(1), columns)),
        MatrixView::Sparse(_) => {
            let mut builder = MatrixBuilder::sparse(columns.len());
            for row in 0..a.n_rows() {
                a.for_each_in_row(row, |j, v| {
                    if let Ok(new) = columns.binary_search(&(j as usize)) {
                        builder.push(new as u32, v);
                    }
                });
                builder.end_row();
            }
            builder.finish()
        }
    }
}

fn stack<'a>(a: MatrixView<'a>, b: MatrixView<'a>) -> Matrix {
    let mut builder = match (a, b) {
        (MatrixView::Dense(_), MatrixView::Dense(_)) => MatrixBuilder::dense(a.n_cols()),
        _ => MatrixBuilder::sparse(a.n_cols()),
    };
    for part in [a, b] {
        builder.push_rows(part);
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tests::mixed;
    use super::*;
    use crate::dataset::{Layout, Weighting};
    use rpo_core::WeightError;

    #[test]
    fn columns_keep_names_and_kinds() {
        let data = mixed().select_features(&[2, 1]).unwrap();
        assert_eq!(data.feature_names(), &["1", "2"].into_iter().collect());
        let values = data.nominal().iter().map(|(&j, values)| (j, values.len()));
        assert!(values.eq([(1, 3)]));
        let data = data.select_outputs(&[1]).unwrap();
        assert_eq!(data.label_statistics().counts, [1]);
    }

    #[test]
    fn weights_go_with_their_samples() {
        let data = mixed();
        let n = data.n_samples();
        let weights: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let weighted = data.clone().with_weights(weights.clone()).unwrap();
        let chosen = weighted.select_samples(&[2, 0, 2]).unwrap();
        assert_eq!(chosen.weights(), Some(&[2.0, 0.0, 2.0][..]));
        let joined = weighted.concat(&chosen).unwrap();
        assert_eq!(joined.weights().unwrap()[n..], [2.0, 0.0, 2.0]);
        assert!(matches!(
            weighted.concat(&data),
            Err(DatasetError::Incompatible(_))
        ));
        let refused = |weights: Vec<f32>| data.clone().with_weights(weights).unwrap_err();
        assert!(matches!(refused(vec![1.0; n + 1]), DatasetError::Mismatch(_)));
        let mut negative = weights;
        negative[1] = -1.0;
        assert_eq!(
            refused(negative),
            WeightError::OutOfRange {
                sample: 1,
                value: -1.0
            }
            .into()
        );
        assert_eq!(refused(vec![0.0; n]), WeightError::AllZero.into());
    }

    #[test]
    fn identifiers_are_joined_or_refused() {
        let data = mixed();
        let ids: Vec<String> = (0..data.n_samples()).map(|i| i.to_string()).collect();
        let named = data.clone().with_ids(ids.clone()).unwrap();
        let joined = named.concat(&named).unwrap();
        assert_eq!(joined.ids().unwrap(), [&ids[..], &ids].concat());
        assert_eq!(data.concat(&data).unwrap().ids(), None);
        for (a, b) in [(&data, &named), (&named, &data)] {
            let refused = a.concat(b).unwrap_err();
            assert_eq!(refused, DatasetError::Incompatible("identifiers: one has them"));
        }
    }

    #[test]
    fn a_feature_becomes_the_weights() {
        for layout in [Layout::Dense, Layout::Sparse] {
            let data = mixed().select_features(&[0, 2]).unwrap();
            let data = data.with_layout(layout, usize::MAX).unwrap();
            let mut values = vec![0.0; 2];
            let weighted = data.clone().with_weights(Weighting::Feature(1)).unwrap();
            for (sample, weight) in weighted.weights().unwrap().iter().enumerate() {
                data.features().view().copy_row(sample, &mut values);
                assert_eq!(*weight, values[1]);
            }
            assert_eq!(weighted.feature_names(), &["0"].into_iter().collect());
            assert!(matches!(
                data.with_weights(Weighting::Feature(2)),
                Err(DatasetError::OutOfRange { .. })
            ));
        }
    }
}

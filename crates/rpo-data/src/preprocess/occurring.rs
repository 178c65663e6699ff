//! Leaves out the features that are 0 in all training samples.

use super::expansion::Columns;
use super::kinds::Kinds;
use super::step::{Fitted, Step, restored};
use super::{Nominal, PreprocessError, Steps};
use crate::builder::MatrixBuilder;
use crate::dataset::Dataset;
use rpo_core::store::{Reader, StoreError, Writer};
use rpo_core::{Domain, Matrix, MatrixView, Mismatch, ParameterError};

/// The name of the stored features.
const FEATURES: &str = "occurring.feature";
/// Number of features from which on they are left out, if fewer than half occur: hashed terms are spread over 2^20 features
/// and more, of which a model would hold a weight each.
const MANY: usize = 1 << 16;

/// The features that some training sample has, with another value than 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Occurring {
    n_features: usize,
    /// Increasing.
    features: Vec<u32>,
}

impl Occurring {
    fn new(n_features: usize, features: Vec<u32>) -> Result<Self, PreprocessError> {
        let mut next = 0;
        for &feature in &features {
            let expected = "increasing numbers of features";
            let in_order = (next..n_features).contains(&(feature as usize));
            ParameterError::unless(in_order, FEATURES, feature, expected)?;
            next = feature as usize + 1;
        }
        Ok(Self { n_features, features })
    }

    /// The features of a matrix; `None` if it is not wide, or if none or at least half of its features occur.
    fn fit(x: MatrixView<'_>) -> Option<Self> {
        let n_features = x.n_cols();
        if n_features < MANY {
            return None;
        }
        let mut bits = vec![0_u64; n_features.div_ceil(64)];
        for row in 0..x.n_rows() {
            x.for_each_in_row(row, |feature, value| {
                bits[feature as usize / 64] |= u64::from(value != 0.0) << (feature % 64);
            });
        }
        let n_occurring: usize = bits.iter().map(|word| word.count_ones() as usize).sum();
        if n_occurring == 0 || 2 * n_occurring >= n_features {
            return None;
        }
        let mut features = Vec::with_capacity(n_occurring);
        for (word, first) in bits.iter().zip((0..).step_by(64)) {
            features.extend(
                (0..64)
                    .filter(|bit| word >> bit & 1 == 1)
                    .map(|bit: u32| first + bit),
            );
        }
        Some(Self { n_features, features })
    }
}

impl Columns for Occurring {
    fn n_columns(&self) -> usize {
        self.features.len()
    }

    fn sources(&self) -> Vec<usize> {
        self.features.iter().map(|feature| *feature as usize).collect()
    }

    /// Columns of several features are no whole any more.
    fn place_of_several(&self, _: usize) -> Option<usize> {
        None
    }
}

impl Step for Occurring {
    fn fit_transform(steps: Steps<'_>, data: &Dataset) -> Fitted<Self> {
        let found = steps.leave_out_absent.then(|| Self::fit(data.features().view()));
        match found.flatten() {
            Some(step) => step.fitted(data),
            None => Ok(None),
        }
    }

    fn transform(&self, x: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        Mismatch::check("features", self.n_features, x.n_cols())?;
        let mut builder = match x {
            MatrixView::Dense(_) => MatrixBuilder::dense(self.n_columns()),
            MatrixView::Sparse(_) => MatrixBuilder::sparse(self.n_columns()),
        };
        for row in 0..x.n_rows() {
            // The features of a row increase.
            let mut next = 0;
            x.for_each_in_row(row, |feature, value| {
                next += self.features[next..].partition_point(|known| *known < feature);
                if self.features.get(next) == Some(&feature) {
                    builder.push(next as u32, value);
                }
            });
            builder.end_row();
        }
        Ok(builder.finish())
    }

    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.array(FEATURES, &self.features)
    }

    fn restore(from: &mut Reader<'_>, kinds: &Kinds) -> Result<Option<Self>, StoreError> {
        if !from.has(FEATURES) {
            return Ok(None);
        }
        let features = from.array::<u32>(FEATURES)?.to_vec();
        let count = Domain::Count
            .check("features", features.len())
            .map_err(Into::into);
        restored(count.and_then(|()| Self::new(kinds.n_features, features)))
    }

    fn columns(&self) -> Option<&dyn Columns> {
        Some(self)
    }

    fn nominal(&self, before: Nominal) -> Nominal {
        let place = |feature: usize| self.features.binary_search(&(feature as u32)).ok();
        let place = |(feature, values)| Some((place(feature)?, values));
        before.into_iter().filter_map(place).collect()
    }

    fn feature_name(&self, before: &dyn Fn(usize) -> Option<String>, column: usize) -> Option<String> {
        before(*self.features.get(column)? as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Task;
    use proptest::prelude::*;
    use rpo_core::{CsrMatrix, csr_of_rows};

    fn rows(cells: &[Vec<(u32, f32)>], p: usize) -> CsrMatrix {
        csr_of_rows(cells.iter(), (cells.len(), p))
    }

    proptest! {
        #[test]
        fn features_that_occur_keep_their_values(
            train in prop::collection::vec(prop::collection::btree_map(0..100_000_u32, -2_i8..3, 0..20), 1..6),
            other in prop::collection::vec(prop::collection::btree_map(0..100_000_u32, 1_i8..3, 0..20), 1..6),
        ) {
            const P: usize = 100_000;
            let value = |(feature, v): (&u32, &i8)| (*feature, if *v == -2 { f32::NAN } else { f32::from(*v) });
            let cells = |samples: &[std::collections::BTreeMap<u32, i8>]| -> Vec<Vec<(u32, f32)>> {
                samples.iter().map(|sample| sample.iter().map(value).collect()).collect()
            };
            let (train, mut other) = (cells(&train), cells(&other));
            other.extend(train.clone());
            let y = ndarray::Array2::zeros((train.len(), 1)).into();
            let data = Dataset::new(rows(&train, P).into(), y, Task::Regression).unwrap();
            let steps = Steps { leave_out_absent: true, ..Steps::default() };
            let pipeline = steps.fit(&data).unwrap();
            let mut kept: Vec<u32> = train.iter().flatten().filter(|(_, v)| *v != 0.0).map(|(j, _)| *j).collect();
            kept.sort_unstable();
            kept.dedup();
            prop_assume!(!kept.is_empty());
            let sources: Vec<u32> = pipeline.sources().iter().map(|j| *j as u32).collect();
            prop_assert_eq!(&sources, &kept);
            prop_assert_eq!(pipeline.n_columns(), kept.len());
            let other_rows = rows(&other, P);
            let made = pipeline.transform(MatrixView::Sparse(other_rows.view())).unwrap();
            let dense = other_rows.to_dense();
            let of_dense = pipeline.transform((&dense).into()).unwrap();
            prop_assert!(matches!(of_dense, Matrix::Dense(_)));
            let bits = |x: &Matrix| -> Vec<u32> {
                x.view().to_dense(usize::MAX).unwrap().iter().map(|v| v.to_bits()).collect()
            };
            prop_assert_eq!(bits(&of_dense), bits(&made));
            for (row, cells) in other.iter().enumerate() {
                let mut found = Vec::new();
                made.view().for_each_in_row(row, |j, v| found.push((kept[j as usize], v.to_bits())));
                let expected: Vec<(u32, u32)> = cells.iter()
                    .filter(|(j, v)| *v != 0.0 && kept.binary_search(j).is_ok())
                    .map(|(j, v)| (*j, v.to_bits()))
                    .collect();
                prop_assert_eq!(found, expected);
            }
            let names = data.feature_names();
            let name = |column: usize| pipeline.feature_name(names, column);
            prop_assert!((0..kept.len()).all(|column| name(column) == Some(kept[column].to_string())));
            let mut out = Writer::default();
            rpo_core::store::Store::store(&pipeline, &mut out).unwrap();
            let stored = out.finish().unwrap();
            let again = super::super::Pipeline::restore(&mut stored.reader(), P, data.nominal(), data.texts());
            prop_assert_eq!(again, Ok(pipeline));
        }
    }

    #[test]
    fn few_features_and_those_that_mostly_occur_stay() {
        let fitted = |p: usize, n_occurring: u32| {
            let cells = vec![(0..n_occurring).map(|j| (2 * j, 1.0)).collect()];
            Occurring::fit(MatrixView::Sparse(rows(&cells, p).view())).map(|step| step.features.len())
        };
        assert_eq!(fitted(MANY - 1, 3), None);
        assert_eq!([fitted(MANY, 0), fitted(MANY, 3)], [None, Some(3)]);
        assert_eq!(fitted(MANY, MANY as u32 / 2), None);
        assert_eq!(fitted(MANY, MANY as u32 / 2 - 1), Some(MANY / 2 - 1));
    }

    #[test]
    fn other_orders_are_refused() {
        assert!(Occurring::new(5, vec![0, 4]).is_ok());
        for features in [vec![3, 3], vec![3, 2], vec![5]] {
            assert!(Occurring::new(5, features).is_err());
        }
    }
}

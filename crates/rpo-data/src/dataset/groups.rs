//! Groups of samples that belong together.

use super::{Dataset, DatasetError};
use rpo_core::Mismatch;
use std::collections::BTreeSet;

impl Dataset {
    /// Sets the group of each sample, such as the patient, customer or document that it belongs to: samples of equal
    /// numbers are one group. Wherever some samples are withheld from others, by [`Split`](crate::split::Split) or in
    /// training, whole groups are. Without this, a model is scored on samples of groups that it was fitted to, and so
    /// too well for new groups. Groups are no features, and nothing else depends on them.
    ///
    /// ```
    /// use ndarray::Array2;
    /// use rpo_data::Seed;
    /// use rpo_data::split::group_numbers;
    /// use rpo_data::{Dataset, Task};
    /// let data = Dataset::new(Array2::zeros((4, 1)).into(), Array2::zeros((4, 1)).into(), Task::Regression)?;
    /// let data = data.with_groups(group_numbers(&["ann", "bob", "ann", "bob"]))?;
    /// assert_eq!(data.groups(), Some(&[0, 1, 0, 1][..]));
    /// let (train, test) = data.split(0.5, Seed::new(1))?;
    /// assert_eq!(train.n_groups() + test.n_groups(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`DatasetError::Mismatch`] unless there is a group for each sample.
    pub fn with_groups(mut self, groups: Vec<u32>) -> Result<Self, DatasetError> {
        Mismatch::check("groups of the samples", self.n_samples(), groups.len())?;
        self.groups = Some(groups.into());
        Ok(self)
    }

    /// The group of each sample; `None` if every sample is on its own.
    pub fn groups(&self) -> Option<&[u32]> {
        self.groups.as_deref()
    }

    /// The number of groups; without groups that of the samples.
    pub fn n_groups(&self) -> usize {
        let n_distinct = |groups: &[u32]| groups.iter().collect::<BTreeSet<_>>().len();
        self.groups().map_or(self.n_samples(), n_distinct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Task;
    use ndarray::Array2;

    fn data() -> Dataset {
        let values = || Array2::zeros((4, 2)).into();
        Dataset::new(values(), values(), Task::Regression).unwrap()
    }

    #[test]
    fn groups_go_with_their_samples() {
        let data = data().with_groups(vec![7, 7, 3, 9]).unwrap();
        assert_eq!(data.n_groups(), 3);
        let some = data.select_samples(&[3, 1, 0]).unwrap();
        assert_eq!((some.groups(), some.n_groups()), (Some(&[9, 7, 7][..]), 2));
        let narrow = some.select_features(&[0]).unwrap().select_outputs(&[1]).unwrap();
        assert_eq!(narrow.groups(), some.groups());
        let weighted = data.clone().with_weights(vec![1.0, 0.0, 1.0, 1.0]).unwrap();
        assert_eq!(weighted.for_training().groups(), Some(&[7, 3, 9][..]));
        let joined = data.concat(&some).unwrap();
        assert_eq!(joined.groups(), Some(&[7, 7, 3, 9, 9, 7, 7][..]));
        assert_ne!(data, self::data());
        let other = self::data().with_groups(vec![7, 7, 3, 3]).unwrap();
        assert_ne!(data, other);
        for (one, other) in [(&data, &self::data()), (&self::data(), &data)] {
            let refused = one.concat(other).unwrap_err();
            assert_eq!(refused, DatasetError::Incompatible("groups: one has them"));
        }
    }

    #[test]
    fn every_sample_has_a_group_or_none_has() {
        assert_eq!((data().groups(), data().n_groups()), (None, 4));
        let refused = data().with_groups(vec![1, 2, 3]).unwrap_err();
        assert_eq!(
            refused,
            Mismatch::check("groups of the samples", 4, 3).unwrap_err().into()
        );
    }
}

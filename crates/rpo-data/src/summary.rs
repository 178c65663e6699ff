//! A summary of a data set in a few figures.

use crate::{Dataset, Imbalance, LabelStatistics, Task};
use rpo_core::Matrix;
use serde_json::{Value, json};

impl Dataset {
    /// Returns the figures that describe the set, by name: its sizes, `task`, `layout`, `feature_density`,
    /// `missing_features`, `missing_outputs`, the number of features that are `categories`, and the number of samples
    /// that are `duplicates` of an earlier one. A set without outputs has no `task`. For labels also `cardinality` and
    /// `density` (means over samples), `unlabelled` samples, labels that `never` occur, distinct `label_sets`,
    /// imbalance (`mean_ir`, `max_ir`) and `scumble`, which are based on the [statistics of the
    /// labels](Self::label_statistics).
    ///
    /// ```
    /// use rpo_data::Seed;
    /// use rpo_data::generate::{Generator, MultiLabelSet};
    ///
    /// let data = MultiLabelSet::new(100, 30, 20).generate(Seed::new(1))?;
    /// assert_eq!(data.summary(&data.label_statistics())[0], ("n_samples", 100.into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn summary(&self, statistics: &LabelStatistics) -> Vec<(&'static str, Value)> {
        let layout = match self.features() {
            Matrix::Dense(_) => "dense",
            Matrix::Sparse(_) => "sparse",
        };
        let mut summary: Vec<(&'static str, Value)> = vec![
            ("n_samples", self.n_samples().into()),
            ("n_features", self.n_features().into()),
            ("n_outputs", self.n_outputs().into()),
            ("layout", layout.into()),
            ("feature_density", self.feature_density().into()),
            ("missing_features", self.n_missing().into()),
            ("missing_outputs", self.n_missing_outputs().into()),
            ("categories", self.nominal().len().into()),
            ("duplicates", self.n_duplicates().into()),
        ];
        if self.n_outputs() == 0 {
            return summary;
        }
        summary.insert(3, ("task", json!(self.task())));
        if self.task() == Task::MultiLabel {
            summary.extend(self.label_summary(statistics));
        }
        summary
    }

    fn label_summary(&self, statistics: &LabelStatistics) -> [(&'static str, Value); 8] {
        let ratios = statistics.imbalance_ratios(Imbalance::Labels);
        let finite = ratios.into_iter().filter(|ratio| ratio.is_finite());
        [
            ("cardinality", statistics.cardinality.into()),
            ("density", statistics.density.into()),
            ("unlabelled", statistics.n_unlabelled.into()),
            ("never", statistics.n_never().into()),
            ("label_sets", self.n_label_sets().into()),
            ("mean_ir", statistics.mean_ir().into()),
            ("max_ir", finite.fold(f64::NAN, f64::max).into()),
            ("scumble", self.scumble().into()),
        ]
    }
}

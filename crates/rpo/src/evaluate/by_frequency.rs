//! Evaluates frequent and rare labels separately.

use super::best_labels;
use crate::{Model, ModelError};
use rpo_data::Dataset;
use rpo_metrics::{FrequencyGroups, GroupAtK, LabelSets, MissingTruth, Propensity, by_frequency_at_k};
use std::ops::RangeInclusive;

/// The scores of a group of labels with similar training frequency.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FrequencyScores {
    /// Number of labels.
    pub n_labels: usize,
    /// Smallest and largest number of training samples that have a label of the group; `None` for a group without
    /// labels.
    pub frequencies: Option<RangeInclusive<usize>>,
    /// Number of pairs of an evaluated sample and a label of the group that it has.
    pub positives: usize,
    /// Recall and precision at each k.
    pub at_k: Vec<GroupAtK>,
}

impl Model {
    /// Scores groups of labels at each k, the most frequent labels first. The groups are [`FrequencyGroups`] by the
    /// label counts of the training set, each with about as many training positives; [`by_frequency_at_k`] computes the
    /// scores on the data, whose columns are found by name. The best labels are those of the largest scores, or by
    /// `rerank` as in [`EvaluateOptions::rerank`](crate::EvaluateOptions::rerank).
    ///
    /// ```
    /// use rpo::data::generate::MultiLabelSet;
    /// use rpo::prelude::*;
    ///
    /// let data = MultiLabelSet::new(300, 40, 20).generate(Seed::new(1))?;
    /// let (train, test) = data.split(0.3, Seed::new(2))?;
    /// let model = Model::fit(&ForestParams::default(), &train)?;
    /// let groups = model.evaluate_by_frequency(&test, 4, &[1, 5], None)?;
    /// let precision: f64 = groups.iter().map(|group| group.at_k[1].precision).sum();
    /// assert!((precision - model.evaluate(&test, &[Metric::PrecisionAt(5)])?[0]).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Data that lack columns of the model; a model that predicts numbers, an empty list of k or a k of 0, and
    /// more groups than labels.
    pub fn evaluate_by_frequency(
        &self,
        data: &Dataset,
        n_groups: usize,
        at: &[usize],
        rerank: Option<Propensity>,
    ) -> Result<Vec<FrequencyScores>, ModelError> {
        let counts = self.label_counts("recall by frequency")?;
        let groups = &FrequencyGroups::new(counts, n_groups)?;
        let largest = at.iter().copied().max().unwrap_or(0);
        let x = self.schema().align_features(data)?;
        let truth = self.schema().align_outputs(data)?;
        let top = best_labels::of(self, x.as_ref().into(), truth.view(), largest, rerank)?;
        let truth = LabelSets::new(truth.view(), MissingTruth::Skip)?;
        let at_k = at.iter().map(|&k| by_frequency_at_k(&truth, &top, groups, k));
        let at_k: Vec<Vec<GroupAtK>> = at_k.collect::<Result<_, _>>()?;
        let positives = truth.label_counts();
        let of_group = |(group, labels): (usize, &Vec<u32>)| {
            let count = |label: &u32| counts[*label as usize];
            let ends = labels.first().zip(labels.last());
            FrequencyScores {
                n_labels: labels.len(),
                positives: labels.iter().map(|&label| positives[label as usize]).sum(),
                frequencies: ends.map(|(first, last)| count(last)..=count(first)),
                at_k: at_k.iter().map(|groups| groups[group]).collect(),
            }
        };
        Ok(groups.into_iter().enumerate().map(of_group).collect())
    }
}

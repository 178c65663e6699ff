//! The rules that decide which labels to predict.

use crate::{Model, ModelError};
use ndarray::{ArrayView1, ArrayView2, Axis, CowArray};
use rayon::prelude::*;
use rpo_core::{CsrMatrix, Predictor};
use rpo_linear::{LinearError, Prevalence, f1_decisions};
use rpo_metrics::{LabelSets, MetricError};
use std::cmp::Ordering;
use std::ops::Range;

/// Predicts labels whose score reaches their threshold, and one of each group.
pub(crate) fn by_threshold(
    scores: ArrayView2<'_, f32>,
    labels: &[usize],
    groups: &[Range<usize>],
    threshold: impl Fn(usize) -> f64 + Sync,
) -> Result<CsrMatrix, ModelError> {
    let mut is_single = vec![true; scores.ncols()];
    groups
        .iter()
        .for_each(|group| is_single[group.clone()].fill(false));
    let rows = (0..scores.nrows()).into_par_iter().map(|sample| {
        let row = scores.row(sample);
        if let Some(&column) = labels.iter().find(|&&label| !row[label].is_finite()) {
            return Err(MetricError::NonFinite {
                what: "scores",
                sample,
                column,
                value: row[column].into(),
            });
        }
        let is_reached = |label: &usize| is_single[*label] && f64::from(row[*label]) >= threshold(*label);
        let single = labels.iter().copied().filter(is_reached);
        let grouped = groups.iter().filter_map(|group| of_group(row, group, &threshold));
        Ok(single.chain(grouped).map(|label| label as u32).collect())
    });
    // The error is that of the first sample.
    let rows: Vec<Vec<u32>> = rows.collect::<Vec<_>>().into_iter().collect::<Result<_, _>>()?;
    Ok(CsrMatrix::from(&LabelSets::from_lists(scores.ncols(), &rows)?))
}

/// The label of a group whose score exceeds its threshold most; the largest score decides between equal ones, then the
/// order.
fn of_group(
    scores: ArrayView1<'_, f32>,
    group: &Range<usize>,
    threshold: impl Fn(usize) -> f64,
) -> Option<usize> {
    let excess = |label: usize| f64::from(scores[label]) - threshold(label);
    group.clone().reduce(|best, label| {
        let order = excess(label).total_cmp(&excess(best));
        match order.then(scores[label].total_cmp(&scores[best])) {
            Ordering::Greater => label,
            _ => best,
        }
    })
}

/// Predicts each label for the samples of largest expected F1.
pub(super) fn by_f1(
    scores: ArrayView2<'_, f32>,
    model: &Model,
    labels: &[usize],
) -> Result<CsrMatrix, ModelError> {
    let of_labels = match labels.len() == model.n_outputs() {
        true => CowArray::from(scores),
        false => CowArray::from(scores.select(Axis(1), labels)),
    };
    let shares = model.training().output_means();
    let shares: Vec<f64> = labels.iter().map(|&label| shares[label]).collect();
    let decided = f1_decisions(of_labels.view(), Prevalence::Given(&shares)).map_err(|e| match e {
        LinearError::NotAProbability { row, column, value } => MetricError::NotAProbability {
            sample: row,
            label: labels[column],
            value: f64::from(value),
        }
        .into(),
        e => ModelError::from(e),
    })?;
    let (indptr, columns, ones) = decided.into_raw_storage();
    let columns = columns.into_iter().map(|column| labels[column as usize] as u32);
    Ok(CsrMatrix::new(scores.dim(), indptr, columns.collect(), ones))
}

//! The rules that decide which labels to predict.

use crate::{Model, ModelError};
use ndarray::{ArrayView1, ArrayView2, Axis, CowArray};
use rayon::prelude::*;
use rpo_core::{CsrMatrix, Predictor, csr_row};
use rpo_linear::{LinearError, Prevalence, f1_decisions};
use rpo_metrics::{LabelSets, MetricError};
use std::cmp::Ordering;
use std::ops::Range;

/// Predicts labels whose score reaches their threshold, and of each group the one whose score exceeds it most.
pub(crate) fn by_threshold(
    scores: ArrayView2<'_, f32>,
    labels: &[usize],
    groups: &[Range<usize>],
    threshold: impl Fn(usize) -> f64 + Sync,
) -> Result<CsrMatrix, ModelError> {
    let is_single = is_single(groups, scores.ncols());
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
        let excess = |label: usize| f64::from(row[label]) - threshold(label);
        let grouped = groups.iter().filter_map(|group| of_group(row, group, excess));
        Ok(single.chain(grouped).map(|label| label as u32).collect())
    });
    // The error is that of the first sample.
    let rows: Vec<Vec<u32>> = rows.collect::<Vec<_>>().into_iter().collect::<Result<_, _>>()?;
    Ok(CsrMatrix::from(&LabelSets::from_lists(scores.ncols(), &rows)?))
}

/// True for each output outside of groups.
fn is_single(groups: &[Range<usize>], n_outputs: usize) -> Vec<bool> {
    let mut is_single = vec![true; n_outputs];
    let groups = groups.iter();
    groups.for_each(|group| is_single[group.clone()].fill(false));
    is_single
}

/// The label of a group with the largest rank; the largest score decides between equal ones, then the order.
fn of_group(scores: ArrayView1<'_, f32>, group: &Range<usize>, rank: impl Fn(usize) -> f64) -> Option<usize> {
    group.clone().reduce(|best, label| {
        let order = rank(label).total_cmp(&rank(best));
        match order.then(scores[label].total_cmp(&scores[best])) {
            Ordering::Greater => label,
            _ => best,
        }
    })
}

/// Predicts each label for the samples of largest expected F1, and one of each group: of those that would be predicted,
/// or of all if none would be, the label with the largest score, the first of equal ones.
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
        LinearError::NotAProbability {
            sample,
            output,
            value,
        } => MetricError::NotAProbability {
            sample,
            label: labels[output],
            value: f64::from(value),
        }
        .into(),
        e => ModelError::from(e),
    })?;
    let groups = model.groups();
    let is_single = is_single(&groups, model.n_outputs());
    let decided = decided.view();
    let rows = (0..scores.nrows()).into_par_iter().map(|sample| {
        let row = scores.row(sample);
        let (columns, _) = csr_row(&decided, sample);
        let named: Vec<usize> = columns.iter().map(|&column| labels[column as usize]).collect();
        let is_named = |label: usize| f64::from(u8::from(named.contains(&label)));
        let grouped = groups.iter().filter_map(|group| of_group(row, group, is_named));
        let single = named.iter().copied().filter(|&label| is_single[label]);
        single.chain(grouped).map(|label| label as u32).collect()
    });
    let rows: Vec<Vec<u32>> = rows.collect();
    Ok(CsrMatrix::from(&LabelSets::from_lists(model.n_outputs(), &rows)?))
}

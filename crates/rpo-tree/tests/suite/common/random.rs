//! Random training sets.

use super::Data;
use ndarray::Array2;
use proptest::collection::vec;
use proptest::prelude::*;
use rpo_tree::splitter::{AxisParams, ThresholdSearch};

/// Kinds of values of the features of a [`Data`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cells {
    /// True if a fifth of them is missing.
    pub(crate) missing: bool,
    /// True if values are drawn from a few whole numbers, so that zeros and repetitions abound; otherwise from any
    /// numbers.
    pub(crate) coarse: bool,
}

/// Kinds of values of the targets of a [`Data`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Targets {
    /// 0 or 1.
    Labels,
    /// Small whole numbers: all sums are exact, so that equal scores are equal to the last bit.
    Whole,
    /// Any numbers, a third of them zero.
    Real,
}

fn cell(cells: Cells) -> BoxedStrategy<f32> {
    let value = if cells.coarse {
        prop_oneof![2 => Just(0.0), 3 => (-3_i8..4).prop_map(f32::from)].boxed()
    } else {
        (-4.0_f32..4.0).boxed()
    };
    if cells.missing {
        prop_oneof![1 => Just(f32::NAN), 4 => value].boxed()
    } else {
        value
    }
}

fn target(targets: Targets) -> BoxedStrategy<f32> {
    match targets {
        Targets::Labels => prop_oneof![2 => Just(0.0_f32), 1 => Just(1.0)].boxed(),
        Targets::Whole => (-3_i8..4).prop_map(f32::from).boxed(),
        Targets::Real => prop_oneof![1 => Just(0.0_f32), 2 => -2.0_f32..2.0].boxed(),
    }
}

fn matrix(rows: usize, columns: usize, values: Vec<f32>) -> Array2<f32> {
    Array2::from_shape_vec((rows, columns), values).expect("as many values as cells")
}

/// Up to `max_rows` rows of up to four features and three targets, weighted as by a bootstrap (row 0 is always
/// included).
pub(crate) fn data(max_rows: usize, cells: Cells, targets: Targets) -> impl Strategy<Value = Data> {
    (1..=max_rows, 1_usize..5, 1_usize..4).prop_flat_map(move |(n, p, d)| {
        let weights = vec(prop_oneof![1 => Just(0_u8), 2 => Just(1), 1 => 2_u8..4], n);
        (vec(cell(cells), n * p), vec(target(targets), n * d), weights).prop_map(move |(x, y, weights)| {
            let mut weights: Vec<f32> = weights.into_iter().map(f32::from).collect();
            weights[0] = weights[0].max(1.0);
            Data {
                x: matrix(n, p, x),
                y: matrix(n, d, y),
                weights,
            }
        })
    })
}

/// The kinds of feature values that a search must distinguish.
pub(crate) fn any_cells() -> impl Strategy<Value = Cells> {
    any::<(bool, bool)>().prop_map(|(missing, coarse)| Cells { missing, coarse })
}

/// Any kind of targets.
pub(crate) fn any_targets() -> impl Strategy<Value = Targets> {
    prop_oneof![Just(Targets::Labels), Just(Targets::Whole), Just(Targets::Real)]
}

/// Any kind of training set.
pub(crate) fn any_data(max_rows: usize) -> impl Strategy<Value = Data> {
    (any_cells(), any_targets()).prop_flat_map(move |(cells, targets)| data(max_rows, cells, targets))
}

/// Any parameters of the search for which a gain of 0 is sufficient.
pub(crate) fn any_axis() -> impl Strategy<Value = AxisParams> {
    let thresholds = prop_oneof![Just(ThresholdSearch::Best), Just(ThresholdSearch::Random)];
    (proptest::option::of(1_usize..4), 1_usize..3, thresholds).prop_map(
        |(max_features, min_samples_leaf, thresholds)| AxisParams {
            max_features,
            min_samples_leaf,
            thresholds,
            ..AxisParams::default()
        },
    )
}

//! Splits of categories: compares their order with a search of all subsets, and binned trees with exact ones.

use super::common::{Data, weighted_rows};
use ndarray::{Array2, array};
use proptest::prelude::*;
use rpo_core::store::{Sizes, Writer};
use rpo_core::{MatrixView, Seed, TooFew};
use rpo_tree::criterion::Variance;
use rpo_tree::histogram::{BinnedFeatures, HistogramSplitter, SplitTargets};
use rpo_tree::splitter::{AxisParams, AxisSplitter, CategoryTargets, Splitter, ThresholdSearch};
use rpo_tree::store::StoreTrees;
use rpo_tree::{AxisRule, GrowParams, Grown, Node, RankedFeatures, Structure, TreeError, grow};

/// Grows a tree on values whose even columns are categorical.
fn grow_exact(data: &Data, axis: AxisParams, limits: &GrowParams, seed: Seed) -> Grown<AxisRule> {
    let x = MatrixView::from(&data.x);
    let columns = RankedFeatures::new(x, &even_columns(data)).unwrap();
    let criterion = Variance::new(data.y.view(), &data.weights);
    let targets = CategoryTargets {
        targets: (&data.y).into(),
        weights: &data.weights,
        curvatures: None,
    };
    let splitter = AxisSplitter::new(&columns, criterion, axis).unwrap();
    let splitter = splitter.with_category_targets(targets).unwrap();
    let rows = weighted_rows(&data.weights);
    grow(&splitter, &mut splitter.workspace(), rows, limits, seed).unwrap()
}

/// Like [`grow_exact`], but on bins.
fn grow_binned(data: &Data, axis: AxisParams, limits: &GrowParams, seed: Seed) -> Grown<AxisRule> {
    let x = MatrixView::from(&data.x);
    let features = BinnedFeatures::new(x, 255, &even_columns(data)).unwrap();
    let targets = SplitTargets {
        gradients: data.y.view(),
        weights: &data.weights,
        ..SplitTargets::default()
    };
    let splitter = HistogramSplitter::new(&features, targets, axis).unwrap();
    let rows = weighted_rows(&data.weights);
    grow(&splitter, &mut splitter.workspace(), rows, limits, seed).unwrap()
}

fn even_columns(data: &Data) -> Vec<u32> {
    (0..data.x.ncols() as u32).step_by(2).collect()
}

/// Samples with a category, a number and another category each, some of them missing, with whole-number targets and
/// weights.
fn any_data(rows: usize, codes: u8, outputs: usize) -> impl Strategy<Value = Data> {
    let cell = prop_oneof![1 => Just(f32::NAN), 6 => (0..codes).prop_map(f32::from)];
    let cells = prop::collection::vec(cell, rows * 3);
    // Whole numbers, with few ties.
    let targets = prop::collection::vec(-2000_i16..2001, rows * outputs);
    let weights = prop::collection::vec(0_u8..3, rows);
    (cells, targets, weights).prop_map(move |(x, y, weights)| Data {
        x: Array2::from_shape_vec((rows, 3), x).unwrap(),
        y: Array2::from_shape_fn((rows, outputs), |(i, j)| f32::from(y[i * outputs + j])),
        weights: weights.into_iter().map(|w| f32::from(w) + 1.0).collect(),
    })
}

fn free() -> AxisParams {
    AxisParams {
        category_smoothing: 0.0,
        min_category_count: 1,
        ..AxisParams::default()
    }
}

fn stump() -> GrowParams {
    GrowParams {
        max_depth: Some(1),
        ..GrowParams::default()
    }
}

/// Returns the largest decrease of variance by a subset of the categories of the first feature, with missing values on
/// either side.
fn best_gain(data: &Data) -> Option<f64> {
    let rows: Vec<u32> = (0..data.x.nrows() as u32).collect();
    let mut codes: Vec<f32> = rows.iter().map(|&i| data.x[[i as usize, 0]]).collect();
    codes.retain(|v| !v.is_nan());
    codes.sort_by(f32::total_cmp);
    codes.dedup();
    let mut best: Option<f64> = None;
    for subset in 1_u32..1 << codes.len() {
        let (left, right): (Vec<u32>, Vec<u32>) = rows.iter().partition(|&&i| {
            let place = codes.iter().position(|&code| code == data.x[[i as usize, 0]]);
            place.is_some_and(|place| subset >> place & 1 != 0)
        });
        if !left.is_empty() && !right.is_empty() {
            let gain = data.spread(&rows) - data.spread(&left) - data.spread(&right);
            best = Some(best.map_or(gain, |best| best.max(gain)));
        }
    }
    best
}

fn check_routes(data: &Data, grown: &Grown<AxisRule>) -> Result<(), TestCaseError> {
    let rows = data.rows_of_nodes(&grown.structure);
    for (node, rows) in grown.structure.nodes().iter().zip(rows) {
        if let Node::Leaf(leaf) = node {
            prop_assert_eq!(&grown.members[*leaf as usize], &rows);
        }
    }
    Ok(())
}

proptest! {
    /// Exact for one target by Fisher's theorem, and for several targets by trying all subsets of few categories.
    #[test]
    fn no_subset_is_better(
        (mut data, outputs) in (1_usize..4).prop_flat_map(|m| (any_data(24, 6, m), Just(m))),
    ) {
        data.x = data.x.slice(ndarray::s![.., ..1]).to_owned();
        for grown in [
            grow_exact(&data, free(), &stump(), Seed::new(0)),
            grow_binned(&data, free(), &stump(), Seed::new(0)),
        ] {
            let expected = best_gain(&data).filter(|_| data.spread(&weighted_rows(&data.weights)) > 1e-9);
            let gain = (grown.structure.n_leaves() > 1).then(|| grown.gains[0]);
            let (Some(expected), Some(gain)) = (expected, gain) else {
                prop_assert_eq!(expected.is_some(), gain.is_some());
                continue;
            };
            prop_assert!((gain - expected).abs() <= 1e-9 * (1.0 + expected), "{} {} {}", outputs, gain, expected);
        }
    }

    /// Sums of whole-number targets are exact. Means of categories may be equal except for rounding, and then their
    /// order is open.
    #[test]
    fn binned_trees_are_exact_ones_and_rules_route_as_grown(
        (data, _) in (1_usize..6).prop_flat_map(|m| (any_data(60, 12, m), Just(m))),
        min_samples_leaf in 1_usize..4,
        min_category_count in 1_usize..4,
        smoothing in 0_u8..3,
        max_features in prop::option::of(1_usize..4),
        seed in any::<u64>(),
    ) {
        let axis = AxisParams {
            max_features,
            min_samples_leaf,
            min_category_count,
            category_smoothing: f64::from(smoothing),
            ..AxisParams::default()
        };
        let (limits, seed) = (GrowParams::default(), Seed::new(seed));
        let exact = grow_exact(&data, axis, &limits, seed);
        let binned = grow_binned(&data, axis, &limits, seed);
        check_routes(&data, &exact)?;
        check_routes(&data, &binned)?;
        prop_assert_eq!(exact, binned);
        let random = AxisParams { thresholds: ThresholdSearch::Random, ..axis };
        check_routes(&data, &grow_exact(&data, random, &limits, seed))?;
    }

    #[test]
    fn stored_rules_are_restored(data in any_data(40, 90, 2), random in any::<bool>()) {
        let thresholds = if random { ThresholdSearch::Random } else { ThresholdSearch::Best };
        let axis = AxisParams { thresholds, ..free() };
        let grown = grow_exact(&data, axis, &GrowParams::default(), Seed::new(3));
        let mut out = Writer::default();
        Structure::store_all([&grown.structure, &grown.structure].into_iter(), &mut out).unwrap();
        let stored = out.finish().unwrap();
        let sizes = Sizes { n_train: 40, n_features: 3, n_outputs: 2 };
        let again = Structure::<AxisRule>::restore_all(&mut stored.reader(), sizes).unwrap();
        prop_assert_eq!(again, [grown.structure.clone(), grown.structure]);
    }
}

/// Two groups of categories that are separated by two collinear targets, too many to try all subsets.
#[test]
fn many_categories_are_ordered_along_their_first_direction() {
    let group = |code: usize| (code * 7) % 20 < 9;
    let x = Array2::from_shape_fn((200, 1), |(i, _)| (i % 20) as f32);
    let y = Array2::from_shape_fn((200, 5), |(i, j)| {
        let noise = ((i * 31 + j * 17) % 13) as f32 - 6.0;
        let side = if group(i % 20) { 10.0 } else { -10.0 };
        noise / 4.0 + side * [1.0, -1.0, 0.5, 0.0, 2.0][j]
    });
    let data = Data::unweighted(x, y);
    for grown in [
        grow_exact(&data, AxisParams::default(), &stump(), Seed::new(0)),
        grow_binned(&data, AxisParams::default(), &stump(), Seed::new(0)),
    ] {
        let (_, rule) = grown.structure.splits().next().unwrap();
        let listed: Vec<usize> = rule.categories().unwrap().codes().map(|c| c as usize).collect();
        let first = group(listed[0]);
        assert!(listed.iter().all(|&code| group(code) == first), "{listed:?}");
        assert_eq!(listed.len(), if first { 9 } else { 11 });
    }
}

/// Codes 0 to 299 occur once or twice each: the 255 most frequent are distinguished.
#[test]
fn the_rarest_of_too_many_categories_follow_missing_values() {
    let code = |i: usize| if i < 300 { i } else { i - 300 };
    let x = Array2::from_shape_fn((540, 1), |(i, _)| code(i) as f32);
    let y = Array2::from_shape_fn((540, 1), |(i, _)| if code(i) % 2 == 0 { 1.0 } else { -1.0 });
    let data = Data::unweighted(x, y);
    let exact = grow_exact(&data, free(), &stump(), Seed::new(0));
    assert_eq!(exact, grow_binned(&data, free(), &stump(), Seed::new(0)));
    let (_, rule) = exact.structure.splits().next().unwrap();
    let listed: Vec<u32> = rule.categories().unwrap().codes().collect();
    assert!(
        listed.iter().all(|code| code % 2 == listed[0] % 2 && *code < 255),
        "{listed:?}"
    );
}

#[test]
fn what_is_no_category_is_refused() {
    let both = |x: &Array2<f32>, categorical: &[u32]| {
        let ranked = RankedFeatures::new(x.into(), categorical).map(drop);
        let binned = BinnedFeatures::new(x.into(), 255, categorical).map(drop);
        assert_eq!(ranked, binned);
        ranked
    };
    for value in [-1.0, 0.5, 16_777_216.0] {
        let refused = both(&array![[0.0, 0.0], [0.0, value]], &[1]);
        let (row, column) = (1, 1);
        assert_eq!(
            refused,
            Err(TreeError::Category {
                sample: row,
                column,
                value
            })
        );
    }
    let x = array![[0.0, 1.0], [f32::NAN, 7.0]];
    assert_eq!(both(&x, &[0, 1]), Ok(()));
    let error = both(&x, &[1, 0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`categorical` must be increasing, got 1 before 0"
    );
    let (what, needed, given) = ("features up to the last categorical one", 3, 2);
    assert_eq!(both(&x, &[2]), Err(TooFew { what, needed, given }.into()));
    let sparse = MatrixView::from(&x).to_csr();
    let sparse = MatrixView::Sparse(sparse.view());
    let refused = RankedFeatures::new(sparse, &[1]).map(drop);
    assert_eq!(refused, Err(TreeError::SparseCategories { column: 1 }));
    assert!(RankedFeatures::new(sparse, &[]).is_ok());
}

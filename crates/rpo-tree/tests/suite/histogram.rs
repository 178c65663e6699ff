//! Trees on histograms. They are compared with the exact splitter if every value has a bin, and with a naive two-pass
//! search if gains are penalized; neither layout nor threads change them.

use super::common::random::{Targets, any_cells, data};
use super::common::{Data, csr, grow_axis, weighted_rows};
use ndarray::Array2;
use proptest::prelude::*;
use rpo_core::{MatrixView, Seed};
use rpo_tree::criterion::{Curvature, LeafPenalty, Variance};
use rpo_tree::histogram::{BinnedFeatures, HistogramSplitter, SplitTargets};
use rpo_tree::splitter::{AxisParams, Splitter, ThresholdSearch};
use rpo_tree::{
    AxisRule, GrowParams, Grown, Node, RankedFeatures, Row, Rule, Team, TreeError, grow, grow_together,
};

/// Parameters of the gain of a split, besides the data.
#[derive(Debug, Clone, Default)]
struct Gains {
    /// One per row and output.
    curvatures: Option<Array2<f32>>,
    penalties: Vec<LeafPenalty>,
    min_child_weight: f64,
}

impl Gains {
    fn targets<'a>(&'a self, data: &'a Data) -> SplitTargets<'a> {
        let each = |h: &'a Array2<f32>| Curvature::Each(h.view());
        SplitTargets {
            gradients: data.y.view(),
            curvature: self.curvatures.as_ref().map_or(Curvature::Constant, each),
            weights: &data.weights,
            penalties: &self.penalties,
            min_child_weight: self.min_child_weight,
        }
    }
}

fn grow_binned(
    data: &Data,
    x: MatrixView<'_>,
    max_bins: usize,
    gains: &Gains,
    params: AxisParams,
    limits: &GrowParams,
    seed: Seed,
) -> Grown<AxisRule> {
    let features = BinnedFeatures::new(x, max_bins, &[]).unwrap();
    let splitter = HistogramSplitter::new(&features, gains.targets(data), params).unwrap();
    let mut workspace = splitter.workspace();
    let rows = weighted_rows(&data.weights);
    let grown = grow(&splitter, &mut workspace, rows.clone(), limits, seed).unwrap();
    // The state left by an earlier tree changes nothing.
    assert!(grow(&splitter, &mut workspace, rows.clone(), limits, seed).unwrap() == grown);
    // Nor does a team, twice.
    let mut team = Team::new(3, || true);
    for _ in 0..2 {
        assert!(grow_together(&splitter, &mut team, rows.clone(), limits, seed).unwrap() == grown);
    }
    grown
}

fn any_limits() -> impl Strategy<Value = GrowParams> {
    (
        proptest::option::of(0_u32..5),
        0_usize..6,
        proptest::option::of(1_usize..12),
    )
        .prop_map(|(max_depth, min_samples_split, max_leaves)| GrowParams {
            max_depth,
            min_samples_split,
            max_leaves,
        })
}

proptest! {
    /// Sums of whole-number targets are exact, so trees are equal to the last bit of their gains.
    #[test]
    fn trees_are_those_of_the_exact_splitter(
        data in any_cells().prop_flat_map(|cells| data(60, cells, Targets::Whole)),
        weighted in any::<bool>(),
        limits in any_limits(),
        max_features in proptest::option::of(1_usize..5),
        min_samples_leaf in 1_usize..4,
        min_gain in prop_oneof![3 => Just(0.0), 1 => 0.0_f64..3.0],
        seed in any::<u64>(),
    ) {
        let mut data = data;
        if !weighted {
            data.weights.fill(1.0);
        }
        let seed = Seed::new(seed);
        let axis = AxisParams { max_features, min_samples_leaf, min_gain, ..AxisParams::default() };
        let sparse = csr(&data.x);
        for x in [MatrixView::from(&data.x), MatrixView::Sparse(sparse.view())] {
            let columns = RankedFeatures::new(x.reborrow(), &[]).unwrap();
            let criterion = Variance::new(data.y.view(), &data.weights);
            let exact = grow_axis(&columns, criterion, &data.weights, axis, &limits, seed);
            let binned = grow_binned(&data, x, 255, &Gains::default(), axis, &limits, seed);
            prop_assert_eq!(&binned, &exact);
        }
    }

    /// With few bins, dense and sparse features have the same bins, and gains are those of the rules.
    #[test]
    fn layouts_agree_on_any_number_of_bins(
        data in any_cells().prop_flat_map(|cells| data(60, cells, Targets::Whole)),
        max_bins in 2_usize..8,
        max_features in proptest::option::of(1_usize..5),
        l2 in prop_oneof![Just(0.0), 0.0_f64..2.0],
        seed in any::<u64>(),
    ) {
        let seed = Seed::new(seed);
        let penalties = vec![LeafPenalty { l1: 0.0, l2 }; data.y.ncols()];
        let gains = Gains { penalties, ..Gains::default() };
        let params = AxisParams { max_features, ..AxisParams::default() };
        let limits = GrowParams::default();
        let sparse = csr(&data.x);
        let dense = grow_binned(&data, (&data.x).into(), max_bins, &gains, params, &limits, seed);
        let sparse = grow_binned(&data, MatrixView::Sparse(sparse.view()), max_bins, &gains, params, &limits, seed);
        prop_assert_eq!(&dense, &sparse);
        check_gains(&data, &gains, &params, &dense, false);
    }

    #[test]
    fn penalized_gains_are_the_largest_of_a_naive_search(
        data in any_cells().prop_flat_map(|cells| data(25, cells, Targets::Real)),
        curvatures in prop::collection::vec(0.01_f32..2.0, 75),
        has_curvatures in any::<bool>(),
        (l2, l1, min_child_weight, min_gain) in (0.0_f64..2.0, 0.0_f64..1.0, 0.0_f64..2.0, 0.0_f64..0.5),
        common in any::<bool>(),
        min_samples_leaf in 1_usize..3,
    ) {
        let shape = data.y.dim();
        let penalty = |k: usize| LeafPenalty { l1, l2: if common { l2 } else { l2 / (k + 1) as f64 } };
        let gains = Gains {
            curvatures: has_curvatures
                .then(|| Array2::from_shape_vec(shape, curvatures[..shape.0 * shape.1].to_vec()).unwrap()),
            penalties: (0..shape.1).map(penalty).collect(),
            min_child_weight,
        };
        let params = AxisParams { min_samples_leaf, min_gain, ..AxisParams::default() };
        let sparse = csr(&data.x);
        for x in [MatrixView::from(&data.x), MatrixView::Sparse(sparse.view())] {
            let grown = grow_binned(&data, x, 255, &gains, params, &GrowParams::default(), Seed::new(3));
            check_gains(&data, &gains, &params, &grown, true);
        }
    }
}

/// Returns T(G)² / (H + λ) summed over targets, and the mean of H.
fn value(data: &Data, gains: &Gains, rows: &[u32]) -> (f64, f64) {
    let d = data.y.ncols();
    let (mut score, mut curvature) = (0.0, 0.0);
    for target in 0..d {
        let (mut g, mut h) = (0.0, 0.0);
        for &row in rows {
            let (weight, at) = (f64::from(data.weights[row as usize]), [row as usize, target]);
            g += weight * f64::from(data.y[at]);
            h += weight * gains.curvatures.as_ref().map_or(1.0, |h| f64::from(h[at]));
        }
        let LeafPenalty { l1, l2 } = gains.penalties.get(target).copied().unwrap_or_default();
        score += (g.abs() - l1).max(0.0).powi(2) / (h + l2);
        curvature += h;
    }
    (score, curvature / d as f64)
}

/// Compares the gain of every node with that of its rule, and with the largest of all rules if `best`.
fn check_gains(data: &Data, gains: &Gains, params: &AxisParams, grown: &Grown<AxisRule>, best: bool) {
    let rows_of = data.rows_of_nodes(&grown.structure);
    let gain = |rows: &[u32], rule: &AxisRule| {
        let goes_left = |row: &&u32| {
            rule.child(Row {
                values: &data.x.row(**row as usize).to_vec(),
                stored: None,
            }) == 0
        };
        let (l, r): (Vec<u32>, Vec<u32>) = rows.iter().partition(goes_left);
        let (left, h_left) = value(data, gains, &l);
        let (right, h_right) = value(data, gains, &r);
        // Rounded curvatures may lie on either side of the bound.
        let is_large = |rows: &[u32], h: f64| {
            rows.len() >= params.min_samples_leaf && h >= gains.min_child_weight - 1e-9
        };
        (is_large(&l, h_left) && is_large(&r, h_right)).then(|| left + right - value(data, gains, rows).0)
    };
    for (i, node) in grown.structure.nodes().iter().enumerate() {
        let rows = &rows_of[i];
        // Numbers are rounded to a part in 10⁹ of their sum; a small H amplifies this.
        let tolerance = 1e-5 * grown.gains[i].max(1.0);
        if let Node::Split { rule, .. } = node {
            let own = gain(rows, rule).expect("large children");
            assert!(
                (grown.gains[i] - own).abs() < tolerance,
                "{} of {own}",
                grown.gains[i]
            );
            assert!(own > params.min_gain - tolerance);
        }
        if !best {
            continue;
        }
        let mut largest = f64::NEG_INFINITY;
        for feature in 0..data.x.ncols() {
            for &row in rows {
                let threshold = data.x[[row as usize, feature]];
                for missing_left in [false, true] {
                    if !threshold.is_nan() {
                        let rule = AxisRule::new(feature as u32, threshold, missing_left);
                        largest = largest.max(gain(rows, &rule).unwrap_or(f64::NEG_INFINITY));
                    }
                }
            }
        }
        match node {
            Node::Split { .. } => assert!((grown.gains[i] - largest).abs() < tolerance),
            Node::Leaf(_) => assert!(
                largest <= params.min_gain + tolerance,
                "node {i} of {rows:?} is a leaf, gain {largest}"
            ),
        }
    }
}

/// If all features are searched, each tied feature wins equally often: for two rows, for one stored value and for many.
/// The same feature wins in every layout, exact or binned.
#[test]
fn ties_among_all_features_fall_at_random() {
    let copies = 6;
    let root = GrowParams {
        max_depth: Some(1),
        ..GrowParams::default()
    };
    for (n, levels) in [(2, 2), (40, 2), (40, 9)] {
        let x = Array2::from_shape_fn((n, copies), |(i, _)| (i % levels) as f32);
        let data = Data::unweighted(x.clone(), x.slice(ndarray::s![.., ..1]).to_owned());
        let stored = csr(&x);
        let mut wins = vec![0; copies];
        for seed in (0..600).map(Seed::new) {
            let exact = |x| {
                let columns = RankedFeatures::new(x, &[]).unwrap();
                let criterion = Variance::new(data.y.view(), &data.weights);
                grow_axis(
                    &columns,
                    criterion,
                    &data.weights,
                    AxisParams::default(),
                    &root,
                    seed,
                )
            };
            let binned = |x| {
                grow_binned(
                    &data,
                    x,
                    255,
                    &Gains::default(),
                    AxisParams::default(),
                    &root,
                    seed,
                )
            };
            let sparse = || MatrixView::Sparse(stored.view());
            let grown = [
                exact((&x).into()),
                exact(sparse()),
                binned((&x).into()),
                binned(sparse()),
            ];
            let features = grown.map(|grown| grown.structure.splits().next().unwrap().1.feature());
            assert!(
                features.iter().all(|f| *f == features[0]),
                "{n} {levels}: {features:?}"
            );
            wins[features[0] as usize] += 1;
        }
        // 100 expected of each; four standard deviations.
        assert!(
            wins.iter().all(|w| (64..=136).contains(w)),
            "{n} {levels}: {wins:?}"
        );
    }
}

/// Makes enough samples and features for every loop to be worth more than one thread.
fn large(sparse: bool, missing: bool, d: usize) -> Data {
    let (n, p) = (6_000, 80);
    let mut stream = Seed::new(8).stream();
    let mut next = || rand::RngCore::next_u32(&mut stream);
    let x = Array2::from_shape_fn((n, p), |_| match next() % 16 {
        0 if missing => f32::NAN,
        1..8 if sparse => 0.0,
        _ => (next() % 2000) as f32 / 100.0 - 8.0,
    });
    let y = Array2::from_shape_fn((n, d), |(i, j)| {
        let v = x[[i, j]] + x[[i, j + 3]].abs();
        (if v.is_nan() { 1.0 } else { v }) + (next() % 100) as f32 / 50.0
    });
    let weights = (0..n).map(|_| (next() % 3) as f32).collect();
    Data { x, y, weights }
}

#[test]
fn threads_change_nothing() {
    let threads = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let limits = GrowParams {
        max_leaves: Some(40),
        ..GrowParams::default()
    };
    for (sparse, missing, d) in [
        (false, true, 1),
        (true, false, 3),
        (true, true, 1),
        (false, true, 20),
    ] {
        let data = large(sparse, missing, d);
        let stored = csr(&data.x);
        let x = || {
            if sparse {
                MatrixView::Sparse(stored.view())
            } else {
                (&data.x).into()
            }
        };
        for max_features in [None, Some(70), Some(9)] {
            let params = AxisParams {
                max_features,
                ..AxisParams::default()
            };
            let grow = || grow_binned(&data, x(), 100, &Gains::default(), params, &limits, Seed::new(4));
            let one = threads(1).install(grow);
            assert!(one.structure.n_leaves() == 40);
            assert!(threads(2).install(grow) == one);
            assert!(threads(3).install(grow) == one);
        }
    }
}

#[test]
fn more_values_than_bins_lose_little() {
    let data = large(false, false, 1);
    let limits = GrowParams {
        max_leaves: Some(8),
        ..GrowParams::default()
    };
    let columns = RankedFeatures::new((&data.x).into(), &[]).unwrap();
    let criterion = Variance::new(data.y.view(), &data.weights);
    let exact = grow_axis(
        &columns,
        criterion,
        &data.weights,
        AxisParams::default(),
        &limits,
        Seed::new(0),
    );
    let binned = grow_binned(
        &data,
        (&data.x).into(),
        255,
        &Gains::default(),
        AxisParams::default(),
        &limits,
        Seed::new(0),
    );
    let total = |grown: &Grown<AxisRule>| grown.gains.iter().sum::<f64>();
    assert!(
        total(&binned) > 0.99 * total(&exact),
        "{} of {}",
        total(&binned),
        total(&exact)
    );
}

#[test]
fn weights_apart_by_any_factor_are_defined() {
    let x = Array2::from_shape_fn((40, 2), |(i, j)| ((i * (3 + 4 * j)) % 10) as f32);
    let y = Array2::from_shape_fn((40, 1), |(i, _)| (i % 7) as f32 - 3.0);
    for (small, large) in [(1e-30, 1e30), (f32::MIN_POSITIVE, 1.0), (1.0, f32::MAX)] {
        let weights: Vec<f32> = (0..40).map(|i| if i % 3 == 0 { small } else { large }).collect();
        let data = Data {
            x: x.clone(),
            y: &y * 1e8,
            weights,
        };
        let params = AxisParams::default();
        let grown = grow_binned(
            &data,
            (&data.x).into(),
            255,
            &Gains::default(),
            params,
            &GrowParams::default(),
            Seed::new(0),
        );
        assert!(grown.gains.iter().all(|gain| gain.is_finite()));
        assert!(grown.structure.n_leaves() > 1);
    }
}

#[test]
fn what_is_not_finite_makes_a_leaf_and_bad_parameters_are_named() {
    let data = Data::unweighted(
        Array2::from_shape_fn((6, 1), |(i, _)| i as f32),
        Array2::from_shape_fn((6, 1), |(i, _)| if i == 2 { f32::NAN } else { 1.0 }),
    );
    let params = AxisParams::default();
    let grown = grow_binned(
        &data,
        (&data.x).into(),
        255,
        &Gains::default(),
        params,
        &GrowParams::default(),
        Seed::new(0),
    );
    assert_eq!(grown.structure.n_leaves(), 1);

    for bins in [0, 1, 256] {
        let refused = BinnedFeatures::new((&data.x).into(), bins, &[]).unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("`bins` must be from 2 to 255, got {bins}")
        );
    }
    let features = BinnedFeatures::new((&data.x).into(), 2, &[]).unwrap();
    let refused = |gains: Gains, weights: &[f32], params: AxisParams| {
        let targets = SplitTargets {
            weights,
            ..gains.targets(&data)
        };
        HistogramSplitter::new(&features, targets, params)
            .unwrap_err()
            .to_string()
    };
    let weights = [1.0; 6];
    let none = Gains::default;
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        let penalize = |l1, l2| Gains {
            penalties: vec![LeafPenalty { l1, l2 }],
            ..none()
        };
        let least = Gains {
            min_child_weight: bad,
            ..none()
        };
        assert!(refused(penalize(0.0, bad), &weights, params).contains("`leaf_l2`"));
        assert!(refused(penalize(bad, 0.0), &weights, params).contains("`leaf_l1`"));
        assert!(refused(least, &weights, params).contains("`min_child_weight`"));
    }
    assert!(refused(none(), &weights[..5], params).contains("weights"));
    let two = Gains {
        penalties: vec![LeafPenalty::default(); 2],
        ..none()
    };
    assert!(refused(two, &weights, params).contains("penalties"));
    let random = AxisParams {
        thresholds: ThresholdSearch::Random,
        ..params
    };
    assert!(refused(none(), &weights, random).contains("`bins`"));
    let infinite = Array2::from_elem((2, 1), f32::INFINITY);
    let refused = BinnedFeatures::new((&infinite).into(), 255, &[]).unwrap_err();
    assert!(matches!(
        refused,
        TreeError::InfiniteFeature {
            sample: 0,
            column: 0,
            ..
        }
    ));
}

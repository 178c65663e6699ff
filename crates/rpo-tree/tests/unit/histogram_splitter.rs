//! Trees do not depend on how the histogram splitter lays out or shares its sums.

use super::*;
use crate::criterion::Curvature;
use crate::histogram::fixed::Counts;
use crate::histogram::vector::Vector;
use crate::{GrowParams, Team, grow, grow_together};
use ndarray::Array2;
use proptest::prelude::*;
use rpo_core::{MatrixView, Seed};

/// Fewest bytes that hold any histogram of these tests.
const ROOMY: usize = 1 << 24;

proptest! {
    #[test]
    fn a_shared_root_changes_no_tree(
        cells in prop::collection::vec((-3_i8..4, -9.0_f32..9.0), 40 * 12),
        sparse in any::<bool>(),
        weighted in any::<bool>(),
        halved in any::<bool>(),
        min_samples_leaf in 1_usize..3,
    ) {
        let x = Array2::from_shape_fn((40, 11), |(i, j)| f32::from(cells[i * 12 + j].0));
        let z = Array2::from_shape_fn((12, 40), |(j, i)| cells[i * 12 + j].1);
        let weights: Vec<f32> = (0..40).map(|i| if weighted { 1.0 + (i % 3) as f32 } else { 1.0 }).collect();
        let csr = rpo_core::MatrixView::from(&x).to_csr();
        let x = if sparse { rpo_core::MatrixView::Sparse(csr.view()) } else { (&x).into() };
        let features = BinnedFeatures::new(x, 255, &[]).unwrap();
        let targets = z.rows().into_iter().map(|z| z.insert_axis(ndarray::Axis(1)));
        let targets: Vec<_> = targets.map(|z| SplitTargets { gradients: z, weights: &weights, ..SplitTargets::default() }).collect();
        let params = AxisParams { min_samples_leaf, ..AxisParams::default() };
        let splitter = |targets| HistogramSplitter::new(&features, targets, params).unwrap();
        let alone: Vec<_> = targets.into_iter().map(splitter).collect();
        let rows: Vec<u32> = (0..40).filter(|i| !halved || i % 2 == 0).collect();
        let mut shared = alone.clone();
        HistogramSplitter::share_root(&mut shared, &rows);
        for (alone, shared) in alone.iter().zip(&shared) {
            let grow = |s: &HistogramSplitter<'_>, n: usize| {
                grow(s, &mut s.workspace(), rows[..n].to_vec(), &GrowParams::default(), Seed::new(0)).unwrap()
            };
            prop_assert_eq!(grow(alone, rows.len()), grow(shared, rows.len()));
            prop_assert_eq!(grow(alone, rows.len() - 5), grow(shared, rows.len() - 5));
        }
    }

    /// Nodes for which no room is left are searched without a histogram, from what their rows touch or feature by feature.
    #[test]
    fn room_changes_no_tree(
        cells in prop::collection::vec((0_u8..20, -9.0_f32..9.0), 60 * 20),
        is_sparse in any::<bool>(),
        m in 1_usize..20,
        max_features in proptest::option::of(1_usize..8),
        is_subset in any::<bool>(),
        max_leaves in proptest::option::of(2_usize..20),
        min_samples_leaf in 1_usize..3,
        has_curvatures in any::<bool>(),
        share in 0.0_f64..1.0,
        seed in any::<u64>(),
    ) {
        let x = Array2::from_shape_fn((60, 9), |(i, j)| match cells[i * 20 + j].0 {
            value @ 1..6 => f32::from(value),
            6 if j > 0 => f32::NAN,
            7 if j > 0 => -1.0,
            // Dense columns, too.
            value if j == 8 => f32::from(value) + 1.0,
            _ => 0.0,
        });
        let z = Array2::from_shape_fn((60, m), |(i, j)| cells[i * 20 + j].1);
        let h = Array2::from_shape_fn((60, m), |(i, j)| f32::from(cells[i * 20 + j].0 / 5));
        let weights: Vec<f32> = (0..60).map(|i| 1.0 + (i % 3) as f32).collect();
        let csr = MatrixView::from(&x).to_csr();
        let x = if is_sparse { MatrixView::Sparse(csr.view()) } else { (&x).into() };
        let categorical: &[u32] = if is_sparse { &[] } else { &[0] };
        let of_all = BinnedFeatures::new(x, 255, categorical).unwrap().with_room(ROOMY);
        let params = AxisParams { max_features, min_samples_leaf, ..AxisParams::default() };
        let subset = [0, 2, 3, 5, 7, 8];
        let limits = GrowParams { max_leaves, ..GrowParams::default() };
        let rows: Vec<u32> = (0..60).filter(|i| i % 5 > 0).collect();
        let grown = |features: &BinnedFeatures| {
            let curvature = if has_curvatures { Curvature::Each(h.view()) } else { Curvature::Constant };
            let targets = SplitTargets { gradients: z.view(), weights: &weights, curvature, ..SplitTargets::default() };
            let search = Search { params, features: is_subset.then_some(&subset) };
            let splitter = HistogramSplitter::new(features, targets, search).unwrap();
            let mut workspace = splitter.workspace();
            let grown = grow(&splitter, &mut workspace, rows.clone(), &limits, Seed::new(seed)).unwrap();
            // Histograms of the tree are kept for the next one.
            let again = grow(&splitter, &mut workspace, rows.clone(), &limits, Seed::new(seed)).unwrap();
            assert!(again == grown && features.room.taken() <= features.room.most());
            for n_threads in [1, 2, 4] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                let mut team = Team::new(n_threads, || true);
                let by_team = pool.install(|| {
                    grow_together(&splitter, &mut team, rows.clone(), &limits, Seed::new(seed)).unwrap()
                });
                assert!(by_team == grown && features.room.taken() <= features.room.most());
            }
            drop(workspace);
            assert_eq!(features.room.taken(), 0);
            grown
        };
        let expected = grown(&of_all);
        // From less than one histogram to that of several nodes.
        let of_some = (share * 5.0 * (of_all.n_cells() * 8 * m) as f64) as usize;
        for most in [0, of_some] {
            prop_assert_eq!(&grown(&of_all.clone().with_room(most)), &expected);
        }
    }

    /// Sums of whole-number targets are exact in every layout.
    #[test]
    fn layouts_of_sums_give_the_same_tree(
        m in 1_usize..7,
        cells in prop::collection::vec((-3_i8..4, -3_i8..4), 40 * 6),
        weights in prop::collection::vec(0_u8..3, 40),
    ) {
        let x = Array2::from_shape_fn((40, 5), |(i, j)| f32::from(cells[i * 6 + j].0));
        let z = Array2::from_shape_fn((40, m), |(i, j)| f32::from(cells[i * 6 + j].1));
        let weights: Vec<f32> = weights.into_iter().map(|w| f32::from(w) + 1.0).collect();
        let features = BinnedFeatures::new((&x).into(), 255, &[]).unwrap();
        let targets = SplitTargets { gradients: z.view(), weights: &weights, ..SplitTargets::default() };
        let mut splitter = HistogramSplitter::new(&features, targets, AxisParams::default()).unwrap();
        let grown = |splitter: &HistogramSplitter<'_>| {
            let rows = (0..40).collect();
            grow(splitter, &mut splitter.workspace(), rows, &GrowParams::default(), Seed::new(0)).unwrap()
        };
        let expected = grown(&splitter);
        let mut others = vec![
            AnySums::Many(Vector::new(&targets, true).unwrap()),
            AnySums::Long(Vector::new(&targets, true).unwrap()),
            AnySums::Few(Vector::new(&targets, true).unwrap()),
            AnySums::Several(Vector::new(&targets, true).unwrap()),
        ];
        if m == 1 {
            let counts = [Counts::None, Counts::Observed, Counts::All];
            others.extend(counts.map(|counts| AnySums::one(&targets, counts)));
        }
        for sums in others {
            splitter.sums = sums;
            prop_assert_eq!(&grown(&splitter), &expected);
        }
    }
}

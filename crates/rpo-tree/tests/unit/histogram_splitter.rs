//! Trees do not depend on how the histogram splitter lays out or shares its sums.

use super::*;
use crate::histogram::fixed::Counts;
use crate::histogram::vector::Vector;
use crate::{GrowParams, grow};
use ndarray::Array2;
use proptest::prelude::*;
use rpo_core::Seed;

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

//! Invariants on generated outputs.

use crate::common::{all_families, allows, csr, dense_matrix, random_families, sparse};
use ndarray::{Array2, ArrayView2, Axis};
use proptest::collection::vec;
use proptest::prelude::*;
use rpo_core::{MatrixView, Seed};
use rpo_projections::{LinearMap, Pca, Projection, RandomProjection, Subsample};

/// Multiples of 1/4 with magnitude at most 4, so that sums of a few of them are exact.
fn matrix(rows: usize, columns: usize) -> impl Strategy<Value = Array2<f32>> {
    vec(prop_oneof![3 => Just(0_i8), 1 => -16..=16_i8], rows * columns).prop_map(move |v| {
        Array2::from_shape_vec(
            (rows, columns),
            v.into_iter().map(|x| f32::from(x) / 4.0).collect(),
        )
        .unwrap()
    })
}

fn apply(map: &dyn LinearMap, y: &Array2<f32>) -> Array2<f64> {
    map.apply(sparse(&csr(y.view()))).unwrap().mapv(f64::from)
}

/// n times the variance of the rows at `index`, summed over columns.
fn spread(z: ArrayView2<'_, f64>, index: &[usize]) -> f64 {
    let part = z.select(Axis(0), index);
    let mean = part.mean_axis(Axis(0)).unwrap();
    part.rows()
        .into_iter()
        .map(|row| (&row - &mean).mapv(|v| v * v).sum())
        .sum()
}

/// The largest |‖Φ(u - v)‖²/‖u - v‖² - 1| over pairs of different rows; `None` if there is none.
fn distortion(y: ArrayView2<'_, f64>, z: ArrayView2<'_, f64>) -> Option<f64> {
    let square = |a: ArrayView2<'_, f64>, i, j| (&a.row(i) - &a.row(j)).mapv(|v| v * v).sum();
    let pairs = (0..y.nrows()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let ratios = pairs.filter(|&(i, j)| square(y, i, j) > 0.0);
    ratios
        .map(|(i, j)| (square(z, i, j) / square(y, i, j) - 1.0).abs())
        .reduce(f64::max)
}

proptest! {
    #[test]
    fn linear(y in matrix(2, 30), a in -8..8_i8, seed in any::<u64>(), m in 1_usize..30) {
        let sum = (&y.row(0) * (f32::from(a) / 4.0) + y.row(1)).insert_axis(Axis(0));
        for (name, family) in all_families().into_iter().filter(|(name, _)| allows(name, 30, m)) {
            let map = family.draw(30, m, Seed::new(seed)).unwrap();
            let (z, sum) = (apply(&*map, &y), apply(&*map, &sum));
            let expected = &z.row(0) * (f64::from(a) / 4.0) + z.row(1);
            // Rounding of the terms: at most 30 of them, 4 times entries of at most about 5 * sqrt(90).
            let close = expected.iter().zip(&sum).all(|(e, s)| (e - s).abs() < 1e-2);
            prop_assert!(close, "{name}: {expected} and {sum}");
        }
    }

    #[test]
    fn a_power_of_two_scales_exactly(y in matrix(5, 30), seed in any::<u64>(), m in 1_usize..30) {
        for (name, family) in all_families().into_iter().filter(|(name, _)| allows(name, 30, m)) {
            let map = family.draw(30, m, Seed::new(seed)).unwrap();
            prop_assert_eq!(apply(&*map, &(&y * 8.0)), apply(&*map, &y) * 8.0, "{}", name);
        }
    }

    /// Theorem 1 of the forest paper, corrected: variances of all subsets stay within the measured distortion of pairs,
    /// reductions of variance only within ε(2 Var(S) - ΔI).
    #[test]
    fn variances_keep_within_the_distortion_of_pairs(
        y in matrix(12, 20), seed in any::<u64>(), m in 1_usize..20, sides in vec(0_u8..3, 12),
    ) {
        for (name, family) in random_families() {
            let map = family.draw(20, m, Seed::new(seed)).unwrap();
            let (z, y) = (apply(&*map, &y), y.mapv(f64::from));
            let Some(eps) = distortion(y.view(), z.view()) else { return Ok(()) };
            let side = |s: u8| (0..12).filter(|&i| sides[i] == s).collect::<Vec<_>>();
            let (left, right) = (side(0), side(1));
            if left.is_empty() || right.is_empty() {
                return Ok(());
            }
            let both = [left.clone(), right.clone()].concat();
            for index in [&left, &right, &both] {
                let (before, after) = (spread(y.view(), index), spread(z.view(), index));
                let slack = eps * before + 1e-9 * (1.0 + after);
                prop_assert!((after - before).abs() <= slack, "{name}: {before} to {after}, eps {eps}");
            }
            let reduction = |a: ArrayView2<'_, f64>| spread(a, &both) - spread(a, &left) - spread(a, &right);
            let (before, after) = (reduction(y.view()), reduction(z.view()));
            let bound = eps * (2.0 * spread(y.view(), &both) - before);
            prop_assert!((after - before).abs() <= bound + 1e-9 * (1.0 + after), "{name}: {before} to {after}");
        }
    }

    #[test]
    fn the_identity_changes_no_bit(y in matrix(4, 9)) {
        let map = rpo_projections::Identity.fit(MatrixView::from(&y).into(), 9, Seed::new(1)).unwrap();
        prop_assert_eq!(&map.apply(MatrixView::from(&y)).unwrap(), &y);
        prop_assert_eq!(&map.apply(sparse(&csr(y.view()))).unwrap(), &y);
    }

    #[test]
    fn subsampling_keeps_whole_outputs(d in 1_usize..60, share in 0.0..1.0, seed in any::<u64>()) {
        let m = 1 + (share * (d - 1) as f64) as usize;
        let entry = ((d as f64 / m as f64).sqrt()) as f32;
        for (family, distinct) in [(Subsample::default(), true), (Subsample { with_replacement: true }, false)] {
            let phi = dense_matrix(&*family.draw(d, m, Seed::new(seed)).unwrap());
            for row in phi.rows() {
                prop_assert_eq!(row.iter().filter(|v| **v == entry).count(), 1);
                prop_assert_eq!(row.iter().filter(|v| **v == 0.0).count(), d - 1);
            }
            let most = phi.columns().into_iter().map(|c| c.iter().filter(|v| **v != 0.0).count()).max().unwrap();
            prop_assert!(!distinct || most == 1, "an output comes {} times", most);
        }
        // With as many components as outputs, the map is a permutation.
        let all = dense_matrix(&*Subsample::default().draw(d, d, Seed::new(seed)).unwrap());
        prop_assert_eq!(all.dot(&all.t()), Array2::<f32>::eye(d));
    }

    #[test]
    fn hashing_gives_every_output_one_sign(d in 1_usize..200, m in 1_usize..300, seed in any::<u64>()) {
        let map = rpo_projections::Hashing::map(d, m, Seed::new(seed)).unwrap();
        let phi = dense_matrix(&map);
        for (j, column) in phi.columns().into_iter().enumerate() {
            let (component, sign) = map.entry(j as u32);
            let expected = Array2::from_shape_fn((m, 1), |(k, _)| if k == component as usize { sign } else { 0.0 });
            prop_assert_eq!(column, expected.column(0));
            prop_assert!(sign.abs() == 1.0);
        }
    }

    #[test]
    fn all_principal_components_are_a_rotation(y in matrix(9, 6), seed in any::<u64>()) {
        let map = Pca::default().fit(MatrixView::from(&y).into(), 6, Seed::new(seed)).unwrap();
        let phi = dense_matrix(&*map).mapv(f64::from);
        prop_assert!((phi.dot(&phi.t()) - Array2::<f64>::eye(6)).iter().all(|v| v.abs() < 1e-6));
        let (before, z) = (y.mapv(f64::from), apply(&*map, &y));
        let index: Vec<usize> = (0..9).collect();
        prop_assert!((spread(before.view(), &index) - spread(z.view(), &index)).abs() < 1e-3);
    }
}

//! Every map against its explicit matrix: Z = Y Φᵀ summed in `f64`, for every layout of Y.

use crate::common::{all_families, allows, csr, dense_matrix, outputs, sparse};
use ndarray::{Array2, Axis, s};
use rpo_core::{Matrix, MatrixView, Seed};
use rpo_projections::Projection;

/// (rows, outputs, components, fraction of outputs per row): widths around the block sizes of the kernels, more
/// components than outputs, rows without outputs and with all of them.
const CASES: [(usize, usize, usize, f64); 14] = [
    (5, 1, 1, 0.7),
    (6, 2, 3, 0.5),
    (20, 7, 7, 0.3),
    (9, 50, 1, 0.2),
    (9, 50, 2, 0.2),
    (9, 50, 5, 0.2),
    (9, 50, 13, 1.0),
    (9, 50, 31, 0.0),
    (30, 64, 32, 0.1),
    (30, 65, 33, 0.1),
    (8, 100, 60, 0.05),
    (8, 130, 64, 1.0),
    (8, 40, 100, 0.2),
    (4, 1000, 25, 0.004),
];

fn for_each_case(mut check: impl FnMut(&str, usize, &Array2<f32>, &dyn rpo_projections::LinearMap)) {
    for (case, &(n, d, m, density)) in CASES.iter().enumerate() {
        for binary in [true, false] {
            let y = outputs(n, d, density, binary, case as u64);
            for (name, family) in all_families().into_iter().filter(|(name, _)| allows(name, d, m)) {
                let map = family
                    .fit(sparse(&csr(y.view())).into(), m, Seed::new(case as u64))
                    .unwrap();
                assert_eq!((map.n_outputs(), map.n_components()), (d, m));
                check(&format!("{name}, case {case}, binary {binary}"), m, &y, &*map);
            }
        }
    }
}

#[test]
fn products_with_the_explicit_matrix() {
    for_each_case(|context, m, y, map| {
        let phi = dense_matrix(map).mapv(f64::from);
        let z = map.apply(sparse(&csr(y.view()))).unwrap();
        assert_eq!(z.dim(), (y.nrows(), m));
        for (y, z) in y.rows().into_iter().zip(z.rows()) {
            for (k, &got) in z.iter().enumerate() {
                let terms = y.iter().zip(phi.row(k)).map(|(&y, &phi)| f64::from(y) * phi);
                let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), t| (sum + t, size + t.abs()));
                assert!(
                    (f64::from(got) - sum).abs() <= 1e-5 * size,
                    "{context}: {got} is not {sum}"
                );
            }
        }
    });
}

#[test]
fn layout_changes_no_bit() {
    for_each_case(|context, _, y, map| {
        let expected = map.apply(sparse(&csr(y.view()))).unwrap();
        let dense = map.apply(MatrixView::from(y)).unwrap();
        assert_eq!(dense, expected, "{context}: dense");
        let by_columns = y.t().as_standard_layout().into_owned().reversed_axes();
        assert_eq!(
            map.apply(by_columns.view().into()).unwrap(),
            dense,
            "{context}: stored by columns"
        );
        // Stored zeros add nothing.
        let mut stored = csr(y.mapv(|v| if v == 0.0 { 9.0 } else { v }).view());
        let zeros = y.iter().map(|v| *v == 0.0).collect::<Vec<_>>();
        stored
            .data_mut()
            .iter_mut()
            .zip(zeros)
            .for_each(|(v, zero)| *v = if zero { 0.0 } else { *v });
        assert_eq!(
            map.apply(sparse(&stored)).unwrap(),
            dense,
            "{context}: stored zeros"
        );
    });
}

#[test]
fn a_row_depends_on_itself_alone() {
    for_each_case(|context, m, y, map| {
        let expected = map.apply(sparse(&csr(y.view()))).unwrap();
        let half = y.nrows() / 2;
        let part = csr(y.view());
        let part = part.view();
        let part = part.slice_outer(half..);
        let z = map.apply(MatrixView::Sparse(part)).unwrap();
        assert_eq!(z, expected.slice(s![half.., ..]), "{context}");
        let order: Vec<usize> = (0..y.nrows()).rev().collect();
        let picked: Matrix = sparse(&csr(y.view())).select_rows(&order);
        assert_eq!(
            map.apply(picked.view()).unwrap(),
            expected.select(Axis(0), &order),
            "{context}"
        );
        assert_eq!(
            map.apply(Array2::zeros((0, y.ncols())).view().into())
                .unwrap()
                .dim(),
            (0, m)
        );
    });
}

#[test]
fn the_map_does_not_depend_on_the_outputs_it_is_made_for() {
    for (case, &(n, d, m, density)) in CASES.iter().enumerate() {
        let y = outputs(n, d, density, false, case as u64);
        for (name, family) in all_families().into_iter().filter(|(name, _)| allows(name, d, m)) {
            let drawn = family.draw(d, m, Seed::new(8)).unwrap();
            let expected = dense_matrix(&*drawn);
            for fitted in [
                family
                    .fit(sparse(&csr(y.view())).into(), m, Seed::new(8))
                    .unwrap(),
                family.fit(MatrixView::from(&y).into(), m, Seed::new(8)).unwrap(),
            ] {
                assert_eq!(dense_matrix(&*fitted), expected, "{name}, case {case}");
            }
            let other = dense_matrix(&*family.draw(d, m, Seed::new(9)).unwrap());
            if d * m > 300 && name != "identity" {
                assert_ne!(other, expected, "{name}, case {case}: another seed");
            }
        }
    }
}

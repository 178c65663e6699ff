//! Principal components against a decomposition of the explicit covariance.

use super::common::{csr, outputs, sparse};
use ndarray::{Array1, Array2, Axis};
use rpo_core::{MatrixView, Mismatch, Seed, WeightError};
use rpo_projections::linalg::symmetric_eigen;
use rpo_projections::{
    LinearMap, Pca, PrincipalComponents, Projection, ProjectionError, ProjectionInput, ProjectionKind,
};

fn covariance(y: &Array2<f32>) -> Array2<f64> {
    let y = y.mapv(f64::from);
    let centred = &y - &y.mean_axis(Axis(0)).unwrap();
    centred.t().dot(&centred) / (y.nrows() - 1) as f64
}

/// Outputs in groups that occur together, some more often than others: a falling spectrum over a floor of noise.
fn grouped(n: usize, d: usize) -> Array2<f32> {
    let group = outputs(n, 8, 0.3, true, 5);
    let noise = outputs(n, d, 0.02, true, 6);
    Array2::from_shape_fn((n, d), |(i, j)| {
        let active = j % 40 < 20 && group[[i, j % 8]] == 1.0 && (j / 8) % (1 + j % 8) == 0;
        if active { 1.0 } else { noise[[i, j]] }
    })
}

fn check(y: &Array2<f32>, found: &PrincipalComponents, tolerance: f64) {
    let covariance = covariance(y);
    let exact = symmetric_eigen(covariance.view()).unwrap();
    let m = found.variances.len();
    let scale = exact.values[0];
    let close = |a: f64, b: f64| (a - b).abs() <= tolerance * scale;
    assert!((found.total_variance / covariance.diag().sum() - 1.0).abs() < 1e-12);
    for k in 0..m {
        assert!(
            close(found.variances[k], exact.values[k]),
            "{}: {:?}",
            found.variances,
            exact.values
        );
        assert!(
            k == 0 || found.variances[k] <= found.variances[k - 1],
            "decreasing"
        );
    }
    // C v = λ v, which also verifies the directions.
    let products = found.components.dot(&covariance);
    for (k, (product, direction)) in products
        .rows()
        .into_iter()
        .zip(found.components.rows())
        .enumerate()
    {
        let residual = &product - &(&direction * found.variances[k]);
        let size = residual.dot(&residual).sqrt();
        assert!(size <= tolerance.sqrt() * scale, "component {k}: residual {size}");
    }
    check_orthonormal(found);
}

fn check_orthonormal(found: &PrincipalComponents) {
    let gram = found.components.dot(&found.components.t());
    let identity = Array2::<f64>::eye(gram.nrows());
    assert!((gram - identity).iter().all(|v| v.abs() < 1e-10));
    for row in found.components.rows() {
        let largest = row
            .iter()
            .fold(0.0_f64, |best, &v| if v.abs() > best.abs() { v } else { best });
        assert!(largest > 0.0, "sign convention");
    }
}

/// A sample of weight k counts as k samples, in every projection that is learned.
#[test]
fn weights_are_repetitions() {
    let (x, y) = (outputs(40, 5, 0.0, false, 3), outputs(40, 6, 0.4, false, 4));
    let weights: Vec<f32> = (0..40).map(|i| [0.0, 1.0, 2.0, 30.0][i % 4]).collect();
    let rows: Vec<usize> = (0..40)
        .flat_map(|i| std::iter::repeat_n(i, weights[i] as usize))
        .collect();
    let repeated = [&x, &y].map(|a| a.select(Axis(0), &rows));
    for kind in [ProjectionKind::Pca, ProjectionKind::LabelEmbedding] {
        let project = |x: &Array2<f32>, y: &Array2<f32>, weights| {
            let data = ProjectionInput {
                features: Some(x.into()),
                outputs: y.into(),
                weights,
            };
            kind.fit(data, 3, Seed::new(1))
        };
        let apply = |map: Box<dyn LinearMap>| map.apply((&y).into()).unwrap();
        let weighted = apply(project(&x, &y, Some(&weights)).unwrap());
        let copied = apply(project(&repeated[0], &repeated[1], None).unwrap());
        let plain = apply(project(&x, &y, None).unwrap());
        // Components of about equal size may change places.
        let products = |z: &Array2<f32>| z.dot(&z.t());
        let differs = |a: &Array2<f32>| (products(a) - products(&weighted)).iter().any(|v| v.abs() > 1e-3);
        assert!(!differs(&copied) && differs(&plain), "{kind}");
        assert_eq!(apply(project(&x, &y, Some(&[1.0; 40])).unwrap()), plain);
        for (wrong, error) in [
            (
                &[1.0; 3][..],
                ProjectionError::Mismatch(Mismatch::check("weights of the samples", 40, 3).unwrap_err()),
            ),
            (&[0.0; 40], WeightError::AllZero.into()),
        ] {
            assert_eq!(project(&x, &y, Some(wrong)).unwrap_err(), error);
        }
    }
}

#[test]
fn small_outputs_are_decomposed_exactly() {
    for (n, d, m) in [(50, 6, 3), (50, 30, 30), (10, 40, 12), (2, 3, 1)] {
        let y = outputs(n, d, 0.6, false, 1);
        let found = Pca::default()
            .components(&MatrixView::from(&y), m, Seed::new(1))
            .unwrap();
        check(&y, &found, 1e-10);
    }
}

#[test]
fn large_outputs_are_decomposed_to_the_needed_accuracy() {
    let y = grouped(600, 400);
    let found = Pca::default()
        .components(&MatrixView::from(&y), 6, Seed::new(1))
        .unwrap();
    check(&y, &found, 1e-6);
    let sparse_y = csr(y.view());
    let same = Pca::default()
        .components(&sparse(&sparse_y), 6, Seed::new(1))
        .unwrap();
    // The zeros of dense rows change the order of one sum, the sum of squares.
    assert_eq!(same.components, found.components, "dense and sparse rows");
    assert!((same.total_variance / found.total_variance - 1.0).abs() < 1e-12);
    let other = Pca::default()
        .components(&sparse(&sparse_y), 6, Seed::new(2))
        .unwrap();
    check(&y, &other, 1e-6);
}

#[test]
fn more_iterations_and_probes_find_more_variance() {
    let y = grouped(300, 500);
    let found = |oversampling, q| {
        let pca = Pca {
            oversampling,
            power_iterations: q,
        };
        pca.components(&MatrixView::from(&y), 10, Seed::new(3))
            .unwrap()
            .variances
            .sum()
    };
    let exact = symmetric_eigen(covariance(&y).view())
        .unwrap()
        .values
        .iter()
        .take(10)
        .sum::<f64>();
    let (rough, better, best) = (found(0, 0), found(0, 2), found(20, 4));
    assert!(
        rough < better && better < best && best <= exact * (1.0 + 1e-12),
        "{rough} {better} {best} {exact}"
    );
    assert!(best > 0.999 * exact);
}

#[test]
fn outputs_that_vary_in_few_directions() {
    // Five rows span four directions around their mean; the others are made up, but still orthonormal.
    let y = outputs(5, 600, 0.05, true, 2);
    let found = Pca::default()
        .components(&MatrixView::from(&y), 20, Seed::new(1))
        .unwrap();
    check(&y, &found, 1e-10);
    assert!(found.variances.iter().skip(4).all(|&v| v < 1e-12));
    let constant = Array2::from_elem((4, 300), 2.5_f32);
    let found = Pca::default()
        .components(&MatrixView::from(&constant), 3, Seed::new(1))
        .unwrap();
    check_orthonormal(&found);
    assert!(found.total_variance == 0.0 && found.variances == Array1::<f64>::zeros(3));
}

#[test]
fn large_means_cost_no_accuracy() {
    let y = outputs(40, 8, 1.0, false, 7);
    let expected = Pca::default()
        .components(&MatrixView::from(&y), 4, Seed::new(1))
        .unwrap();
    let far = &y.mapv(f64::from) + 1e6;
    let found = Pca::default().components(&far.view(), 4, Seed::new(1)).unwrap();
    let relative = &found.variances / &expected.variances - 1.0;
    assert!(relative.iter().all(|v| v.abs() < 1e-8), "{relative}");
}

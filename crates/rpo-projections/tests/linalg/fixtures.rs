//! Compares with reference vectors of other libraries: `linalg.json` in the folder that `RPO_FIXTURES` names.

use super::unweighted;
use std::path::PathBuf;

use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rpo_core::Seed;
use rpo_projections::Pca;
use rpo_projections::least_squares::{Ridge, RidgeSolver};
use rpo_projections::linalg::{Svd, dense_svd, fwht, orthonormal_basis, range_finder};
use serde_json::Value;

fn linalg() -> Option<Value> {
    let Some(folder) = std::env::var_os("RPO_FIXTURES") else {
        eprintln!("skipped: RPO_FIXTURES does not name the folder of reference vectors");
        return None;
    };
    let text = std::fs::read_to_string(PathBuf::from(folder).join("linalg.json")).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

/// The cases of a list, which must not be empty.
fn cases<'a>(file: &'a Value, list: &str) -> &'a [Value] {
    let cases = file[list].as_array().unwrap();
    assert!(!cases.is_empty());
    cases
}

fn tolerance(file: &Value, name: &str) -> f64 {
    file["header"]["tolerance"][name].as_f64().unwrap()
}

fn numbers(value: &Value) -> Array1<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap())
        .collect()
}

fn matrix(value: &Value) -> Array2<f64> {
    let rows = value.as_array().unwrap();
    let columns = rows.first().map_or(0, |row| row.as_array().unwrap().len());
    let values = rows.iter().flat_map(numbers).collect();
    Array2::from_shape_vec((rows.len(), columns), values).unwrap()
}

fn size(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

fn assert_close<D: ndarray::Dimension>(
    found: &ndarray::Array<f64, D>,
    expected: &ndarray::Array<f64, D>,
    tolerance: f64,
    context: &str,
) {
    assert_eq!(found.shape(), expected.shape(), "{context}");
    let worst = found
        .iter()
        .zip(expected)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    assert!(
        worst <= tolerance,
        "{context}: {worst:e} apart, at most {tolerance:e} allowed"
    );
}

/// Flips rows of `found` whose sign differs from that of `expected`.
fn with_signs_of(mut found: Array2<f64>, expected: &Array2<f64>) -> Array2<f64> {
    for (mut row, expected) in found.rows_mut().into_iter().zip(expected.rows()) {
        if row.dot(&expected) < 0.0 {
            row *= -1.0;
        }
    }
    found
}

fn norm(a: &Array2<f64>) -> f64 {
    a.mapv(|v| v * v).sum().sqrt()
}

fn largest(a: &Array2<f64>) -> f64 {
    a.iter().fold(0.0, |best, v| v.abs().max(best))
}

#[test]
fn walsh_hadamard_transforms() {
    let Some(file) = linalg() else { return };
    let tolerance = tolerance(&file, "fwht_absolute");
    for case in cases(&file, "fwht") {
        let (name, expected) = (case["name"].as_str().unwrap(), &case["expected"]);
        let mut x = numbers(&case["x"]);
        fwht(x.as_slice_mut().unwrap());
        assert_close(&x, &numbers(&expected["unnormalised"]), tolerance, name);
        x /= (x.len() as f64).sqrt();
        assert_close(&x, &numbers(&expected["orthonormal"]), tolerance, name);
    }
}

#[test]
fn range_finders() {
    let Some(file) = linalg() else { return };
    let (relative, absolute) = (
        tolerance(&file, "singular_values_relative_to_largest"),
        tolerance(&file, "projector_absolute"),
    );
    for case in cases(&file, "range_finder") {
        let (name, expected) = (case["name"].as_str().unwrap(), &case["expected"]);
        let (a, omega) = (matrix(&case["a"]), matrix(&case["omega"]));
        let q = range_finder(&a.view(), omega.view(), size(&case["power_iterations"])).unwrap();
        assert_eq!(q.ncols(), size(&expected["rank"]), "{name}: rank");
        let gram = q.t().dot(&q);
        assert_close(&gram, &Array2::eye(q.ncols()), 1e-13, name);
        assert_close(&q.dot(&q.t()), &matrix(&expected["projector"]), absolute, name);
        let small = q.t().dot(&a);
        let approximation = q.dot(&small);
        let scale = largest(&a).max(1.0);
        assert_close(
            &approximation,
            &matrix(&expected["approximation"]),
            absolute * scale,
            name,
        );
        let found = dense_svd(small.view()).singular_values;
        let expected_values = numbers(&expected["singular_values"]);
        assert_close(&found, &expected_values, relative * expected_values[0], name);
        let error = norm(&(&a - &approximation)) - expected["frobenius_error"].as_f64().unwrap();
        assert!(
            error.abs() <= absolute * scale,
            "{name}: error of the approximation"
        );
    }
}

#[test]
fn truncated_singular_values() {
    let Some(file) = linalg() else { return };
    let (relative, absolute) = (
        tolerance(&file, "singular_values_relative_to_largest"),
        tolerance(&file, "projector_absolute"),
    );
    for case in cases(&file, "truncated_svd") {
        let (name, expected) = (case["name"].as_str().unwrap(), &case["expected"]);
        let (a, k) = (matrix(&case["a"]), size(&case["k"]));
        let all = numbers(&expected["singular_values_all"]);
        let scale = expected["spectral_norm"].as_f64().unwrap();
        let found = truncated(a.view(), k);
        assert_close(
            &found.singular_values,
            &numbers(&expected["singular_values"]),
            relative * scale,
            name,
        );
        let full = dense_svd(a.view());
        assert_close(&full.singular_values, &all, relative * scale, name);
        check_svd(&found.u, &found.singular_values, &found.vt, &a, case, absolute);
    }
}

fn truncated(a: ArrayView2<'_, f64>, k: usize) -> Svd {
    let svd = dense_svd(a);
    Svd {
        u: svd.u.slice_move(s![.., ..k]),
        singular_values: svd.singular_values.slice_move(s![..k]),
        vt: svd.vt.slice_move(s![..k, ..]),
    }
}

fn check_svd(
    u: &Array2<f64>,
    singular_values: &Array1<f64>,
    vt: &Array2<f64>,
    a: &Array2<f64>,
    case: &Value,
    absolute: f64,
) {
    let (name, expected) = (case["name"].as_str().unwrap(), &case["expected"]);
    let scale = expected["spectral_norm"].as_f64().unwrap().max(1.0);
    if expected["vectors_unique_up_to_sign"].as_bool().unwrap() {
        let (expected_u, expected_vt) = (matrix(&expected["u"]), matrix(&expected["vt"]));
        assert_close(
            &with_signs_of(vt.clone(), &expected_vt),
            &expected_vt,
            absolute,
            name,
        );
        let (ut, expected_ut) = (u.t().to_owned(), expected_u.t().to_owned());
        assert_close(&with_signs_of(ut, &expected_ut), &expected_ut, absolute, name);
    }
    let approximation = (u * singular_values).dot(vt);
    if !expected["approximation"].is_null() {
        assert_close(
            &approximation,
            &matrix(&expected["approximation"]),
            absolute * scale,
            name,
        );
    }
    let error = norm(&(a - &approximation)) - expected["frobenius_error"].as_f64().unwrap();
    assert!(
        error.abs() <= absolute * scale,
        "{name}: error of the approximation"
    );
    let rank = orthonormal_basis(approximation.view()).unwrap().ncols();
    assert!(rank <= singular_values.len(), "{name}: rank");
}

#[test]
fn principal_components() {
    let Some(file) = linalg() else { return };
    let tolerance = tolerance(&file, "pca_absolute");
    for case in cases(&file, "pca") {
        let (name, expected) = (case["name"].as_str().unwrap(), &case["expected"]);
        let (x, k) = (matrix(&case["x"]), size(&case["k"]));
        let found = Pca::default().components(&x.view(), k, Seed::new(1)).unwrap();
        assert_close(&found.mean, &numbers(&expected["mean"]), tolerance, name);
        assert_close(
            &found.variances,
            &numbers(&expected["explained_variance"]),
            tolerance * scale(&x),
            name,
        );
        let ratio = &found.variances / found.total_variance;
        assert_close(
            &ratio,
            &numbers(&expected["explained_variance_ratio"]),
            tolerance,
            name,
        );
        let degrees = (x.nrows() - 1) as f64;
        let singular = found.variances.mapv(|v| (v * degrees).sqrt());
        assert_close(
            &singular,
            &numbers(&expected["singular_values"]),
            tolerance * scale(&x),
            name,
        );
        let components = matrix(&expected["components"]);
        let turned = with_signs_of(found.components, &components);
        assert_close(&turned, &components, tolerance, name);
        let transformed = (&x - &found.mean).dot(&turned.t());
        assert_close(
            &transformed,
            &matrix(&expected["transformed"]),
            tolerance * scale(&x),
            name,
        );
        let back = transformed.dot(&turned) + &found.mean.insert_axis(Axis(0));
        assert_close(
            &back,
            &matrix(&expected["reconstruction"]),
            tolerance * scale(&x),
            name,
        );
    }
}

/// Scale of absolute tolerances, which are meant for values of about 1.
fn scale(x: &Array2<f64>) -> f64 {
    let view: ArrayView2<'_, f64> = x.view();
    view.iter().fold(1.0, |best, v| v.abs().max(best))
}

#[test]
fn ridge_regressions() {
    let Some(file) = linalg() else { return };
    for case in cases(&file, "ridge") {
        let (name, expected) = (case["name"].as_str().unwrap(), &case["expected"]);
        let (x, y) = (matrix(&case["x"]), matrix(&case["y"]));
        let lambda = case["lambda"].as_f64().unwrap();
        let relative = tolerance(
            &file,
            if lambda < 1e-6 {
                "tiny_lambda_relative"
            } else {
                "ridge_relative"
            },
        );
        let iterations = 1000;
        let solvers = [
            RidgeSolver::Cholesky,
            RidgeSolver::ConjugateGradients {
                iterations,
                tolerance: 1e-28,
                jacobi: true,
            },
        ];
        for (solver, intercept) in solvers.into_iter().flat_map(|s| [(s, false), (s, true)]) {
            let (x, y, identity) = (x.view(), y.view(), Array2::eye(y.ncols()));
            let ridge = Ridge::new(unweighted(&x, intercept), lambda, solver).unwrap();
            let mut found = ridge.solve(&y, identity.view()).unwrap();
            let context = format!("{name}, {solver:?}, intercept: {intercept}");
            let coefficients = if intercept {
                let expected = numbers(&expected["intercept"]);
                let tolerance = relative * largest(&expected.clone().insert_axis(Axis(0)));
                assert_close(&found.row(x.ncols()).to_owned(), &expected, tolerance, &context);
                found.slice_collapse(s![..x.ncols(), ..]);
                matrix(&expected_of(case, "coefficients_with_intercept"))
            } else {
                let residual = &y - &x.dot(&found);
                let expected = expected["training_sse"].as_f64().unwrap();
                let error: f64 = residual.iter().map(|v| v * v).sum::<f64>() - expected;
                assert!(
                    error.abs() <= relative * expected.max(1.0),
                    "{context}: {error:e}"
                );
                matrix(&expected_of(case, "coefficients"))
            };
            assert_close(&found, &coefficients, relative * largest(&coefficients), &context);
        }
    }
}

fn expected_of(case: &Value, name: &str) -> Value {
    case["expected"][name].clone()
}

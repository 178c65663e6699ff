//! Compares the Hellinger loss, its penalty and ADAM with reference vectors (`hellinger.json`), and information gain
//! with `tree_gini.json`.

use super::adam::Adam;
use super::design::{Batch, DenseDesign, DesignMatrix};
use super::loss::{slopes, soft_assign, squared_distance};
use super::penalty::SmoothAbs;
use crate::criterion::{Criterion, Entropy};
use serde_json::Value;
use std::path::PathBuf;

fn read(file: &str) -> Option<Value> {
    let Some(folder) = std::env::var_os("RPO_FIXTURES") else {
        eprintln!("RPO_FIXTURES is not set: no comparison with {file}");
        return None;
    };
    let text = std::fs::read_to_string(PathBuf::from(folder).join(file)).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(number).collect()
}

/// Returns rows whose last column is 1 as a design, and for each whether it is positive.
fn problem(case: &Value) -> (DenseDesign<f64>, Vec<bool>) {
    let x: Vec<Vec<f64>> = list(&case["x"]).iter().map(numbers).collect();
    let p = x[0].len() - 1;
    assert!(x.iter().all(|row| row[p] == 1.0));
    let design = DenseDesign::new(x.len(), p, |i, row| row.copy_from_slice(&x[i][..p]));
    let positive = numbers(&case["y"]).into_iter().map(|y| y > 0.0).collect();
    (design, positive)
}

/// Loss and gradient (with as many weights as given), and the intermediate φ and rates.
struct Evaluated {
    phi: Vec<f64>,
    tpr: f64,
    fpr: f64,
    loss: f64,
    gradient: Vec<f64>,
}

fn evaluate(design: &DenseDesign<f64>, positive: &[bool], w: &[f64], alpha: f64) -> Evaluated {
    let mut weights = w.to_vec();
    weights.resize(design.n_columns(), 0.0);
    let mut phi = vec![0.0; design.n_rows()];
    design.margins(Batch::All, &weights, &mut phi);
    let rates = soft_assign(alpha, &mut phi, positive).unwrap();
    let mut v = phi.clone();
    slopes(alpha, &rates, &mut v, positive);
    let mut gradient = weights;
    design.transposed(Batch::All, &v, &mut gradient);
    gradient.truncate(w.len());
    Evaluated {
        phi,
        tpr: rates.tpr,
        fpr: rates.fpr,
        loss: rates.loss(),
        gradient,
    }
}

#[test]
fn points_of_the_loss() {
    let Some(file) = read("hellinger.json") else {
        return;
    };
    let tolerance = |name: &str| number(&file["header"]["tolerance"][name]);
    for case in list(&file["points"]) {
        let (design, positive) = problem(case);
        let found = evaluate(&design, &positive, &numbers(&case["w"]), number(&case["alpha"]));
        let expected = &case["expected"];
        let close = |what: &str, found: f64, expected: f64, tolerance: f64| {
            let off = (found - expected).abs();
            assert!(
                off <= tolerance,
                "{}: {what} {found} for {expected}",
                case["name"]
            );
        };
        for (&found, &expected) in found.phi.iter().zip(&numbers(&expected["phi"])) {
            close("phi", found, expected, tolerance("phi_absolute").max(4e-15));
        }
        close(
            "tpr",
            found.tpr,
            number(&expected["tpr"]),
            tolerance("loss_absolute"),
        );
        close(
            "fpr",
            found.fpr,
            number(&expected["fpr"]),
            tolerance("loss_absolute"),
        );
        let distance = squared_distance(found.tpr, found.fpr);
        close(
            "distance",
            distance,
            number(&expected["hellinger_squared"]),
            tolerance("loss_absolute"),
        );
        close(
            "loss",
            found.loss,
            number(&expected["loss"]),
            tolerance("loss_absolute"),
        );
        for (&found, &expected) in found.gradient.iter().zip(&numbers(&expected["gradient"])) {
            let allowed = tolerance("gradient_absolute").max(tolerance("gradient_relative") * expected.abs());
            close("gradient", found, expected, allowed);
        }
    }
}

#[test]
fn the_penalty() {
    let Some(file) = read("hellinger.json") else {
        return;
    };
    let tolerance = number(&file["header"]["tolerance"]["penalty_relative"]);
    for case in list(&file["penalty"]) {
        let phi = SmoothAbs {
            eta: number(&case["eta"]),
        };
        let expected = numbers(&case["value"])
            .into_iter()
            .zip(numbers(&case["derivative"]));
        for (w, (value, derivative)) in numbers(&case["w"]).into_iter().zip(expected) {
            assert!((phi.value(w) - value).abs() <= tolerance * value.abs(), "{w}");
            assert!(
                (phi.derivative(w) - derivative).abs() <= tolerance * derivative.abs(),
                "{w}"
            );
        }
    }
}

#[test]
fn runs_of_adam() {
    let Some(file) = read("hellinger.json") else {
        return;
    };
    let tolerance = |name: &str| number(&file["header"]["tolerance"][name]);
    for case in list(&file["adam"]) {
        let (design, positive) = problem(case);
        let (alpha, l1) = (number(&case["alpha"]), number(&case["l1_weight"]));
        let penalty = SmoothAbs {
            eta: number(&case["eta"]),
        };
        let mut w = numbers(&case["w0"]);
        let n_penalized = w.len() - usize::from(!case["penalise_last_weight"].as_bool().unwrap());
        let mut adam = Adam::new(number(&case["adam"]["lr"]), w.len());
        let losses = numbers(&case["expected"]["loss"]);
        let gradients = list(&case["expected"]["gradient"]);
        for (step, expected) in list(&case["expected"]["w"]).iter().enumerate() {
            for (w, expected) in w.iter().zip(numbers(expected)) {
                let off = (w - expected).abs();
                assert!(
                    off <= tolerance("adam_weights_absolute"),
                    "{} step {step}: off by {off}",
                    case["name"]
                );
            }
            let mut found = evaluate(&design, &positive, &w, alpha);
            for (g, &w) in found.gradient.iter_mut().zip(&w[..n_penalized]) {
                found.loss += l1 * penalty.value(w);
                *g += l1 * penalty.derivative(w);
            }
            assert!(
                (found.loss - losses[step]).abs() <= 1e-7,
                "{} step {step}",
                case["name"]
            );
            let Some(expected) = gradients.get(step) else {
                break;
            };
            for (g, expected) in found.gradient.iter().zip(numbers(expected)) {
                assert!(
                    (g - expected).abs() <= 1e-6 * (1.0 + expected.abs()),
                    "{} step {step}",
                    case["name"]
                );
            }
            adam.step(&mut w, &found.gradient);
        }
    }
}

#[test]
fn gains_of_all_thresholds() {
    let Some(file) = read("tree_gini.json") else {
        return;
    };
    let tolerance = number(&file["header"]["tolerance"]["gain_absolute"]);
    for table in list(&file["gain_tables"]) {
        let x = numbers(&table["x"]);
        let n = x.len() as f64;
        let rows: Vec<u32> = (0..x.len() as u32).collect();
        let mut entropy = Entropy::new(numbers(&table["y"]).into_iter().map(|y| y == 1.0).collect());
        entropy.start(&rows);
        let columns = list(&table["columns"]);
        let column = |name: &str| columns.iter().position(|c| c.as_str() == Some(name)).unwrap();
        let (threshold, gain) = (column("threshold"), column("entropy_decrease_bits"));
        for split in list(&table["splits"]).iter().map(numbers) {
            entropy.clear();
            rows.iter()
                .filter(|&&i| x[i as usize] <= split[threshold])
                .for_each(|&i| entropy.move_row(i));
            let found = entropy.gain(entropy.score()) / n;
            assert!(
                (found - split[gain]).abs() <= tolerance,
                "{}: {found}",
                table["name"]
            );
        }
    }
}

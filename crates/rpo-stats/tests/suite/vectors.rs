//! Checks of every value of the reference vectors of the significance tests.

use crate::reference::{Check, cases, counts, fixture, matrix, number, numbers};
use rpo_stats::{
    Better, Bootstrap, ConfidenceInterval, Correction, Friedman, FriedmanTest, PValues, PairedT, PostHoc,
    SignedRanks, Zeros,
};
use serde_json::Value;
use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor, Normal, StudentsT};

/// The tolerances given in the file, by kind.
const STATISTIC: (f64, f64) = (1e-10, 1e-10);
const P_VALUE: (f64, f64) = (0.0, 1e-7);
const QUANTILE: (f64, f64) = (0.0, 1e-6);
const NEMENYI_P: (f64, f64) = (1e-4, 0.0);

fn check<'a>(case: &'a str, expected: &'a Value, (absolute, relative): (f64, f64)) -> Check<'a> {
    Check {
        case,
        expected,
        absolute,
        relative,
    }
}

fn differences(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x - y).collect()
}

fn name(case: &Value) -> &str {
    case["name"].as_str().unwrap()
}

fn p_values(case: &str, expected: &Value, found: PValues) {
    let check = check(case, expected, P_VALUE);
    check.one("p_two_sided", found.two_sided);
    check.one("p_greater", found.greater);
    check.one("p_less", found.less);
}

#[test]
fn friedman_and_nemenyi() {
    let Some(file) = fixture("stats.json") else {
        return;
    };
    for case in cases(&file, "friedman") {
        let (name, expected) = (name(case), &case["expected"]);
        let better = if case["higher_is_better"].as_bool().unwrap() {
            Better::Higher
        } else {
            Better::Lower
        };
        let friedman = Friedman::new(matrix(&case["scores"]).view(), better).unwrap();
        assert_eq!(friedman.ranks, matrix(&expected["ranks"]), "{name}");
        let statistic = check(name, expected, STATISTIC);
        let p_value = check(name, expected, P_VALUE);
        statistic.all("average_ranks", &friedman.average_ranks);
        let FriedmanTest {
            df, f_df: (df1, df2), ..
        } = friedman.uncorrected;
        statistic.one("df", df as f64);
        statistic.all("iman_davenport_df", &[df1 as f64, df2 as f64]);
        for (kind, test) in [
            ("uncorrected", friedman.uncorrected),
            ("tie_corrected", friedman.tie_corrected),
        ] {
            statistic.one(&format!("chi2_{kind}"), test.chi2);
            p_value.one(&format!("p_{kind}"), test.p);
            statistic.one(&format!("iman_davenport_F_{kind}"), test.f);
            p_value.one(&format!("iman_davenport_p_{kind}"), test.f_p);
        }
        let nemenyi = check(name, expected, NEMENYI_P);
        for (found, &wanted) in friedman.nemenyi_p().iter().zip(&matrix(&expected["nemenyi_p"])) {
            nemenyi.equal("nemenyi_p", *found, wanted);
        }
        let quantile = check(name, &expected["nemenyi_cd"], QUANTILE);
        for (alpha, _) in expected["nemenyi_cd"].as_object().unwrap() {
            let (n, k) = friedman.ranks.dim();
            let found = PostHoc::Nemenyi.critical_difference(k, n, alpha.parse().unwrap());
            quantile.one(alpha, found.unwrap());
        }
    }
}

#[test]
fn critical_differences() {
    let Some(file) = fixture("stats.json") else {
        return;
    };
    for row in cases(&file, "nemenyi_table") {
        let (k, alpha) = (number(&row["k"]) as usize, number(&row["alpha"]));
        let check = check("critical differences", row, QUANTILE);
        for (kind, test) in [
            ("nemenyi", PostHoc::Nemenyi),
            ("bonferroni_dunn", PostHoc::BonferroniDunn),
        ] {
            let difference = |n| test.critical_difference(k, n, alpha).unwrap();
            let unit = ((k * (k + 1)) as f64 / 6.0).sqrt();
            check.one(&format!("q_{kind}"), difference(1) / unit);
            let n = numbers(&row["N"]).into_iter();
            let differences: Vec<f64> = n.map(|n| difference(n as usize)).collect();
            check.all(&format!("cd_{kind}"), &differences);
        }
    }
}

#[test]
fn wilcoxon() {
    let Some(file) = fixture("stats.json") else {
        return;
    };
    for case in cases(&file, "wilcoxon") {
        let (name, expected) = (name(case), &case["expected"]);
        let (x, y) = (numbers(&case["x"]), numbers(&case["y"]));
        let test = SignedRanks::new(&x, &y).unwrap();
        let statistic = check(name, expected, STATISTIC);
        statistic.all("differences", &differences(&x, &y));
        statistic.one("n", test.n as f64);
        statistic.one("n_zero", test.n_zero as f64);
        statistic.one("n_nonzero", (test.n - test.n_zero) as f64);
        assert_eq!(test.has_ties, expected["has_ties"].as_bool().unwrap(), "{name}");
        statistic.one("r_plus", test.r_plus);
        statistic.one("r_minus", test.r_minus);
        statistic.one("statistic_min", test.statistic);
        if let Some(exact) = expected.get("exact").filter(|e| !e.is_null()) {
            p_values(name, exact, test.exact().unwrap());
        }
        for (variant, expected) in expected["normal_approximation"].as_object().unwrap() {
            let continuity = variant.ends_with("_continuity");
            let zeros = match variant.trim_end_matches("_continuity") {
                "wilcox" => Zeros::Drop,
                "pratt" => Zeros::Pratt,
                "zsplit" => Zeros::Split,
                other => panic!("unknown variant {other}"),
            };
            let found = test.normal(zeros, continuity);
            let statistic = check(name, expected, STATISTIC);
            statistic.one("statistic", found.statistic);
            statistic.one("z", found.z);
            p_values(name, expected, found.p);
        }
    }
}

#[test]
fn paired_t() {
    let Some(file) = fixture("stats.json") else {
        return;
    };
    for case in cases(&file, "paired_t") {
        let (name, expected) = (name(case), &case["expected"]);
        let test = PairedT::new(&numbers(&case["x"]), &numbers(&case["y"]), 0.0).unwrap();
        let statistic = check(name, expected, STATISTIC);
        statistic.one("t", test.t);
        statistic.one("df", test.df as f64);
        statistic.one("mean_difference", test.mean_difference);
        statistic.one("sd_difference", test.sd_difference);
        let (low, high) = test.interval(0.95).unwrap();
        statistic.all("ci95", &[low, high]);
        p_values(name, expected, test.p);
    }
}

#[test]
fn corrections() {
    let Some(file) = fixture("stats.json") else {
        return;
    };
    for case in cases(&file, "corrections") {
        let (name, expected) = (name(case), case["expected"].as_object().unwrap());
        let p = numbers(&case["p"]);
        for (kind, adjusted) in [
            ("bonferroni", Correction::Bonferroni.adjust(&p).unwrap()),
            ("holm", Correction::Holm.adjust(&p).unwrap()),
        ] {
            check(name, &case["expected"], STATISTIC).all(&format!("{kind}_adjusted"), &adjusted);
            let decisions = expected.iter().filter_map(|(field, wanted)| {
                let alpha = field.strip_prefix(&format!("{kind}_reject_"))?;
                Some((alpha.parse::<f64>().unwrap(), wanted))
            });
            for (alpha, wanted) in decisions {
                let rejected: Vec<Value> = adjusted.iter().map(|p| Value::Bool(*p <= alpha)).collect();
                assert_eq!(&Value::Array(rejected), wanted, "{name}: {kind} at {alpha}");
            }
        }
    }
}

#[test]
fn bootstrap() {
    let Some(file) = fixture("stats.json") else {
        return;
    };
    for case in cases(&file, "bootstrap") {
        let check = check(name(case), &case["expected"], STATISTIC);
        let x = numbers(&case["x"]);
        let values = case
            .get("y")
            .map_or_else(|| x.clone(), |y| differences(&x, &numbers(y)));
        let resamples: Vec<Vec<usize>> = case["resample_indices"]
            .as_array()
            .unwrap()
            .iter()
            .map(counts)
            .collect();
        let mean = |rows: &[usize]| rows.iter().map(|&i| values[i]).sum::<f64>() / rows.len() as f64;
        let found = Bootstrap {
            observed: values.iter().sum::<f64>() / values.len() as f64,
            resampled: resamples.iter().map(|rows| mean(rows)).collect(),
        };
        check.one("observed_mean", found.observed);
        check.all("resample_means", &found.resampled);
        check.one("standard_error", found.standard_error());
        for (field, level) in [("ci90", 0.90), ("ci95", 0.95), ("ci99", 0.99)] {
            let (low, high) = found.interval(level).unwrap();
            check.all(field, &[low, high]);
        }
    }
}

/// Checks of the distributions of `statrs`, on which the tests rely.
#[test]
fn tails_and_quantiles() {
    let Some(file) = fixture("stats.json") else {
        return;
    };
    for case in cases(&file, "distributions") {
        let a = numbers(&case["arguments"]);
        let function = case["function"].as_str().unwrap();
        let found = match function {
            "normal_cdf" => Normal::standard().cdf(a[0]),
            "normal_quantile" => Normal::standard().inverse_cdf(a[0]),
            "chi2_survival" => ChiSquared::new(a[1]).unwrap().sf(a[0]),
            "t_two_sided" => 2.0 * StudentsT::new(0.0, 1.0, a[1]).unwrap().sf(a[0].abs()),
            "f_survival" => FisherSnedecor::new(a[1], a[2]).unwrap().sf(a[0]),
            other => panic!("unknown function {other}"),
        };
        check(function, case, (0.0, 1e-9)).one("value", found);
    }
}

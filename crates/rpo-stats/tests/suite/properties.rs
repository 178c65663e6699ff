//! Invariants of the significance tests.

use ndarray::Array2;
use proptest::prelude::*;
use rpo_stats::*;

proptest! {
    #[test]
    fn friedman_sees_only_ranks(values in proptest::collection::vec(-5_i8..6, 24)) {
        let scores = Array2::from_shape_vec((6, 4), values.into_iter().map(f64::from).collect()).unwrap();
        let friedman = Friedman::new(scores.view(), Better::Higher).unwrap();
        // Ranks of 1 to 4 sum to 10.
        prop_assert!((friedman.average_ranks.iter().sum::<f64>() - 10.0).abs() < 1e-12);
        prop_assert_eq!(&Friedman::new(scores.mapv(|v| v.powi(3) - 1.0).view(), Better::Higher).unwrap().ranks, &friedman.ranks);
        prop_assert_eq!(&Friedman::new(scores.mapv(|v| -v).view(), Better::Lower).unwrap().ranks, &friedman.ranks);
        let (plain, corrected) = (friedman.uncorrected, friedman.tie_corrected);
        prop_assert!(corrected.chi2.is_nan() || corrected.chi2 >= plain.chi2);
        prop_assert!(plain.chi2 >= 0.0 && plain.f >= 0.0 && (0.0..=1.0).contains(&plain.f_p));
        let p = friedman.nemenyi_p();
        prop_assert_eq!(&p, &p.t());
        prop_assert!(p.diag().iter().all(|v| *v == 1.0) && p.iter().all(|v| (0.0..=1.0).contains(v)));
    }

    #[test]
    fn exchanging_the_samples_exchanges_the_tails(pairs in proptest::collection::vec((-6_i8..7, -6_i8..7), 2..12)) {
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().map(|(a, b)| (f64::from(a), f64::from(b))).unzip();
        let exchanged = |a: PValues, b: PValues| {
            let same = |a: f64, b: f64| (a - b).abs() < 1e-12 || (a.is_nan() && b.is_nan());
            same(a.two_sided, b.two_sided) && same(a.greater, b.less) && same(a.less, b.greater)
        };
        let (there, back) = (SignedRanks::new(&x, &y).unwrap(), SignedRanks::new(&y, &x).unwrap());
        prop_assert_eq!((there.r_plus, there.statistic), (back.r_minus, back.statistic));
        prop_assert!(exchanged(there.exact().unwrap(), back.exact().unwrap()));
        for zeros in [Zeros::Drop, Zeros::Pratt, Zeros::Split] {
            prop_assert!(exchanged(there.normal(zeros, true).p, back.normal(zeros, true).p));
        }
        prop_assert!(exchanged(PairedT::new(&x, &y, 0.0).unwrap().p, PairedT::new(&y, &x, 0.0).unwrap().p));
        // The rank sums of all pairs that differ.
        let n = (there.n - there.n_zero) as f64;
        prop_assert_eq!(there.r_plus + there.r_minus, n * (n + 1.0) / 2.0);
    }

    #[test]
    fn holm_lies_between_none_and_bonferroni(p in proptest::collection::vec(0.0_f64..=1.0, 0..9)) {
        let (step_down, single) = (Correction::Holm.adjust(&p).unwrap(), Correction::Bonferroni.adjust(&p).unwrap());
        for i in 0..p.len() {
            prop_assert!(p[i] <= step_down[i] && step_down[i] <= single[i]);
            for j in 0..p.len() {
                prop_assert!(p[i] > p[j] || step_down[i] <= step_down[j]);
            }
        }
    }

    #[test]
    fn wider_levels_give_wider_intervals(x in proptest::collection::vec(-9.0_f64..9.0, 2..20), seed: u64) {
        let mean = |rows: &[usize]| rows.iter().map(|&i| x[i]).sum::<f64>() / rows.len() as f64;
        let found = Bootstrap::draw(x.len(), 50, rpo_core::Seed::new(seed), mean).unwrap();
        let (inner, outer) = (found.interval(0.5).unwrap(), found.interval(0.9).unwrap());
        prop_assert!(outer.0 <= inner.0 && inner.0 <= inner.1 && inner.1 <= outer.1);
        let (least, most) = x.iter().fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(*v), b.max(*v)));
        prop_assert!(least - 1e-12 <= outer.0 && outer.1 <= most + 1e-12);
    }
}

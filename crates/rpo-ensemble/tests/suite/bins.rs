//! Ensembles of trees on bins.

use ndarray::Array2;
use rpo_core::{CheckParams, Learner, MatrixView, Predictor, Seed, TreeEnsemble};
use rpo_ensemble::boosting::{Algorithm, BoostingParams};
use rpo_ensemble::{
    Bins, CriterionKind, Forest, ForestOptions, ForestParams, MaxFeatures, ProjectionKind,
    SingleTargetOptions, SingleTargetParams, Splitting,
};

/// Features with few distinct values, some missing, and three labels that depend on them.
fn data(n: usize) -> (Array2<f32>, Array2<f32>) {
    let mut stream = Seed::new(3).stream();
    let mut next = || rand::RngCore::next_u32(&mut stream);
    let x = Array2::from_shape_fn((n, 6), |_| match next() % 12 {
        0 => f32::NAN,
        1..5 => 0.0,
        value => (value as f32 - 7.0) / 2.0,
    });
    let y = Array2::from_shape_fn((n, 3), |(i, j)| {
        let is_set = x[[i, j]] + x[[i, j + 1]] > 0.5 || next() % 10 == 0;
        f32::from(u8::from(is_set))
    });
    (x, y)
}

fn structures(forest: &Forest) -> Vec<String> {
    let trees = forest.trees().iter();
    trees
        .map(|tree| format!("{:?}", tree.tree.structure().nodes()))
        .collect()
}

#[test]
fn forests_on_bins_are_those_on_values_where_values_are_few() {
    let (x, y) = data(300);
    let (sparse_x, sparse_y) = (MatrixView::from(&x).to_csr(), MatrixView::from(&y).to_csr());
    let base = ForestParams {
        trees: 5,
        ..ForestParams::default()
    };
    let all = ForestParams {
        max_features: MaxFeatures::All,
        feature_share: 0.7,
        min_impurity_decrease: 1e-3,
        ..base.clone()
    };
    let limited = ForestParams {
        max_leaves: Some(9),
        criterion: CriterionKind::Gini,
        min_samples_leaf: 3,
        ..base.clone()
    };
    for exact in [base, all, limited] {
        let binned = ForestParams {
            bins: Bins::AtMost(100),
            ..exact.clone()
        };
        for x in [MatrixView::from(&x), MatrixView::Sparse(sparse_x.view())] {
            for y in [MatrixView::from(&y), MatrixView::Sparse(sparse_y.view())] {
                let fit = |params: &ForestParams| params.fit(x.reborrow(), y.reborrow()).unwrap();
                assert_eq!(structures(&fit(&binned)), structures(&fit(&exact)));
            }
        }
        let one = y.column(1).to_owned().insert_axis(ndarray::Axis(1));
        let fit = |params: &ForestParams| params.fit((&x).into(), (&one).into()).unwrap();
        assert_eq!(structures(&fit(&binned)), structures(&fit(&exact)));
    }
}

#[test]
fn forests_on_bins_learn_projected_and_missing_outputs() {
    let (x, mut y) = data(300);
    let params = ForestParams {
        trees: 10,
        bins: Bins::MOST,
        ..ForestParams::default()
    };
    let error = |predicted: &Array2<f32>| (predicted - &y).mapv(|v| v * v).mean().unwrap();
    let projected = params.clone().project(ProjectionKind::Gaussian, 2);
    let forest = projected.fit((&x).into(), (&y).into()).unwrap();
    assert!(error(&forest.predict((&x).into()).unwrap()) < 0.08);

    y[[4, 1]] = f32::NAN;
    let options = || ForestOptions {
        missing_outputs: true,
        ..ForestOptions::default()
    };
    let refused = params.fit_with((&x).into(), (&y).into(), options()).unwrap_err();
    assert!(
        refused.to_string().starts_with("`bins` = 255 cannot"),
        "{refused}"
    );
    assert!(projected.fit_with((&x).into(), (&y).into(), options()).is_ok());
    let options = SingleTargetOptions {
        missing_outputs: true,
        ..SingleTargetOptions::default()
    };
    let apart = SingleTargetParams(params.clone()).fit_with((&x).into(), (&y).into(), options);
    assert!(apart.is_ok());
}

#[test]
fn bins_are_checked() {
    let forest = |bins, base: ForestParams| ForestParams { bins, ..base }.check().unwrap_err().to_string();
    for bins in [0, 1, 256] {
        let expected = format!("`bins` must be auto, exact, or a number from 2 to 255, got {bins}");
        let bins = Bins::AtMost(bins);
        assert_eq!(forest(bins, ForestParams::default()), expected);
        let boosting = BoostingParams {
            bins,
            ..BoostingParams::from(Algorithm::Gbmort)
        };
        assert_eq!(boosting.check().unwrap_err().to_string(), expected);
    }
    let random = ForestParams {
        splitter: Splitting::Random,
        ..ForestParams::default()
    };
    assert!(forest(Bins::MOST, random).contains("random thresholds"));
    let entropy = ForestParams {
        criterion: CriterionKind::Entropy,
        ..ForestParams::default()
    };
    assert!(forest(Bins::MOST, entropy).contains("entropy"));
    for (bins, text) in [(Bins::Exact, "\"exact\""), (Bins::AtMost(64), "64")] {
        assert_eq!(serde_json::to_string(&bins).unwrap(), text);
        assert_eq!(serde_json::from_str::<Bins>(text).unwrap(), bins);
    }
}

//! Custom parts: forests with a custom criterion, and with a custom splitter, rule and leaves; custom projections and
//! losses that return numbers that cannot be.

use super::common::{Given, fit, labelled, regression};
use ndarray::{Array2, ArrayView2, s};
use rpo_core::{Apply, ForestLearner, Learner, MatrixView, Merge, Mismatch, Predictor, TreeEnsemble};
use rpo_ensemble::boosting::{Algorithm, BoostingOptions, BoostingParams, Loss};
use rpo_ensemble::{
    Bins, EnsembleError, Forest, ForestOptions, ForestParams, Grower, LeafChoice, OutOfBagPredictor,
    TreeInput,
};
use rpo_projections::{Components, ProjectionError};
use rpo_tree::criterion::Variance;
use rpo_tree::splitter::{NodeRows, ProposedSplit, Splitter};
use rpo_tree::{AxisRule, Grown, LeafModel, Leaves, Row, Rule, TreeError};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

/// A grower by the variance of the first output alone.
struct FirstOutput;

impl Grower for FirstOutput {
    type Rule = AxisRule;
    type Leaves = Leaves;

    fn grow(&self, tree: &TreeInput<'_>) -> Result<Grown<AxisRule>, EnsembleError> {
        let targets = tree
            .targets()
            .to_dense(usize::MAX)
            .map_err(EnsembleError::Outputs)?;
        let first = targets.slice(s![.., ..1]);
        tree.grow_by(Variance::new(first.as_standard_layout().view(), tree.weights))
    }

    fn label(&self, tree: &TreeInput<'_>, grown: &Grown<AxisRule>) -> Result<Leaves, EnsembleError> {
        tree.label(grown)
    }
}

/// A grower that refuses what it is given, in its own words or in those of its leaves.
struct Refusing {
    grows: bool,
}

impl Grower for Refusing {
    type Rule = AxisRule;
    type Leaves = Leaves;

    fn grow(&self, tree: &TreeInput<'_>) -> Result<Grown<AxisRule>, EnsembleError> {
        match self.grows {
            true => tree.grow(),
            false => Err(EnsembleError::Custom("no sensor has drifted".to_owned())),
        }
    }

    fn label(&self, _: &TreeInput<'_>, _: &Grown<AxisRule>) -> Result<Leaves, EnsembleError> {
        Err(TreeError::Custom("a leaf has no median".to_owned()).into())
    }
}

#[test]
fn growers_have_their_own_errors() {
    let x = Array2::from_shape_fn((20, 1), |(i, _)| i as f32);
    for (grows, expected) in [(false, "no sensor has drifted"), (true, "a leaf has no median")] {
        let options = ForestOptions::default();
        let found =
            ForestParams::default().fit_custom((&x).into(), (&x).into(), options, &Refusing { grows });
        assert_eq!(found.unwrap_err().to_string(), expected);
    }
}

/// A rule with three children, chosen by the interval in which a feature lies.
#[derive(Debug, Clone, PartialEq)]
struct Interval {
    feature: usize,
    low: f32,
    high: f32,
}

impl Rule for Interval {
    fn arity(&self) -> usize {
        3
    }

    fn child(&self, row: Row<'_>) -> usize {
        let value = row.values[self.feature];
        usize::from(value > self.low) + usize::from(value > self.high)
    }

    fn n_features(&self) -> usize {
        self.feature + 1
    }
}

/// A splitter at the terciles of features in turn.
struct Terciles<'a>(ArrayView2<'a, f32>);

impl Splitter for Terciles<'_> {
    type Rule = Interval;
    type Workspace = Vec<f32>;

    fn n_rows(&self) -> usize {
        self.0.nrows()
    }

    fn workspace(&self) -> Vec<f32> {
        Vec::new()
    }

    fn split(
        &self,
        node: NodeRows<'_>,
        values: &mut Vec<f32>,
        children: &mut [u16],
    ) -> Option<ProposedSplit<Interval>> {
        let feature = node.depth as usize % self.0.ncols();
        let value = |row: u32| self.0[[row as usize, feature]];
        values.clear();
        values.extend(node.rows.iter().map(|&row| value(row)));
        values.sort_unstable_by(f32::total_cmp);
        let n = values.len();
        let (low, high) = (values[n / 3], values[2 * n / 3]);
        if !(low < high && high < values[n - 1]) {
            return None;
        }
        for (child, &row) in children.iter_mut().zip(node.rows) {
            *child = u16::from(value(row) > low) + u16::from(value(row) > high);
        }
        let rule = Interval { feature, low, high };
        Some(ProposedSplit { rule, gain: n as f64 })
    }
}

/// Leaves that predict the largest value of each output.
#[derive(Debug, Clone, PartialEq)]
struct Largest(Array2<f32>);

impl LeafModel for Largest {
    fn n_leaves(&self) -> usize {
        self.0.nrows()
    }

    fn n_outputs(&self) -> usize {
        self.0.ncols()
    }

    fn for_each(&self, leaf: u32, mut f: impl FnMut(u32, f64)) {
        let values = self.0.row(leaf as usize);
        values.iter().zip(0..).for_each(|(&value, j)| f(j, value.into()));
    }
}

struct Outside;

impl Grower for Outside {
    type Rule = Interval;
    type Leaves = Largest;

    fn grow(&self, tree: &TreeInput<'_>) -> Result<Grown<Interval>, EnsembleError> {
        let MatrixView::Dense(x) = tree.features else {
            panic!("the features of this test are dense");
        };
        tree.grow_with(&Terciles(x))
    }

    fn label(&self, tree: &TreeInput<'_>, grown: &Grown<Interval>) -> Result<Largest, EnsembleError> {
        let members = &grown.members;
        let mut largest = Array2::from_elem((members.n_leaves(), tree.outputs.n_cols()), f32::MIN);
        for leaf in 0..members.n_leaves() {
            for &sample in &members[leaf] {
                tree.outputs.view().for_each_in_row(sample as usize, |j, value| {
                    let cell = &mut largest[[leaf, j as usize]];
                    *cell = cell.max(value);
                });
            }
        }
        Ok(Largest(largest))
    }
}

fn fit_custom<G: Grower>(
    params: &ForestParams,
    x: &Array2<f32>,
    y: &Array2<f32>,
    grower: &G,
) -> Forest<G::Rule, G::Leaves> {
    let forest = params.fit_custom(x.into(), y.into(), ForestOptions::default(), grower);
    forest.unwrap()
}

fn small() -> ForestParams {
    ForestParams {
        trees: 6,
        min_samples_split: 5,
        seed: 3,
        ..ForestParams::default()
    }
}

/// A criterion of the first output grows the trees of that output; leaves predict all outputs.
#[test]
fn a_custom_criterion_grows_the_forest_of_its_targets() {
    let (x, y) = regression(21, 70);
    let first = y.slice(ndarray::s![.., ..1]).to_owned();
    let custom = fit_custom(&small(), &x, &y, &FirstOutput);
    let dense = ForestParams {
        leaves: LeafChoice::Dense,
        ..small()
    };
    let expected = fit(dense, &x.clone().into(), &first.into());
    for (tree, expected) in custom.trees().iter().zip(expected.trees()) {
        assert_eq!(tree.tree.structure(), expected.tree.structure());
    }
    assert_eq!(custom.predict((&x).into()).unwrap().ncols(), 8);
}

#[test]
fn a_forest_of_custom_parts_predicts_leaves_samples_out_and_merges() {
    let (x, y) = labelled(22, 80);
    let forest = fit_custom(&small(), &x, &y, &Outside);
    let mean = |row: usize| {
        let sample = x.slice(s![row..=row, ..]);
        let mut sums = [0.0; 8];
        for tree in forest.trees() {
            let leaf = tree.tree.structure().apply(sample.into()).unwrap()[0];
            tree.tree.leaves().for_each(leaf, |j, v| sums[j as usize] += v);
        }
        sums.map(|sum| (sum * (1.0 / 6.0)) as f32)
    };
    let scores = forest.predict((&x).into()).unwrap();
    let (oob, counts) = forest.oob_predictions((&x).into()).unwrap();
    for row in 0..80 {
        assert_eq!(scores.row(row).to_vec(), mean(row));
        let out = oob.row(row);
        assert!(out.iter().all(|v| v.is_nan() == (counts[row] == 0)));
    }
    assert!(counts.iter().any(|&count| count > 0));
    let top = forest.predict_top_k((&x).into(), 3).unwrap();
    assert_eq!(top.shape(), (80, 8));
    assert_eq!(forest.apply((&x).into()).unwrap().dim(), (80, 6));

    let parts = [0..2, 2..6].map(|trees| fit_custom(&small().of_trees(trees), &x, &y, &Outside));
    let [first, rest] = parts;
    assert_eq!(first.merge(rest).unwrap(), forest);
}

/// Returns the errors of a forest and of both kinds of boosting on the projection to two components by a matrix.
fn refusals_of(matrix: &Array2<f32>) -> Vec<EnsembleError> {
    let (x, y) = labelled(3, 20);
    let components = Some(Components::Exact(2));
    let family = || Arc::new(Given(matrix.clone()));
    let forest = ForestParams {
        trees: 2,
        components,
        ..ForestParams::default()
    };
    let options = ForestOptions {
        projection: Some(family()),
        ..ForestOptions::default()
    };
    let mut found = vec![forest.fit_with((&x).into(), (&y).into(), options).unwrap_err()];
    let boosting = BoostingParams {
        iterations: 2,
        components,
        ..BoostingParams::from(Algorithm::GbrtRelabelRpo)
    };
    let options = BoostingOptions {
        projection: Some(family()),
        ..BoostingOptions::default()
    };
    found.push(boosting.fit_with((&x).into(), (&y).into(), options).unwrap_err());
    found
}

#[test]
fn projections_to_no_numbers_or_of_other_sizes_are_refused() {
    let d = labelled(3, 20).1.ncols();
    for value in [f32::NAN, f32::INFINITY] {
        for error in refusals_of(&Array2::from_elem((2, d), value)) {
            let expected = ProjectionError::NotFinite { row: 0, component: 0 };
            assert_eq!(error, EnsembleError::Projection(expected));
        }
    }
    let mismatch = |what, expected, given| {
        EnsembleError::Mismatch(Mismatch {
            what,
            expected,
            given,
        })
    };
    for error in refusals_of(&Array2::ones((2, d + 1))) {
        assert_eq!(error, mismatch("outputs of the projection", d, d + 1));
    }
    for m in [1, 3] {
        for error in refusals_of(&Array2::ones((m, d))) {
            assert_eq!(error, mismatch("components of the projection", 2, m));
        }
    }
}

/// Half the square of the residual; above a bound of targets its value, gradient or curvature is no number.
#[derive(Debug)]
struct Broken {
    bound: f64,
    what: &'static str,
}

impl Broken {
    fn unless(&self, what: &str, y: f64, number: f64) -> f64 {
        match self.what == what && y > self.bound {
            true => f64::NAN,
            false => number,
        }
    }
}

impl Loss for Broken {
    fn value(&self, y: f64, score: f64) -> f64 {
        self.unless("value", y, (y - score).powi(2) / 2.0)
    }

    fn residual(&self, y: f64, score: f64) -> f64 {
        self.unless("negative gradient", y, y - score)
    }

    fn curvature(&self, y: f64, _: f64) -> Option<f64> {
        Some(self.unless("second derivative", y, 1.0))
    }
}

/// Half the square of the residual, with the wrong second derivative.
#[derive(Debug)]
struct Concave;

impl Loss for Concave {
    fn value(&self, y: f64, score: f64) -> f64 {
        (y - score).powi(2) / 2.0
    }

    fn residual(&self, y: f64, score: f64) -> f64 {
        y - score
    }

    fn curvature(&self, _: f64, _: f64) -> Option<f64> {
        Some(-1.0)
    }
}

#[test]
fn losses_that_are_no_numbers_are_refused() {
    let (x, mut y) = regression(3, 20);
    y.mapv_inplace(|v| v.clamp(-1.0, 1.0));
    y[[7, 1]] = 2.0;
    let fit = |bound: f64, broken: &'static str, algorithm: Algorithm| {
        let options = BoostingOptions {
            loss: Some(Arc::new(Broken { bound, what: broken })),
            ..BoostingOptions::default()
        };
        let params = BoostingParams {
            iterations: 2,
            ..BoostingParams::from(algorithm)
        };
        params.fit_with((&x).into(), (&y).into(), options)
    };
    // A loss that is not convex, or the sign of whose second derivative is wrong.
    let options = BoostingOptions {
        loss: Some(Arc::new(Concave)),
        ..BoostingOptions::default()
    };
    let error = BoostingParams::from(Algorithm::Gbmort).fit_with((&x).into(), (&y).into(), options);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("the second derivative of the loss is -1"),
        "{error}"
    );
    for broken in ["value", "negative gradient", "second derivative"] {
        for algorithm in Algorithm::ALL {
            assert!(fit(2.0, broken, algorithm).is_ok());
            let error = fit(1.5, broken, algorithm).unwrap_err();
            let EnsembleError::Loss {
                what,
                sample: row,
                output,
                target,
                ..
            } = error
            else {
                panic!("{error}")
            };
            assert_eq!((what, row, output, target), (broken, 7, 1, 2.0));
        }
    }
}

/// Half the square of the residual, whose gradient is no number once the score leaves 0.
#[derive(Debug)]
struct BrokenLater;

impl Loss for BrokenLater {
    fn value(&self, y: f64, score: f64) -> f64 {
        (y - score).powi(2) / 2.0
    }

    fn residual(&self, y: f64, score: f64) -> f64 {
        if score.abs() > 1e-3 { f64::NAN } else { y - score }
    }

    fn curvature(&self, _: f64, _: f64) -> Option<f64> {
        Some(1.0)
    }
}

#[test]
fn losses_that_are_no_numbers_later_stop_the_fit() {
    // Sums of outputs are 0, and with them the initial scores.
    let x = Array2::from_shape_fn((20, 1), |(i, _)| i as f32);
    let y = Array2::from_shape_fn((20, 2), |(i, _)| if i < 10 { -1.0 } else { 1.0 });
    for algorithm in Algorithm::ALL {
        for bins in [Bins::Exact, Bins::MOST] {
            let params = BoostingParams {
                iterations: 4,
                bins,
                ..BoostingParams::from(algorithm)
            };
            let options = BoostingOptions {
                loss: Some(Arc::new(BrokenLater)),
                ..BoostingOptions::default()
            };
            let refusal = params.fit_with((&x).into(), (&y).into(), options).unwrap_err();
            assert_eq!(refusal, EnsembleError::Diverged { step: 1 }, "{algorithm:?}");
        }
    }
}

/// Trees on bins are grown on ranks by a custom criterion: threads that need the ranks must not wait for each other.
#[test]
fn custom_criteria_grow_on_ranks_beside_bins() {
    let (done, is_done) = mpsc::channel();
    // A deadlock must fail instead of waiting forever.
    thread::spawn(move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        let (_, y) = regression(24, 60);
        let x = Array2::from_shape_fn((60, 1_600), |(i, j)| ((7 * i + 5 * j) % 31) as f32);
        let params = ForestParams {
            trees: 64,
            max_depth: Some(1),
            ..small()
        };
        let binned = ForestParams {
            bins: Bins::AtMost(16),
            ..params.clone()
        };
        pool.install(|| {
            let expected = fit_custom(&params, &x, &y, &FirstOutput);
            for _ in 0..20 {
                assert_eq!(fit_custom(&binned, &x, &y, &FirstOutput), expected);
            }
        });
        done.send(()).unwrap();
    });
    is_done
        .recv_timeout(Duration::from_secs(60))
        .expect("no deadlock");
}

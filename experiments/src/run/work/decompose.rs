//! Monte Carlo estimate of the bias and variance decomposition of the forest paper, section 3.3.
//!
//! At a point x with outputs Y = f_B(x) + noise, an ensemble f(x; LS, Φ, ε) has the mean squared error
//!
//! E‖Y - f‖² = σ²_R + B² + V_LS + V_Proj + V_Algo, with
//! V_LS = Var_LS{E f | LS}, V_Proj = E Var_Φ{E f | LS, Φ}, V_Algo = E Var_ε{f | LS, Φ},
//!
//! summed over outputs and averaged over x. The randomness is nested: L learning sets, P draws Φ of the projections
//! (one for Algorithm 1, one per tree for Algorithm 2) for each, A runs ε of the tree algorithm for each. With S²_ε,
//! S²_Φ and S²_LS the sample variances of runs, of means over runs, and of means over draws and runs,
//!
//! V_Algo = S²_ε, V_Proj = S²_Φ - S²_ε / A, V_LS = S²_LS - S²_Φ / P, B² = ‖mean - f_B‖² - S²_LS / L
//!
//! are unbiased, so an estimate of a term that is 0 may be negative. Here the terms are those of the whole ensemble:
//! what the paper writes V_Algo / t is the V_Algo of a forest of t trees.

use super::friedman::bayes;
use crate::describe::MethodJob;
use crate::describe::measures;
use crate::describe::{Decompose, FriedmanText};
use crate::plan::data;
use crate::plan::job::{Job, Source};
use anyhow::Context;
use ndarray::{Array2, Zip};
use rpo::Predictor;
use rpo::core::{Matrix, Seed};
use rpo::data::Dataset;
use rpo::projections::{LinearMap, Projection, ProjectionError, ProjectionInput};
use rpo::{FitContext, Method, Model};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn run(job: &Job, sizes: Decompose) -> anyhow::Result<BTreeMap<String, f64>> {
    let Source::Friedman { problem, .. } = &job.source else {
        anyhow::bail!("a decomposition needs a problem whose true function is known");
    };
    let seed = Seed::new(job.data_seed);
    let test = sample(problem, job.test, seed.purpose("test"))?;
    let truth = bayes(problem.kind, dense(&test)?.0.view(), problem.outputs);
    let noisy = dense(&test)?.1.mapv(f64::from);

    let mut error = 0.0;
    let mut nested = Nested::default();
    for set in 0..sizes.learning_sets {
        let train = sample(problem, job.train, seed.purpose("learning set").child(set as u64))?;
        let trees = Seed::new(job.method.seed).child(set as u64);
        let mut draws = Nested::default();
        for draw in 0..sizes.projections {
            let projections = trees.purpose("draw").child(draw as u64);
            let mut runs = Moments::default();
            for run in 0..sizes.runs {
                let algorithm = projections.purpose("run").child(run as u64);
                let forest = grow(&job.method, &train, projections, algorithm)?;
                let predicted = forest.predict(test.features().view())?.mapv(f64::from);
                error += sum_of_squares(&(&predicted - &noisy));
                runs.add(predicted);
            }
            draws.add(runs.mean(), &[runs.variance()]);
        }
        let inner = [draws.moments.variance(), draws.inner_mean(0)];
        nested.add(draws.moments.mean(), &inner);
    }

    let (l, p, a) = (
        sizes.learning_sets as f64,
        sizes.projections as f64,
        sizes.runs as f64,
    );
    let points = job.test as f64;
    let (s_ls, s_phi, s_eps) = (
        nested.moments.variance() / points,
        nested.inner_mean(0) / points,
        nested.inner_mean(1) / points,
    );
    let residual = problem.outputs as f64;
    let bias = sum_of_squares(&(nested.moments.mean() - &truth)) / points - s_ls / l;
    let (v_ls, v_proj, v_algo) = (s_ls - s_phi / p, s_phi - s_eps / a, s_eps);
    Ok(BTreeMap::from([
        (measures::ERROR.to_owned(), error / (l * p * a * points)),
        (measures::SUM.to_owned(), residual + bias + v_ls + v_proj + v_algo),
        (measures::RESIDUAL.to_owned(), residual),
        (measures::BIAS.to_owned(), bias),
        (measures::V_LS.to_owned(), v_ls),
        (measures::V_ALGO.to_owned(), v_algo),
        (measures::V_PROJ.to_owned(), v_proj),
    ]))
}

fn sample(problem: &FriedmanText, n: usize, seed: Seed) -> anyhow::Result<Dataset> {
    let source = Source::Friedman {
        problem: problem.clone(),
        seed: seed.value(),
    };
    data::load(&source, n)
}

fn dense(data: &Dataset) -> anyhow::Result<(&Array2<f32>, &Array2<f32>)> {
    match (data.features(), data.outputs()) {
        (Matrix::Dense(x), Matrix::Dense(y)) => Ok((x, y)),
        _ => Err(anyhow::anyhow!("sparse data")).context("friedman problems are dense"),
    }
}

/// The ensemble for a draw of the projections and a run of the algorithm, whose seeds are independent.
fn grow(method: &MethodJob, train: &Dataset, projections: Seed, algorithm: Seed) -> anyhow::Result<Model> {
    let options = method.method_options()?.with_seed(algorithm.value());
    let fit = |method: &Method, seed: Seed| {
        let fix = move |family| Arc::new(Fixed { family, seed }) as _;
        let context = FitContext {
            wrap_projection: Some(&fix),
            ..FitContext::default()
        };
        Model::fit_with(method, train, &context)
    };
    let value = |name| method.options.get(name).map(String::as_str);
    let per_tree = value("projection").is_some_and(|family| family != "none")
        && value("projection-scope") != Some("shared");
    if !per_tree {
        return Ok(fit(&options, projections)?);
    }
    // Each tree has its own projection, which does not depend on the run: trees are grown separately, then merged.
    let tree = |index: usize| {
        let one = options
            .clone()
            .with("trees", "1")?
            .with("first_tree", &index.to_string())?;
        Ok::<_, anyhow::Error>(fit(&one, projections.child(index as u64))?)
    };
    let n_trees = method.number("trees").unwrap_or(1);
    (1..n_trees).try_fold(tree(0)?, |merged, index| Ok(merged.merge(tree(index)?)?))
}

/// A family that draws from its own seed, whatever the seed of the forest.
#[derive(Debug)]
struct Fixed {
    family: Arc<dyn Projection>,
    seed: Seed,
}

impl Projection for Fixed {
    fn fit(
        &self,
        data: ProjectionInput<'_>,
        n_components: usize,
        _: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        self.family.fit(data, n_components, self.seed)
    }
}

/// Mean and variance, per entry, of matrices added one by one (Welford).
#[derive(Default)]
struct Moments {
    count: f64,
    mean: Array2<f64>,
    squares: Array2<f64>,
}

impl Moments {
    fn add(&mut self, x: Array2<f64>) {
        self.count += 1.0;
        if self.mean.is_empty() {
            self.squares = Array2::zeros(x.dim());
            self.mean = x;
            return;
        }
        let count = self.count;
        Zip::from(&mut self.mean)
            .and(&mut self.squares)
            .and(&x)
            .for_each(|mean, squares, &x| {
                let delta = x - *mean;
                *mean += delta / count;
                *squares += delta * (x - *mean);
            });
    }

    fn mean(&self) -> Array2<f64> {
        self.mean.clone()
    }

    /// Sample variance, summed over entries.
    fn variance(&self) -> f64 {
        self.squares.sum() / (self.count - 1.0)
    }
}

/// Moments of means, and sums of the variances within them.
#[derive(Default)]
struct Nested {
    moments: Moments,
    inner: Vec<f64>,
}

impl Nested {
    fn add(&mut self, mean: Array2<f64>, inner: &[f64]) {
        self.moments.add(mean);
        self.inner.resize(inner.len(), 0.0);
        self.inner
            .iter_mut()
            .zip(inner)
            .for_each(|(sum, value)| *sum += value);
    }

    fn inner_mean(&self, index: usize) -> f64 {
        self.inner[index] / self.moments.count
    }
}

fn sum_of_squares(a: &Array2<f64>) -> f64 {
    a.iter().map(|v| v * v).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_definition() {
        let mut moments = Moments::default();
        let values = [[1.0, -2.0], [4.0, 0.5], [-3.0, 7.0]];
        for row in values {
            moments.add(Array2::from_shape_vec((1, 2), row.to_vec()).unwrap());
        }
        let mean = [2.0 / 3.0, 5.5 / 3.0];
        let squares: f64 = values
            .iter()
            .flat_map(|row| [0, 1].map(|j| (row[j] - mean[j]).powi(2)))
            .sum();
        assert!((moments.mean()[[0, 1]] - mean[1]).abs() < 1e-15);
        assert!((moments.variance() - squares / 2.0).abs() < 1e-12);
    }
}

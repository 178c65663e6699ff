//! Builds the portfolio of `--method auto`: its configurations, their order and costs.
//!
//! Every configuration is fitted to 60 % of the samples of each set. Its predictions for another 20 % determine the
//! weights in any ensemble, and those for the last 20 % the ensemble's score. Starting from the forest, the
//! configuration is added that raises the mean score over the sets most for its cost. The score reported for a set is
//! that of an order built without the set, and is listed with those of the individual configurations.

mod order;
mod recorded;

use anyhow::{Context, bail};
use order::{Scored, order, report};
use recorded::Recorded;
use rpo::Model;
use rpo::auto::{Configuration, Portfolio};
use rpo::combine::CombineRule;
use rpo::core::Seed;
use rpo::data::split::{TestSize, random_split};
use rpo::data::{Catalogue, Dataset, Task};
use serde::Deserialize;
use std::path::Path;
use std::time::Instant;

/// Largest number of configurations in a portfolio.
const MOST: usize = 15;

/// The description from which portfolios are built.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Description {
    samples: usize,
    small: usize,
    repeats: u64,
    seed: u64,
    labels: Pool,
    numbers: Pool,
}

/// The sets of a task, and the candidate configurations for its portfolio.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Pool {
    sets: Vec<String>,
    configurations: Vec<Candidate>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Candidate {
    method: String,
    max_outputs: Option<usize>,
    max_weights: Option<usize>,
}

impl Candidate {
    fn at_cost(&self, cost: f64) -> Configuration {
        Configuration {
            method: self.method.clone(),
            cost,
            min_outputs: None,
            max_outputs: self.max_outputs,
            max_weights: self.max_weights,
        }
    }
}

/// Builds the portfolio from some sets, or from all, and writes it to a folder; a task without sets keeps the built-in
/// portfolio.
///
/// # Errors
/// Sets that cannot be loaded, a folder that cannot be written to.
pub(crate) fn run(sets: &[String], folder: &Path) -> anyhow::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("portfolio.toml");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let description: Description = toml::from_str(&text)?;
    let known = || description.labels.sets.iter().chain(&description.numbers.sets);
    if let Some(name) = sets.iter().find(|name| !known().any(|known| known == *name)) {
        bail!("{name} is none of the sets of {}", path.display());
    }
    let mut portfolio = Portfolio::default();
    if let Some(made) = of_task(&description, &description.labels, CombineRule::GreedyMean, sets)? {
        // Those for more labels than these sets have stay in front.
        portfolio
            .labels
            .retain(|configuration| configuration.min_outputs.is_some());
        portfolio.labels.extend(made);
    }
    if let Some(made) = of_task(&description, &description.numbers, CombineRule::Greedy, sets)? {
        portfolio.numbers = made;
    }
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join("portfolio.json");
    std::fs::write(&path, serde_json::to_string_pretty(&portfolio)? + "\n")?;
    eprintln!("portfolio: {}", path.display());
    Ok(())
}

/// Builds the portfolio of a task; `None` without sets.
fn of_task(
    description: &Description,
    pool: &Pool,
    rule: CombineRule,
    sets: &[String],
) -> anyhow::Result<Option<Vec<Configuration>>> {
    let catalogue = Catalogue::from_env()?;
    let chosen = pool
        .sets
        .iter()
        .filter(|name| sets.is_empty() || sets.contains(name));
    let mut scored = Vec::new();
    for name in chosen {
        let data = Dataset::try_from(catalogue.load(name)?)?;
        let repeats = if data.n_samples() < description.small {
            description.repeats
        } else {
            1
        };
        let mut fitted = Vec::new();
        for repeat in 0..repeats {
            let seed = Seed::new(description.seed).child(repeat);
            fitted.push(fit(&data, pool, description.samples, seed)?);
        }
        scored.push(Scored::new(name, rule, fitted));
        eprintln!("{name}: {repeats} x {} configurations", pool.configurations.len());
    }
    if scored.is_empty() {
        return Ok(None);
    }
    let n = pool.configurations.len();
    let costs: Vec<f64> = (0..n).map(|candidate| order::cost(&scored, candidate)).collect();
    let all: Vec<&Scored> = scored.iter().collect();
    let chosen = order(&all, &costs, MOST)?;
    let names: Vec<&str> = pool.configurations.iter().map(|c| c.method.as_str()).collect();
    print!("{}", report(&scored, &costs, &chosen, &names, MOST)?);
    let rounded = |cost: f64| (cost * 100.0).round().max(1.0) / 100.0;
    let configurations = chosen
        .iter()
        .map(|&k| pool.configurations[k].at_cost(rounded(costs[k])));
    Ok(Some(configurations.collect()))
}

/// Fitted configurations and the samples to evaluate them, on one split of a set.
pub(crate) struct Fitted {
    withheld: Dataset,
    test: Dataset,
    /// For each configuration, its model and the seconds of the fit; `None` if it was refused.
    models: Vec<Option<(Model, f64)>>,
}

fn fit(data: &Dataset, pool: &Pool, most: usize, seed: Seed) -> anyhow::Result<Fitted> {
    let mut data = data.clone();
    if data.n_samples() > most {
        let counts = TestSize::Counts { train: most, test: 1 };
        let kept = random_split(data.n_samples().max(most + 1), counts, seed.purpose("reduced"))?;
        data = data.select_samples(&kept.train)?;
    }
    let (rest, test) = data.split(0.2, seed.purpose("test"))?;
    let (train, withheld) = rest.split(0.25, seed.purpose("withheld"))?;
    let mut models = Vec::new();
    for candidate in &pool.configurations {
        let is_admitted = candidate.max_outputs.is_none_or(|most| data.n_outputs() <= most);
        let recorded = || -> anyhow::Result<(Model, f64)> {
            let method = candidate.at_cost(1.0).for_data(&train)?;
            let start = Instant::now();
            let model = Model::fit(&method, &train)?;
            let seconds = start.elapsed().as_secs_f64();
            Ok((Recorded::of(&model, &withheld, &test)?, seconds))
        };
        models.push(match is_admitted.then(recorded) {
            None => None,
            Some(Ok(found)) => Some(found),
            Some(Err(e)) => {
                eprintln!("{} on {}: {e}", candidate.method, data.name);
                None
            }
        });
    }
    let (withheld, test) = Recorded::samples(&withheld, &test)?;
    Ok(Fitted {
        withheld,
        test,
        models,
    })
}

impl Fitted {
    /// The score of the ensemble of some configurations, without those that were refused. `None` if all were refused,
    /// or if the score is undefined.
    fn score(&self, members: &[usize], rule: CombineRule) -> anyhow::Result<Option<f64>> {
        let models = members.iter().filter_map(|&k| self.models[k].as_ref());
        let models: Vec<Model> = models.map(|(model, _)| model.clone()).collect();
        if models.is_empty() {
            return Ok(None);
        }
        let model = Model::combine_on(&models, rule, &self.withheld)?;
        score(&model, &self.test)
    }

    /// The test score of the configuration with the best individual score on the withheld samples.
    fn score_of_best(&self) -> anyhow::Result<Option<f64>> {
        let mut best: Option<(f64, &Model)> = None;
        for (model, _) in self.models.iter().flatten() {
            if let Some(score) = score(model, &self.withheld)?
                && best.is_none_or(|(most, _)| score > most)
            {
                best = Some((score, model));
            }
        }
        best.map_or(Ok(None), |(_, model)| score(model, &self.test))
    }

    /// The time of a fit relative to the first configuration.
    fn cost(&self, candidate: usize) -> Option<f64> {
        let seconds = |k: usize| self.models[k].as_ref().map(|(_, seconds)| *seconds);
        Some(seconds(candidate)? / seconds(0)?)
    }
}

/// The score of a model; `None` if it is undefined.
fn score(model: &Model, data: &Dataset) -> anyhow::Result<Option<f64>> {
    let score = model.evaluate(data, &[model.default_metric()])?[0];
    let score = match data.task() {
        Task::MultiLabel => score,
        // Limits the influence of a set on which nothing is learned.
        Task::Regression => score.max(0.0),
    };
    Ok(Some(score).filter(|score| score.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rpo::Estimator;
    use rpo::data::generate::{Generator, MultiLabelSet};

    #[test]
    fn the_description_has_methods_that_exist() {
        let text = include_str!("../../portfolio.toml");
        let description: Description = toml::from_str(text).unwrap();
        for pool in [description.labels, description.numbers] {
            assert_eq!(pool.configurations[0].method, "random-forest");
            for candidate in &pool.configurations {
                let method: rpo::Method = candidate.method.parse().unwrap();
                method.check().unwrap();
            }
        }
    }

    #[test]
    fn configurations_that_add_nothing_or_are_refused_are_left_out() {
        let candidate = |method: &str| Candidate {
            method: method.to_owned(),
            max_outputs: None,
            max_weights: None,
        };
        let methods = [
            "extra-trees --trees 3",
            "baseline",
            "structured-forest --trees 1000000",
            "one-vs-rest",
        ];
        let mut pool = Pool {
            sets: Vec::new(),
            configurations: methods.iter().map(|method| candidate(method)).collect(),
        };
        pool.configurations[2].max_outputs = Some(5);
        let data = MultiLabelSet::new(300, 60, 12).generate(Seed::new(4)).unwrap();
        let fitted = |seed: u64| fit(&data, &pool, 200, Seed::new(seed)).unwrap();
        let sets = [1, 2].map(|seed| Scored::new(&seed.to_string(), CombineRule::Greedy, vec![fitted(seed)]));
        let chosen = order(&sets.each_ref(), &[1.0, 1.0, 1.0, 1.0], MOST).unwrap();
        assert!(chosen[0] == 0 && chosen.contains(&3) && !chosen.contains(&2));
        let report = report(&sets, &[1.0; 4], &chosen, &methods, MOST).unwrap();
        assert!(report.contains("mean"), "{report}");
        let last = report.lines().last().unwrap();
        assert!(last.starts_with("the ensemble is at least"), "{report}");
    }
}

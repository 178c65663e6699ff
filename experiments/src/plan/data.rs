//! Loads the samples of a cell.

use crate::describe::{FriedmanText, Preprocess, SplitText};
use crate::plan::job::{Job, Source, hash};
use anyhow::{Context, bail};
use rpo::core::{Matrix, Seed};
use rpo::data::generate::{FeatureStyle, Friedman, Generator, MultiLabelSet};
use rpo::data::preprocess::{Encoding, Filter, Scope, Standardize, Standardizer, Steps, Transform};
use rpo::data::split::{Split, TestSize, random_split};
use rpo::data::{Catalogue, Dataset, LabelStatistics};
use std::collections::BTreeSet;

/// Loads all samples of a source, or generates `n` of them.
pub(crate) fn load(source: &Source, n: usize) -> anyhow::Result<Dataset> {
    match source {
        Source::Catalogue {
            name,
            one_hot,
            without,
            ..
        } => {
            let mut data = Dataset::try_from(Catalogue::from_env()?.load(name)?)?;
            if !without.is_empty() {
                data = leave_out(&data, without)?;
            }
            if *one_hot {
                let nominal = Encoding::OneHot;
                let steps = Steps {
                    nominal,
                    ..Steps::default()
                };
                data = steps.fit_apply(&data)?.1.into_owned();
            }
            Ok(data)
        }
        Source::MultiLabel { set, seed } => {
            let features = match set.dense_noise {
                Some(noise) => FeatureStyle::Dense { noise },
                None => FeatureStyle::Sparse {
                    per_label: set.per_label.unwrap_or(6),
                    noise: set.noise.unwrap_or(10.0),
                },
            };
            let set = MultiLabelSet {
                cardinality: set.cardinality,
                exponent: set.exponent,
                features,
                ..MultiLabelSet::new(n, set.features, set.outputs)
            };
            Ok(set.generate(Seed::new(*seed))?)
        }
        Source::Friedman { problem, seed } => friedman(problem, n, Seed::new(*seed)),
    }
}

fn friedman(problem: &FriedmanText, n: usize, seed: Seed) -> anyhow::Result<Dataset> {
    let generator = Friedman {
        kind: problem.kind,
        n_samples: n,
        n_outputs: problem.outputs,
        n_irrelevant: problem.irrelevant,
        chain_base_noise: problem.base_noise,
        permuted_outputs: problem.permuted,
    };
    Ok(generator.generate(seed)?)
}

/// The preprocessed training and test samples of a cell.
pub(crate) fn parts(job: &Job) -> anyhow::Result<(Dataset, Dataset)> {
    let (mut train, mut test) = divided(job)?;
    if job.preprocess.standardize {
        let steps = Steps {
            standardize: Standardize::All,
            ..Steps::default()
        };
        let scale = steps.fit(&train)?;
        (train, test) = (scale.apply(&train)?, scale.apply(&test)?);
    }
    if job.preprocess.standardize_outputs {
        let scale = Standardizer::of_targets(&train)?;
        (train, test) = (scale.apply(&train)?, scale.apply(&test)?);
    }
    Ok((train, test))
}

/// The training and test samples of a cell. Those of a regression problem are generated separately, anew in every
/// repetition, so that outputs in random order are shuffled within their own set.
fn divided(job: &Job) -> anyhow::Result<(Dataset, Dataset)> {
    let (n_train, n_test) = (job.train, job.test);
    if let Source::Friedman { problem, seed } = &job.source {
        let seed = Seed::new(*seed).purpose("part").child(job.data_seed);
        return Ok((
            friedman(problem, n_train, seed.purpose("train"))?,
            friedman(problem, n_test, seed.purpose("test"))?,
        ));
    }
    let data = load(&job.source, n_train + n_test)?;
    let data = filter(data, &job.preprocess)?;
    let split = match job.split {
        // A set with a given split is loaded with the training samples first.
        SplitText::Given if data.n_samples() != n_train + n_test => {
            let n = data.n_samples();
            bail!("the set has {n} samples; the description's parts have {n_train} and {n_test}")
        }
        SplitText::Given => Split {
            train: (0..n_train).collect(),
            test: (n_train..n_train + n_test).collect(),
        },
        SplitText::Random => {
            let size = TestSize::Counts {
                train: n_train,
                test: n_test,
            };
            random_split(data.n_samples(), size, Seed::new(job.data_seed))?
        }
    };
    Ok(split.apply(&data)?)
}

/// Applies the filters, which depend on all samples.
fn filter(mut data: Dataset, preprocess: &Preprocess) -> anyhow::Result<Dataset> {
    if let Some(min_fraction) = preprocess.min_presence {
        let sparse = matches!(data.features(), Matrix::Sparse(_));
        let scope = if sparse { Scope::All } else { Scope::Nominal };
        data = Filter::RareFeatures { min_fraction, scope }
            .fit(&data)?
            .apply(&data)?;
    }
    if let Some(max_ratio) = preprocess.max_imbalance {
        data = Filter::ImbalancedLabels { max_ratio }.fit(&data)?.apply(&data)?;
    }
    if let Some(min_count) = preprocess.min_label_count {
        data = Filter::RareLabels { min_count }.fit(&data)?.apply(&data)?;
    }
    Ok(data)
}

/// The sizes of a data set after filtering.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filtered {
    /// Number of remaining features.
    pub(crate) n_features: usize,
    /// The remaining labels.
    pub(crate) labels: LabelStatistics,
    pub(crate) n_distinct: usize,
}

/// The sizes of a catalogue set after filtering; `None` for other sources or without filters.
pub(crate) fn filtered(source: &Source, preprocess: &Preprocess) -> anyhow::Result<Option<Filtered>> {
    let filters = preprocess.min_presence.is_some()
        || preprocess.max_imbalance.is_some()
        || preprocess.min_label_count.is_some();
    if !filters || !matches!(source, Source::Catalogue { .. }) {
        return Ok(None);
    }
    let data = filter(load(source, 0)?, preprocess)?;
    let outputs = data.outputs().view();
    let sets: BTreeSet<Vec<u32>> = (0..outputs.n_rows())
        .map(|row| {
            let mut set = Vec::new();
            outputs.for_each_in_row(row, |j, v| set.extend((v == 1.0).then_some(j)));
            set
        })
        .collect();
    Ok(Some(Filtered {
        n_features: data.n_features(),
        labels: data.label_statistics(),
        n_distinct: sets.len(),
    }))
}

/// Leaves out the features with these names.
fn leave_out(data: &Dataset, without: &[String]) -> anyhow::Result<Dataset> {
    let names: Vec<String> = data.feature_names().iter().map(Into::into).collect();
    if let Some(name) = without.iter().find(|name| !names.contains(name)) {
        anyhow::bail!("no feature {name:?} to leave out");
    }
    let kept: Vec<usize> = (0..names.len())
        .filter(|&j| !without.contains(&names[j]))
        .collect();
    Ok(data.select_features(&kept)?)
}

/// The hash of a catalogue set, computed from the hashes of its files, which are verified first.
pub(crate) fn catalogue_hash(catalogue: &Catalogue, name: &str) -> anyhow::Result<String> {
    let entry = catalogue.verify(name);
    let files = &entry.with_context(|| format!("data set {name}"))?.files;
    let hashes: Option<Vec<&str>> = files.iter().map(|f| f.sha256.as_deref()).collect();
    let hashes =
        hashes.with_context(|| format!("data set {name}: the manifest has no sha256 of its files"))?;
    Ok(hash(hashes.concat().as_bytes()))
}

/// Numbers of features and outputs of a source, known before it is loaded.
pub(crate) fn sizes(source: &Source) -> anyhow::Result<(usize, usize)> {
    use rpo::data::generate::FriedmanKind;
    Ok(match source {
        Source::Catalogue { name, .. } => {
            let catalogue = Catalogue::from_env()?;
            let entry = catalogue.entries.iter().find(|entry| entry.name == *name);
            let entry = entry.with_context(|| format!("no data set {name} in the catalogue"))?;
            (entry.n_features, entry.n_outputs)
        }
        Source::MultiLabel { set, .. } => (set.features, set.outputs),
        Source::Friedman { problem, .. } => {
            let inputs = if problem.kind == FriedmanKind::Independent {
                5 * problem.outputs
            } else {
                5
            };
            let copies = if problem.permuted { 2 } else { 1 };
            (inputs + problem.irrelevant, copies * problem.outputs)
        }
    })
}

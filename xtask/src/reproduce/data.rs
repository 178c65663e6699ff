//! The samples of a cell.

use crate::reproduce::cell::{Source, hash};
use anyhow::Context;
use rpo::core::Seed;
use rpo::data::generate::{FeatureStyle, Friedman, MultiLabelSet};
use rpo::data::preprocess::{OneHot, Transform};
use rpo::data::{Catalogue, Dataset};

/// All samples of a source, of which there are `n` where they are generated.
pub(crate) fn load(source: &Source, n: usize) -> anyhow::Result<Dataset> {
    match source {
        Source::Catalogue {
            name,
            one_hot,
            without,
            ..
        } => {
            let mut data = Catalogue::from_env()?.load(name)?.whole()?;
            if !without.is_empty() {
                data = leave_out(&data, without)?;
            }
            if *one_hot {
                data = OneHot::fit(&data).apply(&data)?;
            }
            Ok(data)
        }
        Source::MultiLabel { set, seed } => {
            let features = match set.dense_noise {
                Some(noise) => FeatureStyle::Dense { noise },
                None => FeatureStyle::Sparse {
                    per_label: 6,
                    noise: 10.0,
                },
            };
            let set = MultiLabelSet::new(n, set.features, set.outputs)
                .cardinality(set.cardinality)
                .exponent(set.exponent)
                .features(features);
            Ok(set.generate(Seed::new(*seed))?)
        }
        Source::Friedman { problem, seed } => {
            let problem = Friedman::new(problem.kind)
                .n_outputs(problem.outputs)
                .n_samples(n);
            Ok(problem.generate(Seed::new(*seed))?)
        }
    }
}

/// Features of these names left out.
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

/// The hash of a catalogue set: that of its files' hashes, after the files were compared with them.
pub(crate) fn catalogue_hash(catalogue: &Catalogue, name: &str) -> anyhow::Result<String> {
    catalogue
        .verify(name)
        .with_context(|| format!("data set {name}"))?;
    let hashes: Vec<&str> = catalogue
        .entry(name)?
        .files
        .iter()
        .map(|f| f.sha256.as_str())
        .collect();
    Ok(hash(hashes.concat().as_bytes()))
}

/// Features and outputs of a source, as far as sizes are known before it is loaded.
pub(crate) fn sizes(source: &Source) -> anyhow::Result<(usize, usize)> {
    use rpo::data::generate::FriedmanKind;
    Ok(match source {
        Source::Catalogue { name, .. } => {
            let catalogue = Catalogue::from_env()?;
            let entry = catalogue.entry(name)?;
            (entry.n_features, entry.n_outputs)
        }
        Source::MultiLabel { set, .. } => (set.features, set.outputs),
        Source::Friedman { problem, .. } => {
            let inputs = if problem.kind == FriedmanKind::Independent {
                5 * problem.outputs
            } else {
                5
            };
            (inputs, problem.outputs)
        }
    })
}

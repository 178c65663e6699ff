//! Data sets on which whole programs are measured.

use anyhow::Context;
use rpo::core::Seed;
use rpo::data::generate::{Friedman, FriedmanKind, Generator, MultiLabelSet};
use rpo::data::{Catalogue, DEFAULT_MEMORY_LIMIT, Dataset, Layout};

/// Loads training and test samples, which are the same if there is no published split. A name is that of a set in the
/// catalogue that `RPO_DATA` names; `generated-D` for 10,000 samples with 5,000 sparse features, each with about three
/// of D labels, and 500 test samples; `words-D` for the same with 500 features that are 0 or 1; or `numbers-N` for N
/// samples with 50 dense features and 10 numeric outputs.
///
/// # Errors
/// If there is no set with this name, or it cannot be read.
pub fn load(name: &str) -> anyhow::Result<(Dataset, Dataset)> {
    let (train, test) = if let Some(d) = name.strip_prefix("generated-") {
        texts(5000, d.parse().with_context(|| name.to_owned())?, |value| value)?
    } else if let Some(d) = name.strip_prefix("words-") {
        texts(500, d.parse().with_context(|| name.to_owned())?, |_| 1.0)?
    } else if let Some(n) = name.strip_prefix("numbers-") {
        let n_samples = n.parse().with_context(|| name.to_owned())?;
        let problem = Friedman {
            n_samples,
            n_outputs: 10,
            ..Friedman::from(FriedmanKind::Independent)
        };
        let test = Friedman {
            n_samples: 1000,
            ..problem.clone()
        };
        return Ok((problem.generate(Seed::new(1))?, test.generate(Seed::new(2))?));
    } else {
        let loaded = Catalogue::from_env()?.load(name)?;
        let test = loaded.test.unwrap_or_else(|| loaded.train.clone());
        (loaded.train, test)
    };
    let layout = |data: Dataset| data.with_layout(Layout::Auto, DEFAULT_MEMORY_LIMIT);
    Ok((layout(train)?, layout(test)?))
}

/// Training and test samples with p sparse features, whose stored values are changed, and d labels.
fn texts(p: usize, d: usize, change: impl Fn(f32) -> f32) -> anyhow::Result<(Dataset, Dataset)> {
    let (n, n_test) = (10_000, 500);
    let set = MultiLabelSet {
        // A fixed number, so that the depth of trees does not depend on d.
        n_topics: Some(20),
        ..MultiLabelSet::new(n + n_test, p, d)
    };
    let drawn = set.generate(Seed::new(1))?;
    let features = drawn.features().view().to_csr().map(|value| change(*value));
    let data = Dataset::new(features.into(), drawn.outputs().clone(), drawn.task())?;
    let rows: Vec<usize> = (0..n + n_test).collect();
    Ok((data.select_samples(&rows[..n])?, data.select_samples(&rows[n..])?))
}

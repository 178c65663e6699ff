//! The methods and libraries that are measured.

use crate::export::Sizes;
use rpo::Method;

/// A method of this workspace or another library.
#[derive(Debug)]
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    pub(crate) of: Of,
    labels: bool,
    numbers: bool,
    /// True for linear classifiers of sparse samples, which are unsuitable for dense tables.
    sparse_only: bool,
    /// Largest number of outputs on which it is measured.
    most_outputs: usize,
}

/// The origin of a contestant.
#[derive(Debug)]
pub(crate) enum Of {
    /// A method of this workspace with parameters.
    Here(&'static str, &'static [(&'static str, &'static str)]),
    /// Another library, with a name in `benches/peers/peers.py`.
    Python,
}

const ALL: usize = usize::MAX;

const fn here(
    name: &'static str,
    method: &'static str,
    parameters: &'static [(&'static str, &'static str)],
) -> Contestant {
    Contestant {
        name,
        of: Of::Here(method, parameters),
        labels: true,
        numbers: true,
        sparse_only: false,
        most_outputs: ALL,
    }
}

const fn python(name: &'static str, most_outputs: usize) -> Contestant {
    Contestant {
        name,
        of: Of::Python,
        labels: true,
        numbers: true,
        sparse_only: false,
        most_outputs,
    }
}

const fn for_labels(contestant: Contestant) -> Contestant {
    Contestant {
        numbers: false,
        ..contestant
    }
}

const fn for_sparse(contestant: Contestant) -> Contestant {
    Contestant {
        sparse_only: true,
        ..for_labels(contestant)
    }
}

/// Defaults throughout, except for the projections.
pub(crate) const CONTESTANTS: &[Contestant] = &[
    here("random-forest", "random-forest", &[]),
    here(
        "random-forest, 25 components",
        "random-forest",
        &[("projection", "gaussian"), ("components", "25")],
    ),
    here("extra-trees", "extra-trees", &[]),
    here("gbrt-relabel-rpo", "gbrt-relabel-rpo", &[]),
    here("gbmort", "gbmort", &[]),
    here("single-target-gbrt", "single-target-gbrt", &[]),
    // Limited by configurations, not by time, so that the model does not depend on the machine.
    here("auto, 10 configurations", "auto", &[("configurations", "10")]),
    for_labels(here("structured-forest", "structured-forest", &[])),
    for_labels(here("craftml", "craftml", &[])),
    for_labels(here("label-embedding", "label-embedding", &[])),
    for_sparse(here("one-vs-rest", "one-vs-rest", &[])),
    for_sparse(here("label-tree", "label-tree", &[])),
    python("scikit-learn forest", ALL),
    python("scikit-learn Extra-Trees", ALL),
    python("scikit-learn boosting per output", 20),
    python("XGBoost per output", ALL),
    python("XGBoost, shared trees", 20),
    python("LightGBM per output", ALL),
    python("CatBoost", 20),
    python("hessboost per output", ALL),
    for_sparse(python("omikuji", ALL)),
];

impl Contestant {
    /// Returns the contestant with a name.
    pub(crate) fn named(name: &str) -> anyhow::Result<&'static Self> {
        let found = CONTESTANTS.iter().find(|c| c.name == name);
        found.ok_or_else(|| anyhow::anyhow!("there is no contestant {name:?}"))
    }

    /// True for a method of this workspace.
    pub(crate) fn is_here(&self) -> bool {
        matches!(self.of, Of::Here(..))
    }

    /// True for `auto`, which fits many methods.
    pub(crate) fn is_ensemble(&self) -> bool {
        matches!(self.of, Of::Here("auto", _))
    }

    /// Returns true if the contestant is measured on a set.
    pub(crate) fn can_fit(&self, data: &Sizes) -> bool {
        let task = if data.labels { self.labels } else { self.numbers };
        task && (data.sparse || !self.sparse_only) && data.n_outputs <= self.most_outputs
    }

    /// The method with its parameters; `None` for other libraries.
    pub(crate) fn method(&self) -> anyhow::Result<Option<Method>> {
        let Of::Here(method, parameters) = self.of else {
            return Ok(None);
        };
        let mut method = Method::named(method)?;
        for (name, value) in parameters {
            method = method.with(name, value)?;
        }
        Ok(Some(method))
    }
}

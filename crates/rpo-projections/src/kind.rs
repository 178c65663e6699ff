//! The projection families by name.

use std::fmt;
use std::iter::once;
use std::str::FromStr;

use rpo_core::Seed;
use rpo_core::text::alternatives;

use crate::{
    Gaussian, Hadamard, Hashing, Identity, LabelEmbedding, LinearMap, Pca, Projection, ProjectionError,
    ProjectionInput, Rademacher, Subsample,
};

/// A projection that can be named on a command line or in a file; itself a [`Projection`].
///
/// Names: `gaussian`, `rademacher` (s = 1), `rademacher:S`, `achlioptas`, `sparse`, `hadamard`, `subsample`,
/// `subsample-replace`, `hashing`, `pca`, `label-embedding`, `identity`.
///
/// ```
/// use rpo_projections::ProjectionKind;
/// assert_eq!("sparse".parse(), Ok(ProjectionKind::Sparse));
/// assert_eq!(ProjectionKind::Rademacher { s: 2.5 }.to_string(), "rademacher:2.5");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ProjectionKind {
    /// [`Gaussian`].
    Gaussian,
    /// [`Rademacher`] with this s.
    Rademacher {
        /// One over the fraction of nonzero entries.
        s: f64,
    },
    /// [`Rademacher`] with s = 3: a third of the entries are nonzero (Achlioptas 2003).
    Achlioptas,
    /// [`Rademacher`] with s = √d.
    Sparse,
    /// [`Hadamard`].
    Hadamard,
    /// [`Subsample`] without replacement.
    Subsample,
    /// [`Subsample`] with replacement.
    SubsampleReplace,
    /// [`Hashing`].
    Hashing,
    /// [`Pca`] with its defaults.
    Pca,
    /// [`LabelEmbedding`] with its defaults, which learns from the features too.
    LabelEmbedding,
    /// [`Identity`].
    Identity,
}

/// The named kinds, without parameters, and their names.
const NAMES: [(&str, ProjectionKind); 11] = [
    ("gaussian", ProjectionKind::Gaussian),
    ("rademacher", ProjectionKind::Rademacher { s: 1.0 }),
    ("achlioptas", ProjectionKind::Achlioptas),
    ("sparse", ProjectionKind::Sparse),
    ("hadamard", ProjectionKind::Hadamard),
    ("subsample", ProjectionKind::Subsample),
    ("subsample-replace", ProjectionKind::SubsampleReplace),
    ("hashing", ProjectionKind::Hashing),
    ("pca", ProjectionKind::Pca),
    ("label-embedding", ProjectionKind::LabelEmbedding),
    ("identity", ProjectionKind::Identity),
];

/// Lists the names, for error messages.
pub(crate) fn names() -> String {
    let own = NAMES.iter().map(|(name, _)| *name);
    let names: Vec<&str> = once("rademacher:S").chain(own).collect();
    alternatives(&names)
}

impl ProjectionKind {
    /// The kinds that have their own names, in the order in which they are listed above.
    pub const NAMED: [Self; NAMES.len()] = {
        let mut kinds = [Self::Gaussian; NAMES.len()];
        let mut i = 0;
        while i < kinds.len() {
            kinds[i] = NAMES[i].1;
            i += 1;
        }
        kinds
    };

    fn family(self) -> Box<dyn Projection> {
        let subsample = |with_replacement| Box::new(Subsample { with_replacement });
        match self {
            Self::Gaussian => Box::new(Gaussian),
            Self::Rademacher { s } => Box::new(Rademacher { s: Some(s) }),
            Self::Achlioptas => Box::new(Rademacher { s: Some(3.0) }),
            Self::Sparse => Box::new(Rademacher { s: None }),
            Self::Hadamard => Box::new(Hadamard),
            Self::Subsample => subsample(false),
            Self::SubsampleReplace => subsample(true),
            Self::Hashing => Box::new(Hashing),
            Self::Pca => Box::new(Pca::default()),
            Self::LabelEmbedding => Box::new(LabelEmbedding::default()),
            Self::Identity => Box::new(Identity),
        }
    }
}

impl Projection for ProjectionKind {
    fn fit(
        &self,
        data: ProjectionInput<'_>,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        self.family().fit(data, n_components, seed)
    }
}

impl fmt::Display for ProjectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (NAMES.iter().find(|(_, kind)| kind == self), self) {
            (Some((name, _)), _) => f.write_str(name),
            (None, Self::Rademacher { s }) => write!(f, "rademacher:{s}"),
            (None, _) => unreachable!("every kind without a parameter has a name"),
        }
    }
}

impl FromStr for ProjectionKind {
    type Err = ProjectionError;

    fn from_str(text: &str) -> Result<Self, ProjectionError> {
        if let Some((_, kind)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(*kind);
        }
        let unknown = || ProjectionError::UnknownKind(text.to_owned());
        let s = text.strip_prefix("rademacher:").ok_or_else(unknown)?;
        let s = s.parse().map_err(|_| unknown())?;
        Rademacher { s: Some(s) }.check()?;
        Ok(Self::Rademacher { s })
    }
}

rpo_core::impl_text_serde!(ProjectionKind, ["string"]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for kind in ProjectionKind::NAMED
            .into_iter()
            .chain([ProjectionKind::Rademacher { s: 7.25 }])
        {
            assert_eq!(kind.to_string().parse(), Ok(kind));
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("\"{kind}\""));
            assert_eq!(serde_json::from_str::<ProjectionKind>(&json).unwrap(), kind);
        }
        assert_eq!("rademacher:1".parse(), Ok(ProjectionKind::Rademacher { s: 1.0 }));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "Gaussian", "rademacher:", "rademacher:x", "gaussian:2"] {
            let expected = ProjectionError::UnknownKind(text.to_owned());
            assert_eq!(text.parse::<ProjectionKind>(), Err(expected));
        }
        assert_eq!(
            "rademacher:0.5".parse::<ProjectionKind>(),
            Err(ProjectionError::Sparsity(0.5))
        );
        assert!("rademacher:NaN".parse::<ProjectionKind>().is_err());
        assert!(serde_json::from_str::<ProjectionKind>("\"nope\"").is_err());
    }
}

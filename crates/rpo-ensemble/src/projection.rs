//! Projections of the outputs on which trees grow.

use crate::error::EnsembleError;
use rpo_core::{MemoryLimit, Mismatch, ParameterError, Seed};
use rpo_projections::{Components, LinearMap, Projection, ProjectionError, ProjectionInput, ProjectionKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Scope of a projection: one tree, or all trees (Joly, Geurts, Wehenkel, ECML-PKDD 2014, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum ProjectionScope {
    /// A projection for each tree or boosting step: Algorithm 2 (individual subspaces). Its expected squared error is
    /// never worse than that of a shared projection, because it divides the variance due to the projection by the
    /// number of trees (section 3.3). This does not hold for other measures, nor for a single run.
    Tree,
    /// One projection for all trees: Algorithm 1 (shared subspace).
    Shared,
}

rpo_core::impl_names!(ProjectionScope, "a scope of projections");

/// A family of projections of the outputs, or none.
///
/// As text: `none`, or the name of a [`ProjectionKind`].
///
/// ```
/// use rpo_ensemble::{ProjectionChoice, ProjectionKind};
/// assert_eq!("none".parse(), Ok(ProjectionChoice::None));
/// assert_eq!(ProjectionChoice::from(ProjectionKind::Gaussian).to_string(), "gaussian");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum ProjectionChoice {
    /// Trees grow on the outputs themselves.
    #[default]
    None,
    /// Trees grow on a projection of the outputs.
    Kind(ProjectionKind),
}

impl ProjectionChoice {
    /// Returns the family, or `None` without a projection.
    pub fn family(self) -> Option<Arc<dyn Projection>> {
        match self {
            Self::None => None,
            Self::Kind(kind) => Some(Arc::new(kind)),
        }
    }

    /// Combines the family, or a custom one that replaces it, with components and scope. The default number of
    /// components is the number of outputs for the identity, ln d for a label embedding and `components_by_default` for
    /// others. The default scope is one projection for all trees for a label embedding and one per tree for others.
    pub(crate) fn resolve(
        self,
        custom: Option<&Arc<dyn Projection>>,
        components: Option<Components>,
        scope: Option<ProjectionScope>,
        components_by_default: Components,
    ) -> Result<Option<OutputProjection>, ParameterError> {
        let Some(family) = custom.cloned().or_else(|| self.family()) else {
            let reason = "cannot be combined with `projection` = none";
            return match (components, scope) {
                (Some(components), _) => Err(ParameterError::conflict("components", components, reason)),
                (None, Some(scope)) => Err(ParameterError::conflict("projection_scope", scope, reason)),
                (None, None) => Ok(None),
            };
        };
        let (default_components, default_scope) = match self {
            Self::Kind(ProjectionKind::Identity) => (Components::Outputs, ProjectionScope::Tree),
            Self::Kind(ProjectionKind::LabelEmbedding) => (Components::LnOutputs, ProjectionScope::Shared),
            Self::Kind(_) | Self::None => (components_by_default, ProjectionScope::Tree),
        };
        Ok(Some(OutputProjection {
            family,
            components: components.unwrap_or(default_components),
            scope: scope.unwrap_or(default_scope),
        }))
    }
}

impl From<ProjectionKind> for ProjectionChoice {
    fn from(kind: ProjectionKind) -> Self {
        Self::Kind(kind)
    }
}

impl fmt::Display for ProjectionChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Kind(kind) => kind.fmt(f),
        }
    }
}

impl FromStr for ProjectionChoice {
    type Err = ProjectionError;

    fn from_str(text: &str) -> Result<Self, ProjectionError> {
        match text {
            "none" => Ok(Self::None),
            name => name.parse().map(Self::Kind),
        }
    }
}

rpo_core::impl_text_serde!(ProjectionChoice, ["string"]);

/// A projection Z = Y Φᵀ of the outputs: Y (n x d), Φ (m x d), Z (n x m).
///
/// It does not depend on the bootstrap: a learned projection is fitted to the whole training set.
#[derive(Debug, Clone)]
pub(crate) struct OutputProjection {
    family: Arc<dyn Projection>,
    pub(crate) components: Components,
    pub(crate) scope: ProjectionScope,
}

impl OutputProjection {
    /// Fits the family to outputs. Refuses a projection whose Φ (which most families store dense) and Z would exceed
    /// the memory limit, and a map of other sizes from a custom family.
    pub(crate) fn fit(
        &self,
        data: ProjectionInput<'_>,
        seed: Seed,
        memory_limit: usize,
    ) -> Result<Box<dyn LinearMap>, EnsembleError> {
        let (n, d) = (data.outputs.n_rows(), data.outputs.n_cols());
        let m = self.components.resolve(d)?;
        let bytes = (n.saturating_add(d))
            .saturating_mul(m)
            .saturating_mul(size_of::<f32>());
        let what = || format!("a projection of {n} samples and {d} outputs to {m} components");
        MemoryLimit::check(bytes, memory_limit, what)?;
        let map = self.family.fit(data, m, seed)?;
        Mismatch::check("outputs of the projection", d, map.n_outputs())?;
        Mismatch::check("components of the projection", m, map.n_components())?;
        Ok(map)
    }
}

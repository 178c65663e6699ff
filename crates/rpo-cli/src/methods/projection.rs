//! What trees grow on.

use crate::error::CliError;
use crate::methods::name;
use clap::{Args, ValueEnum};
use rpo::core::Matrix;
use rpo::ensemble::{OutputProjection, ProjectionScope};
use rpo::projections::{
    BoundEmbedding, Components, LabelEmbedding, Projection, ProjectionError, ProjectionKind,
};
use serde_json::{Value, json};
use std::str::FromStr;
use std::sync::Arc;

/// A random projection of the outputs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Projection of the outputs")]
pub struct ProjectionOptions {
    /// Projection of the outputs that trees grow on; leaves answer in the original outputs whatever it is. One of none,
    /// gaussian, rademacher, rademacher:S, achlioptas, sparse, hadamard, subsample, subsample-replace, hashing, pca,
    /// identity; of forests also label-embedding, the directions that the features predict.
    #[arg(long, value_name = "FAMILY")]
    projection: Option<ProjectionName>,

    /// Number of components to project to, ln for round(ln d), or d for as many as there are outputs.
    #[arg(long, value_name = "M|ln|d")]
    components: Option<Components>,

    /// Whether each tree has a projection of its own, the default of random ones, or all share one, that of
    /// label-embedding.
    #[arg(long, value_enum, value_name = "SCOPE")]
    projection_scope: Option<ScopeName>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ProjectionName {
    None,
    Kind(ProjectionKind),
    LabelEmbedding,
}

impl FromStr for ProjectionName {
    type Err = ProjectionError;

    fn from_str(name: &str) -> Result<Self, ProjectionError> {
        match name {
            "none" => Ok(Self::None),
            LABEL_EMBEDDING => Ok(Self::LabelEmbedding),
            name => name.parse().map(Self::Kind),
        }
    }
}

const LABEL_EMBEDDING: &str = "label-embedding";

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum ScopeName {
    Tree,
    Shared,
}

impl ProjectionOptions {
    /// The family, if one is named that needs no features.
    pub fn family(&self) -> Option<ProjectionKind> {
        match self.projection {
            Some(ProjectionName::Kind(kind)) => Some(kind),
            _ => None,
        }
    }

    /// Whether the projection is to learn from the features too.
    pub(super) fn learns_from_features(&self) -> bool {
        self.projection == Some(ProjectionName::LabelEmbedding)
    }

    /// Whether it says that there is none.
    pub(super) fn is_none(&self) -> bool {
        self.projection == Some(ProjectionName::None)
    }

    /// The number of components, if it is given.
    pub fn components(&self) -> Option<Components> {
        self.components
    }

    /// The projection of a forest: by default none, and of a family by default ln d components, one draw per tree, one
    /// for all of a label embedding, which `bound` must give its features.
    ///
    /// # Errors
    /// [`CliError::Usage`] for components without a family.
    pub fn of_forest(&self) -> Result<Option<OutputProjection>, CliError> {
        let scope = self.scope();
        let components = self.components.unwrap_or(Components::LnOutputs);
        if self.learns_from_features() {
            return Ok(Some(OutputProjection {
                family: Arc::new(LabelEmbedding::default()),
                components,
                scope: match scope {
                    ScopeName::Tree => ProjectionScope::Tree,
                    ScopeName::Shared => ProjectionScope::Shared,
                },
            }));
        }
        let Some(kind) = self.family() else {
            if self.components.is_some() || self.projection_scope.is_some() {
                let message = "--components and --projection-scope need a --projection other than none";
                return Err(CliError::Usage(message.to_owned()));
            }
            return Ok(None);
        };
        let projection = OutputProjection::new(kind, components);
        Ok(Some(match scope {
            ScopeName::Tree => projection,
            ScopeName::Shared => projection.shared(),
        }))
    }

    fn scope(&self) -> ScopeName {
        let usual = if self.learns_from_features() {
            ScopeName::Shared
        } else {
            ScopeName::Tree
        };
        self.projection_scope.unwrap_or(usual)
    }

    /// The projection of a forest for the record.
    pub(super) fn forest_record(&self) -> Vec<(&'static str, Value)> {
        let family = match self.projection {
            None | Some(ProjectionName::None) => None,
            Some(ProjectionName::Kind(kind)) => Some(kind.to_string()),
            Some(ProjectionName::LabelEmbedding) => Some(LABEL_EMBEDDING.to_owned()),
        };
        match family {
            None => vec![("projection", json!("none"))],
            Some(family) => vec![
                ("projection", json!(family)),
                (
                    "components",
                    json!(self.components.unwrap_or(Components::LnOutputs).to_string()),
                ),
                ("projection_scope", json!(name(&self.scope()))),
            ],
        }
    }
}

/// A label embedding with the features it learns from.
///
/// # Errors
/// Features that are missing or infinite.
pub(super) fn bound(features: &Matrix) -> Result<Arc<dyn Projection>, ProjectionError> {
    let features = Arc::new(features.clone());
    Ok(Arc::new(BoundEmbedding::new(
        LabelEmbedding::default(),
        features,
    )?))
}

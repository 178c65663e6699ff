//! What trees grow on.

use crate::error::CliError;
use crate::methods::name;
use clap::{Args, ValueEnum};
use rpo::ensemble::{ProjectionChoice, ProjectionScope};
use rpo::projections::{Components, ProjectionError, ProjectionKind};
use serde_json::{Value, json};
use std::str::FromStr;

/// A random projection of the outputs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Projection of the outputs")]
pub(crate) struct ProjectionOptions {
    /// Projection of the outputs that trees grow on; leaves answer in the original outputs whatever it is. One of none,
    /// gaussian, rademacher, rademacher:S, achlioptas, sparse, hadamard, subsample, subsample-replace, hashing, pca,
    /// identity, and label-embedding, the directions that the features predict.
    #[arg(long, value_name = "FAMILY")]
    projection: Option<ProjectionName>,

    /// Number of components to project to, ln for round(ln d), or d for as many as there are outputs. By default ln of
    /// forests and of label-embedding, 1 of boosting, d of identity.
    #[arg(long, value_name = "M|ln|d")]
    components: Option<Components>,

    /// Whether each tree or boosting step has a projection of its own, the default of random ones, or all share one, that
    /// of label-embedding.
    #[arg(long, value_enum, value_name = "SCOPE")]
    projection_scope: Option<ScopeName>,
}

/// The projection of boosting.
#[derive(Debug, Clone)]
pub(super) struct BoostingProjection {
    pub(super) components: Components,
    pub(super) scope: ProjectionScope,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ProjectionName {
    None,
    Kind(ProjectionKind),
}

impl FromStr for ProjectionName {
    type Err = ProjectionError;

    fn from_str(name: &str) -> Result<Self, ProjectionError> {
        match name {
            "none" => Ok(Self::None),
            name => name.parse().map(Self::Kind),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum ScopeName {
    Tree,
    Shared,
}

impl From<ScopeName> for ProjectionScope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::Tree => Self::Tree,
            ScopeName::Shared => Self::Shared,
        }
    }
}

impl ProjectionOptions {
    /// Whether the projection is to learn from the features too.
    pub(super) fn learns_from_features(&self) -> bool {
        self.projection == Some(ProjectionName::Kind(ProjectionKind::LabelEmbedding))
    }

    /// Refuses components without a family.
    pub(super) fn check_forest(&self) -> Result<(), CliError> {
        let none = self.projection.is_none_or(|p| p == ProjectionName::None);
        if none && (self.components.is_some() || self.projection_scope.is_some()) {
            let message = "--components and --projection-scope need a --projection other than none";
            return Err(CliError::Usage(message.to_owned()));
        }
        Ok(())
    }

    /// The projection of a forest.
    pub(super) fn of_forest(&self) -> (ProjectionChoice, Option<Components>, Option<ProjectionScope>) {
        let choice = match self.projection {
            None | Some(ProjectionName::None) => ProjectionChoice::None,
            Some(ProjectionName::Kind(kind)) => kind.into(),
        };
        (
            choice,
            self.components,
            self.projection_scope.map(ProjectionScope::from),
        )
    }

    /// The projection of a forest, for the record.
    pub(super) fn record_of_forest(&self) -> Vec<(&'static str, Value)> {
        match self.projection {
            None | Some(ProjectionName::None) => vec![("projection", json!("none"))],
            Some(ProjectionName::Kind(kind)) => vec![
                ("projection", json!(kind.to_string())),
                (
                    "components",
                    json!(self.components_or(Components::LnOutputs).to_string()),
                ),
                ("projection_scope", json!(name(&self.scope()))),
            ],
        }
    }

    /// The projection of boosting: by default one Gaussian per step, of a label embedding ln d components for all steps.
    ///
    /// # Errors
    /// [`CliError::Usage`] for none.
    pub(super) fn of_boosting(&self) -> Result<BoostingProjection, CliError> {
        if self.projection == Some(ProjectionName::None) {
            let message = "this method projects the outputs; gbmort is the one that does not";
            return Err(CliError::Usage(message.to_owned()));
        }
        Ok(BoostingProjection {
            components: self.components_or(if self.learns_from_features() {
                Components::LnOutputs
            } else {
                Components::Exact(1)
            }),
            scope: self.scope().into(),
        })
    }

    /// The components asked for, or the usual ones: of the identity all there are.
    fn components_or(&self, usual: Components) -> Components {
        let identity = self.projection == Some(ProjectionName::Kind(ProjectionKind::Identity));
        self.components
            .unwrap_or(if identity { Components::Outputs } else { usual })
    }

    /// The family, Gaussian if none is named.
    pub(super) fn kind(&self) -> ProjectionKind {
        match self.projection {
            Some(ProjectionName::Kind(kind)) => kind,
            Some(ProjectionName::None) | None => ProjectionKind::Gaussian,
        }
    }

    fn scope(&self) -> ScopeName {
        let usual = if self.learns_from_features() {
            ScopeName::Shared
        } else {
            ScopeName::Tree
        };
        self.projection_scope.unwrap_or(usual)
    }

    /// The projection that it comes to, for the record.
    pub(super) fn record(&self, projection: Option<&BoostingProjection>) -> Vec<(&'static str, Value)> {
        let Some(projection) = projection else {
            return vec![("projection", json!("none"))];
        };
        vec![
            ("projection", json!(self.kind().to_string())),
            ("components", json!(projection.components.to_string())),
            ("projection_scope", json!(name(&self.scope()))),
        ]
    }
}

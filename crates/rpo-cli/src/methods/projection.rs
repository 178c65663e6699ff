//! What trees grow on.

use crate::error::CliError;
use crate::methods::name;
use clap::{Args, ValueEnum};
use rpo::ensemble::OutputProjection;
use rpo::projections::{Components, ProjectionError, ProjectionKind};
use serde_json::{Value, json};
use std::str::FromStr;

/// A random projection of the outputs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Projection of the outputs")]
pub struct ProjectionOptions {
    /// Random projection of the outputs that trees grow on; leaves answer in the original outputs whatever it
    /// is. One of none, gaussian, rademacher, rademacher:S, achlioptas, sparse, hadamard, subsample,
    /// subsample-replace, hashing, pca, identity.
    #[arg(long, value_name = "FAMILY")]
    projection: Option<ProjectionName>,

    /// Number of components to project to, ln for round(ln d), or d for as many as there are outputs.
    #[arg(long, value_name = "M|ln|d")]
    components: Option<Components>,

    /// Whether each tree has a projection of its own or all share one.
    #[arg(long, value_enum, value_name = "SCOPE")]
    projection_scope: Option<ScopeName>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct ProjectionName(Option<ProjectionKind>);

impl FromStr for ProjectionName {
    type Err = ProjectionError;

    fn from_str(name: &str) -> Result<Self, ProjectionError> {
        match name {
            "none" => Ok(Self(None)),
            name => name.parse().map(|kind| Self(Some(kind))),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum ScopeName {
    Tree,
    Shared,
}

impl ProjectionOptions {
    /// The family, if one is named.
    pub fn family(&self) -> Option<ProjectionKind> {
        self.projection.and_then(|name| name.0)
    }

    /// Whether it says that there is none.
    pub(super) fn is_none(&self) -> bool {
        self.projection == Some(ProjectionName(None))
    }

    /// The number of components, if it is given.
    pub fn components(&self) -> Option<Components> {
        self.components
    }

    /// The projection of a forest: by default none, and of a family by default ln d components, one draw per tree.
    ///
    /// # Errors
    /// [`CliError::Usage`] for components without a family.
    pub fn of_forest(&self) -> Result<Option<OutputProjection>, CliError> {
        let Some(kind) = self.family() else {
            if self.components.is_some() || self.projection_scope.is_some() {
                let message = "--components and --projection-scope need a --projection other than none";
                return Err(CliError::Usage(message.to_owned()));
            }
            return Ok(None);
        };
        let projection = OutputProjection::new(kind, self.components.unwrap_or(Components::LnOutputs));
        Ok(Some(match self.projection_scope.unwrap_or(ScopeName::Tree) {
            ScopeName::Tree => projection,
            ScopeName::Shared => projection.shared(),
        }))
    }

    /// The projection of a forest for the record.
    pub(super) fn forest_record(&self) -> Vec<(&'static str, Value)> {
        match self.family() {
            None => vec![("projection", json!("none"))],
            Some(kind) => vec![
                ("projection", json!(kind.to_string())),
                (
                    "components",
                    json!(self.components.unwrap_or(Components::LnOutputs).to_string()),
                ),
                (
                    "projection_scope",
                    json!(name(&self.projection_scope.unwrap_or(ScopeName::Tree))),
                ),
            ],
        }
    }
}

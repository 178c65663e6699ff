//! The projection of the residuals.

use crate::boosting::choices::Algorithm;
use crate::boosting::params::BoostingParams;
use crate::error::EnsembleError;
use crate::projection::{OutputProjection, ProjectionChoice, ProjectionScope};
use rpo_core::ParameterError;
use rpo_projections::{Components, Projection, ProjectionKind};
use std::sync::Arc;

/// Returns the projection, if the algorithm has one.
pub(super) fn projection(
    params: &BoostingParams,
    custom: Option<&Arc<dyn Projection>>,
) -> Result<Option<OutputProjection>, EnsembleError> {
    let named = params.projection;
    let conflict = |name, given: &dyn ToString, reason| {
        Err(ParameterError::conflict(name, given.to_string(), reason).into())
    };
    if !params.algorithm.projects() {
        let reason = "is for gbrt-rpo and gbrt-relabel-rpo; this algorithm does not project the outputs";
        return match (named, custom, params.components, params.projection_scope) {
            (Some(ProjectionChoice::Kind(kind)), ..) => conflict("projection", &kind, reason),
            (_, Some(_), ..) => conflict("projection", &"custom", reason),
            (_, _, Some(components), _) => conflict("components", &components, reason),
            (.., Some(ProjectionScope::Tree)) => conflict("projection_scope", &"tree", reason),
            (.., Some(ProjectionScope::Shared)) => conflict("projection_scope", &"shared", reason),
            _ => Ok(None),
        };
    }
    let choice = named.unwrap_or(ProjectionKind::Gaussian.into());
    if choice == ProjectionChoice::None {
        let reason = "is for gbmort; this algorithm projects the outputs";
        return conflict("projection", &choice, reason);
    }
    let resolved = choice.resolve(
        custom,
        params.components,
        params.projection_scope,
        Components::Exact(1),
    )?;
    let Some(OutputProjection {
        components, scope, ..
    }) = resolved
    else {
        return Ok(None);
    };
    // Refuses 0 components, whatever the number of outputs.
    components.resolve(1)?;
    if params.algorithm == Algorithm::GbrtRpo {
        // The identity has several components unless their number is given.
        let has_several = params.components.is_none() && components != Components::Exact(1);
        if choice == ProjectionKind::LabelEmbedding.into() || has_several {
            let reason = "cannot be combined with gbrt-rpo, which grows every tree on one random direction; it \
                          is for gbrt-relabel-rpo";
            return conflict("projection", &choice, reason);
        }
        if components != Components::Exact(1) {
            return conflict(
                "components",
                &components,
                "cannot be combined with gbrt-rpo, which has 1",
            );
        }
        if scope == ProjectionScope::Shared {
            let reason = "cannot be combined with gbrt-rpo, whose trees would all grow on a single direction";
            return conflict("projection_scope", &"shared", reason);
        }
    }
    Ok(resolved)
}

//! Storage of ensembles: a part for each member.

use super::{Ensemble, Link};
use crate::Model;
use crate::method::RestoreContext;
use rpo_core::store::{Reader, Sizes, Store, StoreError, Writer};
use rpo_data::preprocess::Pipeline;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What is stored of a member beside its predictor and its pipeline.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Member<'a> {
    kind: Cow<'a, str>,
    weight: f64,
    software: Cow<'a, str>,
    parameters: Cow<'a, Map<String, Value>>,
}

impl Store for Ensemble {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        let about = |(model, weight): (&Model, f64)| Member {
            kind: model.predictor().kind().into(),
            weight,
            software: model.software().to_owned().into(),
            parameters: Cow::Owned(model.parameters().clone()),
        };
        out.field("members", self.members().map(about).collect::<Vec<_>>())?;
        if self.link() != Link::Mean {
            out.field("link", self.link())?;
        }
        if let Some(selection) = self.selection() {
            out.field("selection", selection)?;
        }
        for (index, (model, _)) in self.members().enumerate() {
            out.scoped(format_args!("member {index}"), |out| {
                model.pipeline().map_or(Ok(()), |pipeline| pipeline.store(out))?;
                model.predictor().store(out)
            })?;
        }
        Ok(())
    }
}

/// Restores an ensemble, whose members have the columns and the training set of the whole.
pub(crate) fn restore(
    from: &mut Reader<'_>,
    sizes: Sizes,
    context: &RestoreContext<'_>,
) -> Result<Ensemble, StoreError> {
    let about: Vec<Member<'_>> = from.field("members")?;
    let link: Link = from.optional_field("link")?.unwrap_or_default();
    let selection = from.optional_field("selection")?;
    let mut members = Vec::new();
    for (index, member) in about.into_iter().enumerate() {
        let invalid =
            |problem: &dyn std::fmt::Display| StoreError::part(format_args!("member {index}"), problem);
        let kind = context.registry.kinds().find(|kind| kind.name == member.kind);
        let kind = kind.ok_or_else(|| invalid(&format_args!("its kind {:?} is unknown", member.kind)))?;
        if kind.name == Ensemble::KIND {
            return Err(invalid(&"an ensemble has no ensembles as members"));
        }
        let model = from.scoped(format_args!("member {index}"), |from| {
            let pipeline = Pipeline::restore(
                from,
                sizes.n_features,
                context.schema.nominal(),
                context.schema.texts(),
            )?;
            let n_features = pipeline.n_columns();
            let predictor = (kind.restore)(from, Sizes { n_features, ..sizes }, context)?;
            Ok((
                predictor,
                Some(pipeline).filter(|pipeline| !pipeline.is_identity()),
            ))
        });
        let (predictor, pipeline) = model.map_err(|e| invalid(&e))?;
        let (schema, training) = (context.schema.clone(), context.training.clone());
        let model = Model::from_parts(
            predictor,
            schema,
            pipeline,
            training,
            member.software.into_owned(),
        );
        let model = model.map_err(|e| invalid(&e))?;
        members.push((
            model.with_parameters(member.parameters.into_owned()),
            member.weight,
        ));
    }
    Ensemble::new(members, link, selection).map_err(|e| StoreError::part("ensemble", e))
}

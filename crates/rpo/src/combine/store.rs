//! Stores ensembles, with one section per member.

use super::{Ensemble, Limits, Link, Weight};
use crate::method::{ModelKind, RestoreContext};
use crate::{Model, TrainingSummary};
use rpo_core::store::{Reader, Sharing, Sizes, Store, StoreError, Writer};
use rpo_data::preprocess::Pipeline;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What is stored of a member apart from its predictor and its pipeline.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Member<'a> {
    kind: Cow<'a, str>,
    weight: f64,
    /// The weight of labels beside numbers, if they have their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label_weight: Option<f64>,
    software: Cow<'a, str>,
    /// The number of samples that it was fitted to, if they are not those of the ensemble, in that order; its own training
    /// summary is then stored with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n_train: Option<usize>,
    parameters: Cow<'a, Map<String, Value>>,
}

impl Store for Ensemble {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        let about = |(model, weight): &(Model, Weight)| Member {
            kind: model.predictor().kind().into(),
            weight: weight.of_outputs,
            label_weight: weight.of_labels,
            software: model.software.to_owned().into(),
            n_train: self.is_apart(model).then(|| model.training().n_samples),
            parameters: Cow::Owned(model.parameters.clone()),
        };
        out.field("members", self.members.iter().map(about).collect::<Vec<_>>())?;
        if self.link != Link::Mean {
            out.field("link", self.link)?;
        }
        self.limits.store(out)?;
        if let Some(selection) = &self.selection {
            out.field("selection", selection)?;
        }
        for (index, (model, _)) in self.members().enumerate() {
            let is_apart = self.is_apart(model);
            out.scoped(format_args!("member {index}"), sharing(is_apart), |out| {
                if is_apart {
                    model.training().store(out)?;
                }
                model.pipeline().map_or(Ok(()), |pipeline| pipeline.store(out))?;
                model.predictor().store(out)
            })?;
        }
        Ok(())
    }
}

impl Ensemble {
    /// Returns true if a member was fitted to only some of the samples, or to the same in another order.
    fn is_apart(&self, member: &Model) -> bool {
        *member.training() != self.training
    }
}

/// Members that were fitted to other samples share nothing with others.
fn sharing(is_apart: bool) -> Sharing {
    match is_apart {
        true => Sharing::Inside,
        false => Sharing::Outside,
    }
}

/// Restores an ensemble, whose members have the ensemble's columns and training set.
pub(crate) fn restore(
    from: &mut Reader<'_>,
    sizes: Sizes,
    context: &RestoreContext<'_>,
) -> Result<Ensemble, StoreError> {
    let about: Vec<Member<'_>> = from.field("members")?;
    let link: Link = from.field::<Option<_>>("link")?.unwrap_or_default();
    let limits = Limits::restore(from, context.schema.task, sizes.n_outputs)?;
    let selection = from.field("selection")?;
    let mut members = Vec::new();
    for (index, member) in about.into_iter().enumerate() {
        let invalid =
            |problem: &dyn std::fmt::Display| StoreError::part(format_args!("member {index}"), problem);
        let kind = context.registry.kinds().find(|kind| kind.name == member.kind);
        let kind = kind.ok_or_else(|| invalid(&format_args!("its kind {:?} is unknown", member.kind)))?;
        if kind.name == Ensemble::KIND {
            return Err(invalid(&"an ensemble has no ensembles as members"));
        }
        let part = format_args!("member {index}");
        let software = member.software.into_owned();
        let model = from.scoped(part, sharing(member.n_train.is_some()), |from| {
            let Some(n_train) = member.n_train else {
                return restore_member(from, kind, sizes, context, software);
            };
            let sizes = Sizes { n_train, ..sizes };
            let training = TrainingSummary::restore(from, context.schema.task, sizes)?;
            let training = &training;
            let context = RestoreContext { training, ..*context };
            restore_member(from, kind, sizes, &context, software)
        });
        let mut model = model.map_err(|e| invalid(&e))?;
        model.parameters = member.parameters.into_owned();
        let weight = Weight {
            of_outputs: member.weight,
            of_labels: member.label_weight,
        };
        members.push((model, weight));
    }
    let ensemble = Ensemble {
        members,
        link,
        limits,
        selection,
        training: context.training.clone(),
    };
    ensemble.checked().map_err(|e| StoreError::part("ensemble", e))
}

/// Restores a member.
fn restore_member(
    from: &mut Reader<'_>,
    kind: ModelKind,
    sizes: Sizes,
    context: &RestoreContext<'_>,
    software: String,
) -> Result<Model, StoreError> {
    let pipeline = Pipeline::restore(
        from,
        sizes.n_features,
        &context.schema.nominal,
        &context.schema.texts,
    )?;
    let n_features = pipeline.n_columns();
    let predictor = (kind.restore)(from, Sizes { n_features, ..sizes }, context)?;
    let pipeline = Some(pipeline).filter(|pipeline| !pipeline.is_identity());
    let (schema, training) = (context.schema.clone(), context.training.clone());
    let model = Model::from_parts(predictor, schema, pipeline, training, software);
    model.map_err(|e| StoreError::part("model", e))
}

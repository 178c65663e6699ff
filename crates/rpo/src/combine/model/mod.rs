//! Models that combine the predictions of several models.

mod alike;
mod weighted_sum;

use super::pool::Pool;
use super::{Chooser, CombineRule, Limits, Link, Weight};
use crate::model::SOFTWARE;
use crate::{Model, ModelError, Predict, TrainingSummary};
use alike::{check_columns, of_same_training};
use ndarray::Array2;
use rpo_core::{Contributions, Domain, InverseLink, MatrixView, ParameterError, Predictor};
use rpo_data::{Dataset, Task};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use weighted_sum::WeightedSum;

/// Combines the predictions of several models of one training set, whatever their methods: their weighted mean or, for
/// a stack ([`CombineRule::Stack`]), a model of the outputs given the members' predictions. Label scores are first
/// clamped to 0 to 1, and numbers, if the ensemble was fitted as a whole, to the range of each output in training.
#[derive(Debug, Clone, PartialEq)]
pub struct Ensemble {
    pub(super) members: Vec<(Model, Weight)>,
    pub(super) link: Link,
    pub(super) limits: Limits,
    /// How the members were found, if they were selected.
    pub selection: Option<Selection>,
    /// Summary of all training samples; a member may have been fitted to only some of them.
    pub(super) training: TrainingSummary,
}

/// How the members of an ensemble were found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Selection {
    /// The metric of the scores, which are computed on samples withheld from training.
    pub metric: String,
    /// The score of the ensemble, with weights found on other samples than those scored.
    pub score: Option<f64>,
    /// Everything that was tried or left out, in order.
    pub candidates: Vec<Candidate>,
}

/// Outcome for a configuration that was considered as a member.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Candidate {
    /// The method with its options.
    pub method: String,
    /// Its individual score, if it was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Its weight in the ensemble; 0 where only labels beside numbers have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Its weight for labels beside numbers, where these have another weight than numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_weight: Option<f64>,
    /// Number of models that make up the member, each fitted without the samples of one fold because no time was left
    /// to fit all samples; the weight is divided among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folds: Option<usize>,
    /// Number of models that make up the member, if several, each fitted to all samples with a different seed; the
    /// weight is divided among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<usize>,
    /// Wall-clock seconds of its trial, recorded if the clock decided what was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The reason why it was not tried or is not a member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

impl Ensemble {
    /// The name of the kind of model in a file.
    pub(crate) const KIND: &str = "ensemble";

    /// Refuses parts that do not form a valid ensemble.
    pub(super) fn checked(self) -> Result<Self, ModelError> {
        let Some((first, _)) = self.members.first() else {
            return Err(ParameterError::out_of_range("members", "none", "at least one").into());
        };
        for (member, (model, weight)) in self.members.iter().enumerate() {
            for value in [weight.of_outputs].into_iter().chain(weight.of_labels) {
                match self.link {
                    Link::Mean if weight.of_labels.is_none() => Domain::Positive.check("weights", value)?,
                    // A member may be one of labels or of numbers alone.
                    Link::Mean => Domain::NotNegative.check("weights", value)?,
                    // The weights of a stack may be negative.
                    _ => ParameterError::unless(value.is_finite(), "weights", value, "finite")?,
                }
            }
            if model.predictor().downcast_ref::<Self>().is_some() {
                let expected = "single models: an ensemble, as auto and blend make, cannot be combined again";
                return Err(ParameterError::out_of_range("models", Self::KIND, expected).into());
            }
            check_columns(first, member, model)?;
        }
        let has_own = |(_, weight): &(Model, Weight)| weight.of_labels.is_some();
        let n_own = self.members.iter().filter(|member| has_own(member)).count();
        let alike = n_own == 0 || n_own == self.members.len();
        ParameterError::unless(alike, "weights of labels", n_own, "as many as members, or none")?;
        let total = self.total();
        for total in [total.of_outputs].into_iter().chain(total.of_labels) {
            let is_sum = total.is_finite() && (total > 0.0 || self.link != Link::Mean);
            ParameterError::unless(is_sum, "weights", total, "positive and finite in sum")?;
        }
        let is_probable = match self.link {
            Link::LogOdds { intercept } => intercept.is_finite() && first.schema().task == Task::MultiLabel,
            _ => true,
        };
        ParameterError::unless(
            is_probable,
            "link",
            "log-odds",
            "for labels, with a finite intercept",
        )?;
        Ok(self)
    }

    /// The models, and their weights; where labels stand beside numbers, those of numbers.
    pub fn members(&self) -> impl Iterator<Item = (&Model, f64)> {
        self.members
            .iter()
            .map(|(model, weight)| (model, weight.of_outputs))
    }

    /// The weight of each member for labels beside numbers; `None` if they have that of all outputs.
    pub fn label_weights(&self) -> Option<Vec<f64>> {
        self.members.iter().map(|(_, weight)| weight.of_labels).collect()
    }

    /// The first member, which predicts the same outputs as all members.
    pub(crate) fn first(&self) -> &Model {
        &self.members[0].0
    }
}

impl Model {
    /// Averages the predictions of several models that were fitted to the same data, with weights. Label scores are
    /// clamped to 0 to 1 first, and labels are predicted at a mean of 0.5. Members keep their feature preparation, but
    /// their thresholds are ignored: thresholds of the ensemble are found on its own scores
    /// ([`with_thresholds`](Self::with_thresholds)).
    ///
    /// ```
    /// use rpo::data::generate::MultiLabelSet;
    /// use rpo::prelude::*;
    ///
    /// let data = MultiLabelSet::new(200, 30, 20).generate(Seed::new(1))?;
    /// let forest = Model::fit(&Method::named("extra-trees")?.with("trees", "5")?, &data)?;
    /// let linear = Model::fit(&Method::named("one-vs-rest")?, &data)?;
    /// let x = data.features().view();
    /// let mean = (forest.predict(x)? + 3.0 * linear.predict(x)?) / 4.0;
    /// let both = Model::combine(vec![(forest, 1.0), (linear, 3.0)])?;
    /// assert!((both.predict(x)? - mean).iter().all(|v| v.abs() < 1e-6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// No models, ensembles, weights that are not positive, [`ModelError::CombineLevels`] for models of different quantiles, and
    /// [`ModelError::Combine`] for models of different data.
    pub fn combine(members: Vec<(Self, f64)>) -> Result<Self, ModelError> {
        let training = of_same_training(members.iter().map(|(model, _)| model))?;
        let limits = Limits::of_model(&members[0].0);
        Self::averaged(members, training, limits)
    }

    /// Averages the predictions of models that were fitted to all samples of a data set. Numbers are clamped to their
    /// range in the data, except for several quantile levels of an output.
    pub(crate) fn combine_whole(members: Vec<(Self, f64)>, data: &Dataset) -> Result<Self, ModelError> {
        let training = of_same_training(members.iter().map(|(model, _)| model))?;
        let limits = match members[0].0.n_outputs() == data.n_outputs() {
            true => Limits::of(data),
            false => Limits::of_model(&members[0].0),
        };
        Self::averaged(members, training, limits)
    }

    fn averaged(
        members: Vec<(Self, f64)>,
        training: TrainingSummary,
        limits: Limits,
    ) -> Result<Self, ModelError> {
        Self::ensemble(Ensemble {
            limits,
            link: Link::Mean,
            selection: None,
            training,
            members: members
                .into_iter()
                .map(|(model, weight)| (model, Weight::same(weight)))
                .collect(),
        })
    }

    /// Combines models with the weights that a rule finds on data that they were not fitted to; columns are found by
    /// name. Models without weight are left out. For models that predict quantiles, the weights minimize the pinball
    /// loss. The score of the selection is that of weights found on other samples, and on other groups of data that have
    /// some ([`Dataset::with_groups`]).
    ///
    /// ```
    /// use rpo::combine::CombineRule;
    /// use rpo::data::generate::MultiLabelSet;
    /// use rpo::prelude::*;
    ///
    /// let data = MultiLabelSet::new(300, 30, 20).generate(Seed::new(1))?;
    /// let (train, withheld) = data.split(0.3, Seed::new(2))?;
    /// let models = ["baseline", "one-vs-rest"].map(|name| Model::fit(&name.parse::<Method>()?, &train));
    /// let models: Vec<Model> = models.into_iter().collect::<Result<_, _>>()?;
    /// let model = Model::combine_on(&models, CombineRule::Greedy, &withheld)?;
    /// assert_eq!(model.predictor().kind(), "ensemble");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`combine`](Self::combine), data that the models cannot be evaluated on, and rules of squared errors for quantiles.
    pub fn combine_on(models: &[Self], rule: CombineRule, withheld: &Dataset) -> Result<Self, ModelError> {
        let equal = Self::combine(models.iter().map(|model| (model.clone(), 1.0)).collect())?;
        let x = equal.schema().align_features(withheld)?.into_owned();
        let y = equal.schema().align_outputs(withheld)?.into_owned();
        let mut aligned = Dataset::with_missing(x, y, withheld.task())?;
        if let Some(groups) = withheld.groups() {
            aligned = aligned.with_groups(groups.to_vec())?;
        }
        let methods: Vec<String> = models.iter().map(method_of).collect();
        let pool = Pool::of_models(&aligned, models)?;
        let grams = pool.grams()?;
        let all: Vec<usize> = (0..models.len()).collect();
        let chooser = Chooser { rule, or_best: false };
        let chosen = pool.choose_crossed(chooser, &grams, &all)?;
        let judged = pool.judge(&chosen, &all, None)?;
        let choice = chosen.choice;
        let candidate = |(index, method): (usize, String)| {
            let weight = choice.weights[index];
            let is_member = weight.size() != 0.0;
            Candidate {
                method,
                score: finite(pool.score(index)),
                weight: is_member.then_some(weight.of_outputs),
                label_weight: weight.of_labels.filter(|_| is_member),
                ..Candidate::default()
            }
        };
        let selection = Selection {
            metric: pool.metric().to_string(),
            score: finite(judged.score),
            candidates: methods.into_iter().enumerate().map(candidate).collect(),
        };
        let training = equal.training().clone();
        pool.ensemble(&choice, Some(selection), training, |index| {
            Ok(vec![models[index].clone()])
        })
    }

    /// Wraps an ensemble in a model.
    pub(super) fn ensemble(ensemble: Ensemble) -> Result<Self, ModelError> {
        let ensemble = ensemble.checked()?;
        let (schema, training) = (ensemble.first().schema().clone(), ensemble.training.clone());
        Self::from_parts(Arc::new(ensemble), schema, None, training, SOFTWARE.to_owned())
    }
}

/// Returns the score if it is finite, as JSON cannot store other numbers.
pub(crate) fn finite(score: f64) -> Option<f64> {
    Some(score).filter(|score| score.is_finite())
}

/// The method of a member, or its kind of model if no method is recorded.
fn method_of(model: &Model) -> String {
    let method = model.parameters.get("method").and_then(Value::as_str);
    method.unwrap_or_else(|| model.predictor().kind()).to_owned()
}

impl Ensemble {
    /// The sum of the weights.
    fn total(&self) -> Weight {
        Weight::sum(self.members.iter().map(|(_, weight)| *weight))
    }

    /// The members with the factors of their predictions.
    fn factors(&self) -> impl Iterator<Item = (&Model, Weight)> {
        let total = match self.link {
            Link::Mean => self.total(),
            Link::LogOdds { .. } | Link::Distances => Weight::same(1.0),
        };
        self.members
            .iter()
            .map(move |(model, weight)| (model, weight.over(total)))
    }

    /// What the first member has and every other one too.
    fn in_all<T: Ord>(&self, of: impl Fn(&Model) -> BTreeSet<T>) -> Vec<T> {
        let mut common = of(self.first());
        for (model, _) in self.members().skip(1) {
            let others = of(model);
            common.retain(|item| others.contains(item));
        }
        common.into_iter().collect()
    }
}

impl Predict for Ensemble {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn n_features(&self) -> usize {
        self.first().n_features()
    }

    fn n_outputs(&self) -> usize {
        self.first().n_outputs()
    }

    fn n_train(&self) -> usize {
        self.training.n_samples
    }

    fn predict_with_limit(&self, x: MatrixView<'_>, memory_limit: usize) -> Result<Array2<f32>, ModelError> {
        let scores = self.factors().map(|(model, factor)| {
            let scores = model.predict_with_limit(x, memory_limit);
            (scores.map(|scores| self.limits.apply(scores)), factor)
        });
        let labels = self.first().schema().declared_labels();
        let combined = self
            .link
            .combine(scores, &self.training.output_means(), &labels)?;
        Ok(combined.expect("there is at least one member"))
    }

    /// Those of the members, combined as their predictions are, apart from limits and the range of labels; `None` for
    /// several members unless scores are predictions.
    fn contributions(
        &self,
        x: MatrixView<'_>,
        outputs: &[&[u32]],
        background: MatrixView<'_>,
    ) -> Result<Option<Contributions>, ModelError> {
        if let (Link::Mean, [(only, _)]) = (self.link, &*self.members) {
            return only.contributions(x, outputs, background).map(Some);
        }
        let labels = self.first().schema().declared_labels();
        let by_output = |weight: Weight| weight.by_output(self.n_outputs(), &labels);
        let mut sum = match self.link {
            Link::Mean => WeightedSum::new(vec![0.0; self.n_outputs()], outputs),
            Link::Distances => {
                let means = self.training.output_means();
                let bases = means.iter().zip(by_output(self.total()));
                WeightedSum::new(bases.map(|(mean, total)| mean * (1.0 - total)).collect(), outputs)
            }
            Link::LogOdds { .. } => return Ok(None),
        };
        // Links are known without samples: nothing is computed in vain.
        let no_samples = x.select_rows(&[]);
        for (model, _) in self.members() {
            let found = model.contributions(no_samples.view(), &[], background)?;
            if found.links.iter().any(|link| *link != InverseLink::Identity) {
                return Ok(None);
            }
        }
        for (model, factor) in self.factors() {
            let found = model.contributions(x, outputs, background)?;
            sum.add(&found, &by_output(factor));
        }
        Ok(Some(sum.finish(x.n_cols())))
    }

    /// The groups that all members have.
    fn groups(&self) -> Vec<Range<usize>> {
        let ends = |group: Range<usize>| (group.start, group.end);
        let groups = self.in_all(|model| model.predictor().groups().into_iter().map(ends).collect());
        groups.into_iter().map(|(start, end)| start..end).collect()
    }

    /// The outputs whose predictions are probabilities in all members, and in what they are combined to.
    fn probabilities(&self) -> Vec<usize> {
        let mut outputs = self.in_all(|model| model.predictor().probabilities().into_iter().collect());
        if self.link == Link::Distances {
            let labels = self.first().schema().declared_labels();
            outputs.retain(|output| labels.binary_search(output).is_ok());
        }
        outputs
    }

    /// The outputs that are not negative in all members.
    fn not_negative(&self) -> Vec<usize> {
        self.in_all(|model| model.predictor().not_negative().into_iter().collect())
    }

    fn summary(&self) -> Vec<(&'static str, Value)> {
        let about = |(model, weight): &(Model, Weight)| {
            let mut about = serde_json::Map::new();
            about.insert("method".to_owned(), method_of(model).into());
            about.insert("weight".to_owned(), json!(weight.of_outputs));
            if let Some(weight) = weight.of_labels {
                about.insert("label_weight".to_owned(), json!(weight));
            }
            let summary = model.predictor().summary();
            about.extend(summary.into_iter().map(|(key, value)| (key.to_owned(), value)));
            Value::Object(about)
        };
        let mut summary = vec![("members", self.members.iter().map(about).collect())];
        if let Some(selection) = &self.selection {
            summary.push(("selection", json!(selection)));
        }
        if let Link::LogOdds { intercept } = self.link {
            summary.push(("intercept", json!(intercept)));
        }
        summary
    }

    fn equals(&self, other: &dyn Predict) -> bool {
        other.downcast_ref() == Some(self)
    }
}

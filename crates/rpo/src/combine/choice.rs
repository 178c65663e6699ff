//! Chooses the weights of candidates, and evaluates the choice on samples that were not used for it.

use super::{CombineRule, Ensemble, Grams, Link, Pool, Selection, Weight};
use crate::blocks::dense_bytes;
use crate::decision::for_labels;
use crate::{DEFAULT_MEMORY_LIMIT, Model, ModelError, TrainingSummary};
use ndarray::{Array2, Axis, concatenate};
use rpo_data::Task;
use rpo_ensemble::thresholds::{ThresholdRule, find};

/// The weights of candidates.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(super) link: Link,
    /// One weight per candidate, 0 for candidates that are left out.
    pub(crate) weights: Vec<Weight>,
}

impl Choice {
    /// One candidate alone.
    fn only(candidate: usize, n_candidates: usize) -> Self {
        let mut weights = vec![Weight::default(); n_candidates];
        weights[candidate] = Weight::same(1.0);
        Self {
            link: Link::Mean,
            weights,
        }
    }

    /// The candidates with nonzero weight.
    pub(crate) fn members(&self) -> impl Iterator<Item = (usize, Weight)> {
        let weights = self.weights.iter().copied().enumerate();
        weights.filter(|(_, weight)| weight.size() != 0.0)
    }
}

/// Evaluation of an ensemble on withheld samples.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged {
    /// Score of the predictions for each part of the withheld samples, with weights found on the other parts; NaN if
    /// undefined.
    pub(crate) score: f64,
    /// Decision thresholds found on the withheld samples, one for every output.
    pub(crate) thresholds: Option<Vec<f64>>,
}

impl Pool<'_> {
    /// Builds the ensemble of a choice from the models that `fit` returns for each member: one model, or several that
    /// divide the member's weight equally.
    ///
    /// # Errors
    /// The errors of `fit`.
    pub(crate) fn ensemble(
        &self,
        choice: &Choice,
        selection: Option<Selection>,
        training: TrainingSummary,
        mut fit: impl FnMut(usize) -> Result<Vec<Model>, ModelError>,
    ) -> Result<Model, ModelError> {
        let mut members = Vec::new();
        for (index, weight) in choice.members() {
            let models = fit(index)?;
            let weight = weight.over(Weight::same(models.len() as f64));
            members.extend(models.into_iter().map(|model| (model, weight)));
        }
        Model::ensemble(Ensemble {
            members,
            link: choice.link,
            limits: self.limits.clone(),
            selection,
            training,
        })
    }

    /// Finds the weights of some candidates by a rule.
    ///
    /// # Errors
    /// Rules that do not apply to what the candidates predict.
    pub(crate) fn choose(
        &self,
        rule: CombineRule,
        grams: &Grams,
        candidates: &[usize],
    ) -> Result<Choice, ModelError> {
        let parts: Vec<usize> = (0..self.n_parts()).collect();
        self.choose_on(rule, grams, candidates, &parts)
    }

    /// Finds the weights on the samples of some parts.
    fn choose_on(
        &self,
        rule: CombineRule,
        grams: &Grams,
        candidates: &[usize],
        parts: &[usize],
    ) -> Result<Choice, ModelError> {
        let (of_outputs, of_labels) = grams.on(parts, candidates);
        let (link, found, found_of_labels) = match (rule, self.task()) {
            _ if !self.levels().is_empty() => {
                let found = self.weights_of_quantiles(rule, candidates, parts)?;
                (Link::Mean, found, None)
            }
            (CombineRule::Stack, Task::MultiLabel) => {
                let (weights, intercept) = self.stack(candidates, parts)?;
                (Link::LogOdds { intercept }, weights, None)
            }
            _ => {
                let link = match rule {
                    CombineRule::Stack => Link::Distances,
                    _ => Link::Mean,
                };
                let of_labels = of_labels.as_ref().map(|gram| rule.weights(gram));
                (link, rule.weights(&of_outputs), of_labels)
            }
        };
        let mut weights = vec![Weight::default(); self.n_candidates()];
        for (place, &candidate) in candidates.iter().enumerate() {
            weights[candidate] = Weight {
                of_outputs: found[place],
                of_labels: found_of_labels.as_ref().map(|found| found[place]),
            };
        }
        Ok(Choice { link, weights })
    }

    /// Finds the weights of some candidates by a rule, or takes the best of them alone if its score is above that of their
    /// combination: rules minimize errors over all outputs together, and scores may be about something else, such as the
    /// order of the labels of a sample.
    ///
    /// # Errors
    /// As [`choose`](Self::choose).
    pub(crate) fn choose_best(
        &self,
        rule: CombineRule,
        grams: &Grams,
        candidates: &[usize],
    ) -> Result<Choice, ModelError> {
        let choice = self.choose(rule, grams, candidates)?;
        let scored = candidates
            .iter()
            .map(|&candidate| (candidate, self.score(candidate)));
        let best = scored.reduce(|best, next| if next.1 > best.1 { next } else { best });
        let Some((best, score)) = best else {
            return Ok(choice);
        };
        let mut scoring = self.scoring();
        self.for_each_block(candidates, |_, scores, truth| {
            match self.combined(&choice, candidates, &scores)? {
                Some(scores) => scoring.add(truth.view(), scores.view()),
                None => Ok(()),
            }
        })?;
        Ok(match scoring.value()? < score {
            true => Choice::only(best, self.n_candidates()),
            false => choice,
        })
    }

    /// The combined scores of candidates.
    fn combined(
        &self,
        choice: &Choice,
        candidates: &[usize],
        scores: &[Array2<f32>],
    ) -> Result<Option<Array2<f32>>, ModelError> {
        let weights = candidates.iter().map(|&candidate| choice.weights[candidate]);
        let members = scores.iter().cloned().zip(weights);
        let members = members.filter(|(_, weight)| weight.size() != 0.0);
        let members = members.map(|(scores, weight)| (Ok::<_, ModelError>(scores), weight));
        choice
            .link
            .combine(members, &self.means(), self.declared().labels())
    }

    /// Evaluates a choice among candidates by a rule. The weights for each part of the withheld samples are found on
    /// the other parts; thresholds are those of the choice on all samples.
    ///
    /// # Errors
    /// None beyond those of scoring the candidates.
    pub(crate) fn judge(
        &self,
        rule: CombineRule,
        grams: &Grams,
        candidates: &[usize],
        choice: &Choice,
        thresholds: Option<ThresholdRule>,
    ) -> Result<Judged, ModelError> {
        let n_parts = self.n_parts();
        let crossed = (0..n_parts).map(|part| {
            let others: Vec<usize> = (0..n_parts).filter(|&other| other != part).collect();
            self.choose_on(rule, grams, candidates, &others)
        });
        let crossed: Vec<Choice> = match n_parts {
            0 | 1 => Vec::new(),
            _ => crossed.collect::<Result<_, _>>()?,
        };
        let fits = dense_bytes(self.n_scored(), self.n_outputs()) <= DEFAULT_MEMORY_LIMIT / 4;
        let labels = self.labels();
        let rule = thresholds.filter(|_| fits && !labels.is_empty());
        let mut scores_of_choice = Vec::new();
        let mut scoring = self.scoring();
        self.for_each_block(candidates, |part, scores, truth| {
            let combine = |choice: &Choice| self.combined(choice, candidates, &scores);
            if let Some(choice) = crossed.get(part)
                && let Some(scores) = combine(choice)?
            {
                scoring.add(truth.view(), scores.view())?;
            }
            if rule.is_some()
                && let Some(scores) = combine(choice)?
            {
                scores_of_choice.push(scores);
            }
            Ok(())
        })?;
        Ok(Judged {
            score: if crossed.is_empty() {
                f64::NAN
            } else {
                scoring.value()?
            },
            thresholds: rule
                .map(|rule| {
                    let views: Vec<_> = scores_of_choice.iter().map(Array2::view).collect();
                    let scores = concatenate(Axis(0), &views).expect("blocks have a column for each output");
                    let truth = self.withheld_outputs();
                    for_labels(labels, scores.view(), truth.view(), |scores, truth| {
                        Ok(find(rule, scores, truth)?)
                    })
                })
                .transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;
    use ndarray::s;
    use rpo_core::Predictor;
    use rpo_core::Seed;
    use rpo_data::Dataset;
    use rpo_metrics::{Evaluation, EvaluationOptions, Metric, Score};

    fn numbers(seed: u64) -> Dataset {
        let unit = |i: usize, j: usize| {
            (Seed::new(seed).child(i as u64).hash(j as u64) >> 40) as f32 / (1 << 24) as f32
        };
        let x = Array2::from_shape_fn((60, 3), |(i, j)| unit(i, j));
        let y = Array2::from_shape_fn((60, 2), |(i, j)| x[[i, j]] * 5.0 + unit(i, 7 + j));
        Dataset::new(x.into(), y.into(), Task::Regression).unwrap()
    }

    fn models() -> Vec<Model> {
        let train = numbers(1);
        let methods = [
            "ridge",
            "extra-trees --trees 2",
            "random-forest --trees 3 --max-depth 2",
        ];
        let fit = |text: &&str| Model::fit(&text.parse::<Method>().unwrap(), &train).unwrap();
        methods.iter().map(fit).collect()
    }

    /// The printed score, computed by hand: each part is scored with weights from the others.
    #[test]
    fn a_score_is_of_samples_that_had_no_part_in_the_weights() {
        let (withheld, models) = (numbers(2), models());
        let pool = Pool::of_models(&withheld, &models).unwrap();
        let (grams, all) = (pool.grams().unwrap(), [0, 1, 2]);
        let rule = CombineRule::Greedy;
        let choice = pool.choose(rule, &grams, &all).unwrap();
        let judged = pool.judge(rule, &grams, &all, &choice, None).unwrap();
        let x = withheld.features().view();
        let scores: Vec<Array2<f32>> = models.iter().map(|model| model.predict(x).unwrap()).collect();
        let mut combined = Array2::<f32>::zeros((60, 2));
        for part in 0..4 {
            let others: Vec<usize> = (0..4).filter(|other| *other != part).collect();
            let weights = rule.weights(&grams.on(&others, &all).0);
            for (scores, weight) in scores.iter().zip(weights) {
                let rows = s![part..;4, ..];
                combined
                    .slice_mut(rows)
                    .scaled_add(weight as f32, &scores.slice(rows));
            }
        }
        let evaluation = Evaluation::new(
            withheld.outputs().view(),
            combined.view(),
            EvaluationOptions::default(),
        );
        let expected = Metric::R2.evaluate(&evaluation).unwrap();
        assert!(
            (judged.score - expected).abs() < 1e-6,
            "{} {expected}",
            judged.score
        );
    }

    /// On withheld samples with another mean, a stack is judged by the predictions that the ensemble will make.
    #[test]
    fn a_stack_is_judged_by_its_predictions() {
        let models = models();
        let withheld = numbers(2);
        let shifted = withheld.outputs().view().to_dense(usize::MAX).unwrap() + 3.0;
        let shifted = Dataset::new(withheld.features().clone(), shifted.into(), Task::Regression).unwrap();
        let pool = Pool::of_models(&shifted, &models).unwrap();
        let (grams, all) = (pool.grams().unwrap(), [0, 1, 2]);
        let choice = pool.choose(CombineRule::Stack, &grams, &all).unwrap();
        let means = pool.means();
        let model = Model::combine_on(&models, CombineRule::Stack, &shifted).unwrap();
        let x = withheld.features().view();
        let scores = models
            .iter()
            .map(|model| model.predict(x))
            .zip(choice.weights.iter().copied());
        let judged = choice.link.combine(scores, &means, &[]).unwrap().unwrap();
        let predicted = model.predict(x).unwrap();
        assert!((judged - predicted).iter().all(|v| v.abs() < 1e-4));
    }

    /// Changing the truth of a part does not change the weights that its samples are scored with.
    #[test]
    fn the_truth_of_a_part_does_not_reach_its_weights() {
        let withheld = numbers(2);
        let mut y = withheld.outputs().view().to_dense(usize::MAX).unwrap();
        y.slice_mut(s![1..;4, ..]).mapv_inplace(|v| 5.0 - v);
        let changed = Dataset::new(withheld.features().clone(), y.into(), Task::Regression).unwrap();
        let weights = |data: &Dataset, parts: &[usize]| {
            let mut pool = Pool::of_models(data, &models()).unwrap();
            // In the units of the original data.
            pool.in_units_of(&withheld);
            let grams = pool.grams().unwrap();
            pool.choose_on(CombineRule::Nnls, &grams, &[0, 1, 2], parts)
                .unwrap()
                .weights
        };
        assert_eq!(weights(&withheld, &[0, 2, 3]), weights(&changed, &[0, 2, 3]));
        assert_ne!(weights(&withheld, &[0, 1, 2]), weights(&changed, &[0, 1, 2]));
    }

    /// The mean of a good member and two bad ones is worse than the good one.
    #[test]
    fn a_member_that_is_better_than_the_combination_is_chosen_alone() {
        let (withheld, models) = (numbers(2), models());
        let pool = Pool::of_models(&withheld, &models).unwrap();
        let (grams, all) = (pool.grams().unwrap(), [0, 1, 2]);
        let best = all
            .into_iter()
            .max_by(|a, b| pool.score(*a).total_cmp(&pool.score(*b)))
            .unwrap();
        let chosen = pool.choose_best(CombineRule::Mean, &grams, &all).unwrap();
        assert_eq!(
            chosen.members().map(|(index, _)| index).collect::<Vec<_>>(),
            [best]
        );
        let stack = pool.choose_best(CombineRule::Nnls, &grams, &all).unwrap();
        assert_eq!(stack, pool.choose(CombineRule::Nnls, &grams, &all).unwrap());
    }
}

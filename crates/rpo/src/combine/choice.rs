//! Chooses the weights of candidates, and evaluates the choice on samples that were not used for it.

use super::scoring::ScoringByPart;
use super::{CombineRule, Ensemble, Grams, Link, Pool, Selection, Weight};
use crate::blocks::dense_bytes;
use crate::decision::thresholds_of_labels;
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
    /// A candidate scores higher alone than all with weights.
    pub(crate) is_better_alone: bool,
}

/// The choice on all withheld samples, and those that score it: on all but those of each part.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Crossed {
    pub(crate) choice: Choice,
    /// Empty if there is only one part.
    without: Vec<Choice>,
}

/// How weights are chosen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chooser {
    pub(crate) rule: CombineRule,
    /// Takes the best candidate alone if its score is above that of the combination on every part: rules minimize errors
    /// over all outputs together, and scores may be about something else, such as the order of the labels of a sample.
    /// On one of four parts, a candidate may be better by chance.
    pub(crate) or_best: bool,
}

impl Choice {
    /// One candidate alone.
    fn only(candidate: usize, n_candidates: usize) -> Self {
        let mut weights = vec![Weight::default(); n_candidates];
        weights[candidate] = Weight::same(1.0);
        Self {
            link: Link::Mean,
            weights,
            is_better_alone: true,
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

    /// Chooses the weights of some candidates.
    ///
    /// # Errors
    /// Rules that do not apply to what the candidates predict.
    pub(crate) fn choose(
        &self,
        chooser: Chooser,
        grams: &Grams,
        candidates: &[usize],
    ) -> Result<Choice, ModelError> {
        let all = (0..self.n_parts()).collect();
        let chosen = self.choose_each(chooser, grams, candidates, vec![all])?;
        Ok(chosen
            .into_iter()
            .next()
            .expect("one choice for one set of parts"))
    }

    /// As [`choose`](Self::choose), for a choice that is then [judged](Self::judge).
    pub(crate) fn choose_crossed(
        &self,
        chooser: Chooser,
        grams: &Grams,
        candidates: &[usize],
    ) -> Result<Crossed, ModelError> {
        let n_parts = self.n_parts();
        let others = |part: usize| (0..n_parts).filter(|&other| other != part).collect();
        let mut sets = vec![(0..n_parts).collect()];
        if n_parts > 1 {
            sets.extend((0..n_parts).map(others));
        }
        let mut chosen = self.choose_each(chooser, grams, candidates, sets)?.into_iter();
        Ok(Crossed {
            choice: chosen.next().expect("the first one is that on all parts"),
            without: chosen.collect(),
        })
    }

    /// Chooses the weights on each of several sets of parts.
    fn choose_each(
        &self,
        Chooser { rule, or_best }: Chooser,
        grams: &Grams,
        candidates: &[usize],
        sets: Vec<Vec<usize>>,
    ) -> Result<Vec<Choice>, ModelError> {
        let mut choices = match (rule, self.task()) {
            (CombineRule::Stack, Task::MultiLabel) => {
                let stacked = self.stack(candidates, &sets)?.into_iter();
                let choice = |(weights, intercept): (Vec<f64>, f64)| {
                    self.choice(Link::LogOdds { intercept }, candidates, &weights, None)
                };
                stacked.map(choice).collect()
            }
            _ => {
                let on = |parts: &Vec<usize>| self.choose_on(rule, grams, candidates, parts);
                sets.iter().map(on).collect::<Result<Vec<_>, _>>()?
            }
        };
        // A single candidate with all of the weight is no worse alone.
        let is_alone = |choice: &Choice| match (candidates, choice.link) {
            (&[only], Link::Mean) => choice.weights[only] == Weight::same(1.0),
            _ => false,
        };
        if or_best && !choices.iter().all(is_alone) {
            let scores = self.scores_on_parts(&choices, &sets, candidates)?;
            for ((choice, scores), parts) in choices.iter_mut().zip(scores).zip(sets) {
                if let Some(candidate) = self.better_alone(candidates, &scores, &parts) {
                    *choice = Choice::only(candidate, self.n_candidates());
                }
            }
        }
        Ok(choices)
    }

    /// Finds the weights on the samples of some parts, except those of stacked labels.
    fn choose_on(
        &self,
        rule: CombineRule,
        grams: &Grams,
        candidates: &[usize],
        parts: &[usize],
    ) -> Result<Choice, ModelError> {
        if !self.levels().is_empty() {
            let found = self.weights_of_quantiles(rule, candidates, parts)?;
            return Ok(self.choice(Link::Mean, candidates, &found, None));
        }
        let link = match rule {
            CombineRule::Stack => Link::Distances,
            _ => Link::Mean,
        };
        let (of_outputs, of_labels) = grams.on(parts, candidates);
        let of_labels = of_labels.as_ref().map(|gram| rule.weights(gram));
        Ok(self.choice(link, candidates, &rule.weights(&of_outputs), of_labels.as_deref()))
    }

    /// The choice with these weights of some candidates.
    fn choice(
        &self,
        link: Link,
        candidates: &[usize],
        of_outputs: &[f64],
        of_labels: Option<&[f64]>,
    ) -> Choice {
        let mut weights = vec![Weight::default(); self.n_candidates()];
        for (place, &candidate) in candidates.iter().enumerate() {
            weights[candidate] = Weight {
                of_outputs: of_outputs[place],
                of_labels: of_labels.map(|found| found[place]),
            };
        }
        Choice {
            link,
            weights,
            is_better_alone: false,
        }
    }

    /// The best of some candidates on some parts, if it is better on each of them than a combination with these scores.
    fn better_alone(&self, candidates: &[usize], scores: &[f64], parts: &[usize]) -> Option<usize> {
        let sum = |candidate: &usize| {
            let of_part = self.scores_of_parts(*candidate);
            parts.iter().map(|&part| of_part[part]).sum::<f64>()
        };
        let best = candidates
            .iter()
            .reduce(|best, next| if sum(next) > sum(best) { next } else { best })?;
        let of_best = self.scores_of_parts(*best);
        let is_better = parts.iter().all(|&part| of_best[part] > scores[part]);
        (is_better && !parts.is_empty()).then_some(*best)
    }

    /// The score of each choice on each part of its set; NaN or nothing for others.
    fn scores_on_parts(
        &self,
        choices: &[Choice],
        sets: &[Vec<usize>],
        candidates: &[usize],
    ) -> Result<Vec<Vec<f64>>, ModelError> {
        let mut by_part: Vec<_> = choices.iter().map(|_| self.scoring_by_part()).collect();
        self.for_each_block(candidates, |part, scores, truth| {
            for ((choice, set), scoring) in choices.iter().zip(sets).zip(&mut by_part) {
                if set.contains(&part)
                    && let Some(scores) = self.combined(choice, candidates, &scores)?
                {
                    scoring.add(part, truth.view(), scores.view())?;
                }
            }
            Ok(())
        })?;
        let finished = by_part.into_iter().map(ScoringByPart::finish);
        finished.map(|scores| Ok(scores?.0)).collect()
    }

    /// The combined scores of candidates.
    fn combined(
        &self,
        choice: &Choice,
        candidates: &[usize],
        scores: &[Array2<f32>],
    ) -> Result<Option<Array2<f32>>, ModelError> {
        let weights = candidates.iter().map(|&candidate| choice.weights[candidate]);
        let members = scores.iter().zip(weights);
        let members = members.filter(|(_, weight)| weight.size() != 0.0);
        let members = members.map(|(scores, weight)| (Ok::<_, ModelError>(scores.clone()), weight));
        choice
            .link
            .combine(members, &self.means(), self.declared().labels())
    }

    /// Evaluates a choice among candidates: the samples of each part are scored with the weights found without them;
    /// thresholds are those of the choice on all samples.
    ///
    /// # Errors
    /// None beyond those of scoring the candidates.
    pub(crate) fn judge(
        &self,
        Crossed { choice, without }: &Crossed,
        candidates: &[usize],
        thresholds: Option<ThresholdRule>,
    ) -> Result<Judged, ModelError> {
        let fits = dense_bytes(self.n_scored(), self.n_outputs()) <= DEFAULT_MEMORY_LIMIT / 4;
        let labels = self.kinds().single_labels();
        let rule = thresholds.filter(|_| fits && !labels.is_empty());
        let mut scores_of_choice = Vec::new();
        let mut scoring = self.scoring();
        self.for_each_block(candidates, |part, scores, truth| {
            let combine = |choice: &Choice| self.combined(choice, candidates, &scores);
            if let Some(choice) = without.get(part)
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
            score: if without.is_empty() {
                f64::NAN
            } else {
                scoring.value()?
            },
            thresholds: rule
                .map(|rule| {
                    let views: Vec<_> = scores_of_choice.iter().map(Array2::view).collect();
                    let scores = concatenate(Axis(0), &views).expect("blocks have a column for each output");
                    let truth = self.withheld_outputs();
                    thresholds_of_labels(&labels, scores.view(), truth.view(), |scores, truth| {
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
        let chooser = Chooser { rule, or_best: false };
        let chosen = pool.choose_crossed(chooser, &grams, &all).unwrap();
        let judged = pool.judge(&chosen, &all, None).unwrap();
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
        let chooser = Chooser {
            rule: CombineRule::Stack,
            or_best: false,
        };
        let choice = pool.choose(chooser, &grams, &all).unwrap();
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
        let choose = |rule, or_best| {
            let chooser = Chooser { rule, or_best };
            pool.choose(chooser, &grams, &all).unwrap()
        };
        let chosen = choose(CombineRule::Mean, true);
        let members: Vec<usize> = chosen.members().map(|(index, _)| index).collect();
        assert_eq!(members, [best]);
        assert_eq!(choose(CombineRule::Nnls, true), choose(CombineRule::Nnls, false));
    }

    /// A candidate that is better on three of four parts is not preferred.
    #[test]
    fn one_part_speaks_against_a_member_alone() {
        let (withheld, models) = (numbers(2), models());
        let pool = Pool::of_models(&withheld, &models).unwrap();
        let best = pool.better_alone(&[0, 1, 2], &[f64::NEG_INFINITY; 4], &[0, 1, 2, 3]);
        let of_best = pool.scores_of_parts(best.unwrap()).to_vec();
        for part in 0..4 {
            let mut scores = [f64::NEG_INFINITY; 4];
            scores[part] = of_best[part];
            assert_eq!(pool.better_alone(&[0, 1, 2], &scores, &[0, 1, 2, 3]), None);
            scores[part] = f64::NAN;
            assert_eq!(pool.better_alone(&[0, 1, 2], &scores, &[0, 1, 2, 3]), None);
        }
    }
}

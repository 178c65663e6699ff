//! Candidate members of an ensemble, and their predictions for samples that they were not fitted to.

use super::Limits;
use super::scoring::{Scoring, ScoringByPart};
use crate::blocks::dense_bytes;
use crate::evaluate::{OutputKinds, default_metric, fit_without_test};
use crate::method::{Estimator, FitContext};
use crate::{Model, ModelError};
use ndarray::{Array2, Axis, concatenate, s};
use rayon::prelude::*;
use rpo_core::{Matrix, MatrixView, Mismatch, Predictor, Seed};
use rpo_data::split::{Split, SplitError, Withheld};
use rpo_data::{Dataset, Moments, Task};
use rpo_metrics::Metric;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

/// Number of scores per block and member.
const BLOCK: usize = 1 << 20;
/// Bytes of scores up to which more are kept. Other scores are predicted again when needed, but those that are computed
/// for all samples at once are always kept.
const KEPT: usize = 128 << 20;
/// Largest size in bytes of scores that are computed for all samples at once: out of bag, or leaving one out.
const MOST_AT_ONCE: usize = 64 << 20;
/// Number of trees from which out-of-bag predictions replace out-of-fold predictions: about a third of the trees
/// predict each sample.
const OOB_TREES: usize = 100;
/// Number of parts into which withheld samples are split, so that each is scored with weights found on the others.
const PARTS: usize = 4;

/// Splits of the samples into training and withheld ones: those of folds, or a single one.
#[derive(Debug, Clone)]
pub(crate) struct Splits {
    splits: Vec<Split>,
}

impl Splits {
    /// `k` folds, each withheld once.
    pub(crate) fn new(data: &Dataset, k: usize, seed: Seed) -> Result<Self, SplitError> {
        let splits = Split::folds(data, &Withheld::Stratified, k, seed)?;
        Ok(Self { splits })
    }

    /// A single split that withholds a fraction of the samples.
    pub(crate) fn withheld(data: &Dataset, fraction: f64, seed: Seed) -> Result<Self, SplitError> {
        let splits = vec![Split::withholding(data, &Withheld::Stratified, fraction, seed)?];
        Ok(Self { splits })
    }

    /// The number of samples fitted, summed over the splits, divided by the number of samples.
    pub(crate) fn cost(&self) -> f64 {
        let fitted = self.splits.iter().map(|split| split.train.len());
        let all = |split: &Split| split.train.len() + split.test.len();
        fitted.sum::<usize>() as f64 / self.splits.first().map_or(1, all) as f64
    }
}

/// Withheld samples that are scored together: those of a fold, or a subset of them if there is only one fold.
struct Part {
    fold: usize,
    samples: Vec<usize>,
}

/// A candidate with its models.
struct Tried {
    /// One model per fold.
    models: Vec<Model>,
    /// The scores of each part.
    kept: Option<Vec<Array2<f32>>>,
    /// The model of all samples, if there is one.
    whole: Option<Model>,
    score: f64,
    /// The score on each part.
    scores_of_parts: Vec<f64>,
    /// Wall-clock seconds in which the withheld samples were predicted, which is done again for scores that are not
    /// kept, and in which the predictions were scored.
    predicting: f64,
    scoring: f64,
}

impl Tried {
    /// A candidate without models, before it is scored.
    fn unscored() -> Self {
        Self {
            models: Vec::new(),
            kept: None,
            whole: None,
            score: f64::NAN,
            scores_of_parts: Vec::new(),
            predicting: 0.0,
            scoring: 0.0,
        }
    }
}

/// Candidates for an ensemble, all with the same samples and folds.
pub(crate) struct Pool<'a> {
    data: &'a Dataset,
    splits: Vec<Split>,
    parts: Vec<Part>,
    /// For regression, the mean of each output and the inverse of its standard deviation.
    units: Option<Vec<(f32, f32)>>,
    /// Which outputs are scored as labels.
    kinds: OutputKinds,
    /// Which outputs the data declare to be labels, whatever members make of them: beside numbers, they have their own
    /// weights.
    declared: OutputKinds,
    /// Quantile levels that the candidates predict, for each target in turn; empty if they predict none.
    levels: Vec<f64>,
    /// Limits of the predictions of the ensemble.
    pub(super) limits: Limits,
    /// Limits of the predictions of each fold's models, from the samples they were fitted to.
    fold_limits: Vec<Limits>,
    tried: Vec<Tried>,
    kept_bytes: usize,
}

impl<'a> Pool<'a> {
    /// Creates a pool for methods that are fitted with some samples withheld.
    pub(crate) fn new(data: &'a Dataset, Splits { splits }: Splits) -> Self {
        let parts = match splits.as_slice() {
            [only] => parts_of(&only.test, data),
            folds => {
                let part = |(fold, split): (usize, &Split)| Part {
                    fold,
                    samples: split.test.clone(),
                };
                folds.iter().enumerate().map(part).collect()
            }
        };
        let of_fold = |split: &Split| Limits::of_samples(data, split.train.iter().copied());
        let fold_limits = splits.iter().map(of_fold).collect();
        Self::of_parts(data, splits, parts, Limits::of(data), fold_limits)
    }

    /// Creates a pool of models that were fitted to other samples. Predictions of numbers are compared as differences
    /// from the mean of the training samples, as an ensemble of these models combines them.
    pub(crate) fn of_models(data: &'a Dataset, models: &[Model]) -> Result<Self, ModelError> {
        let samples: Vec<usize> = (0..data.n_samples()).collect();
        let limits = models.first().map_or(Limits::None, Limits::of_model);
        let of_fold = vec![limits.clone()];
        let mut pool = Self::of_parts(data, Vec::new(), parts_of(&samples, data), limits, of_fold);
        if let (Some(units), Some(first)) = (&mut pool.units, models.first()) {
            pool.kinds = OutputKinds::of_model(first);
            pool.declared = OutputKinds::declared_by(first.schema());
            for ((mean, _), of_training) in units.iter_mut().zip(first.training().output_means()) {
                *mean = of_training as f32;
            }
        }
        for model in models {
            pool.assess(Tried {
                models: vec![model.clone()],
                ..Tried::unscored()
            })?;
        }
        Ok(pool)
    }

    fn of_parts(
        data: &'a Dataset,
        splits: Vec<Split>,
        parts: Vec<Part>,
        limits: Limits,
        fold_limits: Vec<Limits>,
    ) -> Self {
        Self {
            units: (data.task() == Task::Regression).then(|| units(data)),
            kinds: OutputKinds::of(data),
            declared: OutputKinds::of(data),
            levels: Vec::new(),
            limits,
            fold_limits,
            data,
            splits,
            parts,
            tried: Vec::new(),
            kept_bytes: 0,
        }
    }

    /// Scales outputs by the units of other data.
    #[cfg(test)]
    pub(super) fn in_units_of(&mut self, data: &Dataset) {
        self.units = Some(units(data));
    }

    pub(super) fn task(&self) -> Task {
        self.data.task()
    }

    pub(crate) fn n_candidates(&self) -> usize {
        self.tried.len()
    }

    pub(super) fn n_parts(&self) -> usize {
        self.parts.len()
    }

    /// Number of withheld samples.
    pub(super) fn n_scored(&self) -> usize {
        self.parts.iter().map(|part| part.samples.len()).sum()
    }

    pub(super) fn n_outputs(&self) -> usize {
        self.data.n_outputs()
    }

    /// The withheld samples, in the order of the blocks.
    fn withheld(&self) -> Vec<usize> {
        let samples = self.parts.iter().flat_map(|part| part.samples.iter().copied());
        samples.collect()
    }

    /// The outputs of the withheld samples.
    pub(super) fn withheld_outputs(&self) -> Matrix {
        self.data.outputs().view().select_rows(&self.withheld())
    }

    /// Which outputs are scored as labels.
    pub(super) fn kinds(&self) -> &OutputKinds {
        &self.kinds
    }

    /// Which outputs the data declare to be labels.
    pub(super) fn declared(&self) -> &OutputKinds {
        &self.declared
    }

    /// The mean of each output.
    pub(super) fn means(&self) -> Vec<f64> {
        let means = |units: &Vec<(f32, f32)>| units.iter().map(|(mean, _)| f64::from(*mean)).collect();
        self.units.as_ref().map(means).unwrap_or_default()
    }

    /// The inverse of each output's standard deviation.
    pub(super) fn unit_factors(&self) -> Vec<f64> {
        let factors = |units: &Vec<(f32, f32)>| units.iter().map(|(_, factor)| f64::from(*factor)).collect();
        self.units.as_ref().map(factors).unwrap_or_default()
    }

    /// Quantile levels that the candidates predict; empty if they predict none.
    pub(super) fn levels(&self) -> &[f64] {
        &self.levels
    }

    /// The metric of candidates and ensembles.
    pub(crate) fn metric(&self) -> Metric {
        default_metric(self.task(), self.n_outputs(), self.levels())
    }

    /// Begins to score predictions by this metric.
    pub(super) fn scoring(&self) -> Scoring {
        Scoring::new(self.data, &self.kinds, self.levels())
    }

    /// Begins to score predictions for the blocks of one part after the other.
    pub(super) fn scoring_by_part(&self) -> ScoringByPart {
        ScoringByPart::new(self.scoring())
    }

    /// Returns true if the candidate already has a model of all samples.
    pub(crate) fn is_whole(&self, candidate: usize) -> bool {
        self.tried[candidate].whole.is_some()
    }

    /// Fits a method with the samples of each fold withheld and returns the score on them, by the [default
    /// metric](default_metric). A method is fitted only once if a single fit to all samples predicts each sample without
    /// it, as forests do out of bag and ridge regression by leverages; not for samples of groups, whose other samples
    /// this fit has seen.
    ///
    /// # Errors
    /// Errors of fitting and scoring; the pool is then unchanged.
    pub(crate) fn add(
        &mut self,
        estimator: &dyn Estimator,
        context: &FitContext<'_>,
    ) -> Result<f64, ModelError> {
        let mut tried = Tried::unscored();
        let suffices = |n_samples: usize| {
            self.data.groups().is_none() && dense_bytes(n_samples, self.data.n_outputs()) <= MOST_AT_ONCE
        };
        if estimator.has_oob() && estimator.n_steps() >= OOB_TREES && suffices(self.data.n_samples()) {
            let model = Model::fit_with(estimator, self.data, context)?;
            tried.kept = self.out_of_bag(&model)?;
            tried.whole = Some(model);
        } else if suffices(self.n_scored()) {
            let samples = self.withheld();
            let fitted = Model::fit_leaving_one_out(estimator, self.data, context, &samples)?;
            (tried.whole, tried.kept) = fitted
                .map(|(model, scores)| (model, self.in_parts(&samples, scores)))
                .unzip();
        }
        if tried.kept.is_none() {
            // Folds run in parallel because they are small sets, on which many methods do not use all threads.
            let folds = self.splits.par_iter();
            let models = folds.map(|split| fit_without_test(estimator, self.data, split, context));
            tried.models = models.collect::<Result<_, _>>()?;
        }
        // A method may predict several quantile levels of each output.
        for model in tried.models.iter().chain(&tried.whole) {
            if model.quantile_levels().len() > 1 && model.n_outputs() != self.n_outputs() {
                return Err(ModelError::MemberOfLevels);
            }
            Mismatch::check("outputs of a member", self.n_outputs(), model.n_outputs())?;
        }
        self.assess(tried)
    }

    /// The out-of-bag scores of the withheld samples; `None` if some sample is in the bag of every tree.
    fn out_of_bag(&self, model: &Model) -> Result<Option<Vec<Array2<f32>>>, ModelError> {
        let Some((scores, counts)) = model.oob_predictions(self.data.features().view())? else {
            return Ok(None);
        };
        let samples = self.withheld();
        if samples.iter().any(|&sample| counts[sample] == 0) {
            return Ok(None);
        }
        Ok(Some(self.in_parts(&samples, scores.select(Axis(0), &samples))))
    }

    /// Limits the scores of the withheld samples, each made without the sample, and splits them by part.
    fn in_parts(&self, samples: &[usize], scores: Array2<f32>) -> Vec<Array2<f32>> {
        let scores = Limits::apply_to_left_out(self.data, samples, scores);
        let mut start = 0;
        let of_part = |part: &Part| {
            let rows = start..start + part.samples.len();
            start = rows.end;
            scores.slice(s![rows, ..]).to_owned()
        };
        self.parts.iter().map(of_part).collect()
    }

    /// Scores a candidate and adds it to the pool, keeping its scores if there is room.
    fn assess(&mut self, mut tried: Tried) -> Result<f64, ModelError> {
        let models = tried.models.iter().chain(&tried.whole);
        let levels = models.map(Model::quantile_levels).next().unwrap_or_default();
        match self.tried.is_empty() {
            true => self.levels = levels.to_vec(),
            false => ModelError::check_levels(&self.levels, levels)?,
        }
        let bytes = dense_bytes(self.n_scored(), self.data.n_outputs());
        let keeps = tried.kept.is_none() && self.kept_bytes.saturating_add(bytes) <= KEPT;
        let mut kept: Vec<Vec<Array2<f32>>> = self.parts.iter().map(|_| Vec::new()).collect();
        let mut by_part = self.scoring_by_part().with_whole();
        for block in self.blocks() {
            let x = self.features(&block);
            let start = Instant::now();
            let scores = self.scores(&tried, &block, x.view())?;
            let predicted = Instant::now();
            tried.predicting += (predicted - start).as_secs_f64();
            let truth = self.truth(&block);
            by_part.add(block.part, truth.view(), scores.view())?;
            tried.scoring += predicted.elapsed().as_secs_f64();
            if keeps {
                kept[block.part].push(scores);
            }
        }
        if keeps {
            let joined = kept.iter().map(|blocks| {
                let views: Vec<_> = blocks.iter().map(Array2::view).collect();
                concatenate(Axis(0), &views).expect("blocks have a column for each output")
            });
            tried.kept = Some(joined.collect());
        }
        if tried.kept.is_some() {
            self.kept_bytes += bytes;
        }
        (tried.scores_of_parts, tried.score) = by_part.finish()?;
        let score = tried.score;
        self.tried.push(tried);
        Ok(score)
    }

    /// The models of a candidate, fitted to all samples: the existing model, or one per estimator.
    pub(crate) fn fitted(
        &self,
        candidate: usize,
        estimators: &[Box<dyn Estimator>],
        context: &FitContext<'_>,
    ) -> Result<Vec<Model>, ModelError> {
        match &self.tried[candidate].whole {
            Some(model) => Ok(vec![model.clone()]),
            None => estimators
                .par_iter()
                .map(|estimator| Model::fit_with(estimator.as_ref(), self.data, context))
                .collect(),
        }
    }

    /// The models of a candidate that were each fitted without the samples of one fold; empty for a candidate with a
    /// model of all samples.
    pub(crate) fn of_folds(&self, candidate: usize) -> &[Model] {
        &self.tried[candidate].models
    }

    /// The expected wall-clock seconds of choosing among the candidates: they are predicted for inner products and for
    /// the scores of the combinations that are chosen on all parts and without each of them.
    pub(crate) fn seconds_to_choose(&self) -> f64 {
        match self.tried.len() {
            ..2 => 0.0,
            _ => 2.0 * self.seconds_to_predict() + (1 + self.parts.len()) as f64 * self.seconds_to_score(),
        }
    }

    /// The expected wall-clock seconds of [judging](Self::judge) a choice: the combination is scored, and its
    /// thresholds are found in about the same time.
    pub(crate) fn seconds_to_judge(&self) -> f64 {
        self.seconds_to_predict() + 2.0 * self.seconds_to_score()
    }

    /// The expected seconds of one pass over the predictions of all candidates.
    fn seconds_to_predict(&self) -> f64 {
        let again = self.tried.iter().filter(|tried| tried.kept.is_none());
        again.map(|tried| tried.predicting).sum()
    }

    fn seconds_to_score(&self) -> f64 {
        self.tried.iter().map(|tried| tried.scoring).fold(0.0, f64::max)
    }

    /// The individual score of a candidate on the withheld samples.
    pub(crate) fn score(&self, candidate: usize) -> f64 {
        self.tried[candidate].score
    }

    /// The scores of a candidate on each part.
    pub(super) fn scores_of_parts(&self, candidate: usize) -> &[f64] {
        &self.tried[candidate].scores_of_parts
    }

    fn blocks(&self) -> impl Iterator<Item = Block> + use<> {
        let size = (BLOCK / self.data.n_outputs().max(1)).max(1);
        let lengths: Vec<usize> = self.parts.iter().map(|part| part.samples.len()).collect();
        lengths.into_iter().enumerate().flat_map(move |(part, n)| {
            let rows = move |start: usize| start..n.min(start + size);
            (0..n).step_by(size).map(move |start| Block {
                part,
                rows: rows(start),
            })
        })
    }

    fn features(&self, block: &Block) -> Matrix {
        let samples = &self.parts[block.part].samples[block.rows.clone()];
        self.data.features().view().select_rows(samples)
    }

    fn truth(&self, block: &Block) -> Matrix {
        let samples = &self.parts[block.part].samples[block.rows.clone()];
        self.data.outputs().view().select_rows(samples)
    }

    /// The scores of a candidate for the samples of a block with features `x`.
    fn scores(&self, tried: &Tried, block: &Block, x: MatrixView<'_>) -> Result<Array2<f32>, ModelError> {
        if let Some(kept) = &tried.kept {
            return Ok(kept[block.part].slice(s![block.rows.clone(), ..]).to_owned());
        }
        let fold = self.parts[block.part].fold;
        let scores = tried.models[fold].predict_with_limit(x, usize::MAX)?;
        Ok(self.fold_limits[fold].apply(scores))
    }

    /// Calls `f(part, scores of each candidate, truth)` for the withheld samples, block by block.
    pub(super) fn for_each_block(
        &self,
        candidates: &[usize],
        f: impl FnMut(usize, Vec<Array2<f32>>, Matrix) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        self.for_each_block_of(candidates, |_| true, f)
    }

    /// Like [`for_each_block`](Self::for_each_block), of the parts for which `parts` returns true: nothing is predicted
    /// for others.
    pub(super) fn for_each_block_of(
        &self,
        candidates: &[usize],
        parts: impl Fn(usize) -> bool,
        mut f: impl FnMut(usize, Vec<Array2<f32>>, Matrix) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        for block in self.blocks().filter(|block| parts(block.part)) {
            let x = self.features(&block);
            let scores = candidates
                .iter()
                .map(|&candidate| self.scores(&self.tried[candidate], &block, x.view()));
            f(block.part, scores.collect::<Result<_, _>>()?, self.truth(&block))?;
        }
        Ok(())
    }

    /// Replaces numbers by their distances from the output's mean in units of its standard deviation.
    pub(super) fn in_units(&self, values: &mut Array2<f32>) {
        let Some(units) = &self.units else { return };
        for mut row in values.rows_mut() {
            let pairs = row.iter_mut().zip(units);
            pairs.for_each(|(value, (mean, factor))| *value = (*value - mean) * factor);
        }
    }
}

/// Samples that are scored together.
struct Block {
    part: usize,
    rows: Range<usize>,
}

/// Assigns samples, or groups of them, to parts in turn, so that neighbouring ones are in different parts.
fn parts_of(samples: &[usize], data: &Dataset) -> Vec<Part> {
    let mut turns = BTreeMap::new();
    let mut parts: Vec<Part> = Vec::new();
    for (position, &sample) in samples.iter().enumerate() {
        let turn = match data.groups() {
            None => position,
            Some(groups) => {
                let next = turns.len();
                *turns.entry(groups[sample]).or_insert(next)
            }
        };
        match parts.get_mut(turn % PARTS) {
            Some(part) => part.samples.push(sample),
            None => parts.push(Part {
                fold: 0,
                samples: vec![sample],
            }),
        }
    }
    parts
}

/// The mean of each output over its observed values and the inverse of its standard deviation, which is 0 for a
/// constant output.
fn units(data: &Dataset) -> Vec<(f32, f32)> {
    let unit = |moments: &Moments| match moments.deviation {
        deviation if deviation > 0.0 => (moments.mean as f32, deviation.recip() as f32),
        _ if moments.mean.is_nan() => (0.0, 0.0),
        _ => (moments.mean as f32, 0.0),
    };
    data.output_moments().iter().map(unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn data(n_samples: usize) -> Dataset {
        let values = || Array2::zeros((n_samples, 1)).into();
        Dataset::new(values(), values(), Task::Regression).unwrap()
    }

    fn found(samples: &[usize], data: &Dataset) -> Vec<Vec<usize>> {
        parts_of(samples, data)
            .into_iter()
            .map(|part| part.samples)
            .collect()
    }

    proptest! {
        /// Weights that a part is scored with are found on other groups.
        #[test]
        fn parts_do_not_share_groups(groups in prop::collection::vec(0_u32..7, 1..40), step in 1_usize..4) {
            let data = data(groups.len()).with_groups(groups.clone()).unwrap();
            let samples: Vec<usize> = (0..groups.len()).step_by(step).collect();
            let parts = found(&samples, &data);
            prop_assert_eq!(parts.len(), PARTS.min(data.select_samples(&samples).unwrap().n_groups()));
            for (k, part) in parts.iter().enumerate() {
                prop_assert!(!part.is_empty());
                let others = parts.iter().enumerate().filter(|(other, _)| *other != k);
                let mut others = others.flat_map(|(_, samples)| samples);
                prop_assert!(others.all(|&j| part.iter().all(|&i| groups[i] != groups[j])));
            }
            let mut all = parts.concat();
            all.sort_unstable();
            prop_assert_eq!(all, samples);
        }
    }

    #[test]
    fn samples_without_groups_alternate() {
        let samples = [1, 2, 4, 5, 7, 8];
        assert_eq!(
            found(&samples, &data(9)),
            [vec![1, 7], vec![2, 8], vec![4], vec![5]]
        );
        assert_eq!(found(&[3], &data(9)), [[3]]);
    }
}

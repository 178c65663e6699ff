//! Scores of predictions for withheld samples, found block by block.

use crate::ModelError;
use crate::evaluate::{OutputKinds, default_metric};
use ndarray::{Array2, ArrayView2, Axis, concatenate};
use rpo_core::MatrixView;
use rpo_data::Dataset;
use rpo_metrics::{EmptySamples, LabelSets, Metric, MissingTruth, Ranking, ranking};
use std::mem;

/// Accumulates the score of predictions block by block, by the default metric.
#[derive(Clone)]
pub(super) enum Scoring {
    /// LRAP is a mean over samples.
    Lrap { sum: f64, n: usize },
    /// Other metrics need all predictions.
    Whole {
        metric: Metric,
        kinds: OutputKinds,
        blocks: Vec<(Array2<f32>, Array2<f32>)>,
        levels: Vec<f64>,
    },
}

impl Scoring {
    pub(super) fn new(data: &Dataset, kinds: &OutputKinds, levels: &[f64]) -> Self {
        match default_metric(data.task(), data.n_outputs(), levels) {
            Metric::Lrap => Self::Lrap { sum: 0.0, n: 0 },
            metric => Self::Whole {
                metric,
                kinds: kinds.clone(),
                blocks: Vec::new(),
                levels: levels.to_vec(),
            },
        }
    }

    pub(super) fn add(
        &mut self,
        truth: MatrixView<'_>,
        scores: ArrayView2<'_, f32>,
    ) -> Result<(), ModelError> {
        match self {
            Self::Lrap { sum, n } => {
                let truth = LabelSets::new(truth, MissingTruth::Skip)?;
                let mean = ranking(&truth, scores, Ranking::Lrap(EmptySamples::Skip))?;
                *sum += mean.sum();
                *n += mean.n_used;
            }
            Self::Whole { blocks, .. } => {
                let truth = truth.to_dense(usize::MAX).expect("a block is small");
                blocks.push((truth, scores.to_owned()));
            }
        }
        Ok(())
    }

    /// Adds what was added to another one.
    fn take_in(&mut self, other: Self) {
        match (self, other) {
            (Self::Lrap { sum, n }, Self::Lrap { sum: more, n: others }) => {
                *sum += more;
                *n += others;
            }
            (Self::Whole { blocks, .. }, Self::Whole { blocks: more, .. }) => blocks.extend(more),
            _ => unreachable!("the parts of a set have one metric"),
        }
    }

    /// The score; NaN if undefined.
    pub(super) fn value(&self) -> Result<f64, ModelError> {
        match self {
            Self::Lrap { sum, n } => Ok(sum / *n as f64),
            Self::Whole {
                metric,
                kinds,
                blocks,
                levels,
            } => {
                if blocks.is_empty() {
                    return Ok(f64::NAN);
                }
                let (truth, scores): (Vec<_>, Vec<_>) = blocks
                    .iter()
                    .map(|(truth, scores)| (truth.view(), scores.view()))
                    .unzip();
                let join = |views: &[ArrayView2<'_, f32>]| {
                    concatenate(Axis(0), views).expect("blocks have a column for each output")
                };
                let (truth, scores) = (join(&truth), join(&scores));
                kinds.score(*metric, (&truth).into(), scores.view(), levels)
            }
        }
    }
}

/// Accumulates the score on each part, whose blocks follow each other, and that on all of them if it is requested.
pub(super) struct ScoringByPart {
    blank: Scoring,
    part: usize,
    /// Of the blocks of that part.
    scoring: Scoring,
    /// Of the parts before it.
    values: Vec<f64>,
    whole: Option<Scoring>,
}

impl ScoringByPart {
    pub(super) fn new(blank: Scoring) -> Self {
        Self {
            scoring: blank.clone(),
            blank,
            part: 0,
            values: Vec::new(),
            whole: None,
        }
    }

    /// Also for the score on all parts.
    pub(super) fn with_whole(mut self) -> Self {
        self.whole = Some(self.blank.clone());
        self
    }

    pub(super) fn add(
        &mut self,
        part: usize,
        truth: MatrixView<'_>,
        scores: ArrayView2<'_, f32>,
    ) -> Result<(), ModelError> {
        while self.part < part {
            self.finish_part()?;
        }
        self.scoring.add(truth, scores)
    }

    fn finish_part(&mut self) -> Result<(), ModelError> {
        let finished = mem::replace(&mut self.scoring, self.blank.clone());
        self.values.push(finished.value()?);
        self.part += 1;
        if let Some(whole) = &mut self.whole {
            whole.take_in(finished);
        }
        Ok(())
    }

    /// The scores on the parts and, if it is requested, on all of them; NaN where undefined.
    pub(super) fn finish(mut self) -> Result<(Vec<f64>, f64), ModelError> {
        self.finish_part()?;
        let whole = self.whole.map_or(Ok(f64::NAN), |whole| whole.value())?;
        Ok((self.values, whole))
    }
}

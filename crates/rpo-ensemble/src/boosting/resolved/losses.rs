//! The losses of the outputs.

use super::loss_shapes::loss_shapes;
use crate::boosting::link::check_custom;
use crate::boosting::loss::{Block, LossKind, Objective, OutputLoss};
use crate::boosting::options::BoostingOptions;
use crate::boosting::params::BoostingParams;
use crate::error::EnsembleError;
use crate::list::List;
use rpo_core::{Mismatch, ParameterError};
use std::sync::Arc;

/// Losses of the outputs: named losses or a custom one.
pub(in crate::boosting) struct LossChoice {
    /// The named losses; empty for a custom loss.
    kinds: Vec<LossKind>,
    /// One loss for all outputs, one per output, or one per level of each target.
    losses: Vec<OutputLoss>,
    arrangement: Arrangement,
    /// Sizes of the groups of the softmax loss; unless given, consecutive outputs of that loss form one group.
    groups: Option<Vec<usize>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Arrangement {
    Same,
    Each,
    Levels,
}

/// Returns true for a loss of labels or classes.
fn is_of_labels(kind: &LossKind) -> bool {
    matches!(kind, LossKind::Logistic | LossKind::Softmax)
}

impl LossChoice {
    /// Returns the losses that the parameters name, or the custom loss of the options.
    pub(super) fn new(
        params: &BoostingParams,
        options: &BoostingOptions<'_>,
    ) -> Result<Self, ParameterError> {
        if let Some(custom) = &options.loss {
            let reason = "cannot be combined with a custom loss";
            if let Some(losses) = &params.output_losses {
                return Err(ParameterError::conflict("output_losses", losses, reason));
            }
            if let Some(kind) = params.loss {
                return Err(ParameterError::conflict("loss", kind, reason));
            }
            check_custom(custom.inverse_link())?;
            loss_shapes(params, &[])?;
            return Ok(Self {
                kinds: Vec::new(),
                losses: vec![OutputLoss::Alone(Arc::clone(custom))],
                arrangement: Arrangement::Same,
                groups: None,
            });
        }
        let (kinds, arrangement) = match (&params.output_losses, params.loss) {
            (Some(losses), Some(_)) => {
                let reason = "takes the place of `loss`; set one of them";
                return Err(ParameterError::conflict("output_losses", losses, reason));
            }
            (Some(losses), None) => (losses.to_vec(), Arrangement::Each),
            (None, kind) => (vec![kind.unwrap_or(LossKind::Square)], Arrangement::Same),
        };
        let shapes = loss_shapes(params, &kinds)?;
        let groups = params.groups.as_ref().map(|groups| groups.to_vec());
        if shapes.len() > 1 {
            if kinds != [LossKind::Quantile] {
                let levels = params
                    .quantile
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                let reason = "has several levels, which need the quantile loss for all outputs";
                return Err(ParameterError::conflict("quantile", levels, reason));
            }
            let losses = shapes.into_iter().map(|shape| LossKind::Quantile.loss(shape));
            return Ok(Self {
                kinds,
                losses: losses.collect(),
                arrangement: Arrangement::Levels,
                groups,
            });
        }
        let losses = kinds.iter().map(|kind| kind.loss(shapes[0])).collect();
        Ok(Self {
            kinds,
            losses,
            arrangement,
            groups,
        })
    }

    /// Returns true if all outputs have the given loss.
    pub(in crate::boosting) fn is(&self, kind: LossKind) -> bool {
        !self.is_custom() && self.kinds.iter().all(|k| *k == kind)
    }

    pub(in crate::boosting) fn has(&self, kind: LossKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Returns true for a custom loss.
    pub(super) fn is_custom(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Returns true if the scores of all outputs are logarithms of means.
    pub(super) fn has_log_link(&self) -> bool {
        let is_log = |kind: &LossKind| matches!(kind, LossKind::Poisson | LossKind::Tweedie);
        !self.is_custom() && self.kinds.iter().all(is_log)
    }

    pub(super) fn has_curvature(&self) -> bool {
        self.losses.iter().all(OutputLoss::has_curvature)
    }

    pub(super) fn is_quadratic(&self) -> bool {
        self.losses.iter().all(OutputLoss::is_quadratic)
    }

    /// Returns true if residuals of an output have a unit.
    pub(super) fn has_unit(&self) -> bool {
        self.losses.iter().any(OutputLoss::has_unit)
    }

    pub(super) fn has_quadratic(&self) -> bool {
        self.losses.iter().any(OutputLoss::is_quadratic)
    }

    /// Returns the default of `max_leaves` for a number of samples. Labels, most of which are rare, are overfitted
    /// earlier than numbers, and counts and amounts earlier still: a leaf of few samples that are all 0 moves their means
    /// towards 0 by a factor in every step.
    pub(super) fn default_leaves(&self, n_samples: usize) -> usize {
        if self.has_log_link() {
            return (n_samples / 1000).clamp(4, 8);
        }
        let per_leaf = if self.kinds.is_empty() || self.is_of_labels() {
            200
        } else {
            100
        };
        (n_samples / per_leaf).clamp(8, 64)
    }

    /// Returns true if all outputs are labels or classes by their losses.
    pub(super) fn is_of_labels(&self) -> bool {
        !self.is_custom() && self.kinds.iter().all(is_of_labels)
    }

    /// Returns the number of labels and classes where all other outputs have the square loss; otherwise more than any.
    pub(super) fn n_labels_beside_numbers(&self) -> usize {
        let others = self.kinds.iter().filter(|kind| **kind != LossKind::Square);
        match self.arrangement == Arrangement::Each && others.clone().all(is_of_labels) {
            true => others.count(),
            false => usize::MAX,
        }
    }

    pub(super) fn has_common_scale(&self) -> bool {
        let mut scales = self.losses.iter().map(OutputLoss::natural_scale);
        scales.all(|scale| scale == self.losses[0].natural_scale())
    }

    /// Returns the number of outputs of the model for each target.
    pub(in crate::boosting) fn n_levels(&self) -> usize {
        match self.arrangement {
            Arrangement::Levels => self.losses.len(),
            Arrangement::Same | Arrangement::Each => 1,
        }
    }

    /// Returns the losses of `n_outputs` outputs, which include all levels of each target.
    pub(in crate::boosting) fn objective(&self, n_outputs: usize) -> Result<Objective, EnsembleError> {
        if self.arrangement == Arrangement::Each {
            Mismatch::check("outputs with `output_losses`", n_outputs, self.losses.len())?;
        }
        let mut sizes = self.groups.iter().flatten().copied();
        let mut blocks: Vec<Block> = Vec::new();
        let mut start = 0;
        while start < n_outputs {
            let loss = match self.arrangement {
                Arrangement::Same => &self.losses[0],
                Arrangement::Each => &self.losses[start],
                Arrangement::Levels => &self.losses[start % self.losses.len()],
            };
            let is_softmax = |j: usize| match self.arrangement {
                Arrangement::Each => matches!(self.losses[j], OutputLoss::Softmax),
                _ => matches!(loss, OutputLoss::Softmax),
            };
            let run = (start..n_outputs).take_while(|&j| is_softmax(j)).count();
            let n = match (loss, &self.groups) {
                (OutputLoss::Softmax, None) => run,
                (OutputLoss::Softmax, Some(groups)) => match sizes.next() {
                    Some(size) if size <= run => size,
                    _ => return Err(unfit_groups(groups)),
                },
                (OutputLoss::Alone(_), _) if self.arrangement == Arrangement::Same => n_outputs,
                (OutputLoss::Alone(_), _) => 1,
            };
            blocks.push(Block {
                outputs: start..start + n,
                loss: loss.clone(),
            });
            start += n;
        }
        match (sizes.next(), &self.groups) {
            (Some(_), Some(groups)) => Err(unfit_groups(groups)),
            _ => Ok(Objective::new(blocks, self.n_levels())),
        }
    }
}

fn unfit_groups(groups: &[usize]) -> EnsembleError {
    let reason = "must add up, group by group, to each run of consecutive outputs with the softmax loss";
    ParameterError::conflict("groups", List::<usize>::from(groups.to_vec()), reason).into()
}

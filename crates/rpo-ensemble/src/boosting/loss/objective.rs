//! The objective of a fit: the sum of the losses of all outputs.

use super::{Loss, Softmax};
use crate::boosting::link::LinkBlock;
use rpo_core::InverseLink;
use rpo_tree::criterion::LeafPenalty;
use std::ops::Range;
use std::sync::Arc;

/// The bounds of the steps of an output.
#[derive(Debug, Clone, Copy)]
pub(in crate::boosting) struct StepRule {
    /// Largest move of a score.
    pub(in crate::boosting) largest: f64,
    /// Penalty of the value of a leaf, for scores in the unit of the loss.
    pub(in crate::boosting) penalty: LeafPenalty,
}

/// Penalties of leaf values, for scores in their natural unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::boosting) struct Penalties {
    /// Penalty of outputs with a quadratic loss.
    pub(in crate::boosting) quadratic: LeafPenalty,
    pub(in crate::boosting) others: LeafPenalty,
}

/// The loss of an output, or of a group of outputs.
#[derive(Debug, Clone)]
pub(in crate::boosting) enum OutputLoss {
    /// A loss of each output separately.
    Alone(Arc<dyn Loss>),
    /// The softmax loss of a group of outputs of which each sample has exactly one.
    Softmax,
}

impl OutputLoss {
    pub(in crate::boosting) fn has_curvature(&self) -> bool {
        match self {
            Self::Alone(loss) => loss.curvature(0.0, 0.0).is_some(),
            Self::Softmax => true,
        }
    }

    pub(in crate::boosting) fn is_quadratic(&self) -> bool {
        matches!(self, Self::Alone(loss) if loss.is_quadratic())
    }

    pub(in crate::boosting) fn has_unit(&self) -> bool {
        matches!(self, Self::Alone(loss) if loss.has_unit())
    }

    pub(in crate::boosting) fn natural_scale(&self) -> f64 {
        match self {
            Self::Alone(loss) => loss.natural_scale(),
            Self::Softmax => 1.0,
        }
    }

    /// Returns the bounds of a step.
    fn rule(&self, penalties: Penalties) -> StepRule {
        let scale = self.natural_scale();
        let natural = match self.is_quadratic() {
            true => penalties.quadratic,
            false => penalties.others,
        };
        StepRule {
            largest: match self {
                Self::Alone(loss) => loss.largest_move(),
                Self::Softmax => Softmax::LARGEST_MOVE,
            },
            penalty: LeafPenalty {
                l1: scale * natural.l1,
                l2: scale * scale * natural.l2,
            },
        }
    }

    pub(in crate::boosting) fn refuses(&self, y: f64) -> Option<&'static str> {
        match self {
            Self::Alone(loss) => loss.refuses(y),
            Self::Softmax => (y != 0.0 && y != 1.0).then_some("0 or 1"),
        }
    }

    /// Returns the constant ρ₀ for the targets of an output, which are not empty, and their positive weights.
    pub(in crate::boosting) fn initial(&self, targets: &[f64], weights: &[f64]) -> f64 {
        match self {
            Self::Alone(loss) => loss.initial(targets, weights),
            Self::Softmax => {
                let total: f64 = weights.iter().sum();
                let ones: f64 = targets.iter().zip(weights).map(|(y, w)| w * y).sum();
                Softmax::constant(ones / total, targets.len())
            }
        }
    }

    fn inverse_link(&self) -> InverseLink {
        match self {
            Self::Alone(loss) => loss.inverse_link(),
            Self::Softmax => InverseLink::Softmax,
        }
    }
}

/// Consecutive outputs with the same loss: any number of separate outputs, or one group.
#[derive(Debug, Clone)]
pub(in crate::boosting) struct Block {
    pub(in crate::boosting) outputs: Range<usize>,
    pub(in crate::boosting) loss: OutputLoss,
}

/// The sum of the losses of all outputs.
#[derive(Debug, Clone)]
pub(in crate::boosting) struct Objective {
    blocks: Vec<Block>,
    /// Number of consecutive outputs whose predictions are sorted; 1 if none are.
    ordered: usize,
}

impl Objective {
    /// Creates an objective from consecutive blocks, starting at output 0. Each run of `ordered` outputs holds the
    /// levels of one target.
    pub(in crate::boosting) fn new(blocks: Vec<Block>, ordered: usize) -> Self {
        Self { blocks, ordered }
    }

    /// Returns the objective of a single output.
    pub(in crate::boosting) fn only(&self, output: usize) -> Self {
        let block = Block {
            outputs: 0..1,
            loss: self.of(output).clone(),
        };
        Self::new(vec![block], 1)
    }

    pub(in crate::boosting) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    pub(in crate::boosting) fn n_outputs(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.outputs.end)
    }

    /// Returns the loss of an output.
    pub(in crate::boosting) fn of(&self, output: usize) -> &OutputLoss {
        let block = self.blocks.partition_point(|block| block.outputs.end <= output);
        &self.blocks[block].loss
    }

    /// Returns the bounds of the steps of each output.
    pub(in crate::boosting) fn rules(&self, penalties: Penalties) -> Vec<StepRule> {
        let of_block = |block: &Block| std::iter::repeat_n(block.loss.rule(penalties), block.outputs.len());
        self.blocks.iter().flat_map(of_block).collect()
    }

    /// Returns true if one Newton step is exact for every output.
    pub(in crate::boosting) fn is_quadratic(&self) -> bool {
        self.blocks.iter().all(|block| block.loss.is_quadratic())
    }

    /// Returns the separate loss of an output, for exact steps, which groups do not support.
    pub(in crate::boosting) fn alone(&self, output: usize) -> &dyn Loss {
        match self.of(output) {
            OutputLoss::Alone(loss) => loss.as_ref(),
            OutputLoss::Softmax => unreachable!("groups have Newton steps"),
        }
    }

    /// Returns the natural scale of the losses, if all have the same.
    pub(in crate::boosting) fn common_scale(&self) -> Option<f64> {
        let mut scales = self.blocks.iter().map(|block| block.loss.natural_scale());
        let first = scales.next()?;
        scales.all(|scale| scale == first).then_some(first)
    }

    /// Writes the losses u_j ℓ(y_j, f_j) of the cells of some samples, row after row; for a group, their sum in its
    /// first cell. If `cells` is empty, cells have no weights.
    pub(in crate::boosting) fn values(&self, y: &[f64], scores: &[f64], cells: &[f64], out: &mut [f64]) {
        self.for_each_run(y.len(), |range, loss| {
            let (y, scores, out) = (&y[range.clone()], &scores[range.clone()], &mut out[range.clone()]);
            let cells = cells.get(range).unwrap_or(&[]);
            match loss {
                OutputLoss::Alone(loss) => {
                    loss.values(y, scores, out);
                    out.iter_mut().zip(cells).for_each(|(value, u)| *value *= u);
                }
                OutputLoss::Softmax => {
                    out.fill(0.0);
                    out[0] = Softmax::value(y, scores, cells);
                }
            }
        });
    }

    /// Writes the negative gradients of the cells of some samples, row after row, and, unless `curvature` is empty,
    /// second derivatives, 0 if the loss has none.
    pub(in crate::boosting) fn gradients(
        &self,
        y: &[f64],
        scores: &[f64],
        residual: &mut [f64],
        curvature: &mut [f64],
    ) {
        self.for_each_run(y.len(), |range, loss| {
            let (y, scores, residual) = (
                &y[range.clone()],
                &scores[range.clone()],
                &mut residual[range.clone()],
            );
            let curvature = curvature.get_mut(range).unwrap_or(&mut []);
            match loss {
                OutputLoss::Alone(loss) => loss.derivatives(y, scores, residual, curvature),
                OutputLoss::Softmax => Softmax::gradients(y, scores, residual, curvature),
            }
        });
    }

    /// Calls `f` with runs of cells of the same loss (for a group, its cells in one sample), among the cells of some
    /// samples row after row.
    fn for_each_run(&self, n_cells: usize, mut f: impl FnMut(Range<usize>, &OutputLoss)) {
        if let [Block { loss, .. }] = &self.blocks[..]
            && matches!(loss, OutputLoss::Alone(_))
        {
            return f(0..n_cells, loss);
        }
        for row in (0..n_cells).step_by(self.n_outputs()) {
            for Block { outputs, loss } in &self.blocks {
                f(row + outputs.start..row + outputs.end, loss);
            }
        }
    }

    /// Returns the functions from scores to predictions.
    pub(in crate::boosting) fn links(&self) -> Vec<LinkBlock> {
        if self.ordered > 1 {
            let levels = |_| LinkBlock {
                link: InverseLink::Identity,
                n_outputs: self.ordered,
                ordered: true,
            };
            return (0..self.n_outputs() / self.ordered).map(levels).collect();
        }
        let mut links: Vec<LinkBlock> = Vec::new();
        for Block { outputs, loss } in &self.blocks {
            let link = loss.inverse_link();
            match links.last_mut() {
                Some(last) if last.link == link && link != InverseLink::Softmax => {
                    last.n_outputs += outputs.len();
                }
                _ => links.push(LinkBlock {
                    link,
                    n_outputs: outputs.len(),
                    ordered: false,
                }),
            }
        }
        links
    }
}

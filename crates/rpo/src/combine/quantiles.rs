//! Weights of members that predict quantiles, from the pinball loss of their mean, which inner products do not
//! determine.

use super::{CombineRule, Pool, rules};
use crate::ModelError;
use ndarray::{Array2, Zip};
use rayon::prelude::*;
use rpo_core::ParameterError;

impl Pool<'_> {
    /// Finds the weights of some candidates on the samples of some parts.
    ///
    /// # Errors
    /// Rules that apply to squared errors only.
    pub(super) fn weights_of_quantiles(
        &self,
        rule: CombineRule,
        candidates: &[usize],
        parts: &[usize],
    ) -> Result<Vec<f64>, ModelError> {
        let m = candidates.len();
        let greedy = || {
            let mut counts = vec![0.0; m];
            rules::selection(m, |added| {
                added.into_iter().for_each(|added| counts[added] += 1.0);
                self.losses(candidates, parts, &counts)
            })
        };
        match rule {
            CombineRule::Mean => Ok(rules::mean(m)),
            CombineRule::Greedy => greedy(),
            CombineRule::GreedyMean => {
                let alone = self.losses(candidates, parts, &vec![0.0; m])?;
                Ok(rules::half_of_best(greedy()?, &alone))
            }
            CombineRule::Nnls | CombineRule::Stack => {
                let reason = "minimizes squared errors, which do not measure quantiles: choose mean, greedy or greedy-mean";
                Err(ParameterError::conflict("combine", rule, reason).into())
            }
        }
    }

    /// For each member, the pinball loss of the mean of the members chosen so far (with repetition) and that member.
    fn losses(&self, candidates: &[usize], parts: &[usize], counts: &[f64]) -> Result<Vec<f64>, ModelError> {
        let total = 1.0 + counts.iter().sum::<f64>();
        let mut losses = vec![0.0; candidates.len()];
        let is_wanted = |part: usize| parts.contains(&part);
        self.for_each_block_of(candidates, is_wanted, |_, scores, truth| {
            let truth = truth.view().to_dense(usize::MAX).expect("a block is small");
            let mut chosen = Array2::<f64>::zeros(truth.dim());
            for (scores, &count) in scores.iter().zip(counts) {
                chosen.zip_mut_with(scores, |sum, &score| *sum += count * f64::from(score));
            }
            // Each sum adds the entries in order, whatever the number of threads.
            let of_block: Vec<f64> = scores
                .par_iter()
                .map(|scores| {
                    let mean = Zip::from(&chosen)
                        .and(scores)
                        .map_collect(|sum, &score| (sum + f64::from(score)) / total);
                    self.pinball(&truth, &mean)
                })
                .collect();
            losses
                .iter_mut()
                .zip(of_block)
                .for_each(|(sum, loss)| *sum += loss);
            Ok(())
        })?;
        Ok(losses)
    }

    /// The sum of the pinball losses, each in units of its output's standard deviation; missing outputs are left out.
    fn pinball(&self, truth: &Array2<f32>, predicted: &Array2<f64>) -> f64 {
        let (levels, units) = (self.levels(), self.unit_factors());
        let entries = truth.indexed_iter().zip(predicted);
        let losses = entries
            .filter(|((_, y), _)| !y.is_nan())
            .map(|(((_, j), &y), predicted)| {
                let (level, error) = (levels[j % levels.len()], f64::from(y) - predicted);
                (level * error).max((level - 1.0) * error) * units[j]
            });
        losses.sum()
    }
}

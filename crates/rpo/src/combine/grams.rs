//! Inner products of all candidates by part of the samples and kind of outputs.

use super::{Gram, Pool};
use crate::ModelError;
use ndarray::{Array2, Axis, Zip};

/// Inner products of the candidates for the samples of each part. Where labels stand beside numbers, either kind has its
/// own, as weights are found for either.
pub(crate) struct Grams {
    /// Of all outputs or, if labels have their own, of numbers.
    of_outputs: Vec<Gram>,
    of_labels: Option<Vec<Gram>>,
}

impl Grams {
    /// The sums over some parts, of some candidates: of all outputs or of numbers, and of labels beside numbers.
    pub(super) fn on(&self, parts: &[usize], candidates: &[usize]) -> (Gram, Option<Gram>) {
        let sum = |grams: &Vec<Gram>| {
            let sum = Gram::sum(parts.iter().map(|&part| &grams[part]));
            let none = || Gram::new(candidates.len());
            sum.map_or_else(none, |gram| gram.of_members(candidates))
        };
        (sum(&self.of_outputs), self.of_labels.as_ref().map(sum))
    }
}

impl Pool<'_> {
    /// The inner products of all candidates. Labels are used as they are, and numbers as distances from the output's mean
    /// in units of its standard deviation; labels beside numbers are in such units too. Missing outputs are left out.
    ///
    /// # Errors
    /// None beyond those of scoring the candidates.
    pub(crate) fn grams(&self) -> Result<Grams, ModelError> {
        let all: Vec<usize> = (0..self.n_candidates()).collect();
        let none = || vec![Gram::new(all.len()); self.n_parts()];
        let declared = self.declared();
        let kinds = declared
            .is_mixed()
            .then(|| (declared.numbers(), declared.labels()));
        let (mut of_outputs, mut of_labels) = (none(), kinds.as_ref().map(|_| none()));
        self.for_each_block(&all, |part, mut scores, truth| {
            let mut truth = truth.view().to_dense(usize::MAX).expect("a block is small");
            scores
                .iter_mut()
                .chain([&mut truth])
                .for_each(|values| self.in_units(values));
            for scores in &mut scores {
                Zip::from(scores).and(&truth).for_each(|score, y| {
                    if y.is_nan() {
                        *score = 0.0;
                    }
                });
            }
            truth.mapv_inplace(|y| if y.is_nan() { 0.0 } else { y });
            match (&kinds, &mut of_labels) {
                (Some((numbers, labels)), Some(of_labels)) => {
                    of_outputs[part].add(&columns(&scores, numbers), &truth.select(Axis(1), numbers));
                    of_labels[part].add(&columns(&scores, labels), &truth.select(Axis(1), labels));
                }
                _ => of_outputs[part].add(&scores, &truth),
            }
            Ok(())
        })?;
        Ok(Grams {
            of_outputs,
            of_labels,
        })
    }
}

fn columns(scores: &[Array2<f32>], outputs: &[usize]) -> Vec<Array2<f32>> {
    let select = |scores: &Array2<f32>| scores.select(Axis(1), outputs);
    scores.iter().map(select).collect()
}

//! The observed entries of a sample or of a label.

use crate::LabelSets;

/// The observed entries of a sample, as if there were no others.
#[derive(Debug, Default)]
pub(crate) struct ObservedSample<S> {
    relevant: Vec<u32>,
    scores: Vec<S>,
}

impl<S: Copy> ObservedSample<S> {
    /// Returns the positions of the relevant labels among the observed ones, and the scores of the observed labels. A
    /// fully observed sample is returned unchanged.
    pub(crate) fn of<'a>(
        &'a mut self,
        truth: &'a LabelSets<'_>,
        row: usize,
        scores: &'a [S],
    ) -> (&'a [u32], &'a [S]) {
        let missing = truth.missing(row);
        if missing.is_empty() {
            return (truth.labels(row), scores);
        }
        let before = |label: u32| missing.partition_point(|&m| m < label) as u32;
        self.relevant.clear();
        self.relevant
            .extend(truth.labels(row).iter().map(|&j| j - before(j)));
        without(scores, missing, &mut self.scores);
        (&self.relevant, &self.scores)
    }
}

/// Copies the values whose positions are not in an increasing list.
pub(crate) fn without<S: Copy>(values: &[S], positions: &[u32], kept: &mut Vec<S>) {
    kept.clear();
    let mut start = 0;
    for &position in positions {
        kept.extend_from_slice(&values[start..position as usize]);
        start = position as usize + 1;
    }
    kept.extend_from_slice(&values[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MissingTruth;
    use ndarray::array;

    #[test]
    fn positions_move_up() {
        let truth = array![[f32::NAN, 1.0, 0.0, f32::NAN, 1.0, 0.0], [0.0; 6], [f32::NAN; 6]];
        let truth = LabelSets::new((&truth).into(), MissingTruth::Skip).unwrap();
        let scores = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let mut observed = ObservedSample::default();
        assert_eq!(
            observed.of(&truth, 0, &scores),
            (&[0, 2][..], &[1.0, 2.0, 4.0, 5.0][..])
        );
        assert_eq!(observed.of(&truth, 1, &scores), (&[][..], &scores[..]));
        assert_eq!(observed.of(&truth, 2, &scores), (&[][..], &[][..]));
    }
}

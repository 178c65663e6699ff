//! Prediction by beam search.

use rayon::prelude::*;
use rpo_core::math;
use rpo_core::{CsrMatrix, MatrixView, Predictor, csr_of_rows, keep_top, top_of_pairs, vectorized};

use super::structure::Node;
use super::{LabelForest, LabelTree};
use crate::RowNorm;
use crate::linear::Calibration;

impl LabelForest {
    /// Returns the k largest scores of each sample.
    pub(super) fn search(&self, x: MatrixView<'_>, k: usize) -> CsrMatrix {
        let rows: Vec<Vec<(u32, f32)>> = (0..x.n_rows())
            .into_par_iter()
            .map_init(Search::default, |search, row| {
                search.load(x, row, self.normalize);
                search.found.clear();
                for tree in &self.trees {
                    search.descend(tree, self.calibration, self.beam);
                }
                let mut scores = search.sums();
                let n_trees = self.trees.len() as f32;
                scores.iter_mut().for_each(|(_, score)| *score /= n_trees);
                scores.retain(|(_, score)| *score > 0.0);
                top_of_pairs(scores, k)
            })
            .collect();
        csr_of_rows(rows.iter(), (x.n_rows(), self.n_outputs()))
    }
}

/// The search state of a sample.
#[derive(Debug, Default)]
struct Search {
    features: Vec<u32>,
    values: Vec<f32>,
    /// Nodes of the beam, with the logarithms of their probabilities.
    beam: Vec<(u32, f32)>,
    next: Vec<(u32, f32)>,
    scores: Vec<f32>,
    /// Labels that were found, with their probabilities, tree by tree.
    found: Vec<(u32, f32)>,
}

impl Search {
    fn load(&mut self, x: MatrixView<'_>, row: usize, normalize: RowNorm) {
        let factor = match normalize {
            RowNorm::L2 => x.unit_factor(row),
            RowNorm::None => 1.0,
        };
        self.features.clear();
        self.values.clear();
        x.for_each_in_row(row, |j, v| {
            if v != 0.0 {
                self.features.push(j);
                self.values.push(v * factor);
            }
        });
    }

    /// Finds labels in a tree.
    fn descend(&mut self, tree: &LabelTree, calibration: Calibration, width: usize) {
        self.beam.clear();
        self.beam.push((0, 0.0));
        while !self.beam.is_empty() {
            self.next.clear();
            for &(node, before) in &self.beam {
                tree.weights[node as usize].scores(&self.features, &self.values, &mut self.scores);
                // Logarithms of the probabilities of the paths to the children or labels.
                vectorized(
                    #[inline(always)]
                    || {
                        for score in &mut self.scores {
                            *score = before + calibration.log_probability(*score);
                        }
                    },
                );
                match tree.structure.nodes[node as usize] {
                    Node::Split { first, .. } => {
                        self.next.extend((first..).zip(self.scores.iter().copied()));
                    }
                    Node::Leaf { first, n } => {
                        vectorized(
                            #[inline(always)]
                            || {
                                for score in &mut self.scores {
                                    *score = math::exp(f64::from(*score)) as f32;
                                }
                            },
                        );
                        let labels = &tree.structure.labels[first as usize..(first + n) as usize];
                        self.found
                            .extend(labels.iter().copied().zip(self.scores.iter().copied()));
                    }
                }
            }
            keep_top(&mut self.next, width);
            std::mem::swap(&mut self.beam, &mut self.next);
        }
    }

    /// Returns the sum of the probabilities of each label that was found, in label order.
    fn sums(&mut self) -> Vec<(u32, f32)> {
        // The sort is stable, so that trees are summed in order.
        self.found.sort_by_key(|(label, _)| *label);
        let groups = self.found.chunk_by(|a, b| a.0 == b.0);
        groups
            .map(|group| (group[0].0, group.iter().map(|(_, p)| p).sum()))
            .collect()
    }
}

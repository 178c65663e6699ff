//! The sparse Rademacher projections of the report, drawn at every node.

use super::hashed::rows_equal;
use rpo_core::{CsrView, Seed, csr_row};
use rpo_projections::{ProjectionError, Rademacher, SparseMap};
use rpo_tree::centroid::{ClusterTargets, Routing, Scoring, SparseVector};
use rpo_tree::cluster::Points;

/// Draws the map of a node, with entries ±√(s/m), where s is the square root of the number of columns.
pub(super) fn draw(n_columns: usize, width: usize, seed: Seed) -> Result<SparseMap, ProjectionError> {
    Rademacher { s: None }.map(n_columns, width, seed)
}

/// Labels with a new projection at every node.
#[derive(Debug)]
pub(super) struct ProjectedLabels<'a> {
    pub(super) labels: CsrView<'a>,
    pub(super) width: usize,
}

impl ClusterTargets for ProjectedLabels<'_> {
    fn n_columns(&self) -> usize {
        self.labels.cols()
    }

    fn push(&self, rows: &[u32], seed: Seed, points: &mut Points) {
        for &row in rows {
            let (labels, values) = csr_row(&self.labels, row as usize);
            points.push(labels.iter().copied().zip(values.iter().copied()), 1.0);
        }
        let map = draw(self.labels.cols(), self.width, seed).expect("a map of this size was drawn before");
        points.map(self.width, |label| map.entries(label));
    }

    fn all_equal(&self, rows: &[u32]) -> bool {
        rows_equal(&self.labels, rows)
    }
}

/// Distance in a projected space, with a new projection at every node.
///
/// With z = Pᵀμ for the projected mean, -‖Pᵀx - z‖² is 2 (x · P z - ‖z‖²/2) minus a term that is the same for all
/// centroids. Rows are therefore scored by weights P z in the original space and are never projected.
#[derive(Debug)]
pub(super) struct ProjectedDistance {
    pub(super) n_features: usize,
    pub(super) width: usize,
}

impl Routing for ProjectedDistance {
    fn unit_rows(&self) -> bool {
        false
    }

    fn at_node(&self, seed: Seed) -> Box<dyn Scoring + '_> {
        let map = draw(self.n_features, self.width, seed).expect("a map of this size was drawn before");
        Box::new(NodeDistance {
            map,
            n_features: self.n_features as u32,
            width: self.width,
        })
    }
}

struct NodeDistance {
    map: SparseMap,
    n_features: u32,
    width: usize,
}

impl Scoring for NodeDistance {
    fn score(&self, mean: &mut SparseVector) -> f64 {
        let mut projected = vec![0.0; self.width];
        for (&feature, &value) in mean.features.iter().zip(&mean.values) {
            for (component, entry) in self.map.entries(feature) {
                projected[component as usize] += value * f64::from(entry);
            }
        }
        mean.features.clear();
        mean.values.clear();
        for feature in 0..self.n_features {
            let terms = self.map.entries(feature);
            let weight: f64 = terms
                .map(|(c, entry)| projected[c as usize] * f64::from(entry))
                .sum();
            if weight != 0.0 {
                mean.features.push(feature);
                mean.values.push(weight);
            }
        }
        -projected.iter().map(|z| z * z).sum::<f64>() / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_order_rows_as_projected_distances_do() {
        let routing = ProjectedDistance {
            n_features: 30,
            width: 21,
        };
        let seed = Seed::new(4);
        let map = draw(30, 21, seed).unwrap();
        let value = |key: u64| (Seed::new(9).hash(key) % 100) as f64 / 25.0 - 2.0;
        let vector = |key: u64| (0..30).map(|j| value(key * 30 + j)).collect::<Vec<f64>>();
        let project = |v: &[f64]| {
            let mut z = vec![0.0; 21];
            for (j, v) in v.iter().enumerate() {
                for (c, entry) in map.entries(j as u32) {
                    z[c as usize] += v * f64::from(entry);
                }
            }
            z
        };
        let x = vector(0);
        let scoring = routing.at_node(seed);
        let own: f64 = project(&x).iter().map(|z| z * z).sum();
        for key in 1..6 {
            let mean = vector(key);
            let mut scored = SparseVector {
                features: (0..30).collect(),
                values: mean.clone(),
            };
            let offset = scoring.score(&mut scored);
            let weights = scored.features.iter().zip(&scored.values);
            let score = offset + weights.map(|(&j, w)| w * x[j as usize]).sum::<f64>();
            let distance: f64 = (project(&x).iter().zip(project(&mean)))
                .map(|(a, b)| (a - b).powi(2))
                .sum();
            assert!(
                (2.0 * score - (own - distance)).abs() < 1e-4,
                "{score} {distance}"
            );
        }
    }
}

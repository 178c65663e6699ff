//! Weighted sums of the contributions of members.

use ndarray::Array1;
use rpo_core::{Contributions, InverseLink, csr_of_rows};

/// A weighted sum of contributions to scores that are predictions.
pub(super) struct WeightedSum {
    base: Vec<f64>,
    /// The output of each row.
    outputs: Vec<u32>,
    /// The features and their weighted contributions of each row, member after member.
    rows: Vec<Vec<(u32, f64)>>,
}

impl WeightedSum {
    /// Starts from the base of no member, for some outputs of each sample.
    pub(super) fn new(base: Vec<f64>, outputs: &[&[u32]]) -> Self {
        let outputs = outputs.concat();
        let rows = vec![Vec::new(); outputs.len()];
        Self { base, outputs, rows }
    }

    /// Adds the contributions of a member, with a weight for each output.
    pub(super) fn add(&mut self, found: &Contributions, weights: &Array1<f64>) {
        let bases = self.base.iter_mut().zip(&found.base).zip(weights);
        bases.for_each(|((sum, base), weight)| *sum += weight * base);
        let rows = self.rows.iter_mut().zip(&self.outputs);
        for ((sums, &output), row) in rows.zip(found.values.outer_iterator()) {
            let (given, weight) = (row.iter(), weights[output as usize]);
            sums.extend(given.map(|(feature, &value)| (feature as u32, weight * f64::from(value))));
        }
    }

    /// Returns the sums, of a set with this many features.
    pub(super) fn finish(mut self, n_features: usize) -> Contributions {
        let of_row = |row: &mut Vec<(u32, f64)>| {
            // The sort is stable, so that members are summed in order.
            row.sort_by_key(|(feature, _)| *feature);
            let groups = row.chunk_by(|a, b| a.0 == b.0);
            let sums = groups.map(|group| (group[0].0, group.iter().map(|(_, v)| v).sum::<f64>() as f32));
            sums.filter(|(_, sum)| *sum != 0.0).collect()
        };
        let rows: Vec<Vec<(u32, f32)>> = self.rows.iter_mut().map(of_row).collect();
        Contributions {
            links: vec![InverseLink::Identity; self.base.len()],
            values: csr_of_rows(rows.iter(), (rows.len(), n_features)),
            base: self.base,
        }
    }
}

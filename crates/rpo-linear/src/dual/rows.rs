//! Samples in the format of the solver.

use rpo_core::MatrixView;

/// Samples with their nonzero features, scaled, and weights.
#[derive(Debug)]
pub(crate) struct Rows {
    starts: Vec<usize>,
    features: Vec<u32>,
    values: Vec<f32>,
    /// ‖xᵢ‖².
    squares: Vec<f32>,
    weights: Vec<f32>,
    n_features: usize,
    /// What all features were multiplied with, beside the scaling of each sample.
    factor: f32,
}

/// Returns the samples with each label, increasing; samples of weight 0 are left out.
pub(crate) fn label_samples(y: MatrixView<'_>, weights: Option<&[f32]>) -> Vec<Vec<u32>> {
    let mut samples = vec![Vec::new(); y.n_cols()];
    let counts = |row: &usize| weights.is_none_or(|weights| weights[*row] > 0.0);
    for row in (0..y.n_rows()).filter(counts) {
        y.for_each_in_row(row, |label, value| {
            if value != 0.0 {
                samples[label as usize].push(row as u32);
            }
        });
    }
    samples
}

/// Buffer for numbering a subset of the features; empty between uses.
#[derive(Debug)]
pub(crate) struct Numbering(Vec<u32>);

impl Numbering {
    pub(crate) fn new(n_features: usize) -> Self {
        Self(vec![u32::MAX; n_features])
    }
}

impl Rows {
    /// Creates samples from `x` (n x p), scaled to unit length if `unit_length`; without `weights`, all have weight 1.
    pub(crate) fn new(x: MatrixView<'_>, unit_length: bool, weights: Option<&[f32]>) -> Self {
        let mut rows = Self::with_capacity(x.n_rows(), x.n_stored(), x.n_cols());
        for row in 0..x.n_rows() {
            let factor = if unit_length { x.unit_factor(row) } else { 1.0 };
            x.for_each_in_row(row, |j, v| {
                if v != 0.0 {
                    rows.push(j, v * factor);
                }
            });
            rows.end_row(weights.map_or(1.0, |weights| weights[row]));
        }
        rows
    }

    /// Divides all samples by the square root of the weighted mean of ‖x‖², unless that is 0.
    pub(crate) fn scale_to_unit_mean_square(&mut self) {
        // The squares of large or small features are beyond the range of `f32`.
        let (mut sum, mut total) = (0.0, 0.0);
        for row in 0..self.n_rows() {
            let square: f64 = self.row(row).1.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
            sum += f64::from(self.weights[row]) * square;
            total += f64::from(self.weights[row]);
        }
        let factor = (total / sum).sqrt() as f32;
        if !factor.is_normal() {
            return;
        }
        self.factor = factor;
        self.values.iter_mut().for_each(|v| *v *= factor);
        self.find_squares();
    }

    /// Multiplies each feature by a factor.
    pub(crate) fn multiply_features(&mut self, factors: &[f32]) {
        let values = self.values.iter_mut().zip(&self.features);
        values.for_each(|(value, &feature)| *value *= factors[feature as usize]);
        self.find_squares();
    }

    fn find_squares(&mut self) {
        for (square, range) in self.squares.iter_mut().zip(self.starts.windows(2)) {
            *square = self.values[range[0]..range[1]].iter().map(|v| v * v).sum();
        }
    }

    /// Selects some samples and numbers the features that occur in them, in order; also returns the original indices of
    /// these features.
    pub(crate) fn gather(&self, rows: &[u32], numbering: &mut Numbering) -> (Self, Vec<u32>) {
        let numbers = &mut numbering.0;
        let (mut features, mut n_stored) = (Vec::new(), 0);
        for &row in rows {
            let stored = self.row(row as usize).0;
            n_stored += stored.len();
            for &j in stored {
                if numbers[j as usize] == u32::MAX {
                    numbers[j as usize] = 0;
                    features.push(j);
                }
            }
        }
        features.sort_unstable();
        (0..)
            .zip(&features)
            .for_each(|(number, &j)| numbers[j as usize] = number);
        let mut made = Self::with_capacity(rows.len(), n_stored, features.len());
        for &row in rows {
            let (stored, values) = self.row(row as usize);
            made.features.extend(stored.iter().map(|&j| numbers[j as usize]));
            made.values.extend_from_slice(values);
            made.end_row(self.weight(row as usize));
        }
        made.factor = self.factor;
        features.iter().for_each(|&j| numbers[j as usize] = u32::MAX);
        (made, features)
    }

    fn with_capacity(n: usize, n_stored: usize, n_features: usize) -> Self {
        let mut starts = Vec::with_capacity(n + 1);
        starts.push(0);
        Self {
            starts,
            features: Vec::with_capacity(n_stored),
            values: Vec::with_capacity(n_stored),
            squares: Vec::with_capacity(n),
            weights: Vec::with_capacity(n),
            n_features,
            factor: 1.0,
        }
    }

    fn push(&mut self, feature: u32, value: f32) {
        self.features.push(feature);
        self.values.push(value);
    }

    fn end_row(&mut self, weight: f32) {
        let row = &self.values[self.starts[self.starts.len() - 1]..];
        self.squares.push(row.iter().map(|v| v * v).sum());
        self.weights.push(weight);
        self.starts.push(self.values.len());
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn n_features(&self) -> usize {
        self.n_features
    }

    /// Returns what all features were multiplied with, so that samples have a mean square length of 1.
    pub(crate) fn factor(&self) -> f32 {
        self.factor
    }

    /// Returns the features and values of a sample.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.features[range.clone()], &self.values[range])
    }

    /// Returns ‖x‖² of a sample.
    #[inline]
    pub(super) fn square(&self, row: usize) -> f32 {
        self.squares[row]
    }

    /// Returns the factor of the cost of a sample.
    #[inline]
    pub(crate) fn weight(&self, row: usize) -> f32 {
        self.weights[row]
    }

    /// Returns the sum of the weights of samples.
    pub(crate) fn sum_weights(&self, rows: &[u32]) -> f64 {
        rows.iter()
            .map(|&row| f64::from(self.weights[row as usize]))
            .sum()
    }

    /// Returns the sum of all weights.
    pub(crate) fn total_weight(&self) -> f64 {
        self.weights.iter().map(|&weight| f64::from(weight)).sum()
    }

    /// Returns the weights of samples and sets them to 0.
    pub(crate) fn take_weights(&mut self, rows: &[u32]) -> Vec<f32> {
        let weights = &mut self.weights;
        rows.iter()
            .map(|&row| std::mem::take(&mut weights[row as usize]))
            .collect()
    }

    /// Sets the weights of samples.
    pub(crate) fn set_weights(&mut self, rows: &[u32], weights: &[f32]) {
        rows.iter()
            .zip(weights)
            .for_each(|(&row, &weight)| self.weights[row as usize] = weight);
    }

    /// Returns the samples with a weight above 0.
    pub(crate) fn counted(&self) -> impl Iterator<Item = u32> {
        let counts = |row: &u32| self.weights[*row as usize] > 0.0;
        (0..self.weights.len() as u32).filter(counts)
    }

    /// Returns the number of samples with a weight above 0.
    pub(crate) fn n_counted(&self) -> usize {
        self.counted().count()
    }

    /// Returns the weighted mean of ‖x‖².
    pub(crate) fn mean_square(&self) -> f64 {
        let pairs = self.squares.iter().zip(&self.weights);
        let sum: f64 = pairs.map(|(&square, &w)| f64::from(w) * f64::from(square)).sum();
        sum / self.total_weight()
    }
}

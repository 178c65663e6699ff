//! Gains in the second-order approximation of a loss.

use super::{Criterion, LeafPenalty, PURITY};
use ndarray::ArrayView2;

/// The second derivatives of a loss along the components that a tree grows on.
#[derive(Debug, Clone, Copy)]
pub enum Curvature<'a> {
    /// 1 everywhere, as for the square loss: sums are those of weights.
    Constant,
    /// One per row and component (n x m).
    Each(ArrayView2<'a, f32>),
}

/// Decrease of the second-order approximation of a loss (Friedman 2001; Chen and Guestrin, *XGBoost*, KDD 2016, eq. 7,
/// without its factor ½): with weights c, negative gradients z and second derivatives h of m components, R_S = Σ_S c z
/// and H_S = Σ_S c h,
///
/// ```text
/// score = Σ_k R_l² / (H_l + λ) + R_r² / (H_r + λ)        (of component k; R moved towards 0 by α)
/// gain  = score − Σ_k R² / (H + λ)
/// ```
///
/// A split that gains nothing is not made: its gain is −∞, as penalties may cost more than it gains. A split is not a
/// candidate if one of its children has a curvature, the mean of H over the components, below a bound.
///
/// Cost: O(m) per moved row and per score. Sums are kept in `f64`.
#[derive(Debug, Clone)]
pub struct SecondOrder<'a> {
    rows: Rows<'a>,
    /// One per component.
    penalties: Vec<LeafPenalty>,
    /// Smallest sum of H over the components of a child.
    least_curvature: f64,
    total: Sums,
    moved: Sums,
    is_pure: bool,
}

/// The training rows.
#[derive(Debug, Clone, Copy)]
struct Rows<'a> {
    gradients: &'a [f32],
    /// As many as gradients, or none if all are 1.
    curvatures: &'a [f32],
    weights: &'a [f32],
    n_components: usize,
}

impl<'a> Rows<'a> {
    fn weight(&self, row: u32) -> f64 {
        f64::from(self.weights[row as usize])
    }

    /// Returns the gradients and second derivatives of a row.
    #[inline]
    fn values(&self, row: u32) -> (&'a [f32], &'a [f32]) {
        let range = row as usize * self.n_components..(row as usize + 1) * self.n_components;
        let curvatures = self.curvatures.get(range.clone()).unwrap_or_default();
        (&self.gradients[range], curvatures)
    }

    #[inline]
    fn add(&self, sums: &mut Sums, row: u32) {
        let weight = self.weight(row);
        let (gradients, curvatures) = self.values(row);
        for (sum, &z) in sums.gradient.iter_mut().zip(gradients) {
            *sum += weight * f64::from(z);
        }
        if curvatures.is_empty() {
            sums.curvature.iter_mut().for_each(|sum| *sum += weight);
        }
        for (sum, &h) in sums.curvature.iter_mut().zip(curvatures) {
            *sum += weight * f64::from(h);
        }
    }
}

/// R and H of each component.
#[derive(Debug, Clone)]
struct Sums {
    gradient: Vec<f64>,
    curvature: Vec<f64>,
}

impl Sums {
    fn new(n_components: usize) -> Self {
        Self {
            gradient: vec![0.0; n_components],
            curvature: vec![0.0; n_components],
        }
    }

    fn clear(&mut self) {
        self.gradient.fill(0.0);
        self.curvature.fill(0.0);
    }
}

impl<'a> SecondOrder<'a> {
    /// Takes negative gradients (n x m, contiguous rows), their second derivatives, one weight per row (finite, not
    /// negative), the penalties of each component, and the smallest curvature of a child, averaged over the components.
    /// Rows of weight 0 are never used. Values are not checked here: non-finite values make scores NaN, and no split is
    /// made.
    ///
    /// # Panics
    /// If shapes differ, or a matrix is not contiguous in row order.
    pub fn new(
        gradients: ArrayView2<'a, f32>,
        curvature: Curvature<'a>,
        weights: &'a [f32],
        penalties: Vec<LeafPenalty>,
        min_child_weight: f64,
    ) -> Self {
        let m = gradients.ncols();
        assert_eq!(
            gradients.nrows(),
            weights.len(),
            "one weight per row of gradients"
        );
        assert_eq!(penalties.len(), m, "one penalty per component");
        let curvatures = match curvature {
            Curvature::Constant => &[],
            Curvature::Each(h) => {
                assert_eq!(h.dim(), gradients.dim(), "one second derivative per gradient");
                h.to_slice()
                    .expect("second derivatives are contiguous in row order")
            }
        };
        let rows = Rows {
            gradients: gradients
                .to_slice()
                .expect("gradients are contiguous in row order"),
            curvatures,
            weights,
            n_components: m,
        };
        Self {
            rows,
            penalties,
            least_curvature: min_child_weight * m as f64,
            total: Sums::new(m),
            moved: Sums::new(m),
            is_pure: true,
        }
    }
}

impl Criterion for SecondOrder<'_> {
    fn start(&mut self, rows: &[u32]) {
        self.total.clear();
        self.moved.clear();
        let (mut weight, mut squares) = (0.0, [0.0; 2]);
        for &row in rows {
            self.rows.add(&mut self.total, row);
            let (gradients, curvatures) = self.rows.values(row);
            let c = self.rows.weight(row);
            weight += c;
            for (sum, values) in squares.iter_mut().zip([gradients, curvatures]) {
                *sum += c * values.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>();
            }
        }
        let norm = |sums: &[f64]| sums.iter().map(|v| v * v).sum::<f64>() / weight;
        let are_equal = |squares: f64, sums: &[f64]| squares - norm(sums) <= PURITY * squares;
        // Without a gradient no value changes; with equal gradients and curvatures all samples need the same value.
        let is_flat = self.rows.curvatures.is_empty() || are_equal(squares[1], &self.total.curvature);
        self.is_pure = squares[0] == 0.0 || are_equal(squares[0], &self.total.gradient) && is_flat;
    }

    fn is_pure(&self) -> bool {
        self.is_pure
    }

    fn clear(&mut self) {
        self.moved.clear();
    }

    #[inline]
    fn move_row(&mut self, row: u32) {
        self.rows.add(&mut self.moved, row);
    }

    #[inline]
    fn score(&self) -> f64 {
        let (mut score, mut curvatures) = (0.0, [0.0; 2]);
        for (k, &penalty) in self.penalties.iter().enumerate() {
            let (gradient, curvature) = (self.moved.gradient[k], self.moved.curvature[k]);
            let rest = (
                self.total.gradient[k] - gradient,
                self.total.curvature[k] - curvature,
            );
            score += penalty.score(gradient, curvature) + penalty.score(rest.0, rest.1);
            curvatures[0] += curvature;
            curvatures[1] += rest.1;
        }
        if curvatures[0].min(curvatures[1]) < self.least_curvature {
            return f64::NEG_INFINITY;
        }
        score
    }

    fn gain(&self, score: f64) -> f64 {
        let sums = self.total.gradient.iter().zip(&self.total.curvature);
        let parent = sums.zip(&self.penalties).map(|((&r, &h), p)| p.score(r, h));
        let gain = score - parent.sum::<f64>();
        if gain > 0.0 { gain } else { f64::NEG_INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Variance;
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;

    /// Computes R, H and scores as in the formulas, from the rows themselves.
    fn by_formula(
        z: &Array2<f32>,
        h: &Array2<f32>,
        weights: &[f32],
        penalties: &[LeafPenalty],
        rows: &[u32],
    ) -> (f64, f64) {
        let (mut score, mut curvature) = (0.0, 0.0);
        for (k, penalty) in penalties.iter().enumerate() {
            let sum = |a: &Array2<f32>| {
                let terms = rows
                    .iter()
                    .map(|&i| f64::from(weights[i as usize]) * f64::from(a[[i as usize, k]]));
                terms.sum::<f64>()
            };
            let (r, h) = (sum(z), sum(h));
            let shrunk = if r > penalty.l1 {
                r - penalty.l1
            } else if r < -penalty.l1 {
                r + penalty.l1
            } else {
                0.0
            };
            score += if h + penalty.l2 > 0.0 {
                shrunk * shrunk / (h + penalty.l2)
            } else {
                0.0
            };
            curvature += h;
        }
        (score, curvature / penalties.len() as f64)
    }

    proptest! {
        #[test]
        fn gains_are_those_of_the_formula(
            cells in prop::collection::vec((-9_f32..9.0, 0_f32..2.0), 12 * 3),
            weights in prop::collection::vec(0.1_f32..4.0, 12),
            (l1, l2, least) in (0.0..3.0_f64, 0.0..3.0_f64, 0.0..4.0_f64),
            n_moved in 1_u32..12,
            m in 1_usize..4,
        ) {
            let z = Array2::from_shape_fn((12, m), |(i, k)| cells[i * 3 + k].0);
            let h = Array2::from_shape_fn((12, m), |(i, k)| cells[i * 3 + k].1);
            let penalties: Vec<_> = (0..m).map(|k| LeafPenalty { l1: l1 * k as f64, l2 }).collect();
            let rows: Vec<u32> = (0..12).collect();
            let (left, right) = rows.split_at(n_moved as usize);
            let each = Curvature::Each(h.view());
            let mut criterion = SecondOrder::new(z.view(), each, &weights, penalties.clone(), least);
            criterion.start(&rows);
            prop_assert!(!criterion.is_pure());
            criterion.clear();
            left.iter().for_each(|&row| criterion.move_row(row));
            let [all, left, right] = [&rows[..], left, right].map(|rows| by_formula(&z, &h, &weights, &penalties, rows));
            // Curvatures within rounding of the bound may be on either side of it.
            let smaller = left.1.min(right.1);
            prop_assume!((smaller - least).abs() > 1e-9);
            if smaller < least {
                prop_assert_eq!(criterion.score(), f64::NEG_INFINITY);
            } else {
                let expected = left.0 + right.0;
                prop_assert!((criterion.score() - expected).abs() <= 1e-9 * (1.0 + expected));
                let (gain, expected) = (criterion.gain(criterion.score()), expected - all.0);
                let is_close = (gain - expected).abs() <= 1e-9 * (1.0 + all.0);
                prop_assert!(is_close || gain == f64::NEG_INFINITY && expected <= 1e-9 * (1.0 + all.0));
            }
        }

        /// Without penalties and with a constant curvature, gains are those of the summed variance.
        #[test]
        fn a_constant_curvature_gives_variance(
            cells in prop::collection::vec(-9_f32..9.0, 12 * 3),
            weights in prop::collection::vec(0.1_f32..4.0, 12),
            n_moved in 1_u32..12,
        ) {
            let z = Array2::from_shape_vec((12, 3), cells).unwrap();
            let ones = Array2::ones((12, 3));
            let rows: Vec<u32> = (0..12).collect();
            let mut variance = Variance::new(z.view(), &weights);
            variance.start(&rows);
            (0..n_moved).for_each(|row| variance.move_row(row));
            let expected = variance.gain(variance.score());
            for curvature in [Curvature::Constant, Curvature::Each(ones.view())] {
                let penalties = vec![LeafPenalty::default(); 3];
                let mut second = SecondOrder::new(z.view(), curvature, &weights, penalties, 0.0);
                second.start(&rows);
                (0..n_moved).for_each(|row| second.move_row(row));
                let gain = second.gain(second.score()).max(0.0);
                prop_assert!((gain - expected).abs() <= 1e-9 * (1.0 + expected), "{} {}", gain, expected);
            }
        }
    }

    #[test]
    fn nothing_to_gain_is_pure() {
        let rows = [0, 1, 2];
        let weights = [1.0, 2.0, 0.5];
        let check = |z: [f32; 3], h: [f32; 3], expected: bool| {
            let z = Array2::from_shape_vec((3, 1), z.to_vec()).unwrap();
            let h = Array2::from_shape_vec((3, 1), h.to_vec()).unwrap();
            let each = Curvature::Each(h.view());
            let mut criterion = SecondOrder::new(z.view(), each, &weights, vec![LeafPenalty::default()], 0.0);
            criterion.start(&rows);
            assert_eq!(criterion.is_pure(), expected, "{z} {h}");
        };
        check([0.0; 3], [1.0, 0.5, 2.0], true);
        check([0.5; 3], [0.25; 3], true);
        check([0.5; 3], [0.25, 0.25, 0.5], false);
        check([0.5, 0.5, 0.0], [0.25; 3], false);
    }
}

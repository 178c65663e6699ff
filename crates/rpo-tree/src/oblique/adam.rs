//! ADAM (Kingma and Ba, ICLR 2015, algorithm 1).

use super::real::Real;
use rpo_core::math;

/// ADAM and its state: β₁ = 0.9, β₂ = 0.999, ε = 1e-8 added outside the root, bias-corrected.
#[derive(Debug, Clone)]
pub(crate) struct Adam<T> {
    learning_rate: f64,
    step: u32,
    first: Vec<T>,
    second: Vec<T>,
}

impl<T: Real> Adam<T> {
    const BETA1: f64 = 0.9;
    const BETA2: f64 = 0.999;
    const EPSILON: f64 = 1e-8;

    /// Creates a fresh state for `n_weights` weights.
    pub(crate) fn new(learning_rate: f64, n_weights: usize) -> Self {
        Self {
            learning_rate,
            step: 0,
            first: vec![T::default(); n_weights],
            second: vec![T::default(); n_weights],
        }
    }

    /// Makes one step against the gradient.
    ///
    /// # Panics
    /// If the number of weights or gradient entries differs from that of the state.
    pub(crate) fn step(&mut self, weights: &mut [T], gradient: &[T]) {
        assert!(
            weights.len() == self.first.len() && gradient.len() == self.first.len(),
            "one weight and one slope each"
        );
        self.step += 1;
        let rate = T::from_f64(self.learning_rate / (1.0 - math::powi(Self::BETA1, self.step)));
        let unbias = T::from_f64(1.0 / (1.0 - math::powi(Self::BETA2, self.step)));
        let [beta1, rest1, beta2, rest2, epsilon] = [
            Self::BETA1,
            1.0 - Self::BETA1,
            Self::BETA2,
            1.0 - Self::BETA2,
            Self::EPSILON,
        ]
        .map(T::from_f64);
        let state = self.first.iter_mut().zip(&mut self.second);
        for ((w, &g), (m, v)) in weights.iter_mut().zip(gradient).zip(state) {
            *m = beta1 * *m + rest1 * g;
            *v = beta2 * *v + rest2 * (g * g);
            *w = *w - (rate * *m).over_root(unbias * *v, epsilon);
        }
    }
}

//! Inner products of predictions with each other and with the truth: all that the squared error of a weighted sum
//! depends on.

use ndarray::Array2;
use rayon::prelude::*;

/// Inner products of predictions $P_1, \dots, P_M$ and the truth $Y$ over the same entries:
/// $G_{kl} = \langle P_k, P_l \rangle$, $b_k = \langle P_k, Y \rangle$ and $c = \langle Y, Y \rangle$. They are sums over
/// entries, so blocks of samples are added one after the other: memory is M², whatever the number of samples and outputs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gram {
    /// Products between all members; the last row and column are the products with the truth.
    products: Array2<f64>,
}

impl Gram {
    /// Inner products over no entries.
    pub(crate) fn new(n_members: usize) -> Self {
        Self {
            products: Array2::zeros((n_members + 1, n_members + 1)),
        }
    }

    /// Number of members M.
    pub(crate) fn n_members(&self) -> usize {
        self.products.nrows() - 1
    }

    /// Adds the entries of a block: the predictions of each member and the truth, all finite and of the same shape.
    pub(crate) fn add(&mut self, predictions: &[Array2<f32>], truth: &Array2<f32>) {
        let views: Vec<&Array2<f32>> = predictions.iter().chain([truth]).collect();
        let n = views.len();
        let pairs: Vec<(usize, usize)> = (0..n).flat_map(|k| (0..=k).map(move |l| (k, l))).collect();
        // Each sum adds the entries in order, whatever the number of threads.
        let sums: Vec<f64> = pairs
            .par_iter()
            .map(|&(k, l)| {
                let products = views[k].iter().zip(views[l]);
                products.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
            })
            .collect();
        for (&(k, l), sum) in pairs.iter().zip(sums) {
            self.products[[k, l]] += sum;
            if k != l {
                self.products[[l, k]] += sum;
            }
        }
    }

    /// The sum of several matrices of inner products.
    pub(crate) fn sum<'a>(grams: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut grams = grams.into_iter();
        let mut sum = grams.next()?.clone();
        grams.for_each(|gram| sum.products += &gram.products);
        Some(sum)
    }

    /// The inner products of a subset of the members.
    pub(crate) fn of_members(&self, members: &[usize]) -> Self {
        let kept: Vec<usize> = members.iter().copied().chain([self.n_members()]).collect();
        let product = |(k, l): (usize, usize)| self.products[[kept[k], kept[l]]];
        Self {
            products: Array2::from_shape_fn((kept.len(), kept.len()), product),
        }
    }

    /// $G_{kl}$.
    pub(crate) fn between(&self, k: usize, l: usize) -> f64 {
        self.products[[k, l]]
    }

    /// $b_k$.
    pub(crate) fn with_truth(&self, k: usize) -> f64 {
        self.products[[k, self.n_members()]]
    }

    /// The squared error $\lVert \sum_k w_k P_k - Y \rVert^2 = w^\top G w - 2 b^\top w + c$.
    #[cfg(test)]
    pub(crate) fn error(&self, weights: &[f64]) -> f64 {
        let n = self.n_members();
        let mut error = self.products[[n, n]];
        for k in 0..n {
            let row: f64 = (0..n).map(|l| self.between(k, l) * weights[l]).sum();
            error += weights[k] * (row - 2.0 * self.with_truth(k));
        }
        error
    }

    /// The squared error of a single member.
    pub(crate) fn error_of(&self, member: usize) -> f64 {
        let n = self.n_members();
        self.products[[n, n]] + self.between(member, member) - 2.0 * self.with_truth(member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::s;
    use proptest::prelude::*;

    prop_compose! {
        fn entries()(n in 1_usize..12, d in 1_usize..5, m in 1_usize..5)(
            values in prop::collection::vec(-2.0_f32..2.0, n * d * (m + 1)),
            weights in prop::collection::vec(0.0..1.0_f64, m),
            shape in Just((n, d)),
        ) -> (Vec<Array2<f32>>, Vec<f64>) {
            let blocks = values.chunks(shape.0 * shape.1);
            (blocks.map(|v| Array2::from_shape_vec(shape, v.to_vec()).unwrap()).collect(), weights)
        }
    }

    proptest! {
        #[test]
        fn blocks_add_up_to_the_squared_error((all, weights) in entries(), size in 1_usize..5) {
            let (truth, members) = all.split_last().unwrap();
            let mut gram = Gram::new(members.len());
            for start in (0..truth.nrows()).step_by(size) {
                let end = truth.nrows().min(start + size);
                let block = |a: &Array2<f32>| a.slice(s![start..end, ..]).to_owned();
                gram.add(&members.iter().map(block).collect::<Vec<_>>(), &block(truth));
            }
            let mut naive = 0.0;
            for ((i, j), &y) in truth.indexed_iter() {
                let p: f64 = members.iter().zip(&weights).map(|(m, w)| f64::from(m[[i, j]]) * w).sum();
                naive += (p - f64::from(y)).powi(2);
            }
            prop_assert!((gram.error(&weights) - naive).abs() < 1e-9 * (1.0 + naive));
            for k in 0..members.len() {
                let mut one = vec![0.0; members.len()];
                one[k] = 1.0;
                prop_assert!((gram.error(&one) - gram.error_of(k)).abs() < 1e-9);
                let alone = gram.of_members(&[k]);
                prop_assert_eq!(alone.error_of(0), gram.error_of(k));
            }
            let twice = Gram::sum([&gram, &gram]).unwrap();
            prop_assert!((twice.error(&weights) - 2.0 * naive).abs() < 1e-8 * (1.0 + naive));
        }
    }
}

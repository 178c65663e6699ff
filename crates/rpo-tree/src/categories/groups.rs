//! Ordering of the categories of a node.

/// Largest number of categories for which all subsets are tried with several targets: 64 subsets.
const FEW: usize = 6;

/// Number of steps of the power iteration. Its accuracy depends on the gap to the second direction; an order needs
/// little accuracy.
const STEPS: usize = 8;

/// Sums of the split targets of a node by category, and the order derived from them. A reusable workspace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Groups {
    n_targets: usize,
    /// The categories to be ordered, numbered as in their coding.
    categories: Vec<u16>,
    /// Number of samples and weight of each category, and of the rest.
    counts: Vec<f64>,
    weights: Vec<f64>,
    /// Sums of the targets of each category, and of the rest, one after the other.
    sums: Vec<f64>,
    /// The deviations d_k, the direction v, and v·d_k.
    deviations: Vec<f64>,
    direction: Vec<f64>,
    keys: Vec<f64>,
    order: Vec<u16>,
}

impl Groups {
    /// Starts with sums of 0 for some categories with their numbers of samples, and for the rest with `n_rest` samples.
    pub(crate) fn start(
        &mut self,
        n_targets: usize,
        categories: impl Iterator<Item = (u16, f64)>,
        n_rest: f64,
    ) {
        self.n_targets = n_targets;
        self.categories.clear();
        self.counts.clear();
        for (category, count) in categories {
            self.categories.push(category);
            self.counts.push(count);
        }
        self.counts.push(n_rest);
        self.weights.clear();
        self.weights.resize(self.counts.len(), 0.0);
        self.sums.clear();
        self.sums.resize(self.counts.len() * n_targets, 0.0);
    }

    /// Returns the categories to be ordered, group by group.
    pub(crate) fn categories(&self) -> &[u16] {
        &self.categories
    }

    /// Returns the weight and the sums of a group; the rest is the last group.
    #[inline]
    pub(crate) fn group(&mut self, group: usize) -> (&mut f64, &mut [f64]) {
        let sums = &mut self.sums[group * self.n_targets..][..self.n_targets];
        (&mut self.weights[group], sums)
    }

    /// Returns the categories in order.
    pub(crate) fn order(
        &mut self,
        smoothing: f64,
        min_samples_leaf: usize,
    ) -> impl Iterator<Item = u16> + '_ {
        let k = self.categories.len();
        self.order.clear();
        self.order.extend(0..k as u16);
        if k > 1 {
            self.deviate(smoothing);
            if self.n_targets == 1 {
                self.keys.clone_from(&self.deviations);
            } else {
                self.project();
                if k <= FEW {
                    self.put_best_subset_first(min_samples_leaf as f64);
                }
            }
            let keys = &self.keys;
            self.order
                .sort_by(|&a, &b| keys[usize::from(a)].total_cmp(&keys[usize::from(b)]));
        }
        self.order
            .iter()
            .map(|&group| self.categories[usize::from(group)])
    }

    /// Computes the deviations of the smoothed means from the mean of all categories.
    fn deviate(&mut self, smoothing: f64) {
        let (k, m) = (self.categories.len(), self.n_targets);
        let weight: f64 = self.weights[..k].iter().sum();
        self.direction.clear();
        self.direction.resize(m, 0.0);
        for sums in self.sums[..k * m].chunks_exact(m) {
            add_scaled(&mut self.direction, 1.0, sums);
        }
        self.direction.iter_mut().for_each(|sum| *sum /= weight);
        self.deviations.clear();
        for (sums, &w) in self.sums[..k * m].chunks_exact(m).zip(&self.weights) {
            let deviations = sums.iter().zip(&self.direction);
            self.deviations
                .extend(deviations.map(|(sum, mean)| (sum - w * mean) / (w + smoothing)));
        }
    }

    /// Computes the keys: the deviations along their first principal direction, by power iteration starting from the
    /// deviation of the category that explains most by itself.
    fn project(&mut self) {
        let m = self.n_targets;
        let Self {
            weights,
            deviations,
            direction,
            keys,
            ..
        } = self;
        let rows = || deviations.chunks_exact(m);
        let mut largest = (f64::NEG_INFINITY, 0);
        for (group, row) in rows().enumerate() {
            let scatter = weights[group] * dot(row, row);
            if scatter > largest.0 {
                largest = (scatter, group);
            }
        }
        direction.copy_from_slice(&deviations[largest.1 * m..][..m]);
        for step in 0..=STEPS {
            keys.clear();
            keys.extend(rows().map(|row| dot(row, direction)));
            if step == STEPS {
                break;
            }
            direction.fill(0.0);
            for ((row, &key), &weight) in rows().zip(&*keys).zip(&*weights) {
                add_scaled(direction, weight * key, row);
            }
            let length = direction.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            if length == 0.0 {
                break;
            }
            direction.iter_mut().for_each(|v| *v /= length);
        }
    }

    /// Makes the subset of largest score a prefix; the order within the subset and within the others is kept.
    fn put_best_subset_first(&mut self, min_samples_leaf: f64) {
        let (k, m) = (self.categories.len(), self.n_targets);
        let mut total = vec![0.0; m];
        for sums in self.sums.chunks_exact(m) {
            add_scaled(&mut total, 1.0, sums);
        }
        let (weight, count): (f64, f64) = (self.weights.iter().sum(), self.counts.iter().sum());
        // Without a rest, a subset and its complement are the same split.
        let free = if self.counts[k] > 0.0 { k } else { k - 1 };
        let mut side = vec![0.0; m];
        let (mut best, mut members) = ((f64::NEG_INFINITY, 0_u32), 0_u32);
        let (mut n, mut w) = (0.0, 0.0);
        // Each subset differs from the previous one in one category (Gray code).
        for step in 1_u32..1 << free {
            let group = step.trailing_zeros() as usize;
            members ^= 1 << group;
            let sign = if members >> group & 1 != 0 { 1.0 } else { -1.0 };
            add_scaled(&mut side, sign, &self.sums[group * m..][..m]);
            n += sign * self.counts[group];
            w += sign * self.weights[group];
            let (mut of_side, mut of_rest) = (0.0, 0.0);
            for (s, t) in side.iter().zip(&total) {
                of_side += s * s;
                of_rest += (t - s) * (t - s);
            }
            let score = of_side / w + of_rest / (weight - w);
            if n.min(count - n) >= min_samples_leaf && score > best.0 {
                best = (score, members);
            }
        }
        // Moved before the others by more than any difference between keys.
        let range = self.keys.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        for (group, key) in self.keys.iter_mut().enumerate() {
            if best.1 >> group & 1 != 0 {
                *key -= 4.0 * range + 1.0;
            }
        }
    }
}

#[inline]
fn add_scaled(sums: &mut [f64], factor: f64, values: &[f64]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += factor * value;
    }
}

/// Dot product in four partial sums that run side by side.
#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

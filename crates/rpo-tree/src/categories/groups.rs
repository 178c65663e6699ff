//! The order of the categories of a node.

/// Most categories of several targets of which all subsets are tried: 64 of them.
const FEW: usize = 6;

/// Steps of the power iteration. The gap to the second direction decides how close it comes; an order needs little.
const STEPS: usize = 8;

/// Sums of the split targets of a node by category, and the order that follows from them. A workspace, used again and again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Groups {
    n_targets: usize,
    /// The categories that are sorted, as their coding numbers them.
    categories: Vec<u16>,
    /// Samples and weight of each, and of the rest.
    counts: Vec<f64>,
    weights: Vec<f64>,
    /// Sums of the targets of each, and of the rest, one after the other.
    sums: Vec<f64>,
    /// The deviations d_k, the direction v, and v·d_k.
    deviations: Vec<f64>,
    direction: Vec<f64>,
    keys: Vec<f64>,
    order: Vec<u16>,
}

impl Groups {
    /// Begins with sums of 0 for some categories and their numbers of samples, and for the rest of so many samples.
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

    /// The categories that are sorted, group by group.
    pub(crate) fn categories(&self) -> &[u16] {
        &self.categories
    }

    /// The weight and the sums of a group; the rest is the last one.
    #[inline]
    pub(crate) fn group(&mut self, group: usize) -> (&mut f64, &mut [f64]) {
        let sums = &mut self.sums[group * self.n_targets..][..self.n_targets];
        (&mut self.weights[group], sums)
    }

    /// The categories in their order.
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

    /// The deviations of the smoothed means from that of all categories.
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

    /// The keys: the deviations along their first principal direction, by power iteration from that of the category which
    /// explains most by itself.
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

    /// Makes the subset of largest score a prefix, in which categories keep their order, as have the others.
    fn put_best_subset_first(&mut self, min_samples_leaf: f64) {
        let (k, m) = (self.categories.len(), self.n_targets);
        let mut total = vec![0.0; m];
        for sums in self.sums.chunks_exact(m) {
            add_scaled(&mut total, 1.0, sums);
        }
        let (weight, count): (f64, f64) = (self.weights.iter().sum(), self.counts.iter().sum());
        // Without a rest, a subset and its complement are one split.
        let free = if self.counts[k] > 0.0 { k } else { k - 1 };
        let mut side = vec![0.0; m];
        let (mut best, mut members) = ((f64::NEG_INFINITY, 0_u32), 0_u32);
        let (mut n, mut w) = (0.0, 0.0);
        // Each subset differs from the one before in one category (Gray's code).
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
        // As far before the others as no difference of theirs is.
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

/// A sum of four that a processor adds up side by side.
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

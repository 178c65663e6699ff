//! Entropy of 0/1 targets.

use super::Criterion;
use super::grid::are_whole;
use rpo_core::math;
use std::sync::Arc;

/// k log₂ k, with 0 for k = 0: whole numbers up to a bound are looked up in a table, which clones share.
#[derive(Debug, Clone)]
pub struct XLogXTable(Arc<[f64]>);

impl XLogXTable {
    /// Makes the table up to `most`, for instance the number of training samples: 8 bytes per number.
    pub fn up_to(most: usize) -> Self {
        Self((0..=most).map(|k| direct(k as f64)).collect())
    }

    /// Returns k log₂ k; `whole` is true if k is a whole number.
    #[inline]
    pub(super) fn of(&self, k: f64, whole: bool) -> f64 {
        match self.0.get(k as usize) {
            Some(&value) if whole => value,
            _ => direct(k),
        }
    }
}

/// Computes k log₂ k. Rounding may leave the weight of an empty side slightly below 0.
fn direct(k: f64) -> f64 {
    if k > 0.0 { k * math::log2(k) } else { 0.0 }
}

/// Entropy of one 0/1 target in bits: with rows of weight n, k of which are 1, split into l and r,
///
/// ```text
/// n H   = n log₂ n − k log₂ k − (n−k) log₂ (n−k)
/// gain  = n H − n_l H_l − n_r H_r = |S| · (information gain),   score = −n_l H_l − n_r H_r
/// ```
///
/// (0 log 0 = 0.) Weights are whole numbers, so n and k are counted and the logarithms come from a table;
/// [`WeightedEntropy`] takes other weights and [`LabelEntropy`](super::LabelEntropy) several targets. Cost: O(1) per
/// moved row and per score.
#[derive(Debug, Clone)]
pub(crate) struct Entropy {
    rows: Vec<Counts>,
    k_log_k: XLogXTable,
    node: Counts,
    moved: Counts,
}

/// n in the lower half and k in the upper half: both are summed at once.
type Counts = u64;

/// One in the upper half of counts.
const ONE: Counts = 1 << 32;

fn counts(positive: bool, weight: u32) -> Counts {
    u64::from(weight) * if positive { ONE + 1 } else { 1 }
}

impl Entropy {
    /// Takes a target, by training sample; all samples have weight 1.
    ///
    /// # Panics
    /// If there are 2^32 rows or more.
    pub(crate) fn new(positive: Vec<bool>) -> Self {
        let k_log_k = XLogXTable::up_to(positive.len());
        let weights = vec![1.0; positive.len()];
        Self::weighted(positive.into_iter(), &weights, k_log_k).expect("the rows can be counted")
    }

    /// Takes a target and a weight per training sample; samples of weight 0 are never used. Returns `None` if a weight
    /// is not a whole number from 0, or the table does not reach their sum; [`WeightedEntropy`] is used then.
    ///
    /// # Panics
    /// If the number of weights differs from that of targets.
    pub(crate) fn weighted(
        positive: impl ExactSizeIterator<Item = bool>,
        weights: &[f32],
        k_log_k: XLogXTable,
    ) -> Option<Self> {
        assert_eq!(positive.len(), weights.len(), "one weight per target");
        let whole = are_whole(weights);
        let total: f64 = weights.iter().map(|&w| f64::from(w)).sum();
        let counted = whole && total < k_log_k.0.len() as f64 && total < ONE as f64;
        counted.then(|| Self {
            rows: positive.zip(weights).map(|(p, &w)| counts(p, w as u32)).collect(),
            k_log_k,
            node: 0,
            moved: 0,
        })
    }

    /// Sets the target of the given rows.
    ///
    /// # Panics
    /// If a row is not among the training samples.
    pub(crate) fn mark(&mut self, rows: &[u32], positive: &[bool]) {
        for (&row, &positive) in rows.iter().zip(positive) {
            let place = &mut self.rows[row as usize];
            *place = counts(positive, *place as u32);
        }
    }

    /// Returns −n H of the counted rows.
    #[inline]
    fn certainty(&self, counts: Counts) -> f64 {
        let (n, ones) = (counts as u32 as usize, (counts >> 32) as usize);
        let k_log_k = &self.k_log_k.0;
        k_log_k[ones] + k_log_k[n - ones] - k_log_k[n]
    }
}

impl Criterion for Entropy {
    fn start(&mut self, rows: &[u32]) {
        self.node = rows.iter().map(|&row| self.rows[row as usize]).sum();
        self.moved = 0;
    }

    fn is_pure(&self) -> bool {
        let (n, ones) = (self.node as u32, self.node >> 32);
        ones == 0 || ones == u64::from(n)
    }

    fn clear(&mut self) {
        self.moved = 0;
    }

    #[inline]
    fn move_row(&mut self, row: u32) {
        self.moved += self.rows[row as usize];
    }

    #[inline]
    fn score(&self) -> f64 {
        self.certainty(self.moved) + self.certainty(self.node - self.moved)
    }

    fn gain(&self, score: f64) -> f64 {
        (score - self.certainty(self.node)).max(0.0)
    }
}

/// [`Entropy`] with any weights; with whole weights the scores are the same, bit for bit.
#[derive(Debug, Clone)]
pub(crate) struct WeightedEntropy {
    rows: Vec<Cell>,
    /// Weight, and weight of ones.
    node: [f64; 2],
    moved: [f64; 2],
}

/// The weight of a row, and the weight of its ones.
type Cell = [f32; 2];

impl WeightedEntropy {
    /// Takes a target and a weight (finite, not negative) per training sample; samples of weight 0 are never used.
    ///
    /// # Panics
    /// If the number of weights differs from that of targets.
    pub(crate) fn new(positive: impl ExactSizeIterator<Item = bool>, weights: &[f32]) -> Self {
        assert_eq!(positive.len(), weights.len(), "one weight per target");
        let cell = |(positive, &weight)| [weight, if positive { weight } else { 0.0 }];
        Self {
            rows: positive.zip(weights).map(cell).collect(),
            node: [0.0; 2],
            moved: [0.0; 2],
        }
    }
}

/// Returns −n H of rows of weight n.
#[inline]
fn certainty([n, ones]: [f64; 2]) -> f64 {
    direct(ones) + direct(n - ones) - direct(n)
}

#[inline]
fn add(sums: &mut [f64; 2], cell: Cell) {
    sums[0] += f64::from(cell[0]);
    sums[1] += f64::from(cell[1]);
}

impl Criterion for WeightedEntropy {
    fn start(&mut self, rows: &[u32]) {
        self.node = [0.0; 2];
        rows.iter()
            .for_each(|&row| add(&mut self.node, self.rows[row as usize]));
        self.moved = [0.0; 2];
    }

    fn is_pure(&self) -> bool {
        self.node[1] == 0.0 || self.node[1] == self.node[0]
    }

    fn clear(&mut self) {
        self.moved = [0.0; 2];
    }

    #[inline]
    fn move_row(&mut self, row: u32) {
        add(&mut self.moved, self.rows[row as usize]);
    }

    #[inline]
    fn score(&self) -> f64 {
        let rest = [self.node[0] - self.moved[0], self.node[1] - self.moved[1]];
        certainty(self.moved) + certainty(rest)
    }

    fn gain(&self, score: f64) -> f64 {
        (score - certainty(self.node)).max(0.0)
    }
}

/// Computes |S| times the information gain, in bits, of a split into children 0 and 1 on a 0/1 target.
pub(crate) fn information_gain(positive: &[bool], children: &[u16]) -> f64 {
    // By child: rows, and the number of ones among them.
    let mut counts = [[0_usize; 2]; 2];
    for (&positive, &child) in positive.iter().zip(children) {
        counts[usize::from(child)][0] += 1;
        counts[usize::from(child)][1] += usize::from(positive);
    }
    let k_log_k = |k: usize| direct(k as f64);
    let spread = |[n, ones]: [usize; 2]| k_log_k(n) - k_log_k(ones) - k_log_k(n - ones);
    let [left, right] = counts;
    let whole = [left[0] + right[0], left[1] + right[1]];
    (spread(whole) - spread(left) - spread(right)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computes n H by the definition.
    fn spread(positive: &[bool]) -> f64 {
        let n = positive.len() as f64;
        let ones = positive.iter().filter(|p| **p).count() as f64;
        let term = |k: f64| if k > 0.0 { -k * (k / n).log2() } else { 0.0 };
        term(ones) + term(n - ones)
    }

    proptest! {
        #[test]
        fn gain_is_the_decrease_of_entropy(
            rows in prop::collection::vec((any::<bool>(), 0_u16..2), 2..40),
        ) {
            let (positive, mut children): (Vec<bool>, Vec<u16>) = rows.into_iter().unzip();
            (children[0], children[1]) = (0, 1);
            let mut entropy = Entropy::new(vec![false; positive.len()]);
            let all: Vec<u32> = (0..positive.len() as u32).collect();
            entropy.mark(&all, &positive);
            entropy.start(&all);
            let side = |child| -> Vec<bool> {
                positive.iter().zip(&children).filter(|(_, c)| **c == child).map(|(p, _)| *p).collect()
            };
            let expected = spread(&positive) - spread(&side(0)) - spread(&side(1));
            let mut scores = [0.0; 2];
            for child in [0, 1] {
                entropy.clear();
                all.iter().filter(|&&i| children[i as usize] == child).for_each(|&i| entropy.move_row(i));
                scores[usize::from(child)] = entropy.score();
            }
            prop_assert!((scores[0] - scores[1]).abs() < 1e-9);
            prop_assert!((entropy.gain(scores[0]) - expected).abs() < 1e-9);
            prop_assert!((information_gain(&positive, &children) - expected).abs() < 1e-9);
            prop_assert_eq!(entropy.is_pure(), spread(&positive) == 0.0);
        }

        #[test]
        fn counts_are_weights_bit_for_bit(
            rows in prop::collection::vec((any::<bool>(), 0_u8..5), 2..40),
            n_moved in 0_usize..40,
        ) {
            let (positive, weights): (Vec<bool>, Vec<f32>) = rows.iter().map(|&(p, w)| (p, f32::from(w))).unzip();
            let total: f32 = weights.iter().sum();
            let counted = |most| Entropy::weighted(positive.iter().copied(), &weights, XLogXTable::up_to(most));
            let mut counts = counted(total as usize).unwrap();
            prop_assert!(total == 0.0 || counted(total as usize - 1).is_none());
            let mut sums = WeightedEntropy::new(positive.iter().copied(), &weights);
            let all: Vec<u32> = (0..positive.len() as u32).collect();
            counts.start(&all);
            sums.start(&all);
            prop_assert_eq!(counts.is_pure(), sums.is_pure());
            for &row in all.iter().take(n_moved) {
                counts.move_row(row);
                sums.move_row(row);
                prop_assert_eq!(counts.score().to_bits(), sums.score().to_bits());
                prop_assert_eq!(counts.gain(counts.score()).to_bits(), sums.gain(sums.score()).to_bits());
            }
        }
    }

    #[test]
    fn what_cannot_be_counted_is_refused() {
        for weight in [0.5, -1.0, f32::NAN, f32::INFINITY, 9.0] {
            let none = Entropy::weighted([true].into_iter(), &[weight], XLogXTable::up_to(8));
            assert!(none.is_none(), "{weight}");
        }
    }
}

//! Mini-batches of a node's rows.

use super::design::Batch;
use rand::seq::SliceRandom;
use rpo_core::Seed;

/// Returns mini-batches: all rows if they are few enough, otherwise successive pieces of an order that is shuffled anew
/// at every pass.
///
/// Each order interleaves shuffles of the two classes in proportion, so that every batch has its share of rows of a
/// small class. The plain shuffle of the paper would give some batches none, and the means of a small class, on which the
/// loss depends, would vary more from batch to batch. Rows left over at the end of a pass are not used.
pub(super) struct Batches<'a> {
    all: &'a [bool],
    size: usize,
    seed: Seed,
    pass: u64,
    order: Vec<u32>,
    next: usize,
    positive: Vec<bool>,
}

impl<'a> Batches<'a> {
    pub(super) fn new(positive: &'a [bool], size: usize, seed: Seed) -> Self {
        Self {
            all: positive,
            size: size.min(positive.len()),
            seed,
            pass: 0,
            order: Vec::new(),
            next: 0,
            positive: Vec::new(),
        }
    }

    /// Number of rows in a batch.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Returns the next batch, and for each of its rows whether it is positive.
    pub(super) fn next(&mut self) -> (Batch<'_>, &[bool]) {
        if self.size == self.all.len() {
            return (Batch::All, self.all);
        }
        if self.next + self.size > self.order.len() {
            self.shuffle();
        }
        let rows = &self.order[self.next..][..self.size];
        self.next += self.size;
        self.positive.clear();
        self.positive
            .extend(rows.iter().map(|&row| self.all[row as usize]));
        (Batch::Rows(rows), &self.positive)
    }

    fn shuffle(&mut self) {
        let mut rng = self.seed.child(self.pass).stream();
        let all = self.all;
        let mut classes = [false, true].map(|class| -> Vec<u32> {
            (0..all.len() as u32)
                .filter(|&i| all[i as usize] == class)
                .collect()
        });
        classes.iter_mut().for_each(|class| class.shuffle(&mut rng));
        let (n, n_positive) = (self.all.len(), classes[1].len());
        self.order.clear();
        for i in 0..n {
            // Positive rows at the positions where i · n_positive / n passes a whole number.
            let class = usize::from((i + 1) * n_positive / n > i * n_positive / n);
            self.order.extend(classes[class].pop());
        }
        self.pass += 1;
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn passes_use_rows_once_and_keep_proportions(
            positive in prop::collection::vec(any::<bool>(), 1..60),
            size in 1_usize..40,
            seed: u64,
        ) {
            let n_positive = positive.iter().filter(|p| **p).count();
            let mut batches = Batches::new(&positive, size, Seed::new(seed));
            let per_pass = positive.len() / batches.size();
            for _ in 0..3 {
                let mut seen = Vec::new();
                for _ in 0..per_pass {
                    let (batch, marks) = batches.next();
                    let rows: Vec<u32> = match batch {
                        Batch::All => (0..positive.len() as u32).collect(),
                        Batch::Rows(rows) => rows.to_vec(),
                    };
                    prop_assert_eq!(rows.len(), marks.len());
                    prop_assert!(rows.iter().zip(marks).all(|(&i, &mark)| positive[i as usize] == mark));
                    let share = n_positive as f64 * rows.len() as f64 / positive.len() as f64;
                    prop_assert!((marks.iter().filter(|p| **p).count() as f64 - share).abs() < 1.0 + 1e-9);
                    seen.extend(rows);
                }
                seen.sort_unstable();
                prop_assert!(seen.windows(2).all(|w| w[0] < w[1]));
            }
        }
    }
}

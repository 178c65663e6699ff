//! Labelling of leaves if outputs may be missing.
//!
//! Output j of a leaf is the weighted mean over the samples of the leaf in which it is observed. If there are none, it
//! is the mean of the nearest ancestor that has some, as the tree would have predicted had it stopped there; the
//! alternative, the mean of the whole tree, would pull every deep leaf towards it. The caller provides values for
//! outputs that are observed in no sample of the tree.

use super::LeafMembers;
use crate::rule::Rule;
use crate::structure::{Node, Structure};
use rpo_core::{CsrMatrix, MatrixView, WideSum};

/// Returns the values of all leaves (leaves x outputs), with zeros not stored.
///
/// Cost: O(stored outputs) for the leaves, and the same again for each level of the tree at which outputs are looked up
/// in ancestors.
pub(super) fn observed_means<'a, R: Rule>(
    structure: &Structure<R>,
    members: &LeafMembers,
    weights: &'a [f32],
    outputs: MatrixView<'a>,
    fallback: &[f32],
) -> CsrMatrix {
    let mut sums = ObservedSums::new(outputs, weights);
    let (mut indptr, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut open = vec![Vec::new(); members.n_leaves()];
    for (leaf, open) in open.iter_mut().enumerate() {
        sums.set(&members[leaf]);
        let mut answer = |output: u32, mean: Option<f64>| {
            let value = mean.map_or(f32::NAN, |mean| mean as f32);
            if value.is_nan() {
                let at = values.len();
                open.push(Open { output, at });
            }
            if value != 0.0 {
                columns.push(output);
                values.push(value);
            }
        };
        if sums.is_empty {
            (0..fallback.len() as u32).for_each(|j| answer(j, None));
        } else {
            sums.for_each(answer);
        }
        indptr.push(values.len());
    }
    if open.iter().any(|open| !open.is_empty()) {
        let open = fill_from_ancestors(structure, members, open, &mut sums, &mut values);
        for Open { output, at } in open {
            values[at] = fallback[output as usize];
        }
    }
    let answers = CsrMatrix::new((members.n_leaves(), fallback.len()), indptr, columns, values);
    MatrixView::Sparse(answers.view()).to_csr()
}

/// A value that is still to be found.
#[derive(Debug, Clone, Copy)]
struct Open {
    output: u32,
    /// Position of its value.
    at: usize,
}

/// Fills open values from the leaves upwards; returns those whose outputs are observed in no sample.
fn fill_from_ancestors<R: Rule>(
    structure: &Structure<R>,
    members: &LeafMembers,
    mut open: Vec<Vec<Open>>,
    sums: &mut ObservedSums<'_>,
    values: &mut [f32],
) -> Vec<Open> {
    // Rows and open values below each node; children come after their parents.
    let mut below: Vec<(Vec<u32>, Vec<Open>)> = vec![Default::default(); structure.nodes().len()];
    for (i, node) in structure.nodes().iter().enumerate().rev() {
        below[i] = match node {
            Node::Leaf(leaf) => (
                members[*leaf as usize].to_vec(),
                std::mem::take(&mut open[*leaf as usize]),
            ),
            Node::Split { rule, first_child } => {
                let (mut rows, mut open) = (Vec::new(), Vec::new());
                for child in &mut below[*first_child as usize..][..rule.arity()] {
                    let (mut more_rows, more_open) = std::mem::take(child);
                    // The shorter list is copied, so that a row is copied O(log n) times.
                    if more_rows.len() > rows.len() {
                        std::mem::swap(&mut rows, &mut more_rows);
                    }
                    rows.extend(more_rows);
                    open.extend(more_open);
                }
                if !open.is_empty() {
                    sums.set(&rows);
                    open.retain(|&Open { output, at }| match sums.mean(output) {
                        Some(mean) => {
                            values[at] = mean as f32;
                            false
                        }
                        None => true,
                    });
                }
                (rows, open)
            }
        };
    }
    std::mem::take(&mut below[0].1)
}

/// Sums over the rows of a node in which each output is observed.
struct ObservedSums<'a> {
    outputs: MatrixView<'a>,
    weights: &'a [f32],
    /// True if no row has weight.
    is_empty: bool,
    total: WideSum,
    sums: Vec<OutputSum>,
    /// Outputs stored by some row.
    met: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct OutputSum {
    /// Σ c y of the rows in which the output is observed.
    value: f64,
    /// Weight of the rows in which it is stored and observed.
    observed: f64,
    /// Weight of the rows in which it is stored.
    stored: WideSum,
    met: bool,
}

impl<'a> ObservedSums<'a> {
    fn new(outputs: MatrixView<'a>, weights: &'a [f32]) -> Self {
        Self {
            outputs,
            weights,
            is_empty: true,
            total: WideSum::default(),
            sums: vec![OutputSum::default(); outputs.n_cols()],
            met: Vec::new(),
        }
    }

    /// Computes the sums over these rows.
    fn set(&mut self, rows: &[u32]) {
        for j in self.met.drain(..) {
            self.sums[j as usize] = OutputSum::default();
        }
        (self.is_empty, self.total) = (true, WideSum::default());
        for &row in rows {
            let weight = f64::from(self.weights[row as usize]);
            if weight == 0.0 {
                continue;
            }
            self.is_empty = false;
            self.total.add(weight);
            let (sums, met) = (&mut self.sums, &mut self.met);
            self.outputs.for_each_in_row(row as usize, |j, y| {
                let sum = &mut sums[j as usize];
                if !sum.met {
                    sum.met = true;
                    met.push(j);
                }
                sum.stored.add(weight);
                if !y.is_nan() {
                    sum.observed += weight;
                    sum.value += weight * f64::from(y);
                }
            });
        }
        self.met.sort_unstable();
    }

    /// Returns the mean of an output; `None` if it is observed in no row.
    fn mean(&self, output: u32) -> Option<f64> {
        let sum = &self.sums[output as usize];
        // An output is 0, and observed, where it is not stored.
        let observed = sum.observed + self.total.less(sum.stored).max(0.0);
        (observed > 0.0).then(|| sum.value / observed)
    }

    /// Passes the means of the outputs stored by some row, by increasing output; the others are 0.
    fn for_each(&self, mut f: impl FnMut(u32, Option<f64>)) {
        self.met.iter().for_each(|&j| f(j, self.mean(j)));
    }
}

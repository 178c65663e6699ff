//! Shapley values against their definition.

use proptest::prelude::*;
use rpo_core::Seed;
use rpo_tree::shapley::{Branches, ShapleyWalk};
use rpo_tree::{AxisRule, Node, Row, Rule, Structure};

/// A number in [0, 1) that depends on the seed and an index alone.
fn unit(seed: u64, index: usize) -> f64 {
    (Seed::new(seed).hash(index as u64) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A tree whose rules read `p` features, the same feature often more than once on a path.
fn tree(seed: u64, n_splits: usize, p: usize) -> Structure<AxisRule> {
    // 0 stands for a leaf, otherwise the first child.
    let mut first_child = vec![0_usize];
    for split in 0..n_splits {
        let leaves: Vec<usize> = (0..first_child.len()).filter(|&i| first_child[i] == 0).collect();
        // Mostly the newest leaf, so that paths become long.
        let back = (unit(seed, split) * unit(seed, split) * leaves.len() as f64) as usize;
        first_child[leaves[leaves.len() - 1 - back]] = first_child.len();
        first_child.extend([0, 0]);
    }
    let mut n_leaves = 0;
    let node = |(i, &child): (usize, &usize)| {
        if child == 0 {
            n_leaves += 1;
            return Node::Leaf(n_leaves - 1);
        }
        let feature = (unit(seed, 1000 + i) * p as f64) as u32;
        let threshold = unit(seed, 2000 + i) as f32;
        Node::Split {
            rule: AxisRule::new(feature, threshold, i % 2 == 0),
            first_child: child as u32,
        }
    };
    let nodes: Vec<_> = first_child.iter().enumerate().map(node).collect();
    Structure::try_from(nodes).unwrap()
}

/// v(S): the mean value where the sample follows the rules on the features of `seen`, a set of bits, and is divided as
/// the background at all others.
fn worth(
    tree: &Structure<AxisRule>,
    counts: &[u64],
    node: usize,
    seen: u32,
    row: &[f32],
    value: &dyn Fn(u32) -> f64,
) -> f64 {
    match &tree.nodes()[node] {
        Node::Leaf(leaf) => value(*leaf),
        Node::Split { rule, first_child } => {
            let of = |child: usize| worth(tree, counts, *first_child as usize + child, seen, row, value);
            if seen.checked_shr(rule.test().feature).unwrap_or(0) & 1 == 1 {
                let row = Row {
                    values: row,
                    stored: None,
                };
                return of(rule.child(row));
            }
            let [left, right] = [0, 1].map(|c| below(tree, counts, *first_child as usize + c) as f64);
            if left + right == 0.0 {
                return 0.5 * (of(0) + of(1));
            }
            (left * of(0) + right * of(1)) / (left + right)
        }
    }
}

fn below(tree: &Structure<AxisRule>, counts: &[u64], node: usize) -> u64 {
    match &tree.nodes()[node] {
        Node::Leaf(leaf) => counts[*leaf as usize],
        Node::Split { first_child, .. } => [0, 1]
            .map(|c| below(tree, counts, *first_child as usize + c))
            .iter()
            .sum(),
    }
}

/// The contributions of `p` features to outputs 0 and 1, feature by feature.
fn contributions(
    tree: &Structure<AxisRule>,
    counts: &[u64],
    row: &[f32],
    value: impl Fn(u32, usize) -> f64,
) -> Vec<[f64; 2]> {
    let branches = Branches::new(tree, counts).unwrap();
    let mut sums = vec![[0.0; 2]; row.len()];
    let row = Row {
        values: row,
        stored: None,
    };
    ShapleyWalk::default().walk(&branches, row, 2, value, |feature, given| {
        let sum = &mut sums[feature as usize];
        sum.iter_mut().zip(given).for_each(|(sum, given)| *sum += given);
    });
    sums
}

fn factorial(n: u32) -> f64 {
    (1..=n).map(f64::from).product()
}

proptest! {
    /// The sum over all subsets of features, as Shapley (1953) defines it.
    #[test]
    fn contributions_are_shapley_values(seed in any::<u64>(), n_splits in 0_usize..14, p in 1_usize..6, missing in any::<bool>()) {
        let tree = tree(seed, n_splits, p);
        // Some leaves, and so some branches, have no background samples.
        let counts: Vec<u64> = (0..tree.n_leaves()).map(|i| (unit(seed, 3000 + i) * 6.0) as u64 / 2).collect();
        let row: Vec<f32> = (0..p).map(|i| if missing && i == 0 { f32::NAN } else { unit(seed, 4000 + i) as f32 }).collect();
        let value = |leaf: u32, output: usize| unit(seed, 5000 + leaf as usize * 2 + output) - 0.5;
        let found = contributions(&tree, &counts, &row, value);
        for output in 0..2 {
            let v = |seen: u32| worth(&tree, &counts, 0, seen, &row, &|leaf| value(leaf, output));
            for feature in 0..p {
                let others = (0..1_u32 << p).filter(|seen| seen >> feature & 1 == 0);
                let expected: f64 = others.map(|seen| {
                    let (s, m) = (seen.count_ones(), p as u32);
                    factorial(s) * factorial(m - s - 1) / factorial(m) * (v(seen | 1 << feature) - v(seen))
                }).sum();
                prop_assert!((found[feature][output] - expected).abs() < 1e-12, "{feature}: {} for {expected}", found[feature][output]);
            }
        }
    }

    /// However deep the tree, contributions add up to the prediction.
    #[test]
    fn contributions_sum_to_the_prediction(seed in any::<u64>(), n_splits in 0_usize..400, p in 1_usize..200) {
        let tree = tree(seed, n_splits, p);
        let counts: Vec<u64> = (0..tree.n_leaves()).map(|i| (unit(seed, 3000 + i) * 9.0) as u64).collect();
        let row: Vec<f32> = (0..p).map(|i| unit(seed, 4000 + i) as f32).collect();
        let value = |leaf: u32, output: usize| unit(seed, 5000 + leaf as usize * 2 + output);
        let mut leaf = [0];
        tree.leaves(&[Row { values: &row, stored: None }], &mut leaf);
        let found = contributions(&tree, &counts, &row, value);
        for output in 0..2 {
            let base = worth(&tree, &counts, 0, 0, &row, &|leaf| value(leaf, output));
            let sum: f64 = base + found.iter().map(|given| given[output]).sum::<f64>();
            prop_assert!((sum - value(leaf[0], output)).abs() < 1e-10, "{sum}");
        }
    }
}

#[test]
fn counts_of_other_leaves_are_refused() {
    let tree = tree(1, 3, 2);
    assert!(Branches::new(&tree, &[1, 2]).is_err());
}

//! Shapley values of one sample: a walk through the whole tree.

use super::branches::Branches;
use crate::rule::{Row, Rule};
use crate::structure::Node;

/// How the rules on one feature, from the root down to a branch, divide samples.
#[derive(Debug, Clone, Copy)]
struct Passing {
    /// o: 1 if the explained sample follows all of them, 0 if not.
    explained: f64,
    /// z: the fraction of background samples that follow all of them.
    background: f64,
}

impl Passing {
    /// No rule on the feature so far.
    const FREE: Self = Self {
        explained: 1.0,
        background: 1.0,
    };

    /// The factor of the integrand at t.
    fn factor(self, t: f64) -> f64 {
        self.background + t * (self.explained - self.background)
    }

    /// The factor that turns the integrand with all features into what this one gives; 0 without a rule.
    fn gain(self, t: f64) -> f64 {
        (self.explained - self.background) / self.factor(t)
    }
}

/// A branch on the path to the current node.
#[derive(Debug, Clone, Copy)]
struct Branch {
    node: usize,
    feature: u32,
    passing: Passing,
    /// The same for the rules above this branch.
    above: Passing,
    /// The child to visit next.
    next: usize,
}

/// Buffers of a walk, reused from sample to sample and from tree to tree.
#[derive(Debug, Clone, Default)]
pub struct ShapleyWalk {
    path: Vec<Branch>,
    /// For each branch of the path, the product of all factors at each point.
    products: Vec<f64>,
    /// For each branch of the path, the sums of weight · product · value over the leaves below it, by point and output.
    sums: Vec<f64>,
    given: Vec<f64>,
}

impl ShapleyWalk {
    /// Calls `add(feature, contributions)` with the parts of each feature's contribution to `n_outputs` values of a
    /// tree for a sample; the parts of a feature are to be added up. `value(leaf, output)` are the values of the
    /// leaves.
    pub fn walk(
        &mut self,
        tree: &Branches<'_>,
        row: Row<'_>,
        n_outputs: usize,
        value: impl Fn(u32, usize) -> f64,
        mut add: impl FnMut(u32, &[f64]),
    ) {
        let nodes = tree.structure.nodes();
        let rule = &tree.quadrature;
        let (q, k) = (rule.points.len(), n_outputs);
        if k == 0 {
            return;
        }
        self.path.clear();
        self.products.clear();
        self.sums.clear();
        self.given.resize(k, 0.0);
        // A branch to the root, on no feature.
        self.path.push(Branch {
            node: 0,
            feature: u32::MAX,
            passing: Passing::FREE,
            above: Passing::FREE,
            next: 0,
        });
        self.products.resize(q, 1.0);
        self.sums.resize(q * k, 0.0);
        while let Some(last) = self.path.len().checked_sub(1) {
            let branch = self.path[last];
            match &nodes[branch.node] {
                Node::Split {
                    rule: split,
                    first_child,
                } if branch.next < split.arity() => {
                    self.path[last].next += 1;
                    let node = *first_child as usize + branch.next;
                    self.enter(tree, node, split.feature(), split.child(row) == branch.next, k);
                    continue;
                }
                Node::Split { .. } => {}
                Node::Leaf(leaf) => {
                    let products = &self.products[last * q..][..q];
                    for ((product, weight), sums) in products
                        .iter()
                        .zip(&rule.weights)
                        .zip(self.sums[last * q * k..].chunks_exact_mut(k))
                    {
                        let share = product * weight;
                        (0..)
                            .zip(sums)
                            .for_each(|(j, sum)| *sum = share * value(*leaf, j));
                    }
                }
            }
            // All leaves below the branch are summed.
            let (above, below) = self.sums.split_at_mut(last * q * k);
            if last > 0 {
                self.given.fill(0.0);
                for (t, sums) in rule.points.iter().zip(below.chunks_exact(k)) {
                    // A leaf counts a feature by its last rule, so the share of the rule above is subtracted.
                    let gain = branch.passing.gain(*t) - branch.above.gain(*t);
                    self.given
                        .iter_mut()
                        .zip(sums)
                        .for_each(|(given, sum)| *given += gain * sum);
                }
                add(branch.feature, &self.given);
                let parent = &mut above[(last - 1) * q * k..];
                parent
                    .iter_mut()
                    .zip(below.iter())
                    .for_each(|(parent, sum)| *parent += sum);
            }
            self.path.pop();
            self.products.truncate(last * q);
            self.sums.truncate(last * q * k);
        }
    }

    /// Appends a branch to the path, unless no leaf below it counts.
    fn enter(&mut self, tree: &Branches<'_>, node: usize, feature: u32, is_followed: bool, k: usize) {
        let earlier = self.path.iter().rev().find(|branch| branch.feature == feature);
        let above = earlier.map_or(Passing::FREE, |branch| branch.passing);
        let passing = Passing {
            explained: if is_followed { above.explained } else { 0.0 },
            background: above.background * tree.fractions[node],
        };
        // Neither the sample nor the background gets here.
        if passing.explained == 0.0 && passing.background == 0.0 {
            return;
        }
        let q = tree.quadrature.points.len();
        let parent = self.products.len() - q;
        for (i, t) in tree.quadrature.points.iter().enumerate() {
            let product = self.products[parent + i] / above.factor(*t) * passing.factor(*t);
            self.products.push(product);
        }
        self.sums.resize(self.sums.len() + q * k, 0.0);
        self.path.push(Branch {
            node,
            feature,
            passing,
            above,
            next: 0,
        });
    }
}

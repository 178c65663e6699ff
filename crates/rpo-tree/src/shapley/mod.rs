//! Shapley values: how much each feature contributes to what a tree predicts for a sample.
//!
//! A tree is a game whose players are the features. What a set S of features is worth is the prediction if only they
//! are seen: the sample follows each rule on a feature in S, and at every other rule it is divided among the children as
//! the samples of a background set were,
//!
//! ```text
//! v(S) = Σ_leaves value · Π_{features i on the path} (i in S ? o_i : z_i)
//! ```
//!
//! where z_i is the product over the rules on feature i of the fraction of background samples that go on along the path,
//! and o_i is 1 if the sample itself follows all these rules and 0 if not. The contribution of a feature is its Shapley
//! value, the mean of v(S ∪ {i}) - v(S) over all orders in which features can be seen. Contributions sum to the prediction
//! minus v(∅), the mean prediction for the background. A feature that no rule reads contributes 0, and features with the
//! same effect contribute the same.
//!
//! Source: the path-dependent values of Lundberg, Erion, Lee 2018 (Consistent individualized feature attribution for tree
//! ensembles, section 3, algorithm 2). They are computed in another way. Shapley's weight of a set of s of m features is an
//! integral, s! (m - s - 1)! / m! = ∫ t^s (1 - t)^(m - s - 1) dt over [0, 1], so that a leaf gives feature i
//!
//! ```text
//! value · (o_i - z_i) ∫ Π_{j ≠ i} (z_j + t (o_j - z_j)) dt
//! ```
//!
//! The integrand is a polynomial of degree m - 1, for which a Gauss-Legendre rule of m / 2 points is exact. All its
//! factors are positive at the points, so that nothing cancels however deep the tree, whereas the published recursion
//! takes differences. Integrals are summed from the leaves to the root, which takes O(nodes · points) per output where the
//! recursion takes O(leaves · depth²).

mod branches;
mod quadrature;
mod walk;

pub use branches::Branches;
pub use walk::ShapleyWalk;

//! CRAFTML: forests of k-ary trees for data with very many labels.
//!
//! A tree sends a row down from node to node, each time to the nearest of the node's k centroids:
//!
//! ```text
//! grow(S):     if S is small, or its rows or its labels are all equal: a leaf, ŷ = (1/|S|) Σ_{i∈S} y_i
//!              else cluster the projected labels P_yᵀ y_i of a sample of S into k clusters (k-means),
//!              take for the centroids the means of the clusters' projected features P_xᵀ x_i,
//!              send every row of S to its nearest centroid, and grow the parts
//! predict(x):  the mean over trees of the leaf vectors that x reaches
//! ```
//!
//! Shapes: X (n x p), Y (n x d), both sparse; P_x (p x p'), P_y (d x d'). Cost: a level of a tree takes
//! O(k (nnz(X) + passes · nnz(Y))), depth is about log_k(n / n_leaf), and nothing but the leaves' labels is ever as
//! wide as d. Predicting takes O(T · depth · k · nnz(x)).
//!
//! Two presets. [`CraftmlPreset::Original`] is the method of the paper as its authors released it: hashing projections
//! that are never stored, one of the features per tree and one of the labels per node, spherical k-means, routing by
//! cosine. [`CraftmlPreset::Report`] is a re-implementation described in a student report: sparse Rademacher
//! projections of both at every node, Euclidean k-means and routing, four trees with leaves of up to 200 rows.
//!
//! Forests of the original preset hold which training samples taught each centroid ([`CentroidKind::Rows`]), and the
//! training samples once, in place of the centroids, in memory as in a file: a byte or two per row, level and tree.
//! Centroids are computed where samples come through, bit for bit as growing did, and those of the largest nodes are kept
//! from then on.
//!
//! A tree depends on the data, the parameters, the seed and its index alone, not on threads. Labels may be any finite
//! outputs; scores are means of them.
//!
//! Source: Siblini, Kuntz, Meyer, *CRAFTML, an Efficient Clustering-based Random Forest for Extreme Multi-label
//! Learning*, ICML 2018. Five departures from the released code, none of which makes results worse: running centres
//! of k-means are scaled to unit length, so that products with them are cosines; a node of which all rows go to one
//! child is tried again in place, not as a chain of nodes; pruned centroids are scaled to unit length once more; a node
//! whose rows are equal is a leaf whatever its size; rows that five attempts do not part, equal in direction, are a leaf.

mod fit;
mod hashed;
mod model;
mod params;
mod rademacher;
mod store;
mod training_set;

pub use fit::CraftmlTrainer;
pub use hashed::FeatureMap;
pub use model::{Craftml, CraftmlTree};
pub use params::{CentroidEntries, CentroidKind, CraftmlParams, CraftmlPreset, Width};
pub use rpo_tree::centroid::NodeSample;
pub use store::TreeByTree;

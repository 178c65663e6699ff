//! CRAFTML: forests of k-ary trees for data with very many labels.
//!
//! At each node of a tree, a sample is sent to the child with the nearest of the node's k centroids:
//!
//! ```text
//! grow(S):     if S is small, or its rows or its labels are all equal: a leaf, ŷ = (1/|S|) Σ_{i∈S} y_i
//!              else cluster the projected labels P_yᵀ y_i of a sample of S into k clusters (k-means),
//!              take for the centroids the means of the clusters' projected features P_xᵀ x_i,
//!              send every row of S to its nearest centroid, and grow the children
//! predict(x):  the mean over trees of the leaf vectors that x reaches
//! ```
//!
//! Shapes: X (n x p), Y (n x d), both sparse; P_x (p x p'), P_y (d x d'). Cost: a level of a tree takes O(k (nnz(X) +
//! passes · nnz(Y))), the depth is about log_k(n / n_leaf), and only the labels of the leaves are ever as wide as d.
//! Prediction takes O(T · depth · k · nnz(x)).
//!
//! There are two algorithms. [`CraftmlVariant::Original`] is the method of the paper as its authors released it: hashing
//! projections that are never stored, one of the features per tree and one of the labels per node, spherical k-means,
//! and routing by cosine. [`CraftmlVariant::Report`] is a re-implementation described in a student report: sparse
//! Rademacher projections of both at every node, Euclidean k-means and routing, and four trees with leaves of fewer
//! than 200 samples.
//!
//! Instead of centroids, forests of the original method store the training samples that each centroid was computed from
//! ([`CentroidKind::Rows`]), and the training set once, in memory as in a file: a byte or two per sample, level and
//! tree. The centroids of a node are computed when samples reach it, bit for bit as during growing, and those of the
//! largest nodes are kept from then on.
//!
//! A tree depends only on the data, the parameters, the seed and its index, not on threads. Labels may be any finite
//! outputs; scores are means of the outputs.
//!
//! Source: Siblini, Kuntz, Meyer, *CRAFTML, an Efficient Clustering-based Random Forest for Extreme Multi-label
//! Learning*, ICML 2018. There are five departures from the released code, none of which makes results worse: running
//! centres of k-means are scaled to unit length, so that products with them are cosines; if all samples of a node go to
//! one child, the split is tried again in place instead of making a chain of nodes; pruned centroids are scaled to unit
//! length once more; a node whose samples are equal is a leaf, whatever its size; samples of equal direction that five
//! attempts do not separate are a leaf.

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
pub use params::{CentroidEntries, CentroidKind, CraftmlParams, CraftmlVariant, Width};
pub use rpo_tree::centroid::NodeSample;
pub use store::TreeByTree;

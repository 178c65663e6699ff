//! CRAFTML forests as arrays, and back: a part of arrays per tree, so that trees can be written as they are grown.
//!
//! A tree is written as a record of which training rows taught it, if it has one, and with its centroids otherwise.
//! Nodes come in preorder, each by its number of children. As depth-first growth leaves them, the children of a
//! split lie side by side behind those of the splits before it, and leaves are numbered as they come.

use super::arrays::{ArrayReader, ArrayWriter, check_length, check_values};
use super::error::ModelFileErrorKind as Kind;
use super::leaves::{LeafReader, LeafWriter, read_outputs};
use super::matrix;
use crate::ModelError;
use rayon::prelude::*;
use rpo_core::{Matrix, MatrixView, Seed};
use rpo_ensemble::craftml::{CraftmlRecord, CraftmlTree, FeatureMap, TrainingSet};
use rpo_ensemble::{Craftml, EnsembleError};
use rpo_projections::{Hashing, HashingMap, LinearMap};
use rpo_tree::centroid::{CentroidRule, TreeRecord};
use rpo_tree::{LeafKind, LeafMembers, Node, Rule, Structure, Tree, TreeError};
use std::borrow::Cow;
use std::sync::Arc;

/// The features of the training rows.
const INPUT_NAMES: matrix::Names = matrix::Names {
    size: "input.size",
    column: "input.column",
    value: "input.value",
};

/// How leaves are stored, in `tree.leaves`.
const LEAF_KINDS: [LeafKind; 3] = [LeafKind::Dense, LeafKind::Sparse, LeafKind::Samples];

/// The features of the training rows that records refer to; their outputs are written apart.
pub(super) fn write_inputs(features: MatrixView<'_>, out: &mut ArrayWriter) -> Result<(), Kind> {
    let mut rows = matrix::SparseRows::default();
    rows.push(&features.to_csr().view());
    rows.write(&INPUT_NAMES, out)
}

/// The arrays of a tree, and the training outputs that its leaves refer to.
pub(super) fn write_tree(
    index: usize,
    tree: &CraftmlTree,
) -> Result<(ArrayWriter, Option<Arc<Matrix>>), Kind> {
    let mut out = ArrayWriter::default();
    out.longs("tree.seed", &[tree.seed().value()]);
    if let FeatureMap::Hashed(map) = tree.features() {
        out.longs("hash.seed", &[map.seed().value()]);
        out.integers("hash.width", &[map.n_components() as u32]);
    }
    if let Some(record) = tree.record() {
        write_record(&record, &mut out);
        return Ok((out, None));
    }
    Splits::of(index, tree.tree().structure())?.write(&mut out)?;
    let mut leaves = LeafWriter::default();
    leaves.push(index, tree.tree().leaves())?;
    let outputs = leaves.write(&mut out)?;
    Ok((out, outputs))
}

fn write_record(record: &CraftmlRecord<'_>, out: &mut ArrayWriter) {
    let members = &record.tree.leaf_members;
    let sizes: Vec<u32> = (0..members.n_leaves())
        .map(|leaf| members.rows(leaf).len() as u32)
        .collect();
    let kind = LEAF_KINDS.iter().position(|&kind| kind == record.leaves);
    out.integers("tree.leaves", &[kind.expect("all kinds are listed") as u32]);
    out.integers("node.children", &record.tree.children);
    out.integers("leaf.size", &sizes);
    out.integers("leaf.row", members.all_rows());
    out.integers("split.teacher", &record.tree.centroid_members);
    if let Some(max) = record.max_entries {
        // More than any number of features is as good as all.
        out.integers("centroid.entries", &[u32::try_from(max).unwrap_or(u32::MAX)]);
    }
}

/// The forest of `n_trees` parts.
pub(super) fn read(
    arrays: &mut ArrayReader<'_>,
    n_trees: usize,
    n_train: usize,
    n_features: usize,
    n_outputs: usize,
) -> Result<Craftml, Kind> {
    let outputs = read_outputs(arrays, n_outputs)?;
    let training = match &outputs {
        Some(outputs) if arrays.has(INPUT_NAMES.size) => {
            let features = matrix::read(&INPUT_NAMES, n_features, arrays)?;
            let set = TrainingSet::new(MatrixView::Sparse(features.view()), Arc::clone(outputs));
            Some(Arc::new(set.map_err(ensemble)?))
        }
        _ => None,
    };
    let of_tree = |tree, problem: Kind| Kind::Tree {
        tree,
        problem: problem.to_string(),
    };
    let mut parts = Vec::new();
    for tree in 0..n_trees {
        let mut part = arrays.part(tree);
        let read = read_tree(
            &mut part,
            outputs.as_ref(),
            training.as_deref(),
            n_features,
            n_outputs,
        );
        let read = read.and_then(|tree| part.finish().map(|()| tree));
        parts.push(read.map_err(|problem| of_tree(tree, problem))?);
    }
    let rebuild = |(tree, part): (usize, Part<'_>)| {
        let rebuilt = match part {
            Part::Whole(whole) => return Ok(whole),
            Part::Record(record, training) => record.rebuild(training).map_err(ensemble),
        };
        rebuilt.map_err(|problem| of_tree(tree, problem))
    };
    let trees = parts.into_par_iter().enumerate().map(rebuild);
    let trees = trees.collect::<Result<Vec<_>, Kind>>()?;
    Craftml::from_parts(trees, training, n_train, n_features, n_outputs).map_err(ensemble)
}

/// A tree as a file holds it, and the training set if it refers to it.
enum Part<'t> {
    Whole(CraftmlTree),
    Record(CraftmlRecord<'static>, &'t TrainingSet),
}

fn ensemble(e: EnsembleError) -> Kind {
    ModelError::from(e).into()
}

fn tree_error(e: TreeError) -> Kind {
    ensemble(e.into())
}

fn read_tree<'t>(
    arrays: &mut ArrayReader<'_>,
    outputs: Option<&Arc<Matrix>>,
    training: Option<&'t TrainingSet>,
    n_features: usize,
    n_outputs: usize,
) -> Result<Part<'t>, Kind> {
    let seed = Seed::new(one("tree.seed", &arrays.longs("tree.seed")?)?);
    let features = if arrays.has("hash.seed") {
        let key = one("hash.seed", &arrays.longs("hash.seed")?)?;
        let width = one("hash.width", &arrays.integers("hash.width")?)?;
        let map = Hashing::map(n_features, width as usize, Seed::new(key));
        FeatureMap::Hashed(map.map_err(|e| ensemble(e.into()))?)
    } else {
        FeatureMap::Identity
    };
    if let (FeatureMap::Hashed(hashing), true) = (features, arrays.has("split.teacher")) {
        let training = training.ok_or_else(|| Kind::array(INPUT_NAMES.size, "is missing"))?;
        let record = read_record(arrays, hashing, seed, training.features().rows())?;
        return Ok(Part::Record(record, training));
    }
    let nodes = Splits::read(arrays)?.nodes()?;
    let structure = Structure::new(nodes).map_err(tree_error)?;
    let mut leaves = LeafReader::new(arrays, outputs, 1, structure.n_leaves(), n_outputs)?;
    let leaves = leaves.next(structure.n_leaves())?.map_err(tree_error)?;
    let tree = Tree::new(structure, leaves).map_err(tree_error)?;
    let tree = CraftmlTree::new(features, tree, seed).map_err(ensemble)?;
    Ok(Part::Whole(tree))
}

fn read_record(
    arrays: &mut ArrayReader<'_>,
    hashing: HashingMap,
    seed: Seed,
    n_train: usize,
) -> Result<CraftmlRecord<'static>, Kind> {
    let kind = one("tree.leaves", &arrays.integers("tree.leaves")?)?;
    let leaves = LEAF_KINDS.get(kind as usize).copied();
    let leaves = leaves.ok_or_else(|| Kind::array("tree.leaves", "is not 0, 1 or 2"))?;
    let sizes = arrays.integers("leaf.size")?;
    let members =
        LeafMembers::from_parts(arrays.integers("leaf.row")?, &sizes, n_train).map_err(tree_error)?;
    let max_entries = if arrays.has("centroid.entries") {
        let entries = one("centroid.entries", &arrays.integers("centroid.entries")?)?;
        if entries == 0 {
            return Err(Kind::array("centroid.entries", "is 0; expected at least 1"));
        }
        Some(entries as usize)
    } else {
        None
    };
    Ok(CraftmlRecord {
        hashing,
        tree: TreeRecord {
            children: arrays.integers("node.children")?,
            leaf_members: Cow::Owned(members),
            centroid_members: arrays.integers("split.teacher")?,
        },
        max_entries,
        leaves,
        seed,
    })
}

/// The only entry of an array.
fn one<T: Copy>(name: &str, values: &[T]) -> Result<T, Kind> {
    check_length(name, values, 1)?;
    Ok(values[0])
}

/// The nodes of a tree in preorder, and the rules of its splits.
#[derive(Default)]
struct Splits {
    /// Per node the number of children, 0 for leaves.
    children: Vec<u32>,
    /// Per split and child.
    offsets: Vec<f32>,
    /// Per split the number of its features.
    n_features: Vec<u32>,
    /// Per split and feature.
    features: Vec<u32>,
    n_entries: Vec<u32>,
    /// Per split, feature and child with a weight.
    entry_child: Vec<u32>,
    entry_weight: Vec<f32>,
}

impl Splits {
    fn of(index: usize, structure: &Structure<CentroidRule>) -> Result<Self, Kind> {
        let nodes = structure.nodes();
        let mut splits = Self::default();
        let (mut next_child, mut n_leaves) = (1, 0);
        let mut stack = vec![0_usize];
        while let Some(node) = stack.pop() {
            match &nodes[node] {
                Node::Leaf(leaf) => {
                    splits.children.push(0);
                    check_order(index, *leaf, n_leaves)?;
                    n_leaves += 1;
                }
                Node::Split { rule, first_child } => {
                    splits.push(rule);
                    check_order(index, *first_child, next_child)?;
                    next_child += rule.arity() as u32;
                    let first = *first_child as usize;
                    stack.extend((first..first + rule.arity()).rev());
                }
            }
        }
        Ok(splits)
    }

    fn push(&mut self, rule: &CentroidRule) {
        self.children.push(rule.arity() as u32);
        self.offsets.extend_from_slice(rule.offsets());
        self.n_features.push(rule.features().len() as u32);
        self.features.extend_from_slice(rule.features());
        for i in 0..rule.features().len() {
            let before = self.entry_child.len();
            for (child, weight) in rule.entries(i) {
                self.entry_child.push(child.into());
                self.entry_weight.push(weight);
            }
            self.n_entries.push((self.entry_child.len() - before) as u32);
        }
    }

    fn write(&self, out: &mut ArrayWriter) -> Result<(), Kind> {
        for (name, values) in [
            ("split.offset", &self.offsets),
            ("entry.weight", &self.entry_weight),
        ] {
            check_values(name, values, "a finite number", f32::is_finite)?;
        }
        out.integers("node.children", &self.children);
        // By bits, as what is left out is read as 0 and not as -0.
        if self.offsets.iter().any(|v| v.to_bits() != 0) {
            out.floats("split.offset", &self.offsets);
        }
        out.integers("split.features", &self.n_features);
        out.integers("feature.number", &self.features);
        out.integers("feature.entries", &self.n_entries);
        out.integers("entry.child", &self.entry_child);
        out.floats("entry.weight", &self.entry_weight);
        Ok(())
    }

    fn read(arrays: &mut ArrayReader<'_>) -> Result<Self, Kind> {
        let sum = |values: &[u32]| values.iter().map(|&n| u64::from(n)).sum::<u64>() as usize;
        let children = arrays.integers("node.children")?;
        check_values("node.children", &children, "at most 65535", |c: u32| {
            c <= u32::from(u16::MAX)
        })?;
        let n_splits = children.iter().filter(|c| **c > 0).count();
        let offsets = if arrays.has("split.offset") {
            arrays.numbers("split.offset")?
        } else {
            vec![0.0; sum(&children)]
        };
        check_length("split.offset", &offsets, sum(&children))?;
        let n_features = arrays.integers("split.features")?;
        check_length("split.features", &n_features, n_splits)?;
        let features = arrays.integers("feature.number")?;
        check_length("feature.number", &features, sum(&n_features))?;
        let n_entries = arrays.integers("feature.entries")?;
        check_length("feature.entries", &n_entries, features.len())?;
        check_values("feature.entries", &n_entries, "at most 65535", |n: u32| {
            n <= u32::from(u16::MAX)
        })?;
        let entry_child = arrays.integers("entry.child")?;
        check_length("entry.child", &entry_child, sum(&n_entries))?;
        check_values("entry.child", &entry_child, "at most 65535", |c: u32| {
            c <= u32::from(u16::MAX)
        })?;
        let entry_weight = arrays.numbers("entry.weight")?;
        check_length("entry.weight", &entry_weight, entry_child.len())?;
        Ok(Self {
            children,
            offsets,
            n_features,
            features,
            n_entries,
            entry_child,
            entry_weight,
        })
    }

    /// The nodes as growing left them.
    fn nodes(self) -> Result<Vec<Node<CentroidRule>>, Kind> {
        let outside = |problem: &str| Kind::array("node.children", problem);
        let mut nodes = vec![Node::Leaf(0); self.children.len()];
        let mut at = Position::default();
        let (mut next_child, mut n_leaves) = (1, 0);
        let mut stack = vec![0_usize];
        for &arity in &self.children {
            let place = stack
                .pop()
                .ok_or_else(|| outside("has nodes behind the last leaf"))?;
            let node = if arity == 0 {
                n_leaves += 1;
                Node::Leaf(n_leaves - 1)
            } else {
                let first = next_child;
                next_child += arity;
                if next_child as usize > nodes.len() {
                    return Err(outside("has children that are missing"));
                }
                stack.extend((first as usize..next_child as usize).rev());
                Node::Split {
                    rule: self.rule(arity as usize, &mut at)?,
                    first_child: first,
                }
            };
            nodes[place] = node;
        }
        if stack.is_empty() {
            Ok(nodes)
        } else {
            Err(outside("has children that are missing"))
        }
    }

    /// The rule of the next split.
    fn rule(&self, arity: usize, at: &mut Position) -> Result<CentroidRule, Kind> {
        let offsets = &self.offsets[at.offset..][..arity];
        let features = at.feature..at.feature + self.n_features[at.split] as usize;
        let narrow = |v: &u32| *v as u16;
        let counts: Vec<u16> = self.n_entries[features.clone()].iter().map(narrow).collect();
        let entries = at.entry..at.entry + counts.iter().map(|&n| usize::from(n)).sum::<usize>();
        *at = Position {
            split: at.split + 1,
            offset: at.offset + arity,
            feature: features.end,
            entry: entries.end,
        };
        CentroidRule::from_parts(
            offsets.to_vec(),
            self.features[features].to_vec(),
            &counts,
            self.entry_child[entries.clone()].iter().map(narrow).collect(),
            self.entry_weight[entries].to_vec(),
        )
        .map_err(|e| ModelError::from(EnsembleError::from(e)).into())
    }
}

/// How much of the arrays is consumed.
#[derive(Default)]
struct Position {
    split: usize,
    offset: usize,
    feature: usize,
    entry: usize,
}

fn check_order(tree: usize, found: u32, expected: u32) -> Result<(), Kind> {
    if found == expected {
        return Ok(());
    }
    Err(Kind::Tree {
        tree,
        problem: "its nodes do not lie as depth-first growth leaves them".to_owned(),
    })
}

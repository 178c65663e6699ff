//! Trees of centroids stored as the training samples that each centroid averages.
//!
//! A centroid is a mean of training samples. Deep in a tree it is the mean of few rows, and storing their numbers takes
//! far less memory than storing its entries: a byte per row and level of the tree, whatever the number of features.
//! When samples reach a node, averaging recomputes its centroids exactly as growth computed them, bit for bit; only the
//! clusters, which growth searches for, are stored. The centroids of large nodes, which are few and the most expensive,
//! are kept once computed.

mod walk;

pub use walk::RouteBuffers;

use super::CentroidRule;
use super::gather::Centroid;
use super::rule::MAX_CHILDREN;
use crate::error::TreeError;
use crate::leaves::LeafMembers;
use crate::rule::Rule;
use crate::structure::{Node, Structure};
use rpo_core::{Mismatch, ParameterError, TooFew};
use std::ops::Range;
use std::sync::OnceLock;

/// The splits and leaves of a tree that routes by [`Cosine`](super::Cosine), stored as the samples that its centroids
/// average.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedTree {
    /// Number of nodes, splits and leaves.
    pub n_nodes: usize,
    /// Largest depth of a leaf; the root has depth 0.
    pub depth: usize,
    /// The splits, in preorder.
    splits: Vec<Split>,
    /// The root, then the children of each split in turn.
    children: Vec<Child>,
    /// The training samples of each leaf, leaves in preorder.
    members: LeafMembers,
    codes: Codes,
    /// Largest number of entries of a centroid.
    max_entries: Option<usize>,
    made: MadeCentroids,
}

/// A split: the positions of its children, of the leaves below it and of the codes of its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Split {
    first_child: u32,
    leaves: Range<u32>,
    first_code: u64,
}

/// A child of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Child {
    Leaf(u32),
    Split(u32),
}

/// For each split in preorder and each row of its node in increasing order: 1 + the child whose centroid averages the
/// row, or 0 if none does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Codes {
    Narrow(Vec<u8>),
    Wide(Vec<u16>),
}

impl Codes {
    /// Creates codes from numbers, in the narrowest type that holds the largest.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] for a code beyond that of the last child that a split may have.
    pub(super) fn new(codes: impl Iterator<Item = u32> + Clone) -> Result<Self, TreeError> {
        match codes.clone().max() {
            Some(code) if code as usize > MAX_CHILDREN => Err(wrong_code(code.to_string(), "at most 65535")),
            Some(0x100..) => Ok(Self::Wide(codes.map(|code| code as u16).collect())),
            _ => Ok(Self::Narrow(codes.map(|code| code as u8).collect())),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Narrow(codes) => codes.len(),
            Self::Wide(codes) => codes.len(),
        }
    }

    /// Replaces `codes` by a range of these codes.
    fn copy(&self, range: Range<usize>, codes: &mut Vec<u16>) {
        codes.clear();
        match self {
            Self::Narrow(all) => codes.extend(all[range].iter().map(|&code| u16::from(code))),
            Self::Wide(all) => codes.extend_from_slice(&all[range]),
        }
    }
}

/// The centroids of large nodes that were already computed. They are derived from the rest of a tree and are ignored
/// when trees are compared.
#[derive(Debug, Clone, Default)]
struct MadeCentroids {
    /// The large splits, increasing.
    splits: Vec<u32>,
    centroids: Vec<OnceLock<Box<[Centroid]>>>,
}

impl PartialEq for MadeCentroids {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl RecordedTree {
    /// Number of training rows of a node beyond which its centroids are kept. By default they have a thousand entries
    /// each, and those of the many smaller nodes would take more memory than the rest of the tree.
    const LARGE: usize = 4096;

    /// Returns the record of a structure whose splitter stored [members](super::StoredCentroids::Members), otherwise
    /// `None`.
    pub fn of(
        structure: &Structure<CentroidRule>,
        members: LeafMembers,
        max_entries: Option<usize>,
    ) -> Option<Self> {
        let arities: Vec<u32> = structure
            .preorder()
            .map(|(_, node)| match node {
                Node::Leaf(_) => 0,
                Node::Split { rule, .. } => rule.arity() as u32,
            })
            .collect();
        let mut codes = Vec::new();
        structure
            .splits()
            .for_each(|(_, rule)| codes.extend(rule.members().iter().map(|&code| u32::from(code))));
        Self::new(
            &arities,
            members,
            Codes::new(codes.into_iter()).ok()?,
            max_entries,
        )
        .ok()
    }

    /// Creates a tree from stored parts: the number of children of each node in preorder, 0 for leaves; the samples of
    /// the leaves; and the codes of all splits.
    pub(super) fn from_parts(
        arities: &[u32],
        members: LeafMembers,
        codes: Codes,
        max_entries: Option<usize>,
        n_rows: usize,
    ) -> Result<Self, TreeError> {
        TooFew::check_indices("rows for the members of leaves", members.all_rows(), n_rows)?;
        let tree = Self::new(arities, members, codes, max_entries)?;
        tree.check_codes()?;
        Ok(tree)
    }

    /// Numbers nodes in preorder; checks that they form a tree with these leaves and codes.
    fn new(
        arities: &[u32],
        members: LeafMembers,
        codes: Codes,
        max_entries: Option<usize>,
    ) -> Result<Self, TreeError> {
        let fail = |node, why| Err(TreeError::Structure { node, why });
        let (mut splits, mut children, mut n_leaves) = (Vec::<Split>::new(), vec![Child::Leaf(0)], 0);
        let mut places = vec![0_usize];
        for (node, &arity) in arities.iter().enumerate() {
            let Some(place) = places.pop() else {
                return fail(node, "no earlier node leads here");
            };
            if arity == 0 {
                children[place] = Child::Leaf(n_leaves);
                n_leaves += 1;
                continue;
            }
            let (first, end) = (children.len(), children.len().saturating_add(arity as usize));
            if arity == 1 || end > arities.len() {
                return fail(
                    node,
                    "a split must have two children or more, all inside the tree",
                );
            }
            children[place] = Child::Split(splits.len() as u32);
            children.resize(end, Child::Leaf(0));
            places.extend((first..end).rev());
            splits.push(Split {
                first_child: first as u32,
                leaves: n_leaves..n_leaves,
                first_code: 0,
            });
        }
        if arities.is_empty() || !places.is_empty() {
            return fail(arities.len(), "children are missing");
        }
        // The leaves below a split end where those of its last child end.
        let mut end = children.len();
        for i in (0..splits.len()).rev() {
            let first = splits[i].first_child as usize;
            splits[i].leaves.end = match children[end - 1] {
                Child::Leaf(leaf) => leaf + 1,
                Child::Split(split) => splits[split as usize].leaves.end,
            };
            end = first;
        }
        Mismatch::check(
            "leaves with training samples",
            n_leaves as usize,
            members.n_leaves(),
        )?;
        let (mut n_codes, mut made) = (0, MadeCentroids::default());
        for (number, split) in (0..).zip(&mut splits) {
            split.first_code = n_codes as u64;
            let start = |leaf: u32| members.start_of(leaf as usize);
            let n_rows = start(split.leaves.end) - start(split.leaves.start);
            n_codes += n_rows;
            if n_rows > Self::LARGE {
                made.splits.push(number);
            }
        }
        made.centroids.resize_with(made.splits.len(), OnceLock::new);
        Mismatch::check("centroid members of all splits", n_codes, codes.len())?;
        let mut tree = Self {
            n_nodes: children.len(),
            depth: 0,
            splits,
            children,
            members,
            codes,
            // A limit beyond any number of features is no limit; files store 32 bits of it.
            max_entries: max_entries.filter(|&max| u32::try_from(max).is_ok()),
            made,
        };
        tree.depth = tree.deepest();
        Ok(tree)
    }

    /// Checks that the centroid of every child averages at least one sample, and that all codes refer to existing
    /// children.
    fn check_codes(&self) -> Result<(), TreeError> {
        let (mut codes, mut has_member) = (Vec::new(), Vec::new());
        for i in 0..self.splits.len() {
            self.codes_of(i, &mut codes);
            has_member.clear();
            has_member.resize(self.arity(i) + 1, false);
            for &code in &codes {
                match has_member.get_mut(usize::from(code)) {
                    Some(has) => *has = true,
                    None => return Err(wrong_code(code.to_string(), "at most the number of children")),
                }
            }
            if let Some(child) = has_member.iter().skip(1).position(|has| !has) {
                return Err(wrong_code(format!("child {child} has no member"), "at least one"));
            }
        }
        Ok(())
    }

    /// Returns the numbers of children of all nodes in preorder, 0 for leaves.
    pub(super) fn arities(&self) -> Vec<u32> {
        let (mut arities, mut waiting) = (Vec::with_capacity(self.children.len()), vec![self.children[0]]);
        while let Some(child) = waiting.pop() {
            match child {
                Child::Leaf(_) => arities.push(0),
                Child::Split(split) => {
                    arities.push(self.arity(split as usize) as u32);
                    waiting.extend(self.children_of(split as usize).iter().rev());
                }
            }
        }
        arities
    }

    /// Returns the codes of all splits in preorder.
    pub(super) fn codes(&self) -> Vec<u32> {
        match &self.codes {
            Codes::Narrow(codes) => codes.iter().map(|&code| code.into()).collect(),
            Codes::Wide(codes) => codes.iter().map(|&code| code.into()).collect(),
        }
    }

    /// Largest number of entries of a centroid.
    pub(super) fn max_entries(&self) -> Option<usize> {
        self.max_entries
    }

    /// Returns the training samples of each leaf.
    pub fn members(&self) -> &LeafMembers {
        &self.members
    }

    /// Largest depth of a leaf.
    fn deepest(&self) -> usize {
        let (mut depths, mut deepest) = (vec![0; self.splits.len()], 0);
        for split in 0..self.splits.len() {
            let depth = depths[split] + 1;
            deepest = deepest.max(depth);
            for child in self.children_of(split) {
                if let Child::Split(child) = child {
                    depths[*child as usize] = depth;
                }
            }
        }
        deepest
    }

    fn children_of(&self, split: usize) -> &[Child] {
        let end = self.splits.get(split + 1);
        let end = end.map_or(self.children.len(), |next| next.first_child as usize);
        &self.children[self.splits[split].first_child as usize..end]
    }

    fn arity(&self, split: usize) -> usize {
        self.children_of(split).len()
    }

    /// Returns the start of the training rows below a split, among those of all leaves.
    fn start_of(&self, split: usize) -> usize {
        self.members.start_of(self.splits[split].leaves.start as usize)
    }

    /// Number of training rows below a split.
    fn n_rows(&self, split: usize) -> usize {
        self.members.start_of(self.splits[split].leaves.end as usize) - self.start_of(split)
    }

    /// Replaces `codes` by those of a split.
    fn codes_of(&self, split: usize, codes: &mut Vec<u16>) {
        let first = self.splits[split].first_code as usize;
        self.codes.copy(first..first + self.n_rows(split), codes);
    }

    /// Returns the storage for the centroids of a split, if it is large.
    fn kept(&self, split: usize) -> Option<&OnceLock<Box<[Centroid]>>> {
        let place = self.made.splits.binary_search(&(split as u32)).ok()?;
        Some(&self.made.centroids[place])
    }
}

fn wrong_code(given: String, expected: &'static str) -> TreeError {
    ParameterError::out_of_range("centroid_members", given, expected).into()
}

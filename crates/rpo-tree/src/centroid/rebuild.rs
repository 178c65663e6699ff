//! Trees of centroids stored as the training samples that each centroid averages.
//!
//! A centroid is a mean of training samples. Deep in a tree it is the mean of few rows, and storing their numbers takes
//! far less memory than storing its entries: a byte per row and level of the tree, whatever the number of features.
//! Given the training samples, averaging gives the centroids back as growing computed them, bit for bit; the clusters,
//! which growing searches for, are what is stored.

use super::gather::{Gather, check_entries};
use super::means::{Means, MemberRows};
use super::{CentroidRule, Cosine};
use crate::error::{TreeError, check_exist};
use crate::input::check_csr;
use crate::leaves::LeafMembers;
use crate::rule::Rule;
use crate::structure::{Node, Structure};
use rpo_core::{CsrView, MatrixView, Mismatch, ParameterError};
use std::borrow::Cow;

/// The parts from which a tree of centroids that routes by [`Cosine`] is [rebuilt](rebuild).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeRecord<'a> {
    /// Nodes in preorder: their number of children, 0 for leaves.
    pub children: Vec<u32>,
    /// The training samples of each leaf, leaves in preorder.
    pub leaf_members: Cow<'a, LeafMembers>,
    /// For each split in preorder and each row of its node in increasing order: 1 + the child whose centroid averages
    /// the row, or 0 if none does.
    pub centroid_members: Vec<u32>,
}

impl<'a> TreeRecord<'a> {
    /// The record of a structure whose splitter [kept members](super::CentroidSplitter::keep_members), otherwise
    /// `None`.
    pub fn of(structure: &Structure<CentroidRule>, members: &'a LeafMembers) -> Option<Self> {
        let (mut children, mut centroid_members) = (Vec::new(), Vec::new());
        for (_, node) in structure.preorder() {
            match node {
                Node::Leaf(_) => children.push(0),
                Node::Split { rule, .. } if rule.members().is_empty() => return None,
                Node::Split { rule, .. } => {
                    centroid_members.extend(rule.members().iter().map(|&code| u32::from(code)));
                    children.push(rule.arity() as u32);
                }
            }
        }
        Some(Self {
            children,
            leaf_members: Cow::Borrowed(members),
            centroid_members,
        })
    }

    /// The nodes in preorder, and how many leaves there are; checks that they are a tree.
    fn places(&self) -> Result<(Vec<Place>, usize), TreeError> {
        let fail = |node, why| Err(TreeError::Structure { node, why });
        let mut places = Vec::with_capacity(self.children.len());
        let (mut next_child, mut n_leaves) = (1, 0);
        let mut stack = vec![0_usize];
        for (i, &arity) in self.children.iter().enumerate() {
            let Some(node) = stack.pop() else {
                return fail(i, "no earlier node leads here");
            };
            let (arity, first_child) = (arity as usize, next_child);
            places.push(Place {
                node,
                first_child,
                leaves: n_leaves..n_leaves + usize::from(arity == 0),
            });
            next_child += arity;
            n_leaves += usize::from(arity == 0);
            if next_child > self.children.len() {
                return fail(i, "children must lie behind their parent and inside the tree");
            }
            stack.extend((first_child..next_child).rev());
        }
        if self.children.is_empty() || !stack.is_empty() {
            return fail(self.children.len(), "children are missing");
        }
        // The leaves below a split end where those of its last child do.
        let mut ends = Vec::new();
        for (place, &arity) in places.iter_mut().zip(&self.children).rev() {
            if arity > 0 {
                // The last child was met first and lies deepest.
                place.leaves.end = ends[ends.len() - arity as usize];
                ends.truncate(ends.len() - arity as usize);
            }
            ends.push(place.leaves.end);
        }
        Ok((places, n_leaves))
    }

    /// The nodes in preorder; checks that they are a tree of these leaves and centroid members, and that there
    /// are as many rows.
    fn checked_places(&self, n_rows: usize) -> Result<Vec<Place>, TreeError> {
        let (places, n_leaves) = self.places()?;
        Mismatch::check(
            "leaves with training samples",
            n_leaves,
            self.leaf_members.n_leaves(),
        )?;
        check_exist(
            "rows for the members of leaves",
            self.leaf_members.all_rows(),
            n_rows,
        )?;
        let start = |leaf: usize| self.leaf_members.start_of(leaf);
        let of_splits = places.iter().zip(&self.children).filter(|(_, arity)| **arity > 0);
        let n_members = of_splits.map(|(place, _)| start(place.leaves.end) - start(place.leaves.start));
        Mismatch::check(
            "centroid members of all splits",
            n_members.sum(),
            self.centroid_members.len(),
        )?;
        Ok(places)
    }
}

/// A node's place in growing order, and the leaves below it.
struct Place {
    node: usize,
    first_child: usize,
    leaves: std::ops::Range<usize>,
}

/// Computes the structure of a record again, bit for bit, given the rows that it was grown on and the largest number of
/// entries of its centroids.
///
/// Cost: a pass over the stored values of the rows per level of the tree.
///
/// # Errors
/// [`TreeError`] for a record that contradicts itself or refers to rows that do not exist, rows that are not CSR or not
/// finite, and centroids of 2^32 entries or more in all.
pub fn rebuild(
    record: &TreeRecord<'_>,
    x: CsrView<'_>,
    max_entries: Option<usize>,
) -> Result<Structure<CentroidRule>, TreeError> {
    check_csr("features", MatrixView::Sparse(x))?;
    MatrixView::Sparse(x)
        .check_finite()
        .map_err(TreeError::NonFinite)?;
    let places = record.checked_places(x.rows())?;
    let start = |leaf: usize| record.leaf_members.start_of(leaf);
    let mut rows = record.leaf_members.all_rows().to_vec();
    let rows_by_direction = MemberRows::new(x, true);
    let (mut means, mut gather) = (Means::new(x.cols()), Gather::new(x.cols()));
    let (mut centroids, mut n_entries) = (Vec::new(), 0);
    let mut nodes = vec![Node::Leaf(0); places.len()];
    let mut end = record.centroid_members.len();
    // Children before their parents: the rows of a node are those of its children, sorted runs.
    for (place, &arity) in places.iter().zip(&record.children).rev() {
        if arity == 0 {
            nodes[place.node] = Node::Leaf(place.leaves.start as u32);
            continue;
        }
        let arity = arity as usize;
        let rows = &mut rows[start(place.leaves.start)..start(place.leaves.end)];
        rows.sort();
        let codes = &record.centroid_members[end - rows.len()..end];
        end -= rows.len();
        check_codes(codes, arity)?;
        let members = codes.iter().zip(&*rows).filter(|(code, _)| **code > 0);
        let members = members.map(|(&code, &row)| (code - 1, row));
        n_entries += bound(members.clone(), &x, arity, max_entries);
        check_entries(n_entries)?;
        means.compute(
            &rows_by_direction,
            members,
            arity,
            max_entries,
            &Cosine,
            &mut centroids,
        );
        let mut rule = CentroidRule::gather(centroids.iter(), &mut gather);
        rule.members = codes.iter().map(|&code| code as u16).collect();
        nodes[place.node] = Node::Split {
            rule,
            first_child: place.first_child as u32,
        };
    }
    Structure::new(nodes)
}

/// Checks that every child has a member, and that no member is of another child.
fn check_codes(codes: &[u32], arity: usize) -> Result<(), TreeError> {
    let wrong =
        |given, expected| Err(ParameterError::out_of_range("centroid_members", given, expected).into());
    if arity > super::rule::MAX_CHILDREN {
        return wrong(arity.to_string(), "at most 65535 children");
    }
    let mut has_member = vec![false; arity + 1];
    for &code in codes {
        match has_member.get_mut(code as usize) {
            Some(has) => *has = true,
            None => return wrong(code.to_string(), "at most the number of children"),
        }
    }
    match has_member.iter().skip(1).position(|has| !has) {
        Some(child) => wrong(format!("child {child} has no member"), "at least one"),
        None => Ok(()),
    }
}

/// How many entries the centroids of a node can have.
fn bound(
    members: impl Iterator<Item = (u32, u32)>,
    x: &CsrView<'_>,
    arity: usize,
    max_entries: Option<usize>,
) -> usize {
    let stored: usize = members
        .map(|(_, row)| rpo_core::csr_row(x, row as usize).0.len())
        .sum();
    max_entries.map_or(stored, |max| stored.min(max.saturating_mul(arity)))
}

//! Storing centroids as arrays, and restoring them: directly, or as the training samples that they average.
//!
//! The kind of a split is its number of children.

use super::recorded::Codes;
use super::rule::MAX_CHILDREN;
use super::{CentroidRule, RecordedTree};
use crate::leaves::LeafMembers;
use crate::rule::Rule;
use crate::store::StoreRule;
use rpo_core::store::{Entries, Reader, Restore, Sizes, Store, StoreError, Writer, check_finite};

const KINDS: &str = "at most 65535";

/// A rule is stored by the columns of its features, so `n_features` is not checked here: a tree that hashes features
/// has other columns.
impl StoreRule for CentroidRule {
    const KINDS: &'static str = KINDS;

    fn kind(&self) -> u32 {
        self.arity() as u32
    }

    fn arity_of(kind: u32) -> Option<u32> {
        (1..=MAX_CHILDREN).contains(&(kind as usize)).then_some(kind)
    }

    fn store_all(rules: &[&Self], out: &mut Writer) -> Result<(), StoreError> {
        let (mut offsets, mut n_features, mut features) = (Vec::new(), Vec::new(), Vec::new());
        let (mut n_entries, mut children, mut weights) = (Vec::new(), Vec::<u32>::new(), Vec::new());
        for rule in rules {
            offsets.extend_from_slice(rule.offsets());
            n_features.push(rule.features().len() as u32);
            features.extend_from_slice(rule.features());
            for i in 0..rule.features().len() {
                let before = children.len();
                for (child, weight) in rule.entries_of(i) {
                    children.push(child.into());
                    weights.push(weight);
                }
                n_entries.push((children.len() - before) as u32);
            }
        }
        check_finite("split.offset", &offsets)?;
        check_finite("entry.weight", &weights)?;
        // Compared by bits, as omitted offsets are restored as 0 and not as -0.
        if offsets.iter().any(|v| v.to_bits() != 0) {
            out.array("split.offset", &offsets)?;
        }
        out.array("split.features", &n_features)?;
        out.array("feature.number", &features)?;
        out.array("feature.entries", &n_entries)?;
        out.array("entry.child", &children)?;
        out.array("entry.weight", &weights)
    }

    fn restore_all(kinds: &[u32], from: &mut Reader<'_>, _: usize) -> Result<Vec<Self>, StoreError> {
        let n_children = kinds.iter().map(|&kind| kind as usize).sum();
        let mut offsets = None;
        if from.has("split.offset") {
            offsets = Some(from.array::<f32>("split.offset")?.of_length(n_children)?);
        }
        let n_features = from.array::<u32>("split.features")?.of_length(kinds.len())?;
        let mut features = from
            .array::<u32>("feature.number")?
            .of_length(n_features.total())?;
        let n_entries = from.array::<u32>("feature.entries")?.of_length(features.len())?;
        let fits = |v| v as usize <= MAX_CHILDREN;
        let mut n_entries = n_entries.where_all(KINDS, fits)?;
        let children = from.array::<u32>("entry.child")?.of_length(n_entries.total())?;
        let mut children = children.where_all(KINDS, fits)?;
        let mut weights = from.array::<f32>("entry.weight")?.of_length(children.len())?;
        let rules = kinds.iter().zip(n_features).enumerate();
        let rule = |(i, (&arity, n_features)): (usize, (&u32, u32))| {
            let offsets = match &mut offsets {
                Some(offsets) => offsets.part(arity as usize)?,
                None => vec![0.0; arity as usize],
            };
            let features = features.part(n_features as usize)?;
            let counts = narrow(&mut n_entries, features.len())?;
            let n_entries = counts.iter().map(|&n| usize::from(n)).sum();
            let (children, weights) = (narrow(&mut children, n_entries)?, weights.part(n_entries)?);
            let rule = Self::from_parts(offsets, features, &counts, children, weights);
            rule.map_err(|e| StoreError::part(format_args!("split {i}"), e))
        };
        rules.map(rule).collect()
    }
}

/// Returns the next `n` entries, which were checked to fit into 16 bits.
fn narrow(entries: &mut Entries<'_, u32>, n: usize) -> Result<Vec<u16>, StoreError> {
    Ok(entries.part(n)?.into_iter().map(|v| v as u16).collect())
}

impl Store for RecordedTree {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        let leaves = 0..self.members().n_leaves();
        let sizes: Vec<u32> = leaves.map(|leaf| self.members()[leaf].len() as u32).collect();
        if let Some(max) = self.max_entries() {
            out.array("centroid.entries", &[max as u32])?;
        }
        out.array("node.kind", &self.arities())?;
        out.array("leaf.size", &sizes)?;
        out.array("leaf.row", self.members().all_rows())?;
        out.array("split.centroid", &self.codes())
    }
}

impl Restore for RecordedTree {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let mut max_entries = None;
        if from.has("centroid.entries") {
            let entries = from.array::<u32>("centroid.entries")?;
            max_entries =
                Some(entries.where_all("at least 1", |n| n > 0)?.of_length(1)?.to_vec()[0] as usize);
        }
        let (leaf_sizes, rows) = (from.array::<u32>("leaf.size")?, from.array::<u32>("leaf.row")?);
        let members = LeafMembers::from_parts(rows.to_vec(), &leaf_sizes.to_vec(), sizes.n_train);
        let members = members.map_err(|e| rows.wrong(format!("is invalid: {e}")))?;
        let (arities, codes) = (
            from.array::<u32>("node.kind")?.to_vec(),
            from.array::<u32>("split.centroid")?,
        );
        let wrong = |e| StoreError::part("nodes", e);
        let codes = match codes.as_bytes() {
            Some(bytes) => Codes::Narrow(bytes.into()),
            None => Codes::new(codes).map_err(wrong)?,
        };
        Self::from_parts(&arities, members, codes, max_entries, sizes.n_train).map_err(wrong)
    }
}

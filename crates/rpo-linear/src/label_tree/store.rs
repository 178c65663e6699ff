//! Storage of label trees: one part per tree.

use rpo_core::Seed;
use rpo_core::store::{Reader, Restore, Sharing, Sizes, Store, StoreError, Writer};

use super::structure::{Node, Structure};
use super::{LabelForest, LabelTree};
use crate::dual::SparseWeights;
use crate::linear::Calibration;

impl Store for LabelForest {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        self.calibration.store(out)?;
        out.field("normalize", self.normalize)?;
        out.field("beam", self.beam)?;
        if let Some(cost) = self.cost {
            out.field("cost", cost)?;
        }
        out.field("n_trees", self.trees.len())?;
        for (index, tree) in self.trees.iter().enumerate() {
            out.scoped(index, Sharing::Outside, |out| tree.store(out))
                .map_err(|e| of_tree(index, e))?;
        }
        Ok(())
    }
}

impl Restore for LabelForest {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let calibration = Calibration::restore(from, sizes)?;
        let normalize = from.field("normalize")?;
        let (beam, n_trees): (usize, usize) = (from.field("beam")?, from.field("n_trees")?);
        if beam == 0 || n_trees == 0 {
            return Err(StoreError::part(
                "label trees",
                "`beam` and `n_trees` are at least 1",
            ));
        }
        let cost = from.field("cost")?;
        let mut trees = Vec::new();
        for index in 0..n_trees {
            let tree = from.scoped(index, Sharing::Outside, |from| LabelTree::restore(from, sizes));
            trees.push(tree.map_err(|e| of_tree(index, e))?);
        }
        let shape = (sizes.n_train, sizes.n_features, sizes.n_outputs);
        Ok(Self::new(trees, calibration, normalize, beam, cost, shape))
    }
}

fn of_tree(index: usize, problem: impl std::fmt::Display) -> StoreError {
    StoreError::part(format_args!("tree {index}"), problem)
}

impl Store for LabelTree {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.array("seed", &[self.seed.value()])?;
        let nodes = &self.structure.nodes;
        let sizes: Vec<u32> = nodes.iter().map(|node| node.len() as u32).collect();
        let leaves: Vec<u32> = nodes
            .iter()
            .map(|node| u32::from(matches!(node, Node::Leaf { .. })))
            .collect();
        out.array("node.size", &sizes)?;
        out.array("node.leaf", &leaves)?;
        out.array("label", &self.structure.labels)?;
        let all = |of: fn(&SparseWeights) -> &Vec<u32>| self.weights.iter().flat_map(of).copied().collect();
        let features: Vec<u32> = all(|weights| &weights.features);
        let counts = self.weights.iter().map(|weights| weights.features.len() as u32);
        let entries = self.weights.iter().flat_map(|weights| weights.starts.windows(2));
        let lanes = self.weights.iter().flat_map(|weights| &weights.lanes);
        out.array("node.features", &counts.collect::<Vec<_>>())?;
        out.array("feature", &features)?;
        out.array("feature.size", &entries.map(|e| e[1] - e[0]).collect::<Vec<_>>())?;
        out.array(
            "weight.classifier",
            &lanes.map(|&lane| u32::from(lane)).collect::<Vec<_>>(),
        )?;
        let floats = |of: fn(&SparseWeights) -> &Vec<f32>| -> Vec<f32> {
            self.weights.iter().flat_map(of).copied().collect()
        };
        out.short_floats("weight.value", &floats(|weights| &weights.values))?;
        out.short_floats("offset", &floats(|weights| &weights.offsets))
    }
}

impl Restore for LabelTree {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let seed = Seed::new(from.array::<u64>("seed")?.of_length(1)?.to_vec()[0]);
        let nodes = from.array::<u32>("node.size")?;
        let leaves = from.array::<u32>("node.leaf")?.of_length(nodes.len())?;
        let leaves = leaves.where_all("0 or 1", |leaf| leaf <= 1)?;
        let labels = from.array::<u32>("label")?;
        let labels = labels.where_all("below the number of labels", |l| (l as usize) < sizes.n_outputs)?;
        let mut sorted = labels.to_vec();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(labels.wrong("has a label twice"));
        }
        let kinds = leaves.map(|leaf| leaf == 1).zip(nodes.clone());
        let structure = Structure::of_sizes(kinds, labels.to_vec());
        let structure = structure.ok_or_else(|| nodes.wrong("does not make a tree"))?;
        let mut counts = from.array::<u32>("node.features")?.of_length(nodes.len())?;
        let mut features = from.array::<u32>("feature")?.of_length(counts.total())?;
        let mut feature_sizes = from.array::<u32>("feature.size")?.of_length(features.len())?;
        let n_weights = feature_sizes.total();
        let lanes = from.array::<u32>("weight.classifier")?.of_length(n_weights)?;
        let mut lanes = lanes.where_all("below 65536", |lane| lane <= u16::MAX.into())?;
        let mut values = from.array::<f32>("weight.value")?.of_length(n_weights)?;
        let mut offsets = from.array::<f32>("offset")?.of_length(nodes.total())?;
        let mut weights = Vec::with_capacity(nodes.len());
        for node in &structure.nodes {
            let n_features = counts.part(1)?[0] as usize;
            let sizes_of = feature_sizes.part(n_features)?;
            let mut starts = vec![0];
            for size in sizes_of {
                starts.push(starts[starts.len() - 1] + size);
            }
            let n = starts[n_features] as usize;
            let part = SparseWeights {
                features: features.part(n_features)?,
                starts,
                lanes: lanes.part(n)?.into_iter().map(|lane| lane as u16).collect(),
                values: values.part(n)?,
                offsets: offsets.part(node.len())?,
            };
            let problem = part.check(sizes.n_features);
            problem.map_or(Ok(()), |problem| Err(StoreError::array("weight", problem)))?;
            weights.push(part);
        }
        Ok(Self::new(structure, weights, seed))
    }
}

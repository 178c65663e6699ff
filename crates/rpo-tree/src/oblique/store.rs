//! Storing rules on one feature and hyperplanes as arrays, and restoring them.

use super::{LinearRule, ObliqueRule};
use crate::rule::AxisRule;
use crate::store::StoreRule;
use rpo_core::store::{Reader, StoreError, Writer};

/// The kind of a split by a hyperplane; other kinds are those of [`AxisRule`].
const PLANE: u32 = 3;

impl StoreRule for LinearRule {
    const KINDS: &'static str = "0, 2, 3, 4, 130 or 132";

    fn kind(&self) -> u32 {
        match self {
            Self::Axis(rule) => rule.kind(),
            Self::Oblique(_) => PLANE,
        }
    }

    fn arity_of(kind: u32) -> Option<u32> {
        match kind {
            PLANE => Some(2),
            _ => AxisRule::arity_of(kind),
        }
    }

    fn store_all(rules: &[&Self], out: &mut Writer) -> Result<(), StoreError> {
        let (mut axis, mut sizes, mut features) = (Vec::new(), Vec::new(), Vec::new());
        let (mut weights, mut biases) = (Vec::new(), Vec::new());
        for rule in rules {
            match rule {
                Self::Axis(rule) => axis.push(rule),
                Self::Oblique(rule) => {
                    sizes.push(rule.features().len() as u32);
                    features.extend_from_slice(rule.features());
                    weights.extend_from_slice(rule.weights());
                    biases.push(rule.bias());
                }
            }
        }
        AxisRule::store_all(&axis, out)?;
        if sizes.is_empty() {
            return Ok(());
        }
        out.array("plane.size", &sizes)?;
        out.array("plane.feature", &features)?;
        out.array("plane.weight", &weights)?;
        out.array("plane.bias", &biases)
    }

    fn restore_all(kinds: &[u32], from: &mut Reader<'_>, n_features: usize) -> Result<Vec<Self>, StoreError> {
        let axis: Vec<u32> = kinds.iter().copied().filter(|kind| *kind != PLANE).collect();
        let n_planes = kinds.len() - axis.len();
        let mut axis = AxisRule::restore_all(&axis, from, n_features)?.into_iter();
        let mut planes = Vec::new();
        if n_planes > 0 {
            planes = restore_planes(n_planes, from, n_features)?;
        }
        let mut planes = planes.into_iter();
        let rule = |kind: &u32| match *kind {
            PLANE => planes.next().map(Self::Oblique),
            _ => axis.next().map(Self::Axis),
        };
        Ok(kinds.iter().filter_map(rule).collect())
    }
}

fn restore_planes(
    n_planes: usize,
    from: &mut Reader<'_>,
    n_features: usize,
) -> Result<Vec<ObliqueRule>, StoreError> {
    let sizes = from.array::<u32>("plane.size")?.of_length(n_planes)?;
    let features = from.array::<u32>("plane.feature")?.of_length(sizes.total())?;
    let mut features = features.where_all("a feature of the model", |j| (j as usize) < n_features)?;
    let mut weights = from.array::<f32>("plane.weight")?.of_length(features.len())?;
    let biases = from.array::<f32>("plane.bias")?.of_length(n_planes)?;
    let planes = sizes.zip(biases).enumerate();
    let plane = |(i, (size, bias)): (usize, (u32, f32))| {
        let (features, weights) = (features.part(size as usize)?, weights.part(size as usize)?);
        let rule = ObliqueRule::new(features, weights, bias);
        rule.map_err(|e| StoreError::part(format_args!("hyperplane {i}"), e))
    };
    planes.map(plane).collect()
}

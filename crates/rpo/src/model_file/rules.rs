//! Rules of splits as arrays, and back.

use super::arrays::{ArrayReader, ArrayWriter, check_length, check_values};
use super::error::ModelFileErrorKind as Kind;
use super::structures::{RuleReader, RuleWriter};
use super::thresholds;
use rpo_tree::oblique::{LinearRule, ObliqueRule};
use rpo_tree::{AxisRule, TreeError};
use std::vec::IntoIter;

/// A split along one feature.
const SPLIT: u32 = 2;
/// Added where missing values go to the first child.
const MISSING_LEFT: u32 = 0x80;
/// A split by a hyperplane.
const PLANE: u32 = 3;

/// Splits along one feature.
#[derive(Default)]
pub(super) struct AxisWriter {
    features: Vec<u32>,
    thresholds: Vec<f32>,
}

impl RuleWriter<AxisRule> for AxisWriter {
    fn push(&mut self, rule: &AxisRule) -> u32 {
        self.features.push(rule.feature());
        self.thresholds.push(rule.threshold());
        SPLIT | if rule.missing_left() { MISSING_LEFT } else { 0 }
    }

    fn write(self, out: &mut ArrayWriter) -> Result<(), Kind> {
        out.integers("split.feature", &self.features);
        thresholds::write(&self.thresholds, out)
    }
}

/// Splits along one feature on their way back.
pub(super) struct AxisReader {
    features: IntoIter<u32>,
    thresholds: IntoIter<f32>,
}

/// Why more rules than counted cannot be asked for.
const COUNTED: &str = "there are as many rules as splits of their kind";

impl RuleReader<AxisRule> for AxisReader {
    const KINDS: &'static str = "0, 2 or 130";

    fn is_kind(kind: u32) -> bool {
        kind & !MISSING_LEFT == SPLIT
    }

    fn new(arrays: &mut ArrayReader<'_>, splits: &[u32], n_features: usize) -> Result<Self, Kind> {
        let features = arrays.integers("split.feature")?;
        check_length("split.feature", &features, splits.len())?;
        check_values("split.feature", &features, "a feature of the model", |feature| {
            (feature as usize) < n_features.min(1 << 31)
        })?;
        Ok(Self {
            thresholds: thresholds::read(arrays, features.len())?.into_iter(),
            features: features.into_iter(),
        })
    }

    fn next(&mut self, kind: u32) -> Result<AxisRule, TreeError> {
        let feature = self.features.next().expect(COUNTED);
        let threshold = self.thresholds.next().expect(COUNTED);
        Ok(AxisRule::new(feature, threshold, kind & MISSING_LEFT != 0))
    }
}

/// Splits along one feature and by hyperplanes.
#[derive(Default)]
pub(super) struct LinearWriter {
    axis: AxisWriter,
    sizes: Vec<u32>,
    features: Vec<u32>,
    weights: Vec<f32>,
    biases: Vec<f32>,
}

impl RuleWriter<LinearRule> for LinearWriter {
    fn push(&mut self, rule: &LinearRule) -> u32 {
        match rule {
            LinearRule::Axis(rule) => self.axis.push(rule),
            LinearRule::Oblique(rule) => {
                self.sizes.push(rule.features().len() as u32);
                self.features.extend_from_slice(rule.features());
                self.weights.extend_from_slice(rule.weights());
                self.biases.push(rule.bias());
                PLANE
            }
        }
    }

    fn write(self, out: &mut ArrayWriter) -> Result<(), Kind> {
        self.axis.write(out)?;
        if !self.sizes.is_empty() {
            out.integers("plane.size", &self.sizes);
            out.integers("plane.feature", &self.features);
            out.floats("plane.weight", &self.weights);
            out.floats("plane.bias", &self.biases);
        }
        Ok(())
    }
}

/// Splits along one feature and by hyperplanes on their way back.
pub(super) struct LinearReader {
    axis: AxisReader,
    sizes: IntoIter<u32>,
    features: IntoIter<u32>,
    weights: IntoIter<f32>,
    biases: IntoIter<f32>,
}

impl RuleReader<LinearRule> for LinearReader {
    const KINDS: &'static str = "0, 2, 3 or 130";

    fn is_kind(kind: u32) -> bool {
        kind == PLANE || AxisReader::is_kind(kind)
    }

    fn new(arrays: &mut ArrayReader<'_>, splits: &[u32], n_features: usize) -> Result<Self, Kind> {
        let (planes, axis): (Vec<u32>, Vec<u32>) = splits.iter().partition(|kind| **kind == PLANE);
        let axis = AxisReader::new(arrays, &axis, n_features)?;
        let (mut sizes, mut features) = (Vec::new(), Vec::new());
        let (mut weights, mut biases) = (Vec::new(), Vec::new());
        if !planes.is_empty() {
            sizes = arrays.integers("plane.size")?;
            check_length("plane.size", &sizes, planes.len())?;
            let total = sizes.iter().map(|&n| u64::from(n)).sum::<u64>();
            features = arrays.integers("plane.feature")?;
            check_length("plane.feature", &features, total as usize)?;
            check_values("plane.feature", &features, "a feature of the model", |feature| {
                (feature as usize) < n_features
            })?;
            weights = arrays.numbers("plane.weight")?;
            check_length("plane.weight", &weights, features.len())?;
            biases = arrays.numbers("plane.bias")?;
            check_length("plane.bias", &biases, planes.len())?;
        }
        Ok(Self {
            axis,
            sizes: sizes.into_iter(),
            features: features.into_iter(),
            weights: weights.into_iter(),
            biases: biases.into_iter(),
        })
    }

    fn next(&mut self, kind: u32) -> Result<LinearRule, TreeError> {
        if kind != PLANE {
            return Ok(LinearRule::Axis(self.axis.next(kind)?));
        }
        let size = self.sizes.next().expect(COUNTED) as usize;
        let features: Vec<u32> = self.features.by_ref().take(size).collect();
        let weights: Vec<f32> = self.weights.by_ref().take(size).collect();
        let bias = self.biases.next().expect(COUNTED);
        Ok(LinearRule::Oblique(ObliqueRule::new(features, weights, bias)?))
    }
}

//! Subtrees of few rows that are grown whole.

use super::common::{NodeByNode, csr, weighted_rows};
use ndarray::Array2;
use proptest::prelude::*;
use rpo_core::{CsrMatrix, MatrixView, Seed};
use rpo_tree::criterion::{Criterion, CriterionVisitor, Impurity, XLogXTable};
use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter, ThresholdSearch};
use rpo_tree::{AxisRule, GrowParams, Grown, RankedFeatures, grow};

/// Grows a tree once as the splitter does and once node by node.
struct GrowTwice<'a> {
    columns: &'a RankedFeatures,
    weights: &'a [f32],
    axis: AxisParams,
    limits: GrowParams,
}

impl CriterionVisitor for GrowTwice<'_> {
    type Output = [Grown<AxisRule>; 2];

    fn visit<C: Criterion + Sync>(self, criterion: C) -> Self::Output {
        let splitter = AxisSplitter::new(self.columns, criterion, self.axis).unwrap();
        let (rows, seed) = (weighted_rows(self.weights), Seed::new(3));
        let node_by_node = NodeByNode(&splitter);
        [
            grow(
                &splitter,
                &mut splitter.workspace(),
                rows.clone(),
                &self.limits,
                seed,
            )
            .unwrap(),
            grow(
                &node_by_node,
                &mut node_by_node.workspace(),
                rows,
                &self.limits,
                seed,
            )
            .unwrap(),
        ]
    }
}

/// Makes 0/1 values, of which `percent` in a hundred are not zero.
fn binary(seed: u64, (n, m): (usize, usize), percent: u64) -> Array2<f32> {
    let drawn = |i: usize, j: usize| Seed::new(seed).hash((i * m + j) as u64) % 100 < percent;
    Array2::from_shape_fn((n, m), |(i, j)| f32::from(u8::from(drawn(i, j))))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Features with one value besides zero, positive or negative, few or many of them, and all criterion
    /// implementations.
    #[test]
    fn few_rows_grow_the_same_tree_node_by_node(
        seed in 0_u64..1_000_000,
        n in 2_usize..200,
        percent in prop_oneof![Just(3_u64), Just(30), Just(90)],
        max_features in prop_oneof![Just(None), (1_usize..12).prop_map(Some)],
        min_samples_leaf in 1_usize..4,
        limits in prop_oneof![
            Just(GrowParams::default()),
            Just(GrowParams { max_depth: Some(6), min_samples_split: 5, ..GrowParams::default() }),
        ],
        weight in prop_oneof![Just(1.0_f32), Just(3_000.0), Just(0.3)],
        random in any::<bool>(),
    ) {
        let mut x = binary(seed, (n, 40), percent);
        x.columns_mut().into_iter().step_by(3).for_each(|mut column| column *= -2.0);
        let columns = RankedFeatures::new(MatrixView::Sparse(csr(&x).view()), &[]).unwrap();
        let drawn = |i: usize| Seed::new(seed + 1).hash(i as u64) % 4;
        let mut weights: Vec<f32> = (0..n).map(|i| weight * drawn(i) as f32).collect();
        weights[0] = weight;
        let axis = AxisParams {
            max_features,
            min_samples_leaf,
            thresholds: if random { ThresholdSearch::Random } else { ThresholdSearch::Best },
            ..AxisParams::default()
        };
        let few_labels = csr(&binary(seed + 2, (n, 5), 30));
        let labels = csr(&binary(seed + 2, (n, 70), 10));
        let scaled: CsrMatrix = csr(&(binary(seed + 2, (n, 70), 10) * 0.37));
        let numbers = binary(seed + 2, (n, 6), 50) * 0.7 + &binary(seed + 3, (n, 6), 50);
        let one: Vec<f32> = numbers.column(0).to_vec();
        let table = XLogXTable::up_to(40_000);
        for impurity in [
            Impurity::Variance(MatrixView::Sparse(few_labels.view())),
            Impurity::Variance(MatrixView::Sparse(labels.view())),
            Impurity::Variance(MatrixView::Sparse(scaled.view())),
            Impurity::Variance((&numbers).into()),
            Impurity::ObservedVariance((&numbers).into()),
            Impurity::OneVariance(&one),
            Impurity::LabelEntropy(labels.view(), &table),
        ] {
            let twice = GrowTwice { columns: &columns, weights: &weights, axis, limits };
            let [whole, node_by_node] = impurity.visit(&weights, twice);
            prop_assert_eq!(whole, node_by_node);
        }
    }
}

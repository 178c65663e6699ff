//! Trees that several threads grow together.

use super::common::random::{Cells, Targets, any_axis, data};
use super::common::weighted_rows;
use ndarray::Array2;
use proptest::prelude::*;
use rpo_core::Seed;
use rpo_tree::criterion::Variance;
use rpo_tree::splitter::{AxisSplitter, NodeRows, ProposedSplit, Splitter};
use rpo_tree::{AxisRule, GrowParams, Grown, RankedFeatures, Team, grow, grow_together};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn grow_in_team<S: Splitter>(
    splitter: &S,
    rows: Vec<u32>,
    max_leaves: usize,
    may_join: fn() -> bool,
) -> Grown<S::Rule> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let params = GrowParams {
        max_leaves: Some(max_leaves),
        ..GrowParams::default()
    };
    let mut workspaces: Vec<_> = (0..4).map(|_| splitter.workspace()).collect();
    let team = Team {
        workspaces: &mut workspaces,
        small: usize::MAX,
        may_join,
    };
    pool.install(|| grow_together(splitter, team, rows, &params, Seed::new(3)).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Splitters whose workspaces share nothing grow the same trees in a team, too.
    #[test]
    fn teams_change_nothing(
        axis in any_axis(),
        data in data(60, Cells { missing: true, coarse: true }, Targets::Real),
        max_leaves in 1_usize..40,
        may_join in any::<bool>(),
    ) {
        let columns = RankedFeatures::new((&data.x).into(), &[]).unwrap();
        let splitter = AxisSplitter::new(&columns, Variance::new(data.y.view(), &data.weights), axis).unwrap();
        let rows = weighted_rows(&data.weights);
        let params = GrowParams { max_leaves: Some(max_leaves), ..GrowParams::default() };
        let alone = grow(&splitter, &mut splitter.workspace(), rows.clone(), &params, Seed::new(3)).unwrap();
        let may_join = if may_join { || true } else { || false };
        prop_assert!(grow_in_team(&splitter, rows, max_leaves, may_join) == alone);
    }
}

/// Halves nodes until one has few rows, where it fails.
struct Fragile {
    x: Array2<f32>,
    fails_at: usize,
}

impl Splitter for Fragile {
    type Rule = AxisRule;
    type Workspace = ();

    fn n_rows(&self) -> usize {
        self.x.nrows()
    }

    fn workspace(&self) {}

    fn split(
        &self,
        node: NodeRows<'_>,
        (): &mut (),
        children: &mut [u16],
    ) -> Option<ProposedSplit<AxisRule>> {
        assert!(node.rows.len() > self.fails_at, "too few rows");
        let middle = node.rows.len() / 2;
        children[middle..].fill(1);
        let threshold = self.x[[node.rows[middle - 1] as usize, 0]];
        let rule = AxisRule::new(0, threshold, true);
        let gain = node.rows.len() as f64;
        Some(ProposedSplit { rule, gain })
    }
}

#[test]
fn a_panic_of_one_thread_ends_the_growth() {
    let splitter = |fails_at| Fragile {
        x: Array2::from_shape_fn((4096, 1), |(i, _)| i as f32),
        fails_at,
    };
    let rows = || (0..4096).collect::<Vec<u32>>();
    assert_eq!(
        grow_in_team(&splitter(0), rows(), 512, || true)
            .structure
            .n_leaves(),
        512
    );
    for fails_at in [9, 100, 3000] {
        let splitter = splitter(fails_at);
        let growth = AssertUnwindSafe(|| grow_in_team(&splitter, rows(), 512, || true));
        assert!(catch_unwind(growth).is_err());
    }
}

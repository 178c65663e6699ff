//! Trees that several threads grow together.

use super::common::random::{Cells, Targets, any_axis, data};
use super::common::weighted_rows;
use ndarray::Array2;
use proptest::prelude::*;
use rpo_core::Seed;
use rpo_tree::criterion::Variance;
use rpo_tree::splitter::{AxisSplitter, NodeRows, ProposedSplit, Splitter};
use rpo_tree::{AxisRule, GrowParams, RankedFeatures, Team, grow, grow_together};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{ThreadId, current, sleep};
use std::time::Duration;

fn three_threads<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    pool.install(work)
}

fn limit(max_leaves: usize) -> GrowParams {
    GrowParams {
        max_leaves: Some(max_leaves),
        ..GrowParams::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Splitters whose workspaces share nothing grow the same trees in a team, too, one after the other.
    #[test]
    fn teams_change_nothing(
        axis in any_axis(),
        data in data(60, Cells { missing: true, coarse: true }, Targets::Real),
        max_leaves in proptest::collection::vec(1_usize..40, 3),
        may_join in any::<bool>(),
    ) {
        let columns = RankedFeatures::new((&data.x).into(), &[]).unwrap();
        let splitter = AxisSplitter::new(&columns, Variance::new(data.y.view(), &data.weights), axis).unwrap();
        let mut team = Team::new(4, if may_join { || true } else { || false });
        for (seed, max_leaves) in (0..).zip(max_leaves) {
            let (rows, params, seed) = (weighted_rows(&data.weights), limit(max_leaves), Seed::new(seed));
            let alone = grow(&splitter, &mut splitter.workspace(), rows.clone(), &params, seed).unwrap();
            let grown = three_threads(|| grow_together(&splitter, &mut team, rows, &params, seed).unwrap());
            prop_assert!(grown == alone);
        }
    }
}

/// A team is no larger than the pool that it works in, which may be another one from tree to tree.
#[test]
fn teams_have_no_more_workspaces_than_threads() {
    struct Counted(AtomicUsize);

    impl Splitter for Counted {
        type Rule = AxisRule;
        type Workspace = ();

        fn n_rows(&self) -> usize {
            8
        }

        fn workspace(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn split(&self, _: NodeRows<'_>, (): &mut (), _: &mut [u16]) -> Option<ProposedSplit<AxisRule>> {
            None
        }
    }

    let splitter = Counted(AtomicUsize::new(0));
    let mut team = Team::new(usize::MAX, || true);
    let mut grow = || grow_together(&splitter, &mut team, (0..8).collect(), &limit(4), Seed::new(0)).unwrap();
    let grown = three_threads(&mut grow);
    assert_eq!(splitter.0.load(Ordering::Relaxed), 3);
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert!(alone.install(grow) == grown);
    assert_eq!(splitter.0.load(Ordering::Relaxed), 3);
}

/// Halves nodes, slowly, and notes the threads. Fails at nodes with row 0 that have few rows.
struct Halves {
    x: Array2<f32>,
    fails_at: usize,
    threads: Mutex<Vec<ThreadId>>,
}

impl Halves {
    fn new(fails_at: usize) -> Self {
        Self {
            x: Array2::from_shape_fn((256, 1), |(i, _)| i as f32),
            fails_at,
            threads: Mutex::default(),
        }
    }

    fn grow(&self) -> usize {
        let rows = (0..256).collect();
        let mut team = Team::new(3, || true);
        let grown = three_threads(|| grow_together(self, &mut team, rows, &limit(64), Seed::new(3)).unwrap());
        grown.structure.n_leaves()
    }
}

impl Splitter for Halves {
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
        let (rows, middle) = (node.rows, node.rows.len() / 2);
        assert!(rows[0] != 0 || rows.len() > self.fails_at, "too few rows");
        self.threads.lock().unwrap().push(current().id());
        sleep(Duration::from_micros(200));
        children[middle..].fill(1);
        let threshold = self.x[[rows[middle - 1] as usize, 0]];
        let rule = AxisRule::new(0, threshold, true);
        let gain = rows.len() as f64;
        Some(ProposedSplit { rule, gain })
    }
}

#[test]
fn several_threads_split_nodes() {
    let splitter = Halves::new(0);
    assert_eq!(splitter.grow(), 64);
    let mut threads = splitter.threads.into_inner().unwrap();
    threads.sort_by_key(|id| format!("{id:?}"));
    threads.dedup();
    assert!(threads.len() > 1);
}

/// Other threads run out of nodes, as the one that failed has the first turn.
#[test]
fn a_panic_of_one_thread_ends_the_growth() {
    for fails_at in [4, 8, 16, 32, 64, 200] {
        let splitter = Halves::new(fails_at);
        assert!(catch_unwind(AssertUnwindSafe(|| splitter.grow())).is_err());
    }
}

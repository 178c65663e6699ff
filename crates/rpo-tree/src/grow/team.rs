//! Trees that several threads grow together.

use super::{GrowParams, Grown, Growth, Pending, best_first, check};
use crate::TreeError;
use crate::splitter::Splitter;
use rpo_core::Seed;
use std::cell::Cell;

/// Threads of the current rayon pool that split nodes of one tree at the same time.
#[derive(Debug)]
pub struct Team<'w, W> {
    /// One workspace per thread. They share what a splitter keeps of a node for the search of its children.
    pub workspaces: &'w mut [W],
    /// Most rows of a node that one thread splits alone. The search of larger nodes is left to the splitter, which may
    /// divide it.
    pub small: usize,
    /// Returns true if the current thread may join: not if that would keep its own work waiting.
    pub may_join: fn() -> bool,
}

impl<'w, W> Team<'w, W> {
    /// Returns a team of the current thread.
    pub fn of_one(workspace: &'w mut W) -> Self {
        Self {
            workspaces: std::slice::from_mut(workspace),
            small: 0,
            may_join: || false,
        }
    }
}

/// Like [`grow`](super::grow), but best-first growth splits several nodes at the same time: the result is the same for
/// any team.
///
/// It is meant for trees that are grown one after the other, each with small nodes, where handing over parts of the
/// search of a node takes as long as the search. Depth-first growth takes the first workspace alone; see
/// [`grow_parallel`](super::grow_parallel).
///
/// ```
/// use ndarray::Array2;
/// use rpo_core::Seed;
/// use rpo_tree::histogram::{BinnedFeatures, HistogramSplitter, SplitTargets};
/// use rpo_tree::splitter::{AxisParams, Splitter};
/// use rpo_tree::{GrowParams, Team, grow, grow_together};
///
/// let x = Array2::from_shape_fn((500, 3), |(i, j)| ((i * (7 + 6 * j)) % 500) as f32);
/// let z = x.slice(ndarray::s![.., 1..2]).mapv(f32::sin);
/// let features = BinnedFeatures::new((&x).into(), 255, &[])?;
/// let targets = SplitTargets { gradients: z.view(), weights: &[1.0; 500], ..SplitTargets::default() };
/// let splitter = HistogramSplitter::new(&features, targets, AxisParams::default())?;
/// let params = GrowParams { max_leaves: Some(32), ..GrowParams::default() };
///
/// let first = splitter.workspace();
/// let mut workspaces = [first.beside(), first];
/// let team = Team { workspaces: &mut workspaces, small: splitter.small_node(), may_join: || true };
/// let grown = grow_together(&splitter, team, (0..500).collect(), &params, Seed::new(0))?;
/// assert_eq!(grown, grow(&splitter, &mut workspaces[0], (0..500).collect(), &params, Seed::new(0))?);
/// # Ok::<(), rpo_tree::TreeError>(())
/// ```
///
/// # Errors
/// See [`grow`](super::grow).
///
/// # Panics
/// See [`grow`](super::grow), and for a team without workspaces.
pub fn grow_together<S: Splitter>(
    splitter: &S,
    team: Team<'_, S::Workspace>,
    rows: Vec<u32>,
    params: &GrowParams,
    seed: Seed,
) -> Result<Grown<S::Rule>, TreeError> {
    check(splitter, &rows, params)?;
    if let Some(max_leaves) = params.max_leaves {
        return Ok(best_first::grow(splitter, team, rows, (params, max_leaves), seed));
    }
    let workspace = &mut team.workspaces[0];
    let mut growth = Growth::new(splitter, workspace, params, rows);
    let end = growth.rows.len();
    growth.depth_first(Pending {
        node: 0,
        start: 0,
        end,
        depth: 0,
        seed,
    });
    Ok(growth.finish())
}

thread_local! {
    /// Whether this thread splits nodes in a team.
    static IN_TEAM: Cell<bool> = const { Cell::new(false) };
}

/// Returns the number of threads among which the search of a node may be divided.
pub(crate) fn threads() -> usize {
    match IN_TEAM.get() {
        true => 1,
        false => rayon::current_num_threads(),
    }
}

/// Works as a member of a team, unless this thread already is one, which this work would keep waiting.
pub(super) fn as_member(work: impl FnOnce()) {
    struct Leave;

    impl Drop for Leave {
        fn drop(&mut self) {
            IN_TEAM.set(false);
        }
    }

    if !IN_TEAM.replace(true) {
        let _leave = Leave;
        work();
    }
}

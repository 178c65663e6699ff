//! Trees that several threads grow together.

use super::{GrowParams, Grown, best_first, check, grow};
use crate::TreeError;
use crate::splitter::Splitter;
use rpo_core::Seed;
use std::cell::Cell;

/// Threads of the current rayon pool that split nodes of one tree at the same time, with a workspace for each. Trees may
/// be grown one after the other by the same team.
#[derive(Debug)]
pub struct Team<W> {
    workspaces: Vec<W>,
    n_threads: usize,
    may_join: fn() -> bool,
}

impl<W> Team<W> {
    /// Creates a team of the current thread and as many others of its pool as make `n_threads`, or of the whole pool if
    /// it has fewer. A thread joins if `may_join`, called on it, returns true: it should not if that would keep its own
    /// work waiting.
    pub fn new(n_threads: usize, may_join: fn() -> bool) -> Self {
        Self {
            workspaces: Vec::new(),
            n_threads: n_threads.max(1),
            may_join,
        }
    }
}

/// Like [`grow`](super::grow), but best-first growth splits several nodes at the same time: the result is the same for
/// any team.
///
/// It is meant for trees that are grown one after the other, each with small nodes, where handing over parts of the
/// search of a node takes as long as the search. Depth-first growth stays on one thread; see
/// [`grow_parallel`](super::grow_parallel).
///
/// ```
/// use ndarray::Array2;
/// use rpo_tree::Seed;
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
/// let mut team = Team::new(2, || true);
/// let grown = grow_together(&splitter, &mut team, (0..500).collect(), &params, Seed::new(0))?;
/// assert_eq!(grown, grow(&splitter, &mut splitter.workspace(), (0..500).collect(), &params, Seed::new(0))?);
/// # Ok::<(), rpo_tree::TreeError>(())
/// ```
///
/// # Errors
/// See [`grow`](super::grow).
///
/// # Panics
/// See [`grow`](super::grow).
pub fn grow_together<S: Splitter>(
    splitter: &S,
    team: &mut Team<S::Workspace>,
    rows: Vec<u32>,
    params: &GrowParams,
    seed: Seed,
) -> Result<Grown<S::Rule>, TreeError> {
    let Team {
        workspaces,
        n_threads,
        may_join,
    } = team;
    if workspaces.is_empty() {
        workspaces.push(splitter.workspace());
    }
    if params.max_leaves.is_none() {
        return grow(splitter, &mut workspaces[0], rows, params, seed);
    }
    check(splitter, &rows, params)?;
    // Others would never join.
    let n_threads = (*n_threads).min(rayon::current_num_threads());
    while workspaces.len() < n_threads {
        workspaces.push(splitter.beside(&workspaces[0]));
    }
    let workspaces = &mut workspaces[..n_threads];
    Ok(best_first::grow(
        splitter, workspaces, *may_join, rows, params, seed,
    ))
}

thread_local! {
    /// Whether this thread splits nodes in a team, or grows a tree beside others that do.
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
    if !IN_TEAM.get() {
        undivided(work);
    }
}

/// Runs work whose small parts, such as the search of a node, stay on this thread: for trees that grow at the same time,
/// where there are as many as threads, so that handing over parts would only cost time. What is grown is the same.
///
/// ```
/// # use ndarray::Array2;
/// # use rpo_tree::Seed;
/// # use rpo_tree::histogram::{BinnedFeatures, HistogramSplitter, SplitTargets};
/// # use rpo_tree::splitter::{AxisParams, Splitter};
/// use rpo_tree::{GrowParams, grow, undivided};
/// # let x = Array2::from_shape_fn((500, 3), |(i, j)| ((i * (7 + 6 * j)) % 500) as f32);
/// # let z = x.slice(ndarray::s![.., 1..2]).mapv(f32::sin);
/// # let features = BinnedFeatures::new((&x).into(), 255, &[])?;
/// # let targets = SplitTargets { gradients: z.view(), weights: &[1.0; 500], ..SplitTargets::default() };
/// # let splitter = HistogramSplitter::new(&features, targets, AxisParams::default())?;
/// let tree = |seed| grow(&splitter, &mut splitter.workspace(), (0..500).collect(), &GrowParams::default(), seed);
/// let (first, second) = rayon::join(|| undivided(|| tree(Seed::new(0))), || undivided(|| tree(Seed::new(1))));
/// assert_eq!((first?, second?), (tree(Seed::new(0))?, tree(Seed::new(1))?));
/// # Ok::<(), rpo_tree::TreeError>(())
/// ```
pub fn undivided<T>(work: impl FnOnce() -> T) -> T {
    struct Leave {
        was_in_team: bool,
    }

    impl Drop for Leave {
        fn drop(&mut self) {
            IN_TEAM.set(self.was_in_team);
        }
    }

    let _leave = Leave {
        was_in_team: IN_TEAM.replace(true),
    };
    work()
}

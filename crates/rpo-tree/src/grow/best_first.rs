//! Best-first growth.
//!
//! Whether a node is split depends on the gains of others, as the number of leaves is limited, but how it is split does
//! not. So the members of a team open nodes ahead of their turn: the one whose turn it is, and those that follow. What
//! was found below a node that does not get its turn is discarded.

use super::team::as_member;
use super::{Found, GrowParams, Grown, Subtree, announce, search, sort_by_child};
use crate::rule::Rule;
use crate::splitter::{NodeRows, ProposedSplit, Splitter};
use rpo_core::Seed;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

/// A member of a team opens one of the next nodes, this many for each member.
const AHEAD: usize = 4;

/// Number of times that a thread looks for something new to do before it offers its processor to others.
const PATIENCE: usize = 10_000;

/// Grows a tree on one thread per workspace, as far as threads are free and may join.
pub(super) fn grow<S: Splitter>(
    splitter: &S,
    workspaces: &mut [S::Workspace],
    may_join: fn() -> bool,
    rows: Vec<u32>,
    params: &GrowParams,
    seed: Seed,
) -> Grown<S::Rule> {
    workspaces
        .iter_mut()
        .for_each(|workspace| splitter.begin(workspace));
    let growth = Growth {
        splitter,
        params,
        ahead: AHEAD * workspaces.len(),
        tree: Mutex::new(Tree::new(params.max_leaves.unwrap_or(usize::MAX))),
        n_opened: AtomicUsize::new(0),
        is_abandoned: AtomicBool::new(false),
    };
    let mut buffers = Buffers::default();
    growth.plant(rows, seed, &mut workspaces[0], &mut buffers);
    if workspaces.len() > 1 {
        let (small, n_threads) = (splitter.small_node(), workspaces.len());
        let next = || growth.tree().next_for_all(small, n_threads);
        while let Some(task) = next() {
            growth.open(task, &mut workspaces[0], &mut buffers);
        }
        let (own, others) = workspaces.split_at_mut(1);
        rayon::scope(|scope| {
            for workspace in others {
                let growth = &growth;
                scope.spawn(move |_| {
                    if may_join() {
                        as_member(|| growth.work(workspace, &mut Buffers::default()));
                    }
                });
            }
            as_member(|| growth.work(&mut own[0], &mut buffers));
        });
    }
    // Whatever is left, such as all where there is no team.
    growth.work(&mut workspaces[0], &mut buffers);
    growth.finish()
}

/// A tree that several threads grow.
struct Growth<'s, S: Splitter> {
    splitter: &'s S,
    params: &'s GrowParams,
    ahead: usize,
    tree: Mutex<Tree<S::Rule>>,
    /// Number of nodes opened so far: there is nothing new to do until it changes.
    n_opened: AtomicUsize,
    /// Set if a thread panicked.
    is_abandoned: AtomicBool,
}

/// The tree so far, and the nodes ahead of it.
struct Tree<R> {
    made: Vec<Made<R>>,
    /// The nodes of the tree for which a split was found, in the order of their turns.
    turns: BTreeSet<Turn>,
    grown: Subtree<R>,
    /// Leaves, and nodes that have turns.
    n_leaves: usize,
    max_leaves: usize,
}

/// A node that was made by a split. Its index identifies it to the splitter.
struct Made<R> {
    rows: Vec<u32>,
    depth: u32,
    seed: Seed,
    state: State<R>,
}

enum State<R> {
    Leaf,
    Found(Found<R>),
    /// A thread is opening it and has its rows and its split.
    Taken,
    /// Its children were made and searched.
    Opened {
        split: ProposedSplit<R>,
        /// Index of its first child; the others follow.
        first: usize,
    },
}

/// Place of a node in the order of turns: the largest gain first, then the smallest number in the tree.
#[derive(Debug, Clone, Copy)]
struct Turn {
    gain: f64,
    number: usize,
    arity: usize,
    /// Index among the nodes made.
    made: usize,
}

/// A node to be opened.
struct Task<R> {
    made: usize,
    first: usize,
    /// Whether its children are to be searched.
    is_searched: bool,
    rows: Vec<u32>,
    depth: u32,
    seed: Seed,
    found: Found<R>,
}

#[derive(Default)]
struct Buffers {
    rows: Vec<u32>,
    ends: Vec<usize>,
    /// Unused vectors of children.
    spare: Vec<Vec<u16>>,
}

impl<S: Splitter> Growth<'_, S> {
    fn tree(&self) -> MutexGuard<'_, Tree<S::Rule>> {
        self.tree
            .lock()
            .expect("no thread panics while it holds the tree")
    }

    /// Makes and searches the root.
    fn plant(&self, rows: Vec<u32>, seed: Seed, workspace: &mut S::Workspace, buffers: &mut Buffers) {
        let mut root = Made {
            rows,
            depth: 0,
            seed,
            state: State::Leaf,
        };
        let is_searched = self.tree().has_room();
        self.search(&mut root, 0, is_searched, workspace, buffers);
        let mut tree = self.tree();
        tree.made.push(root);
        tree.place(0, 0);
    }

    /// Opens nodes until the tree is grown.
    fn work(&self, workspace: &mut S::Workspace, buffers: &mut Buffers) {
        let _alarm = Alarm(&self.is_abandoned);
        while !self.is_abandoned.load(Relaxed) {
            let seen = self.n_opened.load(Relaxed);
            let mut tree = self.tree();
            if tree.turns.is_empty() {
                return;
            }
            let task = tree.next(self.ahead);
            drop(tree);
            match task {
                Some(task) => self.open(task, workspace, buffers),
                None => self.wait(seen),
            }
        }
    }

    /// Waits until more than `seen` nodes are opened. That takes microseconds, too short to sleep, unless there are more
    /// threads than processors.
    fn wait(&self, seen: usize) {
        let mut n_looks = 0;
        while self.n_opened.load(Relaxed) == seen && !self.is_abandoned.load(Relaxed) {
            n_looks += 1;
            match n_looks < PATIENCE {
                true => std::hint::spin_loop(),
                false => std::thread::yield_now(),
            }
        }
    }

    /// Makes and searches the children of a node, and grows the tree by those nodes whose turn it is.
    fn open(&self, task: Task<S::Rule>, workspace: &mut S::Workspace, buffers: &mut Buffers) {
        let Task {
            made,
            first,
            is_searched,
            mut rows,
            depth,
            seed,
            found: Found { split, children },
        } = task;
        let (ends, arity) = (&mut buffers.ends, split.rule.arity());
        sort_by_child(&mut rows, &children, arity, ends, &mut buffers.rows);
        buffers.spare.push(children);
        let of_child = |(i, &start): (usize, &usize)| Made {
            rows: rows.split_off(start),
            depth: depth + 1,
            seed: seed.child(i as u64 + 1),
            state: State::Leaf,
        };
        let mut children: Vec<_> = ends[..arity - 1].iter().enumerate().rev().map(of_child).collect();
        children.push(Made {
            rows,
            depth: depth + 1,
            seed: seed.child(0),
            state: State::Leaf,
        });
        children.reverse();
        let may_split = |child: &Made<_>| is_searched && self.params.allow(child.rows.len(), child.depth);
        let announced = children.iter().enumerate();
        let announced = announced.map(|(i, child)| (child.node(first + i), may_split(child)));
        announce(self.splitter, made, announced, workspace);
        for (i, child) in children.iter_mut().enumerate() {
            self.search(child, first + i, is_searched, workspace, buffers);
        }
        let mut tree = self.tree();
        for (place, child) in tree.made[first..].iter_mut().zip(children) {
            *place = child;
        }
        tree.made[made].state = State::Opened { split, first };
        tree.advance();
        drop(tree);
        self.n_opened.fetch_add(1, Relaxed);
    }

    /// Searches the split of a node, if it may be split.
    fn search(
        &self,
        node: &mut Made<S::Rule>,
        index: usize,
        is_searched: bool,
        workspace: &mut S::Workspace,
        buffers: &mut Buffers,
    ) {
        if is_searched && self.params.allow(node.rows.len(), node.depth) {
            let found = search(self.splitter, node.node(index), workspace, &mut buffers.spare);
            node.state = found.map_or(State::Leaf, State::Found);
        }
    }

    fn finish(self) -> Grown<S::Rule> {
        let tree = self.tree.into_inner();
        let tree = tree.expect("no thread panics while it holds the tree");
        tree.grown.into_grown()
    }
}

impl<R> Made<R> {
    fn node(&self, index: usize) -> NodeRows<'_> {
        NodeRows {
            number: index,
            rows: &self.rows,
            depth: self.depth,
            seed: self.seed,
        }
    }
}

impl<R: Rule> Tree<R> {
    fn new(max_leaves: usize) -> Self {
        Self {
            made: Vec::new(),
            turns: BTreeSet::new(),
            grown: Subtree::default(),
            n_leaves: 1,
            max_leaves,
        }
    }

    fn has_room(&self) -> bool {
        self.n_leaves < self.max_leaves
    }

    /// Gives a node of the tree its turn, or makes it a leaf if it has no split or the tree no room.
    fn place(&mut self, made: usize, number: usize) {
        match &self.made[made].state {
            State::Found(Found { split, .. }) if self.has_room() => {
                self.turns.insert(Turn {
                    gain: split.gain,
                    number,
                    arity: split.rule.arity(),
                    made,
                });
            }
            _ => self.close(made, number),
        }
    }

    /// Splits the nodes whose turn it is, as far as they are opened.
    fn advance(&mut self) {
        while let Some(&turn) = self.turns.first() {
            let Turn {
                number, arity, made, ..
            } = turn;
            let has_room = self.n_leaves + arity - 1 <= self.max_leaves;
            match &mut self.made[made].state {
                State::Taken => return,
                State::Found(_) if has_room => return,
                state @ State::Opened { .. } if has_room => {
                    let State::Opened { split, first } = std::mem::replace(state, State::Leaf) else {
                        unreachable!("just matched")
                    };
                    self.turns.pop_first();
                    self.split(number, split, first);
                }
                _ => {
                    self.turns.pop_first();
                    self.close(made, number);
                }
            }
        }
    }

    /// Splits a node of the tree whose children are made.
    fn split(&mut self, number: usize, split: ProposedSplit<R>, first: usize) {
        let arity = split.rule.arity();
        self.n_leaves += arity - 1;
        let first_child = self.grown.split(number, split.rule, split.gain);
        for i in 0..arity {
            self.place(first + i, first_child + i);
        }
    }

    /// Makes a node a leaf.
    fn close(&mut self, made: usize, number: usize) {
        let mut rows = std::mem::take(&mut self.made[made].rows);
        // The rows of a node that was opened in vain are those of its children.
        if let State::Opened { split, first } = &self.made[made].state {
            let children = *first..first + split.rule.arity();
            children.for_each(|child| rows.append(&mut self.made[child].rows));
            rows.sort_unstable();
        }
        self.grown.close(number, rows);
    }

    /// Takes the node whose turn it is, if its search is to be divided among all threads: if there are fewer nodes than
    /// threads, or one of more than `small` rows.
    fn next_for_all(&mut self, small: usize, n_threads: usize) -> Option<Task<R>> {
        let is_large = |turn: &Turn| self.made[turn.made].rows.len() > small;
        let is_for_all = self.turns.len() < n_threads || self.turns.iter().any(is_large);
        is_for_all.then(|| self.next(1))?
    }

    /// Takes the first of the next `ahead` nodes that no thread has taken.
    fn next(&mut self, ahead: usize) -> Option<Task<R>> {
        let mut n_leaves = self.n_leaves;
        let mut next = None;
        for (place, turn) in self.turns.iter().take(ahead).enumerate() {
            n_leaves += turn.arity - 1;
            // Children of nodes that come first may take the turns of later nodes.
            if place > 0 && n_leaves + place >= self.max_leaves {
                break;
            }
            if matches!(self.made[turn.made].state, State::Found(_)) {
                // The children of the last split of a tree are leaves.
                next = Some((*turn, n_leaves < self.max_leaves));
                break;
            }
        }
        let (Turn { made, arity, .. }, is_searched) = next?;
        let first = self.made.len();
        let node = &mut self.made[made];
        let State::Found(found) = std::mem::replace(&mut node.state, State::Taken) else {
            unreachable!("just matched")
        };
        let (depth, seed) = (node.depth, node.seed);
        let rows = std::mem::take(&mut node.rows);
        self.made.resize_with(first + arity, || Made {
            rows: Vec::new(),
            depth,
            seed,
            state: State::Leaf,
        });
        Some(Task {
            made,
            first,
            is_searched,
            rows,
            depth,
            seed,
            found,
        })
    }
}

impl PartialEq for Turn {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Turn {}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Turn {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_gain = other.gain.total_cmp(&self.gain);
        by_gain.then(self.number.cmp(&other.number))
    }
}

/// Tells the other threads of a team if this one panics, as they would wait for it.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Relaxed);
        }
    }
}

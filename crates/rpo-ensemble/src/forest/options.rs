//! What a fit may be given beside features and outputs.

/// What a fit may be given beside features and outputs. Default neither.
#[derive(Clone, Copy, Default)]
pub struct FitOptions<'a> {
    /// One weight per row, finite and not negative; `None` means 1. A bootstrap draws rows whatever their
    /// weight and multiplies its counts by it.
    pub weights: Option<&'a [f32]>,
    /// Called whenever a tree is finished, from any thread.
    pub on_tree: Option<&'a (dyn Fn() + Sync)>,
    /// Whether outputs may be missing: NaN, in CSR a stored NaN, as what is not stored is a known 0. Otherwise, the
    /// default, they are refused: NaN by mistake would change silently what is learnt.
    ///
    /// A missing output takes no part in its row: splits are scored by, and leaves answer with, the rows that know
    /// an output ([`ObservedVariance`](rpo_tree::criterion::ObservedVariance),
    /// [`Leaves::label_observed`](rpo_tree::Leaves::label_observed)). With a projection z = Φy, which needs every entry,
    /// trees grow on z with missing outputs at their mean over the rows that know them: if outputs are missing at
    /// random that leaves the mean of z as it would be, and as a constant has no variance to be explained, a
    /// missing entry pulls a split to no side; leaves are labelled with what is known. Leaves then keep means:
    /// they cannot refer to training rows.
    pub missing_outputs: bool,
}

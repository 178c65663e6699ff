//! 0/1 labels, laid out to be counted.

use rpo_core::{CsrView, csr_row};

/// Labels are counted in groups of this size, padded with labels that do not exist. The number of labels of a row
/// cannot be predicted, and a loop over groups mispredicts its end less often.
pub(super) const GROUP: usize = 4;

/// 0/1 labels (n x d) in the layout in which they are counted: made once for all trees of a forest.
#[derive(Debug)]
pub struct LabelRows {
    labels: Vec<u32>,
    /// True if the labels of each row are padded to whole groups.
    in_groups: bool,
    rows: Vec<LabelRow>,
    n_labels: usize,
}

/// Position and number of the labels of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct LabelRow {
    start: u32,
    end: u32,
    pub(super) n_labels: u32,
}

impl LabelRows {
    /// Takes CSR labels (n x d). Returns `None` if a stored label is not 1, or there are too many labels for 32-bit
    /// positions.
    pub fn new(labels: CsrView<'_>) -> Option<Self> {
        let (_, columns, values) = labels.into_raw_storage();
        // Groups add at most three labels per row.
        let indexable = columns.len() + GROUP * labels.rows() <= u32::MAX as usize;
        if !indexable || values.iter().any(|&z| z != 1.0) {
            return None;
        }
        let in_groups = columns.len() >= 2 * labels.rows();
        let group = if in_groups { GROUP } else { 1 };
        let mut laid_out = Self {
            labels: Vec::with_capacity(columns.len() + (group - 1) * labels.rows()),
            in_groups,
            rows: Vec::with_capacity(labels.rows()),
            n_labels: labels.cols(),
        };
        for row in 0..labels.rows() {
            let own = csr_row(&labels, row).0;
            let start = laid_out.labels.len();
            let end = start + own.len().next_multiple_of(group);
            laid_out.labels.extend_from_slice(own);
            let filling = (labels.cols() as u32..).take(end - laid_out.labels.len());
            laid_out.labels.extend(filling);
            laid_out.rows.push(LabelRow {
                start: start as u32,
                end: end as u32,
                n_labels: own.len() as u32,
            });
        }
        Some(laid_out)
    }

    pub(super) fn rows(&self) -> &[LabelRow] {
        &self.rows
    }

    pub(super) fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// The number of labels of all rows, with those that pad them.
    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns true if the labels of each row are padded to whole groups.
    #[inline]
    pub(super) fn in_groups(&self) -> bool {
        self.in_groups
    }

    /// The labels of a row.
    pub(super) fn of(&self, row: LabelRow) -> &[u32] {
        &self.labels[row.start as usize..][..row.n_labels as usize]
    }

    /// The labels of a row and those that pad it, which are `n_labels` and the following.
    #[inline]
    pub(super) fn padded(&self, row: LabelRow) -> &[u32] {
        &self.labels[row.start as usize..row.end as usize]
    }
}

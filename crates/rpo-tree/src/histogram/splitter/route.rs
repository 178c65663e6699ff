//! Sends the rows of a node to its children.

use super::HistogramSplitter;
use crate::categories::CategorySet;
use crate::histogram::features::Side;
use crate::histogram::search::{Found, Split, Sums};
use crate::histogram::workspace::{Common, Work};
use crate::rule::AxisRule;

impl HistogramSplitter<'_> {
    /// Routes the rows of a node by a split, given the sums of all features if available; returns the rule.
    pub(super) fn route<S: Sums>(
        &self,
        sums: &S,
        found: &Found,
        rows: &[u32],
        histogram: Option<&S::Histogram>,
        (common, work): (&mut Common, &mut Work<S>),
        children: &mut [u16],
    ) -> AxisRule {
        if self.features.bins(found.feature).is_categorical {
            self.route_categories(sums, found, rows, histogram, work, children)
        } else {
            self.route_numbers(found, rows, &mut common.marks, children)
        }
    }

    /// Routes the rows of a node by a split of a numeric feature; returns the rule.
    fn route_numbers(
        &self,
        found: &Found,
        rows: &[u32],
        marks: &mut Vec<u8>,
        children: &mut [u16],
    ) -> AxisRule {
        let Found { feature, split, .. } = *found;
        let bins = self.features.bins(feature);
        // The next bin that holds targets; samples without one may lie in the bins before it.
        let next = split
            .next
            .map(|next| if self.has_unobserved { split.last + 1 } else { next });
        let threshold = next.map_or(f32::INFINITY, |next| bins.threshold(split.last, next));
        let side = Side {
            last: split.last,
            missing_left: split.missing_left.unwrap_or(false),
        };
        self.features.route(feature, side, rows, marks, children);
        AxisRule::new(feature, threshold, missing_left(split, children))
    }

    /// Routes the rows of a node by a split of categories, which are ordered once more; returns the rule.
    fn route_categories<S: Sums>(
        &self,
        sums: &S,
        found: &Found,
        rows: &[u32],
        histogram: Option<&S::Histogram>,
        work: &mut Work<S>,
        children: &mut [u16],
    ) -> AxisRule {
        let Found { feature, split, .. } = *found;
        let (place, limits) = (self.features.place(feature), self.limits());
        let (scratch, gathered) = (work.scratches.one(), &mut work.gathered[0]);
        let order = if let Some(histogram) = histogram {
            scratch.order(sums, (place, histogram), &limits)
        } else {
            sums.total(rows, gathered);
            let alone = scratch.sum_apart(sums, self.features, &[feature], (rows, gathered));
            scratch.order(sums, (place.apart(0), &alone), &limits)
        };
        let (left, right) = order.split_at(split.last + 1);
        let listed = |missing_left| if missing_left { right } else { left };
        let with_left = split.missing_left.unwrap_or(false);
        self.features
            .route_categories(feature, listed(with_left), with_left, rows, children);
        let missing_left = missing_left(split, children);
        let bins = self.features.bins(feature);
        let codes = CategorySet::from_iter(listed(missing_left).iter().map(|&bin| bins.code(bin)));
        AxisRule::of_categories(feature, codes, missing_left)
    }
}

/// Returns whether missing values will go left, given the child of each row: as the split says, or with the larger
/// child.
fn missing_left(split: Split, children: &[u16]) -> bool {
    split.missing_left.unwrap_or_else(|| {
        let n_right = children.iter().map(|&child| u32::from(child)).sum::<u32>() as usize;
        2 * n_right < children.len()
    })
}

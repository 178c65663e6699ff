//! The weights of a node's centroids, feature by feature.

use crate::products::{add_products, table_width};

/// Most children of a table.
pub(super) const MAX_TABLE: usize = 16;

/// Weights by the position of their feature among those of the node.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Weights {
    /// The children in which a feature has a weight.
    Listed {
        /// Start of the entries of each feature, and the end.
        start: Box<[u32]>,
        children: Box<[u16]>,
        values: Box<[f32]>,
    },
    /// A row per feature, with one number per child, padded with zeros to a width for which sums are fast.
    Table { width: usize, rows: Box<[f32]> },
}

impl Weights {
    /// Most numbers in a table per weight: the additional memory avoids branches that cannot be predicted.
    const ROOM: usize = 4;

    /// Takes lists: the start of the entries of each feature and the end, and their children, increasing for each
    /// feature.
    pub(super) fn new(arity: usize, start: Vec<u32>, children: Vec<u16>, values: Vec<f32>) -> Self {
        let (width, n_features) = (table_width(arity), start.len() - 1);
        if arity > MAX_TABLE || width * n_features > Self::ROOM * values.len() {
            return Self::Listed {
                start: start.into(),
                children: children.into(),
                values: values.into(),
            };
        }
        let mut rows = vec![0.0; width * n_features];
        for (row, range) in rows.chunks_exact_mut(width).zip(start.windows(2)) {
            for entry in range[0] as usize..range[1] as usize {
                row[usize::from(children[entry])] = values[entry];
            }
        }
        Self::Table {
            width,
            rows: rows.into(),
        }
    }

    /// Returns the children in which the i-th feature has a non-zero weight, increasing, and those weights.
    pub(super) fn of(&self, i: usize) -> impl Iterator<Item = (u16, f32)> + '_ {
        let (children, values) = match self {
            Self::Listed {
                start,
                children,
                values,
            } => {
                let range = start[i] as usize..start[i + 1] as usize;
                (Some(&children[range.clone()]), &values[range])
            }
            Self::Table { width, rows } => (None, &rows[i * width..][..*width]),
        };
        let child = move |at: usize| children.map_or(at as u16, |children| children[at]);
        let entries = values.iter().enumerate();
        entries
            .filter(|(_, value)| **value != 0.0)
            .map(move |(at, &value)| (child(at), value))
    }

    /// Adds to the score of every child the sum of values × its weights for the features at these positions, in this
    /// order.
    #[inline]
    pub(super) fn add(&self, places: &[u32], values: &[f32], scores: &mut [f32]) {
        match self {
            Self::Listed {
                start,
                children,
                values: weights,
            } => {
                for (&place, &value) in places.iter().zip(values) {
                    let range = start[place as usize] as usize..start[place as usize + 1] as usize;
                    for (&child, &weight) in children[range.clone()].iter().zip(&weights[range]) {
                        scores[usize::from(child)] += value * weight;
                    }
                }
            }
            Self::Table { width, rows } => add_products(places, values, rows, &mut scores[..*width]),
        }
    }
}

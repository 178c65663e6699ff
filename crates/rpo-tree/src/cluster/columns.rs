//! The rows that k-means clusters, column by column.

use super::points::Points;

/// The entries of each column. The products of all rows with a sparse vector then cost only the entries in the columns
/// of the vector, not those of all rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    /// Start of the entries of each column, and the end.
    start: Vec<u32>,
    /// Rows, increasing in a column.
    rows: Vec<u32>,
    values: Vec<f32>,
}

impl Columns {
    /// Replaces the columns by those of the given rows.
    pub(super) fn assign(&mut self, points: &Points) {
        let columns = points.columns();
        self.start.clear();
        self.start.resize(points.names().len() + 1, 0);
        columns.iter().for_each(|&j| self.start[j as usize] += 1);
        let mut n = 0;
        for start in &mut self.start {
            n += *start;
            *start = n;
        }
        self.rows.resize(columns.len(), 0);
        self.values.resize(columns.len(), 0.0);
        // From the back, so that ends become starts.
        for row in (0..points.len()).rev() {
            let (columns, values) = points.row(row);
            for (&j, &value) in columns.iter().zip(values) {
                let place = &mut self.start[j as usize];
                *place -= 1;
                (self.rows[*place as usize], self.values[*place as usize]) = (row as u32, value);
            }
        }
    }

    /// Adds the products of all rows with a sparse vector.
    pub(super) fn products(&self, (columns, values): (&[u32], &[f32]), products: &mut [f64]) {
        for (&j, &value) in columns.iter().zip(values) {
            let range = self.start[j as usize] as usize..self.start[j as usize + 1] as usize;
            let held = self.rows[range.clone()].iter().zip(&self.values[range]);
            for (&row, &held) in held {
                products[row as usize] += f64::from(value) * f64::from(held);
            }
        }
    }
}

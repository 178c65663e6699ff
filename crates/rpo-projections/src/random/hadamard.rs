//! Sub-sampled Hadamard projection, by fast transforms.

use rpo_core::{MatrixView, Seed};

use super::choice;
use crate::linalg::fwht;
use crate::maps::{LabelTable, stored};
use crate::{LinearMap, ProjectionError, RandomProjection, check_sizes, memory};

/// Number of additions of a transform, out of N log2 N, that cost as much as one of the m additions per stored value.
/// Measured: a transform passes over N contiguous numbers, whereas a sum gathers.
const BUTTERFLIES_PER_SUM: usize = 2;

/// Sub-sampled Hadamard maps: Φ = (1/√m) R H C, where H is Sylvester's Hadamard matrix of order N = 2^⌈log2 max(m, d)⌉,
/// and R and C choose m of its rows and d of its columns, uniformly and without replacement. The entry of H in row a
/// and column b is (-1)^popcount(a AND b).
///
/// Shapes: Y (n x d), Φ (m x d), Z (n x m); m may exceed d. Units: those of Y; E‖Φu‖² = ‖u‖², as HᵀH = N I and all rows
/// of H are equally likely. Cost: O(N) to draw; O(N log N) per row, or O(m) per stored value if that is less. H is
/// never formed: either a row is transformed, or the m signs of the outputs that occur are added up. For 0/1 outputs
/// both give the same bits, for others they differ by rounding.
///
/// Source: Joly, Geurts, Wehenkel, ECML-PKDD 2014, section 2.2; Candes, Plan, IEEE Trans. Inf. Theory 57, 2011.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hadamard;

#[derive(Debug)]
struct HadamardMap {
    /// Order N of H.
    order: usize,
    /// The row of H for each component.
    rows: Vec<u32>,
    /// The column of H for each output.
    columns: Vec<u32>,
}

impl RandomProjection for Hadamard {
    fn draw(
        &self,
        n_outputs: usize,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        Ok(Box::new(HadamardMap::choose(n_outputs, n_components, seed)?))
    }
}

impl HadamardMap {
    fn choose(n_outputs: usize, n_components: usize, seed: Seed) -> Result<Self, ProjectionError> {
        check_sizes(n_outputs, n_components)?;
        let limit = 1 << 31;
        if n_outputs.max(n_components) > limit {
            return Err(ProjectionError::IndexRange {
                n_outputs,
                n_components,
                limit,
            });
        }
        let order = n_outputs.max(n_components).next_power_of_two();
        let rows = choice::distinct(order, n_components, seed.purpose("hadamard rows"))?;
        let columns = choice::distinct(order, n_outputs, seed.purpose("hadamard columns"))?;
        Ok(Self { order, rows, columns })
    }

    /// Returns true if adding up the signs of the values of a row that are not 0 costs less than a transform.
    fn is_short(&self, y: MatrixView<'_>, row: usize) -> bool {
        let mut n_values = 0_usize;
        y.for_each_in_row(row, |_, v| n_values += usize::from(v != 0.0));
        let sums = n_values.saturating_mul(self.rows.len());
        sums.saturating_mul(BUTTERFLIES_PER_SUM) < self.order.saturating_mul(self.order.ilog2() as usize)
    }

    /// Writes the column of RHC for an output.
    fn signs(&self, label: u32, row: &mut [f32]) {
        let column = self.columns[label as usize];
        for (x, a) in row.iter_mut().zip(&self.rows) {
            *x = if (a & column).count_ones().is_multiple_of(2) {
                1.0
            } else {
                -1.0
            };
        }
    }

    /// Returns the signs of the outputs that occur in the given rows.
    fn sign_table(
        &self,
        y: MatrixView<'_>,
        rows: impl Iterator<Item = usize>,
    ) -> Result<LabelTable, ProjectionError> {
        let (d, m) = (self.columns.len(), self.rows.len());
        let fill = |label, row: &mut [f32]| self.signs(label, row);
        match y {
            MatrixView::Dense(_) => LabelTable::all(d, m, fill),
            MatrixView::Sparse(a) => {
                let labels = rows.flat_map(|i| stored(&a, i).map(|(j, _)| j));
                LabelTable::occurring(d, m, labels, fill)
            }
        }
    }
}

impl LinearMap for HadamardMap {
    fn n_outputs(&self) -> usize {
        self.columns.len()
    }

    fn n_components(&self) -> usize {
        self.rows.len()
    }

    fn project(&self, y: MatrixView<'_>, z: &mut [f32]) -> Result<(), ProjectionError> {
        let (m, scale) = (self.rows.len(), (self.rows.len() as f64).sqrt().recip() as f32);
        let (short, long): (Vec<usize>, Vec<usize>) = (0..y.n_rows()).partition(|&i| self.is_short(y, i));
        if !short.is_empty() {
            self.sign_table(y, short.iter().copied())?
                .project_some(y, &short.iter().copied(), scale, z);
        }
        let mut buffer = memory::filled(0.0_f32, if long.is_empty() { 0 } else { self.order }, 1)?;
        for i in long {
            buffer.fill(0.0);
            y.for_each_in_row(i, |j, v| buffer[self.columns[j as usize] as usize] = v);
            fwht(&mut buffer);
            for (z, &a) in z[i * m..][..m].iter_mut().zip(&self.rows) {
                *z = buffer[a as usize] * scale;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rpo_core::CsrMatrix;

    #[test]
    fn agrees_with_the_sylvester_matrix() {
        // Below and above N = d, with powers of two and other sizes; the last rows hold few values, the first ones all.
        for (d, m) in [
            (1, 1),
            (1, 5),
            (5, 1),
            (7, 3),
            (8, 8),
            (8, 9),
            (33, 20),
            (100, 64),
        ] {
            let map = HadamardMap::choose(d, m, Seed::new(3)).unwrap();
            let entry = |a: u32, b: u32| {
                if (a & b).count_ones().is_multiple_of(2) {
                    1.0_f64
                } else {
                    -1.0
                }
            };

            let (mut indptr, mut indices, mut values) = (vec![0], vec![], vec![]);
            for i in 0..=d {
                let occurring = (0..d).filter(|j| i == 0 || j % i == 0);
                indices.extend(occurring.clone().map(|j| j as u32));
                values.extend(occurring.map(|j| (i * 7 + j * 3) as f32 % 5.0 - 1.5));
                indptr.push(indices.len());
            }
            let y = CsrMatrix::new((d + 1, d), indptr, indices, values);
            let z = map.apply(MatrixView::Sparse(y.view())).unwrap();
            for i in 0..=d {
                for k in 0..m {
                    let sum: f64 = stored(&y.view(), i)
                        .map(|(j, v)| entry(map.rows[k], map.columns[j as usize]) * f64::from(v))
                        .sum();
                    let expected = sum / (m as f64).sqrt();
                    assert!(
                        (f64::from(z[[i, k]]) - expected).abs() < 1e-4,
                        "d {d}, m {m}, row {i}, {k}"
                    );
                }
            }
        }
    }

    #[test]
    fn rows_and_columns_are_distinct() {
        let map = HadamardMap::choose(983, 1024, Seed::new(5)).unwrap();
        assert_eq!(map.order, 1024);
        for mut chosen in [map.rows, map.columns] {
            let amount = chosen.len();
            chosen.sort_unstable();
            chosen.dedup();
            assert_eq!(chosen.len(), amount);
            assert!(chosen.iter().all(|&index| index < 1024));
        }
    }
}

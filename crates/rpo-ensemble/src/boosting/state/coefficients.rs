//! Matrices of coefficients that project residuals.

use super::{Real, write};
use crate::error::EnsembleError;
use rpo_core::{CsrMatrix, MatrixView};
use rpo_projections::LinearMap;

/// The matrix φ (q x d) of a linear map of d outputs.
///
/// Maps are designed for sparse rows. Residuals are dense and computed on the fly, so boosting extracts φ from the map
/// once per step and computes dot products itself.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::boosting) enum Coefficients {
    /// All entries, component by component.
    Dense { phi: Vec<f32>, n_outputs: usize },
    /// The nonzero entries, component by component, by output.
    Sparse(Vec<Vec<(u32, f32)>>),
    /// φ = I.
    Identity { n_outputs: usize },
    /// φ is diagonal.
    Diagonal(Vec<f32>),
}

impl Coefficients {
    /// φ is stored dense if more than one in this many of its entries is nonzero.
    const SPARSE: usize = 8;

    /// Extracts the matrix of a map: the images of the unit vectors.
    pub(in crate::boosting) fn of(map: &dyn LinearMap) -> Result<Self, EnsembleError> {
        let (d, q) = (map.n_outputs(), map.n_components());
        let unit = CsrMatrix::new((d, d), (0..=d).collect(), (0..d as u32).collect(), vec![1.0; d]);
        let columns = map.apply(MatrixView::Sparse(unit.view()))?;
        let stored = columns.iter().filter(|v| **v != 0.0).count();
        if stored * Self::SPARSE > q * d {
            let phi = (0..q).flat_map(|k| columns.column(k).to_vec()).collect();
            return Ok(Self::Dense { phi, n_outputs: d });
        }
        let component = |k| {
            let numbers = columns.column(k).to_vec().into_iter().enumerate();
            numbers
                .filter(|(_, v)| *v != 0.0)
                .map(|(j, v)| (j as u32, v))
                .collect()
        };
        Ok(Self::Sparse((0..q).map(component).collect()))
    }

    /// Returns the number of components q.
    pub(in crate::boosting) fn n_components(&self) -> usize {
        match self {
            Self::Dense { phi, n_outputs } => phi.len() / n_outputs,
            Self::Sparse(components) => components.len(),
            Self::Identity { n_outputs } => *n_outputs,
            Self::Diagonal(diagonal) => diagonal.len(),
        }
    }

    /// Returns true if all entries are 0, so that no tree can grow.
    pub(in crate::boosting) fn is_zero(&self) -> bool {
        match self {
            Self::Dense { phi, .. } => phi.iter().all(|v| *v == 0.0),
            Self::Sparse(components) => components.iter().all(Vec::is_empty),
            Self::Identity { .. } => false,
            Self::Diagonal(diagonal) => diagonal.iter().all(|v| *v == 0.0),
        }
    }

    /// Returns ‖φ‖², the sum of the squares of all entries.
    pub(in crate::boosting) fn norm_squared(&self) -> f64 {
        let square = |v: f32| f64::from(v) * f64::from(v);
        match self {
            Self::Dense { phi, .. } => phi.iter().map(|&v| square(v)).sum(),
            Self::Sparse(components) => components.iter().flatten().map(|&(_, v)| square(v)).sum(),
            Self::Identity { n_outputs } => *n_outputs as f64,
            Self::Diagonal(diagonal) => diagonal.iter().map(|&v| square(v)).sum(),
        }
    }

    /// Returns ‖φ_k‖ of each row.
    pub(in crate::boosting) fn norms(&self) -> Vec<f64> {
        let norm = |numbers: &mut dyn Iterator<Item = f32>| {
            let squares = numbers.map(|v| f64::from(v) * f64::from(v));
            squares.sum::<f64>().sqrt()
        };
        match self {
            Self::Dense { phi, n_outputs } => {
                let rows = phi.chunks_exact(*n_outputs);
                rows.map(|row| norm(&mut row.iter().copied())).collect()
            }
            Self::Sparse(components) => {
                let rows = components.iter();
                rows.map(|row| norm(&mut row.iter().map(|e| e.1))).collect()
            }
            Self::Identity { n_outputs } => vec![1.0; *n_outputs],
            Self::Diagonal(diagonal) => diagonal.iter().map(|&v| f64::from(v.abs())).collect(),
        }
    }

    /// Returns φ with each row multiplied by a factor.
    #[must_use]
    pub(in crate::boosting) fn with_rows_times(mut self, factors: &[f64]) -> Self {
        let scale = |v: &mut f32, factor: f64| *v = (f64::from(*v) * factor) as f32;
        match &mut self {
            Self::Dense { phi, n_outputs } => {
                let rows = phi.chunks_exact_mut(*n_outputs).zip(factors);
                rows.for_each(|(row, &factor)| row.iter_mut().for_each(|v| scale(v, factor)));
            }
            Self::Sparse(components) => {
                let rows = components.iter_mut().zip(factors);
                rows.for_each(|(row, &factor)| row.iter_mut().for_each(|e| scale(&mut e.1, factor)));
            }
            Self::Identity { .. } => return Self::Diagonal(factors.iter().map(|&v| v as f32).collect()),
            Self::Diagonal(diagonal) => {
                let pairs = diagonal.iter_mut().zip(factors);
                pairs.for_each(|(v, &factor)| scale(v, factor));
            }
        }
        self
    }

    /// Returns φ with each column (an output) multiplied by a factor.
    #[must_use]
    pub(in crate::boosting) fn scaled(&self, factors: &[f32]) -> Self {
        let mut scaled = self.clone();
        match &mut scaled {
            Self::Dense { phi, n_outputs } => {
                let rows = phi.chunks_exact_mut(*n_outputs);
                rows.for_each(|row| row.iter_mut().zip(factors).for_each(|(v, factor)| *v *= factor));
            }
            Self::Sparse(components) => {
                let entries = components.iter_mut().flatten();
                entries.for_each(|e| e.1 *= factors[e.0 as usize]);
            }
            Self::Identity { .. } => return Self::Diagonal(factors.to_vec()),
            Self::Diagonal(diagonal) => diagonal
                .iter_mut()
                .zip(factors)
                .for_each(|(v, factor)| *v *= factor),
        }
        scaled
    }

    /// Returns φ with rows scaled to ‖φ_k‖ = 1; a row of zeros stays zero.
    #[must_use]
    pub(in crate::boosting) fn normalized(&self) -> Self {
        let reciprocal = |norm: f64| if norm > 0.0 { norm.recip() } else { 0.0 };
        let factors: Vec<f64> = self.norms().into_iter().map(reciprocal).collect();
        match self {
            Self::Identity { n_outputs } => Self::Identity {
                n_outputs: *n_outputs,
            },
            _ => self.clone().with_rows_times(&factors),
        }
    }

    /// Returns the sum of the magnitudes of each row, Σ_j |φ_kj|.
    pub(in crate::boosting) fn magnitudes(&self) -> Vec<f64> {
        match self {
            Self::Dense { phi, n_outputs } => {
                let rows = phi.chunks_exact(*n_outputs);
                rows.map(|row| row.iter().map(|v| f64::from(v.abs())).sum())
                    .collect()
            }
            Self::Sparse(components) => {
                let rows = components.iter();
                rows.map(|row| row.iter().map(|e| f64::from(e.1.abs())).sum())
                    .collect()
            }
            Self::Identity { .. } | Self::Diagonal(_) => self.norms(),
        }
    }

    /// Returns the matrix of φ_kj², which maps second derivatives of outputs to those along components.
    pub(in crate::boosting) fn squared(&self) -> Self {
        let mut squares = self.clone();
        match &mut squares {
            Self::Dense { phi, .. } => phi.iter_mut().for_each(|v| *v *= *v),
            Self::Sparse(components) => components.iter_mut().flatten().for_each(|e| e.1 *= e.1),
            Self::Identity { .. } => {}
            Self::Diagonal(diagonal) => diagonal.iter_mut().for_each(|v| *v *= *v),
        }
        squares
    }

    /// Computes φ times a row, in `f64`.
    pub(in crate::boosting) fn project(&self, row: &[f64], out: &mut [f64]) {
        match self {
            Self::Dense { phi, n_outputs } => {
                for (out, phi) in out.iter_mut().zip(phi.chunks_exact(*n_outputs)) {
                    *out = row.iter().zip(phi).map(|(r, &c)| r * f64::from(c)).sum();
                }
            }
            Self::Sparse(components) => {
                for (out, component) in out.iter_mut().zip(components) {
                    *out = component
                        .iter()
                        .map(|&(j, c)| row[j as usize] * f64::from(c))
                        .sum();
                }
            }
            Self::Identity { .. } => out.copy_from_slice(row),
            Self::Diagonal(diagonal) => {
                let terms = row.iter().zip(diagonal);
                out.iter_mut()
                    .zip(terms)
                    .for_each(|(o, (v, &c))| *o = v * f64::from(c));
            }
        }
    }

    /// Computes φ times each of some consecutive rows of d numbers, converted to another type.
    pub(in crate::boosting) fn project_rows<T: Real>(&self, rows: &[f64], d: usize, out: &mut [T]) {
        if let Self::Identity { .. } = self {
            return write(out, rows);
        }
        let mut projected = vec![0.0; self.n_components()];
        let out = out.chunks_exact_mut(projected.len());
        for (row, out) in rows.chunks_exact(d).zip(out) {
            self.project(row, &mut projected);
            write(out, &projected);
        }
    }

    /// Computes φ times a sparse row.
    pub(in crate::boosting) fn project_sparse(&self, columns: &[u32], values: &[f32], out: &mut [f64]) {
        let terms = || columns.iter().zip(values).map(|(&j, &v)| (j, f64::from(v)));
        match self {
            Self::Dense { phi, n_outputs } => {
                for (out, phi) in out.iter_mut().zip(phi.chunks_exact(*n_outputs)) {
                    *out = terms().map(|(j, v)| v * f64::from(phi[j as usize])).sum();
                }
            }
            Self::Sparse(components) => {
                for (out, component) in out.iter_mut().zip(components) {
                    let number = |j| {
                        component
                            .binary_search_by_key(&j, |e| e.0)
                            .map_or(0.0, |i| component[i].1)
                    };
                    *out = terms().map(|(j, v)| v * f64::from(number(j))).sum();
                }
            }
            Self::Identity { .. } => {
                out.fill(0.0);
                terms().for_each(|(j, v)| out[j as usize] = v);
            }
            Self::Diagonal(diagonal) => {
                out.fill(0.0);
                terms().for_each(|(j, v)| out[j as usize] = v * f64::from(diagonal[j as usize]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rpo_core::Seed;
    use rpo_projections::{Projection, ProjectionKind};

    #[test]
    fn every_form_projects_as_its_map() {
        let d = 40;
        let row: Vec<f32> = (0..d).map(|j| ((j * 7 + 3) % 11) as f32 - 5.0).collect();
        let y = ndarray::Array2::from_shape_vec((1, d), row.clone()).unwrap();
        let wide: Vec<f64> = row.iter().map(|&v| f64::from(v)).collect();
        let stored = MatrixView::from(&y).to_csr();
        for kind in ProjectionKind::NAMED {
            if matches!(kind, ProjectionKind::Pca | ProjectionKind::LabelEmbedding) {
                continue;
            }
            let q = if kind == ProjectionKind::Identity { d } else { 3 };
            let map = kind.fit(MatrixView::from(&y).into(), q, Seed::new(5)).unwrap();
            let phi = Coefficients::of(map.as_ref()).unwrap();
            assert_eq!(phi.n_components(), q);
            let units = ndarray::Array2::<f32>::eye(d);
            let all = map.apply((&units).into()).unwrap();
            let norm: f64 = all.iter().map(|&v| f64::from(v).powi(2)).sum();
            assert!((phi.norm_squared() - norm).abs() <= 1e-9 * norm);
            let expected = map.apply((&y).into()).unwrap();
            let mut found = [vec![0.0; q], vec![0.0; q]];
            phi.project(&wide, &mut found[0]);
            phi.project_sparse(stored.indices(), stored.data(), &mut found[1]);
            for found in &found {
                for (found, expected) in found.iter().zip(&expected) {
                    assert!(
                        (found - f64::from(*expected)).abs() < 1e-4,
                        "{kind}: {found} for {expected}"
                    );
                }
            }
        }
        // Scaling the columns of any form equals multiplying by a diagonal matrix on the right.
        let factors: Vec<f32> = (0..d).map(|j| 0.25 * (j % 5) as f32 - 0.3).collect();
        let scaled_row: Vec<f64> = wide
            .iter()
            .zip(&factors)
            .map(|(v, &c)| v * f64::from(c))
            .collect();
        for phi in [
            Coefficients::Identity { n_outputs: d },
            Coefficients::Dense {
                phi: (0..2 * d).map(|i| ((i * 5) % 7) as f32 - 3.0).collect(),
                n_outputs: d,
            },
            Coefficients::Sparse(vec![vec![(3, 2.0), (39, -1.0)], vec![(0, 0.5)], vec![]]),
        ] {
            let scaled = phi.scaled(&factors);
            let mut expected = vec![0.0; phi.n_components()];
            phi.project(&scaled_row, &mut expected);
            let mut found = [expected.clone(), expected.clone()];
            scaled.project(&wide, &mut found[0]);
            scaled.project_sparse(stored.indices(), stored.data(), &mut found[1]);
            for found in &found {
                let mut pairs = found.iter().zip(&expected);
                assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-4), "{scaled:?}");
            }
            let unit = scaled.normalized();
            let magnitudes = unit.magnitudes();
            let norms = unit.norms();
            assert!(norms.iter().all(|v| (v - 1.0).abs() < 1e-6 || *v == 0.0));
            assert!(magnitudes.iter().zip(&norms).all(|(m, norm)| m + 1e-6 >= *norm));
        }
        let mut out = vec![0.0; d];
        let identity = Coefficients::Identity { n_outputs: d };
        identity.project_sparse(stored.indices(), stored.data(), &mut out);
        assert_eq!((out, identity.n_components()), (wide, d));
    }
}

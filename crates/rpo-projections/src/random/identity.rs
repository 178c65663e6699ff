//! The identity, the baseline for every other projection.

use rpo_core::{MatrixView, Seed};

use crate::{LinearMap, ProjectionError, RandomProjection, check_sizes};

/// The identity map, with as many components as outputs: Z = Y, bit for bit. It ignores the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Identity;

#[derive(Debug)]
struct IdentityMap {
    n_outputs: usize,
}

impl RandomProjection for Identity {
    fn draw(
        &self,
        n_outputs: usize,
        n_components: usize,
        _seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        check_sizes(n_outputs, n_components)?;
        if n_components != n_outputs {
            return Err(ProjectionError::IdentitySize {
                n_outputs,
                n_components,
            });
        }
        Ok(Box::new(IdentityMap { n_outputs }))
    }
}

impl LinearMap for IdentityMap {
    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn n_components(&self) -> usize {
        self.n_outputs
    }

    fn project(&self, y: MatrixView<'_>, z: &mut [f32]) -> Result<(), ProjectionError> {
        z.chunks_exact_mut(self.n_outputs)
            .enumerate()
            .for_each(|(i, z)| y.copy_row(i, z));
        Ok(())
    }
}

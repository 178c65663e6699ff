//! Hashing projection (count sketch).

use rpo_core::{MatrixView, Seed};

use crate::{LinearMap, ProjectionError, RandomProjection, check_sizes};

/// Hashing maps (count sketch): output j goes to component h(j) with sign ξ(j), where h is uniform and ξ = ±1, both
/// from a hash of (seed, j).
///
/// Shapes: Y (n x d), Φ (m x d) with one entry per column, Z (n x m); m may exceed d. Units: those of Y, without
/// a scale; E⟨Φu, Φv⟩ = ⟨u, v⟩ with variance at most (‖u‖²‖v‖² + ⟨u, v⟩²)/m. Cost: nothing to draw or to store,
/// O(nnz(Y) + n m) to apply.
///
/// Source: Weinberger et al., ICML 2009; used by CRAFTML (Siblini, Kuntz, Meyer, ICML 2018).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hashing;

impl Hashing {
    /// Returns the map itself, for callers that need its entries, not only products with them.
    ///
    /// # Errors
    /// As for [`RandomProjection::draw`].
    pub fn map(n_outputs: usize, n_components: usize, seed: Seed) -> Result<HashingMap, ProjectionError> {
        check_sizes(n_outputs, n_components)?;
        Ok(HashingMap {
            n_outputs,
            n_components,
            seed,
        })
    }
}

impl RandomProjection for Hashing {
    fn draw(
        &self,
        n_outputs: usize,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        Ok(Box::new(Self::map(n_outputs, n_components, seed)?))
    }
}

/// A signed hashing of outputs to components, stored as a seed and two sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashingMap {
    /// Seed of the hash function.
    pub seed: Seed,
    n_outputs: usize,
    n_components: usize,
}

impl HashingMap {
    /// Returns the component h(j) and the sign ξ(j), 1 or -1, of output j.
    pub const fn entry(&self, output: u32) -> (u32, f32) {
        let hash = self.seed.hash(output as u64);
        // The upper half of the hash picks the component by a product instead of a division; the lowest bit, which is
        // not part of it, gives the sign.
        let component = ((hash >> 32) * self.n_components as u64) >> 32;
        // Sets the sign bit of 1.0: a branch on a random bit would be mispredicted half the time.
        (
            component as u32,
            f32::from_bits(1.0_f32.to_bits() | (hash as u32) << 31),
        )
    }
}

impl LinearMap for HashingMap {
    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn n_components(&self) -> usize {
        self.n_components
    }

    fn project(&self, y: MatrixView<'_>, z: &mut [f32]) -> Result<(), ProjectionError> {
        z.fill(0.0);
        for (i, z) in z.chunks_exact_mut(self.n_components).enumerate() {
            y.for_each_in_row(i, |j, v| {
                let (component, sign) = self.entry(j);
                z[component as usize] += sign * v;
            });
        }
        Ok(())
    }
}

//! Output sub-sampling.

use rand::Rng;
use rpo_core::Seed;

use super::choice;
use crate::maps::{Entry, SparseMap};
use crate::{LinearMap, ProjectionError, RandomProjection, check_sizes, memory};

/// Output sub-sampling: Φ is √(d/m) times m rows of the identity, chosen uniformly and in random order, so that a tree
/// sees m of the d outputs.
///
/// Shapes: Y (n x d), Φ (m x d), Z (n x m). Units: those of Y times √(d/m); E‖Φu‖² = ‖u‖².
/// Cost: O(d) to draw, O(nnz(Y)) to apply.
///
/// The forest paper allows a choice with or without replacement. The default here is without: the m outputs are
/// distinct, and with m = d the map is a permutation.
///
/// Source: Joly, Geurts, Wehenkel, ECML-PKDD 2014, section 2.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Subsample {
    /// Chooses independently, so that an output may be chosen several times, for any number of components. Otherwise
    /// every output is chosen at most once, and there are at most d components.
    pub with_replacement: bool,
}

impl RandomProjection for Subsample {
    fn draw(
        &self,
        n_outputs: usize,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        check_sizes(n_outputs, n_components)?;
        if !self.with_replacement && n_components > n_outputs {
            let family = "sub-sampling without replacement";
            return Err(ProjectionError::TooManyComponents {
                family,
                n_components,
                limit: n_outputs,
            });
        }
        let mut entries: Vec<Entry> = memory::filled((0, 0, 1.0), n_components, 1)?;
        if self.with_replacement {
            let mut rng = seed.rng();
            entries
                .iter_mut()
                .for_each(|entry| entry.0 = rng.gen_range(0..n_outputs as u32));
        } else {
            let chosen = choice::distinct(n_outputs, n_components, seed)?;
            entries
                .iter_mut()
                .zip(chosen)
                .for_each(|(entry, output)| entry.0 = output);
        }
        entries
            .iter_mut()
            .zip(0..)
            .for_each(|(entry, component)| entry.1 = component);
        entries.sort_unstable_by_key(|entry| (entry.0, entry.1));
        let scale = (n_outputs as f64 / n_components as f64).sqrt();
        Ok(Box::new(SparseMap::new(
            (n_outputs, n_components),
            scale,
            &entries,
        )?))
    }
}

//! Sums over targets, of which scores are made.

/// Sums over targets. With a common H these are the squares of each side and the rest, otherwise their scores and
/// curvatures.
#[derive(Debug, Default)]
pub(super) struct Terms {
    pub(super) side: Vec<f64>,
    pub(super) rest: Vec<f64>,
    pub(super) curvature: Vec<f64>,
    pub(super) rest_curvature: Vec<f64>,
}

impl Terms {
    pub(super) fn start(&mut self, k: usize) {
        for terms in [
            &mut self.side,
            &mut self.rest,
            &mut self.curvature,
            &mut self.rest_curvature,
        ] {
            terms.clear();
            terms.resize(k, 0.0);
        }
    }
}

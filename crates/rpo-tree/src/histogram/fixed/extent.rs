//! Statistics of targets, which decide how they are coded.

use super::used;
use rpo_core::vectorized;

/// Statistics of the samples that may be summed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) largest_g: f64,
    pub(super) sum_g: f64,
    pub(super) sum_h: f64,
    /// The curvature of all samples, if they share one.
    pub(super) common_h: Option<f64>,
}

impl Extent {
    /// Computes the statistics in interleaved partial sums, joined in order.
    pub(super) fn of(n: usize, fill: &impl Fn(usize, &mut [f64], &mut [f64])) -> Option<Self> {
        const LANES: usize = 8;
        let (mut largest, mut sum_g, mut sum_h) = ([0.0_f64; LANES], [0.0; LANES], [0.0; LANES]);
        let (mut low, mut high) = ([f64::INFINITY; LANES], [0.0_f64; LANES]);
        for_tiles(
            n,
            fill,
            #[inline(always)]
            |g, h| {
                for (g, h) in g.chunks(LANES).zip(h.chunks(LANES)) {
                    for (lane, (g, &h)) in g.iter().zip(h).enumerate() {
                        let g = g.abs();
                        largest[lane] = if g > largest[lane] { g } else { largest[lane] };
                        sum_g[lane] += g;
                        sum_h[lane] += h;
                        let positive = if h > 0.0 { h } else { f64::INFINITY };
                        low[lane] = if positive < low[lane] { positive } else { low[lane] };
                        high[lane] = if h > high[lane] { h } else { high[lane] };
                    }
                }
            },
        );
        let max = |lanes: [f64; LANES]| lanes.into_iter().fold(0.0, f64::max);
        let low = low.into_iter().fold(f64::INFINITY, f64::min);
        let extent = Self {
            largest_g: max(largest),
            sum_g: sum_g.iter().sum(),
            sum_h: sum_h.iter().sum(),
            common_h: (low == max(high)).then_some(low),
        };
        // A sum is NaN or infinite if any number is.
        (extent.sum_g.is_finite() && extent.sum_h.is_finite()).then_some(extent)
    }
}

/// Number of samples read together.
const SAMPLES: usize = 512;

/// Calls `f` with g and h of successive ranges of samples, where g is set to 0 if h is 0. Uses vector instructions if
/// both functions are marked `#[inline(always)]`.
#[inline(always)]
pub(super) fn for_tiles(
    n: usize,
    fill: &impl Fn(usize, &mut [f64], &mut [f64]),
    mut f: impl FnMut(&[f64], &[f64]),
) {
    let (mut g, mut h) = ([0.0; SAMPLES], [0.0; SAMPLES]);
    vectorized(
        #[inline(always)]
        || {
            for first in (0..n).step_by(SAMPLES) {
                let n = SAMPLES.min(n - first);
                let (g, h) = (&mut g[..n], &mut h[..n]);
                fill(first, g, h);
                g.iter_mut().zip(&*h).for_each(|(g, &h)| *g = used(*g, h));
                f(g, h);
            }
        },
    );
}

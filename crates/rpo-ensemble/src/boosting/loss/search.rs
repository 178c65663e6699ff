//! The exact step along a tree, by the derivative of a convex function.

use super::{Direction, Loss};

/// Finds where an increasing derivative D(t), t ≥ 0 with D(0) < 0, changes sign, one trial at a time.
///
/// Trials are Newton steps, replaced by doubling while no upper end is known and by bisection where Newton leaves
/// the bracket or does not halve it in time. As D increases, the lower end of the bracket never overshoots the
/// minimum, so that moving there never loses: Brent's guarantee, without values of the function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    low: f64,
    /// The upper end with D > 0, or the limit.
    high: f64,
    has_high: bool,
    trial: f64,
    /// Lengths of the last two moves.
    moves: [f64; 2],
    tolerance: f64,
    n_trials: u32,
}

/// What to do after a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    /// Evaluate the derivative there.
    Try(f64),
    /// The answer.
    Done(f64),
}

impl Search {
    const MAX_TRIALS: u32 = 100;

    /// A search in [0, limit] that ends where |D| ≤ `tolerance`, and its first trial: the Newton step from 0, or 1
    /// without a curvature.
    pub(crate) fn new(derivative: f64, curvature: Option<f64>, limit: f64, tolerance: f64) -> Self {
        let newton = curvature.map_or(1.0, |c| -derivative / c);
        let first = if newton > 0.0 && newton.is_finite() {
            newton
        } else {
            1.0
        };
        let trial = first.min(limit);
        Self {
            low: 0.0,
            high: limit,
            has_high: false,
            trial,
            moves: [f64::INFINITY, trial],
            tolerance,
            n_trials: 0,
        }
    }

    /// Where to evaluate the derivative.
    pub(crate) fn trial(&self) -> f64 {
        self.trial
    }

    /// The best that is known not to overshoot.
    pub(crate) fn safe(&self) -> f64 {
        self.low
    }

    /// Takes the derivative and curvature at the trial.
    pub(crate) fn feed(&mut self, derivative: f64, curvature: Option<f64>) -> Verdict {
        let at = self.trial;
        self.n_trials += 1;
        if derivative.abs() <= self.tolerance {
            return Verdict::Done(at);
        }
        if derivative > 0.0 {
            (self.high, self.has_high) = (at, true);
        } else {
            self.low = at;
            if at >= self.high {
                return Verdict::Done(at);
            }
        }
        let width = self.high - self.low;
        if self.n_trials >= Self::MAX_TRIALS || (self.has_high && width <= 1e-12 * self.high) {
            return Verdict::Done(self.low);
        }
        let newton = curvature
            .map(|c| at - derivative / c)
            .filter(|t| *t > self.low && *t < self.high)
            .filter(|t| (t - at).abs() < 0.5 * self.moves[0]);
        self.trial = match newton {
            Some(trial) => trial,
            None if self.has_high => self.low + width / 2.0,
            None => (2.0 * at).min(self.high),
        };
        self.moves = [self.moves[1], (self.trial - at).abs()];
        Verdict::Try(self.trial)
    }
}

/// The step ρ that minimises Σ w ℓ(y, f + ρ g) for a convex loss, by the sign of its derivative
/// −Σ w g r(y, f + ρ g) and, where the loss has one, its curvature; 0 if nothing better is found.
///
/// Stops where the derivative is at most 1e-9 of Σ w |r g| at 0, or where its change of sign is known to twelve
/// digits. (Brent's method, which the paper uses, does the same with values only; a plain Newton step fails on
/// imbalanced outputs.)
pub fn line_search<L: Loss + ?Sized>(loss: &L, direction: &Direction<'_>) -> f64 {
    let largest = direction.tree.iter().fold(0.0, |max: f64, g| max.max(g.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    // −Σ w g r and Σ w g² h at a step.
    let slope = |step: f64| {
        let (mut derivative, mut curvature) = (0.0, Some(0.0));
        for (y, f, g, w) in direction.rows() {
            let at = f + step * g;
            derivative -= w * g * loss.residual(y, at);
            curvature = curvature
                .zip(loss.curvature(y, at))
                .map(|(sum, h)| sum + w * g * g * h);
        }
        (derivative, curvature)
    };
    let (derivative, curvature) = slope(0.0);
    let scale: f64 = direction
        .rows()
        .map(|(y, f, g, w)| w * (g * loss.residual(y, f)).abs())
        .sum();
    let tolerance = 1e-9 * scale;
    if derivative.abs() <= tolerance {
        return 0.0;
    }
    let sign = -derivative.signum();
    let mut search = Search::new(
        sign * derivative,
        curvature,
        loss.largest_move() / largest,
        tolerance,
    );
    let mut trial = search.trial();
    loop {
        let (derivative, curvature) = slope(sign * trial);
        match search.feed(sign * derivative, curvature) {
            Verdict::Try(next) => trial = next,
            Verdict::Done(step) => {
                let step = sign * step;
                let improves = direction.value(loss, step) <= direction.value(loss, 0.0);
                return if improves { step } else { 0.0 };
            }
        }
    }
}

//! Axes of charts: their range, round ticks, and the labels of ticks.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::prelude::Ranged;

/// The range of an axis, linear or logarithmic.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    log: bool,
}

impl Axis {
    /// An axis that contains the intervals with some margin; `None` if there are no intervals, or a logarithm is
    /// undefined.
    pub(super) fn around(intervals: impl Iterator<Item = (f64, f64)>, log: bool) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (a, b) in intervals {
            low = low.min(unit(a, log));
            high = high.max(unit(b, log));
        }
        if !(low.is_finite() && high.is_finite()) {
            return None;
        }
        let room = if high > low {
            0.06 * (high - low)
        } else {
            (0.1 * low.abs()).max(1e-3)
        };
        let value = |at: f64| if log { 10.0_f64.powf(at) } else { at };
        Some(Self {
            low: value(low - room),
            high: value(high + room),
            log,
        })
    }

    /// Round values: 1, 2, 5 times powers of 10 for few decades, powers of 10 for many, and multiples of a round step
    /// for less than one decade.
    fn ticks(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        if self.log && decades > 0.7 {
            let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
            let steps: &[f64] = if decades > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
            let all = (first..=last).flat_map(|decade| steps.iter().map(move |s| s * 10.0_f64.powi(decade)));
            return all.filter(|v| (self.low..=self.high).contains(v)).collect();
        }
        let rough = (self.high - self.low) / 5.0;
        let decade = 10.0_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|s| s * decade);
        let step = steps.into_iter().find(|step| *step >= rough).unwrap_or(rough);
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        (first..=last).map(|i| i as f64 * step).collect()
    }
}

fn unit(value: f64, log: bool) -> f64 {
    if log { value.log10() } else { value }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let place = |v: f64| unit(v, self.log);
        let share = (place(*value) - place(self.low)) / (place(self.high) - place(self.low));
        limit.0 + (f64::from(limit.1 - limit.0) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    /// Formats a tick with as few digits as distinguish it from the others.
    fn format_ext(&self, value: &f64) -> String {
        if value.abs() >= 1e5 {
            return format!("{value:.0e}");
        }
        let fixed = format!("{value:.4}");
        let short = fixed.trim_end_matches('0').trim_end_matches('.');
        if short == "-0" {
            "0".to_owned()
        } else {
            short.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(low: f64, high: f64, log: bool) -> Axis {
        Axis::around([(low, high)].into_iter(), log).unwrap()
    }

    #[test]
    fn ticks_are_round_and_within() {
        let texts = |axis: &Axis| {
            axis.ticks()
                .iter()
                .map(|v| axis.format_ext(v))
                .collect::<Vec<_>>()
        };
        assert_eq!(texts(&axis(0.71, 0.88, false)), ["0.7", "0.75", "0.8", "0.85"]);
        assert_eq!(texts(&axis(1.0, 983.0, true)), ["1", "10", "100", "1000"]);
        assert_eq!(texts(&axis(1.0, 50.0, true)), ["1", "2", "5", "10", "20", "50"]);
        assert_eq!(texts(&axis(-3.0, 3.0, false)), ["-2", "0", "2"]);
    }

    #[test]
    fn no_axis_without_points() {
        assert_eq!(Axis::around(std::iter::empty(), false), None);
        assert_eq!(Axis::around([(0.0, 1.0)].into_iter(), true), None);
        assert!(Axis::around([(2.0, 2.0)].into_iter(), false).is_some());
    }

    #[test]
    fn ends_lie_at_the_ends() {
        for log in [false, true] {
            let axis = axis(1.0, 10.0, log);
            assert_eq!(axis.map(&axis.low, (100, 500)), 100);
            // The vertical axis runs in the opposite direction of the pixels.
            assert_eq!(axis.map(&axis.high, (500, 100)), 100);
        }
    }
}

//! The time of a search: what trials are expected to take, and when they are stopped.

use super::Configuration;
use super::fit::Search;

/// Largest fraction of the time for trials and the last fits; the rest is for weights and thresholds.
const PART: f64 = 0.9;
/// A trial is stopped after this multiple of the time that it was expected to take ...
const SLOW: f64 = 4.0;
/// ... unless that is less than this fraction of the time that was left.
const TRIAL: f64 = 1.0 / 3.0;
/// Number of members, the most expensive ones, for whose last fits time is reserved.
const REFITTED: usize = 5;

/// Estimates the seconds per unit of cost from the seconds and costs of trials: the median, or the smaller of two. An
/// unusually slow trial does not predict the others, and a trial slower than expected is stopped while there is still
/// time for the last fits.
fn seconds_per_cost(trials: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let mut ratios: Vec<f64> = trials.map(|(seconds, cost)| seconds / cost).collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len().saturating_sub(1) / 2).copied()
}

/// Returns when a trial is stopped that begins now and is expected to take some seconds, if trials end at `last`.
fn stopped_at(now: f64, last: f64, expected: f64) -> f64 {
    last.min(now + (SLOW * expected).max(TRIAL * (last - now)))
}

impl Search<'_> {
    /// The seconds since the start of the search.
    pub(super) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// The expected seconds of the last fit of a candidate.
    pub(super) fn last_fit(&self, index: usize) -> f64 {
        match self.pool.is_whole(index) {
            true => 0.0,
            false => {
                let tried = &self.tried[index];
                tried.estimators.len() as f64 * tried.seconds / self.cost_of_folds
            }
        }
    }

    /// The expected seconds of the last fits of the candidates so far and of one more, if given.
    fn last_fits(&self, further: Option<f64>) -> f64 {
        let tried = (0..self.tried.len()).map(|index| self.last_fit(index));
        let mut last: Vec<f64> = tried.chain(further).collect();
        last.sort_by(|a, b| b.total_cmp(a));
        last.iter().take(REFITTED).sum()
    }

    /// The expected seconds of a fit to all samples; 0 where nothing is known. One trial does not tell what others
    /// take: costs are means over sets, and ridge regression, the cheapest one, takes longer than a forest where
    /// features and outputs are many.
    fn expected(&self, configuration: &Configuration) -> f64 {
        let tried = self.tried.iter().map(|tried| (tried.seconds, tried.cost));
        let per_cost = seconds_per_cost(tried).filter(|_| self.tried.len() > 1);
        per_cost.map_or(0.0, |seconds| seconds * configuration.cost)
    }

    /// The seconds since the start of the search at which the last fits end, so that there is time to choose among the
    /// candidates, unless that is done, and to judge the choice; `None` for no limit.
    pub(super) fn end(&self, is_chosen: bool) -> Option<f64> {
        let limit = self.limit?;
        let choosing = if is_chosen {
            0.0
        } else {
            self.pool.seconds_to_choose()
        };
        Some((PART * limit).min(limit - choosing - self.pool.seconds_to_judge()))
    }

    /// The seconds since the start of the search at which trials end, so that there is time for the last fits; `None`
    /// for no limit.
    fn last(&self) -> Option<f64> {
        Some(self.end(false)? - self.last_fits(None))
    }

    /// The seconds since the start of the search at which a trial that begins now is stopped: while there is still time
    /// for the last fits, and for other trials if it takes far longer than expected. `None` for no limit, and if there
    /// is nothing else to try.
    pub(super) fn deadline(&self, configuration: &Configuration) -> Option<f64> {
        let last = self.last().filter(|_| self.n_admitted > 1)?;
        let expected = self.expected(configuration) * self.cost_of_folds;
        Some(stopped_at(self.seconds(), last, expected))
    }

    /// Returns true if a trial of a configuration would end in time if it were much faster than expected.
    pub(super) fn may_end(&self, configuration: &Configuration) -> bool {
        let Some(last) = self.last() else { return true };
        self.seconds() + self.expected(configuration) * self.cost_of_folds / SLOW <= last
    }

    /// Returns true if a configuration is expected to leave enough time for the last fits.
    pub(super) fn is_affordable(&self, configuration: &Configuration) -> bool {
        let Some(end) = self.end(false) else { return true };
        let fit = self.expected(configuration);
        self.seconds() + fit * self.cost_of_folds + self.last_fits(Some(fit)) <= end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_trial_leaves_time_for_others() {
        assert_eq!(stopped_at(0.0, 90.0, 1.0), 30.0);
        assert_eq!(stopped_at(0.0, 90.0, 10.0), 40.0);
        assert_eq!(stopped_at(80.0, 90.0, 10.0), 90.0);
        assert_eq!(stopped_at(95.0, 90.0, 1.0), 90.0);
    }

    #[test]
    fn one_slow_trial_does_not_tell_what_others_take() {
        let per_cost = |trials: &[(f64, f64)]| seconds_per_cost(trials.iter().copied());
        assert_eq!(per_cost(&[]), None);
        assert_eq!(per_cost(&[(2.0, 1.0)]), Some(2.0));
        assert_eq!(per_cost(&[(2.0, 1.0), (5.0, 0.1)]), Some(2.0));
        assert_eq!(per_cost(&[(2.0, 1.0), (5.0, 0.1), (1.5, 0.5)]), Some(3.0));
    }
}

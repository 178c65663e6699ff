//! The order of configurations by what they add to an ensemble for their cost.

use super::Fitted;
use rpo::combine::CombineRule;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The least that a configuration must add to the mean score.
const LEAST_GAIN: f64 = 1e-4;
/// Cheaper configurations are taken for this cheap.
const LEAST_COST: f64 = 0.1;

/// A set with the scores of the ensembles that were asked for.
pub(super) struct Scored {
    name: String,
    rule: CombineRule,
    splits: Vec<Fitted>,
    scores: RefCell<BTreeMap<Vec<usize>, f64>>,
}

impl Scored {
    pub(super) fn new(name: &str, rule: CombineRule, splits: Vec<Fitted>) -> Self {
        Self {
            name: name.to_owned(),
            rule,
            splits,
            scores: RefCell::default(),
        }
    }

    /// The mean score over the splits of the ensemble of some configurations; 0 where it is undefined in all.
    fn score(&self, members: &[usize]) -> anyhow::Result<f64> {
        let mut members = members.to_vec();
        members.sort_unstable();
        if let Some(&score) = self.scores.borrow().get(&members) {
            return Ok(score);
        }
        let scores = self.splits.iter().map(|split| split.score(&members, self.rule));
        let scores = scores.collect::<Result<Vec<_>, _>>()?;
        let defined: Vec<f64> = scores.into_iter().flatten().collect();
        let score = defined.iter().sum::<f64>() / defined.len().max(1) as f64;
        self.scores.borrow_mut().insert(members, score);
        Ok(score)
    }
}

/// The mean cost of a configuration over the sets where it was fitted.
pub(super) fn cost(sets: &[Scored], candidate: usize) -> f64 {
    let splits = sets.iter().flat_map(|set| &set.splits);
    let costs: Vec<f64> = splits.filter_map(|split| split.cost(candidate)).collect();
    costs.iter().sum::<f64>() / costs.len().max(1) as f64
}

fn mean_score(sets: &[&Scored], members: &[usize]) -> anyhow::Result<f64> {
    let scores = sets.iter().map(|set| set.score(members));
    Ok(scores.sum::<anyhow::Result<f64>>()? / sets.len().max(1) as f64)
}

/// The first configuration, then each time the one of the largest gain in the mean score over its cost, while any gains.
pub(super) fn order(sets: &[&Scored], costs: &[f64], most: usize) -> anyhow::Result<Vec<usize>> {
    let mut chosen = vec![0];
    while chosen.len() < most {
        let now = mean_score(sets, &chosen)?;
        let mut best = (0.0, None);
        for candidate in (0..costs.len()).filter(|candidate| !chosen.contains(candidate)) {
            let with = [chosen.as_slice(), &[candidate]].concat();
            let gain = mean_score(sets, &with)? - now;
            let worth = gain / costs[candidate].max(LEAST_COST);
            if gain >= LEAST_GAIN && worth > best.0 {
                best = (worth, Some(candidate));
            }
        }
        match best.1 {
            Some(candidate) => chosen.push(candidate),
            None => break,
        }
    }
    Ok(chosen)
}

/// The order with what each configuration adds, and the gains over the first one on sets that had no part in their order.
pub(super) fn report(
    sets: &[Scored],
    costs: &[f64],
    chosen: &[usize],
    names: &[&str],
    most: usize,
) -> anyhow::Result<String> {
    let all: Vec<&Scored> = sets.iter().collect();
    let mut text = "score × 100  cost   configuration\n".to_owned();
    for (k, &candidate) in chosen.iter().enumerate() {
        let score = 100.0 * mean_score(&all, &chosen[..=k])?;
        writeln!(
            text,
            "{score:11.2}  {:5.2}  {}",
            costs[candidate], names[candidate]
        )?;
    }
    if sets.len() < 2 {
        return Ok(text);
    }
    writeln!(
        text,
        "\ngain × 100 over the first on sets left out of the order, by number of configurations"
    )?;
    let numbers = [2, 3, 4, 6, 8, 10, most];
    let mut sums = vec![0.0; numbers.len()];
    for left_out in sets {
        let others: Vec<&Scored> = all
            .iter()
            .copied()
            .filter(|set| set.name != left_out.name)
            .collect();
        let order = order(&others, costs, most)?;
        let first = left_out.score(&order[..1])?;
        write!(text, "{:18}", left_out.name)?;
        for (sum, &number) in sums.iter_mut().zip(&numbers) {
            let gain = 100.0 * (left_out.score(&order[..number.min(order.len())])? - first);
            *sum += gain / sets.len() as f64;
            write!(text, " {number}: {gain:+.2}")?;
        }
        writeln!(text)?;
    }
    let means: Vec<String> = numbers
        .iter()
        .zip(&sums)
        .map(|(number, sum)| format!("{number}: {sum:+.2}"))
        .collect();
    writeln!(text, "{:18} {}", "mean", means.join(" "))?;
    Ok(text)
}

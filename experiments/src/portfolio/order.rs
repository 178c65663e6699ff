//! Orders configurations by their contribution to an ensemble relative to their cost.

use super::Fitted;
use rpo::combine::CombineRule;
use rpo::core::math;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Smallest gain in the mean score that a configuration must add.
const LEAST_GAIN: f64 = 1e-4;
/// Lower costs are treated as this cost.
const LEAST_COST: f64 = 0.1;

/// A set with the cached scores of ensembles.
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

    /// The mean score of the ensemble of some configurations over the splits; 0 if undefined in all splits.
    fn score(&self, members: &[usize]) -> anyhow::Result<f64> {
        let mut members = members.to_vec();
        members.sort_unstable();
        if let Some(&score) = self.scores.borrow().get(&members) {
            return Ok(score);
        }
        let score = self.mean(|split| split.score(&members, self.rule))?;
        self.scores.borrow_mut().insert(members, score);
        Ok(score)
    }

    /// The mean over the splits where a score is defined; 0 if there are none.
    fn mean(&self, score: impl Fn(&Fitted) -> anyhow::Result<Option<f64>>) -> anyhow::Result<f64> {
        let scores = self.splits.iter().map(score).collect::<Result<Vec<_>, _>>()?;
        let defined: Vec<f64> = scores.into_iter().flatten().collect();
        Ok(defined.iter().sum::<f64>() / defined.len().max(1) as f64)
    }
}

/// The geometric mean of the cost of a configuration over the sets where it was fitted.
pub(super) fn cost(sets: &[Scored], candidate: usize) -> f64 {
    let splits = sets.iter().flat_map(|set| &set.splits);
    let costs: Vec<f64> = splits.filter_map(|split| split.cost(candidate)).collect();
    // A geometric mean, so that one set on which a method is very slow does not dominate.
    let logarithms = costs.iter().map(|&cost| math::ln(cost));
    math::exp(logarithms.sum::<f64>() / costs.len().max(1) as f64)
}

fn mean_score(sets: &[&Scored], members: &[usize]) -> anyhow::Result<f64> {
    let scores = sets.iter().map(|set| set.score(members));
    Ok(scores.sum::<anyhow::Result<f64>>()? / sets.len().max(1) as f64)
}

/// Starts with the first configuration and repeatedly adds the one with the largest gain in the mean score relative to
/// its cost, while there is a gain.
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

/// Reports the order with the gain of each configuration, and the gains over the first one on sets that were left out
/// of the order.
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
    let mut beside = Vec::new();
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
        beside.push(Beside::of(left_out, &order, costs.len())?);
    }
    let means: Vec<String> = numbers
        .iter()
        .zip(&sums)
        .map(|(number, sum)| format!("{number}: {sum:+.2}"))
        .collect();
    writeln!(text, "{:18} {}", "mean", means.join(" "))?;
    write_beside(&mut text, sets, &beside)?;
    Ok(text)
}

/// Scores on a set: of the ensemble in an order built without the set, and of individual configurations.
struct Beside {
    first: f64,
    /// Score of the configuration that is best on the withheld samples.
    selected: f64,
    /// Score of the configuration that is best on the test samples themselves, which no selection can know.
    in_hindsight: f64,
    ensemble: f64,
}

impl Beside {
    fn of(set: &Scored, order: &[usize], n_configurations: usize) -> anyhow::Result<Self> {
        let alone = (0..n_configurations).map(|candidate| set.score(&[candidate]));
        Ok(Self {
            first: set.score(&order[..1])?,
            selected: set.mean(Fitted::score_of_best)?,
            in_hindsight: alone
                .collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .fold(f64::NEG_INFINITY, f64::max),
            ensemble: set.score(order)?,
        })
    }
}

/// Writes the scores of each set, their means, and how often the ensemble wins.
fn write_beside(text: &mut String, sets: &[Scored], beside: &[Beside]) -> anyhow::Result<()> {
    writeln!(
        text,
        "\nscore × 100 on sets left out of the order\n{:18}  first  by withheld  in hindsight  ensemble",
        ""
    )?;
    let mut line = |name: &str, [first, selected, in_hindsight, ensemble]: [f64; 4]| {
        writeln!(
            text,
            "{name:18} {first:6.2} {selected:12.2} {in_hindsight:13.2} {ensemble:9.2}"
        )
    };
    let mut means = [0.0; 4];
    for (set, row) in sets.iter().zip(beside) {
        let row = [row.first, row.selected, row.in_hindsight, row.ensemble].map(|score| 100.0 * score);
        line(&set.name, row)?;
        let n = sets.len() as f64;
        means
            .iter_mut()
            .zip(row)
            .for_each(|(mean, score)| *mean += score / n);
    }
    line("mean", means)?;
    let wins = beside
        .iter()
        .filter(|row| row.ensemble >= row.in_hindsight)
        .count();
    let losses = beside
        .iter()
        .filter(|row| row.ensemble < row.first - 0.01)
        .count();
    let n = sets.len();
    writeln!(
        text,
        "the ensemble is at least the best in hindsight on {wins} of {n} sets, more than a point below the first on {losses}"
    )?;
    Ok(())
}

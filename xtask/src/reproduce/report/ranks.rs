//! Critical-difference diagrams: mean ranks of methods over data sets (Demšar 2006, section 3.2.2).

use super::chart::recoloured;
use super::table::Table;
use crate::reproduce::measures::{self, p_relation, p_value};
use crate::reproduce::results::Results;
use ndarray::Array2;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use rpo::metrics::stats::{
    Better, Friedman, SignedRanks, StatsError, critical_difference, holm, nemenyi_quantile,
};

/// The level of the tests.
const ALPHA: f64 = 0.05;

/// Ranks of the methods over the data sets on which all of them ran.
pub(crate) struct Ranks {
    metric: String,
    names: Vec<String>,
    scores: Array2<f64>,
    friedman: Friedman,
    difference: f64,
}

impl Ranks {
    /// The ranks by each metric.
    pub(crate) fn all(results: &Results<'_>) -> Vec<Self> {
        let metrics = results.description.metrics.iter();
        metrics
            .filter_map(|metric| Self::of(results, metric.get_ref()))
            .collect()
    }

    /// The ranks of the methods of a table by a metric; `None` for curves, and where fewer than two data sets or
    /// methods, or more than ten methods are complete.
    pub(crate) fn of(results: &Results<'_>, score: &str) -> Option<Self> {
        let n_columns = results.plan.columns.len();
        if results.description.axis.is_some() || !(2..=10).contains(&n_columns) {
            return None;
        }
        let complete = (0..results.plan.datasets.len()).filter_map(|dataset| {
            let row: Option<Vec<f64>> = (0..n_columns)
                .map(|c| results.summary(dataset, c, score).map(|s| s.mean))
                .collect();
            row
        });
        let scores: Vec<f64> = complete.flatten().collect();
        let scores = Array2::from_shape_vec((scores.len() / n_columns, n_columns), scores).ok()?;
        let better = if results.description.higher_is_better(score) {
            Better::Higher
        } else {
            Better::Lower
        };
        let names = results
            .plan
            .columns
            .iter()
            .map(|column| column.label.clone())
            .collect();
        Self::new(measures::label(score), names, scores, better).ok()
    }

    fn new(
        metric: String,
        names: Vec<String>,
        scores: Array2<f64>,
        better: Better,
    ) -> Result<Self, StatsError> {
        let friedman = Friedman::new(scores.view(), better)?;
        let quantile = nemenyi_quantile(friedman.n_methods(), ALPHA)?;
        let difference = critical_difference(quantile, friedman.n_methods(), friedman.n_datasets())?;
        Ok(Self {
            metric,
            names,
            scores,
            friedman,
            difference,
        })
    }

    /// What was ranked.
    pub(crate) fn metric(&self) -> &str {
        &self.metric
    }

    /// The mean rank of each column.
    pub(crate) fn average_ranks(&self) -> &[f64] {
        self.friedman.average_ranks()
    }

    /// Wilcoxon's signed-rank test for each pair of methods: over how many data sets the first has the larger value, the
    /// exact p-value, and the same with Holm's correction for all pairs.
    pub(crate) fn pairs(&self) -> Table {
        let mut table = Table::new(["first", "second", "larger on", "smaller on", "p", "p, Holm"]);
        let k = self.names.len();
        let mut pairs = Vec::new();
        for (first, second) in (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b))) {
            let [x, y] = [first, second].map(|c| self.scores.column(c).to_vec());
            let Ok(p) = SignedRanks::new(&x, &y).and_then(|test| test.exact()) else {
                continue;
            };
            let larger = x.iter().zip(&y).filter(|(x, y)| x > y).count();
            let smaller = x.iter().zip(&y).filter(|(x, y)| x < y).count();
            pairs.push((first, second, larger, smaller, p.two_sided));
        }
        let p: Vec<f64> = pairs.iter().map(|pair| pair.4).collect();
        for (&(first, second, larger, smaller, p), corrected) in
            pairs.iter().zip(holm(&p).unwrap_or_default())
        {
            table.row([
                self.names[first].clone(),
                self.names[second].clone(),
                larger.to_string(),
                smaller.to_string(),
                p_value(p),
                p_value(corrected),
            ]);
        }
        table
    }

    /// What the tests say.
    pub(crate) fn sentence(&self) -> String {
        let test = self.friedman.tie_corrected();
        let ranks = self.names.iter().zip(self.friedman.average_ranks());
        let ranks: Vec<String> = ranks.map(|(name, rank)| format!("{name} {rank:.2}")).collect();
        format!(
            "Mean ranks over {} data sets: {}. Friedman's test with the correction of Iman and Davenport: F = {:.2}, \
             p {}; by Nemenyi's test at {ALPHA} methods differ from a difference of {:.2} on. A bar joins methods \
             that do not.",
            self.friedman.n_datasets(),
            ranks.join(", "),
            test.f,
            p_relation(test.f_p),
            self.difference,
        )
    }

    /// The diagram: the best method left.
    ///
    /// # Errors
    /// Only what plotters might think of: it draws into memory.
    pub(crate) fn svg(&self) -> anyhow::Result<String> {
        let groups = self.friedman.indistinguishable(self.difference);
        let per_side = self.names.len().div_ceil(2) as i32;
        let first_label = AXIS + 40 + BAR * groups.len() as i32;
        let size = (880, (first_label + per_side * LINE + 10) as u32);
        let mut text = String::new();
        let drawn = self.draw(&mut text, size, &groups, first_label);
        drawn.map_err(|e| anyhow::anyhow!("critical differences: {e}"))?;
        Ok(recoloured(&text, size, "Critical-difference diagram"))
    }

    fn draw(
        &self,
        text: &mut String,
        size: (u32, u32),
        groups: &[Vec<usize>],
        first_label: i32,
    ) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
        let area = SVGBackend::with_string(text, size).into_drawing_area();
        let ranks = self.friedman.average_ranks();
        let k = ranks.len();
        let (left, right) = (MARGIN, size.0 as i32 - MARGIN);
        let place = |rank: f64| left + (f64::from(right - left) * (rank - 1.0) / (k as f64 - 1.0)) as i32;
        let thin = BLACK.stroke_width(3);
        let path = |points: Vec<(i32, i32)>, style| PathElement::new(points, style);
        let label = |text: String, at: (i32, i32), h| {
            let style = ("sans-serif", 30)
                .into_text_style(&area)
                .pos(Pos::new(h, VPos::Center));
            Text::new(text, at, style)
        };
        area.draw(&path(vec![(left, AXIS), (right, AXIS)], thin))?;
        for rank in 1..=k {
            let x = place(rank as f64);
            area.draw(&path(vec![(x, AXIS - 12), (x, AXIS)], thin))?;
            area.draw(&label(rank.to_string(), (x, AXIS - 32), HPos::Center))?;
        }
        // The length of the critical difference, above the axis.
        let end = place(1.0 + self.difference.min(k as f64 - 1.0));
        area.draw(&path(vec![(left, 52), (end, 52)], BLACK.stroke_width(5)))?;
        area.draw(&label(
            format!("CD {:.2}", self.difference),
            (left, 24),
            HPos::Left,
        ))?;
        for (number, group) in groups.iter().enumerate() {
            let y = AXIS + 22 + BAR * number as i32;
            let ends = [group[0], group[group.len() - 1]].map(|method| place(ranks[method]));
            area.draw(&path(
                vec![(ends[0] - 6, y), (ends[1] + 6, y)],
                BLACK.stroke_width(9),
            ))?;
        }
        let mut order: Vec<usize> = (0..k).collect();
        order.sort_by(|&a, &b| ranks[a].total_cmp(&ranks[b]));
        let better = k.div_ceil(2);
        for (position, &method) in order.iter().enumerate() {
            let x = place(ranks[method]);
            let name = format!("{} ({:.2})", self.names[method], ranks[method]);
            // Outer methods below inner ones, so that no line crosses another's name.
            let (row, edge, side) = if position < better {
                (position, 0, HPos::Left)
            } else {
                (k - 1 - position, size.0 as i32, HPos::Right)
            };
            let y = first_label + LINE / 2 + LINE * (better - 1).saturating_sub(row) as i32;
            let gap = if edge == 0 { 4 } else { -4 };
            area.draw(&path(vec![(x, AXIS), (x, y), (edge + gap, y)], thin))?;
            area.draw(&label(name, (edge + gap, y - 20), side))?;
        }
        area.present()
    }
}

const MARGIN: i32 = 60;
/// Height of the axis.
const AXIS: i32 = 130;
/// Distance of two bars.
const BAR: i32 = 24;
/// Distance of two names.
const LINE: i32 = 56;

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_diagram_names_every_method() {
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let scores = array![[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.7, 0.4, 0.3], [0.6, 0.5, 0.1]];
        let ranks = Ranks::new("LRAP".to_owned(), names, scores, Better::Higher).unwrap();
        let svg = ranks.svg().unwrap();
        assert!(
            ["a (1.00)", "b (2.00)", "c (3.00)"]
                .iter()
                .all(|name| svg.contains(name)),
            "{svg}"
        );
        // q(0.05, 3) / √2 = 2.343 and √(3 · 4 / (6 · 4)) = 0.707: only the extremes differ, so two bars.
        assert!(
            ranks.sentence().contains("from a difference of 1.66 on"),
            "{}",
            ranks.sentence()
        );
        assert_eq!(svg.matches("stroke-width=\"9\"").count(), 2);
    }
}

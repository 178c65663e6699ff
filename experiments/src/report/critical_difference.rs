//! Critical-difference diagrams: mean ranks of methods over data sets (Demšar 2006, section 3.2.2).

use crate::analyse::ranks::Ranks;
use crate::chart::{BASE_FONT, titled};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const MARGIN: i32 = 60;
/// Height of the axis.
const AXIS: i32 = 130;
/// Distance between two bars.
const BAR: i32 = 24;
/// Distance between two names.
const LINE: i32 = 56;

/// The diagram as an SVG drawing: the best method is on the left, and bars join methods that do not differ.
///
/// # Errors
/// Only errors of plotters, as it draws into memory.
pub(super) fn svg(ranks: &Ranks) -> anyhow::Result<String> {
    let groups = ranks.friedman.indistinguishable(ranks.critical_difference);
    let per_side = ranks.names.len().div_ceil(2) as i32;
    let first_label = AXIS + 40 + BAR * groups.len() as i32;
    let size = (880, (first_label + per_side * LINE + 10) as u32);
    let mut text = String::new();
    let drawn = draw(ranks, &mut text, size, &groups, first_label);
    drawn.map_err(|e| anyhow::anyhow!("critical differences: {e}"))?;
    Ok(titled(&text, &format!("{}, critical differences", ranks.metric)))
}

fn draw(
    given: &Ranks,
    text: &mut String,
    size: (u32, u32),
    groups: &[Vec<usize>],
    first_label: i32,
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let area = SVGBackend::with_string(text, size).into_drawing_area();
    area.fill(&WHITE)?;
    let ranks = given.average_ranks();
    let k = ranks.len();
    let (left, right) = (MARGIN, size.0 as i32 - MARGIN);
    let place = |rank: f64| left + (f64::from(right - left) * (rank - 1.0) / (k as f64 - 1.0)) as i32;
    let thin = BLACK.stroke_width(3);
    let path = |points: Vec<(i32, i32)>, style| PathElement::new(points, style);
    let label = |text: String, at: (i32, i32), h| {
        let style = (BASE_FONT, 30)
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
    let end = place(1.0 + given.critical_difference.min(k as f64 - 1.0));
    area.draw(&path(vec![(left, 52), (end, 52)], BLACK.stroke_width(5)))?;
    area.draw(&label(
        format!("CD {:.2}", given.critical_difference),
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
        let name = format!("{} ({:.2})", given.names[method], ranks[method]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse::ranks::tests::ranks;

    #[test]
    fn the_diagram_names_every_method() {
        let svg = svg(&ranks()).unwrap();
        let named = |name: &&str| svg.contains(*name);
        assert!(["a (1.00)", "b (2.00)", "c (3.00)"].iter().all(named), "{svg}");
        // Only the extremes differ, so two bars.
        assert_eq!(svg.matches("stroke-width=\"9\"").count(), 2);
    }
}

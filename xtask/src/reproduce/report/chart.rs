//! Charts as SVG.
//!
//! Drawn by `plotters` in colours that stand for roles, then recoloured: text in the page's colour, series in its
//! variables `--series-0` and so on, so that a page in the dark is dark. Legends are the page's business; the
//! chart has none.

use super::axis::Axis;
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::prelude::*;
use std::fmt::Write as _;

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    /// What it shows.
    pub(crate) title: String,
    /// The horizontal axis.
    pub(crate) x: Scale,
    /// The vertical axis.
    pub(crate) y: Scale,
    /// What is drawn, in order.
    pub(crate) series: Vec<Series>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scale {
    /// What it measures.
    pub(crate) label: String,
    /// Whether it is logarithmic.
    pub(crate) log: bool,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// Its name.
    pub(crate) name: String,
    /// Number of its colour.
    pub(crate) colour: usize,
    /// How it is drawn.
    pub(crate) mark: Mark,
    /// Its points.
    pub(crate) points: Vec<Point>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Dots joined by lines.
    Line,
    /// Dots.
    Dots,
    /// A dashed line across the chart at the height of its only point.
    Level,
    /// A dashed line through its points, which are not marked.
    Guide,
    /// Triangles, for what was published.
    Published,
}

/// A point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// Where.
    pub(crate) x: f64,
    /// How high.
    pub(crate) y: f64,
    /// Standard deviation of the height, drawn as a bar.
    pub(crate) spread: f64,
}

/// Pixels of the drawing, which the page scales to its width. Plotters rounds to whole pixels, so there are many.
const SIZE: (u32, u32) = (880, 620);
const FONT: (&str, u32) = ("sans-serif", 32);
const INK: RGBColor = RGBColor(0, 0, 0);
const FAINT: RGBColor = RGBColor(1, 1, 1);
/// Number of colours of the page; further series repeat them.
pub(crate) const N_COLOURS: usize = 8;

fn colour(number: usize) -> RGBColor {
    RGBColor(2, 2, (number % N_COLOURS) as u8)
}

type DrawingError = DrawingAreaErrorKind<std::io::Error>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Plane<'c, 'a> = ChartContext<'c, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

impl Chart {
    /// The chart as an SVG element, or nothing if it has no point to draw.
    ///
    /// # Errors
    /// Only what plotters might think of: it draws into memory.
    pub(crate) fn svg(&self) -> anyhow::Result<String> {
        let all = || self.series.iter().flat_map(|series| &series.points);
        let x = Axis::around(all().map(|p| (p.x, p.x)), self.x.log);
        // A bar that reaches 0 has no place on a logarithmic axis: it is cut at the frame.
        let low = |p: &Point| match p.y - p.spread {
            end if self.y.log && end <= 0.0 => p.y,
            end => end,
        };
        let y = Axis::around(all().map(|p| (low(p), p.y + p.spread)), self.y.log);
        let Some((x, y)) = x.zip(y) else {
            return Ok(String::new());
        };
        let mut text = String::new();
        {
            let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
            self.draw(&area, x, y)
                .map_err(|e| anyhow::anyhow!("{}: {e}", self.title))?;
        }
        Ok(recoloured(&text, SIZE, &self.title))
    }

    fn draw(&self, area: &Area<'_>, x: Axis, y: Axis) -> Result<(), DrawingError> {
        let (ends, least) = ((x.low, x.high), y.low);
        let mut plane = ChartBuilder::on(area)
            .margin(12)
            .margin_right(28)
            .x_label_area_size(84)
            .y_label_area_size(116)
            .build_cartesian_2d(x, y)?;
        plane
            .configure_mesh()
            .light_line_style(FAINT.mix(0.0))
            .bold_line_style(FAINT)
            .axis_style(FAINT)
            .label_style((FONT.0, FONT.1, &INK))
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .draw()?;
        for series in &self.series {
            series.draw(&mut plane, ends, least)?;
        }
        area.present()
    }
}

impl Series {
    fn draw(&self, plane: &mut Plane<'_, '_>, ends: (f64, f64), least: f64) -> Result<(), DrawingError> {
        let ink = colour(self.colour);
        let line = ink.stroke_width(5);
        let at = |p: &Point| (p.x, p.y);
        let dashed = |points: Vec<(f64, f64)>| DashedLineSeries::new(points, 16, 12, ink.stroke_width(4));
        match self.mark {
            Mark::Level => {
                let across = self.points.first().map(|p| vec![(ends.0, p.y), (ends.1, p.y)]);
                plane.draw_series(dashed(across.unwrap_or_default()))?;
            }
            Mark::Guide => {
                plane.draw_series(dashed(self.points.iter().map(at).collect()))?;
            }
            Mark::Published => {
                let mark = |p: &Point| TriangleMarker::new(at(p), 15, ink.filled());
                plane.draw_series(self.points.iter().map(mark))?;
            }
            Mark::Line | Mark::Dots => {
                if self.mark == Mark::Line {
                    plane.draw_series(LineSeries::new(self.points.iter().map(at), line))?;
                }
                let bar = |p: &Point| {
                    let (low, high) = ((p.y - p.spread).max(least), p.y + p.spread);
                    PathElement::new([(p.x, low), (p.x, high)], ink.stroke_width(3))
                };
                plane.draw_series(self.points.iter().filter(|p| p.spread > 0.0).map(bar))?;
                plane.draw_series(self.points.iter().map(|p| Circle::new(at(p), 9, ink.filled())))?;
            }
        }
        Ok(())
    }
}

/// Colours of roles in place of those drawn with, the page's width in place of pixels, and a name for those who
/// do not see it.
pub(super) fn recoloured(svg: &str, size: (u32, u32), title: &str) -> String {
    let (width, height) = size;
    let head = format!("<svg width=\"{width}\" height=\"{height}\" ");
    let named = format!(
        "<svg role=\"img\" aria-label=\"{}\" ",
        super::html::escaped(title)
    );
    let mut text = svg.replacen(&head, &named, 1);
    for (drawn, meant) in [
        (INK, "currentColor".to_owned()),
        (FAINT, "var(--line)".to_owned()),
    ]
    .into_iter()
    .chain((0..N_COLOURS).map(|number| (colour(number), format!("var(--series-{number})"))))
    {
        let mut code = String::new();
        // Writing to a string does not fail.
        let _ = write!(code, "#{:02X}{:02X}{:02X}", drawn.0, drawn.1, drawn.2);
        text = text.replace(&code, &meant);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_speaks_in_the_colours_of_the_page() {
        let point = |x, y| Point { x, y, spread: 0.1 };
        let scale = |label: &str, log| Scale {
            label: label.to_owned(),
            log,
        };
        let series = |mark, colour| Series {
            name: "a".to_owned(),
            colour,
            mark,
            points: vec![point(1.0, 2.0), point(10.0, 3.0)],
        };
        let marks = [Mark::Line, Mark::Dots, Mark::Level, Mark::Guide, Mark::Published];
        let chart = Chart {
            title: "T < \"U\"".to_owned(),
            x: scale("m", true),
            y: scale("score", false),
            series: marks
                .into_iter()
                .zip(0..)
                .map(|(mark, colour)| series(mark, colour))
                .collect(),
        };
        let svg = chart.svg().unwrap();
        assert!(
            svg.starts_with("<svg role=\"img\" aria-label=\"T &lt; &quot;U&quot;\" viewBox="),
            "{svg}"
        );
        assert!(!svg.contains("#0"), "a colour that is not the page's: {svg}");
        assert!((0..5).all(|number| svg.contains(&format!("var(--series-{number})"))));
        let empty = Chart {
            series: Vec::new(),
            ..chart
        };
        assert_eq!(empty.svg().unwrap(), "");
    }
}

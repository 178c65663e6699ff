//! Charts as self-contained SVG drawings, with a legend below the axes.

mod axis;

use crate::report::escaped;
use axis::Axis;
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Title, for readers who do not see the drawing.
    pub title: String,
    /// The horizontal axis.
    pub x: Scale,
    /// The vertical axis.
    pub y: Scale,
    /// The series to draw.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scale {
    /// Label of the axis.
    pub label: String,
    /// True for a logarithmic axis.
    pub log: bool,
}

/// A series of points.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Index of the colour; there are eight, which repeat.
    pub colour: usize,
    /// The style of the series.
    pub mark: Mark,
    /// The points, by increasing x.
    pub points: Vec<Point>,
}

/// The style of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Dots joined by lines.
    Line,
    /// Dots alone.
    Dots,
    /// A dashed line across the chart at the height of its only point.
    Level,
    /// A dashed line through its points, which are not marked.
    Guide,
    /// Triangles, for published figures.
    Published,
}

/// A point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Position on the horizontal axis.
    pub x: f64,
    /// Position on the vertical axis.
    pub y: f64,
    /// Standard deviation of `y`, drawn as a bar.
    pub spread: f64,
}

/// Size in pixels of the axes with their labels. It is large because plotters rounds to whole pixels.
const SIZE: (u32, u32) = (880, 620);
/// The font of all drawings.
pub(crate) const BASE_FONT: &str = "sans-serif";
const FONT_SIZE: u32 = 32;
const FAINT: RGBColor = RGBColor(208, 215, 222);
/// Colours of series, which repeat.
const COLOURS: [RGBColor; 8] = [
    RGBColor(5, 80, 174),
    RGBColor(188, 76, 0),
    RGBColor(17, 99, 41),
    RGBColor(130, 80, 223),
    RGBColor(191, 57, 137),
    RGBColor(14, 116, 144),
    RGBColor(125, 78, 0),
    RGBColor(87, 96, 106),
];

type DrawingError = DrawingAreaErrorKind<std::io::Error>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Plane<'c, 'a> = ChartContext<'c, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

impl Chart {
    /// Draws the chart as an SVG element; empty if there is no point to draw.
    ///
    /// # Errors
    /// Only errors of plotters, as it draws into memory.
    pub fn svg(&self) -> anyhow::Result<String> {
        let all = || self.series.iter().flat_map(|series| &series.points);
        let x = Axis::around(all().map(|p| (p.x, p.x)), self.x.log);
        // A bar that reaches 0 does not fit on a logarithmic axis: it does not extend the axis and is cut at the frame.
        let low = |p: &Point| match p.y - p.spread {
            end if self.y.log && end <= 0.0 => p.y,
            end => end,
        };
        let y = Axis::around(all().map(|p| (low(p), p.y + p.spread)), self.y.log);
        let Some((x, y)) = x.zip(y) else {
            return Ok(String::new());
        };
        let legend = Legend::new(&self.series);
        let mut text = String::new();
        let size = (SIZE.0, SIZE.1 + legend.height());
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let drawn = area.fill(&WHITE).and_then(|()| {
            let (axes, below) = area.split_vertically(SIZE.1);
            self.draw_axes(&axes, x, y)?;
            legend.draw(&below)?;
            area.present()
        });
        drawn.map_err(|e| anyhow::anyhow!("{}: {e}", self.title))?;
        drop(area);
        Ok(titled(&text, &self.title))
    }

    fn draw_axes(&self, area: &Area<'_>, x: Axis, y: Axis) -> Result<(), DrawingError> {
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
            .label_style((BASE_FONT, FONT_SIZE))
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .draw()?;
        for series in &self.series {
            series.draw(&mut plane, ends, least)?;
        }
        Ok(())
    }
}

impl Series {
    fn ink(&self) -> RGBColor {
        COLOURS[self.colour % COLOURS.len()]
    }

    fn draw(&self, plane: &mut Plane<'_, '_>, ends: (f64, f64), least: f64) -> Result<(), DrawingError> {
        let ink = self.ink();
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
                plane.draw_series(
                    self.points
                        .iter()
                        .map(|p| TriangleMarker::new(at(p), 15, ink.filled())),
                )?;
            }
            Mark::Line | Mark::Dots => {
                if self.mark == Mark::Line {
                    plane.draw_series(LineSeries::new(self.points.iter().map(at), ink.stroke_width(5)))?;
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

/// The names of the series with points, each beside its mark.
struct Legend<'a> {
    series: Vec<&'a Series>,
    columns: usize,
}

impl<'a> Legend<'a> {
    const LINE: u32 = 44;
    /// Length of the longest names of which two fit side by side.
    const SHORT: usize = 24;

    fn new(series: &'a [Series]) -> Self {
        let series: Vec<&Series> = series.iter().filter(|series| !series.points.is_empty()).collect();
        let short = series
            .iter()
            .all(|series| series.name.chars().count() <= Self::SHORT);
        Self {
            series,
            columns: if short { 2 } else { 1 },
        }
    }

    fn height(&self) -> u32 {
        Self::LINE * self.series.len().div_ceil(self.columns) as u32
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), DrawingError> {
        let style = (BASE_FONT, FONT_SIZE - 4)
            .into_text_style(area)
            .pos(Pos::new(HPos::Left, VPos::Center));
        for (place, series) in self.series.iter().enumerate() {
            let left = 40 + (place % self.columns) as i32 * (SIZE.0 as i32 / 2);
            let middle = (place / self.columns) as i32 * Self::LINE as i32 + 16;
            series.draw_mark(area, left, middle)?;
            area.draw(&Text::new(
                series.name.as_str(),
                (left + 62, middle),
                style.clone(),
            ))?;
        }
        Ok(())
    }
}

impl Series {
    fn draw_mark(&self, area: &Area<'_>, left: i32, middle: i32) -> Result<(), DrawingError> {
        let ink = self.ink();
        let centre = (left + 24, middle);
        let line = |from: i32, to: i32| {
            area.draw(&PathElement::new(
                [(left + from, middle), (left + to, middle)],
                ink.stroke_width(5),
            ))
        };
        match self.mark {
            Mark::Level | Mark::Guide => {
                line(0, 18)?;
                line(30, 48)
            }
            Mark::Published => area.draw(&TriangleMarker::new(centre, 15, ink.filled())),
            Mark::Line | Mark::Dots => {
                if self.mark == Mark::Line {
                    line(0, 48)?;
                }
                area.draw(&Circle::new(centre, 9, ink.filled()))
            }
        }
    }
}

/// Adds a title to a drawing for readers who do not see it.
pub(crate) fn titled(svg: &str, title: &str) -> String {
    let named = format!("<svg role=\"img\" aria-label=\"{}\" ", escaped(title));
    svg.replacen("<svg ", &named, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_shows_every_mark_and_names_it() {
        let point = |x, y| Point { x, y, spread: 0.1 };
        let scale = |label: &str, log| Scale {
            label: label.to_owned(),
            log,
        };
        let series = |mark, colour| Series {
            name: format!("series {colour}"),
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
        let start = "<svg role=\"img\" aria-label=\"T &lt; &quot;U&quot;\" width=";
        assert!(svg.starts_with(start), "{svg}");
        assert!(
            (0..5).all(|number| svg.contains(&format!("series {number}\n"))),
            "{svg}"
        );
        let empty = Chart {
            series: Vec::new(),
            ..chart
        };
        assert_eq!(empty.svg().unwrap(), "");
    }
}

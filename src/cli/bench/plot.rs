//! `--plot FILE.svg`: figures as curves, for who would rather look than read. Drawing is pure.

use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use clap::Args;

use crate::cli::whole_file::{self, Taken};
use crate::page::html::{Html, html};

/// Side of what a panel's curves are drawn in, room for the ticks' numbers, and for the curves'
/// names.
const SIDE: f64 = 260.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 108.0;
/// Where the curves begin below the panel's title, and room for the axis and the caption.
const TOP: f64 = 48.0;
const BOTTOM: f64 = 82.0;
/// Names of curves that end side by side are that far apart.
const LINE: f64 = 16.0;
/// Told apart by who sees no red or green, too.
const COLOURS: [&str; 5] = ["#1f6fb4", "#c8501e", "#1b8a6b", "#8d4a9f", "#7a6a00"];

/// The flag of a measurement that can be drawn.
#[derive(Debug, Args)]
pub(super) struct PlotFlag {
    /// Draw the figures as curves, too: a file that is made anew
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

impl PlotFlag {
    /// Whether the file can be written, before the minutes of measuring.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let Some(path) = &self.plot else { return Ok(()) };
        ensure!(
            path.extension().is_some_and(|it| it.eq_ignore_ascii_case("svg")),
            "--plot is {}; accepted is the name of a file that ends in .svg",
            path.display()
        );
        whole_file::check(path).with_context(|| format!("--plot cannot write {}", path.display()))
    }

    /// Draws what `figures` makes of the measurement, where that is asked for.
    pub(super) fn write(&self, figures: impl FnOnce() -> Plot) -> anyhow::Result<()> {
        let Some(path) = &self.plot else { return Ok(()) };
        whole_file::write(path, draw(&figures()).as_bytes(), Taken::Replaced)
            .with_context(|| format!("--plot cannot write {}", path.display()))
    }
}

/// Panels side by side, and what was measured.
#[derive(Debug)]
pub(super) struct Plot {
    pub(super) caption: String,
    pub(super) panels: Vec<Panel>,
}

#[derive(Debug)]
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) curves: Vec<Curve>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub(super) name: &'static str,
    pub(super) scale: Scale,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    /// Of what is above 0.
    Logarithmic,
}

/// Points from left to right; one that was not measured is left out.
#[derive(Debug)]
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

fn draw(plot: &Plot) -> String {
    let each = LEFT + SIDE + RIGHT;
    let (width, height) = (each * plot.panels.len() as f64, TOP + SIDE + BOTTOM);
    let panels: Html = (0_u32..)
        .zip(&plot.panels)
        .map(|(at, it)| {
            html!(
                "<g transform=\"translate({} {})\">{}</g>\n",
                LEFT + each * f64::from(at),
                TOP,
                panel(it)
            )
        })
        .collect();
    let drawing = html!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\" role=\"img\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}\
         <text x=\"{}\" y=\"{}\" font-size=\"11\" fill=\"#666\">{}</text>\n</svg>\n",
        width,
        height,
        width,
        height,
        plot.caption,
        panels,
        LEFT / 4.0,
        height - 14.0,
        plot.caption
    );
    drawing.into_string()
}

fn panel(panel: &Panel) -> Html {
    let Panel { title, x, y, curves } = panel;
    let points = || curves.iter().flat_map(|it| &it.points);
    let across = Ticks::over(points().map(|it| it.0), x.scale);
    let up = Ticks::over(points().map(|it| it.1), y.scale);
    let place = |(x, y): (f64, f64)| Some((SIDE * across.at(x)?, SIDE * (1.0 - up.at(y)?)));
    let columns: Html = across
        .shown()
        .map(|(at, label)| {
            html!(
                "<line x1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#e4e4e4\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                px(SIDE * at),
                px(SIDE * at),
                SIDE,
                px(SIDE * at),
                SIDE + 17.0,
                label
            )
        })
        .collect();
    let rows: Html = up
        .shown()
        .map(|(at, label)| {
            html!(
                "<line x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"#e4e4e4\"/>\
         <text x=\"-7\" y=\"{}\" text-anchor=\"end\">{}</text>",
                SIDE,
                px(SIDE * (1.0 - at)),
                px(SIDE * (1.0 - at)),
                px(SIDE * (1.0 - at) + 4.0),
                label
            )
        })
        .collect();
    let placed: Vec<Vec<(f64, f64)>> =
        curves.iter().map(|it| it.points.iter().copied().filter_map(place).collect()).collect();
    let ends: Vec<f64> = placed.iter().map(|it| it.last().map_or(0.0, |end| end.1)).collect();
    let lines: Html = curves
        .iter()
        .zip(placed)
        .zip(apart(&ends))
        .zip(COLOURS.iter().cycle())
        .map(|(((curve, points), name_at), colour)| line(curve, &points, name_at, colour))
        .collect();
    html!(
        "<text y=\"-18\" font-size=\"14\">{}</text>{}{}\
         <rect width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
         <text x=\"-44\" y=\"{}\" transform=\"rotate(-90 -44 {})\" text-anchor=\"middle\">{}</text>{}",
        title,
        columns,
        rows,
        SIDE,
        SIDE,
        SIDE / 2.0,
        SIDE + 36.0,
        x.name,
        SIDE / 2.0,
        SIDE / 2.0,
        y.name,
        lines
    )
}

fn line(curve: &Curve, points: &[(f64, f64)], name_at: f64, colour: &str) -> Html {
    if points.is_empty() {
        return Html::default();
    }
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let dots: Html = points
        .iter()
        .map(|(x, y)| html!("<circle cx=\"{}\" cy=\"{}\" r=\"3\"/>", px(*x), px(*y)))
        .collect();
    html!(
        "\n<g class=\"curve\" fill=\"{}\"><polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\
         {}<text x=\"{}\" y=\"{}\">{}</text></g>",
        colour,
        path.join(" "),
        colour,
        dots,
        SIDE + 9.0,
        px(name_at + 4.0),
        curve.name
    )
}

/// The same places, moved down where one would lie on another.
fn apart(places: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = places.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut free = f64::NEG_INFINITY;
    for (_, place) in &mut order {
        *place = place.max(free);
        free = *place + LINE;
    }
    order.sort_by_key(|it| it.0);
    order.into_iter().map(|it| it.1).collect()
}

/// Round numbers along an axis, the first and the last around everything that is drawn.
#[derive(Debug)]
struct Ticks {
    values: Vec<f64>,
    scale: Scale,
}

impl Ticks {
    /// Numbers beside an axis at most.
    const SHOWN_MAX: usize = 6;

    fn over(values: impl Iterator<Item = f64>, scale: Scale) -> Self {
        let drawn: Vec<f64> = values.filter(|it| scale.holds(*it)).collect();
        let least = drawn.iter().copied().reduce(f64::min);
        let most = drawn.iter().copied().reduce(f64::max);
        // Where nothing was measured the axis is there all the same.
        let (least, most) = least.zip(most).unwrap_or((1.0, 1.0));
        let values = match scale {
            Scale::Logarithmic => decades(least, most),
            Scale::Linear => steps(least, most),
        };
        Self { values, scale }
    }

    /// Where a value lies, from 0 to 1.
    fn at(&self, value: f64) -> Option<f64> {
        let (first, last) = self.values.first().zip(self.values.last())?;
        let [first, value, last] = [*first, value, *last].map(|it| self.scale.place(it));
        let at = (value - first) / (last - first);
        at.is_finite().then_some(at)
    }

    /// Places with their numbers, as many as there is room for.
    fn shown(&self) -> impl Iterator<Item = (f64, String)> {
        let every = self.values.len().div_ceil(Self::SHOWN_MAX);
        self.values.iter().step_by(every).filter_map(|it| Some((self.at(*it)?, number(*it))))
    }
}

impl Scale {
    fn holds(self, value: f64) -> bool {
        value.is_finite() && (self == Self::Linear || value > 0.0)
    }

    fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Logarithmic => value.ln(),
        }
    }
}

/// 1, 2 and 5 of each power of ten around a span: two of them at least.
fn decades(least: f64, most: f64) -> Vec<f64> {
    let first = least.log10().floor();
    let powers = (most / least).log10().ceil() + 2.0;
    let mut values: Vec<f64> = (0_i32..=640)
        .take_while(|it| f64::from(*it) <= powers)
        .flat_map(|it| [1.0, 2.0, 5.0].map(|digit| digit * 10.0_f64.powf(first + f64::from(it))))
        .collect();
    // Powers are not exact: what is a tick but for that counts as one.
    values.retain({
        let below = values.iter().copied().filter(|it| *it <= least * 1.000_001).reduce(f64::max);
        let above = values.iter().copied().find(|it| *it > most * 0.999_999 && Some(*it) != below);
        let (below, above) = (below.unwrap_or(least), above.unwrap_or(most));
        move |it| (below..=above).contains(it)
    });
    values
}

/// Four or so equal steps of a round size around a span.
fn steps(least: f64, most: f64) -> Vec<f64> {
    let span = if most > least { most - least } else { most.abs().max(1.0) / 2.0 };
    let power = 10.0_f64.powf((span / 4.0).log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|it| it * power * 5.0 >= span).unwrap_or(10.0);
    let step = digit * power;
    let first = (least / step).floor();
    (0_i32..=12)
        .map(|it| (first + f64::from(it)) * step)
        .scan(false, |is_beyond, it| {
            let is_shown = !*is_beyond;
            *is_beyond = it >= most && it > least;
            is_shown.then_some(it)
        })
        .collect()
}

/// As it is written beside an axis: `0.5`, `20`, `50k`, `1M`.
fn number(value: f64) -> String {
    let (value, unit) = match value {
        it if it >= 1e6 => (it / 1e6, "M"),
        it if it >= 1e3 => (it / 1e3, "k"),
        it => (it, ""),
    };
    let written = format!("{value:.4}");
    format!("{}{unit}", written.trim_end_matches('0').trim_end_matches('.'))
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[f64], scale: Scale) -> Vec<String> {
        let ticks = Ticks::over(values.iter().copied(), scale);
        ticks.values.iter().map(|it| number(*it)).collect()
    }

    #[test]
    fn an_axis_has_round_numbers_around_what_is_drawn() {
        use Scale::{Linear, Logarithmic};
        let sizes = [1_000.0, 10_000.0, 50_000.0];
        assert_eq!(numbers(&sizes, Logarithmic), ["1k", "2k", "5k", "10k", "20k", "50k"]);
        assert_eq!(numbers(&[0.61, 3.1, 0.0, f64::NAN], Logarithmic), ["0.5", "1", "2", "5"]);
        assert_eq!(numbers(&[300.0], Logarithmic), ["200", "500"]);
        assert_eq!(numbers(&[1_000.0], Logarithmic), ["1k", "2k"]);
        assert_eq!(
            numbers(&[0.953, 0.9995], Linear),
            ["0.95", "0.96", "0.97", "0.98", "0.99", "1"]
        );
        assert_eq!(numbers(&[7.0], Linear), ["7", "8"]);
        assert_eq!(numbers(&[], Logarithmic), ["1", "2"]);
        let ticks = Ticks::over([1.0, 1e9].into_iter(), Logarithmic);
        assert!(ticks.shown().count() <= Ticks::SHOWN_MAX, "{ticks:?}");
    }

    #[test]
    fn points_lie_where_their_numbers_are() {
        let ticks = Ticks::over([1.0, 100.0].into_iter(), Scale::Logarithmic);
        let at = |value| ticks.at(value).unwrap();
        assert!((at(1.0), at(100.0)) == (0.0, 1.0) && (at(10.0) - 0.5).abs() < 1e-9, "{ticks:?}");
        assert_eq!(ticks.at(f64::NAN), None);
        assert_eq!(ticks.at(0.0), None, "no logarithm");
    }

    #[test]
    fn names_do_not_lie_on_one_another() {
        assert_eq!(apart(&[50.0, 10.0, 52.0]), [50.0, 10.0, 66.0]);
        assert!(apart(&[]).is_empty());
    }

    #[test]
    fn a_drawing_is_a_document_of_its_own() {
        let axis = |name| Axis { name, scale: Scale::Logarithmic };
        let curve = |name: &str, points: &[(f64, f64)]| Curve {
            name: name.to_owned(),
            points: points.to_vec(),
        };
        let panel = Panel {
            title: "a < b".to_owned(),
            x: axis("records"),
            y: axis("ms"),
            curves: vec![
                curve("p50", &[(1_000.0, 0.5), (10_000.0, 0.7)]),
                curve("p95 & more", &[(1_000.0, f64::NAN), (10_000.0, 2.0)]),
                curve("none", &[]),
            ],
        };
        let drawn = draw(&Plot { caption: "<made> here".to_owned(), panels: vec![panel] });
        assert!(drawn.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{drawn}");
        assert!(drawn.contains("a &lt; b") && drawn.contains("p95 &amp; more"), "{drawn}");
        assert_eq!(drawn.matches("<circle").count(), 3, "what was not measured is no point");
        assert_eq!(drawn.matches("class=\"curve\"").count(), 2);
        assert!(!drawn.contains("NaN"), "{drawn}");
        assert!(drawn.contains(">10k</text>") && drawn.contains(">0.5</text>"), "{drawn}");
    }
}

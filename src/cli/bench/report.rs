//! The table and the curves for people.

use crate::cli::bench::figures::{Percentiles, RecallReport, SizeFigures};
use crate::cli::bench::plot::{Axis, Curve, Panel, Plot, Scale};

/// Table in Markdown, a column for each size.
pub(super) fn table(report: &RecallReport) -> String {
    let RecallReport { version, embedder, dimension, cores, questions, k, sizes } = report;
    let mut lines = vec![
        format!(
            "engram {version} on {cores} cores, {embedder} ({dimension} components): \
             recall_best_match through the socket,\n{questions} questions a measurement, k = {k}; \
             p50 / p95 / p99 in milliseconds where nothing else is said\n"
        ),
        row("records", sizes, |it| it.records.to_string()),
        format!("|---|{}", "--:|".repeat(sizes.len())),
        row("recall", sizes, |it| three(it.recall())),
    ];
    let shares = sizes.first().map_or(&[][..], |it| it.windows.as_slice());
    for (index, window) in shares.iter().enumerate().skip(1) {
        let figure = |it: &SizeFigures| {
            it.windows.get(index).map_or_else(String::new, |it| three(it.recall))
        };
        lines.push(row(
            &format!("within {:.0} % of the time", window.share * 100.0),
            sizes,
            figure,
        ));
    }
    if let Some(together) = sizes.first().and_then(|it| it.together.as_ref()) {
        let name = format!("{} clients at once", together.clients);
        lines.push(row(&name, sizes, |it| {
            it.together.as_ref().map_or_else(String::new, |it| three(it.recall))
        }));
        lines.push(row("questions a second of all", sizes, |it| {
            it.together
                .as_ref()
                .map_or_else(String::new, |it| format!("{:.0}", it.questions_per_second))
        }));
    }
    lines.extend([
        row("captioner busy", sizes, |it| three(it.busy)),
        row("p99 against idle", sizes, |it| ratio(it.busy, it.recall())),
        row("200 a second", sizes, |it| three(it.paced)),
        row("200 a second, inserting", sizes, |it| three(it.inserting)),
        row("p99 against not inserting", sizes, |it| ratio(it.inserting, it.paced)),
        row("inserts a second", sizes, |it| format!("{:.0}", it.inserts_per_second)),
        row("p50 of embedding", sizes, |it| format!("{:.3}", it.parts.embed_millis)),
        row("p50 of searching", sizes, |it| format!("{:.3}", it.parts.search_millis)),
        row("p50 of reading the records", sizes, |it| format!("{:.3}", it.parts.hydrate_millis)),
        row("of that p50 of decrypting them", sizes, |it| format!("{:.3}", it.parts.open_millis)),
        row("p50 of encrypting an insertion", sizes, |it| format!("{:.3}", it.parts.seal_millis)),
        row("p50 of the rest", sizes, |it| format!("{:.3}", it.parts.wire_millis)),
        row("start to first answer, median / slowest", sizes, |it| {
            format!("{:.0} / {:.0}", it.first_answer_millis, it.first_answer_millis_max)
        }),
        row("segments", sizes, |it| it.segments.to_string()),
        row("index, bytes of memory a record", sizes, |it| {
            format!("{:.0}", it.index_bytes as f64 / it.records as f64)
        }),
        row("daemon, MiB of memory", sizes, |it| mebibytes(it.daemon_bytes)),
        row("caption worker, MiB of memory", sizes, |it| mebibytes(it.worker_bytes)),
        row("MiB on disk", sizes, |it| mebibytes(it.disk_bytes)),
        row("filled in seconds", sizes, |it| {
            it.fill_seconds.map_or_else(|| "before".to_owned(), |it| format!("{it:.1}"))
        }),
    ]);
    lines.join("\n")
}

/// Latency over the number of records: of all of them, of windows, and beside other work.
pub(super) fn curves(report: &RecallReport) -> Plot {
    let RecallReport { version, embedder, cores, questions, k, sizes, .. } = report;
    let curve = |name: String, figure: &dyn Fn(&SizeFigures) -> f64| {
        let mut points: Vec<(f64, f64)> =
            sizes.iter().map(|it| (it.records as f64, figure(it))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Curve { name, points }
    };
    let panel = |title: &str, curves| {
        let axis = |name| Axis { name, scale: Scale::Logarithmic };
        Panel { title: title.to_owned(), x: axis("records"), y: axis("milliseconds"), curves }
    };
    let windows = sizes.first().map_or(&[][..], |it| it.windows.as_slice());
    let windows = windows.iter().enumerate().map(|(index, window)| {
        curve(format!("{:.0} %", window.share * 100.0), &|it| {
            it.windows.get(index).map_or(f64::NAN, |it| it.recall.p95_millis)
        })
    });
    let mut beside = vec![
        curve("idle".to_owned(), &|it| it.recall().p95_millis),
        curve("captioner busy".to_owned(), &|it| it.busy.p95_millis),
        curve("200 a second".to_owned(), &|it| it.paced.p95_millis),
        curve("and inserting".to_owned(), &|it| it.inserting.p95_millis),
    ];
    if let Some(together) = sizes.first().and_then(|it| it.together.as_ref()) {
        beside.push(curve(format!("{} clients", together.clients), &|it| {
            it.together.as_ref().map_or(f64::NAN, |it| it.recall.p95_millis)
        }));
    }
    Plot {
        caption: format!(
            "engram {version} on {cores} cores, {embedder}: recall_best_match through the socket, \
             {questions} questions a measurement, k = {k}"
        ),
        panels: vec![
            panel(
                "a recall",
                vec![
                    curve("p50".to_owned(), &|it| it.recall().p50_millis),
                    curve("p95".to_owned(), &|it| it.recall().p95_millis),
                    curve("p99".to_owned(), &|it| it.recall().p99_millis),
                ],
            ),
            panel("within a share of the time, p95", windows.collect()),
            panel("beside other work, p95", beside),
        ],
    }
}

fn row(name: &str, sizes: &[SizeFigures], figure: impl Fn(&SizeFigures) -> String) -> String {
    let figures: Vec<String> = sizes.iter().map(figure).collect();
    format!("| {name} | {} |", figures.join(" | "))
}

fn three(latency: Percentiles) -> String {
    let Percentiles { p50_millis, p95_millis, p99_millis } = latency;
    format!("{p50_millis:.2} / {p95_millis:.2} / {p99_millis:.2}")
}

fn ratio(loaded: Percentiles, idle: Percentiles) -> String {
    format!("{:.1} ×", loaded.p99_millis / idle.p99_millis)
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.0}", bytes as f64 / f64::from(1 << 20))
}

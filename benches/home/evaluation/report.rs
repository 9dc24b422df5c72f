//! The table for people.

use super::figures::{Family, Outcome, Rates, Report};
use super::loss::{Loss, Losses};
use super::slips::Slips;

/// Tables of Markdown: a line a family, then what explains the losses.
pub(super) fn table(report: &Report) -> String {
    let Report { version, embedder, captioner, frames, records, overall, families, .. } = report;
    let captions = captioner
        .as_ref()
        .map_or_else(|| "true captions".to_owned(), |captioner| format!("captions of {captioner}"));
    let names: Vec<&str> = overall.baselines.iter().map(|it| it.name).collect();
    let mut lines = vec![format!(
        "engram {version}, {embedder}, {captions}: {frames} frames, {records} records, {} \
             tasks through retrieve_object;\nright object / right place, of each family\n",
        overall.tasks
    )];
    lines.extend(rows(families.iter().chain([overall]), &names));
    lines.push(String::new());
    if !report.extra_families.is_empty() {
        lines.push("Beside these, whose right answers are of other kinds:\n".to_owned());
        lines.extend(rows(report.extra_families.iter(), &names));
        lines.push(String::new());
    }
    if let Some(slips) = &report.slips {
        lines.push(slips_line(slips));
    }
    lines.push(losses_line(&report.losses, report.slips.is_some()));
    lines.join("\n")
}

/// A paragraph for each task whose place is wrong.
pub(super) fn lost<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> String {
    let lost = outcomes.filter_map(|it| Some((it, it.loss?)));
    let paragraphs: Vec<String> = lost.map(|(outcome, loss)| paragraph(outcome, loss)).collect();
    paragraphs.join("\n\n")
}

/// A table with its head; `names` are those of the baselines.
fn rows<'a>(families: impl Iterator<Item = &'a Family>, names: &[&str]) -> Vec<String> {
    let joined = names.join(" | ");
    let head = format!("| family | tasks | engram | calls | ms p50 / p95 | {joined} |");
    let line = format!("|---|{}", "--:|".repeat(4 + names.len()));
    [head, line].into_iter().chain(families.map(row)).collect()
}

fn row(family: &Family) -> String {
    let Family { name, tasks, planner, calls_mean, p50_millis, p95_millis, baselines } = family;
    let baselines: Vec<String> = baselines.iter().map(|it| two(it.rates)).collect();
    format!(
        "| {name} | {tasks} | {} | {calls_mean:.1} | {p50_millis:.1} / {p95_millis:.1} | {} |",
        two(*planner),
        baselines.join(" | ")
    )
}

fn two(Rates { right_object, right_place }: Rates) -> String {
    format!("{right_object:.2} / {right_place:.2}")
}

fn slips_line(slips: &Slips) -> String {
    let Slips { frames, right_frames, right, missed, wrong } = slips;
    format!(
        "Captions: {right_frames} of {frames} frames name exactly what is there; of the things, \
         {right} right, {missed} missed, {wrong} named that are not there."
    )
}

fn losses_line(losses: &Losses, has_captioner: bool) -> String {
    let Losses { all, last_sighting_not_named, named_where_it_was_not, wrong_elsewhere, planner } =
        losses;
    if !has_captioner {
        return format!("Lost: {all} (wrong place).");
    }
    let by_captions = all - planner;
    format!(
        "Lost: {all} (wrong place), {planner} of them with true captions, too. The captions lost \
         {by_captions}: {last_sighting_not_named} because none names the object where it was last \
         seen, {named_where_it_was_not} because one names it where it was not, {wrong_elsewhere} \
         by errors elsewhere."
    )
}

fn paragraph(outcome: &Outcome, loss: Loss) -> String {
    let Outcome { id, kind, task, record, position, gold, text, .. } = outcome;
    let answer = match (record, position) {
        (Some(record), Some([x, y, _])) => format!("#{record} at ({x:.2}, {y:.2})"),
        (None, Some([x, y, _])) => format!("a guess at ({x:.2}, {y:.2})"),
        (_, None) => "nothing".to_owned(),
    };
    let why = match loss {
        Loss::LastSightingNotNamed => " (not named where it was last seen)",
        Loss::NamedWhereItWasNot => " (named where it was not)",
        Loss::WrongElsewhere => " (captions elsewhere are wrong)",
        Loss::Planner => "",
    };
    format!(
        "{id} {kind}{why}: {task:?}\n  got    {answer}\n  right  {}\n  {}",
        gold.join("; "),
        text.replace('\n', "\n  ")
    )
}

//! One look at all pieces: the best of each ranking, then the best by both.

use std::cell::RefCell;

use crate::base::RecordId;
use crate::base::embedding::Embedding;
use crate::base::time::Timestamp;
use crate::index::Row;
use crate::index::VectorIndex as _;
use crate::index::codes::Query as Coded;
use crate::index::columns::Condition;
use crate::index::frozen::Scratch;
use crate::index::lexical::Words;
use crate::index::lexical::query::WordQuery;
use crate::index::selection::{Marked, Selection};
use crate::index::top::Scored;
use crate::search::piece::{BodyReading, Reading};
use crate::search::plan::{self, Action, Plan};
use crate::search::{Accepts, Explained, Hit, PieceReport, Query, condition, fuse};

/// A query over the pieces of one snapshot.
#[derive(Debug)]
pub(super) struct Look<'a> {
    readings: &'a [Reading<'a>],
    vector: &'a Embedding,
    codes: Coded,
    words: WordQuery,
}

thread_local! {
    /// Room for walks, made once a thread.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// A row of a piece, by its place in the list.
#[derive(Debug, Clone, Copy)]
struct Found {
    piece: usize,
    row: Row,
    score: f32,
}

impl<'a> Look<'a> {
    pub(super) fn new(query: &Query<'a>, readings: &'a [Reading<'a>]) -> Self {
        let parts: Vec<&dyn Words> = readings.iter().map(Reading::words).collect();
        let words = WordQuery::new(query.text, &parts);
        Self { readings, vector: query.vector, codes: Coded::new(query.vector), words }
    }

    /// The best hits, and what was done in each piece.
    pub(super) fn best(&self, query: &Query<'_>) -> Explained {
        let held = self.readings.iter().map(Reading::found).sum();
        let Some(Plan { hits: limit, candidates }) = plan::plan(query.k, held) else {
            return Explained { hits: Vec::new(), pieces: Vec::new() };
        };
        let condition = condition(query.filter);
        let (mut by_meaning, mut by_words, mut pieces) = (Vec::new(), Vec::new(), Vec::new());
        for (piece, reading) in self.readings.iter().enumerate() {
            let mut within = reading.select(&condition);
            if let Some(accepts) = query.accepts {
                within = accepted(reading, &within, accepts);
            }
            let selected = within.count(reading.rows());
            let action = action(reading, selected, limit);
            let found = self.nearest(reading, (action, selected), candidates, &within);
            let said = match action {
                Action::Skip => Vec::new(),
                Action::Scan | Action::Walk { .. } => {
                    self.words.top(reading.words(), candidates, &within, 0.0)
                }
            };
            pieces.push(report(reading, selected, action, (found.len(), said.len())));
            let of_piece = |it: &Scored| Found { piece, row: it.row, score: it.score };
            by_meaning.extend(found.iter().map(of_piece));
            by_words.extend(said.iter().map(of_piece));
        }
        let mut rows = best_of(by_meaning, candidates);
        rows.append(&mut best_of(by_words, candidates));
        rows.sort_unstable_by_key(|it| (it.piece, it.row));
        rows.dedup_by_key(|it| (it.piece, it.row));
        let mut hits: Vec<Hit> = Vec::with_capacity(rows.len());
        for of_piece in rows.chunk_by(|a, b| a.piece == b.piece) {
            let reading = of_piece.first().and_then(|it| self.readings.get(it.piece));
            let rows: Vec<Row> = of_piece.iter().map(|it| it.row).collect();
            hits.extend(reading.map(|reading| self.hits(reading, &rows)).unwrap_or_default());
        }
        hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        hits.truncate(limit);
        Explained { hits, pieces }
    }

    /// How well given records answer, in their order.
    pub(super) fn score(&self, ids: &[RecordId]) -> Vec<Hit> {
        let hit = |id: &RecordId| {
            let found = self.readings.iter().find_map(|it| Some((it, it.ids().row(*id)?)));
            let (reading, row) = found.filter(|(it, row)| !it.live.gone.contains(row.0))?;
            self.hits(reading, &[row]).first().copied()
        };
        ids.iter().filter_map(hit).collect()
    }

    fn nearest(
        &self,
        reading: &Reading<'_>,
        (action, selected): (Action, usize),
        n: usize,
        within: &Selection,
    ) -> Vec<Scored> {
        let body = match &reading.body {
            BodyReading::Sealed(body) => body,
            BodyReading::Open(_) if action == Action::Skip => return Vec::new(),
            BodyReading::Open(body) => return body.vectors.search(self.vector, n, within),
        };
        SCRATCH.with_borrow_mut(|scratch| match (action, within) {
            (Action::Skip, _) => Vec::new(),
            (Action::Scan, _) => {
                body.vectors.scan(&self.codes, n, within.rows(reading.rows()), scratch)
            }
            (Action::Walk { ef }, Selection::All) => body.vectors.walk(&self.codes, n, ef, scratch),
            (Action::Walk { ef }, Selection::Run(start, end)) => {
                let run = *start..*end;
                let allows = |row| run.contains(&row);
                body.vectors.walk_within(&self.codes, n, (ef, selected), allows, scratch)
            }
            (Action::Walk { ef }, Selection::Only(marked)) => {
                let allows = |row| marked.contains(row);
                body.vectors.walk_within(&self.codes, n, (ef, selected), allows, scratch)
            }
        })
    }

    fn hits(&self, reading: &Reading<'_>, rows: &[Row]) -> Vec<Hit> {
        let said = self.words.scores(reading.words(), rows);
        let hit = |(row, lexical): (&Row, f32)| {
            let cosine = match &reading.body {
                BodyReading::Open(body) => body.vectors.cosine(self.vector, *row)?,
                BodyReading::Sealed(body) => SCRATCH
                    .with_borrow_mut(|scratch| body.vectors.cosine(&self.codes, *row, scratch))?,
            };
            let dense = fuse::dense(cosine);
            let id = reading.ids().of(*row)?;
            Some(Hit { id, score: fuse::fuse(dense, lexical), dense, lexical })
        };
        rows.iter().zip(said).filter_map(hit).collect()
    }
}

/// The records seen last, newest first, whose caption holds any of `words`; any
/// caption where there are no words.
pub(super) fn newest(
    readings: &[Reading<'_>],
    condition: &Condition<'_>,
    limit: usize,
    words: &[String],
) -> Vec<RecordId> {
    let parts: Vec<&dyn Words> = readings.iter().map(Reading::words).collect();
    let asked = WordQuery::new(&words.join(" "), &parts);
    let mut seen: Vec<(Timestamp, RecordId)> = Vec::new();
    for reading in readings {
        let mut within = reading.select(condition);
        if !words.is_empty() {
            let holding = asked.top(reading.words(), reading.rows(), &within, 0.0);
            let mut marked = Marked::new(reading.rows());
            for it in holding {
                marked.insert(it.row);
            }
            within = Selection::Only(marked);
        }
        let of_piece = reading.live.columns.newest(&within, limit).into_iter();
        seen.extend(of_piece.filter_map(|(at, row)| Some((at, reading.ids().of(row)?))));
    }
    seen.sort_unstable_by(|a, b| b.cmp(a));
    seen.truncate(limit);
    seen.into_iter().map(|(_, id)| id).collect()
}

/// An open piece is flat: it is scanned whatever there is to scan.
fn action(reading: &Reading<'_>, selected: usize, k: usize) -> Action {
    match &reading.body {
        BodyReading::Open(_) if selected > 0 => Action::Scan,
        BodyReading::Open(_) => Action::Skip,
        BodyReading::Sealed(_) => plan::action(reading.rows(), selected, k),
    }
}

fn accepted(reading: &Reading<'_>, within: &Selection, accepts: Accepts<'_>) -> Selection {
    let mut marked = Marked::new(reading.rows());
    for row in within.rows(reading.rows()) {
        if reading.ids().of(row).is_some_and(accepts) {
            marked.insert(row);
        }
    }
    Selection::Only(marked)
}

fn report(
    reading: &Reading<'_>,
    selected: usize,
    action: Action,
    candidates: (usize, usize),
) -> PieceReport {
    let ids = reading.ids();
    PieceReport {
        segment: reading.segment,
        records: ids.first().zip(ids.last()),
        span: reading.live.columns.span(),
        rows: reading.rows(),
        selected,
        action,
        candidates,
    }
}

/// The best `n` of one ranking over all pieces.
fn best_of(mut found: Vec<Found>, n: usize) -> Vec<Found> {
    let order = |a: &Found, b: &Found| {
        b.score.total_cmp(&a.score).then((a.piece, a.row).cmp(&(b.piece, b.row)))
    };
    if n < found.len() {
        found.select_nth_unstable_by(n, order);
        found.truncate(n);
    }
    found
}

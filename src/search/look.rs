//! One look at all pieces: the best of each ranking, then the best by both.

use std::cell::RefCell;
use std::cmp::Ordering;

use crate::base::RecordId;
use crate::base::embedding::Embedding;
use crate::base::time::Timestamp;
use crate::index::Row;
use crate::index::VectorIndex as _;
use crate::index::columns::Condition;
use crate::index::hnsw::Nearest;
use crate::index::hnsw::search::Scratch;
use crate::index::lexical::Postings;
use crate::index::lexical::query::Bm25Query;
use crate::index::quantization::sq12::Sq12Query;
use crate::index::selection::{RowSet, Selection};
use crate::index::top_k::Scored;
use crate::search::piece::{BodyReading, Reading};
use crate::search::plan::{self, Action, Plan};
use crate::search::{Accepts, Explained, Hit, PieceReport, Query, condition, fuse};

/// A query over the pieces of one snapshot.
#[derive(Debug)]
pub(super) struct Look<'a> {
    readings: &'a [Reading<'a>],
    vector: &'a Embedding,
    codes: Sq12Query,
    words: Bm25Query,
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

impl Found {
    fn in_piece(piece: usize, Scored { row, score }: Scored) -> Self {
        Self { piece, row, score }
    }
}

impl<'a> Look<'a> {
    pub(super) fn new(query: &Query<'a>, readings: &'a [Reading<'a>]) -> Self {
        let parts: Vec<&dyn Postings> = readings.iter().map(Reading::words).collect();
        let words = Bm25Query::new(query.text, &parts);
        Self { readings, vector: query.vector, codes: Sq12Query::new(query.vector), words }
    }

    /// The best hits, and what was done in each piece.
    pub(super) fn best(&self, query: &Query<'_>) -> Explained {
        let held = self.readings.iter().map(Reading::found).sum();
        let Some(Plan { hits: limit, candidates }) = plan::plan(query.k, held) else {
            return Explained { hits: Vec::new(), pieces: Vec::new() };
        };
        let condition = condition(query.filter);
        let (mut by_meaning, mut pieces) = (Vec::new(), Vec::new());
        // Cosine of the last of the candidates, once there are so many.
        let mut least = None;
        let mut selections = Vec::with_capacity(self.readings.len());
        for (piece, reading) in self.readings.iter().enumerate() {
            let mut within = reading.select(&condition);
            if let Some(accepts) = query.accepts {
                within = accepted(reading, &within, accepts);
            }
            let selected = within.count(reading.rows());
            let action = action(reading, selected, limit);
            let nearest = Nearest::above(candidates, least.unwrap_or(f32::NEG_INFINITY));
            let found = self.nearest(reading, (action, selected), nearest, &within);
            by_meaning.extend(found.iter().map(|it| Found::in_piece(piece, *it)));
            by_meaning = best_of(by_meaning, candidates);
            least = least_of(&by_meaning, candidates);
            pieces.push(report(reading, selected, action, found.len()));
            selections.push(within);
        }
        let selected: usize = pieces.iter().map(|it| it.selected).sum();
        let is_all = by_meaning.len() == selected && selected <= candidates;
        by_meaning.sort_unstable_by_key(|it| (it.piece, it.row));
        let mut hits = self.hits_by_meaning(&by_meaning);
        let last = best_hits(&mut hits, limit);
        // What is farther than all of these needs words to get among the best.
        let floor = match (last, least) {
            _ if is_all => f32::INFINITY,
            (Some(last), Some(least)) => fuse::lexical_needed(last, fuse::dense(least)),
            _ => 0.0,
        };
        let mut by_words = self.said(&selections, candidates, floor, &mut pieces);
        let known = |it: &Found| {
            by_meaning.binary_search_by_key(&(it.piece, it.row), |it| (it.piece, it.row)).is_ok()
        };
        by_words.retain(|it| !known(it));
        by_words.sort_unstable_by_key(|it| (it.piece, it.row));
        hits.append(&mut self.hits_by_words(&by_words));
        best_hits(&mut hits, limit);
        hits.sort_unstable_by(by_score);
        Explained { hits, pieces }
    }

    /// The best `n` rows by words that score more than `floor`, and how many there were
    /// in each piece.
    fn said(
        &self,
        selections: &[Selection],
        n: usize,
        mut floor: f32,
        reports: &mut [PieceReport],
    ) -> Vec<Found> {
        let mut best: Vec<Found> = Vec::new();
        let pieces = self.readings.iter().zip(selections).zip(reports).enumerate();
        for (piece, ((reading, within), report)) in pieces {
            if report.selected == 0 || floor >= 1.0 || self.words.is_empty() {
                continue;
            }
            let said = self.words.top(reading.words(), n, within, floor);
            report.candidates.1 = said.len();
            best.extend(said.iter().map(|it| Found::in_piece(piece, *it)));
            best = best_of(best, n);
            // Of equals the earlier piece's stays, so that a later one must be better.
            floor = least_of(&best, n).map_or(floor, |least| floor.max(least));
        }
        best
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
        nearest: Nearest,
        within: &Selection,
    ) -> Vec<Scored> {
        let body = match &reading.body {
            BodyReading::Sealed(body) => body,
            BodyReading::Open(_) if action == Action::Skip => return Vec::new(),
            BodyReading::Open(body) => {
                return body.vectors.search(self.vector, nearest.n(), within);
            }
        };
        SCRATCH.with_borrow_mut(|scratch| match (action, within) {
            (Action::Skip, _) => Vec::new(),
            (Action::Scan, _) => {
                body.vectors.scan(&self.codes, nearest, within.rows(reading.rows()), scratch)
            }
            (Action::Walk { ef }, Selection::All) => {
                body.vectors.search_graph(&self.codes, nearest, ef, scratch)
            }
            (Action::Walk { ef }, Selection::Run(start, end)) => {
                let run = *start..*end;
                let allows = |row| run.contains(&row);
                body.vectors.search_graph_filtered(
                    &self.codes,
                    nearest,
                    (ef, selected),
                    allows,
                    scratch,
                )
            }
            (Action::Walk { ef }, Selection::Only(marked)) => {
                let allows = |row| marked.contains(row);
                body.vectors.search_graph_filtered(
                    &self.codes,
                    nearest,
                    (ef, selected),
                    allows,
                    scratch,
                )
            }
        })
    }

    /// What was found in meaning, whose scores are cosines, in the order of pieces.
    fn hits_by_meaning(&self, found: &[Found]) -> Vec<Hit> {
        let mut hits = Vec::with_capacity(found.len());
        for (reading, of_piece, rows) in self.by_piece(found) {
            let said = self.words.scores(reading.words(), &rows);
            let each = of_piece.iter().zip(said);
            hits.extend(each.filter_map(|(it, said)| hit(reading, it.row, it.score, said)));
        }
        hits
    }

    /// What was found by words, in the order of pieces.
    fn hits_by_words(&self, found: &[Found]) -> Vec<Hit> {
        let by_piece = self.by_piece(found);
        by_piece.flat_map(|(reading, _, rows)| self.hits(reading, &rows)).collect()
    }

    fn by_piece<'b>(
        &'b self,
        found: &'b [Found],
    ) -> impl Iterator<Item = (&'b Reading<'b>, &'b [Found], Vec<Row>)> {
        found.chunk_by(|a, b| a.piece == b.piece).filter_map(|of_piece| {
            let reading = self.readings.get(of_piece.first()?.piece)?;
            Some((reading, of_piece, of_piece.iter().map(|it| it.row).collect()))
        })
    }

    fn hits(&self, reading: &Reading<'_>, rows: &[Row]) -> Vec<Hit> {
        let said = self.words.scores(reading.words(), rows);
        let of_row = |(row, said): (&Row, f32)| {
            let cosine = match &reading.body {
                BodyReading::Open(body) => body.vectors.cosine(self.vector, *row)?,
                BodyReading::Sealed(body) => SCRATCH
                    .with_borrow_mut(|scratch| body.vectors.cosine(&self.codes, *row, scratch))?,
            };
            hit(reading, *row, cosine, said)
        };
        rows.iter().zip(said).filter_map(of_row).collect()
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
    let parts: Vec<&dyn Postings> = readings.iter().map(Reading::words).collect();
    let asked = Bm25Query::new(&words.join(" "), &parts);
    let mut seen: Vec<(Timestamp, RecordId)> = Vec::new();
    for reading in readings {
        let mut within = reading.select(condition);
        if !words.is_empty() {
            let holding = asked.top(reading.words(), reading.rows(), &within, 0.0);
            let mut marked = RowSet::new(reading.rows());
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
    let mut marked = RowSet::new(reading.rows());
    for row in within.rows(reading.rows()) {
        if reading.ids().of(row).is_some_and(accepts) {
            marked.insert(row);
        }
    }
    Selection::Only(marked)
}

fn report(reading: &Reading<'_>, selected: usize, action: Action, found: usize) -> PieceReport {
    let ids = reading.ids();
    PieceReport {
        segment: reading.segment,
        records: ids.first().zip(ids.last()),
        span: reading.live.columns.span(),
        rows: reading.rows(),
        selected,
        action,
        candidates: (found, 0),
    }
}

fn hit(reading: &Reading<'_>, row: Row, cosine: f32, lexical: f32) -> Option<Hit> {
    let dense = fuse::dense(cosine);
    Some(Hit { id: reading.ids().of(row)?, score: fuse::fuse(dense, lexical), dense, lexical })
}

/// Best first, equal ones by ascending id.
fn by_score(a: &Hit, b: &Hit) -> Ordering {
    b.score.total_cmp(&a.score).then(a.id.cmp(&b.id))
}

/// Leaves the best `n`, in no order; the score of the last of them, where there are so
/// many.
fn best_hits(hits: &mut Vec<Hit>, n: usize) -> Option<f32> {
    if n == 0 || hits.len() < n {
        return None;
    }
    let (_, last, _) = hits.select_nth_unstable_by(n - 1, by_score);
    let score = last.score;
    hits.truncate(n);
    Some(score)
}

/// The score of the last of the best `n`, once there are so many.
fn least_of(best: &[Found], n: usize) -> Option<f32> {
    let least = || best.iter().map(|it| it.score).reduce(f32::min);
    (best.len() == n).then(least).flatten()
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

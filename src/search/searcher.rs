//! Runs one query over all segments: top candidates by vector and by BM25, then by their
//! weighted sum.

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
use crate::index::strategy::Strategy;
use crate::index::top_k::Scored;
use crate::search::plan::{self, QueryPlan, SegmentAction};
use crate::search::segment::{DataReader, SegmentReader};
use crate::search::{Accepts, Explained, Hit, Query, SegmentReport, condition, fuse};

/// Query over the segments of one snapshot.
#[derive(Debug)]
pub(super) struct Searcher<'a> {
    readers: &'a [SegmentReader<'a>],
    /// `None` where the words alone decide.
    vector: Option<QueryVector<'a>>,
    words: Bm25Query,
}

#[derive(Debug)]
struct QueryVector<'a> {
    exact: &'a Embedding,
    codes: Sq12Query,
}

thread_local! {
    /// Scratch memory of graph searches, one for each thread.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Scored row of the n-th segment.
#[derive(Debug, Clone, Copy)]
struct RowCandidate {
    segment: usize,
    row: Row,
    score: f32,
}

impl RowCandidate {
    fn in_segment(segment: usize, Scored { row, score }: Scored) -> Self {
        Self { segment, row, score }
    }
}

impl<'a> Searcher<'a> {
    pub(super) fn new(query: &Query<'a>, readers: &'a [SegmentReader<'a>]) -> Self {
        let parts: Vec<&dyn Postings> = readers.iter().map(SegmentReader::words).collect();
        let words = Bm25Query::new(query.text, &parts);
        let vector = query.vector.map(|exact| QueryVector { exact, codes: Sq12Query::new(exact) });
        Self { readers, vector, words }
    }

    /// Top hits, and what was done in each segment.
    pub(super) fn best(&self, query: &Query<'_>) -> Explained {
        let held = self.readers.iter().map(SegmentReader::live_rows).sum();
        let Some(QueryPlan { hits: limit, candidates }) = plan::plan(query.k, held) else {
            return Explained { hits: Vec::new(), segments: Vec::new() };
        };
        let condition = condition(query.filter);
        let (mut by_meaning, mut segments) = (Vec::new(), Vec::new());
        // Lowest cosine of the candidates, once there are enough: a later segment is
        // searched only for better ones.
        let mut least = None;
        let mut selections = Vec::with_capacity(self.readers.len());
        for (segment, reader) in self.readers.iter().enumerate() {
            let mut within = reader.select(&condition);
            if let Some(accepts) = query.accepts {
                within = select_accepted(reader, &within, accepts);
            }
            let selected = within.count(reader.rows());
            let action = self.action(reader, selected, limit);
            let nearest = Nearest::above(candidates, least.unwrap_or(f32::NEG_INFINITY));
            let found = self.top_by_vector(reader, (action, selected), nearest, &within);
            by_meaning.extend(found.iter().map(|it| RowCandidate::in_segment(segment, *it)));
            by_meaning = best_of(by_meaning, candidates);
            least = least_of(&by_meaning, candidates);
            segments.push(report(reader, selected, action, found.len()));
            selections.push(within);
        }
        let selected: usize = segments.iter().map(|it| it.selected).sum();
        let is_all = by_meaning.len() == selected && selected <= candidates;
        by_meaning.sort_unstable_by_key(|it| (it.segment, it.row));
        let mut hits = self.hits_by_meaning(&by_meaning);
        let last = best_hits(&mut hits, limit);
        // A record farther than all candidates needs this BM25 score to get among the
        // hits.
        let floor = match (last, least) {
            _ if is_all => f32::INFINITY,
            (Some(last), Some(least)) => fuse::lexical_needed(last, fuse::dense(least)),
            _ => 0.0,
        };
        let mut by_words = self.top_by_words(&selections, candidates, floor, &mut segments);
        let known = |it: &RowCandidate| {
            by_meaning
                .binary_search_by_key(&(it.segment, it.row), |it| (it.segment, it.row))
                .is_ok()
        };
        by_words.retain(|it| !known(it));
        by_words.sort_unstable_by_key(|it| (it.segment, it.row));
        hits.append(&mut self.hits_by_words(&by_words));
        best_hits(&mut hits, limit);
        hits.sort_unstable_by(by_score);
        Explained { hits, segments }
    }

    /// Top `n` rows by BM25 above `floor`; notes their number in each segment's report.
    fn top_by_words(
        &self,
        selections: &[Selection],
        n: usize,
        mut floor: f32,
        reports: &mut [SegmentReport],
    ) -> Vec<RowCandidate> {
        let mut best: Vec<RowCandidate> = Vec::new();
        let segments = self.readers.iter().zip(selections).zip(reports).enumerate();
        for (segment, ((reader, within), report)) in segments {
            if report.selected == 0 || floor >= 1.0 || self.words.is_empty() {
                continue;
            }
            let lexical = self.words.top(reader.words(), n, within, floor);
            report.candidates.1 = lexical.len();
            best.extend(lexical.iter().map(|it| RowCandidate::in_segment(segment, *it)));
            best = best_of(best, n);
            // Of equals the earlier segment's stays, so that a later one must be better.
            floor = least_of(&best, n).map_or(floor, |least| floor.max(least));
        }
        best
    }

    /// Scores of given records, in their order.
    pub(super) fn score(&self, ids: &[RecordId]) -> Vec<Hit> {
        let hit = |id: &RecordId| {
            let found = self.readers.iter().find_map(|it| Some((it, it.ids().row(*id)?)));
            let (reader, row) = found.filter(|(it, row)| !it.state.deleted.contains(row.0))?;
            self.hits(reader, &[row]).first().copied()
        };
        ids.iter().filter_map(hit).collect()
    }

    fn top_by_vector(
        &self,
        reader: &SegmentReader<'_>,
        (action, selected): (SegmentAction, usize),
        nearest: Nearest,
        within: &Selection,
    ) -> Vec<Scored> {
        let Some(vector) = &self.vector else { return Vec::new() };
        let body = match &reader.body {
            DataReader::Sealed(body) => body,
            DataReader::Growing(_) if action == SegmentAction::Skip => return Vec::new(),
            DataReader::Growing(body) => {
                return body.vectors.search(vector.exact, nearest.n(), within);
            }
        };
        let strategy = match action {
            SegmentAction::Skip => return Vec::new(),
            SegmentAction::Scan => Strategy::Scan,
            SegmentAction::Graph { ef } => Strategy::Graph { ef },
        };
        SCRATCH.with_borrow_mut(|scratch| {
            body.vectors.search(&vector.codes, nearest, strategy, (within, selected), scratch)
        })
    }

    /// Hits of candidates by vector, whose scores are cosines, in the order of segments.
    fn hits_by_meaning(&self, found: &[RowCandidate]) -> Vec<Hit> {
        let mut hits = Vec::with_capacity(found.len());
        for (reader, in_segment, rows) in self.by_segment(found) {
            let lexical = self.words.scores(reader.words(), &rows);
            let each = in_segment.iter().zip(lexical);
            hits.extend(each.filter_map(|(it, lexical)| hit(reader, it.row, it.score, lexical)));
        }
        hits
    }

    /// Hits of candidates by BM25, in the order of segments.
    fn hits_by_words(&self, found: &[RowCandidate]) -> Vec<Hit> {
        let by_segment = self.by_segment(found);
        by_segment.flat_map(|(reader, _, rows)| self.hits(reader, &rows)).collect()
    }

    fn by_segment<'b>(
        &'b self,
        found: &'b [RowCandidate],
    ) -> impl Iterator<Item = (&'b SegmentReader<'b>, &'b [RowCandidate], Vec<Row>)> {
        found.chunk_by(|a, b| a.segment == b.segment).filter_map(|in_segment| {
            let reader = self.readers.get(in_segment.first()?.segment)?;
            Some((reader, in_segment, in_segment.iter().map(|it| it.row).collect()))
        })
    }

    fn hits(&self, reader: &SegmentReader<'_>, rows: &[Row]) -> Vec<Hit> {
        let lexical = self.words.scores(reader.words(), rows);
        let of_row = |(row, lexical): (&Row, f32)| {
            let Some(vector) = &self.vector else { return self.literal_hit(reader, *row, lexical) };
            let cosine = match &reader.body {
                DataReader::Growing(body) => body.vectors.cosine(vector.exact, *row)?,
                DataReader::Sealed(body) => SCRATCH
                    .with_borrow_mut(|scratch| body.vectors.cosine(&vector.codes, *row, scratch))?,
            };
            hit(reader, *row, cosine, lexical)
        };
        rows.iter().zip(lexical).filter_map(of_row).collect()
    }

    /// Hit by words alone. Words that no record holds count against it.
    fn literal_hit(&self, reader: &SegmentReader<'_>, row: Row, lexical: f32) -> Option<Hit> {
        let score = lexical * self.words.known_share();
        Some(Hit { id: reader.ids().of(row)?, score, dense: 0.0, lexical })
    }

    /// A growing segment has no graph: it is scanned.
    fn action(&self, reader: &SegmentReader<'_>, selected: usize, k: usize) -> SegmentAction {
        match &reader.body {
            _ if self.vector.is_none() => SegmentAction::Skip,
            DataReader::Growing(_) if selected > 0 => SegmentAction::Scan,
            DataReader::Growing(_) => SegmentAction::Skip,
            DataReader::Sealed(_) => plan::action(reader.rows(), selected, k),
        }
    }
}

/// Newest records, newest first, whose caption holds any of `words`; without words, of
/// all captions.
pub(super) fn newest(
    readers: &[SegmentReader<'_>],
    condition: &Condition<'_>,
    limit: usize,
    words: &[String],
) -> Vec<RecordId> {
    let parts: Vec<&dyn Postings> = readers.iter().map(SegmentReader::words).collect();
    let asked = Bm25Query::new(&words.join(" "), &parts);
    let mut seen: Vec<(Timestamp, RecordId)> = Vec::new();
    for reader in readers {
        let mut within = reader.select(condition);
        if !words.is_empty() {
            let holding = asked.top(reader.words(), reader.rows(), &within, 0.0);
            let mut marked = RowSet::new(reader.rows());
            for it in holding {
                marked.insert(it.row);
            }
            within = Selection::Only(marked);
        }
        let in_segment = reader.state.columns.newest(&within, limit).into_iter();
        seen.extend(in_segment.filter_map(|(at, row)| Some((at, reader.ids().of(row)?))));
    }
    seen.sort_unstable_by(|a, b| b.cmp(a));
    seen.truncate(limit);
    seen.into_iter().map(|(_, id)| id).collect()
}

fn select_accepted(
    reader: &SegmentReader<'_>,
    within: &Selection,
    accepts: Accepts<'_>,
) -> Selection {
    let mut marked = RowSet::new(reader.rows());
    for row in within.rows(reader.rows()) {
        if reader.ids().of(row).is_some_and(accepts) {
            marked.insert(row);
        }
    }
    Selection::Only(marked)
}

fn report(
    reader: &SegmentReader<'_>,
    selected: usize,
    action: SegmentAction,
    found: usize,
) -> SegmentReport {
    let ids = reader.ids();
    SegmentReport {
        segment: reader.segment,
        records: ids.first().zip(ids.last()),
        span: reader.state.columns.span(),
        rows: reader.rows(),
        selected,
        action,
        candidates: (found, 0),
    }
}

fn hit(reader: &SegmentReader<'_>, row: Row, cosine: f32, lexical: f32) -> Option<Hit> {
    let dense = fuse::dense(cosine);
    Some(Hit { id: reader.ids().of(row)?, score: fuse::fuse(dense, lexical), dense, lexical })
}

/// Best first, equal ones by ascending id.
fn by_score(a: &Hit, b: &Hit) -> Ordering {
    b.score.total_cmp(&a.score).then(a.id.cmp(&b.id))
}

/// Keeps the top `n`, unordered; returns the lowest score of them, where there are so
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

/// Lowest score of the top `n`, once there are so many.
fn least_of(best: &[RowCandidate], n: usize) -> Option<f32> {
    let least = || best.iter().map(|it| it.score).reduce(f32::min);
    (best.len() == n).then(least).flatten()
}

/// Top `n` candidates over all segments.
fn best_of(mut found: Vec<RowCandidate>, n: usize) -> Vec<RowCandidate> {
    let order = |a: &RowCandidate, b: &RowCandidate| {
        b.score.total_cmp(&a.score).then((a.segment, a.row).cmp(&(b.segment, b.row)))
    };
    if n < found.len() {
        found.select_nth_unstable_by(n, order);
        found.truncate(n);
    }
    found
}

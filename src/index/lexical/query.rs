//! BM25 scores, and the top k by the pruning of MaxScore (Turtle & Flood 1995) with an
//! upper bound for each term and window, as block-max indexes have them (Ding & Suel
//! 2011).
//!
//! A window whose bounds cannot reach the top k is skipped. In the others only rows are
//! scored whose terms' bounds together can reach it, found by set operations on bit sets
//! of the window's rows.

use std::collections::BTreeSet;

use crate::index::Row;
use crate::index::lexical::window_postings::{Bits, WindowPostings};
use crate::index::lexical::{Impact, Postings, TermId, WINDOW_ROWS};
use crate::index::selection::Selection;
use crate::index::terms::{TERMS_MAX, terms};
use crate::index::top_k::{Scored, TopK};

/// BM25 `k1`: term-frequency saturation; the usual value.
const K1: f32 = 1.2;
/// BM25 `b`: length normalisation; the usual value.
const B: f32 = 0.75;

/// Query terms with their weights over all parts of an index, valid for that snapshot.
#[derive(Debug)]
pub struct Bm25Query {
    /// Highest IDF first: scores are summed in this order everywhere, so that a row has
    /// one score.
    terms: Vec<QueryTerm>,
    saturation: Saturation,
    /// Upper bound of the sum in this index.
    bound: f32,
    /// Share of the query's terms that some row holds.
    known_share: f32,
}

#[derive(Debug)]
struct QueryTerm {
    text: String,
    /// Inverse document frequency.
    idf: f32,
}

impl Bm25Query {
    /// Scores are divided by the sum of the terms' upper bounds in this index, so that
    /// they are in 0..=1 and those of different queries compare. Terms that no row holds
    /// are left out.
    pub fn new(query: &str, parts: &[&dyn Postings]) -> Self {
        let distinct: BTreeSet<String> = terms(query).into_iter().collect();
        let rows: usize = parts.iter().map(|part| part.rows()).sum();
        let length: u64 = parts.iter().map(|part| part.length()).sum();
        let mut found = Self {
            terms: Vec::new(),
            saturation: Saturation::new(length as f32 / rows.max(1) as f32),
            bound: 0.0,
            known_share: 0.0,
        };
        let asked = distinct.len().max(1) as f32;
        for text in distinct {
            let held: Vec<(&dyn Postings, TermId)> =
                parts.iter().filter_map(|part| Some((*part, part.find(&text)?))).collect();
            let document_frequency: usize =
                held.iter().map(|(part, term)| part.document_frequency(*term)).sum();
            if document_frequency == 0 {
                continue;
            }
            let idf = idf(rows, document_frequency);
            let impacts = held.iter().flat_map(|(part, term)| part.impacts(*term));
            let best = impacts.map(|impact| found.saturation.share(*impact)).fold(0.0, f32::max);
            found.bound += idf * best;
            found.terms.push(QueryTerm { text, idf });
        }
        found.terms.sort_by(|a, b| b.idf.total_cmp(&a.idf));
        found.known_share = found.terms.len() as f32 / asked;
        found
    }

    /// Share of the query's terms that some row holds, in 0..=1.
    pub fn known_share(&self) -> f32 {
        self.known_share
    }

    /// Whether no row holds any term.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Score of a row of a part, in 0..=1; 0 where it holds no term.
    pub fn score(&self, part: &dyn Postings, row: Row) -> f32 {
        self.within(part).score(row)
    }

    /// [`Bm25Query::score`] of several rows of a part.
    pub fn scores(&self, part: &dyn Postings, rows: &[Row]) -> Vec<f32> {
        let search = self.within(part);
        rows.iter().map(|row| search.score(*row)).collect()
    }

    /// Top `n` selected rows of a part that hold a term and score above `floor`, best
    /// first.
    pub fn top(
        &self,
        part: &dyn Postings,
        n: usize,
        within: &Selection,
        floor: f32,
    ) -> Vec<Scored> {
        let mut top = TopK::new(n);
        let search = self.within(part);
        if n > 0 {
            search.run(within, floor, &mut top);
        }
        top.into_sorted()
    }

    fn within<'a>(&'a self, part: &'a dyn Postings) -> PostingsSearch<'a> {
        let found =
            self.terms.iter().filter_map(|asked| Some((part.find(&asked.text)?, asked.idf)));
        PostingsSearch {
            part,
            saturation: &self.saturation,
            terms: found.collect(),
            scale: self.scale(),
        }
    }

    fn scale(&self) -> f32 {
        if self.bound > 0.0 { 1.0 / self.bound } else { 0.0 }
    }
}

/// Inverse document frequency of a term that `document_frequency` of `rows` rows hold.
pub(super) fn idf(rows: usize, document_frequency: usize) -> f32 {
    let (all, document_frequency) = (rows as f32, document_frequency as f32);
    (1.0 + (all - document_frequency + 0.5) / (document_frequency + 0.5)).ln()
}

/// What a term gives by how often it is there and how long the text is, for one
/// mean length.
#[derive(Debug)]
pub(super) struct Saturation {
    /// By length.
    norms: Vec<f32>,
    /// Value at a frequency of 1, by length.
    singles: Vec<f32>,
}

impl Saturation {
    fn new(mean_length: f32) -> Self {
        Self::with_normalization(mean_length, B)
    }

    /// With another weight `b` of length normalisation.
    pub(super) fn with_normalization(mean_length: f32, b: f32) -> Self {
        let mean_length = if mean_length > 0.0 { mean_length } else { 1.0 };
        let lengths = 0..=u16::try_from(TERMS_MAX).unwrap_or(u16::MAX);
        let norms: Vec<f32> =
            lengths.map(|length| K1 * (1.0 - b + b * f32::from(length) / mean_length)).collect();
        let singles = norms.iter().map(|norm| (K1 + 1.0) / (1.0 + norm)).collect();
        Self { norms, singles }
    }

    pub(super) fn share(&self, impact: Impact) -> f32 {
        let frequency = f32::from(impact.frequency);
        frequency * (K1 + 1.0) / (frequency + self.norm(impact.length))
    }

    #[inline]
    fn norm(&self, length: u16) -> f32 {
        self.norms.get(usize::from(length)).copied().unwrap_or(f32::INFINITY)
    }

    #[inline]
    fn single(&self, length: u16) -> f32 {
        self.singles.get(usize::from(length)).copied().unwrap_or(0.0)
    }

    /// Value relative to that of a frequency of 1.
    #[inline]
    fn ratio(&self, impact: Impact) -> f32 {
        let (frequency, norm) = (f32::from(impact.frequency), self.norm(impact.length));
        frequency * (1.0 + norm) / (frequency + norm)
    }
}

/// Search of one part.
struct PostingsSearch<'a> {
    part: &'a dyn Postings,
    saturation: &'a Saturation,
    terms: Vec<(TermId, f32)>,
    scale: f32,
}

/// A term in one window.
#[derive(Debug)]
struct WindowTerm<'a> {
    postings: WindowPostings<'a>,
    idf: f32,
    /// Upper bound for a row that holds it once.
    once: f32,
    /// Upper bound for any row.
    most: f32,
}

/// Rows of a window that may be in the top k.
#[derive(Debug, Default)]
struct WindowCandidates {
    /// By term, rows that hold it.
    of_term: Vec<Bits>,
    /// Rows that hold some term more than once.
    repeated: Bits,
    all: Bits,
}

/// Bounds are summed otherwise than scores, and may come out lower by their rounding.
const ROUNDING: f32 = 1e-5;

impl<'a> PostingsSearch<'a> {
    fn score(&self, row: Row) -> f32 {
        let (window, at) = (row.at() / WINDOW_ROWS, row.at() % WINDOW_ROWS);
        let at = u16::try_from(at).unwrap_or(u16::MAX);
        let length = self.part.length_of(row);
        let mut sum = 0.0;
        for (term, idf) in &self.terms {
            let frequency = self.part.postings_in(*term, window).map_or(0, |it| it.frequency(at));
            sum += self.worth(*idf, Impact { frequency, length });
        }
        self.finish(sum, length)
    }

    /// Score of a term, in units of a frequency of 1.
    #[inline]
    fn worth(&self, idf: f32, impact: Impact) -> f32 {
        match impact.frequency {
            0 => 0.0,
            1 => idf,
            _ => idf * self.saturation.ratio(impact),
        }
    }

    /// Score of a sum in units of a frequency of 1.
    #[inline]
    fn finish(&self, sum: f32, length: u16) -> f32 {
        (sum * self.saturation.single(length) * self.scale).min(1.0)
    }

    fn run(&self, within: &Selection, floor: f32, top: &mut TopK) {
        let mut held = Vec::with_capacity(self.terms.len());
        let mut candidates = WindowCandidates::default();
        for at in 0..self.part.rows().div_ceil(WINDOW_ROWS) {
            let Some(selected) = Selected::new(within, at) else { continue };
            self.hold(at, &mut held);
            if !candidates.find(&held, top.bar().max(floor)) {
                continue;
            }
            for (word, bits) in candidates.all.words().enumerate() {
                let mut left = bits & selected.word(word);
                while left != 0 {
                    let place = word * 64 + left.trailing_zeros() as usize;
                    left &= left - 1;
                    self.offer((at, place), &held, &candidates, floor, top);
                }
            }
        }
    }

    /// Looks up the query terms in a window.
    fn hold(&self, window: usize, held: &mut Vec<WindowTerm<'a>>) {
        held.clear();
        held.extend(self.terms.iter().filter_map(|(term, idf)| {
            let bound = self.part.bound(*term, window)?;
            let most = |impact| idf * self.saturation.share(impact) * self.scale;
            Some(WindowTerm {
                postings: self.part.postings_in(*term, window)?,
                idf: *idf,
                once: most(Impact { frequency: 1, ..bound }),
                most: most(bound),
            })
        }));
    }

    /// Scores a row of a window and offers it above the floor.
    #[inline]
    fn offer(
        &self,
        (window, place): (usize, usize),
        held: &[WindowTerm<'_>],
        candidates: &WindowCandidates,
        floor: f32,
        top: &mut TopK,
    ) {
        let Ok(row) = u32::try_from(window * WINDOW_ROWS + place).map(Row) else { return };
        let Ok(at) = u16::try_from(place) else { return };
        let length = self.part.length_of(row);
        let holds_repeated = candidates.repeated.has(place);
        let mut sum = 0.0;
        for (it, bits) in held.iter().zip(&candidates.of_term) {
            if bits.has(place) {
                let frequency = if holds_repeated { it.postings.frequency(at) } else { 1 };
                sum += self.worth(it.idf, Impact { frequency, length });
            }
        }
        let score = self.finish(sum, length);
        if score > floor {
            top.offer(row, score);
        }
    }
}

impl WindowCandidates {
    /// Finds the rows that may score above `bar`; `false` where there are none.
    ///
    /// Rows come in ascending order and the earlier of equals is kept: a row that only
    /// reaches the bar is not.
    fn find(&mut self, held: &[WindowTerm<'_>], bar: f32) -> bool {
        let all: f32 = held.iter().map(|it| it.most).sum();
        if held.is_empty() || all + ROUNDING <= bar {
            return false;
        }
        self.of_term.clear();
        self.of_term.extend(held.iter().map(|it| it.postings.bits()));
        self.repeated = Bits::default();
        for it in held {
            it.postings.mark_repeated(&mut self.repeated);
        }
        // Few rows hold a term twice; all others have a lower bound.
        self.all = self.above(bar, held, |it| it.once);
        self.all.without(&self.repeated);
        let mut repeated = self.above(bar, held, |it| it.most);
        repeated.and(&self.repeated);
        self.all.or(&repeated);
        true
    }

    /// Rows that may score above `bar`, where no term gives more than its `bound`.
    fn above(
        &self,
        bar: f32,
        held: &[WindowTerm<'_>],
        bound: impl Fn(&WindowTerm<'_>) -> f32,
    ) -> Bits {
        let bounds = held.iter().map(bound);
        let mut terms: Vec<TermBound<'_>> = bounds
            .zip(&self.of_term)
            .map(|(bound, rows)| TermBound { bound, rest: 0.0, rows })
            .collect();
        terms.sort_by(|a, b| b.bound.total_cmp(&a.bound));
        let mut rest = 0.0;
        for term in terms.iter_mut().rev() {
            rest += term.bound;
            term.rest = rest;
        }
        let mut found = Bits::default();
        split(&terms, SPLIT_TERMS_MAX, &Bits::all(), 0.0, bar, &mut found);
        found
    }
}

/// Upper bound of a term in a window.
struct TermBound<'a> {
    bound: f32,
    /// Sum of the bounds of this term and all after it.
    rest: f32,
    rows: &'a Bits,
}

/// Terms by which rows are split, at most; all further ones may be in any row.
const SPLIT_TERMS_MAX: usize = 8;

/// Adds to `found` those of `rows`, whose bound is `sum` so far, that may score above
/// `bar` by the terms that are left.
fn split(
    terms: &[TermBound<'_>],
    splits: usize,
    rows: &Bits,
    sum: f32,
    bar: f32,
    found: &mut Bits,
) {
    if sum + ROUNDING > bar && sum > 0.0 {
        found.or(rows);
        return;
    }
    let Some((term, others)) = terms.split_first() else { return };
    if sum + term.rest + ROUNDING <= bar {
        return;
    }
    let Some(splits) = splits.checked_sub(1) else {
        found.or(rows);
        return;
    };
    let mut with = rows.clone();
    with.and(term.rows);
    if !with.is_empty() {
        split(others, splits, &with, sum + term.bound, bar, found);
    }
    let mut without = rows.clone();
    without.without(term.rows);
    split(others, splits, &without, sum, bar, found);
}

/// The selected rows of one window.
struct Selected<'a> {
    within: &'a Selection,
    start: usize,
}

impl<'a> Selected<'a> {
    /// `None` where none is selected.
    fn new(within: &'a Selection, window: usize) -> Option<Self> {
        let start = window * WINDOW_ROWS;
        let it = Self { within, start };
        let is_any = match within {
            Selection::All => true,
            Selection::Run(first, end) => first.at() < start + WINDOW_ROWS && end.at() > start,
            Selection::Only(_) => (0..WINDOW_ROWS / 64).any(|word| it.word(word) != 0),
        };
        is_any.then_some(it)
    }

    /// A bit for each of 64 rows.
    fn word(&self, word: usize) -> u64 {
        let start = self.start + word * 64;
        match self.within {
            Selection::All => u64::MAX,
            Selection::Only(marked) => marked.word(start / 64),
            Selection::Run(first, end) => {
                let low = first.at().saturating_sub(start);
                let high = end.at().saturating_sub(start).min(64);
                if low >= high { 0 } else { (u64::MAX << low) & (u64::MAX >> (64 - high)) }
            }
        }
    }
}

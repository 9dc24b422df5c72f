//! Scores rows by BM25, and finds the best of them without a look at all.
//!
//! A part's rows are gone through in windows. Of each window the greatest score
//! that its terms allow is known; one that cannot be among the best is passed
//! over, and in the others the terms that alone could not lift a row to the best
//! are looked up only for rows that another term brought up (known as `MaxScore`).

use std::collections::BTreeSet;

use crate::index::Row;
use crate::index::lexical::{Term, WINDOW_ROWS, Weight, Words};
use crate::index::selection::Selection;
use crate::index::terms::{TERMS_MAX, terms};
use crate::index::top::{Scored, Top};

/// How soon a word's repetition stops to count, as is usual.
const K1: f32 = 1.2;
/// How much a long text is held against it, as is usual.
const B: f32 = 0.75;

/// A query's words, weighed by all parts of an index. Good as long as they are
/// as they were.
#[derive(Debug)]
pub struct WordQuery {
    terms: Vec<Asked>,
    curve: Curve,
    /// The most that the terms give in this index.
    bound: f32,
}

#[derive(Debug)]
struct Asked {
    text: String,
    /// Greater for a term that fewer rows hold.
    rarity: f32,
}

impl WordQuery {
    /// Scores are divided by the sum of each term's best in this index, so that
    /// they are in 0..=1 and those of different queries compare. Terms that no
    /// row holds tell nothing apart and are left out.
    pub fn new(query: &str, parts: &[&dyn Words]) -> Self {
        let distinct: BTreeSet<String> = terms(query).into_iter().collect();
        let rows: usize = parts.iter().map(|part| part.rows()).sum();
        let length: u64 = parts.iter().map(|part| part.length()).sum();
        let mut found = Self {
            terms: Vec::new(),
            curve: Curve::new(length as f32 / rows.max(1) as f32),
            bound: 0.0,
        };
        for text in distinct {
            let held: Vec<(&dyn Words, Term)> =
                parts.iter().filter_map(|part| Some((*part, part.find(&text)?))).collect();
            let holding: usize = held.iter().map(|(part, term)| part.holding(*term)).sum();
            if holding == 0 {
                continue;
            }
            let (all, holding) = (rows as f32, holding as f32);
            let rarity = (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln();
            let peaks = held.iter().flat_map(|(part, term)| part.peaks(*term));
            let best = peaks.map(|peak| found.curve.share(*peak)).fold(0.0, f32::max);
            found.bound += rarity * best;
            found.terms.push(Asked { text, rarity });
        }
        found
    }

    /// Whether no row can answer.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// How well a row of a part answers, in 0..=1; 0 where it holds no term.
    pub fn score(&self, part: &dyn Words, row: Row) -> f32 {
        self.within(part).score(row)
    }

    /// [`WordQuery::score`] of several rows of a part.
    pub fn scores(&self, part: &dyn Words, rows: &[Row]) -> Vec<f32> {
        let search = self.within(part);
        rows.iter().map(|row| search.score(*row)).collect()
    }

    /// The best `n` selected rows of a part that hold a term and score more than
    /// `floor`, best first.
    pub fn top(&self, part: &dyn Words, n: usize, within: &Selection, floor: f32) -> Vec<Scored> {
        let mut top = Top::new(n);
        let search = self.within(part);
        if n > 0 {
            search.run(within, floor, &mut top);
        }
        // Summed in one order whatever was passed over, so that a row has one score.
        let mut found = top.into_sorted();
        for scored in &mut found {
            scored.score = search.score(scored.row);
        }
        found.retain(|scored| scored.score > floor);
        found.sort_unstable_by(|a, b| b.cmp(a));
        found
    }

    fn within<'a>(&'a self, part: &'a dyn Words) -> PartSearch<'a> {
        let found =
            self.terms.iter().filter_map(|asked| Some((part.find(&asked.text)?, asked.rarity)));
        PartSearch { part, curve: &self.curve, terms: found.collect(), scale: self.scale() }
    }

    fn scale(&self) -> f32 {
        if self.bound > 0.0 { 1.0 / self.bound } else { 0.0 }
    }
}

/// What a term gives by how often it is there and how long the text is, for one
/// mean length.
#[derive(Debug)]
struct Curve {
    /// By length.
    norms: Vec<f32>,
    /// What a single occurrence gives, by length.
    singles: Vec<f32>,
}

impl Curve {
    fn new(mean_length: f32) -> Self {
        let mean_length = if mean_length > 0.0 { mean_length } else { 1.0 };
        let lengths = 0..=u16::try_from(TERMS_MAX).unwrap_or(u16::MAX);
        let norms: Vec<f32> =
            lengths.map(|length| K1 * (1.0 - B + B * f32::from(length) / mean_length)).collect();
        let singles = norms.iter().map(|norm| (K1 + 1.0) / (1.0 + norm)).collect();
        Self { norms, singles }
    }

    fn share(&self, weight: Weight) -> f32 {
        let times = f32::from(weight.times);
        times * (K1 + 1.0) / (times + self.norm(weight.length))
    }

    #[inline]
    fn norm(&self, length: u16) -> f32 {
        self.norms.get(usize::from(length)).copied().unwrap_or(f32::INFINITY)
    }

    #[inline]
    fn single(&self, length: u16) -> f32 {
        self.singles.get(usize::from(length)).copied().unwrap_or(0.0)
    }

    /// How many times a single occurrence's share a repeated one's is.
    #[inline]
    fn ratio(&self, weight: Weight) -> f32 {
        let (times, norm) = (f32::from(weight.times), self.norm(weight.length));
        times * (1.0 + norm) / (times + norm)
    }
}

/// The search of one part.
struct PartSearch<'a> {
    part: &'a dyn Words,
    curve: &'a Curve,
    terms: Vec<(Term, f32)>,
    scale: f32,
}

impl PartSearch<'_> {
    fn score(&self, row: Row) -> f32 {
        let length = self.part.length_of(row);
        let mut sum = 0.0;
        for (term, rarity) in &self.terms {
            let times = self.part.times(*term, row);
            if times > 0 {
                sum += rarity * self.curve.ratio(Weight { times, length });
            }
        }
        self.finished(sum, length)
    }

    /// The score of a sum in shares of a single occurrence.
    #[inline]
    fn finished(&self, sum: f32, length: u16) -> f32 {
        (sum * self.curve.single(length) * self.scale).min(1.0)
    }

    fn run(&self, within: &Selection, floor: f32, top: &mut Top) {
        let mut sums = Box::new([0.0; WINDOW_ROWS]);
        let mut bounds: Vec<(f32, Term, f32)> = Vec::with_capacity(self.terms.len());
        for at in 0..self.part.rows().div_ceil(WINDOW_ROWS) {
            let Some(selected) = Selected::new(within, at) else { continue };
            bounds.clear();
            bounds.extend(self.terms.iter().filter_map(|(term, rarity)| {
                let bound = self.curve.share(self.part.bound(*term, at)?);
                Some((rarity * bound * self.scale, *term, *rarity))
            }));
            bounds.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            let bar = top.bar().max(floor);
            // Rows come in ascending order and the earlier of equals is kept: what
            // only reaches the bar is not.
            let mut allowed = 0.0;
            let optional = bounds.partition_point(|(bound, ..)| {
                allowed += bound;
                allowed <= bar
            });
            let (optional, needed) = bounds.split_at(optional);
            if needed.is_empty() {
                continue;
            }
            let mut window = Window::new(self.part, self.curve, at, &mut sums);
            for (_, term, rarity) in needed {
                self.part.add(*term, at, *rarity, &mut window);
            }
            self.collect(&window, &selected, optional, floor, top);
            window.clear();
        }
    }

    fn collect(
        &self,
        window: &Window<'_>,
        selected: &Selected<'_>,
        optional: &[(f32, Term, f32)],
        floor: f32,
        top: &mut Top,
    ) {
        let more: f32 = optional.iter().map(|(bound, ..)| bound).sum();
        for (word, touched) in window.touched.iter().enumerate() {
            let mut left = touched & selected.word(word);
            while left != 0 {
                let at = word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let row = window.row(at);
                let length = self.part.length_of(row);
                let mut sum = window.sums.get(at).copied().unwrap_or(0.0);
                let bar = top.bar().max(floor);
                if self.finished(sum, length) + more <= bar {
                    continue;
                }
                for (_, term, rarity) in optional {
                    let times = self.part.times(*term, row);
                    if times > 0 {
                        sum += rarity * self.curve.ratio(Weight { times, length });
                    }
                }
                let score = self.finished(sum, length);
                if score > floor {
                    top.offer(row, score);
                }
            }
        }
    }
}

/// The rows of one window and what their terms gave so far.
#[derive(Debug)]
pub struct Window<'a> {
    curve: &'a Curve,
    part: &'a dyn Words,
    /// Row of the window's start.
    start: u32,
    sums: &'a mut [f32; WINDOW_ROWS],
    /// A bit for each row that a term touched.
    touched: [u64; WINDOW_ROWS / 64],
}

impl<'a> Window<'a> {
    fn new(
        part: &'a dyn Words,
        curve: &'a Curve,
        at: usize,
        sums: &'a mut [f32; WINDOW_ROWS],
    ) -> Self {
        let start = u32::try_from(at * WINDOW_ROWS).unwrap_or(u32::MAX);
        Self { curve, part, start, sums, touched: [0; WINDOW_ROWS / 64] }
    }

    /// A row, by its place in the window, holds a term once.
    #[inline]
    pub(super) fn once(&mut self, at: usize, worth: f32) {
        if let (Some(sum), Some(word)) = (self.sums.get_mut(at), self.touched.get_mut(at / 64)) {
            *sum += worth;
            *word |= 1 << (at % 64);
        }
    }

    /// After [`Window::once`]: no, it holds it that often.
    pub(super) fn often(&mut self, at: usize, times: u16, worth: f32) {
        let length = self.part.length_of(self.row(at));
        let more = self.curve.ratio(Weight { times, length }) - 1.0;
        if let Some(sum) = self.sums.get_mut(at) {
            *sum += worth * more;
        }
    }

    fn row(&self, at: usize) -> Row {
        Row(self.start + u32::try_from(at).unwrap_or(0))
    }

    fn clear(&mut self) {
        self.sums.fill(0.0);
    }
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

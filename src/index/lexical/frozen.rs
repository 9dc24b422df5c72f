//! The words of a sealed segment, compact.

use roaring::RoaringBitmap;

use crate::index::Row;
use crate::index::lexical::chunk::Chunk;
use crate::index::lexical::growing::GrowingWords;
use crate::index::lexical::holders::Holders;
use crate::index::lexical::{Term, WINDOW_ROWS, Weight, Words};

/// Words of rows that do not change.
#[derive(Debug, Default, Clone)]
pub struct FrozenWords {
    /// All terms, ascending, one after the other.
    pub(super) texts: String,
    /// By term.
    pub(super) ends: Vec<Ends>,
    pub(super) peaks: Vec<Weight>,
    pub(super) chunks: Vec<Chunk>,
    pub(super) data: Vec<u16>,
    /// By row.
    pub(super) lengths: Vec<u16>,
    pub(super) length: u64,
}

/// Where a term's entries end; they start where the one's before end.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Ends {
    pub(super) text: u32,
    pub(super) peaks: u32,
    pub(super) chunks: u32,
    /// Rows that hold the term.
    pub(super) holding: u32,
}

impl FrozenWords {
    /// The words of all rows pushed so far.
    pub fn freeze(growing: &GrowingWords) -> Self {
        let mut builder = Builder::new(growing.lengths().to_vec());
        for (text, postings) in growing.sorted() {
            builder.push(text, postings.rows.iter().copied());
        }
        builder.0
    }

    /// The rows of all parts, one part after the other, but for those that each
    /// part's bitmap names.
    pub fn merge(parts: &[(&Self, &RoaringBitmap)]) -> Self {
        let mut lengths = Vec::new();
        let mut kept: Vec<Vec<Option<Row>>> = Vec::with_capacity(parts.len());
        for (part, gone) in parts {
            let rows = (0..).zip(&part.lengths).map(|(row, length)| {
                let next = Row(u32::try_from(lengths.len()).unwrap_or(u32::MAX));
                let is_kept = !gone.contains(row);
                if is_kept {
                    lengths.push(*length);
                }
                is_kept.then_some(next)
            });
            kept.push(rows.collect());
        }
        let mut texts: Vec<&str> = parts.iter().flat_map(|(part, _)| part.texts()).collect();
        texts.sort_unstable();
        texts.dedup();
        let mut builder = Builder::new(lengths);
        let mut rows = Vec::new();
        for text in texts {
            rows.clear();
            for ((part, _), kept) in parts.iter().zip(&kept) {
                let Some(term) = part.find(text) else { continue };
                part.each(term, |row, times| {
                    rows.extend(kept.get(row.at()).copied().flatten().map(|row| (row, times)));
                });
            }
            if !rows.is_empty() {
                builder.push(text, rows.iter().copied());
            }
        }
        builder.0
    }

    /// Distinct terms.
    pub fn terms(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.texts.capacity()
            + self.ends.capacity() * size_of::<Ends>()
            + self.peaks.capacity() * size_of::<Weight>()
            + self.chunks.capacity() * size_of::<Chunk>()
            + (self.data.capacity() + self.lengths.capacity()) * 2
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).filter_map(|term| self.text(term))
    }

    /// Visits the rows that hold a term, ascending, with how often they do.
    fn each(&self, term: Term, mut visit: impl FnMut(Row, u16)) {
        for chunk in self.chunks_of(term) {
            let Some(rows) = chunk.open(&self.data) else { continue };
            let start = chunk.window as usize * WINDOW_ROWS;
            let mut often = rows.often().iter().peekable();
            rows.each(|at| {
                let found = often.next_if(|[place, _]| usize::from(*place) == at);
                let row = Row(u32::try_from(start + at).unwrap_or(u32::MAX));
                visit(row, found.map_or(1, |[_, times]| *times));
            });
        }
    }

    fn text(&self, term: usize) -> Option<&str> {
        let start = self.before(term).text;
        self.texts.get(start as usize..self.ends.get(term)?.text as usize)
    }

    fn chunks_of(&self, term: Term) -> &[Chunk] {
        let at = term.0 as usize;
        let start = self.before(at).chunks as usize;
        let end = self.ends.get(at).map_or(0, |ends| ends.chunks as usize);
        self.chunks.get(start..end).unwrap_or_default()
    }

    fn chunk(&self, term: Term, window: usize) -> Option<&Chunk> {
        let chunks = self.chunks_of(term);
        // A common term has a chunk in every window.
        let at_place = chunks.get(window).filter(|chunk| chunk.window as usize == window);
        at_place.or_else(|| {
            let found = chunks.binary_search_by_key(&window, |chunk| chunk.window as usize);
            chunks.get(found.ok()?)
        })
    }

    fn before(&self, term: usize) -> Ends {
        term.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default()
    }
}

impl Words for FrozenWords {
    fn rows(&self) -> usize {
        self.lengths.len()
    }

    fn length(&self) -> u64 {
        self.length
    }

    #[inline]
    fn length_of(&self, row: Row) -> u16 {
        self.lengths.get(row.at()).copied().unwrap_or(0)
    }

    fn find(&self, term: &str) -> Option<Term> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.text(middle)?.cmp(term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return u32::try_from(middle).ok().map(Term),
            }
        }
        None
    }

    fn holding(&self, term: Term) -> usize {
        self.ends.get(term.0 as usize).map_or(0, |ends| ends.holding as usize)
    }

    fn peaks(&self, term: Term) -> &[Weight] {
        let at = term.0 as usize;
        let start = self.before(at).peaks as usize;
        let end = self.ends.get(at).map_or(0, |ends| ends.peaks as usize);
        self.peaks.get(start..end).unwrap_or_default()
    }

    fn bound(&self, term: Term, window: usize) -> Option<Weight> {
        Some(self.chunk(term, window)?.bound)
    }

    fn holders(&self, term: Term, window: usize) -> Option<Holders<'_>> {
        Some(Holders::Packed(self.chunk(term, window)?.open(&self.data)?))
    }
}

/// Takes terms in ascending order.
struct Builder(FrozenWords);

impl Builder {
    fn new(lengths: Vec<u16>) -> Self {
        let length = lengths.iter().map(|length| u64::from(*length)).sum();
        Self(FrozenWords { lengths, length, ..FrozenWords::default() })
    }

    /// Rows come ascending.
    fn push(&mut self, text: &str, rows: impl Iterator<Item = (Row, u16)>) {
        let words = &mut self.0;
        let mut peaks = Vec::new();
        let mut chunk: Vec<(u16, Weight)> = Vec::new();
        let (mut open, mut holding) = (0, 0);
        for (row, times) in rows {
            let length = words.lengths.get(row.at()).copied().unwrap_or(0);
            let weight = Weight { times, length };
            let window = u32::try_from(row.at() / WINDOW_ROWS).unwrap_or(u32::MAX);
            if window != open {
                words.chunks.extend(Chunk::write(open, &chunk, &mut words.data));
                chunk.clear();
                open = window;
            }
            chunk.push((u16::try_from(row.at() % WINDOW_ROWS).unwrap_or(0), weight));
            weight.join(&mut peaks);
            holding += 1;
        }
        words.chunks.extend(Chunk::write(open, &chunk, &mut words.data));
        words.peaks.append(&mut peaks);
        words.texts.push_str(text);
        let end = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        words.ends.push(Ends {
            text: end(words.texts.len()),
            peaks: end(words.peaks.len()),
            chunks: end(words.chunks.len()),
            holding,
        });
    }
}

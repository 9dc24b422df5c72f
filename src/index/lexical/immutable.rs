//! Immutable postings: those of a sealed segment, compact.

use roaring::RoaringBitmap;

use crate::index::Row;
use crate::index::lexical::mutable::MutablePostings;
use crate::index::lexical::posting_block::PostingBlock;
use crate::index::lexical::window_postings::WindowPostings;
use crate::index::lexical::{Impact, Postings, TermId, WINDOW_ROWS};

/// Postings of rows that do not change.
#[derive(Debug, Default, Clone)]
pub struct ImmutablePostings {
    /// All terms, ascending, one after the other.
    pub(super) texts: String,
    /// By term.
    pub(super) ends: Vec<Ends>,
    pub(super) impacts: Vec<Impact>,
    pub(super) blocks: Vec<PostingBlock>,
    pub(super) data: Vec<u16>,
    /// By row.
    pub(super) lengths: Vec<u16>,
    pub(super) length: u64,
}

/// Ends of a term's entries; they start at the ends of the term before.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Ends {
    pub(super) text: u32,
    pub(super) impacts: u32,
    pub(super) blocks: u32,
    /// Rows that hold the term.
    pub(super) document_frequency: u32,
}

impl ImmutablePostings {
    /// Freezes the postings of all rows pushed so far.
    pub fn freeze(growing: &MutablePostings) -> Self {
        let mut builder = Builder::new(growing.lengths().to_vec());
        for (text, postings) in growing.sort_terms() {
            builder.push(text, postings.rows.iter().copied());
        }
        builder.0
    }

    /// Merges parts, one after the other, without the deleted rows of each.
    pub fn merge(parts: &[(&Self, &RoaringBitmap)]) -> Self {
        let mut lengths = Vec::new();
        let mut kept: Vec<Vec<Option<Row>>> = Vec::with_capacity(parts.len());
        for (part, deleted) in parts {
            let rows = (0..).zip(&part.lengths).map(|(row, length)| {
                let next = Row(u32::try_from(lengths.len()).unwrap_or(u32::MAX));
                let is_kept = !deleted.contains(row);
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
                part.each(term, |row, frequency| {
                    rows.extend(kept.get(row.at()).copied().flatten().map(|row| (row, frequency)));
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
            + self.impacts.capacity() * size_of::<Impact>()
            + self.blocks.capacity() * size_of::<PostingBlock>()
            + (self.data.capacity() + self.lengths.capacity()) * 2
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).filter_map(|term| self.text(term))
    }

    /// Visits a term's postings, ascending: row and frequency.
    fn each(&self, term: TermId, mut visit: impl FnMut(Row, u16)) {
        for block in self.blocks_of(term) {
            let Some(rows) = block.open(&self.data) else { continue };
            let start = block.window as usize * WINDOW_ROWS;
            let mut repeated = rows.repeated().iter().peekable();
            rows.each(|at| {
                let found = repeated.next_if(|[place, _]| usize::from(*place) == at);
                let row = Row(u32::try_from(start + at).unwrap_or(u32::MAX));
                visit(row, found.map_or(1, |[_, frequency]| *frequency));
            });
        }
    }

    fn text(&self, term: usize) -> Option<&str> {
        let start = self.before(term).text;
        self.texts.get(start as usize..self.ends.get(term)?.text as usize)
    }

    fn blocks_of(&self, term: TermId) -> &[PostingBlock] {
        let at = term.0 as usize;
        let start = self.before(at).blocks as usize;
        let end = self.ends.get(at).map_or(0, |ends| ends.blocks as usize);
        self.blocks.get(start..end).unwrap_or_default()
    }

    fn block(&self, term: TermId, window: usize) -> Option<&PostingBlock> {
        let blocks = self.blocks_of(term);
        // A common term has a block in every window.
        let at_place = blocks.get(window).filter(|block| block.window as usize == window);
        at_place.or_else(|| {
            let found = blocks.binary_search_by_key(&window, |block| block.window as usize);
            blocks.get(found.ok()?)
        })
    }

    fn before(&self, term: usize) -> Ends {
        term.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default()
    }
}

impl Postings for ImmutablePostings {
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

    fn find(&self, term: &str) -> Option<TermId> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.text(middle)?.cmp(term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return u32::try_from(middle).ok().map(TermId),
            }
        }
        None
    }

    fn document_frequency(&self, term: TermId) -> usize {
        self.ends.get(term.0 as usize).map_or(0, |ends| ends.document_frequency as usize)
    }

    fn impacts(&self, term: TermId) -> &[Impact] {
        let at = term.0 as usize;
        let start = self.before(at).impacts as usize;
        let end = self.ends.get(at).map_or(0, |ends| ends.impacts as usize);
        self.impacts.get(start..end).unwrap_or_default()
    }

    fn bound(&self, term: TermId, window: usize) -> Option<Impact> {
        Some(self.block(term, window)?.bound)
    }

    fn postings_in(&self, term: TermId, window: usize) -> Option<WindowPostings<'_>> {
        Some(WindowPostings::Packed(self.block(term, window)?.open(&self.data)?))
    }
}

/// Takes terms in ascending order.
struct Builder(ImmutablePostings);

impl Builder {
    fn new(lengths: Vec<u16>) -> Self {
        let length = lengths.iter().map(|length| u64::from(*length)).sum();
        Self(ImmutablePostings { lengths, length, ..ImmutablePostings::default() })
    }

    /// Rows come ascending.
    fn push(&mut self, text: &str, rows: impl Iterator<Item = (Row, u16)>) {
        let words = &mut self.0;
        let mut impacts = Vec::new();
        let mut block: Vec<(u16, Impact)> = Vec::new();
        let (mut open, mut document_frequency) = (0, 0);
        for (row, frequency) in rows {
            let length = words.lengths.get(row.at()).copied().unwrap_or(0);
            let impact = Impact { frequency, length };
            let window = u32::try_from(row.at() / WINDOW_ROWS).unwrap_or(u32::MAX);
            if window != open {
                words.blocks.extend(PostingBlock::write(open, &block, &mut words.data));
                block.clear();
                open = window;
            }
            block.push((u16::try_from(row.at() % WINDOW_ROWS).unwrap_or(0), impact));
            impact.merge_into(&mut impacts);
            document_frequency += 1;
        }
        words.blocks.extend(PostingBlock::write(open, &block, &mut words.data));
        words.impacts.append(&mut impacts);
        words.texts.push_str(text);
        let end = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        words.ends.push(Ends {
            text: end(words.texts.len()),
            impacts: end(words.impacts.len()),
            blocks: end(words.blocks.len()),
            document_frequency,
        });
    }
}

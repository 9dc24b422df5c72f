//! Codec of immutable postings.

use crate::index::bytes::{BadBytes, BlobKind, ByteReader, ByteWriter};
use crate::index::lexical::immutable::{Ends, ImmutablePostings};
use crate::index::lexical::posting_block::PostingBlock;
use crate::index::lexical::{Impact, WINDOW_ROWS};
use crate::index::terms::TERMS_MAX;

const KIND: BlobKind = BlobKind { name: "a segment's words", tag: *b"EWRD", version: 2 };

impl ImmutablePostings {
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { texts, ends, impacts, blocks, data, lengths, length: _ } = self;
        let mut writer = ByteWriter::new(KIND);
        writer.text(texts);
        let ends =
            ends.iter().flat_map(|it| [it.text, it.impacts, it.blocks, it.document_frequency]);
        writer.many(&ends.collect::<Vec<u32>>());
        let impacts = impacts.iter().flat_map(|it| [it.frequency, it.length]);
        writer.many(&impacts.collect::<Vec<u16>>());
        let places = blocks.iter().flat_map(|it| [it.window, it.start]);
        writer.many(&places.collect::<Vec<u32>>());
        let sizes = blocks.iter();
        let sizes =
            sizes.flat_map(|it| [it.count, it.repeated, it.bound.frequency, it.bound.length]);
        writer.many(&sizes.collect::<Vec<u16>>());
        writer.many(data);
        writer.many(lengths);
        writer.finish()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadBytes> {
        let mut reader = ByteReader::new(KIND, bytes)?;
        let texts = reader.text()?.to_owned();
        let ends: Vec<u32> = reader.many()?;
        let impacts: Vec<u16> = reader.many()?;
        let places: Vec<u32> = reader.many()?;
        let sizes: Vec<u16> = reader.many()?;
        let data: Vec<u16> = reader.many()?;
        let lengths: Vec<u16> = reader.many()?;
        let (ends, a) = ends.as_chunks();
        let (impacts, b) = impacts.as_chunks();
        let (places, c) = places.as_chunks();
        let (sizes, d) = sizes.as_chunks();
        let is_whole = a.is_empty() && b.is_empty() && c.is_empty() && d.is_empty();
        reader.ensure(is_whole && places.len() == sizes.len(), "its tables are not whole")?;
        let ends = ends.iter().map(|[text, impacts, blocks, document_frequency]| Ends {
            text: *text,
            impacts: *impacts,
            blocks: *blocks,
            document_frequency: *document_frequency,
        });
        let blocks = places.iter().zip(sizes).map(|([window, start], size)| {
            let [count, repeated, frequency, length] = *size;
            let (window, start) = (*window, *start);
            PostingBlock { window, start, count, repeated, bound: Impact { frequency, length } }
        });
        let impacts = impacts
            .iter()
            .map(|[frequency, length]| Impact { frequency: *frequency, length: *length });
        let words = Self {
            texts,
            ends: ends.collect(),
            impacts: impacts.collect(),
            blocks: blocks.collect(),
            data,
            length: lengths.iter().map(|length| u64::from(*length)).sum(),
            lengths,
        };
        words.check().map_err(|reason| reader.content(reason))?;
        reader.finish()?;
        Ok(words)
    }

    /// Checks the invariants that a search relies on.
    fn check(&self) -> Result<(), &'static str> {
        let of = |impact: &Impact| {
            impact.frequency > 0
                && impact.frequency <= impact.length
                && usize::from(impact.length) <= TERMS_MAX
        };
        let is_short = |length: &u16| usize::from(*length) <= TERMS_MAX;
        if !self.lengths.iter().all(is_short) || !self.impacts.iter().all(of) {
            return Err("a text is too long");
        }
        let last = self.ends.last().copied().unwrap_or_default();
        let sizes = [last.text as usize, last.impacts as usize, last.blocks as usize];
        if sizes != [self.texts.len(), self.impacts.len(), self.blocks.len()] {
            return Err("its terms do not end where its tables do");
        }
        let ascend = |of: fn(&Ends) -> u32| self.ends.is_sorted_by_key(of);
        if !(ascend(|it| it.text) && ascend(|it| it.impacts) && ascend(|it| it.blocks)) {
            return Err("its terms overlap");
        }
        let texts: Vec<&str> = self.texts().collect();
        if texts.len() != self.ends.len() || !texts.is_sorted_by(|a, b| a < b) {
            return Err("its terms are out of order");
        }
        let mut next = 0;
        let mut start = 0;
        for ends in &self.ends {
            let blocks = self.blocks.get(start..ends.blocks as usize).unwrap_or_default();
            start = ends.blocks as usize;
            if !blocks.is_sorted_by(|a, b| a.window < b.window) {
                return Err("a term's rows are out of order");
            }
            if blocks.iter().map(|it| u64::from(it.count)).sum::<u64>()
                != u64::from(ends.document_frequency)
            {
                return Err("a term's rows are miscounted");
            }
            for block in blocks {
                let first = block.window as usize * WINDOW_ROWS;
                let lengths = self.lengths.get(first..).unwrap_or_default();
                let lengths = lengths.get(..WINDOW_ROWS).unwrap_or(lengths);
                let open = block.open(&self.data).filter(|_| block.start as usize == next);
                if !open.is_some_and(|it| it.is_sound(*block, lengths)) {
                    return Err("a term's rows make no sense");
                }
                next += block.units();
            }
        }
        if next == self.data.len() { Ok(()) } else { Err("data are left over") }
    }
}

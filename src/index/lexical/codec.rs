//! The words of a segment as bytes.

use crate::index::bytes::{BadBytes, Kind, Reader, Writer};
use crate::index::lexical::chunk::Chunk;
use crate::index::lexical::frozen::{Ends, FrozenWords};
use crate::index::lexical::{WINDOW_ROWS, Weight};
use crate::index::terms::TERMS_MAX;

const KIND: Kind = Kind { name: "a segment's words", tag: *b"EWRD", version: 1 };

impl FrozenWords {
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { texts, ends, peaks, chunks, data, lengths, length: _ } = self;
        let mut writer = Writer::new(KIND);
        writer.text(texts);
        let ends = ends.iter().flat_map(|it| [it.text, it.peaks, it.chunks, it.holding]);
        writer.many(&ends.collect::<Vec<u32>>());
        let peaks = peaks.iter().flat_map(|it| [it.times, it.length]);
        writer.many(&peaks.collect::<Vec<u16>>());
        let places = chunks.iter().flat_map(|it| [it.window, it.start]);
        writer.many(&places.collect::<Vec<u32>>());
        let sizes = chunks.iter();
        let sizes = sizes.flat_map(|it| [it.count, it.often, it.bound.times, it.bound.length]);
        writer.many(&sizes.collect::<Vec<u16>>());
        writer.many(data);
        writer.many(lengths);
        writer.finish()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadBytes> {
        let mut reader = Reader::new(KIND, bytes)?;
        let texts = reader.text()?.to_owned();
        let ends: Vec<u32> = reader.many()?;
        let peaks: Vec<u16> = reader.many()?;
        let places: Vec<u32> = reader.many()?;
        let sizes: Vec<u16> = reader.many()?;
        let data: Vec<u16> = reader.many()?;
        let lengths: Vec<u16> = reader.many()?;
        let (ends, a) = ends.as_chunks();
        let (peaks, b) = peaks.as_chunks();
        let (places, c) = places.as_chunks();
        let (sizes, d) = sizes.as_chunks();
        let is_whole = a.is_empty() && b.is_empty() && c.is_empty() && d.is_empty();
        reader.ensure(is_whole && places.len() == sizes.len(), "its tables are not whole")?;
        let ends = ends.iter().map(|[text, peaks, chunks, holding]| Ends {
            text: *text,
            peaks: *peaks,
            chunks: *chunks,
            holding: *holding,
        });
        let chunks = places.iter().zip(sizes).map(|([window, start], size)| {
            let [count, often, times, length] = *size;
            let (window, start) = (*window, *start);
            Chunk { window, start, count, often, bound: Weight { times, length } }
        });
        let peaks = peaks.iter().map(|[times, length]| Weight { times: *times, length: *length });
        let words = Self {
            texts,
            ends: ends.collect(),
            peaks: peaks.collect(),
            chunks: chunks.collect(),
            data,
            length: lengths.iter().map(|length| u64::from(*length)).sum(),
            lengths,
        };
        words.check().map_err(|reason| reader.content(reason))?;
        reader.finish()?;
        Ok(words)
    }

    /// What a search relies on to find what is there, and each term once.
    fn check(&self) -> Result<(), &'static str> {
        let of = |weight: &Weight| {
            weight.times > 0
                && weight.times <= weight.length
                && usize::from(weight.length) <= TERMS_MAX
        };
        let is_short = |length: &u16| usize::from(*length) <= TERMS_MAX;
        if !self.lengths.iter().all(is_short) || !self.peaks.iter().all(of) {
            return Err("a text is too long");
        }
        let last = self.ends.last().copied().unwrap_or_default();
        let sizes = [last.text as usize, last.peaks as usize, last.chunks as usize];
        if sizes != [self.texts.len(), self.peaks.len(), self.chunks.len()] {
            return Err("its terms do not end where its tables do");
        }
        let ascend = |of: fn(&Ends) -> u32| self.ends.is_sorted_by_key(of);
        if !(ascend(|it| it.text) && ascend(|it| it.peaks) && ascend(|it| it.chunks)) {
            return Err("its terms overlap");
        }
        let texts: Vec<&str> = self.texts().collect();
        if texts.len() != self.ends.len() || !texts.is_sorted_by(|a, b| a < b) {
            return Err("its terms are out of order");
        }
        let mut next = 0;
        let mut start = 0;
        for ends in &self.ends {
            let chunks = self.chunks.get(start..ends.chunks as usize).unwrap_or_default();
            start = ends.chunks as usize;
            if !chunks.is_sorted_by(|a, b| a.window < b.window) {
                return Err("a term's rows are out of order");
            }
            if chunks.iter().map(|it| u64::from(it.count)).sum::<u64>() != u64::from(ends.holding) {
                return Err("a term's rows are miscounted");
            }
            for chunk in chunks {
                let first = chunk.window as usize * WINDOW_ROWS;
                let lengths = self.lengths.get(first..).unwrap_or_default();
                let lengths = lengths.get(..WINDOW_ROWS).unwrap_or(lengths);
                let open = chunk.open(&self.data).filter(|_| chunk.start as usize == next);
                if !open.is_some_and(|it| it.is_sound(*chunk, lengths)) {
                    return Err("a term's rows make no sense");
                }
                next += chunk.units();
            }
        }
        if next == self.data.len() { Ok(()) } else { Err("data are left over") }
    }
}

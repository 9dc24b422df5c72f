//! Codec of the graph and its vectors.
//!
//! Where the bytes are kept, and whether they are the ones that were written, is the
//! store's matter. Nothing is trusted but the length that the caller knows: each number
//! is checked before memory is allocated or a link followed.
//!
//! Little-endian: the magic, six numbers of four bytes (version, dimension, rows,
//! links of a place on the ground and above, layers), the places of each layer above
//! the ground; then of all rows the coarse codes, the fine ones, the steps and the
//! links; then of each layer above its rows and links.

use std::io::{self, Read, Write};

use crate::index::hnsw::HnswIndex;
use crate::index::hnsw::layout::{Graph, Layer, ROWS_MAX};
use crate::index::quantization::sq12::Sq12Vectors;

/// Changes with every change of the bytes' meaning.
pub const VERSION: u32 = 1;

/// Why bytes are no segment.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    #[error("these are not the bytes of a segment")]
    NotASegment,
    #[error("the segment has version {found}, this build reads {VERSION}")]
    Version { found: u32 },
    #[error("the segment's {what} is {found}, accepted is {accepted}")]
    Number { what: &'static str, found: u32, accepted: &'static str },
    #[error("the segment has {found} bytes and should have {expected}")]
    Length { found: u64, expected: u64 },
    #[error("the segment's {what} are damaged")]
    Damaged { what: &'static str },
    #[error("the segment cannot be read or written")]
    Io(#[from] io::Error),
}

impl HnswIndex {
    /// Bytes that [`HnswIndex::write`] writes.
    pub fn encoded_len(&self) -> u64 {
        self.shape().encoded_len()
    }

    /// Writes what [`HnswIndex::read`] reads, in pieces of some kilobytes.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let shape = self.shape();
        to.write_all(MAGIC)?;
        let heights = shape.above.iter().copied();
        for number in shape.numbers().into_iter().chain(heights) {
            to.write_all(&number.to_le_bytes())?;
        }
        let (coarse, fine, steps) = self.codes.parts();
        put(to, coarse, |byte| [byte.cast_unsigned()])?;
        to.write_all(fine)?;
        put(to, steps, f32::to_le_bytes)?;
        for layer in &self.graph.layers {
            put(to, layer.rows().unwrap_or_default(), u32::to_le_bytes)?;
            put(to, layer.raw_links(), |link| link)?;
        }
        Ok(())
    }

    /// Reads `len` bytes. Takes no more memory than those, whatever they are.
    pub fn read(from: &mut impl Read, len: u64) -> Result<Self, CodecError> {
        let shape = Shape::read(from, len)?;
        let (rows, dimension) = (shape.rows as usize, shape.dimension as usize);
        let mut codes = Sq12Vectors::with_capacity(rows, dimension);
        pieces(from, rows * dimension, |bytes| codes.extend_coarse(bytes))?;
        let mut fine = Vec::with_capacity(rows * dimension.div_ceil(2));
        pieces(from, rows * dimension.div_ceil(2), |bytes| fine.extend_from_slice(bytes))?;
        let steps = numbers(from, rows, f32::from_le_bytes)?;
        let codes = codes.complete(fine, steps).ok_or(CodecError::Damaged { what: "vectors" })?;
        let mut layers = Vec::with_capacity(1 + shape.above.len());
        let ground = links(from, rows * shape.ground_width as usize)?;
        layers.push(Layer::check(rows, shape.ground_width as usize, None, ground));
        for places in shape.above.iter().map(|places| *places as usize) {
            let held = numbers(from, places, u32::from_le_bytes)?;
            let width = shape.above_width as usize;
            let links = links(from, places * width)?;
            layers.push(Layer::check(rows, width, Some(held), links));
        }
        let layers: Option<Vec<Layer>> = layers.into_iter().collect();
        let layers = layers.ok_or(CodecError::Damaged { what: "links" })?;
        Ok(Self { codes, graph: Graph { layers } })
    }

    /// [`HnswIndex::write`] into memory.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.encoded_len()).unwrap_or(0));
        // Writing to memory does not fail.
        self.write(&mut bytes).unwrap_or_default();
        bytes
    }

    /// [`HnswIndex::read`] from memory.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, CodecError> {
        let len = bytes.len() as u64;
        Self::read(&mut bytes, len)
    }

    fn shape(&self) -> Shape {
        let number = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        let (ground_width, above_width) = self.graph.widths();
        Shape {
            dimension: number(self.dimension()),
            rows: number(self.len()),
            ground_width: number(ground_width),
            above_width: number(above_width),
            above: self.graph.layers.iter().skip(1).map(|layer| number(layer.len())).collect(),
        }
    }
}

const MAGIC: &[u8; 8] = b"engramSG";
const DIMENSION_MAX: u32 = 1 << 16;
const WIDTH_MAX: u32 = 1 << 8;
const LAYERS_MAX: u32 = 32;
/// Bytes read or written at a time; whole links, numbers and floats fit it.
const PIECE: usize = 3 << 14;

#[derive(Debug)]
struct Shape {
    dimension: u32,
    rows: u32,
    ground_width: u32,
    above_width: u32,
    /// Places of each layer above the ground.
    above: Vec<u32>,
}

impl Shape {
    fn numbers(&self) -> [u32; 6] {
        let Self { dimension, rows, ground_width, above_width, above } = self;
        let layers = u32::try_from(above.len() + 1).unwrap_or(u32::MAX);
        [VERSION, *dimension, *rows, *ground_width, *above_width, layers]
    }

    fn read(from: &mut impl Read, len: u64) -> Result<Self, CodecError> {
        let mut head = [0; MAGIC.len()];
        if len < HEAD_LEN {
            return Err(CodecError::NotASegment);
        }
        from.read_exact(&mut head)?;
        if head != *MAGIC {
            return Err(CodecError::NotASegment);
        }
        let mut number = || {
            let mut bytes = [0; 4];
            from.read_exact(&mut bytes).map(|()| u32::from_le_bytes(bytes))
        };
        let found = number()?;
        if found != VERSION {
            return Err(CodecError::Version { found });
        }
        let (dimension, rows) = (number()?, number()?);
        let (ground_width, above_width, layers) = (number()?, number()?, number()?);
        for (what, found, range, accepted) in [
            ("dimension", dimension, 1..=DIMENSION_MAX, "1 to 65536"),
            ("number of rows", rows, 0..=ROWS_LIMIT, "fewer than 16777215"),
            ("number of links", ground_width, 1..=WIDTH_MAX, "1 to 256"),
            ("number of links", above_width, 1..=WIDTH_MAX, "1 to 256"),
            ("number of layers", layers, 1..=LAYERS_MAX, "1 to 32"),
        ] {
            if !range.contains(&found) {
                return Err(CodecError::Number { what, found, accepted });
            }
        }
        let mut above = Vec::new();
        for _ in 1..layers {
            above.push(number()?);
        }
        let shape = Self { dimension, rows, ground_width, above_width, above };
        let expected = shape.encoded_len();
        if expected != len {
            return Err(CodecError::Length { found: len, expected });
        }
        Ok(shape)
    }

    /// Does not overflow: 24 bits of rows times 17 of bytes, and 31 layers of 32 bits
    /// times 10.
    fn encoded_len(&self) -> u64 {
        let Self { dimension, rows, ground_width, above_width, above } = self;
        let dimension = u64::from(*dimension);
        let row = dimension + dimension.div_ceil(2) + 4 + 3 * u64::from(*ground_width);
        let places: u64 = above.iter().map(|places| u64::from(*places)).sum();
        HEAD_LEN
            + 4 * above.len() as u64
            + u64::from(*rows) * row
            + places * (4 + 3 * u64::from(*above_width))
    }
}

/// The magic and six numbers.
const HEAD_LEN: u64 = 8 + 6 * 4;
#[expect(clippy::cast_possible_truncation, reason = "24 bits")]
const ROWS_LIMIT: u32 = ROWS_MAX as u32 - 1;

fn put<T: Copy, const N: usize>(
    to: &mut impl Write,
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> io::Result<()> {
    let mut piece = Vec::with_capacity(PIECE);
    for values in values.chunks(PIECE / N) {
        piece.clear();
        piece.extend(values.iter().flat_map(|value| bytes(*value)));
        to.write_all(&piece)?;
    }
    Ok(())
}

/// Hands `len` bytes on, piece by piece.
fn pieces(from: &mut impl Read, len: usize, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut piece = vec![0; PIECE.min(len)];
    let mut left = len;
    while left > 0 {
        let next = piece.get_mut(..left.min(PIECE)).unwrap_or_default();
        from.read_exact(next)?;
        left -= next.len();
        take(next);
    }
    Ok(())
}

fn numbers<T>(
    from: &mut impl Read,
    len: usize,
    number: impl Fn([u8; 4]) -> T,
) -> io::Result<Vec<T>> {
    let mut numbers = Vec::with_capacity(len);
    pieces(from, len * 4, |bytes| {
        numbers.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| number(*bytes)));
    })?;
    Ok(numbers)
}

fn links(from: &mut impl Read, len: usize) -> io::Result<Vec<[u8; 3]>> {
    let mut links = Vec::with_capacity(len);
    pieces(from, len * 3, |bytes| links.extend_from_slice(bytes.as_chunks::<3>().0))?;
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Row;
    use crate::index::hnsw::search::Scratch;
    use crate::index::hnsw::tests::{DIMENSION, Stream, build_graph};
    use crate::index::quantization::sq12::Sq12Query;
    use crate::index::selection::Selection;
    use crate::index::strategy::Strategy;
    use proptest::prelude::{any, prop, proptest};
    use std::sync::LazyLock;

    static BYTES: LazyLock<Vec<u8>> =
        LazyLock::new(|| build_graph(&Stream(2).mixture(400, 9)).to_bytes());

    /// Searches in every way, which must not panic whatever the segment is.
    fn search(segment: &HnswIndex) {
        let mut scratch = Scratch::default();
        for query in Stream(4).mixture(3, 2) {
            let query = Sq12Query::new(&query);
            segment.search_graph(&query, 10, 30, &mut scratch);
            segment.search_graph_filtered(
                &query,
                10,
                (30, 300),
                |row| row.0 % 3 == 0,
                &mut scratch,
            );
            segment.search_graph_filtered(&query, 10, (30, 10), |row| row.0 % 9 == 0, &mut scratch);
            let run = Selection::Run(Row(5), Row(50));
            segment.search(&query, 10, Strategy::Scan, (&run, 45), &mut scratch);
        }
    }

    #[test]
    fn a_written_index_is_read_back() {
        for points in [0, 1, 400] {
            let vectors = Stream(2).mixture(points, 9);
            let segment = build_graph(&vectors);
            let bytes = segment.to_bytes();
            assert_eq!(bytes.len() as u64, segment.encoded_len());
            let read = HnswIndex::from_bytes(&bytes).unwrap();
            assert_eq!((read.len(), read.to_bytes()), (points, bytes));
            let mut scratch = Scratch::default();
            for vector in vectors.iter().step_by(7) {
                let query = Sq12Query::new(vector);
                let expect = segment.search_graph(&query, 5, 20, &mut scratch);
                assert_eq!(read.search_graph(&query, 5, 20, &mut scratch), expect);
            }
        }
    }

    #[test]
    fn an_error_names_the_fault() {
        let check = |at: usize, byte: u8, expect: &str| {
            let mut bytes = BYTES.clone();
            bytes[at] = byte;
            let said = HnswIndex::from_bytes(&bytes).unwrap_err().to_string();
            assert_eq!(said, expect);
        };
        check(0, b'E', "these are not the bytes of a segment");
        check(8, 9, "the segment has version 9, this build reads 1");
        check(
            14,
            1,
            &format!(
                "the segment's dimension is {}, accepted is 1 to 65536",
                (1 << 16) + DIMENSION
            ),
        );
        check(19, 1, "the segment's number of rows is 16777616, accepted is fewer than 16777215");
        check(28, 0, "the segment's number of layers is 0, accepted is 1 to 32");
        let expected = BYTES.len();
        let said = HnswIndex::from_bytes(&BYTES[..expected - 1]).unwrap_err().to_string();
        assert_eq!(
            said,
            format!("the segment has {} bytes and should have {expected}", expected - 1)
        );
        let last = BYTES.len() - 1;
        check(last, 0xFE, "the segment's links are damaged");
        let steps = 32 + 4 * usize::from(BYTES[28] - 1) + 400 * (DIMENSION + DIMENSION / 2);
        check(steps + 3, 0xFF, "the segment's vectors are damaged");
    }

    #[test]
    fn a_reader_that_ends_early_is_an_error() {
        let error = HnswIndex::read(&mut &BYTES[..BYTES.len() / 2], BYTES.len() as u64);
        assert!(matches!(error, Err(CodecError::Io(_))));
    }

    proptest! {
        #[test]
        fn no_damage_panics(
            flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..=255), 1..8),
            len in any::<prop::sample::Index>(),
            is_cut: bool,
        ) {
            let mut bytes = BYTES.clone();
            for (at, flip) in flips {
                let at = at.index(bytes.len());
                bytes[at] ^= flip;
            }
            if is_cut {
                bytes.truncate(len.index(bytes.len()));
            }
            if let Ok(segment) = HnswIndex::from_bytes(&bytes) {
                search(&segment);
            }
        }

        /// The head decides how much memory is taken.
        #[test]
        fn no_damage_of_the_head_panics(
            head in prop::collection::vec((8_usize..60, any::<u8>()), 1..6),
        ) {
            let mut bytes = BYTES.clone();
            for (at, byte) in head {
                bytes[at] = byte;
            }
            if let Ok(segment) = HnswIndex::from_bytes(&bytes) {
                search(&segment);
            }
        }
    }
}

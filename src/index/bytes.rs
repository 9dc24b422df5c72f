//! Byte format of the index's parts, but for the graph.
//!
//! What was written starts with its kind and a version and ends with a checksum.
//! Reading trusts nothing: a flipped bit, another kind, another version or a
//! length beyond the end is an error before anything is allocated for it.

/// Why bytes cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadBytes {
    #[error("{found} bytes are too few for {kind}")]
    Short { kind: &'static str, found: usize },
    #[error("the checksum of {kind} does not match")]
    Checksum { kind: &'static str },
    #[error("{kind} is expected, something else is there")]
    Kind { kind: &'static str },
    #[error("{kind} is written in version {found}, this build reads {expected}")]
    Version { kind: &'static str, found: u8, expected: u8 },
    #[error("{kind} ends in the middle")]
    Ends { kind: &'static str },
    #[error("{kind} makes no sense: {reason}")]
    Content { kind: &'static str, reason: &'static str },
}

/// Name, tag and version of a format.
#[derive(Debug, Clone, Copy)]
pub struct BlobKind {
    /// For messages: "the words of a segment".
    pub name: &'static str,
    /// Four letters at the start.
    pub tag: [u8; 4],
    pub version: u8,
}

const HEADER_BYTES: usize = 5;
const CHECKSUM_BYTES: usize = 4;

/// Appends values to bytes.
#[derive(Debug)]
pub struct ByteWriter(Vec<u8>);

impl ByteWriter {
    pub fn new(kind: BlobKind) -> Self {
        let mut bytes = kind.tag.to_vec();
        bytes.push(kind.version);
        Self(bytes)
    }

    pub fn one<T: Plain>(&mut self, value: T) {
        value.append(&mut self.0);
    }

    /// A count, then that many values.
    pub fn many<T: Plain>(&mut self, values: &[T]) {
        self.one(u32::try_from(values.len()).unwrap_or(u32::MAX));
        self.0.reserve(values.len() * T::BYTES);
        for value in values {
            value.append(&mut self.0);
        }
    }

    pub fn text(&mut self, text: &str) {
        self.many(text.as_bytes());
    }

    /// With the checksum at the end.
    pub fn finish(mut self) -> Vec<u8> {
        let checksum = crc32fast::hash(&self.0);
        self.0.extend_from_slice(&checksum.to_le_bytes());
        self.0
    }
}

/// Takes values from the front of bytes.
#[derive(Debug)]
pub struct ByteReader<'a> {
    kind: &'static str,
    left: &'a [u8],
}

impl<'a> ByteReader<'a> {
    /// Checks checksum, kind and version.
    pub fn new(kind: BlobKind, bytes: &'a [u8]) -> Result<Self, BadBytes> {
        let BlobKind { name, tag, version } = kind;
        let short = BadBytes::Short { kind: name, found: bytes.len() };
        let Some((body, checksum)) = bytes.split_last_chunk::<CHECKSUM_BYTES>() else {
            return Err(short);
        };
        let Some((&[a, b, c, d, found], left)) = body.split_first_chunk::<HEADER_BYTES>() else {
            return Err(short);
        };
        // The checksum goes first: a flipped version is damage, not a newer build.
        if crc32fast::hash(body) != u32::from_le_bytes(*checksum) {
            return Err(BadBytes::Checksum { kind: name });
        }
        if [a, b, c, d] != tag {
            return Err(BadBytes::Kind { kind: name });
        }
        if found != version {
            return Err(BadBytes::Version { kind: name, found, expected: version });
        }
        Ok(Self { kind: name, left })
    }

    pub fn one<T: Plain>(&mut self) -> Result<T, BadBytes> {
        let bytes = self.take(T::BYTES)?;
        T::read(bytes).ok_or(BadBytes::Ends { kind: self.kind })
    }

    pub fn many<T: Plain>(&mut self) -> Result<Vec<T>, BadBytes> {
        let bytes = self.take_counted(T::BYTES)?;
        Ok(bytes.chunks_exact(T::BYTES).filter_map(T::read).collect())
    }

    pub fn text(&mut self) -> Result<&'a str, BadBytes> {
        let bytes = self.take_counted(1)?;
        str::from_utf8(bytes).map_err(|_invalid| self.content("a text is not UTF-8"))
    }

    /// Nothing may be left.
    pub fn finish(self) -> Result<(), BadBytes> {
        if self.left.is_empty() { Ok(()) } else { Err(self.content("bytes are left over")) }
    }

    /// An error about what was read.
    pub fn content(&self, reason: &'static str) -> BadBytes {
        BadBytes::Content { kind: self.kind, reason }
    }

    pub fn ensure(&self, holds: bool, reason: &'static str) -> Result<(), BadBytes> {
        if holds { Ok(()) } else { Err(self.content(reason)) }
    }

    fn take_counted(&mut self, item_bytes: usize) -> Result<&'a [u8], BadBytes> {
        let count: u32 = self.one()?;
        let bytes = (count as usize).checked_mul(item_bytes);
        self.take(bytes.ok_or(BadBytes::Ends { kind: self.kind })?)
    }

    fn take(&mut self, bytes: usize) -> Result<&'a [u8], BadBytes> {
        let ends = BadBytes::Ends { kind: self.kind };
        let (taken, left) = self.left.split_at_checked(bytes).ok_or(ends)?;
        self.left = left;
        Ok(taken)
    }
}

/// A number as its little-endian bytes.
pub trait Plain: Copy {
    const BYTES: usize;
    fn append(self, bytes: &mut Vec<u8>);
    /// `None` where `bytes` are not [`Plain::BYTES`] many.
    fn read(bytes: &[u8]) -> Option<Self>;
}

macro_rules! plain {
    ($($number:ty),*) => {$(
        impl Plain for $number {
            const BYTES: usize = size_of::<$number>();

            #[inline]
            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn read(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(<$number>::from_le_bytes)
            }
        }
    )*};
}

plain!(u8, u16, u32, u64, i8, i64, f32, f64);

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::{any, prop, proptest};

    const KIND: BlobKind = BlobKind { name: "a test", tag: *b"TEST", version: 3 };

    /// Each flipped bit, each cut and each addition is an error.
    pub(crate) fn check_damage<T>(bytes: &[u8], read: impl Fn(&[u8]) -> Result<T, BadBytes>) {
        read(bytes).map(drop).unwrap();
        // Of long ones a part: each read checks all bytes.
        for bit in (0..bytes.len() * 8).step_by(bytes.len() / 64 + 1) {
            let mut damaged = bytes.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&damaged).is_err(), "bit {bit}");
        }
        for cut in (0..bytes.len()).step_by(bytes.len() / 64 + 1) {
            assert!(read(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        assert!(read(&[bytes, &[0]].concat()).is_err());
    }

    /// With a checksum that fits, damage reaches the checks behind it: it is an
    /// error or another value, never a panic.
    pub(crate) fn check_nonsense<T>(
        bytes: &[u8],
        flips: &[(usize, u8)],
        read: impl Fn(&[u8]) -> Result<T, BadBytes>,
    ) -> Option<T> {
        let mut body = bytes[..bytes.len() - CHECKSUM_BYTES].to_vec();
        for (at, mask) in flips {
            let at = at % body.len();
            body[at] ^= mask;
        }
        let checksum = crc32fast::hash(&body);
        body.extend_from_slice(&checksum.to_le_bytes());
        read(&body).ok()
    }

    proptest! {
        #[test]
        fn written_values_are_read_back(
            numbers: Vec<u32>,
            floats in prop::collection::vec(any::<f64>(), 0..9),
            text: String,
        ) {
            let mut writer = ByteWriter::new(KIND);
            writer.many(&numbers);
            writer.one(7_i64);
            writer.many(&floats);
            writer.text(&text);
            let bytes = writer.finish();
            let mut reader = ByteReader::new(KIND, &bytes).unwrap();
            assert_eq!(reader.many::<u32>().unwrap(), numbers);
            assert_eq!(reader.one::<i64>().unwrap(), 7);
            let read: Vec<u64> = reader.many::<f64>().unwrap().iter().map(|x| x.to_bits()).collect();
            assert_eq!(read, floats.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
            assert_eq!(reader.text().unwrap(), text);
            reader.finish().unwrap();
        }
    }

    #[test]
    fn unexpected_bytes_are_refused() {
        let mut writer = ByteWriter::new(KIND);
        writer.many(&[1_u32, 2]);
        let bytes = writer.finish();
        check_damage(&bytes, |bytes| {
            let mut reader = ByteReader::new(KIND, bytes)?;
            let read = reader.many::<u32>()?;
            reader.finish().map(|()| read)
        });
        let refused = |kind, bytes: &[u8]| ByteReader::new(kind, bytes).unwrap_err();
        assert_eq!(refused(KIND, &bytes[..8]), BadBytes::Short { kind: "a test", found: 8 });
        let newer = BlobKind { version: 4, ..KIND };
        let version = BadBytes::Version { kind: "a test", found: 3, expected: 4 };
        assert_eq!(refused(newer, &bytes), version);
        assert_eq!(
            refused(BlobKind { tag: *b"NONE", ..KIND }, &bytes),
            BadBytes::Kind { kind: "a test" }
        );
        let mut reader = ByteReader::new(KIND, &bytes).unwrap();
        assert_eq!(reader.many::<u64>(), Err(BadBytes::Ends { kind: "a test" }));
    }
}

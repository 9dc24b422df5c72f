//! Whether a JPEG is whole, and how it is to be turned.
//!
//! Decoders are made to show something of a file that is cut or damaged; a memory must not keep
//! a guess. So every marker is read and every coded block walked through (ITU-T T.81, Huffman
//! coded, sequential and progressive), without making pixels of it: a cut file ends before its
//! last block, and in a damaged one codes do not exist, blocks overflow, levels are none of
//! pixels', restart markers are out of order, or blocks and bytes do not come out even. Damage
//! that leaves codes of other pixels, as a flipped sign does, cannot be told.
//!
//! What cameras write and is no damage passes: bytes after the end, no Huffman tables (Motion
//! JPEG), a few bytes too many before a marker.

mod bits;
mod blocks;
mod huffman;

use std::borrow::Cow;

use crate::base::picture::Facts;
use crate::base::picture::jpeg::bits::{Bits, Damage};
use crate::base::picture::jpeg::blocks::{Component, Scan};
use crate::base::picture::jpeg::huffman::HuffmanTables;

/// Why a file is no whole JPEG, at which byte.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("it ends at byte {at}, before the end of the image")]
    Cut { at: usize },
    #[error("{what}, before byte {at}")]
    Damaged { what: &'static str, at: usize },
    #[error("{0}; accepted are baseline and progressive JPEGs of 8 bits, Huffman coded")]
    Unsupported(String),
    #[error("it has {width}x{height} pixels")]
    TooManyPixels { width: u32, height: u32 },
}

/// Passes over the image, of which encoders make a dozen: a small file of many takes minutes.
const SCANS_MAX: u32 = 100;
const COMPONENTS_MAX: usize = 4;

/// Reads the file to the end of its first image, of so many pixels at most.
pub(super) fn check(image: &[u8], pixels_max: u64) -> Result<Facts<'_>, Fault> {
    let mut reader = Reader { image, at: 2, pixels_max, ..Reader::default() };
    reader.read()?;
    // Decoders want the Huffman tables that Motion JPEG leaves out.
    let decodable = match reader.tables_due_at.and_then(|at| image.split_at_checked(at)) {
        Some((head, scans)) => Cow::Owned([head, &huffman::segment(), scans].concat()),
        None => Cow::Borrowed(image),
    };
    Ok(Facts { exif: reader.exif, decodable })
}

#[derive(Default)]
struct Reader<'a> {
    image: &'a [u8],
    at: usize,
    pixels_max: u64,
    exif: Option<&'a [u8]>,
    /// Steps of the four quantization tables, in zigzag order.
    quantization: [Option<[u16; 64]>; 4],
    huffman: HuffmanTables,
    restart_interval: u32,
    frame: Option<Frame>,
    scans: u32,
    /// Where the first scan starts, if no Huffman table came before it.
    tables_due_at: Option<usize>,
}

/// What the start of frame says.
struct Frame {
    is_progressive: bool,
    /// Units (MCUs) of several components, across and down.
    units: (u32, u32),
    components: Vec<Component>,
}

impl<'a> Reader<'a> {
    fn read(&mut self) -> Result<(), Fault> {
        loop {
            match self.marker()? {
                // They have no segment.
                0x01 | 0xD0..=0xD8 => {}
                0xD9 => return self.check_end(),
                0xDA => self.scan()?,
                marker => {
                    let start = self.at;
                    let segment = self.segment()?;
                    self.at = start + 2 + segment.len();
                    self.note(marker, segment, start)?;
                }
            }
        }
    }

    /// Goes behind the next marker. What lies before it is passed over, as decoders do: of a
    /// segment that was lost that way, something is missing later.
    fn marker(&mut self) -> Result<u8, Fault> {
        loop {
            let byte = self.byte()?;
            if byte != 0xFF {
                continue;
            }
            let mut code = self.byte()?;
            while code == 0xFF {
                code = self.byte()?;
            }
            if code != 0 {
                return Ok(code);
            }
        }
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = self.image.get(self.at).copied().ok_or(Fault::Cut { at: self.image.len() })?;
        self.at += 1;
        Ok(byte)
    }

    /// The segment that starts here, without its length.
    fn segment(&self) -> Result<&'a [u8], Fault> {
        let cut = Fault::Cut { at: self.image.len() };
        let rest = self.image.get(self.at..).unwrap_or_default();
        let Some((length, rest)) = rest.split_first_chunk() else { return Err(cut) };
        let Some(length) = usize::from(u16::from_be_bytes(*length)).checked_sub(2) else {
            return Err(self.damaged("a segment says that it has no length"));
        };
        rest.get(..length).ok_or(cut)
    }

    fn damaged(&self, what: &'static str) -> Fault {
        Fault::Damaged { what, at: self.at }
    }

    fn note(&mut self, marker: u8, segment: &'a [u8], at: usize) -> Result<(), Fault> {
        let wrong = |what| Fault::Damaged { what, at };
        match marker {
            0xC0..=0xC2 => {
                if self.frame.is_some() {
                    return Err(wrong("a second start of frame"));
                }
                self.frame = Some(self.frame(marker, segment, at)?);
            }
            0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                return Err(Fault::Unsupported(format!("it is coded as SOF{}", marker - 0xC0)));
            }
            0xC4 => {
                let read = self.huffman.note(segment);
                read.ok_or_else(|| wrong("a Huffman table that is none"))?;
            }
            0xDB => self
                .note_quantization(segment)
                .ok_or_else(|| wrong("a quantization table that is none"))?,
            0xDD => {
                let interval: [u8; 2] = segment
                    .try_into()
                    .map_err(|_wrong_length| wrong("a restart interval that is none"))?;
                self.restart_interval = u32::from(u16::from_be_bytes(interval));
            }
            0xE1 if self.exif.is_none() => self.exif = segment.strip_prefix(b"Exif\0\0"),
            _ => {}
        }
        Ok(())
    }

    fn note_quantization(&mut self, mut segment: &[u8]) -> Option<()> {
        while let Some((head, rest)) = segment.split_first() {
            let bytes = match head >> 4 {
                0 => 64,
                1 => 128,
                _ => return None,
            };
            let (steps, rest) = rest.split_at_checked(bytes)?;
            let mut table = [0; 64];
            for (at, step) in table.iter_mut().enumerate() {
                *step = if bytes == 64 {
                    u16::from(*steps.get(at)?)
                } else {
                    u16::from_be_bytes([*steps.get(2 * at)?, *steps.get(2 * at + 1)?])
                };
            }
            if table.contains(&0) {
                return None;
            }
            *self.quantization.get_mut(usize::from(head & 15))? = Some(table);
            segment = rest;
        }
        Some(())
    }

    /// Walks through the coded blocks of one scan, to the marker behind it.
    fn scan(&mut self) -> Result<(), Fault> {
        self.scans += 1;
        if self.scans > SCANS_MAX {
            return Err(Fault::Unsupported(format!("it has more than {SCANS_MAX} scans")));
        }
        let header = self.segment()?;
        let (start, at) = (self.at - 2, self.at);
        let wrong = |what| Fault::Damaged { what, at };
        self.at += 2 + header.len();
        let frame = self.frame.as_mut().ok_or_else(|| wrong("a scan before the start of frame"))?;
        let scan = Scan::read(header, frame.is_progressive, &frame.components)
            .ok_or_else(|| wrong("a start of scan that is none"))?;
        let Some(coded) = self.image.get(self.at..) else { return Err(wrong("no scan")) };
        if self.huffman.is_empty() {
            self.tables_due_at = Some(start);
            // INVARIANT: they are tables.
            let _read = self.huffman.note(huffman::STANDARD);
        }
        let mut bits = Bits::of(coded);
        let walked = scan.walk(
            &mut bits,
            &mut frame.components,
            &blocks::Surroundings {
                units: frame.units,
                is_progressive: frame.is_progressive,
                restart_interval: self.restart_interval,
                huffman: &self.huffman,
                quantization: &self.quantization,
            },
        );
        self.at += bits.position();
        let at = self.at;
        let wrong = |what| Fault::Damaged { what, at };
        match walked {
            Ok(()) => Ok(()),
            Err(Damage::Ended) if bits.is_at_end() => Err(Fault::Cut { at }),
            Err(Damage::Ended) => Err(wrong("coded data ends before the last block")),
            Err(Damage::Wrong(what)) => Err(wrong(what)),
        }
    }

    fn check_end(&self) -> Result<(), Fault> {
        let whole =
            self.frame.as_ref().is_some_and(|it| it.components.iter().all(Component::is_seen));
        if whole {
            Ok(())
        } else {
            Err(self.damaged("the image ends before all of its scans came"))
        }
    }

    fn frame(&self, marker: u8, segment: &[u8], at: usize) -> Result<Frame, Fault> {
        let wrong = || Fault::Damaged { what: "a start of frame that is none", at };
        let (&[precision, h1, h0, w1, w0, count], rest) =
            segment.split_first_chunk().ok_or_else(wrong)?;
        if precision != 8 {
            return Err(Fault::Unsupported(format!("it has {precision} bits a sample")));
        }
        let height = u32::from(u16::from_be_bytes([h1, h0]));
        let width = u32::from(u16::from_be_bytes([w1, w0]));
        let (listed, left) = rest.as_chunks::<3>();
        let is_count = listed.len() == usize::from(count) && left.is_empty();
        if !is_count || width == 0 || height == 0 || !(1..=COMPONENTS_MAX).contains(&listed.len()) {
            return Err(wrong());
        }
        if u64::from(width) * u64::from(height) > self.pixels_max {
            return Err(Fault::TooManyPixels { width, height });
        }
        let is_progressive = marker == 0xC2;
        let (units, components) =
            blocks::components(listed, (width, height), is_progressive).ok_or_else(wrong)?;
        Ok(Frame { is_progressive, units, components })
    }
}

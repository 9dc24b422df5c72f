//! Bits of a JPEG's coded data, up to the next marker, and what can be wrong with them.

/// Reader of bits. At a marker or the end of the data there are no more.
#[derive(Debug)]
pub(super) struct Bits<'a> {
    data: &'a [u8],
    at: usize,
    /// The next bits, the first at the top; zeros behind the last.
    window: u64,
    count: u32,
}

/// What is wrong with coded data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// A marker, or the end, where bits were due.
    Ended,
    Wrong(&'static str),
}

impl<'a> Bits<'a> {
    pub(super) fn of(data: &'a [u8]) -> Self {
        Self { data, at: 0, window: 0, count: 0 }
    }

    /// Bytes that were taken from the data.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Whether no marker follows either.
    pub(super) fn is_at_end(&self) -> bool {
        self.data.get(self.at..).is_none_or(|rest| rest.len() < 2)
    }

    /// The next 16 bits, zeros where there are fewer.
    pub(super) fn peek(&mut self) -> u16 {
        if self.count < 16 {
            self.fill();
        }
        u16::try_from(self.window >> 48).unwrap_or_default()
    }

    pub(super) fn skip(&mut self, bits: u32) -> Result<(), Damage> {
        if bits > self.count {
            self.fill();
        }
        self.count = self.count.checked_sub(bits).ok_or(Damage::Ended)?;
        self.window <<= bits;
        Ok(())
    }

    /// The next bits, 16 at most, as a number.
    pub(super) fn take(&mut self, bits: u32) -> Result<u16, Damage> {
        let number = u32::from(self.peek()) >> (16 - bits);
        self.skip(bits)?;
        Ok(u16::try_from(number).unwrap_or_default())
    }

    /// Goes to the next marker; returns how many bytes lay before it beyond the last whole one,
    /// but for those that pad: all bits 0, or all bits 1.
    pub(super) fn leave(&mut self) -> usize {
        let mut left = 0;
        self.window <<= self.count % 8;
        self.count -= self.count % 8;
        loop {
            while self.count > 0 {
                let byte = self.window >> 56;
                left += usize::from(byte != 0 && byte != 0xFF);
                self.window <<= 8;
                self.count -= 8;
            }
            self.fill();
            if self.count == 0 {
                return left;
            }
        }
    }

    /// The number of the restart marker that lies here; goes behind it.
    pub(super) fn restart(&mut self) -> Option<u8> {
        let rest = self.data.get(self.at..)?;
        let fills = rest.iter().take_while(|byte| **byte == 0xFF).count();
        let code = rest.get(fills).filter(|_| fills > 0)?;
        let number = code.checked_sub(0xD0).filter(|number| *number < 8)?;
        self.at += fills + 1;
        Some(number)
    }

    fn fill(&mut self) {
        while self.count <= 56 {
            let rest = self.data.get(self.at..).unwrap_or_default();
            let byte = match rest {
                [0xFF, 0, ..] => {
                    self.at += 1;
                    0xFF
                }
                [0xFF, ..] | [] => return,
                [byte, ..] => *byte,
            };
            self.at += 1;
            self.window |= u64::from(byte) << (56 - self.count);
            self.count += 8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_end_at_a_marker_and_stuffed_zeros_are_none() {
        let data = [0b1010_0000, 0xFF, 0x00, 0x12, 0xFF, 0xFF, 0xD3, 0x80, 0xFF, 0xD9];
        let mut bits = Bits::of(&data);
        assert_eq!(bits.take(3), Ok(0b101));
        assert_eq!(bits.take(13), Ok(0xFF));
        assert_eq!(bits.peek(), 0x1200);
        assert_eq!(bits.take(9), Err(Damage::Ended));
        assert_eq!(bits.leave(), 1);
        assert_eq!(bits.restart(), Some(3));
        assert_eq!(bits.take(1), Ok(1));
        assert_eq!(bits.leave(), 0);
        assert_eq!((bits.restart(), bits.position()), (None, 8));
        assert!(!bits.is_at_end());
        assert!(Bits::of(&[0xFF]).is_at_end());
    }
}

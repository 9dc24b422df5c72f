//! Coded blocks of a JPEG's scan, walked through.

use crate::base::picture::jpeg::bits::{Bits, Damage};
use crate::base::picture::jpeg::huffman::{Class, HuffmanTable, HuffmanTables};

/// One plane of the image: luma, or a chroma.
#[derive(Debug)]
pub(super) struct Component {
    id: u8,
    /// Blocks of it in a unit (MCU) that several components share.
    across: u32,
    down: u32,
    quantization: usize,
    /// Blocks of it where it has a scan of its own.
    blocks_across: u32,
    blocks_down: u32,
    /// Blocks to a row of `nonzero`: those of whole units.
    stride: u32,
    /// Of a progressive image: which coefficients of each block are not zero so far.
    nonzero: Vec<u64>,
    /// Lowest bit that came of each coefficient; `None` where nothing came yet.
    lowest_bit: [Option<u8>; 64],
    is_seen: bool,
}

/// Units of an image of this size, and the components that its start of frame lists.
pub(super) fn components(
    listed: &[[u8; 3]],
    (width, height): (u32, u32),
    is_progressive: bool,
) -> Option<((u32, u32), Vec<Component>)> {
    let sampling = |factors: u8| (u32::from(factors >> 4), u32::from(factors & 15));
    let factors = || listed.iter().map(|[_, factors, _]| sampling(*factors));
    let is_factor = |(across, down)| (1..=4).contains(&across) && (1..=4).contains(&down);
    if !factors().all(is_factor) {
        return None;
    }
    let most_across = factors().map(|it| it.0).max()?;
    let most_down = factors().map(|it| it.1).max()?;
    let units_across = width.div_ceil(8 * most_across);
    let units_down = height.div_ceil(8 * most_down);
    let component = |[id, factors, quantization]: &[u8; 3]| {
        let (across, down) = sampling(*factors);
        let stride = units_across * across;
        let blocks = if is_progressive { stride * units_down * down } else { 0 };
        Component {
            id: *id,
            across,
            down,
            quantization: usize::from(*quantization),
            blocks_across: (width * across).div_ceil(8 * most_across),
            blocks_down: (height * down).div_ceil(8 * most_down),
            stride,
            nonzero: vec![0; blocks as usize],
            lowest_bit: [None; 64],
            is_seen: false,
        }
    };
    Some(((units_across, units_down), listed.iter().map(component).collect()))
}

impl Component {
    /// Whether a scan brought it.
    pub(super) fn is_seen(&self) -> bool {
        self.is_seen
    }
}

/// What a start of scan says.
#[derive(Debug)]
pub(super) struct Scan {
    members: Vec<Member>,
    /// Coefficients of a progressive scan, and the bits of them: the lowest before, the lowest.
    first: u8,
    last: u8,
    bit_before: u8,
    bit: u8,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    component: usize,
    dc: usize,
    ac: usize,
}

/// What a scan is walked through with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) units: (u32, u32),
    pub(super) is_progressive: bool,
    pub(super) restart_interval: u32,
    pub(super) huffman: &'a HuffmanTables,
    pub(super) quantization: &'a [Option<[u16; 64]>; 4],
}

/// Bytes before a marker that are no padding and count as none. Some webcams (Logitech's C270,
/// C910, C920) put up to ten before restart markers.
const LEFT_OVER_MAX: usize = 16;
/// The same without restart markers, where nothing else tells that blocks are missing.
const LEFT_OVER_AT_END_MAX: usize = 1;

impl Scan {
    /// `None` where the header contradicts itself or what came before.
    pub(super) fn read(
        header: &[u8],
        is_progressive: bool,
        components: &[Component],
    ) -> Option<Self> {
        let (count, rest) = header.split_first()?;
        let (listed, rest) = rest.split_at_checked(2 * usize::from(*count))?;
        let &[first, last, bits] = rest else { return None };
        let mut members: Vec<Member> = Vec::new();
        for [id, tables] in listed.as_chunks().0 {
            let component = components.iter().position(|it| it.id == *id)?;
            if members.iter().any(|it| it.component == component) {
                return None;
            }
            let (dc, ac) = (usize::from(tables >> 4), usize::from(tables & 15));
            members.push(Member { component, dc, ac });
        }
        let scan = Self { members, first, last, bit_before: bits >> 4, bit: bits & 15 };
        let is_usable = !scan.members.is_empty() && (!is_progressive || scan.is_next(components));
        is_usable.then_some(scan)
    }

    /// Whether a progressive scan brings what is due: bits of coefficients in their order.
    fn is_next(&self, components: &[Component]) -> bool {
        let &Self { first, last, bit_before, bit, .. } = self;
        let is_band = if first == 0 { last == 0 } else { last <= 63 && self.members.len() == 1 };
        if !is_band || first > last || bit > 13 || (bit_before > 0 && bit_before != bit + 1) {
            return false;
        }
        self.members.iter().filter_map(|it| components.get(it.component)).all(|component| {
            let mut band = component.lowest_bit.iter().take(usize::from(last) + 1);
            band.by_ref().take(usize::from(first)).for_each(drop);
            let due = (bit_before > 0).then_some(bit_before);
            (first == 0 || component.is_seen) && band.all(|lowest| *lowest == due)
        })
    }

    /// Walks to the marker behind the scan.
    pub(super) fn walk(
        &self,
        bits: &mut Bits<'_>,
        components: &mut [Component],
        around: &Surroundings<'_>,
    ) -> Result<(), Damage> {
        let mut tables = Vec::new();
        for member in &self.members {
            let component =
                components.get(member.component).ok_or(Damage::Wrong("no component"))?;
            tables.push(self.tables(*member, component, around)?);
        }
        let (across, down) = match self.members.as_slice() {
            [one] => components
                .get(one.component)
                .map_or((0, 0), |it| (it.blocks_across, it.blocks_down)),
            _ => around.units,
        };
        let mut walk = Walk { bits, predictions: [0; 4], band_end_run: 0 };
        let interval = around.restart_interval;
        let mut until_restart = interval;
        let mut restart = 0;
        for row in 0..down {
            for column in 0..across {
                if interval > 0 {
                    if until_restart == 0 {
                        walk.restart(restart)?;
                        restart = (restart + 1) % 8;
                        until_restart = interval;
                    }
                    until_restart -= 1;
                }
                self.unit(&mut walk, &tables, components, (column, row), around.is_progressive)?;
            }
        }
        walk.end(interval > 0)?;
        self.note(components);
        Ok(())
    }

    fn tables<'a>(
        &self,
        member: Member,
        component: &Component,
        around: &Surroundings<'a>,
    ) -> Result<Tables<'a>, Damage> {
        let steps = around.quantization.get(component.quantization).and_then(Option::as_ref);
        let steps = steps.ok_or(Damage::Wrong("a quantization table is missing"))?;
        let dc = around.huffman.get(Class::Dc, member.dc);
        let ac = around.huffman.get(Class::Ac, member.ac);
        let is_dc = !around.is_progressive || self.first == 0;
        let is_ac = !around.is_progressive || self.first > 0;
        if (is_dc && dc.is_none() && self.bit_before == 0) || (is_ac && ac.is_none()) {
            return Err(Damage::Wrong("a Huffman table is missing"));
        }
        Ok(Tables { dc, ac, steps })
    }

    fn unit(
        &self,
        walk: &mut Walk<'_, '_>,
        tables: &[Tables<'_>],
        components: &mut [Component],
        (column, row): (u32, u32),
        is_progressive: bool,
    ) -> Result<(), Damage> {
        let is_alone = self.members.len() == 1;
        let members = self.members.iter().zip(tables).zip(&mut walk.predictions);
        for ((member, tables), prediction) in members {
            let Some(component) = components.get_mut(member.component) else { continue };
            let (across, down) = if is_alone { (1, 1) } else { (component.across, component.down) };
            for y in 0..down {
                for x in 0..across {
                    if !is_progressive {
                        sequential(walk.bits, tables, prediction)?;
                        continue;
                    }
                    let at = (row * down + y) * component.stride + column * across + x;
                    let Some(nonzero) = component.nonzero.get_mut(at as usize) else { continue };
                    let run = &mut walk.band_end_run;
                    self.progressive(walk.bits, tables, prediction, nonzero, run)?;
                }
            }
        }
        Ok(())
    }

    fn progressive(
        &self,
        bits: &mut Bits<'_>,
        tables: &Tables<'_>,
        prediction: &mut i32,
        nonzero: &mut u64,
        run: &mut u32,
    ) -> Result<(), Damage> {
        match (self.first, self.bit_before) {
            (0, 0) => first_dc(bits, tables, prediction, self.bit),
            (0, _) => bits.skip(1),
            (_, 0) => self.first_ac(bits, tables, nonzero, run),
            (_, _) => self.refine_ac(bits, tables, nonzero, run),
        }
    }

    fn first_ac(
        &self,
        bits: &mut Bits<'_>,
        tables: &Tables<'_>,
        nonzero: &mut u64,
        run: &mut u32,
    ) -> Result<(), Damage> {
        if *run > 0 {
            *run -= 1;
            return Ok(());
        }
        let Some(ac) = tables.ac else { return Ok(()) };
        let mut at = self.first;
        while at <= self.last {
            let code = ac.decode(bits)?;
            let (zeros, size) = (code >> 4, code & 15);
            if size == 0 && zeros < 15 {
                *run = (1 << zeros) - 1 + u32::from(bits.take(u32::from(zeros))?);
                return Ok(());
            }
            at += zeros;
            if size > 0 {
                if at > self.last {
                    return Err(BEYOND_BLOCK);
                }
                let level = signed(bits, size)? << self.bit;
                tables.check(level, at, self.bit)?;
                *nonzero |= 1 << at;
            }
            at += 1;
        }
        if at > self.last + 1 { Err(BEYOND_BLOCK) } else { Ok(()) }
    }

    fn refine_ac(
        &self,
        bits: &mut Bits<'_>,
        tables: &Tables<'_>,
        nonzero: &mut u64,
        run: &mut u32,
    ) -> Result<(), Damage> {
        let Some(ac) = tables.ac else { return Ok(()) };
        let mut at = self.first;
        while *run == 0 && at <= self.last {
            let code = ac.decode(bits)?;
            let (mut zeros, size) = (code >> 4, code & 15);
            match size {
                0 if zeros < 15 => {
                    *run = (1 << zeros) + u32::from(bits.take(u32::from(zeros))?);
                    break;
                }
                0 => {}
                // The sign of a coefficient that was zero.
                1 => bits.skip(1)?,
                _ => return Err(Damage::Wrong("a level of several bits where one is refined")),
            }
            // Past as many that stay zero; each that is not has its next bit here.
            while at <= self.last {
                if *nonzero >> at & 1 == 1 {
                    bits.skip(1)?;
                } else if zeros == 0 {
                    break;
                } else {
                    zeros -= 1;
                }
                at += 1;
            }
            if size == 1 {
                if at > self.last {
                    return Err(BEYOND_BLOCK);
                }
                *nonzero |= 1 << at;
            }
            at += 1;
        }
        if *run > 0 {
            *run -= 1;
            let band = (self.first..=self.last).skip_while(|it| *it < at);
            let corrected = band.filter(|at| *nonzero >> at & 1 == 1).count();
            for _ in 0..corrected {
                bits.skip(1)?;
            }
        }
        Ok(())
    }

    fn note(&self, components: &mut [Component]) {
        for member in &self.members {
            let Some(component) = components.get_mut(member.component) else { continue };
            component.is_seen = true;
            let band = usize::from(self.first)..=usize::from(self.last.min(63));
            for lowest in component.lowest_bit.get_mut(band).into_iter().flatten() {
                *lowest = Some(self.bit);
            }
        }
    }
}

const BEYOND_BLOCK: Damage = Damage::Wrong("more coefficients than a block has");

/// State between the blocks of a scan.
struct Walk<'w, 'a> {
    bits: &'w mut Bits<'a>,
    predictions: [i32; 4],
    /// Blocks to come whose band has ended.
    band_end_run: u32,
}

impl Walk<'_, '_> {
    fn restart(&mut self, due: u8) -> Result<(), Damage> {
        self.leave(LEFT_OVER_MAX)?;
        match self.bits.restart() {
            Some(number) if number == due => {}
            Some(_) => return Err(Damage::Wrong("restart markers are out of order")),
            None => return Err(Damage::Ended),
        }
        self.predictions = [0; 4];
        Ok(())
    }

    fn end(&mut self, has_restarts: bool) -> Result<(), Damage> {
        self.leave(if has_restarts { LEFT_OVER_MAX } else { LEFT_OVER_AT_END_MAX })?;
        // Some encoders put one behind the last interval, too.
        if has_restarts && self.bits.restart().is_some() {
            self.leave(0)?;
        }
        Ok(())
    }

    fn leave(&mut self, left_over_max: usize) -> Result<(), Damage> {
        if self.band_end_run > 0 {
            return Err(Damage::Wrong("a run of blocks goes beyond the last one"));
        }
        if self.bits.leave() > left_over_max {
            return Err(Damage::Wrong("coded data goes on behind the last block"));
        }
        Ok(())
    }
}

/// What a component's blocks are decoded with.
#[derive(Debug, Clone, Copy)]
struct Tables<'a> {
    dc: Option<&'a HuffmanTable>,
    ac: Option<&'a HuffmanTable>,
    steps: &'a [u16; 64],
}

impl Tables<'_> {
    /// Refuses a level that no samples of 8 bits have. The mean of a block (at 0) reaches to
    /// ±1024, what is around it in theory too; encoders that round and sharpen go beyond.
    fn check(&self, level: i32, at: u8, bit: u8) -> Result<(), Damage> {
        const MEAN_MAX: i32 = 1_024;
        const LEVEL_MAX: i32 = 1_536;
        let step = i32::from(self.steps.get(usize::from(at)).copied().unwrap_or(1));
        let max = if at == 0 { MEAN_MAX + step } else { LEVEL_MAX };
        if level.saturating_abs().saturating_mul(step) > max + (step << bit) {
            return Err(Damage::Wrong("a level that no pixels have"));
        }
        Ok(())
    }
}

fn sequential(
    bits: &mut Bits<'_>,
    tables: &Tables<'_>,
    prediction: &mut i32,
) -> Result<(), Damage> {
    first_dc(bits, tables, prediction, 0)?;
    let Some(ac) = tables.ac else { return Ok(()) };
    let mut at = 1;
    while at < 64 {
        let code = ac.decode(bits)?;
        let (zeros, size) = (code >> 4, code & 15);
        if size == 0 {
            match zeros {
                0 => return Ok(()),
                15 => at += 16,
                _ => return Err(Damage::Wrong("a code that only progressive images have")),
            }
            continue;
        }
        at += zeros;
        if at > 63 {
            return Err(BEYOND_BLOCK);
        }
        let level = signed(bits, size)?;
        tables.check(level, at, 0)?;
        at += 1;
    }
    if at > 64 { Err(BEYOND_BLOCK) } else { Ok(()) }
}

fn first_dc(
    bits: &mut Bits<'_>,
    tables: &Tables<'_>,
    prediction: &mut i32,
    bit: u8,
) -> Result<(), Damage> {
    let Some(dc) = tables.dc else { return Ok(()) };
    let size = dc.decode(bits)?;
    if size > 11 {
        return Err(Damage::Wrong("a level that no pixels have"));
    }
    *prediction += signed(bits, size)?;
    tables.check(*prediction << bit, 0, bit)
}

/// The next number of so many bits: those that start with 0 are below zero.
fn signed(bits: &mut Bits<'_>, size: u8) -> Result<i32, Damage> {
    let size = u32::from(size);
    let number = i32::from(bits.take(size)?);
    Ok(if size > 0 && number >> (size - 1) == 0 { number - (1 << size) + 1 } else { number })
}

//! Fingerprints of what is about to be erased, by which a copy of it is known later: keyed hashes
//! of short runs of its bytes. Nobody can read it out of them, and whoever would try guesses at
//! them needs the memory of this process, where they live until one search.
//!
//! Runs are hashed by a polynomial in a random base, which rolls over the bytes that are
//! searched: a multiplication a byte and length.

use std::collections::BTreeSet;

use crate::store::StoreError;
use crate::store::keyring::random;

/// What fingerprints are taken with. Those of two keys have nothing in common.
#[derive(Debug, Clone, Copy, Default)]
pub struct FingerprintKey(u64);

impl FingerprintKey {
    pub fn random() -> Result<Self, StoreError> {
        // Odd, so that no byte of a run is lost.
        Ok(Self(u64::from_le_bytes(random()?) | 1))
    }
}

/// Fingerprints of some texts and images. None by default.
#[derive(Debug, Clone, Default)]
pub struct Fingerprints {
    key: FingerprintKey,
    things: Vec<String>,
    runs: Vec<Run>,
    /// Of those that others hold.
    runs_beside: usize,
}

/// A run of bytes of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    bytes: usize,
    hash: u64,
    thing: usize,
}

/// Lengths of the runs. Of a text at least as long as the second, any copy of 31 bytes of it holds a
/// whole run of 16.
const RUN_BYTES: [usize; 2] = [SHORT, LONG];
const SHORT: usize = 8;
const LONG: usize = 16;
/// Runs of an image: a copy that is cut in half still holds some.
const RUNS_AN_IMAGE: usize = 16;
/// Different bytes of a run, at least: one of zeros, or of an even surface in a JPEG, is anywhere.
const DIFFERENT_MIN: [usize; 2] = [4, 10];
/// Runs at once, which take 24 bytes each.
pub const RUNS_MAX: usize = 200_000;

impl Fingerprints {
    /// None yet, beside others with so many runs that count towards [`RUNS_MAX`].
    pub fn under(key: FingerprintKey, runs_beside: usize) -> Self {
        Self { key, runs_beside, ..Self::default() }
    }

    /// Takes over those of the same key.
    pub fn append(&mut self, others: Self) {
        let Self { key, things, runs, .. } = others;
        let before = self.things.len();
        self.key = key;
        self.things.extend(things);
        self.runs.extend(runs.into_iter().map(|it| Run { thing: it.thing + before, ..it }));
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Takes those of a text; `false` where it is too short to be told from chance, or there are
    /// too many.
    pub fn take_text(&mut self, thing: &str, text: &str) -> bool {
        let bytes = text.as_bytes();
        let length = if bytes.len() < LONG { SHORT } else { LONG };
        let mut runs: Vec<&[u8]> = bytes.chunks_exact(length).collect();
        // One more for the rest.
        runs.extend(bytes.len().checked_sub(length).and_then(|at| bytes.get(at..)));
        self.take(thing, &runs, DIFFERENT_MIN[0])
    }

    /// Takes those of an image file, as [`Fingerprints::take_text`] does.
    pub fn take_image(&mut self, thing: &str, file: &[u8]) -> bool {
        // Tables that many images share come first.
        let body = file.get(file.len() / 4..).unwrap_or_default();
        let step = (body.len() / RUNS_AN_IMAGE).max(LONG);
        let runs: Vec<&[u8]> = body.chunks(step).filter_map(|it| it.get(..LONG)).collect();
        self.take(thing, &runs, DIFFERENT_MIN[1])
    }

    fn take(&mut self, thing: &str, runs: &[&[u8]], different: usize) -> bool {
        let is_telling = |run: &&&[u8]| run.iter().collect::<BTreeSet<_>>().len() >= different;
        let runs: Vec<&&[u8]> = runs.iter().filter(is_telling).collect();
        if runs.is_empty() || self.runs_beside + self.runs.len() + runs.len() > RUNS_MAX {
            return false;
        }
        let number = self.things.len();
        self.things.push(thing.to_owned());
        self.runs.extend(runs.into_iter().map(|run| Run {
            bytes: run.len(),
            hash: hash(self.key, run),
            thing: number,
        }));
        true
    }

    /// How many texts and images there are.
    pub fn things(&self) -> usize {
        self.things.len()
    }

    /// Ready to be looked for.
    pub(super) fn sorted(&self) -> Sorted<'_> {
        let mut runs = self.runs.clone();
        runs.sort_unstable();
        let mut is_likely = vec![0_u64; LIKELY_BITS / 64];
        for run in &runs {
            let (word, bit) = likely(run.hash);
            if let Some(bits) = is_likely.get_mut(word) {
                *bits |= bit;
            }
        }
        Sorted { prints: self, runs, is_likely }
    }
}

/// Bits by which most places are passed over without a search.
const LIKELY_BITS: usize = 1 << 20;

/// Word and bit of a hash: its upper bits, since the lower ones of such a hash are weak.
fn likely(hash: u64) -> (usize, u64) {
    let bit = usize::try_from(hash >> 44).unwrap_or(0);
    (bit / 64, 1 << (bit % 64))
}

fn hash(key: FingerprintKey, run: &[u8]) -> u64 {
    run.iter().fold(0, |hash, byte| roll(hash, key, *byte))
}

/// A byte more. Not the byte itself, so that one of zeros counts.
fn roll(hash: u64, key: FingerprintKey, byte: u8) -> u64 {
    hash.wrapping_mul(key.0).wrapping_add(u64::from(byte) + 1)
}

/// Fingerprints in the order in which they are found.
#[derive(Debug)]
pub(super) struct Sorted<'a> {
    prints: &'a Fingerprints,
    runs: Vec<Run>,
    is_likely: Vec<u64>,
}

impl Sorted<'_> {
    /// Which of the runs stand among the bytes, by their number.
    pub(super) fn in_bytes(&self, bytes: &[u8]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for length in RUN_BYTES {
            let is_used = self.runs.iter().any(|run| run.bytes == length);
            if is_used && bytes.len() >= length {
                self.of_length(length, bytes, &mut found);
            }
        }
        found
    }

    fn of_length(&self, length: usize, bytes: &[u8], found: &mut BTreeSet<usize>) {
        let key = self.prints.key;
        let (first, rest) = bytes.split_at(length);
        let mut run = hash(key, first);
        self.note(length, run, found);
        let factor = (0..length).fold(1_u64, |power, _| power.wrapping_mul(key.0));
        for (gone, come) in bytes.iter().zip(rest) {
            let without = factor.wrapping_mul(u64::from(*gone) + 1);
            run = roll(run, key, *come).wrapping_sub(without);
            self.note(length, run, found);
        }
    }

    fn note(&self, bytes: usize, hash: u64, found: &mut BTreeSet<usize>) {
        let (word, bit) = likely(hash);
        if self.is_likely.get(word).is_none_or(|it| it & bit == 0) {
            return;
        }
        let first = self.runs.partition_point(|run| (run.bytes, run.hash) < (bytes, hash));
        let same = self.runs.iter().enumerate().skip(first);
        let same = same.take_while(|(_, run)| (run.bytes, run.hash) == (bytes, hash));
        found.extend(same.map(|(number, _)| number));
    }

    /// The things that these runs are of. Of a short text both of its ends must be there.
    pub(super) fn things(&self, found: &BTreeSet<usize>) -> BTreeSet<&str> {
        let of = |number: &usize| self.runs.get(*number).copied();
        let missing = (0_usize..).zip(&self.runs).filter(|(number, _)| !found.contains(number));
        let of_missing: BTreeSet<usize> = missing.map(|(_, run)| run.thing).collect();
        let is_whole = |run: &Run| run.bytes == LONG || !of_missing.contains(&run.thing);
        let things = found.iter().filter_map(of).filter(is_whole);
        things.filter_map(|run| self.prints.things.get(run.thing)).map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prints(texts: &[&str]) -> Fingerprints {
        let mut prints = Fingerprints::under(FingerprintKey::random().unwrap(), 0);
        for text in texts {
            assert!(prints.take_text(&format!("text {text}"), text), "{text}");
        }
        prints
    }

    fn found(prints: &Fingerprints, bytes: &[u8]) -> Vec<String> {
        let sorted = prints.sorted();
        sorted.things(&sorted.in_bytes(bytes)).into_iter().map(str::to_owned).collect()
    }

    /// Against a plain search for each run.
    #[test]
    fn a_text_is_found_wherever_it_stands_whole_or_in_good_part() {
        let secret = "the key to the shed is under the third flowerpot";
        let prints = prints(&[secret, "code 4711"]);
        let noise: Vec<u8> =
            (0..5_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
        assert_eq!(found(&prints, &noise), [""; 0]);
        for at in [0, 1, 777, 4_999] {
            let with = |text: &str| [&noise[..at], text.as_bytes(), &noise[at..]].concat();
            assert_eq!(found(&prints, &with(secret)), [format!("text {secret}")]);
            for start in 0..=secret.len() - 31 {
                assert_eq!(found(&prints, &with(&secret[start..start + 31])).len(), 1, "{start}");
            }
            assert_eq!(found(&prints, &with("code 4711")), ["text code 4711"]);
            assert_eq!(found(&prints, &with("code 471")), [""; 0], "both ends of a short one");
        }
        assert_eq!(found(&prints, b""), [""; 0]);
    }

    #[test]
    fn an_image_is_found_also_in_half_and_an_even_surface_is_none() {
        let image: Vec<u8> =
            (0..9_000_u32).map(|n| (n.wrapping_mul(n) >> 7).to_le_bytes()[0]).collect();
        let mut prints = prints(&[]);
        assert!(prints.take_image("image 7", &image));
        assert_eq!(found(&prints, &image[..5_000]), ["image 7"]);
        assert_eq!(found(&prints, &image[..2_000]), [""; 0]);
        assert!(!prints.take_image("an even one", &[0x14; 9_000]));
        assert!(!prints.take_text("short", "a cat"));
        assert_eq!(prints.things(), 1);
        let mut both = Fingerprints::default();
        for text in ["the first text of two", "the second text of two"] {
            let mut one = Fingerprints::under(prints.key, both.runs());
            assert!(one.take_text(text, text));
            both.append(one);
        }
        both.append(prints);
        assert_eq!(found(&both, b"... the second text of two"), ["the second text of two"]);
        assert_eq!(found(&both, &image), ["image 7"]);
    }

    #[test]
    fn two_searches_have_keys_of_their_own_and_no_text_is_kept() {
        let (one, other) = (prints(&["a red mug on a desk"]), prints(&["a red mug on a desk"]));
        assert_ne!(one.runs, other.runs);
        let mut full = Fingerprints::under(one.key, RUNS_MAX);
        assert!(!full.take_text("more", "a red mug on a shelf"));
    }
}

//! Captions and questions of a simulated household, from a seed.

const COLOURS: &[&str] =
    &["red", "blue", "green", "yellow", "purple", "white", "black", "grey", "orange", "brown"];
const THINGS: &[&str] = &[
    "mug", "bowl", "bottle", "book", "laptop", "remote", "apple", "ball", "backpack", "shoe",
    "lamp", "box", "cushion", "toy car", "umbrella", "jacket", "plate", "vase", "clock", "towel",
];
const PLACES: &[&str] = &[
    "a wooden table in the kitchen",
    "a white desk in the office",
    "the grey sofa in the living room",
    "a shelf in the hallway",
    "the bed in the bedroom",
    "the tiled floor of the bathroom",
    "a black counter in the kitchen",
    "the carpet in the living room",
];

/// Seeded stream of captions, questions and places, the same on every machine.
#[derive(Debug, Clone)]
pub(super) struct HouseholdWords(u64);

impl HouseholdWords {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Caption of one to four things somewhere.
    pub(super) fn caption(&mut self) -> String {
        let things: Vec<String> = (0..=self.below(4)).map(|_| self.thing()).collect();
        let place = self.pick(PLACES);
        format!("{} on {place}", things.join(" next to "))
    }

    /// Question of about ten words.
    pub(super) fn question(&mut self) -> String {
        format!("where is {} on {}", self.thing(), self.pick(PLACES))
    }

    /// Position in a flat of ten metres square.
    pub(super) fn position(&mut self) -> [f64; 3] {
        let mut coordinate = || self.below(100) as f64 / 10.0;
        [coordinate(), coordinate(), 0.0]
    }

    /// Number from 0 to below `bound`, which is at least 1.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let below = self.next() % u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(below).unwrap_or(0)
    }

    fn thing(&mut self) -> String {
        format!("a {} {}", self.pick(COLOURS), self.pick(THINGS))
    }

    fn pick(&mut self, words: &[&'static str]) -> &'static str {
        words.get(self.below(words.len())).copied().unwrap_or_default()
    }

    /// Next number of `SplitMix64` (Steele, Lea and Flood, 2014).
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_says_the_same_again() {
        let mut household = HouseholdWords::new(0);
        let said: Vec<String> = (0..2).map(|_| household.caption()).collect();
        let mut again = HouseholdWords::new(0);
        assert_eq!(said, [again.caption(), again.caption()]);
        assert_ne!(said, [HouseholdWords::new(1).caption(), HouseholdWords::new(2).caption()]);
        assert!(said.iter().all(|caption| caption.contains(" on ")), "{said:?}");
    }
}

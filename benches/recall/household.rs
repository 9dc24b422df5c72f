//! Captions and questions of a simulated household, from a seed.

use std::time::Duration;

use engram::base::frame::FrameMeta;
use engram::base::pose::Pose;
use engram::base::time::Timestamp;
use engram::store::NewObservation;

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

/// A seeded stream of captions and questions.
pub(crate) struct Household(u64);

impl Household {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One to four things somewhere, half a minute after the one before.
    pub(crate) fn observation(&mut self, index: usize) -> NewObservation {
        let things: Vec<String> = (0..=self.below(4)).map(|_| self.thing()).collect();
        let place = self.pick(PLACES);
        let caption = format!("{} on {place}", things.join(" next to "));
        let start = Timestamp::from_seconds(1_735_689_600.0).unwrap_or(Timestamp::EPOCH);
        let taken_at = start.plus(Duration::from_secs(30 * index as u64));
        let coordinate = |it: usize| it as f64 / 10.0;
        let position = [coordinate(self.below(100)), coordinate(self.below(100)), 0.0];
        let meta = FrameMeta {
            taken_at,
            pose: Pose::new(position, Some(0.0)).ok(),
            frame_id: "map".to_owned(),
            map_id: "bench".to_owned(),
            source: "camera".to_owned(),
        };
        NewObservation { meta, caption, layer: None }
    }

    /// About ten words.
    pub(crate) fn question(&mut self) -> String {
        format!("where is {} on {}", self.thing(), self.pick(PLACES))
    }

    fn thing(&mut self) -> String {
        format!("a {} {}", self.pick(COLOURS), self.pick(THINGS))
    }

    fn pick(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// `SplitMix64` (Steele, Lea and Flood, 2014).
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

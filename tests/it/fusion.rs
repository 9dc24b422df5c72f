//! Which weight of words beside meaning finds the right moment: measured on
//! household days that are made here from a seed, with short captions and long
//! ones, and questions in other words than theirs. `cargo test --test it fusion --
//! --ignored --nocapture` prints the table that `src/search/fuse.rs` speaks of.

use std::path::Path;

use engram::base::RecordId;
use engram::base::frame::FrameMeta;
use engram::base::time::Timestamp;
use engram::language::caption::ParsedCaption;
use engram::model::TextRole;
use engram::model::bert;
use engram::search::{Corpus, Filter, Query};
use engram::store::Record;

const COLOURS: &[&str] = &["red", "blue", "green", "yellow", "white", "black", "purple", "grey"];
/// As captions and as people say it.
const THINGS: &[[&str; 2]] = &[
    ["mug", "cup"],
    ["book", "novel"],
    ["laptop", "notebook computer"],
    ["remote control", "remote"],
    ["plant", "houseplant"],
    ["backpack", "bag"],
    ["shoes", "sneakers"],
    ["bottle", "water bottle"],
    ["pillow", "cushion"],
    ["phone", "smartphone"],
    ["lamp", "light"],
    ["keys", "key ring"],
];
const PLACES: &[[&str; 2]] = &[
    ["sofa", "couch"],
    ["wooden table", "table"],
    ["desk", "workplace"],
    ["shelf", "shelves"],
    ["bed", "bed"],
    ["counter", "worktop"],
];
const ROOMS: &[&str] = &["kitchen", "living room", "bedroom", "office", "hallway"];

/// Small and the same everywhere (splitmix).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % sides as u64).unwrap()
    }
}

/// Two things, where they lie and in which room, by place in the lists.
#[derive(Clone, Copy, PartialEq)]
struct Scene {
    things: [(usize, usize); 2],
    place: usize,
    room: usize,
}

fn scene(dice: &mut Dice) -> Scene {
    let mut thing = || (dice.roll(COLOURS.len()), dice.roll(THINGS.len()));
    let things = [thing(), thing()];
    Scene { things, place: dice.roll(PLACES.len()), room: dice.roll(ROOMS.len()) }
}

fn named((colour, thing): (usize, usize), word: usize) -> String {
    format!("{} {}", COLOURS[colour], THINGS[thing][word])
}

fn caption(scene: Scene, is_long: bool) -> String {
    let Scene { things: [a, b], place, room } = scene;
    let (a, b, place, room) = (named(a, 0), named(b, 0), PLACES[place][0], ROOMS[room]);
    if is_long {
        format!(
            "The image shows a {room} with soft light coming in through a window. In the centre \
             there is a {place}, and a {a} has been left on it. Beside it lies a {b}, partly in \
             the shade. The walls are plain and the floor is tidy, which gives the scene a calm \
             feeling."
        )
    } else {
        format!("a {a} next to a {b} on a {place} in the {room}")
    }
}

/// A question, and which scenes answer it.
fn question(scene: Scene, dice: &mut Dice) -> (String, impl Fn(Scene) -> bool) {
    let Scene { things: [a, _], place, room } = scene;
    let (thing, says_place, says_room) = (named(a, dice.roll(2)), dice.roll(2), dice.roll(2));
    let mut text = format!("where is the {thing}");
    if says_place == 1 {
        text = format!("{text} that was on the {}", PLACES[place][dice.roll(2)]);
    }
    if says_room == 1 {
        text = format!("{text} in the {}", ROOMS[room]);
    }
    let answers = move |it: Scene| {
        it.things.contains(&a)
            && (says_place == 0 || it.place == place)
            && (says_room == 0 || it.room == room)
    };
    (text, answers)
}

fn record(id: usize, caption: String) -> Record {
    let taken_at = Timestamp::from_seconds(1e9 + id as f64).unwrap();
    let meta = FrameMeta {
        taken_at,
        pose: None,
        frame_id: "map".to_owned(),
        map_id: String::new(),
        source: "front".to_owned(),
    };
    let id = RecordId(id as u64 + 1);
    let parsed = ParsedCaption::by_rules(&caption);
    let (confidence, layer, image) = (None, None, None);
    let detections = Vec::new();
    Record { id, meta, end_at: taken_at, caption, parsed, confidence, detections, layer, image }
}

/// Mean reciprocal rank of the first right record, by weight.
fn ranks(seed: u64, is_long: bool, weights: &[f32]) -> Vec<f64> {
    const SCENES: usize = 600;
    const QUESTIONS: usize = 150;
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/caption-embedder");
    let embedder = bert::load(&model).unwrap();
    let mut dice = Dice(seed);
    let scenes: Vec<Scene> = (0..SCENES).map(|_| scene(&mut dice)).collect();
    let captions: Vec<String> = scenes.iter().map(|it| caption(*it, is_long)).collect();
    let corpus = Corpus::new(embedder.dimension());
    for (id, caption) in captions.iter().enumerate() {
        let vector = embedder.embed(TextRole::Passage, &[caption]).unwrap().remove(0);
        corpus.changes().insert(&record(id, caption.clone()), &vector).unwrap();
    }
    let mut sums = vec![0.0; weights.len()];
    for _ in 0..QUESTIONS {
        let asked = scenes[dice.roll(SCENES)];
        let (text, answers) = question(asked, &mut dice);
        let vector = embedder.embed(TextRole::Query, &[&text]).unwrap().remove(0);
        let filter = Filter::default();
        let query =
            Query { text: &text, vector: Some(&vector), filter: &filter, accepts: None, k: SCENES };
        let hits = corpus.search(&query);
        for (sum, weight) in sums.iter_mut().zip(weights) {
            let mut order: Vec<(f32, usize)> = hits
                .iter()
                .map(|hit| {
                    (hit.dense + weight * hit.lexical, usize::try_from(hit.id.0).unwrap() - 1)
                })
                .collect();
            order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let rank = order.iter().position(|(_, at)| answers(scenes[*at])).unwrap();
            *sum += 1.0 / (rank as f64 + 1.0) / QUESTIONS as f64;
        }
    }
    sums
}

#[test]
#[ignore = "a measurement: two minutes"]
fn which_weight_of_words_finds_the_moment() {
    let weights = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.5, 3.0];
    println!("weight of words: {weights:?}");
    for (name, seed) in [("to choose on", 1), ("to confirm", 2)] {
        for is_long in [false, true] {
            let found: Vec<String> =
                ranks(seed, is_long, &weights).iter().map(|it| format!("{it:.3}")).collect();
            println!("{name}, long captions {is_long}: {}", found.join(" "));
        }
    }
}

//! Scripted models without weights, for the tests of other layers: deterministic, instant, and
//! failing on demand.

use std::collections::VecDeque;
use std::fmt;

use rust_stemmers::{Algorithm, Stemmer};

use crate::base::caption::Caption;
use crate::base::embedding::Embedding;
use crate::base::picture;
use crate::base::picture::ImageLimits;
use crate::model::{
    CaptionError, Captioner, Embedder, Fingerprint, ModelError, ModelIdentity, TextRole,
};

/// Embedder by bag of words: a text's vector is the sum of one fixed random direction per
/// stemmed word, so that similarity is the share of common words.
pub struct ScriptedEmbedder {
    identity: ModelIdentity,
    dimension: usize,
    stemmer: Stemmer,
}

impl ScriptedEmbedder {
    /// From about 64 dimensions on, unrelated words are nearly orthogonal.
    pub fn new(dimension: usize) -> Self {
        Self::with_name("scripted-embedder", dimension)
    }

    /// Another name is another fingerprint, and other vectors.
    pub fn with_name(name: &str, dimension: usize) -> Self {
        let identity = identity_of(name, &format!("{name}/{dimension}"));
        Self { identity, dimension, stemmer: Stemmer::create(Algorithm::English) }
    }

    fn vector(&self, text: &str) -> Result<Embedding, ModelError> {
        let mut sum = vec![0.0; self.dimension];
        // The text's own direction, faint, so that no text is without one.
        self.add_direction("", 1e-3, &mut sum);
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            self.add_direction(&self.stemmer.stem(&word.to_lowercase()), 1.0, &mut sum);
        }
        Embedding::new(sum, self.dimension).map_err(|bad| ModelError::Failed(bad.to_string()))
    }

    fn add_direction(&self, word: &str, weight: f32, sum: &mut [f32]) {
        let mut state = hash(&format!("{}/{word}", self.identity.fingerprint));
        for component in sum {
            *component += weight * symmetric(splitmix(&mut state));
        }
    }
}

impl fmt::Debug for ScriptedEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, dimension, stemmer: _ } = self;
        f.debug_struct("ScriptedEmbedder")
            .field("identity", identity)
            .field("dimension", dimension)
            .finish_non_exhaustive()
    }
}

impl Embedder for ScriptedEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed(&self, _role: TextRole, texts: &[&str]) -> Result<Vec<Embedding>, ModelError> {
        texts.iter().map(|text| self.vector(text)).collect()
    }

    /// Reads the Latin script.
    fn share_read(&self, text: &str) -> f32 {
        let letters: Vec<char> = text.chars().filter(|c| c.is_alphabetic()).collect();
        let read = letters.iter().filter(|c| c.is_ascii()).count();
        if letters.is_empty() { 1.0 } else { read as f32 / letters.len() as f32 }
    }
}

type CaptionScript = Box<dyn FnMut(&[u8]) -> Result<String, CaptionError> + Send>;

/// Captions by a function of the encoded image.
pub struct ScriptedCaptioner {
    identity: ModelIdentity,
    answer: CaptionScript,
    confidence: Option<f32>,
    failures: VecDeque<CaptionError>,
    restarts: u64,
}

impl ScriptedCaptioner {
    pub fn new(answer: impl FnMut(&[u8]) -> Result<String, CaptionError> + Send + 'static) -> Self {
        Self {
            identity: identity_of("scripted-captioner", "scripted-captioner"),
            answer: Box::new(answer),
            confidence: None,
            failures: VecDeque::new(),
            restarts: 0,
        }
    }

    /// Names the colour that the image has on average, as in "a red picture".
    pub fn by_colour() -> Self {
        Self::new(|image| {
            let pixels = picture::decode(image, ImageLimits::default())
                .map_err(|bad| CaptionError::BadImage(bad.to_string()))?;
            Ok(format!("a {} picture", nearest_colour(mean_colour(pixels.as_raw()))))
        })
    }

    /// Every caption comes with this confidence.
    #[must_use]
    pub fn with_confidence(mut self, confidence: f32) -> Self {
        self.confidence = Some(confidence);
        self
    }

    /// The first calls fail like this, one each, before any image is looked at.
    #[must_use]
    pub fn failing_first(mut self, failures: impl IntoIterator<Item = CaptionError>) -> Self {
        self.failures.extend(failures);
        self
    }
}

impl fmt::Debug for ScriptedCaptioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { identity, answer: _, confidence, failures, restarts } = self;
        f.debug_struct("ScriptedCaptioner")
            .field("identity", identity)
            .field("confidence", confidence)
            .field("failures", failures)
            .field("restarts", restarts)
            .finish_non_exhaustive()
    }
}

impl Captioner for ScriptedCaptioner {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn caption(&mut self, image: &[u8]) -> Result<Caption, CaptionError> {
        if let Some(failure) = self.failures.pop_front() {
            let died = matches!(failure, CaptionError::Died(_) | CaptionError::Hung(_));
            self.restarts += u64::from(died);
            return Err(failure);
        }
        let text = (self.answer)(image)?;
        Ok(Caption { confidence: self.confidence, ..Caption::without_confidence(&text) })
    }

    fn process_id(&self) -> Option<u32> {
        None
    }

    /// Scripted deaths and hangs, as if each had been followed by a restart.
    fn restarts(&self) -> u64 {
        self.restarts
    }
}

fn identity_of(name: &str, content: &str) -> ModelIdentity {
    let fingerprint = Fingerprint(format!("scripted-{:016x}", hash(content)));
    ModelIdentity { name: name.to_owned(), fingerprint }
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// In −1..1.
#[expect(clippy::cast_possible_truncation, reason = "24 bits fit an f32 exactly")]
fn symmetric(random: u64) -> f32 {
    ((random >> 40) as f64 / f64::from(1 << 23) - 1.0) as f32
}

const COLOURS: [(&str, [f64; 3]); 9] = [
    ("black", [0.0, 0.0, 0.0]),
    ("white", [255.0, 255.0, 255.0]),
    ("grey", [128.0, 128.0, 128.0]),
    ("red", [220.0, 30.0, 30.0]),
    ("green", [30.0, 180.0, 30.0]),
    ("blue", [30.0, 30.0, 220.0]),
    ("yellow", [240.0, 230.0, 40.0]),
    ("orange", [240.0, 140.0, 20.0]),
    ("purple", [140.0, 40.0, 160.0]),
];

fn mean_colour(rgb: &[u8]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for pixel in rgb.chunks_exact(3) {
        for (channel, value) in sum.iter_mut().zip(pixel) {
            *channel += f64::from(*value);
        }
    }
    let pixels = (rgb.len() / 3).max(1) as f64;
    sum.map(|channel| channel / pixels)
}

fn nearest_colour(rgb: [f64; 3]) -> &'static str {
    let distance =
        |other: &[f64; 3]| -> f64 { rgb.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum() };
    COLOURS
        .iter()
        .min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)))
        .map_or("grey", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;
    use std::time::Duration;

    use image::{ImageFormat, Rgb, RgbImage};

    fn embed(text: &str) -> Embedding {
        ScriptedEmbedder::new(128).embed(TextRole::Query, &[text]).unwrap().remove(0)
    }

    #[test]
    fn shared_words_make_texts_near() {
        let query = embed("red mugs");
        let near = query.cosine(&embed("a red mug on the table"));
        let far = query.cosine(&embed("a blue book in a shelf"));
        assert!(near > 0.4 && far < 0.3, "{near} {far}");
        assert!(embed("Mug, red!").cosine(&embed("the red mugs")) > 0.6);
    }

    #[test]
    fn equal_texts_have_equal_vectors_and_every_text_has_one() {
        assert_eq!(embed("red mug"), embed("red mug"));
        assert_eq!(embed("").dimension(), 128);
        let other = ScriptedEmbedder::with_name("other", 128).embed(TextRole::Query, &["red mug"]);
        assert!(other.unwrap()[0].cosine(&embed("red mug")).abs() < 0.3);
    }

    #[test]
    fn names_are_part_of_the_fingerprint() {
        let one = ScriptedEmbedder::with_name("a", 8);
        assert_ne!(one.identity(), ScriptedEmbedder::with_name("b", 8).identity());
        assert_eq!(one.identity(), ScriptedEmbedder::with_name("a", 8).identity());
    }

    #[test]
    fn captions_name_the_colour() {
        let mut captioner = ScriptedCaptioner::by_colour();
        for (name, rgb) in [("red", [210, 20, 40]), ("white", [250, 250, 240])] {
            let mut png = Cursor::new(Vec::new());
            RgbImage::from_pixel(4, 4, Rgb(rgb)).write_to(&mut png, ImageFormat::Png).unwrap();
            let caption = captioner.caption(png.get_ref()).unwrap();
            assert_eq!(caption, Caption::without_confidence(&format!("a {name} picture")));
        }
        assert!(matches!(captioner.caption(b"no image"), Err(CaptionError::BadImage(_))));
    }

    #[test]
    fn failures_come_first_and_in_order() {
        let hung = CaptionError::Hung(Duration::from_secs(1));
        let away = CaptionError::Unavailable("no weights".to_owned());
        let mut captioner = ScriptedCaptioner::new(|_| Ok("a mug".to_owned()))
            .failing_first([hung.clone(), away.clone()]);
        assert_eq!(captioner.caption(&[]), Err(hung));
        assert_eq!(captioner.caption(&[]), Err(away));
        assert_eq!(captioner.caption(&[]), Ok(Caption::without_confidence("a mug")));
        assert_eq!(captioner.restarts(), 1);
    }
}

//! Which records show what a request to forget names: decided as a sighting is, with all that is
//! named around the thing, and never by likeness.

use std::collections::BTreeSet;

use crate::base::RecordId;
use crate::base::embedding::Embedding;
use crate::index::phrases::SceneQuery;
use crate::index::terms::terms;
use crate::language::fit::Fit;
use crate::language::lexicon;
use crate::language::things_apart::{excepted, things_apart};
use crate::language::topic::{Forgotten, topic};
use crate::language::verbs::begins_with_activity;
use crate::language::words::PLACEHOLDERS;
use crate::memory::episodic::caption_match::{Shown, shows_all};
use crate::memory::episodic::{Episodic, MemoryError};
use crate::model::TextRole;
use crate::search::Filter;
use crate::store::Record;

/// Words in order that are a sentence which somebody remembers, and no name.
const SENTENCE_WORDS_MIN: usize = 4;

/// What is to be forgotten.
pub(super) struct ForgottenTopic {
    /// The words in order, each between blanks.
    words: String,
    /// What tells something of them.
    terms: BTreeSet<String>,
    /// Scenes of which each is meant; none where it names nothing that a record could show.
    scenes: Vec<SceneQuery>,
    /// Scenes of which none is.
    excepted: Vec<SceneQuery>,
    /// Names with digits, which are nothing but themselves.
    literal: Vec<String>,
    /// Whether the embedder knows its script.
    is_read: bool,
    /// With the least likeness of what is near; where it names nothing.
    vector: Option<(Embedding, f32)>,
}

/// What a record is to the topic; later is nearer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    Apart,
    /// What it says is alike.
    Alike,
    /// It may show it.
    MayShow {
        target: Fit,
        around: usize,
    },
    Meant,
}

impl Episodic {
    pub(super) fn forgotten_topic(
        &self,
        request: &str,
        least: f32,
    ) -> Result<ForgottenTopic, MemoryError> {
        let text = topic(request, Forgotten::Seen);
        let is_read = self.reads(text);
        let (named, except) = excepted(text);
        let read = |text: &str| if is_read { self.scenes(text) } else { Ok(Vec::new()) };
        let scenes = read(named)?;
        let excepted = except.as_deref().map_or_else(|| Ok(Vec::new()), read)?;
        let needs_vector = is_read && scenes.is_empty();
        let vector =
            needs_vector.then(|| self.embedder.embed(TextRole::Query, text)).transpose()?;
        Ok(ForgottenTopic {
            words: words_in_order(text),
            terms: telling_terms(text),
            scenes,
            excepted,
            literal: literal_names(text),
            is_read,
            vector: vector.map(|it| (it, least)),
        })
    }

    fn scenes(&self, text: &str) -> Result<Vec<SceneQuery>, MemoryError> {
        let mut scenes = Vec::new();
        for part in things_apart(text) {
            scenes.push(self.scene(&part)?);
        }
        match scenes.into_iter().collect::<Option<Vec<_>>>() {
            Some(all) => Ok(all),
            None => Ok(self.scene(text)?.into_iter().collect()),
        }
    }

    /// A thing or a deed; "cooking" and "me cooking" are what somebody does. `None` where what is named is neither
    /// known nor seen: a name of somebody, "something red".
    fn scene(&self, text: &str) -> Result<Option<SceneQuery>, MemoryError> {
        let deed = text.strip_prefix("me ").unwrap_or(text);
        let scene = if begins_with_activity(deed) {
            self.read_query(&format!("somebody {deed}"))?
        } else {
            self.read_query(text)?
        };
        let may_be_shown = |it: &SceneQuery| {
            lexicon::is_name(&lexicon::singular(&it.target.noun))
                || self.corpus.last_sightings(it, &Filter::default(), 1).is_some()
        };
        Ok(scene.filter(may_be_shown))
    }

    /// What a record is to the topic. Where the embedder does not read one of both, all of the
    /// words decide, as they are written.
    pub(super) fn standing(
        &self,
        topic: &ForgottenTopic,
        record: &Record,
        vector: &Embedding,
    ) -> Standing {
        let holds_all = || {
            let held: BTreeSet<String> = terms(&record.caption).into_iter().collect();
            !topic.terms.is_empty() && topic.terms.is_subset(&held)
        };
        let is_read = topic.is_read && self.reads(&record.caption);
        if !is_read || topic.scenes.is_empty() {
            let is_alike =
                topic.vector.as_ref().filter(|_| is_read).is_some_and(|(query, least)| {
                    self.embedder.similarity(vector, query) >= *least
                });
            return match () {
                () if holds_all() => Standing::Meant,
                () if is_alike => Standing::Alike,
                () => Standing::Apart,
            };
        }
        let is_quoted = topic.words.split_whitespace().count() >= SENTENCE_WORDS_MIN
            && words_in_order(&record.caption).contains(&topic.words);
        if is_quoted {
            return Standing::Meant;
        }
        let best = |scenes: &[SceneQuery]| {
            scenes.iter().filter_map(|it| shows_all(&record.parsed, it)).max()
        };
        let is_excepted = best(&topic.excepted).is_some_and(|it| it > RELATED);
        let is_named = topic.literal.iter().all(|it| says(&record.caption, it));
        match best(&topic.scenes) {
            Some(Shown::Surely) if is_named && !is_excepted => Standing::Meant,
            Some(Shown::Surely) => Standing::MayShow { target: Fit::Possible, around: 0 },
            Some(Shown::Maybe { target: Fit::Related, .. }) | None => Standing::Apart,
            Some(Shown::Maybe { target, around }) => Standing::MayShow { target, around },
        }
    }

    /// Whether a record has these words in their order.
    pub fn is_quoted(&self, text: &str) -> Result<bool, MemoryError> {
        let words = words_in_order(topic(text, Forgotten::Seen));
        if words.split_whitespace().count() < SENTENCE_WORDS_MIN {
            return Ok(false);
        }
        for entry in self.store.scan_between(RecordId(0), RecordId(u64::MAX)) {
            match entry {
                Ok((record, _)) if words_in_order(&record.caption).contains(&words) => {
                    return Ok(true);
                }
                Err(error) if !error.concerns_one_value() => return Err(error.into()),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(false)
    }
}

/// What hardly is the thing.
const RELATED: Shown = Shown::Maybe { target: Fit::Related, around: usize::MAX };

/// Numbers up to this count things and name none.
const COUNT_MAX: u32 = 20;

fn literal_names(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split_whitespace().map(|it| it.trim_matches(|c: char| !c.is_alphanumeric()));
    let has_digit = |it: &&str| it.contains(|c: char| c.is_ascii_digit());
    let is_count = |it: &&str| it.parse::<u32>().is_ok_and(|it| it <= COUNT_MAX);
    words.filter(has_digit).filter(|it| !is_count(it)).map(str::to_owned).collect()
}

/// Whether a caption has a word as it is written.
fn says(caption: &str, word: &str) -> bool {
    words_in_order(caption).contains(&words_in_order(word))
}

fn words_in_order(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
    words.fold(" ".to_owned(), |all, word| all + word + " ")
}

/// Terms of the words that name something: "red" of "something red".
fn telling_terms(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let words = lower.split_whitespace().filter(|it| !PLACEHOLDERS.contains(it));
    terms(&words.collect::<Vec<_>>().join(" ")).into_iter().collect()
}

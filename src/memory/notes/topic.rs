//! Decides which notes are about a topic, to forget them: fewer than what a search finds,
//! as what is forgotten does not come back.

use uuid::Uuid;

use crate::base::time::Timestamp;
use crate::language::topic::{Forgotten, topic};
use crate::language::topic_words::{Held, TopicWords};
use crate::memory::notes::corpus::IndexedNote;
use crate::memory::notes::passages::passages;
use crate::memory::notes::{Notes, NotesError, ScoredNote};
use crate::search::prose::ProseQuery;

/// Notes that share words with the topic and are not about it by the rule: listed so that
/// somebody can look, at most so many.
const NEAR_MAX: usize = 20;

/// The notes about a topic.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// Best first.
    pub notes: Vec<OnTopic>,
    /// Those that name a part of the topic only, best first.
    pub near: Vec<ScoredNote>,
    /// Whether the topic's words were matched as written.
    pub is_literal: bool,
}

/// A note about a topic, and by what.
#[derive(Debug, Clone, PartialEq)]
pub struct OnTopic {
    pub found: ScoredNote,
    pub why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It holds every word of the topic.
    Words,
    /// It means much the same.
    Meaning,
    /// Somebody named it by its id.
    Named,
}

/// What a note is to a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    On(Why),
    Near,
    Apart,
}

impl Notes {
    /// The notes about `topic`: those that hold all of its words, and those at least as
    /// similar in meaning as `threshold`.
    ///
    /// One shared word is not enough: to forget Project Titan is not to forget the moon
    /// of that name. Of what a note does not say in these words it must say the meaning.
    pub fn about(
        &self,
        request: &str,
        threshold: f32,
        now: Timestamp,
    ) -> Result<About, NotesError> {
        self.remove_expired(now)?;
        let topic = topic(request, Forgotten::Told);
        let asked = Asked { query: self.query(topic)?, words: TopicWords::of(topic), threshold };
        let (mut notes, mut near) = (Vec::new(), Vec::new());
        for candidate in self.candidates(&asked) {
            let Some(note) = self.store.note(candidate.id)? else { continue };
            let standing = self.standing(&asked, &candidate, &note.text)?;
            let found = ScoredNote { note, score: candidate.score };
            match standing {
                Standing::On(why) => notes.push(OnTopic { found, why }),
                Standing::Near if near.len() < NEAR_MAX => near.push(found),
                Standing::Near | Standing::Apart => {}
            }
        }
        Ok(About { notes, near, is_literal: asked.query.is_literal() })
    }

    /// Notes that share a word with the topic, or resemble it, the most alike first.
    fn candidates(&self, asked: &Asked<'_>) -> Vec<Candidate> {
        let corpus = self.read();
        let words = corpus.words().query(asked.words.text());
        let candidate = |(id, entry): (&Uuid, &IndexedNote)| {
            let score = entry.similarity(&self.embedder, &asked.query);
            let coverage = entry.word_match(&words).coverage;
            (coverage > 0.0 || score >= asked.threshold).then_some(Candidate {
                id: *id,
                score,
                coverage,
            })
        };
        let mut found: Vec<Candidate> = corpus.iter().filter_map(candidate).collect();
        drop(corpus);
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        found
    }

    fn standing(
        &self,
        asked: &Asked<'_>,
        note: &Candidate,
        text: &str,
    ) -> Result<Standing, NotesError> {
        let is_alike = note.score >= asked.threshold;
        if asked.query.is_literal() {
            return Ok(match note.coverage {
                1.0.. => Standing::On(Why::Words),
                _ if is_alike => Standing::On(Why::Meaning),
                _ => Standing::Near,
            });
        }
        let held = passages(text).into_iter().map(|it| asked.words.held_in(it)).max();
        Ok(match held.unwrap_or_default() {
            Held::All => Standing::On(Why::Words),
            Held::Some { rest } if is_alike && self.says(note.id, &rest, asked.threshold)? => {
                Standing::On(Why::Meaning)
            }
            Held::None | Held::Derived if is_alike => Standing::On(Why::Meaning),
            Held::Some { .. } | Held::OfAnother | Held::Derived | Held::Alike => Standing::Near,
            Held::None => Standing::Apart,
        })
    }

    /// Whether a note means what these words say.
    fn says(&self, id: Uuid, words: &str, threshold: f32) -> Result<bool, NotesError> {
        let query = self.query(words)?;
        let corpus = self.read();
        let similarity = corpus.get(id).map(|it| it.similarity(&self.embedder, &query));
        Ok(similarity.is_some_and(|it| it >= threshold))
    }
}

/// A note that may be about a topic.
struct Candidate {
    id: Uuid,
    score: f32,
    /// Share of the topic's words.
    coverage: f32,
}

/// A topic, ready to be compared with notes.
struct Asked<'a> {
    query: ProseQuery,
    words: TopicWords<'a>,
    threshold: f32,
}

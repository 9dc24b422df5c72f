//! Decides which notes are about a topic, to forget them: fewer than what a search finds,
//! as what is forgotten does not come back.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::base::time::Timestamp;
use crate::index::terms::terms;
use crate::memory::notes::{Notes, NotesError, ScoredNote};

/// Words by which people say that they mean a topic, and which are no part of it.
const FRAME: &str = "all any every everything anything information info data detail facts note \
    notes memory memories entry entries record relate related relating regard regarding concern \
    concerning about mention mentioning topic subject forget delete remove stuff thing things \
    please know";

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

impl Notes {
    /// The notes about `topic`: those that hold all of its words, and those at least as
    /// similar in meaning as `threshold`.
    ///
    /// One shared word is not enough: to forget Project Titan is not to forget the moon
    /// of that name.
    pub fn about(&self, topic: &str, threshold: f32, now: Timestamp) -> Result<About, NotesError> {
        self.remove_expired(now)?;
        let query = self.query(topic)?;
        let words = self.read().words().query(&subject(topic));
        let mut on_topic: Vec<(f32, Uuid, Why)> = Vec::new();
        let mut near: Vec<(f32, Uuid)> = Vec::new();
        for (id, entry) in self.read().iter() {
            let similarity = entry.similarity(&self.embedder, &query);
            let coverage = entry.word_match(&words).coverage;
            if coverage >= 1.0 {
                on_topic.push((similarity, *id, Why::Words));
            } else if similarity >= threshold {
                on_topic.push((similarity, *id, Why::Meaning));
            } else if coverage > 0.0 {
                near.push((similarity, *id));
            }
        }
        on_topic.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut about =
            About { notes: Vec::new(), near: Vec::new(), is_literal: query.is_literal() };
        for (score, id, why) in on_topic {
            let found = self.store.note(id)?.map(|note| ScoredNote { note, score });
            about.notes.extend(found.map(|found| OnTopic { found, why }));
        }
        for (score, id) in near.into_iter().take(NEAR_MAX) {
            about.near.extend(self.store.note(id)?.map(|note| ScoredNote { note, score }));
        }
        Ok(about)
    }
}

/// The words of a topic without those that only frame it; all of them where nothing is
/// left.
fn subject(topic: &str) -> String {
    let frame: BTreeSet<String> = terms(FRAME).into_iter().collect();
    let topic = topic.replace("'s", " ").replace("’s", " ");
    let says = |word: &&str| terms(word).iter().any(|term| !frame.contains(term));
    let kept: Vec<&str> = topic.split_whitespace().filter(says).collect();
    if kept.is_empty() { topic } else { kept.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_frame_a_topic_are_no_part_of_it() {
        for (topic, expected) in [
            ("all information related to Project Titan", "Project Titan"),
            ("everything about today's weather, please", "today weather,"),
            ("Titan", "Titan"),
            ("everything", "everything"),
            ("오늘 날씨", "오늘 날씨"),
        ] {
            assert_eq!(subject(topic), expected);
        }
    }
}

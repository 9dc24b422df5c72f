//! Which nouns mean the same: every noun once, with its vector.
//!
//! Knows numbers only: vectors are made by the caller, once for each noun, when
//! it is first seen.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::embedding::Embedding;

/// Most nouns kept; a home's captions use some hundreds. Beyond them a noun has
/// no vector, and is found by its own name only.
pub const NOUNS_MAX: usize = 16_384;

/// How alike two nouns are that share a word ("living room", "dining room") must
/// be to mean the same, a cosine of .85: the shared word alone makes vectors alike.
const SHARED_WORD_LEAST: f32 = 0.925;

/// Nouns whose synonyms are remembered; at one more all are forgotten, and looked up
/// again when somebody asks.
const ASKED_MAX: usize = 512;

/// Likeness of two vectors, in 0..=1: halfway from −1 to 1 for a cosine of 0.
pub type Likeness<'a> = &'a dyn Fn(&Embedding, &Embedding) -> f32;

/// Nouns by their stems, and which of them mean the same.
///
/// A new noun costs its vector and nothing else: it is compared with the others when
/// somebody asks for it, and from then on only with those that came since.
#[derive(Debug)]
pub struct Nouns {
    least: f32,
    by_stem: HashMap<Box<str>, u32>,
    stems: Vec<Box<str>>,
    vectors: Vec<Embedding>,
    /// By the nouns that were asked for.
    asked: Mutex<HashMap<u32, Synonyms>>,
}

/// The nouns that mean the same as one, without itself, ascending.
#[derive(Debug, Default, Clone)]
struct Synonyms {
    alike: Vec<u32>,
    /// Nouns up to this one have been compared with it.
    compared: usize,
}

impl Nouns {
    /// Two nouns mean the same from a likeness of `least`.
    pub fn new(least: f32) -> Self {
        let (by_stem, stems, vectors) = (HashMap::new(), Vec::new(), Vec::new());
        Self { least, by_stem, stems, vectors, asked: Mutex::default() }
    }

    pub fn knows(&self, stem: &str) -> bool {
        self.by_stem.contains_key(stem)
    }

    pub fn vector(&self, stem: &str) -> Option<&Embedding> {
        self.vectors.get(*self.by_stem.get(stem)? as usize)
    }

    pub fn len(&self) -> usize {
        self.stems.len()
    }

    pub fn is_empty(&self) -> bool {
        self.stems.is_empty()
    }

    /// Keeps a noun that is not known yet; `false` where there is no room.
    pub fn insert(&mut self, stem: &str, vector: Embedding) -> bool {
        if self.knows(stem) {
            return true;
        }
        if self.len() >= NOUNS_MAX {
            return false;
        }
        let new = u32::try_from(self.len()).unwrap_or(u32::MAX);
        self.by_stem.insert(stem.into(), new);
        self.stems.push(stem.into());
        self.vectors.push(vector);
        true
    }

    /// The stem and those that mean the same; of an unknown one only itself.
    pub fn meaning(&self, stem: &str, likeness: Likeness<'_>) -> Vec<String> {
        let alike = self.by_stem.get(stem).map(|at| self.synonyms(*at, likeness));
        self.names_of(stem, alike.unwrap_or_default())
    }

    /// The stem and the known ones that mean the same as a noun of this vector.
    pub fn meaning_of(
        &self,
        stem: &str,
        vector: &Embedding,
        likeness: Likeness<'_>,
    ) -> Vec<String> {
        self.names_of(stem, self.alike_to(stem, vector, 0, likeness))
    }

    /// Stems of the nouns whose likeness to a vector is `least` or more, and that likeness; the
    /// most alike first.
    pub fn alike(
        &self,
        vector: &Embedding,
        least: f32,
        likeness: Likeness<'_>,
    ) -> Vec<(String, f32)> {
        let all = self.stems.iter().zip(&self.vectors);
        let scored = all.map(|(stem, held)| (likeness(vector, held), stem));
        let mut alike: Vec<(f32, &Box<str>)> = scored.filter(|(it, _)| *it >= least).collect();
        alike.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        alike.into_iter().map(|(likeness, stem)| (stem.to_string(), likeness)).collect()
    }

    /// Bytes of memory held, about.
    pub fn memory_bytes(&self) -> usize {
        let vectors = self.vectors.iter().map(|it| it.dimension() * 4 + size_of::<Embedding>());
        let stems = self.stems.iter().map(|it| 2 * (it.len() + 32));
        let asked = self.lock();
        let asked = asked.values().map(|it| it.alike.capacity() * 4 + size_of::<Synonyms>());
        vectors.sum::<usize>() + stems.sum::<usize>() + asked.sum::<usize>()
    }

    fn names_of(&self, stem: &str, alike: Vec<u32>) -> Vec<String> {
        let alike = alike.into_iter().filter_map(|at| self.stems.get(at as usize));
        [stem].into_iter().chain(alike.map(|it| &**it)).map(str::to_owned).collect()
    }

    fn synonyms(&self, at: u32, likeness: Likeness<'_>) -> Vec<u32> {
        let noun = self.stems.get(at as usize).zip(self.vectors.get(at as usize));
        let Some((stem, vector)) = noun else { return Vec::new() };
        let known = self.lock().get(&at).cloned().unwrap_or_default();
        if known.compared == self.len() {
            return known.alike;
        }
        let mut alike = known.alike;
        let new = self.alike_to(stem, vector, known.compared, likeness);
        alike.extend(new.into_iter().filter(|other| *other != at));
        let mut asked = self.lock();
        if asked.len() >= ASKED_MAX {
            asked.clear();
        }
        asked.insert(at, Synonyms { alike: alike.clone(), compared: self.len() });
        alike
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u32, Synonyms>> {
        // Whole entries only: nothing here panics halfway through a change.
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Of the nouns from number `from` on those that mean the same as one.
    fn alike_to(
        &self,
        stem: &str,
        vector: &Embedding,
        from: usize,
        likeness: Likeness<'_>,
    ) -> Vec<u32> {
        let others = (0..).zip(self.stems.iter().zip(&self.vectors)).skip(from);
        let is_alike = |other: &str, held: &Embedding| {
            let least = if share_a_word(stem, other) { SHARED_WORD_LEAST } else { self.least };
            likeness(vector, held) >= least
        };
        others.filter(|(_, (other, held))| is_alike(other, held)).map(|(at, _)| at).collect()
    }
}

fn share_a_word(a: &str, b: &str) -> bool {
    a.split(' ').any(|word| b.split(' ').any(|other| other == word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop, proptest};
    use std::cell::Cell;
    use std::collections::BTreeSet;

    fn vector(turn: f32) -> Embedding {
        Embedding::new(vec![turn.cos(), turn.sin()], 2).unwrap()
    }

    fn nouns(all: &[(&str, f32)]) -> Nouns {
        let mut nouns = Nouns::new(0.65);
        for (stem, turn) in all {
            assert!(nouns.insert(stem, vector(*turn)));
        }
        nouns
    }

    fn meaning(nouns: &Nouns, stem: &str) -> Vec<String> {
        nouns.meaning(stem, &Embedding::cosine)
    }

    #[test]
    fn nouns_of_alike_vectors_mean_the_same() {
        let nouns = nouns(&[("mug", 0.0), ("book", 1.5), ("cup", 0.5)]);
        assert_eq!(meaning(&nouns, "mug"), ["mug", "cup"]);
        assert_eq!(meaning(&nouns, "cup"), ["cup", "mug"]);
        assert_eq!(meaning(&nouns, "book"), ["book"]);
        assert_eq!(meaning(&nouns, "lamp"), ["lamp"]);
    }

    #[test]
    fn the_most_alike_come_first() {
        let nouns = nouns(&[("mug", 0.0), ("book", 1.5), ("cup", 0.5), ("glass", 0.2)]);
        let alike = |least| -> Vec<String> {
            let alike = nouns.alike(&vector(0.45), least, &Embedding::cosine);
            alike.into_iter().map(|(stem, _)| stem).collect()
        };
        assert_eq!(alike(0.8), ["cup", "glass", "mug"]);
        assert_eq!(alike(0.95), ["cup", "glass"]);
    }

    #[test]
    fn a_shared_word_makes_nothing_the_same() {
        let nouns =
            nouns(&[("live room", 0.0), ("dine room", 0.6), ("loung", 0.6), ("room", 0.65)]);
        assert_eq!(meaning(&nouns, "live room"), ["live room", "loung"]);
        assert_eq!(meaning(&nouns, "dine room"), ["dine room", "loung", "room"]);
    }

    #[test]
    fn a_noun_that_came_after_the_question_is_found_by_the_next_and_compared_alone() {
        let mut nouns = nouns(&[("mug", 0.0), ("book", 1.5)]);
        assert_eq!(meaning(&nouns, "mug"), ["mug"]);
        nouns.insert("cup", vector(0.5));
        let compared = Cell::new(0);
        let counted = |a: &Embedding, b: &Embedding| {
            compared.set(compared.get() + 1);
            a.cosine(b)
        };
        assert_eq!(nouns.meaning("mug", &counted), ["mug", "cup"]);
        assert_eq!(compared.get(), 1);
        assert_eq!(nouns.meaning("mug", &counted), ["mug", "cup"]);
        assert_eq!(compared.get(), 1);
    }

    proptest! {
        #[test]
        fn every_pair_is_compared(
            turns in prop::collection::vec(0_f32..6.3, 0..20), asked_after in 0_usize..20,
        ) {
            let stems: Vec<String> = (0..turns.len()).map(|at| format!("s{at}")).collect();
            let all: Vec<(&str, f32)> =
                stems.iter().map(String::as_str).zip(turns.iter().copied()).collect();
            let mut nouns = Nouns::new(0.65);
            for (at, (stem, turn)) in all.iter().enumerate() {
                nouns.insert(stem, vector(*turn));
                if at == asked_after {
                    for (stem, _) in &all {
                        assert_eq!(meaning(&nouns, stem)[0], *stem);
                    }
                }
            }
            for (stem, turn) in &all {
                let expected: BTreeSet<&str> = all.iter()
                    .filter(|(_, other)| vector(*turn).cosine(&vector(*other)) >= 0.65)
                    .map(|(stem, _)| *stem).chain([*stem]).collect();
                let found = meaning(&nouns, stem);
                assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), expected);
            }
        }
    }

    #[test]
    fn memory_grows_with_the_nouns_and_not_with_their_pairs() {
        let mut nouns = Nouns::new(0.65);
        for at in 0..NOUNS_MAX {
            assert!(nouns.insert(&at.to_string(), vector(0.0)));
        }
        assert!(!nouns.insert("mug", vector(0.0)));
        assert!(nouns.insert("7", vector(1.0)), "known already");
        for at in 0..2 * ASKED_MAX {
            nouns.meaning(&at.to_string(), &|_, _| 0.0);
        }
        assert_eq!(nouns.len(), NOUNS_MAX);
        assert!(nouns.memory_bytes() < NOUNS_MAX * 256, "{}", nouns.memory_bytes());
    }
}

//! Which nouns mean the same: every noun once, with its vector.
//!
//! Knows numbers only: vectors are made by the caller, once for each noun, when
//! it is first seen.

use std::collections::HashMap;

use crate::base::embedding::Embedding;

/// Most nouns kept; a home's captions use some hundreds. Beyond them a noun has
/// no vector, and is found by its own name only.
pub const NOUNS_MAX: usize = 16_384;

/// How alike two nouns are that share a word ("living room", "dining room") must
/// be to mean the same, a cosine of .85: the shared word alone makes vectors alike.
const SHARED_WORD_LEAST: f32 = 0.925;

/// Nouns by their stems, and which of them mean the same.
///
/// Likeness is the caller's measure of two vectors, in 0..=1: halfway from −1 to 1
/// for a cosine of 0.
#[derive(Debug)]
pub struct Nouns {
    least: f32,
    by_stem: HashMap<Box<str>, u32>,
    stems: Vec<Box<str>>,
    vectors: Vec<Embedding>,
    /// By noun: those that mean the same, without itself.
    alike: Vec<Vec<u32>>,
}

impl Nouns {
    /// Two nouns mean the same from a likeness of `least`.
    pub fn new(least: f32) -> Self {
        let (by_stem, stems) = (HashMap::new(), Vec::new());
        Self { least, by_stem, stems, vectors: Vec::new(), alike: Vec::new() }
    }

    pub fn knows(&self, stem: &str) -> bool {
        self.by_stem.contains_key(stem)
    }

    pub fn len(&self) -> usize {
        self.stems.len()
    }

    pub fn is_empty(&self) -> bool {
        self.stems.is_empty()
    }

    /// Keeps a noun that is not known yet; `false` where there is no room. Compares
    /// it with all others, so that no question has to.
    pub fn insert(
        &mut self,
        stem: &str,
        vector: Embedding,
        likeness: &dyn Fn(&Embedding, &Embedding) -> f32,
    ) -> bool {
        if self.knows(stem) {
            return true;
        }
        if self.len() >= NOUNS_MAX {
            return false;
        }
        let new = u32::try_from(self.len()).unwrap_or(u32::MAX);
        let alike = self.alike_to(stem, &vector, likeness);
        for other in &alike {
            if let Some(of_other) = self.alike.get_mut(*other as usize) {
                of_other.push(new);
            }
        }
        self.by_stem.insert(stem.into(), new);
        self.stems.push(stem.into());
        self.vectors.push(vector);
        self.alike.push(alike);
        true
    }

    /// The stem and those that mean the same; of an unknown one only itself.
    pub fn meaning(&self, stem: &str) -> Vec<String> {
        let known = self.by_stem.get(stem).and_then(|at| self.alike.get(*at as usize));
        let alike = known.into_iter().flatten().filter_map(|at| self.stems.get(*at as usize));
        [stem].into_iter().chain(alike.map(|it| &**it)).map(str::to_owned).collect()
    }

    /// The stem and the known ones that mean the same as a noun of this vector.
    pub fn meaning_of(
        &self,
        stem: &str,
        vector: &Embedding,
        likeness: &dyn Fn(&Embedding, &Embedding) -> f32,
    ) -> Vec<String> {
        let alike = self.alike_to(stem, vector, likeness);
        let alike = alike.iter().filter_map(|at| self.stems.get(*at as usize));
        [stem].into_iter().chain(alike.map(|it| &**it)).map(str::to_owned).collect()
    }

    /// Whether both stems mean the same.
    pub fn are_same(&self, a: &str, b: &str) -> bool {
        let number = |stem: &str| self.by_stem.get(stem).copied();
        a == b
            || number(a).zip(number(b)).is_some_and(|(a, b)| {
                self.alike.get(a as usize).is_some_and(|alike| alike.contains(&b))
            })
    }

    /// Bytes of memory held, about.
    pub fn memory_bytes(&self) -> usize {
        let vectors = self.vectors.iter().map(|it| it.dimension() * 4 + size_of::<Embedding>());
        let stems = self.stems.iter().map(|it| 2 * (it.len() + 32));
        let alike = self.alike.iter().map(|it| it.capacity() * 4 + size_of::<Vec<u32>>());
        vectors.sum::<usize>() + stems.sum::<usize>() + alike.sum::<usize>()
    }

    fn alike_to(
        &self,
        stem: &str,
        vector: &Embedding,
        likeness: &dyn Fn(&Embedding, &Embedding) -> f32,
    ) -> Vec<u32> {
        let others = (0..).zip(self.stems.iter().zip(&self.vectors));
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
    use std::collections::BTreeSet;

    fn vector(turn: f32) -> Embedding {
        Embedding::new(vec![turn.cos(), turn.sin()], 2).unwrap()
    }

    fn nouns(all: &[(&str, f32)]) -> Nouns {
        let mut nouns = Nouns::new(0.65);
        for (stem, turn) in all {
            assert!(nouns.insert(stem, vector(*turn), &Embedding::cosine));
        }
        nouns
    }

    #[test]
    fn what_is_alike_means_the_same() {
        let nouns = nouns(&[("mug", 0.0), ("book", 1.5), ("cup", 0.5)]);
        assert_eq!(nouns.meaning("mug"), ["mug", "cup"]);
        assert_eq!(nouns.meaning("cup"), ["cup", "mug"]);
        assert_eq!(nouns.meaning("book"), ["book"]);
        assert_eq!(nouns.meaning("lamp"), ["lamp"]);
        assert!(nouns.are_same("mug", "cup") && nouns.are_same("lamp", "lamp"));
        assert!(!nouns.are_same("mug", "book") && !nouns.are_same("mug", "lamp"));
    }

    #[test]
    fn a_shared_word_makes_nothing_the_same() {
        let nouns =
            nouns(&[("live room", 0.0), ("dine room", 0.6), ("loung", 0.6), ("room", 0.65)]);
        assert_eq!(nouns.meaning("live room"), ["live room", "loung"]);
        assert_eq!(nouns.meaning("dine room"), ["dine room", "loung", "room"]);
    }

    proptest! {
        #[test]
        fn is_each_pair_compared(turns in prop::collection::vec(0_f32..6.3, 0..20)) {
            let stems: Vec<String> = (0..turns.len()).map(|at| format!("s{at}")).collect();
            let all: Vec<(&str, f32)> =
                stems.iter().map(String::as_str).zip(turns.iter().copied()).collect();
            let nouns = nouns(&all);
            for (stem, turn) in &all {
                let expected: BTreeSet<&str> = all.iter()
                    .filter(|(_, other)| vector(*turn).cosine(&vector(*other)) >= 0.65)
                    .map(|(stem, _)| *stem).chain([*stem]).collect();
                let found = nouns.meaning(stem);
                assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), expected);
                for (other, _) in &all {
                    assert_eq!(nouns.are_same(stem, other), expected.contains(other));
                }
            }
        }
    }

    #[test]
    fn is_bounded() {
        let mut nouns = Nouns::new(0.65);
        let apart = |_: &Embedding, _: &Embedding| 0.0;
        for at in 0..NOUNS_MAX {
            assert!(nouns.insert(&at.to_string(), vector(0.0), &apart));
        }
        assert!(!nouns.insert("mug", vector(0.0), &apart));
        assert!(nouns.insert("7", vector(1.0), &apart), "known already");
        assert_eq!(nouns.len(), NOUNS_MAX);
    }
}

//! What is only wanted, sought, told of or imagined: the keys of "a woman looking for her keys", the
//! trains of "a book about trains".
//!
//! Pure. By rules over a tagged sentence, as no tag says it.

use std::collections::BTreeSet;

use crate::language::tagged::{TaggedSentence, WordRole};
use crate::language::verbs;
use crate::language::words::{COPULAS, DETERMINERS, OBTAINING, WISHING, number};

/// The heads of what is only wished for in a sentence.
pub(super) fn wished(sentence: TaggedSentence<'_>) -> BTreeSet<usize> {
    let words = 0..sentence.words.len();
    words.flat_map(|at| Wish { sentence, at }.things()).collect()
}

/// A word that may tell of what is not there.
struct Wish<'a> {
    sentence: TaggedSentence<'a>,
    at: usize,
}

impl Wish<'_> {
    fn things(&self) -> Vec<usize> {
        let role = self.sentence.role(self.at);
        if role.is_name() || matches!(role, WordRole::Part | WordRole::Attribute) {
            return Vec::new();
        }
        if self.word(0) == "about" && self.is_subject_matter() {
            return self.named(1);
        }
        // Who is told to look for a pan has one.
        let is_told_to = self.at == 0 && !self.word(0).ends_with("ing");
        let leading = leading(self.word(0)).filter(|_| !is_told_to);
        let Some(leading) = leading else { return Vec::new() };
        if self.is_passive() {
            let is_led = leading.starts_with("it") || is_among(leading, self.word(1));
            let subject = self.sentence.subject(self.at).filter(|_| is_led);
            return subject.map(|it| self.sentence.listed_until(it)).unwrap_or_default();
        }
        if self.word(1) == "to" && (is_among(leading, "to") || OBTAINING.contains(self.word(2))) {
            return self.named(3);
        }
        if is_among(leading, self.word(1)) {
            return self.named(2);
        }
        let is_at_once = leading.split(' ').any(|it| it == "it");
        if is_at_once { self.named(1) } else { self.after_addressee(leading) }
    }

    /// What is asked of somebody for: the bicycle of "asks his mother for a bicycle".
    fn after_addressee(&self, leading: &str) -> Vec<usize> {
        let addressee = self.sentence.listed_from(self.at + 1);
        let Some(end) = addressee.last().map(|it| it + 1) else { return Vec::new() };
        if !is_among(leading, self.sentence.word(end)) {
            return Vec::new();
        }
        self.sentence.listed_from(end + 1)
    }

    /// Whether a thing is about what follows: a book about trains, and no boxes lying about.
    fn is_subject_matter(&self) -> bool {
        let before = self.at.checked_sub(1).map(|it| self.sentence.role(it));
        let is_of_name = before.is_some_and(WordRole::is_name);
        is_of_name && number(self.word(1)).is_none() && self.word(1) != "to"
    }

    /// "the keys are being sought"
    fn is_passive(&self) -> bool {
        let mut before = (0..self.at).rev().map(|it| self.sentence.word(it));
        let said = self.word(0);
        let is_past = said.ends_with("ed") || said == "sought";
        is_past && before.find(|it| *it != "being").is_some_and(|it| COPULAS.contains(it))
    }

    /// What is named from so many words on, without rooms, and without what is said to be somewhere.
    fn named(&self, from: usize) -> Vec<usize> {
        let mut named = self.sentence.listed_from(self.at + from);
        named.retain(|it| self.sentence.role(*it) != WordRole::Place);
        let is_told = !matches!(self.word(from - 1), "for" | "to") && self.word(from) == "the";
        if is_told && named.iter().any(|it| self.is_somewhere(*it)) {
            named.clear();
        }
        named
    }

    /// Whether words right after a head say where it is: "the painting on the wall".
    fn is_somewhere(&self, head: usize) -> bool {
        let next = head + 1;
        self.sentence.role(next) == WordRole::Relation
            && self.sentence.governor(next) == Some(head)
            && DETERMINERS.contains(self.sentence.word(next + 1))
    }

    /// The word so many further on.
    fn word(&self, on: usize) -> &str {
        self.sentence.word(self.at + on)
    }
}

/// The words that lead from a verb to what it is that need not be there.
fn leading(verb: &str) -> Option<&'static str> {
    let known = WISHING.value(verb);
    known.or_else(|| verbs::activity(verb).and_then(|it| WISHING.value(&it)))
}

fn is_among(leading: &str, word: &str) -> bool {
    word != "it" && leading.split(' ').any(|it| it == word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::tagged::tests::found;

    fn check(words: &str, expect: &[&str]) {
        assert_eq!(found(words, wished), expect, "{words}");
    }

    #[test]
    fn what_is_sought_told_of_or_imagined_need_not_be_there() {
        check(
            "a woman/person looking/deed/1 for/relation/2 her keys/thing/3 and a wallet/thing/3 \
             in/relation/2 a drawer/landmark/9",
            &["keys", "wallet"],
        );
        check("a sign/thing asks/deed/1 for/relation/2 lost/attribute/5 cats/thing/3", &["cats"]);
        check(
            "a boy/person asks/deed/1 his mother/person/2 for/relation/2 a bike/thing/5",
            &["bike"],
        );
        check("two men/person talking/deed/1 about/relation/2 a car/thing/3", &["car"]);
        check("a girl/person imagines/deed/1 a horse/thing/2", &["horse"]);
        check(
            "a book/thing about/relation/1 trains/thing/2 on/relation/1 a desk/landmark/4",
            &["trains"],
        );
        check("a man/person wants/deed/1 to buy/deed/1 a bicycle/thing/4", &["bicycle"]);
        check("the keys/thing are being sought/deed", &["keys"]);
        check("a man/person in/relation/1 need of/relation/1 a coat/thing/4", &["coat"]);
        check("a boy/person pretends/deed/1 to hold/deed/1 a sword/thing/4", &["sword"]);
    }

    #[test]
    fn what_is_looked_at_or_said_to_be_somewhere_is_there() {
        check("a woman/person looking/deed/1 at/relation/2 her keys/thing/3", &[]);
        check("search/deed for/relation/0 the peeler/thing/1", &[]);
        check("a man/person wants/deed/1 to open/deed/1 the door/thing/4", &[]);
        check(
            "two men/person talking/deed/1 about/relation/2 the map/thing/3 on/relation/5 the wall/landmark/6",
            &[],
        );
        check(
            "a woman/person looking/deed/1 for/relation/2 a cup/thing/3 and a man/person sits/deed/8",
            &["cup"],
        );
    }
}

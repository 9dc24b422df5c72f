//! Things that are named by "one", "the other" or "another" alone: the red mug and the white one of
//! "two mugs, one red and the other white", of which no tag says that they are mugs.
//!
//! Pure. By rules over a tagged sentence. What "one" stands for may be in the sentence before.

use std::ops::Range;

use crate::language::caption::{ParsedCaption, ParsedThing, Presence};
use crate::language::gone::is_gone;
use crate::language::lexicon;
use crate::language::mention::{Attribute, AttributeKind, Mention};
use crate::language::naming::{self, attribute};
use crate::language::part_attribute::is_part;
use crate::language::sentence::is_boundary;
use crate::language::tagged::{TaggedSentence, TaggedWord, WordRole};
use crate::language::words::{COPULAS, COUNTS, DETERMINERS, THINGS_TOO, is_ordinal, number};

/// What a sentence tells of each of several things.
#[derive(Debug, Default)]
pub(super) struct Singles {
    /// The sentence's tags without what is said of each of them.
    pub(super) words: Vec<TaggedWord>,
    things: Vec<Single>,
    /// The heads, as written, of several that are all told.
    whole: Vec<String>,
    /// What "one" may stand for in the next sentence.
    pub(super) kind: Option<Kind>,
}

#[derive(Debug)]
struct Single {
    mention: Mention,
    kind: Kind,
}

/// Several things of one name, or the one that another is told beside.
#[derive(Debug, Clone)]
pub(super) struct Kind {
    /// As written.
    head: String,
    /// The words of the name of one of them, and what is said of all.
    name: Vec<String>,
    parts: usize,
    /// How many, as far as that is said.
    count: Option<usize>,
    is_plural: bool,
    is_person: bool,
    told: Told,
}

/// How many of several are told.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    ones: usize,
    /// Whether the last one is "the other".
    is_rest: bool,
    /// Whether nothing is said of one, which may be any.
    is_open: bool,
}

impl Told {
    fn is_whole(self, count: Option<usize>) -> bool {
        let is_all = count.is_some_and(|it| self.ones >= it) || self.is_rest && self.ones > 1;
        is_all && !self.is_open
    }
}

/// "One" and what says which one.
#[derive(Debug)]
struct Pronoun {
    /// With the words that say how it is.
    at: Range<usize>,
    said: Vec<String>,
    /// What it has on it, up to the head: "a cat" of "one with a cat".
    with: Option<Range<usize>>,
    /// Whether all others are meant: "the other".
    is_rest: bool,
    /// Whether words before it tell it: "a red one".
    is_told_before: bool,
    is_gone: bool,
}

/// Finds what is told of each; `before` is what the sentence before named.
pub(super) fn singles(text: &str, words: &[TaggedWord], before: Option<&Kind>) -> Singles {
    let said: Vec<String> =
        words.iter().map(|it| text.get(it.at.clone()).unwrap_or_default().to_lowercase()).collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    let reader = Reader { sentence: TaggedSentence { words: &said, tags: words } };
    let mut found = Singles { words: words.to_vec(), ..Singles::default() };
    let mut told: Vec<Kind> = Vec::new();
    let mut at = 0;
    while at < said.len() {
        let Some(one) = reader.pronoun(at) else {
            at += 1;
            continue;
        };
        at = one.at.end.max(at + 1);
        let Some((kind, head)) = reader.kind_of(&one, before) else { continue };
        if let Some(head) = head.filter(|it| reader.is_apposition(&one, *it, &kind)) {
            found.bind(&one.at, head);
            continue;
        }
        found.clear(&one.at);
        if let Some(by) = one.with.as_ref().and_then(|it| reader.sentence.governor(it.end - 1)) {
            found.clear(&(by..by + 1));
        }
        let is_told = !one.said.is_empty() || one.with.is_some() || one.is_gone;
        let known = told.iter().position(|it| it.head == kind.head);
        let known = known.unwrap_or_else(|| {
            told.push(kind.clone());
            told.len() - 1
        });
        if let Some(Kind { told, .. }) = told.get_mut(known) {
            told.ones += usize::from(is_told);
            told.is_rest |= one.is_rest;
            told.is_open |= !is_told;
        }
        let mention = kind.single(&one, &reader.sentence).filter(|_| is_told && !one.is_gone);
        found.things.extend(mention.map(|mention| Single { mention, kind }));
    }
    let whole = told.iter().filter(|it| it.told.is_whole(it.count));
    found.whole = whole.map(|it| it.head.clone()).collect();
    found.kind = reader.last_several();
    if let Some(last) = told.pop()
        && found.kind.as_ref().is_none_or(|it| it.head == last.head)
    {
        found.kind = Some(last);
    }
    found
}

/// Whether what is said of several things is said of each of them alone, so that they are as these
/// are and not otherwise.
pub(crate) fn are_told_singly(said: &[Attribute]) -> bool {
    said.iter().any(|it| it.word == SINGLY)
}

/// Said of several things, and by no caption.
const SINGLY: &str = "each by itself";

impl Singles {
    /// Adds the things to what a caption shows, after the sentence that tells them.
    pub(super) fn add_to(self, sentence: usize, parsed: &mut ParsedCaption) {
        for head in self.whole {
            let mut things = parsed.things.iter_mut().rev();
            let several = things.find(|it| it.mention.head == head);
            if let Some(Mention { phrase, attributes, .. }) = several.map(|it| &mut it.mention) {
                *phrase = format!("{phrase}, {SINGLY}");
                let word = SINGLY.to_owned();
                attributes.push(Attribute { word, kind: AttributeKind::Other });
            }
        }
        parsed.things.extend(self.things.into_iter().map(|Single { mention, kind }| ParsedThing {
            mention,
            sentence,
            presence: Presence::Shown,
            is_person: kind.is_person,
            inside: None,
        }));
    }

    /// Makes words grammar, to which nothing belongs.
    fn clear(&mut self, words: &Range<usize>) {
        for (at, word) in self.words.iter_mut().enumerate() {
            if words.contains(&at) {
                (word.role, word.to) = (WordRole::None, None);
            }
            word.to = word.to.filter(|it| !words.contains(it));
        }
    }

    /// Says of a head what a pronoun beside it does.
    fn bind(&mut self, words: &Range<usize>, head: usize) {
        for (at, word) in self.words.iter_mut().enumerate() {
            let is_within = word.to.is_some_and(|it| words.contains(&it));
            if words.contains(&at) && word.role != WordRole::None {
                (word.role, word.to) = (WordRole::Attribute, Some(head));
            } else if is_within {
                word.to = Some(head);
            }
        }
    }
}

impl Kind {
    /// One of them, with what is said of it.
    fn single(&self, one: &Pronoun, sentence: &TaggedSentence<'_>) -> Option<Mention> {
        let own: Vec<&str> = one.said.iter().map(String::as_str).collect();
        let name: Vec<&str> = self.name.iter().map(String::as_str).collect();
        let words = [own.as_slice(), &name].concat();
        let mut mention = naming::name(&words, &[], Some(self.parts))?;
        let Some(with) = one.with.clone() else { return Some(mention) };
        let phrase = sentence.words.get(with)?;
        let words: Vec<&str> =
            phrase.iter().copied().filter(|it| !DETERMINERS.contains(it)).collect();
        let with = naming::name(&words, &[], None)?;
        if is_part(&with.head) && mention.has_part(&with) {
            return Some(mention);
        }
        mention.phrase = format!("{} with {}", mention.phrase, phrase.join(" "));
        let (word, kind) = (with.singular_head(), AttributeKind::Other);
        mention.attributes.push(Attribute { word, kind });
        Some(mention)
    }
}

struct Reader<'a> {
    sentence: TaggedSentence<'a>,
}

impl Reader<'_> {
    /// The pronoun that begins at this word.
    fn pronoun(&self, at: usize) -> Option<Pronoun> {
        let (mut start, mut told) = (at, Vec::new());
        let one = match self.word(at) {
            "one" | "another" => at,
            "other" | "others" if self.before(at) == "the" => at,
            it if DETERMINERS.contains(it) => {
                let one = self.one_after(at + 1)?;
                start = at;
                told = self.modifiers(at + 1..one);
                one
            }
            _ => return None,
        };
        // Of "one red, one white" a colour may be taken for what is counted.
        let is_counted = |it: usize| it > one && !self.is_adjective(it);
        let is_counting = self.sentence.governor(one).is_some_and(is_counted);
        let is_bare = start == one;
        if is_bare && (is_counting || matches!(self.before(one), "no" | "any" | "every" | "each")) {
            return None;
        }
        let mut from = one + 1;
        if self.word(from) == "one" && is_bare {
            from += 1;
        }
        if self.word(from) == "of" && self.is_material(from + 1) {
            told.push(self.word(from + 1).to_owned());
            from += 2;
        } else if self.word(from) == "of" {
            from = (from..from + 4).find(|it| self.is_group(*it))? + 1;
        }
        let verb = if matches!(self.word(from), "that" | "which") { from + 1 } else { from };
        let is_gone = is_gone(self.sentence, verb);
        let is_said = COPULAS.contains(self.word(verb));
        let first = if is_said { verb + 1 } else { from };
        let end = self.after_adjectives(first).unwrap_or(first);
        // "the other side", "another red mug"
        let ends = self.ends(end) || is_said;
        let has_more = end > first && (self.ends(end) || is_said && !self.names(end));
        if is_bare && !ends {
            return None;
        }
        if has_more && !is_gone {
            told.extend(self.adjectives(first..end));
        }
        let end = if has_more { end } else { from };
        let is_other = |it: usize| matches!(self.word(it), "other" | "others");
        Some(Pronoun {
            at: start..end,
            said: told,
            with: self.with(end),
            is_rest: (start..=one).any(is_other),
            is_told_before: !is_bare,
            is_gone,
        })
    }

    fn is_material(&self, at: usize) -> bool {
        attribute(self.word(at)).kind == AttributeKind::Material
    }

    /// "them" of "one of them", "mugs" of "one of the mugs".
    fn is_group(&self, at: usize) -> bool {
        matches!(self.word(at), "them" | "which" | "these" | "those") || self.role(at).is_name()
    }

    /// "One" after the words that say which: "a tall green one".
    fn one_after(&self, from: usize) -> Option<usize> {
        let is_one = |it: &usize| matches!(self.word(*it), "one" | "ones");
        let one = (from..from + MODIFIERS_MAX).find(is_one).filter(|it| *it > from)?;
        let is_which = |it: usize| {
            let is_name = self.role(it).is_name() || is_boundary(self.word(it));
            self.joins(it)
                || self.is_adjective(it)
                || it + 1 == one && !is_boundary(self.word(it))
                || !is_name
        };
        (from..one).all(is_which).then_some(one)
    }

    /// Where the adjectives end that begin at a word; `None` where there are none.
    fn after_adjectives(&self, from: usize) -> Option<usize> {
        let mut end = None;
        let mut at = from;
        while at < self.sentence.words.len() {
            if self.is_adjective(at) {
                end = Some(at + 1);
            } else if !(self.joins(at) && self.is_adjective(at + 1)
                || self.word(at).ends_with("ly"))
            {
                break;
            }
            at += 1;
        }
        end
    }

    fn adjectives(&self, words: Range<usize>) -> Vec<String> {
        self.modifiers(words.start..words.end)
            .into_iter()
            .filter(|it| !it.ends_with("ly"))
            .collect()
    }

    fn modifiers(&self, words: Range<usize>) -> Vec<String> {
        let words = words.map(|it| self.word(it)).filter(|it| !matches!(*it, "and" | "," | "-"));
        let which = |it: &&str| is_ordinal(it) || matches!(*it, "other" | "last");
        words.filter(|it| !which(it)).map(str::to_owned).collect()
    }

    fn joins(&self, at: usize) -> bool {
        let word = self.word(at);
        let is_free = !matches!(self.word(at + 1), "one" | "other" | "another");
        matches!(word, "and" | "," | "-") && is_free
    }

    /// Whether a word says how something is, and names nothing here.
    fn is_adjective(&self, at: usize) -> bool {
        let word = self.word(at);
        let is_told = attribute(word).kind != AttributeKind::Other;
        let is_formed = || word.len() > 4 && word.ends_with("ed") && !self.names(at);
        let is_known = is_told || lexicon::is_adjective(word) || is_formed();
        let is_number = number(word).is_some() || matches!(word, "ones" | "next");
        is_known && !is_number && !(THINGS_TOO.contains(word) && self.role(at).is_name())
    }

    /// Whether a name goes no further at this word.
    fn ends(&self, at: usize) -> bool {
        let word = self.word(at);
        !word.contains(char::is_alphanumeric)
            || !self.names(at) && (word == "and" || is_boundary(word))
    }

    fn names(&self, at: usize) -> bool {
        self.role(at).is_name() || self.role(at) == WordRole::Part
    }

    /// What one has: "with a cat", "has a cat".
    fn with(&self, at: usize) -> Option<Range<usize>> {
        if !matches!(self.word(at), "with" | "has" | "having" | "bearing") {
            return None;
        }
        let is_before = |it: &usize| {
            DETERMINERS.contains(self.word(*it))
                || matches!(self.role(*it), WordRole::Part | WordRole::Attribute)
        };
        let head = (at + 1..self.sentence.words.len()).find(|it| !is_before(it))?;
        let is_thing = matches!(self.role(head), WordRole::Thing | WordRole::Landmark);
        is_thing.then_some(at + 1..head + 1)
    }

    /// What a pronoun stands for, with its head where that is in this sentence.
    fn kind_of(&self, one: &Pronoun, before: Option<&Kind>) -> Option<(Kind, Option<usize>)> {
        let heads = || {
            let heads = self.sentence.heads(0..one.at.start).rev();
            heads.filter(|it| self.role(*it) != WordRole::Place)
        };
        let counted = heads().find(|it| self.kind(*it).count.is_some_and(|it| it > 1));
        let several = counted.or_else(|| heads().find(|it| self.kind(*it).is_plural));
        let kinds: Vec<AttributeKind> = one.said.iter().map(|it| attribute(it).kind).collect();
        let is_alike = |head: &usize| {
            let mut said = self.said_of(*head);
            said.any(|it| kinds.contains(&attribute(self.word(it)).kind))
        };
        let is_telling = kinds.iter().any(|it| *it != AttributeKind::Other);
        let beside = heads().find(|it| is_telling && is_alike(it));
        let nearest = heads().find(|it| self.role(*it) != WordRole::Landmark);
        let head = if one.is_told_before || self.word(one.at.start) == "another" {
            beside.or(several)
        } else {
            several
        };
        let own = |head: usize| (self.kind(head), Some(head));
        let earlier = || before.map(|it| (it.clone(), None));
        let near = || nearest.filter(|_| one.is_told_before || self.is_another(one)).map(own);
        head.map(own).or_else(earlier).or_else(near)
    }

    fn is_another(&self, one: &Pronoun) -> bool {
        self.word(one.at.start) == "another"
    }

    /// Whether a pronoun only says more of the thing right before it: "a guitar, an acoustic one".
    fn is_apposition(&self, one: &Pronoun, head: usize, kind: &Kind) -> bool {
        let is_beside = one.at.start == head + 2 && self.word(head + 1) == ",";
        let kinds = |said: &str| attribute(said).kind;
        let mut said = self.said_of(head).map(|it| kinds(self.word(it)));
        let is_other = said.any(|it| one.said.iter().any(|said| kinds(said) == it));
        is_beside && !kind.is_plural && !is_other
    }

    /// What is said of a head before it.
    fn said_of(&self, head: usize) -> impl Iterator<Item = usize> {
        (0..head).filter(move |at| {
            self.role(*at) == WordRole::Attribute && self.sentence.governor(*at) == Some(head)
        })
    }

    fn kind(&self, head: usize) -> Kind {
        let word = self.word(head);
        let parts = (0..head).rev().take_while(|at| self.role(*at) == WordRole::Part).count();
        let one = lexicon::singular(word);
        let counted = (0..head).rev().filter(|at| self.sentence.governor(*at) == Some(head));
        let counted = counted.filter(|at| self.role(*at) == WordRole::Count);
        let count = counted.map(|it| self.word(it)).find_map(count_of);
        let is_plural = count.is_some_and(|it| COUNTS.contains(&it))
            || one != word && !lexicon::is_name_of_plural(word, &one);
        let is_of_all = |at: &usize| attribute(self.word(*at)).kind != AttributeKind::Number;
        // Of several all are so; that one is red says nothing of the other.
        let said = self.said_of(head).filter(|it| is_plural && is_of_all(it));
        let mut name: Vec<String> = said.map(|it| self.word(it).to_owned()).collect();
        name.extend((head - parts..head).map(|it| self.word(it).to_owned()));
        name.push(one);
        let is_person = self.role(head) == WordRole::Person;
        let told = Told::default();
        Kind { head: word.to_owned(), name, parts, count, is_plural, is_person, told }
    }

    /// The last several things that are named.
    fn last_several(&self) -> Option<Kind> {
        let heads = self.sentence.heads(0..self.sentence.words.len()).rev();
        heads.map(|it| self.kind(it)).find(|it| it.count.is_some_and(|it| COUNTS.contains(&it)))
    }

    fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |it| self.word(it))
    }

    fn word(&self, at: usize) -> &str {
        self.sentence.word(at)
    }

    fn role(&self, at: usize) -> WordRole {
        self.sentence.role(at)
    }
}

/// Most words between an article and "one".
const MODIFIERS_MAX: usize = 6;

/// How many a word tells: three; two of a pair.
fn count_of(word: &str) -> Option<usize> {
    match word {
        "pair" | "couple" | "both" => Some(2),
        _ => number(word).or_else(|| word.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::tagged::tests::tagged;

    /// The phrases of what is shown, as a caption of these sentences.
    fn check(sentences: &[&str], expect: &[&str]) {
        let tagged: Vec<(String, Vec<TaggedWord>)> =
            sentences.iter().map(|it| tagged(it)).collect();
        let told: Vec<(&str, Vec<TaggedWord>)> =
            tagged.iter().map(|(text, words)| (text.as_str(), words.clone())).collect();
        let parsed = ParsedCaption::of_tagged(1, &told);
        let found: Vec<&str> = parsed.shown_mentions().map(|it| it.phrase.as_str()).collect();
        assert_eq!(found, expect, "{sentences:?}");
    }

    #[test]
    fn each_of_several_is_a_thing_with_what_is_said_of_it() {
        check(
            &[
                "three/count/1 mugs/thing : one/count/1 red , one plain white and one with/relation/1 a \
               black/attribute/14 cat/thing/11 on it",
            ],
            &[
                "three mugs, each by itself",
                "black cat",
                "red mug",
                "plain white mug",
                "mug with a black cat",
            ],
        );
        check(
            &["two/count/1 cups/thing , one/count/1 blue/thing and the other striped/attribute/1"],
            &["two cups, each by itself", "blue cup", "striped cup"],
        );
        check(
            &["a pair/count/3 of bags/thing , a red one and a black one , lie here"],
            &["pair bags, each by itself", "red bag", "black bag"],
        );
        check(
            &[
                "two/count/1 cases/thing , one/count/1 large and black , the other small and red/attribute/1",
            ],
            &["two cases, each by itself", "large black case", "small red case"],
        );
        check(
            &["two/count/1 mugs/thing", "one is red and the other is blue"],
            &["two mugs, each by itself", "red mug", "blue mug"],
        );
    }

    #[test]
    fn of_several_of_which_some_are_told_another_may_be_any() {
        check(&["three/count/1 mugs/thing , one red"], &["three mugs", "red mug"]);
        check(
            &["two/count/1 mugs/thing , one red", "the other is gone"],
            &["two mugs, each by itself", "red mug"],
        );
    }

    #[test]
    fn a_colour_that_is_taken_for_a_thing_is_none() {
        check(
            &["a rack/landmark next/relation to/relation/2 three/count/5 mugs/landmark/3 : \
                 one/count/12 red/none , one/count/12 plain/attribute/12 white/thing and one/none \
                 with/relation/12 a black/attribute/17 cat/thing/15 on it"],
            &[
                "rack",
                "three mugs, each by itself",
                "cat",
                "red mug",
                "plain white mug",
                "mug with a black cat",
            ],
        );
    }

    #[test]
    fn one_is_of_what_is_counted_and_has_what_stands_after_with() {
        check(
            &[
                "two/count/1 bowls/thing , one of them filled with/relation/1 apples/thing/7 and the other empty",
            ],
            &["two bowls, each by itself", "apples", "filled bowl with apples", "empty bowl"],
        );
        check(
            &[
                "two/count/1 vases/thing : a blue one and a tall green one with/relation/1 flowers/thing/11",
            ],
            &["two vases, each by itself", "flowers", "blue vase", "tall green vase with flowers"],
        );
        check(
            &[
                "two/count/1 jars/thing : one with/relation/1 a red/attribute/7 lid/thing/4 and one without",
            ],
            &["two jars", "red lid", "jar red-lidded"],
        );
    }

    #[test]
    fn one_may_be_of_another_material() {
        check(
            &["two/count/1 bags/thing , one of/relation/1 leather/thing/4 and one of paper"],
            &["two bags, each by itself", "leather bag", "paper bag"],
        );
    }

    #[test]
    fn one_beside_a_thing_is_another_of_it() {
        check(
            &["a red/attribute/2 mug/thing and a blue one on/relation/2 a table/landmark/7"],
            &["red mug", "table", "blue mug"],
        );
        check(
            &["a red/attribute/2 mug/thing next to another that is green/attribute/2"],
            &["red mug", "green mug"],
        );
        check(
            &["a guitar/thing , an acoustic/thing one with/relation/1 a strap/thing/6"],
            &["guitar acoustic", "strap"],
        );
    }

    #[test]
    fn what_counts_or_is_no_pronoun_tells_nothing() {
        check(
            &["two/count/1 mugs/thing and one/count/4 red/attribute/5 bowl/thing"],
            &["two mugs", "one red bowl"],
        );
        check(
            &["two/count/1 mugs/thing on/relation/1 the other side of/relation a table/landmark/2"],
            &["two mugs", "table"],
        );
        check(
            &["two/count/1 mugs/thing and another red/attribute/6 cup/part bowl/thing"],
            &["two mugs", "red cup bowl"],
        );
        check(&["two/count/1 mugs/thing , one of them filled"], &["two mugs", "filled mug"]);
    }
}

//! One sentence, word by word.
//!
//! Pure.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::language::identifier;
use crate::language::inscription::{QUOTE, inscription};
use crate::language::lexicon;
use crate::language::made_of;
use crate::language::mention::{AttributeKind, Mention};
use crate::language::naming::{attribute, name, parts_of_word};
use crate::language::part_attribute::is_part;
use crate::language::person::is_person;
use crate::language::words::{
    BOUNDARIES, CANS, COLLECTIVES, COLOURS, COPULAS, COUNTS, DEPICTIONS, DEPICTS, DETERMINERS,
    MATERIALS, MODIFIERS_IN_ING, NOUNS_IN_ED, NOUNS_IN_ING, NOUNS_IN_LY, NUMBERS, OPPOSED,
    PATTERNS, PREPOSITIONS, SIZES, STATES, THINGS_TOO, number,
};

/// A sentence while it is cut.
pub(super) struct Sentence<'a> {
    found: &'a mut Vec<Mention>,
    /// Words that belong together so far.
    run: Vec<&'a str>,
    /// Attributes that wait for their thing: the "red" of "a red and white mug".
    waiting: Vec<&'a str>,
    /// Whether an article stands right before the run.
    has_article: bool,
    subject: Subject,
    /// Number of the mention that has what is named next, as "with" says.
    owner: Option<usize>,
    /// Number of the mention that is made of what is named next, as "of" says, or holds it.
    holder: Option<usize>,
    /// Whether "made of" says so.
    is_made: bool,
}

/// What a word after "is" is said of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    None,
    /// A mention that has just ended.
    Near(usize),
    /// It, and "is" follows.
    Said(usize),
}

impl<'a> Sentence<'a> {
    /// Appends the mentions of a sentence, which is in lower case.
    pub(super) fn cut(sentence: &'a str, found: &'a mut Vec<Mention>) {
        let tokens = tokens(sentence);
        let mut cutter = Self {
            found,
            run: Vec::new(),
            waiting: Vec::new(),
            has_article: false,
            subject: Subject::None,
            owner: None,
            holder: None,
            is_made: false,
        };
        let mut at = preamble(&tokens);
        while let Some(word) = tokens.get(at).copied() {
            let next = tokens.get(at + 1).copied();
            at += 1;
            if word == QUOTE {
                cutter.end(word);
            } else if word == "," || word == "and" || word == "or" {
                cutter.close();
            } else if class(word) == Some(Class::Collective) && next == Some("of") {
                // "a set of keys" mentions keys.
                at += 1;
            } else if cutter.is_head_of_name(word, next) || cutter.is_part_of_name(&tokens, at - 1)
            {
                cutter.run.push(word);
            } else if let Some(written) = cutter.inscription(&tokens, at - 1) {
                at = written.end;
                cutter.close_written(tokens.get(written).unwrap_or_default());
            } else if word == "made" && matches!(next, Some("of" | "from")) {
                cutter.end("of");
                cutter.is_made = true;
                at += 1;
            } else if is_boundary(word)
                || is_before_name(word, next)
                || is_verb(word, next) && !cutter.is_part_in_ing(word, next)
                || is_past(word, next) && !is_can_next(&tokens, at)
                || is_self_reference(&tokens, at - 1)
            {
                cutter.end(word);
            } else if !is_adverb(word) {
                cutter.run.extend(parts_of_word(word));
            }
        }
        cutter.close();
    }

    /// Whether a word that is a verb elsewhere is what the words before it call a thing: "the petrol
    /// can", "an umbrella stand next to the door", "a saw". In "two chairs stand next to the door" and "the
    /// mug the robot saw" it is a verb.
    fn is_head_of_name(&self, word: &str, next: Option<&str>) -> bool {
        let before = self.run.last();
        if word == "can" && before.is_some_and(|it| CANS.contains(it)) {
            return true;
        }
        let is_verb_form = match (word, before) {
            (_, None) => !self.has_article,
            ("can", _) => false,
            ("saw", _) => !self.found.is_empty(),
            (_, Some(before)) => lexicon::singular(before) != **before,
        };
        // "the cocoa can lid"
        let goes_on = |next: &str| {
            word == "can" && before.is_some() && lexicon::is_name(next) && !lexicon::is_verb(next)
        };
        BOUNDARIES.has_tag(word, "thing")
            && !is_verb_form
            && next.is_none_or(|next| ends_name(next) || goes_on(next))
    }

    /// Whether a word that parts names elsewhere begins one, or says which of two is meant: "a can
    /// opener", "the left shoe", "a spotted scarf", and nothing of "to the left" and "I left keys".
    fn is_part_of_name(&self, tokens: &[&str], at: usize) -> bool {
        let word = |at: usize| tokens.get(at).copied().unwrap_or_default();
        let is_adjective = |it: &&str| lexicon::is_adjective(it) || class(it).is_some();
        let is_first = self.run.iter().all(is_adjective);
        let next = word(at + 1);
        if !BOUNDARIES.contains(word(at)) || !is_first || !goes_on(Some(next)) {
            return false;
        }
        let name = format!("{} {}", word(at), lexicon::singular(next));
        let before = at.checked_sub(1).map(word);
        let is_told = before.is_none_or(|it| DETERMINERS.contains(it)) || !self.run.is_empty();
        let is_pattern = || attribute(word(at)).kind == AttributeKind::Pattern;
        lexicon::is_name(&name) || is_told && (OPPOSED.contains(word(at)) || is_pattern())
    }

    /// Whether a word in -ing is a name here, or one before which what it is for stands: "a floor
    /// cleaning machine"; a man, a dog, and what does it to several things do something.
    fn is_part_in_ing(&self, word: &str, next: Option<&str>) -> bool {
        let is_tool = |next: &str| {
            let does = |it: &&str| lexicon::is_person(it) || lexicon::descends_from(it, "animal");
            let is_thing = |it: &&str| lexicon::is_name(it) && !does(it);
            is_thing(&next) && self.run.last().is_some_and(is_thing)
        };
        self.is_named_in_ing(word, next) || next.is_some_and(is_tool)
    }

    /// Whether a word in -ing is a name here: "the moulding" and no more.
    fn is_named_in_ing(&self, word: &str, next: Option<&str>) -> bool {
        self.has_article && self.run.is_empty() && !goes_on(next) && lexicon::is_name(word)
    }

    /// Closes the run at a word that no name goes across.
    fn end(&mut self, word: &str) {
        self.close();
        self.waiting.clear();
        self.owner = match self.subject {
            Subject::Near(it) if word == "with" => Some(it),
            Subject::None | Subject::Near(_) | Subject::Said(_) => {
                self.owner.filter(|_| DETERMINERS.contains(word))
            }
        };
        self.is_made = false;
        self.holder = match self.subject {
            Subject::Near(it) if word == "of" => Some(it),
            Subject::None | Subject::Near(_) | Subject::Said(_) => None,
        };
        self.has_article = DETERMINERS.has_tag(word, "article");
        let is_relative = word == "that" || word == "which";
        self.subject = match self.subject {
            Subject::Near(it) | Subject::Said(it) if COPULAS.contains(word) => Subject::Said(it),
            Subject::Near(it) if is_relative => Subject::Near(it),
            // "a buggy in grey"
            Subject::Near(it) if word == "in" => Subject::Said(it),
            Subject::Near(_) | Subject::Said(_) | Subject::None => Subject::None,
        };
    }

    fn close(&mut self) {
        let mut words = std::mem::take(&mut self.run);
        let has_article = std::mem::take(&mut self.has_article);
        let is_said = |word: &&str| attribute(word).kind != AttributeKind::Other;
        let is_thing_too = |word: &&str| THINGS_TOO.contains(word) || is_named_colour(word);
        let Some(last) = words.last().copied() else { return };
        if words.iter().all(is_said) && !(is_thing_too(&last) && (has_article || words.len() > 1)) {
            match self.subject {
                // "the door is closed"
                Subject::Said(of) => {
                    if let Some(mention) = self.found.get_mut(of) {
                        mention.attributes.extend(words.iter().map(|word| attribute(word)));
                        mention.phrase.push(' ');
                        mention.phrase.push_str(&words.join(" "));
                    }
                }
                Subject::Near(_) | Subject::None
                    if attribute(last).kind == AttributeKind::Material && self.holder.is_some() =>
                {
                    self.hold(&words);
                }
                // "something red" names no thing, unless one follows.
                Subject::Near(_) | Subject::None => self.waiting.append(&mut words),
            }
            return;
        }
        // "the wall white" is a wall.
        let head_at = words.iter().rposition(|word| !is_said(word) || is_thing_too(word));
        let head_at = head_at.unwrap_or(words.len() - 1);
        let after = words.split_off(head_at + 1);
        let mut before = std::mem::take(&mut self.waiting);
        before.append(&mut words);
        self.mention(&before, &after);
    }

    /// What is written on the thing that the run names.
    fn inscription(&self, tokens: &[&str], at: usize) -> Option<Range<usize>> {
        inscription(tokens, at).filter(|_| !self.run.is_empty())
    }

    /// Closes the run as a thing on which this is written.
    fn close_written(&mut self, written: &[&str]) {
        let first = self.found.len();
        self.close();
        if let Some(mention) = self.found.get_mut(first) {
            mention.inscribe(written.iter().copied());
        }
    }

    /// Says of the thing before "of" what it is made of or holds.
    fn hold(&mut self, of: &[&str]) {
        let holder = self.holder.take().and_then(|it| self.found.get_mut(it));
        let holder = match holder {
            Some(holder) if std::mem::take(&mut self.is_made) => {
                made_of::add_material(holder, of);
                return;
            }
            other => other,
        };
        if let Some(holder) = holder.filter(|it| made_of::is_of_name(&it.head) && !is_person(it)) {
            made_of::add(holder, of);
        }
    }

    /// `before` ends with the head.
    fn mention(&mut self, before: &[&str], after: &[&str]) {
        let Some(mention) = name(before, after, None) else { return };
        self.hold(before);
        let owner = self.owner.take();
        if let Some(owner) = owner.filter(|_| is_part(&mention.head))
            && let Some(thing) = self.found.get_mut(owner)
            && thing.has_part(&mention)
        {
            self.subject = Subject::Near(owner);
            return;
        }
        // "a parcel with order number 4471"
        if let Some(thing) = owner.and_then(|it| self.found.get_mut(it))
            && identifier::tell_of(thing, &mention)
        {
            return;
        }
        self.subject = Subject::Near(self.found.len());
        self.found.push(mention);
    }
}

/// A colour that has its name from what is eaten: mustard, cream, an olive.
pub(super) fn is_named_colour(word: &str) -> bool {
    let is_eaten = || FOODS.iter().any(|it| lexicon::is_kind_of(word, it));
    class(word) == Some(Class::Attribute(AttributeKind::Colour)) && is_eaten()
}

/// WordNet's names for it, low enough that each food is one of them, and that egg white, which
/// nobody calls so alone, is none.
const FOODS: &[&str] = &["flavorer", "dairy product", "edible fruit"];

/// Longer words are left out: no thing is called so.
const WORD_BYTES_MAX: usize = 64;

/// Words, commas and quotation marks.
pub(super) fn tokens(sentence: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for part in sentence.split_inclusive([',', '"', '“', '”']) {
        let mark = part.chars().next_back();
        let words = words_of(part);
        let words = words.flat_map(identifier::words);
        let words = words.map(|word| word.trim_matches(|c| c == '-' || c == '\''));
        let words = words.map(|word| word.strip_suffix("'s").unwrap_or(word));
        tokens.extend(words.filter(|word| !word.is_empty() && word.len() <= WORD_BYTES_MAX));
        match mark {
            Some(',') => tokens.push(","),
            Some('"' | '“' | '”') => tokens.push(QUOTE),
            Some(_) | None => {}
        }
    }
    tokens
}

/// The words of a text without the marks between them; "1.07" is one.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let is_mark = |(at, c): &(usize, char)| {
        !c.is_alphanumeric() && !"-'_/".contains(*c) && !identifier::is_decimal_point(text, *at)
    };
    let ends: Vec<(usize, usize)> =
        text.char_indices().filter(is_mark).map(|(at, c)| (at, at + c.len_utf8())).collect();
    let starts: Vec<usize> = std::iter::once(0).chain(ends.iter().map(|(_, next)| *next)).collect();
    let ends = ends.into_iter().map(|(at, _)| at).chain([text.len()]);
    starts.into_iter().zip(ends).filter_map(|(start, end)| text.get(start..end))
}

/// Tokens at the start that say only that this is a caption: "the image shows".
fn preamble(tokens: &[&str]) -> usize {
    let depiction = tokens.iter().take(4).position(|word| DEPICTIONS.contains(word));
    let Some(at) = depiction else { return 0 };
    let starts = tokens
        .first()
        .is_some_and(|word| DETERMINERS.has_tag(word, "article") || DEPICTIONS.contains(word));
    let depicts = tokens.get(at + 1).is_some_and(|word| DEPICTS.contains(word));
    if starts && depicts { at + 1 } else { 0 }
}

/// "in the image", "of this scene".
fn is_self_reference(tokens: &[&str], at: usize) -> bool {
    let word = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at)).copied();
    word(0).is_some_and(|it| DEPICTIONS.contains(it))
        && matches!(word(1), Some("the" | "this"))
        && matches!(word(2), Some("in" | "of" | "throughout" | "from" | "to"))
        && tokens.get(at + 1).is_none_or(|next| is_boundary(next) || !is_name(next))
}

fn is_name(word: &str) -> bool {
    word != "," && word != QUOTE && word != "and"
}

/// A participle or verb that parts two things: "a person *reading* a book".
///
/// Words in -ing that name a thing or belong to its name ("dining table",
/// "painting") are listed; the other ones are verbs.
pub(super) fn is_verb(word: &str, next: Option<&str>) -> bool {
    let is_noun = NOUNS_IN_ING.contains(word) || CANS.contains(word) && next == Some("can");
    if !word.ends_with("ing") || word.len() < 5 || is_noun {
        return false;
    }
    let is_named = |next: &str| lexicon::is_name(&format!("{word} {}", lexicon::singular(next)));
    !(goes_on(next) && (MODIFIERS_IN_ING.contains(word) || next.is_some_and(is_named)))
}

/// "books *stacked* on the floor", but "stacked books".
fn is_past(word: &str, next: Option<&str>) -> bool {
    word.ends_with("ed")
        && word.len() > 4
        && class(word).is_none()
        && !NOUNS_IN_ED.contains(word)
        && !goes_on(next)
}

/// Whether a can is what comes next: "a galvanised *can* by the shed".
fn is_can_next(tokens: &[&str], at: usize) -> bool {
    tokens.get(at) == Some(&"can") && tokens.get(at + 1).is_none_or(|it| ends_name(it))
}

/// Whether a name ends before a word: "the petrol can *next* to the shed".
fn ends_name(next: &str) -> bool {
    matches!(next, "," | "and" | "or" | "next") || PREPOSITIONS.contains(next)
}

/// "a *neatly* folded towel"; no "daylily", which is made of no word that is known.
fn is_adverb(word: &str) -> bool {
    let Some(base) = word.strip_suffix("ly").filter(|it| it.len() > 2) else { return false };
    let known = |it: &str| lexicon::is_adjective(it) || lexicon::is_word(it);
    let of_y = || base.strip_suffix('i').is_some_and(|it| known(&format!("{it}y")));
    let is_made =
        known(base) || known(&format!("{base}l")) || known(&format!("{base}le")) || of_y();
    is_made && !NOUNS_IN_LY.contains(word)
}

/// Whether a name goes on with the next word.
pub(super) fn goes_on(next: Option<&str>) -> bool {
    next.is_some_and(|next| is_name(next) && next != "or" && !is_boundary(next))
}

/// What is known of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Boundary,
    Collective,
    Attribute(AttributeKind),
}

/// All listed words, since every word of every caption is looked up.
static CLASSES: LazyLock<HashMap<&'static str, Class>> = LazyLock::new(|| {
    let said = [
        (&COLOURS, AttributeKind::Colour),
        (&MATERIALS, AttributeKind::Material),
        (&SIZES, AttributeKind::Size),
        (&PATTERNS, AttributeKind::Pattern),
        (&STATES, AttributeKind::State),
    ];
    let said = said.iter().flat_map(|(words, kind)| words.words().map(|word| (word, *kind)));
    let numbers = NUMBERS.words().filter(|it| number(it).is_some_and(|it| COUNTS.contains(&it)));
    let said = said.chain(numbers.map(|word| (word, AttributeKind::Number)));
    let collectives = COLLECTIVES.words().filter(|it| !COLLECTIVES.has_tag(it, "request"));
    let prepositions = PREPOSITIONS.words().filter(|it| !PREPOSITIONS.has_tag(it, "name"));
    let boundaries = DETERMINERS.words().chain(prepositions).chain(COPULAS.words());
    said.map(|(word, kind)| (word, Class::Attribute(kind)))
        .chain(collectives.map(|word| (word, Class::Collective)))
        .chain(boundaries.chain(BOUNDARIES.words()).map(|word| (word, Class::Boundary)))
        .collect()
});

pub(super) fn class(word: &str) -> Option<Class> {
    CLASSES.get(word).copied()
}

/// Whether a word that may be part of a name says here where something is: "round" of "round its neck".
fn is_before_name(word: &str, next: Option<&str>) -> bool {
    PREPOSITIONS.contains(word) && next.is_some_and(|it| DETERMINERS.contains(it))
}

pub(super) fn is_boundary(word: &str) -> bool {
    class(word) == Some(Class::Boundary)
}

//! The deeds of a tagged sentence: who does them, and what to or with.
//!
//! Pure.

use crate::language::caption::ParsedDeed;
use crate::language::caption::of_tags::Tagged;
use crate::language::everyday_deeds::own_verb;
use crate::language::lexicon;
use crate::language::tagged::WordRole;
use crate::language::verbs;
use crate::language::words::{AFFORDANCES, DETERMINERS};

impl Tagged<'_> {
    /// `number` has the number of a head's thing in the caption.
    pub(super) fn deeds(
        &self,
        heads: &[usize],
        number: impl Fn(usize) -> Option<usize>,
    ) -> Vec<ParsedDeed> {
        let unwritten = (0..self.words.len()).filter(|at| !self.is_written(*at));
        let deeds = unwritten.filter_map(|at| {
            let verb = self.verb(at)?;
            let who = self.governor(at).map(|it| self.joined(it)).unwrap_or_default();
            let who = who.into_iter().filter_map(&number).collect();
            let what = heads.iter().filter(|it| self.is_object(**it, at)).copied();
            let own = what.clone().find_map(|it| Some((it, own_verb(&verb, &self.word(it))?)));
            let what = what.filter(|it| own.is_none_or(|(noun, _)| noun != *it));
            let what = what.filter_map(&number).collect();
            let verb = own.map_or(verb, |(_, own)| own.to_owned());
            Some(ParsedDeed { verb, who, what })
        });
        deeds.collect()
    }

    /// The verb of what is done, in its form in -ing.
    fn verb(&self, at: usize) -> Option<String> {
        let said = self.word(at);
        let role_of = self.governor(at).map(|it| self.role(it));
        // What belongs to a verb is its particle.
        let is_verb = self.role(at) == WordRole::Deed
            && role_of != Some(WordRole::Deed)
            && !self.undone.contains(&at);
        // "a man is asleep" is sleeping.
        let is_state = self.role(at) == WordRole::Attribute && role_of == Some(WordRole::Person);
        let verb = is_verb.then(|| verbs::activity(&said)).flatten();
        verb.or_else(|| verbs::activity_of_state(&said).filter(|_| is_state))
    }

    /// Whether a head is the object of a deed: right after it, as a thing after a preposition, or as
    /// what it is done with: the mug that somebody drinks from.
    fn is_object(&self, head: usize, deed: usize) -> bool {
        let is_of = |it: &usize| self.governor(*it) == Some(deed);
        let relation = self.relation_of(head).filter(is_of);
        match self.role(head) {
            _ if is_of(&head) => true,
            WordRole::Thing => relation.is_some(),
            WordRole::Landmark => relation
                .is_some_and(|it| is_done_with(&self.word(deed), &self.word(it), &self.word(head))),
            WordRole::None
            | WordRole::Part
            | WordRole::Absent
            | WordRole::Person
            | WordRole::Place
            | WordRole::Attribute
            | WordRole::Count
            | WordRole::Deed
            | WordRole::Relation => false,
        }
    }

    /// Who does what is said of a head: all of "a man, a boy and a woman dancing".
    fn joined(&self, head: usize) -> Vec<usize> {
        let mut all = vec![head];
        let mut is_joined = false;
        for at in (0..head).rev() {
            let (role, word) = (self.role(at), self.word(at));
            if role == WordRole::Person && is_joined {
                all.push(at);
                is_joined = false;
            } else if word == "and" || word == "," && all.len() > 1 {
                is_joined = true;
            } else if !matches!(role, WordRole::Part | WordRole::Attribute | WordRole::Count)
                && !DETERMINERS.contains(&word)
            {
                break;
            }
        }
        all.sort_unstable();
        all
    }
}

/// Whether words say what a deed is done with: "drinks from a mug", "types on a laptop".
fn is_done_with(verb: &str, preposition: &str, noun: &str) -> bool {
    let made_for = verbs::activity(verb).and_then(|it| AFFORDANCES.value(&it));
    made_for.is_some_and(|thing| {
        let one = lexicon::singular(noun);
        let is_like_it = || one == thing || lexicon::is_kind_of(&one, thing);
        matches!(preposition, "from" | "with" | "off" | "out")
            || preposition == "on" && is_like_it()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::caption::tests::parsed;

    #[test]
    fn people_and_their_deeds_are_told() {
        let parsed = parsed(
            "a chef/person cuts/deed/1 carrots/thing/2 up/deed/2 with/relation/2 a \
             plant/thing/5 in/relation/7 a pot/thing/8",
        );
        assert!(parsed.has_person());
        let cutting = ParsedDeed { verb: "cutting".to_owned(), who: vec![0], what: vec![1, 2] };
        assert_eq!(parsed.deeds, [cutting]);
        let inside = parsed.things.iter().find(|it| it.mention.head == "plant").unwrap().inside;
        assert_eq!(inside.map(|at| parsed.things[at].mention.head.as_str()), Some("pot"));
    }

    #[test]
    fn a_landmark_may_be_in_something_too() {
        let parsed =
            parsed("a bowl/thing by/relation/1 a plant/landmark/2 in/relation/4 a pot/landmark/5");
        let plant = parsed.things.iter().find(|it| it.mention.head == "plant").unwrap();
        let inside = plant.inside.map(|at| parsed.things[at].mention.head.as_str());
        assert_eq!(inside, Some("pot"));
    }

    #[test]
    fn a_deed_of_a_light_verb_is_the_nouns() {
        let deeds = parsed("a man/person taking/deed/1 a shower/thing/2").deeds;
        assert_eq!(
            deeds,
            [ParsedDeed { verb: "showering".to_owned(), who: vec![0], what: vec![] }]
        );
        let deeds = parsed("a man/person taking/deed/1 a mug/thing/2").deeds;
        assert_eq!(deeds, [ParsedDeed { verb: "taking".to_owned(), who: vec![0], what: vec![1] }]);
    }

    #[test]
    fn those_who_are_joined_do_it_together_and_others_do_not() {
        let who =
            |words: &str| parsed(words).deeds.into_iter().map(|it| it.who).collect::<Vec<_>>();
        let all = "a man/person , an old/attribute/5 boy/person and two/count/8 \
                   women/person dancing/deed/8";
        assert_eq!(who(all), [[0, 1, 2]]);
        let each = "a woman/person cooking/deed/1 and a man/person sleeping/deed/5";
        assert_eq!(who(each), [[0], [1]]);
        let one = "with/relation a man/person , a woman/person cooking/deed/5";
        assert_eq!(who(one), [[1]]);
        let other = "a man/person is here and a woman/person cooking/deed/6";
        assert_eq!(who(other), [[1]]);
    }
}

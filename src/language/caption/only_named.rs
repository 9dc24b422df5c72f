//! Which names of a tagged sentence say only of which kind another thing is, and name nothing that
//! is there.
//!
//! Pure.

use crate::language::caption::of_tags::Tagged;
use crate::language::tagged::WordRole;
use crate::language::words::DETERMINERS;

impl Tagged<'_> {
    /// Whether a head is named only to say of which kind another thing is: whom "a bellhop's jacket"
    /// is made for, and what "a case for a fire blanket" is.
    pub(super) fn is_only_named(&self, head: usize) -> bool {
        self.is_kind_of_owner(head) || self.is_purpose(head)
    }

    /// Whether a head is any owner of the thing after it, and no certain one.
    fn is_kind_of_owner(&self, head: usize) -> bool {
        let end = self.words.get(head).map_or(0, |it| it.at.end);
        let after = self.text.get(end..).unwrap_or_default();
        let is_owner = ["'s ", "’s "].iter().any(|it| after.starts_with(it));
        let owned = self.words.iter().skip(head + 1).find(|it| it.at.start >= end + "'s".len());
        let is_of_thing = owned.is_some_and(|it| {
            it.role.is_name() || matches!(it.role, WordRole::Part | WordRole::Attribute)
        });
        let described = (0..head).rev().map(|at| (self.role(at), self.word(at)));
        let is_said = |role| matches!(role, WordRole::Part | WordRole::Attribute | WordRole::Count);
        let mut before = described.skip_while(|(role, _)| is_said(*role));
        let is_certain = before
            .next()
            .is_some_and(|(_, it)| DETERMINERS.contains(&it) && !matches!(it.as_str(), "a" | "an"));
        is_owner && is_of_thing && !is_certain
    }

    /// Whether a head is what a thing is for.
    fn is_purpose(&self, head: usize) -> bool {
        let by = self.relation_of(head).filter(|it| self.word(*it) == "for");
        by.and_then(|it| self.governor(it)).is_some_and(|it| self.role(it).is_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::caption::ParsedCaption;
    use crate::language::caption::tests::parsed;
    use crate::language::tagged::TaggedWord;

    #[test]
    fn what_a_thing_is_for_and_whom_any_such_thing_is_of_is_not_there() {
        let heads = |parsed: ParsedCaption| -> Vec<String> {
            parsed.things.into_iter().map(|it| it.mention.head).collect()
        };
        let purpose = "a red/attribute/2 case/thing for/relation/2 a fire/part/6 blanket/thing/3";
        assert_eq!(heads(parsed(purpose)), ["case"]);
        assert_eq!(heads(parsed("looking/deed for/relation/0 a cup/thing/1")), ["cup"]);
        let owned = |text: &str, person: &str, thing: &str| {
            let word = |said: &str, role, to| {
                let at = text.find(said).unwrap();
                TaggedWord { at: at..at + said.len(), role, to }
            };
            let article = text.split(' ').next().unwrap();
            let words = vec![
                word(article, WordRole::None, None),
                word(person, WordRole::Person, None),
                word(thing, WordRole::Thing, None),
            ];
            heads(ParsedCaption::of_tagged(1, &[(text, words)]))
        };
        assert_eq!(owned("a waiter's jacket", "waiter", "jacket"), ["jacket"]);
        assert_eq!(owned("a waiter’s jacket", "waiter", "jacket"), ["jacket"]);
        assert_eq!(owned("the waiter's jacket", "waiter", "jacket"), ["waiter", "jacket"]);
        assert_eq!(owned("a waiter jacket", "waiter", "jacket"), ["waiter", "jacket"]);
    }
}

//! What a request or a query says that the thing it names is for: "that little wheel *for cutting
//! pastry*". Nobody needs to have been seen doing so.
//!
//! Pure. English.

use std::ops::Range;

use crate::language::lexicon;
use crate::language::reference::phrase::plain;
use crate::language::reference::uses::{clause_end, ends_clause};
use crate::language::request_tags::{Role, TaggedRequest};
use crate::language::verbs;
use crate::language::words::MERE_USE;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Purpose {
    /// "for cutting pastry".
    pub(super) said: String,
    /// Where that stands in the request.
    at: Range<usize>,
}

/// Where the purpose of a thing begins in the words of a query, "a machine *for polishing floors*";
/// `None` where they tell none.
pub fn purpose_at(words: &[&str]) -> Option<usize> {
    let word = |at: usize| words.get(at).map(|it| plain(it)).unwrap_or_default();
    let is_purpose = |at: &usize| {
        // "the knife I used for cutting bread"
        let before = at.checked_sub(1).and_then(|it| verbs::activity(&word(it)));
        let is_used = before.is_some_and(|it| MERE_USE.contains(&it));
        word(*at) == "for" && is_deed(&word(at + 1)) && !is_used
    };
    (0..words.len()).find(is_purpose)
}

impl Purpose {
    /// The first one after the thing, within its clause; `None` where there is none.
    pub(super) fn of(request: &str, tagged: &TaggedRequest) -> Option<Self> {
        let thing = tagged.spans.iter().find(|it| it.role == Role::Thing)?;
        let after = request.get(thing.at.end..)?;
        let words: Vec<&str> = after.split_whitespace().collect();
        let start = |word: &str| word.as_ptr() as usize - request.as_ptr() as usize;
        let first = purpose_at(&words)?;
        let (before, clause) = words.split_at_checked(first)?;
        if before.iter().any(|it| ends_clause(it)) {
            return None;
        }
        let last = clause.get(clause_end(clause)?)?;
        let at = start(clause.first()?)..start(last) + last.len();
        Some(Self { said: plain(request.get(at.clone())?), at })
    }

    /// The tags without what stands in it.
    pub(super) fn left_out_of(&self, tagged: &TaggedRequest) -> TaggedRequest {
        let mut rest = tagged.clone();
        rest.spans.retain(|it| !self.at.contains(&it.at.start));
        rest
    }
}

/// Whether a word is a verb in -ing: hanging, cutting, writing.
fn is_deed(word: &str) -> bool {
    let Some(base) = word.strip_suffix("ing") else { return false };
    let undoubled = base.char_indices().next_back().and_then(|(at, _)| base.get(..at));
    [Some(base), undoubled].into_iter().flatten().any(lexicon::is_verb)
        || lexicon::is_verb(&format!("{base}e"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::request_tags::TaggedSpan;

    #[test]
    fn what_a_thing_is_for_stands_after_it() {
        for (request, thing, expect) in [
            ("find that little wheel for cutting pastry", "wheel", "for cutting pastry"),
            (
                "the clips for hanging out the washing, please",
                "clips",
                "for hanging out the washing",
            ),
            ("the peel you know for getting loaves out", "peel", "for getting loaves out"),
            ("the knife for cutting bread please", "knife", "for cutting bread"),
            ("the knife I used for cutting bread", "knife", ""),
            ("the mug, thanks for bringing it", "mug", ""),
            ("the flowers for the evening", "flowers", ""),
            ("the mug for me", "mug", ""),
        ] {
            let at = request.find(thing).unwrap();
            let span = TaggedSpan { role: Role::Thing, at: at..at + thing.len() };
            let tagged = TaggedRequest { spans: vec![span], ..TaggedRequest::default() };
            let found = Purpose::of(request, &tagged).map(|it| it.said);
            assert_eq!(found.unwrap_or_default(), expect, "{request}");
        }
    }
}

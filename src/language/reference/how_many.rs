//! How many of a thing are wanted, where the words tell it more surely than the model of requests
//! does: to it "the bag with all the badges" is all bags, and "the trolley with the two wheels" two.
//!
//! Pure. English.

use crate::language::lexicon;
use crate::language::reference::phrase::plain;
use crate::language::reference::put_right::is_end_of_search;
use crate::language::request_tags::{Count, Role, TaggedRequest};
use crate::language::words::number;

/// One where the first thing is named as one and what counts stands behind its name, and where one of
/// all is what the search ends with.
pub(super) fn how_many(request: &str, tagged: &TaggedRequest) -> Count {
    let thing = tagged.spans.iter().find(|it| it.role == Role::Thing);
    let Some(thing) = thing.filter(|_| tagged.count != Count::One) else { return tagged.count };
    if tagged.spans.iter().any(|it| it.role == Role::Attribute && is_end_of_search(request, it)) {
        return Count::One;
    }
    let text = |from, to| plain(request.get(from..to).unwrap_or_default());
    let counts = |words: &str| words.split(' ').any(is_count);
    let name = text(thing.at.start, thing.at.end);
    let noun = name.rsplit(' ').next().unwrap_or_default();
    let is_one = lexicon::is_name(noun) && lexicon::singular(noun) == noun;
    let is_counted = counts(&text(0, thing.at.end));
    if is_one && !is_counted && counts(&text(thing.at.end, request.len())) {
        return Count::One;
    }
    tagged.count
}

fn is_count(word: &str) -> bool {
    matches!(word, "all" | "both" | "every" | "each") || number(word).is_some_and(|it| it > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::request_tags::TaggedSpan;

    #[test]
    fn what_counts_something_else_does_not_count_the_thing() {
        let check = |request: &str, thing: &str, expect: Count| {
            let start = request.find(thing).unwrap();
            let spans = vec![TaggedSpan { role: Role::Thing, at: start..start + thing.len() }];
            let tagged = TaggedRequest { spans, count: Count::All, ..TaggedRequest::default() };
            assert_eq!(how_many(request, &tagged), expect, "{request}");
        };
        check("bring my bag, the one with all the badges", "bag", Count::One);
        check("the red trolley with the two wheels", "red trolley", Count::One);
        check("all the bags", "bags", Count::All);
        check("every bag with all badges", "bag", Count::All);
        check("the mugs, both of them", "mugs", Count::All);
        check("the cutlery", "cutlery", Count::All);
    }
}

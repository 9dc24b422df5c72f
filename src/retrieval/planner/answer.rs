//! Questions, answered from what the memory knows: where and when a thing was seen, how many
//! there are, whether there is one, which of several was seen later.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::base::time::Window;
use crate::language::lexicon;
use crate::language::reference::{Order, Reference};
use crate::language::request_tags::Asked;
use crate::language::words::{DETERMINERS, PEOPLE};
use crate::memory::episodic::Recalled;
use crate::retrieval::planner::answer_text::{AnswerWording, Compared, Counted};
use crate::retrieval::planner::query::{widen, with_article};
use crate::retrieval::planner::{MATCHES, Plan, SIGHTINGS, is_done_with, is_in_place, recall};
use crate::retrieval::session::Goal;
use crate::retrieval::{Retrieval, RetrievalError};

/// Newest sightings among which one of the deed is looked for.
const NEWEST: usize = 50;

impl Plan<'_> {
    /// Why the first goal of each target is one, with what was seen there.
    pub(super) fn whereabouts(
        retrieval: &Retrieval,
        goals: &[Goal],
    ) -> Result<String, RetrievalError> {
        let mut told: Vec<String> = Vec::new();
        let mut targets = BTreeSet::new();
        for goal in goals.iter().filter(|it| targets.insert(&it.target)) {
            let seen = goal.record.map(|id| retrieval.records(&[id])).transpose()?;
            let seen = seen.and_then(|it| it.into_iter().next());
            told.push(AnswerWording::goal(goal, seen.as_ref()));
        }
        Ok(told.join("; "))
    }

    pub(super) fn answer(&mut self) -> Result<String, RetrievalError> {
        let told = self.wording();
        if told.thing.is_empty() {
            return self.scene(&told);
        }
        let is_first = self.reference.order == Some(Order::Earliest);
        match self.reference.asked {
            Asked::Count => self.counts(),
            Asked::Which => self.compare(&told),
            Asked::Existence if !self.reference.also.is_empty() => self.compare(&told),
            Asked::Existence => self.existence(&told),
            Asked::Time | Asked::Place if is_first => self.first_time(&told),
            Asked::Time => self.last_time(&told),
            Asked::Place | Asked::Other | Asked::None if self.is_yes_or_no() => {
                self.existence(&told)
            }
            Asked::Place | Asked::Other | Asked::None => self.sighting(&told),
        }
    }

    fn wording(&self) -> AnswerWording {
        AnswerWording { zone: self.zone, thing: self.reference.thing.clone() }
    }

    fn is_yes_or_no(&self) -> bool {
        asks_yes_or_no(&self.task.text)
    }

    /// Sightings in the time and at the place that are named, the newest first.
    fn sightings(&mut self, why: &'static str) -> Result<Vec<Recalled>, RetrievalError> {
        let found = self.sightings_within(self.window(), why)?;
        match self.other_window() {
            Some(other) if found.is_empty() => self.sightings_within(Some(other), why),
            Some(_) | None => Ok(found),
        }
    }

    fn sightings_within(
        &mut self,
        window: Option<Window>,
        why: &'static str,
    ) -> Result<Vec<Recalled>, RetrievalError> {
        let request = recall(self.description(), window, NEWEST);
        let found = self.trace.recall_last_seen(request, why)?;
        let is_there = |it: &Recalled| self.reference.around.is_empty() || is_in_place(it);
        let found = found.into_iter().filter(is_there);
        Ok(found.filter(|it| !self.is_said_to_be_other(it)).collect())
    }

    /// "Not red", of what a caption calls red.
    fn is_said_to_be_other(&self, recalled: &Recalled) -> bool {
        let name = recalled.matched.first().map(|it| it.split(' ').collect::<Vec<_>>());
        let name = name.unwrap_or_default();
        let own: Vec<&str> = self.reference.thing.split(' ').collect();
        self.reference.without.iter().any(|it| {
            let mut words = it.split(' ').filter(|it| !own.contains(it)).peekable();
            words.peek().is_some() && words.all(|word| name.contains(&word))
        })
    }

    fn newest_ever(&mut self) -> Result<Option<Recalled>, RetrievalError> {
        self.newest_until(None, "There it was not: find where it was seen last.")
    }

    fn newest_until(
        &mut self,
        window: Option<Window>,
        why: &'static str,
    ) -> Result<Option<Recalled>, RetrievalError> {
        let request = recall(with_article(&self.reference.thing), window, NEWEST);
        let found = self.trace.recall_last_seen(request, why)?;
        Ok(found.into_iter().find(|it| !self.is_said_to_be_other(it)))
    }

    /// Where it was when nothing was seen of it: where it was before, else where it is.
    fn elsewhere(&mut self, told: &AnswerWording) -> Result<String, RetrievalError> {
        let until = self.window().and_then(|it| it.start());
        let before = until.and_then(|it| Window::new(None, Some(it)).ok());
        if before.is_some() {
            let why = "Nothing was seen then: find where it was before.";
            if let Some(newest) = self.newest_until(before, why)? {
                return Ok(told.before(&newest));
            }
        }
        Ok(told.elsewhere(self.newest_ever()?.as_ref()))
    }

    /// Where no thing is named: what somebody did, else what was seen.
    fn scene(&mut self, told: &AnswerWording) -> Result<String, RetrievalError> {
        let is_yes_or_no = self.is_yes_or_no();
        let Some(doing) = self.reference.doing.clone() else {
            let found = self.scenes()?;
            let is_somebody = is_yes_or_no && asks_for_somebody(&self.task.text);
            let somebody = found.iter().filter(|it| it.record.parsed.has_person()).cloned();
            return Ok(if is_somebody {
                told.scenes_there(&somebody.collect::<Vec<_>>())
            } else {
                told.scenes(&found)
            });
        };
        let around = self.reference.around.iter().map(|it| format!(" by the {it}"));
        let around = around.collect::<Vec<_>>().concat();
        let who = self.reference.doer.as_deref();
        let who = who.map_or_else(|| "somebody".to_owned(), with_article);
        let request = recall(format!("{who} {doing}{around}"), self.window(), NEWEST);
        let found = self.trace.recall_last_seen(request, "Recall when somebody did that.")?;
        match (found.first(), self.reference.asked) {
            (Some(newest), _) => {
                let yes = if is_yes_or_no { "yes: " } else { "" };
                Ok(format!("{yes}{}", told.deed(&who, &doing, newest)))
            }
            (None, Asked::Time | Asked::Existence | Asked::Count) => {
                Ok(AnswerWording::no_deed(&who, &doing))
            }
            (None, _) if is_yes_or_no => Ok(AnswerWording::no_deed(&who, &doing)),
            (None, _) => Ok(told.scenes(&self.scenes()?)),
        }
    }

    /// What was seen where no thing is named: "what was on the desk", "what did I do". Of a question
    /// that tells more than a time and a place what matches best: "what did the courier bring".
    fn scenes(&mut self) -> Result<Vec<Recalled>, RetrievalError> {
        let Reference { around, doing, .. } = &self.reference;
        let is_placed = !around.is_empty();
        let (window, is_done) = (self.window(), doing.is_some());
        let query = if is_placed { self.description() } else { self.task.text.clone() };
        let request = recall(query, window, MATCHES);
        let mut found = self.trace.recall_best_match(request, "Recall what was seen.")?;
        if is_placed {
            found.retain(|it| !it.matched.is_empty());
        }
        if is_placed || window.is_some() && !is_done {
            found.sort_by_key(|it| std::cmp::Reverse((it.record.end_at, it.record.id)));
        }
        Ok(found)
    }

    fn sighting(&mut self, told: &AnswerWording) -> Result<String, RetrievalError> {
        let mut found = self.sightings("Recall when it was seen so.")?;
        let somebody = |it: &Recalled| it.record.parsed.has_person();
        if asks_who(&self.task.text) && found.iter().any(somebody) {
            found.retain(somebody);
        }
        let window = self.window().filter(|it| span(*it).is_some_and(|it| it <= PART_OF_DAY_MAX));
        if let (true, Some(window)) = (found.is_empty(), window) {
            let request = recall(self.description(), Some(widen(window)), NEWEST);
            let why = "Nothing was seen then: look before and after.";
            found = self.trace.recall_last_seen(request, why)?;
        }
        let asked = window.map_or_else(|| found.first(), |it| nearest_to(&found, it));
        match self.find_deed(&found).or(asked) {
            Some(seen) => Ok(told.sighting(seen)),
            None => self.elsewhere(told),
        }
    }

    /// The newest record of the deed that is asked about.
    fn find_deed<'r>(&self, found: &'r [Recalled]) -> Option<&'r Recalled> {
        let deed = self.asked_deed()?;
        found.iter().find(|it| is_done_with(&deed, it))
    }

    fn existence(&mut self, told: &AnswerWording) -> Result<String, RetrievalError> {
        let found = self.sightings("Recall whether there is one.")?;
        let Some(newest) = found.first() else { return self.elsewhere(told) };
        if self.reference.doing.is_some() {
            return Ok(match self.find_deed(&found) {
                Some(done) => told.existence(done),
                None => told.undone(newest, self.reference.doing.as_deref()),
            });
        }
        if is_of_one_now(&self.task.text) && !self.reference.around.is_empty() {
            let ever = self.newest_ever()?.filter(|it| it.record.end_at > newest.record.end_at);
            if let Some(ever) = ever {
                return Ok(told.moved(&ever, newest));
            }
        }
        if self.trace.is_last_unsure() {
            return Ok(told.near(newest));
        }
        Ok(told.existence(newest))
    }

    fn last_time(&mut self, told: &AnswerWording) -> Result<String, RetrievalError> {
        let found = self.sightings("Recall when it was seen.")?;
        let doing = self.reference.doing.as_deref();
        match (self.find_deed(&found), found.first()) {
            (Some(done), _) => Ok(told.sighting(done)),
            (None, Some(newest)) => Ok(told.undone(newest, doing)),
            (None, None) => self.elsewhere(told),
        }
    }

    fn first_time(&mut self, told: &AnswerWording) -> Result<String, RetrievalError> {
        let request = recall(self.description(), self.window(), SIGHTINGS);
        let found = self.trace.recall_all(request, "Recall every time that it was seen.")?;
        if found.len() == SIGHTINGS {
            self.unmet.push(format!("only the newest {SIGHTINGS} sightings were read"));
        }
        match found.first() {
            Some(first) => Ok(told.first_sighting(first)),
            None => Ok(told.elsewhere(self.newest_ever()?.as_ref())),
        }
    }

    /// Each of what is asked about: "how many candles and apples".
    fn counts(&mut self) -> Result<String, RetrievalError> {
        let mut told = vec![self.count()?];
        for thing in std::mem::take(&mut self.reference.also) {
            self.reference.thing = thing;
            told.push(self.count()?);
        }
        Ok(told.join("; "))
    }

    fn count(&mut self) -> Result<String, RetrievalError> {
        let told = self.wording();
        let request = recall(self.description(), self.window(), SIGHTINGS);
        let found = self.trace.recall_all(request, "Recall every time that one was seen.")?;
        let around = &self.reference.around;
        let there: Vec<&Recalled> =
            found.iter().filter(|it| around.is_empty() || is_in_place(it)).collect();
        let Some(newest) = there.last() else {
            return Ok(told.elsewhere(self.newest_ever()?.as_ref()));
        };
        let why = "Tell the objects apart.";
        let objects = self.trace.determine_instances(self.parsed_task(), why)?;
        let is_there = |id: &_| there.iter().any(|it| it.record.id == *id);
        let seen = objects.iter().filter(|it| it.records.iter().any(is_there));
        let occasions = seen.clone().flat_map(|it| &it.visits);
        let occasions = occasions.filter(|it| it.records.iter().any(is_there)).count();
        let counted = Counted { objects: seen.count(), occasions, records: there.len() };
        Ok(told.count(&counted, newest))
    }

    /// Compares what is asked for by how often, or else by when it was last seen.
    fn compare(&mut self, told: &AnswerWording) -> Result<String, RetrievalError> {
        let things: Vec<String> =
            [&self.reference.thing].into_iter().chain(&self.reference.also).cloned().collect();
        if things.len() < 2 {
            return self.first_of_kind(told);
        }
        let mut compared = Vec::new();
        for thing in things {
            let request = recall(with_article(&thing), self.window(), SIGHTINGS);
            let why = "Recall every time that one of them was seen.";
            let found = self.trace.recall_all(request, why)?;
            compared.push(Compared { thing, found });
        }
        let is_yes_or_no = self.is_yes_or_no();
        let compared = self.with_deeds_alone(compared);
        Ok(told.comparison(compared, self.reference.order.as_ref(), is_yes_or_no))
    }

    /// Of what is compared by a deed the records of that alone, unless there is none.
    fn with_deeds_alone(&self, compared: Vec<Compared>) -> Vec<Compared> {
        let Some(deed) = self.asked_deed() else { return compared };
        let done = |it: &Compared| {
            let found = it.found.iter().filter(|it| is_done_with(&deed, it));
            Compared { thing: it.thing.clone(), found: found.cloned().collect() }
        };
        let done: Vec<Compared> = compared.iter().map(done).collect();
        if done.iter().any(|it| !it.found.is_empty()) { done } else { compared }
    }

    fn first_of_kind(&mut self, told: &AnswerWording) -> Result<String, RetrievalError> {
        let found = self.recall_habit(self.window())?;
        if found.is_empty() {
            return Ok(told.elsewhere(self.newest_ever()?.as_ref()));
        }
        let why = "Tell the objects apart, those first that are meant most likely.";
        let objects = self.trace.determine_instances(self.parsed_task(), why)?;
        let first = self.choose(&objects, &found).first().and_then(|at| objects.get(*at));
        match first {
            Some(first) => Ok(told.object(first)),
            None => Ok(told.elsewhere(None)),
        }
    }
}

/// Longest part of a day, before and after which is looked as well; a day is itself what is asked of.
const PART_OF_DAY_MAX: Duration = Duration::from_hours(12);

fn span(window: Window) -> Option<Duration> {
    let (start, end) = window.start().zip(window.end())?;
    Some(end.since(start))
}

/// What was seen nearest to the middle of a window.
fn nearest_to(found: &[Recalled], window: Window) -> Option<&Recalled> {
    let (start, end) = window.start().zip(window.end())?;
    let middle = start.plus(end.since(start) / 2);
    let away = |it: &&Recalled| {
        let at = it.record.end_at;
        at.since(middle).max(middle.since(at))
    };
    found.iter().min_by_key(away)
}

/// "Was *anyone* in the garage".
fn asks_for_somebody(question: &str) -> bool {
    let lower = question.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.any(|it| {
        PEOPLE.contains(it) || lexicon::is_person(it) || matches!(it, "anyone" | "anybody" | "who")
    })
}

/// "*Who* took the dog out".
fn asks_who(question: &str) -> bool {
    question.split_whitespace().next().is_some_and(|it| it.eq_ignore_ascii_case("who"))
}

/// Whether a question is of one thing as it is now: "is the remote still on the sofa".
fn is_of_one_now(question: &str) -> bool {
    let lower = question.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
    let is_now = matches!(words.next(), Some("is" | "are"));
    is_now
        && words.next().is_some_and(|it| {
            matches!(it, "it" | "they")
                || it != "there" && DETERMINERS.has_tag(it, "article") && !matches!(it, "a" | "an")
        })
}

/// "Is the mug used more than the cup": a question without a question word.
fn asks_yes_or_no(question: &str) -> bool {
    let first = question.split_whitespace().next().unwrap_or_default().to_lowercase();
    matches!(
        first.as_str(),
        "is" | "are" | "was" | "were" | "do" | "does" | "did" | "has" | "have" | "had"
    )
}

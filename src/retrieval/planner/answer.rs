//! Questions, answered from what the memory knows: where and when a thing was seen, how many
//! there are, whether there is one, which of several was seen later.

use crate::language::reference::Order;
use crate::language::request_tags::Asked;
use crate::memory::episodic::Recalled;
use crate::retrieval::RetrievalError;
use crate::retrieval::planner::answer_text::{AnswerWording, Compared, Counted};
use crate::retrieval::planner::query::{widen, with_article};
use crate::retrieval::planner::{MATCHES, Plan, SIGHTINGS, is_in_place, recall};

/// Newest sightings among which one of the deed is looked for.
const NEWEST: usize = 50;

impl Plan<'_> {
    pub(super) fn answer(&mut self) -> Result<String, RetrievalError> {
        let told = AnswerWording { zone: self.zone, thing: self.reference.thing.clone() };
        if told.thing.is_empty() {
            return self.scene(&told);
        }
        let is_first = self.reference.order == Some(Order::Earliest);
        match self.reference.asked {
            Asked::Count => self.count(&told),
            Asked::Which => self.compare(&told),
            Asked::Existence if !self.reference.also.is_empty() => self.compare(&told),
            Asked::Existence => self.existence(&told),
            Asked::Time | Asked::Place if is_first => self.first_time(&told),
            Asked::Time => self.last_time(&told),
            Asked::Place | Asked::Other | Asked::None => self.sighting(&told),
        }
    }

    /// Sightings in the time and at the place that are named, the newest first.
    fn sightings(&mut self, why: &'static str) -> Result<Vec<Recalled>, RetrievalError> {
        let request = recall(self.description(), self.window(), NEWEST);
        let found = self.trace.recall_last_seen(request, why)?;
        let is_there = |it: &Recalled| self.reference.around.is_empty() || is_in_place(it);
        Ok(found.into_iter().filter(is_there).collect())
    }

    fn newest_ever(&mut self) -> Result<Option<Recalled>, RetrievalError> {
        let request = recall(with_article(&self.reference.thing), None, 1);
        let why = "There it was not: find where it was seen last.";
        Ok(self.trace.recall_last_seen(request, why)?.into_iter().next())
    }

    /// Where no thing is named: what somebody did, else what was seen.
    fn scene(&mut self, told: &AnswerWording) -> Result<String, RetrievalError> {
        let Some(doing) = self.reference.doing.clone() else {
            return Ok(told.scenes(&self.scenes()?));
        };
        let around = self.reference.around.iter().map(|it| format!(" by the {it}"));
        let around = around.collect::<Vec<_>>().concat();
        let who = self.reference.doer.as_deref();
        let who = who.map_or_else(|| "somebody".to_owned(), with_article);
        let request = recall(format!("{who} {doing}{around}"), self.window(), NEWEST);
        let found = self.trace.recall_last_seen(request, "Recall when somebody did that.")?;
        match (found.first(), self.reference.asked) {
            (Some(newest), _) => Ok(told.deed(&who, &doing, newest)),
            (None, Asked::Time | Asked::Existence | Asked::Count) => {
                Ok(AnswerWording::no_deed(&who, &doing))
            }
            (None, _) => Ok(told.scenes(&self.scenes()?)),
        }
    }

    /// What was seen where no thing is named: "what was on the desk", "what did I do".
    fn scenes(&mut self) -> Result<Vec<Recalled>, RetrievalError> {
        let is_named = !self.reference.around.is_empty() || self.reference.doing.is_some();
        let query = if is_named { self.description() } else { self.task.text.clone() };
        let request = recall(query, self.window(), MATCHES);
        let found = self.trace.recall_best_match(request, "Recall what was seen.")?;
        let is_there = |it: &Recalled| self.reference.around.is_empty() || !it.matched.is_empty();
        Ok(found.into_iter().filter(is_there).collect())
    }

    fn sighting(&mut self, told: &AnswerWording) -> Result<String, RetrievalError> {
        let mut found = self.sightings("Recall when it was seen so.")?;
        if let (true, Some(window)) = (found.is_empty(), self.window()) {
            let request = recall(self.description(), Some(widen(window)), NEWEST);
            let why = "Nothing was seen then: look before and after.";
            found = self.trace.recall_last_seen(request, why)?;
        }
        match self.find_deed(&found).or_else(|| found.first()) {
            Some(newest) => Ok(told.sighting(newest)),
            None => Ok(told.elsewhere(self.newest_ever()?.as_ref())),
        }
    }

    /// The newest record of the deed that is asked about.
    fn find_deed<'r>(&self, found: &'r [Recalled]) -> Option<&'r Recalled> {
        let deed = self.asked_deed()?;
        found.iter().find(|it| deed.is_done_in(&it.record.parsed))
    }

    fn existence(&mut self, told: &AnswerWording) -> Result<String, RetrievalError> {
        let found = self.sightings("Recall whether there is one.")?;
        match found.first() {
            Some(newest) => Ok(told.existence(newest)),
            None => Ok(told.elsewhere(self.newest_ever()?.as_ref())),
        }
    }

    fn last_time(&mut self, told: &AnswerWording) -> Result<String, RetrievalError> {
        let found = self.sightings("Recall when it was seen.")?;
        let doing = self.reference.doing.as_deref();
        match (self.find_deed(&found), found.first()) {
            (Some(done), _) => Ok(told.sighting(done)),
            (None, Some(newest)) => Ok(told.undone(newest, doing)),
            (None, None) => Ok(told.elsewhere(self.newest_ever()?.as_ref())),
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

    fn count(&mut self, told: &AnswerWording) -> Result<String, RetrievalError> {
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
        let is_yes_or_no = asks_yes_or_no(&self.task.text);
        Ok(told.comparison(compared, self.reference.order.as_ref(), is_yes_or_no))
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

/// "Is the mug used more than the cup": a question without a question word.
fn asks_yes_or_no(question: &str) -> bool {
    let first = question.split_whitespace().next().unwrap_or_default().to_lowercase();
    matches!(
        first.as_str(),
        "is" | "are" | "was" | "were" | "do" | "does" | "did" | "has" | "have" | "had"
    )
}

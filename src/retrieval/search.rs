//! The search for the target: its goals are planned, given to the robot, and reported on.

use crate::base::RecordId;
use crate::base::time::Timestamp;
use crate::language::mention::mentions;
use crate::language::reference::Reference;
use crate::language::request_tags::Intent;
use crate::memory::episodic::usual_place::UsualPlace;
use crate::retrieval::goal_board::{Event, SearchStatus};
use crate::retrieval::grounding::Grounding;
use crate::retrieval::session::{Goal, Search, SearchState, SearchedPlace, Session, Target};
use crate::retrieval::sessions::SessionName;
use crate::retrieval::{Retrieval, RetrievalError};

/// Place that is searched first, whatever is likelier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FirstPlace {
    /// A record of it.
    pub(crate) record: RecordId,
    pub(crate) reason: &'static str,
    /// Whether it is only guessed that the target is there.
    pub(crate) is_guess: bool,
}

/// Place at which a request wants the robot, whatever is there now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownPlace {
    /// Where something was when the record was made.
    Then(RecordId),
    /// Where it is most often.
    Usual(UsualPlace),
}

impl KnownPlace {
    pub(super) fn record(self) -> RecordId {
        match self {
            Self::Then(record) => record,
            Self::Usual(place) => place.record,
        }
    }
}

/// The target and where it may be.
#[derive(Debug)]
pub(crate) struct PlannedSearch {
    pub(crate) target: Target,
    pub(crate) grounding: Grounding,
}

/// Goals that were given to the robot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dispatch {
    pub(crate) target: String,
    /// In the order to visit.
    pub(crate) goals: Vec<Goal>,
}

/// Goals that the robot is not sure enough of to be sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Offer {
    pub(crate) planned: Dispatch,
    /// Probability of the first goal that sends it.
    pub(crate) needed: f32,
}

/// What the robot saw at its goal.
#[derive(Debug)]
pub(crate) struct GoalReport {
    pub(crate) is_found: bool,
    /// The record of the target.
    pub(crate) record: Option<RecordId>,
    /// Where the robot searched; the goal where absent.
    pub(crate) position: Option<[f64; 3]>,
}

/// The search after a report.
#[derive(Debug)]
pub(crate) struct SearchUpdate {
    pub(crate) status: SearchStatus,
    pub(crate) target: String,
    /// Goals that are left; none once the target is found.
    pub(crate) goals: Vec<Goal>,
}

impl Retrieval {
    /// Decides where the target is searched for: first at the place that is given, where one
    /// is. A search that `follows` comes after the one that was planned before it:
    /// the likeliest place of each target in their order, then the other places of each.
    pub(crate) fn plan_search(
        &self,
        session: SessionName<'_>,
        first: Option<FirstPlace>,
        follows: bool,
    ) -> Result<PlannedSearch, RetrievalError> {
        let held = self.session(session);
        let target = self.held_target(&held)?;
        let grounding = match first {
            Some(first) => self.ground_at(&held, &target, first)?,
            None => self.ground(&held, &target)?,
        };
        self.hold_plan(session, PlannedSearch { target, grounding }, follows)
    }

    /// A known place as all that is wanted.
    pub(super) fn plan_known_place(
        &self,
        session: SessionName<'_>,
        place: KnownPlace,
    ) -> Result<PlannedSearch, RetrievalError> {
        let target = self.held_target(&self.session(session))?;
        let grounding = self.ground_only_at(place)?;
        self.hold_plan(session, PlannedSearch { target, grounding }, false)
    }

    fn held_target(&self, held: &Session) -> Result<Target, RetrievalError> {
        held.target.clone().map_or_else(|| self.implied_target(held), Ok)
    }

    fn hold_plan(
        &self,
        session: SessionName<'_>,
        planned: PlannedSearch,
        follows: bool,
    ) -> Result<PlannedSearch, RetrievalError> {
        let PlannedSearch { target, grounding } = &planned;
        let own = grounding.goals.clone();
        self.update(session, |it| {
            let mut goals = std::mem::take(&mut it.earlier_goals);
            goals.truncate(if follows { goals.len() } else { 0 });
            let name = name_after(&goals, &target.desc);
            goals.extend(own.into_iter().map(|it| Goal { target: name.clone(), ..it }));
            it.target = Some(target.clone());
            let goals = best_of_each_first(goals);
            it.search = Some(Search { state: SearchState::Planned, goals, visited: 0 });
        })?;
        Ok(planned)
    }

    /// Gives the goals to the robot, once: what it has already is not published again, also
    /// where it was planned anew.
    pub(crate) fn dispatch(&self, session: SessionName<'_>) -> Result<Dispatch, RetrievalError> {
        let held = self.session(session);
        self.refuse_unwanted(&held)?;
        let dispatch = dispatch_of(&held)?;
        if held.search.is_some_and(|it| it.state == SearchState::Dispatched) {
            return Ok(dispatch);
        }
        let Dispatch { target, goals } = dispatch.clone();
        let is_news = !is_one_way(&held.given_goals, &goals);
        self.update(session, |it| {
            if let Some(search) = &mut it.search {
                search.state = SearchState::Dispatched;
            }
            it.given_goals.clone_from(&goals);
        })?;
        if is_news {
            self.publish(session, SearchStatus::Dispatched, target, goals);
        }
        Ok(dispatch)
    }

    /// An error where the session's task asks for nothing that the robot goes for.
    fn refuse_unwanted(&self, session: &Session) -> Result<(), RetrievalError> {
        let Some(task) = &session.task else { return Ok(()) };
        let Reference { intent, .. } = self.reference_of(task)?;
        let refused = RetrievalError::NothingWanted { task: task.text.clone(), intent };
        if intent.is_errand() { Ok(()) } else { Err(refused) }
    }

    /// What the session's task wants; `None` where there is none.
    pub(crate) fn task_intent(
        &self,
        session: SessionName<'_>,
    ) -> Result<Option<Intent>, RetrievalError> {
        let held = self.session(session);
        let reference = held.task.as_ref().map(|task| self.reference_of(task)).transpose()?;
        Ok(reference.map(|it| it.intent))
    }

    /// The goals of the session's search that are not yet visited.
    pub(crate) fn current_dispatch(
        &self,
        session: SessionName<'_>,
    ) -> Result<Dispatch, RetrievalError> {
        dispatch_of(&self.session(session))
    }

    /// The planned goals where the first one is less likely than a task must be to send the
    /// robot, with how likely that is.
    pub(super) fn offer_if_unsure(
        &self,
        session: SessionName<'_>,
    ) -> Result<Option<Offer>, RetrievalError> {
        let planned = dispatch_of(&self.session(session))?;
        let needed = self.goal_probability_min;
        let is_unsure = planned.goals.first().is_some_and(|it| it.probability < needed);
        Ok(is_unsure.then_some(Offer { planned, needed }))
    }

    /// Takes what the robot saw at its goal.
    pub(crate) fn report(
        &self,
        session: SessionName<'_>,
        report: &GoalReport,
    ) -> Result<SearchUpdate, RetrievalError> {
        if let Some(id) = report.record
            && self.records(&[id])?.is_empty()
        {
            return Err(RetrievalError::NoRecord(id));
        }
        let now = self.clock.now();
        let held = self.session(session);
        let is_under_way = held.search.is_some_and(|it| it.state == SearchState::Dispatched);
        let target = held.target.filter(|_| is_under_way).ok_or(RetrievalError::NotUnderWay)?.desc;
        let goals = self.update(session, |it| {
            let left = visit_goal(it, report, now);
            it.given_goals.clone_from(&left);
            left
        })?;
        let status = match (report.is_found, goals.is_empty()) {
            (_, false) => SearchStatus::Next,
            (true, true) => SearchStatus::Found,
            (false, true) => SearchStatus::Reopened,
        };
        let next = goals.first().map(|it| it.target.clone()).filter(|it| !it.is_empty());
        let target = next.unwrap_or(target);
        self.publish(session, status, target.clone(), goals.clone());
        Ok(SearchUpdate { status, target, goals })
    }

    fn publish(
        &self,
        session: SessionName<'_>,
        status: SearchStatus,
        target: String,
        goals: Vec<Goal>,
    ) {
        let event = Event { session: session.name.to_owned(), status, target, goals };
        self.goal_board.publish(event, self.clock.now());
    }
}

/// Whether these are the same places in the same order, for the same targets. What is said of them
/// changes as time passes.
fn is_one_way(before: &[Goal], goals: &[Goal]) -> bool {
    // "the red mug", "red mug"
    let name =
        |of: &str| mentions(of).into_iter().next().map_or_else(|| of.to_owned(), |it| it.phrase);
    let place = |it: &Goal| (name(&it.target), it.map_id.clone(), it.position);
    before.iter().map(place).eq(goals.iter().map(place))
}

fn dispatch_of(session: &Session) -> Result<Dispatch, RetrievalError> {
    let (Some(target), Some(search)) = (&session.target, &session.search) else {
        return Err(RetrievalError::NoSearch);
    };
    let target = targets(&target.desc, &search.goals);
    match search.state {
        SearchState::Planned | SearchState::Dispatched => {}
        SearchState::Found | SearchState::Reopened => {
            return Err(RetrievalError::SearchEnded(search.state));
        }
    }
    match search.goals.get(search.visited..) {
        None | Some([]) => Err(RetrievalError::NoGoal { target }),
        Some(goals) => Ok(Dispatch { target, goals: goals.to_vec() }),
    }
}

/// What a target is called after the targets of these goals: "mug (2)" after another "mug".
fn name_after(goals: &[Goal], desc: &str) -> String {
    let is_taken = |name: &str| goals.iter().any(|it| it.target == name);
    let numbered = (2..).map(|number| format!("{desc} ({number})"));
    let mut names = [desc.to_owned()].into_iter().chain(numbered);
    names.find(|it| !is_taken(it)).unwrap_or_default()
}

/// What is searched for at the goals, in their order: "mug, then book".
fn targets(newest: &str, goals: &[Goal]) -> String {
    match names_of_targets(goals).as_slice() {
        [] | [_] => newest.to_owned(),
        several => several.join(", then "),
    }
}

/// Targets of goals, each once.
fn names_of_targets(goals: &[Goal]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for goal in goals {
        if !names.contains(&goal.target.as_str()) {
            names.push(&goal.target);
        }
    }
    names
}

/// The first goal of each target, then the others of each: whoever is sent for a mug and a
/// book looks where both likely are, and not through the whole home for the mug.
fn best_of_each_first(goals: Vec<Goal>) -> Vec<Goal> {
    let names: Vec<String> = names_of_targets(&goals).into_iter().map(str::to_owned).collect();
    let mut ranked: Vec<(bool, usize, Goal)> = Vec::with_capacity(goals.len());
    for goal in goals {
        let of_target = names.iter().position(|it| *it == goal.target).unwrap_or_default();
        let is_other = ranked.iter().any(|(_, at, _)| *at == of_target);
        ranked.push((is_other, of_target, goal));
    }
    // Stable: the goals of a target keep their order.
    ranked.sort_by_key(|(is_other, of_target, _)| (*is_other, *of_target));
    ranked.into_iter().map(|(_, _, goal)| goal).collect()
}

/// Counts the next goal as visited; returns those that are left: of a target that was
/// found none.
fn visit_goal(session: &mut Session, report: &GoalReport, now: Timestamp) -> Vec<Goal> {
    let Some(search) = &mut session.search else { return Vec::new() };
    let goal = search.goals.get(search.visited).cloned();
    search.visited += 1;
    if report.is_found {
        let found = goal.map(|it| it.target).unwrap_or_default();
        let (visited, left) = search.goals.split_at(search.visited.min(search.goals.len()));
        let left: Vec<Goal> = left.iter().filter(|it| it.target != found).cloned().collect();
        search.goals = [visited, &left].concat();
        if left.is_empty() {
            search.state = SearchState::Found;
        }
        if let (Some(target), Some(id)) = (&mut session.target, report.record)
            && (found.is_empty() || found == target.desc)
            && !target.records.contains(&id)
        {
            target.records.push(id);
        }
        return left;
    }
    let left = search.goals.get(search.visited..).unwrap_or_default().to_vec();
    if left.is_empty() {
        search.state = SearchState::Reopened;
    }
    if let Some(Goal { position, map_id, .. }) = goal {
        let position = report.position.unwrap_or(position);
        session.record_searched_place(SearchedPlace { position, map_id, at: now });
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(target: &str) -> Goal {
        Goal {
            record: None,
            position: [0.0; 3],
            theta: None,
            frame_id: "map".to_owned(),
            map_id: "home".to_owned(),
            reason: String::new(),
            probability: 0.5,
            is_guess: false,
            target: target.to_owned(),
        }
    }

    #[test]
    fn the_likeliest_place_of_each_target_comes_before_the_others() {
        let of = |targets: &[(&str, &str)]| -> Vec<Goal> {
            let goal =
                |(target, why): &(&str, &str)| Goal { reason: (*why).to_owned(), ..goal(target) };
            targets.iter().map(goal).collect()
        };
        let planned = of(&[("mug", "1"), ("mug", "2"), ("book", "3"), ("book", "4"), ("hat", "5")]);
        let ordered = best_of_each_first(planned);
        assert_eq!(
            ordered,
            of(&[("mug", "1"), ("book", "3"), ("hat", "5"), ("mug", "2"), ("book", "4")])
        );
        assert_eq!(targets("hat", &ordered), "mug, then book, then hat");
        assert_eq!(
            best_of_each_first(ordered.clone()),
            ordered,
            "a further target changes nothing"
        );
    }

    fn searching(targets: &[&str]) -> Session {
        let goals = targets.iter().map(|it| goal(it)).collect();
        let search = Search { state: SearchState::Dispatched, goals, visited: 0 };
        Session { search: Some(search), ..Session::default() }
    }

    fn visit(session: &mut Session, is_found: bool) -> Vec<String> {
        let report = GoalReport { is_found, record: None, position: None };
        let now = Timestamp::from_micros(0).unwrap();
        visit_goal(session, &report, now).into_iter().map(|it| it.target).collect()
    }

    #[test]
    fn a_target_that_was_found_is_searched_for_no_more_and_those_after_it_are() {
        let mut session = searching(&["mug", "mug", "book", "book"]);
        assert_eq!(visit(&mut session, true), ["book", "book"]);
        assert_eq!(session.search.as_ref().unwrap().state, SearchState::Dispatched);
        assert_eq!(visit(&mut session, false), ["book"]);
        assert_eq!(visit(&mut session, true), [""; 0]);
        assert_eq!(session.search.unwrap().state, SearchState::Found);
    }

    #[test]
    fn two_targets_of_one_name_are_told_apart() {
        assert_eq!(name_after(&[], "mug"), "mug");
        assert_eq!(name_after(&[goal("mug")], "mug"), "mug (2)");
        assert_eq!(name_after(&[goal("mug"), goal("mug (2)")], "mug"), "mug (3)");
    }

    #[test]
    fn a_dispatch_names_its_targets_in_order() {
        assert_eq!(targets("book", &[goal("book"), goal("book")]), "book");
        assert_eq!(targets("book", &[goal("mug"), goal("mug"), goal("book")]), "mug, then book");
    }
}

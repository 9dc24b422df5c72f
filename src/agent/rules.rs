//! The planner that needs no language model: from what a request refers to, to the
//! calls that find it.
//!
//! Deterministic: the same memory and the same request make the same calls. What
//! singles the object out may be a time, a place or a habit; the goal is always
//! where that object was seen last.

use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::errand::{Errand, Reply};
use crate::base::time::{Timestamp, Window, Zone};
use crate::index::mention::mentions;
use crate::memory::episodic::named::things_in;
use crate::memory::episodic::reference::{Order, Reference};
use crate::tools::ToolError;

const TARGET: &str = "create_or_update_memory_search_instance";
const PLACE: &str = "create_or_update_real_world_search_instance";
const DISPATCH: &str = "search_current_target_instance_in_real_world";
const INSTANCES: &str = "determine_unique_instances_from_latest_working_memory";

/// Records of the best match: all that a day shows of a thing, mostly.
const MATCHES: usize = 50;
/// Sightings from which a habit is told: the newest.
const SIGHTINGS: usize = 500;
/// Newest sightings at a place of which the last one decides.
const AT_PLACE: usize = 50;

/// Makes the calls of a task; returns what the last one, which sends the robot off,
/// replied.
pub(super) fn plan(
    errand: &mut Errand<'_>,
    task: &str,
    reference: Reference,
    now: Timestamp,
    zone: Zone,
) -> Result<Reply, ToolError> {
    let mut plan = Plan { errand, task, reference, now, zone };
    plan.run()?;
    plan.errand.call(PLACE, &json!({}), "Decide where to search: where it was seen last.")?;
    plan.errand.call(DISPATCH, &json!({}), "Send the robot.")
}

struct Plan<'p, 'e> {
    errand: &'p mut Errand<'e>,
    task: &'p str,
    reference: Reference,
    now: Timestamp,
    zone: Zone,
}

impl Plan<'_, '_> {
    fn run(&mut self) -> Result<(), ToolError> {
        self.errand.call(TARGET, &json!({}), "Form an idea of what is searched for.")?;
        if self.reference.thing.is_empty() {
            return self.by_place_alone();
        }
        let is_habit = self.reference.order.is_some() || !self.reference.without.is_empty();
        let target = match self.window() {
            _ if is_habit => self.by_habit()?,
            Some(window) => self.by_time(window)?,
            None if self.reference.doing.is_some() => self.by_habit()?,
            None if !self.reference.around.is_empty() => self.by_place()?,
            None => None,
        };
        let seen = target.unwrap_or_else(|| self.reference.thing.clone());
        self.last_seen(&seen)
    }

    fn last_seen(&mut self, thing: &str) -> Result<(), ToolError> {
        let why = "Find where it was seen last, whatever singled it out.";
        self.errand.call("recall_last_seen", &json!({"query": with_article(thing)}), why)?;
        Ok(())
    }

    /// "the book I was reading yesterday": what was seen then decides.
    fn by_time(&mut self, window: Window) -> Result<Option<String>, ToolError> {
        for window in [window, widened(window)] {
            let found = self.recall_within(window)?;
            if found.is_empty() {
                continue;
            }
            if let Some(target) = self.implied("Say which one was seen then.")? {
                return Ok(Some(target));
            }
        }
        // Nothing of it was seen at that time: the place or the deed may still tell.
        self.by_habit()
    }

    /// The records of a window that may tell which one is meant; empty where they show
    /// nothing of what it was beside.
    fn recall_within(&mut self, window: Window) -> Result<Vec<Value>, ToolError> {
        let (start, end) = self.bounds(window);
        let arguments = |query: String, k: usize| json!({"query": query, "search_start_time": start, "search_end_time": end, "k": k});
        if self.reference.around.is_empty() {
            let why = "Recall what was seen at that time.";
            let query = arguments(self.described(), MATCHES);
            let found = records(&self.errand.call("recall_best_match", &query, why)?);
            return self.completed(found, &arguments(self.reference.thing.clone(), SIGHTINGS));
        }
        let why = "Recall what was seen there at that time.";
        let found = self.errand.call("recall_all", &arguments(self.described(), SIGHTINGS), why)?;
        Ok(records(&found).into_iter().filter(is_in_place).collect())
    }

    /// Recalls all where the best matches are not all.
    fn completed(&mut self, found: Vec<Value>, all: &Value) -> Result<Vec<Value>, ToolError> {
        let shows = |it: &Value| !matched(it).is_empty();
        if found.len() < MATCHES || !found.iter().all(shows) {
            return Ok(found);
        }
        let why = "There are more than the best matches: recall all.";
        Ok(records(&self.errand.call("recall_all", all, why)?))
    }

    /// "the mug I use the most", "the book usually on the nightstand": what is seen most
    /// often so decides.
    fn by_habit(&mut self) -> Result<Option<String>, ToolError> {
        let (start, end) = self.window().map_or((Value::Null, Value::Null), |it| self.bounds(it));
        let arguments = |query: &str, k: usize| json!({"query": query, "search_start_time": start, "search_end_time": end, "k": k});
        let is_near = matches!(self.reference.order, Some(Order::NearestTo(_)));
        let thing = self.reference.thing.clone();
        let mut found = if self.reference.around.is_empty() && !is_near {
            let why = "Recall everything that could tell which one is meant.";
            let query = arguments(&self.described(), MATCHES);
            let found = records(&self.errand.call("recall_best_match", &query, why)?);
            self.completed(found, &arguments(&thing, SIGHTINGS))?
        } else {
            let why = "Recall every time that one was seen there.";
            records(&self.errand.call(
                "recall_all",
                &arguments(&self.described(), SIGHTINGS),
                why,
            )?)
        };
        if found.is_empty() && !start.is_null() {
            let why = "Nothing was seen at that time: recall every time that one was seen.";
            let all = json!({"query": thing, "k": SIGHTINGS});
            found = records(&self.errand.call("recall_all", &all, why)?);
        }
        if found.is_empty() {
            return Ok(None);
        }
        self.told_apart(&found)
    }

    /// The first object that the reference means.
    fn told_apart(&mut self, recalled: &[Value]) -> Result<Option<String>, ToolError> {
        let why = "Tell the objects apart, those first that are meant most likely.";
        let found = self.errand.call(INSTANCES, &json!({"query": self.task}), why)?;
        let instances = found.get("instances").and_then(Value::as_array);
        let chosen = instances.into_iter().flatten().zip(1_u32..);
        let chosen = chosen.into_iter().find(|(it, _)| !self.is_excluded(it, recalled));
        let Some((_, number)) = chosen else { return Ok(None) };
        let decided = json!({"instance": number});
        let found = self.errand.call(TARGET, &decided, "Decide on the one that is meant.")?;
        Ok(desc(&found))
    }

    /// "the mug next to the laptop": the one seen there last.
    fn by_place(&mut self) -> Result<Option<String>, ToolError> {
        let query = json!({"query": self.described(), "k": AT_PLACE});
        let why = "Recall the last times that one was seen there.";
        let found = records(&self.errand.call("recall_last_seen", &query, why)?);
        let there = |it: &&Value| is_in_place(it);
        let newest = found.iter().filter(|it| self.is_just_there(it)).find(there);
        let newest = newest.or_else(|| found.iter().find(there));
        let newest = newest.and_then(|it| it.get("id")?.as_u64());
        let Some(newest) = newest else {
            // Never seen with it: then the one nearest to it.
            return if found.is_empty() { Ok(None) } else { self.nearest() };
        };
        let decided = json!({"record_id": newest});
        let found = self.errand.call(TARGET, &decided, "Decide on the one seen there last.")?;
        Ok(desc(&found))
    }

    fn nearest(&mut self) -> Result<Option<String>, ToolError> {
        let query = json!({"query": self.reference.thing, "k": SIGHTINGS});
        let why = "None was seen beside it: recall every time that one was seen.";
        self.errand.call("recall_all", &query, why)?;
        let what = self.reference.around.join(" and the ");
        let asked = format!("the {} nearest to the {what}", self.reference.thing);
        let why = "Tell the objects apart, the nearest first.";
        let found = self.errand.call(INSTANCES, &json!({"query": asked}), why)?;
        let any = found.get("instances").and_then(Value::as_array).is_some_and(|it| !it.is_empty());
        if !any {
            return Ok(None);
        }
        let decided = json!({"instance": 1});
        let found = self.errand.call(TARGET, &decided, "Decide on the nearest one.")?;
        Ok(desc(&found))
    }

    /// "what I left on the sofa before lunch": what lay there, whatever it is.
    fn by_place_alone(&mut self) -> Result<(), ToolError> {
        let window = self.window();
        let (start, end) = window.map_or((Value::Null, Value::Null), |it| self.bounds(it));
        let query = json!({
            "query": self.described(), "search_start_time": start, "search_end_time": end,
            "k": MATCHES,
        });
        let why = "Recall what was seen there.";
        let mut found = records(&self.errand.call("recall_best_match", &query, why)?);
        found.sort_by_key(|it| std::cmp::Reverse(it.get("id").and_then(Value::as_u64)));
        let known: Vec<&str> = self.reference.around.iter().map(String::as_str).collect();
        let doing = self.reference.doing.as_deref();
        let is_done = |it: &&Value| doing.is_some_and(|doing| caption(it).contains(doing));
        let was_done = found.iter().any(|it| is_done(&it));
        let mut there = found.iter().filter(|it| {
            (known.is_empty() || !matched(it).is_empty()) && (!was_done || is_done(it))
        });
        let is_known = |thing: &str| known.iter().any(|it| thing.ends_with(it));
        let thing =
            there.find_map(|it| things_in(caption(it)).into_iter().find(|thing| !is_known(thing)));
        let Some(thing) = thing else {
            return self.last_seen(self.task);
        };
        let decided = json!({"instance_desc": thing});
        self.errand.call(TARGET, &decided, "Decide on what lay there.")?;
        self.last_seen(&thing)
    }

    /// The newest working memory and the task decide; `None` where they show none.
    fn implied(&mut self, why: &str) -> Result<Option<String>, ToolError> {
        let found = self.errand.call(TARGET, &json!({}), why)?;
        let is_found = found.get("found_in_memory").and_then(Value::as_str) == Some("yes");
        Ok(desc(&found).filter(|_| is_found))
    }

    /// The window of all occasions that are named; `None` where there is none, or a
    /// habit only.
    fn window(&self) -> Option<Window> {
        let times = self.reference.when.iter().map(|it| it.resolve(self.now, self.zone).window);
        let bounded: Vec<Window> = times.filter(|it| !it.is_unbounded()).collect();
        bounded.iter().copied().reduce(|a, b| {
            // Open where one of them is.
            let start = a.start().zip(b.start()).map(|(a, b)| a.min(b));
            let end = a.end().zip(b.end()).map(|(a, b)| a.max(b));
            Window::new(start, end).unwrap_or(a)
        })
    }

    fn bounds(&self, window: Window) -> (Value, Value) {
        let shown =
            |it: Option<Timestamp>| it.map_or(Value::Null, |it| json!(self.zone.format(it)));
        (shown(window.start()), shown(window.end()))
    }

    /// What to recall by, in words: "a red mug by the desk".
    fn described(&self) -> String {
        let Reference { thing, around, doing, .. } = &self.reference;
        let mut words = if thing.is_empty() { "things".to_owned() } else { with_article(thing) };
        for place in around {
            words.push_str(&format!(" by the {place}"));
        }
        if let (Some(doing), true) = (doing, around.is_empty()) {
            words.push_str(&format!(" the user is {doing}"));
        }
        words
    }

    /// Whether the record says everything that the request says of the place: a grey
    /// windowsill, where a wooden one may be grey, too.
    fn is_just_there(&self, record: &Value) -> bool {
        let said: Vec<&str> = matched(record).iter().filter_map(Value::as_str).collect();
        let said = said.join(" ");
        let mut words = self.reference.around.iter().flat_map(|it| it.split(' '));
        words.all(|word| said.split(' ').any(|it| it == word))
    }

    /// "other than the red one", "not the one on the desk", where the object was last.
    fn is_excluded(&self, instance: &Value, recalled: &[Value]) -> bool {
        let desc = instance.get("instance_desc").and_then(Value::as_str).unwrap_or_default();
        let said: Vec<&str> = desc.split(' ').collect();
        let own: Vec<&str> = self.reference.thing.split(' ').collect();
        let newest = instance.get("record_ids").and_then(Value::as_array).and_then(|it| it.last());
        let newest = newest.and_then(|id| recalled.iter().find(|it| it.get("id") == Some(id)));
        let around = newest.map(|it| mentions(caption(it))).unwrap_or_default();
        let excludes = |without: &String| {
            let mut words = without.split(' ').filter(|it| !own.contains(it)).peekable();
            let is_like = words.peek().is_some() && words.all(|word| said.contains(&word));
            let place = mentions(&format!("a {without}")).into_iter().next();
            let place = place.filter(|it| !own.contains(&it.head.as_str()));
            is_like || place.is_some_and(|place| around.iter().any(|it| it.is_named_as(&place)))
        };
        self.reference.without.iter().any(excludes)
    }
}

/// An hour to either side, or half of it: people are no clocks, and robots go their
/// rounds.
fn widened(window: Window) -> Window {
    const LEAST: Duration = Duration::from_secs(3_600);
    let span = window.start().zip(window.end()).map(|(start, end)| end.since(start));
    let slack = span.map_or(LEAST, |span| LEAST.max(span / 2));
    let start = window.start().map(|it| it.minus(slack));
    let end = window.end().map(|it| it.plus(slack));
    Window::new(start, end).unwrap_or(window)
}

/// "a mug", "an apple", "keys".
fn with_article(thing: &str) -> String {
    if thing.ends_with('s') && !thing.ends_with("ss") {
        return thing.to_owned();
    }
    let article = if thing.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {thing}")
}

fn records(reply: &Reply) -> Vec<Value> {
    reply.get("records").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn matched(record: &Value) -> &[Value] {
    record.get("matched").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn caption(record: &Value) -> &str {
    record.get("caption").and_then(Value::as_str).unwrap_or_default()
}

/// Whether the record shows, beside the thing, something of what was named around it.
fn is_in_place(record: &Value) -> bool {
    matched(record).len() > 1
}

fn desc(reply: &Reply) -> Option<String> {
    reply.get("instance_desc")?.as_str().map(str::to_owned)
}

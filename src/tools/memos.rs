//! `memo_add`, `memo_delete`, `memo_recall`, `memo_expand` and `memo_list`: what
//! users rated up, for the next question like it.

use serde_json::{Map, Value, json};

use crate::memory::memos::{
    DeletedMemos, ListedMemo, MemoRanking, MemoSelector, MemoStatus, MemosError, NewMemo,
    RecalledMemo, block,
};
use crate::store::memos::MemoRecall;
use crate::tools::args::{Args, Kind, Param, refused};
use crate::tools::context::Context;
use crate::tools::reply::Text;
use crate::tools::{ToolError, ToolReply};

/// Longest prompt of a user, and longest query.
const PROMPT_BYTES_MAX: usize = 8_000;
/// Longest message of an assistant.
const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// Messages of one memo.
const MESSAGES_MAX: usize = 16;
/// Recalls that one output is searched for; more are passed over.
const RECALLS_MAX: usize = 16;
/// Characters of a block that a listing shows.
const SHOWN_CHARS_MAX: usize = 300;

/// Where a memo comes from where its adder says nothing.
const DEFAULT_SOURCE: &str = "uprated_by_user";

const QUERY: Kind = Kind::Text { bytes_max: PROMPT_BYTES_MAX };
const TIME_DECAY: Param = Param::optional(
    "time_decay",
    Kind::Positive,
    "Days after which a memo counts half; age does not count where absent.",
);
const USAGE_WEIGHT: Param = Param::optional(
    "usage_weight",
    Kind::Share { default: 0.0 },
    "How much of the score depends on how often a memo answered.",
);

pub(crate) const ADD: &[Param] = &[
    Param::required("user_message", QUERY, "The user's prompt that the message answered."),
    Param::optional(
        "message",
        Kind::Text { bytes_max: MESSAGE_BYTES_MAX },
        "The message rated up, with its <reasoning>, <sql> or <chart>.",
    ),
    Param::optional(
        "messages",
        Kind::Texts { most: MESSAGES_MAX, bytes_max: MESSAGE_BYTES_MAX },
        "Several messages rated up together, instead of message.",
    ),
    Param::optional(
        "message_ids",
        Kind::Names { most: MESSAGES_MAX },
        "Ids of the messages, for memo_delete.",
    ),
    Param::optional(
        "source",
        Kind::Text { bytes_max: 128 },
        "Where it comes from; \"uprated_by_user\" where absent.",
    ),
];

pub(crate) const DELETE: &[Param] = &[
    Param::optional("id", Kind::Whole { least: 0, most: i64::MAX, default: 0 }, "The memo's id."),
    Param::optional(
        "message_id",
        Kind::Text { bytes_max: 256 },
        "Id of a message whose memos go, instead of id.",
    ),
];

pub(crate) const RECALL: &[Param] = &[
    Param::required("query", QUERY, "What an example is wanted of."),
    Param::optional("k", Kind::Whole { least: 1, most: 10, default: 1 }, "How many at most."),
    TIME_DECAY,
    USAGE_WEIGHT,
];

pub(crate) const EXPAND: &[Param] = &[
    Param::required(
        "text",
        Kind::Text { bytes_max: MESSAGE_BYTES_MAX },
        "A model's output with <recall>…</recall> in it.",
    ),
    TIME_DECAY,
    USAGE_WEIGHT,
];

pub(crate) const LIST: &[Param] = &[
    Param::optional("limit", Kind::Whole { least: 1, most: 100, default: 20 }, "How many at most."),
    Param::optional(
        "before",
        Kind::Whole { least: 0, most: i64::MAX, default: 0 },
        "Only memos with a lower id, to go on with a list.",
    ),
    Param::optional(
        "recalls",
        Kind::Whole { least: 0, most: 100, default: 0 },
        "How many of the newest recalls to list, with the memos that answered them.",
    ),
];

/// A checked call of one of the tools here.
#[derive(Debug)]
pub(crate) enum Request {
    Add(NewMemo),
    Delete(MemoSelector),
    Recall { query: String, k: usize, ranking: MemoRanking },
    Expand { text: String, ranking: MemoRanking },
    List { before: Option<u64>, limit: usize, recalls: usize },
}

impl Request {
    pub(crate) fn add(args: &Args) -> Result<Self, ToolError> {
        let messages = match (args.text("message")?, args.texts("messages")?) {
            (Some(message), messages) if messages.is_empty() => vec![message.to_owned()],
            (None, messages) if !messages.is_empty() => messages,
            (found, _) => {
                let came = if found.is_some() { "both" } else { "none" };
                return Err(refused(format!(
                    "one of the arguments \"message\" and \"messages\" is accepted; {came} came"
                )));
            }
        };
        Ok(Self::Add(NewMemo {
            user_message: args.required_text("user_message")?.to_owned(),
            messages,
            message_ids: args.names("message_ids")?,
            source: args.text("source")?.unwrap_or(DEFAULT_SOURCE).to_owned(),
        }))
    }

    pub(crate) fn delete(args: &Args) -> Result<Self, ToolError> {
        match (u64::try_from(args.whole("id")?).unwrap_or(0), args.text("message_id")?) {
            (0, Some(message)) => Ok(Self::Delete(MemoSelector::Message(message.to_owned()))),
            (id, None) if id > 0 => Ok(Self::Delete(MemoSelector::Id(id))),
            (id, _) => {
                let came = if id > 0 { "both" } else { "none" };
                Err(refused(format!(
                    "one of the arguments \"id\" (from 1) and \"message_id\" is accepted; {came} came"
                )))
            }
        }
    }

    pub(crate) fn recall(args: &Args) -> Result<Self, ToolError> {
        let query = args.required_text("query")?.to_owned();
        Ok(Self::Recall { query, k: args.count("k")?, ranking: ranking(args)? })
    }

    pub(crate) fn expand(args: &Args) -> Result<Self, ToolError> {
        Ok(Self::Expand { text: args.required_text("text")?.to_owned(), ranking: ranking(args)? })
    }

    pub(crate) fn list(args: &Args) -> Result<Self, ToolError> {
        let before = u64::try_from(args.whole("before")?).ok().filter(|id| *id > 0);
        Ok(Self::List { before, limit: args.count("limit")?, recalls: args.count("recalls")? })
    }
}

fn ranking(args: &Args) -> Result<MemoRanking, ToolError> {
    Ok(MemoRanking {
        half_life_days: args.positive(TIME_DECAY.name)?,
        usage_weight: args.share(USAGE_WEIGHT.name)?,
    })
}

/// Carries a request out; a change is on disk when it returns.
pub(crate) fn run(context: &Context, request: Request) -> Result<ToolReply, ToolError> {
    match request {
        Request::Add(memo) => add(context, memo),
        Request::Delete(which) => delete(context, &which),
        Request::Recall { query, k, ranking } => recall(context, &query, k, ranking),
        Request::Expand { text, ranking } => expand(context, &text, ranking),
        Request::List { before, limit, recalls } => list(context, before, limit, recalls),
    }
}

fn add(context: &Context, memo: NewMemo) -> Result<ToolReply, ToolError> {
    let id = context.memos.add(memo, context.clock.now()).map_err(|error| refusal(&error))?;
    let mut structured = Map::new();
    structured.insert("id".to_owned(), json!(id));
    structured.insert("status".to_owned(), json!(word(MemoStatus::Queued)));
    Ok(ToolReply { structured, text: format!("memo #{id} is queued"), images: Vec::new() })
}

fn delete(context: &Context, which: &MemoSelector) -> Result<ToolReply, ToolError> {
    let deleted = context.memos.delete(which).map_err(|error| refusal(&error))?;
    let DeletedMemos { stored, queued } = deleted;
    let mut lines = Vec::new();
    if !stored.is_empty() {
        lines.push(format!("deleted {}", numbered(&stored)));
    }
    if !queued.is_empty() {
        lines.push(format!("cancelled {}, whose creation was queued", numbered(&queued)));
    }
    let mut structured = Map::new();
    structured.insert("deleted".to_owned(), json!(stored));
    structured.insert("cancelled".to_owned(), json!(queued));
    if lines.is_empty() {
        let why = match which {
            MemoSelector::Id(id) => format!("there is no memo #{id}"),
            MemoSelector::Message(message) => format!("there is no memo of message {message:?}"),
        };
        lines.push(format!("Nothing deleted: {why}."));
        structured.insert("why_empty".to_owned(), json!(why));
    }
    Ok(ToolReply { structured, text: lines.join("\n"), images: Vec::new() })
}

fn recall(
    context: &Context,
    query: &str,
    k: usize,
    ranking: MemoRanking,
) -> Result<ToolReply, ToolError> {
    let found = recalled(context, query, k, ranking)?;
    let memos: Vec<Value> = found
        .iter()
        .map(|RecalledMemo { memo, score }| {
            // Four digits say all that a score can.
            let score = (f64::from(*score) * 1e4).round() / 1e4;
            json!({"id": memo.id, "memo": memo.content, "score": score})
        })
        .collect();
    let mut structured = Map::new();
    structured.insert("memos".to_owned(), Value::Array(memos));
    let mut text = Text::new(context.options.text_max_chars);
    if found.is_empty() {
        let why = why_none(context);
        text.line(&format!("Nothing found: {why}."));
        structured.insert("why_empty".to_owned(), json!(why));
    }
    for it in &found {
        text.line(&it.memo.content);
    }
    Ok(ToolReply { structured, text: text.finish(), images: Vec::new() })
}

fn expand(context: &Context, text: &str, ranking: MemoRanking) -> Result<ToolReply, ToolError> {
    let mut blocks = Vec::new();
    let mut told = Text::new(context.options.text_max_chars);
    for query in block::recalls(text).into_iter().take(RECALLS_MAX) {
        let found = recalled(context, query, 1, ranking)?.pop();
        match &found {
            Some(found) => told.line(&found.memo.content),
            None => told.line(&format!("No memo for {query:?}: {}.", why_none(context))),
        }
        let memo = found.map(|it| it.memo);
        blocks.push(json!({
            "query": query,
            "memo_id": memo.as_ref().map(|memo| memo.id),
            "memo": memo.map(|memo| memo.content),
        }));
    }
    if blocks.is_empty() {
        told.line("The text asks for no recall.");
    }
    let mut structured = Map::new();
    structured.insert("blocks".to_owned(), Value::Array(blocks));
    Ok(ToolReply { structured, text: told.finish(), images: Vec::new() })
}

fn recalled(
    context: &Context,
    query: &str,
    k: usize,
    ranking: MemoRanking,
) -> Result<Vec<RecalledMemo>, ToolError> {
    let now = context.clock.now();
    context.memos.recall(query, k, ranking, now).map_err(|error| refusal(&error))
}

fn why_none(context: &Context) -> String {
    match context.memos.queued() {
        0 => "no memo is kept".to_owned(),
        queued => format!("{queued} memos are queued, none is stored yet"),
    }
}

fn list(
    context: &Context,
    before: Option<u64>,
    limit: usize,
    recalls: usize,
) -> Result<ToolReply, ToolError> {
    let zone = context.options.zone;
    let fault = |error: MemosError| refusal(&error);
    let listed = context.memos.list(before, limit).map_err(fault)?;
    let recalls = context.memos.recalls(recalls).map_err(fault)?;
    let (total, queued) = (context.memos.len(), context.memos.queued());
    let mut text = Text::new(context.options.text_max_chars);
    text.line(&format!("{} of {total} memos, newest first, {queued} queued:", listed.len()));
    let mut memos = Vec::with_capacity(listed.len());
    for ListedMemo { memo, status, uses } in listed {
        let cut: String = memo.content.chars().take(SHOWN_CHARS_MAX).collect();
        let dots = if cut.len() < memo.content.len() { "…" } else { "" };
        text.line(&format!(
            "#{} [{}, {} uses] {:?}\n  {}{dots}",
            memo.id,
            word(status),
            uses.uses,
            memo.user_message,
            cut.replace('\n', "\n  ")
        ));
        memos.push(json!({
            "id": memo.id,
            "memo": memo.content,
            "user_message": memo.user_message,
            "message_ids": memo.message_ids,
            "source": memo.source,
            "time": zone.format(memo.created_at),
            "status": word(status),
            "uses": uses.uses,
            "last_used": uses.used_at.map(|at| zone.format(at)),
        }));
    }
    let answered: Vec<Value> = recalls
        .iter()
        .map(|MemoRecall { number: _, query, memos, at }| {
            json!({"query": query, "memo_ids": memos, "time": zone.format(*at)})
        })
        .collect();
    for MemoRecall { number: _, query, memos, at } in &recalls {
        text.line(&format!("{} {query:?} was answered by {}", zone.format(*at), numbered(memos)));
    }
    let mut structured = Map::new();
    structured.insert("memos".to_owned(), Value::Array(memos));
    structured.insert("total".to_owned(), json!(total));
    structured.insert("queued".to_owned(), json!(queued));
    structured.insert("recalls".to_owned(), Value::Array(answered));
    Ok(ToolReply { structured, text: text.finish(), images: Vec::new() })
}

fn word(status: MemoStatus) -> &'static str {
    match status {
        MemoStatus::Queued => "queued",
        MemoStatus::Stored => "stored",
    }
}

/// `#1, #2`, or `none`.
fn numbered(ids: &[u64]) -> String {
    if ids.is_empty() {
        return "none".to_owned();
    }
    ids.iter().map(|id| format!("#{id}")).collect::<Vec<String>>().join(", ")
}

fn refusal(error: &MemosError) -> ToolError {
    match error {
        MemosError::NothingToKeep(_) => refused(format!("argument \"message\" {error}")),
        MemosError::Full | MemosError::QueueFull => ToolError::Refused(error.to_string()),
        MemosError::Store(_) | MemosError::Model(_) | MemosError::Thread(_) => {
            ToolError::Fault(error.to_string())
        }
    }
}

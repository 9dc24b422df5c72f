//! `memo_list`: the memos, and which of them answered what.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::base::time::Zone;
use crate::memory::memos::ListedMemo;
use crate::retrieval::sessions::SessionName;
use crate::store::memos::RecordedRecall;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::memos::{StatusReply, id_list, refusal};
use crate::tools::reply::indented_excerpt;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct MemoList;

/// Characters of a memo that a line shows.
const SHOWN_CHARS_MAX: usize = 300;

/// Part of the list.
pub(crate) struct Request {
    before: Option<u64>,
    limit: usize,
    recalls: usize,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    memos: Vec<ListedMemoReply>,
    total: usize,
    queued: usize,
    recalls: Vec<ListedRecallReply>,
}

#[derive(Serialize, JsonSchema)]
struct ListedMemoReply {
    id: u64,
    memo: String,
    user_message: String,
    message_ids: Vec<String>,
    source: String,
    time: String,
    status: StatusReply,
    uses: u64,
    last_used: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ListedRecallReply {
    query: String,
    memo_ids: Vec<u64>,
    time: String,
}

impl Tool for MemoList {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "memo_list";
    const TITLE: &'static str = "List the memos";
    const DESCRIPTION: &'static str =
        "Lists memos, newest first, with where they come from and how often each answered.";
    const TOOLSET: Toolset = Toolset::Memos;
    const HINTS: Hints = Hints::READS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        Param::optional("limit", Kind::Whole { least: 1, most: 100, default: 20 }, ""),
        Param::optional(
            "before",
            Kind::Whole { least: 0, most: i64::MAX, default: 0 },
            "Only lower ids, to go on with a list.",
        ),
        Param::optional(
            "recalls",
            Kind::Whole { least: 0, most: 100, default: 0 },
            "How many of the newest recalls to list, with the memos that answered.",
        ),
    ];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let before = u64::try_from(args.whole("before")?).ok().filter(|id| *id > 0);
        Ok(Request { before, limit: args.count("limit")?, recalls: args.count("recalls")? })
    }

    fn run(context: &Context, _: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let Request { before, limit, recalls } = request;
        let zone = context.options.zone;
        let listed = context.memos.list(before, limit).map_err(|error| refusal(&error))?;
        let recalls = context.memos.recalls(recalls).map_err(|error| refusal(&error))?;
        Ok(Reply {
            memos: listed.into_iter().map(|it| ListedMemoReply::of(it, zone)).collect(),
            total: context.memos.len(),
            queued: context.memos.queued_count(),
            recalls: recalls.into_iter().map(|it| ListedRecallReply::of(it, zone)).collect(),
        })
    }
}

impl ListedMemoReply {
    fn of(listed: ListedMemo, zone: Zone) -> Self {
        let ListedMemo { memo, status, uses } = listed;
        Self {
            id: memo.id,
            memo: memo.content,
            user_message: memo.user_message,
            message_ids: memo.message_ids,
            source: memo.source,
            time: zone.format(memo.created_at),
            status: StatusReply::of(status),
            uses: uses.uses,
            last_used: uses.used_at.map(|at| zone.format(at)),
        }
    }

    fn line(&self) -> String {
        let Self { id, memo, user_message, status, uses, .. } = self;
        let shown = indented_excerpt(memo, SHOWN_CHARS_MAX);
        format!("#{id} [{}, {uses} uses] {user_message:?}\n  {shown}", status.word())
    }
}

impl ListedRecallReply {
    fn of(recall: RecordedRecall, zone: Zone) -> Self {
        let RecordedRecall { number: _, query, memos, at } = recall;
        Self { query, memo_ids: memos, time: zone.format(at) }
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let Self { memos, total, queued, recalls } = self;
        text.line(&format!("{} of {total} memos, newest first, {queued} queued:", memos.len()));
        for memo in memos {
            text.block(&memo.line());
        }
        for ListedRecallReply { query, memo_ids, time } in recalls {
            text.line(&format!("{time} {query:?} was answered by {}", id_list(memo_ids)));
        }
    }
}

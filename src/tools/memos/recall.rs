//! `memo_recall`: the memos that best answer a query.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::base::score::Score;
use crate::memory::memos::{MemoRanking, RecalledMemo};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::memos::{
    PROMPT, THRESHOLD, TIME_DECAY, USAGE_WEIGHT, ranking, recall_memos, why_none,
};
use crate::tools::reply::LITERAL;
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct MemoRecall;

/// What an example is wanted of.
pub(crate) struct Request {
    query: String,
    k: usize,
    threshold: f32,
    ranking: MemoRanking,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    memos: Vec<RecalledMemoReply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_empty: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct RecalledMemoReply {
    id: u64,
    memo: String,
    score: Score,
}

impl Tool for MemoRecall {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "memo_recall";
    const TITLE: &'static str = "Recall a memo";
    const DESCRIPTION: &'static str = "Finds the <memo> that best answers a query in words, such \
        as 'examples of run-level QC summary queries'.";
    const TOOLSET: Toolset = Toolset::Memos;
    // A recall counts as a use.
    const HINTS: Hints = Hints::ADDS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        Param::required("query", PROMPT, "What an example is wanted of."),
        Param::optional("k", Kind::Whole { least: 1, most: 10, default: 1 }, ""),
        THRESHOLD,
        TIME_DECAY,
        USAGE_WEIGHT,
    ];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        let query = args.required_text("query")?.to_owned();
        let (k, threshold) = (args.count("k")?, args.share(THRESHOLD.name)?);
        Ok(Request { query, k, threshold, ranking: ranking(args)? })
    }

    fn run(context: &Context, _: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let Request { query, k, threshold, ranking } = request;
        let found = recall_memos(context, &query, (k, threshold), ranking)?;
        let why_empty = found.memos.is_empty().then(|| why_none(context, &found, threshold));
        let notice = found.is_literal.then_some(LITERAL);
        Ok(Reply {
            memos: found.memos.into_iter().map(RecalledMemoReply::of).collect(),
            why_empty,
            notice,
        })
    }
}

impl RecalledMemoReply {
    fn of(found: RecalledMemo) -> Self {
        let RecalledMemo { memo, score } = found;
        Self { id: memo.id, memo: memo.content, score: Score(score) }
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        if let Some(why) = &self.why_empty {
            text.line(&format!("Nothing found: {why}."));
        }
        for it in &self.memos {
            text.block(&it.memo);
        }
        if let Some(notice) = self.notice {
            text.line(&format!("Note: {notice}."));
        }
    }
}

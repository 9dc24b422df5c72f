//! `memo_expand`: each recall in a model's output is answered by a memo.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::memory::memos::{MemoRanking, block};
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param};
use crate::tools::context::Context;
use crate::tools::memos::{
    MESSAGE_BYTES_MAX, THRESHOLD, TIME_DECAY, USAGE_WEIGHT, ranking, recall_memos, why_none,
};
use crate::tools::text::Text;
use crate::tools::tool::{self, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct MemoExpand;

/// Recalls that one output is searched for; more are passed over.
const RECALLS_MAX: usize = 16;

/// A model's output.
pub(crate) struct Request {
    text: String,
    threshold: f32,
    ranking: MemoRanking,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    blocks: Vec<Block>,
}

#[derive(Serialize, JsonSchema)]
struct Block {
    query: String,
    memo_id: Option<u64>,
    memo: Option<String>,
    #[serde(skip)]
    why_none: String,
}

impl Tool for MemoExpand {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "memo_expand";
    const TITLE: &'static str = "Answer the recalls in a text";
    const DESCRIPTION: &'static str = "Finds each <recall>query</recall> in a model's output and \
        returns the <memo> to inject for it, in order.";
    const TOOLSET: Toolset = Toolset::Memos;
    // A recall counts as a use.
    const HINTS: Hints = Hints::ADDS;
    const ROLES: Roles = Roles::of(&[Role::Read]);
    const PARAMS: &'static [Param] = &[
        Param::required("text", Kind::Text { bytes_max: MESSAGE_BYTES_MAX }, ""),
        THRESHOLD,
        TIME_DECAY,
        USAGE_WEIGHT,
    ];

    fn parse(args: &Args, _: &Context, _: SessionName<'_>) -> Result<Request, ToolError> {
        Ok(Request {
            text: args.required_text("text")?.to_owned(),
            threshold: args.share(THRESHOLD.name)?,
            ranking: ranking(args)?,
        })
    }

    fn run(context: &Context, _: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let Request { text, threshold, ranking } = request;
        let queries = block::recalls(&text).into_iter().take(RECALLS_MAX);
        let blocks = queries.map(|query| expand(context, query, threshold, ranking));
        Ok(Reply { blocks: blocks.collect::<Result<_, ToolError>>()? })
    }
}

fn expand(
    context: &Context,
    query: &str,
    threshold: f32,
    ranking: MemoRanking,
) -> Result<Block, ToolError> {
    let mut recalled = recall_memos(context, query, (1, threshold), ranking)?;
    let memo = recalled.memos.pop().map(|found| found.memo);
    Ok(Block {
        query: query.to_owned(),
        memo_id: memo.as_ref().map(|memo| memo.id),
        memo: memo.map(|memo| memo.content),
        why_none: why_none(context, &recalled, threshold),
    })
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        if self.blocks.is_empty() {
            text.line("The text asks for no recall.");
        }
        for Block { query, memo, why_none, .. } in &self.blocks {
            match memo {
                Some(memo) => text.block(memo),
                None => text.line(&format!("No memo for {query:?}: {why_none}.")),
            }
        }
    }
}

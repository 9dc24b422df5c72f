//! `recall_best_match`: records by description, best first.

use crate::retrieval::recall::{Recall, RecallRequest};
use crate::retrieval::session::RecallKind;
use crate::retrieval::sessions::SessionName;
use crate::retrieval::{Retrieval, RetrievalError};
use crate::tools::area::AREA;
use crate::tools::args::{Kind, Param};
use crate::tools::context::Context;
use crate::tools::explain::EXPLAIN;
use crate::tools::object_retrieval::recall_tool::RecallTool;
use crate::tools::recall::{self, END, MAP, QUERY, QUERY_BYTES_MAX, SOURCE, START};

pub(crate) struct RecallBestMatch;

/// Records where the call does not say how many.
pub(super) const K_DEFAULT: i64 = 8;

impl RecallTool for RecallBestMatch {
    const KIND: RecallKind = RecallKind::RecallBestMatch;
    const TITLE: &'static str = "Recall what best matches a description";
    const DESCRIPTION: &'static str = "Finds the records of past observations that best match a vague description. Best first; they become the working memory.";
    const PARAMS: &'static [Param] = &[
        Param::required(QUERY, Kind::Text { bytes_max: QUERY_BYTES_MAX }, "What to look for."),
        START,
        END,
        Param::optional("k", Kind::Whole { least: 1, most: 50, default: K_DEFAULT }, ""),
        SOURCE,
        MAP,
        AREA,
        EXPLAIN,
    ];

    fn recall(
        retrieval: &Retrieval,
        session: SessionName<'_>,
        request: &RecallRequest,
    ) -> Result<Recall, RetrievalError> {
        retrieval.recall_best_match(session, request)
    }

    fn why_empty(context: &Context, request: &RecallRequest) -> String {
        recall::why_unmatched(context, request)
    }
}

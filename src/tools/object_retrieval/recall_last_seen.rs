//! `recall_last_seen`: the newest records that show an object.

use crate::retrieval::recall::{Recall, RecallRequest};
use crate::retrieval::session::RecallKind;
use crate::retrieval::sessions::SessionName;
use crate::retrieval::{Retrieval, RetrievalError};
use crate::tools::area::AREA;
use crate::tools::args::{Kind, Param};
use crate::tools::context::Context;
use crate::tools::explain::EXPLAIN;
use crate::tools::object_retrieval::recall_tool::RecallTool;
use crate::tools::recall::{self, END, MAP, OBJECT, SOURCE, START};

pub(crate) struct RecallLastSeen;

/// Records where the call does not say how many.
pub(super) const K_DEFAULT: i64 = 1;

impl RecallTool for RecallLastSeen {
    const KIND: RecallKind = RecallKind::RecallLastSeen;
    const TITLE: &'static str = "Recall where a thing was last seen";
    const DESCRIPTION: &'static str = "Finds the most recent records that really show a clearly described object: attributes must belong to it, synonyms count. Newest first; they become the working memory.";
    const PARAMS: &'static [Param] = &[
        OBJECT,
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
        retrieval.recall_last_seen(session, request)
    }

    fn why_empty(context: &Context, request: &RecallRequest) -> String {
        recall::why_unseen(context, request)
    }
}

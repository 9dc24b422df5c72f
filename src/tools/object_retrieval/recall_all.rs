//! `recall_all`: every record that shows an object, in the order of time.

use crate::memory::episodic::last_seen::Wording;
use crate::retrieval::recall::{Recall, RecallRequest};
use crate::retrieval::session::RecallKind;
use crate::retrieval::sessions::SessionName;
use crate::retrieval::{Retrieval, RetrievalError};
use crate::tools::area::AREA;
use crate::tools::args::{Kind, Param};
use crate::tools::context::Context;
use crate::tools::object_retrieval::recall_tool::RecallTool;
use crate::tools::recall::{self, END, MAP, OBJECT, SOURCE, START};

pub(crate) struct RecallAll;

/// Records where the call does not say how many.
pub(super) const K_DEFAULT: i64 = 50;

impl RecallTool for RecallAll {
    const KIND: RecallKind = RecallKind::RecallAll;
    const TITLE: &'static str = "Recall every sighting of a thing";
    const DESCRIPTION: &'static str = "Finds every record that really shows a described object, in order of time: how often and where it is seen. Where none does for sure, those that may are listed apart, as possible. Becomes the working memory.";
    const PARAMS: &'static [Param] = &[
        OBJECT,
        START,
        END,
        Param::optional(
            "k",
            Kind::Whole { least: 1, most: 500, default: K_DEFAULT },
            "How many; of more the newest.",
        ),
        SOURCE,
        MAP,
        AREA,
    ];
    const IS_BRIEF: bool = false;

    fn recall(
        retrieval: &Retrieval,
        session: SessionName<'_>,
        request: &RecallRequest,
    ) -> Result<Recall, RetrievalError> {
        retrieval.recall_all(session, request, Wording::Any)
    }

    fn why_empty(context: &Context, request: &RecallRequest) -> String {
        recall::why_unseen(context, request)
    }
}

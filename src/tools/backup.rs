//! A backup through the socket: one at a time, for who looks after the daemon.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::audit::{Deed, Urgency};
use crate::base::caller::{Caller, Role, Roles};
use crate::base::time::Timestamp;
use crate::store::backup::source::BackupSource;
use crate::store::backup::{BackupError, Question};
use crate::tools::context::Context;
use crate::tools::{ToolError, access};

/// It is given all that the memory holds, and the key to it.
const ROLES: Roles = Roles::of(&[Role::Admin]);
/// One that asks nothing for so long gives way to another.
const IDLE_MAX: Duration = Duration::from_mins(5);
/// As the audit log and refusals name it.
pub(crate) const NAME: &str = "backup";

/// The backup under way.
#[derive(Debug, Default)]
pub(crate) struct Backups(Mutex<Option<UnderWay>>);

#[derive(Debug)]
struct UnderWay {
    session: String,
    source: BackupSource,
    asked_at: Timestamp,
}

impl Backups {
    /// The connection of this session is gone, and with it its backup.
    pub(crate) fn end_of(&self, session: &str) {
        // Not waited for, on a thread that serves the sockets: who holds it answers another
        // session, and what this one leaves ends after `IDLE_MAX`.
        if let Ok(mut under_way) = self.0.try_lock() {
            under_way.take_if(|it| it.session == session);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<UnderWay>> {
        // A panic leaves a backup that begins anew.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers a question; what begins a backup is audited.
pub(crate) fn answer(
    context: &Context,
    caller: &Caller,
    session: &str,
    question: &[u8],
) -> Result<Vec<u8>, ToolError> {
    access::permit(context, caller, NAME, ROLES)?;
    let question = Question::from_bytes(question).map_err(|error| refusal(&error))?;
    let now = context.clock.now();
    let mut under_way = context.backups.lock();
    if question == Question::Begin {
        let is_others = under_way
            .as_ref()
            .is_some_and(|it| it.session != session && now.since(it.asked_at) < IDLE_MAX);
        if is_others {
            return Err(ToolError::Refused(
                "another backup is under way; try again when it has ended".to_owned(),
            ));
        }
        // The one before ends first: what it notes belongs to the database.
        *under_way = None;
        let source = context.ingest.begin_backup();
        *under_way = Some(UnderWay { session: session.to_owned(), source, asked_at: now });
        let deed = Deed::done(caller, NAME, 1, Vec::new());
        context.audit.write(&deed, Urgency::Written);
    }
    let of_session = under_way.as_mut().filter(|it| it.session == session);
    let UnderWay { source, asked_at, .. } = of_session.ok_or_else(|| {
        ToolError::Refused("this backup has ended, as another was begun; try again".to_owned())
    })?;
    *asked_at = now;
    let is_last = matches!(question, Question::Done { .. });
    let answer = source
        .answer(question)
        .and_then(|answer| answer.to_bytes())
        .map_err(|error| refusal(&error));
    if is_last {
        *under_way = None;
    }
    answer
}

/// Whoever makes a backup looks after the daemon, and may know why there is none.
fn refusal(error: &BackupError) -> ToolError {
    ToolError::Refused(error.to_string())
}

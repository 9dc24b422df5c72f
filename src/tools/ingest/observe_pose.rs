//! `observe_pose`: takes where the robot is, for the frames that do not say so.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::base::frame::{FrameMeta, NAME_BYTES_MAX};
use crate::base::pose::Pose;
use crate::ingest::TrackedPose;
use crate::retrieval::sessions::SessionName;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::Context;
use crate::tools::text::Text;
use crate::tools::tool::{self, Changed, Tool};
use crate::tools::{Hints, ToolError, Toolset};

pub(crate) struct ObservePose;

const NAME: Kind = Kind::Name { bytes_max: NAME_BYTES_MAX };

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    /// Poses that came since the daemon started.
    poses: u64,
}

impl Tool for ObservePose {
    type Context = Context;
    type Request = TrackedPose;
    type Reply = Reply;

    const NAME: &'static str = "observe_pose";
    const TITLE: &'static str = "Say where the robot is";
    const DESCRIPTION: &'static str = "Takes a pose of the robot. Frames without a position get one interpolated between the poses around their time, some seconds away at most. Poses are kept for a while, in memory.";
    const TOOLSET: Toolset = Toolset::Ingest;
    const HINTS: Hints = Hints::ADDS;
    const ROLES: Roles = Roles::of(&[Role::Observe]);
    const IS_FREQUENT: bool = true;
    const IS_BRIEF: bool = true;
    const PARAMS: &'static [Param] = &[
        Param::required("position", Kind::Position, "Metres in frame_id."),
        Param::optional("theta", Kind::Number, "Radians."),
        Param::optional("time", Kind::Time, "When; now where absent."),
        Param::optional("frame_id", NAME, "'map' where absent."),
        Param::optional("map_id", NAME, "That frame_id belongs to."),
        Param::optional(
            "source",
            NAME,
            "Its camera; every one without poses of its own where absent.",
        ),
    ];

    fn parse(
        args: &Args,
        context: &Context,
        session: SessionName<'_>,
    ) -> Result<TrackedPose, ToolError> {
        let reading = context.reading(session);
        let position = args.position("position")?.unwrap_or_default();
        let pose = Pose::new(position, args.number("theta")?);
        let pose = pose.map_err(|error| argument_error(format!("argument {error}")))?;
        let text = |name| Ok::<_, ToolError>(args.text(name)?.unwrap_or_default().to_owned());
        let source = text("source")?;
        let meta = FrameMeta {
            taken_at: args.time("time", reading)?.unwrap_or(reading.now),
            pose: Some(pose),
            frame_id: args.text("frame_id")?.unwrap_or("map").to_owned(),
            map_id: text("map_id")?,
            source: if source.is_empty() { "default".to_owned() } else { source.clone() },
        };
        meta.check().map_err(|error| argument_error(format!("argument {error}")))?;
        let FrameMeta { taken_at: at, pose: _, frame_id, map_id, source: _ } = meta;
        Ok(TrackedPose { at, pose, frame_id, map_id, source })
    }

    fn run(
        context: &Context,
        _: SessionName<'_>,
        request: TrackedPose,
    ) -> Result<Reply, ToolError> {
        let taken = context.ingest.observe_pose(request);
        taken.map_err(|error| argument_error(format!("argument {error}")))?;
        Ok(Reply { poses: context.ingest.poses().came })
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        text.line(&format!("{} poses since the start", self.poses));
    }

    /// Nothing is kept of it but with a frame.
    fn changed(&self) -> Option<Changed> {
        None
    }
}

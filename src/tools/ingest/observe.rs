//! `observe`: a frame or a ready caption goes into memory.

use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::caller::{Role, Roles};
use crate::base::caption::Caption;
use crate::base::frame::{FrameMeta, NAME_BYTES_MAX};
use crate::base::pose::Pose;
use crate::capture::pixels::{BadPixels, RawImage};
use crate::ingest::{FrameImage, ObserveError, Observed, ObservedState};
use crate::retrieval::sessions::SessionName;
use crate::store::NewObservation;
use crate::tools::args::{Args, Kind, Param, argument_error};
use crate::tools::context::{Context, Options};
use crate::tools::text::Text;
use crate::tools::tool::{self, Changed, Tool};
use crate::tools::{Hints, ToolError, Toolset, rooted};

pub(crate) struct Observe;

/// Longest caption: several times what the wordiest captioner writes.
const CAPTION_BYTES_MAX: usize = 8_000;

const SIDE: Kind = Kind::Size { most: 65_535 };

const NAME: Kind = Kind::Name { bytes_max: NAME_BYTES_MAX };

/// An observation.
pub(crate) struct Request {
    meta: FrameMeta,
    content: Content,
    /// Frames that its sender dropped before it.
    lost: u64,
}

enum Content {
    Image(GivenImage),
    CaptionedImage(GivenImage, Caption),
    Caption { caption: String, confidence: Option<f32>, layer: Option<String> },
}

/// An image's bytes, and what they are where they are no file.
struct GivenImage {
    bytes: Vec<u8>,
    raw: Option<RawFields>,
}

/// The fields of `sensor_msgs/Image` beside its data.
struct RawFields {
    width: u32,
    height: u32,
    encoding: String,
    step: Option<u32>,
    is_bigendian: bool,
}

impl GivenImage {
    fn as_frame(&self) -> FrameImage<'_> {
        let data = self.bytes.as_slice();
        let Some(raw) = &self.raw else { return FrameImage::File(data) };
        let RawFields { width, height, ref encoding, step, is_bigendian } = *raw;
        FrameImage::Raw(RawImage { width, height, encoding, is_bigendian, step, data })
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Reply {
    frame: Option<u64>,
    id: Option<u64>,
    state: FrameState,
    /// Why nothing of the frame is kept, of one that was dropped: dark, blurred or `too_soon`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FrameState {
    Stored,
    Merged,
    Pending,
    Dropped,
}

impl Tool for Observe {
    type Context = Context;
    type Request = Request;
    type Reply = Reply;

    const NAME: &'static str = "observe";
    const TITLE: &'static str = "Put an observation into memory";
    const DESCRIPTION: &'static str = "Takes a camera frame (image or image_path), captioned in the background, or a ready caption, or both of a robot that captions itself, stored at once. When it answers, the observation is safe on disk, or dropped with the reason: dark, blurred, too_soon.";
    const TOOLSET: Toolset = Toolset::Ingest;
    const HINTS: Hints = Hints::ADDS;
    const ROLES: Roles = Roles::of(&[Role::Observe]);
    const IS_FREQUENT: bool = true;
    const PARAMS: &'static [Param] = &[
        Param::optional("image", Kind::Base64, "JPEG, PNG or WebP; or raw pixels, with encoding."),
        Param::optional(
            "image_path",
            Kind::Text { bytes_max: 4096 },
            "Absolute path on the robot's disk, where the daemon allows it.",
        ),
        Param::optional(
            "encoding",
            Kind::Name { bytes_max: 32 },
            "As in sensor_msgs/Image: rgb8, bgr8, mono8, yuv422_yuy2, nv12, bayer_rggb8, …; with width and height.",
        ),
        Param::optional("width", SIDE, "Of raw pixels."),
        Param::optional("height", SIDE, "Of raw pixels."),
        Param::optional(
            "step",
            Kind::Size { most: u32::MAX },
            "Bytes from row to row of raw pixels; without it no padding.",
        ),
        Param::optional("is_bigendian", Kind::Flag, "Raw pixels of 16 bits."),
        Param::optional(
            "caption",
            Kind::Text { bytes_max: CAPTION_BYTES_MAX },
            "What was seen; stored as it is. With an image no captioner is asked.",
        ),
        Param::optional("time", Kind::Time, "When; now where absent."),
        Param::optional(
            "position",
            Kind::Position,
            "Of the robot, metres in frame_id; where absent, as observe_pose said.",
        ),
        Param::optional("theta", Kind::Number, "Where it looked, radians; needs position."),
        Param::optional("frame_id", NAME, "'map' where absent."),
        Param::optional("map_id", NAME, "That frame_id belongs to."),
        Param::optional("source", NAME, "Camera or other origin; 'default' where absent."),
        Param::optional(
            "confidence",
            Kind::Number,
            "0 to 1 that the caption is right; sure where absent.",
        ),
        Param::optional("layer", NAME, "Kind of a ready caption, such as 'body_status'."),
        Param::optional(
            "lost",
            Kind::Size { most: u32::MAX },
            "Frames of this source that its sender dropped just before, as they came too fast; for health.",
        ),
    ];

    fn parse(
        args: &Args,
        context: &Context,
        session: SessionName<'_>,
    ) -> Result<Request, ToolError> {
        let reading = context.reading(session);
        let content = content(args, &context.options)?;
        let meta = FrameMeta {
            taken_at: args.time("time", reading)?.unwrap_or(reading.now),
            pose: pose(args)?,
            frame_id: args.text("frame_id")?.unwrap_or("map").to_owned(),
            map_id: args.text("map_id")?.unwrap_or_default().to_owned(),
            source: args.text("source")?.unwrap_or("default").to_owned(),
        };
        meta.check().map_err(|error| argument_error(format!("argument {error}")))?;
        let lost = args.size("lost")?.map_or(0, u64::from);
        Ok(Request { meta, content, lost })
    }

    fn run(context: &Context, _: SessionName<'_>, request: Request) -> Result<Reply, ToolError> {
        let Request { meta, content, lost } = request;
        context.ingest.note_overrun(&meta.source, lost);
        match content {
            Content::Caption { caption, confidence, layer } => {
                store(context, NewObservation { meta, caption, confidence, layer })
            }
            Content::Image(image) => {
                let observed = context.ingest.observe_frame(&meta, image.as_frame());
                observed.map(Reply::of).map_err(|error| refusal(&error))
            }
            Content::CaptionedImage(image, caption) => {
                let frame = image.as_frame();
                let observed = context.ingest.observe_captioned_frame(&meta, frame, &caption);
                observed.map(Reply::of).map_err(|error| refusal(&error))
            }
        }
    }
}

fn store(context: &Context, observation: NewObservation) -> Result<Reply, ToolError> {
    let taken_at = observation.meta.taken_at;
    context.ingest.check_clock(taken_at).map_err(|error| refusal(&error))?;
    let records = context.episodic.remember_observations(vec![observation]);
    let records = records.map_err(|error| ToolError::of_failure(&error))?;
    let id = records.first().map(|record| record.id.0);
    Ok(Reply { frame: None, id, state: FrameState::Stored, reason: None })
}

impl Reply {
    fn of(observed: Observed) -> Self {
        let (state, record, reason) = match observed.state {
            ObservedState::Pending => (FrameState::Pending, None, None),
            ObservedState::Stored { record } => (FrameState::Stored, Some(record), None),
            ObservedState::Merged { record } => (FrameState::Merged, record, None),
            ObservedState::Dropped(reason) => (FrameState::Dropped, None, Some(reason.name())),
        };
        let frame = observed.ticket.map(|it| it.0);
        Self { frame, id: record.map(|id| id.0), state, reason }
    }
}

impl tool::Reply for Reply {
    fn write(&self, text: &mut Text) {
        let Self { frame, id, state, reason } = self;
        let frame = frame.unwrap_or_default();
        text.line(&match (state, id) {
            (FrameState::Stored, id) => format!("stored as #{}", id.unwrap_or_default()),
            (FrameState::Merged, Some(id)) => format!("merged into #{id} (frame {frame})"),
            (FrameState::Merged, None) => format!("merged into frame {frame}, which is pending"),
            (FrameState::Pending, _) => {
                format!("frame {frame} is on disk and waits for its caption")
            }
            (FrameState::Dropped, _) => {
                format!("dropped, nothing of it is kept: {}", reason.unwrap_or_default())
            }
        });
    }

    fn changed(&self) -> Option<Changed> {
        if matches!(self.state, FrameState::Dropped) {
            return None;
        }
        let frame = self.frame.map(|frame| format!("frame {frame}"));
        let id = self.id.map(|id| format!("#{id}")).or(frame);
        Some(Changed { count: 1, ids: id.into_iter().collect() })
    }
}

fn content(args: &Args, options: &Options) -> Result<Content, ToolError> {
    let (image, path, caption) =
        (args.text("image")?, args.text("image_path")?, args.text("caption")?);
    let layer = args.text("layer")?.map(str::to_owned);
    let confidence = confidence(args)?;
    let image = match (image, path) {
        (Some(_), Some(_)) => {
            return Err(argument_error(
                "only one of the arguments \"image\" and \"image_path\" is accepted; both came"
                    .to_owned(),
            ));
        }
        (Some(image), None) => Some(decode(image)?),
        (None, Some(path)) => Some(read(Path::new(path), options)?),
        (None, None) => None,
    };
    let raw = raw_fields(args, image.is_some())?;
    let image = image.map(|bytes| GivenImage { bytes, raw });
    match (image, caption) {
        (None, None) => Err(argument_error(
            "one of the arguments \"image\", \"image_path\" and \"caption\" is needed; none came"
                .to_owned(),
        )),
        (None, Some(caption)) => {
            Ok(Content::Caption { caption: caption.to_owned(), confidence, layer })
        }
        (Some(_), _) if layer.is_some() => Err(argument_error(
            "argument \"layer\" goes with \"caption\" only; a frame has no layer".to_owned(),
        )),
        (Some(image), Some(caption)) => {
            let text = caption.to_owned();
            Ok(Content::CaptionedImage(image, Caption { text, confidence, detections: Vec::new() }))
        }
        (Some(_), None) if confidence.is_some() => Err(argument_error(
            "argument \"confidence\" goes with \"caption\" only; the captioner says how sure it is \
             of a frame"
                .to_owned(),
        )),
        (Some(image), None) => Ok(Content::Image(image)),
    }
}

/// What the image's bytes are, where they are pixels.
fn raw_fields(args: &Args, has_image: bool) -> Result<Option<RawFields>, ToolError> {
    let (width, height, step) = (args.size("width")?, args.size("height")?, args.size("step")?);
    let is_bigendian = args.flag("is_bigendian")?;
    let Some(encoding) = args.text("encoding")? else {
        let given = [("width", width), ("height", height), ("step", step)];
        let given = given.iter().find(|(_, size)| size.is_some()).map(|(name, _)| *name);
        return match given.or_else(|| is_bigendian.then_some("is_bigendian")) {
            None => Ok(None),
            Some(name) => Err(argument_error(format!(
                "argument {name:?} goes with \"encoding\" only: JPEG, PNG and WebP files say it themselves"
            ))),
        };
    };
    if !has_image {
        return Err(argument_error(format!(
            "argument \"encoding\" is {encoding:?} without an image; accepted is one with its pixels \
             in \"image\" or \"image_path\""
        )));
    }
    let (Some(width), Some(height)) = (width, height) else {
        return Err(argument_error(format!(
            "argument \"encoding\" is {encoding:?} without \"width\" and \"height\"; raw pixels need both"
        )));
    };
    let encoding = encoding.to_owned();
    Ok(Some(RawFields { width, height, encoding, step, is_bigendian }))
}

fn decode(image: &str) -> Result<Vec<u8>, ToolError> {
    STANDARD.decode(image.trim()).map_err(|error| {
        argument_error(format!(
            "argument \"image\" is no base64 ({error}); accepted is a JPEG, PNG or WebP file, or raw \
             pixels, in base64"
        ))
    })
}

fn confidence(args: &Args) -> Result<Option<f32>, ToolError> {
    let Some(given) = args.number("confidence")? else { return Ok(None) };
    if !(0.0..=1.0).contains(&given) {
        return Err(argument_error(format!(
            "argument \"confidence\" is {given}; accepted is a number from 0 to 1"
        )));
    }
    #[expect(clippy::cast_possible_truncation, reason = "a number from 0 to 1")]
    let given = given as f32;
    Ok(Some(given))
}

/// Reads a regular file within the roots, of at most the image's bytes.
fn read(path: &Path, options: &Options) -> Result<Vec<u8>, ToolError> {
    let bytes_max = options.image_limits.bytes_max;
    let refusal = |reason: String| {
        let within = match options.image_roots.as_slice() {
            [] => ", which the daemon takes within the directories of its setting \
                ingest.image_roots, and none is set; \"image\" takes the bytes"
                .to_owned(),
            roots => {
                let roots: Vec<String> = roots.iter().map(|it| it.display().to_string()).collect();
                format!(" within {} (ingest.image_roots)", roots.join(", "))
            }
        };
        argument_error(format!(
            "argument \"image_path\" is {:?}: {reason}; accepted is the absolute path of a JPEG, \
             PNG or WebP file of at most {bytes_max} bytes{within}",
            path.display()
        ))
    };
    if !path.is_absolute() {
        return Err(refusal("not an absolute path".to_owned()));
    }
    let file = rooted::open(&options.image_roots, path).map_err(refusal)?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(|error| refusal(error.to_string()))?;
    if bytes.len() > bytes_max {
        return Err(refusal("the file is larger".to_owned()));
    }
    Ok(bytes)
}

fn pose(args: &Args) -> Result<Option<Pose>, ToolError> {
    let (position, theta) = (args.position("position")?, args.number("theta")?);
    match (position, theta) {
        (None, None) => Ok(None),
        (None, Some(theta)) => Err(argument_error(format!(
            "argument \"theta\" is {theta} without \"position\"; accepted is a heading with its position"
        ))),
        (Some(position), heading) => Pose::new(position, heading)
            .map(Some)
            .map_err(|error| argument_error(format!("argument {error}"))),
    }
}

fn refusal(error: &ObserveError) -> ToolError {
    match error {
        ObserveError::Pixels(BadPixels::Data { .. }) => {
            argument_error(format!("argument \"image\": {error}"))
        }
        ObserveError::Image(_)
        | ObserveError::Pixels(_)
        | ObserveError::Name(_)
        | ObserveError::Time { .. }
        | ObserveError::Past { .. } => argument_error(format!("argument {error}")),
        ObserveError::SpoolFull { .. } | ObserveError::ImagesFull { .. } => {
            ToolError::Refused(error.to_string())
        }
        ObserveError::Store(_) | ObserveError::Memory(_) => ToolError::of_failure(error),
    }
}

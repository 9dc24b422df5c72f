//! What a child writes that knows when and where its frames were taken: a line of JSON for each,
//! and the image behind it.
//!
//! Knows nothing of where the child has it from. Reading is bounded: a longer line, a larger image
//! or another text ends the stream, whose child is started again.

use std::io::{self, BufRead, Read as _};

use serde::{Deserialize, Serialize};

use crate::base::pose::Pose;
use crate::base::time::Timestamp;
use crate::capture::live::LiveFrame;
use crate::capture::recording::LocatedPose;

const LINE_BYTES_MAX: u64 = 16 << 10;

/// What a child said.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::capture) enum Said {
    Frame(LiveFrame),
    /// Frame without a pose, and why it has none.
    Unlocated(LiveFrame, String),
    /// Something that it left out.
    Fault(String),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Frame { micros: i64, place: Place, bytes: usize },
    Fault(String),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Place {
    Known { position: [f64; 3], heading: Option<f64>, frame_id: String },
    Unknown(String),
    Unsaid,
}

/// The next one; `None` at the end.
pub(super) fn read(from: &mut impl BufRead, bytes_max: usize) -> io::Result<Option<Said>> {
    let mut line = Vec::new();
    from.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    let (taken_at, place, bytes) = match serde_json::from_slice(&line).map_err(refused)? {
        Line::Fault(fault) => return Ok(Some(Said::Fault(fault))),
        Line::Frame { micros, place, bytes } => {
            (Timestamp::from_micros(micros).ok_or_else(|| refused(micros))?, place, bytes)
        }
    };
    if bytes > bytes_max {
        return Err(refused(format!("an image of {bytes} bytes, accepted are {bytes_max}")));
    }
    let mut image = vec![0; bytes];
    from.read_exact(&mut image)?;
    let mut frame = LiveFrame { taken_at, image, located: None };
    Ok(Some(match place {
        Place::Unknown(reason) => Said::Unlocated(frame, reason),
        Place::Unsaid => Said::Frame(frame),
        Place::Known { position, heading, frame_id } => {
            let pose = Pose::new(position, heading).map_err(refused)?;
            frame.located = Some(LocatedPose { pose, frame_id });
            Said::Frame(frame)
        }
    }))
}

fn refused(what: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the child's frames are not read: {what}"))
}

/// Writes one, so that [`read`] gives the same.
#[cfg(any(feature = "ros2", test))]
pub(in crate::capture) fn write(to: &mut impl io::Write, said: &Said) -> io::Result<()> {
    let line = match said {
        Said::Fault(fault) => Line::Fault(fault.clone()),
        Said::Frame(frame) => {
            let place = match &frame.located {
                None => Place::Unsaid,
                Some(LocatedPose { pose: Pose { position, heading }, frame_id }) => {
                    let frame_id = frame_id.clone();
                    Place::Known { position: *position, heading: *heading, frame_id }
                }
            };
            line_of(frame, place)
        }
        Said::Unlocated(frame, reason) => line_of(frame, Place::Unknown(reason.clone())),
    };
    let mut text = serde_json::to_vec(&line)?;
    text.push(b'\n');
    to.write_all(&text)?;
    if let Said::Frame(frame) | Said::Unlocated(frame, _) = said {
        to.write_all(&frame.image)?;
    }
    to.flush()
}

#[cfg(any(feature = "ros2", test))]
fn line_of(frame: &LiveFrame, place: Place) -> Line {
    Line::Frame { micros: frame.taken_at.micros(), place, bytes: frame.image.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(located: Option<LocatedPose>) -> LiveFrame {
        let taken_at = Timestamp::from_micros(1_767_225_600_250_001).unwrap();
        LiveFrame { taken_at, image: vec![1, b'\n', 3], located }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let pose = Pose::new([1.0, -2.5, 1e-7], Some(0.1)).unwrap();
        let located = LocatedPose { pose, frame_id: "map \"1\"\n".to_owned() };
        let all = [
            Said::Frame(frame(Some(located))),
            Said::Fault("a line\nand another".to_owned()),
            Said::Unlocated(frame(None), "tf names no frame \"map\"".to_owned()),
            Said::Frame(frame(None)),
        ];
        let mut stream = Vec::new();
        for said in &all {
            write(&mut stream, said).unwrap();
        }
        let mut rest = stream.as_slice();
        for said in all {
            assert_eq!(read(&mut rest, 3).unwrap(), Some(said));
        }
        assert_eq!(read(&mut rest, 3).unwrap(), None);
        let error = read(&mut stream.as_slice(), 2).unwrap_err().to_string();
        assert!(error.contains("3 bytes, accepted are 2"), "{error}");
        for end in 1..stream.len() {
            let mut cut = &stream[..end];
            while let Ok(Some(_)) = read(&mut cut, 3) {}
        }
    }

    #[test]
    fn other_text_ends_the_stream_and_takes_no_memory() {
        let long = vec![b'{'; 100_000];
        for text in [b"hello\n".as_slice(), b"{\"frame\":{}}\n", b"\xff\xfe", &long] {
            let error = read(&mut &*text, usize::MAX).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        }
        let lie = br#"{"frame":{"micros":1,"place":{"known":{"position":[1e300,0,0],"heading":null,"frame_id":""}},"bytes":0}}"#;
        assert!(read(&mut lie.as_slice(), 9).unwrap_err().to_string().contains("position"));
    }
}

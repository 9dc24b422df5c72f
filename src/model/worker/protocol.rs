//! Messages between the daemon and its caption worker: length-prefixed bincode over a pipe.
//!
//! Both ends are the same binary, so there is one version and no negotiation: the worker's
//! first message names its version, and the daemon checks it.

use std::io;
use std::io::{Read, Write};

use bincode::config;
use bincode::{Decode, Encode};

use crate::base::caption::Caption;
use crate::base::detection::{BoundingBox, DetectedObject};

/// Protocol version, raised with every change of the messages.
pub(crate) const VERSION: u32 = 3;

/// Longest message: twice the largest image that [`crate::base::picture`] accepts.
const MESSAGE_BYTES_MAX: usize = 32 << 20;

#[derive(Debug, PartialEq, Encode, Decode)]
pub(crate) enum WorkerRequest {
    Caption { image: Vec<u8> },
}

#[derive(Debug, PartialEq, Encode, Decode)]
pub(crate) enum WorkerReply {
    /// First message, once the model is loaded.
    Hello {
        version: u32,
        name: String,
        fingerprint: String,
    },
    /// First and last message: the model does not load.
    NoModel {
        reason: String,
    },
    Caption {
        text: String,
        confidence: Option<f32>,
        detections: Vec<FoundThing>,
    },
    BadImage {
        reason: String,
    },
}

/// A [`DetectedObject`]: name, score; left, top, right, bottom.
#[derive(Debug, PartialEq, Encode, Decode)]
pub(crate) struct FoundThing(String, f32, [f32; 4]);

impl WorkerReply {
    pub(crate) fn caption(caption: Caption) -> Self {
        let Caption { text, confidence, detections } = caption;
        let detections = detections.into_iter().map(Into::into).collect();
        Self::Caption { text, confidence, detections }
    }
}

impl From<DetectedObject> for FoundThing {
    fn from(detection: DetectedObject) -> Self {
        let DetectedObject { name, score, place } = detection;
        let BoundingBox { left, top, right, bottom } = place;
        Self(name, score, [left, top, right, bottom])
    }
}

impl From<FoundThing> for DetectedObject {
    fn from(FoundThing(name, score, [left, top, right, bottom]): FoundThing) -> Self {
        Self { name, score, place: BoundingBox { left, top, right, bottom } }
    }
}

pub(crate) fn write(to: &mut impl Write, message: &impl Encode) -> io::Result<()> {
    let bytes = bincode::encode_to_vec(message, config::standard()).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= MESSAGE_BYTES_MAX);
    let length = length.ok_or_else(|| too_long(bytes.len()))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&bytes)?;
    to.flush()
}

/// Next message; `None` when the other side closed the pipe between two.
pub(crate) fn read<T: Decode<()>>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    if from.read(&mut length[..1])? == 0 {
        return Ok(None);
    }
    from.read_exact(&mut length[1..])?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MESSAGE_BYTES_MAX {
        return Err(too_long(length));
    }
    let mut bytes = Vec::new();
    if from.take(length as u64).read_to_end(&mut bytes)? < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let limited = config::standard().with_limit::<MESSAGE_BYTES_MAX>();
    match bincode::decode_from_slice(&bytes, limited) {
        Ok((message, used)) if used == length => Ok(Some(message)),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "bytes after the message")),
        Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
    }
}

fn too_long(bytes: usize) -> io::Error {
    let text = format!("a message of {bytes} bytes, accepted are at most {MESSAGE_BYTES_MAX}");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::any;
    use proptest::proptest;

    fn hello() -> WorkerReply {
        let (name, fingerprint) = ("blip".to_owned(), "00ff".to_owned());
        WorkerReply::Hello { version: VERSION, name, fingerprint }
    }

    #[test]
    fn messages_come_out_as_they_went_in() {
        let mut pipe = Vec::new();
        let image = WorkerRequest::Caption { image: vec![7; 70_000] };
        write(&mut pipe, &image).unwrap();
        write(&mut pipe, &WorkerRequest::Caption { image: Vec::new() }).unwrap();
        let mut end = pipe.as_slice();
        assert_eq!(read(&mut end).unwrap(), Some(image));
        assert_eq!(read(&mut end).unwrap(), Some(WorkerRequest::Caption { image: Vec::new() }));
        assert_eq!(read::<WorkerRequest>(&mut end).unwrap(), None);
    }

    #[test]
    fn half_a_message_and_a_long_one_are_errors() {
        let mut pipe = Vec::new();
        write(&mut pipe, &hello()).unwrap();
        for cut in 1..pipe.len() {
            assert!(read::<WorkerReply>(&mut &pipe[..cut]).is_err(), "{cut}");
        }
        let error = read::<WorkerReply>(&mut &[0xFF; 64][..]).unwrap_err();
        assert!(error.to_string().contains("4294967295 bytes"), "{error}");
        let huge = WorkerRequest::Caption { image: vec![0; MESSAGE_BYTES_MAX + 1] };
        assert!(write(&mut Vec::new(), &huge).is_err());
    }

    #[test]
    fn bytes_after_a_message_are_an_error() {
        let mut pipe = Vec::new();
        write(&mut pipe, &hello()).unwrap();
        pipe[0] += 1;
        pipe.push(0);
        read::<WorkerReply>(&mut pipe.as_slice()).unwrap_err();
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in vec(any::<u8>(), 0..64)) {
            let mut framed = u32::try_from(bytes.len()).unwrap().to_le_bytes().to_vec();
            framed.extend(&bytes);
            drop(read::<WorkerReply>(&mut framed.as_slice()));
            drop(read::<WorkerReply>(&mut bytes.as_slice()));
        }
    }
}

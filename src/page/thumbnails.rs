//! Small pictures of frames, made once while they are looked at.
//!
//! They lie in this process' memory only, where forgetting reaches them: one is given out only
//! for a frame that the daemon has just given out itself, leaves with a frame that is gone, and
//! none is kept for longer than [`KEPT`].

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::base::picture::thumbnail::shrink;
use crate::base::picture::{BadImage, ImageLimits};
use crate::base::time::{Clock as _, SystemClock};

/// Longest side in pixels: a cell of the timeline on a screen of two pixels to the point.
const SIDE_MAX: u32 = 384;
/// Of all together; beyond it those that were looked at longest ago go.
const BYTES_MAX: usize = 32 << 20;
/// After it was last looked at.
const KEPT: Duration = Duration::from_mins(1);

/// The small pictures that are here.
#[derive(Debug, Default)]
pub(crate) struct Thumbnails(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    pictures: HashMap<u64, Thumbnail>,
    bytes: usize,
}

#[derive(Debug)]
struct Thumbnail {
    /// JPEG, or the frame itself where it is small.
    jpeg: Vec<u8>,
    looked_at: Instant,
}

impl Thumbnails {
    /// The small picture of a record's frame, as JPEG, or the frame itself where it is small. The
    /// frame is here, so it is not gone.
    pub(crate) fn of(&self, record: u64, frame: &[u8]) -> Result<Vec<u8>, BadImage> {
        let now = SystemClock.tick();
        if let Some(jpeg) = self.kept(now).look_at(record, now) {
            return Ok(jpeg);
        }
        let shrunk = shrink(frame, SIDE_MAX, ImageLimits::default())?;
        // One that is small already is its own.
        let jpeg = shrunk.unwrap_or_else(|| frame.to_vec());
        self.kept(now).keep(record, Thumbnail { jpeg: jpeg.clone(), looked_at: now });
        Ok(jpeg)
    }

    /// The frame is gone.
    pub(crate) fn forget(&self, record: u64) {
        self.kept(SystemClock.tick()).remove(record);
    }

    /// Something was erased, whatever it was.
    pub(crate) fn forget_all(&self) {
        *self.kept(SystemClock.tick()) = Kept::default();
    }

    /// Without those that were kept long enough.
    pub(crate) fn expire(&self) {
        drop(self.kept(SystemClock.tick()));
    }

    fn kept(&self, now: Instant) -> MutexGuard<'_, Kept> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.remove_where(|it| now.saturating_duration_since(it.looked_at) >= KEPT);
        kept
    }
}

impl Kept {
    fn look_at(&mut self, record: u64, now: Instant) -> Option<Vec<u8>> {
        let found = self.pictures.get_mut(&record)?;
        found.looked_at = now;
        Some(found.jpeg.clone())
    }

    fn keep(&mut self, record: u64, thumbnail: Thumbnail) {
        self.remove(record);
        self.bytes += thumbnail.jpeg.len();
        self.pictures.insert(record, thumbnail);
        while self.bytes > BYTES_MAX
            && let Some((oldest, _)) = self.pictures.iter().min_by_key(|(_, it)| it.looked_at)
        {
            let oldest = *oldest;
            self.remove(oldest);
        }
    }

    fn remove(&mut self, record: u64) {
        if let Some(gone) = self.pictures.remove(&record) {
            self.bytes -= gone.jpeg.len();
        }
    }

    fn remove_where(&mut self, is_gone: impl Fn(&Thumbnail) -> bool) {
        self.pictures.retain(|_, it| !is_gone(it));
        self.bytes = self.pictures.values().map(|it| it.jpeg.len()).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::picture;
    use image::RgbImage;

    fn frame(side: u32) -> Vec<u8> {
        let shade = |x: u32| image::Rgb([u8::try_from(x % 256).unwrap(), 80, 160]);
        picture::to_jpeg(&RgbImage::from_fn(side, side / 2, |x, _| shade(x))).unwrap()
    }

    #[test]
    fn a_frame_is_shrunk_once_and_forgotten_with_it() {
        let thumbnails = Thumbnails::default();
        let small = thumbnails.of(7, &frame(1000)).unwrap();
        let read = picture::decode(&small, ImageLimits::default()).unwrap();
        assert_eq!(read.dimensions(), (SIDE_MAX, SIDE_MAX / 2));
        // Kept: what is not looked at again need not even be a picture.
        assert_eq!(thumbnails.of(7, b"").unwrap(), small);
        thumbnails.forget(7);
        assert!(thumbnails.of(7, b"").is_err(), "the small picture outlived its frame");
        thumbnails.of(7, &frame(100)).unwrap();
        thumbnails.forget_all();
        thumbnails.of(7, b"").unwrap_err();
        assert_eq!(thumbnails.0.lock().unwrap().bytes, 0);
    }

    #[test]
    fn their_number_is_bounded_and_their_time_too() {
        let start = SystemClock.tick();
        let mut kept = Kept::default();
        let half = BYTES_MAX / 2;
        for record in 0..4 {
            let looked_at = start + Duration::from_secs(record);
            kept.keep(record, Thumbnail { jpeg: vec![0; half], looked_at });
        }
        let mut left: Vec<u64> = kept.pictures.keys().copied().collect();
        left.sort_unstable();
        assert_eq!((left, kept.bytes), (vec![2, 3], 2 * half));
        let thumbnails = Thumbnails(Mutex::new(kept));
        let later = start + KEPT + Duration::from_secs(2);
        assert_eq!(thumbnails.kept(later).pictures.keys().collect::<Vec<_>>(), [&3]);
    }
}

//! Occupancy grids as ROS' `map_server` keeps them: a picture (PGM or PNG) and a YAML file that
//! says where it lies. The readers are pure.

use std::fs;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};

use image::{ImageFormat, Rgba, RgbaImage};

use crate::base::picture::{self, BadImage, Encoding, ImageLimits};

/// A grid, ready to lie under a map.
#[derive(Debug, Clone)]
pub struct OccupancyGrid {
    /// The map that it is of, as records name it.
    pub map_id: String,
    pub(crate) png: Vec<u8>,
    /// Cells in a row, and rows.
    pub(crate) cells: (u32, u32),
    /// Metres of a cell.
    pub(crate) resolution: f64,
    /// Place and turn of the lower left corner: metres, metres, radians.
    pub(crate) origin: [f64; 3],
}

/// Why a grid is not shown.
#[derive(Debug, thiserror::Error)]
pub enum BadGrid {
    #[error("cannot read {path:?}")]
    File {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("{path:?}: {reason}")]
    Description { path: PathBuf, reason: String },
    #[error("{path:?}: {error}")]
    Picture {
        path: PathBuf,
        #[source]
        error: BadImage,
    },
}

/// Bytes of a description at most.
const DESCRIPTION_BYTES_MAX: u64 = 64 << 10;

impl OccupancyGrid {
    /// Reads the grid that a YAML file describes.
    pub fn read(map_id: &str, path: &Path) -> Result<Self, BadGrid> {
        let file = |path: &Path, error| BadGrid::File { path: path.to_owned(), error };
        let length = fs::metadata(path).map_err(|error| file(path, error))?.len();
        if length > DESCRIPTION_BYTES_MAX {
            let reason = format!("it has {length} bytes, accepted are {DESCRIPTION_BYTES_MAX}");
            return Err(BadGrid::Description { path: path.to_owned(), reason });
        }
        let text = fs::read_to_string(path).map_err(|error| file(path, error))?;
        let description = Description::parse(&text)
            .map_err(|reason| BadGrid::Description { path: path.to_owned(), reason })?;
        let picture = path.with_file_name(&description.image);
        let bytes = fs::read(&picture).map_err(|error| file(&picture, error))?;
        let shades =
            shades(&bytes).map_err(|error| BadGrid::Picture { path: picture.clone(), error })?;
        let png = draw(&shades, &description)
            .map_err(|error| BadGrid::Picture { path: picture, error })?;
        let Description { resolution, origin, .. } = description;
        let cells = (shades.width, shades.height);
        Ok(Self { map_id: map_id.to_owned(), png, cells, resolution, origin })
    }
}

/// What a YAML file of `map_server` says.
#[derive(Debug, Clone, PartialEq)]
struct Description {
    image: String,
    resolution: f64,
    origin: [f64; 3],
    is_negated: bool,
    occupied_above: f64,
    free_below: f64,
}

impl Description {
    /// A flat file of `key: value`, which is all that `map_server` writes.
    fn parse(text: &str) -> Result<Self, String> {
        let mut description = Self {
            image: String::new(),
            resolution: f64::NAN,
            origin: [f64::NAN; 3],
            is_negated: false,
            occupied_above: 0.65,
            free_below: 0.196,
        };
        let mut in_list = Vec::new();
        for line in text.lines() {
            let line = line.split(" #").next().unwrap_or_default();
            // Also written as a list below its key.
            if let Some(item) = line.trim_start().strip_prefix("- ") {
                in_list.push(item.trim().to_owned());
                continue;
            }
            let Some((key, value)) = line.split_once(':') else { continue };
            description.set(key.trim(), value.trim().trim_matches(['"', '\'']))?;
        }
        if !in_list.is_empty() {
            description.set("origin", &format!("[{}]", in_list.join(",")))?;
        }
        description.check()
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number = || {
            value
                .parse::<f64>()
                .map_err(|_no_number| format!("{key} is {value:?}, accepted is a number"))
        };
        match key {
            "image" => value.clone_into(&mut self.image),
            "resolution" => self.resolution = number()?,
            "negate" => self.is_negated = number()? > 0.0,
            "occupied_thresh" => self.occupied_above = number()?,
            "free_thresh" => self.free_below = number()?,
            "origin" if !value.is_empty() => {
                let numbers = value.trim_matches(['[', ']']).split(',').map(|it| it.trim().parse());
                let numbers: Result<Vec<f64>, _> = numbers.collect();
                let three = numbers.ok().and_then(|it| <[f64; 3]>::try_from(it).ok());
                self.origin =
                    three.ok_or_else(|| format!("origin is {value:?}, accepted is [x, y, yaw]"))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn check(self) -> Result<Self, String> {
        if self.image.is_empty() {
            return Err("it names no image".to_owned());
        }
        if !(self.resolution.is_finite() && self.resolution > 0.0) {
            return Err("its resolution is missing, accepted are metres of a cell".to_owned());
        }
        if self.origin.iter().any(|it| !it.is_finite()) {
            return Err("its origin is missing, accepted is [x, y, yaw]".to_owned());
        }
        Ok(self)
    }

    /// The colour of a cell of such a shade; nothing where it is not known.
    fn colour(&self, shade: u8) -> Rgba<u8> {
        let dark = f64::from(if self.is_negated { shade } else { 255 - shade }) / 255.0;
        if dark > self.occupied_above {
            Rgba([38, 50, 56, 255])
        } else if dark < self.free_below {
            Rgba([255, 255, 255, 255])
        } else {
            Rgba([0, 0, 0, 0])
        }
    }
}

/// A picture in shades of grey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shades {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) pixels: Vec<u8>,
}

/// Reads PGM, text or bytes, or what frames are read from.
pub(crate) fn shades(bytes: &[u8]) -> Result<Shades, BadImage> {
    if Encoding::of(bytes).is_some() {
        let picture = picture::decode(bytes, ImageLimits::default())?;
        let (width, height) = picture.dimensions();
        let pixels = picture.pixels().map(|pixel| pixel.0.iter().copied().max().unwrap_or(0));
        return Ok(Shades { width, height, pixels: pixels.collect() });
    }
    pgm(bytes)
}

/// `P2` or `P5`, width, height, the brightest value, then the values.
fn pgm(bytes: &[u8]) -> Result<Shades, BadImage> {
    let damaged = |what: &str| BadImage::Damaged(what.to_owned());
    let is_text = match bytes.get(..2) {
        Some(b"P5") => false,
        Some(b"P2") => true,
        _ => return Err(BadImage::UnknownFormat),
    };
    let mut rest = bytes.get(2..).unwrap_or_default();
    let mut number = || {
        let found = next_number(rest).ok_or_else(|| damaged("its head ends early"))?;
        rest = found.1;
        Ok::<u32, BadImage>(found.0)
    };
    let (width, height, most) = (number()?, number()?, number()?);
    let pixels = u64::from(width) * u64::from(height);
    let max = ImageLimits::default().pixels_max;
    if pixels == 0 || most == 0 || most > 65_535 {
        return Err(damaged("its head names no picture"));
    }
    if pixels > max {
        return Err(BadImage::TooManyPixels { width, height, max });
    }
    let shade = |value: u32| u8::try_from(u64::from(value.min(most)) * 255 / u64::from(most));
    let shade = |value: u32| shade(value).unwrap_or(u8::MAX);
    let count = usize::try_from(pixels).unwrap_or(usize::MAX);
    let pixels: Vec<u8> = if is_text {
        let mut values = Vec::new();
        while values.len() < count
            && let Some((value, after)) = next_number(rest)
        {
            values.push(shade(value));
            rest = after;
        }
        values
    } else {
        // One white space ends the head.
        let data = rest.get(1..).unwrap_or_default();
        if most < 256 {
            data.iter().take(count).map(|value| shade(u32::from(*value))).collect()
        } else {
            let pairs = data.as_chunks::<2>().0.iter().take(count);
            pairs.map(|pair| shade(u32::from(u16::from_be_bytes(*pair)))).collect()
        }
    };
    if pixels.len() < count {
        return Err(damaged("its values end early"));
    }
    Ok(Shades { width, height, pixels })
}

/// The number that comes next, after white space and comments, and what follows it.
fn next_number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let mut rest = bytes;
    loop {
        match rest.first()? {
            b'#' => {
                let end = rest.iter().position(|byte| *byte == b'\n')?;
                rest = rest.get(end..)?;
            }
            byte if byte.is_ascii_whitespace() => rest = rest.get(1..)?,
            _ => break,
        }
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, after) = rest.split_at_checked(digits)?;
    Some((std::str::from_utf8(number).ok()?.parse().ok()?, after))
}

fn draw(shades: &Shades, description: &Description) -> Result<Vec<u8>, BadImage> {
    let Shades { width, height, pixels } = shades;
    let colours: Vec<u8> = pixels.iter().flat_map(|it| description.colour(*it).0).collect();
    let damaged = || BadImage::Damaged("its size is not that of its pixels".to_owned());
    let picture = RgbaImage::from_raw(*width, *height, colours).ok_or_else(damaged)?;
    let mut png = Cursor::new(Vec::new());
    picture
        .write_to(&mut png, ImageFormat::Png)
        .map_err(|error| BadImage::Unsupported(error.to_string()))?;
    Ok(png.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const YAML: &str = "image: map.pgm\nresolution: 0.050000 # metres\norigin: [-10.0, -5.5, 0.1]\n\
        negate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n";

    #[test]
    fn a_grid_is_read_as_map_server_writes_it() {
        let dir = tempfile::TempDir::new().unwrap();
        let yaml = dir.path().join("map.yaml");
        fs::write(&yaml, YAML).unwrap();
        fs::write(dir.path().join("map.pgm"), b"P5\n# CREATOR\n3 1\n255\n\x00\xfe\xcd").unwrap();
        let grid = OccupancyGrid::read("home", &yaml).unwrap();
        assert_eq!((grid.cells, grid.resolution, grid.origin), ((3, 1), 0.05, [-10.0, -5.5, 0.1]));
        let drawn = image::load_from_memory(&grid.png).unwrap().into_rgba8();
        let colours: Vec<[u8; 4]> = drawn.pixels().map(|it| it.0).collect();
        // Occupied, free and unknown.
        assert_eq!(colours, [[38, 50, 56, 255], [255; 4], [0; 4]]);
        assert!(matches!(
            OccupancyGrid::read("home", Path::new("/nowhere.yaml")),
            Err(BadGrid::File { .. })
        ));
    }

    #[test]
    fn pgm_has_four_forms() {
        let expect = Shades { width: 2, height: 1, pixels: vec![0, 255] };
        for bytes in [
            b"P5 2 1 255\n\x00\xff".as_slice(),
            b"P5\n2\n1\n65535\n\x00\x00\xff\xff",
            b"P2 2 1 15\n# both\n0 15\n",
            b"P2\n2 1 255 0 300",
        ] {
            assert_eq!(shades(bytes).as_ref(), Ok(&expect));
        }
        for bad in [
            b"P6 2 1 255\n".as_slice(),
            b"P5 2 1 255\n\x00",
            b"P5 0 1 255\n",
            b"P5 2",
            b"P5 99999 99999 255\n",
        ] {
            assert!(shades(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_wrong_description_is_told() {
        let listed = YAML.replace("origin: [-10.0, -5.5, 0.1]", "origin:\n- -10.0\n- -5.5\n- 0.1");
        assert_eq!(Description::parse(&listed), Description::parse(YAML));
        for (wrong, expect) in [
            ("resolution: 0.05\norigin: [0, 0, 0]", "it names no image"),
            ("image: a\norigin: [0, 0, 0]", "its resolution is missing"),
            ("image: a\nresolution: wide", "resolution is \"wide\", accepted is a number"),
            (
                "image: a\nresolution: 1\norigin: [0, 0]",
                "origin is \"[0, 0]\", accepted is [x, y, yaw]",
            ),
        ] {
            let error = Description::parse(wrong).unwrap_err();
            assert!(error.contains(expect), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(head in "P[25] [0-9 #\n]{0,20}", body in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(Shades { width, height, pixels }) = shades(&[head.as_bytes(), &body].concat()) {
                prop_assert_eq!(u64::from(width) * u64::from(height), pixels.len() as u64);
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            drop(Description::parse(&text));
        }
    }
}

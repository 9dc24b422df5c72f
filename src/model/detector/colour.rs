//! Colour of a thing from the pixels of its box, where one colour is clear. Pure.

use image::{Rgb, RgbImage};

use crate::base::detection::BoundingBox;

/// Share of a box's sides that is looked at, around its middle: what surrounds a thing is at
/// the edges.
const CENTRE: f32 = 0.6;

/// Points along each side that are looked at.
const POINTS: u16 = 24;

/// Share of the points that must be of one colour. Grey is also what dim light, shadows and
/// glare look like, so more of it is needed.
const SHARE_MIN: f32 = 0.55;
const GREY_SHARE_MIN: f32 = 0.7;

/// The one colour of what is in the box, as captions name colours.
pub(super) fn colour_of(image: &RgbImage, place: BoundingBox) -> Option<&'static str> {
    let named: Vec<Option<&'static str>> = points(image, place).map(name_of).collect();
    let count = |colour: &str| named.iter().filter(|it| **it == Some(colour)).count();
    let best = NAMES.into_iter().max_by_key(|it| count(it))?;
    let least = if best == "grey" { GREY_SHARE_MIN } else { SHARE_MIN };
    let share = count(best) as f32 / named.len().max(1) as f32;
    (share >= least).then_some(best)
}

const NAMES: [&str; 12] = [
    "red",
    "orange",
    "yellow",
    "green",
    "turquoise",
    "blue",
    "purple",
    "pink",
    "brown",
    "white",
    "grey",
    "black",
];

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares of 0 to 1 of an image's sides"
)]
fn points(image: &RgbImage, place: BoundingBox) -> impl Iterator<Item = Rgb<u8>> {
    let (width, height) = image.dimensions();
    let at = |from: f32, size: f32, point: u16, pixels: u32| {
        let share =
            from + size * (0.5 + CENTRE * ((f32::from(point) + 0.5) / f32::from(POINTS) - 0.5));
        ((share * pixels as f32) as u32).min(pixels.saturating_sub(1))
    };
    (0..POINTS).flat_map(move |row| {
        (0..POINTS).filter_map(move |column| {
            let x = at(place.left, place.width(), column, width);
            let y = at(place.top, place.height(), row, height);
            image.get_pixel_checked(x, y).copied()
        })
    })
}

/// `None` where people would not agree on a name.
fn name_of(Rgb([red, green, blue]): Rgb<u8>) -> Option<&'static str> {
    let [red, green, blue] = [red, green, blue].map(f32::from);
    let most = red.max(green).max(blue);
    let chroma = most - red.min(green).min(blue);
    let saturation = if most > 0.0 { chroma / most } else { 0.0 };
    if most < 50.0 {
        return Some("black");
    }
    if saturation < 0.16 || chroma < 18.0 {
        return match most {
            most if most >= 190.0 => Some("white"),
            most if most < 70.0 => Some("black"),
            _ => Some("grey"),
        };
    }
    if saturation < 0.3 {
        return None;
    }
    let hue = hue(red, green, blue, chroma);
    Some(match hue {
        hue if !(14.0..345.0).contains(&hue) => {
            if most > 190.0 && saturation < 0.55 {
                "pink"
            } else {
                "red"
            }
        }
        hue if hue < 40.0 => return orange_or_brown(most, saturation),
        hue if hue < 68.0 => return (most > 130.0 && saturation > 0.5).then_some("yellow"),
        hue if hue < 160.0 => "green",
        hue if hue < 192.0 => "turquoise",
        hue if hue < 255.0 => "blue",
        hue if hue < 292.0 => "purple",
        _ => {
            if most > 150.0 {
                "pink"
            } else {
                "purple"
            }
        }
    })
}

fn orange_or_brown(most: f32, saturation: f32) -> Option<&'static str> {
    if most > 180.0 && saturation > 0.7 {
        Some("orange")
    } else {
        (most < 150.0).then_some("brown")
    }
}

/// In degrees, from 0 to 360.
fn hue(red: f32, green: f32, blue: f32, chroma: f32) -> f32 {
    let most = red.max(green).max(blue);
    let sixth = if most <= red {
        ((green - blue) / chroma).rem_euclid(6.0)
    } else if most <= green {
        (blue - red) / chroma + 2.0
    } else {
        (red - green) / chroma + 4.0
    };
    60.0 * sixth
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: BoundingBox = BoundingBox { left: 0.0, top: 0.0, right: 1.0, bottom: 1.0 };

    #[test]
    fn colours_are_named_as_people_name_them() {
        let check = |rgb: [u8; 3], expect: Option<&str>| {
            let image = RgbImage::from_pixel(9, 7, Rgb(rgb));
            assert_eq!(colour_of(&image, WHOLE), expect, "{rgb:?}");
        };
        check([180, 30, 25], Some("red"));
        check([240, 130, 20], Some("orange"));
        check([230, 210, 60], Some("yellow"));
        check([50, 120, 60], Some("green"));
        check([40, 160, 165], Some("turquoise"));
        check([40, 70, 160], Some("blue"));
        check([110, 60, 150], Some("purple"));
        check([235, 150, 180], Some("pink"));
        check([110, 70, 40], Some("brown"));
        check([235, 235, 230], Some("white"));
        check([20, 22, 25], Some("black"));
        check([200, 180, 160], None);
    }

    #[test]
    fn grey_is_named_where_nearly_all_is_grey() {
        let half = RgbImage::from_fn(40, 40, |x, _| {
            if x < 16 { Rgb([120, 120, 120]) } else { Rgb([200, 180, 160]) }
        });
        assert_eq!(colour_of(&half, WHOLE), None);
        let grey = RgbImage::from_pixel(40, 40, Rgb([120, 120, 120]));
        assert_eq!(colour_of(&grey, WHOLE), Some("grey"));
    }

    #[test]
    fn the_middle_of_the_box_counts() {
        let cup = RgbImage::from_fn(100, 100, |x, y| {
            let inside = (30..50).contains(&x) && (30..50).contains(&y);
            if inside { Rgb([180, 30, 25]) } else { Rgb([40, 70, 160]) }
        });
        let place = BoundingBox { left: 0.28, top: 0.28, right: 0.52, bottom: 0.52 };
        assert_eq!(colour_of(&cup, place), Some("red"));
        assert_eq!(colour_of(&cup, WHOLE), Some("blue"));
        let half = BoundingBox { left: 0.0, top: 0.3, right: 0.7, bottom: 0.5 };
        assert_eq!(colour_of(&cup, half), None);
    }
}

//! Images as encoders, cameras and phones write them, whole, cut and damaged.
//! `tests/fixtures/make_images.py` made them, and Pillow their pixels.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::*;

const LIMITS: ImageLimits = ImageLimits { bytes_max: 1 << 20, pixels_max: 1 << 20 };

struct Case {
    name: String,
    file: Vec<u8>,
    rgb: RgbImage,
}

fn cases() -> Vec<Case> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/images.json");
    let cases: Vec<Value> = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let case = |case: &Value| {
        let bytes = |field: &str| STANDARD.decode(case[field].as_str().unwrap()).unwrap();
        let side = |field: &str| u32::try_from(case[field].as_u64().unwrap()).unwrap();
        let rgb = RgbImage::from_raw(side("width"), side("height"), bytes("rgb")).unwrap();
        Case { name: case["name"].as_str().unwrap().to_owned(), file: bytes("file"), rgb }
    };
    cases.iter().map(case).collect()
}

fn largest_difference(a: &RgbImage, b: &RgbImage) -> u8 {
    a.as_raw().iter().zip(b.as_raw()).map(|(a, b)| a.abs_diff(*b)).max().unwrap()
}

#[test]
fn whole_images_are_decoded_to_the_pixels_of_pillow_upright() {
    let cases = cases();
    assert_eq!(cases.len(), 75);
    for Case { name, file, rgb } in cases {
        let decoded = decode(&file, LIMITS).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(decoded.dimensions(), rgb.dimensions(), "{name}");
        let difference = largest_difference(&decoded, &rgb);
        // Decoders of JPEG round, and spread chroma, each in their own way.
        let max = if Encoding::of(&file) == Some(Encoding::Jpeg) { 12 } else { 0 };
        assert!(difference <= max, "{name}: {difference}");
    }
}

#[test]
fn cut_images_are_refused_wherever_they_are_cut() {
    for Case { name, file, .. } in cases() {
        let behind = match name.as_str() {
            "zeros behind" | "webp, zeros behind" => 64,
            "a second image behind" => file.len() / 2,
            _ => 0,
        };
        // By less nobody knows a WebP.
        let least = if name.contains("webp") { 12 } else { 8 };
        for length in (least..file.len() - behind).step_by(5).chain([file.len() - behind - 1]) {
            if name.starts_with("a second") && length > file.len() / 3 {
                continue;
            }
            let refused = check(&file[..length], LIMITS).unwrap_err().to_string();
            assert!(refused.contains(" before the end of the image"), "{name} {length}: {refused}");
        }
    }
}

#[test]
fn a_bit_flipped_anywhere_in_a_png_is_told() {
    for Case { name, file, .. } in cases().into_iter().filter(|it| it.name.contains("png")) {
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << (at % 8);
            assert!(check(&damaged, LIMITS).is_err(), "{name} {at}");
        }
    }
}

/// Numbers as if drawn, the same each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// 100 times each: a bit flipped, a byte exchanged, 16 zeroed, 64 drawn anew.
fn damage(file: &mut [u8], kind: usize, draw: &mut Draw) {
    let at = draw.below(file.len());
    let length = file.len();
    let end = |bytes: usize| length.min(at + bytes);
    match kind {
        0 => file[at] ^= 1 << draw.below(8),
        1 => file[at] ^= u8::try_from(1 + draw.below(255)).unwrap(),
        2 => file[at..end(16)].fill(0),
        _ => file[at..end(64)].fill_with(|| u8::try_from(draw.below(256)).unwrap()),
    }
}

/// Whether a tenth of a picture or more is seen to be another one.
fn is_much_changed(a: &RgbImage, b: &RgbImage) -> bool {
    const SEEN: u8 = 24;
    let is_seen = |(a, b): &(&image::Rgb<u8>, &image::Rgb<u8>)| {
        a.0.iter().zip(&b.0).any(|(a, b)| a.abs_diff(*b) > SEEN)
    };
    let changed = a.pixels().zip(b.pixels()).filter(is_seen).count();
    a.dimensions() != b.dimensions() || changed * 10 >= b.pixels().len()
}

/// The others hold codes of some other picture, which cannot be told; of most, nearly the same.
#[test]
fn most_damaged_jpegs_are_told_and_none_is_a_panic() {
    let frames =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("models/household-captioner/flat/frames");
    let mut draw = Draw(14);
    let mut refused = [0; 4];
    let mut much_changed = 0;
    for number in 0..400 {
        let frame = frames.join(format!("{:06}.jpg", 1 + number % 199));
        let mut file = fs::read(frame).unwrap();
        let whole = decode(&file, LIMITS).unwrap();
        damage(&mut file, number % 4, &mut draw);
        match decode(&file, LIMITS) {
            Err(_) => refused[number % 4] += 1,
            Ok(damaged) => much_changed += usize::from(is_much_changed(&damaged, &whole)),
        }
    }
    let at_least = [25, 25, 55, 90];
    assert!(refused.iter().zip(at_least).all(|(refused, least)| *refused >= least), "{refused:?}");
    assert!(much_changed <= 30, "{much_changed}");
}

#[test]
fn what_a_webp_says_of_itself_is_compared() {
    let case = |name: &str| cases().into_iter().find(|it| it.name == name).unwrap().file;
    let (plain, lossless, turned) = (case("webp 90"), case("webp lossless"), case("exif 6 webp"));
    let refuse = |file: &[u8], at: usize, byte: u8| {
        let mut file = file.to_vec();
        file[at] = byte;
        decode(&file, LIMITS).unwrap_err().to_string()
    };
    // Of the only chunk: a length beyond the file, another name; of its picture: no key frame, the
    // start code, the signature of the other kind.
    let longer = refuse(&plain, 17, 0x7F);
    assert!(longer.contains("chunk \"VP8 \" at byte 12 is longer"), "{longer}");
    for (file, at) in [(&plain, 15), (&plain, 20), (&plain, 23), (&lossless, 20)] {
        let refused = refuse(file, at, file[at] ^ 1);
        assert!(refused.contains("no picture begins in it"), "{at}: {refused}");
    }
    assert_eq!(&turned[12..16], b"VP8X");
    let animated = refuse(&turned, 20, turned[20] | 2);
    assert!(animated.contains("of a kind that is not read: a WebP that moves"), "{animated}");
    // EXIF as it stands in a JPEG says the same.
    let at = turned.windows(4).position(|it| it == b"EXIF").unwrap();
    let exif = [b"Exif\0\0", &turned[at + 8..]].concat();
    let length = u32::try_from(exif.len()).unwrap().to_le_bytes();
    let mut again = [&turned[..at + 4], &length, &exif].concat();
    let riff = u32::try_from(again.len() - 8).unwrap().to_le_bytes();
    again[4..8].copy_from_slice(&riff);
    assert_eq!(check(&again, LIMITS).unwrap().orientation, Orientation::Rotate90);
}

/// It has no checksums: what is damaged in its codes shows as another picture.
#[test]
fn a_damaged_webp_is_no_panic_and_seldom_told() {
    let mut draw = Draw(15);
    let (mut damaged, mut refused) = (0, 0);
    for Case { file, .. } in cases().into_iter().filter(|it| it.name.contains("webp")) {
        for kind in 0..80 {
            let mut file = file.clone();
            damage(&mut file, kind % 4, &mut draw);
            damaged += 1;
            refused += u32::from(decode(&file, LIMITS).is_err());
        }
    }
    assert!(refused * 6 >= damaged, "{refused} of {damaged}");
}

#[test]
fn refusals_by_size_come_before_decoding() {
    let png = cases().into_iter().find(|it| it.name == "png").unwrap().file;
    let limits = ImageLimits { bytes_max: 1 << 20, pixels_max: 776 };
    let too_many = BadImage::TooManyPixels { width: 37, height: 21, max: 776 };
    for Case { name, file, .. } in cases() {
        if !name.starts_with("exif") {
            assert_eq!(check(&file, limits).unwrap_err(), too_many, "{name}");
        }
    }
    let limits = ImageLimits { bytes_max: 20, pixels_max: 100 };
    assert!(matches!(check(&png, limits), Err(BadImage::FileTooLarge { max: 20, .. })));
    // A PNG whose header says 60,000 by 60,000 pixels.
    let mut bomb = png;
    bomb[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
    bomb[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
    let crc = crc32fast::hash(&bomb[12..29]);
    bomb[29..33].copy_from_slice(&crc.to_be_bytes());
    let error = decode(&bomb, ImageLimits::default()).unwrap_err();
    assert!(matches!(error, BadImage::TooManyPixels { width: 60_000, .. }), "{error}");
}

#[test]
fn what_is_no_image_is_refused() {
    assert_eq!(decode(b"", LIMITS), Err(BadImage::Empty));
    assert_eq!(decode(b"GIF89a", LIMITS), Err(BadImage::UnknownFormat));
    // A JPEG that starts well, of 12 bits, and one that is coded arithmetically.
    let base = cases().into_iter().find(|it| it.name == "pillow 90 0").unwrap().file;
    let frame = base.windows(2).position(|it| it == [0xFF, 0xC0]).unwrap();
    for (at, byte, expect) in [(frame + 4, 12, "12 bits"), (frame + 1, 0xC9, "SOF9")] {
        let mut other = base.clone();
        other[at] = byte;
        let refused = check(&other, LIMITS).unwrap_err().to_string();
        assert!(refused.contains(expect) && refused.contains("baseline"), "{refused}");
    }
}

#[test]
fn decoders_see_nothing_of_a_png_or_a_webp_but_its_pixels() {
    let has = |bytes: &[u8], name: &[u8]| bytes.windows(4).any(|it| it == name);
    let expect = [
        ("png with a profile", [b"iCCP", b"pHYs"], b"IEND"),
        ("webp with a profile", [b"ICCP", b"VP8X"], b"VP8 "),
        ("webp transparent", [b"ALPH", b"VP8X"], b"VP8 "),
    ];
    for (name, gone, left) in expect {
        let case = cases().into_iter().find(|it| it.name == name).unwrap();
        let whole = check(&case.file, LIMITS).unwrap();
        for chunk in gone {
            assert!(has(&case.file, chunk) && !has(&whole.decodable, chunk), "{name}");
        }
        assert!(has(&whole.decodable, left), "{name}");
    }
}

#[test]
fn other_programs_get_a_file_that_is_upright() {
    for Case { name, file, rgb } in cases() {
        let given = upright_file(&file, LIMITS).unwrap();
        let whole = check(&given, LIMITS).unwrap();
        assert_eq!(whole.orientation, Orientation::NoTransforms, "{name}");
        assert_eq!(decode(&given, LIMITS).unwrap().dimensions(), rgb.dimensions(), "{name}");
        let is_as_it_came = !name.starts_with("exif") && !name.starts_with("motion");
        let is_known = Encoding::of(&file) != Some(Encoding::WebP);
        let is_as_it_came = is_known && (is_as_it_came || name.starts_with("exif 1"));
        assert_eq!(*given == *file, is_as_it_came, "{name}");
    }
}

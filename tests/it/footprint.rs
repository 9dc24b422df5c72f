//! What the daemon takes of the machine's memory once its models have been used.

use std::fs;
use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{GrayImage, ImageFormat};
use serde_json::json;

use crate::running::Running;

/// Of the unoptimised program, a third of which is its own text: 75 MiB when this was
/// written, 152 when tables of tokens were widened and what loading took stayed; 115 with
/// the reader of captions (14 MiB of weights) and the lexicon; 129 with the text of the page, the
/// ways out and `SQLite`, 13 MB more of program; 117 since the readers' weights stay in half
/// precision; 134 with six layers of the reader of requests in place of three.
const BYTES_MAX: u64 = 144 << 20;

/// The most that a process ever had in memory.
fn peak_bytes(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

fn png_of(picture: &GrayImage) -> Vec<u8> {
    let mut file = Vec::new();
    picture.write_to(&mut Cursor::new(&mut file), ImageFormat::Png).unwrap();
    file
}

fn chunk(name: [u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    let checked = [&name, data].concat();
    [&length, &*checked, &crc32fast::hash(&checked).to_be_bytes()].concat()
}

/// A small picture with a colour profile of 200 MiB of zeros, deflated.
fn png_with_a_profile_that_inflates() -> Vec<u8> {
    let zeros = png_of(&GrayImage::new(16_384, 12_800));
    let mut deflated = Vec::new();
    let mut rest = &zeros[8..];
    while !rest.is_empty() {
        let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        if &rest[4..8] == b"IDAT" {
            deflated.extend(&rest[8..8 + length]);
        }
        rest = &rest[12 + length..];
    }
    let profile = chunk(*b"iCCP", &[b"p\0\0".as_slice(), &deflated].concat());
    let small = png_of(&GrayImage::new(32, 24));
    let header = 8 + 25;
    [&small[..header], &profile, &small[header..]].concat()
}

#[test]
fn a_colour_profile_is_not_inflated() {
    let file = png_with_a_profile_that_inflates();
    assert!(file.len() < 1 << 20, "{}", file.len());
    let running = Running::start();
    running.ask("observe", json!({"caption": "a red mug on a desk"}));
    let before = peak_bytes(running.process());
    running.ask("observe", json!({"image": STANDARD.encode(file)}));
    let after = peak_bytes(running.process());
    assert!(after - before < 16 << 20, "{before} {after}");
}

#[test]
fn the_daemon_stays_small_after_the_first_request() {
    let running = Running::start();
    running.ask("observe", json!({"caption": "a red mug on a desk"}));
    running.ask("recall_last_seen", json!({"query": "a red mug"}));
    // That nobody knows where the desk is costs nothing.
    running.call("retrieve_object", json!({"task": "bring me the red mug on the desk"}));
    let resident = running.ask("memory_stats", json!({}))["daemon_resident_bytes"].as_u64();
    assert!(resident.is_some_and(|it| it < BYTES_MAX), "{resident:?}");
}

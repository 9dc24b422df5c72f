//! `engram pose`: tells the daemon where the robot is, a pose a line of standard input.
//!
//! For whatever knows it: a bridge of a navigation stack, a motion capture, a shell. Frames that
//! come without a position, of cameras through a pipe for one, get theirs from these.

use std::io::{self, BufRead as _, Read as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::ensure;
use clap::Args;
use serde_json::{Map, Value, json};

use crate::base::pose::heading_of_quaternion;
use crate::cli::client::ClientOptions;
use crate::cli::output::{complain, say};
use crate::cli::patient_client::PatientClient;
use crate::tools::ingest::observe_pose::ObservePose;
use crate::tools::tool::Tool as _;

const FORMS: &str = "`x y theta` or `time x y theta`, `time x y z qx qy qz qw` (as TUM has it), with \
    spaces or commas, or a line of JSON as observe_pose takes it: \
    {\"position\": [1.2, -0.4, 0], \"theta\": 1.57, \"time\": 1767225600.25}";

/// Longest line; what is longer is one line of those refused.
const LINE_BYTES_MAX: u64 = 64 << 10;
/// Lines that are told one by one.
const TOLD_MAX: u64 = 10;

/// What holds for poses that do not say so.
#[derive(Debug, Args)]
#[command(
    after_help = "A line is `x y theta` or `time x y theta` (metres, radians, seconds since \
    1970), `time x y z qx qy qz qw` as TUM has it, with spaces or commas between, or JSON as \
    observe_pose takes it: {\"position\": [1.2, -0.4, 0], \"theta\": 1.57}. Without a time it \
    holds when it arrives. # begins a comment."
)]
pub(super) struct Flags {
    /// Coordinate frame of the poses
    #[arg(long, default_value = "map")]
    frame_id: String,
    /// Map that it belongs to
    #[arg(long, default_value = "", hide_default_value = true)]
    map_id: String,
    /// Camera that the poses are of; every one without poses of its own where absent
    #[arg(long)]
    source: Option<String>,
}

/// Sends each line until the input ends; fails when no line was a pose.
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
) -> anyhow::Result<ExitCode> {
    let mut client = PatientClient::connect(socket, options)?;
    let mut input = io::stdin().lock();
    let (mut line, mut number, mut taken, mut refused, mut missed) = (Vec::new(), 0_u64, 0, 0, 0);
    loop {
        line.clear();
        if input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        number += 1;
        let outcome = match arguments(&String::from_utf8_lossy(&line), flags) {
            Ok(None) => continue,
            Ok(Some(arguments)) => match client.call(ObservePose::NAME, arguments) {
                None => {
                    missed += 1;
                    continue;
                }
                Some(Ok(reply)) if reply.is_error => Err(reply.text),
                Some(Ok(_)) => Ok(()),
                Some(Err(error)) => Err(error.to_string()),
            },
            Err(reason) => Err(reason),
        };
        match outcome {
            Ok(()) => taken += 1,
            Err(reason) => {
                refused += 1;
                if refused <= TOLD_MAX {
                    complain(&format!("engram: line {number}: {reason}"));
                }
            }
        }
    }
    let missed = match missed {
        0 => String::new(),
        missed => format!(", {missed} missed while the daemon was gone"),
    };
    say(&format!("{taken} poses taken, {refused} lines refused{missed}"))?;
    ensure!(taken > 0 || refused == 0, "no line is a pose; accepted is {FORMS}");
    Ok(ExitCode::SUCCESS)
}

/// Arguments of the tool; `None` of a blank line or a comment.
fn arguments(line: &str, flags: &Flags) -> Result<Option<Map<String, Value>>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let mut arguments = if line.starts_with('{') {
        serde_json::from_str(line).map_err(|error| format!("no JSON object: {error}"))?
    } else {
        of_numbers(line)?
    };
    let source = flags.source.clone().unwrap_or_default();
    for (name, value) in
        [("frame_id", &flags.frame_id), ("map_id", &flags.map_id), ("source", &source)]
    {
        if !value.is_empty() && !arguments.contains_key(name) {
            arguments.insert(name.to_owned(), json!(value));
        }
    }
    Ok(Some(arguments))
}

fn of_numbers(line: &str) -> Result<Map<String, Value>, String> {
    let refusal = |found: &str| format!("{found}; accepted is {FORMS}");
    let columns =
        line.split(|it: char| it == ',' || it.is_whitespace()).filter(|it| !it.is_empty());
    let numbers = columns.map(|text| {
        let number = text.parse::<f64>().ok().filter(|it| it.is_finite());
        number.ok_or_else(|| refusal(&format!("{text:?} is no number")))
    });
    let numbers: Vec<f64> = numbers.collect::<Result<_, _>>()?;
    let (time, position, theta) = match *numbers.as_slice() {
        [x, y, theta] => (None, [x, y, 0.0], theta),
        [time, x, y, theta] => (Some(time), [x, y, 0.0], theta),
        [time, x, y, z, qx, qy, qz, qw] => {
            let turn = heading_of_quaternion([qx, qy, qz, qw]);
            let turn = turn.ok_or_else(|| refusal("the quaternion has no direction"))?;
            (Some(time), [x, y, z], turn)
        }
        _ => return Err(refusal(&format!("there are {} numbers", numbers.len()))),
    };
    let mut arguments = Map::new();
    arguments.insert("position".to_owned(), json!(position));
    arguments.insert("theta".to_owned(), json!(theta));
    if let Some(time) = time {
        arguments.insert("time".to_owned(), json!(time));
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_1_SQRT_2;

    fn flags() -> Flags {
        Flags { frame_id: "odom".to_owned(), map_id: String::new(), source: None }
    }

    #[track_caller]
    fn check(line: &str, expect: &Value) {
        let found = arguments(line, &flags()).unwrap().unwrap();
        assert_eq!(&Value::Object(found), expect, "{line}");
    }

    #[test]
    fn a_pose_is_three_four_or_eight_numbers_or_json() {
        let pose = json!({"position": [1.5, -2.0, 0.0], "theta": 0.25, "frame_id": "odom"});
        check("1.5 -2 0.25", &pose);
        check(" 1.5,\t-2 ,.25 \n", &pose);
        check(
            "1767225600.5 1 2 3",
            &json!({"position": [1.0, 2.0, 0.0], "theta": 3.0, "time": 1_767_225_600.5,
                "frame_id": "odom"}),
        );
        let quaternion = format!("17 1 2 3 0 0 {FRAC_1_SQRT_2} {FRAC_1_SQRT_2}");
        let found = arguments(&quaternion, &flags()).unwrap().unwrap();
        assert!((found["theta"].as_f64().unwrap() - std::f64::consts::FRAC_PI_2).abs() < 1e-9);
        assert_eq!(found["position"], json!([1.0, 2.0, 3.0]));
        check(
            r#"{"position": [1, 2], "frame_id": "map"}"#,
            &json!({"position": [1, 2], "frame_id": "map"}),
        );
        assert_eq!(arguments("# x y theta", &flags()), Ok(None));
        assert_eq!(arguments("  \r\n", &flags()), Ok(None));
    }

    #[test]
    fn other_lines_say_what_is_accepted() {
        for (line, found) in [
            ("1 2", "there are 2 numbers"),
            ("1 2 NaN", "\"NaN\" is no number"),
            ("1 2 3 4 0 0 0 0", "the quaternion has no direction"),
            ("{\"position\"", "no JSON object"),
        ] {
            let error = arguments(line, &flags()).unwrap_err();
            assert!(error.contains(found), "{error}");
            assert!(line.starts_with('{') || error.contains("time x y z qx qy qz qw"), "{error}");
        }
    }
}

//! A ROS 2 robot's camera, without a ROS installation: DDS, as the robot's own nodes speak it.
//!
//! A child of this program joins the domain, subscribes to images and poses and writes frames
//! with their stamps and poses to its pipe ([`crate::capture::live`]); whoever takes them speaks
//! no DDS. [`dds`] alone names the library and knows its wire, [`topics`] says what to subscribe
//! to, [`camera`] makes frames of messages. [`outlet`] is what the memory says itself. Built with the feature `ros2`; without it whoever asks
//! for a robot is told so.

#[cfg(feature = "ros2")]
mod camera;
#[cfg(feature = "ros2")]
mod child;
#[cfg(feature = "ros2")]
mod dds;
#[cfg(feature = "ros2")]
mod layout;
#[cfg(feature = "ros2")]
mod outlet;
#[cfg(feature = "ros2")]
mod topics;

use std::ffi::OsString;
use std::path::Path;

#[cfg(feature = "ros2")]
pub use child::run;
#[cfg(feature = "ros2")]
pub use outlet::Outlet;

use crate::capture::live::command::SourceCommand;

/// What to take of a robot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ros2Options {
    /// Topic of images; the only one that there is where `None`.
    pub image: Option<String>,
    /// Topic of poses; tf, or the only odometry where tf does not name the map, where `None`.
    pub pose: Option<String>,
    /// Coordinate frame that poses are wanted in.
    pub map_frame: String,
    /// Number of the domain; that of the environment, else 0, where `None`.
    pub domain: Option<u16>,
}

/// Where a robot is to go.
#[cfg(feature = "ros2")]
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    pub position: [f64; 3],
    pub heading: Option<f64>,
    pub frame_id: String,
}

/// Numbers that DDS has ports for.
pub const DOMAIN_MAX: u16 = 232;

/// What is said where this build cannot.
pub const LACKING: &str = "this build of engram has no ROS 2; one that has is made by \
    `cargo install --path . --features ros2`";

/// Whether this build can.
pub const fn is_built() -> bool {
    cfg!(feature = "ros2")
}

impl Ros2Options {
    /// What starts the child, by the binary `program`.
    pub fn command(&self, program: &Path, memory_bytes_max: Option<u64>) -> SourceCommand {
        let Self { image, pose, map_frame, domain } = self;
        let bytes = memory_bytes_max.map(|bytes| bytes.to_string());
        let domain = domain.map(|number| number.to_string());
        let mut args: Vec<OsString> = vec!["ros2-child".into()];
        for (flag, value) in [
            ("--memory-bytes-max", &bytes),
            ("--image", image),
            ("--pose", pose),
            ("--map-frame", &Some(map_frame.clone())),
            ("--domain", &domain),
        ] {
            if let Some(value) = value {
                // In one word: a value may begin with a dash.
                args.push(format!("{flag}={value}").into());
            }
        }
        SourceCommand { program: program.to_owned(), args }
    }
}

/// Without the feature: says so.
#[cfg(not(feature = "ros2"))]
pub fn run(
    _options: &Ros2Options,
    _clock: &dyn crate::base::time::Clock,
    _to: &mut dyn std::io::Write,
    _complain: &dyn Fn(&str),
) -> Result<(), String> {
    Err(LACKING.to_owned())
}

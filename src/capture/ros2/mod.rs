//! A ROS 2 robot's camera, without a ROS installation: DDS or Zenoh, as the robot's own nodes speak.
//!
//! A child of this program joins the domain, subscribes to images and poses and writes frames
//! with their stamps and poses to its pipe ([`crate::capture::live`]); whoever takes them speaks
//! neither. [`dds`] and [`zenoh`] alone name their library and know its wire, behind [`network`];
//! [`topics`] says what to subscribe to, [`camera`] makes frames of messages. [`outlet`] is what the
//! memory says itself. Built with the features `ros2` and `zenoh`; without them whoever asks
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
mod network;
#[cfg(feature = "ros2")]
mod outlet;
#[cfg(feature = "ros2")]
mod topics;
#[cfg(feature = "zenoh")]
mod zenoh;

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
    /// Router whose nodes speak Zenoh, such as `tcp/localhost:7447`; DDS where `None`.
    pub zenoh: Option<String>,
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

/// Where a robot's Zenoh router listens, if nothing else is said.
pub const ZENOH_ROUTER: &str = "tcp/localhost:7447";

/// What is said where this build cannot.
pub const LACKING: &str = "this build of engram has no ROS 2; one that has is made by \
    `cargo install --path . --features ros2`";

const LACKING_ZENOH: &str = "this build of engram has no Zenoh; one that has is made by \
    `cargo install --path . --features zenoh`";

/// The router's endpoint, if it is one.
pub fn zenoh_endpoint(text: &str) -> Result<String, String> {
    let address = text.strip_prefix("tcp/").and_then(|it| it.rsplit_once(':'));
    let is_one =
        address.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if is_one {
        Ok(text.to_owned())
    } else {
        Err(format!("accepted is tcp/HOST:PORT, such as {ZENOH_ROUTER}"))
    }
}

impl Ros2Options {
    /// Why this build cannot take that; `None` where it can.
    pub fn lacking(&self) -> Option<&'static str> {
        if !cfg!(feature = "ros2") {
            Some(LACKING)
        } else if self.zenoh.is_some() && !cfg!(feature = "zenoh") {
            Some(LACKING_ZENOH)
        } else {
            None
        }
    }

    /// What starts the child, by the binary `program`.
    pub fn command(&self, program: &Path, memory_bytes_max: Option<u64>) -> SourceCommand {
        let Self { image, pose, map_frame, domain, zenoh } = self;
        let bytes = memory_bytes_max.map(|bytes| bytes.to_string());
        let domain = domain.map(|number| number.to_string());
        let mut args: Vec<OsString> = vec!["ros2-child".into()];
        for (flag, value) in [
            ("--memory-bytes-max", &bytes),
            ("--image", image),
            ("--pose", pose),
            ("--map-frame", &Some(map_frame.clone())),
            ("--domain", &domain),
            ("--zenoh", zenoh),
        ] {
            if let Some(value) = value {
                // In one word: a value may begin with a dash.
                args.push(format!("{flag}={value}").into());
            }
        }
        SourceCommand { program: program.to_owned(), args }
    }
}

/// The network that the robot's nodes speak.
#[cfg(feature = "ros2")]
fn join(domain: u16, zenoh: Option<&str>) -> Result<Box<dyn network::Network>, String> {
    match zenoh {
        None => Ok(Box::new(dds::Domain::join(domain)?)),
        #[cfg(feature = "zenoh")]
        Some(endpoint) => Ok(Box::new(zenoh::Client::connect(endpoint, domain)?)),
        #[cfg(not(feature = "zenoh"))]
        Some(_) => Err(LACKING_ZENOH.to_owned()),
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

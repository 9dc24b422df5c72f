//! `engram ros2`: the memory's goals, events and answers on a robot's topics; and `engram
//! ros2-child`, the process that listens to a robot's camera, started by the daemon and by `engram
//! ingest --ros2`, which speak no DDS.

#[cfg(feature = "ros2")]
mod outlet;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;

use crate::base::step_back::StepBack;
use crate::base::time::SystemClock;
use crate::capture::ros2::{self, DOMAIN_MAX, Ros2Options};
use crate::cli::client::ClientOptions;
use crate::cli::output::complain;

/// Where to speak.
#[derive(Debug, Args)]
#[command(
    after_help = "Below the name: goal (geometry_msgs/PoseStamped), where the robot is sent now; events \
    (std_msgs/String), what `engram watch goals --json` prints; ask (std_msgs/String), a request in \
    words; answer (std_msgs/String), what `engram ask --json` prints of it."
)]
pub(super) struct Flags {
    /// Number of the domain
    #[arg(long, value_name = "NUMBER", env = "ROS_DOMAIN_ID", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=i64::from(DOMAIN_MAX)))]
    domain: u16,
    /// Its nodes speak Zenoh instead of DDS, through the router at tcp/HOST:PORT
    #[arg(long, value_name = "ENDPOINT", num_args = 0..=1, default_missing_value = ros2::ZENOH_ROUTER, value_parser = ros2::zenoh_endpoint)]
    zenoh: Option<String>,
    /// Name above the topics
    #[arg(long, value_name = "NAME", default_value = "/engram")]
    name: String,
}

/// Speaks until Ctrl-C.
#[cfg(feature = "ros2")]
pub(super) fn run(
    socket: &Path,
    options: ClientOptions,
    flags: &Flags,
) -> anyhow::Result<ExitCode> {
    outlet::run(socket, options, flags)
}

#[cfg(not(feature = "ros2"))]
pub(super) fn run(_: &Path, _: ClientOptions, _: &Flags) -> anyhow::Result<ExitCode> {
    Err(anyhow!(ros2::LACKING))
}

/// What to take of a robot, and the child's bounds.
#[derive(Debug, Args)]
pub(super) struct ChildFlags {
    /// Memory that it may take
    #[arg(long, value_name = "BYTES")]
    memory_bytes_max: Option<u64>,
    /// Topic of images
    #[arg(long, value_name = "TOPIC")]
    image: Option<String>,
    /// Topic of poses
    #[arg(long, value_name = "TOPIC")]
    pose: Option<String>,
    /// Coordinate frame of the map
    #[arg(long, value_name = "FRAME", default_value = "map")]
    map_frame: String,
    /// Number of the domain
    #[arg(long, env = "ROS_DOMAIN_ID", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=i64::from(DOMAIN_MAX)))]
    domain: u16,
    /// Router of nodes that speak Zenoh
    #[arg(long, value_name = "ENDPOINT")]
    zenoh: Option<String>,
}

/// Writes frames to standard output until it is closed.
pub(super) fn child(flags: &ChildFlags) -> anyhow::Result<ExitCode> {
    let ChildFlags { memory_bytes_max, image, pose, map_frame, domain, zenoh } = flags;
    let memory_bytes_max = *memory_bytes_max;
    StepBack { name: "the robot's listener", niceness: 5, oom_score: 500, memory_bytes_max }
        .apply();
    let (image, pose, map_frame) = (image.clone(), pose.clone(), map_frame.clone());
    let (domain, zenoh) = (Some(*domain), zenoh.clone());
    let options = Ros2Options { image, pose, map_frame, domain, zenoh };
    ros2::run(&options, &SystemClock, &mut io::stdout().lock(), &complain)
        .map_err(|why| anyhow!(why))?;
    Ok(ExitCode::SUCCESS)
}

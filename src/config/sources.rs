//! The live cameras of the settings, `[[sources]]`.

use std::time::Duration;

use super::{Config, ConfigError, Ros2Settings, SourceSettings};
use crate::base::frame::FrameMeta;
use crate::base::picture::ImageLimits;
use crate::base::pose::Pose;
use crate::base::time::Timestamp;
use crate::capture::live;
use crate::capture::ros2::{self, DOMAIN_MAX, Ros2Options};

/// Live camera, as it is set.
#[derive(Debug, Clone, PartialEq)]
pub struct CameraOptions {
    pub origin: CameraOrigin,
    pub memory_bytes_max: Option<u64>,
    pub live: live::Options,
    /// Its name, coordinate frame, map and place; its time is of no meaning.
    pub meta: FrameMeta,
}

/// Where a camera's frames come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CameraOrigin {
    /// Line for the shell.
    Command(String),
    Ros2(Ros2Options),
}

/// Cameras of one daemon.
const SOURCES_MAX: usize = 64;
const SECONDS_MAX: f64 = 86_400.0;

impl Config {
    pub fn cameras(&self) -> Result<Vec<CameraOptions>, ConfigError> {
        let sources = &self.settings.sources;
        if sources.len() > SOURCES_MAX {
            return Err(self.refusal("sources", format!("at most {SOURCES_MAX} of them")));
        }
        let limits = self.image_limits();
        let mut cameras: Vec<CameraOptions> = Vec::new();
        for (n, source) in sources.iter().enumerate() {
            let camera = camera(source, limits).and_then(|camera| {
                let name = &camera.meta.source;
                let is_taken = cameras.iter().any(|it| it.meta.source == *name);
                if is_taken {
                    return Err(format!("a name of its own, and {name:?} is another's"));
                }
                Ok(camera)
            });
            cameras.push(camera.map_err(|accepted| self.bad_source(n, &accepted))?);
        }
        Ok(cameras)
    }

    fn bad_source(&self, n: usize, accepted: &str) -> ConfigError {
        self.refusal("sources", format!("{accepted} (the entry of number {})", n + 1))
    }
}

fn camera(source: &SourceSettings, limits: ImageLimits) -> Result<CameraOptions, String> {
    let SourceSettings { name, frame_id, map_id, position, theta, .. } = source;
    let SourceSettings { window_seconds, stall_seconds, memory_limit_mb, .. } = source;
    let origin = origin(source)?;
    let pose = match (position.as_deref(), theta) {
        (None, None) => None,
        (None, Some(_)) => return Err("theta with a position".to_owned()),
        (Some([x, y]), heading) => Some(([*x, *y, 0.0], *heading)),
        (Some([x, y, z]), heading) => Some(([*x, *y, *z], *heading)),
        (Some(_), _) => return Err("a position as [x, y] or [x, y, z]".to_owned()),
    };
    let pose = pose.map(|(position, heading)| Pose::new(position, heading)).transpose();
    let meta = FrameMeta {
        taken_at: Timestamp::EPOCH,
        pose: pose.map_err(|bad| bad.to_string())?,
        frame_id: frame_id.clone(),
        map_id: map_id.clone(),
        source: name.clone(),
    };
    meta.check().map_err(|bad| bad.to_string())?;
    let seconds = |name: &str, given: f64| {
        let is_accepted = (0.0..=SECONDS_MAX).contains(&given);
        let accepted = || format!("{name} from 0 to {SECONDS_MAX}");
        is_accepted.then(|| Duration::from_secs_f64(given)).ok_or_else(accepted)
    };
    let live = live::Options {
        window: seconds("window_seconds", *window_seconds)?,
        stalled_after: seconds("stall_seconds", *stall_seconds)?,
        limits,
    };
    let memory_bytes_max = memory_limit_mb.checked_mul(1 << 20).filter(|bytes| *bytes > 0);
    Ok(CameraOptions { origin, memory_bytes_max, live, meta })
}

fn origin(source: &SourceSettings) -> Result<CameraOrigin, String> {
    let SourceSettings { command, ros2, frame_id, position, .. } = source;
    match (command, ros2) {
        (Some(line), None) if !line.trim().is_empty() => Ok(CameraOrigin::Command(line.clone())),
        (Some(_), None) => {
            Err("a command for the shell that writes JPEG, PNG or WebP images".to_owned())
        }
        (None, Some(settings)) => {
            let options = robot(settings, frame_id)?;
            match options.lacking() {
                Some(lacking) => Err(format!("cameras with a command: {lacking}")),
                None if position.is_some() => {
                    Err("no position beside ros2, which says where the camera is".to_owned())
                }
                None => Ok(CameraOrigin::Ros2(options)),
            }
        }
        (None, None) | (Some(_), Some(_)) => Err("either a command or ros2".to_owned()),
    }
}

fn robot(settings: &Ros2Settings, map_frame: &str) -> Result<Ros2Options, String> {
    let Ros2Settings { image, pose, domain, zenoh } = settings;
    if domain.is_some_and(|number| number > DOMAIN_MAX) {
        return Err(format!("ros2.domain from 0 to {DOMAIN_MAX}"));
    }
    let zenoh = zenoh.as_deref().map(ros2::zenoh_endpoint).transpose();
    Ok(Ros2Options {
        image: image.clone(),
        pose: pose.clone(),
        map_frame: map_frame.to_owned(),
        domain: *domain,
        zenoh: zenoh.map_err(|accepted| format!("ros2.zenoh: {accepted}"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;
    use std::fs;

    fn cameras(text: &str) -> Result<Vec<CameraOptions>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("robot.toml");
        fs::write(&path, text).unwrap();
        let overrides = Overrides { file: Some(path), ..Overrides::default() };
        let config = Config::load(&overrides).map_err(|error| error.to_string())?;
        config.cameras().map_err(|error| error.to_string())
    }

    #[test]
    fn cameras_have_a_name_and_a_command_and_the_rest_is_known() {
        assert_eq!(cameras(""), Ok(Vec::new()));
        let found = cameras(
            "[[sources]]\nname = \"front\"\ncommand = \"cat /dev/camera\"\n\
             [[sources]]\nname = \"hall\"\ncommand = \"x\"\nposition = [1, 2.5]\ntheta = 1\n\
             window_seconds = 0\nmemory_limit_mb = 0\nmap_id = \"home\"",
        );
        let found = found.unwrap();
        let [front, hall] = found.as_slice() else { panic!("{found:?}") };
        let command = CameraOrigin::Command("cat /dev/camera".to_owned());
        assert_eq!((&front.origin, front.meta.pose), (&command, None));
        assert_eq!(front.live, live::Options { limits: front.live.limits, ..Default::default() });
        assert_eq!(front.memory_bytes_max, Some(1 << 30));
        assert_eq!((front.meta.source.as_str(), front.meta.frame_id.as_str()), ("front", "map"));
        assert_eq!(hall.meta.pose, Some(Pose::new([1.0, 2.5, 0.0], Some(1.0)).unwrap()));
        assert_eq!((hall.live.window, hall.memory_bytes_max), (Duration::ZERO, None));
    }

    #[test]
    fn what_is_wrong_with_one_is_said() {
        for (text, expect) in [
            ("name = \"a\"\ncommands = \"x\"", "commands"),
            ("name = \"a\"", "either a command or ros2"),
            ("name = \"a\"\ncommand = \"x\"\nros2 = {}", "either a command or ros2"),
            ("name = \"a\"\nros2 = { topic = \"x\" }", "topic"),
            ("name = \"a\"\nros2 = { domain = 233 }", "ros2.domain from 0 to 232"),
            ("name = \"a\"\nros2 = { zenoh = \"localhost\" }", "ros2.zenoh: accepted is tcp/"),
            ("name = \"a\"\ncommand = \" \"", "a command for the shell"),
            ("name = \"\"\ncommand = \"x\"", "source is empty"),
            ("name = \"a\"\ncommand = \"x\"\ntheta = 1.0", "theta with a position"),
            ("name = \"a\"\ncommand = \"x\"\nposition = [1]", "[x, y, z]"),
            ("name = \"a\"\ncommand = \"x\"\nstall_seconds = -1.0", "stall_seconds from 0"),
            (
                "name = \"a\"\ncommand = \"x\"\n[[sources]]\nname = \"a\"\ncommand = \"y\"",
                "number 2",
            ),
        ] {
            let error = cameras(&format!("[[sources]]\n{text}")).unwrap_err();
            assert!(error.contains("sources") && error.contains(expect), "{text}: {error}");
            assert!(error.contains("robot.toml"), "{error}");
        }
        assert!(cameras("sources = 7").unwrap_err().contains("sources is 7"));
    }
}

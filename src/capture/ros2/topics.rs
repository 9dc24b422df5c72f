//! Which topics of a robot are taken, by what its nodes publish.
//!
//! Pure. Names and types are ROS' own (`/camera/image_raw`); how they go over a wire is known to
//! [`of_wire`], [`to_wire`] and their like for types alone.

use crate::capture::recording::messages::Kind;

/// Topic that somebody publishes on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Topic {
    pub name: String,
    /// As ROS writes it: `sensor_msgs/msg/Image`.
    pub schema: String,
}

impl Topic {
    pub(super) fn kind(&self) -> Option<Kind> {
        Kind::of_type(&self.schema)
    }

    pub(super) fn new(name: &str, schema: &str) -> Self {
        Self { name: name.to_owned(), schema: schema.to_owned() }
    }
}

/// Where poses come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PoseTopics {
    /// tf of this name; where it does not name the map, this odometry.
    Either {
        tf: String,
        track: Option<Topic>,
    },
    Tf(String),
    Track(Topic),
}

/// The topic as ROS has it; `None` of a service's, and of DDS' own.
pub(super) fn of_wire(name: &str, type_name: &str) -> Option<Topic> {
    let name = name.strip_prefix("rt/")?;
    Some(Topic { name: format!("/{name}"), schema: type_of_wire(type_name)? })
}

/// The type of a message as ROS writes it.
pub(super) fn type_of_wire(name: &str) -> Option<String> {
    let (package, message) = name.split_once("::msg::dds_::")?;
    Some(format!("{package}/msg/{}", message.strip_suffix('_')?))
}

/// Name and type as DDS has them.
pub(super) fn to_wire(topic: &Topic) -> (String, String) {
    let name = format!("rt/{}", topic.name.trim_start_matches('/'));
    (name, type_to_wire(&topic.schema))
}

/// The type of a message as DDS and Zenoh have it.
pub(super) fn type_to_wire(schema: &str) -> String {
    format!("{}_", schema.replace("/msg/", "::msg::dds_::"))
}

/// The topic of images to take: the named one, packed where it is published packed as well; else
/// the only camera's.
pub(super) fn choose_image(offered: &[Topic], wanted: Option<&str>) -> Result<Topic, String> {
    let images: Vec<&Topic> =
        offered.iter().filter(|it| it.kind().is_some_and(Kind::is_image)).collect();
    let named = |name: &str| images.iter().find(|it| it.name == name).copied();
    let names = || join(images.iter().map(|it| it.name.as_str()));
    if let Some(wanted) = wanted {
        let wanted = absolute(wanted);
        let found = named(&format!("{wanted}/compressed")).or_else(|| named(&wanted));
        return found.cloned().ok_or_else(|| {
            let other = offered.iter().find(|it| it.name == wanted);
            match other.map(|it| &it.schema) {
                Some(schema) => format!("{wanted} has {schema}, which is no image"),
                None => format!("nobody publishes {wanted}; images are on {}", names()),
            }
        });
    }
    let is_double = |it: &Topic| named(&format!("{}/compressed", it.name)).is_some();
    let is_depth = |it: &Topic| it.name.ends_with("/compressedDepth");
    let cameras: Vec<&Topic> =
        images.iter().copied().filter(|it| !is_double(it) && !is_depth(it)).collect();
    match cameras.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err("nobody publishes images".to_owned()),
        _ => Err(format!("there are several cameras, name one of them: {}", names())),
    }
}

/// The topics of poses to take; `Err` of a named one that is not there or has none.
pub(super) fn choose_poses(offered: &[Topic], wanted: Option<&str>) -> Result<PoseTopics, String> {
    let Some(wanted) = wanted.map(absolute) else {
        let mut tracks = offered.iter().filter(|it| it.kind() == Some(Kind::Odometry));
        let track = tracks.next().filter(|_| tracks.next().is_none()).cloned();
        return Ok(PoseTopics::Either { tf: "/tf".to_owned(), track });
    };
    match offered.iter().find(|it| it.name == wanted).map(|it| (it, it.kind())) {
        Some((topic, Some(Kind::Transforms))) => Ok(PoseTopics::Tf(topic.name.clone())),
        Some((topic, Some(kind))) if kind.is_pose() => Ok(PoseTopics::Track(topic.clone())),
        Some((topic, _)) => Err(format!("{wanted} has {}, which is no pose", topic.schema)),
        None => Err(format!("nobody publishes poses on {wanted}")),
    }
}

fn absolute(name: &str) -> String {
    format!("/{}", name.trim_start_matches('/'))
}

fn join<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN_MAX: usize = 20;
    let names: Vec<&str> = names.take(SHOWN_MAX).collect();
    if names.is_empty() { "no topic".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: &str = "sensor_msgs/msg/Image";
    const PACKED: &str = "sensor_msgs/msg/CompressedImage";
    const ODOMETRY: &str = "nav_msgs/msg/Odometry";

    fn topics(of: &[(&str, &str)]) -> Vec<Topic> {
        of.iter().map(|(name, schema)| Topic::new(name, schema)).collect()
    }

    #[test]
    fn names_go_over_the_wire_and_back() {
        let topic = Topic::new("/front/image_raw", IMAGE);
        let (name, type_name) = to_wire(&topic);
        assert_eq!(
            (name.as_str(), type_name.as_str()),
            ("rt/front/image_raw", "sensor_msgs::msg::dds_::Image_")
        );
        assert_eq!(of_wire(&name, &type_name), Some(topic));
        assert_eq!(of_wire("ros_discovery_info", "rmw_dds_common::msg::dds_::X_"), None);
        let service = "rcl_interfaces::srv::dds_::GetParameters_Response_";
        assert_eq!(of_wire("rr/node/get_parametersReply", service), None);
        assert_eq!(of_wire("rt/x", "sensor_msgs::msg::dds_::Image"), None);
    }

    #[test]
    fn images_are_taken_packed_and_cameras_are_not_guessed() {
        let both = topics(&[
            ("/a/image", IMAGE),
            ("/a/image/compressed", PACKED),
            ("/a/image/compressedDepth", PACKED),
            ("/odom", ODOMETRY),
        ]);
        for wanted in [None, Some("/a/image"), Some("a/image"), Some("/a/image/compressed")] {
            let chosen = choose_image(&both, wanted).map(|it| it.name);
            assert_eq!(chosen, Ok("/a/image/compressed".to_owned()), "{wanted:?}");
        }
        let raw = topics(&[("/a/image", IMAGE), ("/b/image", IMAGE)]);
        assert_eq!(choose_image(&raw, Some("/b/image")), Ok(raw[1].clone()));
        for (wanted, said) in [
            (None, "several cameras, name one of them: /a/image, /b/image"),
            (Some("/c"), "nobody publishes /c; images are on /a/image, /b/image"),
        ] {
            assert!(choose_image(&raw, wanted).unwrap_err().contains(said), "{wanted:?}");
        }
        let error = choose_image(&both, Some("/odom")).unwrap_err();
        assert!(error.contains("/odom has nav_msgs/msg/Odometry"), "{error}");
        assert_eq!(choose_image(&[], None), Err("nobody publishes images".to_owned()));
    }

    #[test]
    fn poses_are_tf_s_or_the_only_odometry_s_or_the_named_topic_s() {
        let tf = || "/tf".to_owned();
        let one = topics(&[("/odom", ODOMETRY), ("/r1/tf", "tf2_msgs/msg/TFMessage")]);
        let track = Some(one[0].clone());
        assert_eq!(choose_poses(&one, None), Ok(PoseTopics::Either { tf: tf(), track }));
        let two = topics(&[("/odom", ODOMETRY), ("/other", ODOMETRY)]);
        assert_eq!(choose_poses(&two, None), Ok(PoseTopics::Either { tf: tf(), track: None }));
        assert_eq!(choose_poses(&one, Some("r1/tf")), Ok(PoseTopics::Tf("/r1/tf".to_owned())));
        assert_eq!(choose_poses(&one, Some("/odom")), Ok(PoseTopics::Track(one[0].clone())));
        let image = topics(&[("/image", IMAGE)]);
        for (wanted, said) in [("/image", "no pose"), ("/x", "nobody publishes poses on /x")] {
            assert!(choose_poses(&image, Some(wanted)).unwrap_err().contains(said), "{wanted}");
        }
    }
}

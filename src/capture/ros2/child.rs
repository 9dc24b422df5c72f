//! The child that subscribes to one camera of a robot and its poses, and writes frames.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::base::picture::ImageLimits;
use crate::base::time::Clock;
use crate::capture::live::located::{self, Said};
use crate::capture::recording::messages::Kind;
use crate::capture::ros2::camera::RobotCamera;
use crate::capture::ros2::network::{Delivery, Network, Subscription};
use crate::capture::ros2::topics::{self, PoseTopics, Topic};
use crate::capture::ros2::{self, Ros2Options};

/// How long a wait for messages lasts until it is looked which images have waited enough.
const LOOK: Duration = Duration::from_millis(20);
/// How often it is asked who publishes what.
const ASK: Duration = Duration::from_millis(250);
/// What is found is taken when nothing else was for so long: the packed images of a camera are
/// found after the raw ones, or before.
const CALM: Duration = Duration::from_secs(1);
/// After so long without an image it is said what there is.
const QUIET: Duration = Duration::from_secs(5);

/// Images of one camera that wait to be read; each has megabytes where it is raw.
const IMAGES_KEPT: i32 = 4;
const POSES_KEPT: i32 = 200;
/// Publishers of fixed transforms: one message of each is kept.
const FIXED_KEPT: i32 = 500;

/// Type of transforms.
const TF: &str = "tf2_msgs/msg/TFMessage";

/// Writes frames until nobody reads them any more. What keeps images from coming is said by
/// `complain`, once each time.
pub fn run(
    options: &Ros2Options,
    clock: &dyn Clock,
    to: &mut dyn Write,
    complain: &dyn Fn(&str),
) -> Result<(), String> {
    let network = ros2::join(options.domain.unwrap_or(0), options.zenoh.as_deref())?;
    let camera = RobotCamera::new(&options.map_frame, ImageLimits::default());
    let now = clock.tick();
    let mut child = Child {
        options,
        clock,
        network,
        camera,
        offered: Vec::new(),
        changed_at: now,
        asked_at: None,
        image: None,
        poses: Vec::new(),
        last_image: now,
        is_quiet_said: false,
    };
    loop {
        child.network.wait(LOOK)?;
        child.subscribe()?;
        let mut to = &mut *to;
        for said in child.take_all() {
            if located::write(&mut to, &said).is_err() {
                return Ok(());
            }
        }
        if let Some(why) = child.quiet() {
            complain(&why);
        }
    }
}

struct Child<'a> {
    options: &'a Ros2Options,
    clock: &'a dyn Clock,
    network: Box<dyn Network>,
    camera: RobotCamera,
    /// What others publish, and since when that is all.
    offered: Vec<Topic>,
    changed_at: Instant,
    asked_at: Option<Instant>,
    image: Option<Subscription>,
    poses: Vec<(Subscription, bool)>,
    last_image: Instant,
    is_quiet_said: bool,
}

impl Child<'_> {
    /// Subscribes to what is there by now.
    fn subscribe(&mut self) -> Result<(), String> {
        let now = self.clock.tick();
        if self.asked_at.is_some_and(|at| now.duration_since(at) < ASK) {
            return Ok(());
        }
        self.asked_at = Some(now);
        let offered = self.network.offered();
        if offered != self.offered {
            (self.offered, self.changed_at) = (offered, now);
        }
        if now.duration_since(self.changed_at) < CALM {
            return Ok(());
        }
        if self.image.is_none()
            && let Ok(topic) = topics::choose_image(&self.offered, self.options.image.as_deref())
        {
            self.image = Some(self.network.subscribe(&topic, Delivery::Newest(IMAGES_KEPT))?);
        }
        let Ok(chosen) = topics::choose_poses(&self.offered, self.options.pose.as_deref()) else {
            return Ok(());
        };
        let (tf, track) = match chosen {
            PoseTopics::Either { tf, track } => {
                let has_tf = self.offered.iter().any(|it| it.kind() == Some(Kind::Transforms));
                if !has_tf {
                    self.camera.follow_track(now);
                }
                (Some(tf), track)
            }
            PoseTopics::Tf(tf) => (Some(tf), None),
            PoseTopics::Track(topic) => {
                self.camera.follow_track(now);
                (None, Some(topic))
            }
        };
        let fixed = tf.as_ref().map(|tf| Topic::new(&format!("{tf}_static"), TF));
        let moving = tf.map(|tf| Topic::new(&tf, TF));
        for (topic, is_static) in [(fixed, true), (moving, false), (track, false)] {
            let Some(topic) = topic else { continue };
            let is_taken = self.poses.iter().any(|(it, _)| it.topic.name == topic.name);
            if !is_taken {
                let delivery = if is_static {
                    Delivery::Kept(FIXED_KEPT)
                } else {
                    Delivery::Steady(POSES_KEPT)
                };
                let subscription = self.network.subscribe(&topic, delivery)?;
                self.poses.push((subscription, is_static));
            }
        }
        Ok(())
    }

    /// The messages that came, and what is to be said by now.
    fn take_all(&mut self) -> Vec<Said> {
        let now = (self.clock.now(), self.clock.tick());
        let images = self.image.iter().map(|it| (it, false));
        let mut said = Vec::new();
        for (subscription, is_static) in
            self.poses.iter().map(|(it, is_static)| (it, *is_static)).chain(images)
        {
            let Some(kind) = subscription.topic.kind() else { continue };
            for message in subscription.messages.take() {
                if kind.is_image() {
                    self.last_image = now.1;
                    self.is_quiet_said = false;
                }
                let taken = message.and_then(|it| self.camera.take((kind, is_static), &it, now));
                if let Err(reason) = taken {
                    said.push(Said::Fault(format!("{}: {reason}", subscription.topic.name)));
                }
            }
        }
        said.extend(std::iter::from_fn(|| self.camera.next_frame(now.1)));
        said
    }

    /// Why no image comes, when none has for long.
    fn quiet(&mut self) -> Option<String> {
        let is_quiet = self.clock.tick().duration_since(self.last_image) >= QUIET;
        if !is_quiet || std::mem::replace(&mut self.is_quiet_said, true) {
            return None;
        }
        let number = self.options.domain.unwrap_or(0);
        let wanted = self.options.image.as_deref();
        Some(match topics::choose_image(&self.offered, wanted) {
            Err(why) if self.offered.is_empty() => {
                format!("{why}; nobody is heard in ROS domain {number}")
            }
            Err(why) => why,
            Ok(topic) => format!("no image comes on {}, though it is published", topic.name),
        })
    }
}

"""What the robot of ros2_peer.py says over Zenoh, by the publishers of zenoh-ros2-sdk, through a router on this machine.

/tf_static, which those do not keep for who comes later, is published as rmw_zenoh does it: with zenoh-ext's cache.
"""

import numpy
import zenoh
from rosbags.typesys import Stores, get_typestore
from zenoh_ros2_sdk import ROS2Publisher

TYPES = get_typestore(Stores.ROS2_KILTED)


class Kept(ROS2Publisher):
    """Publisher whose last message is kept for who comes later."""

    def _declare_zenoh_publisher(self, keyexpr):
        cache = zenoh.ext.CacheConfig(max_samples=1)
        session = self.session_mgr.session
        return zenoh.ext.declare_advanced_publisher(session, keyexpr, cache=cache, publisher_detection=True)


def publisher(topic, kind, of=ROS2Publisher):
    """Its type is told that library in full: it would have it from the network."""
    text, _ = TYPES.generate_msgdef(kind, ros_version=2)
    return of(topic, kind, msg_definition=text, type_hash=TYPES.hash_rihs01(kind))


class Voice:
    def __init__(self, raw, has_tf):
        kind, name = ("Image", "/camera/image_raw") if raw else ("CompressedImage", "/camera/image_raw/compressed")
        self.raw = raw
        self.images = publisher(name, f"sensor_msgs/msg/{kind}")
        self.odometry = publisher("/odom", "nav_msgs/msg/Odometry")
        if has_tf:
            self.moving = publisher("/tf", "tf2_msgs/msg/TFMessage")
            self.fixed = publisher("/tf_static", "tf2_msgs/msg/TFMessage", Kept)

    def make(self, kind, *fields):
        return self.images.session_mgr.store.types[kind](*fields)

    def header(self, nanos, frame):
        time = self.make("builtin_interfaces/msg/Time", *divmod(nanos, 10**9))
        return self.make("std_msgs/msg/Header", time, frame)

    def send_image(self, nanos, file):
        fields = {"header": self.header(nanos, "camera_optical"), "data": numpy.frombuffer(file, numpy.uint8)}
        if self.raw:
            fields |= {"height": 480, "width": 640, "encoding": "rgb8", "is_bigendian": 0, "step": 1920}
        else:
            fields["format"] = "rgb8; jpeg compressed bgr8"
        self.images.publish(**fields)

    def send_odometry(self, nanos, place, turn):
        position = self.make("geometry_msgs/msg/Point", *place)
        pose = self.make("geometry_msgs/msg/Pose", position, self.make("geometry_msgs/msg/Quaternion", *turn))
        still = self.make("geometry_msgs/msg/Vector3", 0.0, 0.0, 0.0)
        twist, unsure = self.make("geometry_msgs/msg/Twist", still, still), numpy.zeros(36)
        self.odometry.publish(
            header=self.header(nanos, "odom"),
            child_frame_id="base_link",
            pose=self.make("geometry_msgs/msg/PoseWithCovariance", pose, unsure),
            twist=self.make("geometry_msgs/msg/TwistWithCovariance", twist, unsure),
        )

    def send_transform(self, parent, child, nanos, place, turn):
        place = self.make("geometry_msgs/msg/Vector3", *place)
        transform = self.make("geometry_msgs/msg/Transform", place, self.make("geometry_msgs/msg/Quaternion", *turn))
        stamped = self.make("geometry_msgs/msg/TransformStamped", self.header(nanos, parent), child, transform)
        (self.moving if nanos else self.fixed).publish(transforms=[stamped])

    def end(self):
        self.images.session_mgr.close()

"""What the robot of ros2_peer.py says over DDS: images and odometry by rclpy (Fast DDS), tf by Cyclone DDS.

tf is not rclpy's, whose package tf2_msgs is on no registry: the same type is written out below.
"""

from dataclasses import dataclass

import rclpy
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float64, int32, sequence, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.topic import Topic
from cyclonedds.util import duration
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage, Image


@dataclass
class Time(IdlStruct, typename="builtin_interfaces.msg.dds_.Time_"):
    sec: int32
    nanosec: uint32


@dataclass
class Header(IdlStruct, typename="std_msgs.msg.dds_.Header_"):
    stamp: Time
    frame_id: str


@dataclass
class Vector3(IdlStruct, typename="geometry_msgs.msg.dds_.Vector3_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Quaternion(IdlStruct, typename="geometry_msgs.msg.dds_.Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
class Transform(IdlStruct, typename="geometry_msgs.msg.dds_.Transform_"):
    translation: Vector3
    rotation: Quaternion


@dataclass
class TransformStamped(IdlStruct, typename="geometry_msgs.msg.dds_.TransformStamped_"):
    header: Header
    child_frame_id: str
    transform: Transform


@dataclass
class TFMessage(IdlStruct, typename="tf2_msgs.msg.dds_.TFMessage_"):
    transforms: sequence[TransformStamped]


class Voice:
    def __init__(self, raw, has_tf):
        self.raw = raw
        rclpy.init()
        node = Node("robot")
        kind, name = (Image, "/camera/image_raw") if raw else (CompressedImage, "/camera/image_raw/compressed")
        self.images = node.create_publisher(kind, name, 10)
        self.odometry = node.create_publisher(Odometry, "/odom", 10)
        if has_tf:
            domain = DomainParticipant(0)
            # As ROS' own nodes lay messages out.
            plain = Policy.DataRepresentation(use_cdrv0_representation=True, use_xcdrv2_representation=False)
            reliable = Policy.Reliability.Reliable(duration(seconds=1))
            moving = Qos(reliable, Policy.History.KeepLast(100), plain)
            fixed = Qos(reliable, Policy.Durability.TransientLocal, Policy.History.KeepLast(1), plain)
            self.moving = DataWriter(domain, Topic(domain, "rt/tf", TFMessage, qos=moving), qos=moving)
            self.fixed = DataWriter(domain, Topic(domain, "rt/tf_static", TFMessage, qos=fixed), qos=fixed)

    def send_image(self, nanos, file):
        if self.raw:
            message = Image(height=480, width=640, encoding="rgb8", step=1920)
        else:
            message = CompressedImage(format="rgb8; jpeg compressed bgr8")
        message.header.frame_id = "camera_optical"
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(nanos, 10**9)
        message.data = file
        self.images.publish(message)

    def send_odometry(self, nanos, place, turn):
        message = Odometry()
        message.header.frame_id, message.child_frame_id = "odom", "base_link"
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(nanos, 10**9)
        position, orientation = message.pose.pose.position, message.pose.pose.orientation
        position.x, position.y, position.z = place
        orientation.x, orientation.y, orientation.z, orientation.w = turn
        self.odometry.publish(message)

    def send_transform(self, parent, child, nanos, place, turn):
        writer = self.moving if nanos else self.fixed
        header = Header(Time(*divmod(nanos, 10**9)), parent)
        writer.write(TFMessage([TransformStamped(header, child, Transform(Vector3(*place), Quaternion(*turn)))]))

    def end(self):
        rclpy.shutdown()

"""Real robot's nodes for tests/sources/ros2_gate.py: images and odometry by rclpy (Fast DDS), tf by Cyclone DDS.

ros2_peer.py LOG [--raw] [--no-tf]: drives in a circle and publishes, until "quit" on standard input, 640x480 at 30 Hz on
/camera/image_raw/compressed (--raw: /camera/image_raw), /odom at 50 Hz, /tf and /tf_static. "off" and "on" are the
camera's. LOG gets a line for each image ("image") and each transform of the robot ("tf"), with its stamp in nanoseconds.
tests/sources/install_ros2.sh installs what it needs. tf is not rclpy's, whose package tf2_msgs is on no registry: the
same type is written out below.
"""

import argparse
import io
import math
import random
import sys
import threading
import time
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
from PIL import Image as Picture
from PIL import ImageDraw
from rclpy.node import Node
from ros2_drive import CAMERA, MAP_TO_ODOM, in_odom
from sensor_msgs.msg import CompressedImage, Image

OPTICAL = (-0.5, 0.5, -0.5, 0.5)
IMAGES, ODOMETRY, MAP = 1 / 30, 1 / 50, 1 / 20  # seconds between two


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


def transform(parent, child, nanos, translation, rotation):
    header = Header(Time(nanos // 10**9, nanos % 10**9), parent)
    return TransformStamped(header, child, Transform(Vector3(*translation), Quaternion(*rotation)))


def yaw(angle):
    return (0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2))


def views():
    """Pictures that differ from each other, sharp and bright."""
    for seed in range(40):
        chance = random.Random(seed)
        picture = Picture.new("RGB", (640, 480), tuple(chance.randrange(60, 200) for _ in range(3)))
        draw = ImageDraw.Draw(picture)
        for _ in range(60):
            x, y = chance.randrange(600), chance.randrange(440)
            colour = tuple(chance.randrange(256) for _ in range(3))
            draw.rectangle((x, y, x + chance.randrange(10, 200), y + chance.randrange(10, 200)), fill=colour)
        yield picture


def jpeg(picture):
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=85)
    return file.getvalue()


class Robot:
    def __init__(self, log, raw, has_tf):
        self.log, self.raw = log, raw
        self.camera_is_on, self.is_over = True, False
        node = Node("robot")
        kind, name = (Image, "/camera/image_raw") if raw else (CompressedImage, "/camera/image_raw/compressed")
        self.images = node.create_publisher(kind, name, 10)
        self.odometry = node.create_publisher(Odometry, "/odom", 10)
        self.files = [picture.tobytes() if raw else jpeg(picture) for picture in views()]
        self.tf = None
        if has_tf:
            domain = DomainParticipant(0)
            # As ROS' own nodes lay messages out.
            plain = Policy.DataRepresentation(use_cdrv0_representation=True, use_xcdrv2_representation=False)
            reliable = Policy.Reliability.Reliable(duration(seconds=1))
            moving = Qos(reliable, Policy.History.KeepLast(100), plain)
            fixed = Qos(reliable, Policy.Durability.TransientLocal, Policy.History.KeepLast(1), plain)
            self.tf = DataWriter(domain, Topic(domain, "rt/tf", TFMessage, qos=moving), qos=moving)
            self.tf_static = DataWriter(domain, Topic(domain, "rt/tf_static", TFMessage, qos=fixed), qos=fixed)
            self.tf_static.write(TFMessage([transform("base_link", "camera_optical", 0, CAMERA, OPTICAL)]))

    def send_odometry(self, nanos):
        x, y, heading = in_odom(nanos)
        message = Odometry()
        message.header.frame_id, message.child_frame_id = "odom", "base_link"
        message.header.stamp.sec, message.header.stamp.nanosec = nanos // 10**9, nanos % 10**9
        message.pose.pose.position.x, message.pose.pose.position.y = x, y
        _, _, message.pose.pose.orientation.z, message.pose.pose.orientation.w = yaw(heading)
        self.odometry.publish(message)
        if self.tf:
            self.tf.write(TFMessage([transform("odom", "base_link", nanos, (x, y, 0.0), yaw(heading))]))
            self.note("tf", nanos)

    def send_map(self, nanos):
        if self.tf:
            x, y, turn = MAP_TO_ODOM
            self.tf.write(TFMessage([transform("map", "odom", nanos, (x, y, 0.0), yaw(turn))]))

    def send_image(self, nanos, number):
        if not self.camera_is_on:
            return
        file = self.files[number // 15 % len(self.files)]  # another view each half second
        if self.raw:
            message = Image(height=480, width=640, encoding="rgb8", step=1920)
        else:
            message = CompressedImage(format="rgb8; jpeg compressed bgr8")
        message.header.frame_id = "camera_optical"
        message.header.stamp.sec, message.header.stamp.nanosec = nanos // 10**9, nanos % 10**9
        message.data = file
        self.note("image", nanos)
        self.images.publish(message)

    def note(self, what, nanos):
        self.log.write(f"{what} {nanos}\n")
        self.log.flush()

    def run(self):
        begun = time.time()
        due = {"map": begun, "odometry": begun, "image": begun}
        number = 0
        while not self.is_over:
            now = time.time()
            for name, period in (("map", MAP), ("odometry", ODOMETRY), ("image", IMAGES)):
                if now < due[name]:
                    continue
                due[name] = max(due[name] + period, now - period)
                nanos = time.time_ns()
                if name == "map":
                    self.send_map(nanos)
                elif name == "odometry":
                    self.send_odometry(nanos)
                else:
                    self.send_image(nanos, number)
                    number += 1
            time.sleep(max(0.0, min(due.values()) - time.time()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("--no-tf", action="store_true")
    options = parser.parse_args()
    rclpy.init()
    with open(options.log, "a") as log:
        robot = Robot(log, options.raw, not options.no_tf)
        thread = threading.Thread(target=robot.run)
        thread.start()
        for line in sys.stdin:
            if line.strip() == "quit":
                break
            robot.camera_is_on = line.strip() == "on"
        robot.is_over = True
        thread.join()
    rclpy.shutdown()


main()

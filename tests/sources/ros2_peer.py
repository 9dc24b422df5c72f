"""Real robot's nodes for tests/sources/ros2_gate.py, over DDS (ros2_dds.py) or Zenoh (ros2_zenoh.py).

ros2_peer.py LOG [--zenoh] [--raw] [--no-tf]: drives in a circle and publishes, until "quit" on standard input, 640x480 at
30 Hz on /camera/image_raw/compressed (--raw: /camera/image_raw), /odom at 50 Hz, /tf and /tf_static. "off" and "on" are
the camera's. LOG gets a line for each image ("image") and each transform of the robot ("tf"), with its stamp in
nanoseconds. tests/sources/install_ros2.sh installs what it needs.
"""

import argparse
import io
import math
import random
import sys
import threading
import time

from PIL import Image as Picture
from PIL import ImageDraw
from ros2_drive import CAMERA, MAP_TO_ODOM, in_odom

OPTICAL = (-0.5, 0.5, -0.5, 0.5)
IMAGES, ODOMETRY, MAP = 1 / 30, 1 / 50, 1 / 20  # seconds between two


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
    def __init__(self, log, voice, raw, has_tf):
        self.log, self.voice, self.has_tf = log, voice, has_tf
        self.camera_is_on, self.is_over = True, False
        self.files = [picture.tobytes() if raw else jpeg(picture) for picture in views()]
        if has_tf:
            voice.send_transform("base_link", "camera_optical", 0, CAMERA, OPTICAL)

    def send_odometry(self, nanos):
        x, y, heading = in_odom(nanos)
        self.voice.send_odometry(nanos, (x, y, 0.0), yaw(heading))
        if self.has_tf:
            self.voice.send_transform("odom", "base_link", nanos, (x, y, 0.0), yaw(heading))
            self.note("tf", nanos)

    def send_map(self, nanos):
        if self.has_tf:
            x, y, turn = MAP_TO_ODOM
            self.voice.send_transform("map", "odom", nanos, (x, y, 0.0), yaw(turn))

    def send_image(self, nanos, number):
        if self.camera_is_on:
            self.note("image", nanos)
            self.voice.send_image(nanos, self.files[number // 15 % len(self.files)])  # another view each half second

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
    parser.add_argument("--zenoh", action="store_true")
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("--no-tf", action="store_true")
    options = parser.parse_args()
    if options.zenoh:
        from ros2_zenoh import Voice
    else:
        from ros2_dds import Voice
    voice = Voice(options.raw, not options.no_tf)
    with open(options.log, "a") as log:
        robot = Robot(log, voice, options.raw, not options.no_tf)
        thread = threading.Thread(target=robot.run)
        thread.start()
        for line in sys.stdin:
            if line.strip() == "quit":
                break
            robot.camera_is_on = line.strip() == "on"
        robot.is_over = True
        thread.join()
    voice.end()


main()

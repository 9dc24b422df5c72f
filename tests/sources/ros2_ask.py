"""A ROS 2 node that asks the memory: unshare -rn target/ros2/venv/bin/python tests/sources/ros2_ask.py ENGRAM.

What is asked on /engram/ask is answered on /engram/answer, and the first goal goes out on /engram/goal and
/engram/events, also after the daemon was restarted; goals from before `engram ros2` started do not. Exits 1 where it is
not so.
"""

import base64
import io
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rclpy
from geometry_msgs.msg import PoseStamped
from patience import wait_for
from PIL import Image
from rclpy.node import Node
from std_msgs.msg import String

PATIENCE = 60.0


class Asker(Node):
    def __init__(self):
        super().__init__("asker")
        self.goals, self.events, self.answers = [], [], []
        self.questions = self.create_publisher(String, "/engram/ask", 10)
        self.create_subscription(PoseStamped, "/engram/goal", self.goals.append, 10)
        self.create_subscription(String, "/engram/events", lambda it: self.events.append(json.loads(it.data)), 10)
        self.create_subscription(String, "/engram/answer", lambda it: self.answers.append(json.loads(it.data)), 10)

    def ask(self, text):
        for name in ("/engram/goal", "/engram/events", "/engram/answer"):
            self.wait_for(f"who publishes {name}", lambda name=name: self.count_publishers(name))
        self.wait_for("who answers", self.questions.get_subscription_count)
        time.sleep(0.5)  # until the other side knows us, too
        self.goals.clear(), self.events.clear(), self.answers.clear()
        self.questions.publish(String(data=text))
        self.wait_for("an answer", lambda: self.answers)

    def wait_for(self, what, is_so):
        def spun():
            rclpy.spin_once(self, timeout_sec=0.05)
            return is_so()

        wait_for(what, spun, PATIENCE)


def main():
    for command in ("ip link set lo up multicast on", "ip route add 224.0.0.0/4 dev lo"):
        subprocess.run(command.split(), check=True)
    engram = sys.argv[1]
    started = []
    with tempfile.TemporaryDirectory() as directory:
        try:
            run(engram, Path(directory), started)
        finally:
            for process in started:
                process.kill()


def run(engram, directory, started):
    socket = ["--socket", str(directory / "socket")]

    def serve():
        daemon = subprocess.Popen([engram, "serve", "--state-dir", str(directory / "state"), *socket])
        started.append(daemon)
        wait_for(
            "the daemon",
            lambda: subprocess.run([engram, "call", "health", *socket], capture_output=True).returncode == 0,
            PATIENCE,
        )
        return daemon

    def say(text, **arguments):
        command = [engram, "call", text, json.dumps(arguments), *socket]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    daemon = serve()
    file = io.BytesIO()
    Image.effect_noise((64, 48), 90).convert("RGB").save(file, "JPEG")
    image = base64.b64encode(file.getvalue()).decode()
    say(
        "observe",
        image=image,
        caption="a red mug on a wooden table",
        position=[1.5, -2.0, 0.0],
        theta=0.5,
        source="front",
    )
    say("retrieve_object", task="bring me the red mug")  # before anybody speaks for the memory
    started.append(subprocess.Popen([engram, "ros2", *socket]))
    rclpy.init()
    asker = Asker()
    asker.wait_for("who speaks", lambda: asker.count_publishers("/engram/goal"))
    time.sleep(2)
    assert not asker.goals and not asker.events, "a goal from before the start was sent"
    check(asker)
    daemon.terminate()
    daemon.wait(60)
    asker.ask("bring me the red mug")
    assert "error" in asker.answers[0], asker.answers
    serve()
    time.sleep(2)
    check(asker)
    asker.ask("")
    assert "error" in asker.answers[0], asker.answers
    print("asked, answered and sent off, also after a restart of the daemon")


def check(asker):
    asker.ask("bring me the red mug")
    answer = asker.answers[0]
    assert answer["task"] == "bring me the red mug", answer
    first = answer["goals"][0]
    assert first["position"] == [1.5, -2.0, 0.0], answer
    asker.wait_for("the goal", lambda: asker.goals and asker.events)
    event, goal = asker.events[0], asker.goals[0]
    assert event["status"] == "dispatched" and event["goals"][0]["position"] == first["position"], event
    place, turn = goal.pose.position, goal.pose.orientation
    assert goal.header.frame_id == "map" and [place.x, place.y, place.z] == first["position"], goal
    assert abs(2 * math.atan2(turn.z, turn.w) - first["theta"]) < 1e-6, goal
    assert abs(goal.header.stamp.sec - time.time()) < 60, goal


main()

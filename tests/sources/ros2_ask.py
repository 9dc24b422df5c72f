"""A ROS 2 node that asks the memory: unshare -rn target/ros2/venv/bin/python tests/sources/ros2_ask.py ENGRAM [--zenoh].

What is asked on /engram/ask is answered on /engram/answer, and the first goal goes out on /engram/goal and
/engram/events, also after the daemon was restarted; goals from before `engram ros2` started do not. With --zenoh the
node is one of zenoh-ros2-sdk (ros2_zenoh_asker.py), and the router is restarted, too; else it is of rclpy
(ros2_dds_asker.py). Exits 1 where it is not so.
"""

import base64
import contextlib
import io
import json
import math
import socket as connection
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from patience import wait_for
from PIL import Image

PATIENCE = 60.0
IS_ZENOH = "--zenoh" in sys.argv
ROUTER = "tcp/localhost:7447"


class Asker:
    """What a node hears of the memory; `voice` is its network."""

    def __init__(self, voice):
        self.goals, self.events, self.answers = [], [], []
        self.voice = voice
        voice.hear(
            self.goals.append,
            lambda text: self.events.append(json.loads(text)),
            lambda text: self.answers.append(json.loads(text)),
        )

    def ask(self, text):
        for name in ("/engram/goal", "/engram/events", "/engram/answer"):
            self.wait_for(f"who publishes {name}", lambda name=name: self.voice.count_publishers(name))
        self.wait_for("who answers", self.voice.count_answerers)
        time.sleep(0.5)  # until the other side knows us, too
        self.goals.clear(), self.events.clear(), self.answers.clear()
        self.voice.ask(text)
        self.wait_for("an answer", lambda: self.answers)

    def wait_for(self, what, is_so):
        def looked():
            self.voice.look()
            return is_so()

        wait_for(what, looked, PATIENCE)


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
    if IS_ZENOH:
        router = start_router(started)
        from ros2_zenoh_asker import Voice
    else:
        from ros2_dds_asker import Voice
    network = ["--zenoh", ROUTER] if IS_ZENOH else []
    started.append(subprocess.Popen([engram, "ros2", *network, *socket]))
    # Before the router is ended: a session waits for it.
    with contextlib.closing(Voice()) as voice:
        asker = Asker(voice)
        asker.wait_for("who speaks", lambda: voice.count_publishers("/engram/goal"))
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
        voice.check()
    if IS_ZENOH:
        router.kill()
        router.wait()
        start_router(started)
        with contextlib.closing(Voice()) as voice:
            check(Asker(voice))
    print("asked, answered and sent off, also after a restart of the daemon")


def start_router(started):
    script = Path(__file__).with_name("ros2_router.py")
    router = subprocess.Popen([sys.executable, str(script), ROUTER], stdin=subprocess.PIPE)
    started.append(router)
    wait_for("the router", lambda: is_open(7447), PATIENCE)
    return router


def is_open(port):
    with contextlib.suppress(OSError), connection.create_connection(("localhost", port), 1):
        return True
    return False


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

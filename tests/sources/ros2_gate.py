"""A ROS 2 robot against a daemon of engram, in a network of their own: what was published is remembered, with its pose.

unshare -rn target/ros2/venv/bin/python tests/sources/ros2_gate.py ENGRAM [--seconds 120] [--zenoh] [--raw] [--no-tf] [--brief]: the
robot (ros2_peer.py) drives in a circle; on the way its camera is lost, its nodes are killed and started again, then engram's
listener, then the daemon; with --zenoh the router, too, together with the robot's nodes. At the end every record must be of a published image's stamp and lie where the camera was,
and no half second in which all ran may be without one. Prints the figures and exits 1 where one of these is not so.
--brief waits for some records before and after the nodes are killed instead, and times nothing: for a machine that does
other things as well, where transforms may be lost on the way, too.
"""

import argparse
import bisect
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from patience import wait_for
from ros2_drive import between, camera_in_map, in_odom

PEER = Path(__file__).with_name("ros2_peer.py")
METRES, RADIANS = 0.001, 0.001  # from what tf says of the transforms that were published
LOST = 0.5  # seconds of transforms that a loaded network may lose: senders drop what they cannot pass on
SETTLING = 6.0  # seconds from a start until frames come
GAP = 1.6  # seconds between two records: two half seconds, each with its sharpest, and what is spare
PATIENCE = 120.0
ROUTER = "tcp/localhost:7447"
STARTED = []  # processes, which are ended at the latest with this one


def micros(text):
    return round(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1e6)


class Captioner(BaseHTTPRequestHandler):
    """Says the same of every image, at once: what is tested here is the way to it."""

    def answer(self, body):
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        self.answer({"data": [{"id": "one"}]})

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.answer({"choices": [{"message": {"role": "assistant", "content": "a room with a chair"}}]})

    def log_message(self, *_):
        pass

    @classmethod
    def start(cls):
        server = ThreadingHTTPServer(("127.0.0.1", 0), cls)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"


class Router:
    """A Zenoh router, which a robot with rmw_zenoh has."""

    def __init__(self):
        self.start()

    def start(self):
        command = [sys.executable, str(PEER.with_name("ros2_router.py")), ROUTER]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE)
        STARTED.append(self.process)

    def restart(self):
        self.process.kill()
        self.process.wait()
        self.start()


class Robot:
    def __init__(self, log, flags):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RMW_")}
        command = [sys.executable, str(PEER), str(log), *flags]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, text=True, env=environment | {"ROS_LOG_DIR": str(log.parent / "ros")}
        )
        STARTED.append(self.process)
        self.since = time.time()

    def say(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def end(self):
        self.say("quit")
        self.process.wait(20)


class Daemon:
    def __init__(self, engram, directory, source):
        settings = directory / "robot.toml"
        settings.write_text(f'[[sources]]\nname = "front"\nros2 = {source}\n')
        self.engram, self.socket = engram, directory / "socket"
        self.flags = ["--state-dir", str(directory / "state"), "--socket", str(self.socket), "--config", str(settings)]
        self.flags += ["--set", f"captioner.endpoint={Captioner.start()}"]
        self.seen = {"frames": 0, "passed_over": 0, "lost": 0, "faults": 0, "unlocated": 0, "gated": 0}
        self.listener_peak, self.restarts, self.reasons = 0, 0, set()

    def start(self):
        self.process = subprocess.Popen([self.engram, "serve", *self.flags])
        STARTED.append(self.process)
        wait_for("the daemon", lambda: self.call("ingest_status") is not None, PATIENCE)
        self.since = time.time()

    def call(self, tool):
        command = [self.engram, "call", tool, "--socket", str(self.socket)]
        output = subprocess.run(command, capture_output=True, text=True)
        return json.loads(output.stdout) if output.returncode == 0 else None

    def listener(self):
        children = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        for pid in " ".join(path.read_text() for path in children).split():
            if "ros2-child" in Path(f"/proc/{pid}/cmdline").read_text():
                return int(pid)
        return None

    def look(self):
        """What the listener takes by now."""
        pid = self.listener()
        if pid:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            peak = next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)
            self.listener_peak = max(self.listener_peak, peak)

    def count(self):
        """Adds what the camera's counters say, which begin anew with the daemon."""
        status = self.call("ingest_status")
        camera = status["cameras"][0]
        for name in self.seen:
            self.seen[name] += status[name] if name == "gated" else camera[name]
        self.restarts += camera["restarts"]
        self.reasons |= {camera["last_fault"], camera["unlocated_reason"]} - {None}

    def stop(self):
        self.count()
        self.process.terminate()
        self.process.wait(60)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("engram")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--zenoh", action="store_true")
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("--no-tf", action="store_true")
    parser.add_argument("--brief", action="store_true")
    options = parser.parse_args()
    for command in ("ip link set lo up multicast on", "ip route add 224.0.0.0/4 dev lo"):
        subprocess.run(command.split(), check=True)
    with tempfile.TemporaryDirectory() as directory:
        try:
            sys.exit(run(options, Path(directory)))
        finally:
            for process in STARTED:
                process.kill()


def run(options, directory):
    log = directory / "published"
    said = (("--zenoh", options.zenoh), ("--raw", options.raw), ("--no-tf", options.no_tf))
    flags = [flag for flag, is_on in said if is_on]
    by = f', zenoh = "{ROUTER}"' if options.zenoh else ""
    daemon = Daemon(options.engram, directory, f'{{ image = "/camera/image_raw"{by} }}')
    daemon.start()
    router = Router() if options.zenoh else None
    robot = Robot(log, flags)
    ups = []  # from when to when all ran
    step = options.seconds / 5

    def go_on(since):
        end = time.time() + step
        while time.time() < end:
            daemon.look()
            time.sleep(0.5)
        ups.append((since + SETTLING, time.time() - 1))

    def wait_for_more(count):
        before = daemon.call("ingest_status")["captioned"]
        wait_for("records", lambda: daemon.call("ingest_status")["captioned"] >= before + count, PATIENCE)
        daemon.look()

    if options.brief:
        wait_for_more(4)
        robot.process.kill()
        robot.process.wait()
        if router:
            router.restart()
        robot = Robot(log, flags)
        wait_for_more(4)
        return finish(options, daemon, robot, log, ups)
    go_on(robot.since)
    robot.say("off")
    time.sleep(min(8.0, step / 2))
    robot.say("on")
    go_on(time.time())
    robot.process.kill()
    robot.process.wait()
    if router:
        router.restart()
    time.sleep(2)
    robot = Robot(log, flags)
    go_on(robot.since)
    os.kill(daemon.listener(), signal.SIGKILL)
    go_on(time.time())
    daemon.stop()
    daemon.start()
    go_on(time.time())
    return finish(options, daemon, robot, log, ups)


def finish(options, daemon, robot, log, ups):
    robot.end()
    while pending := daemon.call("ingest_status")["pending"]:
        wait_for("a caption", lambda pending=pending: daemon.call("ingest_status")["pending"] < pending, PATIENCE)
    daemon.count()
    output = subprocess.run(
        [daemon.engram, "export", "--socket", str(daemon.socket)], capture_output=True, text=True, check=True
    )
    daemon.process.terminate()
    daemon.process.wait(60)
    lines = [json.loads(line) for line in output.stdout.splitlines()]
    records = [line.get("record", line) for line in lines]
    records = [record for record in records if record.get("source") == "front"]
    return report(options, daemon, log, records, ups)


def nearest(told, nanos, position, lost):
    """Where tf has the camera, of the two transforms beside a stamp or, where that is nearer to a position, of two that are
    up to `lost` seconds further apart; and how much further, in seconds.
    """
    at = bisect.bisect_left(told, nanos)
    beside, reach = told[at] - told[at - 1], round(lost * 1e9)
    early = [it for it in told[:at] if it >= told[at - 1] - reach]
    late = [it for it in told[at:] if it <= told[at] + reach]
    pairs = [(before, after) for before in early for after in late if after - before <= beside + reach]
    said = [((after - before - beside) / 1e9, camera_in_map(between(before, after, nanos))) for before, after in pairs]
    return min(said, key=lambda it: math.dist(it[1][:3], position))


def report(options, daemon, log, records, ups):
    lines = [line.split() for line in log.read_text().splitlines()]
    published = {int(nanos) // 1000: int(nanos) for what, nanos in lines if what == "image"}
    told = sorted(int(nanos) for what, nanos in lines if what == "tf")
    while_up = [stamp for stamp in published if any(begin <= stamp / 1e6 <= end for begin, end in ups)]
    faults = []
    metres = radians = from_circle = most_lost = 0.0
    unlocated = 0
    spans = []
    for record in records:
        stamp = micros(record["time"])
        spans.append((stamp / 1e6, micros(record["end_time"]) / 1e6))
        if stamp not in published:
            faults.append(f"{record['time']} was never published")
        elif record["position"] is None:
            unlocated += 1
        elif not options.no_tf:
            nanos = published[stamp]
            lost, (*place, theta) = nearest(told, nanos, record["position"], LOST if options.brief else 0.0)
            most_lost = max(most_lost, lost)
            metres = max(metres, math.dist(place, record["position"]))
            radians = max(radians, abs(math.remainder(record["theta"] - theta, 2 * math.pi)))
            from_circle = max(from_circle, math.dist(camera_in_map(in_odom(nanos))[:3], record["position"]))
        wanted = "odom" if options.no_tf else "map"
        if record["position"] and record["frame_id"] != wanted:
            faults.append(f"{record['time']} lies in {record['frame_id']}, not in {wanted}")
    spans.sort()
    longest = 0.0
    for begin, end in ups:
        inside = [begin, *(at for span in spans for at in span if begin <= at <= end), end]
        longest = max([longest, *(later - at for at, later in zip(inside, inside[1:]))])
    if metres > METRES or radians > RADIANS:
        faults.append("poses are not where the camera was")
    if longest > GAP:
        faults.append(f"{longest:.1f} s without a record while all ran")
    if not records or unlocated > 2 + len(records) / 20:  # at a start, poses may come after images
        faults.append(f"{unlocated} of {len(records)} records without a pose")
    seen = daemon.seen
    print(f"published {len(published)} images, {len(while_up)} of them while all ran; came {seen['frames']}")
    print(
        f"passed over for sharper ones {seen['passed_over']}, lost {seen['lost']}, merged {seen['gated']}, kept {len(records)}"
    )
    print(
        f"without a pose: {seen['unlocated']} that came, {unlocated} kept; refused {seen['faults']} {daemon.reasons or ''}"
    )
    print(
        f"greatest error {metres * 1000:.3f} mm, {radians * 1000:.3f} mrad from what tf says of the {len(told)} transforms"
    )
    print(
        f"  that were published, {most_lost:.2f} s of them lost; {from_circle * 1000:.3f} mm from the circle;"
        f" longest without a record {longest:.2f} s"
    )
    print(f"listener: at most {daemon.listener_peak / 1024:.0f} MiB, {daemon.restarts} restarts")
    for fault in faults[:20]:
        print(f"FAILED: {fault}")
    return 1 if faults else 0


main()

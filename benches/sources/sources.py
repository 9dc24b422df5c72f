"""How many frames a second come into the memory from each source, and in how much memory.

    python3 -m venv target/sources-python
    target/sources-python/bin/pip install rosbags==0.11.9
    target/sources-python/bin/python benches/sources/sources.py --engram target/release/engram
    unshare -rn target/ros2/venv/bin/python benches/sources/sources.py --engram ENGRAM --robot

Frames are those of ffmpeg's moving test picture (640x480; layouts.py), each different enough for the gate. The captioner
is stopped (SIGSTOP), so that the way up to the acknowledged frame on disk is measured: read, sent, decoded, compared,
spooled, synced. All of it has two cores. A line each source: the median of its runs, processor time a frame, and the
peaks of memory of the daemon and of what feeds it. Needs ffmpeg.

With --robot a robot's nodes (tests/sources/ros2_peer.py, installed by tests/sources/install_ros2.sh) publish at 30 Hz over
DDS and Zenoh, in a network of their own, and `engram` needs the features; memory is then the listener's beside the daemon's.
"""

import argparse
import json
import os
import pathlib
import shlex
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[2]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
TICKS = os.sysconf("SC_CLK_TCK")


class Daemon:
    def __init__(self, engram, directory, settings=""):
        self.directory = pathlib.Path(directory)
        self.socket = str(self.directory / "engram.sock")
        config = self.directory / "engram.toml"
        config.write_text(f"[ingest]\nspool_max = 1000000\n{settings}")
        state = self.directory / "state"
        command = [engram, "serve", "--config", config, "--state-dir", state, "--socket", self.socket]
        self.log = open(self.directory / "log", "w")
        self.process = subprocess.Popen([str(it) for it in command], stderr=self.log)
        while not os.path.exists(self.socket) or not self.status():
            if self.process.poll() is not None:
                sys.exit((self.directory / "log").read_text())
            time.sleep(0.05)
        while not (pid := self.status().get("captioner_pid")):
            time.sleep(0.05)
        os.kill(pid, signal.SIGSTOP)
        self.worker = pid

    def status(self):
        params = {"name": "ingest_status", "arguments": {}, "_meta": META}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}) + "\n"
        try:
            with socket.socket(socket.AF_UNIX) as stream:
                stream.connect(self.socket)
                stream.sendall(line.encode())
                with stream.makefile() as reply:
                    return json.loads(reply.readline())["result"]["structuredContent"]
        except OSError:
            return {}

    def end(self):
        os.kill(self.worker, signal.SIGKILL)
        self.process.terminate()
        self.process.wait(60)


def said(pid, what):
    """A file of /proc; empty where the process has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/{what}").read_text()
    except OSError:
        return ""


def peak_mib(pid):
    kib = next((line.split()[1] for line in said(pid, "status").splitlines() if line.startswith("VmHWM")), 0)
    return round(int(kib) / 1024)


def spent_by(pid):
    """Seconds of processor time so far, of its children that have ended, too."""
    fields = said(pid, "stat").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def children(pid, without=()):
    """Those of a process, and theirs."""
    tasks = (path.name for path in pathlib.Path(f"/proc/{pid}/task").glob("*"))
    own = [int(child) for task in tasks for child in said(pid, f"task/{task}/children").split()]
    own = [child for child in own if child not in without]
    return own + [grandchild for child in own for grandchild in children(child)]


def row(daemon, seconds, seen, spent, feeder_mib, **more):
    return {
        "frames_a_second": round(seen / seconds, 1),
        "ms_of_processor": round(1000 * spent / max(seen, 1), 1),
        "daemon_mib": peak_mib(daemon.process.pid),
        "feeder_mib": feeder_mib,
        "seen": seen,
        **more,
    }


def feed(engram, command, count):
    """Runs a command of the shell against a fresh daemon until it ends."""
    with tempfile.TemporaryDirectory(prefix="engram-sources-") as directory:
        daemon = Daemon(engram, directory)
        line = command.format(engram=shlex.quote(engram), socket=shlex.quote(daemon.socket))
        before, begun = spent_by(daemon.process.pid), time.monotonic()
        with open(pathlib.Path(directory) / "said", "w+") as output:
            child = subprocess.Popen(["/bin/bash", "-c", line], stdout=output, stderr=subprocess.STDOUT)
            peaks, ended = {}, 0
            while not ended:
                time.sleep(0.02)
                for pid in (child.pid, *children(child.pid)):
                    peaks[pid] = max(peaks.get(pid, 0), peak_mib(pid))
                ended, code, usage = os.wait4(child.pid, os.WNOHANG)
            seconds = time.monotonic() - begun
            child.returncode = os.waitstatus_to_exitcode(code)
            output.seek(0)
            text = output.read()
        status = daemon.status()
        spent = spent_by(daemon.process.pid) - before + usage.ru_utime + usage.ru_stime
        lost = sum(it["frames"] for it in status["lost"])
        more = {"offered": count, "merged": status["gated"], "lost": lost, "refused": status["refused"]}
        if child.returncode:
            more["failed"] = text.strip().splitlines()[-1]
        found = row(daemon, seconds, status["seen"], spent, max(peaks.values(), default=0), **more)
        daemon.end()
        return found


def feed_pixels(engram, jpegs):
    """The Python client, with raw pixels."""
    from layouts import pixels

    sys.path.insert(0, str(ROOT / "src/cli/client_library"))
    from engram import Engram

    images = [pixels(file) for file in jpegs[:100]]
    with tempfile.TemporaryDirectory(prefix="engram-sources-") as directory:
        daemon = Daemon(engram, directory)
        before, begun = spent_by(daemon.process.pid) + time.process_time(), time.monotonic()
        with Engram(daemon.socket) as memory:
            for n, image in enumerate(images):
                memory.observe(image, time=1767225600.0 + n, encoding="bgr8", source="front")
        seconds = time.monotonic() - begun
        spent = spent_by(daemon.process.pid) + time.process_time() - before
        status = daemon.status()
        # The client's memory is that of whoever calls it.
        found = row(daemon, seconds, status["seen"], spent, 0, offered=len(images), merged=status["gated"])
        daemon.end()
        return found


def feed_live(engram, camera, seconds):
    """A camera of the settings, for a while from its first frame on."""
    with tempfile.TemporaryDirectory(prefix="engram-sources-") as directory:
        daemon = Daemon(engram, directory, f'[[sources]]\nname = "fast"\nwindow_seconds = 0\n{camera}\n')
        while not daemon.status()["seen"]:
            time.sleep(0.05)

        def total():
            own = children(daemon.process.pid, without=[daemon.worker])
            return sum(spent_by(pid) for pid in (daemon.process.pid, *own))

        before, begun, first = total(), time.monotonic(), daemon.status()
        time.sleep(seconds)
        last, spent, seconds = daemon.status(), total() - before, time.monotonic() - begun
        feeder = max(map(peak_mib, children(daemon.process.pid, without=[daemon.worker])), default=0)
        counts = {
            name: last["cameras"][0][name] - first["cameras"][0][name] for name in ("frames", "lost", "unlocated")
        }
        offered = counts.pop("frames")
        seen = last["seen"] - first["seen"]
        found = row(daemon, seconds, seen, spent, feeder, offered=offered, merged=last["gated"], **counts)
        daemon.end()
        return found


def feed_by_robot(engram, seconds, *flags):
    """A robot's nodes that publish 30 images a second."""
    router, robot = None, None
    sources = ROOT / "tests/sources"
    camera = 'image = "/camera/image_raw"'
    try:
        if "--zenoh" in flags:
            router = subprocess.Popen(
                [sys.executable, sources / "ros2_router.py", "tcp/localhost:7447"], stdin=subprocess.PIPE
            )
            camera += ', zenoh = "tcp/localhost:7447"'
        with tempfile.TemporaryDirectory(prefix="engram-robot-") as directory:
            quiet = os.environ | {"ROS_LOG_DIR": directory}
            command = [sys.executable, sources / "ros2_peer.py", f"{directory}/log", *flags]
            robot = subprocess.Popen(command, stdin=subprocess.PIPE, env=quiet)
            return feed_live(engram, f"ros2 = {{ {camera} }}", seconds)
    finally:
        for process in filter(None, (robot, router)):
            process.kill()
            process.wait()


def middle(runs):
    """The run of median rate."""
    rate = statistics.median_low(it["frames_a_second"] for it in runs)
    return next(it for it in runs if it["frames_a_second"] == rate)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engram", required=True)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20, help="of a live camera")
    parser.add_argument("--hertz", type=float, default=60, help="of a live camera")
    parser.add_argument("--robot", action="store_true", help="measure ROS 2's nodes instead")
    options = parser.parse_args()
    if len(os.sched_getaffinity(0)) > 2:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    engram = os.path.abspath(options.engram)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()}")

    def measure(name, run, *arguments):
        rows = [run(engram, *arguments) for _ in range(options.runs)]
        rates = [it["frames_a_second"] for it in rows]
        print(name, json.dumps(middle(rows)), "all runs:", rates, flush=True)

    if options.robot:
        for command in ("ip link set lo up multicast on", "ip route add 224.0.0.0/4 dev lo"):
            subprocess.run(command.split(), check=True)
        for name, flags in (("DDS", ()), ("DDS, raw", ("--raw",)), ("Zenoh", ("--zenoh",))):
            measure(name, feed_by_robot, options.seconds, *flags)
        return

    from layouts import make

    rest = "--window 0 --no-wait --socket {socket}"
    with tempfile.TemporaryDirectory(prefix="engram-frames-") as directory:
        at = make(directory, options.frames)
        sizes = [file.stat().st_size / 1024 for file in at["jpegs"]]
        print(f"{len(sizes)} frames of 640x480, {sum(sizes) / len(sizes):.0f} KiB each as JPEG")
        start = "--start 2026-01-01T00:00:00Z"
        for name, source in (
            ("directory with a sidecar", at["jsonl"]),
            ("photographs", at["photographs"]),
            ("MCAP", at["mcap"]),
            ("MCAP, raw images", at["mcap_raw"]),
            ("rosbag2's SQLite", at["db3"]),
            ("bag of ROS 1, lz4", at["bag"]),
            ("TUM, PNG", at["tum"]),
            ("KITTI, PNG", f"{at['kitti']} {start}"),
            ("EuRoC, grey PNG", at["euroc"]),
            ("video", f"{at['video']} {start}"),
        ):
            measure(name, feed, f"{{engram}} ingest {source} {rest}", len(sizes))
        # At a rate: what comes faster than it is taken in is dropped there.
        camera = f"{sys.executable} {ROOT / 'benches/sources/camera.py'} {directory}/frames {options.hertz}"
        frames = round(options.seconds * options.hertz)
        measure("pipe", feed, f"{camera} {options.seconds} | {{engram}} ingest - {rest}", frames)
        measure("camera of the settings", feed_live, f"command = {json.dumps(camera)}", options.seconds)
        measure("observe, raw pixels", feed_pixels, at["jpegs"])


if __name__ == "__main__":
    main()

"""How many frames a second come into the memory from each source, and in how much memory.

    python3 benches/sources/sources.py --engram target/release/engram

Frames are those of ffmpeg's moving test picture (640x480, JPEG), each different enough for the gate. The captioner is
stopped (SIGSTOP), so that the way up to the acknowledged frame on disk is measured: read, sent, decoded, compared,
spooled, synced. `taskset -c 0,1` is set for all of it where there are more cores. Needs ffmpeg; an MCAP file is
measured where `mcap-ros2-support` is installed. Memory is the peak of the daemon and of the command that feeds it.
"""

import argparse
import json
import os
import pathlib
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


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
        peak = peak_mib(self.process.pid)
        os.kill(self.worker, signal.SIGKILL)
        self.process.terminate()
        self.process.wait(60)
        return peak


def peak_mib(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    kib = next(line.split()[1] for line in lines if line.startswith("VmHWM"))
    return round(int(kib) / 1024)


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-y", *map(str, arguments)], check=True)


def make_frames(directory, count):
    frames = directory / "frames"
    frames.mkdir()
    picture = f"testsrc2=size=640x480:rate=30:duration={count / 30}"
    ffmpeg("-f", "lavfi", "-i", picture, "-vf", "hue=h=97*n", "-q:v", "3", frames / "%06d.jpg")
    files = sorted(frames.iterdir())
    lines = [
        {"file": f"frames/{file.name}", "time": 1767225600 + n, "position": [n, 0, 0]} for n, file in enumerate(files)
    ]
    (directory / "frames.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    stream = directory / "stream.mjpeg"
    stream.write_bytes(b"".join(file.read_bytes() for file in files))
    ffmpeg("-framerate", 8, "-i", frames / "%06d.jpg", "-pix_fmt", "yuv420p", directory / "video.mp4")
    return files


def make_mcap(directory, files):
    try:
        from mcap_ros2.writer import Writer
    except ImportError:
        return None
    path = directory / "frames.mcap"
    definition = (
        "std_msgs/Header header\nstring format\nuint8[] data\n"
        + "=" * 80
        + "\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
        + "=" * 80
        + "\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
    )
    with open(path, "wb") as file:
        writer = Writer(file)
        schema = writer.register_msgdef("sensor_msgs/msg/CompressedImage", definition)
        for n, image in enumerate(files):
            header = {"stamp": {"sec": 1767225600 + n, "nanosec": 0}, "frame_id": "camera"}
            message = {"header": header, "format": "jpeg", "data": image.read_bytes()}
            at = (1767225600 + n) * 10**9
            writer.write_message("/camera/compressed", schema, message, log_time=at, publish_time=at)
        writer.finish()
    return path


def feed(engram, command, count):
    """Runs a command of the shell against a fresh daemon until it ends."""
    with tempfile.TemporaryDirectory(prefix="engram-sources-") as directory:
        daemon = Daemon(engram, directory)
        line = command.format(engram=shlex.quote(engram), socket=shlex.quote(daemon.socket))
        begun = time.monotonic()
        child = subprocess.Popen(["/bin/bash", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said, _ = child.communicate()
        seconds = time.monotonic() - begun
        status = daemon.status()
        row = {"seconds": round(seconds, 2), "offered": count, "seen": status["seen"], "merged": status["gated"]}
        lost = sum(it["frames"] for it in status["lost"])
        row |= {"lost": lost, "refused": status["refused"], "frames_a_second": round(status["seen"] / seconds, 1)}
        row["daemon_mib"] = daemon.end()
        if child.returncode:
            row["failed"] = said.strip().splitlines()[-1]
        return row


def feed_live(engram, stream, seconds):
    """A camera of the settings that writes as fast as its pipe takes it, for a while."""
    with tempfile.TemporaryDirectory(prefix="engram-sources-") as directory:
        line = f"while true; do cat {shlex.quote(str(stream))}; done"
        camera = f'[[sources]]\nname = "fast"\nwindow_seconds = 0\ncommand = {json.dumps(line)}\n'
        daemon = Daemon(engram, directory, camera)
        begun, first = time.monotonic(), daemon.status()
        time.sleep(seconds)
        last, spent = daemon.status(), time.monotonic() - begun
        seen = last["seen"] - first["seen"]
        came = last["cameras"][0]["frames"] - first["cameras"][0]["frames"]
        row = {"seconds": round(spent, 2), "offered": came, "seen": seen, "merged": last["gated"]}
        row |= {"lost": last["cameras"][0]["lost"], "frames_a_second": round(seen / spent, 1)}
        row["daemon_mib"] = daemon.end()
        return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engram", required=True)
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=20, help="of a live camera")
    arguments = parser.parse_args()
    if len(os.sched_getaffinity(0)) > 2:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    engram = os.path.abspath(arguments.engram)
    rest = "--window 0 --no-wait --socket {socket}"
    with tempfile.TemporaryDirectory(prefix="engram-frames-") as directory:
        directory = pathlib.Path(directory)
        files = make_frames(directory, arguments.frames)
        stream, count = directory / "stream.mjpeg", len(files)
        sources = [
            ("directory with a sidecar", f"{{engram}} ingest {directory} {rest}"),
            ("pipe", f"{{engram}} ingest - {rest} < {stream}"),
            ("video", f"{{engram}} ingest {directory / 'video.mp4'} --start 2026-01-01T00:00:00Z {rest}"),
        ]
        if mcap := make_mcap(directory, files):
            sources.append(("MCAP, compressed images", f"{{engram}} ingest {mcap} {rest}"))
        size = sum(file.stat().st_size for file in files) / count
        print(f"{count} frames of 640x480, {size / 1024:.0f} KiB each, {os.cpu_count()} cores, load {os.getloadavg()}")
        for name, command in sources:
            print(name, json.dumps(feed(engram, command, count)), flush=True)
        print("camera of the settings", json.dumps(feed_live(engram, stream, arguments.seconds)), flush=True)


if __name__ == "__main__":
    main()
